//! Quantiles and intervals of the pooled draws.
//!
//! Quantiles interpolate linearly between order statistics (type 7 of Hyndman & Fan, 1996,
//! the default of NumPy and R): with h = (S−1)p, x_(⌊h⌋) + (h − ⌊h⌋)(x_(⌊h⌋+1) − x_(⌊h⌋)),
//! counting from 0. An equal-tailed interval leaves (1−p)/2 on each side; the highest-density
//! interval is the narrowest that holds ⌊pS⌋ steps between ordered draws, as in ArviZ.
//!
//! Cost: one sort of the pooled draws. Do not use the highest-density interval for a
//! posterior with several modes (it spans the gap) or across transformations (it does not
//! transform along, quantiles do).
//!
//! Undefined results are NaN: no draws, a value that is not finite, a probability outside
//! \[0, 1\] (for the highest-density interval: outside (0, 1)).

use serde::{Deserialize, Serialize};

use super::chains::sorted;

/// A closed interval; undefined ends are NaN, and `null` in JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    #[serde(with = "super::summary::nullable")]
    pub lower: f64,
    /// Upper end.
    #[serde(with = "super::summary::nullable")]
    pub upper: f64,
}

impl Interval {
    /// Distance from the lower to the upper end.
    #[must_use]
    pub fn width(&self) -> f64 {
        self.upper - self.lower
    }

    /// Whether the value lies inside, ends included; never for an undefined interval.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        self.lower <= value && value <= self.upper
    }
}

/// Quantile of the pooled draws.
///
/// ```
/// use austerity::diagnostics::quantile;
/// assert_eq!(quantile(&[&[4.0, 1.0], &[3.0, 2.0]], 0.5), 2.5);
/// ```
#[must_use]
pub fn quantile(chains: &[&[f64]], probability: f64) -> f64 {
    quantile_of_sorted(&sorted(chains), probability)
}

/// Several quantiles of the pooled draws, at the price of one sort.
#[must_use]
pub fn quantiles(chains: &[&[f64]], probabilities: &[f64]) -> Vec<f64> {
    let values = sorted(chains);
    probabilities.iter().map(|&probability| quantile_of_sorted(&values, probability)).collect()
}

/// Quantile of values already in ascending order.
pub(crate) fn quantile_of_sorted(values: &[f64], probability: f64) -> f64 {
    if values.is_empty() || !(0.0..=1.0).contains(&probability) {
        return f64::NAN;
    }
    let position = (values.len() - 1) as f64 * probability;
    let index = position.floor() as usize;
    let below = values[index];
    let above = values[(index + 1).min(values.len() - 1)];
    // This form returns ties exactly: the indicator x ≤ quantile must not lose them to rounding.
    below + (position - position.floor()) * (above - below)
}

/// Interval between the quantiles at (1−p)/2 and (1+p)/2.
///
/// ```
/// use austerity::diagnostics::equal_tailed_interval;
/// let draws: Vec<f64> = (0..=100).map(f64::from).collect();
/// let interval = equal_tailed_interval(&[&draws], 0.5);
/// assert_eq!((interval.lower, interval.upper), (25.0, 75.0));
/// ```
#[must_use]
pub fn equal_tailed_interval(chains: &[&[f64]], probability: f64) -> Interval {
    let values = sorted(chains);
    Interval {
        lower: quantile_of_sorted(&values, (1.0 - probability) / 2.0),
        upper: quantile_of_sorted(&values, (1.0 + probability) / 2.0),
    }
}

/// Narrowest interval with the given share of the pooled draws; the leftmost of equally narrow ones.
///
/// ```
/// use austerity::diagnostics::highest_density_interval;
/// let draws = [0.0, 1.0, 1.1, 1.2, 1.3, 5.0];
/// let interval = highest_density_interval(&[&draws], 0.5);
/// assert_eq!((interval.lower, interval.upper), (1.0, 1.3));
/// ```
#[must_use]
pub fn highest_density_interval(chains: &[&[f64]], probability: f64) -> Interval {
    let undefined = Interval { lower: f64::NAN, upper: f64::NAN };
    if !(probability > 0.0 && probability < 1.0) {
        return undefined;
    }
    let values = sorted(chains);
    let steps = (probability * values.len() as f64).floor() as usize;
    let mut narrowest = undefined;
    for (&lower, &upper) in values.iter().zip(values.iter().skip(steps)) {
        let candidate = Interval { lower, upper };
        if narrowest.lower.is_nan() || candidate.width() < narrowest.width() {
            narrowest = candidate;
        }
    }
    narrowest
}

#[cfg(test)]
mod tests {
    use super::super::chains::borrow;
    use super::super::simulate::autoregressive;
    use super::*;

    #[test]
    fn quantiles_interpolate_like_numpy() {
        let draws = [1.0, 2.0, 4.0, 8.0];
        assert_eq!(quantiles(&[&draws], &[0.0, 0.25, 0.5, 1.0]), [1.0, 1.75, 3.0, 8.0]);
        assert_eq!(quantile(&[&[3.0]], 0.3), 3.0);
        // Ties come back without rounding, whatever the fraction.
        for step in 0..=100 {
            assert_eq!(quantile(&[&[0.1; 7]], f64::from(step) / 100.0), 0.1);
        }
    }

    #[test]
    fn normal_draws_give_normal_intervals() {
        // sd of an extreme end at S = 40,000: √(0.025·0.975/S)/φ(1.96) ≈ 0.013; the narrowest
        // interval converges like S^(−1/3), so its ends get a wider band.
        let chains = autoregressive(4, 10_000, 0.0, 31);
        let tails = equal_tailed_interval(&borrow(&chains), 0.95);
        assert!((tails.lower + 1.96).abs() < 0.05 && (tails.upper - 1.96).abs() < 0.05, "{tails:?}");
        let dense = highest_density_interval(&borrow(&chains), 0.95);
        assert!((dense.lower + 1.96).abs() < 0.15 && (dense.upper - 1.96).abs() < 0.15, "{dense:?}");
        assert!((dense.width() - 3.92).abs() < 0.06, "{dense:?}");
    }

    #[test]
    fn density_is_narrower_than_tails_for_skew() {
        let chains = autoregressive(2, 5_000, 0.0, 32);
        let skew: Vec<Vec<f64>> =
            chains.iter().map(|chain| chain.iter().map(|value| value * value).collect()).collect();
        let skew = borrow(&skew);
        let dense = highest_density_interval(&skew, 0.9);
        assert!(dense.width() < 0.9 * equal_tailed_interval(&skew, 0.9).width());
        assert!(dense.contains(0.01) && !dense.contains(-0.01));
    }

    #[test]
    fn degenerate_input() {
        assert!(quantile(&[], 0.5).is_nan());
        assert!(quantile(&[&[1.0, f64::NAN]], 0.5).is_nan());
        assert!(quantile(&[&[1.0]], -0.1).is_nan());
        assert!(equal_tailed_interval(&[&[1.0]], 2.0).lower.is_nan());
        assert!(highest_density_interval(&[], 0.9).lower.is_nan());
        assert!(highest_density_interval(&[&[1.0, 2.0]], f64::NAN).lower.is_nan());
        assert_eq!(highest_density_interval(&[&[2.0; 5]], 0.9), Interval { lower: 2.0, upper: 2.0 });
        let undefined = highest_density_interval(&[], 0.9);
        assert!(!undefined.contains(0.0));
        let back: Interval = serde_json::from_str(&serde_json::to_string(&undefined).unwrap()).unwrap();
        assert!(back.lower.is_nan() && back.upper.is_nan());
    }
}
