//! What a comparison of files with their checksums found.

use std::path::{Path, PathBuf};

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damage {
    /// The file.
    pub file: PathBuf,
    /// What is wrong, as the rest of a sentence that begins with the file.
    pub problem: String,
    /// What is lost with it.
    pub lost: String,
}

/// What was looked at, and what is wrong with it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verified {
    /// Files read.
    pub files: usize,
    /// Bytes in them.
    pub bytes: u64,
    /// What is damaged.
    pub damage: Vec<Damage>,
    /// What a reader should know beside.
    pub notes: Vec<String>,
}

impl Verified {
    /// A file that was read.
    pub(crate) fn count(&mut self, file: &Path) {
        self.files += 1;
        self.bytes += std::fs::metadata(file).map_or(0, |found| found.len());
    }

    /// What was found elsewhere, too.
    pub fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.damage.extend(other.damage);
        self.notes.extend(other.notes);
    }

    /// A file that is not what was written.
    pub fn lose(&mut self, file: impl Into<PathBuf>, problem: impl Into<String>, lost: impl Into<String>) {
        self.damage.push(Damage { file: file.into(), problem: problem.into(), lost: lost.into() });
    }
}
