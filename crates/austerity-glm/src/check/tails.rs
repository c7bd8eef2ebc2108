//! Did the chains reach the tail that the prior gives the posterior?
//!
//! R-hat and effective sample sizes judge chains by what the chains have seen; chains that never entered a tail agree about it. Where the likelihood of a coefficient is constant
//! beyond some point ([`FreeTail`]) the posterior there is the prior, whatever the other coefficients do. So the depths
//!
//! ```text
//! e = log P(θ > from) − log P(θ > draw)        under the prior, for draws beyond `from`
//! ```
//!
//! are exponential with mean 1. The figure is their mean: below 1 the tail of the draws is too thin, above 1 too thick. Its standard error is the Monte Carlo error of the
//! sum of (e − 1) over all draws, zeros included, so that it counts how often the chains enter the tail and leave it; it is taken to be no smaller than that of as many
//! independent draws. The check passes when the figure is within 3.5 standard errors and 0.03 of 1 (the likelihood is constant to 0.01) and when that standard
//! error is at most 0.15: with fewer than about 50 independent draws beyond `from` the tail was not reached.
//!
//! An honest run fails with a nominal probability of 10⁻³ (3.5 standard errors, both directions). Where less than 1 % of the draws lie beyond `from`, no quantile that is printed depends on the tail, and nothing is judged, unless the
//! likelihood along the coefficient puts 5 % or more there ([`FreeTail::share`]): then the chains never went, and the check fails.
//! Cost: an incomplete beta function for every draw beyond `from`, and one effective sample size.

use serde::{Deserialize, Serialize};

use crate::FreeTail;
use austerity::diagnostics::{chains, mcse, summary::nullable};

/// Standard errors that the figure may be off.
const ERRORS: f64 = 3.5;
/// … and what the likelihood may still change beyond `from`.
const SLACK: f64 = 0.03;
/// The largest standard error with which a tail was reached.
const PRECISE: f64 = 0.15;
/// Share of the draws beyond `from` below which nothing is judged.
const RARE: f64 = 0.01;

/// Share that is expected there, of which the draws must have some.
const EXPECTED: f64 = 0.05;

/// What a check of one tail found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TailCheck {
    /// Mean depth of the draws in the tail; 1 is right.
    #[serde(with = "nullable")]
    pub figure: f64,
    /// The largest |figure − 1| that passes.
    #[serde(with = "nullable")]
    pub limit: f64,
    /// Standard error of the figure.
    #[serde(with = "nullable")]
    pub error: f64,
    /// Share of the draws in the tail.
    #[serde(with = "nullable")]
    pub share: f64,
    /// Whether it passed; `None` where nothing was judged.
    pub passed: Option<bool>,
}

