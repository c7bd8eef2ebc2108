//! Runs whose files are damaged, through the program: `summary` and `fit --resume` answer, or say in one message what is wrong.
//!
//! A small run is made, a file of it is changed in a few places, and the program is started on it. Texts get other numbers, missing
//! pieces and pieces twice; a change that the program cannot notice (another digit of a number) may pass, a panic may not.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

fn austerity(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_austerity")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// One change of a file: at a place, so many bytes make room for a text.
type Change = (Index, usize, &'static str);

fn change() -> impl Strategy<Value = Change> {
    let text = prop_oneof![
        Just(""),
        Just("0"),
        Just("-1"),
        Just("18446744073709551615"),
        Just("9223372036854775807"),
        Just("1e308"),
        Just("nan"),
        Just("\""),
        Just("[]"),
        Just("\n"),
        Just("ü"),
    ];
    (any::<Index>(), 0_usize..12, text)
}

/// Whole numbers are replaced whole: that is where ranges are forgotten.
fn changed(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, count, text) in changes.iter().filter(|_| !bytes.is_empty()).cloned().collect::<Vec<_>>() {
        let start = at.index(bytes.len());
        let (start, end) = match bytes[start..].iter().position(u8::is_ascii_digit) {
            Some(digit) if count % 2 == 0 => {
                let from = start + digit;
                let length = bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                (from, from + length)
            }
            _ => (start, (start + count).min(bytes.len())),
        };
        bytes.splice(start..end, text.bytes());
    }
    bytes
}

struct Run {
    folder: PathBuf,
}

impl Run {
    fn make(test: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("austerity-damaged-{}-{test}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let run = Self { folder };
        let (data, out) = (run.path("data.csv"), run.path("run"));
        let made = austerity(&["generate", "logistic", "--rows", "300", "--features", "2", "--out", &data]);
        assert!(made.status.success());
        let short = ["--draws", "30", "--warmup", "20", "--chains", "2"];
        let fit = austerity(&[&["fit", &data, "--response", "y", "--out", &out], &short[..]].concat());
        assert!(matches!(fit.status.code(), Some(0 | 1)), "{}", String::from_utf8_lossy(&fit.stderr));
        run
    }

    fn path(&self, name: &str) -> String {
        self.folder.join(name).to_str().unwrap().to_owned()
    }

    /// Damages `file`, asks, and mends it again; `resume` goes on with a copy.
    fn survives(&self, file: &str, content: &[u8], resume: bool) -> Result<(), TestCaseError> {
        let copy = self.folder.join("copy");
        let _ = fs::remove_dir_all(&copy);
        copy_all(&self.folder.join("run"), &copy);
        fs::write(copy.join(file), content).unwrap();
        let (copy, data) = (self.path("copy"), self.path("data.csv"));
        let output = if resume {
            austerity(&[
                "fit",
                &data,
                "--response",
                "y",
                "--out",
                &copy,
                "--resume",
                "--json",
                "--budget",
                "200ms",
            ])
        } else {
            austerity(&["summary", &copy, "--json"])
        };
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        prop_assert!(!said.contains("panicked"), "{}: {}", file, said);
        prop_assert!(matches!(output.status.code(), Some(0..=2)), "{}: {:?} {}", file, output.status, said);
        if output.status.code() == Some(2) {
            prop_assert!(said.starts_with("austerity: ") && output.stdout.is_empty(), "{}: {}", file, said);
        } else {
            prop_assert!(serde_json::from_slice::<serde_json::Value>(&output.stdout).is_ok(), "{}", file);
        }
        Ok(())
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn copy_all(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_all(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// AUSTERITY_FUZZ=100 searches a hundred times as long.
fn search(test: &str, cases: u32, resume: bool) {
    let run = Run::make(test);
    let multiple: u32 = std::env::var("AUSTERITY_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let config = Config {
        cases: cases * multiple,
        failure_persistence: None,
        max_shrink_iters: 40,
        ..Config::default()
    };
    let files = ["run.toml", "run.toml", "checkpoint", "draws.zarr/zarr.json"];
    let input = (vec(change(), 1..4), 0..files.len());
    let outcome = TestRunner::new(config).run(&input, |(changes, which)| {
        let whole = fs::read(run.folder.join("run").join(files[which])).unwrap();
        run.survives(files[which], &changed(&whole, &changes), resume)
    });
    outcome.unwrap_or_else(|error| panic!("{error}"));
}

#[test]
fn summary_of_a_damaged_run() {
    search("summary", 100, false);
}

#[test]
fn resuming_a_damaged_run() {
    search("resume", 15, true);
}

#[test]
#[ignore = "second tier: long"]
fn resuming_a_damaged_run_many_times() {
    search("resume-many", 40, true);
}

/// Every description of draws that found a fault in the reader, again, through the program.
#[test]
fn the_corpus_is_refused() {
    let run = Run::make("corpus");
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../austerity-io/tests/corpus");
    let mut tried = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        if path.to_str().unwrap().ends_with(".zarr.json") {
            let content = fs::read(&path).unwrap();
            for resume in [false, true] {
                let outcome = run.survives("draws.zarr/zarr.json", &content, resume);
                outcome.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            }
            tried += 1;
        }
    }
    assert!(tried > 0);
}
