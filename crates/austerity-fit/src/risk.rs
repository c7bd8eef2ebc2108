//! How to spend a budget: the rule and the proposal whose draws have the least risk when the time is up.
//!
//! The paper's philosophy (Korattikara, Chen & Welling 2014, section 3): a biased chain that is quick beats an exact one until the clock
//! says otherwise. Of every [`Offer`] at hand what it costs, how fast it mixes and how wrong it is are estimated; [`plan`] takes the one with the least
//! predicted risk bias² + variance ([`PredictedRisk`]) at the end of what is left, of all draws pooled: those of earlier segments count with their own
//! biases. A segment that has run mends the estimates ([`Estimates::update`]), and the plan is made again when the cost passes
//! `first`, 2·`first`, 4·`first`, … ([`next_review`]).
//!
//! | file | what it holds |
//! |---|---|
//! | [`pooled`] | [`Segment`], [`PredictedRisk`]: what draws of several settings together are worth |
//! | [`walks`](mod@walks) | [`walks()`]: the rules of a random walk to choose from |
//! | [`noise`] | noise of decisions about what a surrogate leaves → acceptance, bound of the sd inflation |
//! | [`estimates`] | [`Offer`], [`Estimates`], [`Observed`]: what a setting costs and brings, as far as known |
//!
//! Pure functions: the caller has the clock, and cost is in any unit (seconds, likelihood evaluations). Cost: settings × segments operations.
//! Not for choosing among posteriors or surrogates: bias is what the theory predicts, and where that is wrong the plan is.

pub mod estimates;
pub mod noise;
pub mod pooled;
pub mod walks;

use serde::{Deserialize, Serialize};

pub use estimates::{Estimates, Observed, Offer, Prices, Terms};
pub use noise::{noise_bias, noise_inflation, noisy_acceptance, spread_at};
pub use pooled::{PredictedRisk, Segment};
pub use walks::{Effort, Walk, walks};

/// A segment shorter than this share of the one before it is not worth a plan of its own: the last one takes it.
const SHORTEST_SEGMENT: f64 = 0.5;

/// What to do with the rest of a budget.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Choice {
    /// Place of the setting among the candidates; `None` when not one of them can make a step per chain within what is left.
    pub setting: Option<usize>,
    /// The first segment of the history whose draws are worth keeping.
    pub first_kept: usize,
    /// Steps of all chains that are expected.
    pub steps: f64,
    /// What is expected at the end.
    pub risk: PredictedRisk,
}

/// The choice that minimises the predicted risk at the end, when `left` is left and `history` has been drawn.
///
/// Candidates with numbers that make no sense (NaN, negative costs, no worth) are passed over. Where nothing is affordable, or `left` is not a
/// positive number, the choice is no setting at all and the risk that of the history as it is.
///
/// ```
/// use austerity_fit::risk::{Estimates, Prices, Offer, Terms, plan};
///
/// let exact = Offer { scan_evaluations: 100_000.0, worth: 0.02, ..Offer::default() };
/// let quick = Offer { block_evaluations: 5_000.0, worth: 0.02, inflation: 1.05, ..Offer::default() };
/// let estimates = Estimates::new(Terms::default(), Prices { overhead: 1.0, block: 4e-9, scan: 3e-9 });
/// let best = |seconds| plan(&[exact, quick], &[], &estimates, seconds).setting;
/// assert_eq!((best(1.0), best(1000.0)), (Some(1), Some(0)));
/// ```
#[must_use]
pub fn plan(candidates: &[Offer], history: &[Segment], estimates: &Estimates, left: f64) -> Choice {
    let firsts = if estimates.terms.discard { history.len() } else { 0 };
    // What is drawn counts unless something better is found; an empty history is worth nothing.
    let mut best = (0..=firsts)
        .map(|first_kept| Choice {
            setting: None,
            first_kept,
            steps: 0.0,
            risk: PredictedRisk::of(&history[first_kept..]),
        })
        .reduce(|best, choice| if choice.risk.total() < best.risk.total() { choice } else { best })
        .unwrap_or(Choice { setting: None, first_kept: 0, steps: 0.0, risk: PredictedRisk::of(history) });
    let mut found = false;
    for (place, setting) in candidates.iter().enumerate() {
        let Some((segment, start)) = estimates.expect(setting, left) else { continue };
        for first_kept in 0..=firsts {
            let mut drawn = history[first_kept..].to_vec();
            drawn.push(segment);
            let mut risk = PredictedRisk::of(&drawn);
            // Where earlier segments have been drawn the start is forgotten or paid for already.
            if history.is_empty() {
                risk.start = start;
            }
            if !found || risk.total() < best.risk.total() {
                best = Choice { setting: Some(place), first_kept, steps: segment.steps, risk };
                found = true;
            }
        }
    }
    best
}

/// The cost at which the plan is to be made again: the next of `first`·2ᵏ, or `all` where what would be left then is not worth it.
///
/// `all` too where a number makes no sense: the segment is the last.
#[must_use]
pub fn next_review(first: f64, spent: f64, all: f64) -> f64 {
    if !(first > 0.0 && spent >= 0.0 && first.is_finite() && spent < all) {
        return all;
    }
    let doublings = if spent < first { 0 } else { (spent / first).log2().floor() as i32 + 1 };
    let next = first * 2f64.powi(doublings);
    let next = if next > spent { next } else { 2.0 * next };
    if all - next < SHORTEST_SEGMENT * (next - spent) { all } else { next }
}

#[cfg(test)]
mod tests;
