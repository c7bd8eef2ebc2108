//! A tiny run has every figure, table and claim, and finite numbers.

use super::*;
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
    assert_eq!((names.len(), distinct.len()), (17, 17), "{names:?}");
    // These hold at any length.
    for name in ["the valley", "one look", "rows per step"] {
        let check = outcome.checks().find(|check| check.name == name).unwrap();
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
