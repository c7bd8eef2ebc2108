//! Runs that are killed, interrupted, ended by the clock, and go on: the draws are those of a run that nothing disturbed, bit for bit.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::process::Command;
use std::time::Duration;

use crate::common::{Scratch, files, text};
use serde_json::Value;

/// Numbers of a summary that belong to the draws, not to the clock.
fn counted(summary: &Value) -> Vec<&Value> {
    ["draws", "evaluations", "acceptance", "data_share", "audit", "parameters", "rule", "ended"]
        .map(|name| &summary[name])
        .to_vec()
}

/// When runs are killed, in milliseconds after their start: while the data are read, between checkpoints (there is one every two seconds),
/// after one.
const DELAYS: [u64; 4] = [350, 2700, 1300, 3100];

/// Runs `line` undisturbed, and again killed after each of the delays and resumed with other threads; both must end alike.
fn killed_and_resumed(scratch: &Scratch, line: &str) {
    scratch.fit(&format!("{line} --out whole --threads 2"));
    // Killed before its settings were written, a run begins again.
    let begun = scratch.path().join("killed/run.toml");
    let resume = || if begun.exists() { "--resume" } else { "" };
    let mut kills = 0;
    for (turn, wait) in DELAYS.into_iter().enumerate() {
        let again = format!("{line} --out killed --threads {} {}", 1 + turn % 3, resume());
        if scratch.killed_after(&again, Duration::from_millis(wait)) {
            break;
        }
        kills += 1;
    }
    scratch.fit(&format!("{line} --out killed {}", resume()));
    eprintln!("{kills} kills: {line}");
    assert!(kills >= 1, "{line}: never killed, the run is too short");
    scratch.draws("killed").assert_equal(&scratch.draws("whole"), line);
    let (whole, killed) = (scratch.summary("whole"), scratch.summary("killed"));
    assert_eq!(counted(&whole), counted(&killed), "{line}");
    fs::remove_dir_all(scratch.path().join("whole")).unwrap();
    fs::remove_dir_all(scratch.path().join("killed")).unwrap();
}

/// A test with audits, thinned draws of some parameters: what most runs keep between sessions.
#[test]
fn killed_logistic_runs_go_on_to_the_same_draws() {
    let scratch = Scratch::new("resume-logistic");
    assert!(scratch.run("generate logistic --rows 20000 --features 3 --out data.parquet").status.success());
    killed_and_resumed(
        &scratch,
        "fit data.parquet --response y --seed 5 --epsilon 0.05 --batch 500 --growth 1.5 --audit 0.05 --draws 15000 --standardize --thin 2 \
         --keep x2,intercept",
    );
}

#[test]
#[ignore = "second tier: long"]
fn killed_logistic_runs_of_other_kinds_go_on_to_the_same_draws() {
    let scratch = Scratch::new("resume-kinds");
    assert!(scratch.run("generate logistic --rows 20000 --features 3 --out data.parquet").status.success());
    let fit = "fit data.parquet --response y --seed 5";
    killed_and_resumed(&scratch, &format!("{fit} --rule exact --draws 30000 --warmup 500"));
    // Mini-batches for gradients beside those of decisions.
    killed_and_resumed(&scratch, &format!("{fit} --proposal langevin:1 --draws 15000 --thin 20"));
    // A surrogate made for a walk is made for it again.
    let walk = "--surrogate taylor2 --proposal random-walk:0.01 --draws 15000 --thin 40";
    killed_and_resumed(&scratch, &format!("{fit} {walk}"));
}

fn generated(name: &str, family: &str) -> Scratch {
    let scratch = Scratch::new(name);
    let line = format!("generate {family} --rows 20000 --features 3 --out {family}.csv");
    assert!(scratch.run(&line).status.success());
    scratch
}

#[test]
#[ignore = "second tier: long"]
fn killed_linear_runs_go_on_to_the_same_draws() {
    let scratch = generated("resume-linear", "linear");
    killed_and_resumed(&scratch, "fit linear.csv --response y --draws 120000 --standardize");
    // By rows, though sums of squares would do.
    killed_and_resumed(
        &scratch,
        "fit linear.csv --response y --family linear --preset paper --epsilon 0.1 --draws 4000 --proposal adaptive",
    );
}

#[test]
#[ignore = "second tier: long"]
fn killed_runs_with_heavy_tails_go_on_to_the_same_draws() {
    let scratch = generated("resume-student", "student");
    killed_and_resumed(&scratch, "fit student.csv --response y --family student --rule exact --draws 30000");
}

#[test]
#[ignore = "second tier: long"]
fn killed_runs_of_counts_go_on_to_the_same_draws() {
    let scratch = generated("resume-counts", "poisson");
    killed_and_resumed(
        &scratch,
        "fit poisson.csv --response y --family poisson --rule sequential --draws 40000",
    );
    // Successes out of trials, from counts.
    let counts = fs::read_to_string(scratch.path().join("poisson.csv")).unwrap();
    let mut binomial = String::from("x1,x2,x3,wins,games\n");
    for line in counts.lines().skip(1) {
        let (features, y) = line.rsplit_once(',').unwrap();
        let y: f64 = y.parse().unwrap();
        binomial += &format!("{features},{},{}\n", y.min(9.0), 9);
    }
    fs::write(scratch.path().join("binomial.csv"), binomial).unwrap();
    killed_and_resumed(
        &scratch,
        "fit binomial.csv --response wins --trials games --rule exact --draws 30000",
    );
}

