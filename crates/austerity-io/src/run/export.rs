//! Draws as a long table: columns `chain`, `draw`, one per parameter, and the statistics if wanted; a row per draw.
//!
//! Streamed in batches through [`TableWriter`]: memory does not grow with the run (one chunk per column is held). Chain after
//! chain. A number that is not there (the threshold of a candidate that the prior ruled out) is an empty cell of CSV and
//! NaN in Parquet. A parameter that is itself called `chain`, `draw` or like a statistic keeps its name, and the other column is
//! written with a dot before it (`.chain`), as R's posterior package does.

use std::collections::BTreeSet;
use std::path::Path;

use super::reader::DrawsReader;
use crate::error::Result;
use crate::write::{Field, FileFormat, TableWriter};

/// Draws in a batch.
const BATCH: usize = 4096;

/// How draws are exported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ExportOptions {
    /// The format; that of the extension when `None`.
    pub format: Option<FileFormat>,
    /// Whether the statistics of the decisions are written too.
    pub statistics: bool,
}

/// Writes all draws of a store to a table.
pub fn export(reader: &DrawsReader, path: impl AsRef<Path>, options: ExportOptions) -> Result<()> {
    let path = path.as_ref();
    let parameters = reader.names();
    let taken: BTreeSet<&str> = parameters.iter().map(String::as_str).collect();
    let free = |name: &str| if taken.contains(name) { format!(".{name}") } else { name.to_owned() };
    let statistics = if options.statistics { reader.statistic_names() } else { Vec::new() };
    let mut fields = vec![Field::integer(free("chain")), Field::integer(free("draw"))];
    fields.extend(parameters.iter().map(Field::double_or_missing));
    fields.extend(statistics.iter().map(|name| {
        if reader.is_integer(name) {
            Field::integer(free(name))
        } else {
            Field::double_or_missing(free(name))
        }
    }));
    let mut writer = match options.format {
        Some(format) => TableWriter::create_as(path, format, fields)?,
        None => TableWriter::create(path, fields)?,
    };
    let numbers = reader.chain_numbers();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); 2 + parameters.len()];
    let mut cursors = Vec::new();
    let mut current = None;
    reader.for_each_draws(BATCH, |chain, first, values| {
        let width = parameters.len();
        let rows = values.len() / width;
        if current != Some(chain) {
            cursors =
                statistics.iter().map(|name| reader.statistic_cursor(name, chain)).collect::<Result<_>>()?;
            current = Some(chain);
        }
        columns.iter_mut().for_each(Vec::clear);
        columns[0].resize(rows, numbers[chain] as f64);
        columns[1].extend((first..first + rows).map(|draw| draw as f64));
        for (j, column) in columns[2..].iter_mut().enumerate() {
            column.extend(values.iter().skip(j).step_by(width));
        }
        let further =
            cursors.iter_mut().map(|cursor| cursor.read(first..first + rows)).collect::<Result<Vec<_>>>()?;
        let all: Vec<&[f64]> = columns.iter().chain(&further).map(Vec::as_slice).collect();
        writer.write(&all)
    })?;
    writer.finish()
}
