//! The text reader under arbitrary input: it never panics, and what is written reads back.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use crate::common::Folder;
use austerity_io::table::{Column, OpenOptions, open, open_with};
use austerity_io::write::{Field, TableWriter};
use proptest::collection::vec;
use proptest::prelude::*;

/// Pieces of which tables and their faults are made.
fn piece() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        Just(b",".to_vec()),
        Just(b"\n".to_vec()),
        Just(b"\r\n".to_vec()),
        Just(b"\"".to_vec()),
        Just(b";".to_vec()),
        Just(b"\t".to_vec()),
        Just(b"\xef\xbb\xbf".to_vec()),
        Just(b"NA".to_vec()),
        Just(b"1,5".to_vec()),
        Just(b"1e999".to_vec()),
        Just(b"-inf".to_vec()),
        Just(b"true".to_vec()),
        "[0-9]{1,3}".prop_map(String::into_bytes),
        "[a-zäß ]{0,4}".prop_map(String::into_bytes),
        vec(any::<u8>(), 0..4),
    ]
}

/// A cell that is neither missing, nor a number, nor a boolean, nor trimmed by the reader.
fn text() -> impl Strategy<Value = String> {
    "[a-zA-Z_\",;\n\r\t'äß|]{0,8}".prop_map(|inside| format!("t{inside}t"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes_are_read_or_refused(pieces in vec(piece(), 0..60), header in any::<Option<bool>>()) {
        let folder = Folder::new("any-bytes");
        let path = folder.file("data.csv", pieces.concat());
        if let Ok(source) = open_with(&path, &OpenOptions { header, ..OpenOptions::default() }) {
            if let Ok(table) = source.read(None) {
                prop_assert!(table.rows > 0);
                prop_assert!(table.columns.iter().all(|column| column.len() == table.rows));
            }
            for name in &source.schema().names {
                let _ = source.read(Some(std::slice::from_ref(name)));
            }
            let _ = source.read_with(None, &source.schema().names);
        }
    }

    #[test]
    fn numbers_come_back_to_the_bit(rows in vec((any::<f64>(), any::<f32>(), any::<i32>()), 1..50), gzip: bool) {
        let keep: Vec<_> = rows.into_iter().filter(|(a, b, _)| a.is_finite() && b.is_finite()).collect();
        prop_assume!(!keep.is_empty());
        let columns = [
            keep.iter().map(|row| row.0).collect::<Vec<f64>>(),
            keep.iter().map(|row| f64::from(row.1)).collect(),
            keep.iter().map(|row| f64::from(row.2)).collect(),
        ];
        let folder = Folder::new("round-trip");
        let path = folder.path(if gzip { "data.csv.gz" } else { "data.csv" });
        let fields = vec![Field::double("a, \"b\""), Field::single("c"), Field::integer("d")];
        let mut writer = TableWriter::create(&path, fields).unwrap();
        writer.write(&[&columns[0], &columns[1], &columns[2]]).unwrap();
        writer.finish().unwrap();
        let table = open(&path).unwrap().read(None).unwrap();
        prop_assert_eq!(&table.names[0], "a, \"b\"");
        prop_assert_eq!(&table.columns[0], &Column::Numbers(columns[0].clone()));
        prop_assert_eq!(&table.columns[2], &Column::Numbers(columns[2].clone()));
        let Column::Numbers(single) = &table.columns[1] else { panic!() };
        for (read, written) in single.iter().zip(&columns[1]) {
            prop_assert_eq!(*read as f32, *written as f32);
        }
    }

    #[test]
    fn text_comes_back(cells in vec(text(), 1..30)) {
        let folder = Folder::new("text");
        let path = folder.path("data.csv");
        let mut writer = csv::Writer::from_path(&path).unwrap();
        writer.write_record(["name", "number"]).unwrap();
        for cell in &cells {
            writer.write_record([cell.as_str(), "1"]).unwrap();
        }
        writer.flush().unwrap();
        let options = OpenOptions { delimiter: Some(b','), ..OpenOptions::default() };
        let table = open_with(&path, &options).unwrap().read(None).unwrap();
        let Column::Levels { codes, labels } = &table.columns[0] else { panic!() };
        let read: Vec<&str> = codes.iter().map(|&code| labels[code as usize].as_str()).collect();
        prop_assert_eq!(read, cells);
    }
}
