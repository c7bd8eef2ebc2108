//! The public data sets of the experiments, from their homes to Parquet files: [`fetch`] downloads, checks and prepares.
//!
//! | file | holds |
//! |---|---|
//! | [`catalog`] | [`DataSet`]: what can be fetched, from where, and the sha256 of every source |
//! | [`checksums`] | [`Checksums`]: what the sources must be; nothing is skipped silently |
//! | [`download`] | one file over HTTP(S): resumed, timed out, retried |
//! | [`record`] | [`Record`]: where the files of a data set came from; makes a second call free |
//! | `content`, `archive` | the wanted content of a gzip file, a zip archive or a plain file |
//! | `prepare` | idx images to principal components, UCI text to tables |
//!
//! ```no_run
//! use austerity_paper::fetch::{DataSet, Options, fetch};
//! let fetched = fetch(DataSet::Covertype, &Options::new("data"), &mut |_| {})?;
//! println!("{} files", fetched.record.files.len());
//! # Ok::<(), austerity_paper::fetch::Error>(())
//! ```
//!
//! The folder that is written is what the variable `AUSTERITY_DATA` names. Sources stay in `downloads` inside it: they may be removed,
//! the prepared files do not need them. A checksum is of the **content**, unpacked: mirrors pack the same bytes differently.

pub mod catalog;
pub mod checksums;
pub mod download;
pub mod error;
pub mod record;

mod archive;
mod content;
mod obtain;
mod prepare;

use std::path::PathBuf;
use std::time::Duration;

pub use catalog::{DataSet, Source};
pub use checksums::Checksums;
pub use error::{Error, Result};
pub use record::Record;

/// Where the sources come from, when it is not their homes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The address of a folder, or of the file itself where a data set has one source only.
    Address(String),
    /// A folder on disk that holds the sources, fetched in another way.
    Folder(PathBuf),
}

impl Origin {
    /// What was typed: an address begins with `http://` or `https://`, everything else is a folder.
    pub fn parse(text: &str) -> Result<Self> {
        if text.starts_with("http://") || text.starts_with("https://") {
            return Ok(Self::Address(text.into()));
        }
        let remedy = "give an address (http://… or https://…) or a folder on this machine";
        if text.contains("://") {
            return Err(Error::Setting(format!(
                "`{text}` is an address of a kind that is not fetched; {remedy}"
            )));
        }
        let folder = PathBuf::from(text);
        if !folder.is_dir() {
            return Err(Error::Setting(format!("`{text}` is no folder; {remedy}")));
        }
        Ok(Self::Folder(folder))
    }
}

/// How to fetch.
#[derive(Clone, Debug)]
pub struct Options {
    /// The folder to write.
    pub out: PathBuf,
    /// Where the sources come from; their homes if `None`.
    pub from: Option<Origin>,
    /// What the sources must be.
    pub checksums: Checksums,
    /// Time to connect, and the longest silence of a server.
    pub timeout: Duration,
    /// Attempts in a row that bring nothing before a server is given up.
    pub tries: u32,
}

impl Options {
    /// From the homes of the data, with the known checksums, 30 s of patience and 3 attempts.
    pub fn new(out: impl Into<PathBuf>) -> Self {
        Self {
            out: out.into(),
            from: None,
            checksums: Checksums::Known,
            timeout: Duration::from_secs(30),
            tries: 3,
        }
    }
}

/// What happens while fetching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Bytes arrive.
    Receiving {
        /// The file.
        file: String,
        /// Bytes that are there.
        received: u64,
        /// Bytes in all, if the server told.
        total: Option<u64>,
        /// Bytes that were there from an earlier attempt.
        resumed: u64,
    },
    /// An attempt failed and another is made.
    Again {
        /// What was wrong.
        problem: String,
    },
    /// A source is there from an earlier call, and it is right.
    Kept {
        /// The file.
        file: String,
    },
    /// A checksum is computed.
    Checking {
        /// The file.
        file: String,
    },
    /// A source was taken without knowing what it must be.
    Unchecked {
        /// The file.
        file: String,
        /// The checksum it has.
        sha256: String,
    },
    /// The sources are turned into tables.
    Preparing,
}

/// What was fetched.
#[derive(Clone, Debug)]
pub struct Fetched {
    /// The folder.
    pub folder: PathBuf,
    /// Sources and files.
    pub record: Record,
    /// Whether everything was there already.
    pub present: bool,
}

/// Downloads, checks and prepares a data set; does nothing where the folder has it already.
///
/// Files of the same names that were not written by this function are never replaced.
pub fn fetch(set: DataSet, options: &Options, watch: &mut dyn FnMut(&Event)) -> Result<Fetched> {
    let out = &options.out;
    let expected = options.checksums.of(set)?;
    let known = Record::read(out, set)?;
    if let Some(record) = &known
        && record.satisfies(&expected)
        && record.files_are_intact(out, watch)?
    {
        return Ok(Fetched { folder: out.clone(), record: record.clone(), present: true });
    }
    for name in set.files() {
        let ours = known.as_ref().is_some_and(|record| record.files.iter().any(|file| file.name == *name));
        if !ours && out.join(name).exists() {
            return Err(Error::Foreign { file: out.join(name) });
        }
    }
    std::fs::create_dir_all(out).map_err(Error::io("make", out))?;
    let sources: Vec<obtain::Obtained> = set
        .sources()
        .iter()
        .zip(&expected)
        .map(|(source, sum)| {
            let wanted = obtain::Wanted { source, expected: sum.as_deref() };
            obtain::obtain(set, wanted, options, watch)
        })
        .collect::<Result<_>>()?;
    watch(&Event::Preparing);
    let paths: Vec<&std::path::Path> = sources.iter().map(|source| source.path.as_path()).collect();
    let tables = prepare::prepare(set, &paths, out)?;
    let record = Record::new(set, sources.into_iter().map(|source| source.entry).collect(), &tables, out)?;
    record.write(out)?;
    Ok(Fetched { folder: out.clone(), record, present: false })
}
