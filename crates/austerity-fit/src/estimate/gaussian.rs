//! Mean and covariance of the draws, as a factor: covariance ≈ F Fᵀ.
//!
//! Up to [`MOST_EXACT`] parameters F is the Cholesky factor of the sample covariance, lower triangular. Beyond, or where that is singular, its columns are some of the draws themselves, centred and
//! divided by √K: an unbiased sketch of rank K, so that the variance of a linear predictor costs K multiplications per coefficient whatever the number of
//! parameters. Its relative error is √(2/K).
//!
//! Cost: draws × parameters² once.

/// Parameters up to which the factor is exact.
const MOST_EXACT: usize = 32;
/// Columns of a sketch.
const SKETCH: usize = 32;

/// Mean and covariance factor of draws.
#[derive(Clone, Debug)]
pub(crate) struct Gaussian {
    /// One per parameter.
    pub(crate) mean: Vec<f64>,
    /// Parameter after parameter the entries of its row of the factor.
    factor: Vec<f64>,
    /// Columns of the factor.
    pub(crate) rank: usize,
    triangular: bool,
}

impl Gaussian {
    /// Of draws with the same number of parameters each.
    pub(crate) fn new(draws: &[Vec<f64>]) -> Self {
        let parameters = draws.first().map_or(0, Vec::len);
        let count = draws.len().max(1) as f64;
        let mut mean = vec![0.0; parameters];
        for draw in draws {
            mean.iter_mut().zip(draw).for_each(|(mean, value)| *mean += value / count);
        }
        if parameters <= MOST_EXACT
            && let Some(factor) = cholesky(draws, &mean)
        {
            return Self { mean, factor, rank: parameters, triangular: true };
        }
        let rank = SKETCH.min(draws.len());
        let chosen = (0..rank).map(|k| &draws[(2 * k + 1) * draws.len() / (2 * rank)]);
        let scale = 1.0 / (rank.max(1) as f64).sqrt();
        let mut factor = vec![0.0; parameters * rank];
        for (k, draw) in chosen.enumerate() {
            for (j, value) in draw.iter().enumerate() {
                factor[j * rank + k] = (value - mean[j]) * scale;
            }
        }
        Self { mean, factor, rank, triangular: false }
    }

    /// The entries of a parameter's row that are not 0 by construction.
    pub(crate) fn row(&self, parameter: usize) -> &[f64] {
        let row = &self.factor[parameter * self.rank..(parameter + 1) * self.rank];
        if self.triangular { &row[..=parameter] } else { row }
    }
}

/// The lower factor of the sample covariance, row after row; nothing where it is not positive definite.
fn cholesky(draws: &[Vec<f64>], mean: &[f64]) -> Option<Vec<f64>> {
    let count = mean.len();
    let mut matrix = vec![0.0; count * count];
    for draw in draws {
        for a in 0..count {
            let left = draw[a] - mean[a];
            for b in 0..=a {
                matrix[a * count + b] += left * (draw[b] - mean[b]);
            }
        }
    }
    let divisor = draws.len() as f64 - 1.0;
    for a in 0..count {
        for b in 0..=a {
            let mut rest = matrix[a * count + b] / divisor;
            for c in 0..b {
                rest -= matrix[a * count + c] * matrix[b * count + c];
            }
            if a == b {
                if rest.is_nan() || rest <= 1e-12 * matrix[a * count + a] / divisor {
                    return None;
                }
                matrix[a * count + a] = rest.sqrt();
            } else {
                matrix[a * count + b] = rest / matrix[b * count + b];
            }
        }
    }
    Some(matrix)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws whose variances are known: the factor gives them back, exactly or as a sketch with its stated error (4 standard errors, √(2/32) each).
    #[test]
    fn variances_of_linear_predictors_are_those_of_the_draws() {
        for parameters in [3, 40] {
            let mut state = 9u64;
            let mut next = || {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
            };
            let draws: Vec<Vec<f64>> = (0..500)
                .map(|_| {
                    let shared = next();
                    (0..parameters).map(|j| 3.0 + shared + next() * (1.0 + j as f64)).collect()
                })
                .collect();
            let gaussian = Gaussian::new(&draws);
            let direct: Vec<f64> = draws.iter().map(|draw| draw.iter().sum()).collect();
            let centre = direct.iter().sum::<f64>() / 500.0;
            let variance = direct.iter().map(|value| (value - centre).powi(2)).sum::<f64>() / 499.0;
            let mut along = vec![0.0; gaussian.rank];
            for j in 0..parameters {
                along.iter_mut().zip(gaussian.row(j)).for_each(|(sum, entry)| *sum += entry);
            }
            let found: f64 = along.iter().map(|value| value * value).sum();
            let allowed = if parameters <= MOST_EXACT { 1e-9 } else { 1.0 };
            assert!((found / variance - 1.0).abs() < allowed, "{parameters}: {found} {variance}");
            assert!((gaussian.mean.iter().sum::<f64>() - centre).abs() < 1e-9);
        }
    }

    #[test]
    fn draws_without_variance_are_a_sketch() {
        let gaussian = Gaussian::new(&vec![vec![1.0, 2.0]; 10]);
        assert!((gaussian.mean[0] - 1.0).abs() + (gaussian.mean[1] - 2.0).abs() < 1e-12);
        assert!(gaussian.row(0).iter().chain(gaussian.row(1)).all(|entry| entry.abs() < 1e-12));
    }
}
