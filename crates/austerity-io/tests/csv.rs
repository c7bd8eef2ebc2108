//! Delimited text, good and bad: what is read, and what each error says.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::io::Write as _;

use crate::common::Folder;
use austerity_io::table::{Column, ColumnKind, OpenOptions, Table, open, open_with};
use austerity_io::{Error, Result};

fn numbers(values: &[f64]) -> Column {
    Column::Numbers(values.to_vec())
}

fn read(test: &str, text: impl AsRef<[u8]>) -> Result<Table> {
    let folder = Folder::new(test);
    open(folder.file("data.csv", text))?.read(None)
}

/// Opening or reading fails, and the message holds all the words.
fn refused(test: &str, text: impl AsRef<[u8]>, words: &[&str]) -> Error {
    let error = read(test, text).unwrap_err();
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is missing from: {message}");
    }
    assert!(message.contains("data.csv"), "the file is missing from: {message}");
    error
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

#[test]
fn numbers_text_and_booleans() {
    let table = read("kinds", "y,colour,flag\n1,red,true\n-2.5e1,blue,FALSE\n 3 , red ,True\n").unwrap();
    assert_eq!(table.rows, 3);
    assert_eq!(table.names, ["y", "colour", "flag"]);
    assert_eq!(table.columns[0], numbers(&[1.0, -25.0, 3.0]));
    assert_eq!(
        table.columns[1],
        Column::Levels { codes: vec![0, 1, 0], labels: vec!["red".into(), "blue".into()] }
    );
    assert_eq!(table.columns[2], numbers(&[1.0, 0.0, 1.0]));
}

#[test]
fn quotes_and_quoted_newlines() {
    let table = read("quotes", "\"a \"\"x\"\", b\",y\r\n\"one\r\ntwo\",1\r\n\"3;4\",\"2\"\r\n").unwrap();
    assert_eq!(table.names, ["a \"x\", b", "y"]);
    assert_eq!(table.columns[1], numbers(&[1.0, 2.0]));
    let Column::Levels { labels, .. } = &table.columns[0] else { panic!() };
    assert_eq!(labels, &["one\r\ntwo", "3;4"]);
}

#[test]
fn lines_are_counted_through_quoted_newlines() {
    let error = refused("lines", "a,y\n\"one\ntwo\",1\nthree,oops\n", &["`y`", "row 2 (line 4)", "`oops`"]);
    assert!(matches!(error, Error::MixedColumn { .. }));
}

#[test]
fn only_the_named_columns_are_judged_and_in_the_order_named() {
    let folder = Folder::new("subset");
    let source = open(folder.file("data.csv", "a,b,c\n1,NA,x\n2,,7\n")).unwrap();
    assert_eq!(source.schema().kinds[0], ColumnKind::Number);
    let table = source.read(Some(&["a".into()])).unwrap();
    assert_eq!((table.names, table.columns), (vec!["a".to_owned()], vec![numbers(&[1.0, 2.0])]));
    assert!(matches!(source.read(Some(&["b".into()])), Err(Error::MissingValue { .. })));
    let swapped = open(folder.file("d.csv", "a,b\n1,2\n")).unwrap().read(Some(&["b".into(), "a".into()]));
    assert_eq!(swapped.unwrap().columns, [numbers(&[2.0]), numbers(&[1.0])]);
}

#[test]
fn gzip_in_several_members_and_by_content() {
    let folder = Folder::new("gzip");
    let bytes = [gzip(b"a,b\n1,2\n"), gzip(b"3,4\n")].concat();
    for name in ["data.csv.gz", "data.csv"] {
        let table = open(folder.file(name, &bytes)).unwrap().read(None).unwrap();
        assert_eq!(table.columns, [numbers(&[1.0, 3.0]), numbers(&[2.0, 4.0])]);
    }
    let many: String = (0..200_000).map(|i| format!("{i},{}\n", i * 7919 % 100_003)).collect();
    let whole = gzip(format!("a,b\n{many}").as_bytes());
    let cut = folder.file("cut.csv.gz", &whole[..whole.len() / 2]);
    let message = open(cut).and_then(|source| source.read(None)).unwrap_err().to_string();
    assert!(message.contains("cut.csv.gz") && message.contains("truncated"), "{message}");
}

