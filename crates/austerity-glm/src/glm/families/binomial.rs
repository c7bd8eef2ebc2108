//! Binomial regression: y successes out of t trials, P(success) = σ(η).
//!
//! The log-likelihood is y·log σ(η) + (t − y)·log σ(−η), so l = y·L⁺ + (t − y)·L⁻, each L a stable difference of
//! [`super::logistic`]: with E = expm1(|δ|), L⁺ = sign(δ)·log1p(E/(1 + e^max(η, η+δ))) and
//! L⁻ = −sign(δ)·log1p(E/(1 + e^−min(η, η+δ))). When all |δ| ≤ ¼,
//! l = (yq − (t−y)p)·δ − t·wδ²·[½ + …] with the bracket of the logistic series, which L⁺ and L⁻ share.
//! Trials need not be whole. Cost beyond the dot products: twice the logistic general form, once its series.

use fearless_simd::{Simd, prelude::*};
use statrs::function::gamma::ln_gamma;

use super::logistic::{
    ETA, SMALL, STEP, bounds, bracket, curvature, larger_odds, largest_third, log_sigmoid_difference,
    probabilities, within,
};
use crate::ResponseKind;
use crate::glm::family::{Around, compiled};
use crate::glm::number::Number;
use crate::glm::{Derivatives, Displaced, Family, Kernel, Pair, Rows, counts, remainder};
use crate::simd::{Lanes, expm1_bounded, log1p_nonnegative, sigmoid};

/// Successes out of trials with logit link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Binomial;

#[inline(always)]
fn small<S: Simd>(simd: S, eta: Lanes<S>, delta: Lanes<S>, y: Lanes<S>, t: Lanes<S>) -> Lanes<S> {
    let (p, q) = probabilities(simd, eta);
    let slope = y * q - (t - y) * p;
    delta * (t * bracket(simd, p, q, delta)).mul_add(-delta, slope)
}

#[inline(always)]
fn general<S: Simd>(simd: S, eta: Lanes<S>, delta: Lanes<S>, y: Lanes<S>, t: Lanes<S>) -> Lanes<S> {
    let growth = expm1_bounded(simd, delta.abs());
    let success = growth / (larger_odds(simd, eta, delta, growth) + 1.0);
    let failure = growth / (larger_odds(simd, -eta, -delta, growth) + 1.0);
    let value = y * log1p_nonnegative(simd, success) - (t - y) * log1p_nonnegative(simd, failure);
    let negative = delta.simd_lt(Lanes::splat(simd, 0.0));
    negative.select(-value, value)
}

impl Family for Binomial {
    const USUAL: Self = Self;
    const NAME: &'static str = "binomial";
    const CHOICE: &'static str = "logistic";
    const WORDS: &'static str = "binomial regression, logit link";
    const EFFECT: &'static str = "Change of the log odds";
    const ABOUT: &'static str = "successes out of trials, logit link";
    const KIND: ResponseKind = ResponseKind::CountOfTrials;
    const LOG_CONCAVE: bool = true;
    type Kernel = Self;

    compiled!(Binomial);

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, trials: f64) -> T {
        (-eta).softplus() * -response - eta.softplus() * (trials - response)
    }

    fn mean(&self, eta: f64, _extra: &[f64], trials: f64) -> f64 {
        trials / (1.0 + (-eta).exp())
    }

    fn constant(&self, response: f64, trials: f64) -> f64 {
        log_choose(trials, response)
    }

    fn quantile(&self, level: (f64, f64), eta: f64, _extra: &[f64], trials: f64) -> f64 {
        counts::binomial(trials, self.mean(eta, &[], 1.0), level.0, level.1)
    }

    fn row_derivatives(&self, _extra: &[f64], eta: f64, response: f64, trials: f64) -> [f64; 3] {
        let [p, q, curve, third] = curvature(eta);
        [response * q - (trials - response) * p, trials * curve, trials * third]
    }

    fn row_bounds(
        &self,
        _around: &Around<'_>,
        (eta, reach): (f64, f64),
        _response: f64,
        trials: f64,
        _fourth: bool,
    ) -> [f64; 2] {
        bounds(eta, reach).map(|bound| trials * bound)
    }
}

/// The logarithm of trials over successes.
pub(in crate::glm) fn log_choose(trials: f64, successes: f64) -> f64 {
    ln_gamma(trials + 1.0) - ln_gamma(successes + 1.0) - ln_gamma(trials - successes + 1.0)
}

impl Kernel<Binomial> for Binomial {
    type Step = ();
    type Expanded = ();

    fn step(_family: &Self, _from: &[f64], _to: &[f64]) {}

    #[inline(always)]
    fn differences<S: Simd>(simd: S, _step: &(), rows: &Rows<S>, delta: Pair<S>) -> Option<Pair<S>> {
        if !within(simd, rows.eta, ETA) {
            return None;
        }
        let (eta, y, t) = (rows.eta, rows.response, rows.trials);
        if within(simd, delta, SMALL) {
            Some([small(simd, eta[0], delta[0], y[0], t[0]), small(simd, eta[1], delta[1], y[1], t[1])])
        } else if within(simd, delta, STEP) {
            Some([general(simd, eta[0], delta[0], y[0], t[0]), general(simd, eta[1], delta[1], y[1], t[1])])
        } else {
            None
        }
    }

    fn difference(_step: &(), eta: f64, delta: f64, response: f64, trials: f64) -> f64 {
        // A count of 0 silences its term even where the term is infinite.
        let part = |count: f64, sign: f64| {
            if count == 0.0 { 0.0 } else { count * log_sigmoid_difference(sign * eta, sign * delta) }
        };
        part(response, 1.0) + part(trials - response, -1.0)
    }

    #[inline(always)]
    fn derivatives<S: Simd>(_family: &Self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Derivatives<S> {
        let mut all = Derivatives { first: rows.eta, second: rows.eta, extra: None };
        for i in 0..2 {
            let (y, t) = (rows.response[i], rows.trials[i]);
            let (p, q) = (sigmoid(simd, rows.eta[i]), sigmoid(simd, -rows.eta[i]));
            all.first[i] = y * q - (t - y) * p;
            all.second[i] = -t * p * q;
        }
        all
    }

    #[inline(always)]
    fn largest_third<S: Simd>(
        _family: &Self,
        simd: S,
        _extra: &[f64],
        rows: &Rows<S>,
        reach: Pair<S>,
    ) -> Pair<S> {
        let of = |i: usize| rows.trials[i] * largest_third(simd, rows.eta[i], reach[i]);
        [of(0), of(1)]
    }

    #[inline(always)]
    fn third<S: Simd>(_family: &Self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Pair<S> {
        let of = |i: usize| rows.trials[i] * super::logistic::third(simd, rows.eta[i]);
        [of(0), of(1)]
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
        let [a, b] = remainder::logistic(simd, rows.eta, [from, to], third)?;
        Some([a * rows.trials[0], b * rows.trials[1]])
    }

    fn residual(
        _expanded: &(),
        eta: f64,
        [from, to]: [f64; 2],
        _response: f64,
        trials: f64,
        third: bool,
    ) -> f64 {
        trials * (remainder::logistic_row(eta, to, third) - remainder::logistic_row(eta, from, third))
    }
}
