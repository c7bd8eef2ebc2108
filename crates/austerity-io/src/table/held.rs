//! Columns in memory: one's own, or those of another library, decoded when they are read.
//!
//! | kept as | read by |
//! |---|---|
//! | [`Column`] | as it is |
//! | [`Plain`], numbers as wide as they were given | widening them |
//! | batches of Arrow | [`super::arrow`] |
//!
//! Reading costs a piece of some thousand rows in double precision; nothing of the table is copied.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use super::arrow::ArrowColumn;
use super::levels::LevelBuilder;
use super::scan::{CHUNK_ROWS, Chunk, Missing, Nulls, Visit};
use super::{Column, ColumnKind};
use crate::error::{Error, Place, Result};

/// A column in memory.
#[derive(Clone, Debug)]
pub enum Held {
    /// Numbers, or levels.
    Ready(Column),
    /// Numbers as wide as they were given.
    Plain(Plain),
    /// A column of another library.
    Arrow(Arc<ArrowColumn>),
}

macro_rules! plain {
    ($($variant:ident($number:ty): $widen:expr;)*) => {
        /// Numbers as wide as they were given.
        #[derive(Clone, Debug)]
        pub enum Plain {
            $(#[doc = concat!("Of the type `", stringify!($number), "`.")] $variant(Vec<$number>),)*
        }

        impl Plain {
            fn len(&self) -> usize {
                match self {
                    $(Self::$variant(values) => values.len(),)*
                }
            }

            fn append(&self, rows: Range<usize>, out: &mut Vec<f64>) {
                match self {
                    $(Self::$variant(values) => out.extend(values[rows].iter().map($widen)),)*
                }
            }
        }

        $(impl From<Vec<$number>> for Held {
            fn from(values: Vec<$number>) -> Self {
                Self::Plain(Plain::$variant(values))
            }
        })*
    };
}

plain! {
    F32(f32): |&value| f64::from(value);
    I8(i8): |&value| f64::from(value);
    I16(i16): |&value| f64::from(value);
    I32(i32): |&value| f64::from(value);
    I64(i64): |&value| value as f64;
    U8(u8): |&value| f64::from(value);
    U16(u16): |&value| f64::from(value);
    U32(u32): |&value| f64::from(value);
    U64(u64): |&value| value as f64;
    Truth(bool): |&value| f64::from(u8::from(value));
}

impl From<Column> for Held {
    fn from(column: Column) -> Self {
        Self::Ready(column)
    }
}

/// What values become.
pub(super) enum Sink {
    Numbers(Vec<f64>),
    Text(LevelBuilder),
    /// Levels whose labels are known; `places` says which label each code has.
    Codes {
        codes: Vec<u32>,
        labels: Vec<String>,
        places: Vec<u32>,
    },
}

/// What is wrong with a value; rows count from 0.
pub(super) enum Trouble {
    Missing {
        row: usize,
        value: &'static str,
    },
    NotFinite {
        row: usize,
        value: f64,
    },
    NotUtf8 {
        row: usize,
        value: String,
    },
    /// Memory that contradicts itself.
    Broken(String),
}

impl Held {
    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Ready(column) => column.len(),
            Self::Plain(plain) => plain.len(),
            Self::Arrow(column) => column.len(),
        }
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What it holds.
    #[must_use]
    pub fn kind(&self) -> ColumnKind {
        match self {
            Self::Ready(Column::Levels { .. }) => ColumnKind::Text,
            Self::Arrow(column) if column.is_text() => ColumnKind::Text,
            Self::Plain(Plain::Truth(_)) => ColumnKind::Boolean,
            Self::Arrow(column) if column.is_truth() => ColumnKind::Boolean,
            _ => ColumnKind::Number,
        }
    }

    /// Refuses the first value that is missing or infinite; missing ones only where they are to be `Refuse`d.
    pub fn check(&self, file: &Path, name: &str, missing: Missing) -> Result<()> {
        if matches!(self, Self::Arrow(column) if !column.may_be_bad()) {
            return Ok(());
        }
        let nulls = if missing == Missing::Drop { Nulls::Keep } else { Nulls::Refuse };
        let mut reader = Reader::new(self, nulls);
        for first in (0..self.len()).step_by(CHUNK_ROWS) {
            reader.read((file, name), first..self.len().min(first + CHUNK_ROWS))?;
        }
        Ok(())
    }

    /// All rows: a missing number is NaN, a missing text has a code beyond the labels.
    pub fn decoded(&self, file: &Path, name: &str) -> Result<Column> {
        let mut reader = Reader::new(self, Nulls::Keep);
        reader.read((file, name), 0..self.len())?;
        Ok(reader.column())
    }
}

