//! A folder per test, small tables, and what holds for every refusal and every run.

use std::fs;
use std::io::Write as _;
use std::path::Path;

pub(crate) use crate::common::{Scratch, austerity, text};

/// Enough of a run to know that there is one.
pub(crate) const SHORT: [&str; 8] = ["--draws", "20", "--warmup", "10", "--chains", "1", "--rule", "exact"];

/// A number without pattern: a function of its place, from −1 to 1.
pub(crate) fn number(i: usize, j: usize) -> f64 {
    let mixed = ((i * 31 + j + 7) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> 40) as f64 / 8_388_608.0 - 1.0
}

/// `rows` lines by a function of the row, below a header.
pub(crate) fn lines(header: &str, rows: usize, line: impl Fn(usize) -> String) -> String {
    (0..rows).fold(format!("{header}\n"), |text, i| text + &line(i) + "\n")
}

/// Columns a, b and a response 0 or 1; row `at` (from 1) is replaced.
pub(crate) fn table(at: usize, replaced: &str) -> String {
    lines("a,b,y", 120, |i| {
        if i + 1 == at {
            replaced.into()
        } else {
            format!("{:.4},{:.4},{}", number(i, 0), number(i, 1), u8::from(number(i, 2) > 0.0))
        }
    })
}

pub(crate) fn good() -> String {
    table(0, "")
}

/// What holds for every refusal: exit code 2, one message on standard error with the words, nothing on standard output, no panic,
/// no folder left behind.
pub(crate) fn refused(what: &str, arguments: &[&str], out: &str, words: &[&str]) {
    let output = austerity(arguments);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{what}: {said}\n{}", text(&output.stdout));
    assert!(output.stdout.is_empty(), "{what}: {}", text(&output.stdout));
    assert!(!said.contains("panicked") && !said.contains("RUST_BACKTRACE"), "{what}: {said}");
    let one = said.starts_with("austerity: ")
        && said.matches("austerity: ").count() == 1
        && said.trim_end().lines().count() == 1;
    // What the parser of options refuses ends with a hint at --help.
    let usage = said.starts_with("error: ") && said.contains("--help");
    assert!(one || usage, "{what}: not one message: {said}");
    for word in words {
        assert!(said.contains(word), "{what}: no `{word}` in: {said}");
    }
    assert!(!Path::new(out).exists(), "{what}: {out} was left behind");
}

/// `austerity fit` refuses.
pub(crate) fn fit_refuses(folder: &Scratch, what: &str, (data, options): (&str, &[&str]), words: &[&str]) {
    let out = folder.name("run");
    let response: &[&str] = if options.contains(&"--response") { &[] } else { &["--response", "y"] };
    let arguments = [&["fit", data, "--out", &out, "--json"], response, options].concat();
    refused(what, &arguments, &out, words);
}

/// `austerity fit` runs: exit code 0 or 1, JSON on standard output, nothing on standard error; returns the JSON.
pub(crate) fn fit_accepts(folder: &Scratch, what: &str, data: &str, options: &[&str]) -> serde_json::Value {
    let out = folder.name("run");
    let arguments = [&["fit", data, "--out", &out, "--json", "--response", "y"], options, &SHORT].concat();
    let output = austerity(&arguments);
    let said = text(&output.stderr);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{what}: {said}");
    assert!(said.is_empty(), "{what}: {said}");
    assert!(Path::new(&out).join("summary.json").is_file(), "{what}");
    fs::remove_dir_all(&out).unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{what}: {error}"))
}

pub(crate) fn names(summary: &serde_json::Value) -> Vec<&str> {
    summary["parameters"].as_array().unwrap().iter().map(|p| p["name"].as_str().unwrap()).collect()
}

pub(crate) fn remarks(summary: &serde_json::Value) -> String {
    summary["remarks"].to_string()
}

pub(crate) fn flate(content: &str) -> Vec<u8> {
    let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    gzip.write_all(content.as_bytes()).unwrap();
    gzip.finish().unwrap()
}
