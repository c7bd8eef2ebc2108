//! Differences of single rows, given those of whole blocks of 32: for small samples and for people who want to see the numbers.
//!
//! Kernels compute a block at a time. Rows that share a block share its evaluation; a row alone costs as much as its block,
//! which is the price of the faithful paper mode.

use std::ops::Range;

use crate::glm::blocks::BLOCK;
use austerity::error::Result;
use austerity::population::{Moments, merge_checked, relocated};

/// Adds the differences of the single rows `list` to `moments`, given those of a whole block. Errors name storage
/// positions.
///
/// Neighbours in one block share its evaluation. The numbers are merged 32 at a time.
#[inline(always)]
pub fn summarize_rows(
    values_of: impl Fn(usize) -> [f64; BLOCK],
    mut list: impl Iterator<Item = usize>,
    moments: &mut Moments,
) -> Result<()> {
    let (mut positions, mut numbers) = ([0usize; BLOCK], [0.0; BLOCK]);
    let (mut known, mut values) = (usize::MAX, [0.0; BLOCK]);
    loop {
        let mut count = 0;
        for (position, row) in positions.iter_mut().zip(list.by_ref()) {
            if row / BLOCK != known {
                known = row / BLOCK;
                values = values_of(known);
            }
            *position = row;
            numbers[count] = values[row % BLOCK];
            count += 1;
        }
        if count == 0 {
            return Ok(());
        }
        merge_checked(&numbers[..count], 0, moments).map_err(|e| relocated(e, |i| positions[i]))?;
    }
}

/// Writes the differences of storage positions `range` to `out`, given those of a whole block.
#[inline(always)]
pub fn reveal(values_of: impl Fn(usize) -> [f64; BLOCK], range: Range<usize>, out: &mut [f64]) {
    let mut start = range.start;
    while start < range.end {
        let block = start / BLOCK;
        let stop = range.end.min((block + 1) * BLOCK);
        let inside = start % BLOCK..start % BLOCK + (stop - start);
        out[start - range.start..stop - range.start].copy_from_slice(&values_of(block)[inside]);
        start = stop;
    }
}
