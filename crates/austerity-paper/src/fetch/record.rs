//! Where the files of a data set came from: `NAME.json` beside them, with a checksum of each.
//!
//! A second call reads the record, compares, and has nothing to do. A record of unchecked sources does not satisfy a call that
//! knows what they must be, unless they are just that.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::fetch::Event;
use crate::fetch::catalog::DataSet;
use crate::fetch::checksums::sum_of_file;
use crate::fetch::error::{Error, Result};
use crate::fetch::prepare::Prepared;

/// Sources and files of a data set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The data set.
    pub data_set: DataSet,
    /// What was downloaded.
    pub sources: Vec<SourceEntry>,
    /// What was made of it.
    pub files: Vec<FileEntry>,
    /// What was noticed on the way.
    pub remarks: Vec<String>,
}

/// One source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceEntry {
    /// Name of the content.
    pub name: String,
    /// The address or file it came from.
    pub from: String,
    /// sha256 of the content.
    pub sha256: String,
    /// Length of the content.
    pub bytes: u64,
    /// Whether it was known what the checksum must be.
    pub checked: bool,
}

/// One file that was made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Its name.
    pub name: String,
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub columns: usize,
    /// sha256 of the file.
    pub sha256: String,
}

impl Record {
    pub(crate) fn new(
        set: DataSet,
        sources: Vec<SourceEntry>,
        made: &Prepared,
        folder: &Path,
    ) -> Result<Self> {
        let files = made
            .tables
            .iter()
            .map(|table| {
                let (sha256, _) = sum_of_file(&folder.join(&table.name))?;
                Ok(FileEntry { name: table.name.clone(), rows: table.rows, columns: table.columns, sha256 })
            })
            .collect::<Result<_>>()?;
        Ok(Self { data_set: set, sources, files, remarks: made.remarks.clone() })
    }

    /// The record of a folder; one that cannot be understood counts as none.
    pub(crate) fn read(folder: &Path, set: DataSet) -> Result<Option<Self>> {
        let path = folder.join(format!("{set}.json"));
        match std::fs::read(&path) {
            Ok(bytes) => {
                Ok(serde_json::from_slice(&bytes).ok().filter(|record: &Self| record.data_set == set))
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(source) => Err(Error::Io { action: "read", file: path, source }),
        }
    }

    pub(crate) fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(format!("{}.json", self.data_set));
        let text =
            serde_json::to_vec_pretty(self).map_err(|error| Error::io("write", &path)(error.into()))?;
        Ok(austerity_io::run::write_file(&path, &text)?)
    }

    /// Whether the sources are what is expected now; where nothing is expected, nothing is known to be right.
    pub(crate) fn satisfies(&self, expected: &[Option<String>]) -> bool {
        self.sources.len() == expected.len()
            && self.sources.iter().zip(expected).all(|(source, sum)| sum.as_ref() == Some(&source.sha256))
    }

    /// Whether every file is there as it was written.
    pub(crate) fn files_are_intact(&self, folder: &Path, watch: &mut dyn FnMut(&Event)) -> Result<bool> {
        for file in &self.files {
            let path = folder.join(&file.name);
            if !path.is_file() {
                return Ok(false);
            }
            watch(&Event::Checking { file: file.name.clone() });
            if sum_of_file(&path)?.0 != file.sha256 {
                return Ok(false);
            }
        }
        Ok(self.files.len() == self.data_set.files().len())
    }
}
