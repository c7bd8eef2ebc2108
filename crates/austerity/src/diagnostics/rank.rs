//! Ranks and normal scores: makes diagnostics work for heavy tails.
//!
//! Every draw of the pooled sample of size S is replaced by its normal score
//!
//! ```text
//! z = Φ⁻¹((r − 3/8) / (S + 1/4)),
//! ```
//!
//! with r its rank among all S draws, ties receiving the average of their ranks.
//! Scores always have finite variance, also when the draws have none.
//!
//! Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), section 4; the offset 3/8 is
//! Blom's (1958). Cost: one sort of the pooled draws. Scores answer questions about
//! the location in rank terms: do not use them for the error of the mean itself.

use statrs::distribution::{ContinuousCDF, Normal};

/// Ranks from 1, ties receiving the average of the ranks they occupy.
///
/// Values are ordered by [`f64::total_cmp`], so NaN ranks last instead of failing.
///
/// ```
/// use austerity::diagnostics::average_ranks;
/// assert_eq!(average_ranks(&[10.0, 30.0, 10.0, 20.0]), [1.5, 4.0, 1.5, 3.0]);
/// ```
#[must_use]
pub fn average_ranks(values: &[f64]) -> Vec<f64> {
    let mut ranks = vec![0.0; values.len()];
    for_each_tie(values, |rank, members| {
        for &(_, index) in members {
            ranks[index] = rank;
        }
    });
    ranks
}

/// Normal scores of the values among themselves.
///
/// ```
/// use austerity::diagnostics::normal_scores;
/// let scores = normal_scores(&[1.0, 2.0, 1e300]);
/// assert_eq!(scores[1], 0.0);
/// assert!((scores[0] + scores[2]).abs() < 1e-12);
/// ```
#[must_use]
pub fn normal_scores(values: &[f64]) -> Vec<f64> {
    let standard = Normal::standard();
    let size = values.len() as f64;
    let mut scores = vec![0.0; values.len()];
    for_each_tie(values, |rank, members| {
        // 1 ≤ rank ≤ S keeps the argument strictly inside (0, 1), where the quantile is finite.
        let score = standard.inverse_cdf((rank - 0.375) / (size + 0.25));
        for &(_, index) in members {
            scores[index] = score;
        }
    });
    scores
}

/// Normal scores of pooled chains, in the shape of the chains.
pub(crate) fn chain_scores(chains: &[&[f64]]) -> Vec<Vec<f64>> {
    let scores = normal_scores(&chains.concat());
    let mut rest = scores.as_slice();
    let mut shaped = Vec::with_capacity(chains.len());
    for chain in chains {
        let (head, tail) = rest.split_at(chain.len());
        shaped.push(head.to_vec());
        rest = tail;
    }
    shaped
}

/// Calls `visit(average rank, members)` for each group of equal values, in ascending order.
fn for_each_tie(values: &[f64], mut visit: impl FnMut(f64, &[(f64, usize)])) {
    // Sorting pairs is faster than sorting indices: comparisons stay within the sorted memory.
    // Adding zero makes −0 and 0 one value, which `total_cmp` would tell apart.
    let mut order: Vec<(f64, usize)> =
        values.iter().enumerate().map(|(index, &value)| (value + 0.0, index)).collect();
    order.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let mut below = 0;
    for members in order.chunk_by(|a, b| a.0 == b.0) {
        visit(below as f64 + (members.len() + 1) as f64 / 2.0, members);
        below += members.len();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_their_average_rank() {
        assert_eq!(average_ranks(&[2.0, 2.0, 2.0]), [2.0, 2.0, 2.0]);
        assert_eq!(average_ranks(&[0.0, -0.0, 5.0, -1.0]), [2.5, 2.5, 4.0, 1.0]);
        assert!(average_ranks(&[]).is_empty());
    }

    #[test]
    fn ranks_sum_to_the_triangle_number() {
        let values: Vec<f64> = (0..101).map(|i| f64::from(i * i % 17)).collect();
        assert_eq!(average_ranks(&values).iter().sum::<f64>(), 101.0 * 102.0 / 2.0);
    }

    #[test]
    fn scores_ignore_monotone_transformations() {
        let values: Vec<f64> = (0..50).map(|i| f64::from(i * 37 % 50) / 10.0).collect();
        let stretched: Vec<f64> = values.iter().map(|value| value.exp()).collect();
        assert_eq!(normal_scores(&values), normal_scores(&stretched));
    }

    #[test]
    fn scores_match_the_normal_quantile() {
        // Φ⁻¹(0.625/3.25) and its mirror, to 15 digits.
        let scores = normal_scores(&[7.0, 8.0, 9.0]);
        assert!((scores[0] + 0.869_423_773_288_849_8).abs() < 1e-12, "{scores:?}");
    }

    #[test]
    fn chain_scores_keep_the_shape() {
        let scores = chain_scores(&[&[1.0, 4.0], &[2.0, 3.0]]);
        assert_eq!(scores.len(), 2);
        assert_eq!(scores.concat(), normal_scores(&[1.0, 4.0, 2.0, 3.0]));
    }
}
