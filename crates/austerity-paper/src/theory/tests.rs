//! A tiny run: every figure, table and check is there, numbers are finite, and a wrong formula would be seen.

use std::path::PathBuf;

use super::*;
use crate::{Size, Stage, Verdict};

const TINY: Scale = Scale {
    statistic_pairs: 2,
    resamples: 800,
    walks: 400,
    three_looks: 20_000,
    tests: 60,
    moves: 40,
    simulated_moves: 4,
    simulations: 60,
};

fn tiny(data: Vec<PathBuf>) -> Outcome {
    let observer = |_: &Stage| {};
    let folder = std::env::temp_dir();
    let context = Context::new(Size::Quick, 1, &folder, &observer).threads(2).data(data);
    simulate(&context, &TINY).unwrap()
}

#[test]
fn a_tiny_run_has_every_figure_table_and_check() {
    let outcome = tiny(Vec::new());
    assert!(outcome.about[0].contains("stands in"), "{:?}", outcome.about);
    let figures: Vec<&str> =
        outcome.sections.iter().filter_map(|section| Some(section.figure.as_ref()?.0.as_str())).collect();
    assert_eq!(figures, ["statistic", "walk", "three_looks", "sequential", "delta", "acceptance"]);
    for (name, figure) in outcome.sections.iter().filter_map(|section| section.figure.as_ref()) {
        let svg = figure.svg();
        assert!(!svg.contains("NaN") && !svg.contains("inf") && svg.len() > 2000, "{name}");
    }
    let tables: Vec<(&str, usize)> =
        outcome.tables.iter().map(|table| (table.name.as_str(), table.rows.len())).collect();
    assert_eq!(
        tables,
        [("statistic", 6), ("walk", 49), ("three_looks", 4), ("sequential", 30), ("step", 80)]
    );
    for table in outcome.tables.iter().filter(|table| table.name != "step") {
        let finite = |cell: &crate::outcome::Cell| matches!(cell, crate::outcome::Cell::Number(value) if value.is_finite());
        assert!(table.rows.iter().flatten().all(finite), "{}", table.name);
    }
    let names: Vec<&str> = outcome.checks().map(|check| check.name.as_str()).collect();
    for name in [
        "statistic-normal",
        "statistic-level-0.05",
        "walk-mean",
        "walk-variance",
        "walk-correlation",
        "walk-band",
        "three-recursion",
        "three-simulation",
        "three-worst-case",
        "error-0.01",
        "usage-0.05",
        "drop-0.05",
        "bound-0.01",
        "smaller-0.05",
        "cancellation-0.05",
        "simulated-0.01",
        "close-0.01",
    ] {
        assert!(names.contains(&name), "{name} is missing in {names:?}");
    }
    let mut unique = names.clone();
    unique.sort_unstable();
    unique.dedup();
    assert_eq!(unique.len(), names.len());
    // What does not depend on chance holds whatever the size.
    for name in ["three-recursion", "three-worst-case", "bound-0.01", "bound-0.05", "drop-0.01"] {
        let check = outcome.checks().find(|check| check.name == name).unwrap();
        assert_eq!(check.verdict, Verdict::Holds, "{check:?}");
    }
    // 800 resamples cannot tell a difference of 0.02.
    let fit = outcome.checks().find(|check| check.name == "statistic-normal").unwrap();
    assert_ne!(fit.verdict, Verdict::Holds, "{fit:?}");
}
