//! The hot loops: log-likelihood differences of blocks of 32 rows, and their moments.
//!
//! For a block, η = x·γ and δ = x·Δγ are two linear predictors ([`super::predictor`]). γ is rounded to f32 in [`DITHERS`] ways that blocks take in
//! turn and whose mean is γ to 2 more bits: one rounding for all would move the state by a fixed 1e-8, which N rows add
//! up to √N·1e-8 in the log ratio, while all other roundings differ from row to row and average out. The family turns (η, δ) into l without subtracting two
//! log-likelihoods; the power sums of the numbers of up to 16 blocks are formed in f32, lane by lane, about the
//! mean of the first two, reduced together, made central and merged in f64 (see [`Moments`]).
//!
//! Blocks that f32 cannot serve take a slow path in f64, row by row: extreme η or δ, and numbers that are not finite
//! (where NaN and +∞ become errors). Which path a block takes depends on nothing but the move and the block, so a
//! row has the same l, to the last bit, in a total, a look and a reveal. Moments of partial and odd blocks, of single
//! rows and of numbers whose powers leave the range of f32 are formed in f64.
//!
//! Blocks go two by two, which keeps eight chains of multiply-adds in flight where registers are wide enough.
//!
//! Cost: 2·d multiply-adds per row, one exp, expm1, log1p and division, about 1 operation per row for the
//! moments. The next block is prefetched while the current one is worked on, unless all data fit the cache
//! ([`NEAR`]). Single rows cost their whole block: a row lies in half of its block's cache lines anyway.

use fearless_simd::{Simd, prelude::*};

use super::batch::{Batch, PAIRS};
use super::blocks::{BLOCK, Layout, Line, View};
use super::family::{Family, Kernel as _, Step};
use super::list::List;
use super::precise::ExactMove;
use super::predictor::{self, Ahead, Rounding};
use super::rows::{EVERY_ROW, Wanted};
use crate::simd::Lanes;
use austerity::error::Result;
use austerity::population::{Moments, merge_checked};

/// The 32 rows of a block.
pub type Pair<S> = [Lanes<S>; 2];

/// x·(θ − θ̂) of 32 rows, of the current state and of the candidate.
pub type Displaced<S> = [Pair<S>; 2];

/// What a family sees of 32 rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<S: Simd> {
    /// Linear predictor.
    pub eta: Pair<S>,
    /// Response, as stored.
    pub response: Pair<S>,
    /// Trials, or events; 1 where there are none.
    pub trials: Pair<S>,
}

/// Roundings of γ to f32.
pub const DITHERS: usize = 4;

/// `value` to f32, rounded in way number `dither`: nearest after adding −3/8, −1/8, 1/8 or 3/8 of an ulp.
///
/// Sizes beyond 1e30 are cut, since f32 dot products could otherwise form ∞ − ∞.
#[must_use]
#[inline]
pub fn dithered(value: f64, dither: usize) -> f32 {
    let value = value.clamp(-1e30, 1e30);
    let ulp = f32::from_bits((value as f32).to_bits() & 0x7f80_0000) * f32::EPSILON;
    let share = (dither as f64 + 0.5) / DITHERS as f64 - 0.5;
    (value + share * f64::from(ulp)) as f32
}

/// A move in the units of the storage.
#[derive(Clone, Copy, Debug)]
pub struct Move<'a, P> {
    /// γ and Δγ of every stored coefficient, one list after the other for every rounding of γ.
    pub coefficients: &'a [[f32; 2]],
    /// Constant part of η and of δ, for every rounding.
    pub constants: [[f32; 2]; DITHERS],
    /// What the family keeps of its extra parameters.
    pub step: P,
    /// The same in f64, where that is needed.
    pub exact: Option<ExactMove<'a>>,
}

/// Data of at most this many bytes are taken to stay in the second-level cache: prefetching would only cost.
pub const NEAR: usize = 1 << 20;

/// How many blocks ahead the far one is.
const FAR: usize = 4;

/// Where η comes from.
pub mod eta {
    /// Computed and forgotten.
    pub const FRESH: u8 = 0;
    /// Computed and written to the cache.
    pub const STORED: u8 = 1;
    /// Read from the cache.
    pub const CACHED: u8 = 2;
}

/// A column of a block.
#[inline(always)]
pub fn column<S: Simd>(simd: S, lines: &[Line], column: usize) -> Pair<S> {
    let lines = &lines[2 * column..2 * column + 2];
    [Lanes::load_array_ref(simd, &lines[0].0), Lanes::load_array_ref(simd, &lines[1].0)]
}

impl<P> Move<'_, P> {
    /// γ and Δγ, and the constants, of the rounding that `block` takes.
    #[inline(always)]
    fn rounding(&self, block: usize) -> Rounding<'_> {
        let (dither, size) = (block % DITHERS, self.coefficients.len() / DITHERS);
        Rounding {
            coefficients: &self.coefficients[dither * size..][..size],
            constants: self.constants[dither],
        }
    }
}

