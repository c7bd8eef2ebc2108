//! Student t regression: y = η + σ·t_ν with ν given and log σ sampled as the last parameter.
//!
//! With r = y − η, A = νσ² and s = log σ the log-likelihood is −s − (ν+1)/2·log(1 + r²/A). For a move (δ, Δs),
//! r' = r − δ, and with E = expm1(−2Δs) the ratio of the two arguments of the logarithm is 1 + u,
//! u = [δ(δ − 2r) + r'²E]/(A + r²): no difference of squares is ever formed by subtraction. Where u < 0 the two
//! states are exchanged, so that l = −Δs ∓ (ν+1)/2·log1p(|·|) with an argument ≥ 0:
//! u' = −[δ(δ − 2r) + r'²E]/(A + r'²(1 + E)).
//!
//! Only y − η matters, so what is stored is y − offset less its mean: f32 loses nothing to large means.
//! In f64, row by row, where residuals or scales leave the range of f32 squares.
//! Cost beyond the dot products: one log1p and one division.

use std::f64::consts::PI;

use fearless_simd::{Simd, prelude::*};
use rand_distr::{Distribution as _, StudentT};
use statrs::distribution::{ContinuousCDF as _, StudentsT};
use statrs::function::gamma::ln_gamma;

use super::logistic::within;
use crate::glm::family::{Around, Setting, compiled};
use crate::glm::number::Number;
use crate::glm::remainder::Lines;
use crate::glm::{Curve, Derivatives, Displaced, Extra, ExtraDerivatives, Family, Kernel, Pair, Rows};
use crate::simd::{Lanes, log1p_nonnegative};
use crate::{NoiseTails, ResponseKind};
use austerity::error::{Result, setting};
use austerity::rng::Rng;

/// Largest |r|, |δ| and ratio u in f32.
const LARGEST: f32 = 1e15;
/// Range of A and largest |Δs| in f32.
const SCALE: std::ops::RangeInclusive<f64> = 1e-20..=1e30;
const SCALE_STEP: f64 = 10.0;
/// Residuals beyond so many σ have no derivatives to speak of, and squares beyond f64.
const FAR: f64 = 1e150;

/// Real responses with Student t errors of `freedom` degrees of freedom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Student {
    /// Degrees of freedom ν.
    pub freedom: f64,
}

/// The move in log σ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// νσ² at the current state.
    squared: f64,
    /// Δ log σ.
    change: f64,
    /// expm1(−2 Δ log σ).
    shrink: f64,
    /// (ν + 1)/2.
    power: f64,
}

#[inline(always)]
fn difference<S: Simd>(simd: S, step: &Step, residual: Lanes<S>, delta: Lanes<S>) -> (Lanes<S>, Lanes<S>) {
    let splat = |value: f64| Lanes::splat(simd, value as f32);
    let squared = splat(step.squared);
    let moved = residual - delta;
    let moved2 = moved * moved;
    let numerator = delta.mul_add(delta - (residual + residual), moved2 * splat(step.shrink));
    let here = residual.mul_add(residual, squared);
    let there = moved2.mul_add(splat(1.0 + step.shrink), squared);
    let falls = numerator.simd_ge(Lanes::splat(simd, 0.0));
    let argument = numerator.abs() / falls.select(here, there);
    let logarithm = log1p_nonnegative(simd, argument).copysign(numerator);
    (logarithm.mul_add(splat(-step.power), splat(-step.change)), argument)
}

impl Family for Student {
    /// Heavy tails with a variance.
    const USUAL: Self = Self { freedom: 4.0 };
    const NAME: &'static str = "student";
    const WORDS: &'static str = "regression with Student-t noise";
    const EFFECT: &'static str = "Change of the mean response";
    const ABOUT: &'static str = "real responses, Student-t noise";
    const KIND: ResponseKind = ResponseKind::Real;
    const EXTRA: &'static [Extra] = &[Extra::SIGMA];
    const SETTING: Option<Setting> = Some(Setting { about: "degrees of freedom", symbol: "NU" });
    const TAILS: NoiseTails = NoiseTails::Heavy;
    type Kernel = Self;

    compiled!(Student);

