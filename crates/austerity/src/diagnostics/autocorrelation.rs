//! Autocovariance and autocorrelation of a series, for every lag at once.
//!
//! ```text
//! γ(t) = (1/n) Σ_{i=1}^{n−t} (x_i − x̄)(x_{i+t} − x̄),      ρ(t) = γ(t)/γ(0)
//! ```
//!
//! by the Wiener–Khinchin theorem: transform the centred series padded with zeros to at
//! least 2n, take squared moduli, transform back. The divisor n (not n − t) keeps the
//! sequence positive definite, which Geyer (1992) asks for. Exact up to rounding.
//! Cost: O(n log n), whatever the number of lags. A few lags of a long series, all that draws
//! which hardly depend on each other need, are cheaper summed one by one: `Lags` does that as long as it pays.

use std::cell::RefCell;

use rustfft::{FftPlanner, num_complex::Complex};

use super::chains::mean;
use crate::dot::dot;

thread_local! {
    // A plan (twiddle factors) costs as much as a transform, and diagnostics ask for the same length
    // for every parameter; the planner keeps the plans it has made.
    static PLANNER: RefCell<FftPlanner<f64>> = RefCell::new(FftPlanner::new());
}

/// Autocovariance γ(0), …, γ(n−1) of one series, with divisor n.
///
/// Values that are not finite make every lag NaN; an empty series has no lags.
///
/// ```
/// use austerity::diagnostics::autocovariance;
/// let covariance = autocovariance(&[1.0, -1.0, 1.0, -1.0]);
/// assert!((covariance[0] - 1.0).abs() < 1e-12);
/// assert!((covariance[1] + 0.75).abs() < 1e-12);
/// ```
#[must_use]
pub fn autocovariance(series: &[f64]) -> Vec<f64> {
    mean_autocovariance(&[series])
}

/// Autocorrelation ρ(0) = 1, ρ(1), …, ρ(n−1) of one series; NaN throughout for a constant series.
///
/// ```
/// use austerity::diagnostics::autocorrelation;
/// let correlation = autocorrelation(&[1.0, -1.0, 1.0, -1.0]);
/// assert!((correlation[1] + 0.75).abs() < 1e-12);
/// ```
#[must_use]
pub fn autocorrelation(series: &[f64]) -> Vec<f64> {
    if super::chains::constant(&[series]) {
        return vec![f64::NAN; series.len()];
    }
    let mut values = autocovariance(series);
    let variance = values.first().copied().unwrap_or(f64::NAN);
    for value in &mut values {
        *value /= variance;
    }
    values
}

/// Average over chains of equal length of their autocovariances, each about its own mean.
///
/// Two chains travel as real and imaginary part of one transform: the circular autocovariance of
/// z = x + iy has real part γ_x + γ_y. Averaging happens on the spectrum, so there is a single
/// transform back for all chains.
pub(crate) fn mean_autocovariance(chains: &[&[f64]]) -> Vec<f64> {
    let draws = chains.first().map_or(0, |chain| chain.len());
    if draws == 0 {
        return Vec::new();
    }
    let length = padded_length(draws);
    let (forward, inverse) = PLANNER
        .with_borrow_mut(|planner| (planner.plan_fft_forward(length), planner.plan_fft_inverse(length)));
    let zero = Complex::new(0.0, 0.0);
    let mut scratch = vec![zero; forward.get_inplace_scratch_len().max(inverse.get_inplace_scratch_len())];
    let mut signal = vec![zero; length];
    let mut spectrum = vec![zero; length];
    for pair in chains.chunks(2) {
        signal.fill(zero);
        let centre = mean(pair[0]);
        for (slot, value) in signal.iter_mut().zip(pair[0]) {
            slot.re = value - centre;
        }
        if let Some(second) = pair.get(1) {
            let centre = mean(second);
            for (slot, value) in signal.iter_mut().zip(*second) {
                slot.im = value - centre;
            }
        }
        forward.process_with_scratch(&mut signal, &mut scratch);
        for (power, value) in spectrum.iter_mut().zip(&signal) {
            power.re += value.norm_sqr();
        }
    }
    inverse.process_with_scratch(&mut spectrum, &mut scratch);
    // The transforms are not normalised: 1/length undoes them, 1/n is the divisor of γ.
    let scale = 1.0 / (length as f64 * draws as f64 * chains.len() as f64);
    spectrum[..draws].iter().map(|value| value.re * scale).collect()
}

