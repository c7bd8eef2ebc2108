//! What the sources must be: the sha256 of their unpacked content.
//!
//! There are three ways, and none of them is silent: the sums that this crate knows, a list of the user's own in the form
//! of `sha256sum` (for a mirror that serves other files), or none, which is said and recorded.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::fetch::catalog::DataSet;
use crate::fetch::error::{Error, Result};

/// Where the expected checksums come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Checksums {
    /// From the catalog.
    #[default]
    Known,
    /// From a list: lines `SHA256  NAME`, one for each source of the data set.
    Listed(PathBuf),
    /// None: whatever comes is taken, its checksum told and recorded.
    Unchecked,
}

impl Checksums {
    /// The expected sum of every source, in their order.
    pub(crate) fn of(&self, set: DataSet) -> Result<Vec<Option<String>>> {
        let sources = set.sources();
        match self {
            Self::Known => Ok(sources.iter().map(|source| Some(source.sha256.into())).collect()),
            Self::Unchecked => Ok(vec![None; sources.len()]),
            Self::Listed(path) => {
                let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
                let list = parse(path, &text)?;
                let found = |name: &str| list.iter().find(|(_, listed)| listed == name);
                sources
                    .iter()
                    .map(|source| match found(source.name) {
                        Some((sum, _)) => Ok(Some(sum.clone())),
                        None => Err(Error::Setting(format!(
                            "`{}` has no line for {}; every source needs one, `SHA256  NAME`",
                            path.display(),
                            source.name
                        ))),
                    })
                    .collect()
            }
        }
    }
}

/// Lines of `sha256sum`: the sum, spaces, perhaps a star, the name.
fn parse(path: &Path, text: &str) -> Result<Vec<(String, String)>> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(number, line)| {
            let (sum, name) = line.trim().split_once(char::is_whitespace).unwrap_or((line.trim(), ""));
            let name = name.trim_start().trim_start_matches('*');
            if sum.len() != 64 || !sum.bytes().all(|byte| byte.is_ascii_hexdigit()) || name.is_empty() {
                return Err(Error::Setting(format!(
                    "`{}`, line {}: `{line}` is not a sha256 of 64 hexadecimal digits and a name",
                    path.display(),
                    number + 1
                )));
            }
            Ok((sum.to_ascii_lowercase(), name.to_owned()))
        })
        .collect()
}

/// Checksum and length of everything that a reader gives.
pub(crate) fn sum(mut reader: impl Read) -> std::io::Result<(String, u64)> {
    let mut state = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    let mut bytes = 0;
    loop {
        match reader.read(&mut buffer)? {
            0 => return Ok((format!("{:x}", state.finalize()), bytes)),
            read => {
                state.update(&buffer[..read]);
                bytes += read as u64;
            }
        }
    }
}

/// The same of a file.
pub(crate) fn sum_of_file(path: &Path) -> Result<(String, u64)> {
    File::open(path).and_then(sum).map_err(Error::io("read", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_is_sha256() {
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum(b"abc".as_slice()).unwrap(), (expected.into(), 3));
    }

    #[test]
    fn lists_are_read_as_sha256sum_writes_them() {
        let digits = "AB".repeat(32);
        let text = format!("{digits}  a b\n\n{digits} *c\n");
        let list = parse(Path::new("sums"), &text).unwrap();
        assert_eq!(list, [(digits.to_lowercase(), "a b".into()), (digits.to_lowercase(), "c".into())]);
        for wrong in ["abc  name", &digits, &format!("{}g  name", &digits[1..])] {
            let message = parse(Path::new("sums"), wrong).unwrap_err().to_string();
            assert!(message.contains("`sums`, line 1"), "{message}");
        }
    }

    #[test]
    fn every_known_sum_is_one() {
        for set in DataSet::ALL {
            for source in set.sources() {
                assert!(source.sha256.len() == 64 && source.sha256.bytes().all(|b| b.is_ascii_hexdigit()));
            }
        }
    }
}
