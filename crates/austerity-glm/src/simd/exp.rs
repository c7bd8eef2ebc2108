//! e^x of sixteen f32.
//!
//! x = k·log 2 + r with |r| ≤ log 2/2 (Cody & Waite 1980: log 2 in two parts, the first of 9 bits, so that
//! k·LN2_HIGH is exact without a fused multiply-add), then e^x = 2^k·(1 + r + r²·q(r)) with q of degree 5,
//! minimax for (e^r − 1 − r)/r² weighted by r²/(e^r − 1): relative error 1e-9 before
//! rounding (degree 4 would do for a single number, but its 1e-8 has a sign, and N rows add it up).
//! k is found by adding 1.5·2²³, which rounds to an integer on every instruction set.
//! Cost: 8 multiply-adds, 4 other operations, and for the full range 2 selects.

use fearless_simd::{Simd, i32x16, prelude::*};

use super::{Lanes, apart};

/// Adding this leaves the nearest integer in the low bits of the sum.
const ROUNDER: f32 = 12_582_912.0;
/// 355/512.
const LN2_HIGH: f32 = 355.0 / 512.0;
/// log 2 − 355/512.
const LN2_LOW: f32 = -2.121_944_4e-4;
/// q, lowest power first.
const Q: [f32; 6] = [0.5, 0.166_666_66, 0.041_666_36, 0.008_333_39, 0.001_394_089_3, 0.000_198_459];
/// Beyond these e^x is infinite and 0; k stays far from the ends of the exponent in between.
const OVERFLOW: f32 = 89.0;
const UNDERFLOW: f32 = -104.0;

/// k as integer lanes and e^r − 1, where x = k·log 2 + r; for |x| ≤ 2²¹.
#[inline(always)]
pub(super) fn reduced<S: Simd>(simd: S, x: Lanes<S>) -> (i32x16<S>, Lanes<S>) {
    let splat = |value: f32| Lanes::splat(simd, value);
    let shifted = x.mul_add(splat(std::f32::consts::LOG2_E), splat(ROUNDER));
    let k = shifted - ROUNDER;
    let integer = shifted.bitcast::<i32x16<S>>() - ROUNDER.to_bits().cast_signed();
    let r = k.mul_add(splat(-LN2_HIGH), x);
    let r = k.mul_add(splat(-LN2_LOW), r);
    let q = splat(Q[5]).mul_add(r, splat(Q[4]));
    let q = q.mul_add(r, splat(Q[3]));
    let q = q.mul_add(r, splat(Q[2]));
    let q = q.mul_add(r, splat(Q[1]));
    let q = q.mul_add(r, splat(Q[0]));
    (integer, (r * r).mul_add(q, r))
}

/// 2^k for −126 ≤ k ≤ 127.
#[inline(always)]
pub(super) fn power_of_two<S: Simd>(k: i32x16<S>) -> Lanes<S> {
    ((k + 127) << 23).bitcast::<Lanes<S>>()
}

/// e^x for |x| ≤ 87, where no result leaves the normal numbers.
#[inline(always)]
pub fn exp_bounded<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    apart(simd, x, exp_bounded_in_line)
}

#[inline(always)]
fn exp_bounded_in_line<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let (k, fraction) = reduced(simd, x);
    let scale = power_of_two(k);
    fraction.mul_add(scale, scale)
}

/// e^x for every x: +∞ above 88.73, gradual underflow to 0, NaN for NaN.
#[inline(always)]
pub fn exp<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    apart(simd, x, exp_in_line)
}

#[inline(always)]
fn exp_in_line<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let (k, fraction) = reduced(simd, x);
    let half = k >> 1;
    let value = (fraction + 1.0) * power_of_two(half) * power_of_two(k - half);
    let value = x.simd_gt(splat(OVERFLOW)).select(splat(f32::INFINITY), value);
    x.simd_lt(splat(UNDERFLOW)).select(splat(0.0), value)
}
