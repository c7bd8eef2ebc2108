//! Draws to disk while they are drawn: complete chunks once, the last one at every flush.
//!
//! [`DrawsWriter::append`] copies into the chunks in memory and writes those that are full under temporary names.
//! [`DrawsWriter::flush`] writes the partial ones too, brings all to the disk, gives them their names, and only then lets the
//! metadata grow to the length of the shortest chain. So at every moment, also after a power cut, the store on disk is a
//! whole one of the last flush (a chain may hold more draws than the metadata reveal, never fewer), and
//! [`DrawsWriter::resume`] goes on from any count of draws that a flush had reached.
//!
//! Cost: a copy per number; a partial chunk is written at each flush, so flush every few seconds and not after every draw.
//! Memory: up to 1 MB per chain and block of columns (one per scalar and statistic, one per 256 coefficients).
//!
//! ```
//! use austerity::rule::Decision;
//! use austerity::run::Settings;
//! use austerity_io::run::{DrawsReader, DrawsWriter, Layout};
//! # let folder = std::env::temp_dir().join(format!("austerity-io-draws-doc-{}", std::process::id()));
//! # std::fs::create_dir_all(&folder)?;
//! # let path = folder.join("draws.zarr");
//! let settings = Settings { chains: 2, ..Settings::default() };
//! let names = ["intercept", "slope", "sigma"].map(String::from).to_vec();
//! let mut writer = DrawsWriter::create(&path, &Layout::new(names, 2, &settings))?;
//! writer.append(0, &[0.1, 2.0, 1.5, 0.2, 2.1, 1.4], &[Decision::ruled_out(); 2])?;
//! writer.append(1, &[0.3, 1.9, 1.6], &[Decision::ruled_out()])?;
//! writer.finish()?;
//! let reader = DrawsReader::open(&path)?;
//! assert_eq!(reader.draws(), 1); // the shortest chain's
//! assert_eq!(reader.parameter(2)?, [[1.5], [1.6]]);
//! # std::fs::remove_dir_all(&folder)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use austerity::rule::Decision;

use super::atomic::{Batch, sync_folder};
use super::chunk;
use super::layout::{Layout, Source};
use super::metadata::{self, DRAWS_IN_CHUNK, GROUPS};
use super::plan::{Block, Plan};
use super::zarr;
use crate::error::{Error, Result};

/// Writes draws as Zarr.
pub struct DrawsWriter {
    pub(super) path: PathBuf,
    pub(super) layout: Layout,
    pub(super) plan: Plan,
    /// Positions of the kept parameters in a draw.
    kept: Vec<usize>,
    /// Statistics given beside the decision.
    extras: usize,
    pub(super) chains: Vec<ChainState>,
    /// What fills partial chunks, by the byte repeated.
    padding: [(u8, Vec<u8>); 2],
    pub(super) batch: Batch,
    /// Draws that the metadata reveal; `None` before the first metadata.
    revealed: Option<u64>,
    /// Chunks of the coordinate `draw` on disk.
    draw_chunks: u64,
    failed: bool,
}

/// How far a chain is.
#[derive(Default)]
pub(super) struct ChainState {
    pub(super) drawn: u64,
    /// Draws that are durable.
    pub(super) safe: u64,
    /// Per block the draws of the chunk in the making.
    pub(super) buffers: Vec<Vec<u8>>,
}

impl DrawsWriter {
    /// Begins a store in a folder that does not exist yet.
    pub fn create(path: impl AsRef<Path>, layout: &Layout) -> Result<Self> {
        let path = path.as_ref();
        layout.check(path)?;
        if path.exists() {
            let remedy = "resume the run or write to a new folder";
            return Err(Error::format(path, "exists already", remedy));
        }
        let mut writer = Self::new(path, layout, Plan::new(layout));
        writer.prepare()?;
        writer.flush()?;
        Ok(writer)
    }

