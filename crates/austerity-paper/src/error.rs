//! What can go wrong in an experiment.

use std::io;
use std::path::{Path, PathBuf};

/// A result of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why an experiment could not be finished.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The library refused.
    #[error(transparent)]
    Library(#[from] austerity::Error),
    /// A data file could not be read as wanted.
    #[error(transparent)]
    Data(#[from] austerity_io::Error),
    /// A file of results could not be written or a cached one not be read.
    #[error("{}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A run that contradicts a published one.
    #[error("{0}")]
    Contradicted(String),
    /// Ctrl-C.
    #[error("interrupted; ground truths and finished chains are kept: the same command goes on with them")]
    Interrupted,
}

impl Error {
    /// Names the file of an input or output error.
    pub(crate) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self + '_ {
        move |source| Self::File { path: path.into(), source }
    }
}
