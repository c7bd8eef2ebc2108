//! The predicted bias of a test against chains: the sds of a logistic posterior under the paper's test.

use austerity::design::pilot::{PilotSettings, STEPS, pilot};
use austerity::design::{Steps, predict};
use austerity::model::find_mode;
use austerity::proposal::adaptive::TARGET_ACCEPTANCE;
use austerity::proposal::{AnyProposal, RandomWalk, RobustAdaptive};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Control, Sampler, Settings, Silent};
use austerity_glm::{Glm, Logistic, ResponseKind, generate};

/// Predicted and measured: geometric means over the coefficients of sd/sd at the mode, and acceptance.
struct Compared {
    predicted: [f64; 2],
    measured: [f64; 2],
}

fn compare(adapting: bool, epsilon: f64, (rows, features): (usize, usize), seed: u64) -> Compared {
    let made = generate::logistic(rows, features).seed(seed).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let d = features + 1;
    let mode = find_mode(&model, &vec![0.0; d]).unwrap();
    let walk = RandomWalk::for_posterior(d, &mode.covariance).unwrap();
    let (proposal, steps): (AnyProposal, Steps) = if adapting {
        (RobustAdaptive::new(&walk, TARGET_ACCEPTANCE).unwrap().into(), Steps::Adapting(TARGET_ACCEPTANCE))
    } else {
        (walk.into(), Steps::Fixed)
    };
    let test = SequentialSettings::paper(500, epsilon);
    let settings = PilotSettings { start: &mode.state, steps: STEPS, seed };
    let seen = pilot(&model, &mut proposal.clone(), &settings, &mut |_| true).unwrap();
    let expected = predict(&test, &seen.pairs, steps).unwrap();
    let settings = Settings {
        rule: RuleSettings::Sequential(test),
        warmup: 2000,
        draws: 8000,
        chains: 4,
        seed,
        audit: 0.0,
        ..Settings::default()
    };
    let run = Sampler::new(&model, &settings, &proposal, std::slice::from_ref(&mode.state))
        .unwrap()
        .run(&Control::new(), &mut Silent);
    let ratio = |(i, one): (usize, &austerity::diagnostics::Summary)| {
        (one.sd / mode.covariance[i * (d + 1)].sqrt()).ln()
    };
    let measured = (run.summary().iter().enumerate().map(ratio).sum::<f64>() / d as f64).exp();
    Compared {
        predicted: [expected.sd_inflation.unwrap(), expected.acceptance.unwrap()],
        measured: [measured, run.counters().acceptance()],
    }
}

/// A walk that adapts under the paper's test at ε = .05: predicted within 10 % of the measured sd, whose own error is about 2 %; fixed seeds. Power: the
/// prediction for the steps of the pilot, which does not know of the adaptation, misses by more.
#[test]
#[ignore = "second tier: three runs of 40,000 decisions under the paper's test"]
fn a_walk_that_adapts_under_a_test_is_as_wide_as_predicted() {
    for seed in 1..=3 {
        let found = compare(true, 0.05, (20_000, 6), seed);
        let ratio = found.predicted[0] / found.measured[0];
        assert!((ratio - 1.0).abs() < 0.1, "{:?} {:?}", found.predicted, found.measured);
        assert!((found.measured[1] - TARGET_ACCEPTANCE).abs() < 0.06, "{:?}", found.measured);
        let fixed = compare_prediction_of_pilot(seed);
        assert!(fixed / found.measured[0] < 0.9, "{fixed} {:?}", found.measured);
    }
}

/// The prediction for the steps that the pilot made.
fn compare_prediction_of_pilot(seed: u64) -> f64 {
    let made = generate::logistic(20_000, 6).seed(seed).build().unwrap();
    let data = made.data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let mode = find_mode(&model, &[0.0; 7]).unwrap();
    let mut walk = RandomWalk::for_posterior(7, &mode.covariance).unwrap();
    let settings = PilotSettings { start: &mode.state, steps: STEPS, seed };
    let seen = pilot(&model, &mut walk, &settings, &mut |_| true).unwrap();
    predict(&SequentialSettings::paper(500, 0.05), &seen.pairs, Steps::Fixed).unwrap().sd_inflation.unwrap()
}

/// A walk of fixed length, at two levels: within 6 % of the measured sd and 0.03 of the acceptance.
#[test]
#[ignore = "second tier: two runs of 40,000 decisions under the paper's test"]
fn a_walk_of_fixed_length_is_as_wide_as_predicted() {
    for (epsilon, seed) in [(0.05, 4), (0.1, 5)] {
        let Compared { predicted, measured } = compare(false, epsilon, (20_000, 6), seed);
        assert!((predicted[0] / measured[0] - 1.0).abs() < 0.06, "{predicted:?} {measured:?}");
        assert!((predicted[1] - measured[1]).abs() < 0.03, "{predicted:?} {measured:?}");
    }
}

#[test]
fn a_pilot_records_complete_moments_and_accepts_exactly() {
    let data = generate::logistic(3_000, 4).build().unwrap().data.check(ResponseKind::Binary).unwrap();
    let model = Glm::new(Logistic, &data, data.default_priors()).unwrap();
    let mode = find_mode(&model, &[0.0; 5]).unwrap();
    let mut walk = RandomWalk::for_posterior(5, &mode.covariance).unwrap();
    let mut heard = 0;
    let settings = PilotSettings { start: &mode.state, steps: 200, seed: 1 };
    let mut hear = |_| {
        heard += 1;
        true
    };
    let seen = pilot(&model, &mut walk, &settings, &mut hear).unwrap();
    assert_eq!((heard, seen.pairs.as_slice().len()), (200, 200));
    // κ of a step of 2.38/√d posterior sds is about 2.38 (the information equality), 234–440 ‰ are accepted.
    let pairs = seen.pairs.as_slice();
    let kappa = (pairs.iter().map(|pair| pair.kappa * pair.kappa).sum::<f64>() / pairs.len() as f64).sqrt();
    assert!((1.8..3.0).contains(&kappa), "{kappa}");
    assert!((0.15..0.5).contains(&seen.acceptance), "{}", seen.acceptance);
    let none = pilot(&model, &mut walk, &settings, &mut |_| false).unwrap();
    assert!(none.pairs.as_slice().is_empty());
}
