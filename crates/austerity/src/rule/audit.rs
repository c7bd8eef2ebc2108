//! Audits: some decisions are completed on all rows, with the same randomness, to see what the test would have had to say.
//!
//! Which steps are audited is drawn beforehand from a stream of its own, so an audit changes no draw. An audited decision
//! keeps its outcome; what the exact rule would have decided at the same threshold, and the mean and standard deviation of
//! the whole population, are put beside it. Three things can be read off ([`crate::run::Tally`]):
//! * the rate of disagreement estimates the mean error of a decision, E_u\[error\], to be compared with what the theory predicts
//!   for the same pairs (the acceptance probability is less wrong than that: errors of both signs cancel in Δ);
//! * z = (estimated − exact total)/claimed standard error has a variance of about 1 where the test's own idea of its
//!   precision is right; a missing stratum or a heavy tail makes it large at the first audit that meets it;
//! * for a surrogate, its own difference and the total of the residuals together must be the log posterior ratio of the model
//!   behind it. What is missing, the *defect*, is rounding; a mistake in the sums of the surrogate shows nowhere else.
//!
//! Cost: a full pass per audited decision (two for a surrogate), many of them together in one pass over memory, so [`rate`] spends at most a twentieth
//! of the decisions' own time, besides the audits of the set-up: [`SET_UP`] pairs per chain in warm-up and at the beginning of sampling, and up to
//! [`IN_DOUBT`] where those speak against the prediction. Bets on the prediction ([`crate::run::Tally`]) may go on for as long as one likes, so looking
//! further where there is doubt accuses no honest run more often, and an honest run pays for a quarter of the audits.

use serde::{Deserialize, Serialize};

use crate::population::Moments;
use crate::rule::{Decision, Stopped};

/// Largest share of decisions audited unless told otherwise.
pub const LARGEST_RATE: f64 = 0.01;
/// Share of the time that audits may add.
pub const SPENT: f64 = 0.05;
/// Audits of every chain in warm-up, and again at the beginning of sampling, however small the rate: counted as set-up. Four chains
/// make eight of each. Never a function of the number of chains, since what a chain draws is none.
pub const SET_UP: u64 = 2;
/// Audits of a chain whose first ones speak against the prediction ([`crate::run::Tally::is_doubtful`]), before it goes on at its rate.
pub const IN_DOUBT: u64 = 8;
/// Least standard error of a total log ratio that a deviation is measured by: errors below are harmless, and rounding is not far.
const LEAST_ERROR: f64 = 1e-4;
/// Deviations beyond this are all the same.
const LARGEST_DEVIATION: f64 = 1e6;

/// What all rows say about a decision.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Audit {
    /// Whether the exact rule would have accepted.
    pub accepted: bool,
    /// Mean of all N differences.
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub mean: f64,
    /// Standard deviation of all differences (divisor N; NaN when a closed form did not need it).
    #[serde(with = "crate::diagnostics::summary::nullable")]
    pub sd: f64,
    /// (estimated − exact total)/claimed standard error, the latter at least 10⁻⁴; 0 when the decision read everything.
    pub deviation: f64,
}

impl Audit {
    /// Puts the moments of all rows beside a decision. `defect` is what surrogate and residuals have too much, 0 for other
    /// models.
    #[must_use]
    pub fn of(decision: &Decision, all: &Moments, defect: f64) -> Self {
        let rows = all.count as f64;
        let impossible = all.impossible();
        let sd = if impossible { f64::NAN } else { (all.m2 / rows).sqrt() };
        let accepted = !impossible && all.mean - defect / rows > decision.threshold;
        let deviation = if impossible { 0.0 } else { deviation(decision, all) };
        Self { accepted, mean: if impossible { f64::NEG_INFINITY } else { all.mean }, sd, deviation }
    }

    /// The audit of a decision that read all rows: it agrees with itself.
    #[must_use]
    pub fn complete(decision: &Decision) -> Self {
        Self { accepted: decision.accepted, mean: decision.mean, sd: decision.sd, deviation: 0.0 }
    }
}

fn deviation(decision: &Decision, all: &Moments) -> f64 {
    let (n, rows) = (decision.used as f64, all.count as f64);
    if n >= rows || matches!(decision.stopped, Stopped::Exhausted | Stopped::Certified) {
        return 0.0;
    }
    let left = (rows - n) / (rows - 1.0);
    // A sample without any spread claims to know everything: that claim is measured too.
    let claimed = (rows * decision.sd * (left / n).sqrt()).max(LEAST_ERROR);
    (rows * (decision.mean - all.mean) / claimed).clamp(-LARGEST_DEVIATION, LARGEST_DEVIATION)
}

/// The rate at which audits cost at most a twentieth of the decisions themselves, and never more than 1 %, when a decision costs
/// the share `decision` of the completion of one: of its time where that is known, of its rows otherwise.
#[must_use]
pub fn rate(decision: f64) -> f64 {
    (SPENT * decision).clamp(0.0, LARGEST_RATE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision() -> (Moments, Decision) {
        let values: Vec<f64> = (0..100).map(|i| f64::from(i % 10)).collect();
        let decision = Decision {
            used: 25,
            mean: 5.0,
            sd: 2.0,
            threshold: 4.6,
            stopped: Stopped::Bound,
            ..Decision::ruled_out()
        };
        (Moments::of(&values), decision)
    }

    #[test]
    fn the_deviation_is_in_units_of_the_claimed_error() {
        let (all, decision) = decision();
        let audit = Audit::of(&decision, &all, 0.0);
        assert!(!audit.accepted); // 4.5 is below 4.6
        assert!((audit.sd - 8.25f64.sqrt()).abs() < 1e-12);
        let claimed = 2.0 / 5.0 * (75.0f64 / 99.0).sqrt();
        assert!((audit.deviation - 0.5 / claimed).abs() < 1e-12);
        assert_eq!(Audit::of(&Decision { used: 100, ..decision }, &all, 0.0).deviation, 0.0);
    }

    #[test]
    fn a_claim_of_no_error_is_measured_and_a_defect_moves_the_exact_decision() {
        let (all, decision) = decision();
        let sure = Audit::of(&Decision { sd: 0.0, ..decision }, &all, 0.0);
        assert_eq!(sure.deviation, 5e5); // 50 too much, measured by 1e-4
        assert!(Audit::of(&decision, &all, -20.0).accepted); // 4.5 + 0.2
        let impossible = Moments { minimum: f64::NEG_INFINITY, m2: f64::NAN, ..all };
        let audit = Audit::of(&decision, &impossible, 0.0);
        assert!(!audit.accepted && audit.deviation == 0.0 && audit.mean == f64::NEG_INFINITY);
    }

    #[test]
    fn cheap_decisions_are_audited_less_often() {
        assert_eq!(rate(1.0), LARGEST_RATE);
        assert!((rate(0.01) - 0.0005).abs() < 1e-15);
        assert_eq!(rate(0.0), 0.0);
    }
}
