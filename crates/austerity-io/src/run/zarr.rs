//! As much of Zarr version 3 as draws need: metadata as JSON, chunks as little-endian numbers with a checksum.
//!
//! An array is a folder with a `zarr.json` and one file per chunk, `c.I.J…` (default keys, separator `.`, so that all
//! chunks of an array share one folder). Codecs: `bytes` (little-endian) or `vlen-utf8` for text, then
//! `crc32c`: four bytes over all before, so that a truncated or altered chunk is noticed by every reader. No compression:
//! draws are noise in all but a few bits. Chunks have their full length always; **what is not filled yet repeats a byte
//! that no draw repeats** (all ones for doubles: a NaN that no arithmetic produces), so a chunk tells by itself how many
//! draws it holds.
//!
//! The root repeats the metadata of all nodes (consolidated metadata), parents before children as
//! zarr-python asks for; the order of names does that.
//!
//! Not a Zarr library: it reads what it writes.

use serde_json::{Map, Value, json};

/// Bytes of the checksum.
pub(super) const CHECKSUM: usize = 4;

/// How the numbers of an array are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NumberType {
    /// True or false, a byte.
    Bool,
    /// A byte without sign.
    Uint8,
    /// A byte with sign.
    Int8,
    /// Four bytes with sign.
    Int32,
    /// Eight bytes with sign.
    Int64,
    /// Double precision.
    Float64,
}

impl NumberType {
    const ALL: [Self; 6] = [Self::Bool, Self::Uint8, Self::Int8, Self::Int32, Self::Int64, Self::Float64];

    /// The name in Zarr and NumPy.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Uint8 => "uint8",
            Self::Int8 => "int8",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float64 => "float64",
        }
    }

    /// The type of that name.
    pub(super) fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|number| number.name() == name)
    }

    /// Bytes of a number.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::Bool | Self::Uint8 | Self::Int8 => 1,
            Self::Int32 => 4,
            Self::Int64 | Self::Float64 => 8,
        }
    }

    /// The byte that fills what is not drawn yet: NaN, 255, or a negative number other than −1.
    pub(super) fn padding(self) -> u8 {
        match self {
            Self::Bool | Self::Uint8 | Self::Float64 => 0xFF,
            Self::Int8 | Self::Int32 | Self::Int64 => 0x80,
        }
    }

    /// What a reader sees where a chunk is missing: not a number, where there is such a thing.
    fn fill(self) -> Value {
        match self {
            Self::Bool => json!(false),
            Self::Float64 => json!("NaN"),
            _ => json!(0),
        }
    }

    /// Appends numbers; one out of range becomes the nearest in range.
    pub(super) fn encode(self, values: impl ExactSizeIterator<Item = f64>, out: &mut Vec<u8>) {
        match self {
            Self::Bool => out.extend(values.map(|value| u8::from(value != 0.0))),
            Self::Uint8 => out.extend(values.map(|value| value as u8)),
            Self::Int8 => append(values.map(|value| (value as i8).to_le_bytes()), out),
            Self::Int32 => append(values.map(|value| (value as i32).to_le_bytes()), out),
            Self::Int64 => append(values.map(|value| (value as i64).to_le_bytes()), out),
            Self::Float64 => append(values.map(f64::to_le_bytes), out),
        }
    }

    /// Reads the number at the beginning of `bytes`; NaN if there is none.
    pub(super) fn decode(self, bytes: &[u8]) -> f64 {
        let four = || bytes.first_chunk().map_or(f64::NAN, |b| f64::from(i32::from_le_bytes(*b)));
        match self {
            Self::Bool => bytes.first().map_or(f64::NAN, |b| f64::from(u8::from(*b != 0))),
            Self::Uint8 => bytes.first().map_or(f64::NAN, |b| f64::from(*b)),
            Self::Int8 => bytes.first().map_or(f64::NAN, |b| f64::from(b.cast_signed())),
            Self::Int32 => four(),
            Self::Int64 => bytes.first_chunk().map_or(f64::NAN, |b| i64::from_le_bytes(*b) as f64),
            Self::Float64 => bytes.first_chunk().map_or(f64::NAN, |b| f64::from_le_bytes(*b)),
        }
    }
}

/// Appends numbers whole: room first, since bytes one by one would take longer than all the rest.
pub(super) fn append<const BYTES: usize>(
    numbers: impl ExactSizeIterator<Item = [u8; BYTES]>,
    out: &mut Vec<u8>,
) {
    let from = out.len();
    out.resize(from + BYTES * numbers.len(), 0);
    let slots = out[from..].as_chunks_mut::<BYTES>().0;
    slots.iter_mut().zip(numbers).for_each(|(slot, number)| *slot = number);
}

/// The metadata of a group.
pub(super) fn group(attributes: &Map<String, Value>) -> Value {
    json!({"zarr_format": 3, "node_type": "group", "attributes": attributes})
}

