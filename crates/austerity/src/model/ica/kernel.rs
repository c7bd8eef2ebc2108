//! The hot loops of [`super::Ica`]: log-likelihood differences of blocks of 32 samples, and their moments.
//!
//! With s_j = w_j·x, z_j = ½(w'_j − w_j)·x as a dot product of its own and t_j = tanh(s_j/2),
//!
//! cosh(s'_j/2)/cosh(s_j/2) = cosh z_j + t_j·sinh z_j = 1 + r_j, r_j = (cosh z_j − 1) + t_j·sinh z_j,
//!
//! and l = −2·log Π_j (1 + r_j): no two log-likelihoods are subtracted, and a group of up to four sources shares one
//! logarithm, since p ← p + (r + p·r) keeps Π(1 + r) − 1 to full accuracy. sinh z and cosh z − 1 are polynomials; t_j, which
//! needs an expm1 and a division, depends on the current state alone and can come from a cache.
//!
//! | block with | polynomials | logarithm |
//! |---|---|---|
//! | all \|z\| ≤ 1/32: the moves of a walk over many samples | of degree 3 and 4 | a polynomial, since \|p\| < 0.14 |
//! | all \|z\| ≤ 1 | of degree 9 and 10 | log1p |
//! | a larger \|z\|, or a number that is not finite | f64, sample by sample | |
//!
//! Which path a block takes depends on nothing but the move and the block.
//!
//! W is rounded to f32 once for all samples, which moves the state by 3e-8: of no account, since the log ratio changes with it
//! by √N·3e-8 for a full random-walk step (4e-5 for two million samples).
//!
//! Cost per sample: D² multiply-adds for z, 9 operations per source, 8 for the logarithm of each four; without the cache D² more
//! multiply-adds, 20 operations and a division per source.

use fearless_simd::{Simd, prelude::*};

use crate::error::Result;
use crate::model::glm::batch::{Batch, PAIRS};
use crate::model::glm::blocks::{BLOCK, Line};
use crate::model::glm::kernel::{Pair, column};
use crate::model::glm::list::List;
use crate::population::{Moments, merge_checked};
use crate::simd::{Lanes, expm1_bounded, log1p, prefetch_at};

/// sinh z = z + z³·q(z²) for |z| ≤ 1: q, lowest power first (the series, the last coefficient raised to spread what is left out).
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_333, 0.000_198_412_7, 0.000_002_78];
/// cosh z − 1 = z²·q(z²) for |z| ≤ 1.
const COSH: [f32; 5] = [0.5, 0.041_666_668, 0.001_388_888_9, 0.000_024_801_587, 0.000_000_277_6];
/// log(1 + p) = p + p²·q(p): q, lowest power first.
const LOG: [f32; 7] = [-0.5, 0.333_333_34, -0.25, 0.2, -0.166_666_67, 0.142_857_15, -0.125];
/// Largest z² of the short polynomials.
const SHORT: f32 = 1.0 / 1024.0;
/// Sources that share a logarithm: their product stays between e⁻⁴ and e⁴.
const GROUP: usize = 4;
/// Beyond this |s| tanh(s/2) is ±1 in f32.
const FLAT: f32 = 40.0;

/// How many blocks ahead a scan asks for memory.
const AHEAD: usize = 12;

/// Where t comes from.
pub mod mode {
    /// Computed and forgotten.
    pub const FRESH: u8 = 0;
    /// Computed and written to the cache.
    pub const STORED: u8 = 1;
    /// Read from the cache.
    pub const CACHED: u8 = 2;
}

/// The samples: `[block][source][32]`, one block one contiguous run of memory.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// All blocks.
    pub lines: &'a [Line],
    /// D.
    pub dimension: usize,
    /// N.
    pub rows: usize,
}

impl<'a> Samples<'a> {
    #[inline(always)]
    fn block(&self, block: usize) -> &'a [Line] {
        &self.lines[block * 2 * self.dimension..][..2 * self.dimension]
    }

    #[inline(always)]
    fn rows_in(&self, block: usize) -> usize {
        BLOCK.min(self.rows - block * BLOCK)
    }

    /// Number of blocks.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }
}

/// A move: W and ½(W' − W), row by row.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a> {
    /// In f32, for the fast path.
    pub single: &'a [[f32; 2]],
    /// In f64, for the slow one.
    pub double: &'a [[f64; 2]],
}

