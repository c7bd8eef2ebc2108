//! What the columns of Arrow are as numbers or levels.
//!
//! | type | read as |
//! |---|---|
//! | integers, signed or not, of 8 to 64 bits | the number (above 2⁵³ rounded to a double) |
//! | floating point of 16, 32, 64 bits | the number |
//! | decimals of 32 to 256 bits | unscaled/10^scale |
//! | booleans | 0, 1 |
//! | dates | days since 1970-01-01 |
//! | timestamps, times of day, durations | seconds: since 1970-01-01 00:00 (UTC where there is a time zone), since midnight, in all |
//! | text | levels |
//! | dictionaries | levels where their values are text, else what their values are |
//!
//! Everything else is refused by name.

use super::interface::{Field, Layout};
use crate::table::number::{big_endian, half};

/// Seconds, or days of milliseconds: what numbers are divided by.
const MILLISECONDS_PER_DAY: f64 = 86_400_000.0;

/// What a column is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Kind {
    /// Numbers of this width, divided by this.
    Number(Width, f64),
    /// True and false.
    Truth,
    /// Text, with offsets of 4 or 8 bytes.
    Text(usize),
    /// Text as views.
    Views,
    /// No values: all are missing.
    Nothing,
}

/// How a number is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Width {
    I8,
    I16,
    I32,
    I64,
    I128,
    I256,
    U8,
    U16,
    U32,
    U64,
    F16,
    F32,
    F64,
}

impl Kind {
    /// Of a type; the error says what it is.
    pub(super) fn of(field: &Field) -> Result<Self, String> {
        use Width::{F16, F32, F64, I8, I16, I32, I64, U8, U16, U32, U64};
        let number = |width| Ok(Self::Number(width, 1.0));
        match field.format.as_str() {
            "c" => number(I8),
            "s" => number(I16),
            "i" => number(I32),
            "l" => number(I64),
            "C" => number(U8),
            "S" => number(U16),
            "I" => number(U32),
            "L" => number(U64),
            "e" => number(F16),
            "f" => number(F32),
            "g" => number(F64),
            "b" => Ok(Self::Truth),
            "n" => Ok(Self::Nothing),
            "u" => Ok(Self::Text(4)),
            "U" => Ok(Self::Text(8)),
            "vu" => Ok(Self::Views),
            "tdD" => number(I32),
            "tdm" => Ok(Self::Number(I64, MILLISECONDS_PER_DAY)),
            "tts" => number(I32),
            "ttm" => Ok(Self::Number(I32, 1e3)),
            format => match format.split_once(':') {
                Some(("d", rest)) => decimal(rest),
                Some((kind, _)) => ticks(kind),
                None => ticks(format),
            }
            .ok_or_else(|| named(format)),
        }
    }

    /// How its values lie in memory.
    pub(super) fn layout(self) -> Layout {
        match self {
            Self::Number(width, _) => Layout::Bytes(width.bytes()),
            Self::Truth => Layout::Bits,
            Self::Text(bytes) => Layout::Text(bytes),
            Self::Views => Layout::Views,
            Self::Nothing => Layout::Nothing,
        }
    }

    /// Whether its values are levels.
    pub(super) fn is_text(self) -> bool {
        matches!(self, Self::Text(_) | Self::Views)
    }
}

/// A decimal, of `precision,scale` or `precision,scale,bits`.
fn decimal(rest: &str) -> Option<Kind> {
    let numbers: Option<Vec<i32>> = rest.split(',').map(|part| part.parse().ok()).collect();
    let (scale, width) = match numbers?[..] {
        [_, scale] | [_, scale, 128] => (scale, Width::I128),
        [_, scale, 32] => (scale, Width::I32),
        [_, scale, 64] => (scale, Width::I64),
        [_, scale, 256] => (scale, Width::I256),
        _ => return None,
    };
    Some(Kind::Number(width, 10f64.powi(scale)))
}

/// A timestamp, a duration or a time of day in parts of a second.
fn ticks(kind: &str) -> Option<Kind> {
    let unit =
        kind.strip_prefix("ts").or_else(|| kind.strip_prefix("tD")).or_else(|| kind.strip_prefix("tt"))?;
    let scale = match unit {
        "s" => 1.0,
        "m" => 1e3,
        "u" => 1e6,
        "n" => 1e9,
        _ => return None,
    };
    Some(Kind::Number(Width::I64, scale))
}

/// What a type that cannot be read is called.
fn named(format: &str) -> String {
    match format.as_bytes() {
        [b'z' | b'Z' | b'w', ..] | [b'v', b'z', ..] => "raw bytes".into(),
        [b'+', b'l' | b'L' | b'v' | b'w', ..] => "lists".into(),
        [b'+', b's', ..] => "a structure with fields".into(),
        [b'+', b'm', ..] => "maps".into(),
        [b't', b'i', ..] => "calendar intervals".into(),
        _ => format!("values of the Arrow type `{format}`"),
    }
}

impl Width {
    /// Bytes of one.
    pub(super) fn bytes(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 | Self::F16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::I64 | Self::U64 | Self::F64 => 8,
            Self::I128 => 16,
            Self::I256 => 32,
        }
    }

    /// Appends the numbers in `bytes`, each divided by `scale`.
    pub(super) fn append(self, bytes: &[u8], scale: f64, out: &mut Vec<f64>) {
        fn each<const BYTES: usize>(bytes: &[u8], out: &mut Vec<f64>, number: impl Fn([u8; BYTES]) -> f64) {
            out.extend(bytes.as_chunks::<BYTES>().0.iter().map(|&one| number(one)));
        }
        let first = out.len();
        match self {
            Self::I8 => each(bytes, out, |one| f64::from(i8::from_ne_bytes(one))),
            Self::I16 => each(bytes, out, |one| f64::from(i16::from_ne_bytes(one))),
            Self::I32 => each(bytes, out, |one| f64::from(i32::from_ne_bytes(one))),
            Self::I64 => each(bytes, out, |one| i64::from_ne_bytes(one) as f64),
            Self::I128 => each(bytes, out, |one| i128::from_ne_bytes(one) as f64),
            Self::I256 => each(bytes, out, wide),
            Self::U8 => each(bytes, out, |one| f64::from(u8::from_ne_bytes(one))),
            Self::U16 => each(bytes, out, |one| f64::from(u16::from_ne_bytes(one))),
            Self::U32 => each(bytes, out, |one| f64::from(u32::from_ne_bytes(one))),
            Self::U64 => each(bytes, out, |one| u64::from_ne_bytes(one) as f64),
            Self::F16 => each(bytes, out, |one: [u8; 2]| half(&u16::from_ne_bytes(one).to_le_bytes())),
            Self::F32 => each(bytes, out, |one| f64::from(f32::from_ne_bytes(one))),
            Self::F64 => each(bytes, out, f64::from_ne_bytes),
        }
        if scale != 1.0 {
            out[first..].iter_mut().for_each(|value| *value /= scale);
        }
    }
}

/// A number of 32 bytes.
fn wide(mut bytes: [u8; 32]) -> f64 {
    if cfg!(target_endian = "little") {
        bytes.reverse();
    }
    big_endian(&bytes)
}
