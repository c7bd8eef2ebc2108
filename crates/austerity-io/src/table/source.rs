//! A table that was recognised and can be read, whatever it is made of.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::columns;
use super::held::{self, Held, Reader};
use super::kept::Kept;
use super::levels::truths;
use super::parts::Parts;
use super::recognise::{Recognised, recognise};
use super::scan::{Chunk, Nulls, Visit};
use super::{Column, ColumnKind, Schema, Table, csv, names, npy, parquet};
use crate::error::{Error, Result};
use crate::table::derived::{Cells, Compute, Derived};
use crate::text::printable;
use csv::Dialect;

/// What a user may say instead of having it detected.
#[derive(Clone, Debug, Default)]
pub struct OpenOptions {
    /// Whether the first line holds the names; detected when `None`.
    pub header: Option<bool>,
    /// The byte between cells; detected among tab, semicolon, bar and comma when `None`.
    pub delimiter: Option<u8>,
    /// Threads that decode Parquet; one per core when `None`.
    pub threads: Option<usize>,
}

/// Rows that were left out because a value was missing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dropped {
    /// Rows left out.
    pub rows: usize,
    /// Rows in all.
    pub of: usize,
    /// Columns with missing values, and how many they miss.
    pub columns: Vec<(String, usize)>,
}

impl Dropped {
    /// The columns and their counts in words.
    fn list(&self) -> String {
        let one = |(name, count): &(String, usize)| format!("{} in `{}`", count, printable(name));
        self.columns.iter().map(one).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Display for Dropped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows {
            0 => write!(f, "no value is missing in the columns used: all {} rows stay", self.of),
            rows => write!(
                f,
                "{rows} of {} rows were dropped because a value is missing: {}",
                self.of,
                self.list()
            ),
        }
    }
}

/// A table that was recognised and can be read.
#[derive(Clone, Debug)]
pub struct Source {
    pub(super) path: PathBuf,
    pub(super) kind: Kind,
    pub(super) schema: Schema,
    pub(super) threads: usize,
    /// Columns whose labels are in an order that means something.
    ordered: Vec<String>,
    /// The rows that are handed over; all when `None`.
    kept: Option<Arc<Kept>>,
}

#[derive(Clone, Debug)]
pub(super) enum Kind {
    Csv(Dialect),
    Parquet(Arc<parquet::Footer>),
    Npy(npy::Layout),
    Memory(Arc<Vec<Held>>),
    Parts(Arc<Parts>),
    Derived(Arc<Derived>),
}

/// Recognises what a name stands for and reads its schema: a file, a folder of files, or a pattern such as `parts/*.parquet`.
pub fn open(path: impl AsRef<Path>) -> Result<Source> {
    open_with(path, &OpenOptions::default())
}

/// Like [`open`], with what the user knows.
pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Source> {
    open_all(&[path.as_ref().to_path_buf()], options)
}

/// Opens files, folders and patterns as one table: the rows of the first, then those of the next, and so on.
pub fn open_all(paths: &[PathBuf], options: &OpenOptions) -> Result<Source> {
    let found = super::parts::find(paths)?;
    if let ([path], [one]) = (paths, &found[..])
        && one.path == *path
    {
        return open_file(path, options);
    }
    let Some(first) = paths.first() else {
        return Err(Error::format(Path::new(""), "names no file", "give at least one"));
    };
    let (parts, schema) = Parts::open(found, options)?;
    Ok(Source::new(first, Kind::Parts(Arc::new(parts)), schema, options.threads()))
}

/// Recognises one file.
pub(super) fn open_file(path: &Path, options: &OpenOptions) -> Result<Source> {
    let (kind, schema) = match recognise(path)? {
        Recognised::Parquet => {
            let (footer, schema) = parquet::schema(path)?;
            (Kind::Parquet(Arc::new(footer)), schema)
        }
        Recognised::Npy => {
            let (layout, schema) = npy::layout(path)?;
            (Kind::Npy(layout), schema)
        }
        Recognised::Text { gzip } => {
            let (dialect, schema) = csv::inspect(path, gzip, options)?;
            (Kind::Csv(dialect), schema)
        }
    };
    Ok(Source::new(path, kind, schema, options.threads()))
}

impl OpenOptions {
    fn threads(&self) -> usize {
        let cores = || std::thread::available_parallelism().map_or(1, usize::from);
        self.threads.unwrap_or_else(cores).max(1)
    }
}

impl Source {
    pub(super) fn new(path: &Path, kind: Kind, schema: Schema, threads: usize) -> Self {
        Self { path: path.into(), kind, schema, threads, ordered: Vec::new(), kept: None }
    }