/// The polynomials of z: (sinh z, cosh z − 1), for |z| ≤ 1/32 or, if `LONG`, 1.
#[inline(always)]
fn hyperbolic<S: Simd, const LONG: bool>(simd: S, z: Lanes<S>, square: Lanes<S>) -> (Lanes<S>, Lanes<S>) {
    let splat = |value: f32| Lanes::splat(simd, value);
    let (odd, even) = if LONG {
        let odd = splat(SINH[3]).mul_add(square, splat(SINH[2]));
        let odd = odd.mul_add(square, splat(SINH[1]));
        let even = splat(COSH[4]).mul_add(square, splat(COSH[3]));
        let even = even.mul_add(square, splat(COSH[2]));
        (odd.mul_add(square, splat(SINH[0])), even.mul_add(square, splat(COSH[1])))
    } else {
        // What is left out is z⁴/120 and z⁴/360 of the result: 8e-9 and 3e-9.
        (splat(SINH[0]), splat(COSH[1]))
    };
    ((z * square).mul_add(odd, z), even.mul_add(square, splat(COSH[0])) * square)
}

/// log(1 + p): a polynomial for |p| ≤ 0.14, whose error is 2e-8 of the result at most, or, if `LONG`, the full function.
#[inline(always)]
fn logarithm<S: Simd, const LONG: bool>(simd: S, p: Lanes<S>) -> Lanes<S> {
    if LONG {
        return log1p(simd, p);
    }
    let splat = |value: f32| Lanes::splat(simd, value);
    let square = p * p;
    // Even and odd powers apart: half the latency of one long chain.
    let even = splat(LOG[6]).mul_add(square, splat(LOG[4])).mul_add(square, splat(LOG[2]));
    let odd = splat(LOG[5]).mul_add(square, splat(LOG[3])).mul_add(square, splat(LOG[1]));
    let q = odd.mul_add(p, even.mul_add(square, splat(LOG[0])));
    square.mul_add(q, p)
}

/// tanh(s/2) = (e^s − 1)/(e^s + 1).
#[inline(always)]
fn half_tanh<S: Simd>(simd: S, s: Lanes<S>) -> Lanes<S> {
    let s = s.max(Lanes::splat(simd, -FLAT)).min(Lanes::splat(simd, FLAT));
    let e = expm1_bounded(simd, s);
    e / (e + 2.0)
}

/// The differences of a block in f32 where its z are small enough for it; t goes to or comes from `cache`.
#[inline(always)]
fn fast<S: Simd, const D: usize, const MODE: u8, const LONG: bool>(
    simd: S,
    dimension: usize,
    task: Move<'_>,
    lines: &[Line],
    cache: &mut [Line],
) -> Option<Pair<S>> {
    let d = if D == 0 { dimension } else { D };
    let lines = &lines[..2 * d];
    let matrix = &task.single[..d * d];
    let zero = [Lanes::splat(simd, 0.0); 2];
    let (mut total, mut largest) = (zero, zero);
    for group in (0..d).step_by(GROUP) {
        let mut product = zero;
        for j in group..d.min(group + GROUP) {
            let (mut s, mut z) = (zero, zero);
            for k in 0..d {
                let x = column(simd, lines, k);
                let [w, half] = matrix[j * d + k];
                for i in 0..2 {
                    if MODE != mode::CACHED {
                        s[i] = x[i].mul_add(Lanes::splat(simd, w), s[i]);
                    }
                    z[i] = x[i].mul_add(Lanes::splat(simd, half), z[i]);
                }
            }
            for i in 0..2 {
                let t = if MODE == mode::CACHED {
                    Lanes::load_array_ref(simd, &cache[2 * j + i].0)
                } else {
                    half_tanh(simd, s[i])
                };
                if MODE == mode::STORED {
                    t.store_slice(&mut cache[2 * j + i].0);
                }
                let square = z[i] * z[i];
                let (sinh, cosh) = hyperbolic::<S, LONG>(simd, z[i], square);
                let r = t.mul_add(sinh, cosh);
                product[i] += product[i].mul_add(r, r);
                largest[i] = largest[i].max(square);
            }
        }
        for i in 0..2 {
            total[i] += logarithm::<S, LONG>(simd, product[i]);
        }
    }
    // What `max` makes of NaN differs between machines: the total, which has it then, is looked at too.
    let limit = Lanes::splat(simd, if LONG { 1.0 } else { SHORT });
    let small = largest[0].max(largest[1]).simd_le(limit)
        & (total[0] + total[1]).abs().simd_lt(Lanes::splat(simd, 1e30));
    small.all_true().then(|| [total[0] * -2.0, total[1] * -2.0])
}

/// The differences of a block with larger z. Out of line: the paths of short moves come here rarely.
#[cold]
#[inline(never)]
fn long<S: Simd>(simd: S, samples: &Samples<'_>, task: Move<'_>, block: usize) -> Option<Pair<S>> {
    simd.vectorize(
        #[inline(always)]
        || {
            let lines = samples.block(block);
            fast::<S, 0, { mode::FRESH }, true>(simd, samples.dimension, task, lines, &mut [])
        },
    )
}

