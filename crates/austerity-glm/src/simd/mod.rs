//! Vectorised exp, expm1, log1p and sigmoid in f32, and which instructions they run on.
//!
//! | file | what it holds |
//! |---|---|
//! | [`mod@exp`] | e^x, and the range reduction shared with expm1 |
//! | [`mod@expm1`] | e^x − 1 without cancellation |
//! | [`mod@log1p`] | log(1 + x) without cancellation |
//! | [`mod@sigmoid`] | 1/(1 + e^−x) without overflow |
//! | [`eight`] | products with small matrices in f64 |
//! | [`mod@reduce`] | sixteen lanes brought together |
//! | [`prefetch`] | asking for memory before it is needed |
//!
//! Everything is generic over the instruction set `S` and works on sixteen f32 at once ([`Lanes`]): one AVX-512
//! register, two of AVX2, four of SSE2 or Neon. A caller picks a [`Level`] once and enters with
//! `dispatched!`, so that all functions inline into one copy per instruction set.
//!
//! Results are a function of the level: levels with a fused multiply-add (AVX2, AVX-512, Neon) agree with each
//! other to the last bit, SSE2 rounds once more per multiply-add. All are within 4 ulp.

pub mod eight;
pub mod exp;
pub mod expm1;
pub mod log1p;
pub mod prefetch;
pub mod reduce;
pub mod sigmoid;

pub use exp::{exp, exp_bounded};
pub use expm1::{expm1, expm1_bounded};
pub use fearless_simd::Level;
pub use log1p::{log1p, log1p_nonnegative};
pub use prefetch::{prefetch_at, prefetch_far, prefetch_slice};
pub use reduce::{lanes_sum, reduce};
pub use sigmoid::sigmoid;

use fearless_simd::{Simd, SimdBase as _};

/// Runs `$body` with the token of a [`Level`], compiled for AVX-512, AVX2 and the baseline: SSE4.2 would gain nothing over SSE2
/// here and cost every build a fourth copy of the kernels. Whoever calls it depends on `fearless_simd` too.
#[macro_export]
macro_rules! dispatched {
    ($level:expr, $simd:ident => $body:expr) => {{
        use fearless_simd::{Level, Simd as _};
        #[cfg(target_arch = "x86_64")]
        let outcome = match $level {
            Level::Avx512($simd) => $simd.vectorize(
                #[inline(always)]
                || $body,
            ),
            Level::Avx2($simd) => $simd.vectorize(
                #[inline(always)]
                || $body,
            ),
            lower => match lower.as_sse2() {
                Some($simd) => $simd.vectorize(
                    #[inline(always)]
                    || $body,
                ),
                None => unreachable!("every x86-64 machine has SSE2"),
            },
        };
        #[cfg(not(target_arch = "x86_64"))]
        let outcome = fearless_simd::dispatch!($level, $simd => $body);
        outcome
    }};
}
pub use dispatched;

/// [`dispatched!`] without AVX-512, whose machines take the copy for AVX2: the same bits.
macro_rules! dispatched_narrow {
    ($level:expr, $simd:ident => $body:expr) => {{
        use fearless_simd::Simd as _;
        let level = $level;
        #[cfg(target_arch = "x86_64")]
        let outcome = match (level.as_avx2(), level.as_sse2()) {
            (Some($simd), _) => $simd.vectorize(
                #[inline(always)]
                || $body,
            ),
            (None, Some($simd)) => $simd.vectorize(
                #[inline(always)]
                || $body,
            ),
            (None, None) => unreachable!("every x86-64 machine has SSE2"),
        };
        #[cfg(not(target_arch = "x86_64"))]
        let outcome = fearless_simd::dispatch!(level, $simd => $body);
        outcome
    }};
}
pub(crate) use dispatched_narrow;

/// Sixteen f32 on the instruction set `S`.
pub type Lanes<S> = fearless_simd::f32x16<S>;

/// Applies an elementary function in line, or on SSE2 by a call: its sixteen lanes are four registers there, and copies in every kernel took
/// a fifth of the build for machines that hardly exist. Results are the same.
#[inline(always)]
fn apart<S: Simd>(simd: S, x: Lanes<S>, function: impl Fn(S, Lanes<S>) -> Lanes<S>) -> Lanes<S> {
    #[inline(never)]
    fn call<S: Simd>(simd: S, x: Lanes<S>, function: impl Fn(S, Lanes<S>) -> Lanes<S>) -> Lanes<S> {
        function(simd, x)
    }
    if const { cfg!(target_arch = "x86_64") && S::f32s::LEN == 4 } {
        call(simd, x, function)
    } else {
        function(simd, x)
    }
}

/// The best level of this machine; detected once per process.
#[must_use]
pub fn detected() -> Level {
    Level::new()
}

/// The level that every machine of this target has: SSE2 on x86-64.
#[must_use]
pub fn baseline() -> Level {
    Level::baseline()
}

