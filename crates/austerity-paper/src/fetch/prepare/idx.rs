//! MNIST's idx format: two zero bytes, the kind of numbers (8: bytes), the number of dimensions, the dimensions as 32-bit big-endian
//! numbers, then the numbers themselves, last dimension fastest.

use std::io::Read;
use std::path::Path;

use super::wrong;
use crate::fetch::content;
use crate::fetch::error::{Error, Result};

/// An array of bytes.
pub(super) struct Idx {
    pub(super) dimensions: Vec<usize>,
    pub(super) bytes: Vec<u8>,
}

/// More than this is no image set: refuses absurd headers before memory is asked for.
const MOST: usize = 1 << 30;

/// Reads an array with the given number of dimensions.
pub(super) fn read(path: &Path, name: &str, dimensions: usize) -> Result<Idx> {
    let mut reader = content::open(path, name)?;
    let damaged = |error: std::io::Error| Error::damaged(path, format!("cannot be unpacked: {error}"));
    let mut header = Vec::new();
    reader.by_ref().take(4 + 4 * dimensions as u64).read_to_end(&mut header).map_err(damaged)?;
    let expected = [0, 0, 8, dimensions as u8];
    if header.get(..4) != Some(&expected[..]) || header.len() < 4 + 4 * dimensions {
        let found = &header[..header.len().min(4)];
        return Err(wrong(name, None, format!("begins with {found:?} where idx has {expected:?}")));
    }
    let sizes: Vec<usize> =
        header[4..].chunks_exact(4).map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]) as usize).collect();
    let length =
        sizes.iter().try_fold(1usize, |product, &size| product.checked_mul(size)).filter(|&n| n <= MOST);
    let Some(length) = length else {
        return Err(wrong(name, None, format!("says it has dimensions {sizes:?}")));
    };
    let mut bytes = Vec::new();
    reader.take(length as u64 + 1).read_to_end(&mut bytes).map_err(damaged)?;
    if bytes.len() != length {
        let found = if bytes.len() > length { "more".into() } else { bytes.len().to_string() };
        return Err(wrong(
            name,
            None,
            format!("has dimensions {sizes:?}, so {length} bytes, but {found} follow"),
        ));
    }
    Ok(Idx { dimensions: sizes, bytes })
}
