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
#[ignore = "second tier: long"]
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
    // All but what is set aside for the summary, at most half of it.
    assert!((0.7..3.0).contains(&spent), "{spent}");
    assert!(stretches(&summary).len() >= 2, "{}", summary["budget"]);
    let before = scratch.draws("run");
    scratch.fit(&format!("{WALK} --out run --resume --budget 500ms"));
    before.assert_prefix(&scratch.draws("run"), "more time");
    let more = scratch.summary("run");
    assert!(more["budget"]["spent"].as_f64().unwrap() > spent + 0.2, "{}", more["budget"]);
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
    // A little more than the least, which counts the time for reading: draws that are not trusted or are right.
    let twice = |said: &str| {
        let least = said.split("the least is about --budget ").nth(1).unwrap_or_else(|| panic!("{said}"));
        2 * least.split("ms").next().unwrap().trim().parse::<u64>().unwrap()
    };
    let mut enough = twice(&scratch.refused(&format!("{fit} --budget 1ms")));
    // The least depends on what else the machine does: a second answer may name more.
    for _ in 0..5 {
        let output = scratch.run(&format!("{fit} --budget {enough}ms"));
        if output.status.code() != Some(2) {
            assert!(text(&output.stdout).contains("Budget: "), "{}", text(&output.stdout));
            return;
        }
        enough = twice(&text(&output.stderr));
    }
    panic!("every budget was too small, {enough} ms at last");
}

/// Bytes of all files of a folder.
fn size(folder: &std::path::Path) -> u64 {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .map(
            |entry| if entry.path().is_dir() { size(&entry.path()) } else { entry.metadata().unwrap().len() },
        )
        .sum()
}

#[test]
fn a_budget_counts_everything_and_stores_a_bounded_number_of_draws() {
    let scratch = Scratch::new("promise");
    scratch.done("generate logistic --rows 2000 --features 5 --out data.csv");
    let begun = std::time::Instant::now();
    let said = scratch.done("fit data.csv --response y --out run --budget 2s");
    // Loose, for a machine that does other things too.
    assert!(begun.elapsed() < Duration::from_secs(3 * 2 + 5), "{:?}", begun.elapsed());
    let summary = scratch.summary("run");
    let (draws, every) = (summary["draws"].as_u64().unwrap(), summary["stored_every"].as_u64().unwrap());
    assert!((1..=65_536).contains(&draws), "{draws}");
    assert!(size(scratch.path()) < 100_000_000);
    assert!(summary["budget"]["reserved"].as_f64().unwrap() > 0.0);
    if every > 1 {
        assert!(said.contains("Stored every"), "{said}");
        assert!(
            fs::read_to_string(scratch.at("run/run.toml"))
                .unwrap()
                .contains(&format!("record_every = {every}"))
        );
    }
}

#[test]
fn a_folder_stays_below_its_size_and_goes_on_as_if_never_interrupted() {
    let scratch = Scratch::new("size");
    scratch.done("generate logistic --rows 3000 --features 4 --out data.csv");
    let fit = "fit data.csv --response y --rule exact --proposal adaptive --chains 2 --warmup 100 --seed 3";
    scratch.fit(&format!("{fit} --draws 60000 --out all"));
    let all = scratch.draws("all");
    let limit = "--max-disk 7MB";
    let said = scratch.done(&format!("{fit} {limit} --draws 60000 --out whole"));
    assert!(size(&scratch.at("all")) > 7_000_000 && size(&scratch.at("whole")) <= 7_000_000);
    let every = scratch.summary("whole")["stored_every"].as_u64().unwrap() as usize;
    assert!(
        every > 1 && said.contains("of 60,000 draws per chain to keep the folder below 7 MB (--max-disk)"),
        "{said}"
    );
    // What is stored are the draws of the unlimited run.
    all.every(every).assert_equal(&scratch.draws("whole"), "thinned from the beginning");
    // The same by halving on the way: in two sessions, killed in between, and with lengths that are not known before.
    scratch.fit(&format!("{fit} {limit} --draws 1000 --out parts"));
    for wait in [60, 120, 240] {
        scratch.killed_after(
            &format!("{fit} {limit} --draws 60000 --out parts --resume"),
            Duration::from_millis(wait),
        );
    }
    scratch.fit(&format!("{fit} {limit} --draws 60000 --out parts --resume"));
    scratch.draws("parts").assert_equal(&scratch.draws("whole"), "killed and resumed");
    assert!(size(&scratch.at("parts")) <= 7_000_000);
    let evaluations = "--evaluations 400000000";
    scratch.fit(&format!("{fit} {limit} {evaluations} --out counted"));
    let counted = scratch.draws("counted");
    assert!(scratch.summary("counted")["stored_every"].as_u64().unwrap() > 1);
    for wait in [150, 300] {
        let _ = fs::remove_dir_all(scratch.at("again"));
        scratch
            .killed_after(&format!("{fit} {limit} {evaluations} --out again"), Duration::from_millis(wait));
        if scratch.at("again/run.toml").exists() {
            scratch.fit(&format!("{fit} {limit} {evaluations} --out again --resume"));
            scratch.draws("again").assert_equal(&counted, "evaluations, killed and resumed");
        }
    }
    // A target that the size does not hold is refused, and so is a size that holds nothing.
    scratch
        .refused_with(&format!("{fit} {limit} --target-ess 1e6 --out no"), &["--target-ess", "--max-disk"]);
    scratch.refused_with(
        &format!("{fit} --max-disk 20kB --out no"),
        &["--max-disk 20 kB", "the least is about"],
    );
    scratch.refused_with(&format!("{fit} --max-disk huge --out no"), &["--max-disk", "huge", "500MB"]);
    // Less room on resumption thins what is there.
    scratch.fit(&format!("{fit} --max-disk 6MB --draws 60001 --out whole --resume"));
    assert!(size(&scratch.at("whole")) <= 6_000_000, "{}", size(&scratch.at("whole")));
}

#[test]
fn a_target_is_reached_with_thinned_draws() {
    let scratch = Scratch::new("thin-target");
    scratch.done("generate logistic --rows 1000 --features 2 --out data.csv");
    let fit = "fit data.csv --response y --rule exact --proposal random-walk:0.02 --chains 2 --warmup 100 --max-disk 7MB";
    scratch.fit(&format!("{fit} --target-ess 1000 --out whole"));
    let summary = scratch.summary("whole");
    assert_eq!(summary["ended"], "target_ess");
    assert!(summary["stored_every"].as_u64().unwrap() > 1, "{}", summary["draws"]);
    scratch.killed_after(&format!("{fit} --target-ess 1000 --out parts"), Duration::from_millis(300));
    if scratch.at("parts/run.toml").exists() {
        scratch.fit(&format!("{fit} --target-ess 1000 --out parts --resume"));
        scratch.draws("parts").assert_equal(&scratch.draws("whole"), "target");
    }
}