/// With a pilot before the chains.
#[test]
fn ctrl_c_keeps_everything_drawn_and_the_run_goes_on() {
    ctrl_c("ctrl-c", &["--rule sequential"]);
}

/// Without a pilot, and with decisions on all rows.
#[test]
#[ignore = "second tier: long"]
fn ctrl_c_keeps_everything_drawn_under_other_rules() {
    ctrl_c("ctrl-c-rules", &["--rule exact --proposal adaptive", "--epsilon 0.1 --batch 500"]);
}

fn ctrl_c(name: &str, rules: &[&str]) {
    let scratch = Scratch::new(name);
    assert!(scratch.run("generate logistic --rows 20000 --features 3 --out data.parquet").status.success());
    for &rule in rules {
        let line = format!("fit data.parquet --response y {rule} --warmup 200 --max-disk 1TB --out run");
        let child = scratch.start(&format!("{line} --draws 50000000"));
        // Two checkpoints and a draw, however slow the machine is.
        let begun = |scratch: &Scratch| {
            scratch.path().join("run/checkpoint.previous").exists()
                && serde_json::from_slice::<Value>(&scratch.run("summary run --json").stdout)
                    .is_ok_and(|summary| summary["draws"].as_u64() > Some(0))
        };
        for _ in 0..600 {
            std::thread::sleep(Duration::from_millis(200));
            if begun(&scratch) {
                break;
            }
        }
        let signalled = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(signalled.success());
        let output = child.wait_with_output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{rule}: {:?}", output.status);
        assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
        let stopped = scratch.summary("run");
        assert_eq!(stopped["ended"], "interrupted", "{rule}");
        let drawn = stopped["draws"].as_u64().unwrap();
        assert!(drawn > 0, "{rule}");
        let before = scratch.draws("run");
        scratch.fit(&format!("{line} --resume --draws {}", drawn + 500));
        let after = scratch.draws("run");
        assert_eq!(after.count as u64, drawn + 500);
        before.assert_prefix(&after, rule);
        // The same as a run that nobody stopped.
        scratch.fit(&format!("{} --draws {}", line.replace("--out run", "--out whole"), drawn + 500));
        after.assert_equal(&scratch.draws("whole"), rule);
        fs::remove_dir_all(scratch.path().join("run")).unwrap();
        fs::remove_dir_all(scratch.path().join("whole")).unwrap();
    }
}

#[test]
fn lengths_are_in_total_and_a_finished_run_says_so() {
    let scratch = Scratch::new("lengths");
    assert!(scratch.run("generate linear --rows 5000 --features 2 --out data.csv").status.success());
    let fit = "fit data.csv --response y --standardize --out run";
    scratch.fit(&format!("{fit} --draws 3000"));
    let before = files(&scratch.path().join("run/draws.zarr"));
    for line in [format!("{fit} --resume"), format!("{fit} --resume --draws 2000")] {
        let output = scratch.fit(&line);
        let said = text(&output.stdout);
        assert!(said.contains("nothing left to do after 3000 draws"), "{said}");
        assert_eq!(files(&scratch.path().join("run/draws.zarr")), before);
    }
    scratch.fit(&format!("{fit} --resume --draws 5000"));
    let extended = scratch.draws("run");
    fs::remove_dir_all(scratch.path().join("run")).unwrap();
    scratch.fit(&format!("{fit} --draws 5000"));
    extended.assert_equal(&scratch.draws("run"), "3000 draws, then 5000 in total");
    fs::remove_dir_all(scratch.path().join("run")).unwrap();

    // The clock: a budget, then nothing, then a number of draws.
    scratch.fit(&format!("{fit} --budget 1s"));
    let by_clock = scratch.draws("run");
    assert!(by_clock.count > 0);
    assert_eq!(scratch.summary("run")["ended"], "seconds");
    let said = text(&scratch.fit(&format!("{fit} --resume")).stdout);
    assert!(said.contains("its time was up"), "{said}");
    // Draws are stored so that the summary fits the budget; a number of draws counts all that are made.
    let every = scratch.summary("run")["stored_every"].as_u64().unwrap() as usize;
    let more = (by_clock.count + 1000) * every;
    scratch.fit(&format!("{fit} --resume --draws {more}"));
    let now = scratch.summary("run")["stored_every"].as_u64().unwrap() as usize;
    by_clock.every(now / every).assert_prefix(&scratch.draws("run"), "budget");
    assert_eq!(scratch.draws("run").count, more / now);
}

