//! e^x − 1 of sixteen f32, without cancellation near 0.
//!
//! With x = k·log 2 + r and f = e^r − 1 as in [`mod@super::exp`], e^x − 1 = 2^k·f + (2^k − 1). For k = 0 this is f
//! itself, relative error and all; for k ≠ 0 both terms are of the size of the result. Powers are halved and
//! the result doubled, so that k = 128 does not overflow before the result does.
//! Cost: 9 multiply-adds, 5 other operations, and for the full range 2 selects.

use fearless_simd::{Simd, prelude::*};

use super::exp::{power_of_two, reduced};
use super::{Lanes, apart};

/// Beyond this e^x − 1 is infinite.
const OVERFLOW: f32 = 89.0;
/// Below this e^x − 1 rounds to −1.
const UNDERFLOW: f32 = -18.0;

/// e^x − 1 for |x| ≤ 87.
#[inline(always)]
pub fn expm1_bounded<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    apart(simd, x, expm1_bounded_in_line)
}

#[inline(always)]
fn expm1_bounded_in_line<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let (k, fraction) = reduced(simd, x);
    let scale = power_of_two(k);
    fraction.mul_add(scale, scale - 1.0)
}

/// e^x − 1 for every x: +∞ above 88.73, −1 far below 0, NaN for NaN.
#[inline(always)]
pub fn expm1<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    apart(simd, x, expm1_in_line)
}

#[inline(always)]
fn expm1_in_line<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let (k, fraction) = reduced(simd, x);
    let half = power_of_two(k - 1);
    let value = fraction.mul_add(half, half - 0.5);
    let value = value + value;
    let value = x.simd_gt(splat(OVERFLOW)).select(splat(f32::INFINITY), value);
    x.simd_lt(splat(UNDERFLOW)).select(splat(-1.0), value)
}
