//! Delimited text, read as a stream: one record at a time, only the chosen columns are kept.
//!
//! Cells are trimmed. The first row decides whether a column holds numbers or text, and the first cell that
//! contradicts it is an error with its row and value. Extra memory: one record and the read buffer; each
//! different text of a text column is kept once. Quotes, quoted newlines, a byte-order mark, gzip in
//! several members: by the `csv` and `flate2` crates.

mod cell;
mod dialect;

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::Path;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Place, Result};
use crate::table::levels::{LevelBuilder, TooManyLevels};
use crate::table::{Column, ColumnKind, OpenOptions, Schema};
use cell::Cell;

pub(super) use dialect::Dialect;

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;

/// How the text is written, and what its columns are.
pub(super) fn inspect(path: &Path, gzip: bool, options: &OpenOptions) -> Result<(Dialect, Schema)> {
    dialect::check_text(path, gzip)?;
    let delimiter = match options.delimiter {
        Some(delimiter) => delimiter,
        None => dialect::delimiter(path, gzip)?,
    };
    let mut reader = reader(path, gzip, delimiter)?;
    let (mut first, mut second) = (ByteRecord::new(), ByteRecord::new());
    let read = |reader: &mut Reader<_>, record: &mut ByteRecord| {
        reader.read_byte_record(record).map_err(|error| translate(path, error))
    };
    if !read(&mut reader, &mut first)? {
        return Err(Error::Empty { file: path.into(), what: "it has no line with text".into() });
    }
    read(&mut reader, &mut second)?;
    let header = options.header.unwrap_or_else(|| dialect::has_header(&first, &second));

    let mut notes = Vec::new();
    let names = if header {
        dialect::names(path, &first)?
    } else {
        notes.push(format!(
            "`{}` was read without a header line: its columns are named x1 to x{}",
            path.display(),
            first.len()
        ));
        (1..=first.len()).map(|j| format!("x{j}")).collect()
    };
    let sample = if header { &second } else { &first };
    let kinds = (0..names.len()).map(|j| sample.get(j).map_or(ColumnKind::Text, cell::kind)).collect();
    Ok((Dialect { gzip, delimiter, header }, Schema { names, kinds, rows: None, notes }))
}

/// Reads the columns at the `chosen` positions.
pub(super) fn read(
    path: &Path,
    dialect: &Dialect,
    names: &[String],
    chosen: &[usize],
    as_text: &[String],
) -> Result<Vec<Column>> {
    let mut reader = reader(path, dialect.gzip, dialect.delimiter)?;
    let mut record = ByteRecord::new();
    let mut builders: Vec<Builder> =
        chosen.iter().map(|&j| Builder::new(as_text.contains(&names[j]))).collect();
    let mut row = 0;
    let mut skip_header = dialect.header;
    // One record per turn; a ragged record is an error even when none of its chosen cells is missing.
    while reader.read_byte_record(&mut record).map_err(|error| translate(path, error))? {
        if std::mem::take(&mut skip_header) {
            continue;
        }
        row += 1;
        for (builder, &j) in builders.iter_mut().zip(chosen) {
            builder.push(record.get(j).unwrap_or_default()).map_err(|refusal| {
                let place = Place {
                    file: path.into(),
                    column: names[j].clone(),
                    row,
                    line: record.position().map(::csv::Position::line),
                };
                refusal.at(place, record.get(j).unwrap_or_default())
            })?;
        }
    }
    if row == 0 {
        let what = "it has a header line and no rows".into();
        return Err(Error::Empty { file: path.into(), what });
    }
    Ok(builders.into_iter().map(Builder::finish).collect())
}

/// The text of a file, decompressed.
fn text(path: &Path, gzip: bool) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file)))
    } else {
        Box::new(file)
    })
}

fn reader(path: &Path, gzip: bool, delimiter: u8) -> Result<Reader<Box<dyn Read>>> {
    Ok(ReaderBuilder::new()
        .has_headers(false)
        .delimiter(delimiter)
        .buffer_capacity(BUFFER)
        .from_reader(text(path, gzip)?))
}