#[test]
fn with_and_without_a_header() {
    let table = read("no-header", "1,2\n3,4\n").unwrap();
    assert_eq!(table.names, ["x1", "x2"]);
    assert_eq!(table.rows, 2);
    let folder = Folder::new("header");
    let path = folder.file("years.csv", "2019,2020\n1,2\n");
    let options = OpenOptions { header: Some(true), ..OpenOptions::default() };
    assert_eq!(open_with(&path, &options).unwrap().read(None).unwrap().names, ["2019", "2020"]);
    assert!(open(&path).unwrap().schema().notes[0].contains("x1 to x2"));
    let words = folder.file("words.csv", "red,small\nblue,large\n");
    assert!(open(words).unwrap().schema().notes[0].contains("was taken as the names"));
    let unnamed = read("unnamed", ",a\n0,5\n").unwrap();
    assert_eq!(unnamed.names, ["x1", "a"]);
    let index = open(folder.file("index.csv", ",a\n0,5\n")).unwrap();
    assert!(index.schema().notes[0].contains("column 1 of"), "{:?}", index.schema().notes);
}

#[test]
fn byte_order_mark_and_other_delimiters() {
    assert_eq!(read("mark", "\u{feff}a,b\n1,2\n").unwrap().names, ["a", "b"]);
    assert_eq!(read("semicolon", "a;b\n1;2\n").unwrap().columns[1], numbers(&[2.0]));
    let folder = Folder::new("tab");
    let table = open(folder.file("data.tsv", "a\tb, c\n1\t2\n")).unwrap().read(None).unwrap();
    assert_eq!(table.names, ["a", "b, c"]);
}

#[test]
fn thousands_of_columns() {
    let names: Vec<String> = (0..20_000).map(|j| format!("column_{j}")).collect();
    let row = |k: usize| (0..20_000).map(|j| (j * k).to_string()).collect::<Vec<_>>().join(",");
    let table = read("wide", format!("{}\n{}\n{}\n", names.join(","), row(1), row(2))).unwrap();
    assert_eq!(table.columns.len(), 20_000);
    assert_eq!(table.columns[19_999], numbers(&[19_999.0, 39_998.0]));
}

#[test]
fn missing_values() {
    for (test, cell) in [("empty", ""), ("na", "NA"), ("nan", "NaN"), ("null", "null")] {
        let error = refused(test, format!("a,b\n1,2\n3,{cell}\n"), &["`b`", "row 2 (line 3)", "impute"]);
        assert!(matches!(error, Error::MissingValue { .. }), "{error}");
    }
    refused("na-text", "a,country\n1,SE\n2,NA\n", &["`country`", "`NA`", "categorical"]);
    let folder = Folder::new("namibia");
    let source = open(folder.file("data.csv", "a,country\n1,SE\n2,NA\n")).unwrap();
    let table = source.read_with(None, &["country".into()]).unwrap();
    assert!(matches!(&table.columns[1], Column::Levels { labels, .. } if labels == &["SE", "NA"]));
}

#[test]
fn infinite_and_overflowing_numbers() {
    refused("inf", "a,b\n1,2\n-inf,3\n", &["`a`", "row 2", "`-inf`", "not a finite number"]);
    refused("overflow", "a,b\n1,2\n1e999,3\n", &["`a`", "row 2", "`1e999`"]);
}

#[test]
fn numbers_and_text_in_one_column() {
    refused("mixed", "a,b\n1,2\n3,high\n", &["`b`", "row 2", "`high`", "text", "categorical"]);
    refused("mixed-other", "a,b\n1,low\n3,4\n", &["`b`", "row 2", "`4`", "number"]);
}

