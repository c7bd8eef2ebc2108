//! Complementary log-log regression: P(success) = 1 − e^{−e^η}, for responses 0 and 1 ([`Cloglog`]) and for y successes out of t trials ([`BinomialCloglog`]).
//!
//! A success adds log(1 − e^{−u}), u = e^η, a failure −u. Both are concave in η: e^{−u} is the survival function of log T with T exponential, whose density is
//! log-concave, and so are its two tails. e^β is a ratio of hazards: the model of grouped survival times with proportional hazards (McCullagh & Nelder 1989, §4.3.3).
//!
//! No kernel: rows are computed in f64, some 0.1 µs a difference. Decisions by limits read none.

use super::binomial::log_choose;
use crate::ResponseKind;
use crate::glm::derived::Derived;
use crate::glm::number::Number;
use crate::glm::number::special::LnComplement;
use crate::glm::{Family, counts};

/// Bernoulli responses with complementary log-log link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cloglog;

/// Successes out of trials with complementary log-log link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BinomialCloglog;

/// 1 − e^{−e^η}.
fn chance(eta: f64) -> f64 {
    -(-eta.exp()).exp_m1()
}

impl Family for Cloglog {
    const USUAL: Self = Self;
    const NAME: &'static str = "cloglog";
    const WORDS: &'static str = "regression with complementary log-log link";
    const EFFECT: &'static str = "Change of the log hazard";
    const ABOUT: &'static str = "binary responses, complementary log-log link";
    const KIND: ResponseKind = ResponseKind::Binary;
    const LOG_CONCAVE: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, _trials: f64) -> T {
        if response > 0.0 { eta.apply(&LnComplement) } else { -eta.exp() }
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        chance(eta)
    }

    fn constant(&self, _response: f64, _trials: f64) -> f64 {
        0.0
    }

    fn quantile(&self, (level, _): (f64, f64), eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        f64::from(u8::from(level > (-eta.exp()).exp()))
    }

    /// e^η of a failure overflows beyond; a success is log(1 − e^{−u}) on both sides.
    fn finite_within(&self, _extra: &[f64]) -> f32 {
        80.0
    }
}

impl Family for BinomialCloglog {
    const USUAL: Self = Self;
    const NAME: &'static str = "binomial-cloglog";
    const CHOICE: &'static str = "cloglog";
    const WORDS: &'static str = "binomial regression, complementary log-log link";
    const EFFECT: &'static str = "Change of the log hazard";
    const ABOUT: &'static str = "successes out of trials, complementary log-log link";
    const KIND: ResponseKind = ResponseKind::CountOfTrials;
    const LOG_CONCAVE: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, trials: f64) -> T {
        // Without successes or failures their term is left out: 0·∞ where η is far.
        let failures = trials - response;
        match (response > 0.0, failures > 0.0) {
            (true, true) => eta.apply(&LnComplement) * response - eta.exp() * failures,
            (true, false) => eta.apply(&LnComplement) * response,
            _ => -eta.exp() * failures,
        }
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

    fn finite_within(&self, _extra: &[f64]) -> f32 {
        80.0
    }
}
