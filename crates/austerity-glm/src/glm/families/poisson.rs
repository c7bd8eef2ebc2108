//! Poisson regression: counts y with mean μ = e^η; the log of an exposure enters as an offset.
//!
//! The log-likelihood is yη − e^η, so l = yδ − e^η·expm1(δ). Near the mode the two terms nearly cancel; when all
//! |δ| ≤ ¼ the difference is therefore taken where it is small: l = (y − μ)δ − μδ²·[½ + δ/6 + δ²/24 + δ³/120 + δ⁴/720].
//! In f64, row by row, for |η| > 60 or |δ| > 20; a mean beyond the range of f64 makes the candidate impossible.
//!
//! The relative error of μ is |η|·6e-8 from rounding η. Cost beyond the dot products: one exp, and expm1 in general.

use fearless_simd::{Simd, prelude::*};
use rand_distr::Distribution as _;
use statrs::function::gamma::ln_gamma;

use super::logistic::{ETA, SMALL, STEP, within};
use crate::ResponseKind;
use crate::glm::family::{Around, compiled};
use crate::glm::number::Number;
use crate::glm::{Derivatives, Displaced, Family, Kernel, Pair, Rows, counts, remainder};
use crate::simd::{Lanes, exp, exp_bounded, expm1_bounded};
use austerity::rng::Rng;

/// Counts with log link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Poisson;

#[inline(always)]
fn small<S: Simd>(simd: S, eta: Lanes<S>, delta: Lanes<S>, y: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let mean = exp_bounded(simd, eta);
    let sum = splat(1.0 / 720.0).mul_add(delta, splat(1.0 / 120.0));
    let sum = sum.mul_add(delta, splat(1.0 / 24.0));
    let sum = sum.mul_add(delta, splat(1.0 / 6.0));
    let sum = sum.mul_add(delta, splat(0.5));
    delta * (mean * sum).mul_add(-delta, y - mean)
}

#[inline(always)]
fn general<S: Simd>(simd: S, eta: Lanes<S>, delta: Lanes<S>, y: Lanes<S>) -> Lanes<S> {
    let growth = exp_bounded(simd, eta) * expm1_bounded(simd, delta);
    y.mul_add(delta, -growth)
}

impl Family for Poisson {
    const USUAL: Self = Self;
    const NAME: &'static str = "poisson";
    const WORDS: &'static str = "Poisson regression, log link";
    const EFFECT: &'static str = "Change of the log rate";
    const ABOUT: &'static str = "counts, log link";
    const KIND: ResponseKind = ResponseKind::Count;
    const LOG_CONCAVE: bool = true;
    type Kernel = Self;

    compiled!(Poisson);

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, _trials: f64) -> T {
        eta * response - eta.exp()
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        eta.exp()
    }

    fn constant(&self, response: f64, _trials: f64) -> f64 {
        -ln_gamma(response + 1.0)
    }

    fn quantile(&self, (level, noise): (f64, f64), eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        counts::poisson(eta.exp(), level, noise)
    }

    /// NaN where the mean is beyond the range of the sampler.
    fn sample(&self, rng: &mut Rng, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        rand_distr::Poisson::new(eta.exp()).map_or(f64::NAN, |law| law.sample(rng))
    }

    fn row_derivatives(&self, _extra: &[f64], eta: f64, response: f64, _trials: f64) -> [f64; 3] {
        let mean = eta.exp();
        [response - mean, -mean, -mean]
    }

    fn row_bounds(
        &self,
        _around: &Around<'_>,
        (eta, reach): (f64, f64),
        _response: f64,
        _trials: f64,
        _fourth: bool,
    ) -> [f64; 2] {
        [(eta + reach).exp(); 2]
    }
}

impl Kernel<Poisson> for Poisson {
    type Step = ();
    type Expanded = ();

    fn step(_family: &Self, _from: &[f64], _to: &[f64]) {}

    #[inline(always)]
    fn differences<S: Simd>(simd: S, _step: &(), rows: &Rows<S>, delta: Pair<S>) -> Option<Pair<S>> {
        if !within(simd, rows.eta, ETA) {
            return None;
        }
        let (eta, y) = (rows.eta, rows.response);
        if within(simd, delta, SMALL) {
            Some([small(simd, eta[0], delta[0], y[0]), small(simd, eta[1], delta[1], y[1])])
        } else if within(simd, delta, STEP) {
            Some([general(simd, eta[0], delta[0], y[0]), general(simd, eta[1], delta[1], y[1])])
        } else {
            None
        }
    }

    fn difference(_step: &(), eta: f64, delta: f64, response: f64, _trials: f64) -> f64 {
        if delta == 0.0 {
            return 0.0;
        }
        let mean = eta.exp();
        if mean == f64::INFINITY {
            return f64::NEG_INFINITY * delta.signum();
        }
        let growth = if delta.abs() > 20.0 { (eta + delta).exp() - mean } else { mean * delta.exp_m1() };
        response * delta - growth
    }

    #[inline(always)]
    fn derivatives<S: Simd>(_family: &Self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Derivatives<S> {
        let mean = [exp(simd, rows.eta[0]), exp(simd, rows.eta[1])];
        Derivatives {
            first: [rows.response[0] - mean[0], rows.response[1] - mean[1]],
            second: [-mean[0], -mean[1]],
            extra: None,
        }
    }

    /// e^η grows: the largest is at η + reach.
    #[inline(always)]
    fn largest_third<S: Simd>(
        _family: &Self,
        simd: S,
        _extra: &[f64],
        rows: &Rows<S>,
        reach: Pair<S>,
    ) -> Pair<S> {
        [exp(simd, rows.eta[0] + reach[0]), exp(simd, rows.eta[1] + reach[1])]
    }

    #[inline(always)]
    fn third<S: Simd>(_family: &Self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Pair<S> {
        [-exp(simd, rows.eta[0]), -exp(simd, rows.eta[1])]
    }

    fn expanded(_family: &Self, _centre: &[f64], _from: &[f64], _to: &[f64]) {}

    #[inline(always)]
    fn residuals<S: Simd>(
        simd: S,
        _expanded: &(),
        rows: &Rows<S>,
        [from, to]: Displaced<S>,
        third: bool,
    ) -> Option<Pair<S>> {
        if !within(simd, rows.eta, ETA) {
            return None;
        }
        let mean = [exp_bounded(simd, rows.eta[0]), exp_bounded(simd, rows.eta[1])];
        remainder::poisson(simd, mean, [from, to], third)
    }

    fn residual(
        _expanded: &(),
        eta: f64,
        [from, to]: [f64; 2],
        _response: f64,
        _trials: f64,
        third: bool,
    ) -> f64 {
        eta.exp() * (remainder::exponential_row(from, third) - remainder::exponential_row(to, third))
    }
}
