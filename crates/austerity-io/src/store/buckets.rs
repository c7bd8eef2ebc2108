//! A shuffle of rows that do not fit in memory: buckets by a random key, each sorted by itself.
//!
//! Every row has a random 64-bit key. The keys are cut into K equal ranges, a bucket each; rows go to their bucket in the
//! order of the table, then each bucket is brought to memory, sorted by key and written. The result is all rows in the
//! order of their keys: a uniformly random permutation, the same for every K. (Keys that tie, one pair in 2⁶⁴/N²·2, keep the
//! table's order.) Buckets share one file of segments, so that no limit on open files matters. Disk: the rows once, 12
//! bytes more each. With one bucket nothing is written.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};

/// Bytes of a bucket's buffer at most.
const SEGMENT: usize = 1 << 18;
/// Bytes of a row beside its values: key and row number.
pub(super) const HEAD: usize = 12;
/// Bytes of a row in the index that is sorted.
const INDEX: usize = 16;
/// Share of the memory that a bucket takes on average: sizes are random.
const FILL: f64 = 0.8;

/// Rows by bucket.
pub(super) struct Buckets {
    record: usize,
    buffers: Vec<Vec<u8>>,
    limit: usize,
    scratch: Option<Scratch>,
}

struct Scratch {
    path: PathBuf,
    file: File,
    length: u64,
    /// Where the segments of every bucket are.
    segments: Vec<Vec<(u64, usize)>>,
}

/// How many buckets `rows` rows of `width` values need within `memory` bytes.
pub(super) fn count(rows: usize, width: usize, memory: usize) -> usize {
    let each = HEAD + 4 * width + INDEX;
    if rows.saturating_mul(each) <= memory {
        return 1;
    }
    let fits = (FILL * memory as f64 / each as f64).max(1.0);
    ((rows as f64 / fits).ceil() as usize).max(2)
}

impl Buckets {
    /// Buckets for `rows` rows of `width` values; more than one keep their rows in a file of `folder`.
    pub(super) fn create(folder: &Path, rows: usize, width: usize, memory: usize) -> Result<Self> {
        let (record, count) = (HEAD + 4 * width, count(rows, width, memory));
        // All buffers together take half of the memory at most.
        let limit = if count == 1 { usize::MAX } else { (memory / 2 / count).min(SEGMENT) };
        if limit < record {
            let each = HEAD + 4 * width + INDEX;
            // rows·each/(0.8·m) buckets of one record each in half of m.
            let least = (2.0 * record as f64 * rows as f64 * each as f64 / FILL).sqrt();
            return Err(Error::format(
                folder,
                format!("cannot be filled within {memory} bytes of memory"),
                format!("allow at least {:.0} MB", (least / 1e6).ceil()),
            ));
        }
        let scratch = if count == 1 {
            None
        } else {
            let path = folder.join("shuffle.tmp");
            let file = File::options().read(true).write(true).create_new(true).open(&path);
            let file = file.map_err(Error::io("create", &path))?;
            Some(Scratch { path, file, length: 0, segments: vec![Vec::new(); count] })
        };
        let mut buffers = vec![Vec::new(); count];
        if count == 1 {
            buffers[0].reserve_exact(rows * record);
        }
        Ok(Self { record, buffers, limit, scratch })
    }

    /// Buckets.
    pub(super) fn count(&self) -> usize {
        self.buffers.len()
    }

    /// The next row of the table.
    pub(super) fn push(&mut self, key: u64, row: u32, values: &[f32]) -> Result<()> {
        let bucket = ((u128::from(key) * self.buffers.len() as u128) >> 64) as usize;
        let buffer = &mut self.buffers[bucket];
        buffer.extend_from_slice(&key.to_le_bytes());
        buffer.extend_from_slice(&row.to_le_bytes());
        values.iter().for_each(|value| buffer.extend_from_slice(&value.to_le_bytes()));
        if buffer.len().saturating_add(self.record) > self.limit
            && let Some(scratch) = &mut self.scratch
        {
            scratch.write(bucket, buffer)?;
        }
        Ok(())
    }

    /// Hands over all rows in the order of their keys, each with its number in the table and its values as bytes, and
    /// removes the file.
    pub(super) fn drain(mut self, visit: &mut dyn FnMut(u32, &[u8]) -> Result<()>) -> Result<()> {
        if let Some(scratch) = &mut self.scratch {
            for (bucket, buffer) in self.buffers.iter_mut().enumerate() {
                scratch.write(bucket, buffer)?;
                *buffer = Vec::new();
            }
        }
        for bucket in 0..self.buffers.len() {
            let bytes = match &mut self.scratch {
                Some(scratch) => scratch.read(bucket)?,
                None => std::mem::take(&mut self.buffers[bucket]),
            };
            let record = |index: u32| &bytes[index as usize * self.record..][..self.record];
            let key = |index: u32| {
                let (head, _) = record(index).as_chunks::<8>();
                u64::from_le_bytes(head[0])
            };
            let mut order: Vec<(u64, u32)> =
                (0..(bytes.len() / self.record) as u32).map(|index| (key(index), index)).collect();
            order.sort_unstable();
            for (_, index) in order {
                let (head, values) = record(index).split_at(HEAD);
                let (row, _) = head[8..].as_chunks::<4>();
                visit(u32::from_le_bytes(row[0]), values)?;
            }
        }
        if let Some(Scratch { path, file, .. }) = self.scratch {
            drop(file);
            std::fs::remove_file(&path).map_err(Error::io("remove", &path))?;
        }
        Ok(())
    }
}

impl Scratch {
    /// Appends a segment and empties it.
    fn write(&mut self, bucket: usize, segment: &mut Vec<u8>) -> Result<()> {
        if segment.is_empty() {
            return Ok(());
        }
        self.file.write_all(segment).map_err(Error::io("write", &self.path))?;
        self.segments[bucket].push((self.length, segment.len()));
        self.length += segment.len() as u64;
        segment.clear();
        Ok(())
    }

    fn read(&mut self, bucket: usize) -> Result<Vec<u8>> {
        let segments = std::mem::take(&mut self.segments[bucket]);
        let mut bytes = vec![0; segments.iter().map(|&(_, length)| length).sum()];
        let mut rest = &mut bytes[..];
        for (start, length) in segments {
            let (now, later) = rest.split_at_mut(length);
            let read = self.file.seek(SeekFrom::Start(start)).and_then(|_| self.file.read_exact(now));
            read.map_err(Error::io("read", &self.path))?;
            rest = later;
        }
        Ok(bytes)
    }
}
