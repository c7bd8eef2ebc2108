//! Tests of the logistic experiment: small runs from end to end.

use std::collections::HashSet;

use super::*;
use crate::context::Size;
use crate::context::Stage;
use crate::outcome::Cell;

/// Six small columns and chains of a few milliseconds: all figures, tables and claims are there and every number is one.
#[test]
fn a_small_run_has_every_figure_table_and_claim() {
    let folder = std::env::temp_dir().join(format!("austerity-logistic-{}", std::process::id()));
    let observer = |stage: &Stage| assert!((0.0..=1.0).contains(&stage.done));
    let context = Context::new(Size::Quick, 3, &folder, &observer).threads(2);
    let problem = Problem::generate(700, 30, 6, 3).unwrap();
    let plan = Plan {
        exact_steps: None,
        seconds: 0.02,
        chains: 3,
        every: 2,
        first_look: 64,
        stuck_steps: 20,
        truth: (3, 100, 200),
    };
    let outcome = run_on(&context, &problem, &plan).unwrap();

    let figures: HashSet<&str> = outcome
        .sections
        .iter()
        .filter_map(|section| section.figure.as_ref())
        .map(|(name, figure)| {
            assert!(figure.svg().matches("<path").count() > 3, "{name} is empty");
            name.as_str()
        })
        .collect();
    for name in
        ["steps", "theory", "marginals", "variance", "cold_predictive_risk", "stationary_variances_risk"]
    {
        assert!(figures.contains(name), "{name} is missing among {figures:?}");
    }
    assert_eq!(figures.len(), 13);

    let ids: HashSet<String> = outcome.checks().map(crate::Check::id).collect();
    assert_eq!(ids.len(), outcome.checks().count(), "claims must differ: {ids:?}");
    for claim in CLAIMS {
        assert!(outcome.checks().any(|check| check.name == claim.name), "{} is missing", claim.name);
    }
    for check in outcome.checks() {
        assert!(!check.measured.contains("NaN") && !check.measured.contains("inf "), "{check:?}");
    }
    let [risk, rules, _] = &outcome.tables[..] else { panic!("three tables") };
    assert!(risk.rows.len() >= 2 * 2 * 5 * 15, "{}", risk.rows.len());
    assert_eq!(rules.rows.len(), 5);
    for cell in risk.rows.iter().chain(&rules.rows).flatten() {
        assert!(!matches!(cell, Cell::Number(value) if !value.is_finite()), "{cell:?}");
    }
    // Exact decisions rest on everything, and less is read as ε grows.
    let share = |row: usize| match rules.rows[row][3] {
        Cell::Number(value) => value,
        Cell::Text(_) => f64::NAN,
    };
    assert!((share(0) - 1.0).abs() < 1e-12 && (1..5).all(|row| share(row) < share(row - 1)));
    std::fs::remove_dir_all(&folder).unwrap();
}

