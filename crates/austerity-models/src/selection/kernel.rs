//! The hot loops: differences of blocks of 32 rows from the columns that matter, and their moments.
//!
//! As [`austerity_glm::glm::kernel`], but for the dot products: η runs over the active columns, δ over the changed ones,
//! each a chain of multiply-adds in ascending order that starts from its constant. η from a cache equals a fresh one to the
//! last bit; a row has the same l in a total, a look and a reveal.
//!
//! Cost: k multiply-adds per row for η (none with a cache), one per changed column, and the likelihood. Of a block only the
//! lines of those columns and of the response are read, and asked for a few blocks ahead.

use std::ops::Range;

use fearless_simd::{Simd, prelude::*};

use austerity::error::Result;
use austerity::population::{Moments, merge_checked};
use austerity_glm::glm::Logistic;
use austerity_glm::glm::batch::{Batch, PAIRS};
use austerity_glm::glm::blocks::{BLOCK, Layout, Line, View};
use austerity_glm::glm::compiled::Cache;
use austerity_glm::glm::kernel::{self, DITHERS, NEAR, Pair, column, eta};
use austerity_glm::glm::list::List;
use austerity_glm::glm::rows as single;
use austerity_glm::simd::{Lanes, Level, dispatched, prefetch_at};

/// How many blocks ahead memory is asked for.
const AHEAD: usize = 4;

/// A move in the units of the storage.
#[derive(Clone, Copy, Debug)]
pub(super) struct Move<'a> {
    /// Active columns of the current state.
    pub(super) active: &'a [u32],
    /// Their γ, one list after the other for every rounding.
    pub(super) coefficients: &'a [f32],
    /// Constant part of η, for every rounding.
    pub(super) constants: [f32; DITHERS],
    /// Columns whose coefficient changes.
    pub(super) changed: &'a [u32],
    /// Their Δγ.
    pub(super) steps: &'a [f32],
    /// Constant part of δ.
    pub(super) change: f32,
}

/// The sum of some columns, each times its factor, and a constant.
#[inline(always)]
fn dot<S: Simd>(simd: S, lines: &[Line], columns: &[u32], factors: &[f32], constant: f32) -> Pair<S> {
    let mut low = Lanes::splat(simd, constant);
    let mut high = low;
    let factors = &factors[..columns.len()];
    for i in 0..columns.len() {
        let [x, y] = column(simd, lines, columns[i] as usize);
        let factor = Lanes::splat(simd, factors[i]);
        low = x.mul_add(factor, low);
        high = y.mul_add(factor, high);
    }
    [low, high]
}

/// [`dot`] of two blocks at once, to the same bits, each with factors and a constant of its own: four chains of multiply-adds hide
/// the latency that two cannot. Asks for the same columns of the blocks `ahead` on the way, unless they are empty.
#[inline(always)]
fn dot_of_two<S: Simd>(
    simd: S,
    lines: [&[Line]; 2],
    columns: &[u32],
    factors: [&[f32]; 2],
    constants: [f32; 2],
    ahead: [&[Line]; 2],
) -> [Pair<S>; 2] {
    // Plain variables and indices: arrays and closures compile to a loop that keeps its state in memory.
    let mut e0 = Lanes::splat(simd, constants[0]);
    let mut e2 = Lanes::splat(simd, constants[1]);
    let (mut e1, mut e3) = (e0, e2);
    let (first, second) = (&factors[0][..columns.len()], &factors[1][..columns.len()]);
    let (low, _) = lines[0].as_chunks::<2>();
    let (high, _) = lines[1].as_chunks::<2>();
    let high = &high[..low.len()];
    let (next, other) = (ahead[0], ahead[1]);
    let fetch = !next.is_empty();
    for i in 0..columns.len() {
        let j = columns[i] as usize;
        if fetch {
            prefetch_column(next, j);
            prefetch_column(other, j);
        }
        let factor = Lanes::splat(simd, first[i]);
        e0 = Lanes::load_array_ref(simd, &low[j][0].0).mul_add(factor, e0);
        e1 = Lanes::load_array_ref(simd, &low[j][1].0).mul_add(factor, e1);
        let factor = Lanes::splat(simd, second[i]);
        e2 = Lanes::load_array_ref(simd, &high[j][0].0).mul_add(factor, e2);
        e3 = Lanes::load_array_ref(simd, &high[j][1].0).mul_add(factor, e3);
    }
    [[e0, e1], [e2, e3]]
}

