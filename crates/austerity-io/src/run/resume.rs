//! Going on with a store after exactly the draws that a checkpoint counts.
//!
//! Every chunk below the counts is read, its checksum compared and its draws counted: a run does not go on for hours on top of draws that are
//! lost. Fewer draws than counted is [`Error::DrawsMissing`], and nothing has been touched. Then the metadata shrink, draws beyond the
//! counts are removed, and what a crash left behind is mended: temporary files, damaged metadata (from the layout;
//! the shape of the chunks stands in two places), labels and coordinates.

use std::fs;
use std::path::Path;

use serde_json::Value;

use super::chunk::{self, Damage};
use super::layout::Layout;
use super::metadata;
use super::plan::{Block, Plan};
use super::thin;
use super::writer::DrawsWriter;
use crate::error::{Error, Result};
use crate::temporary::PART;

impl DrawsWriter {
    /// Goes on after `made[c]` draws of the chain at position c, of which the store holds those that it keeps
    /// ([`DrawsReader::stored_every`](super::DrawsReader::stored_every)). Draws beyond are discarded; fewer on disk is an error, and so is a layout
    /// that differs in more than the expected draws, the thinning and the attributes.
    pub fn resume(path: impl AsRef<Path>, layout: &Layout, made: &[u64]) -> Result<Self> {
        let path = path.as_ref();
        thin::settle(path)?;
        layout.check(path)?;
        let (mut layout, mut plan) = (layout.clone(), Plan::new(layout));
        let drawn = made;
        if drawn.len() != plan.chains {
            let what = "counts of draws, one per chain".into();
            let source = austerity::Error::Dimension { what, expected: plan.chains, found: drawn.len() };
            return Err(Error::Data { file: path.into(), source });
        }
        let root = metadata::read(&path.join(metadata::FILE));
        if let Ok(root) = &root {
            compare(path, root, &plan, &mut layout)?;
        } else if let Some(attributes) = metadata::of_group(path) {
            layout.stored_every = metadata::stored_every(&attributes);
        }
        let drawn: Vec<u64> = drawn.iter().map(|draws| draws / layout.stored_every).collect();
        // A store whose creation was cut short has nothing to go on from, and needs nothing.
        if root.is_ok() || drawn.iter().any(|&draws| draws > 0) {
            adopt_chunks(path, root.as_ref().ok(), &mut plan)?;
        }
        let mut writer = Self::new(path, &layout, plan);
        let load = |(chain, &draws): (usize, &u64)| writer.load(chain, draws);
        let longer: Vec<bool> = drawn.iter().enumerate().map(load).collect::<Result<_>>()?;
        let shortest = drawn.iter().copied().min().unwrap_or(0);
        writer.guarded(|writer| {
            writer.prepare()?;
            writer.reveal(shortest)?;
            writer.discard_beyond()?;
            for chain in (0..writer.plan.chains).filter(|&chain| longer[chain]) {
                writer.write_partial(chain)?;
            }
            writer.write_draw_coordinate(shortest)?;
            writer.batch.commit()
        })?;
        Ok(writer)
    }

    /// Checks the draws of a chain and loads its last chunks; tells whether one of them holds more.
    fn load(&mut self, chain: usize, draws: u64) -> Result<bool> {
        let (mut worst, mut longer): (Option<(u64, Damage)>, _) = (None, false);
        for (block, buffer) in self.plan.blocks.iter().zip(&mut self.chains[chain].buffers) {
            match last_chunk(&self.path, block, chain, draws) {
                Ok((content, more)) => {
                    *buffer = content;
                    longer |= more;
                }
                Err((have, damage)) if worst.as_ref().is_none_or(|(least, _)| have < *least) => {
                    worst = Some((have, damage));
                }
                Err(_) => {}
            }
        }
        if let Some((have, Damage { file, problem, .. })) = worst {
            return Err(Error::DrawsMissing {
                file,
                chain: self.plan.chain_number(chain),
                have,
                want: draws,
                problem,
            });
        }
        (self.chains[chain].drawn, self.chains[chain].safe) = (draws, draws);
        Ok(longer)
    }

