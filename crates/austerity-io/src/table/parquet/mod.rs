//! Parquet through the column reader of the `parquet` crate, without Arrow.
//!
//! A column is read on its own: only its chunks are fetched and decoded, group after group of rows. Columns
//! are shared out to threads, each with a file handle of its own (handles that share a position would race). Peak
//! memory beyond the result: one page and one batch per thread. Lists and maps are refused by name; a null
//! is an error with its row.

mod chunks;
mod decode;

use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Result};
use crate::table::{Column, ColumnKind, Schema};
use chunks::Chunks;

/// Names, kinds and rows from the footer.
pub(super) fn schema(path: &Path) -> Result<Schema> {
    guarded(path, || schema_of(path))
}

fn schema_of(path: &Path) -> Result<Schema> {
    let reader = open(path)?;
    let metadata = reader.metadata().file_metadata();
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
    let rows = usize::try_from(metadata.num_rows())
        .map_err(|_| damaged(path, &format!("it claims {} rows", metadata.num_rows())))?;
    Ok(Schema { names, kinds, rows: Some(rows), notes: Vec::new() })
}

/// Reads the columns at the `chosen` positions of the schema.
pub(super) fn read(path: &Path, schema: &Schema, chosen: &[usize], threads: usize) -> Result<Vec<Column>> {
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
    let threads = threads.min(chosen.len()).max(1);
    let next = AtomicUsize::new(0);
    let parts: Vec<Result<Vec<(usize, Column)>>> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads)
            .map(|_| scope.spawn(|| guarded(path, || read_some(path, schema, chosen, &next))))
            .collect();
        workers
            .into_iter()
            .map(|worker| worker.join().unwrap_or_else(|_| Err(damaged(path, "a page cannot be decoded"))))
            .collect()
    });
    let mut columns: Vec<(usize, Column)> = Vec::new();
    let mut failures: Vec<Error> = Vec::new();
    for part in parts {
        match part {
            Ok(part) => columns.extend(part),
            Err(error) => failures.push(error),
        }
    }
    if let Some(first) = failures.into_iter().next() {
        return Err(first);
    }
    columns.sort_by_key(|&(position, _)| position);
    Ok(columns.into_iter().map(|(_, column)| column).collect())
}

/// One thread's share: takes the next column until none is left.
fn read_some(
    path: &Path,
    schema: &Schema,
    chosen: &[usize],
    next: &AtomicUsize,
) -> Result<Vec<(usize, Column)>> {
    let reader = open(path)?;
    let descriptor = reader.metadata().file_metadata().schema_descr();
    let mut read = Vec::new();
    loop {
        let position = next.fetch_add(1, Ordering::Relaxed);
        let Some(&j) = chosen.get(position) else { return Ok(read) };
        let leaf = (0..descriptor.num_columns())
            .find(|&leaf| descriptor.get_column_root(leaf).name() == schema.names[j])
            .ok_or_else(|| damaged(path, "it changed while it was read"))?;
        let task = decode::Task { path, reader: &reader, leaf, name: &schema.names[j] };
        match task.read(schema.rows.unwrap_or(0)) {
            Ok(column) => read.push((position, column)),
            Err(error) => {
                // The others need not go on.
                next.store(chosen.len(), Ordering::Relaxed);
                return Err(error);
            }
        }
    }
}

fn open(path: &Path) -> Result<SerializedFileReader<Chunks>> {
    let chunks = Chunks::open(path).map_err(Error::io("open", path))?;
    let reader = SerializedFileReader::new(chunks).map_err(|error| translate(path, &error))?;
    // The library asserts this where it reads a column.
    for column in reader.metadata().row_groups().iter().flat_map(RowGroupMetaData::columns) {
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
    Ok(reader)
}

/// Runs `read`; a decoder that panics on damaged bytes is an error.
fn guarded<T>(path: &Path, read: impl FnOnce() -> Result<T>) -> Result<T> {
    std::panic::catch_unwind(AssertUnwindSafe(read))
        .unwrap_or_else(|_| Err(damaged(path, "it cannot be decoded")))
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
        (Physical::INT96, _) => unsupported("96-bit timestamps"),
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
