//! Numeric columns to CSV or Parquet, batch after batch.
//!
//! The format follows the extension, `.csv`, `.csv.gz` or `.parquet`, unless it is said. Everything goes to a temporary file, which becomes
//! `FILE` at [`TableWriter::finish`]: a file under its own name is complete, a writer that is dropped or
//! fails leaves nothing behind, and two that write one file at once never mix. Memory: one batch for CSV, one group of rows for Parquet.
//!
//! ```
//! use austerity_io::write::{Field, TableWriter};
//! # let folder = std::env::temp_dir().join(format!("austerity-io-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("small.parquet");
//! let mut writer = TableWriter::create(&path, vec![Field::integer("y"), Field::single("x1")])?;
//! writer.write(&[&[0.0, 1.0], &[-0.5, 2.5]])?;
//! writer.write(&[&[1.0], &[0.25]])?;
//! writer.finish()?;
//! assert_eq!(austerity_io::table::open(&path)?.read(None)?.rows, 3);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod csv;
mod parquet;

use std::fs::File;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};
use crate::temporary;

/// How the numbers of a column are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// Single precision: values are rounded to it.
    Single,
    /// Double precision.
    Double,
    /// Double precision where a number may be missing: NaN is an empty cell of CSV and NaN in Parquet, infinities
    /// are `inf` and `-inf`.
    DoubleOrMissing,
    /// 64-bit integers; other numbers are refused.
    Integer,
}

/// Name and storage of a column.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Name of the column.
    pub name: String,
    /// How its numbers are stored.
    pub storage: Storage,
}

impl Field {
    /// A column in single precision.
    pub fn single(name: impl Into<String>) -> Self {
        Self { name: name.into(), storage: Storage::Single }
    }

    /// A column in double precision.
    pub fn double(name: impl Into<String>) -> Self {
        Self { name: name.into(), storage: Storage::Double }
    }

    /// A column in double precision where numbers may be missing.
    pub fn double_or_missing(name: impl Into<String>) -> Self {
        Self { name: name.into(), storage: Storage::DoubleOrMissing }
    }

    /// A column of integers.
    pub fn integer(name: impl Into<String>) -> Self {
        Self { name: name.into(), storage: Storage::Integer }
    }
}

/// What a file is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileFormat {
    /// Comma-separated text with a header.
    Csv,
    /// The same, compressed with gzip.
    CsvGzip,
    /// Parquet, compressed with zstd.
    Parquet,
}

impl FileFormat {
    /// The format that the extension of a path says.
    #[must_use]
    pub fn of(path: &Path) -> Option<Self> {
        let name = path.file_name()?.to_string_lossy().to_lowercase();
        let formats = [(".parquet", Self::Parquet), (".csv", Self::Csv), (".csv.gz", Self::CsvGzip)];
        formats.into_iter().find(|(extension, _)| name.ends_with(extension)).map(|(_, format)| format)
    }
}

/// Writes a table of numbers, batch after batch.
pub struct TableWriter {
    path: PathBuf,
    part: Part,
    fields: Vec<Field>,
    format: Format,
    rows: usize,
}

enum Format {
    Csv(csv::Writer),
    Parquet(parquet::Writer),
}

impl TableWriter {
    /// Begins a file; its extension says the format. An existing file is replaced at the end.
    pub fn create(path: impl AsRef<Path>, fields: Vec<Field>) -> Result<Self> {
        let path = path.as_ref();
        let format = FileFormat::of(path).ok_or_else(|| {
            let problem = "has an extension that says no format to write";
            Error::format(path, problem, "use .parquet, .csv or .csv.gz")
        })?;
        Self::create_as(path, format, fields)
    }

