//! What draws of several settings together are worth.
//!
//! Risk is the mean over the parameters of (error of the mean)² + (error of the sd)², in units of the posterior sd. n independent draws have
//! the variance 1/n + 1/(2n) = 1.5/n. A setting whose draws are f times too wide is wrong by f − 1; of segments k with the shares w_k of
//! the draws, pooled,
//!
//! ```text
//! sd inflation = √(Σ w_k f_k²)      variance = 1.5 Σ w_k² f_k²/n_k      doubt = Σ w_k d_k
//! ```
//!
//! where d_k is the standard error of the prediction f_k, taken as one and the same mistake in all segments. The mean of
//! a tempered Gaussian is right. All but the doubt is exact for Gaussian posteriors and independent-equivalent draws.

use serde::{Deserialize, Serialize};

/// Variance of mean and sd of one independent draw, in posterior variances.
pub const VARIANCE_OF_A_DRAW: f64 = 1.5;

/// Draws of one setting.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Steps of all chains: its weight among the others.
    pub steps: f64,
    /// Independent draws that they are worth.
    pub effective: f64,
    /// sd of its draws over sd of the posterior.
    pub inflation: f64,
    /// Standard error of that number.
    pub doubt: f64,
}

/// Squared error to be expected, in posterior variances.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredictedRisk {
    /// sd of all draws over sd of the posterior, minus 1.
    pub bias: f64,
    /// Standard error of `bias`.
    pub doubt: f64,
    /// What more draws would lower.
    pub variance: f64,
    /// Squared error of chains that have not forgotten where they began.
    pub start: f64,
}

impl PredictedRisk {
    /// The risk of pooled segments; without any draw the variance is infinite.
    #[must_use]
    pub fn of(segments: &[Segment]) -> Self {
        let steps: f64 = segments.iter().map(|segment| segment.steps).sum();
        let mut risk = Self { bias: 0.0, doubt: 0.0, variance: f64::INFINITY, start: 0.0 };
        if steps.is_nan() || steps <= 0.0 {
            return risk;
        }
        let (mut square, mut variance) = (0.0, 0.0);
        for segment in segments.iter().filter(|segment| segment.steps > 0.0) {
            let weight = segment.steps / steps;
            let wide = segment.inflation * segment.inflation;
            square += weight * wide;
            variance += weight * weight * wide / segment.effective;
            risk.doubt += weight * segment.doubt;
        }
        risk.bias = square.sqrt() - 1.0;
        risk.variance = VARIANCE_OF_A_DRAW * variance;
        risk
    }

    /// bias² + variance, with what is not known of the bias.
    #[must_use]
    pub fn total(&self) -> f64 {
        self.bias * self.bias + self.doubt * self.doubt + self.variance + self.start
    }
}
