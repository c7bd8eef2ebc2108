//! The folder of a new run: locked from the beginning, and gone again unless the run gets as far as its `run.toml`.
//!
//! `run.toml` is written last, so a folder without it holds no run, only what a beginning that was killed left behind. Such a folder is
//! taken over. So is what a merge that was killed left: it marks the folder with the file `merging` until it is done. Nothing else is ever removed: a file that no run makes, or a checkpoint of a chain that has moved, is refused.
//!
//! Without `--out` the folder is named after the data, in the working directory, and never one that is there already: `flights3m.parquet` gives `flights3m-run`, then
//! `flights3m-run-2`, and so on. Making the folder is what claims it, so two runs that begin at the same time get two folders.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use austerity_io::run::RunLock;

use super::Folder;
use crate::output::Failure;
use crate::parts::STATE;
use crate::refusal::Refusal;

/// What a beginning may leave behind, beside temporary files.
const MADE: [&str; 7] =
    ["checkpoint", "checkpoint.previous", "draws.zarr", "pairs.csv", STATE, "lock", MERGING];
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

/// Endings that say how a table is stored, not what it holds.
const ENDINGS: [&str; 8] = [".gz", ".zst", ".csv", ".tsv", ".parquet", ".npy", ".npz", ".uai"];
/// More runs of one table than anybody keeps.
const MOST_RUNS: usize = 10_000;

/// What runs of these data are called.
fn stem(data: &Path) -> String {
    let resolved;
    let named = if data.file_name().is_some() {
        data
    } else {
        // `.` or `store/..`: the folder has a name of its own.
        resolved = data.canonicalize().unwrap_or_default();
        &resolved
    };
    let mut name = named.file_name().and_then(OsStr::to_str).unwrap_or("austerity");
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) {
        if shorter.is_empty() {
            break;
        }
        name = shorter;
    }
    let kept = |letter: char| if "*?[]:\"<>|\\".contains(letter) { '_' } else { letter };
    format!("{}-run", name.chars().map(kept).collect::<String>())
}

/// The names that runs of these data take, in turn.
fn names(data: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = stem(data);
    (1..MOST_RUNS).map(move |number| match number {
        1 => PathBuf::from(&stem),
        _ => PathBuf::from(format!("{stem}-{number}")),
    })
}

/// Makes the folder of a new run of these data.
pub(crate) fn create_named(data: &Path) -> Result<Folder, Failure> {
    for name in names(data) {
        match fs::create_dir(&name) {
            Ok(()) => return Ok(Folder::new(&name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                let problem = format!("cannot make the folder {} here: {error}", name.display());
                return Err(Refusal::Folder { problem }.into());
            }
        }
    }
    Err(Refusal::Folder { problem: format!("{} and all its successors exist", stem(data)) }.into())
}

/// Why a run cannot go on without a name; tells the newest run of these data that is here.
pub(crate) fn missing_name(data: &Path) -> Failure {
    let newest = names(data).take_while(|name| name.exists()).last();
    let example = newest.unwrap_or_else(|| PathBuf::from("RUN"));
    Refusal::ResumeWhere { example }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_called_after_the_data() {
        for (data, run) in [
            ("flights3m.parquet", "flights3m-run"),
            ("/far/away/my.data.csv.gz", "my.data-run"),
            ("store", "store-run"),
            ("store/", "store-run"),
            (".csv", ".csv-run"),
            ("parts/*.parquet", "_-run"),
            ("2024.01", "2024.01-run"),
        ] {
            assert_eq!(stem(Path::new(data)), run, "{data}");
        }
        assert!(stem(Path::new("/")) == "austerity-run" && stem(Path::new(".")).ends_with("-run"));
        let second = names(Path::new("a.csv")).nth(1).unwrap();
        assert_eq!(second, Path::new("a-run-2"));
    }
}
