//! How far the stationary distribution can be from the posterior: Theorem 1 and its Gibbs version.
//!
//! If the exact kernel contracts, d(PT₀, QT₀) ≤ η·d(P, Q) in total variation with η < 1, and every acceptance
//! probability errs by at most Δ_max, then d(S₀, S_ε) ≤ Δ_max/(1 − η), because
//! d(S_ε, S₀) ≤ d(S_εT_ε, S_εT₀) + d(S_εT₀, S₀T₀) ≤ Δ_max + η·d(S_ε, S₀).
//!
//! Korattikara, Chen & Welling (2014), Theorem 1 and the supplement on Gibbs sampling. A true bound, usually
//! a very loose one; η is seldom known. For what happens typically see [`crate::theory::bias`].
//!
//! **Scans.** A Gibbs update of a single site does not contract in total variation: η must belong to the kernel
//! that is iterated. Random scan: the one-step error is Δ_max and η is that of the mixture over sites, near
//! 1 − (1 − c)/D. A systematic sweep of D sites accumulates: D·Δ_max/(1 − η of the sweep).

use super::acceptance::StepError;
use super::table::ErrorTable;
use crate::error::{Result, setting};
use crate::rule::Law;

/// How a Gibbs sampler visits its sites.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scan {
    /// One site at random per step; η is that of this mixture.
    Random,
    /// All sites in turn; η is that of the whole sweep.
    Systematic {
        /// D.
        sites: usize,
    },
}

/// Theorem 1: a bound on the total variation distance between S_ε and the posterior, at most 1.
pub fn metropolis_bound(largest_delta: f64, contraction: f64) -> Result<f64> {
    if !(0.0..=1.0).contains(&largest_delta) {
        return Err(setting("largest |delta|", largest_delta, "a number from 0 to 1"));
    }
    if !(0.0..1.0).contains(&contraction) {
        return Err(setting("contraction (eta)", contraction, "a number from 0 to below 1"));
    }
    Ok((largest_delta / (1.0 - contraction)).min(1.0))
}

/// Bound of the distance from the posterior for a Gibbs sampler whose conditional probabilities err by at most `largest_delta`.
pub fn gibbs_bound(largest_delta: f64, contraction: f64, scan: Scan) -> Result<f64> {
    let one = metropolis_bound(largest_delta, 0.0)?;
    let per_step = match scan {
        Scan::Random => one,
        Scan::Systematic { sites: 0 } => return Err(setting("sites", 0, "at least 1")),
        Scan::Systematic { sites } => (one * sites as f64).min(1.0),
    };
    metropolis_bound(per_step, contraction)
}

impl ErrorTable {
    /// The log ratio at which |Δ| is largest for a given κ, with the step there.
    ///
    /// Searched on a grid of 400 log ratios, then by golden section; |R| up to 40 + 10κ.
    pub fn largest_delta(&self, law: Law, kappa: f64) -> Result<(f64, StepError)> {
        let size = |ratio: f64| self.step(law, ratio, kappa).map(|step| step.delta.abs());
        let end = 40.0 + 10.0 * kappa;
        let at = |i: i32| 0.05 * (f64::from(i) / 200.0 * (end / 0.05).asinh()).sinh();
        let mut best = (0, -1.0);
        for i in -200..=200 {
            let value = size(at(i))?;
            if value > best.1 {
                best = (i, value);
            }
        }
        let (mut low, mut high) = (at(best.0 - 1), at(best.0 + 1));
        const GOLDEN: f64 = 0.618_033_988_749_894_9;
        for _ in 0..40 {
            let (left, right) = (high - GOLDEN * (high - low), low + GOLDEN * (high - low));
            if size(left)? > size(right)? {
                high = right;
            } else {
                low = left;
            }
        }
        let refined = 0.5 * (low + high);
        let ratio = if size(refined)? >= best.1 { refined } else { at(best.0) };
        Ok((ratio, self.step(law, ratio, kappa)?))
    }
}
