//! Monte Carlo standard error: how far may an estimate be off because draws are finite?
//!
//! ```text
//! mean:      sd / √ESS_mean
//! sd:        √( (E(x−x̄)⁴ − (E(x−x̄)²)²) / ESS_sd / (4 E(x−x̄)²) )      (delta method)
//! quantile:  half the distance between the order statistics at the 16 % and 84 % points
//!            of Beta(ESS_p·p + 1, ESS_p·(1−p) + 1)
//! ```
//!
//! Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), section 4.4 for quantiles;
//! agrees with ArviZ. Cost: that of the effective sample size. The error of mean and sd means nothing
//! when the variance (for the sd, the fourth moment) is infinite: use a quantile.
//!
//! Undefined results are NaN: fewer than four draws per chain, a value that is not finite,
//! a probability outside \[0, 1\]; also the error of the sd of draws that are all equal.

use statrs::function::beta::beta_reg;

use super::chains::{check, constant, mean, pool, sorted, variance};
use super::ess::{below_quantile, ess_mean, ess_sd};

/// Φ(−1) and Φ(1) to the seven digits ArviZ uses.
const ONE_SD: [f64; 2] = [0.158_655_3, 0.841_344_7];

/// Standard error of the mean of the pooled draws.
///
/// ```
/// use austerity::diagnostics::mcse_mean;
/// let draws: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100)).collect();
/// assert!(mcse_mean(&[&draws]) > 0.0);
/// assert_eq!(mcse_mean(&[&[2.0; 10]]), 0.0);
/// ```
#[must_use]
pub fn mcse_mean(chains: &[&[f64]]) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| {
        if constant(&chains) {
            return 0.0;
        }
        (variance(&pool(&chains)) / ess_mean(&chains)).sqrt()
    })
}

/// Standard error of the standard deviation of the pooled draws.
#[must_use]
pub fn mcse_sd(chains: &[&[f64]]) -> f64 {
    check(chains, 1).map_or(f64::NAN, |chains| {
        if constant(&chains) {
            return f64::NAN;
        }
        let mut squares = pool(&chains);
        let centre = mean(&squares);
        squares.iter_mut().for_each(|value| *value = (*value - centre).powi(2));
        let second = mean(&squares);
        // E(y²) − (Ey)² as E(y − Ey)², which cannot become negative by rounding.
        let spread = squares.iter().map(|value| (value - second).powi(2)).sum::<f64>() / squares.len() as f64;
        (spread / ess_sd(&chains) / second / 4.0).sqrt()
    })
}

/// Standard error of the median of the pooled draws.
#[must_use]
pub fn mcse_median(chains: &[&[f64]]) -> f64 {
    mcse_quantile(chains, 0.5)
}

/// Standard error of a quantile of the pooled draws.
#[must_use]
pub fn mcse_quantile(chains: &[&[f64]], probability: f64) -> f64 {
    let Some(chains) = check(chains, 1) else {
        return f64::NAN;
    };
    let values = sorted(&chains);
    let size = below_quantile(&chains, &values, probability);
    if size.is_nan() {
        return f64::NAN;
    }
    let [lower, upper] = ONE_SD
        .map(|level| beta_quantile(size * probability + 1.0, size * (1.0 - probability) + 1.0, level))
        .map(|share| share * values.len() as f64 - 1.0);
    // A negative or oversized position casts and clamps to the nearest draw.
    let last = values.len() - 1;
    let upper = values[(upper.ceil() as usize).min(last)];
    let lower = values[(lower.floor() as usize).min(last)];
    (upper - lower) / 2.0
}

