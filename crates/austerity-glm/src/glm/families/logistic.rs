//! Logistic regression: P(y = 1) = σ(η), responses 0 and 1.
//!
//! With s = 2y − 1 the log-likelihood is log σ(sη), and with η, δ standing for sη, sδ the difference of a move is
//!
//! * in general l = sign(δ)·log1p(σ(−max(η, η + δ))·expm1(|δ|)): the argument of log1p is never negative, so nothing
//!   cancels, whatever the sizes;
//! * when all |δ| of a block are at most ¼, l = qδ − wδ²·[½ + vδ/6 + (1−6w)δ²/24 + v(1−12w)δ³/120 +
//!   (1−30w+120w²)δ⁴/720] with p = σ(η), q = 1 − p, w = pq, v = q − p: the Taylor series, whose next term is below
//!   5e-8 of the first;
//! * in f64, row by row, for |η| > 60 or |δ| > 20.
//!
//! Cost beyond the dot products: one exp and one division; the general form adds expm1 and log1p.

use fearless_simd::{Simd, prelude::*};
use rand::RngExt as _;

use crate::ResponseKind;
use crate::glm::family::{Around, compiled};
use crate::glm::number::Number;
use crate::glm::{Derivatives, Displaced, Family, Kernel, Pair, Rows, remainder};
use crate::simd::{Lanes, exp_bounded, expm1_bounded, log1p_nonnegative, sigmoid};
use austerity::rng::Rng;

/// Largest |δ| of the series.
pub(in crate::glm) const SMALL: f32 = 0.25;
/// Largest |δ| of the general form in f32.
pub(in crate::glm) const STEP: f32 = 20.0;
/// Largest |η| in f32.
pub(in crate::glm) const ETA: f32 = 60.0;

/// Bernoulli responses with logit link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Logistic;

/// Whether every |value| of the block is at most `limit`; false for NaN.
#[inline(always)]
pub(in crate::glm) fn within<S: Simd>(simd: S, [a, b]: Pair<S>, limit: f32) -> bool {
    let limit = Lanes::splat(simd, limit);
    (a.abs().simd_le(limit) & b.abs().simd_le(limit)).all_true()
}

/// p = σ(η) and q = σ(−η), both with relative accuracy; |η| ≤ 87.
#[inline(always)]
pub(in crate::glm) fn probabilities<S: Simd>(simd: S, eta: Lanes<S>) -> (Lanes<S>, Lanes<S>) {
    let e = exp_bounded(simd, eta);
    let q = Lanes::splat(simd, 1.0) / (e + 1.0);
    (e * q, q)
}

/// w·[½ + vδ/6 + …], the bracket of the series.
#[inline(always)]
pub(in crate::glm) fn bracket<S: Simd>(simd: S, p: Lanes<S>, q: Lanes<S>, delta: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let w = p * q;
    let v = q - p;
    let fourth = w.mul_add(splat(120.0 / 720.0), splat(-30.0 / 720.0));
    let fourth = fourth.mul_add(w, splat(1.0 / 720.0));
    let third = v * w.mul_add(splat(-12.0 / 120.0), splat(1.0 / 120.0));
    let second = w.mul_add(splat(-6.0 / 24.0), splat(1.0 / 24.0));
    let sum = fourth.mul_add(delta, third).mul_add(delta, second);
    let sum = sum.mul_add(delta, v * splat(1.0 / 6.0));
    w * sum.mul_add(delta, splat(0.5))
}

/// The series. Stage by stage over all vectors, as in [`general`].
#[inline(always)]
fn small<S: Simd, const V: usize>(simd: S, eta: [Lanes<S>; V], delta: [Lanes<S>; V]) -> [Lanes<S>; V] {
    let (mut odds, mut q) = (eta, eta);
    for i in 0..V {
        odds[i] = exp_bounded(simd, eta[i]);
    }
    for i in 0..V {
        q[i] = Lanes::splat(simd, 1.0) / (odds[i] + 1.0);
    }
    let mut values = delta;
    for i in 0..V {
        values[i] = delta[i] * bracket(simd, odds[i] * q[i], q[i], delta[i]).mul_add(-delta[i], q[i]);
    }
    values
}

/// e^max(η, η+δ), given expm1(|δ|), without rounding η + δ: the rounding would cost |η|·6e-8 of a small l.
#[inline(always)]
pub(in crate::glm) fn larger_odds<S: Simd>(
    simd: S,
    eta: Lanes<S>,
    delta: Lanes<S>,
    growth: Lanes<S>,
) -> Lanes<S> {
    let odds = exp_bounded(simd, eta);
    let rises = delta.simd_gt(Lanes::splat(simd, 0.0));
    rises.select(odds.mul_add(growth, odds), odds)
}

