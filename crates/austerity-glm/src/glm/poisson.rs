//! Poisson regression: counts y with mean μ = e^η; the log of an exposure enters as an offset.
//!
//! The log-likelihood is yη − e^η, so l = yδ − e^η·expm1(δ). Near the mode the two terms nearly cancel; when all
//! |δ| ≤ ¼ the difference is therefore taken where it is small: l = (y − μ)δ − μδ²·[½ + δ/6 + δ²/24 + δ³/120 + δ⁴/720].
//! In f64, row by row, for |η| > 60 or |δ| > 20; a mean beyond the range of f64 makes the candidate impossible.
//!
//! The relative error of μ is |η|·6e-8 from rounding η. Cost beyond the dot products: one exp, and expm1 in general.

use fearless_simd::{Simd, prelude::*};

use super::logistic::{ETA, SMALL, STEP, within};
use super::{Compiled, Derivatives, Displaced, Family, Pair, Rows, remainder};
use crate::ResponseKind;
use crate::simd::{Lanes, exp, exp_bounded, expm1_bounded};

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

static COMPILED: Compiled<Poisson> = Compiled::of();

impl Family for Poisson {
    const NAME: &'static str = "poisson";
    const KIND: ResponseKind = ResponseKind::Count;
    type Step = ();
    type Expanded = ();

    fn compiled() -> &'static Compiled<Self> {
        &COMPILED
    }

    fn refuses(&self, response: f64, _trials: f64) -> Option<&'static str> {
        let fine = response >= 0.0 && response.is_finite() && response.fract() == 0.0;
        (!fine).then_some("whole numbers from 0")
    }

    fn step(&self, _from: &[f64], _to: &[f64]) {}

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

    fn log_likelihood(&self, _extra: &[f64], eta: f64, response: f64, _trials: f64) -> f64 {
        response * eta - eta.exp()
    }

    #[inline(always)]
    fn derivatives<S: Simd>(&self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Derivatives<S> {
        let mean = [exp(simd, rows.eta[0]), exp(simd, rows.eta[1])];
        Derivatives {
            first: [rows.response[0] - mean[0], rows.response[1] - mean[1]],
            second: [-mean[0], -mean[1]],
            extra: None,
        }
    }

    fn row_derivatives(&self, _extra: &[f64], eta: f64, response: f64, _trials: f64) -> [f64; 3] {
        let mean = eta.exp();
        [response - mean, -mean, -mean]
    }

    /// e^η grows: the largest is at η + reach.
    #[inline(always)]
    fn largest_third<S: Simd>(&self, simd: S, _extra: &[f64], rows: &Rows<S>, reach: Pair<S>) -> Pair<S> {
        [exp(simd, rows.eta[0] + reach[0]), exp(simd, rows.eta[1] + reach[1])]
    }

    fn row_bounds(&self, eta: f64, _trials: f64, reach: f64) -> Option<[f64; 3]> {
        let largest = (eta + reach).exp();
        Some([-eta.exp(), largest, largest])
    }

    #[inline(always)]
    fn third<S: Simd>(&self, simd: S, rows: &Rows<S>) -> Pair<S> {
        [-exp(simd, rows.eta[0]), -exp(simd, rows.eta[1])]
    }

    fn expanded(&self, _centre: &[f64], _from: &[f64], _to: &[f64]) {}

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
