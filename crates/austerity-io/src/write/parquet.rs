//! Numbers as Parquet with zstd: groups of rows, one column after the other.
//!
//! Floats are byte-stream-split, which brings equal exponents together before compression; integers use
//! a dictionary while it pays.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{Compression, Encoding, Repetition, Type as Physical, ZstdLevel};
use ::parquet::data_type::{DataType, DoubleType, FloatType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use ::parquet::schema::types::{ColumnPath, Type};

use super::{Field, Storage};
use crate::error::{Error, Result};

/// Rows in a group; also the most that is held in memory, as doubles.
const GROUP: usize = 1 << 17;

pub(super) struct Writer {
    file: SerializedFileWriter<File>,
    waiting: Vec<Vec<f64>>,
}

impl Writer {
    pub(super) fn new(path: &Path, file: File, fields: &[Field]) -> Result<Self> {
        let build = || {
            let columns: Vec<_> = fields
                .iter()
                .map(|field| {
                    let physical = match field.storage {
                        Storage::Single => Physical::FLOAT,
                        Storage::Double | Storage::DoubleOrMissing => Physical::DOUBLE,
                        Storage::Integer => Physical::INT64,
                    };
                    Type::primitive_type_builder(&field.name, physical)
                        .with_repetition(Repetition::REQUIRED)
                        .build()
                        .map(Arc::new)
                })
                .collect::<std::result::Result<_, ParquetError>>()?;
            let schema = Type::group_type_builder("schema").with_fields(columns).build()?;
            let mut properties =
                WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default()));
            for field in fields.iter().filter(|field| field.storage != Storage::Integer) {
                let column = ColumnPath::new(vec![field.name.clone()]);
                properties = properties
                    .set_column_dictionary_enabled(column.clone(), false)
                    .set_column_encoding(column, Encoding::BYTE_STREAM_SPLIT);
            }
            SerializedFileWriter::new(file, Arc::new(schema), Arc::new(properties.build()))
        };
        let file = build().map_err(|error| translate(path, error))?;
        Ok(Self { file, waiting: fields.iter().map(|_| Vec::new()).collect() })
    }

    pub(super) fn write(&mut self, path: &Path, fields: &[Field], columns: &[&[f64]]) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.len());
        let mut taken = 0;
        while taken < rows {
            let held = self.waiting.first().map_or(0, Vec::len);
            let more = (GROUP - held).min(rows - taken);
            for (waiting, column) in self.waiting.iter_mut().zip(columns) {
                waiting.extend_from_slice(&column[taken..taken + more]);
            }
            taken += more;
            if held + more == GROUP {
                self.flush(path, fields)?;
            }
        }
        Ok(())
    }

    pub(super) fn finish(mut self, path: &Path, fields: &[Field]) -> Result<File> {
        if self.waiting.first().is_some_and(|column| !column.is_empty()) {
            self.flush(path, fields)?;
        }
        self.file.into_inner().map_err(|error| translate(path, error))
    }

    /// Writes the waiting rows as one group.
    fn flush(&mut self, path: &Path, fields: &[Field]) -> Result<()> {
        let waiting = &mut self.waiting;
        let mut group = |file: &mut SerializedFileWriter<File>| {
            let mut group = file.next_row_group()?;
            for (field, values) in fields.iter().zip(waiting.iter_mut()) {
                match field.storage {
                    Storage::Single => column::<FloatType>(&mut group, values, |value| value as f32)?,
                    Storage::Double | Storage::DoubleOrMissing => {
                        column::<DoubleType>(&mut group, values, |value| value)?;
                    }
                    Storage::Integer => column::<Int64Type>(&mut group, values, |value| value as i64)?,
                }
                values.clear();
            }
            group.close().map(|_| ())
        };
        group(&mut self.file).map_err(|error| translate(path, error))
    }
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[f64],
    stored: impl Fn(f64) -> T::T,
) -> std::result::Result<(), ParquetError> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column too many".into()));
    };
    let values: Vec<T::T> = values.iter().map(|&value| stored(value)).collect();
    column.typed::<T>().write_batch(&values, None, None)?;
    column.close()
}

fn translate(path: &Path, error: ParquetError) -> Error {
    let source = match error {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(inner) => *inner,
            Err(inner) => std::io::Error::other(inner),
        },
        other => std::io::Error::other(other),
    };
    Error::Io { action: "write", file: path.into(), source }
}
