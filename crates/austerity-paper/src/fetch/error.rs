//! The one error type of the crate: every message names the address or file, what was expected, and a remedy.

use std::path::{Path, PathBuf};

/// What went wrong, in words a user can act on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The server has no such file.
    #[error(
        "{url} answered {status}: the file is not there; check the address, or name a mirror with --from"
    )]
    Missing {
        /// The address.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// The server would not give the file.
    #[error(
        "{url} answered {status} where 200 (or 206 for the rest of a file) was expected; try again later, or name a mirror with --from"
    )]
    Refused {
        /// The address.
        url: String,
        /// The status of the answer.
        status: u16,
    },
    /// No connection.
    #[error(
        "cannot reach {url}: {problem}; check the network and the proxy (HTTPS_PROXY), name a mirror with --from, or fetch the file in another way and give its folder with --from"
    )]
    Unreachable {
        /// The address.
        url: String,
        /// What was wrong.
        problem: String,
    },
    /// The server fell silent.
    #[error("{url} was silent for {seconds} s ({} received); try again to go on from there, allow more with --timeout, or name a mirror with --from", sizes(*received, *expected))]
    Stalled {
        /// The address.
        url: String,
        /// Seconds waited.
        seconds: f64,
        /// Bytes that are there.
        received: u64,
        /// Bytes in all, if known.
        expected: Option<u64>,
    },
    /// The answer ended early.
    #[error("{url} ended early: {} received; try again to go on from there, or name a mirror with --from", sizes(*received, Some(*expected)))]
    Truncated {
        /// The address.
        url: String,
        /// Bytes in all.
        expected: u64,
        /// Bytes that are there.
        received: u64,
    },
    /// Not the file that was wanted.
    #[error(
        "{name} from {from} is not the file that is known: sha256 expected {expected}, found {found}; name a mirror with --from, or, if you trust this file, give a list that has the line `{found}  {name}` with --checksums"
    )]
    Checksum {
        /// Name of the source.
        name: String,
        /// The address or folder it came from.
        from: String,
        /// The checksum it must have.
        expected: String,
        /// The checksum it has.
        found: String,
    },
    /// A file that cannot be unpacked.
    #[error("`{}` {problem}; remove it and fetch again, or name a mirror with --from", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// What is wrong, as the rest of a sentence.
        problem: String,
    },
    /// A source without the expected content.
    #[error("{name}{}: {problem}; this is not the data set as it was published: name its home or a true mirror with --from", line.map_or_else(String::new, |line| format!(", line {line}")))]
    Content {
        /// Name of the source.
        name: String,
        /// Line of the text, from 1, for text.
        line: Option<usize>,
        /// What is wrong.
        problem: String,
    },
    /// A file of that name is there and not ours.
    #[error("`{}` exists and was not written by this command; it is never replaced: remove it, or give another folder with --out", file.display())]
    Foreign {
        /// The file.
        file: PathBuf,
    },
    /// Every home failed.
    #[error("{name} could not be had from {} places:\n  {}", .failures.len(), .failures.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n  "))]
    Nowhere {
        /// Name of the source.
        name: String,
        /// What went wrong at each.
        failures: Vec<Error>,
    },
    /// A folder without the source.
    #[error("`{}` has none of {}; put the file there under one of these names", folder.display(), names.join(", "))]
    Absent {
        /// The folder.
        folder: PathBuf,
        /// Names that were looked for.
        names: Vec<String>,
    },
    /// The operating system refused.
    #[error("cannot {action} `{}`: {source}; check the folder, its permissions and the space left", file.display())]
    Io {
        /// "read", "write", …
        action: &'static str,
        /// The file.
        file: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// An option with a value that makes no sense.
    #[error("{0}")]
    Setting(String),
    /// A table could not be written.
    #[error(transparent)]
    Table(#[from] austerity_io::Error),
}

/// A result with this crate's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// Shorthand for [`Error::Io`], to be used in `map_err`.
    pub(crate) fn io(action: &'static str, file: &Path) -> impl FnOnce(std::io::Error) -> Self {
        move |source| Self::Io { action, file: file.into(), source }
    }

    /// Shorthand for [`Error::Damaged`].
    pub(crate) fn damaged(file: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged { file: file.into(), problem: problem.into() }
    }

    /// Whether the same request may succeed a moment later.
    pub(crate) fn may_pass(&self) -> bool {
        match self {
            Self::Refused { status, .. } => matches!(status, 408 | 429 | 500..),
            Self::Unreachable { .. } | Self::Stalled { .. } | Self::Truncated { .. } => true,
            _ => false,
        }
    }
}

fn sizes(received: u64, expected: Option<u64>) -> String {
    match expected {
        Some(expected) => format!("{received} of {expected} bytes"),
        None => format!("{received} bytes"),
    }
}
