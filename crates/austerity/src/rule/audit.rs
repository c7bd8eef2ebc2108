//! Audits: some decisions are completed on all rows, with the same randomness, to see what the test would have had to say.
//!
//! Which steps are audited is drawn beforehand from a stream of its own, so an audit changes no draw. An audited decision
//! keeps its outcome; what the exact rule would have decided at the same threshold, and the mean and standard deviation of
//! the whole population, are put beside it. Two things can be read off:
//! * the rate of disagreement estimates the mean error of a decision, E_u\[error\], to be compared with what the theory predicts
//!   for the same pairs (the acceptance probability is less wrong than that: errors of both signs cancel in Δ);
//! * z = (estimated − exact total)/claimed standard error has a variance of about 1 where the test's own idea of its
//!   precision is right; a missing stratum or a heavy tail makes it large at the first audit that meets it.
//!
//! Cost: a full pass per audited decision, so [`rate`] spends at most a tenth of the decisions' own evaluations.

use serde::{Deserialize, Serialize};

use crate::population::Moments;
use crate::rule::Decision;

/// Largest share of decisions audited unless told otherwise.
pub const MOST: f64 = 0.01;
/// Share of the evaluations that audits may add.
pub const SPENT: f64 = 0.1;

/// What all rows say about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Whether the exact rule would have accepted.
    pub accepted: bool,
    /// Mean of all N differences.
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub mean: f64,
    /// Their standard deviation (divisor N; NaN when a closed form did not need it).
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub sd: f64,
    /// (estimated − exact mean)/claimed standard error; 0 when the decision read everything.
    pub deviation: f64,
}

impl Audit {
    /// The audit of a decision that read all rows: it agrees with itself.
    #[must_use]
    pub fn complete(decision: &Decision) -> Self {
        Self { accepted: decision.accepted, mean: decision.mean, sd: decision.sd, deviation: 0.0 }
    }

    /// Puts the moments of all rows beside a decision.
    #[must_use]
    pub fn of(decision: &Decision, all: &Moments) -> Self {
        let (n, rows) = (decision.used as f64, all.count as f64);
        let left = ((rows - n) / (rows - 1.0)).max(0.0);
        let claimed = decision.sd * (left / n).sqrt();
        let deviation = if n < rows && claimed > 0.0 { (decision.mean - all.mean) / claimed } else { 0.0 };
        Self {
            accepted: all.mean > decision.threshold,
            mean: all.mean,
            sd: (all.m2 / rows).sqrt(),
            deviation,
        }
    }
}

/// The rate at which audits cost at most a tenth of the decisions themselves, and never more than 1 %, when a decision reads
/// the share `data_share` of the rows.
#[must_use]
pub fn rate(data_share: f64) -> f64 {
    (SPENT * data_share).clamp(0.0, MOST)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Stopped;

    #[test]
    fn the_deviation_is_in_units_of_the_claimed_error() {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 10)).collect();
        let all = Moments::of(&values);
        let decision = Decision {
            used: 25,
            mean: 5.0,
            sd: 2.0,
            threshold: 4.6,
            stopped: Stopped::Bound,
            ..Decision::ruled_out()
        };
        let audit = Audit::of(&decision, &all);
        assert!(!audit.accepted); // 4.5 is below 4.6
        assert!((audit.sd - 8.25f64.sqrt()).abs() < 1e-12);
        let claimed = 2.0 / 5.0 * (75.0f64 / 99.0).sqrt();
        assert!((audit.deviation - 0.5 / claimed).abs() < 1e-12);
        assert_eq!(Audit::of(&Decision { used: 100, ..decision }, &all).deviation, 0.0);
    }

    #[test]
    fn cheap_decisions_are_audited_less_often() {
        assert_eq!(rate(1.0), MOST);
        assert!((rate(0.01) - 0.001).abs() < 1e-15);
        assert_eq!(rate(0.0), 0.0);
    }
}
