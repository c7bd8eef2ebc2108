//! The values of one Parquet column as numbers or levels.
//!
//! | stored | read as |
//! |---|---|
//! | INT32, INT64, signed or unsigned | the number (above 2⁵³ rounded to a double) |
//! | FLOAT, DOUBLE, Float16 | the number |
//! | DECIMAL on integers or bytes | unscaled/10^scale |
//! | DATE, TIME, TIMESTAMP on integers | the stored count of days or ticks |
//! | BOOLEAN | 0, 1 |
//! | BYTE_ARRAY | text levels |

use std::path::Path;

use ::parquet::basic::{ConvertedType, LogicalType};
use ::parquet::column::reader::{ColumnReader, ColumnReaderImpl};
use ::parquet::data_type::{AsBytes as _, ByteArray, ByteArrayType, DataType, FixedLenByteArray};
use ::parquet::file::reader::{FileReader as _, SerializedFileReader};
use ::parquet::schema::types::ColumnDescriptor;

use super::chunks::Chunks;
use super::{damaged, translate};
use crate::error::{Error, Place, Result};
use crate::table::Column;
use crate::table::levels::LevelBuilder;

/// Rows decoded at a time: small enough for the second-level cache.
const BATCH: usize = 1 << 13;

/// One column to read.
pub(super) struct Task<'a> {
    pub(super) path: &'a Path,
    pub(super) reader: &'a SerializedFileReader<Chunks>,
    pub(super) leaf: usize,
    pub(super) name: &'a str,
}

/// What becomes of the values.
enum Sink {
    Numbers(Vec<f64>),
    Text(LevelBuilder),
}

