//! Several populations over the same rows, totalled in one pass over memory.
//!
//! Blocks outside, populations inside: a stretch of rows that fits the second-level cache is read from memory once and used by every population
//! before the next one is fetched. The stretches depend on the rows alone, never on how many populations there are, so a total is the
//! same to the bit whether its population comes alone or with others; from [`Population::total`] it may differ by rounding.
//!
//! Cost: one reading of the data, and the arithmetic of each population. Worth it where a pass waits for memory; for
//! data that fit the cache it is no slower than one total after the other.

use std::ops::Range;

use crate::BLOCK_ROWS;
use crate::error::Result;
use crate::population::{Moments, Population};

/// Bytes of a stretch: a share of the second-level cache of any machine of today.
const STRETCH: usize = 192 << 10;
/// Blocks of a stretch are a multiple of this: kernels merge sixteen blocks at a time.
const WHOLE: usize = 16;
/// Bytes of a row where the model cannot tell.
const USUAL_ROW_BYTES: usize = 128;

/// The moments of all numbers of each population; a row of the data behind them takes so many bytes (0: not known).
///
/// Populations with a total in closed form give that.
pub fn totals<P: Population>(populations: &mut [P], bytes_per_row: usize) -> Result<Vec<Moments>> {
    let rows = populations.first().map_or(0, Population::len);
    if populations.iter().any(|population| population.row_cost().scanned == 0 || population.len() != rows) {
        return populations.iter_mut().map(Population::total).collect();
    }
    let mut totals = vec![Moments::EMPTY; populations.len()];
    add_blocks(populations, bytes_per_row, 0..rows.div_ceil(BLOCK_ROWS), &mut totals)?;
    Ok(totals)
}

/// Adds the moments of the numbers of some blocks of 32 rows to the total of each population.
pub fn add_blocks<P: Population>(
    populations: &mut [P],
    bytes_per_row: usize,
    blocks: Range<usize>,
    totals: &mut [Moments],
) -> Result<()> {
    let bytes = BLOCK_ROWS * if bytes_per_row == 0 { USUAL_ROW_BYTES } else { bytes_per_row };
    let stretch = (STRETCH / bytes).max(1).next_multiple_of(WHOLE);
    let mut list: Vec<u32> = Vec::with_capacity(stretch);
    for start in blocks.clone().step_by(stretch) {
        list.clear();
        list.extend((start..(start + stretch).min(blocks.end)).map(|block| block as u32));
        for (population, total) in populations.iter_mut().zip(&mut *totals) {
            population.summarize(&list, BLOCK_ROWS, total)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Numbers;

    #[test]
    fn together_and_alone_are_the_same_to_the_bit() {
        let of = |k: usize| Numbers((0..20_011).map(|i| ((i * (k + 3)) as f64).sin()).collect());
        let mut all: Vec<Numbers> = (0..5).map(of).collect();
        let found = totals(&mut all, 1000).unwrap();
        for (population, total) in all.iter_mut().zip(&found) {
            assert_eq!(totals(std::slice::from_mut(population), 1000).unwrap(), [*total]);
            let plain = population.total().unwrap();
            assert_eq!(plain.count, total.count);
            assert!((plain.sum() - total.sum()).abs() < 1e-9 && (plain.m2 / total.m2 - 1.0).abs() < 1e-12);
        }
        assert!(totals::<Numbers>(&mut [], 8).unwrap().is_empty());
    }
}