/// The rows of a block, given the η of its columns, which a cache replaces or receives.
#[inline(always)]
pub fn rows<S: Simd, F: Family, const MODE: u8>(
    simd: S,
    layout: &Layout,
    lines: &[Line],
    mut eta: Pair<S>,
    cache: &mut [f32],
) -> Rows<S> {
    if MODE == eta::CACHED {
        eta = [Lanes::from_slice(simd, &cache[..16]), Lanes::from_slice(simd, &cache[16..32])];
    } else if let Some(place) = layout.offset {
        let offset = column(simd, lines, place);
        eta = [eta[0] + offset[0], eta[1] + offset[1]];
    }
    if MODE == eta::STORED {
        eta[0].store_slice(&mut cache[..16]);
        eta[1].store_slice(&mut cache[16..32]);
    }
    let trials = match layout.trials {
        Some(place) if F::TRIALS => column(simd, lines, place),
        _ => [Lanes::splat(simd, 1.0); 2],
    };
    Rows { eta, response: column(simd, lines, layout.response), trials }
}

/// The weighted differences of a block in f32, when f32 can serve it.
#[inline(always)]
pub fn fast<S: Simd, F: Family>(
    simd: S,
    layout: &Layout,
    step: &Step<F>,
    lines: &[Line],
    rows: &Rows<S>,
    delta: Pair<S>,
) -> Option<Pair<S>> {
    Some(weighted(simd, layout, lines, <F::Kernel>::differences(simd, step, rows, delta)?))
}

/// [`fast`] of two blocks, to the same bits.
#[inline(always)]
pub fn fast_two<S: Simd, F: Family>(
    simd: S,
    layout: &Layout,
    step: &Step<F>,
    lines: [&[Line]; 2],
    rows: [&Rows<S>; 2],
    delta: [Pair<S>; 2],
) -> [Option<Pair<S>>; 2] {
    if S::f32s::LEN < 16 {
        // Too few registers.
        return [
            fast::<S, F>(simd, layout, step, lines[0], rows[0], delta[0]),
            fast::<S, F>(simd, layout, step, lines[1], rows[1], delta[1]),
        ];
    }
    match <F::Kernel>::differences_of_two(simd, step, rows, delta) {
        [Some(first), Some(second)] => {
            [Some(weighted(simd, layout, lines[0], first)), Some(weighted(simd, layout, lines[1], second))]
        }
        [first, second] => [
            first.map(|first| weighted(simd, layout, lines[0], first)),
            second.map(|second| weighted(simd, layout, lines[1], second)),
        ],
    }
}

/// `values` times the weights of their rows.
#[inline(always)]
pub(super) fn weighted<S: Simd>(simd: S, layout: &Layout, lines: &[Line], values: Pair<S>) -> Pair<S> {
    match layout.weight {
        Some(place) => {
            let weight = column(simd, lines, place);
            [values[0] * weight[0], values[1] * weight[1]]
        }
        None => values,
    }
}

/// The weighted differences of the wanted rows of a block in f64; 0 of the others.
#[cold]
#[inline(never)]
fn slow<F: Family>(
    layout: &Layout,
    step: &Step<F>,
    lines: &[Line],
    (eta, delta): (&[f32; BLOCK], &[f32; BLOCK]),
    wanted: Wanted,
) -> [f64; BLOCK] {
    std::array::from_fn(|i| {
        if wanted >> i & 1 == 0 {
            return 0.0;
        }
        let side = |place: Option<usize>, missing: f64| {
            place.map_or(missing, |p| f64::from(lines[2 * p + i / 16].0[i % 16]))
        };
        let response = side(Some(layout.response), 0.0);
        let trials = side(layout.trials, 1.0);
        let weight = side(layout.weight, 1.0);
        if weight == 0.0 {
            return 0.0;
        }
        weight * <F::Kernel>::difference(step, f64::from(eta[i]), f64::from(delta[i]), response, trials)
    })
}

/// The 32 numbers of a pair.
#[inline(always)]
pub fn array<S: Simd>(pair: Pair<S>) -> [f32; BLOCK] {
    let mut values = [0.0; BLOCK];
    pair[0].store_slice(&mut values[..16]);
    pair[1].store_slice(&mut values[16..]);
    values
}

/// The weighted differences of a block as f64: those of f32 where they are finite, otherwise from the slow path.
#[inline(always)]
pub fn exact<S: Simd, F: Family>(
    layout: &Layout,
    step: &Step<F>,
    lines: &[Line],
    values: Option<Pair<S>>,
    rows: &Rows<S>,
    delta: Pair<S>,
) -> [f64; BLOCK] {
    exact_of::<S, F>(layout, step, lines, values, (rows, delta), EVERY_ROW)
}

