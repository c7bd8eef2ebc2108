//! A tiny run has every figure, table and claim, and finite numbers.

use super::*;
use crate::context::Size;
use crate::context::Stage;
use crate::outcome::Cell;

#[test]
fn a_tiny_run_has_all_parts() {
    let folder = std::env::temp_dir();
    let observer = |_: &Stage| {};
    let context = Context::new(Size::Quick, 1, &folder, &observer).threads(1);
    let length = Length { chains: 3, steps: 600 };
    let outcome = planned(&context, Plan { toy: length, other: length, rows: 1000, data_sets: 2 }).unwrap();
    let figures: Vec<&str> =
        outcome.sections.iter().filter_map(|section| section.figure.as_ref()).map(|f| f.0.as_str()).collect();
    assert_eq!(figures, ["posterior", "sgld", "sgld-tested", "sgfs", "distances", "logistic"]);
    for (_, figure) in outcome.sections.iter().filter_map(|section| section.figure.as_ref()) {
        assert!(!figure.svg().contains("NaN"));
    }
    let names: Vec<&str> = outcome.checks().map(|check| check.name.as_str()).collect();
    let distinct: std::collections::HashSet<&&str> = names.iter().collect();
    assert_eq!((names.len(), distinct.len()), (CLAIMS.len(), CLAIMS.len()), "{names:?}");
    // These hold at any length.
    for claim in [claims::VALLEY, claims::ONE_LOOK, claims::ROWS] {
        let check = outcome.checks().find(|check| check.name == claim.name).unwrap();
        assert_eq!(check.verdict, crate::Verdict::Holds, "{check:?}");
    }
    assert!(
        outcome.checks().all(|check| !check.measured.contains("NaN")),
        "{:?}",
        outcome.checks().collect::<Vec<_>>()
    );
    assert_eq!(outcome.tables.len(), 2);
    assert_eq!(
        (outcome.tables[0].rows.len(), outcome.tables[1].rows.len()),
        (METHODS.len(), OF_LOGISTIC.len())
    );
    for (column, name) in outcome.tables[0].columns.iter().enumerate() {
        for row in &outcome.tables[0].rows {
            assert!(!matches!(row[column], Cell::Number(value) if !value.is_finite()), "{name}: {row:?}");
        }
    }
}

/// Chains at a distance from the posterior, with sums of their ways.
fn planted(variation: f64, accepted: f64, looks: u32, thrown: f64) -> Found {
    let each = |i: u32| {
        let near = 1.0 + 0.001 * f64::from(i);
        let mut sums = [100.0; 8];
        sums[chains::sums::REJECTED] = 100.0 * (1.0 - accepted) * near;
        sums[chains::sums::THROWN] = 100.0 * thrown * near;
        sums[chains::sums::RETURN_STEPS] = 2_000.0 * thrown * near;
        sums[chains::sums::ACCEPTED] = 100.0 * accepted * near;
        sums
    };
    let record = Record {
        draws: vec![Vec::new(); 8],
        each: (0..8).map(each).collect(),
        most_looks: looks,
        ..Record::default()
    };
    let distance = Distance {
        total_variation: variation,
        total_variation_error: 0.001,
        floor: 0.001,
        kolmogorov: variation,
        kolmogorov_error: 0.001,
        critical: 0.005,
        ess: 1e5,
        mean: 0.0,
        sd: 1.0,
        heights: Vec::new(),
    };
    Found { method: METHODS[0], record, distance }
}

#[test]
fn planted_data_make_every_claim_come_out_both_ways() {
    let (far, near) = (planted(0.4, 0.2, 1, 2.0), planted(0.01, 0.9, 2, 0.01));
    let mut checks = vec![report::valley((9950.0, 50.0), 0.01), report::valley((995.0, 50.0), 0.01)];
    for (untested, tested) in [(&far, &near), (&near, &far), (&far, &far), (&near, &near)] {
        checks.extend(report::before(1.0, untested));
        checks.extend(report::after(tested));
        checks.push(report::indistinguishable(&claims::CLOSE_TENTH, tested));
        checks.push(report::exactness(&claims::BALANCE, tested));
        checks.extend(report::scored(untested, tested));
        checks.extend(report::corrected(untested, tested, tested));
        let rows = if tested.distance.total_variation < 0.1 { 1_000.0 } else { 10_000.0 };
        checks.extend(report::prices([("SGLD", rows), ("SGFS", rows)], 10_000, (untested, tested)));
        let other = |found: &Found| planted(found.distance.total_variation, 0.5, 1, 1.0);
        checks.extend(report::others_judged(&[OtherData {
            mode: 0.0,
            found: vec![other(untested), other(tested)],
        }]));
    }
    crate::claim::tests::both_ways(CLAIMS, &checks);
}