/// −2·log(2·cosh(s/2)), the log density of a source.
#[must_use]
pub fn log_density(s: f64) -> f64 {
    -(s.abs() + 2.0 * (-s.abs()).exp().ln_1p())
}

/// The difference of the log densities at s + 2z and s, in f64.
#[must_use]
pub fn difference(s: f64, z: f64) -> f64 {
    if z.abs() > 0.5 {
        return log_density(s + 2.0 * z) - log_density(s);
    }
    let quarter = (0.5 * z).sinh();
    -2.0 * (2.0 * quarter * quarter + (0.5 * s).tanh() * z.sinh()).ln_1p()
}

/// The differences of a block in f64, sample by sample.
#[cold]
#[inline(never)]
fn slow(dimension: usize, task: Move<'_>, lines: &[Line]) -> [f64; BLOCK] {
    std::array::from_fn(|i| {
        let sources = task.double.chunks_exact(dimension).map(|row| {
            let mut dots = [0.0; 2];
            for (k, [w, half]) in row.iter().enumerate() {
                let x = f64::from(lines[2 * k + i / 16].0[i % 16]);
                dots = [dots[0] + w * x, dots[1] + half * x];
            }
            difference(dots[0], dots[1])
        });
        sources.sum()
    })
}

/// Adds the differences of the blocks of `list` to `moments`. Errors name storage positions.
///
/// `cache` has the shape of the samples when `MODE` uses it, and is unused otherwise.
#[inline(always)]
pub fn summarize<S: Simd, const D: usize, const MODE: u8>(
    simd: S,
    samples: &Samples<'_>,
    task: Move<'_>,
    mut list: List<'_>,
    cache: &mut [Line],
    moments: &mut Moments,
) -> Result<()> {
    // A copy of its own: what is reached through references would be read again after every store.
    let samples = &{ *samples };
    let dimension = if D == 0 { samples.dimension } else { D };
    let again = |block| values_of(simd, samples, task, block);
    let place = |block: usize| {
        if MODE == mode::FRESH { 0..0 } else { block * 2 * dimension..(block + 1) * 2 * dimension }
    };
    let mut batch = Batch::new(simd);
    let mut upcoming = [list.next(), list.next()];
    while let [Some(block), second] = upcoming {
        upcoming = [list.next(), list.next()];
        if MODE == mode::FRESH {
            for next in upcoming.into_iter().flatten() {
                (0..2 * dimension).for_each(|line| prefetch_at(samples.block(next), line));
            }
        } else {
            // A scan: the hardware follows the run of lines but stops at the end of a page, which is after four blocks of four sources.
            for line in (block + AHEAD) * 2 * dimension..(block + AHEAD + 2) * 2 * dimension {
                prefetch_at(samples.lines, line);
                prefetch_at(cache, line);
            }
        }
        let mut values = [None; 2];
        let mut whole = second.is_some();
        for (values, block) in values.iter_mut().zip([Some(block), second]) {
            if let Some(block) = block {
                let lines = samples.block(block);
                *values = fast::<S, D, MODE, false>(simd, dimension, task, lines, &mut cache[place(block)])
                    .or_else(|| long(simd, samples, task, block));
                whole &= samples.rows_in(block) == BLOCK;
            }
        }
        if let (true, Some(other), [Some([a, b]), Some([c, d])]) = (whole, second, values) {
            batch.push(simd, [block, other], [a, b, c, d]);
            if batch.pairs == PAIRS {
                batch.flush(simd, moments, again)?;
            }
            continue;
        }
        batch.flush(simd, moments, again)?;
        for block in [Some(block), second].into_iter().flatten() {
            merge_checked(&again(block)[..samples.rows_in(block)], block * BLOCK, moments)?;
        }
    }
    batch.flush(simd, moments, again)
}

/// The differences of `block` as f64: the same numbers as in [`summarize`].
#[inline(never)]
pub fn values_of<S: Simd>(simd: S, samples: &Samples<'_>, task: Move<'_>, block: usize) -> [f64; BLOCK] {
    simd.vectorize(
        #[inline(always)]
        || {
            let lines = samples.block(block);
            let short = fast::<S, 0, { mode::FRESH }, false>(simd, samples.dimension, task, lines, &mut []);
            match short.or_else(|| long(simd, samples, task, block)) {
                Some([low, high]) => {
                    let mut values = [0.0; BLOCK];
                    low.store_slice(&mut values[..16]);
                    high.store_slice(&mut values[16..]);
                    values.map(f64::from)
                }
                None => slow(samples.dimension, task, lines),
            }
        },
    )
}
