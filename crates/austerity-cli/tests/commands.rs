//! The program as a user meets it: what it prints, where, and with which exit code.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::{Command, Stdio};

use crate::common::{Scratch, austerity, text};

#[test]
fn help_names_every_command_with_examples() {
    let help = text(&austerity(&["--help"]).stdout);
    let listed =
        help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> = listed.filter_map(|line| line.split_whitespace().next()).collect();
    assert!(commands.len() > 12 && commands.contains(&"fit"), "{help}");
    for command in commands.iter().filter(|command| **command != "help") {
        let said = text(&austerity(&[command, "--help"]).stdout);
        assert!(
            said.contains(&format!("austerity {command}")) && said.contains("Example"),
            "{command}: {said}"
        );
    }
    let demo = austerity(&["demo", "--help"]);
    for word in
        ["--rows", "--features", "--seconds", "--json", "--seed", "--threads", "Examples:", "austerity demo"]
    {
        assert!(text(&demo.stdout).contains(word), "{word}");
    }
    assert!(text(&austerity(&["--version"]).stdout).starts_with("austerity 0."));
}

#[test]
fn bad_usage_and_bad_input_exit_with_2_and_speak_on_standard_error() {
    for (arguments, word) in [
        (&["demoo"][..], "demo"),
        (&[][..], "Usage"),
        (&["demo", "--rows", "many"][..], "many"),
        (&["demo", "--rows", "0"][..], "row"),
        (&["demo", "--seconds", "-1", "--rows", "1000"][..], "-1"),
        (&["demo", "--seconds", "0", "--rows", "1000"][..], "seconds"),
    ] {
        let output = austerity(arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", text(&output.stderr));
        assert!(text(&output.stderr).contains(word), "{arguments:?}: {}", text(&output.stderr));
        assert!(!text(&output.stderr).contains("panicked"), "{arguments:?}");
    }
}

#[test]
fn the_demo_fits_then_compares_and_leaves_a_page() {
    let scratch = Scratch::new("demo");
    let said = scratch.done("demo --rows 20000 --features 4 --seconds 0.4 --out shown");
    for word in [
        "austerity fit shown/data.parquet --response y",
        "true",
        "Trusted: 4 chains agree",
        "seconds from the file",
        "rows per decision",
        "effective samples/s",
        "sd against exact",
        "predicted sd",
        "exact MH, proposals of the fit",
        "exact MH, random walk",
        "paper's test, same random walk",
        "Report page: shown/run/report.html",
    ] {
        assert!(said.contains(word), "{word} is missing in\n{said}");
    }
    assert!(scratch.at("shown/run/report.html").is_file());
    // The same command again never overwrites.
    let again = scratch.run("demo --rows 2000 --features 2 --seconds 0.1 --out shown");
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("--out"), "{}", text(&again.stderr));
}

#[test]
fn the_demo_speaks_json() {
    let scratch = Scratch::new("demo-json");
    let value = scratch.json("demo --rows 20000 --features 4 --seconds 0.4 --seed 3 --out shown");
    assert_eq!(value["rows"], 20_000);
    assert_eq!(value["parameters"], 5);
    assert_eq!(value["seed"], 3);
    assert_eq!(value["fit"]["trusted"], true);
    assert!(value["fit"]["seconds"].as_f64().unwrap() > value["fit"]["chain_seconds"].as_f64().unwrap());
    let [exact, walk, test] = &value["baselines"].as_array().unwrap()[..] else { panic!("{value}") };
    let rows = |result: &serde_json::Value| result["rows_per_decision"].as_f64().unwrap();
    assert!(rows(exact) == 20_000.0 && rows(walk) == 20_000.0);
    assert!(rows(test) < 20_000.0 && rows(&value["fit"]) < 2000.0, "{value}");
    assert!(test["predicted_sd"].as_f64().unwrap() > 1.2 && exact["predicted_sd"] == 1.0);
    for result in [exact, walk, test] {
        assert!(result["effective"].as_f64().unwrap() > 0.0, "{result}");
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let scratch = Scratch::new("closed-pipe");
    let mut child = Command::new(env!("CARGO_BIN_EXE_austerity"))
        .args(["demo", "--rows", "5000", "--features", "2", "--seconds", "0.2", "--out", "shown"])
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{:?}: {}", output.status, text(&output.stderr));
}

/// Ctrl-C ends the sampling and still prints what was measured.
#[cfg(unix)]
#[test]
fn an_interrupt_keeps_what_was_measured() {
    let scratch = Scratch::new("demo-interrupted");
    let child = Command::new(env!("CARGO_BIN_EXE_austerity"))
        .args(["demo", "--rows", "20000", "--features", "3", "--seconds", "30", "--out", "shown"])
        .current_dir(scratch.path())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(7000));
    let stop = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(stop.success());
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success());
    let said = text(&output.stdout);
    assert!(said.contains("exact") && said.contains("Stopped early"), "{said}");
}
