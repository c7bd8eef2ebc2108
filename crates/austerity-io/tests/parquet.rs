//! Parquet written by another library (fixtures, see `fixtures/make.py`) and by ourselves, good and bad.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};

use crate::common::Folder;
use austerity_io::Error;
use austerity_io::table::{Column, ColumnKind, Table, open};
use austerity_io::write::{Field, TableWriter, write_csv, write_parquet};

const ROWS: usize = 300;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn read(name: &str, columns: &[&str]) -> austerity_io::Result<Table> {
    let columns: Vec<String> = columns.iter().map(ToString::to_string).collect();
    open(fixture(name))?.read(Some(&columns))
}

fn expected(of: impl Fn(i64) -> f64) -> Column {
    Column::Numbers((0..ROWS as i64).map(of).collect())
}

fn levels() -> Column {
    Column::Levels {
        codes: (0..ROWS as u32).map(|k| k % 7).collect(),
        labels: (0..7).map(|k| format!("level {k}")).collect(),
    }
}

#[test]
fn every_type_is_read() {
    for file in ["types-zstd.parquet", "types-snappy.parquet"] {
        let cases: [(&str, Column); 18] = [
            ("int8", expected(|k| (k % 200 - 100) as f64)),
            ("int16", expected(|k| (k * 100 - 15_000) as f64)),
            ("int32", expected(|k| (k * 10_000_000 - 1_500_000_000) as f64)),
            ("int64", expected(|k| (k * 1_000_000_000_000 - 100_000_000_000_000) as f64)),
            ("uint8", expected(|k| (k % 256) as f64)),
            ("uint16", expected(|k| (k * 200) as f64)),
            ("uint32", expected(|k| (k * 14_000_000) as f64)),
            ("uint64", expected(|k| k as f64 * 2f64.powi(55))),
            ("float16", expected(|k| k as f64 / 8.0)),
            ("float32", expected(|k| k as f64 / 8.0)),
            ("float64", expected(|k| k as f64 / 10.0)),
            ("boolean", expected(|k| f64::from(u8::from(k % 3 == 0)))),
            ("decimal", expected(|k| (k - 150) as f64 / 4.0)),
            ("small_decimal", expected(|k| (k - 150) as f64 / 4.0)),
            ("date", expected(|k| k as f64)),
            ("text", levels()),
            ("dictionary", levels()),
            ("large_text", levels()),
        ];
        let names: Vec<&str> = cases.iter().map(|(name, _)| *name).collect();
        let table = read(file, &names).unwrap();
        assert_eq!(table.rows, ROWS);
        for ((name, wanted), found) in cases.iter().zip(&table.columns) {
            assert_eq!(found, wanted, "{file} {name}");
        }
    }
}

#[test]
fn every_codec_but_brotli() {
    for codec in ["gzip", "lz4", "none"] {
        let table = read(&format!("codec-{codec}.parquet"), &["text", "float32"]).unwrap();
        assert_eq!(table.columns, [levels(), expected(|k| k as f64 / 8.0)], "{codec}");
    }
    let message = read("codec-brotli.parquet", &["float32"]).unwrap_err().to_string();
    assert!(message.contains("brotli") && message.contains("write it with zstd"), "{message}");
}

#[test]
fn the_newer_encodings() {
    let table = read("encodings.parquet", &["split", "delta", "delta_text", "plain"]).unwrap();
    assert_eq!(table.columns[0], expected(|k| k as f64 / 8.0));
    assert_eq!(table.columns[1], expected(|k| (k * k - 1000) as f64));
    assert_eq!(table.columns[2], levels());
    assert_eq!(table.columns[3], expected(|k| k as f64 / 10.0));
}

#[test]
fn lists_structures_and_bytes_are_refused_by_name() {
    let source = open(fixture("types-zstd.parquet")).unwrap();
    assert_eq!(source.schema().rows, Some(ROWS));
    assert_eq!(source.schema().names.len(), 22);
    for (column, word) in [("list", "lists"), ("structure", "fields"), ("bytes", "raw bytes")] {
        let position = source.schema().names.iter().position(|name| name == column).unwrap();
        assert!(matches!(&source.schema().kinds[position], ColumnKind::Unsupported(_)));
        let message = source.read(Some(&[column.into()])).unwrap_err().to_string();
        assert!(message.contains(column) && message.contains(word), "{message}");
    }
    assert!(source.read(None).is_err());
}

#[test]
fn nulls_and_what_is_not_finite_are_refused_with_their_row() {
    let message = |column| read("nulls.parquet", &["y", column]).unwrap_err().to_string();
    assert!(message("x").contains("column `x`, row 218: the value is missing (`null`)"), "{}", message("x"));
    assert!(message("z").contains("column `z`, row 4: the value is missing (`NaN`)"), "{}", message("z"));
    assert!(message("w").contains("column `w`, row 5: `inf` is not a finite number"), "{}", message("w"));
    assert!(read("nulls.parquet", &["y"]).is_ok());
    let nothing = read("types-zstd.parquet", &["nothing"]).unwrap_err();
    assert!(matches!(&nothing, Error::MissingValue { place, .. } if place.row == 1), "{nothing}");
}