/// All levels of this machine, the baseline first: for tests that must hold on each.
#[must_use]
pub fn available() -> Vec<Level> {
    #[allow(unused_mut)]
    let mut levels = vec![baseline()];
    #[cfg(target_arch = "x86_64")]
    {
        let best = detected();
        levels.extend(best.as_avx2().map(Level::Avx2));
        levels.extend(best.as_avx512().map(Level::Avx512));
    }
    levels
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use fearless_simd::dispatch;

    /// Distance between `found` and the f64 `exact` in units of the last place of an f32 at `exact`, where
    /// subnormal results are measured in ulp of the smallest normal number.
    pub(crate) fn ulps(found: f32, exact: f64) -> f64 {
        if exact.is_nan() || found.is_nan() {
            return if exact.is_nan() && found.is_nan() { 0.0 } else { f64::INFINITY };
        }
        let rounded = exact as f32;
        if found == rounded {
            return 0.0;
        }
        if rounded.is_infinite() || found.is_infinite() {
            // Next to the overflow threshold either answer is within an ulp.
            let near = exact.abs() < 3.402_824_5e38 && found.abs() > 3.402_823_2e38;
            return if near { 1.0 } else { f64::INFINITY };
        }
        let exponent = exact.abs().max(f64::from(f32::MIN_POSITIVE)).log2().floor();
        (f64::from(found) - exact).abs() / (exponent - 23.0).exp2()
    }

    #[inline(always)]
    fn over<S: Simd>(simd: S, function: usize, values: &mut [f32]) {
        for chunk in values.chunks_exact_mut(16) {
            let x = Lanes::from_slice(simd, chunk);
            let y = match function {
                0 => exp(simd, x),
                1 => expm1(simd, x),
                2 => log1p(simd, x),
                3 => sigmoid(simd, x),
                4 => exp_bounded(simd, x),
                5 => expm1_bounded(simd, x),
                _ => log1p_nonnegative(simd, x),
            };
            y.store_slice(chunk);
        }
    }

    fn reference(function: usize, x: f64) -> f64 {
        match function {
            0 | 4 => x.exp(),
            1 | 5 => x.exp_m1(),
            3 => 1.0 / (1.0 + (-x).exp()),
            _ => x.ln_1p(),
        }
    }

    /// Largest error in ulp of `function` over every `stride`-th f32 that `domain` admits.
    fn worst(level: Level, function: usize, stride: usize, domain: impl Fn(f32) -> bool) -> (f64, f32) {
        let mut worst = (0.0, 0.0);
        let mut inputs = Vec::with_capacity(1 << 16);
        let mut bits = (0..=u32::MAX).step_by(stride).chain([
            f32::INFINITY.to_bits(),
            f32::NEG_INFINITY.to_bits(),
            f32::NAN.to_bits(),
            (-1.0f32).to_bits(),
            1.0f32.to_bits(),
            f32::MAX.to_bits(),
            f32::MIN.to_bits(),
        ]);
        loop {
            inputs.clear();
            inputs.extend(bits.by_ref().map(f32::from_bits).filter(|&x| domain(x)).take(1 << 16));
            if inputs.is_empty() {
                return worst;
            }
            let count = inputs.len();
            inputs.resize(count.next_multiple_of(16), 0.0);
            let mut outputs = inputs.clone();
            dispatch!(level, simd => over(simd, function, &mut outputs));
            for (&x, &y) in inputs.iter().zip(&outputs) {
                let error = ulps(y, reference(function, f64::from(x)));
                if error > worst.0 {
                    worst = (error, x);
                }
            }
        }
    }

    const NAMES: [&str; 7] =
        ["exp", "expm1", "log1p", "sigmoid", "exp_bounded", "expm1_bounded", "log1p_nonnegative"];

    /// Every 307th bit pattern of all 2³² on every level: NaN, infinities, subnormals, overflow, underflow.
    #[test]
    fn within_four_ulp_everywhere_on_every_level() {
        sweep(307);
    }

    /// The same with every 97th pattern; about a minute.
    #[test]
    #[ignore = "second tier: a dense sweep"]
    fn within_four_ulp_in_a_dense_sweep() {
        sweep(97);
    }

    fn sweep(stride: usize) {
        for level in available() {
            for (function, name) in NAMES.iter().enumerate() {
                let (error, at) = match function {
                    4 | 5 => worst(level, function, stride, |x| x.abs() <= 87.0),
                    6 => worst(level, function, stride, |x| (0.0..1e38).contains(&x)),
                    _ => worst(level, function, stride, |_| true),
                };
                println!("{name:18} {error:5.2} ulp at {at:e} on {level:?}");
                assert!(error <= 4.0, "{name} on {level:?}: {error} ulp at {at:e}");
            }
        }
    }

    #[test]
    fn the_ends_of_the_range() {
        for level in available() {
            let at = |function: usize, x: f32| {
                let mut values = [x; 16];
                dispatch!(level, simd => over(simd, function, &mut values));
                values[3]
            };
            assert_eq!(at(0, f32::INFINITY), f32::INFINITY);
            assert_eq!(at(0, f32::NEG_INFINITY), 0.0);
            assert_eq!(at(0, 89.5), f32::INFINITY);
            assert_eq!(at(1, f32::NEG_INFINITY), -1.0);
            assert_eq!(at(1, 100.0), f32::INFINITY);
            assert_eq!(at(2, -1.0), f32::NEG_INFINITY);
            assert!(at(2, -1.000_000_1).is_nan());
            assert_eq!(at(2, f32::INFINITY), f32::INFINITY);
            assert_eq!(at(3, f32::INFINITY), 1.0);
            assert_eq!(at(3, f32::NEG_INFINITY), 0.0);
            for function in 0..4 {
                assert!(at(function, f32::NAN).is_nan());
            }
        }
    }
}
