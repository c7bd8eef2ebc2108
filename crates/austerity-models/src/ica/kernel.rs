//! The hot loops of [`super::Ica`]: log-likelihood differences of blocks of 32 samples, and their moments.
//!
//! With s_j = w_j·x, z_j = ½(w'_j − w_j)·x as a dot product of its own and t_j = tanh(s_j/2),
//!
//! cosh(s'_j/2)/cosh(s_j/2) = cosh z_j + t_j·sinh z_j = 1 + r_j, r_j = (cosh z_j − 1) + t_j·sinh z_j,
//!
//! and l = −2·log Π_j (1 + r_j): no two log-likelihoods are subtracted. t_j = p_j/q_j is a rational function of s_j, so r_j = a_j/q_j with
//! a_j = (cosh z_j − 1)·q_j + p_j·sinh z_j, and a group of up to four sources shares one logarithm *and* one division: a ← a·q_j + a_j·(a + q),
//! q ← q·q_j keeps a/q = Π(1 + r) − 1 to full accuracy. sinh z and cosh z − 1 are polynomials; for short moves, with y = z/√2,
//!
//! r = (y + y³/3)·(√2·t + y − y³/6), whose part with t is true to z⁴/120 of itself and the other to z⁴/60: 8e-9 and 1.6e-8 at most.
//!
//! Nothing is kept of the current state: t_j from a cache would be 4·D bytes more to read per sample, which takes longer than
//! to compute it (the scan runs at the speed of memory).
//!
//! | block with | polynomials | logarithm |
//! |---|---|---|
//! | \|z\| ≤ 1/32 and \|s\| ≤ 18, by the longest sample of the block and the longest row of the move | the short ones | a polynomial, since \|a/q\| < 0.14 |
//! | all \|z\| ≤ 1 | of degree 9 and 10 | log1p |
//! | a larger \|z\|, or a number that is not finite | f64, sample by sample | |
//!
//! Which path a block takes depends on nothing but the move and the block.
//!
//! W is rounded to f32 once for all samples, which moves the state by 3e-8: of no account, since the log ratio changes with it
//! by √N·3e-8 for a full random-walk step (4e-5 for two million samples).
//!
//! Cost per sample: 2·D² multiply-adds, 20 operations per source, a division and 8 operations for the logarithm of each four.

use fearless_simd::{Simd, prelude::*};

use austerity::error::Result;
use austerity::population::{Moments, merge_checked};
use austerity_glm::glm::batch::{Batch, PAIRS};
use austerity_glm::glm::blocks::{BLOCK, Line};
use austerity_glm::glm::kernel::{Pair, column};
use austerity_glm::glm::list::List;
use austerity_glm::simd::{Lanes, log1p, prefetch_at};

/// sinh z = z + z³·q(z²) for |z| ≤ 1: q, lowest power first (the series, the last coefficient raised to spread what is left out).
const SINH: [f32; 4] = [0.166_666_67, 0.008_333_333, 0.000_198_412_7, 0.000_002_78];
/// cosh z − 1 = z²·q(z²) for |z| ≤ 1.
const COSH: [f32; 5] = [0.5, 0.041_666_668, 0.001_388_888_9, 0.000_024_801_587, 0.000_000_277_6];
/// log(1 + p) = p + p²·q(p): q, lowest power first.
const LOG: [f32; 7] = [-0.5, 0.333_333_34, -0.25, 0.2, -0.166_666_67, 0.142_857_15, -0.125];
/// Largest |z| of the short polynomials.
const SHORT: f32 = 1.0 / 32.0;
/// Sources that share a logarithm: their product stays between e⁻⁴ and e⁴.
const GROUP: usize = 4;
/// tanh(s/2) = s·p(s²)/q(s²) for |s| ≤ 18, lowest power first: minimax for the relative error, which is 2.1e-8 before rounding.
const ABOVE: [f32; 5] = [0.5, 0.016_726_281, 0.000_109_237_124, 1.610_084_3e-7, 2.608_331_6e-11];
/// √2 times these coefficients.
const ABOVE_ROOT: [f32; 5] = [0.707_106_77, 0.023_654_533, 0.000_154_484_62, 2.277_003e-7, 3.688_738e-11];
const BELOW: [f32; 5] = [1.0, 0.116_785_854, 0.001_617_311_3, 5.133_804e-6, 3.037_717_4e-9];
/// Beyond this |s| tanh(s/2) is ±1 in f32.
const FLAT: f32 = 18.0;

