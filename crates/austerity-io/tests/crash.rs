//! Processes that die, disks that fill up, and two processes on one run.
//!
//! Each test starts this test binary again as another process, told by a variable what to do.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::Folder;
use crate::common::draws::{decision, files, layout, values};
use austerity::rule::Decision;
use austerity_io::Error;
use austerity_io::run::{DrawsReader, DrawsWriter, Layout, RunLock, checkpoint};

const FOLDER: &str = "AUSTERITY_TEST_FOLDER";

fn append(
    writer: &mut DrawsWriter,
    layout: &Layout,
    chain: usize,
    draws: Range<usize>,
) -> austerity_io::Result<()> {
    let decisions: Vec<Decision> = draws.clone().map(|draw| decision(chain, draw)).collect();
    writer.append(chain, &values(layout, chain, draws), &decisions)
}

/// In the other process: the folder to work in.
fn told() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// This test binary again, running one test.
fn again(test: &str, folder: &Path) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([&format!("crash::{test}"), "--exact", "--nocapture"])
        .env(FOLDER, folder)
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    command
}

/// Waits until the other process says a word on a line of its own.
fn wait_for(child: &mut Child, word: &str) {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().ends_with(word)), "the other process never said {word}");
    std::thread::spawn(move || lines.for_each(drop));
}

