//! Beta regression: shares y between 0 and 1 with mean μ = σ(η) and variance μ(1 − μ)/(1 + φ); log φ is sampled as the last parameter.
//!
//! With a = μφ, b = (1 − μ)φ, s = log φ and w = logit y the log-likelihood is, but for −log y − log(1 − y) and a constant,
//!
//! ```text
//! s/2 + ½·log μ(1 − μ) − φ·D + R(φ) − R(a) − R(b),    D = S(w) − S(η) − μ·(w − η)
//! ```
//!
//! where S is log(1 + e^x), D the divergence of y from μ and R what Stirling's formula leaves of log Γ ([`Stirling`]): no term grows with φ but φ·D, which does so
//! where the data are against it. (Ferrari & Cribari-Neto 2004.) It is not concave. The response is stored as w: a y near 1 keeps its digits in single precision.
//!
//! No kernel: rows are computed in f64, some 0.3 µs a difference. Decisions by limits read none. Do not use for shares that are 0 or 1.

use rand_distr::{Beta as BetaLaw, Distribution as _};
use statrs::function::beta::beta_reg;

use crate::glm::derived::Derived;
use crate::glm::number::Number;
use crate::glm::number::special::{HALF_LOG_TWO_PI, Stirling};
use crate::glm::{Extra, Family};
use crate::{Prior, ResponseKind};
use austerity::rng::Rng;

/// Halvings of the interval that a quantile is in: enough for rounding.
const HALVINGS: u32 = 60;

/// Shares with logit link and a precision.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beta;

/// 1/(1 + e^{−x}).
fn sigmoid(x: f64) -> f64 {
    if x < 0.0 { x.exp() / (1.0 + x.exp()) } else { 1.0 / (1.0 + (-x).exp()) }
}

impl Family for Beta {
    const USUAL: Self = Self;
    const NAME: &'static str = "beta";
    const WORDS: &'static str = "beta regression, logit link";
    const EFFECT: &'static str = "Change of the log odds of the mean";
    const ABOUT: &'static str =
        "shares between 0 and 1 with variance μ(1 − μ)/(1 + φ), logit link, φ sampled";
    const KIND: ResponseKind = ResponseKind::Share;
    const EXTRA: &'static [Extra] = &[Extra {
        name: "phi",
        about: "precision: the variance is μ(1 − μ)/(1 + φ)",
        typical: 5.0,
        prior: Some(Prior::LogNormal { mean: 2.0, sd: 2.0 }),
    }];
    type Kernel = Derived;

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
        let s = extra[0];
        // −log μ and −log(1 − μ).
        let (no, yes) = ((-eta).softplus(), eta.softplus());
        let known = response.max(0.0) + (-response.abs()).exp().ln_1p();
        let divergence = -(yes - known) - (-no).exp() * (-eta + response);
        let stirling = s.apply(&Stirling) - (s - no).apply(&Stirling) - (s - yes).apply(&Stirling);
        (s - no - yes) * 0.5 - s.exp() * divergence + stirling
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        sigmoid(eta)
    }

    fn constant(&self, response: f64, _trials: f64) -> f64 {
        -response.ln() - (-response).ln_1p() - HALF_LOG_TWO_PI
    }

    /// By halving an interval of logit y, to which the incomplete beta function is steep nowhere.
    fn quantile(&self, (level, _): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let (mean, phi) = (sigmoid(eta), extra[0].exp());
        let (a, b) = (mean * phi, sigmoid(-eta) * phi);
        if !(a > 0.0 && b > 0.0 && phi.is_finite()) {
            return mean;
        }
        let reaches = |w: f64| beta_reg(a, b, sigmoid(w)) >= level;
        let (mut low, mut high) = (-700.0, 37.0);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if reaches(middle) { high = middle } else { low = middle }
        }
        sigmoid(high)
    }

    /// Within the numbers that differ from 0 and 1.
    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let phi = extra[0].exp();
        let law = BetaLaw::new(sigmoid(eta) * phi, sigmoid(-eta) * phi);
        law.map_or(f64::NAN, |law| law.sample(rng)).clamp(f64::MIN_POSITIVE, 1.0 - f64::EPSILON / 2.0)
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        if extra[0].abs() <= 100.0 { 80.0 } else { -1.0 }
    }
}
