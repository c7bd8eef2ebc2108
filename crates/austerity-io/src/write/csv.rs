//! Numbers as delimited text, in the shortest form that reads back to the same value. A name that a spreadsheet would compute gets an
//! apostrophe before it ([`cell`]).

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;

use super::{Field, Storage};
use crate::error::{Error, Result};
use crate::text::cell;

/// Below this, whole numbers are written without a point or exponent.
const WHOLE: f64 = 1e15;

pub(super) enum Writer {
    Plain(BufWriter<File>),
    Gzip(GzEncoder<BufWriter<File>>),
}

impl Writer {
    pub(super) fn new(path: &Path, file: File, gzip: bool, fields: &[Field]) -> Result<Self> {
        let file = BufWriter::with_capacity(1 << 18, file);
        let mut writer =
            if gzip { Self::Gzip(GzEncoder::new(file, Compression::default())) } else { Self::Plain(file) };
        let mut header = Vec::new();
        let mut names = ::csv::Writer::from_writer(&mut header);
        let written = names.write_record(fields.iter().map(|field| cell(&field.name).into_owned()));
        written.map_err(|error| Error::Io { action: "write", file: path.into(), source: error.into() })?;
        names.flush().map_err(Error::io("write", path))?;
        drop(names);
        writer.out().write_all(&header).map_err(Error::io("write", path))?;
        Ok(writer)
    }

    pub(super) fn write(&mut self, path: &Path, fields: &[Field], columns: &[&[f64]]) -> Result<()> {
        let out = self.out();
        let rows = columns.first().map_or(0, |column| column.len());
        (0..rows)
            .try_for_each(|row| {
                for (j, (field, column)) in fields.iter().zip(columns).enumerate() {
                    if j > 0 {
                        out.write_all(b",")?;
                    }
                    number(out, column[row], field.storage)?;
                }
                out.write_all(b"\n")
            })
            .map_err(Error::io("write", path))
    }

    pub(super) fn finish(self, path: &Path) -> Result<File> {
        let buffered = match self {
            Self::Plain(out) => out,
            Self::Gzip(out) => out.finish().map_err(Error::io("write", path))?,
        };
        buffered.into_inner().map_err(|error| Error::io("write", path)(error.into_error()))
    }

    fn out(&mut self) -> &mut dyn Write {
        match self {
            Self::Plain(out) => out,
            Self::Gzip(out) => out,
        }
    }
}

fn number(out: &mut dyn Write, value: f64, storage: Storage) -> std::io::Result<()> {
    match storage {
        _ if value.fract() == 0.0 && value.abs() < WHOLE => write!(out, "{}", value as i64),
        Storage::DoubleOrMissing if value.is_nan() => Ok(()),
        Storage::Single => write!(out, "{:?}", value as f32),
        Storage::Double | Storage::DoubleOrMissing => write!(out, "{value:?}"),
        Storage::Integer => write!(out, "{value}"),
    }
}