    /// Begins a file of the given format, whatever its name.
    pub fn create_as(path: impl AsRef<Path>, format: FileFormat, fields: Vec<Field>) -> Result<Self> {
        let path = path.as_ref();
        let (part, file) = Part::create(path)?;
        let format = match format {
            FileFormat::Parquet => Format::Parquet(parquet::Writer::new(path, file, &fields)?),
            FileFormat::Csv => Format::Csv(csv::Writer::new(path, file, false, &fields)?),
            FileFormat::CsvGzip => Format::Csv(csv::Writer::new(path, file, true, &fields)?),
        };
        Ok(Self { path: path.into(), part, fields, format, rows: 0 })
    }

    /// Appends rows: one slice per field, all of one length.
    pub fn write(&mut self, columns: &[&[f64]]) -> Result<()> {
        let rows = columns.first().map_or(0, |column| column.len());
        let shape = |what: String, expected, found| Error::Data {
            file: self.path.clone(),
            source: austerity::Error::Dimension { what, expected, found },
        };
        if columns.len() != self.fields.len() {
            return Err(shape("columns to write".into(), self.fields.len(), columns.len()));
        }
        for (field, column) in self.fields.iter().zip(columns) {
            if column.len() != rows {
                return Err(shape(format!("column `{}`", field.name), rows, column.len()));
            }
            if let Some(row) = column.iter().position(|&value| !fits(value, field.storage)) {
                let place = Place::new(&self.path, &field.name, self.rows + row);
                return Err(Error::Value {
                    place,
                    problem: format!("{} cannot be stored in this column", column[row]),
                    remedy: "only finite numbers are written, and whole ones to a column of integers".into(),
                });
            }
        }
        match &mut self.format {
            Format::Csv(writer) => writer.write(&self.path, &self.fields, columns)?,
            Format::Parquet(writer) => writer.write(&self.path, &self.fields, columns)?,
        }
        self.rows += rows;
        Ok(())
    }

    /// Completes the file and gives it its name.
    pub fn finish(self) -> Result<()> {
        let file = match self.format {
            Format::Csv(writer) => writer.finish(&self.path)?,
            Format::Parquet(writer) => writer.finish(&self.path, &self.fields)?,
        };
        file.sync_all().map_err(Error::io("write", &self.path))?;
        // Still open, and so locked.
        self.part.complete(&self.path)
    }
}

/// Writes whole columns in double precision to a CSV file, compressed when its name ends in `.gz`.
pub fn write_csv(path: impl AsRef<Path>, names: &[String], columns: &[&[f64]]) -> Result<()> {
    let gzip = path.as_ref().extension().is_some_and(|extension| extension == "gz");
    write_all(path.as_ref(), if gzip { FileFormat::CsvGzip } else { FileFormat::Csv }, names, columns)
}

/// Writes whole columns in double precision to a Parquet file.
pub fn write_parquet(path: impl AsRef<Path>, names: &[String], columns: &[&[f64]]) -> Result<()> {
    write_all(path.as_ref(), FileFormat::Parquet, names, columns)
}

fn write_all(path: &Path, format: FileFormat, names: &[String], columns: &[&[f64]]) -> Result<()> {
    let mut writer = TableWriter::create_as(path, format, names.iter().map(Field::double).collect())?;
    writer.write(columns)?;
    writer.finish()
}

fn fits(value: f64, storage: Storage) -> bool {
    match storage {
        Storage::Double => value.is_finite(),
        Storage::DoubleOrMissing => true,
        Storage::Single => (value as f32).is_finite(),
        Storage::Integer => value.fract() == 0.0 && value.abs() < 2f64.powi(63),
    }
}

/// The unfinished file; removed unless completed.
struct Part {
    path: PathBuf,
    complete: bool,
}

impl Part {
    fn create(target: &Path) -> Result<(Self, File)> {
        temporary::clean(target);
        let (file, path) = temporary::file(target).map_err(Error::io("write", target))?;
        Ok((Self { path, complete: false }, file))
    }

    fn complete(mut self, target: &Path) -> Result<()> {
        std::fs::rename(&self.path, target).map_err(Error::io("write", target))?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.complete {
            // Nothing can be done about a file that cannot be removed either.
            let _ = std::fs::remove_file(&self.path);
        }
    }
}
