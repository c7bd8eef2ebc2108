//! The rows with the largest scores, and the sums of the others, in two passes over the scores.
//!
//! The first pass counts scores by the leading 16 bits of their single-precision numbers, which are in the order of numbers that are not negative: 128 classes for each
//! power of two. The classes from the top on that hold the rows wanted are then listed by the second pass, which sums the rest. So the list is a little longer than wanted, and
//! whoever needs so many exactly sorts it. Merge laws: sums and concatenation. Cost: two readings of N numbers; no row is moved.

use std::ops::Range;

use crate::glm::blocks::BLOCK;
use crate::pass::{Driver, Pass};
use austerity::error::Result;

/// Classes of scores.
const CLASSES: usize = 1 << 16;

fn class(score: f32) -> usize {
    (score.abs().to_bits() >> 16) as usize
}

/// Scores of some blocks of 32.
fn of_blocks(scores: &[f32], blocks: Range<usize>) -> &[f32] {
    &scores[blocks.start * BLOCK..scores.len().min(blocks.end * BLOCK)]
}

/// The scores of at least a class, with their positions, and the sums of the others.
pub(super) struct Above {
    pub(super) list: Vec<(f32, u32)>,
    pub(super) sum: f64,
    pub(super) square: f64,
}

/// At least the `count` largest scores (none of which is negative), with their positions.
pub(super) fn heavier_than(driver: &Driver, scores: &[f32], count: usize) -> Above {
    let least = if count == 0 {
        CLASSES
    } else {
        let counts = driver.run(&ScoreCounts, scores).unwrap_or_default();
        let mut found = 0;
        let enough = counts.iter().rposition(|&here| {
            found += here as usize;
            found >= count
        });
        enough.unwrap_or(0)
    };
    let none = Above { list: Vec::new(), sum: 0.0, square: 0.0 };
    driver.run(&ScoresAbove { least }, scores).unwrap_or(none)
}

/// The pass that counts scores by class.
struct ScoreCounts;

impl Pass<[f32]> for ScoreCounts {
    type Partial = Vec<u32>;
    const NAME: &'static str = "sizes of scores";

    fn blocks(&self, scores: &[f32]) -> usize {
        scores.len().div_ceil(BLOCK)
    }

    fn empty(&self, _scores: &[f32]) -> Vec<u32> {
        vec![0; CLASSES]
    }

    fn visit(
        &self,
        scores: &[f32],
        blocks: Range<usize>,
        _kept: &mut [f32],
        counts: &mut Vec<u32>,
    ) -> Result<()> {
        of_blocks(scores, blocks).iter().for_each(|&score| counts[class(score)] += 1);
        Ok(())
    }

    fn merge(&self, earlier: &mut Vec<u32>, later: Vec<u32>) {
        earlier.iter_mut().zip(later).for_each(|(earlier, later)| *earlier += later);
    }
}

/// The pass that lists the scores from a class on.
struct ScoresAbove {
    least: usize,
}

impl Pass<[f32]> for ScoresAbove {
    type Partial = Above;
    const NAME: &'static str = "largest scores";

    fn blocks(&self, scores: &[f32]) -> usize {
        scores.len().div_ceil(BLOCK)
    }

    fn empty(&self, _scores: &[f32]) -> Above {
        Above { list: Vec::new(), sum: 0.0, square: 0.0 }
    }

    fn visit(
        &self,
        scores: &[f32],
        blocks: Range<usize>,
        _kept: &mut [f32],
        above: &mut Above,
    ) -> Result<()> {
        let first = blocks.start * BLOCK;
        for (place, &score) in of_blocks(scores, blocks).iter().enumerate() {
            if class(score) >= self.least {
                above.list.push((score, (first + place) as u32));
            } else {
                above.sum += f64::from(score);
                above.square += f64::from(score).powi(2);
            }
        }
        Ok(())
    }

    fn merge(&self, earlier: &mut Above, later: Above) {
        earlier.list.extend(later.list);
        earlier.sum += later.sum;
        earlier.square += later.square;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_are_listed_and_the_others_summed() {
        let scores: Vec<f32> = (0..40_000u32)
            .map(|i| (i.wrapping_mul(2_654_435_761) >> 8) as f32 * if i % 7 == 0 { 0.0 } else { 1e-3 })
            .collect();
        let mut sorted = scores.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        for count in [0, 1, 100, 5000, 39_000, 40_000] {
            let above = heavier_than(&Driver::new(3), &scores, count);
            let mut listed: Vec<f32> = above.list.iter().map(|&(score, _)| score).collect();
            listed.sort_by(|a, b| b.total_cmp(a));
            assert!(listed.len() >= count && listed == sorted[..listed.len()]);
            assert!(above.list.iter().all(|&(score, position)| scores[position as usize] == score));
            let rest: f64 = sorted[listed.len()..].iter().map(|&score| f64::from(score)).sum();
            assert!((above.sum - rest).abs() <= 1e-9 * rest.max(1.0));
            let alone = heavier_than(&Driver::new(1), &scores, count);
            assert_eq!((alone.list, alone.sum, alone.square), (above.list, above.sum, above.square));
        }
    }
}
