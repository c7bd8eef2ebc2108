//! Differences of single rows: for small samples and for people who want to see the numbers.
//!
//! Kernels compute a block of 32 rows at a time. Rows that share a block share its evaluation; a row alone costs as much as its block,
//! which is the price of the faithful paper mode. Families without a kernel, and rows beyond f32, compute only the rows that are wanted: a [`Wanted`] has one bit for each of a
//! block. The dot products are those of the whole block in any case, so that a row has the same bits alone and among others.

use std::ops::Range;

use crate::glm::blocks::BLOCK;
use austerity::error::Result;
use austerity::population::{Moments, merge_checked, relocated};

/// Which rows of a block are wanted, the first one in the lowest bit.
pub type Wanted = u32;
/// All of them.
pub const EVERY_ROW: Wanted = Wanted::MAX;

/// The rows `inside` a block.
fn wanted(inside: &Range<usize>) -> Wanted {
    inside.clone().fold(0, |wanted, row| wanted | 1 << row)
}

/// Adds the differences of the single rows `list` to `moments`, given those of the wanted rows of a block. Errors name storage
/// positions.
///
/// Where `shared`, neighbours in one block share its evaluation. The numbers are merged 32 at a time.
#[inline(always)]
pub fn summarize_rows(
    values_of: impl Fn(usize, Wanted) -> [f64; BLOCK],
    shared: bool,
    mut list: impl Iterator<Item = usize>,
    moments: &mut Moments,
) -> Result<()> {
    let (mut positions, mut numbers) = ([0usize; BLOCK], [0.0; BLOCK]);
    let (mut known, mut values) = (usize::MAX, [0.0; BLOCK]);
    loop {
        let mut count = 0;
        for (position, row) in positions.iter_mut().zip(list.by_ref()) {
            if row / BLOCK != known || !shared {
                known = row / BLOCK;
                values = values_of(known, if shared { EVERY_ROW } else { 1 << (row % BLOCK) });
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

/// Writes the differences of storage positions `range` to `out`, given those of the wanted rows of a block.
#[inline(always)]
pub fn reveal(values_of: impl Fn(usize, Wanted) -> [f64; BLOCK], range: Range<usize>, out: &mut [f64]) {
    let mut start = range.start;
    while start < range.end {
        let block = start / BLOCK;
        let stop = range.end.min((block + 1) * BLOCK);
        let inside = start % BLOCK..start % BLOCK + (stop - start);
        let values = values_of(block, wanted(&inside));
        out[start - range.start..stop - range.start].copy_from_slice(&values[inside]);
        start = stop;
    }
}
