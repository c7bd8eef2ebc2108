//! Rows ready for sampling on disk: plain files, shuffled once with bounded memory, memory-mapped afterwards.
//!
//! | file of the crate | what it does |
//! |---|---|
//! | `create` | [`create()`]: a table becomes a store, in two or three passes over it |
//! | `buckets` | the external shuffle |
//! | `blocks` | the writer of the files |
//! | `map`, `bus` | files as slices, and what happens when one is cut short meanwhile |
//! | `pieces`, `verify` | checksums, and the comparison with them |
//!
//! A store is a folder:
//!
//! | file | what it holds |
//! |---|---|
//! | `blocks.npy` | f4, shape (blocks, width, 32): the columns, then the factor columns, then the side columns, of 32 rows each; missing rows are 0 |
//! | `rows.npy` | u4, shape (rows): where each stored row stood in the table, from 0 |
//! | `checksums.npy` | u4: a CRC-32C per 64 kB of `blocks.npy`, then of `rows.npy` |
//! | `meta.json` | format and version, its own checksum, [`Description`], [`Recipe`], the table's name, sizes, checksums |
//!
//! A factor column holds the place of each row's level in the table of all levels, as the bits of a u4 (`view("u4")` in NumPy): 0 is the
//! reference. `numpy.load` reads both arrays; their numbers begin at byte 128, so that a map of `blocks.npy` is the storage itself.
//! With shards the folder holds that many stores, `shard-1`, `shard-2`, …, each a random part of the rows on the scale
//! of all. The order is a function of the seed and the number of rows, whatever the memory. Little-endian machines only.

mod blocks;
mod buckets;
mod bus;
mod create;
mod map;
mod pieces;
mod verify;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use austerity_glm::Store;
use austerity_glm::glm::blocks::BLOCK;
use austerity_glm::store::Description;
use serde::{Deserialize, Serialize};

use crate::coding::Recipe;
use crate::error::{Error, Result};
use crate::seal::{self, Seal};
use blocks::{blocks_header, checksums_header, rows_header};
use pieces::ROWS_IN_PIECE;

pub use create::{ConvertOptions, Created, Progress, create};
pub use pieces::{checksum, earlier_checksum};
pub use verify::verify;

const FORMAT: &str = "austerity store";
const VERSION: u32 = 2;
/// Without checksums of pieces.
const EARLIER: u32 = 1;
const META: &str = "meta.json";
const BLOCKS: &str = "blocks.npy";
const ROWS: &str = "rows.npy";
const CHECKSUMS: &str = "checksums.npy";
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
    /// Of this file; in the earlier version, of all numbers of the blocks.
    checksum: String,
    /// Of all numbers of the blocks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    data_checksum: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pieces: Option<Pieces>,
    description: Description,
    recipe: Recipe,
    source: String,
    notes: Vec<String>,
    warnings: Vec<String>,
    shard: Option<Shard>,
    /// Bytes of the two arrays.
    sizes: [u64; 2],
}

/// How the arrays are cut for their checksums.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Pieces {
    /// Blocks in a piece.
    blocks: usize,
    /// Row numbers in a piece.
    rows: usize,
    /// Checksum of `checksums.npy`.
    file: String,
}

/// What the arrays must be.
#[derive(Clone, Debug)]
enum Sums {
    /// One sum for all numbers of the blocks.
    Earlier,
    /// Sums of the pieces of the blocks and of the row numbers.
    Pieces { blocks: Vec<u32>, rows: Vec<u32> },
}

/// A store, opened.
#[derive(Clone)]
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
    sums: Sums,
    lines: Arc<map::Lines>,
    rows: Arc<map::Rows>,
}

/// Whether the path is a folder that claims to be a store.
#[must_use]
pub fn is_store(path: impl AsRef<Path>) -> bool {
    path.as_ref().join(META).is_file()
}

/// Opens a store: checks version, sizes and the files beside the rows, reads no row. [`StoreOnDisk::verify`] reads them.
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
    let known = [EARLIER, VERSION].into_iter().find(|&known| version == Some(known.into()));
    let Some(version) = known else {
        let found = version.map_or("unknown".into(), |version| version.to_string());
        return Err(damaged(
            META,
            format!("has version {found}, and this program reads versions {EARLIER} and {VERSION}"),
        ));
    };
    if version == VERSION && seal::check(&text) != Seal::Sound {
        return Err(damaged(META, "is damaged (its checksum does not fit)".into()));
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
    let (sums, checksum) = sums(folder, &meta)?;
    let lines = Arc::new(map::Lines::open(&folder.join(BLOCKS))?);
    let rows = Arc::new(map::Rows::open(&folder.join(ROWS))?);
    let store = Store::mapped(meta.description, lines.clone(), rows.clone()).map_err(Error::data(folder))?;
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
        checksum,
        sums,
        lines,
        rows,
    })
}

/// What the arrays must be, and the checksum of the data.
fn sums(folder: &Path, meta: &Meta) -> Result<(Sums, String)> {
    let damaged = |file: &str, problem: &str| Err(Error::format(&folder.join(file), problem, REMEDY));
    if meta.version == EARLIER {
        return Ok((Sums::Earlier, meta.checksum.clone()));
    }
    let (Some(data), Some(pieces)) = (&meta.data_checksum, &meta.pieces) else {
        return damaged(META, "is damaged: it has no checksums of the rows");
    };
    let (rows, width) = (meta.description.rows, meta.description.layout().width);
    if pieces.blocks != pieces::blocks_in_piece(width) || pieces.rows != ROWS_IN_PIECE {
        return damaged(META, "is damaged: it cuts the rows into other pieces");
    }
    let path = folder.join(CHECKSUMS);
    let bytes = std::fs::read(&path).map_err(Error::io("read", &path))?;
    let blocks = rows.div_ceil(BLOCK).div_ceil(pieces.blocks);
    let count = blocks + rows.div_ceil(pieces.rows);
    let header = checksums_header(count);
    let numbers = bytes.strip_prefix(header.as_slice()).map(<[u8]>::as_chunks::<4>);
    let Some((numbers, [])) = numbers.filter(|(numbers, _)| numbers.len() == count) else {
        return damaged(CHECKSUMS, "is truncated or damaged");
    };
    let mut numbers: Vec<u32> = numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect();
    let of_rows = numbers.split_off(blocks);
    if seal::of(&bytes) != pieces.file || pieces::of_data(&numbers) != *data {
        return damaged(CHECKSUMS, "is damaged (its checksum does not fit)");
    }
    Ok((Sums::Pieces { blocks: numbers, rows: of_rows }, data.clone()))
}

impl fmt::Debug for StoreOnDisk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOnDisk")
            .field("folder", &self.folder)
            .field("rows", &self.store.rows())
            .finish_non_exhaustive()
    }
}

fn read_start(path: &Path, count: usize) -> Result<Vec<u8>> {
    use std::io::Read as _;
    let file = std::fs::File::open(path).map_err(Error::io("open", path))?;
    let mut bytes = Vec::new();
    file.take(count as u64).read_to_end(&mut bytes).map_err(Error::io("read", path))?;
    Ok(bytes)
}
