//! The program as a user meets it: what it prints, where, and with which exit code.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::process::{Command, Stdio};

use crate::common::{austerity, text};

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
fn the_demo_prints_its_tables_and_words() {
    let output = austerity(&["demo", "--rows", "20000", "--features", "4", "--seconds", "0.4"]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    for word in [
        "exact",
        "ε = 0.05",
        "ε = 0.01",
        "m = 800",
        "data read",
        "ESS/s",
        "sd ratio",
        "cold start",
        "In words",
        "Memory",
    ] {
        assert!(said.contains(word), "{word} is missing in\n{said}");
    }
    assert!(output.stderr.is_empty(), "quiet when not a terminal");
}

#[test]
fn the_demo_speaks_json() {
    let output = austerity(&[
        "demo",
        "--rows",
        "20000",
        "--features",
        "4",
        "--seconds",
        "0.4",
        "--json",
        "--seed",
        "3",
    ]);
    assert!(output.status.success());
    let value: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(value["rows"], 20_000);
    assert_eq!(value["parameters"], 5);
    assert_eq!(value["seed"], 3);
    let results = value["results"].as_array().unwrap();
    assert_eq!(results.len(), 4);
    assert_eq!(results[0]["data_share"], 1.0);
    for result in &results[1..] {
        let share = result["data_share"].as_f64().unwrap();
        assert!(share > 0.0 && share < 1.0, "{share}");
        assert!(result["ess_per_second"].as_f64().unwrap() > 0.0);
    }
}

#[test]
fn a_closed_pipe_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_austerity"))
        .args(["demo", "--rows", "5000", "--features", "2", "--seconds", "0.2"])
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
    let child = Command::new(env!("CARGO_BIN_EXE_austerity"))
        .args(["demo", "--rows", "20000", "--features", "3", "--seconds", "30"])
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
