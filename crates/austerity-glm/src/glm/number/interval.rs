//! Intervals: everything a number can be, rounded outwards.
//!
//! Every operation returns an interval that holds all results of numbers in its operands; ends are moved by at least one unit in the last place, those of
//! functions by their own accuracy. Where a number appears twice in a formula the interval is wider than need be, by about the product of the
//! widths: bounds over small boxes are tight, bounds over wide ones are safe and useless.
//!
//! Derivatives of functions over an interval [m − r, m + r] come from the mean value theorem, the highest first: |f⁽ʲ⁾(x) − f⁽ʲ⁾(m)| ≤ r·max|f⁽ʲ⁺¹⁾|, where a
//! function has to bound its fifth derivative only ([`Function::largest_fifth`]).

use std::ops::{Add, Mul, Neg, Sub};

use super::{Base, Function, Number, ORDERS};

/// Relative accuracy of functions and their derivatives, with room.
const ACCURACY: f64 = 1e-11;

/// All numbers from `low` to `high`. An interval with a NaN holds every number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// Smallest.
    pub low: f64,
    /// Largest.
    pub high: f64,
}

impl Interval {
    /// All numbers within `radius` of `centre`.
    #[must_use]
    pub fn around(centre: f64, radius: f64) -> Self {
        Self { low: centre - radius, high: centre + radius }.outwards()
    }

    /// At least one unit in the last place on either side.
    #[inline(always)]
    fn outwards(self) -> Self {
        let margin = |end: f64| end.abs() * f64::EPSILON + f64::MIN_POSITIVE;
        Self { low: self.low - margin(self.low), high: self.high + margin(self.high) }
    }

    /// The largest absolute value; ∞ of an interval with a NaN.
    #[must_use]
    #[inline(always)]
    pub fn largest(self) -> f64 {
        let size = self.low.abs().max(self.high.abs());
        if self.low.is_nan() || self.high.is_nan() { f64::INFINITY } else { size }
    }

    /// The middle, and the distance of the ends from it.
    #[must_use]
    #[inline(always)]
    pub fn middle(self) -> (f64, f64) {
        let middle = 0.5 * (self.low + self.high);
        (middle, (self.high - middle).max(middle - self.low).next_up())
    }

    /// Whether it holds `value`.
    #[must_use]
    pub fn holds(self, value: f64) -> bool {
        // Written so that a NaN end excludes nothing.
        !(value < self.low || value > self.high)
    }
}

impl Add for Interval {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: Self) -> Self {
        Self { low: self.low + other.low, high: self.high + other.high }.outwards()
    }
}

impl Sub for Interval {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: Self) -> Self {
        Self { low: self.low - other.high, high: self.high - other.low }.outwards()
    }
}

impl Mul for Interval {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: Self) -> Self {
        let products =
            [self.low * other.low, self.low * other.high, self.high * other.low, self.high * other.high];
        // 0·∞, and ∞ of both signs.
        if (products[0] + products[1] + products[2] + products[3]).is_nan() {
            return Self { low: f64::NEG_INFINITY, high: f64::INFINITY };
        }
        let low = products[0].min(products[1]).min(products[2].min(products[3]));
        let high = products[0].max(products[1]).max(products[2].max(products[3]));
        Self { low, high }.outwards()
    }
}

impl Neg for Interval {
    type Output = Self;
    #[inline(always)]
    fn neg(self) -> Self {
        Self { low: -self.high, high: -self.low }
    }
}

impl Add<f64> for Interval {
    type Output = Self;
    #[inline(always)]
    fn add(self, other: f64) -> Self {
        Self { low: self.low + other, high: self.high + other }.outwards()
    }
}

impl Sub<f64> for Interval {
    type Output = Self;
    #[inline(always)]
    fn sub(self, other: f64) -> Self {
        Self { low: self.low - other, high: self.high - other }.outwards()
    }
}

impl Mul<f64> for Interval {
    type Output = Self;
    #[inline(always)]
    fn mul(self, other: f64) -> Self {
        let (a, b) = (self.low * other, self.high * other);
        Self { low: a.min(b), high: a.max(b) }.outwards()
    }
}

impl Number for Interval {
    const WIDE: bool = true;

    #[inline(always)]
    fn constant(value: f64) -> Self {
        Self { low: value, high: value }
    }

    #[inline(always)]
    fn value(self) -> f64 {
        0.5 * (self.low + self.high)
    }

    fn apply<F: Function>(self, function: &F) -> Self {
        self.derivatives(function, 0)[0]
    }
}

impl Base for Interval {
    fn derivatives<F: Function>(self, function: &F, order: usize) -> [Self; ORDERS] {
        let (middle, radius) = self.middle();
        let found = function.derivatives(middle, ORDERS - 1);
        let size = found.iter().fold(0.0f64, |size, value| size.max(value.abs()));
        let mut next = function.largest_fifth(self);
        let mut all = [Self::constant(0.0); ORDERS];
        for (k, slot) in all.iter_mut().enumerate().rev() {
            // What cancels in a derivative is of the size of the others.
            let width = radius * next * (1.0 + 1e-12) + ACCURACY * (found[k].abs() + 1e-3 * size);
            let interval = Self::around(found[k], width);
            next = interval.largest();
            if k <= order {
                *slot = interval;
            }
        }
        all
    }
}
