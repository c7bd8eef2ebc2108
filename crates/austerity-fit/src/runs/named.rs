//! The folder of a run without `--out`: named after the data, in the working directory, and never one that is there already.
//!
//! `flights3m.parquet` gives `flights3m-run`, then `flights3m-run-2`, and so on. Making the folder is what claims it, so two runs that begin
//! at the same time get two folders.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use super::Folder;
use crate::output::Failure;
use crate::refusal::Refusal;

/// Endings that say how a table is stored, not what it holds.
const ENDINGS: [&str; 7] = [".gz", ".zst", ".csv", ".tsv", ".parquet", ".npy", ".npz"];
/// More runs of one table than anybody keeps.
const MOST: usize = 10_000;

/// What runs of these data are called.
fn stem(data: &Path) -> String {
    let resolved;
    let named = if data.file_name().is_some() {
        data
    } else {
        // `.` or `store/..`: the folder has a name of its own.
        resolved = data.canonicalize().unwrap_or_default();
        &resolved
    };
    let mut name = named.file_name().and_then(OsStr::to_str).unwrap_or("austerity");
    while let Some(shorter) = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending)) {
        if shorter.is_empty() {
            break;
        }
        name = shorter;
    }
    let kept = |letter: char| if "*?[]:\"<>|\\".contains(letter) { '_' } else { letter };
    format!("{}-run", name.chars().map(kept).collect::<String>())
}

/// The names that runs of these data take, in turn.
fn names(data: &Path) -> impl Iterator<Item = PathBuf> {
    let stem = stem(data);
    (1..MOST).map(move |number| match number {
        1 => PathBuf::from(&stem),
        _ => PathBuf::from(format!("{stem}-{number}")),
    })
}

/// Makes the folder of a new run of these data.
pub(crate) fn create(data: &Path) -> Result<Folder, Failure> {
    for name in names(data) {
        match fs::create_dir(&name) {
            Ok(()) => return Ok(Folder::new(&name)),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => {
                let problem = format!("cannot make the folder {} here: {error}", name.display());
                return Err(Refusal::Folder { problem }.into());
            }
        }
    }
    Err(Refusal::Folder { problem: format!("{} and all its successors exist", stem(data)) }.into())
}

/// Why a run cannot go on without a name; tells the newest run of these data that is here.
pub(crate) fn missing(data: &Path) -> Failure {
    let newest = names(data).take_while(|name| name.exists()).last();
    let example = newest.unwrap_or_else(|| PathBuf::from("RUN"));
    Refusal::ResumeWhere { example }.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_called_after_the_data() {
        for (data, run) in [
            ("flights3m.parquet", "flights3m-run"),
            ("/far/away/my.data.csv.gz", "my.data-run"),
            ("store", "store-run"),
            ("store/", "store-run"),
            (".csv", ".csv-run"),
            ("parts/*.parquet", "_-run"),
            ("2024.01", "2024.01-run"),
        ] {
            assert_eq!(stem(Path::new(data)), run, "{data}");
        }
        assert!(stem(Path::new("/")) == "austerity-run" && stem(Path::new(".")).ends_with("-run"));
        let second = names(Path::new("a.csv")).nth(1).unwrap();
        assert_eq!(second, Path::new("a-run-2"));
    }
}
