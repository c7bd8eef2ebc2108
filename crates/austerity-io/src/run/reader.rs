//! Draws from disk: one parameter, one statistic, or whole draws in batches, never more in memory than asked for.
//!
//! [`DrawsReader::open`] reads the metadata; the draws that it counts are those of the last flush, so a run that is
//! still going can be read. Every chunk read is checked (length, checksum, draws held); damage is
//! [`Error::DrawsDamaged`], which names the file, the chain and the draws lost.
//!
//! Cost: a parameter among the coefficients reads the chunks of the up to 256 that share them, so several are best asked for together
//! ([`DrawsReader::parameters`]).

use std::ops::Range;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use super::chunk::{self, Damage};
use super::metadata;
use super::plan::{Block, Plan};
use super::thin;
use super::zarr::NumberType;
use crate::error::{Error, Result};
use crate::table::names;

/// Records that are transposed together.
const TRANSPOSED_RECORDS: usize = 64;

/// Reads a store of draws.
#[derive(Debug)]
pub struct DrawsReader {
    pub(super) path: PathBuf,
    pub(super) plan: Plan,
    draws: u64,
    attributes: Map<String, Value>,
}

/// Draws spread evenly over a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Thinned {
    /// Which draws, from 0, the same of every chain.
    pub draws: Vec<usize>,
    /// Per chain, draw after draw, all parameters.
    pub values: Vec<Vec<f64>>,
}

/// Draws of one parameter, evenly spread, with the moments of all of them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Column {
    /// Chain after chain the draws that were kept.
    pub values: Vec<f64>,
    /// Draws kept of every chain.
    pub draws: usize,
    /// Mean of all draws.
    pub mean: f64,
    /// Standard deviation of all draws, with divisor S − 1.
    pub sd: f64,
}

impl Column {
    /// The kept draws, one slice per chain.
    #[must_use]
    pub fn chains(&self) -> Vec<&[f64]> {
        self.values.chunks_exact(self.draws.max(1)).collect()
    }
}

/// Sums of numbers about the first of them, a chunk at a time.
#[derive(Clone, Copy, Default)]
struct Sums {
    origin: Option<f64>,
    count: f64,
    first: f64,
    second: f64,
}

impl Sums {
    fn add(&mut self, values: &[f64]) {
        let origin = *self.origin.get_or_insert(values.first().copied().unwrap_or(0.0));
        self.count += values.len() as f64;
        self.first += values.iter().map(|value| value - origin).sum::<f64>();
        self.second += values.iter().map(|value| (value - origin).powi(2)).sum::<f64>();
    }

    fn mean_and_sd(&self) -> (f64, f64) {
        let mean = self.first / self.count;
        let variance = (self.second - self.count * mean * mean) / (self.count - 1.0);
        (self.origin.unwrap_or(f64::NAN) + mean, variance.max(0.0).sqrt())
    }
}

