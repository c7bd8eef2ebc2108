//! Runs whose files were cut short, lost or could not be written, and runs that two processes want: what is left goes on to the same
//! draws, or the program says what is lost; it never panics.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use crate::common::{self, Scratch, files, restore, text};

const FIT: &str =
    "fit data.csv --response y --chains 2 --warmup 100 --seed 2 --rule exact --proposal adaptive";

fn scratch(name: &str) -> Scratch {
    let scratch = Scratch::new(name);
    assert!(scratch.run("generate logistic --rows 3000 --features 2 --out data.csv").status.success());
    scratch
}

/// How a file is damaged.
#[derive(Clone, Copy, Debug)]
enum Harm {
    Gone,
    Cut(f64),
    /// A byte in the middle is another.
    Flipped,
}

#[test]
#[ignore = "second tier: long"]
fn every_file_may_be_cut_or_lost() {
    let scratch = scratch("damage");
    scratch.fit(&format!("{FIT} --out whole --draws 900"));
    let whole = scratch.draws("whole");
    scratch.fit(&format!("{FIT} --out run --draws 300"));
    scratch.fit(&format!("{FIT} --out run --draws 600 --resume"));
    let run = scratch.path().join("run");
    let intact = files(&run);
    let (mut mended, mut refused) = (0, 0);
    for file in intact.keys() {
        // All chunks of an array are alike: those of the second chain stand for them.
        let name = file.file_name().unwrap().to_string_lossy();
        if name == "lock" || name == "summary.json" || name.starts_with("c.0.") {
            continue;
        }
        let harms: &[Harm] = match &*name {
            "run.toml" | "checkpoint" => {
                &[Harm::Gone, Harm::Cut(0.0), Harm::Cut(0.4), Harm::Cut(0.99), Harm::Flipped]
            }
            _ => &[Harm::Gone, Harm::Cut(0.0), Harm::Cut(0.7)],
        };
        for harm in harms {
            let what = format!("{} {harm:?}", file.strip_prefix(&run).unwrap().display());
            match harm {
                Harm::Gone => fs::remove_file(file).unwrap(),
                Harm::Cut(share) => {
                    let bytes = &intact[file];
                    fs::write(file, &bytes[..(bytes.len() as f64 * share) as usize]).unwrap();
                }
                Harm::Flipped => {
                    let mut bytes = intact[file].clone();
                    let middle = bytes.len() / 2;
                    bytes[middle] ^= 0x20;
                    fs::write(file, bytes).unwrap();
                }
            }
            let summary = scratch.run("summary run");
            assert!(matches!(summary.status.code(), Some(0 | 2)), "{what}: {summary:?}");
            let output = scratch.run(&format!("{FIT} --out run --resume --draws 900"));
            let said = text(&output.stderr);
            match output.status.code() {
                Some(0 | 1) => {
                    mended += 1;
                    scratch.draws("run").assert_equal(&whole, &what);
                }
                Some(2) => {
                    refused += 1;
                    // The message names the file, or what of the run is lost.
                    let named = said.contains(&*name) || said.contains("run.toml");
                    assert!(named, "{what}: {said}");
                    assert!(said.contains("new run"), "{what}: no remedy in {said}");
                }
                code => panic!("{what}: {code:?} {said}"),
            }
            restore(&run, &intact);
        }
    }
    eprintln!("{mended} damages mended, {refused} refused");
    assert!(mended > 40, "{mended} mended, {refused} refused");
}

#[test]
fn without_a_checkpoint_the_draws_can_still_be_read() {
    let scratch = scratch("no-checkpoint");
    scratch.fit(&format!("{FIT} --out run --draws 500"));
    let run = scratch.path().join("run");
    let intact = files(&run);
    let before = scratch.summary("run");
    for name in ["checkpoint", "checkpoint.previous"] {
        fs::write(run.join(name), b"AUSTCKPT").unwrap();
    }
    let said = scratch.refused(&format!("{FIT} --out run --resume --draws 600"));
    assert!(said.contains("checkpoint") && said.contains("summary"), "{said}");
    let summary = scratch.summary("run");
    assert_eq!((&summary["draws"], &summary["parameters"]), (&before["draws"], &before["parameters"]));
    assert_eq!((&summary["trusted"], &summary["seconds"]), (&false.into(), &serde_json::Value::Null));
    let reasons = summary["reasons"].to_string();
    assert!(reasons.contains("lost") && reasons.contains("truncated"), "{reasons}");
    // A run without settings is not begun anew over its draws.
    restore(&run, &intact);
    fs::remove_file(run.join("run.toml")).unwrap();
    for more in ["", "--resume"] {
        let said = scratch.refused(&format!("{FIT} --out run --draws 600 {more}"));
        assert!(said.contains("run.toml is lost"), "{said}");
    }
    assert_eq!(scratch.draws("run").count, 500);
}

