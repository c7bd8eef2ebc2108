//! The hot loops of a surrogate: what the expansion leaves of blocks of 32 rows, and its moments.
//!
//! For a block, b = x·(θ − θ̂) and c = x·(θ' − θ̂) are two chains of multiply-adds as in [`super::kernel`]; η̂ of every row is kept, 4 bytes
//! each, and the family turns (η̂, b, c) into r = R(c) − R(b) without cancelling ([`super::remainder`]). For an expansion of the first order
//! the quadratic term ℓ''(c² − b²)/2 is added to r. Rows whose η̂ is NaN belong to the certainty stratum, which is exact elsewhere: their residual is 0.
//!
//! Residuals shrink like N^{−3/2}, and with them their fourth powers, beyond the range of f32: all numbers here are multiplied
//! by a power of two that makes them about 1, and [`Moments::scaled`] takes it back.
//!
//! Cost: 2·d multiply-adds per row, one exp, a division and two polynomials.

use fearless_simd::{Simd, prelude::*};

use super::batch::{Batch, PAIRS};
use super::blocks::{BLOCK, View};
use super::family::{Expanded, Family, Kernel as _, MOST_EXTRA};
use super::kernel::{NEAR, Pair, Rows, array, column, weighted};
use super::list::List;
use super::predictor::{self, Ahead, Rounding};
use super::rows::{EVERY_ROW, Wanted};
use crate::simd::Lanes;
use austerity::error::Result;
use austerity::population::{Moments, merge_checked};

/// Changes of the extra parameters from the centre to two states.
pub type Changes = [[f64; MOST_EXTRA]; 2];

/// A move in the units of the storage.
#[derive(Debug)]
pub struct Task<'a, F: Family> {
    /// θ − θ̂ and θ' − θ̂ in the order of the storage.
    pub coefficients: &'a [[f32; 2]],
    /// Their constant parts.
    pub constants: [f32; 2],
    /// What the family keeps of its extra parameters.
    pub expanded: Expanded<F>,
    /// η̂ of every row of the storage, filled up to whole blocks; NaN for the stratum.
    pub eta: &'a [f32],
    /// What residuals are multiplied by.
    pub scale: f32,
    /// Whether the expansion has a term of the third order.
    pub third: bool,
    /// Where an expansion of the first order needs the second derivative: the family and its extra parameters at the centre, and
    /// their changes to the two states.
    pub first_order: Option<(&'a F, &'a [f64], Changes)>,
}

impl<F: Family> Clone for Task<'_, F> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<F: Family> Copy for Task<'_, F> {}

/// The rows of a block at the centre, and which of them are in the population.
#[inline(always)]
fn centre<S: Simd, F: Family>(
    simd: S,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    block: usize,
) -> (Rows<S>, Pair<S>) {
    let (layout, lines) = (blocks.layout(), blocks.block(block));
    let eta = &task.eta[block * BLOCK..][..BLOCK];
    let eta = [Lanes::from_slice(simd, &eta[..16]), Lanes::from_slice(simd, &eta[16..])];
    let known = [eta[0].simd_eq(eta[0]), eta[1].simd_eq(eta[1])];
    let (zero, one) = (Lanes::splat(simd, 0.0), Lanes::splat(simd, task.scale));
    let eta = [known[0].select(eta[0], zero), known[1].select(eta[1], zero)];
    let factor = [known[0].select(one, zero), known[1].select(one, zero)];
    let trials = match layout.trials {
        Some(place) if F::TRIALS => column(simd, lines, place),
        _ => [Lanes::splat(simd, 1.0); 2],
    };
    (Rows { eta, response: column(simd, lines, layout.response), trials }, factor)
}

/// The scaled, weighted residuals of a block in f32, when f32 can serve it.
#[inline(always)]
fn fast<S: Simd, F: Family>(
    simd: S,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    block: usize,
    (from, to): (Pair<S>, Pair<S>),
) -> Option<Pair<S>> {
    let (rows, factor) = centre(simd, blocks, task, block);
    // A stratum row may be anywhere: its h must not send the block to the slow path.
    let zero = Lanes::splat(simd, 0.0);
    let outside = [factor[0].simd_eq(zero), factor[1].simd_eq(zero)];
    let from = [outside[0].select(zero, from[0]), outside[1].select(zero, from[1])];
    let to = [outside[0].select(zero, to[0]), outside[1].select(zero, to[1])];
    let mut values = <F::Kernel>::residuals(simd, &task.expanded, &rows, [from, to], task.third)?;
    if let Some((family, extra, [before, after])) = task.first_order {
        let all = <F::Kernel>::derivatives(family, simd, extra, &rows);
        let half = Lanes::splat(simd, 0.5);
        for i in 0..2 {
            let squares = (to[i] - from[i]) * (to[i] + from[i]);
            values[i] = (all.second[i] * half).mul_add(squares, values[i]);
            if let Some(extra) = &all.extra {
                let splat = |value: f64| Lanes::splat(simd, value as f32);
                for a in 0..family.extra().len() {
                    let mixed = to[i] * splat(after[a]) - from[i] * splat(before[a]);
                    values[i] = extra.cross[a][i].mul_add(mixed, values[i]);
                    for b in 0..family.extra().len() {
                        let squares = splat(0.5 * (after[a] * after[b] - before[a] * before[b]));
                        values[i] = extra.curve[a][b][i].mul_add(squares, values[i]);
                    }
                }
            }
        }
    }
    let values = [values[0] * factor[0], values[1] * factor[1]];
    Some(weighted(simd, blocks.layout(), blocks.block(block), values))
}

