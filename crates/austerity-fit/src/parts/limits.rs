//! Whether the rows of a table fit in memory, and if not how many are kept and how large a part is.
//!
//! | asked for | what happens |
//! |---|---|
//! | a number of rows (`--sample-rows`) | passes and a sample of so many rows; all rows in memory where there are no more |
//! | memory (`--memory`), or nothing | all rows in memory where they fit; else passes, and a sample of a quarter of it, from 10⁵ to 10⁶ rows |
//! | an engine other than threads | passes, and a sample as with memory |
//!
//! Parts are cut by the number of columns alone, so that no result depends on memory, threads or engine: 2¹⁸ rows, fewer of wide tables.

use std::path::Path;

use austerity_io::table::Source;

use crate::request::DataOptions;

/// Rows of a part, where they are narrow.
const PART_ROWS: usize = 1 << 18;
/// Bytes of a part at most.
const PART_BYTES: usize = 1 << 26;
/// Fewest and most rows of a sample that nobody gave a size.
const FEWEST: f64 = 1e5;
const MOST: f64 = 1e6;
/// Bytes per stored number of rows in memory while they are read, and per row beside them.
const PER_NUMBER: f64 = 6.0;
const PER_ROW: f64 = 24.0;
/// Share of the machine's free memory that may be taken.
const FREE: f64 = 0.8;
/// Bytes of a number in a text file.
const TEXT: f64 = 6.0;

/// How the rows of a table are held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Rows that are kept at most.
    pub most: usize,
    /// Rows of a part.
    pub part_rows: usize,
}

impl Wanted {
    /// How the rows are held; none where all of them are.
    pub(super) fn of(options: &DataOptions, source: &Source, elsewhere: bool) -> Option<Self> {
        let width = width(options, source);
        let part_rows = (PART_BYTES / (4 * width.max(1))).clamp(1 << 12, PART_ROWS);
        let rows = source.schema().rows.map_or_else(|| guessed(source), |rows| rows as f64);
        if let Some(most) = options.sample_rows {
            return ((most as f64) < rows || source.schema().rows.is_none())
                .then_some(Self { most, part_rows });
        }
        let per_row = PER_NUMBER * width as f64 + PER_ROW;
        let memory = options.memory.map(|bytes| bytes as f64).or_else(|| free().map(|free| FREE * free));
        let fits = memory.is_none_or(|memory| rows * per_row <= memory);
        if fits && !elsewhere {
            return None;
        }
        let most = memory.map_or(MOST, |memory| 0.25 * memory / per_row).clamp(FEWEST, MOST);
        (most < rows).then_some(Self { most: most as usize, part_rows })
    }
}

/// Columns that are read, about.
fn width(options: &DataOptions, source: &Source) -> usize {
    match &options.features {
        Some(features) => features.len() + 2,
        None => source.schema().names.len() + 1,
    }
}

/// Rows of text files, by their size.
fn guessed(source: &Source) -> f64 {
    let bytes = |path: &Path| std::fs::metadata(path).map_or(0, |found| found.len()) as f64;
    let files: f64 = source.pieces(PART_ROWS).iter().flatten().map(|part| bytes(&part.path)).sum();
    files / (TEXT * source.schema().names.len().max(1) as f64)
}

/// Bytes of memory that nobody uses, where the system says so.
fn free() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: f64 = line.trim().trim_end_matches("kB").trim().parse().ok()?;
    Some(1024.0 * kilobytes)
}
