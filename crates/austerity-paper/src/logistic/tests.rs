//! Tests of the logistic experiment: small runs from end to end.

use std::collections::HashSet;

use super::*;
use crate::context::Stage;
use crate::outcome::Cell;

/// Six small columns and chains of a few milliseconds: all figures, tables and claims are there and every number is one.
#[test]
fn a_small_run_has_every_figure_table_and_claim() {
    let folder = std::env::temp_dir().join(format!("austerity-logistic-{}", std::process::id()));
    let observer = |stage: &Stage| assert!((0.0..=1.0).contains(&stage.done));
    let context = Context::new(Size::Quick, 3, &folder, &observer).threads(2);
    let problem = Problem::generate(700, 30, 6, 3).unwrap();
    let plan = Plan { seconds: 0.02, chains: 3, every: 2, first_look: 64, truth: (3, 100, 200) };
    let outcome = run_on(&context, &problem, &plan).unwrap();

    let figures: HashSet<&str> = outcome
        .sections
        .iter()
        .filter_map(|section| section.figure.as_ref())
        .map(|(name, figure)| {
            assert!(figure.svg().matches("<path").count() > 5, "{name} is empty");
            name.as_str()
        })
        .collect();
    for name in
        ["steps", "theory", "cold_predictive_risk", "cold_predictive_parts", "stationary_variances_risk"]
    {
        assert!(figures.contains(name), "{name} is missing among {figures:?}");
    }
    assert_eq!(figures.len(), 10);

    let names: HashSet<&str> = outcome.checks().map(|check| check.name.as_str()).collect();
    assert_eq!(names.len(), outcome.checks().count(), "names of claims must differ: {names:?}");
    assert_eq!(names.len(), 12);
    for check in outcome.checks() {
        assert!(!check.measured.contains("NaN") && !check.measured.contains("inf "), "{check:?}");
    }
    let [risk, rules] = &outcome.tables[..] else { panic!("two tables") };
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
    let plan = Plan { seconds: 0.01, chains: 2, every: 1, first_look: 64, truth: (4, 200, 500) };
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
