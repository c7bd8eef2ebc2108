//! What goes to standard output, and what can go wrong on the way.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use austerity_plot::Figure;

/// Why a command could not do its job.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The library refused.
    Library(austerity::Error),
    /// A file could not be read or written as wanted.
    File(austerity_io::Error),
    /// An experiment could not be finished.
    Paper(austerity_paper::Error),
    /// A data set could not be fetched.
    Fetch(austerity_fetch::Error),
    /// Options that do not go together, or a value that an option refuses.
    Usage(String),
    /// Writing failed.
    Writing(io::Error),
}

impl Failure {
    /// Whether the reader of our output went away: no error.
    pub(crate) fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Writing(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => write!(f, "{error}"),
            Self::File(error) => write!(f, "{error}"),
            Self::Paper(error) => write!(f, "{error}"),
            Self::Fetch(error) => write!(f, "{error}"),
            Self::Usage(text) => f.write_str(text),
            Self::Writing(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl From<austerity::Error> for Failure {
    fn from(error: austerity::Error) -> Self {
        Self::Library(error)
    }
}

impl From<austerity_io::Error> for Failure {
    fn from(error: austerity_io::Error) -> Self {
        Self::File(error)
    }
}

impl From<austerity_paper::Error> for Failure {
    fn from(error: austerity_paper::Error) -> Self {
        Self::Paper(error)
    }
}

impl From<austerity_fetch::Error> for Failure {
    fn from(error: austerity_fetch::Error) -> Self {
        Self::Fetch(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

/// Writes a picture to a file.
pub(crate) fn picture(path: &Path, figure: &Figure) -> Result<(), Failure> {
    std::fs::write(path, figure.svg())
        .map_err(|error| Failure::Usage(format!("cannot write {}: {error}", path.display())))
}

/// Prints a text and a line end.
pub(crate) fn say(text: impl fmt::Display) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    out.flush()?;
    Ok(())
}

/// Prints a value as JSON.
pub(crate) fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    say(text)
}
