//! What goes to standard output, and what can go wrong on the way.

use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use austerity_io::text::printable_lines;
use austerity_plot::Figure;

use crate::refusal::Refusal;
use crate::request::{Dialect, Keyword};

/// Why a command could not do its job.
#[derive(Debug)]
pub enum Failure {
    /// The library refused.
    Library(austerity::Error),
    /// A file could not be read or written as wanted.
    File(austerity_io::Error),
    /// Another part of the program could not do its job.
    Other(Box<dyn std::error::Error + Send + Sync>),
    /// Somebody stopped it before the first draw.
    Interrupted,
    /// Draws could not be stored, and why.
    Unstored(String),
    /// A request that cannot be met.
    Refused(Refusal),
    /// Something else that the user can mend, in words.
    Usage(String),
    /// Writing failed.
    Writing(io::Error),
}

impl Failure {
    /// Of another part.
    pub fn other(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self::Other(Box::new(error))
    }

    /// What happened and what to do, for readers of this dialect.
    #[must_use]
    pub fn words(&self, dialect: Dialect) -> String {
        match self {
            Self::Refused(refusal) => refusal.words(dialect),
            Self::Unstored(why) => format!(
                "{why}. What was stored before is intact; make room and go on with {}",
                Keyword::Resume.spelled(dialect)
            ),
            _ => self.to_string(),
        }
    }

    /// Whether the reader of our output went away: no error.
    #[must_use]
    pub fn is_closed_pipe(&self) -> bool {
        matches!(self, Self::Writing(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Library(error) => write!(f, "{error}"),
            Self::File(error) => write!(f, "{error}"),
            Self::Other(error) => write!(f, "{error}"),
            Self::Interrupted => f.write_str("interrupted before the first draw; nothing was written"),
            Self::Unstored(_) | Self::Refused(_) => f.write_str(&self.words(Dialect::Shell)),
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

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(refusal)
    }
}

impl From<austerity_io::Error> for Failure {
    fn from(error: austerity_io::Error) -> Self {
        Self::File(error)
    }
}

impl std::error::Error for Failure {}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

/// Writes a picture to a file.
pub fn picture(path: &Path, figure: &Figure) -> Result<(), Failure> {
    Ok(austerity_io::run::write_file(path, figure.svg().as_bytes())?)
}

/// Prints a text and a line end; what a terminal would obey is shown as escapes.
pub fn say(text: impl fmt::Display) -> Result<(), Failure> {
    let text = text.to_string();
    let mut out = io::stdout().lock();
    writeln!(out, "{}", printable_lines(&text))?;
    out.flush()?;
    Ok(())
}

/// Prints a value as JSON.
pub fn json(value: &impl serde::Serialize) -> Result<(), Failure> {
    let value: &dyn erased_serde::Serialize = value;
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    say(text)
}
