//! Byte ranges of a file, checked against its length before memory is taken for them.
//!
//! A damaged footer may ask for any range; a request beyond the end of the file must be an error and not an
//! allocation of that size. Reads name their position, so threads share one handle. The memory of a page is used again for a later one: fresh memory costs
//! more than the bytes put there.

use std::fs::File;
use std::io::{BufReader, ErrorKind, Read};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

/// Bytes read at a time where the length is not known beforehand: headers of pages.
const HEADER: usize = 1 << 10;

/// A file of known length.
pub(super) struct Chunks {
    file: Arc<File>,
    length: u64,
    spare: Spare,
}

/// Memory of pages that were decoded.
#[derive(Clone, Default)]
struct Spare(Arc<Mutex<Vec<Vec<u8>>>>);

impl Spare {
    fn take(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    fn give(&self, bytes: Vec<u8>) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(bytes);
    }
}

/// The bytes of a page, whose memory is given back.
struct Lent {
    bytes: Vec<u8>,
    spare: Spare,
}

impl AsRef<[u8]> for Lent {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        self.spare.give(std::mem::take(&mut self.bytes));
    }
}

/// A place in a file.
pub(super) struct Position {
    file: Arc<File>,
    at: u64,
}

impl Chunks {
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file: Arc::new(file), length, spare: Spare::default() })
    }

    fn at(&self, start: u64, length: u64) -> Result<Position> {
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes from byte {start} are wanted, the file has {}",
                self.length
            )));
        }
        Ok(Position { file: Arc::clone(&self.file), at: start })
    }
}

impl Read for Position {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        #[cfg(unix)]
        let read = std::os::unix::fs::FileExt::read_at(&*self.file, buffer, self.at)?;
        #[cfg(windows)]
        let read = std::os::windows::fs::FileExt::seek_read(&*self.file, buffer, self.at)?;
        #[cfg(not(any(unix, windows)))]
        let read = {
            use std::io::Seek as _;
            let mut file = self.file.try_clone()?;
            file.seek(std::io::SeekFrom::Start(self.at))?;
            file.read(buffer)?
        };
        self.at += read as u64;
        Ok(read)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<Position>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::with_capacity(HEADER, self.at(start, 0)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut position = self.at(start, length as u64)?;
        let mut lent = Lent { bytes: self.spare.take(), spare: self.spare.clone() };
        lent.bytes.resize(length, 0);
        position.read_exact(&mut lent.bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                ParquetError::EOF(format!("the file ended before {length} bytes from byte {start}"))
            }
            _ => error.into(),
        })?;
        Ok(Bytes::from_owner(lent))
    }
}