impl<'a> Move<'a> {
    /// γ of the active columns, and the constant, in the rounding that `block` takes.
    #[inline(always)]
    fn rounding(&self, block: usize) -> (&'a [f32], f32) {
        let (dither, count) = (block % DITHERS, self.active.len());
        (&self.coefficients[dither * count..][..count], self.constants[dither])
    }

    /// Asks for the lines of a block that will be read, but for the active columns.
    #[inline(always)]
    fn prefetch_sides(&self, layout: &Layout, lines: &[Line], cached: bool) {
        if !cached && let Some(offset) = layout.offset {
            prefetch_column(lines, offset);
        }
        for i in 0..self.changed.len() {
            prefetch_column(lines, self.changed[i] as usize);
        }
        prefetch_column(lines, layout.response);
        if let Some(weight) = layout.weight {
            prefetch_column(lines, weight);
        }
    }

    /// Asks for all lines of a block that will be read without a cache.
    pub(super) fn prefetch(&self, layout: &Layout, lines: &[Line]) {
        self.active.iter().for_each(|&column| prefetch_column(lines, column as usize));
        self.prefetch_sides(layout, lines, false);
    }
}

#[inline(always)]
fn prefetch_column(lines: &[Line], column: usize) {
    prefetch_at(lines, 2 * column);
    prefetch_at(lines, 2 * column + 1);
}

/// Adds the differences of storage blocks `list` to `moments`. Errors name storage positions.
pub(super) fn summarize(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_>,
    list: List<'_>,
    cache: Cache<'_>,
    moments: &mut Moments,
) -> Result<()> {
    match cache {
        Cache::Fresh => moments_of::<{ eta::FRESH }>(level, blocks, task, list, &mut [], moments),
        Cache::Known(eta) => moments_of::<{ eta::CACHED }>(level, blocks, task, list, eta, moments),
        Cache::Kept(eta) => moments_of::<{ eta::STORED }>(level, blocks, task, list, eta, moments),
    }
}

#[inline(never)]
fn moments_of<const ETA: u8>(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_>,
    list: List<'_>,
    eta: &mut [f32],
    moments: &mut Moments,
) -> Result<()> {
    dispatched!(level, simd => pass::<_, ETA>(simd, blocks, task, list, eta, moments))
}

