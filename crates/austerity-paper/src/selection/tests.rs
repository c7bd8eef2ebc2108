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
    let plan = Plan {
        chains: 3,
        seconds: 0.05,
        truth_chains: 2,
        truth_steps: 4000,
        ..Plan::small(Size::Quick.into())
    };
    let outcome = experiment(&context, &[(problem, plan)]).unwrap();
    let names: Vec<&str> =
        outcome.sections.iter().filter_map(|s| Some(s.figure.as_ref()?.0.as_str())).collect();
    assert_eq!(names, ["stand_in_risk", "stand_in_moves", "stand_in_inclusion"]);
    let checks: Vec<_> = outcome.checks().collect();
    for claim in CLAIMS {
        assert!(checks.iter().any(|check| check.name == claim.name), "{} is missing", claim.name);
    }
    let unique: std::collections::HashSet<String> = checks.iter().map(|check| check.id()).collect();
    assert_eq!(unique.len(), checks.len(), "checks are told apart");
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
    crate::write::write(
        &folder,
        "selection",
        &outcome,
        &context,
        crate::write::Spent { seconds: 1.0, cpu_seconds: 1.0 },
    )
    .unwrap();
    let page = std::fs::read_to_string(folder.join("selection/index.html")).unwrap();
    assert!(page.contains("stand-in") && page.matches("<svg").count() == 4 + 4 + 4);
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

#[test]
fn planted_data_make_every_claim_come_out_both_ways() {
    use crate::curves::tests::falling;
    use austerity_models::{JumpMove, JumpTally};
    let tally = |births: (u64, u64), updates: (u64, u64)| {
        let mut tally = JumpTally::default();
        for (kind, (accepted, proposed)) in
            [(JumpMove::Birth, births), (JumpMove::Death, births), (JumpMove::Update, updates)]
        {
            (0..proposed).for_each(|i| tally.count(kind, i < accepted));
        }
        tally
    };
    let chains = |early: u64, late: u64, updates: u64| -> Vec<checks::Rates> {
        let late = |i: u64| tally((late + i % 2, 1_000), (updates + i % 3, 100));
        (0..6).map(|i| (tally((early + i % 2, 100), (50, 100)), late(i))).collect()
    };
    let mut all = checks::acceptance(&chains(20, 20, 50));
    all.extend(checks::acceptance(&chains(60, 600, 90)));
    let near = |value: f64| -> Vec<f64> { (0..6).map(|i| value * (1.0 + 0.001 * f64::from(i))).collect() };
    all.extend(checks::sizes((&near(12.0), &near(0.15)), (&near(45.0), &near(0.1))));
    all.extend(checks::sizes((&near(30.0), &near(0.3)), (&near(30.0), &near(0.3))));
    for (one, mode) in [(12.0, 45.0), (12.0, 12.0)] {
        let rules = ["exact", "ε = 0.05"].map(|name| (name.to_owned(), near(one), near(mode)));
        all.extend(checks::minima(&rules, (&near(one), &near(mode))));
    }
    let lists = |level: f64| -> Vec<Vec<f64>> {
        (0..6).map(|i| (0..20).map(|j| level + 0.02 * f64::from((i + j) % 3)).collect()).collect()
    };
    let (exact, far) = (lists(0.3), lists(0.6));
    let exact: Vec<&[f64]> = exact.iter().map(Vec::as_slice).collect();
    let far: Vec<&[f64]> = far.iter().map(Vec::as_slice).collect();
    all.push(checks::similar(&exact, &exact));
    all.push(checks::similar(&exact, &far));
    let textbook = crate::curves::Textbook { slower: 3.0, evaluations: 2e3 };
    let curves =
        |exact: f64| (falling(exact, 0.0), vec![(0.05, falling(1.0, 0.0)), (0.1, falling(1.0, 0.0))]);
    let speeds = |test: f64| [("exact", near(100.0)), ("ε = 0.05", near(test))];
    for (risk, speed) in [(10.0, 300.0), (0.01, 10.0)] {
        let (exact, tests) = curves(risk);
        let tests: Vec<(f64, &[crate::curves::Point])> =
            tests.iter().map(|(epsilon, curve)| (*epsilon, curve.as_slice())).collect();
        all.extend(checks::lowest(&exact, &tests, (textbook, 0.0)));
        let [(_, exact), (_, test)] = speeds(speed);
        all.push(checks::faster(&exact, &[(0.05, test)], 1.0));
    }
    crate::claim::tests::both_ways(CLAIMS, &all);
}
