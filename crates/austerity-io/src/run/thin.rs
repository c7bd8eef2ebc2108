//! Every k-th draw of a store in its place: how a run of unknown length stays below a size.
//!
//! A store that keeps the draws j, 2j, 3j, … of every chain becomes one that keeps jk, 2jk, …: the draws stay evenly spaced over the run,
//! and what is stored does not depend on when it was thinned. Records are copied byte by byte.
//!
//! The thinned store is written and made durable beside the old one, under `NAME.thin`; then the old one moves to `NAME.old`, the new one takes its name,
//! and the old one is removed. A crash before the first move leaves the old store, and one between the moves leaves only the
//! new one under its temporary name: [`standing`] finds it and [`settle`] completes the moves.
//!
//! Cost: one read and a k-th of a write of the store; for that time it takes up to 1.5 times its size on disk.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::atomic::{sync_all, sync_folder};
use super::chunk::{self, Damage};
use super::writer::DrawsWriter;
use crate::error::{Error, Result};

/// What the names of a store in the making, and of one to be removed, end in.
const THIN: &str = ".thin";
const OLD: &str = ".old";

impl DrawsWriter {
    /// Keeps every `factor`-th of the stored draws, and goes on from there: [`stored_every`](Self::stored_every) is multiplied by it.
    /// After an error the store is as it was, but nothing more can be written to it.
    pub fn thin(&mut self, factor: u64) -> Result<()> {
        let factor = factor.max(1);
        let mut thinned = None;
        self.guarded(|writer| {
            // Full chunks are read from the disk, those in the making from memory.
            writer.batch.commit()?;
            thinned = Some(writer.thinned(factor)?);
            Ok(())
        })?;
        if let Some(thinned) = thinned {
            *self = thinned;
        }
        Ok(())
    }

    fn thinned(&self, factor: u64) -> Result<Self> {
        let target = self.path.clone();
        let part = beside(&target, THIN);
        remove(&part)?;
        let mut layout = self.layout.clone();
        layout.stored_every = layout.stored_every.saturating_mul(factor);
        let mut thinned = Self::new(&part, &layout, self.plan.clone());
        // One wait for the disk at the end instead of many.
        thinned.batch.lazy = true;
        let written = thinned
            .prepare()
            .and_then(|()| (0..self.plan.chains).try_for_each(|chain| thinned.take(self, chain, factor)))
            .and_then(|()| thinned.flush())
            .and_then(|()| sync_all(&part));
        thinned.batch.lazy = false;
        if let Err(error) = written {
            let _ = remove(&part);
            return Err(match error {
                Error::DrawsNotWritten { file, source, .. } => Error::Io { action: "write", file, source },
                other => other,
            });
        }
        let old = beside(&target, OLD);
        remove(&old)?;
        fs::rename(&target, &old).map_err(Error::io("rename", &target))?;
        fs::rename(&part, &target).map_err(Error::io("rename", &part))?;
        target.parent().map_or(Ok(()), sync_folder)?;
        remove(&old)?;
        thinned.path = target;
        Ok(thinned)
    }

    /// Copies the draws `factor`, 2·`factor`, … that `whole` holds of a chain.
    fn take(&mut self, whole: &Self, chain: usize, factor: u64) -> Result<()> {
        let draws = whole.chains[chain].drawn;
        for place in 0..self.plan.blocks.len() {
            let block = self.plan.blocks[place].clone();
            let (every, record) = (block.chunk_draws as u64, block.record());
            let (mut kept, mut written) = (Vec::with_capacity(block.chunk_bytes()), 0);
            for number in 0..draws.div_ceil(every) {
                let first = number * every;
                let content = if first + every > draws {
                    whole.chains[chain].buffers[place].clone()
                } else {
                    let content = chunk::read(&whole.path, &block, chain, number, block.chunk_draws);
                    content.map_err(|Damage { file, problem, have }| Error::DrawsDamaged {
                        file,
                        chain: self.plan.chain_number(chain),
                        first: first + have as u64 + 1,
                        last: draws,
                        problem,
                    })?
                };
                for (draw, record) in (first..).zip(content.chunks_exact(record)) {
                    if (draw + 1).is_multiple_of(factor) {
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
        self.chains[chain].drawn = draws / factor;
        Ok(())
    }
}

/// Where the draws are: under their own name, or, where a crash came between two moves, under the temporary one.
pub(super) fn standing(store: &Path) -> PathBuf {
    let part = beside(store, THIN);
    if !store.exists() && part.exists() { part } else { store.into() }
}

/// Completes or undoes what a crash left of a thinning.
pub(super) fn settle(store: &Path) -> Result<()> {
    let part = beside(store, THIN);
    if part.exists() && !store.exists() {
        fs::rename(&part, store).map_err(Error::io("rename", &part))?;
        store.parent().map_or(Ok(()), sync_folder)?;
    }
    remove(&part)?;
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
