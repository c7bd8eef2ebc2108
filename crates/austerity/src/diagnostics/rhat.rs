//! R-hat: do the chains agree with each other, and each with itself over time?
//!
//! Chains are cut in halves, giving M sequences of n draws. With W the mean of their
//! variances and B/n the variance of their means,
//!
//! ```text
//! R̂ = √( ((n−1)/n · W + B/n) / W ),
//! ```
//!
//! which tends to 1 when all sequences explore the same distribution. [`rhat`] takes the
//! larger of R̂ on normal scores (sees different locations) and on normal scores of
//! |x − median| (sees different scales); both also work without finite variance.
//! Below 1.01 is the recommended bar.
//!
//! Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), sections 3.1 and 4; agrees
//! with ArviZ, whose rules for degenerate input it follows. Cost: two sorts of the
//! pooled draws. Do not read a value near 1 as proof: chains that all miss a mode agree.
//!
//! Undefined results are NaN: fewer than two chains or four draws per chain, a value
//! that is not finite, or all draws equal. Chains each stuck at its own value give infinity.

use super::chains::{borrow, check, constant, halves, map, mean, relative_means, sorted, variance};
use super::rank::chain_scores;

/// Rank-normalised split R-hat: the larger of [`rhat_bulk`] and [`rhat_folded`].
///
/// ```
/// use austerity::diagnostics::rhat;
/// let up = [0.1, 0.4, 0.2, 0.3, 0.25, 0.15];
/// let down = [9.1, 9.4, 9.2, 9.3, 9.25, 9.15];
/// assert!(rhat(&[&up, &down]) > 1.5);
/// assert!(rhat(&[&up]).is_nan());
/// ```
#[must_use]
pub fn rhat(chains: &[&[f64]]) -> f64 {
    check(chains, 2).map_or(f64::NAN, |chains| {
        let split = halves(&chains);
        larger(of_sequences(&borrow(&chain_scores(&split))), folded(&split))
    })
}

/// Split R-hat of the normal scores: sensitive to chains at different places.
#[must_use]
pub fn rhat_bulk(chains: &[&[f64]]) -> f64 {
    check(chains, 2).map_or(f64::NAN, |chains| of_sequences(&borrow(&chain_scores(&halves(&chains)))))
}

/// Split R-hat of the normal scores of |x − median|: sensitive to chains of different width.
#[must_use]
pub fn rhat_folded(chains: &[&[f64]]) -> f64 {
    check(chains, 2).map_or(f64::NAN, |chains| folded(&halves(&chains)))
}

/// Plain split R-hat on the draws themselves; needs finite variance.
#[must_use]
pub fn split_rhat(chains: &[&[f64]]) -> f64 {
    check(chains, 2).map_or(f64::NAN, |chains| of_sequences(&halves(&chains)))
}

/// The larger of the two; the bulk alone when folding leaves a constant (draws at ±1, say).
pub(crate) fn larger(bulk: f64, folded: f64) -> f64 {
    if folded > bulk { folded } else { bulk }
}

/// R̂ of split chains (checked, so not empty) after folding about the pooled median.
pub(crate) fn folded(split: &[&[f64]]) -> f64 {
    let values = sorted(split);
    // Of an even number of draws the middle two are equally far from the median up to rounding, which
    // decides their ranks: rounded as (a+b)/2, the way the reference implementations do.
    let upper = values.len() / 2;
    let median = (values[(values.len() - 1) / 2] + values[upper]) / 2.0;
    drop(values);
    let folded = map(split, |value| (value - median).abs());
    let scores = chain_scores(&borrow(&folded));
    drop(folded);
    of_sequences(&borrow(&scores))
}

/// R̂ of sequences as given, of equal length.
pub(crate) fn of_sequences(sequences: &[&[f64]]) -> f64 {
    // The mean of equal numbers can differ from them in the last bit; without this, rounding
    // errors would be compared with rounding errors.
    if constant(sequences) {
        return f64::NAN;
    }
    let draws = sequences.first().map_or(0, |sequence| sequence.len());
    let variances: Vec<f64> = sequences
        .iter()
        .map(|sequence| if constant(&[sequence]) { 0.0 } else { variance(sequence) })
        .collect();
    from_moments(draws as f64, variance(&relative_means(sequences)), mean(&variances))
}

/// R̂ from the length of a sequence, the variance of the means (B/n) and the mean variance (W).
pub(crate) fn from_moments(draws: f64, variance_of_means: f64, mean_variance: f64) -> f64 {
    (variance_of_means / mean_variance + (draws - 1.0) / draws).sqrt()
}

#[cfg(test)]
mod tests {
    use super::super::simulate::{autoregressive, shifted};
    use super::*;

    #[test]
    fn chains_of_one_distribution_pass() {
        let chains = autoregressive(4, 2000, 0.3, 11);
        let value = rhat(&borrow(&chains));
        assert!((0.999..1.01).contains(&value), "{value}");
    }

    #[test]
    fn shifted_chains_fail_and_more_so_with_the_shift() {
        // One of four chains shifted by d = 1 sd: two of eight half-chain means are off by d, whose
        // variance is d²·(1/4)(3/4)·8/7, so R̂² = 1 + 0.214 up to noise.
        let chains = shifted(&autoregressive(4, 2000, 0.0, 12), 1.0);
        let value = split_rhat(&borrow(&chains));
        let expected = (1.0_f64 + 0.25 * 0.75 * 8.0 / 7.0).sqrt();
        assert!((value - expected).abs() < 0.02, "{value} against {expected}");
        assert!(rhat(&borrow(&chains)) > 1.05);
        let further = shifted(&autoregressive(4, 2000, 0.0, 12), 3.0);
        assert!(rhat(&borrow(&further)) > rhat(&borrow(&chains)));
    }

    #[test]
    fn folding_sees_different_widths() {
        let mut chains = autoregressive(4, 1000, 0.0, 13);
        chains[0].iter_mut().for_each(|value| *value *= 4.0);
        let chains = borrow(&chains);
        assert!(rhat_bulk(&chains) < 1.01);
        assert!(rhat_folded(&chains) > 1.05);
        assert_eq!(rhat(&chains), rhat_folded(&chains));
    }

    #[test]
    fn splitting_sees_drift_that_chains_share() {
        let drift: Vec<f64> = (0..100).map(f64::from).collect();
        assert!(rhat(&[&drift, &drift]) > 1.5);
    }

    #[test]
    fn degenerate_input_is_nan_or_infinite() {
        assert!(rhat(&[]).is_nan());
        assert!(rhat(&[&[1.0, 2.0, 3.0], &[1.0, 2.0, 3.0]]).is_nan());
        assert!(rhat(&[&[0.1; 10], &[0.1; 10]]).is_nan());
        assert!(split_rhat(&[&[0.1; 7], &[0.1; 7]]).is_nan());
        assert_eq!(split_rhat(&[&[0.1; 7], &[0.3; 7]]), f64::INFINITY);
    }
}
