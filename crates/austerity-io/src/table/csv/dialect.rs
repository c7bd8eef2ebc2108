//! How a text file is written: its delimiter, and whether its first line holds names.
//!
//! **Delimiter.** Among tab, semicolon, bar and comma, in this order, the first that cuts the first records
//! into the same number (two or more) of cells; comma comes last because files with decimal commas have another
//! delimiter. When none does (ragged or one column), the one that cuts the first record into most cells.
//!
//! **Header.** The first line holds names when no cell of it is a number, or when some cell is text and the cell
//! below it is a number. So `a,b` over anything and `id,2019` over `7,3.5` have a header; `1,2` and `red,2`
//! over `blue,3` have not.

use std::io::Read as _;
use std::path::Path;

use ::csv::{ByteRecord, ReaderBuilder};

use super::cell::{Cell, classify};
use super::records::text;
use crate::error::{Error, Result};

/// Text looked at to find the delimiter. Thousands of columns fit.
const SAMPLE: u64 = 1 << 20;
/// Records compared.
const RECORDS: usize = 20;
const DELIMITERS: [u8; 4] = [b'\t', b';', b'|', b','];

/// How a text file is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::table) struct Dialect {
    pub(in crate::table) gzip: bool,
    pub(in crate::table) delimiter: u8,
    pub(in crate::table) header: bool,
}

/// Refuses what is not text.
pub(super) fn check_text(path: &Path, gzip: bool) -> Result<()> {
    let sample = sample(path, gzip)?;
    if sample.iter().all(u8::is_ascii_whitespace) || sample == b"\xef\xbb\xbf" {
        return Err(Error::Empty { file: path.into(), what: "it has no text".into() });
    }
    if sample.contains(&0) {
        return Err(Error::format(
            path,
            "is neither text nor a known format: it has zero bytes",
            "give a CSV (plain or gzip), Parquet or NumPy .npy file",
        ));
    }
    Ok(())
}

/// The byte between cells.
pub(super) fn delimiter(path: &Path, gzip: bool) -> Result<u8> {
    if path.file_stem().is_some_and(|_| has_tsv_extension(path)) {
        return Ok(b'\t');
    }
    Ok(guess_delimiter(&sample(path, gzip)?))
}

fn has_tsv_extension(path: &Path) -> bool {
    let name = path.to_string_lossy().to_lowercase();
    name.ends_with(".tsv") || name.ends_with(".tsv.gz") || name.ends_with(".tab")
}

fn sample(path: &Path, gzip: bool) -> Result<Vec<u8>> {
    let mut sample = Vec::new();
    text(path, gzip)?.take(SAMPLE).read_to_end(&mut sample).map_err(Error::io("read", path))?;
    Ok(sample)
}

fn guess_delimiter(sample: &[u8]) -> u8 {
    let widths: Vec<(u8, Vec<usize>)> = DELIMITERS.iter().map(|&d| (d, widths(sample, d))).collect();
    let even = widths.iter().find(|(_, w)| w.first().is_some_and(|&f| f > 1 && w.iter().all(|&x| x == f)));
    let widest = widths.iter().max_by_key(|(_, w)| w.first().copied().unwrap_or(0));
    match (even, widest) {
        (Some(&(delimiter, _)), _) => delimiter,
        (None, Some((delimiter, w))) if w.first().is_some_and(|&f| f > 1) => *delimiter,
        _ => b',',
    }
}

/// Cells in each of the first records; the record that the sample may have cut is left out.
fn widths(sample: &[u8], delimiter: u8) -> Vec<usize> {
    let cut = sample.len() as u64 == SAMPLE;
    let mut reader =
        ReaderBuilder::new().has_headers(false).flexible(true).delimiter(delimiter).from_reader(sample);
    let mut record = ByteRecord::new();
    let mut widths = Vec::new();
    while widths.len() < RECORDS && reader.read_byte_record(&mut record).unwrap_or(false) {
        if cut && reader.is_done() && !widths.is_empty() {
            break;
        }
        widths.push(record.len());
    }
    widths
}

/// Whether some cell is text and the cell below it a number: the surest mark of a header.
pub(super) fn text_over_number(first: &ByteRecord, second: &ByteRecord) -> bool {
    let is_text = |cell: &[u8]| matches!(classify(cell), Cell::Text(_));
    first.iter().zip(second).any(|(above, below)| is_text(above) && is_number(below))
}

fn is_number(cell: &[u8]) -> bool {
    matches!(classify(cell), Cell::Number(_) | Cell::NotFinite | Cell::DecimalComma)
}

/// Whether `first` holds names, judged by itself and the record below it.
pub(super) fn has_header(first: &ByteRecord, second: &ByteRecord) -> bool {
    text_over_number(first, second)
        || (!first.iter().any(is_number) && first.iter().any(|cell| !cell.trim_ascii().is_empty()))
}

/// The names in a header line; an empty name of column j becomes `xj`.
pub(super) fn names(path: &Path, header: &ByteRecord) -> Result<Vec<String>> {
    header
        .iter()
        .enumerate()
        .map(|(j, cell)| match std::str::from_utf8(cell.trim_ascii()) {
            Ok("") => Ok(format!("x{}", j + 1)),
            Ok(name) => Ok(name.to_owned()),
            Err(_) => Err(Error::format(
                path,
                format!("has a name that is not UTF-8: `{}`", String::from_utf8_lossy(cell)),
                "save the file as UTF-8",
            )),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delimiters_are_found() {
        for (text, delimiter) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1,5;2,5\n3,5;4\n", b';'),
            ("1,5;2,5\n3,5;4,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b\n1|2\n", b'|'),
            ("a,b\n\"x;y\nz\",2\n", b','),
            ("a,b,c\n1,2\n", b','),
            ("alone\n1\n2\n", b','),
            ("", b','),
        ] {
            assert_eq!(guess_delimiter(text.as_bytes()) as char, delimiter as char, "{text:?}");
        }
    }

    #[test]
    fn headers_are_told_from_data() {
        let record = |cells: &[&str]| ByteRecord::from(cells.to_vec());
        for (first, second, header) in [
            (vec!["a", "b"], vec!["1", "2"], true),
            (vec!["a", "b"], vec!["x", "y"], true),
            (vec!["id", "2019"], vec!["7", "3.5"], true),
            (vec!["", "a"], vec!["0", "2"], true),
            (vec!["a", "b"], vec![], true),
            (vec!["1", "2"], vec!["3", "4"], false),
            (vec!["red", "2"], vec!["blue", "3"], false),
            (vec!["1,5", "2"], vec!["3,5", "4"], false),
            (vec!["NA", "2"], vec!["1", "4"], false),
        ] {
            assert_eq!(has_header(&record(&first), &record(&second)), header, "{first:?} {second:?}");
        }
    }
}
