//! Delimited text, read as a stream: one record at a time, only the chosen columns are kept.
//!
//! Cells are trimmed. The first row decides whether a column holds numbers or text, and the first cell that
//! contradicts it is an error with its row and value. Extra memory: one record and the read buffer; each
//! different text of a text column is kept once. Quotes, quoted newlines, a byte-order mark, gzip in
//! several members: by the `csv` and `flate2` crates.

mod cell;
mod dialect;
mod records;

use std::path::Path;

use ::csv::ByteRecord;

use crate::error::{Error, Place, Result};
use crate::table::levels::{LevelBuilder, TooManyLevels};
use crate::table::scan::{CHUNK_ROWS, Chunk, Nulls, Visit};
use crate::table::{ColumnKind, OpenOptions, Schema};
use cell::Cell;
use records::Records;

pub(super) use dialect::Dialect;

/// The number that a text is, as in a cell.
pub(super) fn number_of(text: &str) -> Option<f64> {
    match cell::classify(text.as_bytes()) {
        Cell::Number(value) => Some(value),
        _ => None,
    }
}

/// How the text is written, and what its columns are.
pub(super) fn inspect(path: &Path, gzip: bool, options: &OpenOptions) -> Result<(Dialect, Schema)> {
    dialect::check_text(path, gzip)?;
    let delimiter = match options.delimiter {
        Some(delimiter) => delimiter,
        None => dialect::delimiter(path, gzip)?,
    };
    let mut records = Records::open(path, gzip, delimiter)?;
    let (mut first, mut second) = (ByteRecord::new(), ByteRecord::new());
    if !records.next(&mut first)? {
        return Err(Error::Empty { file: path.into(), what: "it has no line with text".into() });
    }
    records.next(&mut second)?;
    let header = options.header.unwrap_or_else(|| dialect::has_header(&first, &second));

    let mut notes = Vec::new();
    if header && options.header.is_none() && !dialect::text_over_number(&first, &second) {
        notes.push(format!("the first line of `{}` was taken as the names of the columns", path.display()));
    }
    let names = if header {
        if let Some(j) = first.iter().position(|cell| cell.trim_ascii().is_empty()) {
            notes.push(format!(
                "column {0} of `{1}` has no name and is called x{0}; leave it out if it only numbers the rows",
                j + 1,
                path.display()
            ));
        }
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

/// Hands the columns at the `chosen` positions to `visit`, piece by piece; returns the number of rows.
pub(super) fn scan(
    path: &Path,
    dialect: &Dialect,
    names: &[String],
    chosen: &[usize],
    (as_text, nulls): (&[String], Nulls),
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let mut records = Records::open(path, dialect.gzip, dialect.delimiter)?;
    let mut record = ByteRecord::new();
    let mut builders: Vec<Builder> =
        chosen.iter().map(|&j| Builder::new(as_text.contains(&names[j]))).collect();
    let keep = nulls == Nulls::Keep;
    let (mut first, mut row) = (0, 0);
    let mut skip_header = dialect.header;
    let mut hand_over = |builders: &mut [Builder], first: usize| {
        let chunks: Vec<Chunk<'_>> = builders.iter().map(Builder::chunk).collect();
        visit(first, &chunks)?;
        builders.iter_mut().for_each(Builder::forget);
        Ok(())
    };
    while records.next(&mut record)? {
        if std::mem::take(&mut skip_header) {
            continue;
        }
        row += 1;
        for (builder, &j) in builders.iter_mut().zip(chosen) {
            let cell = record.get(j).unwrap_or_default();
            let refusal = match builder.push(cell) {
                Ok(()) => continue,
                Err(Refusal::Missing { .. }) if keep => {
                    builder.push_missing();
                    continue;
                }
                Err(refusal) => refusal,
            };
            let mut place = Place::new(path, &names[j], row - 1);
            place.line = Some(records.line());
            return Err(refusal.at(place, cell));
        }
        if row - first == CHUNK_ROWS {
            hand_over(&mut builders, first)?;
            first = row;
        }
    }
    if row == 0 {
        let what = "it has a header line and no rows".into();
        return Err(Error::Empty { file: path.into(), what });
    }
    if row > first {
        hand_over(&mut builders, first)?;
    }
    Ok(row)
}

/// One column in the making.
enum Builder {
    /// Before the first cell with a value: NaN for each row that has none.
    Start(Vec<f64>),
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
        if spelled { Self::Spelled(LevelBuilder::default()) } else { Self::Start(Vec::new()) }
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
        if let Self::Start(missing) = self {
            *self = match cell {
                Cell::Missing => return Err(Refusal::Missing { categorical: false }),
                Cell::Text(_) => {
                    let mut levels = LevelBuilder::default();
                    levels.push_missing(missing.len());
                    Self::Text(levels)
                }
                _ => Self::Numbers(std::mem::take(missing)),
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

    /// A row without a value.
    fn push_missing(&mut self) {
        match self {
            Self::Start(values) | Self::Numbers(values) => values.push(f64::NAN),
            Self::Text(levels) | Self::Spelled(levels) => levels.push_missing(1),
        }
    }

    fn chunk(&self) -> Chunk<'_> {
        match self {
            Self::Start(values) | Self::Numbers(values) => Chunk::Numbers(values),
            Self::Text(levels) => levels.chunk(true),
            Self::Spelled(levels) => levels.chunk(false),
        }
    }

    fn forget(&mut self) {
        match self {
            Self::Start(values) | Self::Numbers(values) => values.clear(),
            Self::Text(levels) | Self::Spelled(levels) => levels.forget(),
        }
    }
}

impl Refusal {
    fn at(self, place: Box<Place>, raw: &[u8]) -> Error {
        let value = cell::shown(raw);
        match self {
            Self::Missing { categorical } => {
                let mut remedy = "drop such rows (`austerity fit --missing drop`), impute the value, or leave the column out".to_owned();
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
