//! Survival times with right censoring: exponential, Weibull and log-normal, all of accelerated failure time: e^β multiplies times.
//!
//! With t = log y − η and d = 1 for an event, 0 for a time that is censored there, the log-likelihood is, but for −d·log y,
//!
//! | family | log-likelihood | with | concave |
//! |---|---|---|---|
//! | exponential | d·t − e^t | mean e^η | in η |
//! | weibull | d·(s + z) − e^z | z = k·t, s = log k, survival function e^{−e^z} | no proof in (η, s) |
//! | lognormal | d·(−s − z²/2) + (1 − d)·log Φ(−z) | z = t·e^{−s}, s = log σ, median e^η | no, as with normal noise |
//!
//! log Φ keeps its digits in both tails. Only t matters, so log y is stored and centred, as real responses are; d is stored where trials are.
//! (Kalbfleisch & Prentice 2002, §2.2 and §3.)
//!
//! No kernel: rows are computed in f64, some 0.1 µs a difference. Decisions by limits read none. Do not use for times of 0, times that are known up to an interval, or
//! left truncation.

use rand::RngExt as _;
use rand_distr::{Distribution as _, Exp1};
use statrs::function::gamma::gamma;

use crate::Prior;
use crate::ResponseKind;
use crate::glm::derived::Derived;
use crate::glm::number::Number;
use crate::glm::number::special::HALF_LOG_TWO_PI;
use crate::glm::{Extra, Family};
use austerity::rng::Rng;

/// Times with a constant hazard.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exponential;

/// Times whose hazard is a power of time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Weibull;

/// Times whose logarithm is normal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lognormal;

/// log of the quantile of an exponential time with mean 1.
fn standard(level: f64) -> f64 {
    (-(-level).ln_1p()).ln()
}

/// A time that is not 0.
fn time(log: f64) -> f64 {
    log.exp().max(f64::MIN_POSITIVE)
}

impl Family for Exponential {
    const USUAL: Self = Self;
    const NAME: &'static str = "exponential";
    const WORDS: &'static str = "survival with exponential times";
    const EFFECT: &'static str = "Change of the log time";
    const ABOUT: &'static str = "times with a constant hazard, log link, right censoring";
    const KIND: ResponseKind = ResponseKind::Time;
    const LOG_CONCAVE: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, event: f64) -> T {
        let t = -eta + response;
        t * event - t.exp()
    }

    fn mean(&self, eta: f64, _extra: &[f64], _event: f64) -> f64 {
        eta.exp()
    }

    fn constant(&self, response: f64, event: f64) -> f64 {
        -event * response.ln()
    }

    fn noise(&self, level: f64, _extra: &[f64]) -> f64 {
        standard(level)
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, _extra: &[f64], _event: f64) -> f64 {
        (eta + noise).exp()
    }

    fn survival(&self, time: f64, eta: f64, _extra: &[f64]) -> Option<f64> {
        Some((-time * (-eta).exp()).exp())
    }

    fn sample(&self, rng: &mut Rng, eta: f64, _extra: &[f64], _event: f64) -> f64 {
        let one: f64 = Exp1.sample(rng);
        time(eta + one.ln())
    }

    /// Every row is looked at: no η is safe for all times.
    fn finite_within(&self, _extra: &[f64]) -> f32 {
        -1.0
    }
}

impl Family for Weibull {
    const USUAL: Self = Self;
    const NAME: &'static str = "weibull";
    const WORDS: &'static str = "survival with Weibull times";
    const EFFECT: &'static str = "Change of the log time";
    const ABOUT: &'static str =
        "times whose hazard is a power of time, log link, right censoring, shape sampled";
    const KIND: ResponseKind = ResponseKind::Time;
    const EXTRA: &'static [Extra] = &[Extra {
        name: "shape",
        about: "the hazard is proportional to time^(shape − 1)",
        typical: 1.5,
        prior: Some(Prior::LogNormal { mean: 0.0, sd: 1.0 }),
    }];
    const MEAN_BY_EXTRA: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, event: f64) -> T {
        let s = extra[0];
        let z = s.exp() * (-eta + response);
        (s + z) * event - z.exp()
    }

    /// Γ(1 + 1/k)·e^η.
    fn mean(&self, eta: f64, extra: &[f64], _event: f64) -> f64 {
        eta.exp() * gamma(1.0 + (-extra[0]).exp())
    }

    fn constant(&self, response: f64, event: f64) -> f64 {
        -event * response.ln()
    }

    fn noise(&self, level: f64, extra: &[f64]) -> f64 {
        standard(level) * (-extra[0]).exp()
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, _extra: &[f64], _event: f64) -> f64 {
        (eta + noise).exp()
    }

    fn survival(&self, time: f64, eta: f64, extra: &[f64]) -> Option<f64> {
        Some((-((time.ln() - eta) * extra[0].exp()).exp()).exp())
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _event: f64) -> f64 {
        let one: f64 = Exp1.sample(rng);
        time(eta + one.ln() * (-extra[0]).exp())
    }

    fn unit(&self, extra: &[f64]) -> f64 {
        (-extra[0]).exp()
    }

    /// Every row is looked at: no η is safe for all times.
    fn finite_within(&self, _extra: &[f64]) -> f32 {
        -1.0
    }
}

impl Family for Lognormal {
    const USUAL: Self = Self;
    const NAME: &'static str = "lognormal";
    const WORDS: &'static str = "survival with log-normal times";
    const EFFECT: &'static str = "Change of the mean log time";
    const ABOUT: &'static str = "times whose logarithm is normal, right censoring, σ sampled";
    const KIND: ResponseKind = ResponseKind::Time;
    const EXTRA: &'static [Extra] = &[Extra { about: "standard deviation of the log time", ..Extra::SIGMA }];
    const MEAN_BY_EXTRA: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, event: f64) -> T {
        let s = extra[0];
        let z = (-eta + response) * (-s).exp();
        if event > 0.0 { -s - z.square() * 0.5 } else { (-z).ln_normal_cdf() }
    }

    /// e^{η + σ²/2}.
    fn mean(&self, eta: f64, extra: &[f64], _event: f64) -> f64 {
        (eta + 0.5 * (2.0 * extra[0]).exp()).exp()
    }

    fn constant(&self, response: f64, event: f64) -> f64 {
        -event * (response.ln() + HALF_LOG_TWO_PI)
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, extra: &[f64], _event: f64) -> f64 {
        (eta + extra[0].exp() * noise).exp()
    }

    fn survival(&self, time: f64, eta: f64, extra: &[f64]) -> Option<f64> {
        let z = (time.ln() - eta) * (-extra[0]).exp();
        Some(0.5 * libm::erfc(z * std::f64::consts::FRAC_1_SQRT_2))
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _event: f64) -> f64 {
        let noise: f64 = rng.sample(rand_distr::StandardNormal);
        time(eta + extra[0].exp() * noise)
    }

    fn unit(&self, extra: &[f64]) -> f64 {
        extra[0].exp()
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        if extra[0].abs() <= 30.0 { 1e15 } else { -1.0 }
    }
}
