//! Chunks of draws on disk: written with padding and checksum, read with every doubt checked.
//!
//! A chunk is sound when it has its full length, its checksum fits, and it holds at least the draws that are asked for.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use super::atomic::Batch;
use super::plan::Block;
use super::zarr::{self, CHECKSUM};
use crate::error::Result;

/// Why a chunk does not hold what it should.
pub(super) struct Damage {
    pub(super) file: PathBuf,
    /// The rest of a sentence that begins with the file.
    pub(super) problem: String,
    /// Draws from the first of the chunk that are intact.
    pub(super) have: usize,
}

/// The file of a chunk.
pub(super) fn path(store: &Path, block: &Block, chain: usize, chunk: u64) -> PathBuf {
    store.join(&block.array).join(block.key(chain, chunk))
}

/// Writes the draws of one chunk, as many as there are.
pub(super) fn write(
    batch: &mut Batch,
    file: &Path,
    block: &Block,
    draws: &[u8],
    padding: &[u8],
) -> Result<()> {
    let padding = &padding[..block.chunk_bytes() - draws.len()];
    let checksum = zarr::checksum(&[draws, padding]);
    batch.write(file, &[draws, padding, &checksum])
}

/// Reads a chunk that must hold at least `needed` draws; gives its content, padding included.
pub(super) fn read(
    store: &Path,
    block: &Block,
    chain: usize,
    chunk: u64,
    needed: usize,
) -> std::result::Result<Vec<u8>, Damage> {
    let file = path(store, block, chain, chunk);
    let bytes = match fs::read(&file) {
        Ok(bytes) => bytes,
        Err(error) => return Err(unreadable(file, &error)),
    };
    if bytes.len() != block.chunk_bytes() + CHECKSUM {
        return Err(wrong_length(file, block, bytes.len() as u64));
    }
    let Some(content) = zarr::verified(bytes) else {
        return Err(Damage { file, problem: "is damaged (its checksum does not fit)".into(), have: 0 });
    };
    let have = filled(block, &content);
    if have < needed {
        return Err(stale(file, have, needed));
    }
    Ok(content)
}

/// Draws that the content of a chunk holds.
pub(super) fn filled(block: &Block, content: &[u8]) -> usize {
    let padding = block.number.padding();
    content.iter().rposition(|&byte| byte != padding).map_or(0, |last| last / block.record() + 1)
}

fn unreadable(file: PathBuf, error: &io::Error) -> Damage {
    let problem = match error.kind() {
        ErrorKind::NotFound => "is missing".into(),
        _ => format!("cannot be read ({error})"),
    };
    Damage { file, problem, have: 0 }
}

fn wrong_length(file: PathBuf, block: &Block, found: u64) -> Damage {
    let expected = block.chunk_bytes() + CHECKSUM;
    let problem = format!("has {found} bytes instead of {expected}");
    Damage { file, problem, have: 0 }
}

fn stale(file: PathBuf, have: usize, needed: usize) -> Damage {
    Damage { file, problem: format!("holds {have} draws instead of {needed}"), have }
}