/// How many blocks ahead a scan asks for memory.
const AHEAD: usize = 24;

/// The samples: `[block][source][32]`, one block one contiguous run of memory.
#[derive(Clone, Copy, Debug)]
pub struct Samples<'a> {
    /// All blocks.
    pub lines: &'a [Line],
    /// At least the length of the longest sample of each block.
    pub longest: &'a [f32],
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
    /// W and (W' − W)/√8 in f32, for short moves.
    pub short: &'a [[f32; 2]],
    /// In f32, for longer ones.
    pub single: &'a [[f32; 2]],
    /// In f64, for the longest.
    pub double: &'a [[f64; 2]],
    /// Samples up to this length have |z| ≤ 1/32 and |s| ≤ 18.
    pub reach: f32,
}

/// [`Move::reach`]: what the longest rows of W and of ½(W' − W) leave; 0 where one is not finite.
#[must_use]
pub fn reach(dimension: usize, double: &[[f64; 2]]) -> f32 {
    let mut longest = [0.0f64; 2];
    for row in double.chunks_exact(dimension.max(1)) {
        for (i, longest) in longest.iter_mut().enumerate() {
            let square: f64 = row.iter().map(|entry| entry[i] * entry[i]).sum();
            if !square.is_finite() {
                return 0.0;
            }
            *longest = longest.max(square);
        }
    }
    // A little less than they leave, for what the dot products round to.
    let [flat, short] = [f64::from(FLAT) / longest[0].sqrt(), f64::from(SHORT) / longest[1].sqrt()];
    (0.999 * flat.min(short)) as f32
}

