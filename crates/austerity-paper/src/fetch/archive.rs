//! One file out of a zip archive, stored or deflated.
//!
//! An archive ends with a directory: an end record (found from the back, since a comment may follow), entries with name, method,
//! packed size and place (PKWARE APPNOTE 6.3, sections 4.3.7, 4.3.12, 4.3.16). Encrypted files and archives beyond 4 GB (Zip64)
//! are refused; contents are checked by sha256 afterwards, so the archive's own CRC is not.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use flate2::read::DeflateDecoder;

use crate::fetch::content::Bytes;
use crate::fetch::error::{Error, Result};

const LOCAL: [u8; 4] = *b"PK\x03\x04";
const ENTRY: [u8; 4] = *b"PK\x01\x02";
const END: [u8; 4] = *b"PK\x05\x06";
/// Length of the end record without its comment, and of the longest comment.
const END_LENGTH: usize = 22;
const LONGEST_COMMENT: u64 = 0xffff;
/// Larger directories are not those of a data set.
const LARGEST_DIRECTORY: u32 = 1 << 24;

/// Whether a file begins as an archive does; leaves it at its beginning.
pub(crate) fn is_archive(file: &mut File) -> std::io::Result<bool> {
    let mut first = Vec::new();
    file.by_ref().take(4).read_to_end(&mut first)?;
    file.rewind()?;
    Ok(first == LOCAL)
}

/// Opens the first file whose name, without folders, is one of `names`.
pub(crate) fn open(path: &Path, mut file: File, names: &[&str]) -> Result<Bytes> {
    let wrong = |problem: &str| Error::damaged(path, problem);
    let cut = |error: std::io::Error| Error::damaged(path, format!("is no complete zip archive: {error}"));
    let directory = directory(&mut file).map_err(cut)?;
    let directory = directory.ok_or_else(|| wrong("is no complete zip archive: its directory is missing"))?;
    let mut seen = Vec::new();
    let mut rest = directory.as_slice();
    while rest.len() >= 46 && rest[..4] == ENTRY {
        let lengths = [28, 30, 32].map(|at| usize::from(short(rest, at)));
        let end = 46 + lengths.iter().sum::<usize>();
        if rest.len() < end {
            break;
        }
        let name = String::from_utf8_lossy(&rest[46..46 + lengths[0]]).into_owned();
        if names.contains(&name.rsplit('/').next().unwrap_or(&name)) {
            let (flags, method) = (short(rest, 8), short(rest, 10));
            let (packed, place) = (long(rest, 20), long(rest, 42));
            if flags & 1 != 0 {
                return Err(wrong("holds an encrypted file"));
            }
            if packed == u32::MAX || place == u32::MAX {
                return Err(wrong("is a Zip64 archive, which is not read here"));
            }
            let begin = begin_of_data(&mut file, u64::from(place)).map_err(cut)?;
            file.seek(SeekFrom::Start(begin)).map_err(Error::io("read", path))?;
            let data = file.take(u64::from(packed));
            return match method {
                0 => Ok(Box::new(data)),
                8 => Ok(Box::new(DeflateDecoder::new(data))),
                _ => {
                    Err(wrong(&format!("holds {name} packed by method {method}; only 0 and 8 are read here")))
                }
            };
        }
        seen.push(name);
        rest = &rest[end..];
    }
    Err(wrong(&format!("holds no {}, but {}", names.join(" or "), seen.join(", "))))
}

/// The bytes of the directory, if there is one.
fn directory(file: &mut File) -> std::io::Result<Option<Vec<u8>>> {
    let length = file.seek(SeekFrom::End(0))?;
    let back = length.min(END_LENGTH as u64 + LONGEST_COMMENT);
    file.seek(SeekFrom::Start(length - back))?;
    let mut tail = Vec::new();
    file.by_ref().take(back).read_to_end(&mut tail)?;
    let Some(end) = tail.windows(END_LENGTH).rposition(|window| window[..4] == END) else { return Ok(None) };
    let (size, place) = (long(&tail[end..], 12), long(&tail[end..], 16));
    if size > LARGEST_DIRECTORY || u64::from(place) + u64::from(size) > length {
        return Ok(None);
    }
    file.seek(SeekFrom::Start(u64::from(place)))?;
    let mut bytes = vec![0; size as usize];
    file.read_exact(&mut bytes)?;
    Ok(Some(bytes))
}

/// Where the data of an entry begin: after its local header, whose fields may be longer than the directory's.
fn begin_of_data(file: &mut File, place: u64) -> std::io::Result<u64> {
    file.seek(SeekFrom::Start(place))?;
    let mut header = [0; 30];
    file.read_exact(&mut header)?;
    if header[..4] != LOCAL {
        return Err(std::io::Error::other("an entry is not where the directory says"));
    }
    Ok(place + 30 + u64::from(short(&header, 26)) + u64::from(short(&header, 28)))
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}
