//! Probit regression: P(success) = Φ(η), for responses 0 and 1 ([`Probit`]) and for y successes out of t trials ([`BinomialProbit`]).
//!
//! With s = 2y − 1 the log-likelihood is log Φ(sη), and y·log Φ(η) + (t − y)·log Φ(−η) with trials; both are concave. log Φ and its derivatives keep their digits
//! in both tails ([`LnNormal`](crate::glm::number::function::LnNormal)).
//!
//! No kernel: rows are computed in f64, some 0.1 µs a difference. Decisions by limits read none.

use super::binomial::log_choose;
use crate::ResponseKind;
use crate::glm::derived::Derived;
use crate::glm::number::Number;
use crate::glm::{Family, counts};

/// Bernoulli responses with probit link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Probit;

/// Successes out of trials with probit link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BinomialProbit;

/// Φ(η).
fn chance(eta: f64) -> f64 {
    0.5 * libm::erfc(-eta * std::f64::consts::FRAC_1_SQRT_2)
}

impl Family for Probit {
    const USUAL: Self = Self;
    const NAME: &'static str = "probit";
    const WORDS: &'static str = "probit regression";
    const EFFECT: &'static str = "Change of the probit";
    const ABOUT: &'static str = "binary responses, probit link";
    const KIND: ResponseKind = ResponseKind::Binary;
    const LOG_CONCAVE: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, _trials: f64) -> T {
        (eta * response).ln_normal_cdf()
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        chance(eta)
    }

    fn constant(&self, _response: f64, _trials: f64) -> f64 {
        0.0
    }

    fn quantile(&self, (level, _): (f64, f64), eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        f64::from(u8::from(level > chance(-eta)))
    }
}

impl Family for BinomialProbit {
    const USUAL: Self = Self;
    const NAME: &'static str = "binomial-probit";
    const CHOICE: &'static str = "probit";
    const WORDS: &'static str = "binomial regression, probit link";
    const EFFECT: &'static str = "Change of the probit";
    const ABOUT: &'static str = "successes out of trials, probit link";
    const KIND: ResponseKind = ResponseKind::CountOfTrials;
    const LOG_CONCAVE: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, trials: f64) -> T {
        eta.ln_normal_cdf() * response + (-eta).ln_normal_cdf() * (trials - response)
    }

    fn mean(&self, eta: f64, _extra: &[f64], trials: f64) -> f64 {
        trials * chance(eta)
    }

    fn constant(&self, response: f64, trials: f64) -> f64 {
        log_choose(trials, response)
    }

    fn quantile(&self, (level, noise): (f64, f64), eta: f64, _extra: &[f64], trials: f64) -> f64 {
        counts::binomial(trials, chance(eta), level, noise)
    }
}
