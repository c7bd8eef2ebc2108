//! The `zarr.json` files of a store: written from a layout, read back into a plan.
//!
//! Groups `posterior` and `sample_stats` have the dimensions (chain, draw), coordinates of the same names, and the attributes that
//! ArviZ looks for. Every file carries its checksum as an attribute ([`seal`]). `posterior` has `coefficients` (chain, draw, feature) with its labels in `feature`. The attributes `scalars` and
//! `statistics` of the groups keep the order that JSON objects lose. All lengths along `draw` are those of the shortest chain.

use std::fs;
use std::path::Path;

use serde_json::{Map, Value, json};

use super::layout::Layout;
use super::plan::{COEFFICIENTS, MOST_DRAWS, Plan};
use super::zarr::{self, Grid, NumberType};
use crate::error::{Error, Result};
use crate::seal::{self, Seal};

/// More chains than any run has: a damaged count must not ask for memory.
const MOST_CHAINS: usize = 1 << 20;
/// Numbers in a chunk of the coordinate `draw`.
pub(super) const DRAWS_IN_CHUNK: u64 = 1 << 16;
/// The groups.
pub(super) const GROUPS: [&str; 2] = ["posterior", "sample_stats"];
/// The attribute that tells how many draws a chain made per stored draw; 1 where it is absent.
pub(super) const STORED_EVERY: &str = "stored_every";
/// Where metadata are.
pub(super) const FILE: &str = "zarr.json";

/// The metadata of every node but the root, by path, and of the root, for chains of `draws` draws.
pub(super) fn nodes(layout: &Layout, plan: &Plan, draws: u64) -> (Map<String, Value>, Value) {
    let attributes = attributes(layout);
    let chains = plan.chains as u64;
    let mut nodes = Map::new();
    for (group, order, names) in [
        (GROUPS[0], "scalars", plan.scalars.clone()),
        (GROUPS[1], "statistics", plan.statistics.iter().map(|(name, _)| name.clone()).collect()),
    ] {
        let mut attributes = attributes.clone();
        if !names.is_empty() {
            attributes.insert(order.into(), json!(names));
        }
        nodes.insert(group.into(), zarr::group(&attributes));
        let chain = Grid { shape: &[chains], chunk: &[chains], dimensions: &["chain"] };
        nodes.insert(format!("{group}/chain"), zarr::array(NumberType::Int64, &chain, &json!({})));
        let draw = Grid { shape: &[draws], chunk: &[DRAWS_IN_CHUNK], dimensions: &["draw"] };
        nodes.insert(format!("{group}/draw"), zarr::array(NumberType::Int64, &draw, &json!({})));
    }
    if !plan.coefficients.is_empty() {
        let count = plan.coefficients.len() as u64;
        let grid = Grid { shape: &[count], chunk: &[count], dimensions: &["feature"] };
        nodes.insert("posterior/feature".into(), zarr::text_array(&grid));
    }
    for block in &plan.blocks {
        let chunk = block.chunk_draws as u64;
        let field =
            layout.statistics.iter().find(|field| block.array == format!("sample_stats/{}", field.name));
        let mut attributes = Map::new();
        if let Some(field) = field {
            attributes.insert("description".into(), json!(field.meaning));
            if !field.bits.is_empty() {
                let masks: Vec<u64> = (0..field.bits.len()).map(|bit| 1 << bit).collect();
                attributes.insert("flag_masks".into(), json!(masks));
                attributes.insert("flag_meanings".into(), json!(field.bits.join(" ")));
            }
        }
        let (shape, chunk, dimensions): (Vec<u64>, Vec<u64>, Vec<&str>) = match block.place {
            Some(_) => (
                vec![chains, draws, plan.coefficients.len() as u64],
                vec![1, chunk, block.width as u64],
                vec!["chain", "draw", "feature"],
            ),
            None => (vec![chains, draws], vec![1, chunk], vec!["chain", "draw"]),
        };
        let grid = Grid { shape: &shape, chunk: &chunk, dimensions: &dimensions };
        nodes.insert(block.array.clone(), zarr::array(block.number, &grid, &Value::Object(attributes)));
    }
    let root = zarr::root(&attributes, &nodes);
    (nodes, root)
}

fn attributes(layout: &Layout) -> Map<String, Value> {
    let mut attributes: Map<String, Value> =
        layout.attributes.iter().map(|(name, text)| (name.clone(), json!(text))).collect();
    let version = env!("CARGO_PKG_VERSION");
    for (name, value) in [
        ("created_at", json!(layout.created_at)),
        ("creation_library", json!("austerity")),
        ("creation_library_version", json!(version)),
        ("creation_library_language", json!("Rust")),
        ("inference_library", json!("austerity")),
        ("inference_library_version", json!(version)),
        ("sample_dims", json!(["chain", "draw"])),
        ("seed", json!(layout.seed)),
        ("first_chain", json!(layout.first_chain)),
        (STORED_EVERY, json!(layout.stored_every)),
    ] {
        attributes.insert(name.into(), value);
    }
    if let Some(numbers) = &layout.chain_numbers {
        attributes.insert("chain_numbers".into(), json!(numbers));
    }
    attributes
}

/// Draws that the chains made per stored draw.
pub(super) fn stored_every(attributes: &Map<String, Value>) -> u64 {
    attributes.get(STORED_EVERY).and_then(Value::as_u64).unwrap_or(1).max(1)
}