/// The general form. Stage by stage over all vectors: a processor looks too few instructions ahead to find the work of
/// the next vector behind all stages of this one.
#[inline(always)]
fn general<S: Simd, const V: usize>(simd: S, eta: [Lanes<S>; V], delta: [Lanes<S>; V]) -> [Lanes<S>; V] {
    let (mut growth, mut odds, mut values) = (delta, eta, delta);
    for i in 0..V {
        growth[i] = expm1_bounded(simd, delta[i].abs());
    }
    for i in 0..V {
        odds[i] = larger_odds(simd, eta[i], delta[i], growth[i]);
    }
    for i in 0..V {
        values[i] = growth[i] / (odds[i] + 1.0);
    }
    for i in 0..V {
        values[i] = log1p_nonnegative(simd, values[i]).copysign(delta[i]);
    }
    values
}

/// How a block is to be computed; `None` for row by row in f64.
#[inline(always)]
fn form<S: Simd>(simd: S, eta: Pair<S>, delta: Pair<S>) -> Option<Form> {
    if !within(simd, eta, ETA) {
        None
    } else if within(simd, delta, SMALL) {
        Some(Form::Small)
    } else if within(simd, delta, STEP) {
        Some(Form::General)
    } else {
        None
    }
}

/// The forms of f32.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Small,
    General,
}

/// log(1 + e^x).
pub(in crate::glm) fn softplus(x: f64) -> f64 {
    x.max(0.0) + (-x.abs()).exp().ln_1p()
}

/// log σ(η + δ) − log σ(η) for every η and δ.
///
/// For |δ| > 20 one of the two softplus is at least e^20 times the other, or they differ by nearly |δ|: their
/// difference does not cancel.
pub(in crate::glm) fn log_sigmoid_difference(eta: f64, delta: f64) -> f64 {
    if delta.abs() > 20.0 {
        return softplus(-eta) - softplus(-(eta + delta));
    }
    let larger = eta.max(eta + delta);
    let argument = delta.abs().exp_m1() / (1.0 + larger.exp());
    argument.ln_1p().copysign(delta)
}

/// σ(η), σ(−η), and the second and third derivative −pq and −pq(q − p) that all responses share.
pub(in crate::glm) fn curvature(eta: f64) -> [f64; 4] {
    let small = (-eta.abs()).exp();
    let (low, high) = (small / (1.0 + small), 1.0 / (1.0 + small));
    let (p, q) = if eta < 0.0 { (low, high) } else { (high, low) };
    [p, q, -p * q, -p * q * (q - p)]
}

/// Where |p q (q − p)| is largest.
const STEEPEST: f32 = 1.316_958;

/// The largest |third derivative| of log σ within `reach` of η: it rises up to |η| = 1.317 and falls from there.
#[inline(always)]
pub(in crate::glm) fn largest_third<S: Simd>(simd: S, eta: Lanes<S>, reach: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let size = eta.abs();
    let low = (size - reach).max(splat(0.0));
    let place = splat(STEEPEST).max(low).min(size + reach).min(splat(ETA));
    let (p, q) = probabilities(simd, place);
    p * q * (p - q)
}

/// First and second derivative of log σ(yη) by η. A function, not a closure: those are compiled without the instruction set where they are not inlined.
#[inline(always)]
fn slopes<S: Simd>(simd: S, eta: Lanes<S>, response: Lanes<S>) -> (Lanes<S>, Lanes<S>) {
    let (p, q) = (sigmoid(simd, eta * response), sigmoid(simd, -eta * response));
    (q * response, -p * q)
}

/// The third derivative of log σ.
#[inline(always)]
pub(in crate::glm) fn third<S: Simd>(simd: S, eta: Lanes<S>) -> Lanes<S> {
    let (p, q) = probabilities(simd, eta);
    p * q * (p - q)
}

/// The largest |third| and |fourth| derivative of log σ within `reach`. The fourth is −pq(1 − 6pq): −1/8 at 0, 0 where the
/// third is steepest, 1/24 in size at |η| = log(5 + √24) and falling from there.
pub(in crate::glm) fn bounds(eta: f64, reach: f64) -> [f64; 2] {
    let (low, high) = ((eta.abs() - reach).max(0.0), eta.abs() + reach);
    let steepest = f64::from(STEEPEST).clamp(low, high);
    let fourth = |eta: f64| {
        let w = -curvature(eta)[2];
        (w * (1.0 - 6.0 * w)).abs()
    };
    let bump = if low < SECOND_BUMP && SECOND_BUMP < high { 1.0 / 24.0 } else { 0.0 };
    [curvature(steepest)[3].abs(), fourth(low).max(fourth(high)).max(bump)]
}

/// log(5 + √24).
const SECOND_BUMP: f64 = 2.292_431_669_561_178;

