//! Effective sample size: how many independent draws would be as good as these?
//!
//! Chains are cut in halves, giving M sequences of n draws; with W the mean within-sequence
//! variance, γ̄ the mean autocovariance and V = (n−1)/n · W + B/n,
//!
//! ```text
//! ρ(t) = 1 − (W − γ̄(t))/V,      τ = −1 + 2 Σ_k P(k),      ESS = M·n/τ
//! ```
//!
//! over pairs P(k) = ρ(2k) + ρ(2k+1), kept while positive and forced to decrease: Geyer's
//! initial monotone sequence. Because V includes the variance between chains, chains that
//! disagree count for little. τ is kept above 1/log₁₀(M·n), so that antithetic chains may
//! claim more than M·n, but not arbitrarily more.
//!
//! Geyer (1992), section 3.3; Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), sections
//! 3.2 and 4. Agrees with ArviZ on the same draws. Cost: O(S log S) for S draws. An effective
//! size belongs to one quantity: take [`ess_bulk`] for a first look, [`ess_tail`] for
//! intervals, the one for the mean, sd or quantile for its error. Below about 100 per chain
//! the estimate itself is unreliable.
//!
//! Undefined results are NaN: fewer than four draws per chain, a value that is not finite,
//! or a probability outside \[0, 1\]. Draws that are all equal count fully (M·n), as in
//! ArviZ (R's `posterior` returns NA: look at R-hat, which is NaN). ArviZ calls draws equal
//! when they differ by less than 1e-15; here they must be exactly equal, so that results do
//! not depend on the unit of measurement.

use super::autocorrelation::Lags;
use super::chains::{borrow, check, constant, halves, map, mean, pool, relative_means, sorted, variance};
use super::interval::quantile_of_sorted;
use super::rank::chain_scores;

/// Effective sample size for the bulk: of the normal scores of the draws.
///
/// ```
/// use austerity::diagnostics::ess_bulk;
/// let sticky: Vec<f64> = (0..400).map(|i| f64::from(i / 20 * 7 % 11)).collect();
/// assert!(ess_bulk(&[&sticky]) < 100.0);
/// ```
#[must_use]
pub fn ess_bulk(chains: &[&[f64]]) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| of_sequences(&borrow(&chain_scores(&halves(&chains)))))
}

/// Effective sample size for the tails: the smaller of those for the 5 % and 95 % quantiles.
#[must_use]
pub fn ess_tail(chains: &[&[f64]]) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| tail(&chains, &sorted(&chains)))
}

/// Effective sample size for the mean: of the draws themselves.
#[must_use]
pub fn ess_mean(chains: &[&[f64]]) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| of_sequences(&halves(&chains)))
}

/// Effective sample size for the standard deviation: of the squared distances from the pooled mean.
#[must_use]
pub fn ess_sd(chains: &[&[f64]]) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| {
        let centre = mean(&pool(&chains));
        let squares = map(&chains, |value| (value - centre).powi(2));
        of_sequences(&halves(&borrow(&squares)))
    })
}

/// Effective sample size for the median.
#[must_use]
pub fn ess_median(chains: &[&[f64]]) -> f64 {
    ess_quantile(chains, 0.5)
}

/// Effective sample size for a quantile: of the indicator that a draw does not exceed it.
///
/// ```
/// use austerity::diagnostics::ess_quantile;
/// let draws = [0.3, 0.1, 0.4, 0.1, 0.5, 0.9, 0.2, 0.6];
/// assert!(ess_quantile(&[&draws], 0.5) > 1.0);
/// assert!(ess_quantile(&[&draws], 1.5).is_nan());
/// ```
#[must_use]
pub fn ess_quantile(chains: &[&[f64]], probability: f64) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| below_quantile(&chains, &sorted(&chains), probability))
}