    pub(super) fn new(path: &Path, layout: &Layout, plan: Plan) -> Self {
        let largest = plan.blocks.iter().map(Block::chunk_bytes).max().unwrap_or(0);
        let chains = (0..plan.chains)
            .map(|_| ChainState { buffers: vec![Vec::new(); plan.blocks.len()], ..ChainState::default() })
            .collect();
        Self {
            path: path.into(),
            layout: layout.clone(),
            kept: layout.kept(),
            extras: layout.statistics.iter().filter(|field| matches!(field.source, Source::Extra)).count(),
            plan,
            chains,
            padding: [0xFF, 0x80].map(|byte| (byte, vec![byte; largest])),
            batch: Batch::default(),
            revealed: None,
            draw_chunks: 0,
            failed: false,
        }
    }

    /// Makes the folders and the coordinates that never change.
    pub(super) fn prepare(&mut self) -> Result<()> {
        let (nodes, _) = metadata::nodes(&self.layout, &self.plan, 0);
        for node in nodes.keys() {
            let folder = self.path.join(node);
            fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        }
        let numbers: Vec<u8> =
            (0..self.plan.chains).flat_map(|chain| self.plan.chain_number(chain).to_le_bytes()).collect();
        for group in GROUPS {
            let file = self.path.join(group).join("chain/c.0");
            self.batch.update(&file, &[&numbers, &zarr::checksum(&[&numbers])])?;
        }
        if !self.plan.coefficients.is_empty() {
            let labels = zarr::encode_texts(&self.plan.coefficients);
            let file = self.path.join("posterior/feature/c.0");
            self.batch.update(&file, &[&labels, &zarr::checksum(&[&labels])])?;
        }
        self.batch.commit()?;
        for folder in GROUPS.map(|group| self.path.join(group)).iter().map(PathBuf::as_path) {
            sync_folder(folder)?;
        }
        self.path.parent().map_or(Ok(()), sync_folder)
    }

    /// Draws of a chain appended so far, counting from the beginning of the run.
    #[must_use]
    pub fn drawn(&self, chain: usize) -> u64 {
        self.chains.get(chain).map_or(0, |state| state.drawn)
    }

    /// Draws that a chain makes per stored draw.
    #[must_use]
    pub fn stored_every(&self) -> u64 {
        self.layout.stored_every
    }

    /// Draws of a chain that are durable: what a checkpoint may count on.
    #[must_use]
    pub fn safe(&self, chain: usize) -> u64 {
        self.chains.get(chain).map_or(0, |state| state.safe)
    }

    /// Appends draws to the chain at a position: `values` holds draw after draw all parameters of the layout, those
    /// not kept included, `decisions` one entry per draw.
    pub fn append(&mut self, chain: usize, values: &[f64], decisions: &[Decision]) -> Result<()> {
        self.append_with(chain, values, decisions, &[])
    }

    /// The same with statistics that the decisions do not know: draw after draw, one number per
    /// [`Source::Extra`] field in their order.
    pub fn append_with(
        &mut self,
        chain: usize,
        values: &[f64],
        decisions: &[Decision],
        extras: &[f64],
    ) -> Result<()> {
        self.check_lengths(chain, values, decisions, extras)?;
        self.guarded(|writer| {
            for block in 0..writer.plan.posterior().len() {
                writer.fill_values(chain, block, values, decisions.len())?;
            }
            let mut extra = 0;
            for field in 0..writer.plan.statistics.len() {
                let block = writer.plan.posterior().len() + field;
                match writer.layout.statistics[field].source {
                    Source::Decision(value) => {
                        writer.fill_single(chain, block, decisions.len(), |draw| value(&decisions[draw]))?;
                    }
                    Source::Audit(value, missing) => {
                        let of = |draw: usize| decisions[draw].audit.as_ref().map_or(missing, value);
                        writer.fill_single(chain, block, decisions.len(), of)?;
                    }
                    Source::Extra => {
                        let every = writer.extras;
                        writer.fill_single(chain, block, decisions.len(), |draw| {
                            extras[draw * every + extra]
                        })?;
                        extra += 1;
                    }
                }
            }
            writer.chains[chain].drawn += decisions.len() as u64;
            Ok(())
        })
    }