    fn log_density<T: Number>(&self, eta: T, extra: &[T], response: f64, _trials: f64) -> T {
        let z = (-eta + response) * (-extra[0]).exp();
        -extra[0] - (z.square() * (1.0 / self.freedom)).ln_1p() * (0.5 * (self.freedom + 1.0))
    }

    fn words(&self) -> String {
        format!("{}, {} degrees of freedom", Self::WORDS, self.freedom)
    }

    fn setting(&self) -> Option<f64> {
        Some(self.freedom)
    }

    fn with_setting(self, freedom: f64) -> Self {
        Self { freedom }
    }

    fn mean(&self, eta: f64, _extra: &[f64], _trials: f64) -> f64 {
        eta
    }

    fn constant(&self, _response: f64, _trials: f64) -> f64 {
        let half = 0.5 * self.freedom;
        ln_gamma(half + 0.5) - ln_gamma(half) - 0.5 * (self.freedom * PI).ln()
    }

    fn noise(&self, level: f64, _extra: &[f64]) -> f64 {
        StudentsT::new(0.0, 1.0, self.freedom).map_or(f64::NAN, |law| law.inverse_cdf(level))
    }

    fn quantile(&self, (_, noise): (f64, f64), eta: f64, extra: &[f64], _trials: f64) -> f64 {
        eta + extra[0].exp() * noise
    }

    fn sample(&self, rng: &mut Rng, eta: f64, extra: &[f64], _trials: f64) -> f64 {
        let noise = StudentT::new(self.freedom).map_or(f64::NAN, |law| law.sample(rng));
        eta + extra[0].exp() * noise
    }

    fn unit(&self, extra: &[f64]) -> f64 {
        extra[0].exp()
    }

    /// ∂ℓ/∂log σ = (ν + 1)·u − 1, where u = z²/(ν + z²) has ∂u/∂log σ = −2u(1 − u): the third derivative is 4(ν + 1)·u(1 − u)(1 − 2u), at most 4(ν + 1)/(6√3).
    fn largest_extra_third(&self) -> f64 {
        4.0 * (self.freedom + 1.0) / (6.0 * 3f64.sqrt())
    }

    fn check(&self) -> Result<()> {
        if self.freedom > 0.0 && self.freedom.is_finite() {
            Ok(())
        } else {
            Err(setting("degrees of freedom", self.freedom, "a positive finite number"))
        }
    }

    fn finite_within(&self, extra: &[f64]) -> f32 {
        // |r| ≤ 4e38 there, so that (r/σ)² stays far inside f64.
        if extra[0].abs() <= 100.0 { LARGEST } else { -1.0 }
    }

    /// At fixed σ. With z = r/σ: (ν+1)z/(ν+z²)/σ, (ν+1)(z²−ν)/(ν+z²)²/σ², 2(ν+1)z(z²−3ν)/(ν+z²)³/σ³.
    fn row_derivatives(&self, extra: &[f64], eta: f64, response: f64, _trials: f64) -> [f64; 3] {
        let inverse = (-extra[0]).exp();
        let z = (response - eta) * inverse;
        if z.abs() > FAR {
            return [0.0; 3];
        }
        let (square, more) = (z * z, self.freedom + 1.0);
        let share = 1.0 / (self.freedom + square);
        let first = more * z * share * inverse;
        let second = more * (square - self.freedom) * share * share * inverse * inverse;
        let third = 2.0 * more * (z * share) * ((square - 3.0 * self.freedom) * share) * share;
        [first, second, third * inverse * inverse * inverse]
    }

    /// In s: (ν+1)z²/(ν+z²) − 1; in η and s, and twice in s: −2ν(ν+1)/(ν+z²)² times z/σ and z².
    fn row_curve(&self, extra: &[f64], eta: f64, response: f64, trials: f64) -> Curve {
        let inverse = (-extra[0]).exp();
        let z = (response - eta) * inverse;
        let mut all = Curve::default();
        if z.abs() > FAR {
            all.slope[1] = self.freedom;
            return all;
        }
        let [first, second, _] = self.row_derivatives(extra, eta, response, trials);
        let share = 1.0 / (self.freedom + z * z);
        let curve = -2.0 * self.freedom * (self.freedom + 1.0) * share * share;
        all.slope[0] = first;
        all.slope[1] = (self.freedom + 1.0) * (z * z / (self.freedom + z * z)) - 1.0;
        all.second[0][0] = second;
        all.second[0][1] = curve * z * inverse;
        all.second[1][0] = all.second[0][1];
        all.second[1][1] = curve * z * z;
        all
    }