impl Family for Logistic {
    const USUAL: Self = Self;
    const NAME: &'static str = "logistic";
    const WORDS: &'static str = "logistic regression";
    const EFFECT: &'static str = "Change of the log odds";
    const ABOUT: &'static str = "binary responses, logit link";
    const KIND: ResponseKind = ResponseKind::Binary;
    const LOG_CONCAVE: bool = true;
    type Kernel = Self;

    compiled!(Logistic);

    fn log_density<T: Number>(&self, eta: T, _extra: &[T], response: f64, _trials: f64) -> T {
        -(eta * -response).softplus()
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        1.0 / (1.0 + (-eta).exp())
    }

    fn constant(&self, _response: f64, _trials: f64) -> f64 {
        0.0
    }

    fn quantile(&self, (level, _): (f64, f64), eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        f64::from(u8::from(level > self.mean(-eta, &[], 1.0)))
    }

    fn sample(&self, rng: &mut Rng, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        f64::from(u8::from(rng.random::<f64>() < self.mean(eta, &[], 1.0)))
    }

    fn row_derivatives(&self, _extra: &[f64], eta: f64, response: f64, _trials: f64) -> [f64; 3] {
        let [p, q, curve, third] = curvature(eta);
        [if response > 0.0 { q } else { -p }, curve, third]
    }

    fn row_bounds(
        &self,
        _around: &Around<'_>,
        (eta, reach): (f64, f64),
        _response: f64,
        _trials: f64,
        _fourth: bool,
    ) -> [f64; 2] {
        bounds(eta, reach)
    }
}

impl Kernel<Logistic> for Logistic {
    type Step = ();
    type Expanded = ();

    fn step(_family: &Self, _from: &[f64], _to: &[f64]) {}

    #[inline(always)]
    fn differences<S: Simd>(simd: S, _step: &(), rows: &Rows<S>, delta: Pair<S>) -> Option<Pair<S>> {
        let [s, t] = rows.response;
        let eta = [rows.eta[0] * s, rows.eta[1] * t];
        let delta = [delta[0] * s, delta[1] * t];
        match form(simd, eta, delta)? {
            Form::Small => Some(small(simd, eta, delta)),
            Form::General => Some(general(simd, eta, delta)),
        }
    }

    #[inline(always)]
    fn differences_of_two<S: Simd>(
        simd: S,
        step: &(),
        rows: [&Rows<S>; 2],
        delta: [Pair<S>; 2],
    ) -> [Option<Pair<S>>; 2] {
        let ([s, t], [u, v]) = (rows[0].response, rows[1].response);
        let e = [rows[0].eta[0] * s, rows[0].eta[1] * t, rows[1].eta[0] * u, rows[1].eta[1] * v];
        let d = [delta[0][0] * s, delta[0][1] * t, delta[1][0] * u, delta[1][1] * v];
        let first = form(simd, [e[0], e[1]], [d[0], d[1]]);
        let second = form(simd, [e[2], e[3]], [d[2], d[3]]);
        let values = match (first, second) {
            (Some(Form::Small), Some(Form::Small)) => small(simd, e, d),
            (Some(Form::General), Some(Form::General)) => general(simd, e, d),
            _ => {
                return [
                    Self::differences(simd, step, rows[0], delta[0]),
                    Self::differences(simd, step, rows[1], delta[1]),
                ];
            }
        };
        [Some([values[0], values[1]]), Some([values[2], values[3]])]
    }

    fn difference(_step: &(), eta: f64, delta: f64, response: f64, _trials: f64) -> f64 {
        log_sigmoid_difference(response * eta, response * delta)
    }

    #[inline(always)]
    fn derivatives<S: Simd>(_family: &Self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Derivatives<S> {
        let (low, high) =
            (slopes(simd, rows.eta[0], rows.response[0]), slopes(simd, rows.eta[1], rows.response[1]));
        Derivatives { first: [low.0, high.0], second: [low.1, high.1], extra: None }
    }

    #[inline(always)]
    fn largest_third<S: Simd>(
        _family: &Self,
        simd: S,
        _extra: &[f64],
        rows: &Rows<S>,
        reach: Pair<S>,
    ) -> Pair<S> {
        [largest_third(simd, rows.eta[0], reach[0]), largest_third(simd, rows.eta[1], reach[1])]
    }

    #[inline(always)]
    fn third<S: Simd>(_family: &Self, simd: S, _extra: &[f64], rows: &Rows<S>) -> Pair<S> {
        [third(simd, rows.eta[0]), third(simd, rows.eta[1])]
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
        remainder::logistic(simd, rows.eta, [from, to], third)
    }

    fn residual(
        _expanded: &(),
        eta: f64,
        [from, to]: [f64; 2],
        _response: f64,
        _trials: f64,
        third: bool,
    ) -> f64 {
        remainder::logistic_row(eta, to, third) - remainder::logistic_row(eta, from, third)
    }
}
