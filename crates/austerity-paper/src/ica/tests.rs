//! Tests of the ICA experiment: small runs from end to end.

use super::*;
use crate::context::{Size, Stage};

/// A run of a second or two on a stand-in: every figure, table and check is there, and every number that must be finite is.
#[test]
fn a_tiny_run_is_complete() {
    let cache = std::env::temp_dir().join(format!("austerity-ica-{}", std::process::id()));
    let observer = |_: &Stage| {};
    let context = Context::new(Size::Quick, 3, &cache, &observer).threads(2);
    let sizes = Sizes { rows: 4_000, truth_steps: 2_000, chains: 3, seconds: 0.05 };
    let outcome = run_with(&context, sizes).unwrap();
    assert!(outcome.about[0].contains("stand-ins"), "{}", outcome.about[0]);
    let figures: Vec<&str> =
        outcome.sections.iter().filter_map(|section| Some(section.figure.as_ref()?.0.as_str())).collect();
    assert_eq!(figures, ["ica_risk", "ica_parts", "ica_speed", "ica_ridge"]);
    assert!(outcome.sections.iter().all(|section| !section.checks.is_empty()));
    for table in &outcome.tables {
        assert!(table.rows.len() >= EPSILONS.len(), "{}", table.name);
        for cell in table.rows.iter().flatten() {
            assert!(matches!(cell, crate::outcome::Cell::Number(value) if value.is_finite()), "{table:?}");
        }
    }
    let acceptance = |row: usize| match outcome.tables[1].rows[row][6] {
        crate::outcome::Cell::Number(value) => value,
        crate::outcome::Cell::Text(_) => f64::NAN,
    };
    // σ was computed for one half; the curvature at the mode is not all of the posterior.
    assert!((0.35..0.7).contains(&acceptance(0)), "{}", acceptance(0));
    assert!(outcome.numbers["truth_mean"].as_f64().unwrap() > 0.0);
    std::fs::remove_dir_all(&cache).unwrap();
}

/// Both experiments at the size that `AUSTERITY_SIZE` names (quick, usual, paper), on the recordings where they are; prints every check.
#[test]
#[ignore = "seconds to hours, run on demand"]
fn on_demand_at_full_size() {
    let size = match std::env::var("AUSTERITY_SIZE").as_deref() {
        Ok("usual") => Size::Usual,
        Ok("paper") => Size::Paper,
        _ => Size::Quick,
    };
    let data: Vec<std::path::PathBuf> =
        std::env::var_os("AUSTERITY_DATA").map(Into::into).into_iter().collect();
    let cache = std::env::temp_dir().join("austerity-ica-truths");
    let observer = |_: &Stage| {};
    for run in [run, crate::design::run] {
        let start = std::time::Instant::now();
        let context = Context::new(size, 1, &cache, &observer).data(data.clone());
        let outcome = run(&context).unwrap();
        println!("{} ({:.0} s)\n{}", outcome.title, start.elapsed().as_secs_f64(), outcome.about.join("\n"));
        for check in outcome.checks() {
            println!("{:?} {}: {} {}", check.verdict, check.name, check.measured, check.remark);
        }
        for table in &outcome.tables {
            println!("{}: {}", table.name, table.columns.join(" "));
            for row in table.rows.iter().rev().take(40).rev() {
                println!("  {row:?}");
            }
        }
        println!("{}", outcome.numbers);
        assert!(outcome.checks().count() >= 4);
    }
}