    /// With κ = 1/(σ√ν) and w = κ(y − η), the derivative i times in η and j times in s is −(ν+1)/2·(−1)^{i+j}κⁱ(w·d/dw + i)ʲ of the i-th derivative of
    /// log(1 + w²): rational functions of w whose slopes have a largest value each, so that one in the middle of a range bounds them all.
    fn row_bounds(
        &self,
        around: &Around<'_>,
        (eta, reach): (f64, f64),
        response: f64,
        _trials: f64,
        _fourth: bool,
    ) -> [f64; 2] {
        let grown = around.reach[0].exp() * (1.0 + 1e-12);
        let unit = (-around.extra[0]).exp() / self.freedom.sqrt();
        let size = (response - eta).abs();
        let (low, high) = ((size - reach).max(0.0) * unit / grown, (size + reach) * unit * grown);
        let (w, radius) = (0.5 * (low + high), 0.5 * (high - low) + 1e-12 * high);
        if !radius.is_finite() {
            return [f64::INFINITY; 2];
        }
        let square = w * w;
        let (inverse, other) = (1.0 / (1.0 + square), 1.0 / around.units[0]);
        let (unit, cube) = (unit * grown, inverse * inverse * inverse);
        // Values at w, and the largest slopes.
        let third = [
            (4.0 * w * (square - 3.0) * cube, 12.0),
            (4.0 * (1.0 - 3.0 * square) * cube, 9.34),
            (8.0 * w * (1.0 - square) * cube, 8.0),
            (8.0 * square * (1.0 - square) * cube, 2.38),
        ];
        let quartic = cube * inverse;
        let bend = square * square - 4.0 * square + 1.0;
        let fourth = [
            (12.0 * (square * square - 6.0 * square + 1.0) * quartic, 39.0),
            (48.0 * w * (square - 1.0) * quartic, 48.0),
            (8.0 * (3.0 * square * square - 8.0 * square + 1.0) * quartic, 30.0),
            (16.0 * w * bend * quartic, 16.0),
            (16.0 * square * bend * quartic, 6.53),
        ];
        let norm = |entries: &[(f64, f64)], orders: &[f64]| {
            let order = entries.len() as i32 - 1;
            let squares = entries.iter().zip(orders).enumerate().map(|(j, ((value, slope), orders))| {
                let scale = unit.powi(order - j as i32) * other.powi(j as i32);
                orders * ((value.abs() + slope * radius) * scale).powi(2)
            });
            0.5 * (self.freedom + 1.0) * squares.sum::<f64>().sqrt() * (1.0 + 1e-9)
        };
        [norm(&third, &[1.0, 3.0, 3.0, 1.0]), norm(&fourth, &[1.0, 4.0, 6.0, 4.0, 1.0])]
    }
}

impl Kernel<Student> for Student {
    type Step = Step;
    type Expanded = Lines;

    fn step(family: &Self, from: &[f64], to: &[f64]) -> Step {
        let change = to[0] - from[0];
        Step {
            squared: family.freedom * (2.0 * from[0]).exp(),
            change,
            shrink: (-2.0 * change).exp_m1(),
            power: 0.5 * (family.freedom + 1.0),
        }
    }

    #[inline(always)]
    fn differences<S: Simd>(simd: S, step: &Step, rows: &Rows<S>, delta: Pair<S>) -> Option<Pair<S>> {
        if !SCALE.contains(&step.squared) || step.change.abs() > SCALE_STEP {
            return None;
        }
        let residual = [rows.response[0] - rows.eta[0], rows.response[1] - rows.eta[1]];
        let (low, first) = difference(simd, step, residual[0], delta[0]);
        let (high, second) = difference(simd, step, residual[1], delta[1]);
        let fits = within(simd, residual, LARGEST)
            && within(simd, delta, LARGEST)
            && within(simd, [first, second], LARGEST);
        fits.then_some([low, high])
    }