    /// The file; of several what stands for the first.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Names, kinds, and rows if known.
    #[must_use]
    pub fn schema(&self) -> &Schema {
        &self.schema
    }

    /// Reads the named columns, in the order of the names; all columns without names.
    pub fn read(&self, columns: Option<&[String]>) -> Result<Table> {
        self.read_with(columns, &[])
    }

    /// Like [`Source::read`]; the columns in `as_text` of a text file become levels as they are spelled, even
    /// when they look like numbers or say `NA`.
    pub fn read_with(&self, columns: Option<&[String]>, as_text: &[String]) -> Result<Table> {
        let names = match columns {
            Some(names) => names.to_vec(),
            None => self.schema.names.clone(),
        };
        let mut columns: Vec<Option<Column>> = vec![None; names.len()];
        if self.has_whole_columns() {
            self.each_column(
                &names,
                self.threads,
                &|_, column| Ok(std::mem::take(column)),
                &mut |position, column| {
                    columns[position] = Some(column);
                    Ok(())
                },
            )?;
        } else {
            let mut truths_allowed = vec![false; names.len()];
            self.scan(&names, as_text, &mut |_, chunks| {
                for ((column, allowed), chunk) in columns.iter_mut().zip(&mut truths_allowed).zip(chunks) {
                    *allowed = append(column, chunk);
                }
                Ok(())
            })?;
            for (column, allowed) in columns.iter_mut().zip(truths_allowed) {
                if let (true, Some(Column::Levels { codes, labels })) = (allowed, &column)
                    && let Some(truths) = truths(labels)
                {
                    let numbers = codes.iter().map(|&code| truths[code as usize]).collect();
                    *column = Some(Column::Numbers(numbers));
                }
            }
        }
        let columns: Vec<Column> =
            columns.into_iter().map(|c| c.unwrap_or(Column::Numbers(Vec::new()))).collect();
        let rows = columns.first().map_or(self.schema.rows.unwrap_or(0), Column::len);
        self.check_rows(rows)?;
        Ok(Table { file: self.path.clone(), names, columns, rows })
    }

    /// Hands the named columns to `visit` in pieces of some thousand rows, in the order of the names; `as_text` as in
    /// [`Source::read_with`]. Returns the number of rows.
    pub fn scan(&self, columns: &[String], as_text: &[String], visit: &mut Visit<'_>) -> Result<usize> {
        let chosen = names::resolve(&self.path, &self.schema.names, Some(columns))?;
        let rows = match &self.kept {
            None => self.scan_all(&chosen, (as_text, Nulls::Refuse), visit)?,
            Some(kept) => kept.scan(chosen.len(), visit, &mut |visit| {
                self.scan_all(&chosen, (as_text, Nulls::Keep), visit)
            })?,
        };
        self.check_rows(rows)?;
        Ok(rows)
    }

    /// Whether whole columns are read from files that store them, on threads.
    fn has_whole_columns(&self) -> bool {
        match &self.kind {
            Kind::Parquet(_) => true,
            Kind::Derived(derived) => derived.source.has_whole_columns(),
            Kind::Parts(parts) => parts.is_columnar(),
            _ => false,
        }
    }

    /// All rows of the columns at the `chosen` positions, also those that are not kept.
    pub(super) fn scan_all(
        &self,
        chosen: &[usize],
        (as_text, nulls): (&[String], Nulls),
        visit: &mut Visit<'_>,
    ) -> Result<usize> {
        let (path, names) = (&self.path, &self.schema.names);
        match &self.kind {
            Kind::Csv(dialect) => csv::scan(path, dialect, names, chosen, (as_text, nulls), visit),
            Kind::Parquet(footer) => parquet::scan(path, (footer, &self.schema), (chosen, nulls), visit),
            Kind::Npy(layout) => npy::scan(path, layout, names, (chosen, nulls), visit),
            Kind::Parts(parts) => parts.scan(chosen, (as_text, nulls), visit),
            Kind::Derived(derived) => derived.scan(chosen, as_text, visit),
            Kind::Memory(columns) => {
                let rows = columns.first().map_or(0, Held::len);
                let chosen: Vec<(&str, &Held)> =
                    chosen.iter().map(|&j| (names[j].as_str(), &columns[j])).collect();
                held::scan(path, &chosen, (rows, nulls), visit)?;
                Ok(rows)
            }
        }
    }