fn translate(path: &Path, error: ::csv::Error) -> Error {
    let described = error.to_string();
    match error.into_kind() {
        ErrorKind::Io(source) => Error::Io { action: "read", file: path.into(), source },
        ErrorKind::UnequalLengths { pos, expected_len, len } => Error::Ragged {
            file: path.into(),
            line: pos.map_or(0, |position| position.line()),
            found: len,
            expected: expected_len,
        },
        _ => Error::format(path, format!("cannot be read: {described}"), "check the file"),
    }
}

/// One column in the making.
enum Builder {
    /// Before the first row.
    Start,
    Numbers(Vec<f64>),
    Text(LevelBuilder),
    /// Levels as spelled, at the user's wish.
    Spelled(LevelBuilder),
}

/// Why a cell cannot go into its column.
enum Refusal {
    Missing { categorical: bool },
    NotFinite,
    DecimalComma,
    NumberAmongText,
    TextAmongNumbers,
    NotUtf8,
    TooManyLevels,
}

impl From<TooManyLevels> for Refusal {
    fn from(TooManyLevels: TooManyLevels) -> Self {
        Self::TooManyLevels
    }
}

impl Builder {
    fn new(spelled: bool) -> Self {
        if spelled { Self::Spelled(LevelBuilder::default()) } else { Self::Start }
    }

    fn push(&mut self, raw: &[u8]) -> std::result::Result<(), Refusal> {
        if let Self::Spelled(levels) = self {
            return match std::str::from_utf8(raw.trim_ascii()) {
                Ok("") => Err(Refusal::Missing { categorical: true }),
                Ok(text) => Ok(levels.push(text)?),
                Err(_) => Err(Refusal::NotUtf8),
            };
        }
        let cell = cell::classify(raw);
        if let Self::Start = self {
            *self = match cell {
                Cell::Text(_) => Self::Text(LevelBuilder::default()),
                _ => Self::Numbers(Vec::new()),
            };
        }
        match (self, cell) {
            (Self::Numbers(values), Cell::Number(value)) => values.push(value),
            (Self::Text(levels), Cell::Text(text)) => levels.push(text)?,
            (_, Cell::Missing) => return Err(Refusal::Missing { categorical: false }),
            (_, Cell::NotFinite) => return Err(Refusal::NotFinite),
            (_, Cell::DecimalComma) => return Err(Refusal::DecimalComma),
            (_, Cell::NotUtf8) => return Err(Refusal::NotUtf8),
            (Self::Text(_), Cell::Number(_)) => return Err(Refusal::NumberAmongText),
            (_, Cell::Text(_) | Cell::Number(_)) => return Err(Refusal::TextAmongNumbers),
        }
        Ok(())
    }

    fn finish(self) -> Column {
        match self {
            Self::Start => Column::Numbers(Vec::new()),
            Self::Numbers(mut values) => {
                values.shrink_to_fit();
                Column::Numbers(values)
            }
            Self::Text(levels) => levels.levels_or_booleans(),
            Self::Spelled(levels) => levels.levels(),
        }
    }
}

impl Refusal {
    fn at(self, place: Place, raw: &[u8]) -> Error {
        let value = cell::shown(raw);
        match self {
            Self::Missing { categorical } => {
                let mut remedy = "drop the row, impute the value, or leave the column out".to_owned();
                if !categorical && !value.is_empty() {
                    remedy.push_str(", or name the column as categorical if the word is a level");
                }
                Error::MissingValue { place, value, remedy }
            }
            Self::NotFinite => Error::NotFinite { place, value },
            Self::DecimalComma => Error::DecimalComma { place, value },
            Self::NotUtf8 => Error::NotUtf8 { place, value },
            Self::NumberAmongText => {
                Error::MixedColumn { place, value, problem: "is a number, but the rows before hold text" }
            }
            Self::TextAmongNumbers => {
                Error::MixedColumn { place, value, problem: "is text, but the rows before hold numbers" }
            }
            Self::TooManyLevels => Error::Value {
                place,
                problem: format!("`{value}` is one of more than {} different texts", u32::MAX),
                remedy: "leave the column out".into(),
            },
        }
    }
}