#[test]
fn decimal_commas() {
    refused("comma", "a;b\n1,5;2\n2,5;3\n", &["`a`", "row 1", "`1,5`", "decimal", "decimal point"]);
    refused("comma-later", "a;b\n1;2\n2,5;3\n", &["`a`", "row 2", "`2,5`"]);
    refused("thousands", "a,b\n\"1,234\",5\n", &["`1,234`", "thousands"]);
}

#[test]
fn ragged_lines() {
    let error =
        refused("ragged", "a,b,c\n1,2,3\n4,5\n6,7,8\n", &["line 3", "2 cells", "3", "decimal commas"]);
    assert!(matches!(error, Error::Ragged { line: 3, found: 2, expected: 3, .. }));
    refused("ragged-more", "a,b\n1,2\n4,5,6\n", &["line 3", "3 cells"]);
}

#[test]
fn quotes_that_are_never_closed() {
    let words = ["quote", "line 3", "not closed"];
    refused("unclosed-last", "a,b\n1,x\n2,\"y\n3,z\n4,w\n", &words);
    refused("unclosed-first", "a,b\n1,x\n\"2,y\n3,z\n", &words);
    refused("unclosed-end", "a,b\n1,x\n2,\"y", &words);
    refused("unclosed-alone", "a\nx\n\"y\nz\n", &words);
    let table = read("stray", "a,b\n1,5\" pipe\n2,x\n").unwrap();
    assert!(matches!(&table.columns[1], Column::Levels { labels, .. } if labels[0] == "5\" pipe"));
}

#[test]
fn nothing_to_read() {
    for (test, text) in [("none", ""), ("blank", "\n \n\r\n"), ("bom", "\u{feff}")] {
        let error = refused(test, text, &["is empty"]);
        assert!(matches!(error, Error::Empty { .. }), "{error}");
    }
    refused("header-only", "a,b\n", &["no rows"]);
}

#[test]
fn missing_files_directories_and_what_is_no_table() {
    let folder = Folder::new("no-table");
    let message = open(folder.path("absent.csv")).unwrap_err().to_string();
    assert!(message.contains("absent.csv") && message.contains("check the path"), "{message}");
    std::fs::create_dir(folder.path("hollow")).unwrap();
    let said = open(folder.path("hollow")).unwrap_err().to_string();
    assert!(said.contains("is a folder without a file that can be read"), "{said}");
    for (name, content, word) in [
        ("a.xlsx", b"PK\x03\x04rest".as_slice(), "zip archive"),
        ("a.csv", b"\xff\xfea\0,\0", "UTF-16"),
        ("b.csv", b"a,b\n1,\0\n", "neither text nor a known format"),
        ("c.csv.zst", b"\x28\xb5\x2f\xfd....", "zstd"),
        ("d.parquet", b"a,b\n1,2\n", "not a Parquet file"),
        ("e.npy", b"a,b\n1,2\n", "not a NumPy file"),
        ("f.csv", b"caf\xe9,b\n1,2\n", "UTF-8"),
        ("g.csv", b"a,b\ncaf\xe9,2\n", "UTF-8"),
    ] {
        let message = open(folder.file(name, content)).and_then(|source| source.read(None)).unwrap_err();
        assert!(message.to_string().contains(word) && message.to_string().contains(name), "{message}");
    }
}

#[test]
fn unknown_and_duplicate_names() {
    let folder = Folder::new("names");
    let source = open(folder.file("data.csv", "price,size,price\n1,2,3\n")).unwrap();
    let message = source.read(Some(&["sise".into()])).unwrap_err().to_string();
    assert!(message.contains("did you mean `size`?"), "{message}");
    let message = source.read(None).unwrap_err().to_string();
    assert!(message.contains("columns 1 and 3 are both called `price`"), "{message}");
    assert_eq!(source.read(Some(&["size".into()])).unwrap().columns, [numbers(&[2.0])]);
}
