//! Parquet through the column reader of the `parquet` crate, without Arrow.
//!
//! A column is read on its own: only its chunks are fetched and decoded, group after group of rows. Whole columns
//! are shared out to threads, each with a file handle of its own (handles that share a position would race); a scan reads
//! all columns side by side, piece by piece. Memory beyond the result: one page and one batch per column being read. Lists and maps are refused by name; a null
//! is an error with its row.

mod chunks;
mod decode;
mod guard;

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use ::parquet::basic::{ConvertedType, LogicalType, Type as Physical};
use ::parquet::errors::ParquetError;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use crate::error::{Error, Result};
use crate::table::scan::{CHUNK_ROWS, Chunk, Visit};
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

/// Refuses columns that cannot be read.
fn check_kinds(path: &Path, schema: &Schema, chosen: &[usize]) -> Result<()> {
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

/// Decodes the columns at the `chosen` positions on threads, one whole column each at a time. A thread passes its
/// column through `work`, and uses the memory that `work` leaves there for the next one; what comes of it goes to `take`, with its place in `chosen`, on the calling thread. At
/// most one column per thread waits, and one more is being made.
pub(super) fn each<T: Send>(
    path: &Path,
    schema: &Schema,
    (chosen, threads): (&[usize], usize),
    work: &(dyn Fn(usize, &mut Column) -> Result<T> + Sync),
    take: &mut dyn FnMut(usize, T) -> Result<()>,
) -> Result<()> {
    check_kinds(path, schema, chosen)?;
    let next = AtomicUsize::new(0);
    let stop = || next.store(chosen.len(), Ordering::Relaxed);
    std::thread::scope(|scope| {
        let (sender, receiver) = std::sync::mpsc::sync_channel(threads);
        for _ in 0..threads.min(chosen.len()).max(1) {
            let (sender, next, stop) = (sender.clone(), &next, &stop);
            scope.spawn(move || {
                let decode = || {
                    decode_some(path, schema, chosen, next, &mut |position, column| {
                        let made = work(position, column)?;
                        // The receiver is gone when another column failed.
                        let _ = sender.send(Ok((position, made)));
                        Ok(())
                    })
                };
                if let Err(error) = guarded(path, decode) {
                    stop();
                    let _ = sender.send(Err(error));
                }
            });
        }
        drop(sender);
        let mut outcome = Ok(());
        for received in &receiver {
            outcome = received.and_then(|(position, made)| take(position, made));
            if outcome.is_err() {
                stop();
                break;
            }
        }
        drop(receiver);
        outcome
    })
}

/// One thread's share: takes the next column until none is left.
fn decode_some(
    path: &Path,
    schema: &Schema,
    chosen: &[usize],
    next: &AtomicUsize,
    done: &mut dyn FnMut(usize, &mut Column) -> Result<()>,
) -> Result<()> {
    let reader = open(path)?;
    let mut column = Column::default();
    loop {
        let position = next.fetch_add(1, Ordering::Relaxed);
        let Some(&j) = chosen.get(position) else { return Ok(()) };
        let task = decode::Task {
            path,
            reader: &reader,
            leaf: leaf(path, &reader, &schema.names[j])?,
            name: &schema.names[j],
        };
        column = task.read(schema.rows.unwrap_or(0), std::mem::take(&mut column))?;
        done(position, &mut column)?;
    }
}

/// The leaf of a column, by its name.
fn leaf(path: &Path, reader: &SerializedFileReader<Chunks>, name: &str) -> Result<usize> {
    let descriptor = reader.metadata().file_metadata().schema_descr();
    (0..descriptor.num_columns())
        .find(|&leaf| descriptor.get_column_root(leaf).name() == name)
        .ok_or_else(|| damaged(path, "it changed while it was read"))
}

/// Hands the columns at the `chosen` positions to `visit`, piece by piece; returns the number of rows.
pub(super) fn scan(path: &Path, schema: &Schema, chosen: &[usize], visit: &mut Visit<'_>) -> Result<usize> {
    check_kinds(path, schema, chosen)?;
    guarded(path, || {
        let reader = open(path)?;
        let tasks: Vec<decode::Task<'_>> = chosen
            .iter()
            .map(|&j| {
                Ok(decode::Task {
                    path,
                    reader: &reader,
                    leaf: leaf(path, &reader, &schema.names[j])?,
                    name: &schema.names[j],
                })
            })
            .collect::<Result<_>>()?;
        let mut sinks: Vec<decode::Sink> = tasks.iter().map(decode::Task::sink).collect();
        let mut first = 0;
        for group in 0..reader.num_row_groups() {
            let rows = usize::try_from(reader.metadata().row_group(group).num_rows())
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
        if Some(first) != schema.rows {
            return Err(damaged(path, &format!("it has {first} of {} rows", schema.rows.unwrap_or(0))));
        }
        Ok(first)
    })
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
