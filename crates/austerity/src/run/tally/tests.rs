//! False alarms and power of what audits are tested by.

use super::*;
use crate::rng::{Role, stream};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal, StudentT};

fn pair(mean_error: f64, ratio: f64, defect: (f64, f64)) -> CompletePair {
    CompletePair { theory: theory(mean_error), ratio, defect }
}

fn theory(mean_error: f64) -> StepError {
    StepError { acceptance: 0.5, delta: -0.3 * mean_error, mean_error, data_usage: 0.1 }
}

fn audit(tally: &mut Tally, wrong: bool, deviation: f64, predicted: f64) {
    let decision = Decision { stopped: Stopped::Bound, ..Decision::ruled_out() };
    let audit = Audit { accepted: wrong, mean: 0.0, sd: 1.0, deviation };
    tally.add_audit(&decision, &audit, &pair(predicted, 0.0, (0.0, 0.0)));
}

#[test]
fn the_mixture_is_the_integral() {
    // ∫_1^∞ θ^k e^{−(θ−1)m} g(θ) dθ / ∫_1^∞ g by the midpoint rule in log θ.
    let by_hand = |k: u64, m: f64| {
        let (a, b) = MIXTURE;
        let (mut sum, mut mass) = (0.0, 0.0);
        let steps = 200_000u32;
        for i in 0..steps {
            let log = (f64::from(i) + 0.5) / f64::from(steps) * 8.0;
            let theta = log.exp();
            let g = theta.powf(a - 1.0) * (-b * theta).exp() * theta;
            mass += g;
            sum += g * (k as f64 * log - (theta - 1.0) * m).exp();
        }
        (sum / mass).ln()
    };
    for (k, m) in [(0, 0.0), (0, 3.0), (1, 0.5), (5, 2.0), (7, 1.28), (20, 19.0)] {
        assert!((excess(k, m) - by_hand(k, m)).abs() < 1e-4, "{k} {m}: {} {}", excess(k, m), by_hand(k, m));
    }
    assert!(excess(0, 0.0).abs() < 1e-12);
    assert!(excess(10, 1e4) < -100.0); // fewer than expected is no reproach
}

/// 400 honest runs of 2,000 audits, looked at after each: errors at the predicted rate, deviations as heavy-tailed as a Student t with 5
/// degrees of freedom (mean square 1.67). At most 1 % may ever be accused: more than 12 of 400 happen with probability 3e-4 even
/// at the full level.
#[test]
fn honest_runs_are_hardly_ever_accused() {
    let mut rng = stream(31, 0, Role::Data);
    let law = StudentT::new(5.0).unwrap();
    let mut accused = 0;
    for _ in 0..400 {
        let mut tally = Tally::default();
        let mut found = false;
        for _ in 0..2_000 {
            let p = 0.04 * rng.random::<f64>();
            audit(&mut tally, rng.random::<f64>() < p, law.sample(&mut rng), p);
            found |= tally.contradiction().is_some();
        }
        accused += u32::from(found);
        let interval = tally.interval();
        assert!(interval.lower < interval.upper);
    }
    assert!(accused <= 12, "{accused} of 400");
}

/// Even at the edge of what is allowed (twice the predicted rate) the level holds; at six times it is found.
#[test]
fn too_many_disagreements_are_found() {
    let mut rng = stream(32, 0, Role::Data);
    let mut runs = |factor: f64, audits: u32| -> u32 {
        let mut found = 0;
        for _ in 0..200 {
            let mut tally = Tally::default();
            let mut accused = false;
            for _ in 0..audits {
                let z: f64 = rng.sample(StandardNormal);
                audit(&mut tally, rng.random::<f64>() < factor * 0.02, z, 0.02);
                accused |= tally.contradiction() == Some(Contradiction::Disagreements);
            }
            found += u32::from(accused);
        }
        found
    };
    assert!(runs(2.0, 1_000) <= 8);
    assert!(runs(6.0, 300) >= 190);
    // The hard case without its stratum: 21 % wrong where 2 % are predicted.
    assert!(runs(10.5, 100) >= 190);
}

#[test]
fn large_deviations_are_found_at_once_and_single_outliers_forgiven() {
    let after = |z: f64| {
        let mut tally = Tally::default();
        (1..100).find(|_| {
            audit(&mut tally, false, z, 0.01);
            tally.contradiction() == Some(Contradiction::Deviations)
        })
    };
    assert_eq!(after(525.0), Some(1)); // error 21, claimed 0.04
    assert_eq!(after(50.0), Some(1));
    assert_eq!(after(10.0), Some(3));
    assert_eq!(after(4.0), Some(6));
    assert_eq!(after(1.9), None);
    let mut tally = Tally::default();
    (0..30).for_each(|_| audit(&mut tally, false, 1.0, 0.01));
    audit(&mut tally, false, 10.0, 0.01);
    assert_eq!(tally.contradiction(), None);
    assert!(tally.sentence().is_none());
}

