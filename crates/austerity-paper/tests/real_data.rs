//! Real data, when they are at hand: their sources are made anew from the prepared copies and must give these copies again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fmt::Write as _;
use std::path::Path;

use crate::common::formats::{gzip, idx};
use crate::common::real_data;
use crate::common::{Folder, cells, got, numbers};
use austerity_io::table::{Column, open};
use austerity_paper::fetch::{Checksums, DataSet};
use parquet::column::reader::ColumnReader;
use parquet::file::reader::{FileReader, SerializedFileReader};

/// All pixels of a prepared file.
fn pixels(path: &Path) -> Vec<u8> {
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let mut all = Vec::new();
    for group in 0..reader.num_row_groups() {
        let group = reader.get_row_group(group).unwrap();
        let ColumnReader::Int32ColumnReader(mut column) = group.get_column_reader(2).unwrap() else {
            panic!()
        };
        let (mut values, mut definition, mut repetition) = (Vec::new(), Vec::new(), Vec::new());
        let rows = group.metadata().num_rows() as usize;
        column.read_records(rows, Some(&mut definition), Some(&mut repetition), &mut values).unwrap();
        all.extend(values.iter().map(|&value| value as u8));
    }
    all
}

#[test]
fn the_components_of_mnist_come_out_as_published() {
    if real_data("mnist79_train.parquet").is_none() {
        return;
    }
    let folder = Folder::new("real-mnist");
    for (part, images, labels) in [
        ("train", "train-images-idx3-ubyte", "train-labels-idx1-ubyte"),
        ("test", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"),
    ] {
        let file = real_data(&format!("mnist79_{part}.parquet")).unwrap();
        let digits: Vec<u8> = numbers(&file, "label").iter().map(|&digit| digit as u8).collect();
        let count = digits.len() as u32;
        folder.file(&format!("own/{images}"), idx(&[count, 28, 28], &pixels(&file)));
        folder.file(&format!("own/{labels}"), idx(&[count], &digits));
    }
    let from = folder.path("own").to_str().unwrap().to_owned();
    let record = got(DataSet::Mnist79, &folder.options(&from, Checksums::Unchecked)).record;
    assert!(record.remarks[0].contains("6265 sevens and 5949 nines; test: 1028 sevens and 1009 nines"));
    assert!(record.remarks[1].contains("86.49 %"), "{:?}", record.remarks);
    for part in ["train", "test"] {
        let name = format!("mnist79_pca50_{part}.parquet");
        let published = real_data(&name).unwrap();
        let names = |path: &Path| open(path).unwrap().schema().names.clone();
        assert_eq!(names(&folder.path("data").join(&name)), names(&published));
        for column in ["label", "pc1", "pc2", "pc25", "pc49", "pc50"] {
            let (ours, theirs) = (folder.column(&name, column), numbers(&published, column));
            let worst = ours.iter().zip(&theirs).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(ours.len() == theirs.len() && worst < 2e-6, "{part} {column}: {worst}");
        }
    }
    let components = "mnist79_pca50_components.parquet";
    let (ours, theirs) = (folder.path("data").join(components), real_data(components).unwrap());
    for column in 1..=3 {
        let (ours, theirs) = (cells(&ours, column), cells(&theirs, column));
        assert_eq!((ours.len(), ours[1].len()), (theirs.len(), theirs[1].len()));
        let pairs = ours.iter().zip(&theirs).skip(1).flat_map(|(a, b)| a.iter().zip(b));
        assert!(pairs.clone().all(|(a, b)| (a - b).abs() < 1e-8), "column {column}");
    }
}

#[test]
fn the_text_of_covertype_has_the_known_checksum() {
    let Some(published) = real_data("covtype.parquet") else { return };
    let table = open(&published).unwrap().read(None).unwrap();
    let columns: Vec<&[f64]> = table
        .columns
        .iter()
        .map(|column| match column {
            Column::Numbers(values) => values.as_slice(),
            Column::Levels { .. } => panic!("text"),
        })
        .collect();
    let mut text = String::with_capacity(76_000_000);
    for row in 0..table.rows {
        for (j, column) in columns.iter().enumerate() {
            let end = if j + 1 < columns.len() { ',' } else { '\n' };
            write!(text, "{}{end}", column[row] as i64).unwrap();
        }
    }
    assert_eq!(text.len(), 75_169_317, "the published size");
    let folder = Folder::new("real-covertype");
    folder.file("own/covtype.data.gz", gzip(text.as_bytes()));
    let from = folder.path("own").to_str().unwrap().to_owned();
    // The checksum of the catalog decides whether this is the published file.
    let record = got(DataSet::Covertype, &folder.options(&from, Checksums::Known)).record;
    assert!(record.sources[0].checked);
    for (name, theirs) in table.names.iter().zip(&columns).step_by(9) {
        assert_eq!(folder.column("covtype.parquet", name), *theirs, "{name}");
    }
}
