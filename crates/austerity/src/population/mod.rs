//! The seam: N numbers whose mean matters, and how they are revealed.
//!
//! | file | what it holds |
//! |---|---|
//! | [`certificate`] | [`Certificate`]: what is certain about a total before its rows are read |
//! | [`batch`] | [`Batch`]: some blocks, by their numbers |
//! | [`moments`] | [`Moments`]: all a rule may know about the rows revealed so far |
//! | [`order`] | [`BlockOrder`]: which blocks come next, without replacement, fresh at every decision |
//! | [`reveal`] | [`BlockReveal`]: a cursor that joins a population to an order |
//! | [`together`] | the totals of several populations in one pass over memory |
//!
//! A model builds a [`Population`] for a pair of states; a rule sees a [`Reveal`]. Raw numbers never cross
//! from one to the other, only merged [`Moments`], so that a population may live on disk or on other hosts.

pub mod batch;
pub mod certificate;
pub mod moments;
pub mod order;
pub mod reveal;
pub mod together;

use std::ops::Range;

use crate::error::{Error, Result};

pub use batch::Batch;
pub use certificate::Certificate;
pub use moments::Moments;
pub use order::BlockOrder;
pub use reveal::{Access, BlockReveal, Cost, Reveal};

/// Likelihood evaluations that one row costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowCost {
    /// When revealed in a block: 2 for a difference of two log-likelihoods.
    pub revealed: u64,
    /// When scanned by [`Population::total`]: 1 with a cache of the current state, 0 with sufficient statistics.
    pub scanned: u64,
}

/// Numbers that a default implementation computes at once.
const CHUNK: usize = 64;

/// N numbers whose mean matters, addressed by their position in storage, which is shuffled once at load.
///
/// A number may be −∞ (the candidate is impossible); NaN and +∞ are errors that name the row. In moments,
/// −∞ shows as the minimum, whatever the other fields then hold.
pub trait Population {
    /// Number of rows, N.
    fn len(&self) -> usize;

    /// Whether there is no row at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Writes the numbers at storage positions `rows` to `out`, which has their length.
    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()>;

    /// Writes the numbers of the blocks of `batch`, one block after the other, to `out`, which has their number.
    fn reveal_batch(&mut self, batch: Batch<'_>, out: &mut [f64]) -> Result<()> {
        let mut rest = out;
        for range in batch.ranges() {
            let (now, later) = rest.split_at_mut(range.len());
            self.reveal(range, now)?;
            rest = later;
        }
        Ok(())
    }

    /// Adds to `moments` the numbers of each block: block `b` is the positions
    /// `b·block_rows .. (b+1)·block_rows`, cut at N.
    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let len = self.len();
        let mut buffer = [0.0; CHUNK];
        for &block in blocks {
            let mut start = block as usize * block_rows;
            let end = (start + block_rows).min(len);
            while start < end {
                let stop = (start + CHUNK).min(end);
                let out = &mut buffer[..stop - start];
                self.reveal(start..stop, out)?;
                merge_checked(out, 0, moments)
                    .map_err(|error| relocated(error, |i| self.original_row(start + i)))?;
                start = stop;
            }
        }
        Ok(())
    }

    /// The moments of all N numbers, added in storage order: the exact answer.
    ///
    /// A population that knows its sum in closed form may leave the central sums as NaN.
    fn total(&mut self) -> Result<Moments> {
        let mut moments = Moments::EMPTY;
        let len = self.len();
        self.summarize(&[0], len.max(1), &mut moments)?;
        Ok(moments)
    }

    /// What is certain about [`Population::total`] at `stage` 0, 1, …: later stages are narrower and dearer, the first two read no row, and `None`
    /// says that nothing more is known. Stages are asked for in order; one that reads rows reads none that would not bring the bound
    /// well below `needed`.
    fn certify(&mut self, _stage: u32, _needed: f64) -> Result<Option<Certificate>> {
        Ok(None)
    }

    /// Where the number at storage position `position` stood in the user's data: errors name that row.
    fn original_row(&self, position: usize) -> usize {
        position
    }

    /// A hint that these blocks will be asked for soon.
    fn prefetch(&self, _blocks: &[u32], _block_rows: usize) {}

    /// Likelihood evaluations per row.
    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: 2 }
    }
}

/// Merges `values`, refusing NaN and +∞; their row is counted from `start`.
pub fn merge_checked(values: &[f64], start: usize, moments: &mut Moments) -> Result<()> {
    let part = Moments::of(values);
    if part.m2.is_finite() {
        moments.merge(&part);
        return Ok(());
    }
    refuse(values, start)?;
    moments.merge(&part);
    Ok(())
}

/// Merges the numbers of a batch, as [`Population::summarize`] does on its own; errors name the row that `row_of` tells of a position.
pub fn merge_batch(
    values: &[f64],
    batch: Batch<'_>,
    moments: &mut Moments,
    row_of: impl Fn(usize) -> usize,
) -> Result<()> {
    let mut rest = values;
    for range in batch.ranges() {
        let (block, later) = rest.split_at(range.len());
        for (piece, values) in block.chunks(CHUNK).enumerate() {
            merge_checked(values, range.start + piece * CHUNK, moments)
                .map_err(|error| relocated(error, &row_of))?;
        }
        rest = later;
    }
    Ok(())
}

/// Refuses NaN and +∞; their row is counted from `start`.
pub fn refuse(values: &[f64], start: usize) -> Result<()> {
    for (row, &value) in (start..).zip(values) {
        if value.is_nan() {
            return Err(Error::NotANumber { row });
        }
        if value == f64::INFINITY {
            return Err(Error::InfiniteRatio { row });
        }
    }
    Ok(())
}

/// The storage positions of `blocks`, one by one; `rows` is N.
pub fn positions(blocks: &[u32], block_rows: usize, rows: usize) -> impl Iterator<Item = usize> + '_ {
    let first = move |block: u32| block as usize * block_rows;
    blocks.iter().flat_map(move |&block| first(block)..(first(block) + block_rows).min(rows))
}

/// An error about a row, with the row replaced.
pub fn relocated(error: Error, row_of: impl Fn(usize) -> usize) -> Error {
    match error {
        Error::NotANumber { row } => Error::NotANumber { row: row_of(row) },
        Error::InfiniteRatio { row } => Error::InfiniteRatio { row: row_of(row) },
        other => other,
    }
}

/// A population that is simply a list of numbers: for tests, simulations and teaching.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers(pub Vec<f64>);

impl Population for Numbers {
    fn len(&self) -> usize {
        self.0.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        out.copy_from_slice(&self.0[rows]);
        Ok(())
    }
}
