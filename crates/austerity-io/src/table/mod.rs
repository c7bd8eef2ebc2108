//! Files as typed columns.
//!
//! | file | read by |
//! |---|---|
//! | `open`, one table whatever it is made of | `source` |
//! | detection by content and extension | `recognise` |
//! | several files as one table: folders, patterns, lists | `parts` |
//! | pieces of a table that others can open by themselves | `piece` |
//! | rows without missing values | `kept` |
//! | whole columns on threads | `columns` |
//! | delimited text, gzip or not | `csv` |
//! | Parquet through its column reader, without Arrow | `parquet` |
//! | NumPy `.npy` | `npy` |
//! | tables of other libraries through Arrow's C interface | [`arrow`] |
//! | columns in memory, decoded when they are read | `held` |
//! | columns in pieces of some thousand rows | `scan` |
//! | columns computed from those of a table | `derived` |
//! | text as codes and labels | `levels` |
//! | asking for columns by name | `names` |
//!
//! [`open`] looks at the beginning of a file and tells its [`Schema`]; [`Source::read`] reads the columns asked
//! for and no others, [`Source::scan`] hands them over in pieces. Text columns become [`Column::Levels`], booleans the numbers 0 and 1, dates days and
//! times seconds. A missing value in a column that is read is an error, unless [`Source::without_missing`] drops its row: imputation is the user's decision.

pub mod arrow;
mod columns;
mod csv;
pub(crate) mod derived;
mod held;
mod kept;
pub(crate) mod levels;
pub(crate) mod names;
mod npy;
mod number;
mod parquet;
mod parts;
mod piece;
mod recognise;
mod scan;
mod source;

use std::collections::HashMap;
use std::path::PathBuf;

use crate::error::{Error, Result};

pub use held::{Held, Plain};
pub use names::nearest;
pub use piece::{FolderValue, PartSpec};
pub use scan::{CHUNK_ROWS, Chunk, Missing, Visit};
pub use source::{Dropped, OpenOptions, Source, open, open_all, open_with};

/// What a column holds, as far as the beginning of the file tells.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ColumnKind {
    /// Numbers.
    Number,
    /// True and false, read as 1 and 0.
    Boolean,
    /// Text, read as levels.
    Text,
    /// Something that cannot be read; says what.
    Unsupported(String),
}

/// Names and kinds of a file's columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Schema {
    /// Names, in the file's order.
    pub names: Vec<String>,
    /// Kinds; of text files the kind of the first row.
    pub kinds: Vec<ColumnKind>,
    /// Rows, when the file says so without being read.
    pub rows: Option<usize>,
    /// Sentences about what was assumed.
    pub notes: Vec<String>,
}

/// The values of one column.
#[derive(Clone, Debug, PartialEq)]
pub enum Column {
    /// Finite numbers.
    Numbers(Vec<f64>),
    /// Text: row i holds `labels[codes[i]]`; labels in the order of their first row.
    Levels {
        /// One code per row.
        codes: Vec<u32>,
        /// The different texts.
        labels: Vec<String>,
    },
}

impl Default for Column {
    /// No numbers.
    fn default() -> Self {
        Self::Numbers(Vec::new())
    }
}

impl Column {
    /// Rows.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chunk().len()
    }

    /// Whether there are no rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All rows as one piece.
    #[must_use]
    pub fn chunk(&self) -> Chunk<'_> {
        match self {
            Self::Numbers(values) => Chunk::Numbers(values),
            Self::Levels { codes, labels } => Chunk::Levels { codes, labels, truths: false },
        }
    }
}

/// Columns read from a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Where they came from, for messages.
    pub file: PathBuf,
    /// Names.
    pub names: Vec<String>,
    /// The columns, in the order of the names.
    pub columns: Vec<Column>,
    /// Rows of every column.
    pub rows: usize,
}

impl From<Vec<f64>> for Column {
    fn from(values: Vec<f64>) -> Self {
        Self::Numbers(values)
    }
}

impl<'a> FromIterator<&'a str> for Column {
    /// Text as codes and labels, in the order of their first row.
    fn from_iter<T: IntoIterator<Item = &'a str>>(texts: T) -> Self {
        let mut known: HashMap<&str, u32> = HashMap::new();
        let mut labels = Vec::new();
        let code = |text: &'a str| {
            *known.entry(text).or_insert_with(|| {
                labels.push(text.to_owned());
                (labels.len() - 1) as u32
            })
        };
        let codes = texts.into_iter().map(code).collect();
        Self::Levels { codes, labels }
    }
}

impl Table {
    /// Columns in memory, all of the same length; messages call them `name`.
    pub fn new<'a>(
        name: impl Into<PathBuf>,
        columns: impl IntoIterator<Item = (&'a str, Column)>,
    ) -> Result<Self> {
        let mut table = Self { file: name.into(), names: Vec::new(), columns: Vec::new(), rows: 0 };
        for (name, column) in columns {
            if table.columns.is_empty() {
                table.rows = column.len();
            } else if column.len() != table.rows {
                let problem = format!("has {} rows, but column `{name}` has {}", table.rows, column.len());
                return Err(Error::format(&table.file, problem, "give columns of the same length"));
            }
            table.names.push(name.into());
            table.columns.push(column);
        }
        Ok(table)
    }

    /// The column called `name`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.names.iter().position(|n| n == name).map(|j| &self.columns[j])
    }
}
