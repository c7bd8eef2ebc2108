//! A checksum that a text file carries in itself: one changed, missing or added byte is noticed.
//!
//! The writer leaves the place `crc32c:00000000` in its text, in a comment of TOML and HTML or as a value of JSON. [`apply`] puts
//! the CRC-32C of that very text (with its zeros) in their place, and [`check`] does the same and compares. A file and its
//! checksum are so written together: no crash can come between them. CRC-32C notices every change of up to 32 bits in a row, every
//! change of up to three bits in files of this size, and all others but one in 2³².
//!
//! Not a signature: whoever changes a file on purpose can compute the checksum, too.

use std::path::Path;

use crate::error::{Error, Result};

/// What stands before the digits.
const MARK: &[u8] = b"crc32c:";
/// Hexadecimal digits of a checksum.
const DIGITS: usize = 8;

/// What a text must have at the place of its checksum.
pub const PLACE: &str = "crc32c:00000000";
/// The name under which JSON files carry it.
pub const KEY: &str = "checksum";

/// Whether a text is what was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seal {
    /// It carries no checksum: a file of an earlier version.
    Absent,
    /// It is what was written.
    Sound,
    /// It is not.
    Broken,
}

/// A checksum as it is spelled in files.
#[must_use]
pub fn spell(sum: u32) -> String {
    format!("crc32c:{sum:08x}")
}

/// The checksum of some bytes, as it is spelled in files.
#[must_use]
pub fn of(bytes: &[u8]) -> String {
    spell(crc32c::crc32c(bytes))
}

/// Puts the checksum of a text into its first [`PLACE`].
#[must_use]
pub fn apply(text: &str) -> String {
    text.replacen(PLACE, &of(text.as_bytes()), 1)
}

/// Compares a text with the checksum that it carries.
#[must_use]
pub fn check(bytes: &[u8]) -> Seal {
    let Some(mark) = bytes.windows(MARK.len()).position(|window| window == MARK) else { return Seal::Absent };
    let from = mark + MARK.len();
    let Some(digits) = bytes.get(from..from + DIGITS) else { return Seal::Broken };
    let sum = crc32c::crc32c_append(crc32c::crc32c(&bytes[..from]), &[b'0'; DIGITS]);
    let sum = crc32c::crc32c_append(sum, &bytes[from + DIGITS..]);
    if digits == format!("{sum:08x}").as_bytes() { Seal::Sound } else { Seal::Broken }
}

/// Reads a file and refuses one that is not what was written; a file without a checksum passes.
pub fn read(file: &Path, remedy: &str) -> Result<Vec<u8>> {
    let bytes = std::fs::read(file).map_err(Error::io("read", file))?;
    match check(&bytes) {
        Seal::Broken => Err(Error::format(file, "is damaged (its checksum does not fit)", remedy)),
        Seal::Absent | Seal::Sound => Ok(bytes),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_flip_and_every_cut_is_noticed() {
        let text = apply(&format!("# checksum {PLACE}\nrows = 300\nname = \"größe\"\n"));
        assert!(!text.contains(PLACE) && check(text.as_bytes()) == Seal::Sound, "{text}");
        for byte in 0..text.len() {
            for bit in 0..8 {
                let mut flipped = text.clone().into_bytes();
                flipped[byte] ^= 1 << bit;
                // A flip in the mark itself hides the checksum: whoever knows that there must be one asks for `Sound`.
                assert_ne!(check(&flipped), Seal::Sound, "byte {byte}, bit {bit}");
            }
        }
        for end in 0..text.len() {
            assert_ne!(check(&text.as_bytes()[..end]), Seal::Sound, "cut at {end}");
        }
        assert_eq!(check(b"rows = 300\n"), Seal::Absent);
        assert_eq!(check(format!("{text}#").as_bytes()), Seal::Broken);
    }
}