/// The metadata of the root, with those of all nodes below it.
pub(super) fn root(attributes: &Map<String, Value>, nodes: &Map<String, Value>) -> Value {
    let mut root = group(attributes);
    root["consolidated_metadata"] = json!({"kind": "inline", "must_understand": false, "metadata": nodes});
    root
}

/// Shape, chunks and dimensions of an array.
pub(super) struct Grid<'a> {
    pub(super) shape: &'a [u64],
    pub(super) chunk: &'a [u64],
    pub(super) dimensions: &'a [&'a str],
}

/// The metadata of an array of numbers.
pub(super) fn array(number: NumberType, grid: &Grid<'_>, attributes: &Value) -> Value {
    let bytes = match number.bytes() {
        1 => json!({"name": "bytes"}),
        _ => json!({"name": "bytes", "configuration": {"endian": "little"}}),
    };
    node(grid, number.name(), &number.fill(), &bytes, attributes)
}

/// The metadata of an array of text.
pub(super) fn text_array(grid: &Grid<'_>) -> Value {
    node(grid, "string", &json!(""), &json!({"name": "vlen-utf8", "configuration": {}}), &json!({}))
}

fn node(grid: &Grid<'_>, data_type: &str, fill: &Value, codec: &Value, attributes: &Value) -> Value {
    json!({
        "zarr_format": 3,
        "node_type": "array",
        "shape": grid.shape,
        "data_type": data_type,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": grid.chunk}},
        "chunk_key_encoding": {"name": "default", "configuration": {"separator": "."}},
        "fill_value": fill,
        "codecs": [codec, {"name": "crc32c"}],
        "attributes": attributes,
        "dimension_names": grid.dimensions,
        "storage_transformers": [],
    })
}

/// The checksum of a chunk given in pieces, as it is appended.
pub(super) fn checksum(pieces: &[&[u8]]) -> [u8; CHECKSUM] {
    pieces.iter().fold(0, |sum, piece| crc32c::crc32c_append(sum, piece)).to_le_bytes()
}

/// The content of a chunk without its checksum; `None` when the checksum does not fit.
pub(super) fn verified(mut chunk: Vec<u8>) -> Option<Vec<u8>> {
    let content = chunk.len().checked_sub(CHECKSUM)?;
    if checksum(&[&chunk[..content]]) != chunk[content..] {
        return None;
    }
    chunk.truncate(content);
    Some(chunk)
}

/// Texts as a chunk without its checksum: their number, then length and UTF-8 of each.
pub(super) fn encode_texts(texts: &[String]) -> Vec<u8> {
    let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX).to_le_bytes();
    let mut out = length(texts.len()).to_vec();
    for text in texts {
        out.extend_from_slice(&length(text.len()));
        out.extend_from_slice(text.as_bytes());
    }
    out
}

/// The texts of a chunk; `None` when it is not one.
pub(super) fn decode_texts(mut bytes: &[u8]) -> Option<Vec<String>> {
    let mut take = |n: usize| {
        let (head, tail) = bytes.split_at_checked(n)?;
        bytes = tail;
        Some(head)
    };
    let length = |bytes: &[u8]| Some(u32::from_le_bytes(*bytes.first_chunk()?) as usize);
    let count = length(take(4)?)?;
    (0..count)
        .map(|_| {
            let n = length(take(4)?)?;
            Some(std::str::from_utf8(take(n)?).ok()?.to_owned())
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_come_back() {
        for number in NumberType::ALL {
            let mut bytes = Vec::new();
            number.encode([1.0].into_iter(), &mut bytes);
            assert_eq!((bytes.len(), number.decode(&bytes)), (number.bytes(), 1.0), "{number:?}");
            assert!(number.decode(&[]).is_nan());
            assert_eq!(NumberType::of(number.name()), Some(number));
        }
        let texts = ["intercept", "", "größe", "x".repeat(300).as_str()].map(String::from).to_vec();
        let bytes = encode_texts(&texts);
        assert_eq!(decode_texts(&bytes), Some(texts));
        for end in 0..bytes.len() {
            assert_eq!(decode_texts(&bytes[..end]), None, "cut at {end}");
        }
    }

    #[test]
    fn the_checksum_is_that_of_the_standard_and_notices_every_cut() {
        // The check value of CRC-32C in every catalogue.
        assert_eq!(u32::from_le_bytes(checksum(&[b"1234", b"56789"])), 0xE306_9283);
        let content = b"draws".to_vec();
        let mut chunk = content.clone();
        chunk.extend(checksum(&[&content]));
        for end in 0..chunk.len() {
            assert_eq!(verified(chunk[..end].to_vec()), None);
        }
        let mut flipped = chunk.clone();
        flipped[2] ^= 1;
        assert_eq!((verified(flipped), verified(chunk)), (None, Some(content)));
    }
}
