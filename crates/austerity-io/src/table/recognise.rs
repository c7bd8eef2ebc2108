//! What a file is, by its first bytes and then by its extension.
//!
//! | first bytes | taken as |
//! |---|---|
//! | `PAR1` | Parquet |
//! | `\x93NUMPY` | NumPy `.npy` |
//! | gzip | delimited text, compressed |
//! | anything else that is text | delimited text; the extension `.tsv` says tab |
//!
//! A file that contradicts its extension (`.parquet` without the mark) is an error, not a guess.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use crate::error::{Error, Result};

/// First bytes looked at.
const MAGIC: usize = 8;

/// How a file is to be read.
pub(super) enum Recognised {
    Parquet,
    Npy,
    Text { gzip: bool },
}

/// Looks at the beginning of a file.
pub(super) fn recognise(path: &Path) -> Result<Recognised> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(Error::format(path, "is a directory", "give a file"));
    }
    let mut magic = Vec::new();
    file.take(MAGIC as u64).read_to_end(&mut magic).map_err(Error::io("read", path))?;
    let extension = path.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    if magic.is_empty() {
        return Err(Error::Empty { file: path.into(), what: "it has no bytes".into() });
    }
    match magic.as_slice() {
        [b'P', b'A', b'R', b'1', ..] => Ok(Recognised::Parquet),
        [b'P', b'A', b'R', b'E', ..] => Err(Error::format(path, "is encrypted Parquet", "decrypt it first")),
        [0x93, b'N', b'U', b'M', b'P', b'Y', ..] => Ok(Recognised::Npy),
        [0x1f, 0x8b, ..] => Ok(Recognised::Text { gzip: true }),
        [b'P', b'K', 3, 4, ..] => Err(Error::format(
            path,
            "is a zip archive (.npz, .xlsx and .zip files are)",
            "unpack it, or save the table as CSV or Parquet",
        )),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            Err(Error::format(path, "is compressed with zstd", "decompress it, or compress it with gzip"))
        }
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(Error::format(path, "is UTF-16 text", "save it as UTF-8")),
        _ => match extension.as_str() {
            "parquet" | "pq" => Err(Error::format(
                path,
                "is not a Parquet file: it does not begin with the mark PAR1",
                "check how it was written, or rename it if it is text",
            )),
            "npy" => Err(Error::format(
                path,
                "is not a NumPy file: it does not begin with the mark \\x93NUMPY",
                "write it with numpy.save",
            )),
            _ => Ok(Recognised::Text { gzip: false }),
        },
    }
}
