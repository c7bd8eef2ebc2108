//! Orthogonal polynomials of a column: p₀ = 1, p_{k+1}(t) = (t − α_k)·p_k(t) − β_k·p_{k−1}(t), scaled to Σ p_k² = 1 over the rows.
//!
//! t is the value mapped to [−1, 1]. The recurrence comes from sums of Chebyshev polynomials over the rows by the modified Chebyshev algorithm
//! (Gautschi 2004, section 2.1.7). The sums merge, and unlike sums of powers they lose no digits at the degrees that people use.
//! Cost: one pass after the range is known, 2·degree multiplications a row. Degrees above the number of distinct values less one do not exist.

use serde::{Deserialize, Serialize};

/// The recurrence of orthogonal polynomials, and their norms.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Orthogonal {
    /// t = (x − middle)/half.
    middle: f64,
    half: f64,
    alpha: Vec<f64>,
    beta: Vec<f64>,
    /// √Σ p_k² for k = 1, 2, ….
    norms: Vec<f64>,
}

/// Σ over the rows of the monic Chebyshev polynomials T_l/2^(l−1) at t, l = 0 to 2·degree, added to `sums`.
pub(crate) fn add_moments(t: f64, sums: &mut [f64]) {
    let (mut before, mut last) = (0.0, 1.0);
    for (order, sum) in sums.iter_mut().enumerate() {
        *sum += last;
        let next = t * last - step(order) * before;
        (before, last) = (last, next);
    }
}

/// The coefficient b_l of the monic Chebyshev polynomials: P_{l+1} = t·P_l − b_l·P_{l−1}.
fn step(order: usize) -> f64 {
    match order {
        0 => 0.0,
        1 => 0.5,
        _ => 0.25,
    }
}

impl Orthogonal {
    /// The polynomials, from the range and the sums; nothing where there are too few distinct values for the degree.
    pub(crate) fn from_moments(low: f64, high: f64, sums: &[f64]) -> Option<Self> {
        /// Σ p_k² below this share of the rows is rounding.
        const ROUNDING: f64 = 1e-14;
        let degree = sums.len() / 2;
        let (middle, half) = (0.5 * (low + high), 0.5 * (high - low));
        let (mut before, mut last) = (vec![0.0; sums.len()], sums.to_vec());
        let (mut alpha, mut beta, mut norms) = (vec![sums[1] / sums[0]], vec![0.0], Vec::new());
        for k in 1..=degree {
            let mut next = vec![0.0; sums.len()];
            for l in k..=2 * degree - k {
                next[l] =
                    last[l + 1] - alpha[k - 1] * last[l] - beta[k - 1] * before[l] + step(l) * last[l - 1];
            }
            if next[k].is_nan() || next[k] <= ROUNDING * sums[0] * 4f64.powi(-(k as i32)) {
                return None;
            }
            norms.push(next[k].sqrt());
            if k < degree {
                alpha.push(next[k + 1] / next[k] - last[k] / last[k - 1]);
                beta.push(next[k] / last[k - 1]);
            }
            (before, last) = (last, next);
        }
        Some(Self { middle, half, alpha, beta, norms })
    }

    pub(crate) fn degree(&self) -> usize {
        self.norms.len()
    }

    pub(crate) fn write(&self, x: f64, out: &mut [f64]) {
        let t = (x - self.middle) / self.half;
        let (mut before, mut last) = (0.0, 1.0);
        for (k, slot) in out.iter_mut().enumerate() {
            let next = (t - self.alpha[k]) * last - self.beta[k] * before;
            (before, last) = (last, next);
            *slot = next / self.norms[k];
        }
    }
}