    fn difference(step: &Step, eta: f64, delta: f64, response: f64, _trials: f64) -> f64 {
        let residual = response - eta;
        let moved = residual - delta;
        let numerator = delta * (delta - 2.0 * residual) + moved * moved * step.shrink;
        let here = step.squared + residual * residual;
        let there = step.squared + moved * moved * (1.0 + step.shrink);
        let logarithm =
            if numerator >= 0.0 { (numerator / here).ln_1p() } else { -(-numerator / there).ln_1p() };
        -step.change - step.power * logarithm
    }

    #[inline(always)]
    fn derivatives<S: Simd>(family: &Self, simd: S, extra: &[f64], rows: &Rows<S>) -> Derivatives<S> {
        let splat = |value: f64| Lanes::splat(simd, value as f32);
        let sigma = extra[0].exp();
        // In units of σ, so that squares stay in range.
        let inverse = splat(1.0 / sigma);
        let (freedom, more) = (splat(family.freedom), splat(family.freedom + 1.0));
        let half = |i: usize| {
            let z = (rows.response[i] - rows.eta[i]) * inverse;
            let z2 = z * z;
            let share = Lanes::splat(simd, 1.0) / (freedom + z2);
            let weight = more * share;
            let curve = weight * share;
            [
                weight * z * inverse,
                curve * (z2 - freedom) * inverse * inverse,
                weight.mul_add(z2, splat(-1.0)),
                splat(-2.0 * family.freedom) * curve * z * inverse,
                splat(-2.0 * family.freedom) * curve * z2,
            ]
        };
        let (low, high) = (half(0), half(1));
        let both = |k: usize| [low[k], high[k]];
        Derivatives {
            first: both(0),
            second: both(1),
            extra: Some(ExtraDerivatives::one(both(2), both(3), both(4))),
        }
    }

    /// In units of σ√ν the third derivative is 4w(w² − 3)/(1 + w²)³, whose size peaks at |w| = √2 − 1 and √2 + 1 and vanishes at 0 and √3:
    /// the largest in a range is at a peak inside it or at an end.
    #[inline(always)]
    fn largest_third<S: Simd>(
        family: &Self,
        simd: S,
        extra: &[f64],
        rows: &Rows<S>,
        reach: Pair<S>,
    ) -> Pair<S> {
        let splat = |value: f64| Lanes::splat(simd, value as f32);
        let unit = 1.0 / (extra[0].exp() * family.freedom.sqrt());
        let factor = splat(0.5 * (family.freedom + 1.0) * unit * unit * unit);
        let of = |i: usize| {
            let size = ((rows.response[i] - rows.eta[i]) * splat(unit)).abs();
            let reach = reach[i] * splat(unit);
            // Beyond f32 squares nothing is left.
            let (low, high) =
                ((size - reach).max(splat(0.0)).min(splat(1e6)), (size + reach).min(splat(1e6)));
            let third = |w: Lanes<S>| {
                let square = w * w;
                let inverse = splat(1.0) / (square + splat(1.0));
                (splat(4.0) * w * (square - splat(3.0)) * inverse * inverse * inverse).abs()
            };
            let root = std::f64::consts::SQRT_2;
            let near = splat(root - 1.0).max(low).min(high);
            let far = splat(root + 1.0).max(low).min(high);
            factor * third(near).max(third(far)).max(third(low).max(third(high)))
        };
        [of(0), of(1)]
    }

    fn expanded(family: &Self, centre: &[f64], from: &[f64], to: &[f64]) -> Lines {
        Lines::new(family.freedom, centre[0], from[0], to[0])
    }

    #[inline(always)]
    fn residuals<S: Simd>(
        simd: S,
        expanded: &Lines,
        rows: &Rows<S>,
        [from, to]: Displaced<S>,
        third: bool,
    ) -> Option<Pair<S>> {
        let rest = [rows.response[0] - rows.eta[0], rows.response[1] - rows.eta[1]];
        expanded.residuals(simd, rest, [from, to], third)
    }

    fn residual(
        expanded: &Lines,
        eta: f64,
        [from, to]: [f64; 2],
        response: f64,
        _trials: f64,
        third: bool,
    ) -> f64 {
        expanded.residual(response - eta, [from, to], third)
    }
}
