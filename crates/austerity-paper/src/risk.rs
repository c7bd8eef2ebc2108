//! Risk of an estimate made by several independent chains: mean squared error, split into bias² and variance.
//!
//! With x_c the estimate of chain c of C, t the truth and s² the variance between chains (divisor C − 1),
//! risk = mean_c (x_c − t)² = bias² + s², where bias² = (x̄ − t)² − s²/C is unbiased (and may be below 0 when there is none). All are
//! averaged over the test functions. Korattikara, Chen & Welling (2014), section 3. Cost O(C·functions). Not for a single chain:
//! its variance cannot be seen.

use serde::{Deserialize, Serialize};

/// Mean squared error and its parts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Risk {
    /// Mean squared error of one chain's estimate.
    pub total: f64,
    /// Square of the bias, without the share that noise adds to it; below 0 when there is none.
    pub bias_squared: f64,
    /// Variance between chains.
    pub variance: f64,
    /// Standard error of `total`, from the spread of the chains' own mean squared errors.
    pub standard_error: f64,
    /// Standard error of `bias_squared / total`, by leaving out one chain at a time.
    pub share_error: f64,
    /// Number of chains.
    pub chains: usize,
}

impl Risk {
    /// Share of bias² in the risk.
    #[must_use]
    pub fn bias_share(&self) -> f64 {
        self.bias_squared / self.total
    }

    /// Degrees of freedom of its errors.
    #[must_use]
    pub fn freedom(&self) -> f64 {
        self.chains.saturating_sub(1) as f64
    }
}

/// The risk of the chains' `estimates` of the numbers `truth`. NaN for fewer than two chains or no number.
#[must_use]
pub fn risk(estimates: &[&[f64]], truth: &[f64]) -> Risk {
    let chains = estimates.len() as f64;
    let functions = truth.len() as f64;
    let errors: Vec<f64> = estimates
        .iter()
        .map(|estimate| estimate.iter().zip(truth).map(|(x, t)| (x - t) * (x - t)).sum::<f64>() / functions)
        .collect();
    let total = errors.iter().sum::<f64>() / chains;
    let spread = errors.iter().map(|error| (error - total) * (error - total)).sum::<f64>() / (chains - 1.0);
    let mut variance = 0.0;
    // The variance without each of the chains.
    let mut without = vec![0.0; estimates.len()];
    for function in 0..truth.len() {
        let mean = estimates.iter().map(|estimate| estimate[function]).sum::<f64>() / chains;
        let squares: f64 = estimates.iter().map(|estimate| (estimate[function] - mean).powi(2)).sum();
        variance += squares / (chains - 1.0) / functions;
        for (rest, estimate) in without.iter_mut().zip(estimates) {
            let off = (estimate[function] - mean).powi(2);
            *rest += (squares - off * chains / (chains - 1.0)) / (chains - 2.0) / functions;
        }
    }
    let shares: Vec<f64> = without
        .iter()
        .zip(&errors)
        .map(|(rest, error)| 1.0 - rest / ((total * chains - error) / (chains - 1.0)))
        .collect();
    let mean = shares.iter().sum::<f64>() / chains;
    let squares: f64 = shares.iter().map(|share| (share - mean).powi(2)).sum();
    Risk {
        total,
        bias_squared: total - variance,
        variance,
        standard_error: (spread / chains).sqrt(),
        share_error: (squares * (chains - 1.0) / chains).sqrt(),
        chains: estimates.len(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_are_those_of_the_definition() {
        let estimates: [&[f64]; 3] = [&[1.0, 4.0], &[2.0, 4.0], &[3.0, 7.0]];
        let truth = [1.0, 5.0];
        let found = risk(&estimates, &truth);
        // Function 1: x̄ = 2, s² = 1, bias² = 1 − 1/3; function 2: x̄ = 5, s² = 3, bias² = 0 − 1.
        assert!((found.variance - 2.0).abs() < 1e-12, "{found:?}");
        assert!((found.bias_squared - (2.0 / 3.0 - 1.0) / 2.0).abs() < 1e-12, "{found:?}");
        assert!((found.total - found.bias_squared - found.variance).abs() < 1e-12);
        assert!((found.total - (0.0 + 1.0 + 1.0 + 1.0 + 4.0 + 4.0) / 6.0).abs() < 1e-12);
        assert!(risk(&[&[1.0]], &[1.0]).variance.is_nan());
        // Without one chain: the definition again on the others.
        let share = |kept: [&[f64]; 2]| {
            let part = risk(&kept, &truth);
            part.bias_squared / part.total
        };
        let [a, b, c] = estimates;
        let shares = [share([b, c]), share([a, c]), share([a, b])];
        let mean = shares.iter().sum::<f64>() / 3.0;
        let error = (shares.iter().map(|one| (one - mean).powi(2)).sum::<f64>() * 2.0 / 3.0).sqrt();
        assert!((found.share_error - error).abs() < 1e-12, "{} {error}", found.share_error);
    }
}
