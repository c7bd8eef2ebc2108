//! The planner in worlds whose costs, biases and mixing are known.

use super::*;
use austerity::rule::{Law, RuleSettings};

const PRICES: Prices = Prices { overhead: 1.0, block: 4e-9, scan: 2e-9 };

fn terms() -> Terms {
    Terms { chains: 4, workers: 2, start: 0.0, discard: false }
}

/// Exact at a million rows, a test that reads a twentieth, a strict one that reads a third.
fn settings() -> [Offer; 3] {
    let exact = Offer { scan_evaluations: 1e6, worth: 0.02, overhead: 1e-6, ..Offer::default() };
    let quick =
        Offer { scan_evaluations: 0.0, block_evaluations: 2e4, inflation: 1.08, doubt: 0.01, ..exact };
    let strict = Offer { block_evaluations: 2e5, inflation: 1.01, doubt: 0.001, ..quick };
    [exact, quick, strict]
}

/// What a world makes of `steps` steps under a setting: nature knows the truth, the planner does not.
struct World {
    settings: Vec<Offer>,
    prices: Prices,
}

impl World {
    /// The risk at the end of a budget that the planner spends, and what it took, segment by segment.
    fn spend(&self, believed: &[Offer], prices: Prices, all: f64) -> (f64, Vec<usize>) {
        let mut estimates = Estimates::new(terms(), prices);
        let truth = Estimates::new(terms(), self.prices);
        let (mut history, mut real, mut taken) = (Vec::new(), Vec::new(), Vec::new());
        let mut spent = 0.0;
        while spent < all {
            let until = next_review(all / 16.0, spent, all);
            let Some(place) = plan(believed, &history, &estimates, all - spent).setting else { break };
            let here = until - spent;
            let steps = truth.steps(&self.settings[place], here);
            let effective = steps * self.settings[place].worth;
            let seen = Observed { steps, cost: here, effective };
            history.push(estimates.update(&believed[place], &seen));
            let Offer { inflation, .. } = self.settings[place];
            real.push(Segment { steps, effective, inflation, doubt: 0.0 });
            taken.push(place);
            spent = until;
        }
        (PredictedRisk::of(&real).total(), taken)
    }

    /// The risk of one setting for the whole budget.
    fn fixed(&self, place: usize, all: f64) -> f64 {
        let truth = Estimates::new(terms(), self.prices);
        let expected = truth.expect(&Offer { doubt: 0.0, ..self.settings[place] }, all);
        expected.map_or(f64::INFINITY, |(segment, _)| PredictedRisk::of(&[segment]).total())
    }

    fn best(&self, all: f64) -> f64 {
        (0..self.settings.len()).map(|place| self.fixed(place, all)).fold(f64::INFINITY, f64::min)
    }
}

#[test]
fn each_side_of_a_crossing_has_its_setting() {
    let estimates = Estimates::new(terms(), PRICES);
    let [exact, quick, _] = settings();
    let pick = |left: f64| plan(&[exact, quick], &[], &estimates, left);
    // 1.5·step/(2·worth·t): .075/t for exact decisions; .006/t + .0065 for the quick ones: they cross at t = 10.6.
    let crossing = (1.5 * (2e-3 + 1e-6) / 0.04 - 1.5 * 1.08f64.powi(2) * 8.1e-5 / 0.04) / (0.0064 + 0.0001);
    assert_eq!(pick(0.9 * crossing).setting, Some(1));
    assert_eq!(pick(1.1 * crossing).setting, Some(0));
    let found = pick(0.9 * crossing).risk;
    assert!((found.bias - 0.08).abs() < 1e-12 && (found.doubt - 0.01).abs() < 1e-12, "{found:?}");
    assert_eq!(pick(1e4).risk.bias, 0.0);
}

