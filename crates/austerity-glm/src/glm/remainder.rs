//! What a second-order expansion leaves of a row's log-likelihood, in forms that do not cancel.
//!
//! With η̂ the linear predictor at the centre and h = x·(θ − θ̂),
//!
//! ```text
//! R(h) = ℓ(η̂ + h) − ℓ(η̂) − ℓ'(η̂)·h − ℓ''(η̂)·h²/2
//! ```
//!
//! is of the order of h³, while each term of it is of the order of 1: computed as written in f32 it would be noise. Instead
//!
//! * logistic and binomial, |h| ≤ 0.7: −t·w·h³·[v/6 + (1−6w)h/24 + …] with p = σ(η̂), q = 1 − p, w = pq, v = q − p, t the trials, eight orders of the
//!   Taylor series, which are the same for both responses, since log σ(−η) and log σ(η) differ by a linear term;
//! * Poisson, |h| ≤ 1: −μ·h³/6·(1 + h/4·(1 + h/5·(…)));
//! * Student, where log σ moves too: R = ½∫₀¹(1−τ)²·f'''(τ) dτ along the line from the centre, by Gauss–Jacobi quadrature with four
//!   nodes; f''' is rational, see [`Line`];
//! * an expansion of the third order leaves R(h) − ℓ'''(η̂)·h³/6: the series without their first term;
//! * beyond: the definition, in f32 up to |h| = 20, where R is no longer small, and in f64 row by row from there.
//!
//! The residual of a move is R(to) − R(from). Relative accuracy of R about 2e-6 in f32. Cost beyond the dot products: one exp and a
//! division, and two polynomials.

use fearless_simd::{Simd, prelude::*};

use super::families::logistic::{STEP, curvature, log_sigmoid_difference, probabilities, within};
use super::{Displaced, Pair};
use crate::simd::{Lanes, expm1_bounded, log1p_nonnegative};

/// Largest |h| of the logistic series.
const LOGISTIC: f32 = 0.7;
/// Largest |h| of the Poisson series.
const POISSON: f32 = 1.0;
/// Largest |h|/(σ̂√ν) and |Δ log σ| of the quadrature.
const STUDENT: f64 = 0.4;

/// Coefficients of h³, h⁴, … of the logistic series.
#[inline(always)]
fn logistic_series<S: Simd>(simd: S, p: Lanes<S>, q: Lanes<S>) -> [Lanes<S>; 6] {
    let splat = |value: f32| Lanes::splat(simd, value);
    let w = p * q;
    let v = q - p;
    let fifth = w.mul_add(splat(360.0 / 5040.0), splat(-60.0 / 5040.0)).mul_add(w, splat(1.0 / 5040.0));
    let sixth = w.mul_add(splat(-5040.0 / 40320.0), splat(1680.0 / 40320.0));
    let sixth = sixth.mul_add(w, splat(-126.0 / 40320.0)).mul_add(w, splat(1.0 / 40320.0));
    [
        w * v * splat(-1.0 / 6.0),
        -w * w.mul_add(splat(-6.0 / 24.0), splat(1.0 / 24.0)),
        -w * v * w.mul_add(splat(-12.0 / 120.0), splat(1.0 / 120.0)),
        -w * w.mul_add(splat(120.0 / 720.0), splat(-30.0 / 720.0)).mul_add(w, splat(1.0 / 720.0)),
        -w * v * fifth,
        -w * sixth,
    ]
}

/// h³·(c₀ + c₁h + …).
#[inline(always)]
fn cubic<S: Simd, const N: usize>(c: &[Lanes<S>; N], h: Lanes<S>) -> Lanes<S> {
    let mut sum = c[N - 1];
    for i in (0..N - 1).rev() {
        sum = sum.mul_add(h, c[i]);
    }
    sum * (h * h * h)
}

/// log σ(η + h) − log σ(η) − qh + wh²/2 as written, for an h that is not small.
///
/// Its terms are of the order of q. Where q is near 1 (no event, and few of them) they would cancel down to p: there the same number is that of log σ(−η), which differs by a linear term, with p
/// and q exchanged and h the other way.
#[inline(always)]
fn logistic_direct<S: Simd>(simd: S, p: Lanes<S>, q: Lanes<S>, h: Lanes<S>) -> Lanes<S> {
    let likely = q.simd_gt(p);
    let (p, q, h) = (likely.select(q, p), likely.select(p, q), likely.select(-h, h));
    // log1p of a share that is never negative: e^max(η, η+h) = p/q or that times e^h.
    let growth = expm1_bounded(simd, h.abs());
    let rises = h.simd_gt(Lanes::splat(simd, 0.0));
    // 1/(1 + e^max) is q when the odds fall, q/(q + p·e^h) when they rise.
    let share = rises.select(q / (p.mul_add(growth, p) + q), q);
    let difference = log1p_nonnegative(simd, growth * share).copysign(h);
    difference - h * (p * q * h).mul_add(Lanes::splat(simd, -0.5), q)
}

