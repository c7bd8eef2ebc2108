//! What audits have found, and whether it contradicts what was predicted.
//!
//! Audits are looked at while a run goes on, so every test here is an e-process: a wealth W that is a non-negative supermartingale of
//! mean at most 1 while the prediction holds, hence P(W ever reaches 1/α) ≤ α (Ville 1939). A run is contradicted when a W reaches
//! 1/α, α = 0.005 for each of the two, so an honest run is accused with probability at most 1 % however often it is looked at.
//!
//! **Disagreements** k, each of conditional probability p_i by the theory ([`crate::theory::Predictor`]). With m = 2·Σp_i (a slack of 2 for skew samples, block
//! effects and estimated σ), θ^k·e^{−(θ−1)m} is such a process for every θ > 1 (a Bernoulli variable is sub-Poisson); θ is mixed over
//! a gamma law (shape ½, rate 0.2, cut at 1), in closed form (Howard, Ramdas, McAuliffe & Sekhon 2021, the gamma mixtures):
//!
//! ```text
//! W(k, m) = e^m · b^a/Γ(a, b) · Γ(k + a, m + b)/(m + b)^{k+a}
//! ```
//!
//! It depends on the sums alone, so chains can be pooled. The same mixture without the cut gives the interval for Σp_i that is reported.
//!
//! **Deviations** z = error/claimed standard error. An honest z² has a mean of about 1, of 1.5 to 2 where tests stop early on samples as skew as second-order
//! residuals are (rms error 0.048 where 0.040 was claimed, t of 64 rows beyond ±2.4 in 3 % instead of 2 %); nothing is said of its higher
//! moments. So the claim tested is E\[z²\] ≤ 4, by betting the shares β = 5, 25 and 75 % of the wealth on z²: W = ⅓Σ_β Π(1 − β + βz²/4) (Waudby-Smith & Ramdas
//! 2024). |z| = 50 is a contradiction at once, |z| = 10 after three audits, |z| = 4 after six.
//!
//! **Defects** of a surrogate are rounding or a mistake: one beyond 10⁻³ of log ratio (relative to it where that is larger) is a contradiction.
//!
//! Cost: a few operations per audit. Tests about rare events need hundreds of audits; a small excess of disagreements is not seen.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::{checked_gamma_ur, ln_gamma};

use crate::diagnostics::Interval;
use crate::rule::{Audit, Decision, Stopped};
use crate::theory::StepError;

/// Probability that each of the two tests ever accuses an honest run.
pub const LEVEL: f64 = 0.005;
/// Predicted rates of disagreement are doubled before they are tested.
pub const SLACK: f64 = 2.0;
/// Mean square of the deviations up to which claims are believed.
pub const LARGEST_SQUARE: f64 = 4.0;
/// Largest defect of a surrogate, in log ratio, or relative to it where that exceeds 1.
pub const LARGEST_DEFECT: f64 = 1e-3;
/// Defects beyond so many times the largest are all the same.
const MOST_DEFECT: f64 = 1e9;
/// Shape and rate of the mixture over θ.
const MIXTURE: (f64, f64) = (0.5, 0.2);
/// Shares of the wealth that are bet on large deviations.
const BETS: [f64; 3] = [0.05, 0.25, 0.75];

/// Sums over audited decisions; those of several chains can be added.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tally {
    /// Decisions audited.
    pub audited: u64,
    /// Audited decisions that all rows would have decided otherwise.
    pub disagreed: u64,
    /// Disagreements that the theory predicts: Σ E_u\[error\].
    pub predicted: f64,
    /// Sum of the errors Δ of acceptance probabilities that the theory predicts.
    pub delta: f64,
    /// Sum of the |Δ| that the theory predicts.
    pub absolute_delta: f64,
    /// Decisions that had not read everything.
    pub deviating: u64,
    /// Sum of the squared deviations of decisions that had not read everything; see [`Audit`].
    pub deviations: f64,
    /// Logarithms of what the bets on large deviations have won.
    pub wealth: [f64; 3],
    /// Slope of the log-likelihood of β at 1; see [`Tally::inverse_temperature`].
    pub slope: f64,
    /// Information about β at 1.
    pub information: f64,
    /// Decisions that were compared with a model behind a surrogate and did not fit it.
    pub defects: u64,
    /// The largest defect, in units of what is allowed.
    pub largest_defect: f64,
}