/// The truth against the mode: a near-Gaussian posterior's mean is close to its mode, its predictions are probabilities, its
/// starts lie where it has mass.
#[test]
fn the_truth_is_about_the_posterior_asked_for() {
    let folder = std::env::temp_dir().join(format!("austerity-logistic-truth-{}", std::process::id()));
    let observer = |_: &Stage| {};
    let context = Context::new(Size::Quick, 5, &folder, &observer).threads(2);
    let problem = Problem::generate(2000, 25, 4, 5).unwrap();
    let plan = Plan {
        exact_steps: None,
        seconds: 0.01,
        chains: 2,
        every: 1,
        first_look: 64,
        stuck_steps: 20,
        truth: (4, 200, 500),
    };
    let truth = Truth::find(&context, &problem, &plan).unwrap();
    let mode = austerity::model::find_mode(&problem.model, &[0.0; 4]).unwrap();
    for i in 0..4 {
        let (variance, expected) = (truth.variance[i], mode.covariance[5 * i]);
        // 2,000 draws, close to independent: 5 standard errors of a variance are 16 %, of a mean 0.11 sds.
        assert!((variance / expected - 1.0).abs() < 0.2, "{variance} against {expected}");
        assert!((truth.mean[i] - mode.state[i]).abs() < 0.2 * expected.sqrt());
        assert!(truth.starts.iter().all(|start| (start[i] - truth.mean[i]).abs() < 6.0 * variance.sqrt()));
    }
    assert!(
        truth.starts.len() >= 60 && truth.lost == 0 && (0.6..0.95).contains(&truth.acceptance),
        "{truth:?}"
    );
    assert!(truth.predictive.iter().all(|p| (0.0..=1.0).contains(p)));
    assert!(truth.predictive_floor < truth.single / 100.0, "{} {}", truth.predictive_floor, truth.single);
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Curves of all ε whose risk and bias² are as said: burn-in at first, variance after it.
fn planted(level: impl Fn(f64) -> f64, bias: impl Fn(f64) -> f64) -> chains::Curves {
    use crate::curves::tests::planted;
    let point = |epsilon: f64, i: i32| {
        let time = 2f64.powi(i);
        let burning = if i < 3 { 100.0 } else { bias(epsilon) };
        planted(time, level(epsilon) / time, level(epsilon) / time * burning)
    };
    EPSILONS.iter().map(|&epsilon| (0..8).map(|i| point(epsilon, i)).collect()).collect()
}

/// A cold chain that has made so many steps.
fn walked(steps: u64) -> crate::trajectory::Trajectory {
    use crate::trajectory::{Checkpoint, Trajectory};
    let checkpoints = vec![Checkpoint { seconds: 1.0, evaluations: 1, steps, means: Vec::new() }];
    Trajectory { checkpoints, counters: austerity::run::Counters::default(), seconds: 1.0 }
}

#[test]
fn planted_data_make_every_claim_come_out_both_ways() {
    use measure::Predicted;
    let textbook = Textbook { slower: 1.5, evaluations: 2e3 };
    let mut checks = Vec::new();
    let exact_or = |exact: f64, test: f64| move |epsilon: f64| if epsilon == 0.0 { exact } else { test };
    let falling = planted(|epsilon| 16f64.powf(-30.0 * epsilon), |_| 0.0);
    let rising = planted(|epsilon| 16f64.powf(30.0 * epsilon), |_| 9.0);
    let worse = planted(exact_or(1.0, 8.0), |_| 9.0);
    let better = planted(exact_or(8.0, 1.0), |_| 0.0);
    let poor = planted(exact_or(1.0, 8.0), |_| 0.0);
    let biased = planted(|_| 1.0, exact_or(0.0, 9.0));
    for curves in [&falling, &rising, &worse, &better, &poor, &biased] {
        for start in Start::BOTH {
            for quantity in Quantity::BOTH {
                checks.extend(claims::about(start, quantity, curves, textbook).concat());
            }
        }
    }
    let rule = |epsilon: f64, off: f64| Measured {
        epsilon,
        acceptance: 0.5 + off,
        share: 0.5 + off,
        acceptance_error: 0.001,
        share_error: 0.001,
        evaluations: 1.0,
        speed: 1.0,
        inflation: 1.0 + 2.0 * off,
        inflation_error: 0.002,
        predicted: Predicted { acceptance: 0.5, share: 0.5, inflation: 1.0 },
    };
    let plan = Plan::of(Size::Usual.into());
    for (steps, off) in [(1_700, 0.0), (4_000, 0.1)] {
        let measured: Vec<Measured> = EPSILONS.iter().map(|&epsilon| rule(epsilon, off)).collect();
        let cold: chains::Family =
            (0..5).map(|rule| vec![walked(if rule == 0 { 1_000 } else { steps }); 4]).collect();
        checks.extend(claims::speed(&cold, &measured, Textbook { slower: 1.0, ..textbook }));
        checks.extend(claims::theory(&measured, &plan));
    }
    let ratios =
        |level: f64| vec![(0.0, (0..50).map(|i| level * (1.0 + 0.2 * f64::from(i % 5 - 2))).collect())];
    checks.extend([claims::variance(&ratios(1.0)), claims::variance(&ratios(2.0))]);
    let chain = |accepted: u64, longest: u64| austerity_models::pseudo_marginal::Rejections {
        steps: 1_000,
        accepted,
        longest,
        ..Default::default()
    };
    let kind = |name: &str, rows: f64, accepted: u64, longest: u64| stuck::Found {
        name: name.into(),
        rows,
        chains: vec![chain(accepted, longest), chain(accepted + 1, longest + 1), chain(accepted, longest)],
    };
    for (plain, freed, longest) in [(2, 498, 900), (498, 2, 10)] {
        let found = [
            kind("Poisson", 512.0, plain, longest),
            kind("Poisson", 6_112.0, 400, 20),
            kind("Poisson, surrogate", 512.0, freed, 10),
        ];
        checks.extend(claims::stuck(&found, 0.5));
    }
    crate::claim::tests::both_ways(CLAIMS, &checks);
}
