//! What noise on the log ratio does to a chain: decisions on residuals stop when their standard error is small, not when they are sure.
//!
//! A Metropolis decision about Λ + s·z, z standard normal, accepts with
//!
//! ```text
//! P_s(Λ) = Φ(Λ/s) + e^{Λ + s²/2} Φ(−Λ/s − s)
//! ```
//!
//! and log{P_s(Λ)/P_s(−Λ)} is Λ less a term of the sign of Λ: about 0.4·s·Λ for |Λ| well below s, s²/2 well above, never more than s²/2. Where candidates come
//! from a kernel that is reversible for a surrogate (or are independent draws), Λ is what the surrogate leaves, and the stationary log density is off by
//! an e(θ) of range s²/2 at most. The sd of a Gaussian coordinate x changes by Cov(e, x²)/2 ≤ sd(e)·√2/2 with sd(e) ≤ s²/4, so
//!
//! ```text
//! |sd inflation − 1| ≤ (√2/8)·s²
//! ```
//!
//! That is one coordinate at its worst. e is one function of all of them: by Bessel's inequality the squares of what it does to the means and sds of d uncorrelated coordinates add up to
//! var(e) at most, and with 0.4·s·Λ as its largest slope sd(e) ≤ 0.4·s·v too, v the spread of log π/π̃. So the root mean square over coordinates is
//!
//! ```text
//! √(mean over j of Δmean_j² + Δsd_j²) ≤ min(s²/4, 0.4·s·v)/√d        in posterior sds
//! ```
//!
//! Derived for this library; bounds to first order, seldom attained. Not for random walks on the posterior itself, where Λ is the whole ratio and errors add up along
//! the way: [`ErrorTable::bias`](austerity::theory::ErrorTable::bias). Cost: none.

use statrs::function::erf::{erfc, erfc_inv};

/// Largest noise for which the bounds are of first order.
const FIRST_ORDER_NOISE: f64 = 1.0;

/// 1/√(2π): the largest share of Λ, in units of the noise, that is lost.
const SLOPE: f64 = 0.398_942_280_401_432_7;

/// Acceptance probability of a Metropolis decision about `ratio` with noise of standard deviation `noise`.
#[must_use]
pub fn noisy_acceptance(ratio: f64, noise: f64) -> f64 {
    if noise <= 0.0 {
        return ratio.min(0.0).exp();
    }
    let below = |x: f64| 0.5 * erfc(-x * std::f64::consts::FRAC_1_SQRT_2);
    let tail = below(-ratio / noise - noise);
    let second = if tail > 0.0 { (ratio + 0.5 * noise * noise + tail.ln()).exp() } else { 0.0 };
    (below(ratio / noise) + second).min(1.0)
}

/// How much wider draws come out at most, 1 + (√2/8)·s², when decisions about what a surrogate leaves have noise of standard deviation `noise`; infinite
/// beyond 1, where nothing is known.
#[must_use]
pub fn noise_inflation(noise: f64) -> f64 {
    if noise <= FIRST_ORDER_NOISE {
        1.0 + noise * noise * std::f64::consts::SQRT_2 / 8.0
    } else {
        f64::INFINITY
    }
}

/// Root mean square, over `parameters` coordinates, of what such noise does to their means and sds, in posterior sds, at most; `spread` is that of the log density
/// which the surrogate leaves. Infinite beyond a noise of 1, where nothing is known.
#[must_use]
pub fn noise_bias(noise: f64, spread: f64, parameters: usize) -> f64 {
    if noise > FIRST_ORDER_NOISE {
        return f64::INFINITY;
    }
    (0.25 * noise * noise).min(SLOPE * noise * spread) / (parameters.max(1) as f64).sqrt()
}

