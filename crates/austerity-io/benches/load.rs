//! Loading 1 million rows × 50 columns of single-precision Parquet into blocks: `cargo bench -p austerity-io --bench load`.
//!
//! Two requirements, both printed with their verdict: the speed is at least half of that of pyarrow reading the same file
//! to NumPy arrays, measured in turn in the same run; the peak memory of a process that does nothing else is at most 1.3
//! times the single-precision data plus 200 MB. The Python is that of AUSTERITY_PYTHON, or `python3`; without pyarrow the
//! comparison is skipped, and says so. The file is made once in the folder for temporary files.

#![allow(clippy::expect_used, reason = "a bench may panic")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::table::open;
use austerity_io::write::{Field, TableWriter};

const ROWS: usize = 1_000_000;
const COLUMNS: usize = 50;
/// Interleaved rounds, of which the best counts.
const ROUNDS: usize = 7;
const SPEED: f64 = 0.5;
const MEMORY_FACTOR: f64 = 1.3;
const MEMORY_EXTRA: f64 = 200e6;

/// Reads the file to NumPy arrays as often as lines come in, and prints the seconds of each.
const PYTHON: &str = "
import sys, time
import pyarrow.parquet as pq
for line in sys.stdin:
    start = time.perf_counter()
    table = pq.read_table(sys.argv[1])
    columns = [column.to_numpy() for column in table.columns]
    print(time.perf_counter() - start, flush=True)
";

fn main() {
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    if arguments.next().as_deref() == Some("--peak") {
        let path = PathBuf::from(arguments.next().expect("a file"));
        run(&path);
        println!("{}", peak_memory().unwrap_or(0));
        return;
    }
    let path = std::env::temp_dir().join(format!("austerity-load-{ROWS}-{COLUMNS}.parquet"));
    if !path.exists() {
        generate(&path);
    }
    println!("{ROWS} rows × {COLUMNS} columns, {} MB of Parquet\n", size(&path) / 1_000_000);
    println!("{:<44} {:>10} {:>12}  verdict", "what", "found", "required");
    speed(&path);
    memory(&path);
}

fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

fn run(path: &Path) -> f64 {
    let start = Instant::now();
    let source = open(path).expect("a Parquet file");
    let options = CodingOptions::new("y");
    let loaded = load(&source, &options, None, 1, &LoadOptions::default()).expect("good data");
    let seconds = start.elapsed().as_secs_f64();
    assert_eq!(loaded.store.rows(), ROWS);
    seconds
}

fn speed(path: &Path) {
    use std::io::{BufRead as _, BufReader, Write as _};
    let python = std::env::var("AUSTERITY_PYTHON").unwrap_or_else(|_| "python3".into());
    let has_pyarrow = Command::new(&python)
        .args(["-c", "import pyarrow.parquet"])
        .output()
        .is_ok_and(|output| output.status.success());
    if !has_pyarrow {
        let best = (0..ROUNDS).map(|_| run(path)).fold(f64::INFINITY, f64::min);
        println!("loaded in {best:.3} s; skipped: {python} has no pyarrow to compare with");
        return;
    }
    let mut child = Command::new(&python)
        .args(["-c", PYTHON])
        .arg(path)
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .expect("python starts");
    let mut ask = child.stdin.take().expect("a pipe");
    let mut answers = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (mut ours, mut theirs) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..ROUNDS {
        writeln!(ask, "go").expect("python listens");
        let answer = answers.next().expect("an answer").expect("text");
        theirs = theirs.min(answer.parse().expect("seconds"));
        ours = ours.min(run(path));
    }
    drop(ask);
    child.wait().expect("python ends");
    verdict(
        &format!("speed next to pyarrow ({ours:.3} s, {theirs:.3} s)"),
        theirs / ours,
        SPEED,
        theirs / ours >= SPEED,
    );
}

fn memory(path: &Path) {
    let program = std::env::current_exe().expect("this program");
    let output = Command::new(program).arg("--peak").arg(path).output().expect("a child process");
    let peak: f64 = String::from_utf8_lossy(&output.stdout).trim().parse().unwrap_or(f64::NAN);
    let allowed = MEMORY_FACTOR * (ROWS * (COLUMNS + 1) * 4) as f64 + MEMORY_EXTRA;
    verdict("peak memory, MB", peak * 1024.0 / 1e6, allowed / 1e6, peak * 1024.0 <= allowed);
}

fn verdict(what: &str, found: f64, required: f64, passed: bool) {
    println!("{what:<44} {found:>10.2} {required:>12.2}  {}", if passed { "PASS" } else { "FAIL" });
}

fn generate(path: &Path) {
    let mut fields = vec![Field::integer("y")];
    fields.extend((1..=COLUMNS).map(|j| Field::single(format!("x{j}"))));
    let mut writer = TableWriter::create(path, fields).expect("a new file");
    let mut state = 1_u64;
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1_u64 << 53) as f64
    };
    let mut written = 0;
    while written < ROWS {
        let batch = 65_536.min(ROWS - written);
        let mut values = vec![(0..batch).map(|_| f64::from(u8::from(uniform() < 0.4))).collect::<Vec<f64>>()];
        for _ in 0..COLUMNS {
            // Sums of three uniforms: bell-shaped.
            values.push((0..batch).map(|_| 2.0 * (uniform() + uniform() + uniform() - 1.5)).collect());
        }
        writer.write(&values.iter().map(Vec::as_slice).collect::<Vec<_>>()).expect("room");
        written += batch;
    }
    writer.finish().expect("room");
}

/// Peak resident memory in kilobytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
