//! The values of one Parquet column as numbers or levels.
//!
//! | stored | read as |
//! |---|---|
//! | INT32, INT64, signed or unsigned | the number (above 2⁵³ rounded to a double) |
//! | FLOAT, DOUBLE, Float16 | the number |
//! | DECIMAL on integers or bytes | unscaled/10^scale |
//! | DATE | days since 1970-01-01 |
//! | TIMESTAMP, INT96 | seconds since 1970-01-01 00:00 (UTC where there is a time zone) |
//! | TIME | seconds since midnight |
//! | BOOLEAN | 0, 1 |
//! | BYTE_ARRAY | text levels |

use std::path::Path;
use std::sync::Arc;

use ::parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{AsBytes as _, ByteArray, ByteArrayType, DataType, FixedLenByteArray, Int96};
use ::parquet::file::properties::ReaderProperties;
use ::parquet::file::reader::RowGroupReader as _;
use ::parquet::file::serialized_reader::SerializedRowGroupReader;
use ::parquet::schema::types::ColumnDescriptor;

use super::chunks::Chunks;
use super::{Footer, damaged, translate};
use crate::error::{Error, Place, Result};
use crate::table::levels::LevelBuilder;
use crate::table::number::{big_endian, half};
use crate::table::scan::{Chunk, Nulls};
use crate::table::{Column, ColumnKind};

/// Rows decoded at a time: small enough for the second-level cache.
const BATCH: usize = 1 << 13;

/// One column to read.
pub(super) struct Task<'a> {
    path: &'a Path,
    footer: &'a Footer,
    chunks: &'a Arc<Chunks>,
    leaf: usize,
    name: &'a str,
    nulls: Nulls,
}

/// What becomes of the values.
pub(super) enum Sink {
    Numbers(Vec<f64>),
    Text(LevelBuilder),
}

impl Sink {
    pub(super) fn chunk(&self) -> Chunk<'_> {
        match self {
            Self::Numbers(values) => Chunk::Numbers(values),
            Self::Text(levels) => levels.chunk(false),
        }
    }

    pub(super) fn forget(&mut self) {
        match self {
            Self::Numbers(values) => values.clear(),
            Self::Text(levels) => levels.forget(),
        }
    }
}

impl<'a> Task<'a> {
    /// The column of that name.
    pub(super) fn new(
        path: &'a Path,
        (footer, chunks): (&'a Footer, &'a Arc<Chunks>),
        name: &'a str,
        nulls: Nulls,
    ) -> Result<Self> {
        let descriptor = footer.metadata.file_metadata().schema_descr();
        let leaf = (0..descriptor.num_columns())
            .find(|&leaf| descriptor.get_column_root(leaf).name() == name)
            .ok_or_else(|| damaged(path, "it changed while it was read"))?;
        Ok(Self { path, footer, chunks, leaf, name, nulls })
    }

    /// Reads the column into the memory of `spare`; `rows` is what the footer claims.
    pub(super) fn read(&self, rows: usize, spare: Column) -> Result<Column> {
        let mut sink = self.sink();
        if let Sink::Numbers(values) = &mut sink {
            if let Column::Numbers(spare) = spare {
                *values = spare;
                values.clear();
            }
            // A damaged footer may claim any number of rows.
            values
                .try_reserve_exact(rows)
                .map_err(|_| damaged(self.path, &format!("{rows} rows do not fit in memory")))?;
        }
        let mut row = 0;
        for group in self.footer.groups.clone() {
            let mut pieces = self.open(group)?;
            loop {
                let found = pieces.some(row, BATCH, &mut sink)?;
                if found == 0 {
                    break;
                }
                row += found;
            }
        }
        if row != rows {
            return Err(damaged(self.path, &format!("column `{}` has {row} of {rows} rows", self.name)));
        }
        Ok(match sink {
            Sink::Numbers(values) => Column::Numbers(values),
            Sink::Text(levels) => levels.levels(),
        })
    }

    /// Where the values go.
    pub(super) fn sink(&self) -> Sink {
        let descriptor = self.footer.metadata.file_metadata().schema_descr().column(self.leaf);
        if super::kind(&descriptor) == ColumnKind::Text {
            Sink::Text(LevelBuilder::default())
        } else {
            Sink::Numbers(Vec::new())
        }
    }