/// The attributes as the first group repeats them, for a store whose root is damaged.
pub(super) fn of_group(store: &Path) -> Option<Map<String, Value>> {
    let group = read(&store.join(GROUPS[0]).join(FILE)).ok()?;
    group["attributes"].as_object().cloned()
}

/// What to do about a description that is damaged.
const REMEDY: &str = "resume the run, which writes it again, or fetch the file again";

/// The text of a `zarr.json`, with its checksum.
pub(super) fn text(node: &Value) -> String {
    let mut node = node.clone();
    node["attributes"][seal::KEY] = seal::PLACE.into();
    // A value made of maps with text keys cannot fail to be written.
    seal::apply(&serde_json::to_string_pretty(&node).unwrap_or_default())
}

/// Reads a `zarr.json`.
pub(super) fn read(file: &Path) -> Result<Value> {
    let bytes = seal::read(file, REMEDY)?;
    let mut node: Value = serde_json::from_slice(&bytes)
        .map_err(|error| Error::format(file, format!("is damaged ({error})"), REMEDY))?;
    let carried = node["attributes"].as_object_mut().and_then(|attributes| attributes.remove(seal::KEY));
    if carried.is_some() && seal::check(&bytes) != Seal::Sound {
        return Err(Error::format(file, "is damaged (its checksum is lost)", REMEDY));
    }
    Ok(node)
}

/// What the root says: the plan, the draws of the shortest chain, the attributes. `labels` are those of the coefficients.
pub(super) fn understand(
    file: &Path,
    root: &Value,
    labels: &[String],
) -> Result<(Plan, u64, Map<String, Value>)> {
    let strange = |what: &str| {
        Error::format(file, format!("does not describe draws ({what})"), "give the `draws.zarr` of a run")
    };
    let attributes = root["attributes"].as_object().ok_or_else(|| strange("no attributes"))?.clone();
    let nodes = &root["consolidated_metadata"]["metadata"];
    let number = |value: &Value, what: &str| value.as_u64().ok_or_else(|| strange(what));
    let size = |value: &Value, what: &str| usize::try_from(number(value, what)?).map_err(|_| strange(what));
    let texts = |value: &Value| -> Vec<String> {
        let items = value.as_array().map(Vec::as_slice).unwrap_or_default();
        items.iter().filter_map(Value::as_str).map(String::from).collect()
    };
    let statistics = texts(&nodes["sample_stats"]["attributes"]["statistics"])
        .into_iter()
        .map(|name| {
            let stored = nodes[format!("sample_stats/{name}")]["data_type"].as_str();
            let stored = stored.and_then(NumberType::of).ok_or_else(|| strange(&name))?;
            Ok((name, stored))
        })
        .collect::<Result<_>>()?;
    let features = match &nodes["posterior/feature"] {
        Value::Null => 0,
        node => size(&node["shape"][0], "length of `feature`")?,
    };
    if features != labels.len() {
        return Err(strange(&format!("{features} features with {} labels", labels.len())));
    }
    let first_chain =
        u32::try_from(number(&attributes.get("first_chain").cloned().unwrap_or_default(), "first chain")?)
            .map_err(|_| strange("first chain"))?;
    let chains = size(&nodes["posterior/chain"]["shape"][0], "number of chains")?;
    let numbers = attributes.get("chain_numbers").map(|value| {
        let list: Option<Vec<u32>> =
            value.as_array().and_then(|list| list.iter().map(|n| u32::try_from(n.as_u64()?).ok()).collect());
        list.filter(|list| list.len() == chains).ok_or_else(|| strange("numbers of the chains"))
    });
    let mut plan = Plan {
        chains,
        first_chain,
        numbers: numbers.transpose()?,
        coefficients: labels.to_vec(),
        scalars: texts(&nodes["posterior"]["attributes"]["scalars"]),
        statistics,
        blocks: Vec::new(),
    };
    if plan.chains > MOST_CHAINS {
        return Err(strange(&format!("{} chains", plan.chains)));
    }
    if plan.parameters() == 0 {
        return Err(strange("no parameters"));
    }
    plan.lay_out(|_| 0);
    for block in &mut plan.blocks {
        (block.chunk_draws, block.width) = chunk(&nodes[&block.array])
            .filter(|&(draws, width)| {
                (1..=MOST_DRAWS).contains(&draws) && width >= block.columns && width == block.width
            })
            .ok_or_else(|| strange(&format!("chunks of `{}`", block.array)))?;
    }
    let draws = number(&nodes["posterior/draw"]["shape"][0], "number of draws")?;
    Ok((plan, draws, attributes))
}

/// Draws and columns in a chunk of an array of draws.
pub(super) fn chunk(node: &Value) -> Option<(usize, usize)> {
    let shape = &node["chunk_grid"]["configuration"]["chunk_shape"];
    let draws = usize::try_from(shape[1].as_u64()?).ok()?;
    let width = match &shape[2] {
        Value::Null => 1,
        width => usize::try_from(width.as_u64()?).ok()?,
    };
    Some((draws, width))
}

/// The labels of the coefficients; `None` where their chunk is damaged.
pub(super) fn labels(store: &Path) -> Option<Vec<String>> {
    let (folder, _) = COEFFICIENTS.split_once('/')?;
    let chunk = fs::read(store.join(folder).join("feature/c.0")).ok()?;
    zarr::decode_texts(&zarr::verified(chunk)?)
}
