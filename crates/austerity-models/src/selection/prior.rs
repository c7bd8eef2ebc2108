//! The prior of a variable selection: on the size of the model, and on its coefficients with their scale integrated out.
//!
//! Given the scale ν, active coefficients are double-exponential, p(β_j|ν) = exp(−|β_j|/ν)/2ν, and p(ν) ∝ 1/ν:
//!
//! ```text
//! ∫ (2ν)^−k e^(−‖β‖₁/ν) dν/ν = 2^−k Γ(k) ‖β‖₁^−k
//! ```
//!
//! The features have a Poisson prior cut at D, spread evenly over the models of a size: p(γ) ∝ λ^k/(C(D,k)·k!). Together
//! p(γ, β) ∝ λ^k B(k, D−k+1) · 2^−k ‖β‖₁^−k, as C(D,k)·k!/Γ(k) = 1/B(k, D−k+1) but for a constant; from one size to the next
//! B(k+1, D−k)/B(k, D−k+1) = k/(D−k).
//!
//! Korattikara, Chen & Welling (2014), §6.3, after Chen, Wang & McKeown (2011), **drop 2^−k**: their λ is half of
//! this one. [`SelectionPrior::paper`] takes λ as they do.
//!
//! The posterior is improper, in the paper too: in any direction p ∝ dr/r at r = ‖β‖₁ → 0, where the likelihood tends to
//! that of no features at all. A chain never gets there when data contradict that by many nats; otherwise give a floor on
//! ‖β‖₁ ([`SelectionPrior::at_least`]), below which the prior is 0. For separable data it is improper at ∞ too.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use super::Selection;
use austerity::error::{Result, setting};

/// Poisson on the size, double-exponential on the coefficients.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelectionPrior {
    /// Log of what each active feature is multiplied by: λ/2, or the paper's λ.
    log_rate: f64,
    smallest_norm: f64,
}

impl SelectionPrior {
    /// The prior with rate λ; without coefficients λ would be about the expected size of the model.
    pub fn new(rate: f64) -> Result<Self> {
        Self::paper(rate).map(|prior| Self { log_rate: prior.log_rate - std::f64::consts::LN_2, ..prior })
    }

    /// The prior with λ as in the paper, which drops 2^−k: the same as [`SelectionPrior::new`] with twice the rate.
    pub fn paper(rate: f64) -> Result<Self> {
        if !(rate > 0.0 && rate.is_finite()) {
            return Err(setting("rate (lambda)", rate, "a positive finite number"));
        }
        Ok(Self { log_rate: rate.ln(), smallest_norm: 0.0 })
    }

    /// No probability where ‖β‖₁ is below `norm`: then the posterior is proper at 0.
    pub fn at_least(self, norm: f64) -> Result<Self> {
        if !(norm >= 0.0 && norm.is_finite()) {
            return Err(setting("smallest norm", norm, "a finite number, 0 or more"));
        }
        Ok(Self { smallest_norm: norm, ..self })
    }

    /// k·log λ + log B(k, D−k+1) of k = 0, 1, …, `features`; −∞ for k = 0.
    pub(super) fn sizes(&self, features: usize) -> Vec<f64> {
        let whole = ln_gamma(features as f64 + 1.0);
        let size = |k: usize| match k {
            0 => f64::NEG_INFINITY,
            _ => {
                k as f64 * self.log_rate + ln_gamma(k as f64) + ln_gamma((features - k) as f64 + 1.0) - whole
            }
        };
        (0..=features).map(size).collect()
    }

    /// Log density of a state, given [`SelectionPrior::sizes`].
    pub(super) fn log_density(&self, sizes: &[f64], state: &Selection) -> f64 {
        let norm = state.norm();
        if norm < self.smallest_norm {
            return f64::NEG_INFINITY;
        }
        let size = state.size();
        sizes.get(size).copied().unwrap_or(f64::NEG_INFINITY) - size as f64 * norm.ln()
    }
}