/// [`exact`] where only the wanted rows of the slow path are asked for.
#[inline(always)]
fn exact_of<S: Simd, F: Family>(
    layout: &Layout,
    step: &Step<F>,
    lines: &[Line],
    values: Option<Pair<S>>,
    (rows, delta): (&Rows<S>, Pair<S>),
    wanted: Wanted,
) -> [f64; BLOCK] {
    if let Some(values) = values.map(array)
        && values.iter().all(|l| l.is_finite())
    {
        return values.map(f64::from);
    }
    slow::<F>(layout, step, lines, (&array(rows.eta), &array(delta)), wanted)
}

/// Adds the differences of storage blocks `list` to `moments`. Errors name storage positions.
///
/// Blocks go two by two into a batch. `cache` has 32 values for every block of the storage when `MODE` uses it, and is
/// unused otherwise.
#[inline(always)]
pub fn summarize<S: Simd, F: Family, const MODE: u8>(
    simd: S,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    list: List<'_>,
    cache: &mut [f32],
    moments: &mut Moments,
) -> Result<()> {
    // Copies of its own: what is reached through references would be read again after every store.
    let (blocks, task) = (&{ *blocks }, &{ *task });
    let layout = blocks.layout();
    let near = blocks.bytes() <= NEAR;
    let mut list = list;
    let mut far = list.clone();
    far.nth(FAR - 1);
    let memory = |block: Option<usize>| block.map_or(&[][..], |b| blocks.block(b));
    let again = |block| values_of::<S, F>(simd, blocks, task, block, EVERY_ROW).0;
    let mut batch = Batch::new(simd);
    let mut upcoming = [list.next(), list.next()];
    while let [Some(block), second] = upcoming {
        upcoming = [list.next(), list.next()];
        let mut ahead = [Ahead::default(); 2];
        if !near {
            ahead[0] = Ahead { next: memory(upcoming[0]), far: memory(far.next()) };
            ahead[1] = Ahead { next: memory(upcoming[1]), far: memory(far.next()) };
        }
        let place = |block: usize| if MODE == eta::FRESH { 0..0 } else { block * BLOCK..(block + 1) * BLOCK };
        let lines = blocks.block(block);
        let Some(other) = second else {
            let (values, eta) = values_of::<S, F>(simd, blocks, task, block, EVERY_ROW);
            if MODE == eta::STORED {
                cache[place(block)].copy_from_slice(&eta);
            }
            merge_checked(&values[..blocks.rows_in(block)], block * BLOCK, moments)?;
            break;
        };
        let more = blocks.block(other);
        let roundings = [task.rounding(block), task.rounding(other)];
        let [(eta, delta), (other_eta, other_delta)] = if MODE == eta::CACHED {
            predictor::of_two_blocks::<S, false>(simd, layout, [lines, more], roundings, ahead)
        } else {
            predictor::of_two_blocks::<S, true>(simd, layout, [lines, more], roundings, ahead)
        };
        let row = rows::<S, F, MODE>(simd, layout, lines, eta, &mut cache[place(block)]);
        let other_row = rows::<S, F, MODE>(simd, layout, more, other_eta, &mut cache[place(other)]);
        let [values, other_values] = fast_two::<S, F>(
            simd,
            layout,
            &task.step,
            [lines, more],
            [&row, &other_row],
            [delta, other_delta],
        );
        let whole = blocks.rows_in(block) == BLOCK && blocks.rows_in(other) == BLOCK;
        if let (true, Some([a, b]), Some([c, d])) = (whole, values, other_values) {
            batch.push(simd, [block, other], [a, b, c, d]);
            if batch.pairs == PAIRS {
                batch.flush(simd, moments, again)?;
            }
            continue;
        }
        batch.flush(simd, moments, again)?;
        for block in [block, other] {
            let (values, _) = values_of::<S, F>(simd, blocks, task, block, EVERY_ROW);
            merge_checked(&values[..blocks.rows_in(block)], block * BLOCK, moments)?;
        }
    }
    batch.flush(simd, moments, again)
}

/// The differences of the wanted rows of `block` as f64, and the dot products as a cache would hold them.
///
/// Out of line: the hot loop comes here only for partial and extreme blocks, and one copy of this code is enough.
#[inline(never)]
pub(super) fn values_of<S: Simd, F: Family>(
    simd: S,
    blocks: &View<'_>,
    task: &Move<'_, Step<F>>,
    block: usize,
    wanted: Wanted,
) -> ([f64; BLOCK], [f32; BLOCK]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let (layout, lines) = (blocks.layout(), blocks.block(block));
            let rounding = task.rounding(block);
            let (eta, delta) =
                predictor::of_block::<S, true>(simd, layout, lines, rounding, Ahead::default());
            let rows = rows::<S, F, { eta::FRESH }>(simd, layout, lines, eta, &mut []);
            let values = fast::<S, F>(simd, layout, &task.step, lines, &rows, delta);
            let values = exact_of::<S, F>(layout, &task.step, lines, values, (&rows, delta), wanted);
            (values, array(rows.eta))
        },
    )
}
