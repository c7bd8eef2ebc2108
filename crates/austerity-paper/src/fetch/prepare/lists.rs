//! Parquet with columns of numbers and of lists of one length: images beside their labels.
//!
//! A list column is the three-level `LIST` of the format, with neither lists nor elements missing: every value has definition level 1, and
//! repetition level 0 where a row begins. Readers see lists; that they have one length is for the reader to know.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::data_type::{DataType, DoubleType, Int32Type};
use parquet::errors::{ParquetError, Result};
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;

use crate::fetch::error::Error;

/// Rows in a group: bounds the memory for levels.
const GROUP: usize = 4096;

/// The content of a column.
pub(super) enum Cells<'a> {
    /// Signed integers of so many bits.
    Integers(&'a [i32], i8),
    /// Double precision.
    Numbers(&'a [f64]),
    /// Lists of so many unsigned bytes.
    Bytes(&'a [u8], usize),
    /// Lists of so many numbers in double precision.
    Lists(&'a [f64], usize),
}

impl Cells<'_> {
    fn rows(&self) -> usize {
        match self {
            Self::Integers(values, _) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Bytes(values, each) => values.len() / each,
            Self::Lists(values, each) => values.len() / each,
        }
    }

    fn schema(&self, name: &str) -> Result<Type> {
        let integer = |name: &str, bits, signed| {
            Type::primitive_type_builder(name, Physical::INT32)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::integer(bits, signed)))
                .build()
        };
        let double = |name: &str| {
            Type::primitive_type_builder(name, Physical::DOUBLE).with_repetition(Repetition::REQUIRED).build()
        };
        let list = |element: Type| {
            let repeated = Type::group_type_builder("list")
                .with_repetition(Repetition::REPEATED)
                .with_fields(vec![Arc::new(element)])
                .build()?;
            Type::group_type_builder(name)
                .with_repetition(Repetition::REQUIRED)
                .with_logical_type(Some(LogicalType::List))
                .with_fields(vec![Arc::new(repeated)])
                .build()
        };
        match self {
            Self::Integers(_, bits) => integer(name, *bits, true),
            Self::Numbers(_) => double(name),
            Self::Bytes(..) => list(integer("element", 8, false)?),
            Self::Lists(..) => list(double("element")?),
        }
    }

    fn write(&self, group: &mut SerializedRowGroupWriter<'_, File>, from: usize, to: usize) -> Result<()> {
        match self {
            Self::Integers(values, _) => column::<Int32Type>(group, &values[from..to], None),
            Self::Numbers(values) => column::<DoubleType>(group, &values[from..to], None),
            Self::Bytes(values, each) => {
                let wide: Vec<i32> =
                    values[from * each..to * each].iter().map(|&byte| i32::from(byte)).collect();
                column::<Int32Type>(group, &wide, Some(*each))
            }
            Self::Lists(values, each) => {
                column::<DoubleType>(group, &values[from * each..to * each], Some(*each))
            }
        }
    }
}

fn column<T: DataType>(
    group: &mut SerializedRowGroupWriter<'_, File>,
    values: &[T::T],
    each: Option<usize>,
) -> Result<()> {
    let Some(mut column) = group.next_column()? else {
        return Err(ParquetError::General("a column too many".into()));
    };
    match each {
        None => column.typed::<T>().write_batch(values, None, None)?,
        Some(each) => {
            let definition = vec![1; values.len()];
            let repetition: Vec<i16> = (0..values.len()).map(|i| i16::from(i % each != 0)).collect();
            column.typed::<T>().write_batch(values, Some(&definition), Some(&repetition))?
        }
    };
    column.close()
}

/// Writes a file, whole or not at all; all columns have the same number of rows.
pub(super) fn write(path: &Path, columns: &[(&str, Cells<'_>)]) -> crate::fetch::Result<()> {
    let part = path.with_extension("parquet.part");
    let written = write_part(&part, columns);
    let done = written.and_then(|()| std::fs::rename(&part, path).map_err(ParquetError::from));
    done.map_err(|error| {
        // Nothing can be done about a file that cannot be removed either.
        let _ = std::fs::remove_file(&part);
        Error::io("write", path)(std::io::Error::other(error))
    })
}

fn write_part(part: &Path, columns: &[(&str, Cells<'_>)]) -> Result<()> {
    let fields =
        columns.iter().map(|(name, cells)| cells.schema(name).map(Arc::new)).collect::<Result<_>>()?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build()?;
    let properties =
        WriterProperties::builder().set_compression(Compression::ZSTD(ZstdLevel::default())).build();
    let mut file = SerializedFileWriter::new(File::create(part)?, Arc::new(schema), Arc::new(properties))?;
    let rows = columns.first().map_or(0, |(_, cells)| cells.rows());
    for from in (0..rows).step_by(GROUP) {
        let mut group = file.next_row_group()?;
        for (_, cells) in columns {
            cells.write(&mut group, from, rows.min(from + GROUP))?;
        }
        group.close()?;
    }
    file.into_inner()?.sync_all().map_err(ParquetError::from)
}
