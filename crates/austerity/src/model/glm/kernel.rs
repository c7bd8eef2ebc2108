//! The hot loops: log-likelihood differences of blocks of 32 rows, and their moments.
//!
//! For a block, η = x·γ and δ = x·Δγ are two chains of multiply-adds over the columns, in storage order and
//! starting from the constant: the same chain whether a dot product runs alone or beside the other, so that an η
//! from a cache equals a fresh one to the last bit. γ is rounded to f32 in [`DITHERS`] ways that blocks take in
//! turn and whose mean is γ to 2 more bits: one rounding for all would move the state by a fixed 1e-8, which N rows add
//! up to √N·1e-8 in the log ratio, while all other roundings differ from row to row and average out. The family turns (η, δ) into l without subtracting two
//! log-likelihoods; mean, M2, M3, M4, extremes and non-zeros of the 32 numbers are formed in f32 about the
//! block's own mean and merged in f64 (see [`Moments`]).
//!
//! Blocks that f32 cannot serve take a slow path in f64, row by row: extreme η or δ, and numbers that are not finite
//! (where NaN and +∞ become errors). Which path a block takes depends on nothing but the move and the block, so a
//! row has the same l, to the last bit, in a total, a look and a reveal. Moments of partial blocks, of single rows and
//! of numbers whose powers leave the range of f32 are formed in f64.
//!
//! Cost: 2·d multiply-adds per row, one exp, expm1, log1p and division, about 1 operation per row for the
//! moments. The next block is prefetched while the current one is worked on, unless all data fit the cache
//! ([`NEAR`]). Single rows cost their whole block: a row lies in half of its block's cache lines anyway.

use fearless_simd::{Simd, prelude::*};

use super::blocks::{BLOCK, Blocks, Layout, Line};
use super::{Family, relocated};
use crate::error::Result;
use crate::population::{Moments, merge_checked};
use crate::simd::{Lanes, prefetch_at, prefetch_far};

/// The 32 rows of a block.
pub type Pair<S> = [Lanes<S>; 2];

/// What a family sees of 32 rows.
#[derive(Clone, Copy, Debug)]
pub struct Rows<S: Simd> {
    /// Linear predictor.
    pub eta: Pair<S>,
    /// Response, as stored.
    pub response: Pair<S>,
    /// Trials; 0 for families without.
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
    /// γ_j and Δγ_j of every stored column, one list after the other for every rounding of γ.
    pub coefficients: &'a [[f32; 2]],
    /// Constant part of η and of δ, for every rounding.
    pub constants: [[f32; 2]; DITHERS],
    /// What the family keeps of its extra parameters.
    pub step: P,
}

/// Blocks that are read soon.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead<'a> {
    /// The next one: every line is asked for.
    pub next: &'a [Line],
    /// One further on: a line here and there, which starts the hardware's own prefetching of its pages.
    pub far: &'a [Line],
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

/// η and δ of a block, without offset; δ alone (and zeros for η) unless `ETA`. Prefetches `ahead` on the way.
#[inline(always)]
pub fn dots<S: Simd, const ETA: bool>(
    simd: S,
    lines: &[Line],
    coefficients: &[[f32; 2]],
    constant: [f32; 2],
    ahead: Ahead<'_>,
) -> (Pair<S>, Pair<S>) {
    let mut eta = [Lanes::splat(simd, constant[0]); 2];
    let mut delta = [Lanes::splat(simd, constant[1]); 2];
    // A line now and then, and more of them at first, where the hardware learns the direction.
    for line in (2..8.min(ahead.far.len())).step_by(2) {
        prefetch_far(ahead.far, line);
    }
    for line in (0..ahead.far.len()).step_by(8) {
        prefetch_far(ahead.far, line);
    }
    // Plain indices: zipped iterators compiled to a loop that kept its state in memory.
    let columns = coefficients.len();
    let (pairs, _) = lines[..2 * columns].as_chunks::<2>();
    let mut add = |j: usize| {
        let low = Lanes::load_array_ref(simd, &pairs[j][0].0);
        let high = Lanes::load_array_ref(simd, &pairs[j][1].0);
        let [g, d] = coefficients[j];
        if ETA {
            let g = Lanes::splat(simd, g);
            eta[0] = low.mul_add(g, eta[0]);
            eta[1] = high.mul_add(g, eta[1]);
        }
        let d = Lanes::splat(simd, d);
        delta[0] = low.mul_add(d, delta[0]);
        delta[1] = high.mul_add(d, delta[1]);
    };
    let columns = columns.min(pairs.len());
    if ahead.next.is_empty() {
        (0..columns).for_each(add);
    } else {
        for j in 0..columns {
            prefetch_at(ahead.next, 2 * j);
            prefetch_at(ahead.next, 2 * j + 1);
            add(j);
        }
        for line in 2 * columns..ahead.next.len() {
            prefetch_at(ahead.next, line);
        }
    }
    (eta, delta)
}

