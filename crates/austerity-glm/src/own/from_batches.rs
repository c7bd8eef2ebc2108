//! A user's own model whose log-likelihoods come in batches: for languages and devices where a call costs more than a row.
//!
//! l_i = log p(x_i|θ') − log p(x_i|θ), by subtraction, as [`from_fn`](austerity::model::from_fn()) has it, with the same rules about what may come back: −∞ is an
//! impossible row, NaN and +∞ are errors with their row. Where `from_fn` calls once per row, a decision here calls twice per look,
//! with all blocks of that look ([`Likelihoods::log_likelihoods`]), whatever their number.
//!
//! Cost: two evaluations per row revealed; under [`Access::Scan`] one, from a cache of 16 bytes per row and chain. Buffers grow to the
//! largest batch once and are reused. Not for models of which a row costs nothing: a stable difference of one's own ([`Model`]) is faster.

use std::ops::Range;
use std::sync::OnceLock;

use austerity::error::{Error, Result, setting};
use austerity::model::known_rows::{KnownRows, check_value};
use austerity::model::{Access, Model, Parameters, check_rows, check_state};
use austerity::population::moments::sum;
use austerity::population::{Batch, Moments, Population, RowCost, merge_batch};

/// Rows evaluated at once in a pass over all of them.
const PASS: usize = 1 << 14;

/// Log prior density, and log-likelihoods of many rows at once.
///
/// Rows are addressed by their position in storage, which must be in random order: blocks of neighbours are drawn together.
pub trait Likelihoods: Sync {
    /// Working memory of one chain, empty at first.
    type Memory: Default + Send;

    /// N.
    fn rows(&self) -> usize;

    /// Names of the parameters, as many as a state has numbers.
    fn names(&self) -> Vec<String>;

    /// Log prior density up to a constant; −∞ outside the support.
    fn log_prior(&self, state: &[f64]) -> Result<f64>;

    /// Writes log p(x_i|θ) of the rows of `batch`, one range after the other, to `out`, which has their number.
    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut Self::Memory,
        out: &mut [f64],
    ) -> Result<()>;

    /// Writes the numbers that a trace records, as many as a state has.
    fn write(&self, state: &[f64], out: &mut [f64]) {
        out.copy_from_slice(state);
    }

    /// From how many rows on an expansion saves reading: fewer where a row is dear, as a group of rows is.
    fn fewest_expanded(&self) -> usize {
        2_000
    }

    /// Where row `position` of the storage stood in the user's data.
    fn original_row(&self, position: usize) -> usize {
        position
    }

    /// See [`Model::fingerprint`].
    fn fingerprint(&self) -> u64 {
        0
    }

    /// Whether these approximate others, which audits then ask: see [`Likelihoods::exact_difference`].
    fn stands_for(&self) -> bool {
        false
    }

    /// Of likelihoods that stand for others: the change of the log posterior density of a move as those others have it.
    fn exact_difference(&self, _from: &[f64], _to: &[f64]) -> Result<f64> {
        Ok(f64::NAN)
    }

    /// Bytes of the data, where they are known.
    fn data_bytes(&self) -> usize {
        0
    }
}

/// A model made of [`Likelihoods`]; see [`from_batches`].
#[derive(Debug)]
pub struct FromBatches<L> {
    pub(super) likelihoods: L,
    rows: usize,
    pub(super) names: Vec<String>,
    prior_error: OnceLock<Error>,
}

/// A model of what `likelihoods` tells.
pub fn from_batches<L: Likelihoods>(likelihoods: L) -> Result<FromBatches<L>> {
    let (rows, names) = (likelihoods.rows(), likelihoods.names());
    check_rows(rows)?;
    if names.is_empty() {
        return Err(setting("names of parameters", "empty", "at least one"));
    }
    Ok(FromBatches { likelihoods, rows, names, prior_error: OnceLock::new() })
}

impl<L> FromBatches<L> {
    /// What the model was made of.
    pub fn likelihoods(&self) -> &L {
        &self.likelihoods
    }
}

/// Working memory of one chain.
#[derive(Debug)]
pub struct BatchScratch<T> {
    memory: T,
    old: Vec<f64>,
    new: Vec<f64>,
    /// Rows that were asked for one by one.
    single: Vec<u32>,
    /// Under [`Access::Scan`]: log-likelihoods of all rows at the current state and at the candidate, where they are known.
    known: Option<[KnownRows; 2]>,
}

/// The differences of a move.
#[derive(Debug)]
pub struct BatchRatio<'a, L: Likelihoods> {
    model: &'a FromBatches<L>,
    from: &'a [f64],
    to: &'a [f64],
    scratch: &'a mut BatchScratch<L::Memory>,
}

impl<L: Likelihoods> FromBatches<L> {
    /// Log-likelihoods of a batch, checked.
    fn evaluate(
        &self,
        state: &[f64],
        current: bool,
        batch: Batch<'_>,
        memory: &mut L::Memory,
        out: &mut [f64],
    ) -> Result<()> {
        self.likelihoods.log_likelihoods(state, batch, memory, out)?;
        // Infinite or NaN sums are rare; then the row is looked for.
        if sum(out).is_finite() {
            return Ok(());
        }
        let row = |place: usize| {
            let position = batch.ranges().flatten().nth(place).unwrap_or(0);
            self.likelihoods.original_row(position)
        };
        for (place, &value) in out.iter().enumerate() {
            check_value(value, current, || row(place))?;
        }
        Ok(())
    }
}