    /// The column of a group of rows, to be read piece by piece.
    pub(super) fn open(&self, group: usize) -> Result<Pieces<'_>> {
        let descriptor = self.footer.metadata.file_metadata().schema_descr().column(self.leaf);
        let metadata = &self.footer.metadata;
        let properties = Arc::new(ReaderProperties::builder().build());
        let (about, index) = (metadata.row_group(group), metadata.page_index_for_row_group(group));
        let column = SerializedRowGroupReader::new(Arc::clone(self.chunks), about, index, properties)
            .and_then(|group| group.get_column_reader(self.leaf))
            .map_err(|error| translate(self.path, &error))?;
        let (unsigned, scale) = (is_unsigned(&descriptor), divisor(&descriptor));
        Ok(Pieces { task: self, column, unsigned, scale })
    }
}

/// The column of a group of rows.
pub(super) struct Pieces<'a> {
    task: &'a Task<'a>,
    column: ColumnReader,
    unsigned: bool,
    scale: Option<f64>,
}

impl Pieces<'_> {
    /// Reads exactly `rows` rows, of which the first is `row`.
    pub(super) fn read(&mut self, mut row: usize, rows: usize, sink: &mut Sink) -> Result<()> {
        let end = row + rows;
        while row < end {
            let found = self.some(row, end - row, sink)?;
            if found == 0 {
                let detail = format!("column `{}` ends at row {row}", self.task.name);
                return Err(damaged(self.task.path, &detail));
            }
            row += found;
        }
        Ok(())
    }

    /// Reads at most `most` rows, of which the first is `row`; none at the end.
    fn some(&mut self, row: usize, most: usize, sink: &mut Sink) -> Result<usize> {
        let (task, scale) = (self.task, self.scale);
        match (&mut self.column, sink) {
            (ColumnReader::BoolColumnReader(column), Sink::Numbers(out)) => {
                task.numbers(column, out, (row, most), |&v| f64::from(u8::from(v)))
            }
            (ColumnReader::Int32ColumnReader(column), Sink::Numbers(out)) => match (self.unsigned, scale) {
                (_, Some(scale)) => task.numbers(column, out, (row, most), |&v| f64::from(v) / scale),
                (true, _) => task.numbers(column, out, (row, most), |&v| f64::from(v.cast_unsigned())),
                (false, _) => task.numbers(column, out, (row, most), |&v| f64::from(v)),
            },
            (ColumnReader::Int64ColumnReader(column), Sink::Numbers(out)) => match (self.unsigned, scale) {
                (_, Some(scale)) => task.numbers(column, out, (row, most), |&v| v as f64 / scale),
                (true, _) => task.numbers(column, out, (row, most), |&v| v.cast_unsigned() as f64),
                (false, _) => task.numbers(column, out, (row, most), |&v| v as f64),
            },
            (ColumnReader::Int96ColumnReader(column), Sink::Numbers(out)) => {
                task.numbers(column, out, (row, most), seconds)
            }
            (ColumnReader::FloatColumnReader(column), Sink::Numbers(out)) => {
                task.numbers(column, out, (row, most), |&v| f64::from(v))
            }
            (ColumnReader::DoubleColumnReader(column), Sink::Numbers(out)) => {
                task.numbers(column, out, (row, most), |&v| v)
            }
            (ColumnReader::ByteArrayColumnReader(column), Sink::Numbers(out)) => {
                let scale = scale.unwrap_or(1.0);
                task.numbers(column, out, (row, most), |v: &ByteArray| big_endian(v.as_bytes()) / scale)
            }
            (ColumnReader::FixedLenByteArrayColumnReader(column), Sink::Numbers(out)) => match scale {
                Some(scale) => task.numbers(column, out, (row, most), |v: &FixedLenByteArray| {
                    big_endian(v.as_bytes()) / scale
                }),
                None => task.numbers(column, out, (row, most), |v: &FixedLenByteArray| half(v.as_bytes())),
            },
            (ColumnReader::ByteArrayColumnReader(column), Sink::Text(levels)) => {
                task.text(column, levels, (row, most))
            }
            _ => Err(damaged(task.path, &format!("column `{}` changes its type", task.name))),
        }
    }
}

