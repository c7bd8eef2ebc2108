//! Data larger than memory: a store of more than three times a memory limit is made and fitted under that limit.
//!
//! What is limited: `ulimit -d` (RLIMIT_DATA) bounds what is private and writable, so the heap and thread stacks, and a demand beyond it
//! fails; a read-only map of a file does not count, and its pages are the system's to drop. That is what "the memory a run needs" means,
//! and any user can set it. Where a memory control group can be made (version 2 or 1), the same number bounds it too, page cache
//! that the program fills included.
#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![cfg(target_os = "linux")]

use std::fs::{self, File};
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::common::{Scratch, text};

const LIMIT: usize = 64 << 20;
const ROWS: usize = 800_000;
const FEATURES: usize = 63;

/// A control group of its own for the children, where the system lets us.
struct Group {
    folder: PathBuf,
    peak: &'static str,
}

impl Group {
    fn new() -> Option<Self> {
        let name = format!("austerity-{}", std::process::id());
        let versions = [
            ("/sys/fs/cgroup", "cgroup.controllers", "memory.max", "memory.peak"),
            (
                "/sys/fs/cgroup/memory",
                "memory.limit_in_bytes",
                "memory.limit_in_bytes",
                "memory.max_usage_in_bytes",
            ),
        ];
        let (root, _, limit, peak) =
            versions.into_iter().find(|(root, mark, ..)| Path::new(root).join(mark).exists())?;
        let folder = Path::new(root).join(name);
        fs::create_dir(&folder).ok()?;
        let group = Self { folder, peak };
        fs::write(group.folder.join(limit), LIMIT.to_string()).ok()?;
        Some(group)
    }

    fn peak(&self) -> Option<f64> {
        fs::read_to_string(self.folder.join(self.peak)).ok()?.trim().parse().ok()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.folder);
    }
}

/// Runs the program under the limit.
fn limited(scratch: &Scratch, group: Option<&Group>, line: &str) -> Output {
    let join =
        group.map_or(String::new(), |group| format!("echo $$ > {}/cgroup.procs && ", group.folder.display()));
    let script = format!("{join}ulimit -d {} && exec \"$0\" {line}", LIMIT / 1024);
    let mut shell = Command::new("sh");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_austerity")]).current_dir(scratch.path());
    shell.stdin(Stdio::null()).output().unwrap()
}

/// A logistic model as a NumPy array, the response last; written as it is made.
fn write_table(path: &Path) {
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path).unwrap());
    let mut head =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({ROWS}, {}), }}", FEATURES + 1);
    head = format!("{head:<117}\n");
    out.write_all(b"\x93NUMPY\x01\x00").unwrap();
    out.write_all(&118u16.to_le_bytes()).unwrap();
    out.write_all(head.as_bytes()).unwrap();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let mut uniform = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 24) as f32
    };
    let mut row = Vec::with_capacity(4 * (FEATURES + 1));
    for _ in 0..ROWS {
        row.clear();
        let mut predictor = 0.0;
        for feature in 0..FEATURES {
            let x = 2.0 * uniform() - 1.0;
            predictor += if feature % 2 == 0 { 0.1 * x } else { -0.1 * x };
            row.extend_from_slice(&x.to_le_bytes());
        }
        let y = f32::from(u8::from(uniform() < 1.0 / (1.0 + (-predictor).exp())));
        row.extend_from_slice(&y.to_le_bytes());
        out.write_all(&row).unwrap();
    }
    out.flush().unwrap();
}

#[test]
#[ignore = "second tier: long"]
fn a_store_three_times_the_memory_is_made_and_fitted() {
    let scratch = Scratch::new("memory");
    let table = scratch.path().join("table.npy");
    write_table(&table);
    let group = Group::new();
    if group.is_none() {
        eprintln!("no control group can be made here: ulimit -d alone is the limit");
    }
    let ok = |output: &Output, codes: &[i32], what: &str| {
        let code = output.status.code();
        assert!(code.is_some_and(|code| codes.contains(&code)), "{what}: {code:?} {}", text(&output.stderr));
    };
    let response = format!("x{}", FEATURES + 1);
    let convert = format!("convert table.npy --response {response} --out store --memory 24MB");
    ok(&limited(&scratch, group.as_ref(), &convert), &[0], "convert");
    let bytes = fs::metadata(scratch.path().join("store/blocks.npy")).unwrap().len();
    assert!(bytes as usize >= 3 * LIMIT, "the store has {bytes} bytes");
    fs::remove_file(&table).unwrap();

    // Every row at every step; and a test with its mode and pilot, a hundred passes that would be a hundred readings from disk in a
    // control group that cannot cache the store: the other limit alone holds there.
    for rule in [
        "--rule exact --proposal adaptive --chains 2 --warmup 4 --draws 6",
        "--epsilon 0.05 --batch 2000 --growth 2 --chains 4 --warmup 100 --draws 200 --audit off",
    ] {
        let exact = rule.contains("exact");
        let group = group.as_ref().filter(|_| exact);
        let output = limited(&scratch, group, &format!("fit store --response {response} --out run {rule}"));
        ok(&output, &[0, 1], rule);
        let said = text(&output.stdout);
        let plan = said.lines().find(|line| line.starts_with("Memory:")).unwrap();
        assert!(plan.contains("mapped from disk"), "{plan}");
        let resident: f64 = plan.split_whitespace().nth(1).unwrap().parse().unwrap();
        // 4 bytes a row and chain where every row is read; the order of the blocks; nothing near the data.
        let chains = if exact { 2.0 } else { 0.0 };
        let least = chains * 4.0 * ROWS as f64 / 1e6;
        assert!(resident >= least && resident < 40.0, "{plan}");
        eprintln!("{plan}");
        fs::remove_dir_all(scratch.path().join("run")).unwrap();
    }
    if let Some(peak) = group.as_ref().and_then(Group::peak) {
        eprintln!("peak of the control group: {:.0} MB of {:.0}", peak / 1e6, LIMIT as f64 / 1e6);
        assert!(peak <= LIMIT as f64);
    }
    // The limit is a limit: the same rows held in memory do not fit.
    let refused = limited(&scratch, None, "generate logistic --rows 400000 --features 63 --out none.csv");
    assert!(!refused.status.success(), "the limit does not limit");
}
