//! The content of a source, whatever it is packed in: gzip, a zip archive with the file (itself gzipped or not), or nothing.
//!
//! What a file is follows from its first bytes, not from its name.

use std::fs::File;
use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use flate2::read::MultiGzDecoder;

use crate::fetch::archive;
use crate::fetch::error::{Error, Result};

/// A stream of bytes.
pub(crate) type Bytes = Box<dyn Read>;

/// Opens a file and unpacks the content called `name`.
pub(crate) fn open(path: &Path, name: &str) -> Result<Bytes> {
    let mut file = File::open(path).map_err(Error::io("read", path))?;
    let reader: Bytes = if archive::is_archive(&mut file).map_err(Error::io("read", path))? {
        archive::open(path, file, &[name, &format!("{name}.gz")])?
    } else {
        Box::new(file)
    };
    unpack(reader).map_err(|error| Error::damaged(path, format!("cannot be unpacked: {error}")))
}

/// Unpacks gzip, passes on everything else.
fn unpack(mut reader: Bytes) -> std::io::Result<Bytes> {
    let mut first = Vec::new();
    reader.by_ref().take(2).read_to_end(&mut first)?;
    let gzip = first == [0x1f, 0x8b];
    let whole = Cursor::new(first).chain(reader);
    Ok(if gzip {
        Box::new(BufReader::with_capacity(1 << 16, MultiGzDecoder::new(whole)))
    } else {
        Box::new(BufReader::with_capacity(1 << 16, whole))
    })
}