#[test]
#[ignore = "second tier: long"]
fn a_target_is_reached_where_the_undisturbed_run_reaches_it() {
    let scratch = Scratch::new("target");
    assert!(scratch.run("generate logistic --rows 4000 --features 3 --out data.csv").status.success());
    for more in ["", "--standardize --keep intercept,x2", "--standardize"] {
        let fit = format!("fit data.csv --response y --rule exact --proposal adaptive --warmup 300 {more}");
        scratch.fit(&format!("{fit} --out whole --target-ess 2500"));
        // Stopped by a number of draws that is no look, then by a kill, then to the target.
        scratch.fit(&format!("{fit} --out parts --draws 777"));
        scratch.killed_after(
            &format!("{fit} --out parts --resume --target-ess 2500"),
            Duration::from_millis(900),
        );
        scratch.fit(&format!("{fit} --out parts --resume --target-ess 2500"));
        let whole = scratch.summary("whole");
        assert_eq!(whole["ended"], "target_ess");
        scratch.draws("parts").assert_equal(&scratch.draws("whole"), more);
        assert_eq!(counted(&whole), counted(&scratch.summary("parts")), "{more}");
        let said = text(&scratch.fit(&format!("{fit} --out whole --resume")).stdout);
        assert!(said.contains("target of effective draws is reached"), "{said}");
        fs::remove_dir_all(scratch.path().join("whole")).unwrap();
        fs::remove_dir_all(scratch.path().join("parts")).unwrap();
    }
}

#[test]
fn changed_data_and_settings_are_refused_by_name_and_nothing_is_touched() {
    let scratch = Scratch::new("refused");
    // More rows than a sampled fingerprint looks at.
    assert!(scratch.run("generate logistic --rows 150000 --features 3 --out data.csv").status.success());
    let base = "fit data.csv --response y --epsilon 0.05 --batch 500 --chains 2 --warmup 50 --draws 100 --prior normal:1 --seed 3";
    scratch.fit(&format!("{base} --out run"));
    let run = scratch.path().join("run");
    let untouched = |before: &std::collections::BTreeMap<_, _>, line: &str| {
        let mut after = files(&run);
        after.remove(&run.join("lock"));
        assert!(after == *before, "{line}: the run was touched");
    };
    let mut before = files(&run);
    before.remove(&run.join("lock"));
    for (change, words) in [
        ("--prior laplace:1", ["--prior", "normal:1", "laplace:1"]),
        ("--rule exact", ["--rule", "auto", "exact"]),
        ("--epsilon 0.01", ["--epsilon", "0.05", "0.01"]),
        ("--batch 600", ["--batch", "500", "600"]),
        ("--chains 3", ["--chains", "2", "3"]),
        ("--warmup 60", ["--warmup", "50", "60"]),
        ("--thin 2", ["--thin", "1", "2"]),
        ("--seed 4", ["--seed", "3", "4"]),
        ("--family poisson", ["--family", "not given", "poisson"]),
        ("--features x1,x2", ["--features", "not given", "x1,x2"]),
        ("--keep x1", ["--keep", "not given", "x1"]),
        ("--no-intercept", ["--no-intercept", "not given", "true"]),
        ("--standardize", ["--standardize", "not given", "true"]),
        ("--proposal laplace", ["--proposal", "auto", "laplace"]),
        ("--response x1", ["--response", "y", "x1"]),
    ] {
        let line = format!("fit data.csv --response y --out run --resume --draws 200 {change}");
        let line = if change.contains("--response") { line.replacen("--response y ", "", 1) } else { line };
        let said = scratch.refused(&line);
        words.iter().for_each(|word| assert!(said.contains(word), "{change}: {word} is missing in {said}"));
        untouched(&before, change);
    }

    let data = fs::read_to_string(scratch.path().join("data.csv")).unwrap();
    let mut lines: Vec<String> = data.lines().map(Into::into).collect();
    let whole = lines.clone();
    let resume = |file: &str| format!("fit {file} --response y --out run --resume --draws 200");
    let refused = |lines: &[String], words: &[&str]| {
        fs::write(scratch.path().join("other.csv"), lines.join("\n")).unwrap();
        let said = scratch.refused(&resume("other.csv"));
        for word in ["other.csv", "data.csv"].iter().chain(words) {
            assert!(said.contains(word), "{word} is missing in {said}");
        }
        untouched(&before, &said);
    };
    // One cell, wherever it stands.
    for row in [1, 70_001, 149_999] {
        let cell = lines[row].split(',').next().unwrap().to_owned();
        lines[row] = lines[row].replacen(&cell, &format!("{}", cell.parse::<f64>().unwrap() + 0.25), 1);
        refused(&lines, &["some values are not"]);
        lines[row].clone_from(&whole[row]);
    }
    lines.pop();
    refused(&lines, &["number of rows", "150000", "149999"]);
    lines.clone_from(&whole);
    lines[0] = lines[0].replace("x2", "z2");
    refused(&lines, &["x2", "z2"]);
    // A response flipped.
    lines.clone_from(&whole);
    let flipped = if lines[5].ends_with('1') { "0" } else { "1" };
    let end = lines[5].len() - 1;
    lines[5].replace_range(end.., flipped);
    refused(&lines, &["some values are not"]);

    // The same data under another name go on.
    fs::write(scratch.path().join("copy.csv"), &data).unwrap();
    scratch.fit(&resume("copy.csv"));
    assert_eq!(scratch.draws("run").count, 200);
}
