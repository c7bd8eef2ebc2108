//! The folder of a new run: locked from the beginning, and gone again unless the run gets as far as its `run.toml`.
//!
//! `run.toml` is written last, so a folder without it holds no run, only what a beginning that was killed left behind. Such a folder is
//! taken over. So is what a merge that was killed left: it marks the folder with the file `merging` until it is done. Nothing else is ever removed: a file that no run makes, or a checkpoint of a chain that has moved, is refused.

use std::fs;
use std::io::ErrorKind;

use austerity_io::run::RunLock;

use super::Folder;
use crate::output::Failure;
use crate::refusal::Refusal;

/// What a beginning may leave behind, beside temporary files.
const MADE: [&str; 6] = ["checkpoint", "checkpoint.previous", "draws.zarr", "pairs.csv", "lock", MERGING];
/// What goes last, if at all.
const KEPT: [&str; 2] = ["lock", MERGING];
/// A folder with this file is being filled by a merge, or was by one that is dead.
const MERGING: &str = "merging";

/// A folder that is to become that of a run.
pub(crate) struct Fresh<'a> {
    folder: &'a Folder,
    _lock: RunLock,
    /// Whether the folder itself was made here.
    created: bool,
    kept: bool,
}

impl<'a> Fresh<'a> {
    /// Makes and locks the folder; one that holds anything of worth is refused.
    pub(crate) fn create(folder: &'a Folder) -> Result<Self, Failure> {
        let shown = folder.path().display();
        let created = match fs::read_dir(folder.path()) {
            Ok(entries) => {
                let foreign = entries.filter_map(Result::ok).map(|entry| entry.file_name()).find(|name| {
                    let name = name.to_string_lossy();
                    let ours = name == "run.toml" || MADE.contains(&&*name) || name.ends_with(".part");
                    !(ours || name == "summary.json" && folder.file(MERGING).exists())
                });
                if foreign.is_some() && !folder.file("run.toml").exists() && !folder.has_draws() {
                    return Err(Refusal::FolderFull { folder: folder.path().into() }.into());
                }
                false
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                fs::create_dir_all(folder.path()).map_err(|error| Refusal::Folder {
                    problem: format!("cannot make the folder {shown}: {error}"),
                })?;
                true
            }
            Err(error) => {
                let problem = format!("{shown} cannot be the folder of a run: {error}");
                return Err(Refusal::Folder { problem }.into());
            }
        };
        // Whoever is at work here is named first.
        let lock = RunLock::acquire(folder.path())?;
        let merging = folder.file(MERGING).exists();
        if folder.file("run.toml").exists() && !merging {
            return Err(Refusal::FolderTaken { folder: folder.path().into() }.into());
        }
        if folder.has_draws() && !merging {
            return Err(folder.without_settings());
        }
        let fresh = Self { folder, _lock: lock, created, kept: false };
        fresh.clear(merging);
        Ok(fresh)
    }

    /// Locks the folder of a run whose draws are to be made again, and removes them. `run.toml` stays until the new one replaces it.
    pub(crate) fn replacing(folder: &'a Folder) -> Result<Self, Failure> {
        let lock = RunLock::acquire(folder.path())?;
        let fresh = Self { folder, _lock: lock, created: false, kept: true };
        fresh.clear(false);
        Ok(fresh)
    }

    /// The run has begun: the folder stays.
    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }

    /// Runs `work`, which fills the folder with a whole run. Until that is done the folder is marked, so that nobody takes a part for the whole.
    pub(crate) fn fill<T>(&mut self, work: impl FnOnce(&Folder) -> Result<T, Failure>) -> Result<T, Failure> {
        let mark = self.folder.file(MERGING);
        austerity_io::run::write_file(
            &mark,
            b"A merge is writing to this folder, or was killed. `austerity merge` may be run again.\n",
        )?;
        let made = work(self.folder)?;
        fs::remove_file(&mark).map_err(|error| {
            Failure::Usage(format!("cannot remove {}: {error}; remove it by hand", mark.display()))
        })?;
        self.keep();
        Ok(made)
    }

    /// Removes what a beginning makes, but the lock; `settings` too where they are ours. Nothing can be done about what cannot be removed.
    fn clear(&self, settings: bool) {
        if settings {
            // First, so that a stop on the way leaves no settings without draws.
            let _ = fs::remove_file(self.folder.file("run.toml"));
            let _ = fs::remove_file(self.folder.file("summary.json"));
        }
        let Ok(entries) = fs::read_dir(self.folder.path()) else { return };
        for entry in entries.filter_map(Result::ok) {
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name == "draws.zarr" {
                let _ = fs::remove_dir_all(path);
            } else if !KEPT.contains(&&*name) && (MADE.contains(&&*name) || name.ends_with(".part")) {
                let _ = fs::remove_file(path);
            }
        }
        // Last, so that a stop on the way leaves the mark.
        let _ = fs::remove_file(self.folder.file(MERGING));
    }
}

impl Drop for Fresh<'_> {
    fn drop(&mut self) {
        if !self.kept {
            // A `run.toml` that is here was written by us, and its folder could not be brought to the disk.
            self.clear(true);
            // The lock is still held: nobody else can be at work here.
            let _ = fs::remove_file(self.folder.file("lock"));
            if self.created {
                let _ = fs::remove_dir(self.folder.path());
            }
        }
    }
}
