//! The one error type of the crate: every variant names the file, where in it, the value, and a remedy.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::printable;

/// A cell of a file, as a person finds it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: PathBuf,
    /// Name of the column.
    pub column: String,
    /// Data row, from 1.
    pub row: usize,
    /// Line of the text, from 1, for text files.
    pub line: Option<u64>,
}

impl Place {
    /// A row counted from 0, of a file without lines.
    pub(crate) fn new(file: &Path, column: &str, row: usize) -> Box<Self> {
        Box::new(Self { file: file.into(), column: column.into(), row: row + 1, line: None })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`, column `{}`, row {}", self.file.display(), printable(&self.column), self.row)?;
        match self.line {
            Some(line) => write!(f, " (line {line})"),
            None => Ok(()),
        }
    }
}

/// What went wrong with a file, in words a user can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}; {}", file.display(), io_remedy(source))]
    Io {
        /// "open", "read", "write", …
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// Not a table of a known format, or a damaged one.
    #[error("`{}` {problem}; {remedy}", file.display())]
    Format {
        /// The file.
        file: PathBuf,
        /// What is wrong with it, as the rest of a sentence.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A file without rows.
    #[error("`{}` is empty: {what}; at least one row of data is needed", file.display())]
    Empty {
        /// The file.
        file: PathBuf,
        /// What is there instead.
        what: String,
    },
    /// A line with more or fewer cells than the first.
    #[error(
        "`{}`, line {line}: {found} cells where the first line has {expected}; mend the line (a delimiter in a text that is not quoted, or decimal commas?)",
        file.display()
    )]
    Ragged {
        /// The file.
        file: PathBuf,
        /// Line of the text on which the record starts, from 1.
        line: u64,
        /// Cells in it.
        found: usize,
        /// Cells in the first record.
        expected: usize,
    },
    /// A cell without a value.
    #[error("{place}: the value is missing ({}); {remedy}", spelled(value))]
    MissingValue {
        /// Where.
        place: Box<Place>,
        /// How the file writes it.
        value: String,
        /// What to do.
        remedy: String,
    },
    /// An infinite number, or one too large for a double.
    #[error("{place}: `{value}` is not a finite number; drop the row or impute the value")]
    NotFinite {
        /// Where.
        place: Box<Place>,
        /// The cell.
        value: String,
    },
    /// A column that holds numbers and text.
    #[error(
        "{place}: `{value}` {problem}; mend the cell, leave the column out, or name it as categorical if it is a feature"
    )]
    MixedColumn {
        /// The first cell that differs from those before it.
        place: Box<Place>,
        /// That cell.
        value: String,
        /// "is text, but the rows before hold numbers", or the reverse.
        problem: &'static str,
    },
    /// A number written with a comma.
    #[error(
        "{place}: `{value}` looks like a number with a decimal or thousands comma; write it with a decimal point, or name the column as categorical"
    )]
    DecimalComma {
        /// Where.
        place: Box<Place>,
        /// The cell.
        value: String,
    },
    /// Text that is not UTF-8.
    #[error("{place}: the text `{value}` is not UTF-8; save the file as UTF-8")]
    NotUtf8 {
        /// Where.
        place: Box<Place>,
        /// The text with marks for the bad bytes.
        value: String,
    },
    /// A column that is asked for but not there.
    #[error(
        "`{}` has no column `{column}`{}; its columns: {available}",
        file.display(),
        suggestion.as_ref().map(|s| format!(", did you mean `{s}`?")).unwrap_or_default()
    )]
    UnknownColumn {
        /// The file.
        file: PathBuf,
        /// The name asked for.
        column: String,
        /// The nearest name that exists, if one is near.
        suggestion: Option<String>,
        /// Some of the names that exist.
        available: String,
    },
    /// A name that two columns share.
    #[error("`{}`: columns {first} and {second} are both called `{column}`; rename one", file.display())]
    DuplicateName {
        /// The file.
        file: PathBuf,
        /// The shared name.
        column: String,
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second, from 1.
        second: usize,
    },
    /// A column of a type that is neither number nor text.
    #[error("`{}`, column `{column}` holds {found}; {remedy}", file.display())]
    UnsupportedColumn {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// What it holds.
        found: String,
        /// What to do.
        remedy: String,
    },
    /// A column in a role that it cannot play.
    #[error("`{}`, column `{column}`: {problem}; {remedy}", file.display())]
    Role {
        /// The file.
        file: PathBuf,
        /// The column.
        column: String,
        /// What is wrong.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A value that a column's role does not allow.
    #[error("{place}: {problem}; {remedy}")]
    Value {
        /// Where.
        place: Box<Place>,
        /// What is wrong; names the value.
        problem: String,
        /// What to do.
        remedy: String,
    },
    /// A formula that cannot be used with the data.
    #[error("`{}`: {source}", file.display())]
    Formula {
        /// The file.
        file: PathBuf,
        /// What is wrong, and where.
        source: Box<austerity_formula::Error>,
    },
    /// The data do not pass the checks of the library.
    #[error("`{}`: {source}", file.display())]
    Data {
        /// The file.
        file: PathBuf,
        /// What the library said, its rows counted from 1.
        source: austerity::Error,
    },
    /// Draws could not be written.
    #[error(
        "cannot write `{}`: {source}; the first {safe} draws of every chain are safe: {}, then resume the run",
        file.display(),
        io_remedy(source)
    )]
    DrawsNotWritten {
        /// The file.
        file: PathBuf,
        /// Draws of every chain that are on disk.
        safe: u64,
        /// What the system said.
        source: std::io::Error,
    },
    /// A run cannot go on from a point that its draws on disk do not reach.
    #[error(
        "`{}` {problem}: of chain {chain} {have} draws are intact where {want} are needed; resume from an older checkpoint or run anew",
        file.display()
    )]
    DrawsMissing {
        /// The first file with a gap.
        file: PathBuf,
        /// Number of the chain.
        chain: u64,
        /// Draws from the first that are intact.
        have: u64,
        /// Draws that are needed.
        want: u64,
        /// What is wrong with the file, as the rest of a sentence.
        problem: String,
    },
    /// Stored draws cannot be read.
    #[error(
        "`{}` {problem}: draws {first} to {last} of chain {chain} are lost; fetch the file again, or resume the run from an older checkpoint",
        file.display()
    )]
    DrawsDamaged {
        /// The file.
        file: PathBuf,
        /// Number of the chain.
        chain: u64,
        /// First draw lost, from 1.
        first: u64,
        /// Last draw lost, from 1.
        last: u64,
        /// What is wrong with the file, as the rest of a sentence.
        problem: String,
    },
    /// Stored draws are of another kind than the run that wants to add to them.
    #[error("`{}` was written with another {what}: {stored} there, {found} here; resume with the same or write to a new folder", file.display())]
    DrawsDiffer {
        /// The store.
        file: PathBuf,
        /// What differs.
        what: String,
        /// What the store has.
        stored: String,
        /// What the run has.
        found: String,
    },
    /// Another process works on the run.
    #[error(
        "`{}` is in use by {}; wait for it, stop it, or write to another folder",
        file.display(),
        process.map_or_else(|| "another process".into(), |id| format!("process {id}"))
    )]
    Locked {
        /// The file of the lock.
        file: PathBuf,
        /// The process that holds it, if known.
        process: Option<u32>,
    },
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Shorthand for [`Error::Io`], to be used in `map_err`.
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, file: file.into(), source }
    }

    /// What the library says of the data of `file`, with rows counted from 1, to be used in `map_err`.
    pub(crate) fn data(file: &Path) -> impl FnOnce(austerity::Error) -> Self {
        use austerity::Error::{NotFinite, OutOfRange};
        move |mut source| {
            if let NotFinite { row, .. } | OutOfRange { row, .. } = &mut source {
                *row += 1;
            }
            Self::Data { file: file.into(), source }
        }
    }

    /// The column that the error is about, where it is about one.
    #[must_use]
    pub fn column(&self) -> Option<&str> {
        match self {
            Self::MissingValue { place, .. }
            | Self::NotFinite { place, .. }
            | Self::MixedColumn { place, .. }
            | Self::DecimalComma { place, .. }
            | Self::NotUtf8 { place, .. }
            | Self::Value { place, .. } => Some(&place.column),
            Self::UnknownColumn { column, .. }
            | Self::DuplicateName { column, .. }
            | Self::UnsupportedColumn { column, .. }
            | Self::Role { column, .. } => Some(column),
            _ => None,
        }
    }

    /// What to do about a missing value where nothing is fitted, so that no option drops rows.
    #[must_use]
    pub fn of_new_rows(mut self) -> Self {
        if let Self::MissingValue { remedy, .. } = &mut self {
            *remedy = "remove the row, or fill in the value".into();
        }
        self
    }

    /// The library knows the response by its role: here it gets the name it has in the file.
    pub(crate) fn naming_response(mut self, response: &str) -> Self {
        use austerity::Error::{NotFinite, OutOfRange};
        if let Self::Data { source, .. } = &mut self {
            match source {
                NotFinite { column, .. } if column == "response" => *column = response.into(),
                OutOfRange { what, .. } if what == "column `response`" => {
                    *what = format!("column `{response}`");
                }
                _ => {}
            }
        }
        self
    }

    /// The file and the row (from 1) that the error names, where the file is `named`.
    pub(crate) fn row_of(&mut self, named: &Path) -> Option<(&mut PathBuf, &mut usize)> {
        use austerity::Error::{NotFinite, OutOfRange};
        let (file, row) = match self {
            Self::MissingValue { place, .. }
            | Self::NotFinite { place, .. }
            | Self::MixedColumn { place, .. }
            | Self::DecimalComma { place, .. }
            | Self::NotUtf8 { place, .. }
            | Self::Value { place, .. } => (&mut place.file, &mut place.row),
            Self::Data { file, source: NotFinite { row, .. } | OutOfRange { row, .. } } => (file, row),
            _ => return None,
        };
        (file == named).then_some((file, row))
    }

    /// Shorthand for [`Error::Format`].
    pub(crate) fn format(file: &Path, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Self::Format { file: file.into(), problem: problem.into(), remedy: remedy.into() }
    }
}

fn io_remedy(source: &std::io::Error) -> &'static str {
    use std::io::ErrorKind;
    match source.kind() {
        ErrorKind::NotFound => "check the path",
        ErrorKind::PermissionDenied => "check the permissions",
        ErrorKind::IsADirectory => "give a file, not a directory",
        ErrorKind::StorageFull => "free some space or write elsewhere",
        ErrorKind::UnexpectedEof | ErrorKind::InvalidData => {
            "the file looks truncated or damaged: fetch or write it again"
        }
        _ => "check that the file can be used",
    }
}

fn spelled(value: &str) -> String {
    if value.is_empty() { "an empty cell".into() } else { format!("`{value}`") }
}