impl<P> Move<'_, P> {
    /// γ and Δγ, and the constants, of the rounding that `block` takes.
    #[inline(always)]
    fn rounding(&self, block: usize) -> (&[[f32; 2]], [f32; 2]) {
        let (dither, columns) = (block % DITHERS, self.coefficients.len() / DITHERS);
        (&self.coefficients[dither * columns..][..columns], self.constants[dither])
    }
}

/// The rows of a block with their η, and δ.
#[inline(always)]
fn rows<S: Simd, F: Family, const MODE: u8>(
    simd: S,
    layout: &Layout,
    (coefficients, constant): (&[[f32; 2]], [f32; 2]),
    lines: &[Line],
    ahead: Ahead<'_>,
    cache: &mut [f32],
) -> (Rows<S>, Pair<S>) {
    let (mut eta, delta) = if MODE == eta::CACHED {
        let (_, delta) = dots::<S, false>(simd, lines, coefficients, constant, ahead);
        let eta = [Lanes::from_slice(simd, &cache[..16]), Lanes::from_slice(simd, &cache[16..32])];
        (eta, delta)
    } else {
        dots::<S, true>(simd, lines, coefficients, constant, ahead)
    };
    if MODE != eta::CACHED
        && let Some(place) = layout.offset
    {
        let offset = column(simd, lines, place);
        eta = [eta[0] + offset[0], eta[1] + offset[1]];
    }
    if MODE == eta::STORED {
        eta[0].store_slice(&mut cache[..16]);
        eta[1].store_slice(&mut cache[16..32]);
    }
    let trials = match layout.trials {
        Some(place) if F::TRIALS => column(simd, lines, place),
        _ => [Lanes::splat(simd, 0.0); 2],
    };
    let response = column(simd, lines, layout.response);
    (Rows { eta, response, trials }, delta)
}

/// The weighted differences of a block in f32, when f32 can serve it.
#[inline(always)]
fn fast<S: Simd, F: Family>(
    simd: S,
    layout: &Layout,
    task: &Move<'_, F::Step>,
    lines: &[Line],
    rows: &Rows<S>,
    delta: Pair<S>,
) -> Option<Pair<S>> {
    let values = F::differences(simd, &task.step, rows, delta)?;
    Some(match layout.weight {
        Some(place) => {
            let weight = column(simd, lines, place);
            [values[0] * weight[0], values[1] * weight[1]]
        }
        None => values,
    })
}

/// The weighted differences of a block in f64, row by row.
#[cold]
#[inline(never)]
fn slow<F: Family>(
    layout: &Layout,
    step: &F::Step,
    lines: &[Line],
    eta: &[f32; BLOCK],
    delta: &[f32; BLOCK],
) -> [f64; BLOCK] {
    std::array::from_fn(|i| {
        let side = |place: Option<usize>, missing: f64| {
            place.map_or(missing, |p| f64::from(lines[2 * p + i / 16].0[i % 16]))
        };
        let response = side(Some(layout.response), 0.0);
        let trials = side(layout.trials, 0.0);
        let weight = side(layout.weight, 1.0);
        if weight == 0.0 {
            return 0.0;
        }
        weight * F::difference(step, f64::from(eta[i]), f64::from(delta[i]), response, trials)
    })
}

#[inline(always)]
fn array<S: Simd>(pair: Pair<S>) -> [f32; BLOCK] {
    let mut values = [0.0; BLOCK];
    pair[0].store_slice(&mut values[..16]);
    pair[1].store_slice(&mut values[16..]);
    values
}

/// The weighted differences of a block as f64: those of f32 where they are finite, otherwise from the slow path.
#[inline(always)]
fn exact<S: Simd, F: Family>(
    layout: &Layout,
    task: &Move<'_, F::Step>,
    lines: &[Line],
    values: Option<Pair<S>>,
    rows: &Rows<S>,
    delta: Pair<S>,
) -> [f64; BLOCK] {
    if let Some(values) = values.map(array)
        && values.iter().all(|l| l.is_finite())
    {
        return values.map(f64::from);
    }
    slow::<F>(layout, &task.step, lines, &array(rows.eta), &array(delta))
}

/// Below and above these M2 the central sums of 32 numbers may leave the normal range of f32.
const M2_RANGE: std::ops::Range<f32> = 1e-16..1e16;

/// Moments of 32 numbers; `None` where f32 does not hold them.
#[inline(always)]
fn block_moments<S: Simd>(simd: S, [a, b]: Pair<S>) -> Option<Moments> {
    let sum = (a + b).reduce_sum();
    let mean = sum * (1.0 / BLOCK as f32);
    let minimum = a.min(b).reduce_min();
    let maximum = a.max(b).reduce_max();
    let (da, db) = (a - mean, b - mean);
    let (a2, b2) = (da * da, db * db);
    let m2 = (a2 + b2).reduce_sum();
    let m3 = a2.mul_add(da, b2 * db).reduce_sum();
    let m4 = a2.mul_add(a2, b2 * b2).reduce_sum();
    // All equal (often all zero, when a move does not touch these rows): no spread to lose. NaN fails both.
    if !(M2_RANGE.contains(&m2) || (minimum == maximum && m2 == 0.0)) {
        return None;
    }
    let zero = Lanes::splat(simd, 0.0);
    let zeros = a.simd_eq(zero).to_bitmask().count_ones() + b.simd_eq(zero).to_bitmask().count_ones();
    Some(Moments {
        count: BLOCK as u64,
        mean: f64::from(sum) * (1.0 / BLOCK as f64),
        m2: f64::from(m2),
        m3: f64::from(m3),
        m4: f64::from(m4),
        minimum: f64::from(minimum),
        maximum: f64::from(maximum),
        nonzeros: (BLOCK as u32 - zeros).into(),
    })
}

