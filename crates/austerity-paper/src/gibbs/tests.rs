//! A tiny run of the whole experiment: every figure, table and check is there, and every number is a number.

use austerity::run::Control;

use super::*;
use crate::context::{Size, Stage};
use crate::outcome::Cell;

#[test]
fn a_tiny_run_has_every_figure_table_and_check() {
    let folder = std::env::temp_dir().join(format!("austerity-gibbs-{}", std::process::id()));
    let observer = |_: &Stage| {};
    let context = Context::new(Size::Quick, 3, &folder, &observer).threads(2);
    let outcome = carry_out(&context, Plan::tiny()).unwrap();
    let figures: Vec<&str> = outcome.sections.iter().map(|s| s.figure.as_ref().unwrap().0.as_str()).collect();
    let names = [
        "conditional_probability",
        "error_over_time",
        "bias_and_variance",
        "closed_form",
        "four_values",
        "gibbs_theorem",
    ];
    assert_eq!(figures, names);
    for section in &outcome.sections {
        let svg = section.figure.as_ref().unwrap().1.svg();
        assert!(svg.contains("<path") && !svg.contains("NaN"), "{}", section.title);
        assert!(!section.checks.is_empty() && !section.caption.is_empty());
    }
    assert_eq!(outcome.tables.len(), 5);
    for table in &outcome.tables {
        assert!(!table.rows.is_empty(), "{}", table.name);
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len());
            let finite = |cell: &Cell| !matches!(cell, Cell::Number(value) if !value.is_finite());
            assert!(row.iter().all(finite), "{}: {row:?}", table.name);
        }
    }
    let checks: Vec<_> = outcome.checks().collect();
    for claim in CLAIMS {
        assert!(checks.iter().any(|check| check.name == claim.name), "{} is missing", claim.name);
    }
    let ids: std::collections::HashSet<String> = checks.iter().map(|check| check.id()).collect();
    assert_eq!(ids.len(), checks.len());
    assert!(checks.iter().all(|check| !check.measured.is_empty() && !check.measured.contains("NaN")));
    // What does not depend on time holds at any size.
    let verdict = |name: &str| checks.iter().find(|check| check.name == name).unwrap().verdict;
    assert_ne!(verdict("the race is right"), crate::claim::Verdict::Differs);
    assert_eq!(verdict("the Gibbs theorem, with D"), crate::claim::Verdict::Holds);
    assert_eq!(verdict("a single site does not contract"), crate::claim::Verdict::Holds);
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn an_interrupted_run_says_so() {
    let folder = std::env::temp_dir().join(format!("austerity-gibbs-stop-{}", std::process::id()));
    let observer = |_: &Stage| {};
    let control = Control::new();
    control.stop();
    let context = Context::new(Size::Quick, 3, &folder, &observer).threads(1).stopped_by(control);
    assert!(matches!(carry_out(&context, Plan::tiny()), Err(crate::error::Error::Interrupted)));
}

/// Chains with an L1 error of `error` at every time, whose bias² is `bias` of the risk, `speed` times as fast as others.
fn kind(error: f64, bias: f64, speed: f64) -> Kind {
    let point = |i: i32| {
        let seconds = 2f64.powi(i);
        let risk = crate::curves::tests::planted(seconds, 1.0 - bias, bias).risk;
        chains::Point {
            seconds,
            evaluations: 1e6 * seconds * speed,
            sweeps: 50.0 * seconds * speed,
            sweeps_error: 0.01,
            error,
            standard_error: 0.01 * error,
            risk,
        }
    };
    Kind {
        name: "planted".into(),
        points: (0..8).map(point).collect(),
        share: if speed < 1.0 { 1.0 } else { 0.5 },
        each_share: (0..6).map(|i| 0.5 + 1e-4 * f64::from(i)).collect(),
        nanoseconds: 20_000.0 / speed,
        speed_error: 0.01,
    }
}

fn raced(distance: f64, share: f64, per_degree: f64) -> Races {
    let near = |value: f64| (0..6).map(|i| value * (1.0 + 1e-3 * f64::from(i * i))).collect();
    Races {
        epsilon: 0.0,
        points: Vec::new(),
        distance,
        p_value: 0.5,
        statistic: 36.0 * per_degree,
        freedom: 36.0,
        share,
        distances: near(distance),
        shares: near(share),
    }
}

#[test]
fn planted_data_make_every_claim_come_out_both_ways() {
    let conditional = |exact: f64, delta: f64, predicted: f64| Measured {
        epsilon: 0.01,
        exact,
        kappa: 2.0,
        delta,
        standard_error: 1e-4,
        predicted,
        share: 0.5,
        predicted_share: 0.5,
    };
    let mut checks =
        claims::errors(&[conditional(0.2, 0.005, 0.005), conditional(0.8, -0.005, -0.005)], &[0.01]);
    checks.extend(claims::errors(&[conditional(0.2, -0.05, 0.0), conditional(0.8, 0.05, 0.0)], &[0.01]));
    let shares = [0.76, 0.7601, 0.7599];
    checks.extend(claims::against_reference(&[(0.01, 1.0)], &[(0.01, &shares, 0.76)], (0.0058, 0.0282)));
    checks.extend(claims::against_reference(&[(0.01, 2.0)], &[(0.01, &shares, 1.0)], (0.0282, 0.0058)));
    let (good, bad, exact) = (kind(0.1, 0.9, 4.0), kind(2.0, 0.0, 0.5), kind(1.0, 0.0, 1.0));
    for tests in [[(0.05, &good), (0.25, &good)], [(0.05, &bad), (0.25, &bad)]] {
        checks.extend(claims::chains(&exact, &tests));
        checks.extend(claims::risks(&exact, &tests));
        checks.extend(claims::closed((&exact, &exact), &tests, 4_851));
    }
    checks.extend(claims::closed((&kind(1.0, 0.0, 0.01), &exact), &[(0.25, &bad)], 4_851));
    checks.extend(claims::races(&[raced(0.0, 1.0, 1.0), raced(0.1, 0.8, 9.0), raced(0.2, 0.4, 9.0)]));
    checks.extend(claims::races(&[raced(0.0, 1.0, 9.0), raced(0.2, 0.4, 9.0), raced(0.1, 0.8, 9.0)]));
    let side = |distance: f64| theorem::Side { epsilon: 0.05, largest_delta: 0.01, bound: 0.5, distance };
    checks.extend(theorem::judge(&[side(0.1)], 1.0));
    checks.extend(theorem::judge(&[side(0.9)], 0.9));
    crate::claim::tests::both_ways(CLAIMS, &checks);
}
