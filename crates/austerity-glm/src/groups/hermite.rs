//! Nodes and weights of the Gauss–Hermite rule: ∫ f(z) e^{−z²} dz ≈ Σ_k ω_k f(z_k), exact for polynomials of degree 2K − 1.
//!
//! Nodes are the eigenvalues of the Jacobi matrix of the Hermite polynomials, whose subdiagonal is √(k/2); weights are √π times the squared first entries of the
//! eigenvectors (Golub & Welsch 1969). Rules of up to [`MOST_NODES`] nodes: beyond, weights fall below what f64 holds.

use nalgebra::{DMatrix, SymmetricEigen};

/// Nodes of a rule at most.
pub const MOST_NODES: usize = 63;

/// A rule for one dimension.
#[derive(Clone, Debug, PartialEq)]
pub struct Hermite {
    /// Nodes, ascending.
    pub nodes: Vec<f64>,
    /// log ω_k + z_k²: what a function without the factor e^{−z²} is multiplied with.
    pub log_weights: Vec<f64>,
}

impl Hermite {
    /// The rule with so many nodes, from 1 to [`MOST_NODES`].
    #[must_use]
    pub fn new(count: usize) -> Self {
        let count = count.clamp(1, MOST_NODES);
        let mut jacobi = DMatrix::zeros(count, count);
        for k in 1..count {
            let entry = (k as f64 / 2.0).sqrt();
            (jacobi[(k - 1, k)], jacobi[(k, k - 1)]) = (entry, entry);
        }
        let eigen = SymmetricEigen::new(jacobi);
        let mut nodes: Vec<f64> = eigen.eigenvalues.iter().copied().collect();
        nodes.sort_by(f64::total_cmp);
        // Both signs of a node are the same to the bit.
        let nodes: Vec<f64> = (0..count).map(|k| 0.5 * (nodes[k] - nodes[count - 1 - k])).collect();
        let log_weights = nodes.iter().map(|&z| log_weight(count, z) + z * z).collect();
        Self { nodes, log_weights }
    }
}

/// log ω of a node: 2^{K−1} K! √π / (K H_{K−1}(z))², with normalised polynomials that do not overflow.
fn log_weight(count: usize, z: f64) -> f64 {
    // h_k = H_k / √(2^k k! √π): h_{k+1} = z √(2/(k+1)) h_k − √(k/(k+1)) h_{k−1}; ω = 1/(K h_{K−1}²).
    let (mut last, mut now) = (0.0, std::f64::consts::PI.powf(-0.25));
    for k in 0..count - 1 {
        let k = k as f64;
        let next = z * (2.0 / (k + 1.0)).sqrt() * now - (k / (k + 1.0)).sqrt() * last;
        (last, now) = (now, next);
    }
    -(count as f64).ln() - 2.0 * f64::ln(f64::abs(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Moments of e^{−z²}: √π, √π/2, 3√π/4, …
    #[test]
    fn polynomials_are_integrated_exactly() {
        for count in [1, 2, 3, 7, 9, 15, 31, 63] {
            let rule = Hermite::new(count);
            let moment = |power: i32| -> f64 {
                rule.nodes.iter().zip(&rule.log_weights).map(|(z, w)| (w - z * z).exp() * z.powi(power)).sum()
            };
            let mut exact = std::f64::consts::PI.sqrt();
            for half in 0..count.min(8) as i32 {
                assert!(
                    (moment(2 * half) / exact - 1.0).abs() < 1e-12,
                    "{count} {half}: {}",
                    moment(2 * half)
                );
                assert!(moment(2 * half + 1).abs() < 1e-12);
                exact *= f64::from(2 * half + 1) / 2.0;
            }
        }
    }
}
