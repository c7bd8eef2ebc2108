//! The n-th file call fails, or the process is killed there, for every n: through a library that is loaded before the C library's (`shim.c`).

#![cfg(all(target_os = "linux", target_env = "gnu"))]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use super::{Dice, rounds};
use crate::common::{Draws, Scratch, files, names, restore, text};

const FIT: &str = "fit data.csv --response y --chains 2 --warmup 30 --seed 2 --rule exact --proposal adaptive \
                   --threads 1 --out run";
const BAD_DISK: i32 = 5;
const FULL: i32 = 28;

/// What happens at the call.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Fault {
    /// It fails once.
    BadDisk,
    /// It and all that write after it fail.
    Full,
    /// The process is killed.
    Kill,
}

/// A folder with data, and the library.
struct Bench {
    scratch: Scratch,
    shim: PathBuf,
}

impl Bench {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(name);
        scratch.done("generate logistic --rows 300 --features 2 --out data.csv");
        let shim = std::env::temp_dir().join(format!("austerity-shim-{}-{name}.so", std::process::id()));
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/torture/shim.c");
        // The compiler that links Rust programs.
        let made = Command::new("cc")
            .args(["-shared", "-fPIC", "-O1", "-o"])
            .arg(&shim)
            .arg(source)
            .arg("-ldl")
            .output();
        let made = made.unwrap();
        assert!(made.status.success(), "{}", text(&made.stderr));
        Self { scratch, shim }
    }

    fn command(&self, line: &str) -> Command {
        let mut command = self.scratch.command(line.split_whitespace());
        command.env("LD_PRELOAD", &self.shim);
        command
    }

    /// File calls of a command that nothing happens to.
    fn calls(&self, line: &str) -> usize {
        let count = self.shim.with_extension("count");
        let output = self.command(line).env("FAULT_COUNT", &count).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", text(&output.stderr));
        fs::read_to_string(&count).unwrap().trim().parse().unwrap()
    }

    fn with(&self, line: &str, fault: Fault, at: usize) -> Output {
        let mut command = self.command(line);
        let error = match fault {
            Fault::BadDisk => BAD_DISK,
            Fault::Full => FULL,
            Fault::Kill => 0,
        };
        command.env("FAULT_AT", at.to_string()).env("FAULT_ERROR", error.to_string());
        if fault == Fault::Full {
            command.env("FAULT_ALL", "1");
        }
        let output = command.output().unwrap();
        let said = text(&output.stderr);
        assert!(!said.contains("panicked"), "{line}, {fault:?} at call {at}: {said}");
        match output.status.code() {
            None => assert_eq!(fault, Fault::Kill, "{line}, {fault:?} at call {at}: {:?}", output.status),
            Some(2) => assert!(said.starts_with("austerity: "), "{line}, {fault:?} at call {at}: {said}"),
            Some(code) => assert!(code < 2, "{line}, {fault:?} at call {at}: {code}"),
        }
        output
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.shim);
        let _ = fs::remove_file(self.shim.with_extension("count"));
    }
}

/// The calls to try: all, or so many.
fn chosen(calls: usize, some: Option<usize>, seed: u64) -> Vec<usize> {
    match some {
        None => (0..calls).collect(),
        Some(some) => {
            let mut dice = Dice::new(seed);
            // One of each stretch, so that beginning, middle and end are all met.
            (0..some).map(|i| i * calls / some + dice.below(calls / some)).collect()
        }
    }
}

/// A fit of two sessions; the second is disturbed, or the first.
fn fits(some: Option<usize>) {
    let bench = Bench::new("fault-fit");
    let scratch = &bench.scratch;
    let (first, second) = (format!("{FIT} --draws 40"), format!("{FIT} --draws 90 --resume"));
    let run = scratch.at("run");
    let sessions = [bench.calls(&first), {
        let calls = bench.calls(&second);
        assert!(calls > 50, "{calls} calls: the library is not in use");
        calls
    }];
    let whole = scratch.draws("run");
    fs::remove_dir_all(&run).unwrap();
    scratch.fit(&first);
    let begun = files(&run);
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for round in rounds() {
        for fault in [Fault::BadDisk, Fault::Full, Fault::Kill] {
            for (line, calls) in [&first, &second].into_iter().zip(sessions) {
                for at in chosen(calls, some, round) {
                    let what = format!("{line}, {fault:?} at call {at}");
                    let _ = fs::remove_dir_all(&run);
                    if *line == second {
                        fs::create_dir(&run).unwrap();
                        restore(&run, &begun);
                    }
                    let output = bench.with(line, fault, at);
                    let code = output.status.code();
                    *outcomes.entry(format!("{fault:?}: {code:?}")).or_default() += 1;
                    if fault == Fault::Full && code.is_some_and(|code| code < 2) {
                        // Nothing that matters was written after that call: the run is whole.
                        assert!(run.join("run.toml").exists(), "{what}");
                    }
                    if run.join("run.toml").exists() {
                        let verified = scratch.run("verify run");
                        assert_eq!(verified.status.code(), Some(0), "{what}: {}", text(&verified.stdout));
                    }
                    if matches!(code, Some(0 | 1)) {
                        let made = scratch.draws("run");
                        assert_eq!(made.count, if *line == second { 90 } else { 40 }, "{what}");
                        made.assert_prefix(&whole, &what);
                    }
                    // What is left goes on or begins anew, to the same draws.
                    let resume = if run.join("run.toml").exists() { "--resume" } else { "" };
                    scratch.fit(&format!("{FIT} --draws 90 {resume}"));
                    scratch.draws("run").assert_equal(&whole, &what);
                    let left: Vec<PathBuf> = files(&run)
                        .into_keys()
                        .filter(|file| file.extension().is_some_and(|e| e == "part"))
                        .collect();
                    assert!(left.is_empty(), "{what}: {left:?}");
                }
            }
        }
    }
    eprintln!("fits: {sessions:?} calls; {outcomes:?}");
}

