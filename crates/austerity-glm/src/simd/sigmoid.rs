//! 1/(1 + e^−x) of sixteen f32.
//!
//! With e = e^−|x| the result is 1/(1 + e) for x ≥ 0 and e/(1 + e) below: nothing overflows and small results
//! keep their relative accuracy. Cost: one [`exp()`], one division, one select.

use fearless_simd::{Simd, prelude::*};

use super::{Lanes, exp};

/// 1/(1 + e^−x) for every x; NaN for NaN.
#[inline(always)]
pub fn sigmoid<S: Simd>(simd: S, x: Lanes<S>) -> Lanes<S> {
    let e = exp(simd, -x.abs());
    let numerator = x.simd_lt(Lanes::splat(simd, 0.0)).select(e, Lanes::splat(simd, 1.0));
    numerator / (e + 1.0)
}
