//! Where a run stands, in a file that survives crashes: two generations, checked before they are believed.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `AUSTCKPT` |
//! | 4 | version of this format, little-endian, now 1 |
//! | 8 | length of the content, little-endian |
//! | 4 | CRC-32C of version, length and content, little-endian |
//! | … | the content, MessagePack with named fields |
//!
//! MessagePack, because the content has enums that are told apart by a tag inside (they need a format that describes itself, which
//! rules out postcard), because doubles keep all 64 bits (CBOR in its common form shortens them and loses the payload
//! of a NaN; JSON has no NaN), and because a field added later with a default can still be read.
//!
//! [`write()`] first makes the new file durable under a temporary name, then moves the present one to `NAME.previous`, if it is
//! intact, then the new one into its place: at every moment one intact generation is there. A run goes on from the newest
//! of the [`candidates`] whose draws are on disk; that is why the one before is kept.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::atomic::Batch;
use crate::error::{Error, Result};

const MAGIC: &[u8; 8] = b"AUSTCKPT";
const VERSION: u32 = 1;
const HEADER: usize = 24;

/// A checkpoint that was read.
#[derive(Clone, Debug, PartialEq)]
pub struct Found<T> {
    /// The content.
    pub value: T,
    /// Why the newest could not be used, when this is the one before.
    pub fallback: Option<String>,
}

/// The file of the generation before.
#[must_use]
pub fn previous(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".previous");
    name.into()
}

/// Writes a checkpoint and keeps the one before; when this fails, those on disk are as they were.
pub fn write(path: impl AsRef<Path>, value: &impl Serialize) -> Result<()> {
    write_any(path.as_ref(), value)
}

fn write_any(path: &Path, value: &dyn erased_serde::Serialize) -> Result<()> {
    let content = rmp_serde::to_vec_named(value).map_err(|error| Error::Io {
        action: "write",
        file: path.into(),
        source: std::io::Error::other(error),
    })?;
    let length = (content.len() as u64).to_le_bytes();
    let checksum = checksum(&VERSION.to_le_bytes(), &length, &content);
    let mut batch = Batch::default();
    batch.write(path, &[MAGIC, &VERSION.to_le_bytes(), &length, &checksum, &content])?;
    // The new one must be whole on the disk before the present one gives up its name.
    batch.sync()?;
    // A damaged file must not push out the intact one before it.
    if content_of(path).is_ok() {
        fs::rename(path, previous(path)).map_err(Error::io("write", path))?;
    }
    batch.commit()
}

/// Reads the newest intact checkpoint; the error, when there is none, is that of the newest file that is there.
pub fn read<T: DeserializeOwned>(path: impl AsRef<Path>) -> Result<Found<T>> {
    let mut first: Option<Error> = None;
    for candidate in candidates(path) {
        match candidate {
            Ok(value) => return Ok(Found { value, fallback: first.map(|error| error.to_string()) }),
            Err(error) => first = Some(first.unwrap_or(error)),
        }
    }
    Err(first.unwrap_or_else(|| Error::Io {
        action: "read",
        file: PathBuf::new(),
        source: ErrorKind::NotFound.into(),
    }))
}

/// What is there, newest first: intact checkpoints, or what is wrong with them. When there is no file at all, one
/// error that says so.
pub fn candidates<T: DeserializeOwned>(path: impl AsRef<Path>) -> Vec<Result<T>> {
    let path = path.as_ref();
    let both = [path.to_path_buf(), previous(path)];
    let there: Vec<&PathBuf> = both.iter().filter(|file| file.exists()).collect();
    let files = if there.is_empty() { vec![&both[0]] } else { there };
    files.into_iter().map(|file| decode(file)).collect()
}

/// The content of one file, if it is intact.
pub fn decode<T: DeserializeOwned>(file: &Path) -> Result<T> {
    let content = content_of(file)?;
    let mut packed = rmp_serde::Deserializer::from_read_ref(&content);
    let mut packed = <dyn erased_serde::Deserializer<'_>>::erase(&mut packed);
    erased_serde::deserialize(&mut packed).map_err(|error| {
        let remedy = "resume with the version of the program that wrote it";
        Error::format(file, format!("is a checkpoint of another kind ({error})"), remedy)
    })
}

/// The content of a checkpoint file whose header and checksum are right.
fn content_of(file: &Path) -> Result<Vec<u8>> {
    let mut bytes = fs::read(file).map_err(Error::io("read", file))?;
    let damaged =
        |problem: String| Error::format(file, problem, "resume from the checkpoint before it, or run anew");
    if !bytes.starts_with(MAGIC) {
        let cut = MAGIC.starts_with(&bytes);
        let problem = if cut { "is a truncated checkpoint" } else { "is not a checkpoint" };
        return Err(damaged(format!("{problem} ({} bytes)", bytes.len())));
    }
    let Some((head, content)) = bytes.split_at_checked(HEADER) else {
        return Err(damaged(format!("is a truncated checkpoint ({} bytes)", bytes.len())));
    };
    let (version, length, stored) = (&head[8..12], &head[12..20], &head[20..24]);
    if version != VERSION.to_le_bytes() {
        let found = version.first_chunk().map_or(0, |v| u32::from_le_bytes(*v));
        let problem = format!("is a checkpoint of version {found} where {VERSION} is understood, or damaged");
        return Err(Error::format(file, problem, "use the version of the program that wrote it"));
    }
    let expected = length.first_chunk().map_or(0, |length| u64::from_le_bytes(*length));
    if expected != content.len() as u64 {
        let problem =
            format!("is a damaged checkpoint: {} bytes of content instead of {expected}", content.len());
        return Err(damaged(problem));
    }
    if checksum(version, length, content) != stored {
        return Err(damaged("is a damaged checkpoint: its checksum does not fit".into()));
    }
    bytes.drain(..HEADER);
    Ok(bytes)
}

fn checksum(version: &[u8], length: &[u8], content: &[u8]) -> [u8; 4] {
    super::zarr::checksum(&[version, length, content])
}

#[cfg(test)]
mod tests;
