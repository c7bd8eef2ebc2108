//! Damaged and arbitrary files through every reader: it answers or refuses and names the file, and never panics.
//!
//! Inputs are made by taking intact files and changing a few bytes, cutting them, or repeating pieces. Whatever once found a
//! fault is kept in `tests/corpus`, under a name that says what it shows, and replayed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Folder;
use crate::common::draws::{decision, files, layout, values};
use austerity_glm::ResponseKind;
use austerity_io::coding::CodingOptions;
use austerity_io::load::{LoadOptions, load};
use austerity_io::run::{DrawsReader, DrawsWriter, checkpoint};
use austerity_io::store::{self, ConvertOptions};
use austerity_io::table::open;
use austerity_io::{Error, priors};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::Index;

/// One change of a file.
#[derive(Clone, Debug)]
enum Change {
    Set(Index, u8),
    Flip(Index, u8),
    Cut(Index),
    Drop(Index, usize),
    Repeat(Index, usize),
    Insert(Index, Vec<u8>),
}

fn change() -> impl Strategy<Value = Change> {
    let number = prop_oneof![
        Just("-1"),
        Just("0"),
        Just("18446744073709551615"),
        Just("9223372036854775807"),
        Just("4294967296"),
        Just("1e308"),
        Just("null"),
        Just("\"\""),
        Just("[]"),
        Just("{}"),
        Just("\""),
        Just(","),
        Just("\n"),
        Just("NaN"),
    ];
    prop_oneof![
        3 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        3 => (any::<Index>(), 0_u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        1 => any::<Index>().prop_map(Change::Cut),
        1 => (any::<Index>(), 1_usize..20).prop_map(|(at, count)| Change::Drop(at, count)),
        1 => (any::<Index>(), 1_usize..40).prop_map(|(at, count)| Change::Repeat(at, count)),
        2 => (any::<Index>(), number).prop_map(|(at, text)| Change::Insert(at, text.into())),
    ]
}

fn changed(bytes: &[u8], changes: &[Change]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for change in changes {
        let length = bytes.len();
        if length == 0 {
            break;
        }
        let piece = |at: &Index, count: usize| at.index(length)..(at.index(length) + count).min(length);
        match change {
            Change::Set(at, byte) => bytes[at.index(length)] = *byte,
            Change::Flip(at, bit) => bytes[at.index(length)] ^= 1 << bit,
            Change::Cut(at) => bytes.truncate(at.index(length)),
            Change::Drop(at, count) => drop(bytes.drain(piece(at, *count))),
            Change::Repeat(at, count) => {
                let again = bytes[piece(at, *count)].to_vec();
                bytes.splice(at.index(length)..at.index(length), again);
            }
            Change::Insert(at, text) => {
                // A whole number is replaced: that is where ranges are forgotten.
                let mut end = at.index(length);
                while end < length && bytes[end].is_ascii_digit() {
                    end += 1;
                }
                bytes.splice(at.index(length)..end, text.iter().copied());
            }
        }
    }
    bytes
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)).unwrap()
}

fn names_it(error: &Error, path: &Path) {
    let said = error.to_string();
    assert!(said.contains(path.file_name().unwrap().to_str().unwrap()), "no file in: {said}");
}

/// Opens, surveys and loads a table in several roles.
fn load_any(path: &Path) {
    let source = match open(path) {
        Ok(source) => source,
        Err(error) => return names_it(&error, path),
    };
    let names = source.schema().names.clone();
    let (Some(first), Some(last)) = (names.first(), names.last()) else { panic!("a table without columns") };
    let plain = CodingOptions::new(last);
    let roles = CodingOptions {
        standardize: true,
        categorical: names
            .get(1)
            .filter(|name| *name != first && *name != last)
            .cloned()
            .into_iter()
            .collect(),
        ..CodingOptions::new(first)
    };
    for (options, kind) in [
        (&plain, None),
        (&roles, None),
        (&plain, Some(ResponseKind::Count)),
        (&roles, Some(ResponseKind::Real)),
    ] {
        if let Err(error) = load(&source, options, kind, 1, &LoadOptions { threads: Some(1) }) {
            names_it(&error, path);
        }
    }
}

const TABLE: &str = "age,\"place, \"\"here\"\"\",dose,y\n31,north,0.5,0\n45,south,1.25,1\n22,\"ea\nst\",-3e2,0\n61,north,7,1\n\
                     39,south,0.25,1\n50,north,2,0\n28,south,8,1\n";

/// A store of a small table, made once per test.
fn small_store(folder: &Folder) -> PathBuf {
    let table = folder.file("table.csv", TABLE);
    let out = folder.path("store");
    let options = CodingOptions::new("y");
    store::create(&open(table).unwrap(), (&options, None), 1, &out, &ConvertOptions::default(), &mut |_| {})
        .unwrap();
    out
}

fn small_draws(folder: &Folder) -> PathBuf {
    let layout = layout(3, 2);
    let path = folder.path("draws.zarr");
    // No case waits for the disk.
    austerity_io::run::volatile(path.parent().unwrap());
    let mut writer = DrawsWriter::create(&path, &layout).unwrap();
    for chain in 0..2 {
        let decisions: Vec<_> = (0..40).map(|draw| decision(chain, draw)).collect();
        writer.append(chain, &values(&layout, chain, 0..40), &decisions).unwrap();
    }
    writer.finish().unwrap();
    path
}