/// [`ess_tail`] of checked chains whose sorted draws are at hand.
pub(crate) fn tail(chains: &[&[f64]], sorted: &[f64]) -> f64 {
    let lower = below_quantile(chains, sorted, 0.05);
    let upper = below_quantile(chains, sorted, 0.95);
    // Not `f64::min`, which would hide an undefined side.
    if lower.is_nan() || lower < upper { lower } else { upper }
}

/// [`ess_quantile`] of checked chains whose sorted draws are at hand.
pub(crate) fn below_quantile(chains: &[&[f64]], sorted: &[f64], probability: f64) -> f64 {
    let quantile = quantile_of_sorted(sorted, probability);
    if quantile.is_nan() {
        return f64::NAN;
    }
    let indicators = map(chains, |value| f64::from(u8::from(value <= quantile)));
    of_sequences(&halves(&borrow(&indicators)))
}

/// Effective sample size of sequences as given, of equal length of at least two.
pub(crate) fn of_sequences(sequences: &[&[f64]]) -> f64 {
    let draws = sequences.first().map_or(0, |sequence| sequence.len());
    let total = (sequences.len() * draws) as f64;
    if draws < 2 {
        return f64::NAN;
    }
    if constant(sequences) {
        return total;
    }
    let mut covariance = Lags::new(sequences);
    let n = draws as f64;
    let variance_within = covariance.at(0);
    let within = variance_within * n / (n - 1.0);
    let mut overall = variance_within;
    if sequences.len() > 1 {
        overall += variance(&relative_means(sequences));
    }
    let correlation = |lag: usize| 1.0 - (within - covariance.at(lag)) / overall;
    let time = autocorrelation_time(draws, correlation);
    // `f64::max` would turn an undefined τ into a number.
    let floor = 1.0 / total.log10();
    total / if time < floor { floor } else { time }
}

/// τ by Geyer's initial monotone sequence, from ρ(1), …, ρ(n−1).
///
/// `pairs` holds (ρ(2k), ρ(2k+1)). The even lag of the pair that ends the sequence enters with weight
/// one when positive, which lowers the variance for antithetic chains (Vehtari and others, section 3.2);
/// a negative one enters only if the sequence ended for want of lags and its pair was still positive.
fn autocorrelation_time(draws: usize, mut correlation: impl FnMut(usize) -> f64) -> f64 {
    let mut even = 1.0;
    let mut odd = correlation(1);
    let mut pairs = vec![(even, odd)];
    // Initial positive sequence. The pair that ends it stays in `pairs` as the last one.
    let mut lag = 2;
    while lag + 2 < draws && even + odd > 0.0 {
        even = correlation(lag);
        odd = correlation(lag + 1);
        pairs.push((even, odd));
        lag += 2;
    }
    if even.is_nan() || odd.is_nan() {
        return f64::NAN;
    }
    pairs.pop();
    // Initial monotone sequence: no pair exceeds the one before it.
    let mut previous = f64::INFINITY;
    let mut sum = 0.0;
    for (even, odd) in pairs {
        previous = (even + odd).min(previous);
        sum += previous;
    }
    let last = if even > 0.0 || even + odd >= 0.0 { even } else { 0.0 };
    -1.0 + 2.0 * sum + last
}

#[cfg(test)]
mod tests {
    use super::super::simulate::{autoregressive, shifted};
    use super::*;

    #[test]
    fn autoregressive_chains_match_theory() {
        // ESS/n = (1−φ)/(1+φ). Over 100 other seeds a single run had relative sd 3.5, 1.5, 2.7 and 6.2 %
        // and a mean within 1 % of theory; the mean of 16 runs has a quarter of the sd. Bands: three
        // of those, and 1 % of bias from truncating at the first negative pair.
        for (coefficient, band) in [(-0.5, 0.036), (0.0, 0.021), (0.5, 0.03), (0.9, 0.057)] {
            let expected = (1.0 - coefficient) / (1.0 + coefficient);
            let (mut for_mean, mut bulk) = (0.0, 0.0);
            for seed in 0..16 {
                let chains = autoregressive(4, 10_000, coefficient, 200 + seed);
                for_mean += ess_mean(&borrow(&chains)) / 40_000.0 / expected / 16.0;
                bulk += ess_bulk(&borrow(&chains)) / 40_000.0 / expected / 16.0;
            }
            assert!((for_mean - 1.0).abs() < band, "φ = {coefficient}: {for_mean} of theory");
            assert!((bulk - 1.0).abs() < band, "φ = {coefficient}: bulk {bulk} of theory");
        }
    }