    /// Whether whole columns can be had one by one as cheaply as rows.
    pub(crate) fn is_columnar(&self) -> bool {
        match &self.kind {
            Kind::Parquet(_) => true,
            Kind::Memory(columns) => columns.iter().all(|column| matches!(column, Held::Ready(_))),
            Kind::Npy(layout) => npy::is_columnar(layout),
            Kind::Parts(parts) => parts.is_columnar(),
            Kind::Derived(derived) => derived.source.is_columnar(),
            _ => false,
        }
    }

    /// Whether it is a text file, whose columns have no kind but that of their cells.
    pub(super) fn is_text(&self) -> bool {
        matches!(self.kind, Kind::Csv(_))
    }

    /// Threads that decode.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Hands whole columns, passed through `work` on some thread, to `take` with their place among the names.
    pub(crate) fn each_column<T: Send>(
        &self,
        columns: &[String],
        threads: usize,
        work: &(dyn Fn(usize, &mut Column) -> Result<T> + Sync),
        take: &mut dyn FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let chosen = names::resolve(&self.path, &self.schema.names, Some(columns))?;
        if let Kind::Derived(derived) = &self.kind {
            return derived.each(&chosen, threads, work, take);
        }
        // Whichever thread comes first, the first such column is named.
        parquet::check_kinds(&self.path, &self.schema, &chosen)?;
        let read = |position: usize, spare: Column| match &self.kept {
            None => self.column((chosen[position], Nulls::Refuse), spare),
            Some(kept) => Ok(kept.column(self.column((chosen[position], Nulls::Keep), spare)?)),
        };
        columns::each((chosen.len(), threads), &read, work, take)
    }

    /// All rows of one column, in the memory of `spare` where that helps.
    pub(super) fn column(&self, (j, nulls): (usize, Nulls), spare: Column) -> Result<Column> {
        match &self.kind {
            Kind::Parquet(footer) => parquet::column(&self.path, (footer, &self.schema), (j, nulls), spare),
            Kind::Memory(columns) => {
                let mut reader = Reader::new(&columns[j], nulls);
                reader.read((&self.path, &self.schema.names[j]), 0..columns[j].len())?;
                Ok(reader.column())
            }
            Kind::Parts(parts) => parts.column((j, nulls), spare),
            _ => {
                let mut column = None;
                self.scan_all(&[j], (&[], nulls), &mut |_, chunks| {
                    append(&mut column, &chunks[0]);
                    Ok(())
                })?;
                Ok(column.unwrap_or_default())
            }
        }
    }

    /// This table without the rows in which one of the named columns has no value, and how many values are missing in each; `as_text` as in
    /// [`Source::read_with`]. Reads these columns once. The rows that stay are numbered anew: they are stored as they would be if the others had never been there.
    pub fn without_missing(&self, columns: &[String], as_text: &[String]) -> Result<(Self, Dropped)> {
        let chosen = names::resolve(&self.path, &self.schema.names, Some(columns))?;
        let mut kept = Kept::default();
        let mut counts = vec![0; columns.len()];
        self.scan_all(&chosen, (as_text, Nulls::Keep), &mut |_, chunks| {
            kept.push(chunks, &mut counts);
            Ok(())
        })?;
        let dropped = Dropped {
            rows: kept.dropped(),
            of: kept.rows(),
            columns: columns.iter().cloned().zip(counts).filter(|&(_, count)| count > 0).collect(),
        };
        if dropped.rows == dropped.of {
            let what =
                format!("every one of its {} rows has a missing value ({})", dropped.of, dropped.list());
            return Err(Error::Empty { file: self.path.clone(), what });
        }
        let mut source = self.clone();
        if dropped.rows > 0 {
            source.schema.rows = Some(dropped.of - dropped.rows);
            source.kept = Some(Arc::new(kept));
        }
        Ok((source, dropped))
    }

    /// The numbers, from 0, that rows of this table had before rows with missing values were dropped; `rows` in ascending order.
    #[must_use]
    pub fn rows_before_dropping(&self, rows: &[usize]) -> Vec<usize> {
        self.kept.as_ref().map_or_else(|| rows.to_vec(), |kept| kept.all_given(rows))
    }

    /// The error with the file and the row that the user knows, where it names a row of this table: the rows of several files are counted
    /// through, and rows may have been dropped.
    pub(crate) fn located(&self, mut error: Error) -> Error {
        if let Kind::Derived(derived) = &self.kind {
            return derived.source.located(error);
        }
        if let Some((file, row)) = error.row_of(&self.path) {
            let mut given = *row - 1;
            if let Some(kept) = &self.kept {
                given = kept.given(given);
            }
            *row = given + 1;
            if let Kind::Parts(parts) = &self.kind {
                let (path, first) = parts.part_of(given);
                *row = given + 1 - first;
                *file = path.into();
            }
        }
        error
    }

