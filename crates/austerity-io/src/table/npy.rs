//! NumPy `.npy` arrays with one or two dimensions, little-endian.
//!
//! Format: the mark `\x93NUMPY`, two version bytes, the length of the header (2 bytes in version 1, 4 later), a
//! Python dictionary with `descr`, `fortran_order` and `shape`, then the values. Columns are named x1, x2, …
//! Both orders are read in pieces of some thousand rows, column-major arrays column by column at their place.
//!
//! <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::table::scan::{CHUNK_ROWS, Chunk, Nulls, Visit};
use crate::table::{ColumnKind, Schema};

/// Bytes read at a time.
const BUFFER: usize = 1 << 18;
/// Longest header believed; NumPy itself trusts 10,000 characters.
const LONGEST_HEADER: usize = 1 << 16;

/// Where the values are and what they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    kind: Kind,
    fortran: bool,
    rows: usize,
    columns: usize,
    start: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    F4,
    F8,
    I1,
    I2,
    I4,
    I8,
    U1,
    U2,
    U4,
    U8,
    Bool,
}

/// Reads the header.
pub(super) fn layout(path: &Path) -> Result<(Layout, Schema)> {
    let damaged = |problem: &str| Error::format(path, problem, "write it again with numpy.save");
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let size = file.metadata().map_err(Error::io("read", path))?.len();
    let mut read = |bytes: &mut [u8]| {
        file.read_exact(bytes).map_err(|_| damaged("is a truncated NumPy file: its header is cut off"))
    };
    let mut front = [0; 8];
    read(&mut front)?;
    let (length_bytes, version) = if front[6] == 1 { (2, 1) } else { (4, front[6]) };
    if !(1..=3).contains(&version) {
        return Err(damaged(&format!("is a NumPy file of unknown version {version}")));
    }
    let mut length = [0; 4];
    read(&mut length[..length_bytes])?;
    let length = u32::from_le_bytes(length) as usize;
    if length > LONGEST_HEADER {
        return Err(damaged(&format!("has a NumPy header of {length} bytes")));
    }
    let mut header = vec![0; length];
    read(&mut header)?;
    let header = String::from_utf8_lossy(&header);

    let unreadable = || damaged(&format!("has a NumPy header that cannot be read: {}", header.trim()));
    let description = value_of(&header, "descr").ok_or_else(unreadable)?;
    let kind = kind(description).ok_or_else(|| {
        Error::format(
            path,
            format!("holds values of the type {description}"),
            "save it as little-endian float32, float64, integers or booleans: numpy.save(file, array.astype('<f4'))",
        )
    })?;
    let fortran = match value_of(&header, "fortran_order") {
        Some(text) if text.starts_with("True") => true,
        Some(text) if text.starts_with("False") => false,
        _ => return Err(unreadable()),
    };
    let shape = value_of(&header, "shape").and_then(shape).ok_or_else(unreadable)?;
    let (rows, columns) = match shape[..] {
        [rows] => (rows, 1),
        [rows, columns] => (rows, columns),
        _ => {
            return Err(Error::format(
                path,
                format!("holds an array with {} dimensions", shape.len()),
                "save an array of rows and columns",
            ));
        }
    };
    if rows == 0 || columns == 0 {
        let what = format!("its array has {rows} rows and {columns} columns");
        return Err(Error::Empty { file: path.into(), what });
    }
    let start = (8 + length_bytes + length) as u64;
    let wanted = (rows as u128) * (columns as u128) * kind.size() as u128 + u128::from(start);
    if u128::from(size) < wanted {
        return Err(damaged(&format!(
            "is a truncated NumPy file: {rows} × {columns} values need {wanted} bytes and it has {size}"
        )));
    }
    let schema = Schema {
        names: (1..=columns).map(|j| format!("x{j}")).collect(),
        kinds: vec![if kind == Kind::Bool { ColumnKind::Boolean } else { ColumnKind::Number }; columns],
        rows: Some(rows),
        notes: vec![format!("the columns of `{}` are named x1 to x{columns}", path.display())],
    };
    Ok((Layout { kind, fortran, rows, columns, start }, schema))
}

/// Whether whole columns are stored one after the other.
pub(super) fn is_columnar(layout: &Layout) -> bool {
    layout.fortran
}

/// Hands the columns at the `chosen` positions to `visit`, piece by piece; returns the number of rows.
pub(super) fn scan(
    path: &Path,
    layout: &Layout,
    names: &[String],
    (chosen, nulls): (&[usize], Nulls),
    visit: &mut Visit<'_>,
) -> Result<usize> {
    let mut file = File::open(path).map_err(Error::io("open", path))?;
    let size = layout.kind.size();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); chosen.len()];
    let mut bytes = Vec::new();
    let mut fetch = |start: usize, count: usize, bytes: &mut Vec<u8>| {
        bytes.resize(count * size, 0);
        file.seek(SeekFrom::Start(layout.start + (start * size) as u64))
            .and_then(|_| file.read_exact(bytes))
            .map_err(Error::io("read", path))
    };
    // Wide rows in smaller pieces.
    let step = CHUNK_ROWS.min((BUFFER * 16 / (layout.columns * size)).max(1));
    for first in (0..layout.rows).step_by(step) {
        let rows = step.min(layout.rows - first);
        if !layout.fortran && !chosen.is_empty() {
            fetch(first * layout.columns, rows * layout.columns, &mut bytes)?;
        }
        for (column, &j) in columns.iter_mut().zip(chosen) {
            column.clear();
            if layout.fortran {
                fetch(j * layout.rows + first, rows, &mut bytes)?;
                column.extend(bytes.chunks_exact(size).map(|value| layout.kind.number(value)));
            } else {
                let values = bytes.chunks_exact(size).skip(j).step_by(layout.columns);
                column.extend(values.map(|value| layout.kind.number(value)));
            }
            check(path, &names[j], (first, column), nulls)?;
        }
        let chunks: Vec<Chunk<'_>> = columns.iter().map(|column| Chunk::Numbers(column)).collect();
        visit(first, &chunks)?;
    }
    Ok(layout.rows)
}