/// R(to) − R(from) of log σ at η̂, without its trials; `None` where f32 does not hold it.
#[inline(always)]
pub(super) fn logistic<S: Simd>(
    simd: S,
    eta: Pair<S>,
    [from, to]: Displaced<S>,
    third: bool,
) -> Option<Pair<S>> {
    if !within(simd, eta, super::families::logistic::ETA) {
        return None;
    }
    let near = within(simd, from, LOGISTIC) && within(simd, to, LOGISTIC);
    let fits = near || (within(simd, from, STEP) && within(simd, to, STEP));
    if !fits {
        return None;
    }
    // Stage by stage over both vectors: neither waits for the other.
    let (low, high) = (probabilities(simd, eta[0]), probabilities(simd, eta[1]));
    let mut series = [logistic_series(simd, low.0, low.1), logistic_series(simd, high.0, high.1)];
    let zero = Lanes::splat(simd, 0.0);
    let mut known = [zero; 2];
    if third {
        for (known, series) in known.iter_mut().zip(&mut series) {
            (*known, series[0]) = (series[0], zero);
        }
    }
    let mut values = eta;
    for i in 0..2 {
        values[i] = cubic(&series[i], to[i]) - cubic(&series[i], from[i]);
    }
    if !near {
        for (i, (p, q)) in [low, high].into_iter().enumerate() {
            values[i] = logistic_far(simd, (p, q), &series[i], known[i], to[i])
                - logistic_far(simd, (p, q), &series[i], known[i], from[i]);
        }
    }
    Some(values)
}

/// R(h) by the series where h is small, by definition elsewhere, less `known`·h³.
#[inline(always)]
fn logistic_far<S: Simd>(
    simd: S,
    (p, q): (Lanes<S>, Lanes<S>),
    series: &[Lanes<S>; 6],
    known: Lanes<S>,
    h: Lanes<S>,
) -> Lanes<S> {
    let is_small = h.abs().simd_le(Lanes::splat(simd, LOGISTIC));
    is_small.select(cubic(series, h), logistic_direct(simd, p, q, h) - known * (h * h * h))
}

/// R(h) of log σ at η̂ in f64.
pub(super) fn logistic_row(eta: f64, h: f64, third: bool) -> f64 {
    let [p, q, curve, slope] = curvature(eta);
    let (w, v) = (-curve, q - p);
    let (first, known) = if third { (0.0, slope / 6.0) } else { (slope / 6.0, 0.0) };
    if h.abs() > 0.2 {
        return log_sigmoid_difference(eta, h) - q * h + (0.5 * w - known * h) * h * h;
    }
    let c = [
        first,
        -w * (1.0 - 6.0 * w) / 24.0,
        -w * v * (1.0 - 12.0 * w) / 120.0,
        -w * (1.0 - 30.0 * w + 120.0 * w * w) / 720.0,
        -w * v * (1.0 - 60.0 * w + 360.0 * w * w) / 5040.0,
        -w * (1.0 - 126.0 * w + 1680.0 * w * w - 5040.0 * w * w * w) / 40320.0,
    ];
    c.iter().rev().fold(0.0, |sum, c| sum * h + c) * h * h * h
}

/// e^h − 1 − h − h²/2, less h³/6 where `third`.
#[inline(always)]
fn exponential<S: Simd>(simd: S, h: Lanes<S>, near: bool, third: bool) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let mut sum = splat(1.0);
    for divisor in [11.0, 10.0, 9.0, 8.0, 7.0, 6.0, 5.0] {
        sum = (sum * h).mul_add(splat(1.0 / divisor), splat(1.0));
    }
    let (first, known) = if third { (splat(0.0), splat(1.0 / 6.0)) } else { (splat(1.0), splat(0.0)) };
    sum = (sum * h).mul_add(splat(0.25), first);
    let small = sum * (h * h * h) * splat(1.0 / 6.0);
    if near {
        return small;
    }
    let direct = expm1_bounded(simd, h) - h.mul_add(known, splat(0.5)).mul_add(h, splat(1.0)) * h;
    h.abs().simd_le(splat(POISSON)).select(small, direct)
}

/// R(to) − R(from) of −e^η at η̂, whose exponential is `mean`.
#[inline(always)]
pub(super) fn poisson<S: Simd>(
    simd: S,
    mean: Pair<S>,
    [from, to]: Displaced<S>,
    third: bool,
) -> Option<Pair<S>> {
    let near = within(simd, from, POISSON) && within(simd, to, POISSON);
    let fits = near || (within(simd, from, STEP) && within(simd, to, STEP));
    if !fits {
        return None;
    }
    let mut values = mean;
    for i in 0..2 {
        let before = exponential(simd, from[i], near, third);
        values[i] = mean[i] * (before - exponential(simd, to[i], near, third));
    }
    Some(values)
}

