//! Budgets: planned where the decision is left open, replayed on resumption, refused where they afford nothing.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::time::Duration;

use crate::common::{Scratch, text};
use serde_json::Value;

/// Rows that a test saves something on, and a fit that decides about them.
const ROWS: &str = "generate logistic --rows 20000 --features 4 --out data.parquet";
const WALK: &str = "fit data.parquet --response y --surrogate none --proposal adaptive --chains 2 --seed 5";

fn stretches(summary: &Value) -> &Vec<Value> {
    summary["budget"]["stretches"].as_array().unwrap()
}

#[test]
fn evaluations_determine_every_draw() {
    let scratch = Scratch::new("evaluations");
    scratch.done(ROWS);
    let rows = format!("{WALK} --evaluations 6e7");
    let surrogate = "fit data.parquet --response y --chains 2 --seed 5 --evaluations 2e7".to_owned();
    for fit in [rows, surrogate] {
        scratch.fit(&format!("{fit} --out whole --threads 2"));
        let summary = scratch.summary("whole");
        assert_eq!(summary["ended"], "evaluations");
        assert!(stretches(&summary).len() >= 4, "{}", summary["budget"]);
        let risk = summary["budget"]["predicted_risk"].as_f64().unwrap();
        assert!(risk > 0.0 && risk < 1.0, "{}", summary["budget"]);
        scratch.fit(&format!("{fit} --out again --threads 1"));
        scratch.draws("again").assert_equal(&scratch.draws("whole"), "one thread");
        // Interrupted anywhere, the plan is replayed and goes on as it would have.
        for wait in [150, 400] {
            scratch.killed_after(&format!("{fit} --out parts"), Duration::from_millis(wait));
            if scratch.path().join("parts/run.toml").exists() {
                scratch.fit(&format!("{fit} --out parts --resume"));
                scratch.draws("parts").assert_equal(&scratch.draws("whole"), "killed and resumed");
                let resumed = scratch.summary("parts");
                assert_eq!(stretches(&resumed), stretches(&summary), "{fit}");
            }
            let _ = fs::remove_dir_all(scratch.path().join("parts"));
        }
        for folder in ["whole", "again"] {
            fs::remove_dir_all(scratch.path().join(folder)).unwrap();
        }
    }
}

#[test]
fn a_plan_by_the_clock_is_logged_and_replayed() {
    let scratch = Scratch::new("clock");
    scratch.done(ROWS);
    let said = scratch.done(&format!("{WALK} --out run --budget 1500ms"));
    assert!(said.contains("Budget: 1.5 s") && said.contains("predicted bias"), "{said}");
    let summary = scratch.summary("run");
    assert_eq!(summary["ended"], "seconds");
    let spent = summary["budget"]["spent"].as_f64().unwrap();
    assert!((1.4..3.0).contains(&spent), "{spent}");
    assert!(stretches(&summary).len() >= 2, "{}", summary["budget"]);
    let before = scratch.draws("run");
    scratch.fit(&format!("{WALK} --out run --resume --budget 500ms"));
    before.assert_prefix(&scratch.draws("run"), "more time");
    let more = scratch.summary("run");
    assert!(more["budget"]["spent"].as_f64().unwrap() > spent + 0.4, "{}", more["budget"]);
    // What was planned before is still there.
    let (old, new) = (stretches(&summary), stretches(&more));
    assert_eq!(old[..], new[..old.len()]);
    // A number of draws ends the planning, not the run.
    let count = scratch.draws("run").count + 500;
    scratch.fit(&format!("{WALK} --out run --resume --draws {count}"));
    assert_eq!(scratch.draws("run").count, count);
    let page = fs::read_to_string(scratch.path().join("run/report.html")).unwrap();
    assert!(page.contains("from draw 0, after"), "the report has no plan");
}

#[test]
fn what_was_typed_is_not_planned() {
    let scratch = Scratch::new("typed");
    scratch.done("generate logistic --rows 3000 --features 3 --out data.parquet");
    let fit = "fit data.parquet --response y --chains 2 --budget 200ms";
    for (number, typed) in [
        "--rule exact",
        "--epsilon 0.05",
        "--tolerance 0.02",
        "--proposal random-walk:0.05",
        "--proposal langevin:1",
    ]
    .into_iter()
    .enumerate()
    {
        scratch.fit(&format!("{fit} {typed} --out run{number}"));
        assert!(scratch.summary(&format!("run{number}"))["budget"].is_null(), "{typed}");
    }
}

#[test]
fn budgets_too_small_name_the_least() {
    let scratch = Scratch::new("small");
    scratch.done("generate logistic --rows 300000 --features 8 --out data.parquet");
    let fit = "fit data.parquet --response y --out run";
    scratch.refused_with(
        &format!("{fit} --budget 1ms"),
        &["1 ms", "too small", "passes", "the least is about --budget"],
    );
    scratch.refused_with(
        &format!("{fit} --surrogate none --evaluations 1000"),
        &["1000 likelihood evaluations", "too small", "the least is about --evaluations"],
    );
    assert!(!scratch.path().join("run").exists());
    // Enough for a mode of some rows, not for a surrogate: a sentence, and draws that are not trusted or are right.
    let output = scratch.fit(&format!("{fit} --budget 150ms"));
    let said = text(&output.stdout);
    assert!(said.contains("Budget: 150 ms"), "{said}");
}