    /// Removes chunks that begin beyond the draws of their chain, and temporary files.
    fn discard_beyond(&self) -> Result<()> {
        let (nodes, _) = metadata::nodes(&self.layout, &self.plan, 0);
        for node in nodes.keys().map(String::as_str).chain([""]) {
            let block = self.plan.blocks.iter().find(|block| block.array == node);
            let beyond = |name: &str| {
                block.zip(position(name)).is_some_and(|(block, (chain, chunk))| {
                    let drawn = self.chains.get(chain).map_or(0, |state| state.drawn);
                    chunk >= drawn.div_ceil(block.chunk_draws as u64)
                })
            };
            let folder = self.path.join(node);
            for entry in fs::read_dir(&folder).map_err(Error::io("read", &folder))? {
                let entry = entry.map_err(Error::io("read", &folder))?;
                let name = entry.file_name().to_string_lossy().into_owned();
                if name.ends_with(PART) || beyond(&name) {
                    let file = entry.path();
                    fs::remove_file(&file).map_err(Error::io("remove", &file))?;
                }
            }
        }
        Ok(())
    }
}

/// Chain and chunk of a file `c.CHAIN.CHUNK` or `c.CHAIN.CHUNK.PLACE`.
fn position(name: &str) -> Option<(usize, u64)> {
    let mut parts = name.strip_prefix("c.")?.split('.');
    Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
}

/// The draws of the chunk in the making after `draws` draws and whether it holds more on disk; else how many are
/// intact, and why not more.
fn last_chunk(
    store: &Path,
    block: &Block,
    chain: usize,
    draws: u64,
) -> std::result::Result<(Vec<u8>, bool), (u64, Damage)> {
    let every = block.chunk_draws as u64;
    let full = draws / every;
    for number in 0..full {
        chunk::read(store, block, chain, number, block.chunk_draws)
            .map_err(|damage| (number * every + damage.have as u64, damage))?;
    }
    let rest = (draws % every) as usize;
    if rest == 0 {
        return Ok((Vec::new(), false));
    }
    let mut content = chunk::read(store, block, chain, full, rest)
        .map_err(|damage| (full * every + damage.have as u64, damage))?;
    let more = chunk::filled(block, &content) > rest;
    content.truncate(rest * block.record());
    Ok((content, more))
}

/// Refuses another run's store, naming the first difference; keeps the date of the first session.
fn compare(store: &Path, root: &Value, plan: &Plan, layout: &mut Layout) -> Result<()> {
    let file = store.join(metadata::FILE);
    let labels = metadata::labels(store).unwrap_or_else(|| plan.coefficients.clone());
    let (stored, _, attributes) = metadata::understand(&file, root, &labels)?;
    let differ = |what: &str, stored: String, found: String| {
        let what = what.into();
        if stored == found {
            Ok(())
        } else {
            Err(Error::DrawsDiffer { file: store.into(), what, stored, found })
        }
    };
    let seed = attributes.get("seed").map(Value::to_string).unwrap_or_default();
    let statistics = |plan: &Plan| {
        let all: Vec<String> =
            plan.statistics.iter().map(|(name, number)| format!("{name} ({})", number.name())).collect();
        all.join(", ")
    };
    differ("seed", seed, layout.seed.to_string())?;
    differ("number of chains", stored.chains.to_string(), plan.chains.to_string())?;
    differ("first chain", stored.first_chain.to_string(), plan.first_chain.to_string())?;
    differ("list of coefficients", stored.coefficients.join(", "), plan.coefficients.join(", "))?;
    differ("list of other parameters", stored.scalars.join(", "), plan.scalars.join(", "))?;
    differ("list of statistics", statistics(&stored), statistics(plan))?;
    layout.stored_every = metadata::stored_every(&attributes);
    if let Some(created) = attributes.get("created_at").and_then(Value::as_str) {
        layout.created_at = created.into();
    }
    Ok(())
}

/// Takes the draws per chunk from the root, or from the arrays' own metadata where the root is damaged.
fn adopt_chunks(store: &Path, root: Option<&Value>, plan: &mut Plan) -> Result<()> {
    for block in &mut plan.blocks {
        let file = store.join(&block.array).join(metadata::FILE);
        let node = match root {
            Some(root) => root["consolidated_metadata"]["metadata"][&block.array].clone(),
            None => metadata::read(&file)?,
        };
        let same = node["data_type"] == block.number.name();
        block.chunk_draws = metadata::chunk(&node)
            .filter(|&(draws, width)| same && draws > 0 && width == block.width)
            .ok_or_else(|| {
                let problem = "describes chunks of another shape than this run's";
                Error::format(&file, problem, "resume with the settings of the run or write to a new folder")
            })?
            .0;
    }
    Ok(())
}
