//! Every second draw of a store in its place: how a run of unknown length stays below a size.
//!
//! A store that keeps the draws k, 2k, 3k, … of every chain becomes one that keeps 2k, 4k, …: the draws stay evenly spaced over the run,
//! and what is stored depends on the number of draws made alone, not on when it was halved. Records are copied byte by byte.
//!
//! The halved store is written and made durable beside the old one, under `NAME.half`; then the old one moves to `NAME.old`, the new one takes its name,
//! and the old one is removed. A crash before the first move leaves the old store, and one between the moves leaves only the
//! new one under its temporary name: [`standing`] finds it and [`settle`] completes the moves.
//!
//! Cost: one read and half a write of the store; for that time it takes 1.5 times its size on disk.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::atomic::sync_folder;
use super::chunk::{self, Damage};
use super::writer::DrawsWriter;
use crate::error::{Error, Result};

/// What the names of a store in the making, and of one to be removed, end in.
const HALF: &str = ".half";
const OLD: &str = ".old";

impl DrawsWriter {
    /// Keeps every second of the stored draws, and goes on from there: [`stored_every`](Self::stored_every) doubles.
    /// After an error the store is as it was, but nothing more can be written to it.
    pub fn halve(&mut self) -> Result<()> {
        self.flush()?;
        let mut halved = None;
        self.guarded(|writer| {
            halved = Some(writer.halved()?);
            Ok(())
        })?;
        if let Some(halved) = halved {
            *self = halved;
        }
        Ok(())
    }

    fn halved(&self) -> Result<Self> {
        let target = self.path.clone();
        let half = beside(&target, HALF);
        remove(&half)?;
        let mut layout = self.layout.clone();
        layout.stored_every = layout.stored_every.saturating_mul(2);
        let mut halved = Self::new(&half, &layout, self.plan.clone());
        let written = halved
            .prepare()
            .and_then(|()| (0..self.plan.chains).try_for_each(|chain| halved.take_half(self, chain)))
            .and_then(|()| halved.flush());
        if let Err(error) = written {
            let _ = remove(&half);
            return Err(match error {
                Error::DrawsNotWritten { file, source, .. } => Error::Io { action: "write", file, source },
                other => other,
            });
        }
        let old = beside(&target, OLD);
        remove(&old)?;
        fs::rename(&target, &old).map_err(Error::io("rename", &target))?;
        fs::rename(&half, &target).map_err(Error::io("rename", &half))?;
        target.parent().map_or(Ok(()), sync_folder)?;
        remove(&old)?;
        halved.path = target;
        Ok(halved)
    }

    /// Copies the draws 2, 4, 6, … that `whole` holds of a chain.
    fn take_half(&mut self, whole: &Self, chain: usize) -> Result<()> {
        let draws = whole.chains[chain].drawn;
        for place in 0..self.plan.blocks.len() {
            let block = self.plan.blocks[place].clone();
            let (every, record) = (block.chunk_draws as u64, block.record());
            let (mut kept, mut written) = (Vec::with_capacity(block.chunk_bytes()), 0);
            for number in 0..draws.div_ceil(every) {
                let first = number * every;
                let count = (draws - first).min(every) as usize;
                let content = chunk::read(&whole.path, &block, chain, number, count);
                let content = content.map_err(|Damage { file, problem, have }| Error::DrawsDamaged {
                    file,
                    chain: self.plan.chain_number(chain),
                    first: first + have as u64 + 1,
                    last: draws,
                    problem,
                })?;
                for (draw, record) in (first..).zip(content.chunks_exact(record).take(count)) {
                    if !draw.is_multiple_of(2) {
                        kept.extend_from_slice(record);
                    }
                    if kept.len() == block.chunk_bytes() {
                        let file = chunk::path(&self.path, &block, chain, written);
                        chunk::write(&mut self.batch, &file, &block, &kept, &[])?;
                        kept.clear();
                        written += 1;
                    }
                }
            }
            self.chains[chain].buffers[place] = kept;
        }
        self.chains[chain].drawn = draws / 2;
        Ok(())
    }
}

/// Where the draws are: under their own name, or, where a crash came between two moves, under the temporary one.
pub(super) fn standing(store: &Path) -> PathBuf {
    let half = beside(store, HALF);
    if !store.exists() && half.exists() { half } else { store.into() }
}

/// Completes or undoes what a crash left of a halving.
pub(super) fn settle(store: &Path) -> Result<()> {
    let half = beside(store, HALF);
    if half.exists() && !store.exists() {
        fs::rename(&half, store).map_err(Error::io("rename", &half))?;
        store.parent().map_or(Ok(()), sync_folder)?;
    }
    remove(&half)?;
    remove(&beside(store, OLD))
}

fn beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    name.into()
}

/// Removes a folder that may not be there.
fn remove(folder: &Path) -> Result<()> {
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(Error::io("remove", folder)(error)),
        _ => Ok(()),
    }
}