/// Spread of log weights at which independent draws are accepted at this rate: log ratios are then about N(−v², 2v²), and 2Φ(−v/√2) of them accepted.
#[must_use]
pub fn spread_at(acceptance: f64) -> f64 {
    2.0 * erfc_inv(acceptance.clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_closed_form_is_the_mean_over_the_noise() {
        for (ratio, noise) in [(-1.0, 0.3), (0.0, 0.05), (0.4, 1.0), (2.0, 0.1), (-30.0, 0.2)] {
            let steps = 40_000;
            let (mut sum, mut weights) = (0.0, 0.0);
            for i in 0..steps {
                let z = -8.0 + 16.0 * (f64::from(i) + 0.5) / f64::from(steps);
                let weight = (-0.5f64 * z * z).exp();
                sum += weight * (ratio + noise * z).min(0.0).exp();
                weights += weight;
            }
            let found = noisy_acceptance(ratio, noise);
            assert!((found / (sum / weights) - 1.0).abs() < 1e-6, "{ratio} {noise}: {found}");
        }
        assert_eq!(noisy_acceptance(-1.0, 0.0), (-1.0f64).exp());
    }

    #[test]
    fn bias_falls_with_the_dimension_and_the_spread() {
        assert!((noise_bias(0.2, 10.0, 1) - 0.01).abs() < 1e-12);
        assert!((noise_bias(0.2, 10.0, 25) - 0.002).abs() < 1e-12);
        assert!((noise_bias(0.2, 0.01, 1) - 0.2 * 0.01 * 0.398_942).abs() < 1e-8);
        assert_eq!(noise_bias(0.0, 1.0, 3), 0.0);
        assert!(noise_bias(1.5, 0.1, 3).is_infinite());
        // Φ(−0.5) = 0.3085.
        assert!((spread_at(0.617_075) - std::f64::consts::FRAC_1_SQRT_2).abs() < 1e-5);
        assert_eq!(spread_at(1.0), 0.0);
    }

    /// Independent draws from a normal surrogate of the wrong width, decided with noise: the stationary distribution of the discretised chain by
    /// power iteration, against the exact one.
    #[test]
    fn a_chain_on_a_surrogate_is_within_the_bound() {
        let points: Vec<f64> = (0..161).map(|i| (f64::from(i) - 80.0) / 16.0).collect();
        for (width, noise) in [(1.05f64, 0.1), (1.2, 0.1), (1.2, 0.3), (0.9, 0.3), (1.5, 0.5)] {
            let proposal: Vec<f64> =
                points.iter().map(|x| (-0.5 * (x / width) * (x / width)).exp()).collect();
            let all: f64 = proposal.iter().sum();
            let log_weight = |x: f64| -0.5 * x * x * (1.0 - 1.0 / (width * width));
            let count = points.len();
            let moves: Vec<f64> = (0..count * count)
                .map(|k| {
                    let (x, y) = (points[k / count], points[k % count]);
                    proposal[k % count] / all * noisy_acceptance(log_weight(y) - log_weight(x), noise)
                })
                .collect();
            let mut density = proposal.clone();
            for _ in 0..300 {
                let mut next = density.clone();
                for i in 0..count {
                    for j in 0..count {
                        next[j] += density[i] * moves[i * count + j];
                        next[i] -= density[i] * moves[i * count + j];
                    }
                }
                density = next;
            }
            let sd = |of: &dyn Fn(usize) -> f64| {
                let (mut square, mut total) = (0.0, 0.0);
                for (i, x) in points.iter().enumerate() {
                    square += of(i) * x * x;
                    total += of(i);
                }
                (square / total).sqrt()
            };
            let exact = sd(&|i| (-0.5 * points[i] * points[i]).exp());
            let off = (sd(&|i| density[i]) / exact - 1.0).abs();
            let bound = noise_inflation(noise) - 1.0;
            assert!(off < bound, "{width} {noise}: {off} {bound}");
            // Power: the bound is not idle.
            assert!(off > 0.01 * bound, "{width} {noise}: {off} {bound}");
            // That of the mean square, of which the sd of a single coordinate has a part.
            let spread = (1.0 - 1.0 / (width * width)).abs() * std::f64::consts::FRAC_1_SQRT_2;
            let bound = noise_bias(noise, spread, 1);
            assert!(off < bound && off > 0.01 * bound, "{width} {noise}: {off} {bound}");
        }
    }
}