#[test]
fn a_beginning_that_was_cut_short_is_taken_over_and_strangers_are_not() {
    let scratch = scratch("beginning");
    let run = scratch.path().join("run");
    // Killed while the data were read, and after the store was made.
    fs::create_dir(&run).unwrap();
    fs::write(run.join("lock"), "1\n").unwrap();
    fs::write(run.join("pairs.csv"), "mean,sd,offset\n").unwrap();
    fs::write(run.join("run.toml.part"), "version").unwrap();
    fs::create_dir_all(run.join("draws.zarr/posterior")).unwrap();
    scratch.fit(&format!("{FIT} --out run --draws 100"));
    assert_eq!(scratch.draws("run").count, 100);
    assert!(!run.join("run.toml.part").exists());
    let said = scratch.refused(&format!("{FIT} --out run --draws 100"));
    assert!(said.contains("--resume"), "{said}");
    fs::create_dir(scratch.path().join("mine")).unwrap();
    fs::write(scratch.path().join("mine/thesis.tex"), "all of it").unwrap();
    fs::write(scratch.path().join("mine/lock"), "").unwrap();
    let said = scratch.refused(&format!("{FIT} --out mine --draws 100"));
    assert!(said.contains("not empty"), "{said}");
    assert_eq!(fs::read_dir(scratch.path().join("mine")).unwrap().count(), 2);
    // What cannot begin leaves nothing.
    scratch.refused("fit data.csv --response nobody --out none");
    assert!(!scratch.path().join("none").exists());
}

#[test]
fn two_processes_on_one_run_are_one_too_many() {
    let scratch = scratch("lock");
    let mut first = scratch.start(&format!("{FIT} --out run --draws 100000000"));
    let toml = scratch.path().join("run/run.toml");
    for _ in 0..200 {
        std::thread::sleep(Duration::from_millis(25));
        if toml.exists() {
            break;
        }
    }
    let id = first.id().to_string();
    for more in ["", "--resume"] {
        let said = scratch.refused(&format!("{FIT} --out run --draws 100000000 {more}"));
        assert!(said.contains(&id), "the holder {id} is not named: {said}");
    }
    // Reading is allowed meanwhile.
    let seen = || scratch.summary("run")["draws"].as_u64().unwrap();
    let mut patience = 100;
    while seen() == 0 && patience > 0 {
        std::thread::sleep(Duration::from_millis(200));
        patience -= 1;
    }
    assert!(seen() > 0);
    assert!(first.try_wait().unwrap().is_none());
    first.kill().unwrap();
    first.wait().unwrap();
    let drawn = scratch.draws("run").count;
    scratch.fit(&format!("{FIT} --out run --resume --draws {}", drawn + 10));
}

/// Room on a disk of its own, where the system lets us have one.
struct SmallDisk(PathBuf);

impl SmallDisk {
    fn mount(path: PathBuf, size: &str) -> Option<Self> {
        fs::create_dir_all(&path).unwrap();
        let mut mount = std::process::Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", &format!("size={size}"), "austerity-test"]).arg(&path);
        mount.output().is_ok_and(|output| output.status.success()).then_some(Self(path))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = std::process::Command::new("umount").arg(&self.0).output();
    }
}

#[test]
fn a_full_disk_ends_the_run_with_a_word_and_room_lets_it_go_on() {
    let scratch = scratch("full");
    let draws = 400_000;
    let fit = "fit ../data.csv --response y --family linear --chains 2 --warmup 100 --seed 2";
    let Some(disk) = SmallDisk::mount(scratch.path().join("disk"), "6m") else {
        eprintln!("skipped: no small disk can be mounted here");
        return;
    };
    let inside = |line: &str| {
        let output = scratch.command(line.split_whitespace()).current_dir(&disk.0).output().unwrap();
        assert!(!text(&output.stderr).contains("panicked"), "{}", text(&output.stderr));
        output
    };
    // Room for a part of the draws.
    let output = inside(&format!("{fit} --out run --draws {draws}"));
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    for word in ["No space left", "run/draws.zarr", "--resume"] {
        assert!(said.contains(word), "{word} is missing in {said}");
    }
    let kept = common::Draws::read(&disk.0.join("run/draws.zarr"));
    // Still full: the same again.
    let output = inside(&format!("{fit} --out run --draws {draws} --resume"));
    assert_eq!(output.status.code(), Some(2), "{}", text(&output.stderr));
    let summary = inside("summary run --json");
    assert!(summary.status.success(), "{}", text(&summary.stderr));
    // Room is made.
    let more = std::process::Command::new("mount").args(["-o", "remount,size=200m"]).arg(&disk.0).output();
    assert!(more.unwrap().status.success());
    let output = inside(&format!("{fit} --out run --draws {draws} --resume"));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
    let after = common::Draws::read(&disk.0.join("run/draws.zarr"));
    kept.assert_prefix(&after, "draws before the disk was full");
    let output = inside(&format!("{fit} --out whole --draws {draws}"));
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", text(&output.stderr));
    after.assert_equal(&common::Draws::read(&disk.0.join("whole/draws.zarr")), "after the disk was full");
    // No room at all: nothing is left behind but the words.
    let output = inside("fit ../data.csv --response y --out filler --draws 100000 --family linear");
    drop(output);
    let filler = disk.0.join("filler.bin");
    let _ = fs::write(&filler, vec![0u8; 256 << 20]);
    let output = inside("fit ../data.csv --response y --out new --draws 1000 --family linear");
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("No space left"), "{said}");
    assert!(!disk.0.join("new").exists(), "a run that could not begin leaves its folder");
}