/// What audits say against a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Contradiction {
    /// The surrogate is not what it stands for.
    Defect,
    /// More decisions are wrong than the theory allows.
    Disagreements,
    /// Estimates are worse than their standard errors.
    Deviations,
}

impl Contradiction {
    /// Whether reading more rows is a cure.
    #[must_use]
    pub fn yields_to_data(self) -> bool {
        self != Self::Defect
    }
}

/// What is known of an audited pair once all rows have been read.
#[derive(Clone, Copy, Debug)]
pub struct CompletePair {
    /// What the theory says of its decision.
    pub theory: StepError,
    /// Log acceptance ratio from all rows.
    pub ratio: f64,
    /// The defect of a surrogate, and the difference it belongs to.
    pub defect: (f64, f64),
}

impl Tally {
    /// Adds an audit, and what all rows say of its pair.
    pub fn add_audit(&mut self, decision: &Decision, audit: &Audit, pair: &CompletePair) {
        let &CompletePair { theory, ratio, defect } = pair;
        self.audited += 1;
        if ratio.is_finite() {
            let size = ratio.abs();
            let down = 1.0 / (1.0 + (-size).exp());
            self.slope += size * (f64::from(u8::from(ratio <= 0.0)) - down);
            self.information += size * size * down * (1.0 - down);
        }
        self.disagreed += u64::from(audit.accepted != decision.accepted);
        self.predicted += theory.mean_error;
        self.delta += theory.delta;
        self.absolute_delta += theory.delta.abs();
        if !matches!(decision.stopped, Stopped::Exhausted | Stopped::Certified) {
            let square = audit.deviation * audit.deviation;
            self.deviating += 1;
            self.deviations += square;
            for (log, bet) in self.wealth.iter_mut().zip(BETS) {
                *log += (bet * (square / LARGEST_SQUARE - 1.0)).ln_1p();
            }
        }
        let (defect, ratio) = defect;
        let defect = (defect.abs() / (LARGEST_DEFECT * ratio.abs().max(1.0))).min(MOST_DEFECT);
        self.defects += u64::from(defect > 1.0);
        self.largest_defect = self.largest_defect.max(defect);
    }

    /// Adds the sums of `other`.
    pub fn add(&mut self, other: &Self) {
        self.audited += other.audited;
        self.disagreed += other.disagreed;
        self.predicted += other.predicted;
        self.delta += other.delta;
        self.slope += other.slope;
        self.information += other.information;
        self.absolute_delta += other.absolute_delta;
        self.deviating += other.deviating;
        self.deviations += other.deviations;
        self.wealth.iter_mut().zip(other.wealth).for_each(|(log, more)| *log += more);
        self.defects += other.defects;
        self.largest_defect = self.largest_defect.max(other.largest_defect);
    }

    /// Mean square of the deviations; NaN before the first.
    #[must_use]
    pub fn mean_square(&self) -> f64 {
        self.deviations / self.deviating as f64
    }

    /// Mean Δ of the audited pairs; NaN before the first.
    #[must_use]
    pub fn mean_delta(&self) -> f64 {
        self.delta / self.audited as f64
    }

    /// β of the chain that made the audited moves, which samples about π^β, and its standard error; `None` before there is anything to tell from.
    ///
    /// Moves and their reversals are proposed as often as π^β has them start: of the candidates with |log ratio| = x a share of 1/(1 + e^{βx}) goes up. β
    /// is estimated from the signs, by one step of Newton's method from 1, given the sizes; it needs no exact draws, and no rule to compare with.
    #[must_use]
    pub fn inverse_temperature(&self) -> Option<(f64, f64)> {
        (self.information > 0.0)
            .then(|| (1.0 + self.slope / self.information, self.information.sqrt().recip()))
    }