impl DrawsReader {
    /// Opens a store.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = &thin::standing(path.as_ref());
        let file = path.join(metadata::FILE);
        let root = metadata::read(&file)?;
        let labelled = !root["consolidated_metadata"]["metadata"]["posterior/feature"].is_null();
        let labels = if labelled {
            metadata::labels(path).ok_or_else(|| {
                let remedy = "resume the run, which writes it again, or fetch the file again";
                Error::format(
                    &path.join("posterior/feature/c.0"),
                    "is missing or damaged: the names of the coefficients are lost",
                    remedy,
                )
            })?
        } else {
            Vec::new()
        };
        let (plan, draws, attributes) = metadata::understand(&file, &root, &labels)?;
        Ok(Self { path: path.into(), plan, draws, attributes })
    }

    /// Names of all parameters: coefficients, then scalars.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.plan.names()
    }

    /// Names of the coefficients.
    #[must_use]
    pub fn coefficient_names(&self) -> &[String] {
        &self.plan.coefficients
    }

    /// Names of the statistics.
    #[must_use]
    pub fn statistic_names(&self) -> Vec<String> {
        self.plan.statistics.iter().map(|(name, _)| name.clone()).collect()
    }

    /// Number of chains.
    #[must_use]
    pub fn chains(&self) -> usize {
        self.plan.chains
    }

    /// The chains as the run numbers them.
    #[must_use]
    pub fn chain_numbers(&self) -> Vec<u64> {
        (0..self.plan.chains).map(|chain| self.plan.chain_number(chain)).collect()
    }

    /// Draws of every chain: those of the shortest.
    #[must_use]
    pub fn draws(&self) -> usize {
        usize::try_from(self.draws).unwrap_or(usize::MAX)
    }

    /// Draws that the chains made per stored draw: 1 unless the store was thinned.
    #[must_use]
    pub fn stored_every(&self) -> u64 {
        metadata::stored_every(&self.attributes)
    }

    /// What the store says about itself: `created_at`, `seed`, …
    #[must_use]
    pub fn attributes(&self) -> &Map<String, Value> {
        &self.attributes
    }

    /// The draws of the parameter at a position of [`names`](Self::names), one entry per chain.
    pub fn parameter(&self, index: usize) -> Result<Vec<Vec<f64>>> {
        let draws = self.draws();
        let mut columns = self.parameters(index..index + 1)?;
        let column = columns.pop().unwrap_or_default();
        let chain = |chain: usize| column[chain * draws..(chain + 1) * draws].to_vec();
        Ok((0..self.plan.chains).map(chain).collect())
    }

    /// The draws of consecutive parameters, every chunk read once: one entry per parameter, in it chain after chain [`draws`](Self::draws) numbers.
    pub fn parameters(&self, range: Range<usize>) -> Result<Vec<Vec<f64>>> {
        let mut columns: Vec<Vec<f64>> =
            range.clone().map(|_| Vec::with_capacity(self.plan.chains * self.draws())).collect();
        self.each_chunk(range, |place, _, values| columns[place].append(values))?;
        Ok(columns)
    }

    /// Every `every`-th draw of consecutive parameters, the last of each so many, with the moments of all draws; every chunk is read once.
    pub fn sampled(&self, range: Range<usize>, every: usize) -> Result<Vec<Column>> {
        let every = every.max(1);
        let draws = self.draws() / every;
        let one = |_| (Vec::with_capacity(draws * self.plan.chains), Sums::default());
        let mut columns: Vec<(Vec<f64>, Sums)> = range.clone().map(one).collect();
        self.each_chunk(range, |place, first, values| {
            let (kept, sums) = &mut columns[place];
            sums.add(values);
            kept.extend(values.drain(..).skip(every - 1 - first % every).step_by(every));
        })?;
        let column = |(values, sums): (Vec<f64>, Sums)| {
            let (mean, sd) = sums.mean_and_sd();
            Column { values, draws, mean, sd }
        };
        Ok(columns.into_iter().map(column).collect())
    }

    /// Calls `visit` with the position in the range, the number of the first draw and the draws of each chunk, chain after chain.
    fn each_chunk(
        &self,
        range: Range<usize>,
        mut visit: impl FnMut(usize, usize, &mut Vec<f64>),
    ) -> Result<()> {
        if range.end > self.plan.parameters() {
            let what = format!("parameters (position {} was asked for)", range.end - 1);
            let (expected, found) = (self.plan.parameters(), range.end - 1);
            let source = austerity::Error::Dimension { what, expected, found };
            return Err(Error::Data { file: self.path.clone(), source });
        }
        let draws = self.draws();
        let mut some: Vec<Vec<f64>> = vec![Vec::new(); range.len()];
        for block in self.plan.posterior() {
            let from = block.first.max(range.start);
            let until = (block.first + block.columns).min(range.end);
            if from >= until {
                continue;
            }
            let places = from - range.start..until - range.start;
            for chain in 0..self.plan.chains {
                let (mut first, mut held) = (0, None);
                while first < draws {
                    let content = self.chunk(block, chain, first as u64, self.draws, &mut held)?;
                    let take = (draws - first).min(block.chunk_draws);
                    let wanted = &mut some[places.clone()];
                    transposed(block, from - block.first, &content[..take * block.record()], wanted);
                    for (place, values) in places.clone().zip(wanted) {
                        visit(place, first, values);
                        values.clear();
                    }
                    first += take;
                }
            }
        }
        Ok(())
    }

    /// A statistic of every decision, one entry per chain.
    pub fn statistic(&self, name: &str) -> Result<Vec<Vec<f64>>> {
        self.column(self.statistic_block(name)?, 0)
    }

    /// A statistic at some draws, ascending from 0, one entry per chain.
    pub fn statistic_at(&self, name: &str, draws: &[usize]) -> Result<Vec<Vec<f64>>> {
        let one = |chain| {
            let mut cursor = self.statistic_cursor(name, chain)?;
            let mut values = Vec::with_capacity(draws.len());
            for &draw in draws.iter().filter(|&&draw| draw < self.draws()) {
                values.append(&mut cursor.read(draw..draw + 1)?);
            }
            Ok(values)
        };
        (0..self.plan.chains).map(one).collect()
    }

    /// Whether a statistic is stored as integers (flags and bytes included).
    pub(super) fn is_integer(&self, name: &str) -> bool {
        self.plan.statistics.iter().any(|(known, number)| known == name && *number != NumberType::Float64)
    }

    /// A statistic of one chain, to be read in ascending order.
    pub(super) fn statistic_cursor(&self, name: &str, chain: usize) -> Result<StatisticCursor<'_>> {
        Ok(StatisticCursor { reader: self, block: self.statistic_block(name)?, chain, held: None })
    }

    fn statistic_block(&self, name: &str) -> Result<&Block> {
        let place = self.plan.statistics.iter().position(|(known, _)| known == name);
        let place = place.ok_or_else(|| names::unknown(&self.path, &self.statistic_names(), name))?;
        Ok(&self.plan.sample_stats()[place])
    }

    fn column(&self, block: &Block, column: usize) -> Result<Vec<Vec<f64>>> {
        (0..self.plan.chains).map(|chain| self.chain_column(block, column, chain, self.draws)).collect()
    }

    /// The first `draws` draws of a column of one chain.
    pub(super) fn chain_column(
        &self,
        block: &Block,
        column: usize,
        chain: usize,
        draws: u64,
    ) -> Result<Vec<f64>> {
        let mut values = Vec::new();
        let mut held = None;
        while (values.len() as u64) < draws {
            let first = values.len() as u64;
            let content = self.chunk(block, chain, first, draws, &mut held)?;
            let take = (draws - first).min(block.chunk_draws as u64) as usize;
            let records = content.chunks_exact(block.record()).take(take);
            values
                .extend(records.map(|record| block.number.decode(&record[column * block.number.bytes()..])));
        }
        Ok(values)
    }

    /// The chunk that holds a draw, read unless it is the one `held`; `draws` draws of the chain must be there.
    fn chunk<'a>(
        &self,
        block: &Block,
        chain: usize,
        draw: u64,
        draws: u64,
        held: &'a mut Option<(u64, Vec<u8>)>,
    ) -> Result<&'a [u8]> {
        let every = block.chunk_draws as u64;
        let number = draw / every;
        if held.as_ref().is_none_or(|(kept, _)| *kept != number) {
            let end = draws.min((number + 1) * every);
            let needed = (end - number * every) as usize;
            let content = chunk::read(&self.path, block, chain, number, needed);
            let content = content.map_err(|Damage { file, problem, have }| Error::DrawsDamaged {
                file,
                chain: self.plan.chain_number(chain),
                first: number * every + have as u64 + 1,
                last: end,
                problem,
            })?;
            *held = Some((number, content));
        }
        Ok(held.as_ref().map_or(&[], |(_, content)| content))
    }

    /// Calls `visit` with batches of at most `most` whole draws: position of the chain, first draw of the batch (from 0), and the
    /// values, draw after draw all parameters. Chain after chain, in order.
    pub fn for_each_draws(
        &self,
        most: usize,
        mut visit: impl FnMut(usize, usize, &[f64]) -> Result<()>,
    ) -> Result<()> {
        let (draws, width) = (self.draws(), self.plan.parameters());
        let mut values = Vec::new();
        for chain in 0..self.plan.chains {
            let mut cursor = Cursor::new(self, chain, self.draws);
            let mut first = 0;
            while first < draws {
                let count = most.max(1).min(draws - first);
                values.resize(count * width, 0.0);
                cursor.read(first..first + count, &mut values)?;
                visit(chain, first, &values)?;
                first += count;
            }
        }
        Ok(())
    }

    /// At most `most` draws of every chain, evenly spread, whole; all when there are no more.
    pub fn thinned(&self, most: usize) -> Result<Thinned> {
        let all = self.draws();
        let count = most.min(all);
        // In 128 bits: draws × most need not fit into 64.
        let draws: Vec<usize> =
            (0..count).map(|i| (i as u128 * all as u128 / count as u128) as usize).collect();
        let width = self.plan.parameters();
        let one = |chain| {
            let mut cursor = Cursor::new(self, chain, self.draws);
            let mut values = vec![0.0; count * width];
            for (&draw, out) in draws.iter().zip(values.chunks_exact_mut(width)) {
                cursor.read(draw..draw + 1, out)?;
            }
            Ok(values)
        };
        let values = (0..self.plan.chains).map(one).collect::<Result<_>>()?;
        Ok(Thinned { draws, values })
    }
}

