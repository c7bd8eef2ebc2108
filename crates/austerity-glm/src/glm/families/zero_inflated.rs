//! Zero-inflated Poisson regression: a count is 0 with chance π, and otherwise Poisson with mean μ = e^η. The odds ω = π/(1 − π) are the extra parameter.
//!
//! With s = log ω the log-likelihood is, but for −log y!,
//!
//! ```text
//! y = 0:   log(1 + e^{−s−μ}) − log(1 + e^{−s})
//! y > 0:   yη − μ − log(1 + e^s)
//! ```
//!
//! where nothing cancels as ω → 0 and the Poisson likelihood appears. A count of 0 is not log-concave in η: several modes are looked for. (Lambert 1992.)
//!
//! No kernel: rows are computed in f64, some 0.1 µs a difference. Decisions by limits read none. Not for a chance of zeros that depends on columns.

use rand::RngExt as _;
use rand_distr::Distribution as _;
use statrs::distribution::{ContinuousCDF as _, Normal};
use statrs::function::gamma::ln_gamma;

use crate::glm::derived::Derived;
use crate::glm::number::Number;
use crate::glm::{Extra, Family, counts};
use crate::{Prior, ResponseKind};
use austerity::rng::Rng;

/// Counts with log link and more zeros.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ZeroInflatedPoisson;

/// π.
fn chance_of_zero(extra: &[f64]) -> f64 {
    1.0 / (1.0 + (-extra[0]).exp())
}

impl Family for ZeroInflatedPoisson {
    const USUAL: Self = Self;
    const NAME: &'static str = "zero-inflated-poisson";
    const WORDS: &'static str = "zero-inflated Poisson regression, log link";
    const EFFECT: &'static str = "Change of the log rate";
    const ABOUT: &'static str = "counts with more zeros than Poisson counts have, log link";
    const KIND: ResponseKind = ResponseKind::Count;
    const EXTRA: &'static [Extra] = &[Extra {
        name: "zero_odds",
        about: "odds π/(1 − π) of an extra zero",
        typical: 0.4,
        prior: Some(Prior::LogNormal { mean: 0.0, sd: 1.5 }),
    }];
    const MEAN_BY_EXTRA: bool = true;
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
        let (mean, s) = (eta.exp(), extra[0]);
        if response > 0.0 {
            eta * response - mean - s.softplus()
        } else {
            (-s - mean).softplus() - (-s).softplus()
        }
    }

    fn mean(&self, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        eta.exp() / (1.0 + extra[0].exp())
    }

    fn constant(&self, response: f64, _trials: f64) -> f64 {
        -ln_gamma(response + 1.0)
    }

    fn quantile(&self, (level, _): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let zero = chance_of_zero(extra);
        let rest = (level - zero) / (1.0 - zero);
        if rest > 0.0 { counts::poisson(eta.exp(), rest, Normal::standard().inverse_cdf(rest)) } else { 0.0 }
    }

    /// NaN where the mean is beyond the range of the sampler.
    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        if rng.random::<f64>() < chance_of_zero(extra) {
            return 0.0;
        }
        rand_distr::Poisson::new(eta.exp()).map_or(f64::NAN, |law| law.sample(rng))
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        if extra[0].abs() <= 600.0 { super::logistic::ETA } else { -1.0 }
    }
}
