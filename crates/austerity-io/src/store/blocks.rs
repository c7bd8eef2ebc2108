//! The writer of a store's files: rows come in their final order, blocks of 32 go out.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use austerity::model::Fingerprint;
use austerity_glm::glm::blocks::{BLOCK, sample_stride};
use austerity_glm::store::Description;

use super::map::START;
use super::pieces::{self, ROWS_IN_PIECE, Sums, block_bytes, blocks_in_piece};
use super::{BLOCKS, CHECKSUMS, FORMAT, META, Meta, Pieces, ROWS, Shard, VERSION};
use crate::coding::Recipe;
use crate::error::{Error, Result};
use crate::run::{is_volatile, sync_folder};
use crate::{seal, temporary};

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

/// The first bytes of `checksums.npy`.
pub(super) fn checksums_header(count: usize) -> Vec<u8> {
    header("<u4", &format!("({count},)"))
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
        if !is_volatile(&path) {
            file.sync_all().map_err(Error::io("write", &path))?;
        }
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
    /// Row numbers of the block being filled.
    numbers: Vec<u8>,
    written: usize,
    stride: usize,
    block_sums: Sums,
    row_sums: Sums,
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
            numbers: Vec::new(),
            written: 0,
            stride: sample_stride(rows.div_ceil(BLOCK)),
            block_sums: Sums::new(blocks_in_piece(width) * block_bytes(width)),
            row_sums: Sums::new(ROWS_IN_PIECE * size_of::<u32>()),
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
        self.numbers.extend_from_slice(&row.to_le_bytes());
        self.written += 1;
        if at + 1 == BLOCK { self.flush() } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<()> {
        self.bytes.clear();
        self.block.iter().for_each(|value| self.bytes.extend_from_slice(&value.to_le_bytes()));
        self.blocks.write(&self.bytes)?;
        self.block_sums.push(&self.bytes);
        self.rows.write(&self.numbers)?;
        self.row_sums.push(&self.numbers);
        self.numbers.clear();
        let words = || self.block.iter().map(|value| value.to_bits());
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
        let (block_sums, row_sums) = (self.block_sums.finish(), self.row_sums.finish());
        let mut sums = checksums_header(block_sums.len() + row_sums.len());
        block_sums.iter().chain(&row_sums).for_each(|sum| sums.extend_from_slice(&sum.to_le_bytes()));
        let mut bytes = Out::create(self.folder.join(CHECKSUMS), &sums)?.finish()?;
        let meta = Meta {
            format: FORMAT.into(),
            version: VERSION,
            checksum: seal::PLACE.into(),
            data_checksum: Some(pieces::of_data(&block_sums)),
            pieces: Some(Pieces {
                blocks: blocks_in_piece(self.width),
                rows: ROWS_IN_PIECE,
                file: seal::of(&sums),
            }),
            description,
            recipe: about.recipe.clone(),
            source: about.source.into(),
            notes: about.notes.to_vec(),
            warnings: about.warnings.to_vec(),
            shard,
            sizes,
        };
        let path = self.folder.join(META);
        let text = serde_json::to_string_pretty(&meta).map_err(|error| Error::Io {
            action: "write",
            file: path.clone(),
            source: error.into(),
        })?;
        let out = Out::create(path, seal::apply(&text).as_bytes())?;
        debug_assert_eq!(self.block.len(), self.width * BLOCK);
        bytes += out.finish()? + sizes.iter().sum::<u64>();
        sync_folder(&self.folder)?;
        Ok(bytes)
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
    _lock: Option<File>,
    complete: bool,
}

impl PartFolder {
    /// A folder of its own beside `out`, which must not exist. What killed conversions to `out` left behind is removed.
    pub(super) fn create(out: &Path) -> Result<Self> {
        if out.symlink_metadata().is_ok() {
            return Err(Error::format(out, "exists already", "choose another name, or remove it"));
        }
        temporary::clean(out);
        let (lock, path) = temporary::folder(out).map_err(Error::io("create", out))?;
        Ok(Self { path, _lock: lock, complete: false })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the folder its name.
    pub(super) fn complete(mut self, out: &Path) -> Result<()> {
        std::fs::rename(&self.path, out).map_err(Error::io("create", out))?;
        self.complete = true;
        out.parent().map_or(Ok(()), sync_folder)
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