    fn check_lengths(
        &self,
        chain: usize,
        values: &[f64],
        decisions: &[Decision],
        extras: &[f64],
    ) -> Result<()> {
        let refuse = |what: String, expected, found| {
            let source = austerity::Error::Dimension { what, expected, found };
            Err(Error::Data { file: self.path.clone(), source })
        };
        if chain >= self.plan.chains {
            return refuse(format!("chains (position {chain} was given)"), self.plan.chains, chain + 1);
        }
        for (what, found, width) in [
            ("values", values.len(), self.layout.names.len()),
            ("further statistics", extras.len(), self.extras),
        ] {
            if found != width * decisions.len() {
                return refuse(
                    format!("{what} of {} draws", decisions.len()),
                    width * decisions.len(),
                    found,
                );
            }
        }
        Ok(())
    }

    /// Copies the columns of a block of parameters out of whole draws.
    fn fill_values(&mut self, chain: usize, block: usize, values: &[f64], draws: usize) -> Result<()> {
        let width = self.layout.names.len();
        let mut done = 0;
        while done < draws {
            let shape = &self.plan.blocks[block];
            let kept = &self.kept[shape.first..shape.first + shape.columns];
            let gap = (shape.width - shape.columns) * shape.number.bytes();
            let buffer = &mut self.chains[chain].buffers[block];
            let more = (shape.chunk_draws - buffer.len() / shape.record()).min(draws - done);
            buffer.reserve(more * shape.record());
            let first = kept.first().copied().unwrap_or(0);
            let consecutive = kept.last().is_some_and(|&last| last + 1 - first == kept.len());
            let draws = &values[done * width..(done + more) * width];
            let whole = consecutive && kept.len() == width && gap == 0;
            if whole {
                zarr::append(draws.iter().map(|value| value.to_le_bytes()), buffer);
            }
            for draw in draws.chunks_exact(width).take(if whole { 0 } else { more }) {
                if consecutive {
                    let numbers = &draw[first..first + kept.len()];
                    zarr::append(numbers.iter().map(|value| value.to_le_bytes()), buffer);
                } else {
                    buffer.extend(kept.iter().flat_map(|&index| draw[index].to_le_bytes()));
                }
                buffer.extend(std::iter::repeat_n(shape.number.padding(), gap));
            }
            done += more;
            self.write_if_full(chain, block, done as u64)?;
        }
        Ok(())
    }

    /// Appends one number per draw.
    fn fill_single(
        &mut self,
        chain: usize,
        block: usize,
        draws: usize,
        value: impl Fn(usize) -> f64,
    ) -> Result<()> {
        let mut done = 0;
        while done < draws {
            let shape = &self.plan.blocks[block];
            let buffer = &mut self.chains[chain].buffers[block];
            let more = (shape.chunk_draws - buffer.len() / shape.record()).min(draws - done);
            buffer.reserve(more * shape.record());
            shape.number.encode((done..done + more).map(&value), buffer);
            done += more;
            self.write_if_full(chain, block, done as u64)?;
        }
        Ok(())
    }

    /// Writes a chunk that is full and begins the next; `more` draws were added since `drawn` was counted.
    fn write_if_full(&mut self, chain: usize, block: usize, more: u64) -> Result<()> {
        let shape = &self.plan.blocks[block];
        let state = &mut self.chains[chain];
        if state.buffers[block].len() < shape.chunk_bytes() {
            return Ok(());
        }
        let number = (state.drawn + more) / shape.chunk_draws as u64 - 1;
        let file = chunk::path(&self.path, shape, chain, number);
        chunk::write(&mut self.batch, &file, shape, &state.buffers[block], &[])?;
        state.buffers[block].clear();
        Ok(())
    }

