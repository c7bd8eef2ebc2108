//! Moments of up to sixteen blocks at once: power sums in f32, lane by lane, made central and merged in f64.
//!
//! With d = l − pivot, the pivot near the mean, Σd, Σd², Σd³ and Σd⁴ of 512 numbers are kept in one register each and
//! reduced together; what they lose to f32 is far below the sampling error they measure. Where the squares leave the range
//! of f32 the blocks are read again and merged number by number in f64. Cost: about one operation per row.

use fearless_simd::{Simd, prelude::*};

use super::blocks::BLOCK;
use crate::simd::{Lanes, lanes_sum, reduce};
use austerity::error::Result;
use austerity::population::{Moments, merge_checked};

/// Below and above these sums of squares the power sums of a batch may leave the normal range of f32.
const SQUARES: std::ops::Range<f32> = 1e-16..1e16;

/// Pairs of blocks in a batch.
pub const PAIRS: usize = 8;

/// Power sums of some pairs of blocks, lane by lane, about the mean of the first pair.
pub struct Batch<S: Simd> {
    pivot: f32,
    /// Σd, Σd², Σd³, Σd⁴.
    sums: [Lanes<S>; 4],
    smallest: Lanes<S>,
    largest: Lanes<S>,
    zeros: u32,
    blocks: [[usize; 2]; PAIRS],
    /// How many there are.
    pub pairs: usize,
}

impl<S: Simd> Batch<S> {
    /// No block yet.
    #[inline(always)]
    pub fn new(simd: S) -> Self {
        let zero = Lanes::splat(simd, 0.0);
        Self {
            pivot: 0.0,
            sums: [zero; 4],
            smallest: zero,
            largest: zero,
            zeros: 0,
            blocks: [[0; 2]; PAIRS],
            pairs: 0,
        }
    }

    /// Adds the 64 numbers of two blocks; there must be room.
    #[inline(always)]
    pub fn push(&mut self, simd: S, blocks: [usize; 2], [a, b, c, d]: [Lanes<S>; 4]) {
        let zero = Lanes::splat(simd, 0.0);
        if self.pairs == 0 {
            self.pivot = lanes_sum((a + b) + (c + d)) * (0.5 / BLOCK as f32);
            self.sums = [zero; 4];
            (self.smallest, self.largest, self.zeros) = (a, a, 0);
        }
        self.blocks[self.pairs % PAIRS] = blocks;
        self.pairs += 1;
        self.smallest = self.smallest.min(a.min(b).min(c.min(d)));
        self.largest = self.largest.max(a.max(b).max(c.max(d)));
        self.zeros += (a.simd_eq(zero).to_bitmask().count_ones() + b.simd_eq(zero).to_bitmask().count_ones())
            + (c.simd_eq(zero).to_bitmask().count_ones() + d.simd_eq(zero).to_bitmask().count_ones());
        let pivot = Lanes::splat(simd, self.pivot);
        let (a, b, c, d) = (a - pivot, b - pivot, c - pivot, d - pivot);
        let (a2, b2, c2, d2) = (a * a, b * b, c * c, d * d);
        self.sums[0] += (a + b) + (c + d);
        self.sums[1] += (a2 + b2) + (c2 + d2);
        self.sums[2] += a2.mul_add(a, b2 * b) + c2.mul_add(c, d2 * d);
        self.sums[3] += a2.mul_add(a2, b2 * b2) + c2.mul_add(c2, d2 * d2);
    }

    /// The moments of the batch; `None` where f32 does not hold them.
    #[inline(always)]
    fn moments(&self) -> Option<Moments> {
        let sums = self.sums.map(lanes_sum);
        let minimum = reduce(self.smallest, |a, b| if b < a { b } else { a });
        let maximum = reduce(self.largest, |a, b| if b > a { b } else { a });
        // All equal (often all zero, when a move does not touch these rows): no spread to lose. NaN fails both.
        if !(SQUARES.contains(&sums[1]) || (minimum == maximum && sums[1] == 0.0)) {
            return None;
        }
        let [s1, s2, s3, s4] = sums.map(f64::from);
        let count = 2 * BLOCK * self.pairs;
        let n = count as f64;
        let shift = s1 / n;
        // A pivot far from the mean, next to the spread, would cost the central sums their digits.
        let square = shift * shift;
        if n * square > 0.5 * s2 {
            return None;
        }
        Some(Moments {
            count: count as u64,
            mean: f64::from(self.pivot) + shift,
            m2: s2 - n * square,
            m3: s3 - 3.0 * shift * s2 + 2.0 * n * square * shift,
            m4: s4 - 4.0 * shift * s3 + 6.0 * square * s2 - 3.0 * n * square * square,
            minimum: f64::from(minimum),
            maximum: f64::from(maximum),
            nonzeros: (count as u32 - self.zeros).into(),
        })
    }

    /// Merges the batch into `moments` and empties it; number by number in f64, from `values_of` each block, where f32 does not
    /// hold its sums. Out of line: once in sixteen blocks.
    #[inline(never)]
    pub fn flush(
        &mut self,
        simd: S,
        moments: &mut Moments,
        values_of: impl Fn(usize) -> [f64; BLOCK],
    ) -> Result<()> {
        if self.pairs == 0 {
            return Ok(());
        }
        let part = simd.vectorize(
            #[inline(always)]
            || self.moments(),
        );
        let pairs = std::mem::take(&mut self.pairs);
        if let Some(part) = part {
            moments.merge(&part);
            return Ok(());
        }
        for &block in self.blocks[..pairs.min(PAIRS)].iter().flatten() {
            merge_checked(&values_of(block), block * BLOCK, moments)?;
        }
        Ok(())
    }
}