/// Blocks two by two into a batch. `cache` has 32 values for every block of the storage when `MODE` uses it.
#[inline(always)]
fn pass<S: Simd, const MODE: u8>(
    simd: S,
    blocks: &View<'_>,
    task: &Move<'_>,
    mut list: List<'_>,
    cache: &mut [f32],
    moments: &mut Moments,
) -> Result<()> {
    let (blocks, task) = (&{ *blocks }, &{ *task });
    let layout = blocks.layout();
    let mut ahead = list.clone();
    ahead.nth(AHEAD - 1);
    let near = blocks.bytes() <= NEAR;
    let memory = |block: Option<usize>| block.map_or(&[][..], |b| blocks.block(b));
    let mut batch = Batch::new(simd);
    let again = |block: usize| values_of(simd, blocks, task, block).0;
    while let Some(block) = list.next() {
        let place = |block: usize| if MODE == eta::FRESH { 0..0 } else { block * BLOCK..(block + 1) * BLOCK };
        let Some(other) = list.next() else {
            let (values, eta) = values_of(simd, blocks, task, block);
            if MODE == eta::STORED {
                cache[place(block)].copy_from_slice(&eta);
            }
            merge_checked(&values[..blocks.rows_in(block)], block * BLOCK, moments)?;
            break;
        };
        let mut next: [&[Line]; 2] = [&[]; 2];
        if !near {
            next = [memory(ahead.next()), memory(ahead.next())];
            task.prefetch_sides(layout, next[0], MODE == eta::CACHED);
            task.prefetch_sides(layout, next[1], MODE == eta::CACHED);
        }
        let lines = [blocks.block(block), blocks.block(other)];
        let mut eta = [[Lanes::splat(simd, 0.0); 2]; 2];
        if MODE != eta::CACHED {
            let ((gamma, constant), (other_gamma, other_constant)) =
                (task.rounding(block), task.rounding(other));
            let constants = [constant, other_constant];
            eta = dot_of_two(simd, lines, task.active, [gamma, other_gamma], constants, next);
        }
        let delta = dot_of_two(simd, lines, task.changed, [task.steps; 2], [task.change; 2], [&[]; 2]);
        let rows = [
            kernel::rows::<S, Logistic, MODE>(simd, layout, lines[0], eta[0], &mut cache[place(block)]),
            kernel::rows::<S, Logistic, MODE>(simd, layout, lines[1], eta[1], &mut cache[place(other)]),
        ];
        let values = kernel::fast_two::<S, Logistic>(simd, layout, &(), lines, [&rows[0], &rows[1]], delta);
        let whole = blocks.rows_in(block) == BLOCK && blocks.rows_in(other) == BLOCK;
        if let (true, [Some([a, b]), Some([c, d])]) = (whole, values) {
            batch.push(simd, [block, other], [a, b, c, d]);
            if batch.pairs < PAIRS {
                continue;
            }
        }
        batch.flush(simd, moments, again)?;
        if !whole || values.iter().any(Option::is_none) {
            for block in [block, other] {
                merge_checked(&again(block)[..blocks.rows_in(block)], block * BLOCK, moments)?;
            }
        }
    }
    batch.flush(simd, moments, again)
}

/// The differences of `block` as f64, and η as a cache would hold it. Out of line: for partial and extreme blocks.
#[inline(never)]
fn values_of<S: Simd>(
    simd: S,
    blocks: &View<'_>,
    task: &Move<'_>,
    block: usize,
) -> ([f64; BLOCK], [f32; BLOCK]) {
    simd.vectorize(
        #[inline(always)]
        || {
            let (layout, lines) = (blocks.layout(), blocks.block(block));
            let (coefficients, constant) = task.rounding(block);
            let eta = dot(simd, lines, task.active, coefficients, constant);
            let rows = kernel::rows::<S, Logistic, { eta::FRESH }>(simd, layout, lines, eta, &mut []);
            let delta = dot(simd, lines, task.changed, task.steps, task.change);
            let values = kernel::fast::<S, Logistic>(simd, layout, &(), lines, &rows, delta);
            let values = kernel::exact::<S, Logistic>(layout, &(), lines, values, &rows, delta);
            (values, kernel::array(rows.eta))
        },
    )
}

/// Adds the differences of single rows to `moments`. Errors name storage positions.
pub(super) fn summarize_rows(
    level: Level,
    blocks: &View<'_>,
    task: &Move<'_>,
    rows: &mut dyn Iterator<Item = usize>,
    moments: &mut Moments,
) -> Result<()> {
    dispatched!(level, simd => {
        single::summarize_rows(|block, _| values_of(simd, blocks, task, block).0, true, &mut *rows, moments)
    })
}

/// Writes the differences of storage positions `rows` to `out`.
pub(super) fn reveal(level: Level, blocks: &View<'_>, task: &Move<'_>, rows: Range<usize>, out: &mut [f64]) {
    dispatched!(level, simd => {
        single::reveal(|block, _| values_of(simd, blocks, task, block).0, rows.clone(), out);
    });
}