/// e^h − 1 − h − h²/2, less h³/6 where `third`, in f64.
pub(super) fn exponential_row(h: f64, third: bool) -> f64 {
    let (first, known) = if third { (0.0, 1.0 / 6.0) } else { (1.0, 0.0) };
    if h.abs() > 0.5 {
        return h.exp_m1() - h - (0.5 + known * h) * h * h;
    }
    let series = (5..=16).rev().fold(1.0, |sum, divisor| 1.0 + sum * h / f64::from(divisor));
    (first + series * h / 4.0) * h * h * h / 6.0
}

/// Nodes and weights on [0, 1] for the weight (1 − τ)².
const NODES: [(f64, f64); 4] = [
    (0.048_500_549_446_997_33, 0.110_888_415_611_277_98),
    (0.238_600_737_551_862_3, 0.143_458_789_799_214_2),
    (0.517_047_295_104_367_5, 0.068_633_887_172_923_07),
    (0.795_851_417_896_772_8, 0.010_352_240_749_918_066),
];

/// The node that stands for the term of the third order.
const START: (f64, f64) = (0.0, -1.0 / 3.0);

/// The way of a Student row from the centre to a state: η by h and log σ by t.
///
/// With u = (y − η̂)/(σ̂√ν), k₀ = h/(σ̂√ν) and w(τ) = (u − τk₀)e^{−τt}, the log-likelihood along the way is
/// f = −ŝ − τt − (ν+1)/2·log(1 + w²). Writing k = k₀e^{−τt}, w' = −(k + tw), w'' = 2tk + t²w, w''' = −(3t²k + t³w), and with
/// G = log(1 + w²): f''' = −(ν+1)/2·(G'''w'³ + 3G''w'w'' + G'w'''). The exponentials do not depend on the row.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// t: change of log σ from the centre.
    change: f64,
    /// e^{−τt} at the nodes.
    shrink: [f64; 4],
}

/// The two ways of a move, and the scale at the centre.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lines {
    /// From the centre to the current state and to the candidate.
    ways: [Line; 2],
    /// 1/(σ̂√ν).
    inverse: f64,
    /// (ν + 1)/2.
    power: f64,
}

impl Line {
    fn to(change: f64) -> Self {
        Self { change, shrink: NODES.map(|(node, _)| (-node * change).exp()) }
    }

    /// R of 16 rows; `u` and `k` in units of σ̂√ν.
    #[inline(always)]
    fn remainder<S: Simd>(&self, simd: S, power: f64, u: Lanes<S>, k: Lanes<S>, third: bool) -> Lanes<S> {
        let splat = |value: f64| Lanes::splat(simd, value as f32);
        let (t, t2, t3) = (splat(self.change), splat(self.change.powi(2)), splat(self.change.powi(3)));
        let mut total = splat(0.0);
        // What the third order takes off is f'''(0)/6 = ½·⅓·f'''(0): one more node.
        let more = if third { &[(START, 1.0)][..] } else { &[] };
        let nodes = NODES.iter().zip(self.shrink).chain(more.iter().map(|(node, shrink)| (node, *shrink)));
        for ((node, weight), shrink) in nodes {
            let shrink = splat(shrink);
            let w = k.mul_add(splat(-node), u) * shrink;
            let k = k * shrink;
            let w2 = w * w;
            let inverse = splat(1.0) / (w2 + splat(1.0));
            let first = (w + w) * inverse;
            let second = (splat(1.0) - w2) * (inverse + inverse) * inverse;
            let third = splat(4.0) * w * (w2 - splat(3.0)) * (inverse * inverse * inverse);
            let d1 = t.mul_add(w, k);
            let d2 = t2.mul_add(w, (t + t) * k);
            let d3 = t3.mul_add(w, splat(3.0) * t2 * k);
            // w' = −d1, w'' = d2, w''' = −d3.
            let sum = (third * d1).mul_add(d1 * d1, first * d3);
            total = (splat(3.0) * second * d1).mul_add(d2, sum).mul_add(splat(*weight), total);
        }
        total * splat(0.5 * power)
    }
}

impl Lines {
    /// For ν degrees of freedom and log σ at the centre, at the current state and at the candidate.
    pub(super) fn new(freedom: f64, centre: f64, from: f64, to: f64) -> Self {
        Self {
            ways: [Line::to(from - centre), Line::to(to - centre)],
            inverse: (-centre).exp() / freedom.sqrt(),
            power: 0.5 * (freedom + 1.0),
        }
    }

