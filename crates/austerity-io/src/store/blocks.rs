//! The writer of a store's files: rows come in their final order, blocks of 32 go out.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use austerity::model::Fingerprint;
use austerity::model::glm::blocks::{BLOCK, sample_stride};
use austerity::model::store::Description;

use super::map::START;
use super::{BLOCKS, FORMAT, META, Meta, ROWS, Shard, VERSION};
use crate::design::Recipe;
use crate::error::{Error, Result};

/// Bytes of the write buffers.
const BUFFER: usize = 1 << 20;

/// The first bytes of `blocks.npy`.
pub(super) fn blocks_header(rows: usize, width: usize) -> Vec<u8> {
    header("<f4", &format!("({}, {width}, {BLOCK})", rows.div_ceil(BLOCK)))
}

/// The first bytes of `rows.npy`.
pub(super) fn rows_header(rows: usize) -> Vec<u8> {
    header("<u4", &format!("({rows},)"))
}

/// A NumPy header of version 1, padded to [`START`] bytes.
fn header(kind: &str, shape: &str) -> Vec<u8> {
    let dictionary = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}");
    let length = START - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend_from_slice(&(length as u16).to_le_bytes());
    bytes.extend_from_slice(format!("{dictionary:<0$}\n", length - 1).as_bytes());
    bytes
}

/// A file in the making, with its name for messages.
struct Out {
    path: PathBuf,
    file: BufWriter<File>,
}

impl Out {
    fn create(path: PathBuf, header: &[u8]) -> Result<Self> {
        let file = File::create_new(&path).map_err(Error::io("create", &path))?;
        let mut out = Self { path, file: BufWriter::with_capacity(BUFFER, file) };
        out.write(header)?;
        Ok(out)
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.file.write_all(bytes).map_err(Error::io("write", &self.path))
    }

    /// Everything on disk; returns the size.
    fn finish(self) -> Result<u64> {
        let Self { path, file } = self;
        let file = file.into_inner().map_err(|error| Error::io("write", &path)(error.into_error()))?;
        file.sync_all().map_err(Error::io("write", &path))?;
        Ok(file.metadata().map_err(Error::io("read", &path))?.len())
    }
}

/// Writes one store.
pub(super) struct BlockWriter {
    folder: PathBuf,
    blocks: Out,
    rows: Out,
    width: usize,
    /// The block being filled, column by column.
    block: Vec<f32>,
    bytes: Vec<u8>,
    written: usize,
    stride: usize,
    checksum: Fingerprint,
    fingerprint: Fingerprint,
}

impl BlockWriter {
    /// Begins a store of `rows` rows in a new folder.
    pub(super) fn create(folder: PathBuf, rows: usize, width: usize) -> Result<Self> {
        Ok(Self {
            blocks: Out::create(folder.join(BLOCKS), &blocks_header(rows, width))?,
            rows: Out::create(folder.join(ROWS), &rows_header(rows))?,
            folder,
            width,
            block: vec![0.0; width * BLOCK],
            bytes: Vec::new(),
            written: 0,
            stride: sample_stride(rows.div_ceil(BLOCK)),
            checksum: Fingerprint::default(),
            fingerprint: Fingerprint::default(),
        })
    }

    /// The next row: where it stood, and its stored values as little-endian bytes.
    pub(super) fn push(&mut self, row: u32, values: &[u8]) -> Result<()> {
        let at = self.written % BLOCK;
        let (values, _) = values.as_chunks::<4>();
        for (column, value) in self.block.chunks_exact_mut(BLOCK).zip(values) {
            column[at] = f32::from_le_bytes(*value);
        }
        self.rows.write(&row.to_le_bytes())?;
        self.written += 1;
        if at + 1 == BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes.clear();
        self.block.iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
        self.blocks.write(&self.bytes)?;
        let words = || self.block.iter().map(|value| value.to_bits());
        self.checksum.push(words());
        if ((self.written - 1) / BLOCK).is_multiple_of(self.stride) {
            self.fingerprint.push(words());
        }
        self.block.fill(0.0);
        Ok(())
    }

    /// Completes the files; returns their bytes.
    pub(super) fn finish(
        mut self,
        description: &Description,
        about: &About<'_>,
        shard: Option<Shard>,
    ) -> Result<u64> {
        if !self.written.is_multiple_of(BLOCK) {
            self.flush()?;
        }
        let mut description = Description { rows: self.written, ..description.clone() };
        self.fingerprint.push_text(&description.fingerprint_words());
        description.fingerprint = self.fingerprint.finish();
        let sizes = [self.blocks.finish()?, self.rows.finish()?];
        let meta = Meta {
            format: FORMAT.into(),
            version: VERSION,
            description,
            recipe: about.recipe.clone(),
            source: about.source.into(),
            notes: about.notes.to_vec(),
            warnings: about.warnings.to_vec(),
            shard,
            sizes,
            checksum: format!("{:016x}", self.checksum.finish()),
        };
        let path = self.folder.join(META);
        let text = serde_json::to_vec_pretty(&meta).map_err(|error| Error::Io {
            action: "write",
            file: path.clone(),
            source: error.into(),
        })?;
        let out = Out::create(path, &text)?;
        debug_assert_eq!(self.block.len(), self.width * BLOCK);
        Ok(out.finish()? + sizes.iter().sum::<u64>())
    }
}

/// What is told beside the rows.
pub(super) struct About<'a> {
    pub(super) recipe: &'a Recipe,
    pub(super) source: &'a str,
    pub(super) notes: &'a [String],
    pub(super) warnings: &'a [String],
}

/// A folder that is removed with all its files unless it is completed.
pub(super) struct PartFolder {
    path: PathBuf,
    complete: bool,
}

impl PartFolder {
    /// `OUT.part` beside `OUT`, neither of which may exist.
    pub(super) fn create(out: &Path) -> Result<Self> {
        let exists = |path: &Path| path.symlink_metadata().is_ok();
        if exists(out) {
            return Err(Error::format(out, "exists already", "choose another name, or remove it"));
        }
        let mut name = out.file_name().unwrap_or_default().to_owned();
        name.push(".part");
        let path = out.with_file_name(name);
        if exists(&path) {
            let problem = "exists already: another conversion is writing it, or one was cut short";
            return Err(Error::format(&path, problem, "wait, or remove it"));
        }
        std::fs::create_dir(&path).map_err(Error::io("create", &path))?;
        Ok(Self { path, complete: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its name.
    pub(super) fn complete(mut self, out: &Path) -> Result<()> {
        std::fs::rename(&self.path, out).map_err(Error::io("create", out))?;
        self.complete = true;
        Ok(())
    }
}

impl Drop for PartFolder {
    fn drop(&mut self) {
        if !self.complete {
            // Nothing can be done about a folder that cannot be removed either.
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}
