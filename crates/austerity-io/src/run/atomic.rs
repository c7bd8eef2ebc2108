//! Files that are there whole or not at all.
//!
//! A file is written under a temporary name of its own beside its target ([`temporary`]), brought to the disk, renamed, and its folder
//! brought to the disk: whoever looks finds the old content or the new, also after a power cut. A [`Batch`] does
//! this for many files at once, so that a file system with a journal commits once and not once per file. Renames follow the
//! order of writing. Every file on its way is an open one, so a batch commits by itself when there are many. A batch that is dropped or fails removes its temporary files and leaves every target
//! whose rename it had not reached as it was.
//!
//! Files below a [`volatile`] folder are not brought to the disk: they survive the end of the process, not a power cut.
//!
//! Cost: two system calls per file, one `fsync` per file and folder. Not for files that may be lost.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{PoisonError, RwLock};

use austerity::parallel;

use crate::error::{Error, Result};
use crate::temporary;

/// Files on their way at most: systems allow a process 256 or 1024 open ones.
const MOST_OPEN_FILES: usize = 64;

/// Files that are brought to the disk at the same time: a journal commits once for all that wait together, and each alone would wait for a turn of its own.
const AT_ONCE: usize = 16;

/// Writes a file that is there whole or not at all, durably.
pub fn write_file(path: impl AsRef<Path>, content: &[u8]) -> Result<()> {
    temporary::clean(path.as_ref());
    let mut batch = Batch::default();
    batch.write(path.as_ref(), &[content])?;
    batch.commit()
}

/// Folders whose files need not survive a power cut.
static VOLATILE: RwLock<BTreeSet<PathBuf>> = RwLock::new(BTreeSet::new());

/// Files below `folder` need not survive a power cut, such as those of a folder that ends with this process: they are written without waiting for
/// the disk, from now on and in this process.
pub fn volatile(folder: impl Into<PathBuf>) {
    VOLATILE.write().unwrap_or_else(PoisonError::into_inner).insert(folder.into());
}

/// Whether a file need not survive a power cut.
pub(crate) fn is_volatile(path: &Path) -> bool {
    let folders = VOLATILE.read().unwrap_or_else(PoisonError::into_inner);
    !folders.is_empty() && path.ancestors().any(|folder| folders.contains(folder))
}

/// Files on their way.
#[derive(Default)]
pub(super) struct Batch {
    pending: Vec<Pending>,
    /// Whether somebody else brings the files to the disk.
    pub(super) lazy: bool,
}

struct Pending {
    target: PathBuf,
    part: PathBuf,
    file: File,
}

impl Batch {
    /// Writes the content of `target`, given in pieces, under its temporary name.
    pub(super) fn write(&mut self, target: &Path, pieces: &[&[u8]]) -> Result<()> {
        if self.pending.len() >= MOST_OPEN_FILES {
            self.commit()?;
        }
        let (file, part) = temporary::file(target).map_err(Error::io("write", target))?;
        self.pending.push(Pending { target: target.into(), part, file });
        let Some(Pending { file, .. }) = self.pending.last_mut() else { return Ok(()) };
        pieces.iter().try_for_each(|piece| file.write_all(piece)).map_err(Error::io("write", target))
    }

    /// The same, unless the target has that content already.
    pub(super) fn update(&mut self, target: &Path, pieces: &[&[u8]]) -> Result<()> {
        match fs::read(target) {
            Ok(present) if present == pieces.concat() => Ok(()),
            _ => self.write(target, pieces),
        }
    }

    /// Brings the content to the disk, still under the temporary names.
    pub(super) fn sync(&self) -> Result<()> {
        let due = |pending: &&Pending| !self.lazy && !is_volatile(&pending.target);
        let due: Vec<&Pending> = self.pending.iter().filter(due).collect();
        let sync =
            |_, pending: &&Pending| pending.file.sync_all().map_err(Error::io("write", &pending.target));
        parallel::each(AT_ONCE, &due, sync).map(drop)
    }