    /// R(to) − R(from) of 32 rows with y − η̂ = `rest`.
    #[inline(always)]
    pub(super) fn residuals<S: Simd>(
        &self,
        simd: S,
        rest: Pair<S>,
        [from, to]: Displaced<S>,
        third: bool,
    ) -> Option<Pair<S>> {
        let limit = (STUDENT / self.inverse) as f32;
        let near = within(simd, from, limit) && within(simd, to, limit);
        if !near || self.ways.iter().any(|way| way.change.abs() > STUDENT) || !within(simd, rest, 1e15) {
            return None;
        }
        let inverse = Lanes::splat(simd, self.inverse as f32);
        let mut values = rest;
        for i in 0..2 {
            let u = rest[i] * inverse;
            let there = self.ways[1].remainder(simd, self.power, u, to[i] * inverse, third);
            values[i] = there - self.ways[0].remainder(simd, self.power, u, from[i] * inverse, third);
        }
        Some(values)
    }

    /// R(to) − R(from) of one row in f64.
    pub(super) fn residual(&self, rest: f64, [from, to]: [f64; 2], third: bool) -> f64 {
        let u = rest * self.inverse;
        let square = 1.0 + u * u;
        let of = |way: &Line, h: f64| {
            let (k, t) = (h * self.inverse, way.change);
            if k.abs() <= 0.1 && t.abs() <= 0.1 {
                return self.quadrature(way, u, k, third);
            }
            // log(1 + w²) − log(1 + u²) and its first two orders in (k, t), by definition.
            let w = (u - k) * (-t).exp();
            let difference = ((w - u) * (w + u) / square).ln_1p();
            let (g1, g2) = (2.0 * u / square, 2.0 * (1.0 - u * u) / (square * square));
            let d1 = k + t * u;
            let linear = -g1 * d1;
            let quadratic = 0.5 * (g2 * d1 * d1 + g1 * (2.0 * t * k + t * t * u));
            let left = -self.power * (difference - linear - quadratic);
            if third { left - self.third(way, u, k, 0.0, 1.0) / 6.0 } else { left }
        };
        of(&self.ways[1], to) - of(&self.ways[0], from)
    }

    fn quadrature(&self, way: &Line, u: f64, k: f64, third: bool) -> f64 {
        let nodes = NODES.iter().zip(way.shrink);
        let sum: f64 =
            nodes.map(|((node, weight), shrink)| weight * self.third(way, u, k, *node, shrink)).sum();
        let known = if third { START.1 * self.third(way, u, k, START.0, 1.0) } else { 0.0 };
        0.5 * (sum + known)
    }

    /// f''' at a node, where e^{−τt} is `shrink`.
    fn third(&self, way: &Line, u: f64, k: f64, node: f64, shrink: f64) -> f64 {
        let t = way.change;
        let (w, k) = ((u - node * k) * shrink, k * shrink);
        let inverse = 1.0 / (1.0 + w * w);
        let (g1, g2) = (2.0 * w * inverse, 2.0 * (1.0 - w * w) * inverse * inverse);
        let g3 = 4.0 * w * (w * w - 3.0) * inverse * inverse * inverse;
        let d1 = k + t * w;
        self.power
            * (g3 * d1.powi(3)
                + 3.0 * g2 * d1 * (2.0 * t * k + t * t * w)
                + g1 * (3.0 * t * t * k + t.powi(3) * w))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::dispatched;

    #[inline(always)]
    fn computed<S: Simd>(simd: S, eta: &[f32; 16], h: &[f32; 16], third: bool) -> [f32; 16] {
        let (eta, h) = (Lanes::from_slice(simd, eta), Lanes::from_slice(simd, h));
        let zero = Lanes::splat(simd, 0.0);
        let values = logistic(simd, [eta; 2], [[zero; 2], [h; 2]], third).unwrap();
        let mut out = [0.0; 16];
        values[0].store_slice(&mut out);
        out
    }

    /// Events of probability 10⁻⁶ and 1 − 10⁻⁶ leave what they leave with relative accuracy, far from the centre too: computed from the likely side, the terms would cancel and
    /// a million rows would be off by 10⁻³ of a log ratio.
    #[test]
    fn rare_events_do_not_cancel() {
        let level = crate::simd::detected();
        for sign in [1.0f32, -1.0] {
            for third in [false, true] {
                for step in [0.3f32, 0.8, 1.5, -0.9, -2.5] {
                    let eta: [f32; 16] = std::array::from_fn(|i| sign * (9.0 + 0.3 * i as f32));
                    let h = [step; 16];
                    let found = dispatched!(level, simd => computed(simd, &eta, &h, third));
                    for (eta, found) in eta.iter().zip(found) {
                        let wanted = logistic_row(f64::from(*eta), f64::from(step), third);
                        let error = (f64::from(found) / wanted - 1.0).abs();
                        assert!(error < 3e-5, "{eta} {step} {third}: {found} {wanted}");
                    }
                }
            }
        }
    }
}
