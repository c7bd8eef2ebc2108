//! Writes a table of random single-precision numbers, then reads it: the time and the peak memory.
//!
//! `cargo run --release -p austerity-io --example read_speed -- FILE [ROWS] [COLUMNS] [REPEATS]`; the extension says the format.
//! An existing file is read as it is.

use std::error::Error;
use std::time::Instant;

use austerity_io::table::{Column, open};
use austerity_io::write::{Field, TableWriter};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("usage: read_speed FILE [ROWS] [COLUMNS] [REPEATS]")?;
    let number = |at: usize, default: usize| arguments.get(at).map_or(Ok(default), |text| text.parse());
    let (rows, columns, repeats) = (number(1, 1_000_000)?, number(2, 50)?, number(3, 5)?);
    if !std::path::Path::new(path).exists() {
        write(path, rows, columns)?;
    }
    for _ in 0..repeats {
        let start = Instant::now();
        let table = open(path)?.read(None)?;
        let seconds = start.elapsed().as_secs_f64();
        let sum: f64 = table.columns.iter().filter_map(first).sum();
        println!(
            "read {} rows × {} columns in {seconds:.3} s (check {sum:.6}); peak memory {} MB",
            table.rows,
            table.columns.len(),
            peak_memory().unwrap_or(0) / 1024
        );
    }
    Ok(())
}

fn first(column: &Column) -> Option<f64> {
    match column {
        Column::Numbers(values) => values.first().copied(),
        Column::Levels { .. } => None,
    }
}

fn write(path: &str, rows: usize, columns: usize) -> Result<(), Box<dyn Error>> {
    let start = Instant::now();
    let fields = (1..=columns).map(|j| Field::single(format!("x{j}"))).collect();
    let mut writer = TableWriter::create(path, fields)?;
    let mut state = 1_u64;
    // Sums of four uniforms: bell-shaped, and reproducible without a further dependency.
    let mut normal = || {
        (0..4).fold(-2.0, |sum, _| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            sum + (state >> 11) as f64 / (1_u64 << 53) as f64
        }) * 3f64.sqrt()
    };
    let mut written = 0;
    while written < rows {
        let batch = 65_536.min(rows - written);
        let values: Vec<Vec<f64>> = (0..columns).map(|_| (0..batch).map(|_| normal()).collect()).collect();
        writer.write(&values.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        written += batch;
    }
    writer.finish()?;
    println!("wrote {path} in {:.3} s", start.elapsed().as_secs_f64());
    Ok(())
}

/// Peak resident memory in kilobytes, where the system tells.
fn peak_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