/// Appends columns of whole records, the first at `column` of the block; some records at a time, so that each is brought to the processor once.
fn transposed(block: &Block, column: usize, records: &[u8], out: &mut [Vec<f64>]) {
    let bytes = block.number.bytes();
    for some in records.chunks(TRANSPOSED_RECORDS * block.record()) {
        for (place, out) in (column..).zip(&mut *out) {
            let each = some.chunks_exact(block.record());
            out.extend(each.map(|record| block.number.decode(&record[place * bytes..])));
        }
    }
}

/// Reads whole draws of one chain, ascending, each chunk once.
pub(super) struct Cursor<'a> {
    reader: &'a DrawsReader,
    chain: usize,
    draws: u64,
    held: Vec<Option<(u64, Vec<u8>)>>,
}

impl<'a> Cursor<'a> {
    /// A chain that must hold `draws` draws.
    pub(super) fn new(reader: &'a DrawsReader, chain: usize, draws: u64) -> Self {
        Self { reader, chain, draws, held: vec![None; reader.plan.posterior().len()] }
    }

    /// Copies the draws of a range, all parameters of each.
    pub(super) fn read(&mut self, range: Range<usize>, out: &mut [f64]) -> Result<()> {
        let width = self.reader.plan.parameters();
        for (block, held) in self.reader.plan.posterior().iter().zip(&mut self.held) {
            let mut draw = range.start;
            while draw < range.end {
                let content = self.reader.chunk(block, self.chain, draw as u64, self.draws, held)?;
                let skip = draw % block.chunk_draws;
                let count = (block.chunk_draws - skip).min(range.end - draw);
                let rows = out[(draw - range.start) * width..].chunks_exact_mut(width);
                let records = content.chunks_exact(block.record()).skip(skip).take(count);
                for (row, record) in rows.zip(records) {
                    let values = record.chunks_exact(block.number.bytes());
                    for (out, bytes) in row[block.first..block.first + block.columns].iter_mut().zip(values) {
                        *out = block.number.decode(bytes);
                    }
                }
                draw += count;
            }
        }
        Ok(())
    }
}

/// Reads a statistic of one chain, ascending, each chunk once.
pub(super) struct StatisticCursor<'a> {
    reader: &'a DrawsReader,
    block: &'a Block,
    chain: usize,
    held: Option<(u64, Vec<u8>)>,
}

impl StatisticCursor<'_> {
    /// The values of a range of draws.
    pub(super) fn read(&mut self, range: Range<usize>) -> Result<Vec<f64>> {
        let (block, mut values) = (self.block, Vec::with_capacity(range.len()));
        while values.len() < range.len() {
            let draw = range.start + values.len();
            let content =
                self.reader.chunk(block, self.chain, draw as u64, self.reader.draws, &mut self.held)?;
            let records = content.chunks_exact(block.record()).skip(draw % block.chunk_draws);
            values.extend(records.take(range.end - draw).map(|record| block.number.decode(record)));
        }
        Ok(values)
    }
}
