//! What the tests share: a server, a folder, and small files of the true formats.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod formats;
#[path = "../../../austerity-io/tests/common/real.rs"]
mod real;
pub mod server;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

pub(crate) use real::real_data;

use austerity_io::table::{Column, open};
use austerity_paper::fetch::{Checksums, DataSet, Error, Event, Fetched, Options, Origin, fetch};

/// Numbers the folders of one process: tests of different files may use the same name.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

/// A folder that is removed with its content at the end of the test.
pub struct Folder(PathBuf);

impl Folder {
    pub fn new(test: &str) -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path =
            std::env::temp_dir().join(format!("austerity-fetch-{}-{number}-{test}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A list of checksums of contents.
    pub fn sums(&self, contents: &[(&str, &[u8])]) -> Checksums {
        let line = |(name, bytes): &(&str, &[u8])| format!("{}  {name}\n", formats::sha256(bytes));
        Checksums::Listed(self.file("sums", contents.iter().map(line).collect::<String>()))
    }

    /// Options for this folder: `data` is written, with little patience.
    pub fn options(&self, from: &str, checksums: Checksums) -> Options {
        let mut options = Options::new(self.path("data"));
        options.from = Some(Origin::parse(from).unwrap());
        options.checksums = checksums;
        options.timeout = Duration::from_millis(500);
        options
    }

    /// A numeric column of a table that was made.
    pub fn column(&self, file: &str, column: &str) -> Vec<f64> {
        numbers(&self.path("data").join(file), column)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A numeric column of a table.
pub fn numbers(path: &Path, column: &str) -> Vec<f64> {
    let table = open(path).unwrap().read(Some(&[column.into()])).unwrap();
    match table.columns.into_iter().next() {
        Some(Column::Numbers(values)) => values,
        _ => panic!("{} {column} holds no numbers", path.display()),
    }
}

/// A column as the file has it, row by row: lists, and numbers that may be NaN.
pub fn cells(path: &Path, column: usize) -> Vec<Vec<f64>> {
    use parquet::file::reader::{FileReader as _, SerializedFileReader};
    use parquet::record::Field;
    fn flat(field: &Field) -> Vec<f64> {
        match field {
            Field::UByte(value) => vec![f64::from(*value)],
            Field::Double(value) => vec![*value],
            Field::ListInternal(list) => list.elements().iter().flat_map(flat).collect(),
            other => panic!("{other:?}"),
        }
    }
    let reader = SerializedFileReader::new(std::fs::File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(|row| flat(row.unwrap().get_column_iter().nth(column).unwrap().1)).collect()
}

/// Fetches, and returns what happened on the way.
pub fn watched(set: DataSet, options: &Options) -> (Result<Fetched, Error>, Vec<Event>) {
    let mut events = Vec::new();
    let fetched = fetch(set, options, &mut |event| events.push(event.clone()));
    (fetched, events)
}

/// Fetches what must be had.
pub fn got(set: DataSet, options: &Options) -> Fetched {
    watched(set, options).0.unwrap()
}

/// Fetches what must be refused, with words that the message must have.
pub fn refused(set: DataSet, options: &Options, words: &[&str]) -> Error {
    let error = watched(set, options).0.unwrap_err();
    let said = error.to_string();
    words.iter().for_each(|word| assert!(said.contains(word), "`{word}` is missing in: {said}"));
    error
}
