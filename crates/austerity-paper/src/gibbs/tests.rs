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
    let names =
        ["conditional_probability", "error_over_time", "bias_and_variance", "closed_form", "four_values"];
    assert_eq!(figures, names);
    for section in &outcome.sections {
        let svg = section.figure.as_ref().unwrap().1.svg();
        assert!(svg.contains("<path") && !svg.contains("NaN"), "{}", section.title);
        assert!(!section.checks.is_empty() && !section.caption.is_empty());
    }
    assert_eq!(outcome.tables.len(), 4);
    for table in &outcome.tables {
        assert!(!table.rows.is_empty(), "{}", table.name);
        for row in &table.rows {
            assert_eq!(row.len(), table.columns.len());
            let finite = |cell: &Cell| !matches!(cell, Cell::Number(value) if !value.is_finite());
            assert!(row.iter().all(finite), "{}: {row:?}", table.name);
        }
    }
    let checks: Vec<_> = outcome.checks().collect();
    assert_eq!(checks.len(), 3 + 4 + 4 + 1 + 3 + 1 + 2 + 2);
    let mut names: Vec<_> = checks.iter().map(|check| &check.name).collect();
    names.sort();
    names.dedup();
    assert_eq!(names.len(), checks.len());
    assert!(checks.iter().all(|check| !check.measured.is_empty() && !check.measured.contains("NaN")));
    // What does not depend on time holds at any size.
    let verdict = |name: &str| checks.iter().find(|check| check.name == name).unwrap().verdict;
    assert_eq!(verdict("the race is right"), crate::outcome::Verdict::Holds);
    assert_eq!(verdict("direction of the error"), crate::outcome::Verdict::Holds);
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