impl<L: Likelihoods> BatchRatio<'_, L> {
    /// The differences of a batch, in `scratch.new`.
    fn differences(&mut self, batch: Batch<'_>) -> Result<()> {
        let Self { model, from, to, scratch } = self;
        let BatchScratch { memory, old, new, known, .. } = &mut **scratch;
        let rows = batch.rows();
        old.resize(rows, 0.0);
        new.resize(rows, 0.0);
        let copied = |known: &KnownRows, out: &mut [f64]| {
            let mut place = 0;
            for range in batch.ranges() {
                match known.values.get(range.clone()) {
                    Some(values) => out[place..place + values.len()].copy_from_slice(values),
                    None => return false,
                }
                place += range.len();
            }
            true
        };
        for (which, (state, out)) in [(*from, &mut *old), (*to, &mut *new)].into_iter().enumerate() {
            if known.as_ref().is_some_and(|known| copied(&known[which], out)) {
                continue;
            }
            model.evaluate(state, which == 0, batch, memory, out)?;
            if let (Some(known), Some(first)) = (known.as_mut(), batch.ranges().next())
                && batch.blocks.len() == 1
                && known[which].values.len() == first.start
            {
                known[which].values.extend_from_slice(out);
            }
        }
        new.iter_mut().zip(old).for_each(|(new, old)| *new -= *old);
        Ok(())
    }

    fn add(&self, batch: Batch<'_>, moments: &mut Moments) -> Result<()> {
        merge_batch(&self.scratch.new, batch, moments, |position| self.original_row(position))
    }
}

impl<L: Likelihoods> Population for BatchRatio<'_, L> {
    fn len(&self) -> usize {
        self.model.rows
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        // The rows as blocks of one row: they need not begin where a block does.
        let mut blocks = std::mem::take(&mut self.scratch.single);
        blocks.clear();
        blocks.extend(rows.map(|row| row as u32));
        let made = self.differences(Batch { blocks: &blocks, block_rows: 1, population: self.model.rows });
        self.scratch.single = blocks;
        made?;
        out.copy_from_slice(&self.scratch.new);
        Ok(())
    }

    fn reveal_batch(&mut self, batch: Batch<'_>, out: &mut [f64]) -> Result<()> {
        self.differences(batch)?;
        out.copy_from_slice(&self.scratch.new);
        Ok(())
    }

    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let batch = Batch { blocks, block_rows, population: self.model.rows };
        self.differences(batch)?;
        self.add(batch, moments)
    }

    fn total(&mut self) -> Result<Moments> {
        let mut moments = Moments::EMPTY;
        for block in 0..self.model.rows.div_ceil(PASS) as u32 {
            let batch = Batch { blocks: &[block], block_rows: PASS, population: self.model.rows };
            self.differences(batch)?;
            self.add(batch, &mut moments)?;
        }
        Ok(moments)
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.likelihoods.original_row(position)
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: if self.scratch.known.is_some() { 1 } else { 2 } }
    }
}

impl<L: Likelihoods> Model for FromBatches<L> {
    type State = Vec<f64>;
    type Scratch = BatchScratch<L::Memory>;
    type Ratio<'a>
        = BatchRatio<'a, L>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.rows
    }

    fn scratch(&self, access: Access) -> BatchScratch<L::Memory> {
        let known = (access == Access::Scan).then(Default::default);
        let (old, new, single) = (Vec::new(), Vec::new(), Vec::new());
        BatchScratch { memory: L::Memory::default(), old, new, single, known }
    }

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        check_state(state, self.names.len())
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.likelihoods.log_prior(state).unwrap_or_else(|error| {
            self.prior_error.get_or_init(|| error);
            f64::NAN
        })
    }

    fn prior_error(&self) -> Error {
        self.prior_error.get().cloned().unwrap_or(Error::PriorNotANumber)
    }

    fn compare<'a>(
        &'a self,
        from: &'a Vec<f64>,
        to: &'a Vec<f64>,
        scratch: &'a mut BatchScratch<L::Memory>,
    ) -> BatchRatio<'a, L> {
        if let Some([current, candidate]) = &mut scratch.known {
            if !current.belongs_to(from) {
                current.begin(from);
            }
            candidate.begin(to);
        }
        BatchRatio { model: self, from, to, scratch }
    }

    fn accepted(&self, scratch: &mut BatchScratch<L::Memory>) {
        if let Some([current, candidate]) = &mut scratch.known {
            std::mem::swap(current, candidate);
        }
    }

    fn exact_differences(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Option<Vec<f64>>> {
        if !self.likelihoods.stands_for() {
            return Ok(None);
        }
        moves
            .iter()
            .map(|(from, to)| self.likelihoods.exact_difference(from, to))
            .collect::<Result<_>>()
            .map(Some)
    }

    fn original_row(&self, position: usize) -> usize {
        self.likelihoods.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        self.likelihoods.fingerprint()
    }

    fn data_bytes(&self) -> usize {
        self.likelihoods.data_bytes()
    }

    fn scratch_bytes(&self, access: Access) -> usize {
        match access {
            Access::Scan => 2 * size_of::<f64>() * self.rows,
            Access::Blocks => 0,
        }
    }
}

impl<L: Likelihoods> Parameters for FromBatches<L> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        self.likelihoods.write(state, out);
    }
}

#[cfg(test)]
mod tests;
