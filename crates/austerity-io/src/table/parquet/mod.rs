//! Parquet through the column reader of the `parquet` crate, without Arrow.
//!
//! A column is read on its own: only its chunks are fetched and decoded, group after group of rows; a scan reads
//! all columns side by side, piece by piece. Memory beyond the result: one page and one batch per column being read. Lists and maps are refused by name; a null
//! is an error with its row, or stays one where missing values are kept.

mod chunks;
mod decode;
mod guard;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::SystemTime;

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader, RowGroupMetaData};
use ::parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Result};
use crate::table::scan::{CHUNK_ROWS, Chunk, Nulls, Visit};
use crate::table::{Column, ColumnKind, Schema};
use chunks::Chunks;

/// What the end of a file says of it, read once.
#[derive(Debug)]
pub(super) struct Footer {
    metadata: ParquetMetaData,
    /// Length and time of the last change.
    state: (u64, Option<SystemTime>),
    /// The groups of rows that are read.
    groups: Range<usize>,
}

/// Names, kinds and rows from the footer.
pub(super) fn schema(path: &Path) -> Result<(Footer, Schema)> {
    guarded(path, || {
        let footer = Footer::read(path)?;
        let schema = footer.schema(path)?;
        Ok((footer, schema))
    })
}

impl Footer {
    fn read(path: &Path) -> Result<Self> {
        let state = state(path)?;
        let chunks = Chunks::open(path).map_err(Error::io("open", path))?;
        let metadata = ParquetMetaDataReader::new()
            .parse_and_finish(&chunks)
            .map_err(|error| translate(path, &error))?;
        // The library asserts this where it reads a column.
        for column in metadata.row_groups().iter().flat_map(RowGroupMetaData::columns) {
            let numbers = [
                column.dictionary_page_offset().unwrap_or(0),
                column.data_page_offset(),
                column.compressed_size(),
                column.num_values(),
            ];
            if numbers.iter().any(|&number| number < 0) {
                return Err(damaged(path, "its footer has a negative position or size"));
            }
        }
        let groups = 0..metadata.num_row_groups();
        Ok(Self { metadata, state, groups })
    }

    fn schema(&self, path: &Path) -> Result<Schema> {
        let metadata = self.metadata.file_metadata();
        let descriptor = metadata.schema_descr();
        // A list or struct has one leaf or several; the user sees the field.
        let leaves = descriptor.columns();
        let (mut names, mut kinds) = (Vec::new(), Vec::new());
        let mut last_root = None;
        for (j, leaf) in leaves.iter().enumerate() {
            let root = descriptor.get_column_root_idx(j);
            if last_root.replace(root) == Some(root) {
                continue;
            }
            names.push(descriptor.get_column_root(j).name().to_owned());
            kinds.push(kind(leaf));
        }
        Ok(Schema { names, kinds, rows: Some(self.rows(path)?), notes: Vec::new() })
    }

    /// The footer of some groups of the file, as if there were no others, and the rows before them.
    pub(super) fn limited(&self, groups: Range<usize>) -> Option<(Self, usize)> {
        if groups.is_empty() || groups.end > self.metadata.num_row_groups() {
            return None;
        }
        let before = (0..groups.start).map(|group| self.group_rows(group)).sum();
        Some((Self { metadata: self.metadata.clone(), state: self.state, groups }, before))
    }

    /// Groups of the file that have `rows` rows or a few more together, or what is left of it.
    pub(super) fn pieces(&self, rows: usize) -> Vec<Range<usize>> {
        let (mut pieces, mut first, mut held) = (Vec::new(), self.groups.start, 0);
        for group in self.groups.clone() {
            held += self.group_rows(group);
            if held >= rows || group + 1 == self.groups.end {
                pieces.push(first..group + 1);
                (first, held) = (group + 1, 0);
            }
        }
        pieces
    }

    /// Rows of some groups.
    pub(super) fn rows_of(&self, groups: Range<usize>) -> usize {
        groups.map(|group| self.group_rows(group)).sum()
    }

    fn group_rows(&self, group: usize) -> usize {
        usize::try_from(self.metadata.row_group(group).num_rows()).unwrap_or(0)
    }

    /// Rows of the file, or of the groups of it that are read.
    pub(super) fn rows(&self, path: &Path) -> Result<usize> {
        if self.groups != (0..self.metadata.num_row_groups()) {
            return Ok(self.rows_of(self.groups.clone()));
        }
        let claimed = self.metadata.file_metadata().num_rows();
        usize::try_from(claimed).map_err(|_| damaged(path, &format!("it claims {claimed} rows")))
    }

    /// Opens the file that this is the footer of.
    fn open(&self, path: &Path) -> Result<Arc<Chunks>> {
        if state(path)? != self.state {
            let remedy = "load it again when nobody writes to it";
            return Err(Error::format(path, "changed while it was read", remedy));
        }
        Ok(Arc::new(Chunks::open(path).map_err(Error::io("open", path))?))
    }
}

