//! Gamma regression: positive responses y with mean e^η and variance mean²/α; the log of the shape α is sampled as the last parameter.
//!
//! With s = log α and t = log y − η the log-likelihood is, but for −log y and a constant,
//!
//! ```text
//! α·(t − (e^t − 1)) + s/2 − R(s),    R(s) = log Γ(α) − (α − ½)·s + α − ½·log 2π
//! ```
//!
//! where nothing cancels as α → ∞: R is what Stirling's formula leaves ([`Stirling`]). Only t matters, so log y is stored and centred, as real responses are.
//! In (η, s) it is not concave.
//!
//! No kernel: rows are computed in f64, some 0.1 µs a difference. Decisions by limits read none.

use rand_distr::{Distribution as _, Gamma as GammaLaw};
use statrs::distribution::{ContinuousCDF as _, Gamma as Quantiles};

use crate::glm::derived::Derived;
use crate::glm::number::Number;
use crate::glm::number::special::{HALF_LOG_TWO_PI, Lag, Stirling};
use crate::glm::{Extra, Family};
use crate::{Prior, ResponseKind};
use austerity::rng::Rng;

/// Positive responses with log link and a shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Gamma;

impl Family for Gamma {
    const USUAL: Self = Self;
    const NAME: &'static str = "gamma";
    const WORDS: &'static str = "gamma regression, log link";
    const EFFECT: &'static str = "Change of the log mean";
    const ABOUT: &'static str = "positive responses with variance μ²/shape, log link, shape sampled";
    const KIND: ResponseKind = ResponseKind::Positive;
    const EXTRA: &'static [Extra] = &[Extra {
        name: "shape",
        about: "the variance is μ²/shape",
        typical: 2.0,
        prior: Some(Prior::LogNormal { mean: 1.0, sd: 2.0 }),
    }];
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
        let s = extra[0];
        s.exp() * (-eta + response).apply(&Lag) + s * 0.5 - s.apply(&Stirling)
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        eta.exp()
    }

    fn constant(&self, response: f64, _trials: f64) -> f64 {
        -response.ln() - HALF_LOG_TWO_PI
    }

    /// log of the quantile of a mean of 1.
    fn noise(&self, level: f64, extra: &[f64]) -> f64 {
        let shape = extra[0].exp();
        Quantiles::new(shape, shape).map_or(f64::NAN, |law| law.inverse_cdf(level).ln())
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        (eta + noise).exp()
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let shape = extra[0].exp();
        let one: f64 = GammaLaw::new(shape, 1.0 / shape).map_or(f64::NAN, |law| law.sample(rng));
        // A tiny shape may round a draw to 0.
        (one * eta.exp()).max(f64::MIN_POSITIVE)
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        if extra[0].abs() <= 100.0 { 80.0 } else { -1.0 }
    }
}