/// A column that is read from its first row to its last.
pub(super) struct Reader<'a> {
    held: &'a Held,
    sink: Sink,
    nulls: Nulls,
    rows: Range<usize>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(held: &'a Held, nulls: Nulls) -> Self {
        let sink = match held {
            Held::Ready(_) | Held::Plain(_) => Sink::Numbers(Vec::new()),
            Held::Arrow(column) => column.sink(),
        };
        Self { held, sink, nulls, rows: 0..0 }
    }

    /// Goes on to the next rows; what was read before is forgotten, except for the labels of text.
    pub(super) fn read(&mut self, (file, name): (&Path, &str), rows: Range<usize>) -> Result<()> {
        self.rows = rows.clone();
        match &mut self.sink {
            Sink::Numbers(values) => values.clear(),
            Sink::Text(levels) => levels.forget(),
            Sink::Codes { codes, .. } => codes.clear(),
        }
        match self.held {
            Held::Ready(_) => Ok(()),
            Held::Plain(plain) => match &mut self.sink {
                Sink::Numbers(out) => {
                    plain.append(rows.clone(), out);
                    Trouble::unless_all_finite(rows.start, out, self.nulls)
                }
                _ => Ok(()),
            },
            Held::Arrow(column) => column.read((rows, self.nulls), &mut self.sink),
        }
        .map_err(|trouble| trouble.told(file, name))
    }

    /// The rows read last, on their own.
    pub(super) fn column(self) -> Column {
        match (self.held, self.sink) {
            (Held::Ready(column), _) if self.rows.len() == column.len() => column.clone(),
            (_, Sink::Numbers(values)) => Column::Numbers(values),
            (_, Sink::Text(levels)) => levels.levels(),
            (_, Sink::Codes { codes, labels, .. }) => Column::Levels { codes, labels },
        }
    }

    /// The rows read last.
    pub(super) fn chunk(&self) -> Chunk<'_> {
        if let Held::Ready(column) = self.held {
            return match column {
                Column::Numbers(values) => Chunk::Numbers(&values[self.rows.clone()]),
                Column::Levels { codes, labels } => {
                    Chunk::Levels { codes: &codes[self.rows.clone()], labels, truths: false }
                }
            };
        }
        match &self.sink {
            Sink::Numbers(values) => Chunk::Numbers(values),
            Sink::Text(levels) => levels.chunk(false),
            Sink::Codes { codes, labels, .. } => Chunk::Levels { codes, labels, truths: false },
        }
    }
}

/// Hands the columns to `visit` piece by piece. All have as many rows as the first.
pub(super) fn scan(
    file: &Path,
    columns: &[(&str, &Held)],
    (rows, nulls): (usize, Nulls),
    visit: &mut Visit<'_>,
) -> Result<()> {
    let mut readers: Vec<Reader<'_>> = columns.iter().map(|(_, held)| Reader::new(held, nulls)).collect();
    for first in (0..rows).step_by(CHUNK_ROWS) {
        for (reader, (name, _)) in readers.iter_mut().zip(columns) {
            reader.read((file, name), first..rows.min(first + CHUNK_ROWS))?;
        }
        let chunks: Vec<Chunk<'_>> = readers.iter().map(Reader::chunk).collect();
        visit(first, &chunks)?;
    }
    Ok(())
}

impl Trouble {
    /// Refuses the first value that is infinite, or missing and not to be kept; `first` is the row of the first value.
    pub(super) fn unless_all_finite(
        first: usize,
        values: &[f64],
        nulls: Nulls,
    ) -> std::result::Result<(), Self> {
        // Without an early end the compiler looks at several at once.
        if values.iter().fold(true, |finite, value| finite & value.is_finite()) {
            return Ok(());
        }
        let bad = |value: &f64| !value.is_finite() && (nulls == Nulls::Refuse || !value.is_nan());
        match values.iter().position(bad) {
            None => Ok(()),
            Some(at) if values[at].is_nan() => Err(Self::Missing { row: first + at, value: "NaN" }),
            Some(at) => Err(Self::NotFinite { row: first + at, value: values[at] }),
        }
    }

    /// The same of rows that begin at `first`.
    pub(super) fn moved(self, first: usize) -> Self {
        match self {
            Self::Missing { row, value } => Self::Missing { row: first + row, value },
            Self::NotFinite { row, value } => Self::NotFinite { row: first + row, value },
            Self::NotUtf8 { row, value } => Self::NotUtf8 { row: first + row, value },
            Self::Broken(what) => Self::Broken(what),
        }
    }

    fn told(self, file: &Path, name: &str) -> Error {
        let place = |row| Place::new(file, name, row);
        match self {
            Self::Missing { row, value } => {
                let remedy = "drop such rows (`austerity fit --missing drop`), impute the value, or leave the column out".into();
                Error::MissingValue { place: place(row), value: value.into(), remedy }
            }
            Self::NotFinite { row, value } => {
                Error::NotFinite { place: place(row), value: value.to_string() }
            }
            Self::NotUtf8 { row, value } => Error::NotUtf8 { place: place(row), value },
            Self::Broken(what) => Error::format(
                file,
                format!("cannot be read from memory: column `{name}` has {what}"),
                "make the table anew, or save it as Parquet and give the path",
            ),
        }
    }
}
