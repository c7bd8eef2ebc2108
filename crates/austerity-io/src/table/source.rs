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

use crate::error::{Error, Result};
use crate::table::csv::{self, Dialect};
use crate::table::{Column, Schema, Table, names, npy, parquet};

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
}

#[derive(Clone, Debug)]
enum Kind {
    Csv(Dialect),
    Parquet,
    Npy(npy::Layout),
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
    Ok(Source { path: path.into(), kind, schema, threads })
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
        let chosen = names::resolve(&self.path, &self.schema.names, columns)?;
        let names: Vec<String> = chosen.iter().map(|&j| self.schema.names[j].clone()).collect();
        let columns = match &self.kind {
            Kind::Csv(dialect) => csv::read(&self.path, dialect, &self.schema.names, &chosen, as_text)?,
            Kind::Parquet => parquet::read(&self.path, &self.schema, &chosen, self.threads)?,
            Kind::Npy(layout) => npy::read(&self.path, layout, &self.schema.names, &chosen)?,
        };
        let rows = columns.first().map_or(self.schema.rows.unwrap_or(0), Column::len);
        if rows == 0 {
            let what = format!("it has {} columns and no rows", self.schema.names.len());
            return Err(Error::Empty { file: self.path.clone(), what });
        }
        Ok(Table { file: self.path.clone(), names, columns, rows })
    }
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
