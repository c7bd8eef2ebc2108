//! log(1 + x) of sixteen f32, without cancellation near 0.
//!
//! u = 1 + x = 2^k·(1 + m) with 1 + m in [¾, 3/2); m is not read from the rounded u but formed as
//! x·2^−k + (2^−k − 1), which is x itself for k = 0 and loses nothing that matters otherwise. Then
//! log(1 + x) = k·log 2 + m + m²·q(m), with q of degree 7, minimax for (log(1 + m) − m)/m² on [−¼, ½] weighted
//! by m²/log(1 + m): relative error 2.8e-8 before rounding. No division and no table.
//! Cost: 10 multiply-adds, 8 other operations, and for the full range 3 selects.

use fearless_simd::{Simd, i32x16, prelude::*};

use super::{Lanes, apart};

/// q, lowest power first.
const Q: [f32; 8] = [
    -0.500_000_6,
    0.333_335_5,
    -0.249_934_42,
    0.199_770_77,
    -0.168_228_1,
    0.149_839_15,
    -0.120_673_68,
    0.054_132_49,
];

/// log(1 + x) for 0 ≤ x ≤ 1e38.
#[inline(always)]
pub fn log1p_nonnegative<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    apart(simd, x, log1p_nonnegative_in_line)
}

#[inline(always)]
fn log1p_nonnegative_in_line<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let integer = |value: i32| i32x16::splat(simd, value);
    let u = (x + 1.0).bitcast::<i32x16<S>>();
    // k in the bits of the exponent: k·2²³.
    let k = (u - integer(0.75f32.to_bits().cast_signed())) & integer(0xff80_0000u32.cast_signed());
    let m = (x.bitcast::<i32x16<S>>() - k).bitcast::<Lanes<S>>();
    let four = (integer(4.0f32.to_bits().cast_signed()) - k).bitcast::<Lanes<S>>();
    let m = m + four.mul_add(splat(0.25), splat(-1.0));
    let k = k.to_float::<Lanes<S>>() * splat(1.0 / 8_388_608.0);
    // Even and odd powers apart: half the latency of one long chain.
    let m2 = m * m;
    let even = splat(Q[6]).mul_add(m2, splat(Q[4]));
    let odd = splat(Q[7]).mul_add(m2, splat(Q[5]));
    let even = even.mul_add(m2, splat(Q[2]));
    let odd = odd.mul_add(m2, splat(Q[3]));
    let even = even.mul_add(m2, splat(Q[0]));
    let odd = odd.mul_add(m2, splat(Q[1]));
    let q = odd.mul_add(m, even);
    let fraction = q.mul_add(m2, m);
    k.mul_add(splat(std::f32::consts::LN_2), fraction)
}

/// log(1 + x) for every x: −∞ at −1, NaN below it and for NaN, +∞ for +∞.
#[inline(always)]
pub fn log1p<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let value = log1p_nonnegative(simd, x);
    let above = x.simd_gt(splat(-1.0)).select(value, splat(f32::NAN));
    let value = x.simd_eq(splat(-1.0)).select(splat(f32::NEG_INFINITY), above);
    x.simd_eq(splat(f32::INFINITY)).select(x, value)
}