/// The polynomials of z: (sinh z, cosh z − 1), for |z| ≤ 1.
#[inline(always)]
fn hyperbolic<S: Simd>(simd: S, z: Lanes<S>, square: Lanes<S>) -> (Lanes<S>, Lanes<S>) {
    let splat = |value: f32| Lanes::splat(simd, value);
    let odd = splat(SINH[3]).mul_add(square, splat(SINH[2])).mul_add(square, splat(SINH[1]));
    let odd = odd.mul_add(square, splat(SINH[0]));
    let even = splat(COSH[4]).mul_add(square, splat(COSH[3])).mul_add(square, splat(COSH[2]));
    let even = even.mul_add(square, splat(COSH[1])).mul_add(square, splat(COSH[0]));
    ((z * square).mul_add(odd, z), even * square)
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

/// A polynomial of s².
#[inline(always)]
fn even<S: Simd>(simd: S, c: &[f32; 5], square: Lanes<S>) -> Lanes<S> {
    let splat = |value: f32| Lanes::splat(simd, value);
    let value = splat(c[4]).mul_add(square, splat(c[3])).mul_add(square, splat(c[2]));
    value.mul_add(square, splat(c[1])).mul_add(square, splat(c[0]))
}

/// r of a source as numerator and denominator, the latter between 1 and 420, and z² where it is to be looked at.
#[inline(always)]
fn source<S: Simd, const LONG: bool>(simd: S, s: Lanes<S>, z: Lanes<S>) -> [Lanes<S>; 3] {
    let splat = |value: f32| Lanes::splat(simd, value);
    let square = z * z;
    if LONG {
        let s = s.max(splat(-FLAT)).min(splat(FLAT));
        let (sinh, cosh) = hyperbolic(simd, z, square);
        let (p, q) = (even(simd, &ABOVE, s * s) * s, even(simd, &BELOW, s * s));
        return [cosh.mul_add(q, p * sinh), q, square];
    }
    // Here `z` is y = z/√2, and p comes times √2.
    let (cube, q) = (square * z, even(simd, &BELOW, s * s));
    let p = even(simd, &ABOVE_ROOT, s * s) * s;
    let (odd, rest) = (cube.mul_add(splat(1.0 / 3.0), z), cube.mul_add(splat(-1.0 / 6.0), z));
    [odd * rest.mul_add(q, p), q, square]
}

/// The differences of a block in f32, and their largest z² where that is to be looked at.
#[inline(always)]
fn differences<S: Simd, const D: usize, const LONG: bool>(
    simd: S,
    dimension: usize,
    matrix: &[[f32; 2]],
    lines: &[Line],
) -> [Pair<S>; 2] {
    let d = if D == 0 { dimension } else { D };
    let lines = &lines[..2 * d];
    let matrix = &matrix[..d * d];
    let splat = |value: f32| Lanes::splat(simd, value);
    let zero = [splat(0.0); 2];
    let (mut total, mut largest) = (zero, zero);
    for group in (0..d).step_by(GROUP) {
        let (mut above, mut below) = (zero, zero);
        for j in group..d.min(group + GROUP) {
            let (mut s, mut z) = (zero, zero);
            for k in 0..d {
                let x = column(simd, lines, k);
                let [w, half] = matrix[j * d + k];
                for i in 0..2 {
                    s[i] = x[i].mul_add(splat(w), s[i]);
                    z[i] = x[i].mul_add(splat(half), z[i]);
                }
            }
            for i in 0..2 {
                let [a, q, square] = source::<S, LONG>(simd, s[i], z[i]);
                if j == group {
                    (above[i], below[i]) = (a, q);
                } else {
                    above[i] = above[i].mul_add(q, a * (above[i] + below[i]));
                    below[i] *= q;
                }
                if LONG {
                    largest[i] = largest[i].max(square);
                }
            }
        }
        for i in 0..2 {
            total[i] += logarithm::<S, LONG>(simd, above[i] / below[i]);
        }
    }
    [[total[0] * -2.0, total[1] * -2.0], largest]
}

/// The differences of a block of short moves; `None` where its samples are too long for it.
#[inline(always)]
fn short<S: Simd, const D: usize>(
    simd: S,
    samples: &Samples<'_>,
    task: Move<'_>,
    block: usize,
) -> Option<Pair<S>> {
    let fits = samples.longest[block] <= task.reach;
    fits.then(|| differences::<S, D, false>(simd, samples.dimension, task.short, samples.block(block))[0])
}

/// The differences of a block with larger z. Out of line: the paths of short moves come here rarely.
#[cold]
#[inline(never)]
fn long<S: Simd>(simd: S, samples: &Samples<'_>, task: Move<'_>, block: usize) -> Option<Pair<S>> {
    simd.vectorize(
        #[inline(always)]
        || {
            let lines = samples.block(block);
            let [total, largest] = differences::<S, 0, true>(simd, samples.dimension, task.single, lines);
            let splat = |value: f32| Lanes::splat(simd, value);
            // What `max` makes of NaN differs between machines: the total, which has it then, is looked at too.
            let small = largest[0].max(largest[1]).simd_le(splat(1.0))
                & (total[0] + total[1]).abs().simd_lt(splat(1e30));
            small.all_true().then_some(total)
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

/// Adds the differences of the blocks of `list`, which is a scan or not, to `moments`. Errors name storage positions.
#[inline(always)]
pub fn summarize<S: Simd, const D: usize>(
    simd: S,
    samples: &Samples<'_>,
    task: Move<'_>,
    mut list: List<'_>,
    scan: bool,
    moments: &mut Moments,
) -> Result<()> {
    // A copy of its own: what is reached through references would be read again after every store.
    let samples = &{ *samples };
    let dimension = if D == 0 { samples.dimension } else { D };
    let again = |block| values_of(simd, samples, task, block);
    let mut batch = Batch::new(simd);
    let mut upcoming = [list.next(), list.next()];
    while let [Some(block), second] = upcoming {
        upcoming = [list.next(), list.next()];
        if scan {
            // The hardware follows the run of lines but stops at the end of a page, which is after eight blocks of four sources.
            for line in (block + AHEAD) * 2 * dimension..(block + AHEAD + 2) * 2 * dimension {
                prefetch_at(samples.lines, line);
            }
        } else {
            for next in upcoming.into_iter().flatten() {
                (0..2 * dimension).for_each(|line| prefetch_at(samples.block(next), line));
            }
        }
        let mut values = [None; 2];
        let mut whole = second.is_some();
        for (values, block) in values.iter_mut().zip([Some(block), second]) {
            if let Some(block) = block {
                *values =
                    short::<S, D>(simd, samples, task, block).or_else(|| long(simd, samples, task, block));
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
            let short = short::<S, 0>(simd, samples, task, block);
            match short.or_else(|| long(simd, samples, task, block)) {
                Some([low, high]) => {
                    let mut values = [0.0; BLOCK];
                    low.store_slice(&mut values[..16]);
                    high.store_slice(&mut values[16..]);
                    values.map(f64::from)
                }
                None => slow(samples.dimension, task, samples.block(block)),
            }
        },
    )
}