    /// Makes everything written durable under its own name.
    pub(super) fn commit(&mut self) -> Result<()> {
        self.sync()?;
        let mut folders = BTreeSet::new();
        // What is renamed is taken out, so that the drop of a failed batch removes the rest only.
        let mut rest = self.pending.drain(..);
        let mut failure = None;
        // The file stays open, and so locked, until it has its name.
        for Pending { target, part, file: _file } in rest.by_ref() {
            if let Err(source) = fs::rename(&part, &target) {
                let _ = fs::remove_file(&part);
                failure = Some(Error::Io { action: "write", file: target, source });
                break;
            }
            folders.extend(target.parent().map(Path::to_path_buf));
        }
        let rest: Vec<Pending> = rest.collect();
        self.pending = rest;
        match failure {
            Some(error) => Err(error),
            None if self.lazy => Ok(()),
            None => {
                let folders: Vec<PathBuf> = folders.into_iter().collect();
                parallel::each(AT_ONCE, &folders, |_, folder| sync_folder(folder)).map(drop)
            }
        }
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        for Pending { part, .. } in &self.pending {
            // Nothing can be done about a file that cannot be removed either.
            let _ = fs::remove_file(part);
        }
    }
}

/// Brings the entries of a folder to the disk. Only Unix lets a folder be opened for that.
pub(crate) fn sync_folder(folder: &Path) -> Result<()> {
    if cfg!(unix) && !is_volatile(folder) {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder).and_then(|opened| opened.sync_all()).map_err(Error::io("write", folder))?;
    }
    Ok(())
}

/// Brings a folder and all that is in it to the disk.
pub(super) fn sync_all(folder: &Path) -> Result<()> {
    if is_volatile(folder) {
        return Ok(());
    }
    for entry in fs::read_dir(folder).map_err(Error::io("read", folder))? {
        let path = entry.map_err(Error::io("read", folder))?.path();
        if path.is_dir() {
            sync_all(&path)?;
        } else {
            // Writable, since some systems ask for that.
            let file = File::options().write(true).open(&path).map_err(Error::io("write", &path))?;
            file.sync_all().map_err(Error::io("write", &path))?;
        }
    }
    sync_folder(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_is_invisible_until_committed_and_leaves_nothing_when_dropped() {
        let folder = std::env::temp_dir().join(format!("austerity-io-batch-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let target = folder.join("a");
        fs::write(&target, "old").unwrap();
        let mut batch = Batch::default();
        batch.write(&target, &[b"ne", b"w"]).unwrap();
        assert_eq!(fs::read(&target).unwrap(), b"old");
        drop(batch);
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
        let mut batch = Batch::default();
        batch.write(&target, &[b"ne", b"w"]).unwrap();
        batch.commit().unwrap();
        assert_eq!((fs::read(&target).unwrap().as_slice(), batch.pending.len()), (b"new".as_slice(), 0));
        // A target that is a folder with content cannot be replaced: the other file is untouched.
        fs::create_dir_all(folder.join("b/c")).unwrap();
        batch.write(&folder.join("b"), &[b"x"]).unwrap();
        batch.write(&target, &[b"newer"]).unwrap();
        assert!(batch.commit().is_err());
        drop(batch);
        assert_eq!(fs::read(&target).unwrap(), b"new");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 2);
        let mut batch = Batch::default();
        (0..=MOST_OPEN_FILES).for_each(|i| batch.write(&folder.join(format!("many{i}")), &[]).unwrap());
        assert_eq!(batch.pending.len(), 1);
        let below = |name: &str| is_volatile(&folder.join(name));
        volatile(folder.join("here"));
        assert!(below("here") && below("here/a/b") && !below("there") && !below("hereafter"));
        write_file(folder.join("here.txt"), b"x").unwrap();
        sync_all(&folder).unwrap();
        fs::remove_dir_all(&folder).unwrap();
    }
}