/// Reads all there is to read of draws.
fn read_draws(path: &Path) {
    let Ok(reader) = DrawsReader::open(path) else { return };
    let _ = reader.trace();
    let _ = reader.thinned(10);
    for index in 0..reader.names().len() {
        let _ = reader.parameter(index);
    }
    for name in reader.statistic_names() {
        let _ = reader.statistic(&name);
    }
}

/// Opens a store and looks at every row.
fn read_store(path: &Path) {
    let Ok(opened) = store::open(path) else { return };
    let _ = opened.verify(1);
    assert_eq!(opened.recipe.coefficient_names(), opened.store.coefficient_names());
    assert_eq!(opened.store.default_priors().len(), opened.store.coefficients());
    let _ = opened.store.description();
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig { cases: cases * multiple(), failure_persistence: None, ..ProptestConfig::default() }
}

/// AUSTERITY_FUZZ=100 searches a hundred times as long.
fn multiple() -> u32 {
    std::env::var("AUSTERITY_FUZZ").ok().and_then(|text| text.parse().ok()).unwrap_or(1)
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn any_bytes_load_or_are_refused(bytes in vec(any::<u8>(), 0..300), ending in prop_oneof![Just("csv"), Just("csv.gz"), Just("npy"), Just("parquet"), Just("txt")]) {
        let folder = Folder::new("fuzz-bytes");
        load_any(&folder.file(&format!("data.{ending}"), bytes));
    }

    #[test]
    fn damaged_text_loads_or_is_refused(changes in vec(change(), 1..6)) {
        let folder = Folder::new("fuzz-text");
        load_any(&folder.file("data.csv", changed(TABLE.as_bytes(), &changes)));
    }

    #[test]
    fn damaged_arrays_load_or_are_refused(changes in vec(change(), 1..4), which in 0..4_usize) {
        let folder = Folder::new("fuzz-npy");
        let name = ["grid-f4.npy", "grid-fortran.npy", "line.npy", "grid-i2.npy"][which];
        load_any(&folder.file("data.npy", changed(&fixture(name), &changes)));
    }

    #[test]
    fn damaged_parquet_loads_or_is_refused(changes in vec(change(), 1..4), which in 0..6_usize) {
        let folder = Folder::new("fuzz-parquet");
        let name = ["types-snappy.parquet", "types-zstd.parquet", "encodings.parquet", "codec-none.parquet", "codec-lz4.parquet", "codec-gzip.parquet"][which];
        load_any(&folder.file("data.parquet", changed(&fixture(name), &changes)));
    }

    #[test]
    fn damaged_priors_are_read_or_refused(changes in vec(change(), 1..5)) {
        let folder = Folder::new("fuzz-priors");
        let text = b"coefficient,prior\nage,normal:2.5\ndose,\"student:4,1\"\nintercept,flat\n";
        let path = folder.file("priors.csv", changed(text, &changes));
        if let Err(error) = priors::read(&path) {
            names_it(&error, &path);
        }
    }

    #[test]
    fn damaged_checkpoints_are_refused(changes in vec(change(), 1..4)) {
        let folder = Folder::new("fuzz-checkpoint");
        let path = folder.path("checkpoint");
        let value = (vec![1.5_f64, -2.0], "text".to_owned(), Some(7_u64));
        checkpoint::write(&path, &value).unwrap();
        let bytes = fs::read(&path).unwrap();
        let damaged = changed(&bytes, &changes);
        fs::write(&path, &damaged).unwrap();
        match checkpoint::read::<(Vec<f64>, String, Option<u64>)>(&path) {
            Ok(found) => prop_assert_eq!(found.value, value),
            Err(error) => names_it(&error, &path),
        }
    }
}

proptest! {
    #![proptest_config(cases(150))]

    #[test]
    fn damaged_stores_open_or_are_refused(changes in vec(change(), 1..4), which in 0..4_usize) {
        let folder = Folder::new("fuzz-store");
        let store = small_store(&folder);
        // Two in four damage the description.
        let path = store.join(["meta.json", "meta.json", "blocks.npy", "rows.npy"][which]);
        let bytes = changed(&fs::read(&path).unwrap(), &changes);
        fs::write(&path, bytes).unwrap();
        read_store(&store);
    }

    #[test]
    fn damaged_draws_are_read_or_refused(changes in vec(change(), 1..4), which in any::<Index>(), description in any::<bool>()) {
        let folder = Folder::new("fuzz-draws");
        let draws = small_draws(&folder);
        let all: Vec<PathBuf> = files(&draws).into_iter().filter(|path| !description || path.ends_with("zarr.json")).collect();
        let root = draws.join("zarr.json");
        let path = if description && which.index(2) == 0 { &root } else { &all[which.index(all.len())] };
        fs::write(path, changed(&fs::read(path).unwrap(), &changes)).unwrap();
        read_draws(&draws);
    }
}

/// Every input that found a fault, again: all of it is refused.
#[test]
fn the_corpus_is_refused() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus");
    let all = files(&corpus);
    assert!(!all.is_empty());
    for path in all {
        let folder = Folder::new("corpus");
        let draws = small_draws(&folder);
        assert!(DrawsReader::open(&draws).is_ok());
        fs::copy(&path, draws.join("zarr.json")).unwrap();
        let error = DrawsReader::open(&draws).unwrap_err();
        names_it(&error, &draws.join("zarr.json"));
    }
}