    /// What the audits contradict, if anything; the gravest first.
    #[must_use]
    pub fn contradiction(&self) -> Option<Contradiction> {
        let enough = -LEVEL.ln();
        if self.defects > 0 {
            Some(Contradiction::Defect)
        } else if self.log_wealth() >= enough {
            Some(Contradiction::Deviations)
        } else if excess(self.disagreed, SLACK * self.predicted) >= enough {
            Some(Contradiction::Disagreements)
        } else {
            None
        }
    }

    /// Whether something speaks against the prediction, though it need not contradict it: a reason to audit more.
    #[must_use]
    pub fn is_doubtful(&self) -> bool {
        let wrong = || self.disagreed > 0 && excess(self.disagreed, SLACK * self.predicted) > 0.0;
        self.defects > 0 || self.log_wealth() > 0.0 || wrong()
    }

    /// The contradiction in a sentence.
    #[must_use]
    pub fn sentence(&self) -> Option<String> {
        let Self { audited, disagreed, predicted, .. } = self;
        Some(match self.contradiction()? {
            Contradiction::Defect => format!(
                "Surrogate and residuals differ from the model they stand for in {} of {audited} audited decisions (by up to {:.1e} of the log \
                 ratio): the surrogate is not the one of these data. Do without it.",
                self.defects,
                LARGEST_DEFECT * self.largest_defect
            ),
            Contradiction::Deviations => format!(
                "Audited totals were off by {:.1} times their claimed standard error: rows that matter are rarely sampled. \
                 Look for rare features and outliers (`check`), or use the exact rule.",
                self.mean_square().sqrt()
            ),
            Contradiction::Disagreements => format!(
                "Of {audited} audited decisions {disagreed} were wrong where the theory expects {predicted:.1}: the differences are not what the \
                 test takes them for. Use a larger first look or the exact rule."
            ),
        })
    }

    /// Expected numbers of disagreements that the one found is compatible with, at 99 % however often it is looked at.
    #[must_use]
    pub fn interval(&self) -> Interval {
        let count = self.disagreed;
        let inside = |mean: f64| mixture(count, mean) < -(2.0 * LEVEL).ln();
        let best = count as f64;
        // The mixture falls to its least near the count and rises on both sides.
        let edge = |mut inner: f64, mut outer: f64| {
            for _ in 0..60 {
                let middle = 0.5 * (inner + outer);
                *(if inside(middle) { &mut inner } else { &mut outer }) = middle;
            }
            inner
        };
        let lower = if inside(0.0) { 0.0 } else { edge(best, 0.0) };
        Interval { lower, upper: edge(best, 4.0 * best + 40.0).min(self.audited.max(count) as f64) }
    }

    /// Logarithm of the mean of what the bets have won.
    fn log_wealth(&self) -> f64 {
        let most = self.wealth.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = self.wealth.iter().map(|log| (log - most).exp()).sum();
        most + (sum / BETS.len() as f64).ln()
    }
}

/// Logarithm of ∫θ^k·e^{−(θ−1)m} over the gamma law.
fn mixture(count: u64, mean: f64) -> f64 {
    let ((shape, rate), k) = (MIXTURE, count as f64);
    mean + shape * rate.ln() - ln_gamma(shape) + ln_gamma(k + shape) - (k + shape) * (mean + rate).ln()
}

/// The same over θ > 1: evidence for more than the mean.
fn excess(count: u64, mean: f64) -> f64 {
    let (shape, rate) = MIXTURE;
    // Shares of the laws before and after that lie above 1.
    let above = |shape: f64, rate: f64| checked_gamma_ur(shape, rate).unwrap_or(1.0).ln();
    mixture(count, mean) + above(count as f64 + shape, mean + rate) - above(shape, rate)
}

#[cfg(test)]
mod tests;
