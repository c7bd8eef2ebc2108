//! Some blocks of the storage, named by their numbers: what is read together, by a decision or for a gradient.

use std::ops::Range;

/// Some blocks of a population.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// Numbers of the blocks: block `b` is the positions `b·block_rows .. (b+1)·block_rows`, cut at N.
    pub blocks: &'a [u32],
    /// Rows in a block.
    pub block_rows: usize,
    /// Number of rows, N.
    pub population: usize,
}

impl<'a> Batch<'a> {
    /// The storage positions of each block.
    #[inline]
    pub fn ranges(self) -> impl Iterator<Item = Range<usize>> + 'a {
        let Self { blocks, block_rows, population } = self;
        blocks.iter().map(move |&block| {
            let start = block as usize * block_rows;
            start.min(population)..(start + block_rows).min(population)
        })
    }

    /// n: the rows of the batch.
    #[must_use]
    pub fn rows(self) -> usize {
        self.ranges().map(|range| range.len()).sum()
    }

    /// B/k: what the sum over a random batch is multiplied by to be unbiased for the sum over all rows.
    #[must_use]
    pub fn scale(self) -> f64 {
        self.population.div_ceil(self.block_rows) as f64 / self.blocks.len() as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Σ over rows i of B/k·1 on average N, exactly, over all batches of one of three blocks.
    #[test]
    fn the_scale_makes_sums_unbiased() {
        let weighted = |block: u32| {
            let batch = Batch { blocks: &[block], block_rows: 4, population: 9 };
            batch.scale() * batch.rows() as f64
        };
        let sum: f64 = (0..3).map(weighted).sum();
        assert_eq!(sum / 3.0, 9.0);
    }
}