#[test]
fn unknown_columns_are_suggested() {
    let message = read("types-zstd.parquet", &["flaot64"]).unwrap_err().to_string();
    assert!(message.contains("did you mean `float64`?"), "{message}");
}

/// Prefixes of a file, and the file with one byte changed, are read or refused: no panic reaches the
/// caller and no absurd amount of memory is taken.
#[test]
fn truncated_and_damaged_files_are_refused() {
    let folder = Folder::new("damaged");
    for name in ["encodings.parquet", "codec-gzip.parquet", "nulls.parquet"] {
        let bytes = std::fs::read(fixture(name)).unwrap();
        for length in (0..bytes.len()).step_by(193) {
            let path = folder.file("cut.parquet", &bytes[..length]);
            let message = open(&path).and_then(|source| source.read(None)).unwrap_err().to_string();
            assert!(message.contains("cut.parquet"), "{message}");
        }
        for position in (0..bytes.len()).step_by(31) {
            for flip in [0x01, 0x80] {
                let mut changed = bytes.clone();
                changed[position] ^= flip;
                let path = folder.file("changed.parquet", &changed);
                if let Ok(source) = open(&path) {
                    for column in source.schema().names.clone() {
                        let _ = source.read(Some(&[column]));
                    }
                }
            }
        }
    }
    let message = open(folder.file("short.parquet", b"PAR1")).unwrap_err().to_string();
    assert!(message.contains("truncated or damaged Parquet file"), "{message}");
}

#[test]
fn what_is_written_reads_back() {
    let folder = Folder::new("round-trip-parquet");
    let path = folder.path("data.parquet");
    let rows = 300_000;
    let whole: Vec<f64> = (0..rows).map(|k| f64::from(k % 3) - 1.0).collect();
    let real: Vec<f64> = (0..rows).map(|k| f64::from(k).sin()).collect();
    let fields = vec![Field::integer("y"), Field::single("x"), Field::double("z")];
    let mut writer = TableWriter::create(&path, fields).unwrap();
    // Batches that do not divide the groups of rows.
    for start in (0..rows as usize).step_by(70_001) {
        let end = (start + 70_001).min(rows as usize);
        writer.write(&[&whole[start..end], &real[start..end], &real[start..end]]).unwrap();
        assert!(!path.exists(), "the name is given at the end");
    }
    writer.finish().unwrap();
    let table = open(&path).unwrap().read(None).unwrap();
    assert_eq!(table.names, ["y", "x", "z"]);
    assert_eq!(table.columns[0], Column::Numbers(whole));
    assert_eq!(table.columns[1], Column::Numbers(real.iter().map(|&v| f64::from(v as f32)).collect()));
    assert_eq!(table.columns[2], Column::Numbers(real));
}

#[test]
fn the_format_is_what_was_asked_for() {
    let folder = Folder::new("formats");
    let names = ["a".to_owned(), "b".to_owned()];
    for (path, text) in [(folder.path("csv.parquet.csv"), true), (folder.path("p.dat"), false)] {
        if text {
            write_csv(&path, &names, &[&[1.0, 2.5], &[-3.0, 1e300]]).unwrap();
            assert_eq!(std::fs::read_to_string(&path).unwrap(), "a,b\n1,-3\n2.5,1e300\n");
        } else {
            write_parquet(&path, &names, &[&[1.0, 2.5], &[-3.0, 1e300]]).unwrap();
        }
        let table = open(&path).unwrap().read(None).unwrap();
        assert_eq!(table.columns[1], Column::Numbers(vec![-3.0, 1e300]));
    }
}

#[test]
fn a_writer_that_fails_leaves_nothing() {
    let folder = Folder::new("unfinished");
    let path = folder.path("data.parquet");
    let names = ["a".to_owned()];
    let message = write_parquet(&path, &names, &[&[1.0, f64::NAN]]).unwrap_err().to_string();
    assert!(message.contains("column `a`, row 2: NaN"), "{message}");
    assert!(write_parquet(&path, &names, &[&[1.0], &[2.0]]).is_err());
    assert_eq!(std::fs::read_dir(folder.path("")).unwrap().count(), 0);
    let message = write_parquet(folder.path("no/such/x.parquet"), &names, &[&[1.0]]).unwrap_err().to_string();
    assert!(message.contains("cannot write"), "{message}");
    let message = TableWriter::create(folder.path("x.txt"), vec![]).err().unwrap().to_string();
    assert!(message.contains(".parquet, .csv or .csv.gz"), "{message}");
}
