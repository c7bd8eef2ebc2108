//! What tests of the program share: the real binary in a temporary folder, and the draws of a run in memory.
#![allow(dead_code, unreachable_pub, reason = "each test file uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use austerity_io::run::DrawsReader;
use austerity_io::table::{Column, open};
use serde_json::Value;

/// A folder that is removed at the end of a test that passed.
pub struct Scratch(PathBuf);

/// Numbers the folders of one process: tests of different files may use the same name.
static FOLDERS: AtomicUsize = AtomicUsize::new(0);

impl Scratch {
    pub fn new(name: &str) -> Self {
        let number = FOLDERS.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("austerity-{name}-{}-{number}", std::process::id()));
        let _ = fs::remove_dir_all(&path);
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A place in this folder.
    pub fn at(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// The same as an argument.
    pub fn name(&self, name: &str) -> String {
        self.at(name).to_str().unwrap().to_owned()
    }

    /// Writes a file and returns its name as an argument.
    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> String {
        fs::write(self.at(name), content).unwrap();
        self.name(name)
    }

    /// The program, to be run in this folder.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_austerity"));
        command.current_dir(&self.0).args(arguments).stdin(Stdio::null());
        command
    }

    /// Runs a line of words, to its end.
    pub fn run(&self, line: &str) -> Output {
        let output = self.command(line.split_whitespace()).output().unwrap();
        assert!(!text(&output.stderr).contains("panicked"), "{line}: {}", text(&output.stderr));
        output
    }

    /// The same for a fit that must come to its end, trusted or not.
    pub fn fit(&self, line: &str) -> Output {
        let output = self.run(line);
        assert!(matches!(output.status.code(), Some(0 | 1)), "{line}: {}", text(&output.stderr));
        output
    }

    /// The same for what must be refused; returns the message.
    pub fn refused(&self, line: &str) -> String {
        let output = self.run(line);
        let said = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {}{said}", text(&output.stdout));
        said
    }

    /// The same with words that the message must have.
    pub fn refused_with(&self, line: &str, words: &[&str]) {
        let said = self.refused(line);
        words.iter().for_each(|word| assert!(said.contains(word), "{line}: `{word}` is missing in: {said}"));
    }

    /// Runs a line and expects success; `fit` may distrust a short run.
    pub fn done(&self, line: &str) -> String {
        let output = if line.starts_with("fit") { self.fit(line) } else { self.run(line) };
        let said = text(&output.stderr);
        assert!(line.starts_with("fit") || output.status.success(), "{line}: {said}");
        text(&output.stdout)
    }

    /// The same with `--json`.
    pub fn json(&self, line: &str) -> Value {
        serde_json::from_str(&self.done(&format!("{line} --json"))).unwrap()
    }

    /// The draws of a run, unread.
    pub fn reader(&self, run: &str) -> DrawsReader {
        DrawsReader::open(self.at(run).join("draws.zarr")).unwrap()
    }

    /// The numeric columns of a table by name.
    pub fn table(&self, name: &str) -> Columns {
        let table = open(self.at(name)).unwrap().read(None).unwrap();
        let numbers = |column: &Column| match column {
            Column::Numbers(values) => values.clone(),
            Column::Levels { .. } => Vec::new(),
        };
        Columns { names: table.names.clone(), values: table.columns.iter().map(numbers).collect() }
    }

    /// Writes rows of a table of numbers as CSV.
    pub fn part(&self, table: &Columns, rows: std::ops::Range<usize>, name: &str) {
        let mut text = table.names.join(",") + "\n";
        for row in rows {
            let cells: Vec<String> = table.values.iter().map(|column| column[row].to_string()).collect();
            text += &(cells.join(",") + "\n");
        }
        self.file(name, text);
    }

    /// Starts a line of words.
    pub fn start(&self, line: &str) -> Child {
        let mut command = self.command(line.split_whitespace());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    }

    /// Runs a line and kills it after a while; tells whether it had come to its end.
    pub fn killed_after(&self, line: &str, wait: Duration) -> bool {
        let mut child = self.command(line.split_whitespace()).stdout(Stdio::null()).spawn().unwrap();
        std::thread::sleep(wait);
        if let Some(status) = child.try_wait().unwrap() {
            assert!(matches!(status.code(), Some(0 | 1)), "{line}: {status}");
            return true;
        }
        child.kill().unwrap();
        child.wait().unwrap();
        false
    }