/// What changes when a file does.
fn state(path: &Path) -> Result<(u64, Option<SystemTime>)> {
    let metadata = std::fs::metadata(path).map_err(Error::io("open", path))?;
    Ok((metadata.len(), metadata.modified().ok()))
}

/// Refuses columns that cannot be read.
pub(super) fn check_kinds(path: &Path, schema: &Schema, chosen: &[usize]) -> Result<()> {
    for &j in chosen {
        if let ColumnKind::Unsupported(found) = &schema.kinds[j] {
            return Err(Error::UnsupportedColumn {
                file: path.into(),
                column: schema.names[j].clone(),
                found: found.clone(),
                remedy: "leave it out by naming the columns to use, or write it as one number per column"
                    .into(),
            });
        }
    }
    Ok(())
}

/// Decodes the column at position `j`, into the memory of `spare`.
pub(super) fn column(
    path: &Path,
    (footer, schema): (&Footer, &Schema),
    (j, nulls): (usize, Nulls),
    spare: Column,
) -> Result<Column> {
    check_kinds(path, schema, &[j])?;
    guarded(path, || {
        let chunks = footer.open(path)?;
        decode::Task::new(path, (footer, &chunks), &schema.names[j], nulls)?.read(footer.rows(path)?, spare)
    })
}

/// Hands the columns at the `chosen` positions to `visit`, piece by piece; returns the number of rows.
pub(super) fn scan(
    path: &Path,
    (footer, schema): (&Footer, &Schema),
    (chosen, nulls): (&[usize], Nulls),
    visit: &mut Visit<'_>,
) -> Result<usize> {
    check_kinds(path, schema, chosen)?;
    guarded(path, || {
        let chunks = footer.open(path)?;
        let tasks: Vec<decode::Task<'_>> = chosen
            .iter()
            .map(|&j| decode::Task::new(path, (footer, &chunks), &schema.names[j], nulls))
            .collect::<Result<_>>()?;
        let mut sinks: Vec<decode::Sink> = tasks.iter().map(decode::Task::sink).collect();
        let mut first = 0;
        for group in footer.groups.clone() {
            let about = footer.metadata.row_group(group);
            let rows = usize::try_from(about.num_rows())
                .map_err(|_| damaged(path, "a group has a negative number of rows"))?;
            let mut columns =
                tasks.iter().map(|task| task.open(group)).collect::<Result<Vec<decode::Pieces<'_>>>>()?;
            let end = first + rows;
            while first < end {
                let wanted = CHUNK_ROWS.min(end - first);
                for (column, sink) in columns.iter_mut().zip(&mut sinks) {
                    sink.forget();
                    column.read(first, wanted, sink)?;
                }
                let chunks: Vec<Chunk<'_>> = sinks.iter().map(decode::Sink::chunk).collect();
                visit(first, &chunks)?;
                first += wanted;
            }
        }
        let claimed = footer.rows(path)?;
        if first != claimed {
            return Err(damaged(path, &format!("it has {first} of {claimed} rows")));
        }
        Ok(first)
    })
}

/// Runs `read`; a decoder that panics on damaged bytes is an error.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    guard::guarded(read).unwrap_or_else(|| Err(damaged(path, "it cannot be decoded")))
}

/// What a leaf holds, for the schema.
fn kind(leaf: &ColumnDescriptor) -> ColumnKind {
    let unsupported = |what: &str| ColumnKind::Unsupported(what.into());
    if leaf.max_rep_level() > 0 {
        return unsupported("lists");
    }
    if leaf.path().parts().len() > 1 {
        return unsupported("a structure with fields");
    }
    match (leaf.physical_type(), leaf.logical_type_ref()) {
        (Physical::BOOLEAN, _) => ColumnKind::Boolean,
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Decimal(_))) => {
            ColumnKind::Number
        }
        (Physical::BYTE_ARRAY | Physical::FIXED_LEN_BYTE_ARRAY, _)
            if leaf.converted_type() == ConvertedType::DECIMAL =>
        {
            ColumnKind::Number
        }
        (Physical::FIXED_LEN_BYTE_ARRAY, Some(LogicalType::Float16)) => ColumnKind::Number,
        (Physical::FIXED_LEN_BYTE_ARRAY, _) => unsupported("raw bytes"),
        (Physical::BYTE_ARRAY, _) => ColumnKind::Text,
        _ => ColumnKind::Number,
    }
}

fn translate(path: &Path, error: &ParquetError) -> Error {
    match error {
        ParquetError::NYI(what) => Error::format(
            path,
            format!("uses a feature that is not supported ({what})"),
            "write it with zstd or snappy compression and plain encodings",
        ),
        ParquetError::General(what) if what.contains("Disabled feature") => Error::format(
            path,
            format!("uses a compression that is not supported ({what})"),
            "write it with zstd, snappy, gzip or lz4",
        ),
        other => damaged(path, &other.to_string()),
    }
}

fn damaged(path: &Path, detail: &str) -> Error {
    Error::format(
        path,
        format!("is a truncated or damaged Parquet file ({detail})"),
        "fetch or write it again",
    )
}