    /// Makes everything appended so far durable, and readable up to the length of the shortest chain.
    pub fn flush(&mut self) -> Result<()> {
        self.guarded(|writer| {
            for chain in 0..writer.plan.chains {
                if writer.chains[chain].drawn > writer.chains[chain].safe {
                    writer.write_partial(chain)?;
                }
            }
            let shortest = writer.chains.iter().map(|state| state.drawn).min().unwrap_or(0);
            writer.write_draw_coordinate(shortest)?;
            writer.batch.commit()?;
            for state in &mut writer.chains {
                state.safe = state.drawn;
            }
            writer.reveal(shortest)
        })
    }

    /// Writes the chunks in the making of a chain.
    pub(super) fn write_partial(&mut self, chain: usize) -> Result<()> {
        let state = &self.chains[chain];
        for (shape, buffer) in self.plan.blocks.iter().zip(&state.buffers) {
            if !buffer.is_empty() {
                let file = chunk::path(&self.path, shape, chain, state.drawn / shape.chunk_draws as u64);
                let byte = shape.number.padding();
                let padding = self.padding.iter().find(|(value, _)| *value == byte);
                let padding = padding.map_or(&[][..], |(_, bytes)| bytes.as_slice());
                chunk::write(&mut self.batch, &file, shape, buffer, padding)?;
            }
        }
        Ok(())
    }

    /// Numbers the draws, whole chunks ahead.
    pub(super) fn write_draw_coordinate(&mut self, draws: u64) -> Result<()> {
        while self.draw_chunks * DRAWS_IN_CHUNK < draws {
            let first = self.draw_chunks * DRAWS_IN_CHUNK;
            let numbers: Vec<u8> = (first..first + DRAWS_IN_CHUNK).flat_map(u64::to_le_bytes).collect();
            let checksum = zarr::checksum(&[&numbers]);
            for group in GROUPS {
                let file = self.path.join(group).join(format!("draw/c.{}", self.draw_chunks));
                let there = fs::metadata(&file)
                    .is_ok_and(|found| found.len() == (numbers.len() + checksum.len()) as u64);
                if !there {
                    self.batch.write(&file, &[&numbers, &checksum])?;
                }
            }
            self.draw_chunks += 1;
        }
        Ok(())
    }

    /// Lets the metadata say `draws` draws: arrays first, the root last.
    pub(super) fn reveal(&mut self, draws: u64) -> Result<()> {
        if self.revealed == Some(draws) {
            return Ok(());
        }
        let (nodes, root) = metadata::nodes(&self.layout, &self.plan, draws);
        for (folder, node) in &nodes {
            // Groups and coordinates that never change are written once.
            let grows =
                node["dimension_names"].as_array().is_some_and(|names| names.contains(&"draw".into()));
            if grows || self.revealed.is_none() {
                self.batch.update(
                    &self.path.join(folder).join(metadata::FILE),
                    &[metadata::text(node).as_bytes()],
                )?;
            }
        }
        self.batch.update(&self.path.join(metadata::FILE), &[metadata::text(&root).as_bytes()])?;
        self.batch.commit()?;
        self.revealed = Some(draws);
        Ok(())
    }

    /// Flushes for the last time.
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }

    /// Runs what writes; a failure says what is safe, and nothing is written after it, since what the system
    /// holds of a file that failed is unknown.
    pub(super) fn guarded(&mut self, work: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        let safe = self.chains.iter().map(|state| state.safe).min().unwrap_or(0);
        if self.failed {
            let source = io::Error::other("an earlier write failed");
            return Err(Error::DrawsNotWritten { file: self.path.clone(), safe, source });
        }
        work(self).map_err(|error| {
            self.failed = true;
            match error {
                Error::Io { file, source, .. } => Error::DrawsNotWritten { file, safe, source },
                other => other,
            }
        })
    }
}
