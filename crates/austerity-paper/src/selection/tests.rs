//! Tests of the selection experiment: a small run from end to end, predictions against their definition.

use super::*;
use crate::context::{Size, Stage};

/// A tiny run on generated data: every figure, table and claim is there, and the numbers are numbers.
#[test]
fn a_tiny_run_has_everything() {
    let folder = std::env::temp_dir().join(format!("austerity-selection-{}", std::process::id()));
    let observer = |_: &Stage| {};
    let context = Context::new(Size::Quick, 3, &folder, &observer).threads(2);
    let problem = data::stand_in(4000, 3).unwrap();
    let plan =
        Plan { chains: 3, seconds: 0.05, truth_chains: 2, truth_steps: 4000, ..Plan::small(Size::Quick) };
    let outcome = experiment(&context, &[(problem, plan)]).unwrap();
    let names: Vec<&str> =
        outcome.sections.iter().filter_map(|s| Some(s.figure.as_ref()?.0.as_str())).collect();
    assert_eq!(names, ["stand_in_risk", "stand_in_moves", "stand_in_inclusion"]);
    let checks: Vec<_> = outcome.checks().collect();
    assert_eq!(checks.len(), 11);
    let mut unique: Vec<_> = checks.iter().map(|check| &check.name).collect();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), 11, "names of checks are unique");
    for check in checks {
        assert!(!check.measured.contains("NaN") && !check.measured.contains("inf"), "{check:?}");
    }
    let tables: Vec<(&str, usize)> = outcome.tables.iter().map(|t| (t.name.as_str(), t.rows.len())).collect();
    assert_eq!((tables[1], tables[2]), (("stand_in_groups", 7), ("stand_in_inclusion", 51)));
    assert!(tables[0].1 >= 5 * 10);
    let numbers = outcome.tables.iter().flat_map(|table| table.rows.iter().flatten());
    for cell in numbers {
        if let crate::outcome::Cell::Number(value) = cell {
            assert!(value.is_finite());
        }
    }
    assert!(outcome.about.iter().any(|line| line.contains("could not be had")));
    crate::write::write(&folder, "selection", &outcome, &context, 1.0).unwrap();
    let page = std::fs::read_to_string(folder.join("selection/index.html")).unwrap();
    assert!(page.contains("stand-in") && page.matches("<svg").count() == 3);
    assert!(folder.join("selection-stand_in-single.json").is_file(), "the truth is kept");
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Predictions and errors against their definition.
#[test]
fn predictions_are_those_of_the_state() {
    let rows = 200;
    let x: Vec<f64> = (0..rows).map(|i| f64::from(i % 10) - 4.5).collect();
    let response: Vec<f64> =
        x.iter().enumerate().map(|(i, v)| f64::from(u8::from(*v + (i % 3) as f64 > 1.0))).collect();
    let problem =
        Problem::new("t", "T", vec![("x".into(), x), ("flat".into(), vec![1.0; 200])], &response, 1).unwrap();
    assert_eq!((problem.rows(), problem.features(), problem.predicted()), (160, 2, 40));
    assert!(problem.about().contains("constant in training: flat"));
    let mut out = vec![0.0; 40];
    problem.predict(&problem.single, &mut out);
    let share = 1.0 / (1.0 + (-problem.single.coefficients()[0]).exp());
    assert!(out.iter().all(|p| (p - share).abs() < 1e-12));
    problem.predict(&problem.mode, &mut out);
    assert!(problem.error(&out) < 0.35, "the mode knows the feature");
    let reversed: Vec<f64> = out.iter().map(|p| 1.0 - p).collect();
    assert!((problem.error(&out) + problem.error(&reversed) - 1.0).abs() < 1e-12);
}
