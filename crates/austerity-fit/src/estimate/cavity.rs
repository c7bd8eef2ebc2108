//! The leave-one-out log density of one row from derivatives and a normal posterior, without a draw.
//!
//! Let v = (η, log extra parameters) be the few numbers that a row depends on, C their posterior covariance, and ℓ, g, H the row's log density and its first two derivatives
//! in v at the posterior mean. Under v ~ N(v̂, C) and a second-order ℓ,
//!
//! log E exp(+ℓ) = ℓ − ½ log det(I − CH) + ½ gᵀ(I − CH)⁻¹Cg   (the log predictive density with the row),
//! −log E exp(−ℓ) = ℓ + ½ log det(I + CH) − ½ gᵀ(I + CH)⁻¹Cg   (without it).
//!
//! The second is the leave-one-out density, because the posterior without the row is the posterior divided by exp(ℓ). Magnusson et al. (2020, "Leave-one-out cross-validation for
//! large data", §2.3) use expansions of this kind as auxiliary variables of the difference estimator, which corrects their error. With one
//! variable gᵀCg and −CH are the row's influence and its leverage.
//!
//! Cost: elimination in at most four variables. Never use it alone: the error is of the third order in the row's leverage.

use austerity_glm::glm::{Curve, family::VARIABLES};

/// Beyond this leverage the second order tells nothing.
const LARGEST_LEVERAGE: f64 = 0.95;

/// A square matrix of the variables of a row.
pub(crate) type Square = [[f64; VARIABLES]; VARIABLES];

/// What one row contributes, approximately.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Approximation {
    /// Log density of the row given all others.
    pub(crate) elpd: f64,
    /// Log predictive density, the row included.
    pub(crate) lpd: f64,
    /// Posterior variance of the row's log density: how far it moves the posterior.
    pub(crate) influence: f64,
}

/// The row with log density `value` and this curve at the mean; `covariance` is that of the first `count` variables.
#[allow(clippy::needless_range_loop, reason = "indices of matrices")]
pub(crate) fn approximate(value: f64, curve: &Curve, covariance: &Square, count: usize) -> Approximation {
    let mut pull = [0.0; VARIABLES];
    let mut bent: Square = [[0.0; VARIABLES]; VARIABLES];
    for a in 0..count {
        for b in 0..count {
            pull[a] += covariance[a][b] * curve.slope[b];
            for (c, bent) in bent[a][..count].iter_mut().enumerate() {
                *bent += covariance[a][b] * curve.second[b][c];
            }
        }
    }
    let along = |vector: &[f64; VARIABLES]| -> f64 {
        curve.slope[..count].iter().zip(vector).map(|(slope, value)| slope * value).sum()
    };
    let traced: f64 =
        (0..count).flat_map(|a| (0..count).map(move |b| (a, b))).map(|(a, b)| bent[a][b] * bent[b][a]).sum();
    let influence = along(&pull) + 0.5 * traced;
    let side = |sign: f64| {
        solve(&bent, &pull, count, sign)
            .map(|(determinant, solved)| 0.5 * (determinant.ln() - along(&solved)))
    };
    let (without, with) = (side(1.0), side(-1.0));
    let finite = |made: Option<f64>| made.filter(|made| made.is_finite()).unwrap_or(0.0);
    Approximation {
        elpd: value + finite(without),
        lpd: value - finite(with),
        influence: if influence.is_finite() { influence.abs() } else { f64::INFINITY },
    }
}

/// Determinant of M = I + sign·B, and M⁻¹v; nothing where M is close to singular or has changed its sign.
#[allow(clippy::needless_range_loop, reason = "indices of matrices")]
fn solve(
    bent: &Square,
    vector: &[f64; VARIABLES],
    count: usize,
    sign: f64,
) -> Option<(f64, [f64; VARIABLES])> {
    if count == 1 {
        let pivot = 1.0 + sign * bent[0][0];
        let mut solved = [0.0; VARIABLES];
        solved[0] = vector[0] / pivot;
        return (pivot > 1.0 - LARGEST_LEVERAGE).then_some((pivot, solved));
    }
    let (mut matrix, mut solved, mut determinant) = ([[0.0; VARIABLES]; VARIABLES], *vector, 1.0);
    for (a, row) in matrix.iter_mut().enumerate().take(count) {
        for (b, entry) in row.iter_mut().enumerate().take(count) {
            *entry = f64::from(u8::from(a == b)) + sign * bent[a][b];
        }
    }
    for a in 0..count {
        let pivot = matrix[a][a];
        determinant *= pivot;
        // Eigenvalues of CH are real; M is positive definite in the metric of C as long as no pivot reaches 0.
        if pivot.is_nan() || pivot <= 1.0 - LARGEST_LEVERAGE {
            return None;
        }
        for b in a + 1..count {
            let factor = matrix[b][a] / pivot;
            for c in a..count {
                matrix[b][c] -= factor * matrix[a][c];
            }
            solved[b] -= factor * solved[a];
        }
    }
    for a in (0..count).rev() {
        for b in a + 1..count {
            solved[a] -= matrix[a][b] * solved[b];
        }
        solved[a] /= matrix[a][a];
    }
    Some((determinant, solved))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Log densities that are quadratic have no error of the third order: compare with the integral over a grid.
    #[test]
    fn quadratics_in_one_and_two_variables_are_exact() {
        let mut curve = Curve::default();
        (curve.slope[0], curve.slope[1]) = (0.7, -0.4);
        curve.second[0][0] = -0.8;
        curve.second[1][1] = -0.5;
        (curve.second[0][1], curve.second[1][0]) = (0.1, 0.1);
        let mut covariance: Square = [[0.0; VARIABLES]; VARIABLES];
        (covariance[0][0], covariance[1][1]) = (0.3, 0.2);
        (covariance[0][1], covariance[1][0]) = (0.05, 0.05);
        for count in [1, 2] {
            let found = approximate(-1.3, &curve, &covariance, count);
            let determinant = 0.3 * 0.2 - 0.05 * 0.05;
            let (mut with, mut without, mut total) = (0.0, 0.0, 0.0);
            for i in -200..=200i32 {
                for j in if count == 1 { 0..=0 } else { -200..=200i32 } {
                    let (a, b) = (f64::from(i) * 0.02, f64::from(j) * 0.02);
                    let quadratic = if count == 1 {
                        a * a / 0.3
                    } else {
                        (0.2 * a * a - 0.1 * a * b + 0.3 * b * b) / determinant
                    };
                    let weight = (-0.5 * quadratic).exp();
                    let moved = 0.7 * a - 0.4 * b - 0.4 * a * a - 0.25 * b * b + 0.1 * a * b;
                    total += weight;
                    with += weight * moved.exp();
                    without += weight * (-moved).exp();
                }
            }
            let (lpd, elpd) = (-1.3 + (with / total).ln(), -1.3 - (without / total).ln());
            assert!((found.lpd - lpd).abs() < 1e-6, "{count}: {} {lpd}", found.lpd);
            assert!((found.elpd - elpd).abs() < 1e-6, "{count}: {} {elpd}", found.elpd);
            assert!(found.influence > 0.0);
        }
    }

    #[test]
    fn rows_that_hold_the_posterior_alone_fall_back_to_their_density() {
        let mut curve = Curve::default();
        curve.second[0][0] = -5.0;
        let mut covariance: Square = [[0.0; VARIABLES]; VARIABLES];
        covariance[0][0] = 0.3;
        let found = approximate(-2.0, &curve, &covariance, 1);
        assert_eq!(found.elpd, -2.0);
        assert!(found.influence > 1.0);
    }
}
