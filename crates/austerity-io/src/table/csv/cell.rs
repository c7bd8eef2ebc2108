//! One cell of a text file: number, text, or why it is neither.

use crate::table::ColumnKind;
use crate::table::levels::truth;

/// Characters of a cell shown in an error.
const SHOWN: usize = 60;

/// What a cell holds.
#[derive(Debug, PartialEq)]
pub(super) enum Cell<'a> {
    /// A finite number.
    Number(f64),
    /// Some other text.
    Text(&'a str),
    /// Empty, or a word that stands for a missing value.
    Missing,
    /// An infinity, spelled or by overflow.
    NotFinite,
    /// A number but for its comma.
    DecimalComma,
    /// Bytes that are no UTF-8.
    NotUtf8,
}

/// Tells what a cell holds, blanks around it aside.
pub(super) fn classify(raw: &[u8]) -> Cell<'_> {
    let Ok(text) = std::str::from_utf8(raw.trim_ascii()) else { return Cell::NotUtf8 };
    // What Rust takes for a number begins so; `nan` and `inf` are judged below.
    match text.as_bytes().first() {
        Some(b'0'..=b'9' | b'.' | b'+' | b'-') => match text.parse::<f64>() {
            Ok(value) if value.is_finite() => Cell::Number(value),
            Ok(value) if value.is_nan() => Cell::Missing,
            Ok(_) => Cell::NotFinite,
            Err(_) if is_number_with_comma(text) => Cell::DecimalComma,
            Err(_) => Cell::Text(text),
        },
        _ if is_missing(text) => Cell::Missing,
        _ if ["inf", "infinity"].iter().any(|word| text.eq_ignore_ascii_case(word)) => Cell::NotFinite,
        _ => Cell::Text(text),
    }
}

/// The kind of column that would begin with this cell.
pub(super) fn kind(raw: &[u8]) -> ColumnKind {
    match classify(raw) {
        Cell::Text(text) if truth(text).is_some() => ColumnKind::Boolean,
        Cell::Text(_) | Cell::NotUtf8 => ColumnKind::Text,
        _ => ColumnKind::Number,
    }
}

/// The cell as an error shows it.
pub(super) fn shown(raw: &[u8]) -> String {
    let text = String::from_utf8_lossy(raw.trim_ascii());
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    }
}

fn is_missing(text: &str) -> bool {
    matches!(text, "" | "NA" | "N/A" | "#N/A")
        || text.eq_ignore_ascii_case("nan")
        || text.eq_ignore_ascii_case("null")
}

/// Digits with at least one comma among them, and perhaps a sign, points and an exponent.
fn is_number_with_comma(text: &str) -> bool {
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = unsigned.split_once(['e', 'E']).unwrap_or((unsigned, "0"));
    let exponent = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    mantissa.contains(',') && digits(exponent) && mantissa.split([',', '.']).all(digits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_told_apart() {
        for (text, cell) in [
            (" 3.5 ", Cell::Number(3.5)),
            ("-1e-3", Cell::Number(-0.001)),
            ("+.5", Cell::Number(0.5)),
            ("", Cell::Missing),
            ("   ", Cell::Missing),
            ("NA", Cell::Missing),
            ("-nan", Cell::Missing),
            ("nAn", Cell::Missing),
            ("NULL", Cell::Missing),
            ("-inf", Cell::NotFinite),
            ("Infinity", Cell::NotFinite),
            ("1e400", Cell::NotFinite),
            ("3,14", Cell::DecimalComma),
            ("-1.234,5", Cell::DecimalComma),
            ("1,234,567.8", Cell::DecimalComma),
            ("2,5e-3", Cell::DecimalComma),
            ("1,", Cell::Text("1,")),
            ("1, 2", Cell::Text("1, 2")),
            ("2001-01-31", Cell::Text("2001-01-31")),
            ("na", Cell::Text("na")),
            ("nano", Cell::Text("nano")),
            ("0x10", Cell::Text("0x10")),
        ] {
            assert_eq!(classify(text.as_bytes()), cell, "{text:?}");
        }
        assert_eq!(classify(b"caf\xe9"), Cell::NotUtf8);
    }

    #[test]
    fn long_cells_are_cut_at_a_character() {
        let long = "é".repeat(100);
        assert_eq!(shown(long.as_bytes()).chars().count(), SHOWN + 1);
        assert_eq!(shown(b"caf\xe9"), "caf\u{fffd}");
    }
}
