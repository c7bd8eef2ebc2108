//! Opening a file: what it is, by its first bytes and then by its extension.
//!
//! | first bytes | taken as |
//! |---|---|
//! | `PAR1` | Parquet |
//! | `\x93NUMPY` | NumPy `.npy` |
//! | gzip | delimited text, compressed |
//! | anything else that is text | delimited text; the extension `.tsv` says tab |
//!
//! A file that contradicts its extension (`.parquet` without the mark) is an error, not a guess.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::table::csv::{self, Dialect};
use crate::table::derived::{Cells, Compute, Derived};
use crate::table::levels::truths;
use crate::table::scan::{Chunk, Visit};
use crate::table::{Column, ColumnKind, Schema, Table, names, npy, parquet};

/// First bytes looked at.
const MAGIC: usize = 8;

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

/// A file that was recognised and can be read.
#[derive(Clone, Debug)]
pub struct Source {
    path: PathBuf,
    kind: Kind,
    schema: Schema,
    threads: usize,
    /// Columns whose labels are in an order that means something.
    ordered: Vec<String>,
}

#[derive(Clone, Debug)]
enum Kind {
    Csv(Dialect),
    Parquet,
    Npy(npy::Layout),
    Memory(Arc<Table>),
    Derived(Arc<Derived>),
}

/// Recognises a file and reads its schema.
pub fn open(path: impl AsRef<Path>) -> Result<Source> {
    open_with(path, &OpenOptions::default())
}

/// Like [`open`], with what the user knows.
pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Source> {
    let path = path.as_ref();
    let (kind, schema) = match recognise(path)? {
        Recognised::Parquet => (Kind::Parquet, parquet::schema(path)?),
        Recognised::Npy => {
            let (layout, schema) = npy::layout(path)?;
            (Kind::Npy(layout), schema)
        }
        Recognised::Text { gzip } => {
            let (dialect, schema) = csv::inspect(path, gzip, options)?;
            (Kind::Csv(dialect), schema)
        }
    };
    let cores = || std::thread::available_parallelism().map_or(1, usize::from);
    let threads = options.threads.unwrap_or_else(cores).max(1);
    Ok(Source { path: path.into(), kind, schema, threads, ordered: Vec::new() })
}

impl Source {
    /// The file.
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
        if self.is_parquet() {
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
        let names = &self.schema.names;
        let rows = match &self.kind {
            Kind::Csv(dialect) => csv::scan(&self.path, dialect, names, &chosen, as_text, visit)?,
            Kind::Parquet => parquet::scan(&self.path, &self.schema, &chosen, visit)?,
            Kind::Npy(layout) => npy::scan(&self.path, layout, names, &chosen, visit)?,
            Kind::Memory(table) => {
                let chunks: Vec<Chunk<'_>> = chosen.iter().map(|&j| table.columns[j].chunk()).collect();
                visit(0, &chunks)?;
                table.rows
            }
            Kind::Derived(derived) => derived.scan(&chosen, as_text, visit)?,
        };
        self.check_rows(rows)?;
        Ok(rows)
    }

    /// Whether the columns come from a Parquet file, which decodes them on threads.
    fn is_parquet(&self) -> bool {
        match &self.kind {
            Kind::Parquet => true,
            Kind::Derived(derived) => derived.source.is_parquet(),
            Kind::Csv(_) | Kind::Npy(_) | Kind::Memory(_) => false,
        }
    }

    /// Whether whole columns can be had one by one as cheaply as rows.
    pub(crate) fn is_columnar(&self) -> bool {
        match &self.kind {
            Kind::Csv(_) => false,
            Kind::Parquet | Kind::Memory(_) => true,
            Kind::Npy(layout) => npy::is_columnar(layout),
            Kind::Derived(derived) => derived.source.is_columnar(),
        }
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
        match &self.kind {
            Kind::Parquet => parquet::each(&self.path, &self.schema, (&chosen, threads), work, take),
            Kind::Memory(table) => chosen.iter().enumerate().try_for_each(|(position, &j)| {
                take(position, work(position, &mut table.columns[j].clone())?)
            }),
            Kind::Derived(derived) => derived.each(&chosen, threads, work, take),
            Kind::Csv(_) | Kind::Npy(_) => columns.iter().enumerate().try_for_each(|(position, name)| {
                let table = self.read(Some(std::slice::from_ref(name)))?;
                table
                    .columns
                    .into_iter()
                    .try_for_each(|mut column| take(position, work(position, &mut column)?))
            }),
        }
    }

    /// Columns in memory as a source.
    #[must_use]
    pub fn of_table(table: Table) -> Self {
        let kind = |column: &Column| match column {
            Column::Numbers(_) => ColumnKind::Number,
            Column::Levels { .. } => ColumnKind::Text,
        };
        let schema = Schema {
            names: table.names.clone(),
            kinds: table.columns.iter().map(kind).collect(),
            rows: Some(table.rows),
            notes: Vec::new(),
        };
        let (path, kind) = (table.file.clone(), Kind::Memory(Arc::new(table)));
        Self { path, kind, schema, threads: 1, ordered: Vec::new() }
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
        Self { path: self.path.clone(), kind, schema, threads: self.threads, ordered: Vec::new() }
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
            Kind::Csv(_) | Kind::Parquet | Kind::Npy(_) | Kind::Memory(_) => false,
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

enum Recognised {
    Parquet,
    Npy,
    Text { gzip: bool },
}

fn recognise(path: &Path) -> Result<Recognised> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Error::format(path, "is a directory", "give a file"));
    }
    let mut magic = Vec::new();
    file.take(MAGIC as u64).read_to_end(&mut magic).map_err(Error::io("read", path))?;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if magic.is_empty() {
        return Err(Error::Empty { file: path.into(), what: "it has no bytes".into() });
    }
    match magic.as_slice() {
        [b'P', b'A', b'R', b'1', ..] => Ok(Recognised::Parquet),
        [b'P', b'A', b'R', b'E', ..] => Err(Error::format(path, "is encrypted Parquet", "decrypt it first")),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Ok(Recognised::Npy),
        [0x1f, 0x8b, ..] => Ok(Recognised::Text { gzip: true }),
        [b'P', b'K', 3, 4, ..] => Err(Error::format(
            path,
            "is a zip archive (.npz, .xlsx and .zip files are)",
            "unpack it, or save the table as CSV or Parquet",
        )),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err(Error::format(path, "is compressed with zstd", "decompress it, or compress it with gzip"))
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(Error::format(path, "is UTF-16 text", "save it as UTF-8")),
        _ => match extension.as_str() {
            "parquet" | "pq" => Err(Error::format(
                path,
                "is not a Parquet file: it does not begin with the mark PAR1",
                "check how it was written, or rename it if it is text",
            )),
            "npy" => Err(Error::format(
                path,
                "is not a NumPy file: it does not begin with the mark \\x93NUMPY",
                "write it with numpy.save",
            )),
            _ => Ok(Recognised::Text { gzip: false }),
        },
    }
}
