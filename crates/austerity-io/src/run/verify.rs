//! Are the draws on disk what was written? Every chunk of every array is read and compared with its checksum.
//!
//! Metadata are compared with their own checksums and with the copies of them that the root holds; chunks must have their length, their checksum and
//! the draws that the metadata promise; the coordinates must count as they should. A chain may hold more draws than the metadata reveal:
//! such chunks are checked, too.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::chunk::{self, Damage};
use super::metadata::{self, DRAWS_IN_CHUNK, GROUPS};
use super::plan::{Block, Plan};
use super::reader::DrawsReader;
use super::{thin, zarr};
use crate::error::{Error, Result};
use crate::verified::Verified;

/// Reads a whole store of draws.
pub fn verify_draws(store: impl AsRef<Path>) -> Result<Verified> {
    let store = thin::standing(store.as_ref());
    let mut found = Verified::default();
    let root = store.join(metadata::FILE);
    found.count(&root);
    let reader = match DrawsReader::open(&store) {
        Ok(reader) => reader,
        Err(Error::Format { file, problem, .. }) => {
            found.lose(file, problem, "how the draws are read; resuming the run writes it again");
            return Ok(found);
        }
        Err(Error::Io { file, source, .. }) => {
            found.lose(file, format!("cannot be read ({source})"), "the draws");
            return Ok(found);
        }
        Err(other) => return Err(other),
    };
    descriptions(&store, &root, &mut found)?;
    coordinates(&store, &reader, &mut found);
    for block in &reader.plan.blocks {
        for chain in 0..reader.chains() {
            chunks(&store, &reader, block, chain, &mut found);
        }
    }
    Ok(found)
}

/// The metadata of all nodes, which the root repeats.
fn descriptions(store: &Path, root: &Path, found: &mut Verified) -> Result<()> {
    let root = metadata::read(root)?;
    let nodes = root["consolidated_metadata"]["metadata"].as_object();
    for (name, repeated) in nodes.into_iter().flatten() {
        let file = store.join(name).join(metadata::FILE);
        found.count(&file);
        let lost = "nothing: the description of all draws repeats it, and resuming the run writes it again";
        match metadata::read(&file) {
            // The root is written last: while a run goes on, or after a crash, a node may be ahead.
            Ok(node) if without_lengths(&node) == without_lengths(repeated) => {}
            Ok(_) => found.lose(file, "differs from what the description of all draws says of it", lost),
            Err(Error::Format { problem, .. }) => found.lose(file, problem, lost),
            Err(error) => found.lose(file, format!("cannot be read ({error})"), lost),
        }
    }
    Ok(())
}

fn without_lengths(node: &Value) -> Value {
    let mut node = node.clone();
    if let Some(fields) = node.as_object_mut() {
        fields.remove("shape");
    }
    node
}

/// Numbers of chains and draws.
fn coordinates(store: &Path, reader: &DrawsReader, found: &mut Verified) {
    let lost = "nothing: resuming the run writes it again";
    let numbers: Vec<u8> = reader.chain_numbers().into_iter().flat_map(u64::to_le_bytes).collect();
    for group in GROUPS {
        let mut files = vec![(store.join(group).join("chain/c.0"), numbers.clone())];
        files.extend((0..(reader.draws() as u64).div_ceil(DRAWS_IN_CHUNK)).map(|chunk| {
            let draws = chunk * DRAWS_IN_CHUNK..(chunk + 1) * DRAWS_IN_CHUNK;
            (store.join(group).join(format!("draw/c.{chunk}")), draws.flat_map(u64::to_le_bytes).collect())
        }));
        for (file, wanted) in files {
            found.count(&file);
            if fs::read(&file).ok().and_then(zarr::verified) != Some(wanted) {
                found.lose(file, "is missing or damaged", lost);
            }
        }
    }
    if !reader.coefficient_names().is_empty() {
        found.count(&store.join("posterior/feature/c.0"));
    }
}

/// The chunks of one array and chain: those that the metadata reveal, and what a chain holds beyond.
fn chunks(store: &Path, reader: &DrawsReader, block: &Block, chain: usize, found: &mut Verified) {
    let every = block.chunk_draws as u64;
    let draws = reader.draws() as u64;
    let mut number = 0;
    loop {
        let first = number * every;
        let needed = draws.saturating_sub(first).min(every) as usize;
        let file = chunk::path(store, block, chain, number);
        if needed == 0 && !file.exists() {
            return;
        }
        found.count(&file);
        if let Err(Damage { file, problem, have }) = chunk::read(store, block, chain, number, needed) {
            let last = if needed == 0 { first + every } else { first + needed as u64 };
            found.lose(file, problem, lost(&reader.plan, block, chain, (first + have as u64 + 1, last)));
        }
        number += 1;
    }
}

fn lost(plan: &Plan, block: &Block, chain: usize, (first, last): (u64, u64)) -> String {
    let what = block.array.rsplit_once('/').map_or(block.array.as_str(), |(_, name)| name);
    format!("draws {first} to {last} of chain {} ({what})", plan.chain_number(chain))
}
