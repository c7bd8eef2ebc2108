//! `austerity reproduce`: the folder it writes, what it refuses, and that a stop keeps its promise.
//!
//! That every experiment runs is a step of its own in `cargo xtask test`; here the cheapest one stands for all.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;

use crate::common::{Scratch, text};

#[test]
#[ignore = "second tier: long"]
fn an_experiment_leaves_figures_tables_numbers_and_a_page() {
    let scratch = Scratch::new("reproduce");
    let report = scratch.json("reproduce theory --quick --out paper --seed 3");
    let checks = report["experiments"][0]["checks"].as_array().unwrap();
    assert!(!checks.is_empty());
    for check in checks {
        for field in ["name", "source", "place", "measured", "wanted", "test", "partner"] {
            assert!(!check[field].as_str().unwrap().is_empty(), "{check}");
        }
        assert!(["holds", "differs", "undecided"].contains(&check["verdict"].as_str().unwrap()));
    }
    let files = |folder: &str, ending: &str| {
        let entries = fs::read_dir(scratch.at("paper/theory").join(folder)).unwrap();
        entries
            .filter(|entry| entry.as_ref().unwrap().path().extension().is_some_and(|e| e == ending))
            .count()
    };
    assert!(files("figures", "svg") > 0 && files("tables", "csv") > 0);
    let result: serde_json::Value =
        serde_json::from_slice(&fs::read(scratch.at("paper/theory/result.json")).unwrap()).unwrap();
    assert_eq!(result["seed"], 3);
    assert_eq!(result["size"], "quick");
    let index = fs::read_to_string(scratch.at("paper/index.html")).unwrap();
    assert!(index.contains("theory/index.html"));
    let page = fs::read_to_string(scratch.at("paper/theory/index.html")).unwrap();
    assert!(page.contains("<svg") && !page.contains("<script") && !page.contains("NaN"));
    // The same run again is borne out by itself.
    let told = scratch.run("reproduce theory --quick --out paper --seed 3 --compare paper");
    assert!(text(&told.stdout).contains("0 contradicted"), "{told:?}");
}

#[test]
fn what_cannot_be_done_is_said() {
    let scratch = Scratch::new("reproduce-refused");
    scratch.refused_with("reproduce nothing --out paper", &["nothing", "logistic", "gibbs", "all"]);
    scratch.refused_with("reproduce theory --quick --paper --out paper", &["--quick", "--paper"]);
    scratch.refused_with("reproduce theory --out paper --data nowhere", &["nowhere", "AUSTERITY_DATA"]);
    scratch.file("taken", "a file");
    scratch.refused_with("reproduce theory --quick --out taken", &["taken"]);
    let help = scratch.run("reproduce --help");
    assert!(text(&help.stdout).contains("verdict"));
}
