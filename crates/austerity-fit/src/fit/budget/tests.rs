//! Plans of runs, their words, and what a resumption makes of them.

use super::*;
use crate::risk::Prices;

fn candidate(cost: f64, inflation: f64) -> Candidate {
    let setting = Offer { block_evaluations: cost, worth: 0.1, inflation, ..Offer::default() };
    Candidate {
        setting,
        rule: RuleSettings::default(),
        audit: 0.0,
        acceptance: 0.25,
        prediction: None,
        worst: inflation,
    }
}

fn counted(all: f64) -> Budget {
    Budget { unit: Unit::Evaluations, all, reserve: 0.0, before: 0.0, begun: Instant::now() }
}

fn planned(all: f64) -> (BudgetPlan, Settings) {
    let mut settings = Settings { chains: 2, threads: 1, draws: UNBOUNDED, ..Settings::default() };
    let estimates = Estimates::new(
        terms(&settings, Unit::Evaluations, 0.0),
        Prices { overhead: 1.0, block: 1.0, scan: 1.0 },
    );
    let candidates = vec![candidate(1000.0, 1.0), candidate(100.0, 1.1)];
    let plan = BudgetPlan::begin(&counted(all), (candidates, estimates), &mut settings, false).unwrap();
    (plan, settings)
}

#[test]
fn the_first_stretch_is_a_sixteenth_of_the_budget_less_warm_up() {
    let (plan, settings) = planned(3.2e6);
    // 1.5·1.21·100/(.1·2.88e6) + .01 < 1.5·1000/(.1·2.88e6)? No: exact decisions cost .0052.
    assert_eq!(plan.stretches[0].candidate, 0);
    assert_eq!(settings.warmup, 144);
    // A sixteenth is 200,000 evaluations, 100 steps of each chain: warm-up takes longer, so the stretch is one draw.
    assert_eq!((plan.stretches[0].from, plan.stretches[0].until), (0, 1));
    let (large, settings) = planned(1e9);
    // Twenty independent draws' worth, of steps that are worth a tenth of one.
    assert_eq!(settings.warmup, 200);
    assert_eq!(large.stretches[0].until, 31_250 - 200);
    let (small, _) = planned(2e5);
    assert_eq!(small.stretches[0].candidate, 1);
}

#[test]
fn a_review_learns_and_goes_on() {
    let (mut plan, settings) = planned(1e9);
    let until = plan.stretches[0].until;
    let steps = 2 * (until + settings.warmup);
    // Twice as dear and accepted half as often as thought.
    let now = Now { spent: 2000.0 * steps as f64, draws: until, longest: until, steps, accepted: until / 4 };
    let began = Now { spent: 0.0, draws: 0, longest: 0, steps: 0, accepted: 0 };
    plan.observe(&began, &now, None, &settings);
    assert!((plan.estimates.prices.block - 2.0).abs() < 1e-9, "{:?}", plan.estimates);
    assert!((plan.estimates.mixing - 0.5).abs() < 0.01, "{:?}", plan.estimates);
    plan.review(&now, &settings);
    assert_eq!(plan.stretches[1].from, until);
    assert!(plan.stretches[1].until > until);
    assert_eq!((plan.at(0), plan.at(until - 1), plan.at(until), plan.at(u64::MAX)), (0, 0, 1, 1));
    // History: what was drawn, at the worth that was learnt.
    let history = plan.history(until + 10, &settings);
    assert_eq!(history.iter().map(|segment| segment.steps).collect::<Vec<_>>(), [2.0 * until as f64, 20.0]);
    plan.close(&Now { draws: until + 10, ..now }, &settings);
    assert!(plan.expected.bias == 0.0 && plan.expected.variance > 0.0);
    let json = plan.json();
    assert_eq!(json["stretches"].as_array().unwrap().len(), 2);
    assert!((json["predicted_risk"].as_f64().unwrap() - plan.expected.total()).abs() < 1e-15);
    assert!(plan.outcome().contains("planned 2 times (one rule)"), "{}", plan.outcome());
    // What run.toml keeps is the same plan.
    let text = toml::to_string_pretty(&plan).unwrap();
    assert_eq!(toml::from_str::<BudgetPlan>(&text).unwrap(), plan);
}

#[test]
fn a_budget_that_is_added_ends_the_last_stretch_soon() {
    let (mut plan, settings) = planned(3.2e6);
    plan.stretches[0].until = UNBOUNDED;
    plan.go_on(Some(&counted(3.2e6)), (500, 510));
    assert_eq!(plan.stretches[0].until, UNBOUNDED);
    plan.go_on(Some(&counted(6.4e6)), (500, 510));
    assert_eq!((plan.stretches[0].until, plan.all), (511, 6.4e6));
    plan.go_on(None, (500, 510));
    assert_eq!(plan.all, 6.4e6);
    let nothing = BudgetPlan::begin(
        &counted(10.0),
        (plan.candidates.clone(), plan.estimates),
        &mut settings.clone(),
        true,
    );
    assert!(nothing.is_none());
    let said = too_small(&counted(10.0), &plan.candidates, &plan.estimates, 2).to_string();
    // 2 chains of 21 steps at 100 evaluations, and a tenth more.
    assert!(said.contains("the least is about --evaluations 4620"), "{said}");
}