/// Compares the draws of a coefficient, one slice per chain, with the tail of its prior.
///
/// ```
/// use austerity_glm::check::tails;
/// use austerity_glm::{FreeTail, PowerTail};
/// let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 1.0 };
/// let tail = FreeTail { prior, up: true, from: 1.0, share: 0.5, brake: None };
/// // Quantiles of a Cauchy distribution, in an order that has no autocorrelation, then the same without what is beyond 20.
/// let quantile = |i: u32| (std::f64::consts::PI * (f64::from(i * 619 % 1000) / 1000.0 - 0.4995)).tan();
/// let draws: Vec<f64> = (0..1000).map(quantile).collect();
/// assert_eq!(tails::compare(&[&draws, &draws], &tail).passed, Some(true));
/// let short: Vec<f64> = draws.iter().map(|x| if *x > 20.0 { x / 20.0 } else { *x }).collect();
/// assert_eq!(tails::compare(&[&short, &short], &tail).passed, Some(false));
/// ```
#[must_use]
pub fn compare(chains: &[&[f64]], tail: &FreeTail) -> TailCheck {
    let chains = chains::trim(chains);
    let excess = |&draw: &f64| if tail.holds(draw) { tail.depth(draw) - 1.0 } else { 0.0 };
    let excesses: Vec<Vec<f64>> = chains.iter().map(|chain| chain.iter().map(excess).collect()).collect();
    let excesses = chains::borrow(&excesses);
    let pooled = chains::pool(&excesses);
    let inside =
        chains.iter().flat_map(|chain| chain.iter()).filter(|&&draw| tail.holds(draw)).count() as f64;
    let share = inside / pooled.len() as f64;
    let undefined = TailCheck { figure: f64::NAN, limit: f64::NAN, error: f64::NAN, share, passed: None };
    if share.is_nan() {
        return undefined;
    }
    if share < RARE {
        return TailCheck { passed: (tail.share >= EXPECTED).then_some(false), ..undefined };
    }
    let figure = 1.0 + chains::mean(&pooled) / share;
    // Draws that never go deep vary little, and would call themselves precise.
    let error = (mcse::mcse_mean(&excesses) / share).max(inside.powf(-0.5));
    if !(figure.is_finite() && error.is_finite()) {
        return undefined;
    }
    let limit = SLACK + ERRORS * error;
    let passed = Some(error <= PRECISE && (figure - 1.0).abs() <= limit);
    TailCheck { figure, limit, error, share, passed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PowerTail;
    use austerity::rng::{Role, stream};

    const PRIOR: PowerTail = PowerTail { freedom: 1.0, location: 0.0, scale: 2.5 };

    fn honest(seed: u64, draws: usize) -> Vec<Vec<f64>> {
        let chain = |chain| {
            let mut rng = stream(seed, chain, Role::Proposal);
            std::iter::repeat_with(|| PRIOR.draw(&mut rng)).flatten().take(draws).collect()
        };
        (0..4).map(chain).collect()
    }

    /// 200 honest runs: none fails but with probability 200·10⁻³ = 0.2 at the stated rate; up to three (false alarm 6e-5) are let pass. Without what is
    /// beyond the 97 % quantile, every one is found out.
    #[test]
    fn honest_draws_pass_and_short_ones_do_not() {
        let tail = FreeTail { prior: PRIOR, up: true, from: 3.0, share: 0.2, brake: None };
        let (mut alarms, mut missed) = (0, 0);
        for seed in 0..200 {
            let draws = honest(seed, 1000);
            alarms += usize::from(compare(&chains::borrow(&draws), &tail).passed != Some(true));
            let short: Vec<Vec<f64>> = draws
                .iter()
                .map(|chain| chain.iter().map(|&x| if x > 26.0 { 3.0 } else { x }).collect())
                .collect();
            missed += usize::from(compare(&chains::borrow(&short), &tail).passed != Some(false));
        }
        assert!(alarms <= 3 && missed == 0, "{alarms} {missed}");
    }

    #[test]
    fn what_cannot_be_judged_is_not() {
        let far = FreeTail { prior: PRIOR, up: true, from: 1e4, share: 1e-4, brake: None };
        let draws = honest(1, 1000);
        assert_eq!(compare(&chains::borrow(&draws), &far).passed, None);
        // … unless draws were expected there.
        let missed = compare(&chains::borrow(&draws), &FreeTail { share: 0.3, ..far });
        assert_eq!(missed.passed, Some(false), "{missed:?}");
        let near = FreeTail { prior: PRIOR, up: false, from: -3.0, share: 0.2, brake: None };
        assert_eq!(compare(&[], &near).passed, None);
        // Draws that are no numbers have reached nothing.
        assert_eq!(compare(&[&[f64::NAN; 100]], &near).passed, Some(false));
        // Too few to know: not reached.
        let few: Vec<&[f64]> = draws.iter().map(|chain| &chain[..20]).collect();
        assert_eq!(compare(&few, &near).passed, Some(false));
        assert!(compare(&chains::borrow(&draws), &near).passed == Some(true));
    }
}
