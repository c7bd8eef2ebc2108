//! Pieces of a table that anyone who sees its files can open alone: a file, or some groups of rows of a Parquet file.
//!
//! A table larger than memory is read piece by piece, by threads or by other processes. A piece is named by its file, so nothing of its rows travels. Text and NumPy files are one piece each.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::parts::Parts;
use super::source::{Kind, OpenOptions, Source, open_file};
use crate::error::{Error, Result};

/// What a folder says of the rows below it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderValue {
    /// The column.
    pub name: String,
    /// Its value.
    pub value: String,
    /// Whether the column holds numbers.
    pub number: bool,
}

/// A piece of a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSpec {
    /// The file.
    pub path: PathBuf,
    /// What its folders say.
    pub folders: Vec<FolderValue>,
    /// Groups of rows of a Parquet file; the whole file where there are none.
    pub groups: Option<Range<usize>>,
    /// Rows of the file before the piece.
    pub before: usize,
    /// Rows, where the file says so without being read.
    pub rows: Option<usize>,
}

impl PartSpec {
    /// Opens the piece.
    pub fn open(&self) -> Result<Source> {
        let file = open_file(&self.path, &OpenOptions { threads: Some(1), ..OpenOptions::default() })?;
        let source = match (&self.groups, &file.kind) {
            (None, _) => file,
            (Some(groups), Kind::Parquet(footer)) => {
                let limited = footer.limited(groups.clone()).filter(|(_, before)| *before == self.before);
                let Some((footer, _)) = limited else { return Err(changed(&self.path)) };
                let mut schema = file.schema.clone();
                schema.rows = Some(footer.rows(&self.path)?);
                Source::new(&self.path, Kind::Parquet(Arc::new(footer)), schema, 1)
            }
            (Some(_), _) => return Err(changed(&self.path)),
        };
        if let (Some(known), Some(rows)) = (self.rows, source.schema.rows)
            && known != rows
        {
            return Err(changed(&self.path));
        }
        if self.folders.is_empty() {
            return Ok(source);
        }
        let (parts, schema) = Parts::one(source, &self.folders);
        Ok(Source::new(&self.path, Kind::Parts(Arc::new(parts)), schema, 1))
    }

    /// An error that names a row of the piece, with the row of the file.
    #[must_use]
    pub fn located(&self, mut error: Error) -> Error {
        if let Some((_, row)) = error.row_of(&self.path) {
            *row += self.before;
        }
        error
    }
}

fn changed(path: &Path) -> Error {
    Error::format(path, "changed since it was first read", "begin again when nobody writes to it")
}

impl Source {
    /// Pieces of `rows` rows or a few more each, in the order of the table's rows; none of tables that are not files.
    #[must_use]
    pub fn pieces(&self, rows: usize) -> Option<Vec<PartSpec>> {
        let whole = |source: &Self, folders: Vec<FolderValue>| PartSpec {
            path: source.path.clone(),
            folders,
            groups: None,
            before: 0,
            rows: source.schema.rows,
        };
        let of_file = |source: &Self, folders: Vec<FolderValue>| match &source.kind {
            Kind::Parquet(footer) => {
                let piece = |groups: Range<usize>| PartSpec {
                    path: source.path.clone(),
                    folders: folders.clone(),
                    before: footer.rows_of(0..groups.start),
                    rows: Some(footer.rows_of(groups.clone())),
                    groups: Some(groups),
                };
                footer.pieces(rows).into_iter().map(piece).collect()
            }
            _ => vec![whole(source, folders)],
        };
        match &self.kind {
            Kind::Csv(_) | Kind::Npy(_) | Kind::Parquet(_) => Some(of_file(self, Vec::new())),
            Kind::Parts(parts) => {
                let files = parts.files(&self.schema.names).into_iter();
                Some(files.flat_map(|(source, folders)| of_file(source, folders)).collect())
            }
            Kind::Memory(_) | Kind::Derived(_) => None,
        }
    }
}
