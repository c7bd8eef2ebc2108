//! Quantiles of Poisson and binomial distributions, fast enough for one per row and draw.
//!
//! Where the variance is below [`SMALL`], probabilities are summed from 0 until they pass u: exact. Above, the Cornish–Fisher expansion of a
//! lattice distribution to the order 1/σ, with w = Φ⁻¹(u), skewness s/σ and excess kurtosis e/σ²:
//!
//! ⌊μ + σw + s(w² − 1)/6 + ½ + [e(w³ − 3w)/24 − s²(2w³ − 5w)/36 − w/24]/σ⌋
//!
//! (for Poisson s = e = 1: the expansion of Giles, ACM Trans. Math. Softw. 42, 2016, algorithm 955). It is off by at most one, and that
//! seldom. Cost: about the mean many steps below [`SMALL`], none above. Not for tails beyond 1e-6.

/// Variance from which the expansion is used.
const SMALL: f64 = 10.0;

/// The smallest k with P(K ≤ k) ≥ u for a Poisson count of this mean; `w` is the normal quantile of u.
pub(super) fn poisson(mean: f64, u: f64, w: f64) -> f64 {
    if mean == f64::INFINITY {
        return mean;
    }
    if mean >= SMALL {
        return expansion(mean, mean.sqrt(), 1.0, 1.0, w).max(0.0);
    }
    search((-mean).exp(), |k| mean / k, u, f64::INFINITY)
}

/// The same for successes in so many trials.
pub(super) fn binomial(trials: f64, probability: f64, u: f64, w: f64) -> f64 {
    if probability > 0.5 {
        // The u-quantile of successes is trials less the (1 − u)-quantile of failures.
        return trials - binomial(trials, 1.0 - probability, 1.0 - u, -w);
    }
    let q = 1.0 - probability;
    let variance = trials * probability * q;
    if variance >= SMALL {
        let kurtosis = 1.0 - 6.0 * probability * q;
        return expansion(trials * probability, variance.sqrt(), q - probability, kurtosis, w)
            .clamp(0.0, trials);
    }
    let odds = probability / q;
    search((trials * (-probability).ln_1p()).exp(), |k| (trials - k + 1.0) / k * odds, u, trials)
}

/// Sums probabilities, given that of 0 and the ratio of those of k and k − 1, until they reach u.
pub(super) fn search(zero: f64, ratio: impl Fn(f64) -> f64, u: f64, last: f64) -> f64 {
    let (mut k, mut term, mut sum) = (0.0, zero, zero);
    // Rounding may keep the sum below u: terms that have vanished end it.
    while sum < u && k < last && term > f64::MIN_POSITIVE {
        k += 1.0;
        term *= ratio(k);
        sum += term;
    }
    k
}

fn expansion(mean: f64, sd: f64, s: f64, e: f64, w: f64) -> f64 {
    let (square, cube) = (w * w, w * w * w);
    let third = e * (cube - 3.0 * w) / 24.0 - s * s * (2.0 * cube - 5.0 * w) / 36.0 - w / 24.0;
    (mean + sd * w + s * (square - 1.0) / 6.0 + 0.5 + third / sd).floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{Binomial, ContinuousCDF as _, DiscreteCDF, Normal, Poisson};

    /// Counts by an exact cumulative distribution function: how many quantiles are not the smallest that reach u, and the
    /// worst distance.
    fn compare(law: &impl DiscreteCDF<u64, f64>, quantile: impl Fn(f64, f64) -> f64) -> (usize, f64) {
        let normal = Normal::new(0.0, 1.0).unwrap();
        let (mut wrong, mut worst) = (0, 0.0f64);
        for i in 0..1000 {
            let u = (f64::from(i) + 0.5) / 1000.0;
            let found = quantile(u, normal.inverse_cdf(u));
            let exact = law.inverse_cdf(u) as f64;
            wrong += usize::from(found != exact);
            worst = worst.max((found - exact).abs());
        }
        (wrong, worst)
    }

    #[test]
    fn poisson_quantiles_are_those_of_the_distribution() {
        for mean in [1e-9, 0.3, 2.0, 9.9, 10.0, 10.4, 33.0, 250.0, 1e4] {
            let law = Poisson::new(mean).unwrap();
            let (wrong, worst) = compare(&law, |u, w| poisson(mean, u, w));
            let allowed = if mean < SMALL { 0 } else { 5 };
            assert!(
                wrong <= allowed && worst <= 1.0,
                "mean {mean}: {wrong} of 1000 differ, by at most {worst}"
            );
        }
        assert_eq!(poisson(f64::INFINITY, 0.5, 0.0), f64::INFINITY);
    }

    #[test]
    fn binomial_quantiles_are_those_of_the_distribution() {
        for (trials, p) in
            [(1, 0.3), (1, 0.9), (10, 0.5), (40, 0.5), (45, 0.4), (100, 0.9), (1000, 0.02), (100_000, 0.7)]
        {
            let law = Binomial::new(p, trials).unwrap();
            let (wrong, worst) = compare(&law, |u, w| binomial(trials as f64, p, u, w));
            let allowed = if trials as f64 * p * (1.0 - p) < SMALL { 1 } else { 5 };
            assert!(
                wrong <= allowed && worst <= 1.0,
                "{trials}, {p}: {wrong} of 1000 differ, by at most {worst}"
            );
        }
        assert_eq!((binomial(7.0, 0.0, 0.9, 1.28), binomial(7.0, 1.0, 0.1, -1.28)), (0.0, 7.0));
    }
}
