//! Rules on Rust sources: their length, how modules open, and where unsafe code may be.

use super::words::words;
use crate::steps::Outcome;
use crate::tree::Tree;

/// Lines above which a source file is worth splitting. The aim is 150–400 lines, tests included.
const LONG_FILE: usize = 500;

/// The crates of the library, whose modules say what they are for.
const LIBRARY: &[&str] = &["austerity", "austerity-glm", "austerity-models"];

/// Files that may hold unsafe code, each with the reason why it cannot do without.
const UNSAFE_ALLOWED: &[(&str, &str)] = &[
    ("crates/austerity-glm/src/memory.rs", "advice about memory exists only as an unsafe call"),
    ("crates/austerity-glm/src/simd/prefetch.rs", "prefetch instructions exist only as unsafe intrinsics"),
    (
        "crates/austerity-io/src/store/map.rs",
        "a memory map, and its bytes as numbers, exist only as unsafe calls",
    ),
    ("crates/austerity-io/src/store/bus.rs", "a handler of SIGBUS exists only as unsafe calls"),
    ("crates/austerity-cli/src/hangup.rs", "how a signal is handled can be asked only by an unsafe call"),
    (
        "crates/austerity-io/src/table/arrow/interface.rs",
        "memory of other libraries is read where it lies, by addresses",
    ),
    (
        "crates/austerity-io/src/table/arrow/interface/producer.rs",
        "what another library hands over, made for the tests of the file before",
    ),
    ("crates/austerity-py/src/capsule.rs", "what a capsule holds is known by an address"),
    ("crates/austerity-py/src/native.rs", "a user's compiled function is called by its address"),
    ("crates/austerity-py/src/lock.rs", "keeping a thread known to Python exists only as unsafe calls"),
    ("crates/austerity-glm/tests/allocation.rs", "an allocator that counts is an unsafe trait"),
];

/// Warns of long files; never fails.
pub(crate) fn file_size(tree: &Tree) -> Outcome {
    let long = tree.sources(None).filter_map(|file| {
        let lines = file.text.lines().count();
        (lines > LONG_FILE).then(|| format!("warning: {} has {lines} lines (over {LONG_FILE})", file.path))
    });
    Outcome::Passed(long.collect())
}

/// Every module of the library opens with `//!`.
pub(crate) fn module_openings(tree: &Tree) -> Outcome {
    let all = LIBRARY.iter().flat_map(|name| tree.sources(Some(name)));
    let silent = all.filter(|file| !file.text.trim_start().starts_with("//!"));
    Outcome::of(
        silent.map(|file| format!("{}: does not open with `//!` and its purpose", file.path)).collect(),
        Vec::new(),
    )
}

/// The keyword `unsafe` appears only in the files of the allow list.
pub(crate) fn unsafe_code(tree: &Tree) -> Outcome {
    let mut complaints = Vec::new();
    let mut remarks = Vec::new();
    for file in tree.files.iter().filter(|file| file.path.ends_with(".rs")) {
        let lines: Vec<usize> = words(&file.text)
            .into_iter()
            .filter(|(_, word)| word == "unsafe")
            .map(|(line, _)| line)
            .collect();
        if lines.is_empty() {
            continue;
        }
        match UNSAFE_ALLOWED.iter().find(|(path, _)| *path == file.path) {
            Some((path, reason)) => remarks.push(format!("allowed: {path} ({reason})")),
            None => complaints.extend(
                lines.iter().map(|line| format!("{}:{line}: `unsafe` is not allowed here", file.path)),
            ),
        }
    }
    Outcome::of(complaints, remarks)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(text: &str) -> Tree {
        Tree::of(&[("crates/austerity/src/rule/exact.rs", text)])
    }

    #[test]
    fn long_files_are_remarked_not_refused() {
        let lines = |count: usize| library(&"\n".repeat(count));
        assert_eq!(file_size(&lines(LONG_FILE)), Outcome::Passed(Vec::new()));
        match file_size(&lines(LONG_FILE + 1)) {
            Outcome::Passed(remarks) => assert!(remarks[0].contains("has 501 lines"), "{remarks:?}"),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn modules_must_open_with_their_purpose() {
        assert_eq!(module_openings(&library("//! Exact rule.\n")), Outcome::Passed(Vec::new()));
        for silent in ["", "use std::fmt;\n//! late", "// not a doc comment\n", "/// of an item\nfn f() {}"] {
            assert!(matches!(module_openings(&library(silent)), Outcome::Failed(_)), "{silent}");
        }
        let elsewhere = Tree::of(&[("crates/austerity-cli/src/main.rs", "fn main() {}")]);
        assert_eq!(module_openings(&elsewhere), Outcome::Passed(Vec::new()));
    }

    #[test]
    fn unsafe_is_refused_outside_the_list() {
        let keyword = concat!("//! Unsafe.\nfn f() { un", "safe { g() } }");
        assert_eq!(
            unsafe_code(&library(keyword)),
            Outcome::Failed(vec![
                "crates/austerity/src/rule/exact.rs:2: `unsafe` is not allowed here".into()
            ])
        );
        assert!(matches!(unsafe_code(&Tree::of(&[("benches/a.rs", keyword)])), Outcome::Failed(_)));
        match unsafe_code(&Tree::of(&[(UNSAFE_ALLOWED[0].0, keyword)])) {
            Outcome::Passed(remarks) => assert_eq!(remarks.len(), 1),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_word_unsafe_in_prose_or_in_names_is_harmless() {
        let prose = "// unsafe\nconst A: &str = \"unsafe\";\n#![deny(unsafe_op_in_unsafe_fn)]";
        assert_eq!(unsafe_code(&library(prose)), Outcome::Passed(Vec::new()));
    }
}
