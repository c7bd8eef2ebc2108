//! Byte ranges of a file, checked against its length before memory is taken for them.
//!
//! A damaged footer may ask for any range; a request beyond the end of the file must be an error and not an
//! allocation of that size.

use std::fs::File;
use std::io::{BufReader, Read as _, Seek as _, SeekFrom};
use std::path::Path;

use ::parquet::errors::{ParquetError, Result};
use ::parquet::file::reader::{ChunkReader, Length};
use bytes::Bytes;

/// A file of known length.
pub(super) struct Chunks {
    file: File,
    length: u64,
}

impl Chunks {
    pub(super) fn open(path: &Path) -> std::io::Result<Self> {
        let file = File::open(path)?;
        let length = file.metadata()?.len();
        Ok(Self { file, length })
    }

    fn at(&self, start: u64, length: u64) -> Result<File> {
        if start.checked_add(length).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF(format!(
                "{length} bytes from byte {start} are wanted, the file has {}",
                self.length
            )));
        }
        let mut file = self.file.try_clone()?;
        file.seek(SeekFrom::Start(start))?;
        Ok(file)
    }
}

impl Length for Chunks {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for Chunks {
    type T = BufReader<File>;

    fn get_read(&self, start: u64) -> Result<Self::T> {
        Ok(BufReader::new(self.at(start, 0)?))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let file = self.at(start, length as u64)?;
        let mut buffer = Vec::with_capacity(length);
        if file.take(length as u64).read_to_end(&mut buffer)? < length {
            return Err(ParquetError::EOF(format!("the file ended before {length} bytes from byte {start}")));
        }
        Ok(buffer.into())
    }
}