impl Task<'_> {
    /// Reads the column; `rows` is what the footer claims.
    pub(super) fn read(&self, rows: usize) -> Result<Column> {
        let descriptor = self.reader.metadata().file_metadata().schema_descr().column(self.leaf);
        let is_text = super::kind(&descriptor) == crate::table::ColumnKind::Text;
        let mut sink = if is_text {
            Sink::Text(LevelBuilder::default())
        } else {
            let mut values = Vec::new();
            // A damaged footer may claim any number of rows.
            values
                .try_reserve_exact(rows)
                .map_err(|_| damaged(self.path, &format!("{rows} rows do not fit in memory")))?;
            Sink::Numbers(values)
        };
        let mut row = 0;
        for group in 0..self.reader.num_row_groups() {
            let column = self
                .reader
                .get_row_group(group)
                .and_then(|group| group.get_column_reader(self.leaf))
                .map_err(|error| translate(self.path, &error))?;
            self.group(column, &descriptor, &mut sink, &mut row)?;
        }
        if row != rows {
            return Err(damaged(self.path, &format!("column `{}` has {row} of {rows} rows", self.name)));
        }
        Ok(match sink {
            Sink::Numbers(values) => Column::Numbers(values),
            Sink::Text(levels) => levels.levels(),
        })
    }

    fn group(
        &self,
        column: ColumnReader,
        descriptor: &ColumnDescriptor,
        sink: &mut Sink,
        row: &mut usize,
    ) -> Result<()> {
        let unsigned = is_unsigned(descriptor);
        let scale = decimal_scale(descriptor);
        match (column, sink) {
            (ColumnReader::BoolColumnReader(column), Sink::Numbers(out)) => {
                self.numbers(column, out, row, |&v| f64::from(u8::from(v)))
            }
            (ColumnReader::Int32ColumnReader(column), Sink::Numbers(out)) => match (unsigned, scale) {
                (_, Some(scale)) => self.numbers(column, out, row, |&v| f64::from(v) / scale),
                (true, _) => self.numbers(column, out, row, |&v| f64::from(v.cast_unsigned())),
                (false, _) => self.numbers(column, out, row, |&v| f64::from(v)),
            },
            (ColumnReader::Int64ColumnReader(column), Sink::Numbers(out)) => match (unsigned, scale) {
                (_, Some(scale)) => self.numbers(column, out, row, |&v| v as f64 / scale),
                (true, _) => self.numbers(column, out, row, |&v| v.cast_unsigned() as f64),
                (false, _) => self.numbers(column, out, row, |&v| v as f64),
            },
            (ColumnReader::FloatColumnReader(column), Sink::Numbers(out)) => {
                self.numbers(column, out, row, |&v| f64::from(v))
            }
            (ColumnReader::DoubleColumnReader(column), Sink::Numbers(out)) => {
                self.numbers(column, out, row, |&v| v)
            }
            (ColumnReader::ByteArrayColumnReader(column), Sink::Numbers(out)) => {
                let scale = scale.unwrap_or(1.0);
                self.numbers(column, out, row, |v: &ByteArray| big_endian(v.as_bytes()) / scale)
            }
            (ColumnReader::FixedLenByteArrayColumnReader(column), Sink::Numbers(out)) => match scale {
                Some(scale) => {
                    self.numbers(column, out, row, |v: &FixedLenByteArray| big_endian(v.as_bytes()) / scale)
                }
                None => self.numbers(column, out, row, |v: &FixedLenByteArray| half(v.as_bytes())),
            },
            (ColumnReader::ByteArrayColumnReader(column), Sink::Text(levels)) => {
                self.text(column, levels, row)
            }
            _ => Err(damaged(self.path, &format!("column `{}` changes its type", self.name))),
        }
    }

    /// Appends numbers and refuses nulls and what is not finite.
    fn numbers<T: DataType>(
        &self,
        column: ColumnReaderImpl<T>,
        out: &mut Vec<f64>,
        row: &mut usize,
        number: impl Fn(&T::T) -> f64,
    ) -> Result<()> {
        self.batches(column, row, |start, values| {
            let first = out.len();
            out.extend(values.iter().map(&number));
            match out[first..].iter().position(|value| !value.is_finite()) {
                None => Ok(()),
                Some(at) => {
                    let (place, value) = (self.place(start + at), out[first + at]);
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
        column: ColumnReaderImpl<ByteArrayType>,
        levels: &mut LevelBuilder,
        row: &mut usize,
    ) -> Result<()> {
        self.batches(column, row, |start, values: &[ByteArray]| {
            for (at, value) in values.iter().enumerate() {
                let Ok(text) = std::str::from_utf8(value.as_bytes()) else {
                    let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
                    return Err(Error::NotUtf8 { place: self.place(start + at), value });
                };
                levels.push(text).map_err(|_| {
                    damaged(self.path, &format!("column `{}` has more than 2³² different texts", self.name))
                })?;
            }
            Ok(())
        })
    }

    /// Hands over the values batch by batch, with the number of the batch's first row from 0.
    fn batches<T: DataType>(
        &self,
        mut column: ColumnReaderImpl<T>,
        row: &mut usize,
        mut take: impl FnMut(usize, &[T::T]) -> Result<()>,
    ) -> Result<()> {
        let (mut values, mut defined) = (Vec::with_capacity(BATCH), Vec::new());
        loop {
            values.clear();
            defined.clear();
            let (records, found, _) = column
                .read_records(BATCH, Some(&mut defined), None, &mut values)
                .map_err(|error| translate(self.path, &error))?;
            if records == 0 {
                return Ok(());
            }
            if found < records {
                let at = defined.iter().position(|&level| level == 0).unwrap_or(0);
                let (place, value) = (self.place(*row + at), "null".into());
                return Err(Error::MissingValue { place, value, remedy: REMEDY.into() });
            }
            take(*row, &values)?;
            *row += records;
        }
    }

    /// A row counted from 0, as the user counts.
    fn place(&self, row: usize) -> Box<Place> {
        Place::new(self.path, self.name, row)
    }
}

const REMEDY: &str = "drop the row, impute the value, or leave the column out";

fn is_unsigned(descriptor: &ColumnDescriptor) -> bool {
    match descriptor.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => !integer.is_signed,
        _ => matches!(
            descriptor.converted_type(),
            ConvertedType::UINT_8 | ConvertedType::UINT_16 | ConvertedType::UINT_32 | ConvertedType::UINT_64
        ),
    }
}

/// 10^scale of a decimal column.
fn decimal_scale(descriptor: &ColumnDescriptor) -> Option<f64> {
    let decimal = match descriptor.logical_type_ref() {
        Some(LogicalType::Decimal(decimal)) => Some(decimal.scale),
        _ => (descriptor.converted_type() == ConvertedType::DECIMAL).then(|| descriptor.type_scale()),
    };
    decimal.map(|scale| 10f64.powi(scale))
}

/// A two's complement number, most significant byte first, of any length.
fn big_endian(bytes: &[u8]) -> f64 {
    let Some((&first, rest)) = bytes.split_first() else { return 0.0 };
    // Within 16 bytes exactly, beyond (no decimal is longer in practice) rounded byte by byte.
    if bytes.len() <= 16 {
        let start = i128::from(first.cast_signed());
        return rest.iter().fold(start, |value, &byte| (value << 8) | i128::from(byte)) as f64;
    }
    rest.iter().fold(f64::from(first.cast_signed()), |value, &byte| value * 256.0 + f64::from(byte))
}

/// IEEE half precision, least significant byte first.
fn half(bytes: &[u8]) -> f64 {
    let [low, high] = *bytes else { return f64::NAN };
    let bits = u16::from_le_bytes([low, high]);
    let sign = if bits >> 15 == 1 { -1.0 } else { 1.0 };
    let (exponent, fraction) = (i32::from((bits >> 10) & 0x1f), f64::from(bits & 0x3ff));
    sign * match exponent {
        0 => fraction * 2f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1.0 + fraction / 1024.0) * 2f64.powi(exponent - 15),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_become_numbers() {
        assert_eq!(big_endian(&[]), 0.0);
        assert_eq!(big_endian(&[0xff]), -1.0);
        assert_eq!(big_endian(&[0x00, 0xff]), 255.0);
        assert_eq!(big_endian(&[0xff, 0x00, 0x00]), -65_536.0);
        assert_eq!(big_endian(&(-12_345_678_901_234_i128).to_be_bytes()), -12_345_678_901_234.0);
        assert_eq!(big_endian(&[[0xff].as_slice(), &(-5_i128).to_be_bytes()].concat()), -5.0);
    }

    #[test]
    fn halves_become_numbers() {
        for (bits, value) in [
            (0x3c00_u16, 1.0),
            (0xc000, -2.0),
            (0x7bff, 65_504.0),
            (0x0001, 2f64.powi(-24)),
            (0x0400, 2f64.powi(-14)),
            (0x7c00, f64::INFINITY),
            (0x0000, 0.0),
        ] {
            assert_eq!(half(&bits.to_le_bytes()), value, "{bits:04x}");
        }
        assert!(half(&0x7e00_u16.to_le_bytes()).is_nan());
    }
}
