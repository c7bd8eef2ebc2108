//! The law of the random threshold T: a candidate is accepted when Σ l_i + offset > T.
//!
//! * Metropolis: T = log u. Acceptance probability min(1, e^R).
//! * Compensated: T = (log u)/λ. The noise of a subsampled test heats the stationary distribution to S^β with
//!   β < 1; a λ > 1 computed from the same test cancels that. Exact decisions need λ = 1.
//! * Logistic: T = log(u/(1−u)). Acceptance probability 1/(1+e^{−R}): Barker's rule, and the two-state Gibbs
//!   update. (The paper prints a ratio of logs for Gibbs; the difference of logs is right.)
//!
//! All laws consume one uniform, so that runs under different laws share their randomness.

use rand::RngExt as _;
use rand_distr::Open01;
use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::rng::Rng;

/// The law of the threshold.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Law {
    /// log u.
    #[default]
    Metropolis,
    /// (log u)/λ.
    Compensated {
        /// λ > 0.
        lambda: f64,
    },
    /// log(u/(1−u)).
    Logistic,
}

impl Law {
    /// The same law for exact decisions: compensation is right only together with the test whose noise it cancels.
    #[must_use]
    pub fn uncompensated(self) -> Self {
        match self {
            Self::Compensated { .. } => Self::Metropolis,
            other => other,
        }
    }

    /// Refuses a λ that is not positive and finite.
    pub fn check(&self) -> Result<()> {
        match *self {
            Self::Compensated { lambda } if !(lambda > 0.0 && lambda.is_finite()) => {
                Err(setting("lambda", lambda, "a positive finite number"))
            }
            _ => Ok(()),
        }
    }

    /// The threshold that belongs to the uniform `u`, in (0, 1).
    #[must_use]
    pub fn threshold(&self, u: f64) -> f64 {
        match *self {
            Self::Metropolis => u.ln(),
            Self::Compensated { lambda } => u.ln() / lambda,
            Self::Logistic => u.ln() - (-u).ln_1p(),
        }
    }

    /// Draws a threshold.
    pub fn draw(&self, rng: &mut Rng) -> f64 {
        self.threshold(rng.sample(Open01))
    }

    /// The probability that an exact decision at log ratio `ratio` accepts.
    #[must_use]
    pub fn acceptance(&self, ratio: f64) -> f64 {
        match *self {
            Self::Metropolis => ratio.min(0.0).exp(),
            Self::Compensated { lambda } => (lambda * ratio.min(0.0)).exp(),
            Self::Logistic => 1.0 / (1.0 + (-ratio).exp()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Role, stream};

    #[test]
    fn reference_values() {
        assert!((Law::Logistic.threshold(0.3) + 0.847298).abs() < 1e-6);
        assert_eq!(Law::Metropolis.threshold(0.5), 0.5f64.ln());
        assert_eq!(Law::Compensated { lambda: 2.0 }.threshold(0.5), 0.5f64.ln() / 2.0);
        for lambda in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(Law::Compensated { lambda }.check().is_err());
        }
    }

    /// Accepting frequency against the closed form, 40,000 draws, 4.5 binomial standard deviations each:
    /// false-alarm rate over 12 checks below 1e-4; fixed seed.
    #[test]
    fn acceptance_is_the_probability_of_the_threshold() {
        let mut rng = stream(5, 0, Role::Decision);
        let n = 40_000;
        for law in [Law::Metropolis, Law::Compensated { lambda: 1.7 }, Law::Logistic] {
            for ratio in [-2.0, -0.3, 0.4, 3.0] {
                let hits = (0..n).filter(|_| ratio > law.draw(&mut rng)).count() as f64;
                let p = law.acceptance(ratio);
                let sd = (f64::from(n) * p * (1.0 - p)).sqrt();
                assert!((hits - f64::from(n) * p).abs() <= 4.5 * sd + 1e-9, "{law:?} {ratio}: {hits}");
            }
        }
    }
}
