//! What people and machines see while chains run: lines on a terminal, JSON on demand, else silence.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::Command;

use crate::common::{Scratch, text};
use serde_json::Value;

const FIT: &str =
    "fit data.csv --response y --rule exact --proposal adaptive --warmup 2000 --chains 3 --first-chain 4";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    assert!(scratch.run("generate logistic --rows 20000 --features 3 --out data.csv").status.success());
    scratch
}

#[test]
fn a_terminal_shows_every_chain_and_the_time_left() {
    let scratch = scratch("terminal");
    let line = format!("{} {FIT} --out run --draws 6000", env!("CARGO_BIN_EXE_austerity"));
    // script(1) gives the program a terminal of its own.
    let shown =
        Command::new("script").args(["-qec", &line, "/dev/null"]).current_dir(scratch.path()).output();
    let Ok(shown) = shown else {
        eprintln!("skipped: there is no script(1) here");
        return;
    };
    let shown = text(&shown.stdout);
    for word in [
        "reading the data",
        "chain  4",
        "chain  5",
        "chain  6",
        "warm-up steps, accepted",
        "draws, accepted",
        "data read 100.0 %",
        "R-hat 1.",
        "smallest ESS",
        " left",
        "so far",
        "Ctrl-C keeps",
    ] {
        assert!(shown.contains(word), "{word} is missing in\n{shown}");
    }
    // Lines are redrawn in place, and gone when the table comes.
    assert!(shown.contains("\x1b[4A"), "{shown}");
    let table = shown.rfind("ESS bulk").unwrap();
    assert!(!shown[table..].contains("chain  4"), "{shown}");
}

#[test]
fn without_a_terminal_standard_error_is_silent() {
    let scratch = scratch("silent");
    let output = scratch.fit(&format!("{FIT} --out run --draws 3000"));
    assert_eq!(text(&output.stderr), "");
    assert!(!text(&output.stdout).contains('\x1b'));
    let output = scratch.fit(&format!("{FIT} --out run --resume --draws 4000 --json"));
    assert_eq!(text(&output.stderr), "");
    let whole: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(whole["draws"], 4000);
}

#[test]
fn progress_for_machines_is_a_line_of_json_a_second() {
    let scratch = scratch("machines");
    let output = scratch.fit(&format!("{FIT} --out run --budget 6s --json-progress"));
    let lines: Vec<Value> =
        text(&output.stderr).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!((4..=9).contains(&lines.len()), "{} lines", lines.len());
    let mut before = 0.0;
    for line in &lines {
        let elapsed = line["elapsed"].as_f64().unwrap();
        assert!(elapsed >= before);
        before = elapsed;
        let numbers: Vec<u64> =
            line["chains"].as_array().unwrap().iter().map(|c| c["chain"].as_u64().unwrap()).collect();
        assert_eq!(numbers, [4, 5, 6]);
    }
    let last = lines.last().unwrap();
    assert!(last["chains"][0]["draws"].as_u64().unwrap() > 0);
    assert!(last["rhat"].as_f64().unwrap() > 0.9);
    assert_eq!(last["chains"][1]["data_share"], 1.0);
}