#[test]
fn a_lock_keeps_others_out_and_dies_with_its_holder() {
    if let Some(folder) = told() {
        let _lock = RunLock::acquire(folder).unwrap();
        println!("\nlocked");
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let folder = Folder::new("crash-lock");
    let run = folder.path("run");
    assert!(matches!(RunLock::acquire(&run), Err(Error::Io { .. })), "no folder, no lock");
    fs::create_dir(&run).unwrap();
    let mut child = again("a_lock_keeps_others_out_and_dies_with_its_holder", &run).spawn().unwrap();
    wait_for(&mut child, "locked");
    match RunLock::acquire(&run).unwrap_err() {
        Error::Locked { process, .. } => assert_eq!(process, Some(child.id())),
        other => panic!("{other}"),
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let lock = RunLock::acquire(&run).unwrap();
    assert!(matches!(RunLock::acquire(&run), Err(Error::Locked { .. })), "not twice in one process either");
    drop(lock);
    RunLock::acquire(&run).unwrap();
}

#[test]
fn a_full_disk_leaves_what_was_safe_and_says_so() {
    let layout = layout(20, 2);
    if let Some(folder) = told() {
        // Files beyond 16 kB cannot be written here.
        let store = folder.join("draws.zarr");
        let mut writer = DrawsWriter::resume(&store, &layout, &[100, 120]).unwrap();
        append(&mut writer, &layout, 0, 100..110).unwrap();
        let error = writer.flush().unwrap_err();
        assert!(matches!(error, Error::DrawsNotWritten { safe: 100, .. }), "{error}");
        assert!(error.to_string().contains("the first 100 draws of every chain are safe"), "{error}");
        // Nothing is written after a failure.
        assert!(matches!(writer.flush(), Err(Error::DrawsNotWritten { safe: 100, .. })));
        assert!(append(&mut writer, &layout, 0, 110..111).is_err());
        let error = checkpoint::write(folder.join("checkpoint"), &vec![1.0; 10_000]).unwrap_err();
        assert!(matches!(error, Error::Io { .. }), "{error}");
        println!("\nrefused as it should");
        return;
    }
    let folder = Folder::new("crash-full");
    let run = folder.path("run");
    fs::create_dir(&run).unwrap();
    let mut writer = DrawsWriter::create(run.join("draws.zarr"), &layout).unwrap();
    append(&mut writer, &layout, 0, 0..100).unwrap();
    append(&mut writer, &layout, 1, 0..120).unwrap();
    writer.finish().unwrap();
    checkpoint::write(run.join("checkpoint"), &vec![2.0; 10]).unwrap();
    let content = || files(&run).into_iter().map(|file| (fs::read(&file).unwrap(), file)).collect::<Vec<_>>();
    let before = content();
    // A limit on the size of files, its signal ignored: writing fails in the middle, as on a full disk.
    let output = Command::new("sh")
        .args(["-c", "trap '' XFSZ; ulimit -f 32; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["crash::a_full_disk_leaves_what_was_safe_and_says_so", "--exact", "--nocapture"])
        .env(FOLDER, &run)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("refused as it should"), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
    assert!(content() == before, "the files of before are untouched and no temporary ones are left");
    let found: checkpoint::Found<Vec<f64>> = checkpoint::read(run.join("checkpoint")).unwrap();
    assert_eq!(found.value, [2.0; 10]);
    // With room again, the run goes on.
    let mut writer = DrawsWriter::resume(run.join("draws.zarr"), &layout, &[100, 120]).unwrap();
    append(&mut writer, &layout, 0, 100..120).unwrap();
    writer.finish().unwrap();
    let trace = DrawsReader::open(run.join("draws.zarr")).unwrap().trace().unwrap();
    assert_eq!(trace.chains[0].values, values(&layout, 0, 0..120));
}

/// Goes on from the newest checkpoint whose draws are on disk.
fn go_on(run: &Path, layout: &Layout) -> (DrawsWriter, Vec<u64>) {
    let mut reasons = Vec::new();
    for candidate in checkpoint::candidates::<Vec<u64>>(run.join("checkpoint")) {
        let attempt = candidate.and_then(|drawn| {
            DrawsWriter::resume(run.join("draws.zarr"), layout, &drawn).map(|writer| (writer, drawn))
        });
        match attempt {
            Ok(found) => return found,
            Err(error) => reasons.push(error.to_string()),
        }
    }
    panic!("{reasons:?}");
}

#[test]
fn killed_again_and_again_a_run_loses_nothing_it_had_flushed() {
    let layout = layout(300, 2);
    if let Some(run) = told() {
        let _lock = RunLock::acquire(&run).unwrap();
        let (mut writer, drawn) = go_on(&run, &layout);
        let mut drawn: Vec<usize> = drawn.iter().map(|&n| n as usize).collect();
        for round in 0.. {
            for (chain, draws) in drawn.iter_mut().enumerate() {
                let more = 1 + (round * 7 + chain * 13) % 29;
                append(&mut writer, &layout, chain, *draws..*draws + more).unwrap();
                *draws += more;
            }
            writer.flush().unwrap();
            checkpoint::write(run.join("checkpoint"), &drawn).unwrap();
            println!("\nflushed");
        }
        return;
    }
    let folder = Folder::new("crash-kill");
    let run = folder.path("run");
    fs::create_dir(&run).unwrap();
    DrawsWriter::create(run.join("draws.zarr"), &layout).unwrap().finish().unwrap();
    checkpoint::write(run.join("checkpoint"), &[0_u64, 0]).unwrap();
    let mut reached = vec![0, 0];
    for kill in 0..12_u64 {
        let mut child =
            again("killed_again_and_again_a_run_loses_nothing_it_had_flushed", &run).spawn().unwrap();
        wait_for(&mut child, "flushed");
        // Steps of 17 ms: the kills fall on different moments of a flush.
        std::thread::sleep(Duration::from_millis(kill * 17 % 100));
        child.kill().unwrap();
        child.wait().unwrap();
        let (writer, drawn) = go_on(&run, &layout);
        drop(writer);
        assert!((0..2).all(|chain| drawn[chain] > reached[chain]), "{drawn:?} after {reached:?}");
        let trace = DrawsReader::open(run.join("draws.zarr")).unwrap().trace_until(&drawn).unwrap();
        for (chain, found) in trace.chains.iter().enumerate() {
            assert!(found.values == values(&layout, chain, 0..drawn[chain] as usize));
        }
        assert!(!files(&run).iter().any(|file| file.to_string_lossy().contains("draws.zarr")
            && file.extension().is_some_and(|e| e == "part")));
        reached = drawn;
    }
}