#[test]
fn over_a_grid_of_budgets_the_risk_is_near_that_of_the_best_setting() {
    let world = World { settings: settings().to_vec(), prices: PRICES };
    for k in -4..=16 {
        let all = 10f64.powf(f64::from(k) / 4.0);
        let (risk, taken) = world.spend(&settings(), PRICES, all);
        assert!(risk <= 1.25 * world.best(all), "{all}: {risk} against {}, {taken:?}", world.best(all));
    }
    // Power: always the same setting is not within that somewhere.
    for place in 0..3 {
        assert!((-4..=16).any(|k| {
            let all = 10f64.powf(f64::from(k) / 4.0);
            world.fixed(place, all) > 1.25 * world.best(all)
        }));
    }
}

#[test]
fn a_cost_wrong_by_two_is_mended_by_the_first_review() {
    let world = World { settings: settings().to_vec(), prices: PRICES };
    // Rows in blocks are believed to be twice as cheap, then twice as dear as they are, and the same with scans.
    for (block, scan) in [(0.5, 1.0), (2.0, 1.0), (1.0, 0.5), (1.0, 2.0)] {
        let wrong = Prices { block: block * PRICES.block, scan: scan * PRICES.scan, ..PRICES };
        for k in -4..=16 {
            let all = 10f64.powf(f64::from(k) / 4.0);
            let (risk, taken) = world.spend(&settings(), wrong, all);
            let best = world.best(all);
            assert!(risk <= 1.25 * best, "{block} {scan}, {all}: {risk} against {best}, {taken:?}");
        }
    }
    let mut estimates = Estimates::new(terms(), Prices { scan: 1e-9, ..PRICES });
    let [exact, ..] = settings();
    let steps = Estimates::new(terms(), PRICES).steps(&exact, 3.0);
    estimates.update(&exact, &Observed { steps, cost: 3.0, effective: steps * 0.01 });
    assert!((estimates.prices.scan / PRICES.scan - 1.0).abs() < 1e-9, "{estimates:?}");
    // 30 effective draws where 60 were expected: half-way known, on the logarithmic scale.
    let wanted = 0.5f64.powf(steps * 0.01 / (steps * 0.01 + 20.0));
    assert!((estimates.mixing - wanted).abs() < 1e-9, "{estimates:?}");
}

#[test]
fn draws_of_an_early_biased_segment_count_or_go() {
    let [exact, quick, _] = settings();
    let early = Segment { steps: 1e5, effective: 2e3, inflation: 1.08, doubt: 0.01 };
    let keeps = |discard: bool, left: f64| {
        let estimates = Estimates::new(Terms { discard, ..terms() }, PRICES);
        plan(&[exact, quick], &[early], &estimates, left)
    };
    // 10⁴ exact steps are worth 200 draws: too few to do without the early ones. 10⁶ are enough.
    assert_eq!(keeps(true, 10.0).first_kept, 0);
    let late = keeps(true, 1000.0);
    assert_eq!((late.setting, late.first_kept), (Some(0), 1));
    assert!(late.risk.bias == 0.0 && keeps(false, 1000.0).risk.bias > 0.0);
    assert_eq!(keeps(false, 1000.0).first_kept, 0);
    // Pooled: the mean square of the inflations, and a variance between the two.
    let other = Segment { steps: 3e5, effective: 6e3, inflation: 1.0, doubt: 0.0 };
    let both = PredictedRisk::of(&[early, other]);
    assert!((both.bias - ((0.25f64 * 1.08 * 1.08 + 0.75).sqrt() - 1.0)).abs() < 1e-12);
    assert!((both.doubt - 0.0025).abs() < 1e-12);
    assert!((both.variance / (1.5 / 8e3) - (0.25 * 1.08 * 1.08 + 0.75)).abs() < 1e-12);
}

#[test]
fn a_far_start_favours_what_forgets_it() {
    let [exact, quick, _] = settings();
    let at = |start: f64, left: f64| {
        plan(&[exact, quick], &[], &Estimates::new(Terms { start, ..terms() }, PRICES), left).setting
    };
    assert_eq!(at(0.0, 20.0), Some(0));
    assert_eq!(at(100.0, 20.0), Some(1));
}