fn check(path: &Path, name: &str, (first, values): (usize, &[f64]), nulls: Nulls) -> Result<()> {
    let fits = |value: &f64| value.is_finite() || (nulls == Nulls::Keep && value.is_nan());
    let Some(at) = values.iter().position(|value| !fits(value)) else { return Ok(()) };
    let (place, value) = (Place::new(path, name, first + at), values[at]);
    let remedy =
        "drop such rows (`austerity fit --missing drop`), impute the value, or leave the column out".into();
    Err(if value.is_nan() {
        Error::MissingValue { place, value: "NaN".into(), remedy }
    } else {
        Error::NotFinite { place, value: value.to_string() }
    })
}

impl Kind {
    fn size(self) -> usize {
        match self {
            Self::I1 | Self::U1 | Self::Bool => 1,
            Self::I2 | Self::U2 => 2,
            Self::F4 | Self::I4 | Self::U4 => 4,
            Self::F8 | Self::I8 | Self::U8 => 8,
        }
    }

    /// The number in `bytes`, which hold exactly one.
    fn number(self, bytes: &[u8]) -> f64 {
        // Sign or zero extension to eight bytes serves every integer type.
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let unsigned = u64::from_le_bytes(wide);
        let spare = 64 - 8 * bytes.len() as u32;
        match self {
            Self::F4 => f64::from(f32::from_bits(unsigned as u32)),
            Self::F8 => f64::from_bits(unsigned),
            Self::I1 | Self::I2 | Self::I4 | Self::I8 => ((unsigned << spare).cast_signed() >> spare) as f64,
            Self::U1 | Self::U2 | Self::U4 | Self::U8 => unsigned as f64,
            Self::Bool => f64::from(u8::from(unsigned != 0)),
        }
    }
}

fn kind(description: &str) -> Option<Kind> {
    let text = description.strip_prefix(['\'', '"'])?;
    let (text, _) = text.split_once(['\'', '"'])?;
    Some(match text {
        "<f4" => Kind::F4,
        "<f8" => Kind::F8,
        "|i1" | "<i1" => Kind::I1,
        "<i2" => Kind::I2,
        "<i4" => Kind::I4,
        "<i8" => Kind::I8,
        "|u1" | "<u1" => Kind::U1,
        "<u2" => Kind::U2,
        "<u4" => Kind::U4,
        "<u8" => Kind::U8,
        "|b1" | "<b1" => Kind::Bool,
        _ => return None,
    })
}

/// What follows `'key':` in a Python dictionary of simple values.
fn value_of<'a>(header: &'a str, key: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{key}'"))?;
    let (_, value) = header[at..].split_once(':')?;
    let value = value.trim_start();
    let end = match value.as_bytes().first()? {
        b'(' => value.find(')')? + 1,
        b'[' => value.find(']')? + 1,
        _ => value.find([',', '}'])?,
    };
    Some(value[..end].trim_end())
}

fn shape(text: &str) -> Option<Vec<usize>> {
    let inside = text.strip_prefix('(')?.strip_suffix(')')?;
    let parts = inside.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_values_are_found() {
        let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }   \n";
        assert_eq!(value_of(header, "descr").and_then(kind), Some(Kind::F4));
        assert_eq!(value_of(header, "fortran_order"), Some("False"));
        assert_eq!(value_of(header, "shape").and_then(shape), Some(vec![3, 4]));
        assert_eq!(shape("(5,)"), Some(vec![5]));
        assert_eq!(shape("()"), Some(vec![]));
        assert_eq!(shape("(-1, 2)"), None);
        let structured = "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (3,), }";
        assert_eq!(value_of(structured, "descr"), Some("[('a', '<f4')]"));
        assert_eq!(kind("[('a', '<f4')]"), None);
    }

    #[test]
    fn numbers_of_every_type() {
        assert_eq!(Kind::I1.number(&[0xff]), -1.0);
        assert_eq!(Kind::U1.number(&[0xff]), 255.0);
        assert_eq!(Kind::I2.number(&(-300_i16).to_le_bytes()), -300.0);
        assert_eq!(Kind::U2.number(&65_000_u16.to_le_bytes()), 65_000.0);
        assert_eq!(Kind::I4.number(&i32::MIN.to_le_bytes()), -2_147_483_648.0);
        assert_eq!(Kind::U4.number(&u32::MAX.to_le_bytes()), 4_294_967_295.0);
        assert_eq!(Kind::I8.number(&(-5_i64).to_le_bytes()), -5.0);
        assert_eq!(Kind::U8.number(&u64::MAX.to_le_bytes()), u64::MAX as f64);
        assert_eq!(Kind::F4.number(&1.5_f32.to_le_bytes()), 1.5);
        assert_eq!(Kind::F8.number(&(-2.25_f64).to_le_bytes()), -2.25);
        assert_eq!(Kind::Bool.number(&[1]), 1.0);
    }
}