    /// Columns in memory as a source.
    #[must_use]
    pub fn of_table(table: Table) -> Self {
        Self::of_held(table.file, table.names.into_iter().zip(table.columns.into_iter().map(Held::Ready)))
    }

    /// The same, of columns that are decoded when they are read. All have as many rows as the first; messages call the table `file`.
    #[must_use]
    pub fn of_held(file: impl AsRef<Path>, columns: impl IntoIterator<Item = (String, Held)>) -> Self {
        let (names, columns): (Vec<String>, Vec<Held>) = columns.into_iter().unzip();
        let kinds = columns.iter().map(Held::kind).collect();
        let rows = columns.first().map_or(0, Held::len);
        let schema = Schema { names, kinds, rows: Some(rows), notes: Vec::new() };
        Self::new(file.as_ref(), Kind::Memory(Arc::new(columns)), schema, 1)
    }

    /// Says of which columns in memory the labels are in an order that means something: the first level is then the reference,
    /// and the last of a two-valued response is the success. `notes` are added to those of the schema.
    #[must_use]
    pub fn with_order(mut self, columns: Vec<String>, notes: Vec<String>) -> Self {
        self.ordered = columns;
        self.schema.notes.extend(notes);
        self
    }

    /// Whether the labels of a column are in an order that means something.
    pub(crate) fn has_order(&self, column: &str) -> bool {
        match (&self.kind, self.place(column)) {
            (Kind::Derived(derived), Some(place)) => {
                derived.compute.ordered_like(place).is_some_and(|name| derived.source.has_order(name))
            }
            _ => self.ordered.iter().any(|name| name == column),
        }
    }

    /// Columns computed from those of this table.
    pub(crate) fn derived(&self, columns: Vec<(String, ColumnKind)>, compute: Arc<dyn Compute>) -> Self {
        let (names, kinds) = columns.into_iter().unzip();
        let schema = Schema { names, kinds, rows: self.schema.rows, notes: self.schema.notes.clone() };
        let kind = Kind::Derived(Arc::new(Derived { source: self.clone(), compute }));
        Self::new(&self.path, kind, schema, self.threads)
    }

    /// What the levels of a computed column stand for.
    pub(crate) fn cells(&self, column: &str) -> Option<Cells<'_>> {
        match (&self.kind, self.place(column)) {
            (Kind::Derived(derived), Some(place)) => derived.compute.cells(place),
            _ => None,
        }
    }

    /// Whether a computed column has slopes, so that the table is had in pieces only.
    pub(crate) fn has_slopes(&self) -> bool {
        match &self.kind {
            Kind::Derived(derived) => (0..self.schema.names.len())
                .any(|place| derived.compute.cells(place).is_some_and(|cells| cells.slopes)),
            _ => false,
        }
    }

    fn place(&self, column: &str) -> Option<usize> {
        self.schema.names.iter().position(|name| name == column)
    }

    /// Adds to the notes of the schema.
    pub(crate) fn note(&mut self, notes: Vec<String>) {
        self.schema.notes.extend(notes);
    }

    fn check_rows(&self, rows: usize) -> Result<()> {
        if rows > 0 {
            return Ok(());
        }
        let what = format!("it has {} columns and no rows", self.schema.names.len());
        Err(Error::Empty { file: self.path.clone(), what })
    }
}

impl From<Table> for Source {
    fn from(table: Table) -> Self {
        Self::of_table(table)
    }
}

/// Appends a piece to a column; returns whether `true` and `false` may stand for numbers.
fn append(column: &mut Option<Column>, chunk: &Chunk<'_>) -> bool {
    match (column, chunk) {
        (Some(Column::Numbers(all)), Chunk::Numbers(values)) => all.extend_from_slice(values),
        (Some(Column::Levels { codes: all, labels: known }), Chunk::Levels { codes, labels, .. }) => {
            all.extend_from_slice(codes);
            known.extend_from_slice(&labels[known.len()..]);
        }
        (column, Chunk::Numbers(values)) => *column = Some(Column::Numbers(values.to_vec())),
        (column, Chunk::Levels { codes, labels, .. }) => {
            *column = Some(Column::Levels { codes: codes.to_vec(), labels: labels.to_vec() });
        }
        // Nobody reads them as a column.
        (_, Chunk::Slopes { .. }) => {}
    }
    matches!(chunk, Chunk::Levels { truths: true, .. })
}