/// The scaled residuals of the wanted rows of a block in f64; 0 of the others.
#[cold]
#[inline(never)]
fn slow<F: Family>(
    blocks: &View<'_>,
    task: &Task<'_, F>,
    block: usize,
    (from, to): (&[f32; BLOCK], &[f32; BLOCK]),
    wanted: Wanted,
) -> [f64; BLOCK] {
    let (layout, lines) = (blocks.layout(), blocks.block(block));
    std::array::from_fn(|i| {
        if wanted >> i & 1 == 0 {
            return 0.0;
        }
        let side = |place: Option<usize>, missing: f64| {
            place.map_or(missing, |p| f64::from(lines[2 * p + i / 16].0[i % 16]))
        };
        let eta = f64::from(task.eta[block * BLOCK + i]);
        let (response, trials) = (side(Some(layout.response), 0.0), side(layout.trials, 1.0));
        let weight = side(layout.weight, 1.0);
        if weight == 0.0 || eta.is_nan() {
            return 0.0;
        }
        let (b, c) = (f64::from(from[i]), f64::from(to[i]));
        let mut value = <F::Kernel>::residual(&task.expanded, eta, [b, c], response, trials, task.third);
        if let Some((family, extra, [before, after])) = task.first_order {
            let second = family.row_curve(extra, eta, response, trials).second;
            value += 0.5 * second[0][0] * (c - b) * (c + b);
            for i in 0..family.extra().len() {
                value += second[0][i + 1] * (c * after[i] - b * before[i]);
                for j in 0..family.extra().len() {
                    value += 0.5 * second[i + 1][j + 1] * (after[i] * after[j] - before[i] * before[j]);
                }
            }
        }
        f64::from(task.scale) * weight * value
    })
}

/// Adds the scaled residuals of storage blocks `list` to `moments`. Errors name storage positions.
#[inline(always)]
pub fn summarize<S: Simd, F: Family>(
    simd: S,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    list: List<'_>,
    moments: &mut Moments,
) -> Result<()> {
    let (blocks, task) = (&{ *blocks }, &{ *task });
    let near = blocks.bytes() <= NEAR;
    let mut list = list;
    let memory = |block: Option<usize>| block.map_or(&[][..], |b| blocks.block(b));
    let again = |block| values_of::<S, F>(simd, blocks, task, block, EVERY_ROW);
    let mut batch = Batch::new(simd);
    let mut upcoming = [list.next(), list.next()];
    while let [Some(block), second] = upcoming {
        upcoming = [list.next(), list.next()];
        let Some(other) = second else {
            let values = again(block);
            merge_checked(&values[..blocks.rows_in(block)], block * BLOCK, moments)?;
            break;
        };
        let mut ahead = [Ahead::default(); 2];
        if !near {
            ahead = upcoming.map(|block| Ahead { next: memory(block), far: &[] });
        }
        let lines = [blocks.block(block), blocks.block(other)];
        let rounding = Rounding { coefficients: task.coefficients, constants: task.constants };
        let layout = blocks.layout();
        let dots = predictor::of_two_blocks::<S, true>(simd, layout, lines, [rounding; 2], ahead);
        let values = fast(simd, blocks, task, block, dots[0]);
        let others = fast(simd, blocks, task, other, dots[1]);
        let whole = blocks.rows_in(block) == BLOCK && blocks.rows_in(other) == BLOCK;
        if let (true, Some([a, b]), Some([c, d])) = (whole, values, others) {
            batch.push(simd, [block, other], [a, b, c, d]);
            if batch.pairs == PAIRS {
                batch.flush(simd, moments, again)?;
            }
            continue;
        }
        batch.flush(simd, moments, again)?;
        for block in [block, other] {
            merge_checked(&again(block)[..blocks.rows_in(block)], block * BLOCK, moments)?;
        }
    }
    batch.flush(simd, moments, again)
}

/// The scaled residuals of the wanted rows of `block` as f64.
#[inline(never)]
pub(super) fn values_of<S: Simd, F: Family>(
    simd: S,
    blocks: &View<'_>,
    task: &Task<'_, F>,
    block: usize,
    wanted: Wanted,
) -> [f64; BLOCK] {
    simd.vectorize(
        #[inline(always)]
        || {
            let (layout, lines) = (blocks.layout(), blocks.block(block));
            let rounding = Rounding { coefficients: task.coefficients, constants: task.constants };
            let (from, to) = predictor::of_block::<S, true>(simd, layout, lines, rounding, Ahead::default());
            if let Some(values) = fast(simd, blocks, task, block, (from, to)).map(array)
                && values.iter().all(|r| r.is_finite())
            {
                return values.map(f64::from);
            }
            slow(blocks, task, block, (&array(from), &array(to)), wanted)
        },
    )
}