#[test]
fn numbers_without_sense_and_budgets_without_room() {
    let estimates = Estimates::new(terms(), PRICES);
    let [exact, quick, strict] = settings();
    // The documented fallback: no setting, and the risk of what is there.
    for left in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-9] {
        let none = plan(&[exact, quick, strict], &[], &estimates, left);
        assert_eq!((none.setting, none.risk.variance), (None, f64::INFINITY), "{left}");
    }
    let early = Segment { steps: 1e5, effective: 2e3, inflation: 1.08, doubt: 0.01 };
    let stays = plan(&[exact], &[early], &estimates, 0.0);
    assert_eq!((stays.setting, stays.risk), (None, PredictedRisk::of(&[early])));
    assert_eq!(plan(&[], &[early], &estimates, 1.0).setting, None);
    // Candidates that make no sense are passed over.
    let odd = [
        Offer { worth: f64::NAN, ..quick },
        Offer { worth: 0.0, ..quick },
        Offer { inflation: f64::INFINITY, ..quick },
        Offer { overhead: -1.0, ..quick },
        Offer { set_up: f64::NAN, ..quick },
        Offer { set_up: 2.0, ..quick },
        Offer { block_evaluations: 0.0, overhead: 0.0, ..quick },
        exact,
    ];
    assert_eq!(plan(&odd, &[], &estimates, 1.0).setting, Some(7));
    // Observations that make no sense teach nothing.
    for seen in [(f64::NAN, 1.0, 1.0), (1.0, f64::NAN, f64::NAN), (0.0, 0.0, 0.0), (1.0, -1.0, -1.0)] {
        let mut same = estimates;
        let (steps, cost, effective) = seen;
        let segment = same.update(&exact, &Observed { steps, cost, effective });
        assert_eq!(same, estimates, "{seen:?}");
        assert!(segment.steps >= 0.0);
    }
}

#[test]
fn reviews_come_when_the_cost_has_doubled() {
    let mut spent = 0.0;
    let mut seen = Vec::new();
    while spent < 10.0 {
        spent = next_review(0.5, spent, 10.0);
        seen.push(spent);
    }
    assert_eq!(seen, [0.5, 1.0, 2.0, 4.0, 8.0, 10.0]);
    // The last segment takes what would be left over.
    assert_eq!(next_review(0.5, 4.1, 9.0), 9.0);
    assert_eq!(next_review(0.5, 4.1, 12.0), 8.0);
    for (first, spent) in [(f64::NAN, 0.0), (0.0, 0.0), (1.0, f64::NAN), (1.0, 11.0), (-1.0, 2.0)] {
        assert_eq!(next_review(first, spent, 10.0), 10.0);
    }
}

#[test]
fn the_rules_of_a_walk_are_those_of_the_theory() {
    let all = walks((12_214, 51), &[0.5, 1.0], 32, Effort::Full).unwrap();
    let exact: Vec<&Walk> = all.iter().filter(|walk| walk.prediction.is_none()).collect();
    assert_eq!(exact.len(), 2);
    assert!((exact[1].setting.worth * 51.0 / 0.33 - 1.0).abs() < 0.01, "{exact:?}");
    assert!((exact[0].setting.worth / exact[1].setting.worth - 0.59).abs() < 0.01, "{exact:?}");
    let tests: Vec<&Walk> = all.iter().filter(|walk| walk.prediction.is_some()).collect();
    assert!(tests.len() > 20, "{}", tests.len());
    for walk in &tests {
        let RuleSettings::Sequential(test) = &walk.rule else { panic!("a test") };
        let share = walk.setting.block_evaluations / 2.0 / 12_214.0;
        assert!(share > 0.0 && share < 0.5, "{walk:?}");
        // λ makes the temperature right but not the prediction sure.
        if matches!(test.law, Law::Compensated { .. }) {
            assert!((walk.setting.inflation - 1.0).abs() < 1e-6 && walk.setting.doubt > 0.0, "{walk:?}");
        } else {
            assert!(walk.setting.inflation > 1.0, "{walk:?}");
        }
    }
    let little = walks((12_214, 51), &[1.0], 32, Effort::Little).unwrap();
    assert!(little.len() < 6 && !little.is_empty());
    assert_eq!(walks((500, 3), &[1.0], 32, Effort::Full).unwrap().len(), 1);
}