/// Adds the differences of storage blocks `list` to `moments`. Errors name storage positions.
///
/// `cache` has 32 values for every block of the storage when `MODE` uses it, and is unused otherwise.
#[inline(always)]
pub fn summarize<S: Simd, F: Family, const MODE: u8>(
    simd: S,
    blocks: &Blocks,
    task: &Move<'_, F::Step>,
    mut list: impl Iterator<Item = usize> + Clone,
    cache: &mut [f32],
    moments: &mut Moments,
) -> Result<()> {
    let layout = blocks.layout();
    let near = blocks.bytes() <= NEAR;
    let mut far = list.clone();
    far.nth(FAR - 1);
    let mut upcoming = list.next();
    while let Some(block) = upcoming {
        upcoming = list.next();
        let lines = blocks.block(block);
        let ahead = if near {
            Ahead::default()
        } else {
            let memory = |block: Option<usize>| block.map_or(&[][..], |b| blocks.block(b));
            Ahead { next: memory(upcoming), far: memory(far.next()) }
        };
        let cache =
            if MODE == eta::FRESH { &mut [][..] } else { &mut cache[block * BLOCK..(block + 1) * BLOCK] };
        let (rows, delta) = rows::<S, F, MODE>(simd, layout, task.rounding(block), lines, ahead, cache);
        let count = blocks.rows_in(block);
        let values = fast::<S, F>(simd, layout, task, lines, &rows, delta);
        let part = match values {
            Some(values) if count == BLOCK => block_moments(simd, values),
            _ => None,
        };
        if let Some(part) = part {
            moments.merge(&part);
        } else {
            let values = exact::<S, F>(layout, task, lines, values, &rows, delta);
            merge_checked(&values[..count], block * BLOCK, moments)?;
        }
    }
    Ok(())
}

/// The differences of `block` as f64.
#[inline(always)]
fn values_of<S: Simd, F: Family>(
    simd: S,
    blocks: &Blocks,
    task: &Move<'_, F::Step>,
    block: usize,
) -> [f64; BLOCK] {
    let (layout, lines) = (blocks.layout(), blocks.block(block));
    let (rows, delta) =
        rows::<S, F, { eta::FRESH }>(simd, layout, task.rounding(block), lines, Ahead::default(), &mut []);
    let values = fast::<S, F>(simd, layout, task, lines, &rows, delta);
    exact::<S, F>(layout, task, lines, values, &rows, delta)
}

/// Adds the differences of the single rows `list` to `moments`. Errors name storage positions.
///
/// Neighbours in one block share its evaluation. The numbers are merged 32 at a time.
#[inline(always)]
pub fn summarize_rows<S: Simd, F: Family>(
    simd: S,
    blocks: &Blocks,
    task: &Move<'_, F::Step>,
    mut list: impl Iterator<Item = usize>,
    moments: &mut Moments,
) -> Result<()> {
    let (mut positions, mut numbers) = ([0usize; BLOCK], [0.0; BLOCK]);
    let (mut known, mut values) = (usize::MAX, [0.0; BLOCK]);
    loop {
        let mut count = 0;
        for (position, row) in positions.iter_mut().zip(list.by_ref()) {
            if row / BLOCK != known {
                known = row / BLOCK;
                values = values_of::<S, F>(simd, blocks, task, known);
            }
            *position = row;
            numbers[count] = values[row % BLOCK];
            count += 1;
        }
        if count == 0 {
            return Ok(());
        }
        merge_checked(&numbers[..count], 0, moments).map_err(|e| relocated(e, |i| positions[i]))?;
    }
}

/// Writes the differences of storage positions `range` to `out`.
#[inline(always)]
pub fn reveal<S: Simd, F: Family>(
    simd: S,
    blocks: &Blocks,
    task: &Move<'_, F::Step>,
    range: std::ops::Range<usize>,
    out: &mut [f64],
) {
    let mut start = range.start;
    while start < range.end {
        let block = start / BLOCK;
        let stop = range.end.min((block + 1) * BLOCK);
        let values = values_of::<S, F>(simd, blocks, task, block);
        let inside = start % BLOCK..start % BLOCK + (stop - start);
        out[start - range.start..stop - range.start].copy_from_slice(&values[inside]);
        start = stop;
    }
}