impl Task<'_> {
    /// Appends numbers and refuses nulls and what is not finite.
    fn numbers<T: DataType>(
        &self,
        column: &mut ColumnReaderImpl<T>,
        out: &mut Vec<f64>,
        (row, most): (usize, usize),
        number: impl Fn(&T::T) -> f64,
    ) -> Result<usize> {
        let keep = self.nulls == Nulls::Keep;
        self.batch(column, (row, most), |values, defined| {
            let first = out.len();
            if values.len() == defined.len() || defined.is_empty() {
                out.extend(values.iter().map(&number));
            } else {
                let mut values = values.iter().map(&number);
                let value = |&level: &i16| if level > 0 { values.next() } else { None };
                out.extend(defined.iter().map(value).map(|value| value.unwrap_or(f64::NAN)));
            }
            // Without an early end the compiler looks at several at once.
            let finite = out[first..].iter().fold(true, |finite, value| finite & value.is_finite());
            if finite {
                return Ok(());
            }
            let fits = |value: &f64| value.is_finite() || (keep && value.is_nan());
            match out[first..].iter().position(|value| !fits(value)) {
                None => Ok(()),
                Some(at) => {
                    let (place, value) = (self.place(row + at), out[first + at]);
                    Err(if value.is_nan() {
                        Error::MissingValue { place, value: "NaN".into(), remedy: REMEDY.into() }
                    } else {
                        Error::NotFinite { place, value: value.to_string() }
                    })
                }
            }
        })
    }

    fn text(
        &self,
        column: &mut ColumnReaderImpl<ByteArrayType>,
        levels: &mut LevelBuilder,
        (row, most): (usize, usize),
    ) -> Result<usize> {
        self.batch(column, (row, most), |values: &[ByteArray], defined| {
            let mut values = values.iter().peekable();
            let rows = if defined.is_empty() { values.len() } else { defined.len() };
            for at in 0..rows {
                let there = defined.get(at).is_none_or(|&level| level > 0);
                let Some(value) = values.next_if(|_| there) else {
                    levels.push_missing(1);
                    continue;
                };
                let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
                    let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                    return Err(Error::NotUtf8 { place: self.place(row + at), value });
                };
                levels.push(text).map_err(|_| {
                    damaged(self.path, &format!("column `{}` has more than 2³² different texts", self.name))
                })?;
            }
            Ok(())
        })
    }

    /// Hands over at most `most` values, of which the first is that of `row`, and returns how many.
    fn batch<T: DataType>(
        &self,
        column: &mut ColumnReaderImpl<T>,
        (row, most): (usize, usize),
        take: impl FnOnce(&[T::T], &[i16]) -> Result<()>,
    ) -> Result<usize> {
        let (mut values, mut defined) = (Vec::with_capacity(most.min(BATCH)), Vec::new());
        let (records, found, _) = column
            .read_records(most.min(BATCH), Some(&mut defined), None, &mut values)
            .map_err(|error| translate(self.path, &error))?;
        if found < records && self.nulls == Nulls::Refuse {
            let at = defined.iter().position(|&level| level == 0).unwrap_or(0);
            let (place, value) = (self.place(row + at), "null".into());
            return Err(Error::MissingValue { place, value, remedy: REMEDY.into() });
        }
        take(&values, &defined)?;
        Ok(records)
    }

    /// A row counted from 0, as the user counts.
    fn place(&self, row: usize) -> Box<Place> {
        Place::new(self.path, self.name, row)
    }
}

const REMEDY: &str =
    "drop such rows (`austerity fit --missing drop`), impute the value, or leave the column out";

fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(
            descriptor.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

/// What stored integers are divided by: 10^scale of a decimal column, ticks per second of a time.
fn divisor(descriptor: &ColumnDescriptor) -> Option<f64> {
    let ticks = |unit: &TimeUnit| match unit {
        TimeUnit::MILLIS => 1e3,
        TimeUnit::MICROS => 1e6,
        TimeUnit::NANOS => 1e9,
    };
    match (descriptor.logical_type_ref(), descriptor.converted_type()) {
        (Some(LogicalType::Decimal(decimal)), _) => Some(10f64.powi(decimal.scale)),
        (Some(LogicalType::Timestamp(time)), _) => Some(ticks(&time.unit)),
        (Some(LogicalType::Time(time)), _) => Some(ticks(&time.unit)),
        (_, ConvertedType::DECIMAL) => Some(10f64.powi(descriptor.type_scale())),
        (_, ConvertedType::TIMESTAMP_MILLIS | ConvertedType::TIME_MILLIS) => Some(1e3),
        (_, ConvertedType::TIMESTAMP_MICROS | ConvertedType::TIME_MICROS) => Some(1e6),
        _ => None,
    }
}

/// Seconds since 1970 of a 96-bit time stamp: nanoseconds of the day, then the Julian day.
fn seconds(stamp: &Int96) -> f64 {
    const JULIAN_DAY_OF_1970: i64 = 2_440_588;
    let [low, high, day] = *stamp.data() else { return f64::NAN };
    let nanoseconds = (u64::from(high) << 32) | u64::from(low);
    let days = i64::from(day.cast_signed()) - JULIAN_DAY_OF_1970;
    days as f64 * 86_400.0 + nanoseconds as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn old_time_stamps_are_seconds() {
        let mut stamp = Int96::new();
        let noon = 43_200_000_000_000_u64;
        stamp.set_data(noon as u32, (noon >> 32) as u32, 2_440_589);
        assert_eq!(seconds(&stamp), 86_400.0 + 43_200.0);
    }
}