/// Quantile of Beta(a, b) by bisection of the distribution function, for a, b ≥ 1.
///
/// Not `Beta::inverse_cdf` of `statrs` 0.19: its Newton iteration loses digits as a or b grow and
/// never ends for (1, 10⁷). Bisection takes about 60 evaluations and cannot fail.
fn beta_quantile(a: f64, b: f64, level: f64) -> f64 {
    let (mut lower, mut upper) = (0.0, 1.0);
    // The relative stop makes small quantiles precise; 200 halvings are far more than it needs.
    for _ in 0..200 {
        let middle = f64::midpoint(lower, upper);
        if beta_reg(a, b, middle) < level {
            lower = middle;
        } else {
            upper = middle;
        }
        if upper - lower <= 4.0 * f64::EPSILON * upper {
            break;
        }
    }
    f64::midpoint(lower, upper)
}

#[cfg(test)]
mod tests {
    use super::super::chains::borrow;
    use super::super::simulate::autoregressive;
    use super::*;

    #[test]
    fn independent_draws_match_theory() {
        // mean: 1/√S; sd: 1/√(2S); median: √(π/2)/√S. The bands reflect √(2(2w+1)/S)-type noise in
        // the ESS, and for the median the coarseness of a difference of two order statistics.
        let chains = autoregressive(4, 10_000, 0.0, 41);
        let chains = borrow(&chains);
        let root = 40_000.0_f64.sqrt();
        assert!((mcse_mean(&chains) * root - 1.0).abs() < 0.05);
        assert!((mcse_sd(&chains) * root * 2.0_f64.sqrt() - 1.0).abs() < 0.05);
        let median = mcse_median(&chains) * root / (std::f64::consts::PI / 2.0).sqrt();
        assert!((median - 1.0).abs() < 0.1, "{median}");
    }

    #[test]
    fn error_covers_the_spread_of_repeated_runs() {
        // 200 runs: the sd of the run means has relative error 5 %.
        let mut means = Vec::new();
        let mut errors = Vec::new();
        for seed in 0..200 {
            let chains = autoregressive(2, 1000, 0.7, 1000 + seed);
            means.push(mean(&chains.concat()));
            errors.push(mcse_mean(&borrow(&chains)));
        }
        let ratio = variance(&means).sqrt() / mean(&errors);
        assert!((ratio - 1.0).abs() < 0.2, "{ratio}");
    }

    #[test]
    fn beta_quantile_matches_reference() {
        // scipy.stats.beta.ppf, SciPy 1.17.
        for (a, b, level, expected) in [
            (6.0, 96.0, ONE_SD[0], 0.036_092_895_466_614_28),
            (201.0, 201.0, ONE_SD[1], 0.524_937_709_347_564_1),
            (1.0, 4001.0, ONE_SD[1], 0.000_460_034_455_270_375_17),
            (1.0, 1_000_001.0, ONE_SD[1], 1.841_017_818_945_561_4e-6),
            (1001.0, 999_001.0, ONE_SD[0], 0.000_969_380_579_226_882_6),
        ] {
            let value = beta_quantile(a, b, level);
            assert!((value / expected - 1.0).abs() < 1e-9, "Beta({a}, {b}): {value} against {expected}");
        }
        // Closed form 1 − (1−u)^(1/b), where an iteration to the tolerance may not end.
        let expected = -f64::exp_m1((1.0 - ONE_SD[1]).ln() / 1e7);
        assert!((beta_quantile(1.0, 1e7, ONE_SD[1]) / expected - 1.0).abs() < 1e-6);
    }

    #[test]
    fn degenerate_input() {
        assert!(mcse_mean(&[]).is_nan());
        assert!(mcse_quantile(&[&[1.0, 2.0, 3.0, 4.0]], 1.1).is_nan());
        assert!(mcse_sd(&[&[0.1; 10]]).is_nan());
        assert_eq!(mcse_mean(&[&[0.1; 10]]), 0.0);
        assert_eq!(mcse_quantile(&[&[0.1; 10]], 0.3), 0.0);
        assert!(mcse_quantile(&[&[1.0, 2.0, 3.0, 4.0]], 1.0) >= 0.0);
    }
}