    pub fn draws(&self, run: &str) -> Draws {
        Draws::read(&self.0.join(run).join("draws.zarr"))
    }

    /// `summary --json` of a run.
    pub fn summary(&self, run: &str) -> Value {
        self.json(&format!("summary {run}"))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs the program wherever the test is.
pub fn austerity(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_austerity")).args(arguments).stdin(Stdio::null()).output().unwrap()
}

/// The same for an answer in JSON.
pub fn json(arguments: &[&str]) -> Value {
    let output = austerity(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Columns of numbers by name.
pub struct Columns {
    pub names: Vec<String>,
    pub values: Vec<Vec<f64>>,
}

impl Columns {
    pub fn get(&self, name: &str) -> &[f64] {
        let place = self.names.iter().position(|known| known == name);
        &self.values[place.unwrap_or_else(|| panic!("no column {name} among {:?}", self.names))]
    }
}

/// Names of what a folder holds, in order.
pub fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(Result::unwrap);
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// Everything that a run has stored, as bits.
#[derive(PartialEq)]
pub struct Draws {
    pub count: usize,
    pub arrays: BTreeMap<String, Vec<Vec<u64>>>,
}

impl Draws {
    pub fn read(store: &Path) -> Self {
        let reader = DrawsReader::open(store).unwrap();
        let bits = |chains: Vec<Vec<f64>>| -> Vec<Vec<u64>> {
            chains.into_iter().map(|chain| chain.into_iter().map(f64::to_bits).collect()).collect()
        };
        let mut arrays = BTreeMap::new();
        for (index, name) in reader.names().into_iter().enumerate() {
            arrays.insert(format!("posterior {name}"), bits(reader.parameter(index).unwrap()));
        }
        for name in reader.statistic_names() {
            let values = bits(reader.statistic(&name).unwrap());
            arrays.insert(format!("sample_stats {name}"), values);
        }
        Self { count: reader.draws(), arrays }
    }

    /// Every so many draws of each chain, as a run that stores fewer keeps them.
    pub fn every(&self, every: usize) -> Self {
        let some = |chain: &Vec<u64>| chain.iter().copied().skip(every - 1).step_by(every).collect();
        let arrays = self.arrays.iter();
        let arrays = arrays.map(|(name, chains)| (name.clone(), chains.iter().map(some).collect())).collect();
        Self { count: self.count / every, arrays }
    }

    /// Panics at the first draw that differs.
    pub fn assert_equal(&self, other: &Self, what: &str) {
        assert_eq!(self.count, other.count, "{what}: number of draws");
        self.assert_prefix(other, what);
    }

    /// Panics unless these are the first draws of `whole`.
    pub fn assert_prefix(&self, whole: &Self, what: &str) {
        assert!(self.count <= whole.count, "{what}: {} draws of {}", self.count, whole.count);
        assert!(self.arrays.keys().eq(whole.arrays.keys()), "{what}: arrays");
        for (name, chains) in &self.arrays {
            assert_eq!(chains.len(), whole.arrays[name].len(), "{what}: chains");
            for (chain, (mine, theirs)) in chains.iter().zip(&whole.arrays[name]).enumerate() {
                let differs = mine.iter().zip(theirs).position(|(a, b)| a != b);
                assert_eq!(differs, None, "{what}: {name}, chain {chain}: first draw that differs");
            }
        }
    }
}

/// All files below a folder with their content.
pub fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        if entry.path().is_dir() {
            found.append(&mut files(&entry.path()));
        } else {
            found.insert(entry.path(), fs::read(entry.path()).unwrap());
        }
    }
    found
}

/// Puts a folder back to a state that [`files`] saw.
pub fn restore(folder: &Path, content: &BTreeMap<PathBuf, Vec<u8>>) {
    for path in files(folder).keys().filter(|path| !content.contains_key(*path)) {
        fs::remove_file(path).unwrap();
    }
    for (path, bytes) in content {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
}

/// The folder of the shared data sets, if they are there.
pub fn shared_data() -> Option<PathBuf> {
    let folder = std::env::var_os("AUSTERITY_DATA")
        .map_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"), PathBuf::from);
    folder.is_dir().then_some(folder)
}
