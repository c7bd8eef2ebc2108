//! Numbers that a likelihood can be computed in: one formula gives values, derivatives, and bounds of derivatives.
//!
//! | file | what it holds |
//! |---|---|
//! | [`function`] | functions of one number with four derivatives each: exp, log, log1p(e^x), log Γ, log Φ and others |
//! | [`special`] | functions of survival, gamma and beta regression |
//! | [`jet`] | [`Jet`]: truncated Taylor polynomials in several variables |
//! | [`interval`] | [`Interval`]: everything a number can be, rounded outwards |
//!
//! A family writes its log density once, generic over [`Number`]:
//!
//! | computed in | gives |
//! |---|---|
//! | `f64` | the value |
//! | `Jet<f64, M, N>` | value and partial derivatives in M variables, exact up to rounding |
//! | `Jet<Interval, M, N>` | bounds of all of these over a box |
//!
//! A jet is not a difference: differences and residuals of small moves integrate the highest derivative of a jet along the way
//! ([`super::derived`]). Cost: a product of two jets of order K in M variables takes C(2M + K, K) multiplications.

pub mod function;
pub mod interval;
pub mod jet;
pub mod special;

use std::fmt::Debug;
use std::ops::{Add, Mul, Neg, Sub};

pub use function::Function;
pub use interval::Interval;
pub use jet::Jet;

/// Derivatives that every function knows, its value included.
pub const ORDERS: usize = 5;

/// What a log density can be computed in.
pub trait Number:
    Copy
    + Debug
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Neg<Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + Mul<f64, Output = Self>
{
    /// Whether it is an interval or made of some: where a formula should not repeat a number, even if that takes longer.
    const WIDE: bool = false;

    /// A number that is known.
    fn constant(value: f64) -> Self;

    /// Its value, or the middle of what it can be: for choosing between forms of the same formula.
    fn value(self) -> f64;

    /// The function at this number.
    fn apply<F: Function>(self, function: &F) -> Self;

    /// e^x.
    #[inline(always)]
    fn exp(self) -> Self {
        self.apply(&function::Exp)
    }

    /// log x.
    #[inline(always)]
    fn ln(self) -> Self {
        self.apply(&function::Ln)
    }

    /// log(1 + x), without loss where x is small.
    #[inline(always)]
    fn ln_1p(self) -> Self {
        self.apply(&function::Ln1p)
    }

    /// log(1 + e^x).
    #[inline(always)]
    fn softplus(self) -> Self {
        self.apply(&function::Softplus)
    }

    /// log Γ(x).
    #[inline(always)]
    fn ln_gamma(self) -> Self {
        self.apply(&function::LnGamma)
    }

    /// log Φ(x), Φ the normal distribution function.
    #[inline(always)]
    fn ln_normal_cdf(self) -> Self {
        self.apply(&function::LnNormal)
    }

    /// x².
    #[inline(always)]
    fn square(self) -> Self {
        self * self
    }
}

impl Number for f64 {
    #[inline(always)]
    fn constant(value: f64) -> Self {
        value
    }

    #[inline(always)]
    fn value(self) -> f64 {
        self
    }

    #[inline(always)]
    fn apply<F: Function>(self, function: &F) -> Self {
        function.value(self)
    }
}

/// What the coefficients of a [`Jet`] can be.
pub trait Base: Number {
    /// Value and derivatives of `function` up to `order`; those beyond are 0.
    fn derivatives<F: Function>(self, function: &F, order: usize) -> [Self; ORDERS];
}

impl Base for f64 {
    #[inline(always)]
    fn derivatives<F: Function>(self, function: &F, order: usize) -> [Self; ORDERS] {
        function.derivatives(self, order)
    }
}

#[cfg(test)]
mod tests;
