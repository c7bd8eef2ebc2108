//! A mini-batch: k of the B blocks of the storage, drawn without replacement from a stream of the caller.
//!
//! A partial Fisher–Yates shuffle, undone at once, so that a batch is a function of the stream alone and never of the
//! batches before. Every block is in with probability k/B, so that B/k times the sum over a batch is unbiased for the sum over
//! all rows, the last and shorter block included (Horvitz & Thompson 1952); with full blocks B/k = N/n.
//!
//! Cost: k bounded draws; 4 bytes per block of memory. Not for decisions, which extend what they have read
//! ([`BlockOrder`](austerity::population::BlockOrder)).

use austerity::BLOCK_ROWS;
use austerity::error::{Error, Result, setting};
use austerity::population::Batch;
use austerity::rng::Rng;
use rand::RngExt as _;

/// Draws batches of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct MiniBatch {
    population: usize,
    block_rows: usize,
    /// 0, 1, …, B − 1 between draws but for the batch, which stands at the front.
    blocks: Vec<u32>,
    /// `swaps[i]` is the place that was exchanged with place i.
    swaps: Vec<u32>,
    count: usize,
}

impl MiniBatch {
    /// Batches of `rows` of the `population` rows, rounded up to whole blocks of [`BLOCK_ROWS`].
    pub fn new(population: usize, rows: usize) -> Result<Self> {
        Self::of_blocks(population, rows, BLOCK_ROWS)
    }

    /// As [`MiniBatch::new`], of blocks of `block_rows` rows; 1 draws single rows.
    pub fn of_blocks(population: usize, rows: usize, block_rows: usize) -> Result<Self> {
        if population == 0 {
            return Err(Error::EmptyData);
        }
        if rows == 0 || rows > population {
            return Err(setting("mini-batch", rows, &format!("from 1 to the {population} rows there are")));
        }
        if block_rows == 0 {
            return Err(setting("block_rows", block_rows, "at least 1"));
        }
        let total = u32::try_from(population.div_ceil(block_rows))
            .map_err(|_| Error::TooManyRows { rows: population, limit: u32::MAX as usize * block_rows })?;
        let count = rows.div_ceil(block_rows);
        let swaps = Vec::with_capacity(count);
        Ok(Self { population, block_rows, blocks: (0..total).collect(), swaps, count })
    }

    /// N.
    #[must_use]
    pub fn population(&self) -> usize {
        self.population
    }

    /// Rows of a batch without the shorter last block.
    #[must_use]
    pub fn rows(&self) -> usize {
        (self.count * self.block_rows).min(self.population)
    }

    /// A fresh batch, whatever was drawn before.
    pub fn draw(&mut self, rng: &mut Rng) -> Batch<'_> {
        for i in (0..self.swaps.len()).rev() {
            self.blocks.swap(i, self.swaps[i] as usize);
        }
        self.swaps.clear();
        let total = self.blocks.len() as u32;
        for i in 0..self.count {
            let j = rng.random_range(i as u32..total);
            self.blocks.swap(i, j as usize);
            self.swaps.push(j);
        }
        self.last()
    }

    /// The batch drawn last; the first blocks before any draw.
    #[must_use]
    pub fn last(&self) -> Batch<'_> {
        Batch { blocks: &self.blocks[..self.count], block_rows: self.block_rows, population: self.population }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::rng::{Role, seek, stream};

    /// Inclusion and pair frequencies of 3 of 9 blocks over 60,000 draws, each of 9 + 36 counts within 4.5 binomial
    /// standard deviations: false-alarm rate at most 45 · 7e-6 = 3e-4; the seed is fixed.
    #[test]
    fn batches_are_simple_random_samples() {
        let draws = 60_000;
        let mut batches = MiniBatch::of_blocks(17, 6, 2).unwrap();
        let mut rng = stream(4, 0, Role::Proposal);
        let (mut single, mut pair) = ([0f64; 9], [[0f64; 9]; 9]);
        for _ in 0..draws {
            let batch = batches.draw(&mut rng);
            assert_eq!(batch.rows(), if batch.blocks.contains(&8) { 5 } else { 6 });
            for &a in batch.blocks {
                single[a as usize] += 1.0;
                batch.blocks.iter().filter(|&&b| a < b).for_each(|&b| pair[a as usize][b as usize] += 1.0);
            }
        }
        let check = |count: f64, p: f64| {
            let n = f64::from(draws);
            assert!((count - n * p).abs() < 4.5 * (n * p * (1.0 - p)).sqrt(), "{count} against {}", n * p);
        };
        for a in 0..9 {
            check(single[a], 1.0 / 3.0);
            pair[a][a + 1..].iter().for_each(|&both| check(both, 1.0 / 12.0));
        }
    }

    #[test]
    fn a_batch_is_a_function_of_the_stream_alone() {
        let mut rng = stream(4, 0, Role::Proposal);
        let mut batches = MiniBatch::new(1000, 100).unwrap();
        let first = batches.draw(&mut rng).blocks.to_vec();
        for _ in 0..7 {
            batches.draw(&mut rng);
        }
        seek(&mut rng, 0);
        assert_eq!(batches.draw(&mut rng).blocks, first);
        assert_eq!((batches.last().scale(), batches.last().blocks.len()), (8.0, 4));
    }

    #[test]
    fn bad_sizes_are_refused() {
        assert!(MiniBatch::new(0, 1).is_err());
        assert!(MiniBatch::new(10, 0).is_err());
        let message = MiniBatch::new(10, 11).unwrap_err().to_string();
        assert!(message.contains("11") && message.contains("10 rows"), "{message}");
        assert!(MiniBatch::of_blocks(10, 1, 0).is_err());
        assert_eq!(MiniBatch::new(10, 10).unwrap().rows(), 10);
    }
}
