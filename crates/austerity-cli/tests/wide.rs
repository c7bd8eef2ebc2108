//! Posteriors of so many coefficients that tests on residuals would read most of the rows: `fit` sees it coming and takes Hamiltonian paths on all rows.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::{Scratch, text};
use serde_json::Value;

/// 6,000 rows and 150 columns have the geometry of 300,000 rows and 1,000 columns: d/√N is about 2, where ordinary data have a tenth.
#[test]
fn too_many_coefficients_are_seen_coming() {
    let scratch = Scratch::new("wide");
    assert!(scratch.run("generate logistic --rows 6000 --features 150 --out wide.parquet").status.success());
    let output = scratch.run("fit wide.parquet --response y --out run");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    for words in ["151 coefficients are too many for a test on residuals", "Expected: about", "per draw"] {
        assert!(said.contains(words), "`{words}` is missing in: {said}");
    }
    let summary = scratch.json("summary run");
    let least = summary["parameters"].as_array().unwrap().iter();
    let least = least.flat_map(|p| [p["ess_bulk"].as_f64().unwrap(), p["ess_tail"].as_f64().unwrap()]);
    let least = least.fold(f64::INFINITY, f64::min);
    assert!(least > 1000.0, "{least}");
    let checks = summary["checks"].as_array().unwrap().iter();
    let exact = checks.filter(|check| check["words"].as_str().is_some_and(|words| words.contains("exact")));
    assert_eq!(exact.count(), 2, "decisions and audits: {}", summary["checks"]);
    // What was set is left alone, and ordinary data are fitted as ever.
    let typed =
        scratch.done("fit wide.parquet --response y --out typed --rule sequential --draws 20 --warmup 20");
    assert!(!typed.contains("too many"), "{typed}");
    assert!(
        scratch.run("generate logistic --rows 30000 --features 70 --out narrow.parquet").status.success()
    );
    let narrow = scratch.done("fit narrow.parquet --response y --out narrow --draws 100");
    assert!(narrow.contains("second-order surrogate") && !narrow.contains("too many"), "{narrow}");
}

/// Half of the draws, then the rest on other threads: the draws of a run that nothing disturbed.
#[test]
fn runs_on_all_rows_go_on_to_the_same_draws() {
    let scratch = Scratch::new("wide-resume");
    assert!(scratch.run("generate logistic --rows 3000 --features 100 --out wide.csv").status.success());
    let fit = "fit wide.csv --response y --seed 4 --warmup 10 --prior laplace:1";
    scratch.fit(&format!("{fit} --draws 60 --out whole --threads 2"));
    scratch.fit(&format!("{fit} --draws 25 --out half --threads 1"));
    scratch.fit("fit wide.csv --response y --draws 60 --out half --resume --threads 2");
    scratch.draws("half").assert_equal(&scratch.draws("whole"), fit);
    let toml = std::fs::read_to_string(scratch.at("half/run.toml")).unwrap();
    assert!(toml.contains("[plan.wide]"), "{toml}");
}

/// The intervals of a wide fit hold the coefficients that made the data: of 301 intervals of 95 %, 286 ± 3.8 do. Fewer than 269 (4.5 sds below) are found with probability 3e-6; intervals that are moved by
/// 1.5 standard deviations, the partner, hold 68 % of them, 206.
#[test]
#[ignore = "second tier: long"]
fn wide_intervals_hold_the_truth() {
    let scratch = Scratch::new("wide-truth");
    let made = scratch.json("generate logistic --rows 24000 --features 300 --out wide.parquet --seed 5");
    let output = scratch.run("fit wide.parquet --response y --out run --prior normal:1 --seed 2");
    let said = text(&output.stdout) + &text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(said.contains("too many for a test on residuals"), "{said}");
    let summary = scratch.json("summary run");
    let held = |moved: f64| {
        let inside = |p: &&Value| {
            let of = |name: &str| p[name].as_f64().unwrap();
            let truth = made["coefficients"][p["name"].as_str().unwrap()].as_f64().unwrap();
            ((truth - of("mean")) / of("sd") - moved).abs() < 1.96
        };
        summary["parameters"].as_array().unwrap().iter().filter(inside).count()
    };
    assert!(held(0.0) >= 269 && held(1.5) < 269, "{} {}", held(0.0), held(1.5));
}
