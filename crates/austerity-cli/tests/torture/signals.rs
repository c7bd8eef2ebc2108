//! Signals that end a fit save it; a store that is cut short under a fit ends it with a message.

use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Scratch, text};

const FIT: &str =
    "--chains 2 --warmup 100 --seed 2 --rule exact --proposal adaptive --draws 100000000 --out run";

fn signal(child: &Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

/// Waits until a fit has stored draws.
fn wait_for_draws(scratch: &Scratch) {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        std::thread::sleep(Duration::from_millis(100));
        let said = scratch.run("summary run --json");
        let found: serde_json::Value = serde_json::from_slice(&said.stdout).unwrap_or_default();
        if found["draws"].as_u64().unwrap_or(0) > 0 {
            return;
        }
    }
    panic!("no draws came");
}

/// Waits for the end of a process, at most a minute.
fn wait(child: &mut Child) -> std::process::ExitStatus {
    let end = Instant::now() + Duration::from_secs(60);
    while Instant::now() < end {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    panic!("the process did not end");
}

#[test]
fn sigterm_and_sighup_save_like_sigint() {
    for name in ["TERM", "HUP", "INT"] {
        let scratch = Scratch::new("signal");
        scratch.done("generate logistic --rows 2000 --features 2 --out data.csv");
        let mut child = scratch.start(&format!("fit data.csv --response y {FIT}"));
        wait_for_draws(&scratch);
        signal(&child, name);
        let status = wait(&mut child);
        assert!(matches!(status.code(), Some(0 | 1)), "SIG{name}: {status}");
        let summary = scratch.summary("run");
        assert_eq!(summary["ended"], "interrupted", "SIG{name}: {summary}");
        assert_eq!(scratch.run("verify run").status.code(), Some(0), "SIG{name}");
    }
}

#[test]
fn nohup_is_respected() {
    let scratch = Scratch::new("nohup");
    scratch.done("generate logistic --rows 2000 --features 2 --out data.csv");
    let line = format!("trap '' HUP; exec \"$0\" fit data.csv --response y {FIT}");
    let mut shell = Command::new("sh");
    shell.args(["-c", &line, env!("CARGO_BIN_EXE_austerity")]).current_dir(scratch.path());
    let mut child = shell.stdin(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    wait_for_draws(&scratch);
    signal(&child, "HUP");
    std::thread::sleep(Duration::from_millis(1500));
    assert!(child.try_wait().unwrap().is_none(), "SIGHUP ended a fit under nohup");
    signal(&child, "TERM");
    assert!(matches!(wait(&mut child).code(), Some(0 | 1)));
}

#[test]
fn a_store_that_is_cut_short_under_a_fit_ends_it_with_a_message() {
    let scratch = Scratch::new("truncated");
    scratch.done("generate logistic --rows 200000 --features 5 --out data.csv");
    scratch.done("convert data.csv --response y --out store");
    let blocks = scratch.at("store/blocks.npy");
    let intact = fs::read(&blocks).unwrap();
    let mut child = scratch.start(&format!("fit store {FIT}"));
    wait_for_draws(&scratch);
    fs::OpenOptions::new().write(true).open(&blocks).unwrap().set_len(4096).unwrap();
    let status = wait(&mut child);
    let said = text(&child.wait_with_output().unwrap().stderr);
    assert_eq!(status.code(), Some(2), "{status}: {said}");
    for word in ["austerity: ", "blocks.npy", "cut short", "--resume"] {
        assert!(said.contains(word), "{word} is missing in: {said}");
    }
    // What was stored is sound; with the file back, the run goes on.
    let verified = scratch.run("verify run");
    let found = text(&verified.stdout);
    assert!(
        verified.status.code() == Some(1) && found.contains("blocks.npy") && !found.contains("draws.zarr "),
        "{found}"
    );
    fs::write(&blocks, intact).unwrap();
    assert_eq!(scratch.run("verify run").status.code(), Some(0));
    let made = scratch.summary("run")["draws"].as_u64().unwrap();
    scratch.fit(&format!(
        "{} --resume",
        format!("fit store {FIT}").replace("100000000", &(made + 5).to_string())
    ));
}

/// A few bytes less leave no page unmapped: the system shows zeros, so the end of the fit looks again.
#[test]
fn a_store_that_loses_its_last_bytes_under_a_fit_is_noticed_at_the_end() {
    let scratch = Scratch::new("shorter");
    scratch.done("generate logistic --rows 2000 --features 5 --out data.csv");
    scratch.done("convert data.csv --response y --out store");
    let blocks = scratch.at("store/blocks.npy");
    let intact = fs::read(&blocks).unwrap();
    let mut flipped = intact.clone();
    flipped[9000] ^= 0x40;
    for (damaged, word) in
        [(&intact[..intact.len() - 8], "bytes instead of"), (&flipped, "the checksum of block")]
    {
        fs::write(&blocks, &intact).unwrap();
        let mut child = scratch.start(&format!("fit store {FIT}"));
        wait_for_draws(&scratch);
        // In place, as a copy would do it.
        use std::io::Write as _;
        let mut file = fs::OpenOptions::new().write(true).open(&blocks).unwrap();
        file.write_all(damaged).unwrap();
        file.set_len(damaged.len() as u64).unwrap();
        std::thread::sleep(Duration::from_millis(50));
        signal(&child, "TERM");
        let status = wait(&mut child);
        let said = text(&child.wait_with_output().unwrap().stderr);
        assert_eq!(status.code(), Some(2), "{status}: {said}");
        assert!(said.contains("blocks.npy") && said.contains(word) && said.contains("new run"), "{said}");
        fs::remove_dir_all(scratch.at("run")).unwrap();
    }
}