/// Commands that make one file or folder: it is whole or not there, and can be made again.
fn makers(some: Option<usize>) {
    let bench = Bench::new("fault-make");
    let scratch = &bench.scratch;
    scratch.fit(&format!("{FIT} --draws 50"));
    let other = FIT.replace("--out run", "--out other --first-chain 2");
    scratch.fit(&format!("{other} --draws 50"));
    let lines = [
        ("convert data.csv --response y --out made --memory 4000", "made"),
        ("merge run other --out made", "made"),
        ("export run --out made.csv --statistics", "made.csv"),
        ("export run --out made.parquet", "made.parquet"),
        ("report run --out made.html", "made.html"),
        ("predict run data.csv --out made.csv", "made.csv"),
    ];
    let content = |name: &str| match scratch.at(name).is_dir() {
        true if name == "made" && scratch.at("made/run.toml").exists() => {
            Draws::read(&scratch.at("made/draws.zarr"))
                .arrays
                .into_values()
                .flatten()
                .map(|chain| format!("{chain:?}"))
                .collect()
        }
        true => {
            files(&scratch.at(name)).into_values().map(|bytes| format!("{bytes:?}")).collect::<Vec<String>>()
        }
        false => vec![format!("{:?}", fs::read(scratch.at(name)).unwrap())],
    };
    let is_complete = || ["made/run.toml", "made/meta.json"].iter().any(|file| scratch.at(file).exists());
    let remove = |name: &str| {
        let _ = fs::remove_file(scratch.at(name));
        let _ = fs::remove_dir_all(scratch.at(name));
    };
    let mut outcomes: BTreeMap<String, usize> = BTreeMap::new();
    for round in rounds() {
        for (line, made) in lines {
            let calls = bench.calls(line);
            let whole = content(made);
            let clean = names(scratch.path());
            remove(made);
            for fault in [Fault::BadDisk, Fault::Full, Fault::Kill] {
                for at in chosen(calls, some, round) {
                    let what = format!("{line}, {fault:?} at call {at}");
                    let output = bench.with(line, fault, at);
                    let code = output.status.code();
                    *outcomes.entry(format!("{fault:?}: {code:?}")).or_default() += 1;
                    // A merge fills its folder by and by; the mark tells that it is not whole.
                    let there = scratch.at(made).exists() && !scratch.at("made/merging").exists();
                    if matches!(code, Some(0 | 1)) {
                        assert!(there, "{what}: nothing was made");
                    }
                    if there && (made != "made" || !line.starts_with("merge") || code == Some(0)) {
                        // A page of a run whose newest checkpoint could not be read says so.
                        let older = || {
                            made.ends_with(".html")
                                && fs::read_to_string(scratch.at(made)).unwrap().contains("checkpoint")
                        };
                        assert!(content(made) == whole || older(), "{what}: another content");
                    }
                    // What is complete is not made over; what is not, is.
                    if code == Some(0) || there && (made != "made" || is_complete()) {
                        remove(made);
                    }
                    let again = scratch.run(line);
                    assert!(again.status.success(), "{what}, again: {}", text(&again.stderr));
                    assert!(content(made) == whole, "{what}, again: another content");
                    assert_eq!(names(scratch.path()), clean, "{what}: something is left");
                    remove(made);
                }
            }
        }
    }
    eprintln!("makers: {outcomes:?}");
}

#[test]
fn fits_survive_failing_calls_and_kills() {
    fits(Some(5));
}

#[test]
fn makers_survive_failing_calls_and_kills() {
    makers(Some(3));
}

#[test]
#[ignore = "second tier: long"]
fn fits_survive_every_failing_call_and_kill() {
    fits(None);
}

#[test]
#[ignore = "second tier: long"]
fn makers_survive_every_failing_call_and_kill() {
    makers(None);
}
