//! Rows ready for sampling on disk: plain files, shuffled once with bounded memory, memory-mapped afterwards.
//!
//! | file of the crate | what it does |
//! |---|---|
//! | `create` | [`create`]: a table becomes a store, in two or three passes over it |
//! | `buckets` | the external shuffle |
//! | `blocks` | the writer of the files |
//! | `map` | files as slices |
//!
//! A store is a folder:
//!
//! | file | what it holds |
//! |---|---|
//! | `blocks.npy` | f4, shape (blocks, width, 32): the columns, then the side columns, of 32 rows each; missing rows are 0 |
//! | `rows.npy` | u4, shape (rows): where each stored row stood in the table, from 0 |
//! | `meta.json` | format and version, [`Description`], [`Recipe`], the table's name, sizes, checksum |
//!
//! `numpy.load` reads both arrays; their numbers begin at byte 128, so that a map of `blocks.npy` is the storage itself.
//! With shards the folder holds that many stores, `shard-1`, `shard-2`, …, each a random part of the rows on the scale
//! of all. The order is a function of the seed and the number of rows, whatever the memory. Little-endian machines only.

mod blocks;
mod buckets;
mod create;
mod map;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use austerity::model::store::Description;
use austerity::model::{Fingerprint, Store};
use serde::{Deserialize, Serialize};

use crate::design::Recipe;
use crate::error::{Error, Result};
use blocks::{blocks_header, rows_header};

pub use create::{ConvertOptions, Created, Progress, create};

const FORMAT: &str = "austerity store";
const VERSION: u32 = 1;
const META: &str = "meta.json";
const BLOCKS: &str = "blocks.npy";
const ROWS: &str = "rows.npy";
const REMEDY: &str = "convert the table again";

/// One of several stores that hold the rows of a table together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shard {
    /// Its number, from 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    /// Rows in all of them.
    pub rows: usize,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Meta {
    format: String,
    version: u32,
    description: Description,
    recipe: Recipe,
    source: String,
    notes: Vec<String>,
    warnings: Vec<String>,
    shard: Option<Shard>,
    /// Bytes of the two arrays.
    sizes: [u64; 2],
    /// Of all numbers of the blocks, in hexadecimal digits.
    checksum: String,
}

/// A store, opened.
#[derive(Clone, Debug)]
pub struct StoreOnDisk {
    /// The rows, mapped.
    pub store: Store,
    /// How the columns of the table became those of the store.
    pub recipe: Recipe,
    /// Name of the table.
    pub source: String,
    /// Sentences about choices.
    pub notes: Vec<String>,
    /// Sentences about what may be a mistake.
    pub warnings: Vec<String>,
    /// Which part of the table this is, when it is one.
    pub shard: Option<Shard>,
    folder: PathBuf,
    checksum: String,
}

/// Whether the path is a folder that claims to be a store.
#[must_use]
pub fn is_store(path: impl AsRef<Path>) -> bool {
    path.as_ref().join(META).is_file()
}

/// Opens a store: checks version and sizes, reads no row.
pub fn open(path: impl AsRef<Path>) -> Result<StoreOnDisk> {
    let folder = path.as_ref();
    let meta_path = folder.join(META);
    if !meta_path.is_file() && folder.join("shard-1").is_dir() {
        return Err(Error::format(
            folder,
            "holds a store in shards",
            "open one of them, such as its folder shard-1",
        ));
    }
    if !meta_path.is_file() && folder.is_dir() {
        return Err(Error::format(
            folder,
            "is a folder and holds no store (there is no meta.json)",
            "give a file, or a store made by `austerity convert`",
        ));
    }
    let text = std::fs::read(&meta_path).map_err(Error::io("read", &meta_path))?;
    let damaged = |file: &str, problem: String| Error::format(&folder.join(file), problem, REMEDY);
    let value: serde_json::Value = serde_json::from_slice(&text)
        .map_err(|error| damaged(META, format!("is truncated or damaged ({error})")))?;
    if value.get("format").and_then(|format| format.as_str()) != Some(FORMAT) {
        return Err(damaged(META, format!("does not describe an {FORMAT}")));
    }
    let version = value.get("version").and_then(serde_json::Value::as_u64);
    if version != Some(VERSION.into()) {
        let found = version.map_or("unknown".into(), |version| version.to_string());
        return Err(damaged(META, format!("has version {found}, and this program reads version {VERSION}")));
    }
    if cfg!(target_endian = "big") {
        return Err(damaged(BLOCKS, "holds little-endian numbers, and this machine is big-endian".into()));
    }
    let meta: Meta =
        serde_json::from_value(value).map_err(|error| damaged(META, format!("is damaged ({error})")))?;
    let description = &meta.description;
    let headers = [
        (BLOCKS, blocks_header(description.rows, description.layout().width)),
        (ROWS, rows_header(description.rows)),
    ];
    for ((file, header), size) in headers.into_iter().zip(meta.sizes) {
        let path = folder.join(file);
        let found = std::fs::metadata(&path).map_err(Error::io("open", &path))?.len();
        if found != size {
            return Err(damaged(
                file,
                format!("is truncated or damaged: it has {found} bytes instead of {size}"),
            ));
        }
        if read_start(&path, header.len())? != header {
            return Err(damaged(file, "does not begin as meta.json says".into()));
        }
    }
    let lines = map::Lines::open(&folder.join(BLOCKS))?;
    let rows = map::Rows::open(&folder.join(ROWS))?;
    let store =
        Store::mapped(meta.description, Arc::new(lines), Arc::new(rows)).map_err(Error::data(folder))?;
    if meta.recipe.coefficient_names() != store.coefficient_names() {
        return Err(damaged(META, "is damaged: its recipe and its columns disagree".into()));
    }
    Ok(StoreOnDisk {
        store,
        recipe: meta.recipe,
        source: meta.source,
        notes: meta.notes,
        warnings: meta.warnings,
        shard: meta.shard,
        folder: folder.into(),
        checksum: meta.checksum,
    })
}

/// The checksum of all numbers of a store, in hexadecimal digits; reads all of them.
#[must_use]
pub fn checksum(store: &Store) -> String {
    let mut sum = Fingerprint::default();
    let lines = store.blocks().lines().iter();
    sum.push(lines.flat_map(|line| line.0.iter().map(|value| value.to_bits())));
    format!("{:016x}", sum.finish())
}

impl StoreOnDisk {
    /// The checksum of all numbers, as it was when the store was made; reads none of them.
    #[must_use]
    pub fn checksum(&self) -> &str {
        &self.checksum
    }

    /// Reads every number and compares the checksum.
    pub fn verify(&self) -> Result<()> {
        if checksum(&self.store) == self.checksum {
            return Ok(());
        }
        Err(Error::format(&self.folder.join(BLOCKS), "is damaged: its checksum is another", REMEDY))
    }
}

fn read_start(path: &Path, count: usize) -> Result<Vec<u8>> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(Error::io("open", path))?;
    let mut bytes = Vec::new();
    file.take(count as u64).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}