    #[test]
    fn chains_that_disagree_count_for_little() {
        let agreeing = autoregressive(4, 1000, 0.0, 22);
        let apart = shifted(&agreeing, 5.0);
        assert!(ess_mean(&borrow(&agreeing)) > 3000.0);
        assert!(ess_mean(&borrow(&apart)) < 20.0);
    }

    #[test]
    fn unit_of_measurement_is_irrelevant() {
        let chains = autoregressive(2, 500, 0.5, 23);
        // A power of two scales without rounding, here to about 1e-12: squares then differ by 1e-24.
        let tiny: Vec<Vec<f64>> = map(&borrow(&chains), |value| value * 2.0_f64.powi(-40));
        assert_eq!(ess_mean(&borrow(&chains)), ess_mean(&borrow(&tiny)));
        assert_eq!(ess_sd(&borrow(&chains)), ess_sd(&borrow(&tiny)));
        assert_eq!(ess_bulk(&borrow(&chains)), ess_bulk(&borrow(&tiny)));
    }

    #[test]
    fn origin_of_measurement_is_irrelevant() {
        // Values on a grid of 2⁻²⁰ survive the addition of 2³⁰ without rounding.
        let chains =
            map(&borrow(&autoregressive(4, 500, 0.5, 26)), |value| (value * 2.0_f64.powi(20)).round());
        let near = map(&borrow(&chains), |value| value * 2.0_f64.powi(-20));
        let far = map(&borrow(&near), |value| value + 2.0_f64.powi(30));
        assert!((ess_mean(&borrow(&near)) / ess_mean(&borrow(&far)) - 1.0).abs() < 1e-9);
        assert_eq!(ess_bulk(&borrow(&near)), ess_bulk(&borrow(&far)));
    }

    #[test]
    fn antithetic_chains_beat_independence_within_the_limit() {
        let chains = autoregressive(4, 1000, -0.9, 24);
        let value = ess_mean(&borrow(&chains));
        assert!(value > 4000.0 && value <= 4000.0 * 4000.0_f64.log10() + 1e-9, "{value}");
    }

    #[test]
    fn tail_is_the_smaller_side() {
        let chains = autoregressive(4, 500, 0.8, 25);
        let chains = borrow(&chains);
        assert_eq!(ess_tail(&chains), ess_quantile(&chains, 0.05).min(ess_quantile(&chains, 0.95)));
        assert_eq!(ess_median(&chains), ess_quantile(&chains, 0.5));
    }

    #[test]
    fn degenerate_input() {
        assert!(ess_bulk(&[]).is_nan());
        assert!(ess_mean(&[&[1.0, 2.0, 3.0]]).is_nan());
        assert!(ess_sd(&[&[1.0, 2.0, f64::NAN, 4.0]]).is_nan());
        assert!(ess_quantile(&[&[1.0, 2.0, 3.0, 4.0]], f64::NAN).is_nan());
        assert_eq!(ess_bulk(&[&[0.1; 10], &[0.1; 10]]), 20.0);
        assert_eq!(ess_tail(&[&[0.1; 11]]), 10.0);
        // Unequal lengths: as if the longer chain had been cut.
        let chain = [1.0, 3.0, 2.0, 5.0, 4.0, 6.0, 0.0, 2.0];
        assert_eq!(ess_mean(&[&chain, &chain[..6]]), ess_mean(&[&chain[..6], &chain[..6]]));
    }
}