#[test]
fn a_defect_is_found_at_once() {
    let mut tally = Tally::default();
    let decision = Decision { stopped: Stopped::Exhausted, ..Decision::ruled_out() };
    let same = Audit::complete(&decision);
    tally.add_audit(&decision, &same, &pair(0.0, 0.0, (9e-4, 0.3)));
    tally.add_audit(&decision, &same, &pair(0.0, 0.0, (4e-3, -5.0)));
    assert_eq!(tally.contradiction(), None);
    tally.add_audit(&decision, &same, &pair(0.0, 0.0, (-6e-3, -5.0)));
    assert_eq!((tally.contradiction(), tally.deviating), (Some(Contradiction::Defect), 0));
    assert!(!Contradiction::Defect.yields_to_data() && tally.sentence().unwrap().contains("1 of 3"));
    tally.add_audit(&decision, &same, &pair(0.0, 0.0, (f64::NEG_INFINITY, 0.0)));
    assert_eq!((tally.defects, tally.largest_defect), (2, MOST_DEFECT));
}

#[test]
fn sums_of_chains_are_those_of_one() {
    let mut rng = stream(33, 0, Role::Data);
    let (mut whole, mut parts) = (Tally::default(), [Tally::default(); 2]);
    for i in 0..200 {
        let (wrong, z): (bool, f64) = (rng.random::<f64>() < 0.1, rng.sample(StandardNormal));
        audit(&mut whole, wrong, z, 0.05);
        audit(&mut parts[i % 2], wrong, z, 0.05);
    }
    let [mut pooled, other] = parts;
    pooled.add(&other);
    assert_eq!((pooled.audited, pooled.disagreed), (whole.audited, whole.disagreed));
    assert!((pooled.log_wealth() - whole.log_wealth()).abs() < 1e-9);
    assert!((pooled.predicted - 10.0).abs() < 1e-9 && (whole.mean_delta() + 0.015).abs() < 1e-12);
    // Nothing found: up to about 6 expected ones are compatible with that.
    let none = Tally { audited: 500, ..Tally::default() }.interval();
    assert!(none.lower == 0.0 && (5.0..8.0).contains(&none.upper), "{none:?}");
    let many = Tally { audited: 5000, disagreed: 100, ..Tally::default() }.interval();
    assert!(many.lower > 60.0 && many.lower < 100.0 && many.upper > 100.0 && many.upper < 150.0, "{many:?}");
}

/// Log ratios of moves from a posterior of inverse temperature β are normal with mean −βv/2 where their variance is v. Of 20,000 audits each
/// β is found to 4.5 standard errors (a false alarm in 50,000 runs of all), and 1 is told from 0.8.
#[test]
fn the_temperature_shows_in_the_signs_of_log_ratios() {
    let mut rng = stream(37, 0, Role::Data);
    for beta in [0.8, 1.0, 1.1] {
        let mut tally = Tally::default();
        assert_eq!(tally.inverse_temperature(), None);
        let decision = Decision { stopped: Stopped::Bound, ..Decision::ruled_out() };
        let same = Audit { accepted: false, mean: 0.0, sd: 1.0, deviation: 0.0 };
        for _ in 0..20_000 {
            let variance = 2.0;
            let z: f64 = StandardNormal.sample(&mut rng);
            let ratio = -0.5 * beta * variance + f64::sqrt(variance) * z;
            tally.add_audit(&decision, &same, &pair(0.01, ratio, (0.0, 0.0)));
        }
        tally.add_audit(&decision, &same, &pair(0.01, f64::NEG_INFINITY, (0.0, 0.0)));
        let (found, error) = tally.inverse_temperature().unwrap();
        assert!((0.005..0.03).contains(&error), "{error}");
        // One step of Newton's method is off by the square of the distance, at most.
        let allowed = 4.5 * error + 0.3 * (beta - 1.0) * (beta - 1.0);
        assert!((found - beta).abs() < allowed, "{found} ± {error} for {beta}");
        assert_eq!((found - 1.0).abs() < 5.0 * error, beta == 1.0);
    }
}

/// Doubt comes long before a contradiction, seldom without a reason: at most 10 % of pairs of honest audits cast it, also when skew
/// (t with 5 degrees of freedom, variance 5/3). Seed fixed; 2,000 pairs, so 4 standard errors are 2.2 %.
#[test]
fn doubt_comes_before_contradiction() {
    let after = |audits: &[(bool, f64)]| {
        let mut tally = Tally::default();
        audits.iter().for_each(|&(wrong, z)| audit(&mut tally, wrong, z, 0.01));
        (tally.is_doubtful(), tally.contradiction().is_some())
    };
    assert_eq!(after(&[]), (false, false));
    assert_eq!(after(&[(false, 1.0), (false, -1.5)]), (false, false));
    assert_eq!(after(&[(false, 4.0), (false, 0.5)]), (true, false));
    assert_eq!(after(&[(true, 0.0), (false, 0.0)]), (true, false));
    assert_eq!(after(&[(false, 50.0)]), (true, true));
    let mut rng = stream(21, 0, Role::Data);
    let law = StudentT::new(5.0).unwrap();
    let doubts =
        (0..2_000).filter(|_| after(&[(false, law.sample(&mut rng)), (false, law.sample(&mut rng))]).0);
    let doubts = doubts.count();
    assert!(doubts < 244 && doubts > 20, "{doubts}");
}
