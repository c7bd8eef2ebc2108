//! Records of a text file, with their width checked and unclosed quotes found.
//!
//! A parser of delimited text cannot tell a quote that is never closed from a long cell: it would swallow
//! the rest of the file into one cell and be content. So a last record of our own is appended to the
//! text. When it does not come back as a record, it was swallowed, and the quote is in the record before. A record
//! that grows beyond [`LONGEST`] is refused for the same reason, and to keep memory bounded.

use std::cell::Cell;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use ::csv::{ByteRecord, ErrorKind, Reader, ReaderBuilder};
use flate2::bufread::MultiGzDecoder;

use crate::error::{Error, Result};

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;
/// Bytes that a record may have.
const LONGEST: u64 = 1 << 26;
/// The appended record. Control characters, so that no table holds it.
const LAST: &[u8] = b"\n\x01\x02austerity\x03\x04\n";

/// A stream of records.
pub(super) struct Records {
    path: PathBuf,
    reader: Reader<Watched>,
    /// Bytes read since the last record.
    since: Rc<Cell<u64>>,
    expected: Option<usize>,
    line: u64,
    ended: bool,
}

impl Records {
    pub(super) fn open(path: &Path, gzip: bool, delimiter: u8) -> Result<Self> {
        let since = Rc::new(Cell::new(0));
        let watched = Watched { text: text(path, gzip)?, since: Rc::clone(&since), last: LAST };
        let reader = ReaderBuilder::new()
            .has_headers(false)
            .flexible(true)
            .delimiter(delimiter)
            .buffer_capacity(BUFFER)
            .from_reader(watched);
        Ok(Self { path: path.into(), reader, since, expected: None, line: 1, ended: false })
    }

    /// Reads the next record; `false` at the end.
    pub(super) fn next(&mut self, record: &mut ByteRecord) -> Result<bool> {
        if self.ended {
            record.clear();
            return Ok(false);
        }
        let line = self.reader.position().line();
        if !self.reader.read_byte_record(record).map_err(|error| self.translate(error, line))? {
            return Err(self.unclosed(self.line));
        }
        self.since.set(0);
        if record.len() == 1 && record.get(0) == Some(&LAST[1..LAST.len() - 1]) {
            self.ended = true;
            record.clear();
            return Ok(false);
        }
        self.line = record.position().map_or(line, ::csv::Position::line);
        if record.iter().next_back().is_some_and(|cell| cell.ends_with(LAST)) {
            return Err(self.unclosed(self.line));
        }
        let expected = *self.expected.get_or_insert(record.len());
        if record.len() != expected {
            return Err(Error::Ragged {
                file: self.path.clone(),
                line: self.line,
                found: record.len(),
                expected,
            });
        }
        Ok(true)
    }

    /// Line on which the record read last begins.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    fn unclosed(&self, line: u64) -> Error {
        Error::format(
            &self.path,
            format!("has a quote in the record of line {line} that is not closed"),
            "close it, or write a quote inside a quoted text twice",
        )
    }

    fn translate(&self, error: ::csv::Error, line: u64) -> Error {
        if self.since.get() > LONGEST {
            return self.unclosed(line);
        }
        let described = error.to_string();
        match error.into_kind() {
            ErrorKind::Io(source) => Error::Io { action: "read", file: self.path.clone(), source },
            _ => Error::format(&self.path, format!("cannot be read: {described}"), "check the file"),
        }
    }
}

/// The text of a file, decompressed.
pub(super) fn text(path: &Path, gzip: bool) -> Result<Box<dyn Read>> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(BufReader::with_capacity(BUFFER, file)))
    } else {
        Box::new(file)
    })
}

/// The text, then the appended record; counts its bytes.
struct Watched {
    text: Box<dyn Read>,
    since: Rc<Cell<u64>>,
    last: &'static [u8],
}

impl Read for Watched {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let mut read = self.text.read(buffer)?;
        if read == 0 {
            read = self.last.read(buffer)?;
        }
        self.since.set(self.since.get() + read as u64);
        if self.since.get() > LONGEST + BUFFER as u64 {
            return Err(std::io::Error::other("a record is too long"));
        }
        Ok(read)
    }
}
