//! Running the program on files of a test's own.

#![allow(dead_code, clippy::unwrap_used, reason = "a test may panic, and need not use everything")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use austerity_io::run::DrawsReader;
use austerity_io::table::{Column, open};

/// A folder of its own, removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("austerity-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    /// Runs the program there; arguments are separated by blanks.
    pub(crate) fn run(&self, arguments: &str) -> Output {
        let arguments = arguments.split_whitespace();
        let mut program = Command::new(env!("CARGO_BIN_EXE_austerity"));
        program.args(arguments).current_dir(&self.0).stdin(Stdio::null()).output().unwrap()
    }

    /// Runs it and expects success; `fit` may distrust a short run.
    pub(crate) fn done(&self, arguments: &str) -> String {
        let output = self.run(arguments);
        let distrust = arguments.starts_with("fit") && output.status.code() == Some(1);
        assert!(output.status.success() || distrust, "{arguments}: {}", text(&output.stderr));
        text(&output.stdout)
    }

    pub(crate) fn json(&self, arguments: &str) -> serde_json::Value {
        serde_json::from_str(&self.done(&format!("{arguments} --json"))).unwrap()
    }

    /// Runs it, expects exit code 2 and all words in what it says.
    pub(crate) fn refused(&self, arguments: &str, words: &[&str]) {
        let output = self.run(arguments);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {said}");
        for word in words {
            assert!(said.contains(word), "{arguments}: `{word}` is missing in: {said}");
        }
        assert!(!said.contains("panicked"), "{said}");
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn draws(&self, run: &str) -> DrawsReader {
        DrawsReader::open(self.path(run).join("draws.zarr")).unwrap()
    }

    /// The numeric columns of a table by name.
    pub(crate) fn table(&self, name: &str) -> Columns {
        let table = open(self.path(name)).unwrap().read(None).unwrap();
        let numbers = |column: &Column| match column {
            Column::Numbers(values) => values.clone(),
            Column::Levels { .. } => Vec::new(),
        };
        Columns { names: table.names.clone(), values: table.columns.iter().map(numbers).collect() }
    }

    /// Writes rows of a table of numbers as CSV.
    pub(crate) fn part(&self, table: &Columns, rows: std::ops::Range<usize>, name: &str) {
        let mut text = table.names.join(",") + "\n";
        for row in rows {
            let cells: Vec<String> = table.values.iter().map(|column| column[row].to_string()).collect();
            writeln!(text, "{}", cells.join(",")).unwrap();
        }
        self.write(name, &text);
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Columns of numbers by name.
pub(crate) struct Columns {
    pub(crate) names: Vec<String>,
    pub(crate) values: Vec<Vec<f64>>,
}

impl Columns {
    pub(crate) fn get(&self, name: &str) -> &[f64] {
        let place = self.names.iter().position(|known| known == name);
        &self.values[place.unwrap_or_else(|| panic!("no column {name} among {:?}", self.names))]
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// All files below a folder, to see that nothing was left.
pub(crate) fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}
