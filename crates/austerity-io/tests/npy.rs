//! NumPy arrays written by NumPy (fixtures, see `fixtures/make.py`), good and bad.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use crate::common::Folder;
use austerity_io::table::{Column, ColumnKind, open};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// The array of the script: 4 rows, 3 columns.
fn grid(shift: i32) -> Vec<Column> {
    let value = |row: i32, column: i32| f64::from((row * 3 + column) * 5 % 7 - 2 + shift);
    (0..3).map(|j| Column::Numbers((0..4).map(|i| value(i, j)).collect())).collect()
}

#[test]
fn every_type_and_both_orders() {
    for kind in ["f4", "f8", "i1", "i2", "i4", "i8", "fortran"] {
        let table = open(fixture(&format!("grid-{kind}.npy"))).unwrap().read(None).unwrap();
        assert_eq!(table.names, ["x1", "x2", "x3"]);
        assert_eq!(table.columns, grid(0), "{kind}");
        let some = open(fixture(&format!("grid-{kind}.npy"))).unwrap().read(Some(&["x3".into()])).unwrap();
        assert_eq!(some.columns, grid(0)[2..], "{kind}");
    }
    for kind in ["u1", "u2", "u4", "u8"] {
        let table = open(fixture(&format!("grid-{kind}.npy"))).unwrap().read(None).unwrap();
        assert_eq!(table.columns, grid(2), "{kind}");
    }
    let line = open(fixture("line.npy")).unwrap();
    assert_eq!(line.schema().kinds, [ColumnKind::Boolean]);
    assert_eq!(line.read(None).unwrap().columns, [Column::Numbers(vec![1.0, 0.0, 1.0])]);
}

#[test]
fn what_cannot_be_read_is_said() {
    for (name, words) in [
        ("big-endian.npy", ["'>f4'", "little-endian"]),
        ("cube.npy", ["3 dimensions", "rows and columns"]),
        ("gap.npy", ["column `x2`, row 2", "missing"]),
    ] {
        let message = open(fixture(name)).and_then(|source| source.read(None)).unwrap_err().to_string();
        assert!(words.iter().all(|word| message.contains(word)), "{message}");
    }
}

#[test]
fn truncated_and_damaged_files_are_refused() {
    let folder = Folder::new("npy");
    let bytes = std::fs::read(fixture("grid-f8.npy")).unwrap();
    for length in 0..bytes.len() {
        let path = folder.file("cut.npy", &bytes[..length]);
        assert!(open(&path).and_then(|source| source.read(None)).is_err(), "{length}");
    }
    for position in 0..bytes.len() {
        for value in [b'9', 0xff] {
            let mut changed = bytes.clone();
            changed[position] = value;
            let path = folder.file("changed.npy", &changed);
            let _ = open(&path).and_then(|source| source.read(None));
        }
    }
}
