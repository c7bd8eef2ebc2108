//! Runs whose setting was given up after audits contradicted it: they begin again with the next safer one, by themselves and after a kill, and end trusted.

use std::fs;
use std::time::Duration;

use crate::common::Scratch;

/// Notes in the run's file that its setting is given up for `care`, as a run does before it removes a draw.
fn give_up(scratch: &Scratch, run: &str, care: &str) {
    let path = scratch.path().join(run).join("run.toml");
    let text = fs::read_to_string(&path).unwrap();
    // What is edited on purpose goes without its checksum, which is in the first line.
    let text = text.split_once('\n').unwrap().1.to_owned();
    let record = format!(
        "\n[[healed]]\ngiven_up = \"a test\"\nwhy = \"Audited totals were off.\"\ncare = \"{care}\"\npending = true\n"
    );
    fs::write(&path, text + &record).unwrap();
}

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    assert!(scratch.run("generate logistic --rows 20000 --features 3 --out data.parquet").status.success());
    scratch
}

#[test]
fn a_setting_that_was_given_up_is_replaced_by_a_safer_one() {
    let scratch = scratch("healing");
    let fit = "fit data.parquet --response y --seed 4";
    for (care, rule) in [("stricter", "stop_at"), ("certified", "certified"), ("exact", "exact")] {
        scratch.fit(&format!("{fit} --out {care} --draws 1500"));
        give_up(&scratch, care, care);
        scratch.fit(&format!("{fit} --out {care} --resume"));
        let summary = scratch.summary(care);
        assert_eq!(summary["trusted"], true, "{care}: {summary}");
        assert_eq!(summary["draws"], 1500, "{care}");
        assert!(summary["rule"].to_string().contains(rule), "{care}: {}", summary["rule"]);
        assert!(summary["remarks"].to_string().contains("All draws were made again"), "{summary}");
        // It is done with: going on changes nothing.
        scratch.fit(&format!("{fit} --out {care} --resume"));
        assert_eq!(scratch.summary(care)["parameters"], summary["parameters"], "{care}");
    }
    // The draws are those of a run that had the safer setting from the start.
    scratch.fit(&format!("{fit} --out asked --draws 1500 --rule exact"));
    scratch.draws("exact").assert_equal(&scratch.draws("asked"), "exact from the start");
    let strict = scratch.summary("stricter");
    assert!(strict["rule"]["stop_at"].as_f64().unwrap() < 0.011, "{}", strict["rule"]);
}

#[test]
fn a_kill_while_draws_are_made_again_changes_nothing() {
    let scratch = scratch("healing-killed");
    let fit = "fit data.parquet --response y --seed 4";
    for run in ["whole", "killed"] {
        scratch.fit(&format!("{fit} --out {run} --draws 12000"));
        give_up(&scratch, run, "exact");
    }
    let again = |run: &str| format!("{fit} --out {run} --resume");
    scratch.fit(&again("whole"));
    for wait in [150, 1_200] {
        scratch.killed_after(&again("killed"), Duration::from_millis(wait));
    }
    scratch.fit(&again("killed"));
    scratch.draws("killed").assert_equal(&scratch.draws("whole"), "killed while it healed");
}