/// The mean autocovariance of some chains at the lags asked for: the first ones by their sums, all by transforms once there are more.
pub(crate) struct Lags<'a> {
    chains: &'a [&'a [f64]],
    /// The chains about their own means.
    centred: Vec<Vec<f64>>,
    known: Vec<f64>,
}

/// Lags summed one by one: about what the transforms of long chains cost.
const SUMMED: usize = 40;

impl<'a> Lags<'a> {
    /// Of chains of equal length.
    pub(crate) fn new(chains: &'a [&'a [f64]]) -> Self {
        let centred = chains.iter().map(|chain| {
            let centre = mean(chain);
            chain.iter().map(|value| value - centre).collect()
        });
        Self { chains, centred: centred.collect(), known: Vec::new() }
    }

    /// γ̄ at a lag below the number of draws.
    pub(crate) fn at(&mut self, lag: usize) -> f64 {
        if lag >= self.known.len() && lag >= SUMMED {
            self.known = mean_autocovariance(self.chains);
        }
        while self.known.len() <= lag {
            let next = self.known.len();
            let sum: f64 = self.centred.iter().map(|chain| dot(chain, &chain[next..])).sum();
            let numbers: usize = self.centred.iter().map(Vec::len).sum();
            self.known.push(sum / numbers as f64);
        }
        self.known[lag]
    }
}

/// Smallest 2^k or 3·2^k not below 2n: padding enough that lags do not wrap around, and a fast length.
fn padded_length(draws: usize) -> usize {
    let power = (2 * draws).next_power_of_two();
    let three_quarters = power / 4 * 3;
    if three_quarters >= 2 * draws { three_quarters } else { power }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Summed or transformed: the same numbers, below and above the change.
    #[test]
    fn lags_agree_with_transforms() {
        let chains = super::super::simulate::autoregressive(3, 300, 0.9, 5);
        let chains = super::super::chains::borrow(&chains);
        let transformed = mean_autocovariance(&chains);
        for order in [(0..300).collect::<Vec<_>>(), vec![7, 3, 120, 39, 40, 299]] {
            let mut lags = Lags::new(&chains);
            for lag in order {
                assert!((lags.at(lag) - transformed[lag]).abs() < 1e-12 * transformed[0], "{lag}");
            }
        }
    }

    fn direct(series: &[f64]) -> Vec<f64> {
        let centre = mean(series);
        (0..series.len())
            .map(|lag| {
                let products = series.iter().zip(&series[lag..]).map(|(a, b)| (a - centre) * (b - centre));
                products.sum::<f64>() / series.len() as f64
            })
            .collect()
    }

    fn wave(length: u32, seed: f64) -> Vec<f64> {
        (0..length).map(|i| (f64::from(i) * seed).sin() + 0.1 * f64::from(i % 7)).collect()
    }

    #[test]
    fn transform_equals_the_sum_for_every_length() {
        for length in 1..40 {
            let series = wave(length, 1.3);
            for (fast, slow) in autocovariance(&series).iter().zip(direct(&series)) {
                assert!((fast - slow).abs() < 1e-13, "length {length}: {fast} against {slow}");
            }
        }
    }

    #[test]
    fn chains_average_in_pairs_and_alone() {
        for count in 1..6_u32 {
            let chains: Vec<Vec<f64>> = (0..count).map(|c| wave(33, 0.7 + f64::from(c))).collect();
            let together = mean_autocovariance(&super::super::chains::borrow(&chains));
            for (lag, value) in together.iter().enumerate() {
                let apart = chains.iter().map(|chain| direct(chain)[lag]).sum::<f64>() / f64::from(count);
                assert!((value - apart).abs() < 1e-13, "{count} chains, lag {lag}");
            }
        }
    }

    #[test]
    fn correlation_starts_at_one() {
        let correlation = autocorrelation(&wave(100, 0.3));
        assert!((correlation[0] - 1.0).abs() < 1e-15);
        assert!(correlation.iter().all(|value| value.abs() <= 1.0 + 1e-12));
    }

    #[test]
    fn degenerate_series() {
        assert!(autocovariance(&[]).is_empty());
        assert!(autocorrelation(&[]).is_empty());
        assert!(autocorrelation(&[0.1; 10]).iter().all(|value| value.is_nan()));
        assert!(autocovariance(&[1.0, f64::NAN, 2.0]).iter().all(|value| value.is_nan()));
    }

    #[test]
    fn padding_never_wraps() {
        for draws in 1..5000 {
            let length = padded_length(draws);
            assert!(length >= 2 * draws && length < 4 * draws, "{draws} padded to {length}");
        }
    }
}
