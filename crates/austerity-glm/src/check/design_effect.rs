//! The design effect: what drawing whole blocks costs against drawing single rows.
//!
//! With blocks b of m_b rows and means l̄_b, K blocks in all, and S² the variance of all N numbers (divisor N−1),
//!
//! ```text
//! design effect = [Σ_b m_b (l̄_b − l̄)² / (K − 1)] / S² = 1 + (m − 1)·ρ
//! ```
//!
//! the variance of the mean of randomly drawn blocks over that of as many single rows; ρ is the correlation of rows
//! that share a block (Kish 1965, *Survey Sampling*, §5.4 and §8.2). Over random permutations of the storage its
//! expectation is exactly 1, for every N and m, with a spread of about √(2/(K−1)): the one shuffle at load makes
//! blocks as good as rows. Far above 1 the storage is in some order (sorted by time, site or response), the standard error
//! of a sequential test is √(design effect) times too small, and its error bounds do not hold.
//!
//! Exact for the population at hand. Cost: N revealed rows, two likelihood evaluations each: use it at load, for a
//! few typical moves, not at every decision.

use austerity::error::{Error, Result, setting};
use austerity::population::{Moments, Population};

/// The design effect of drawing `population` in blocks of `block_rows` rows.
///
/// 1 when all numbers are equal, and when there is only one block, which leaves nothing to compare; NaN when the
/// candidate is impossible. Refuses populations without a row and blocks of none.
///
/// ```
/// use austerity::population::Numbers;
/// use austerity_glm::check::design_effect;
/// // Each block is of one kind: four rows tell no more than one.
/// let mut sorted = Numbers((0..400).map(|i| f64::from(i / 4 % 2)).collect());
/// assert!((design_effect(&mut sorted, 4)? - 4.0).abs() < 0.1);
/// assert!((design_effect(&mut sorted, 1)? - 1.0).abs() < 1e-12);
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn design_effect<P: Population + ?Sized>(population: &mut P, block_rows: usize) -> Result<f64> {
    if block_rows == 0 {
        return Err(setting("block_rows", block_rows, "at least 1"));
    }
    let rows = population.len();
    if rows == 0 {
        return Err(Error::EmptyData);
    }
    let count = rows.div_ceil(block_rows);
    let count = u32::try_from(count)
        .map_err(|_| Error::TooManyRows { rows, limit: u32::MAX as usize * block_rows })?;
    let mut all = Moments::EMPTY;
    let mut between = 0.0;
    for block in 0..count {
        let mut moments = Moments::EMPTY;
        population.summarize(&[block], block_rows, &mut moments)?;
        if moments.impossible() {
            return Ok(f64::NAN);
        }
        // Σ m_b (l̄_b − l̄)², one block at a time: what merging two sets adds to the sum of squares.
        let (seen, new) = (all.count as f64, moments.count as f64);
        let distance = moments.mean - all.mean;
        between += distance * distance * seen * new / (seen + new);
        all.merge(&moments);
    }
    if count == 1 || all.m2 <= 0.0 {
        return Ok(1.0);
    }
    Ok(between / f64::from(count - 1) / all.variance())
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::population::Numbers;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn equals_the_formula_for_every_size(
            values in prop::collection::vec(-5.0f64..5.0, 2..150), block_rows in 1usize..160,
        ) {
            let whole = Moments::of(&values);
            let blocks: Vec<Moments> = values.chunks(block_rows).map(Moments::of).collect();
            let direct = if blocks.len() > 1 {
                let square = |b: &Moments| b.count as f64 * (b.mean - whole.mean).powi(2);
                blocks.iter().map(square).sum::<f64>() / (blocks.len() - 1) as f64 / whole.variance()
            } else {
                1.0
            };
            let found = design_effect(&mut Numbers(values), block_rows).unwrap();
            prop_assert!((found - direct).abs() < 1e-9 * (1.0 + direct), "{found} against {direct}");
        }
    }

    /// Over all 720 orders of six rows the mean is 1 to rounding, whatever the blocks, partial ones included.
    #[test]
    fn averages_to_one_over_all_orders() {
        fn orders(prefix: &mut Vec<f64>, left: &[f64], visit: &mut impl FnMut(&[f64])) {
            if left.is_empty() {
                visit(prefix);
            }
            for i in 0..left.len() {
                let mut rest = left.to_vec();
                prefix.push(rest.remove(i));
                orders(prefix, &rest, visit);
                prefix.pop();
            }
        }
        for block_rows in 1..6 {
            let (mut sum, mut count) = (0.0, 0.0);
            orders(&mut Vec::new(), &[0.3, -1.0, 2.5, 0.0, 0.7, 9.0], &mut |values| {
                sum += design_effect(&mut Numbers(values.to_vec()), block_rows).unwrap();
                count += 1.0;
            });
            assert!((sum / count - 1.0f64).abs() < 1e-12, "blocks of {block_rows}: {}", sum / count);
        }
    }

    #[test]
    fn odd_populations() {
        let effect = |values: &[f64], block_rows| design_effect(&mut Numbers(values.to_vec()), block_rows);
        assert_eq!(effect(&[2.0, 2.0, 2.0], 2).unwrap(), 1.0);
        assert_eq!(effect(&[2.0], 1).unwrap(), 1.0);
        assert_eq!(effect(&[1.0, 2.0, 3.0], 5).unwrap(), 1.0);
        assert!(effect(&[1.0, f64::NEG_INFINITY, 3.0], 2).unwrap().is_nan());
        assert!(effect(&[], 2).is_err());
        assert!(effect(&[1.0, 2.0], 0).is_err());
        assert!(effect(&[1.0, f64::NAN, 2.0], 1).is_err());
    }
}
