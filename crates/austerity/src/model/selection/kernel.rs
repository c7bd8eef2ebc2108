//! The hot loops: differences of blocks of 32 rows from the columns that matter, and their moments.
//!
//! As [`crate::model::glm::kernel`], but for the dot products: η runs over the active columns, δ over the changed ones,
//! each a chain of multiply-adds in ascending order that starts from its constant. η from a cache equals a fresh one to the
//! last bit; a row has the same l in a total, a look and a reveal.
//!
//! Cost: k multiply-adds per row for η (none with a cache), one per changed column, and the likelihood. Of a block only the
//! lines of those columns and of the response are read, and asked for a few blocks ahead.

use std::ops::Range;

use fearless_simd::{Simd, prelude::*};

use crate::error::Result;
use crate::model::glm::Logistic;
use crate::model::glm::batch::{Batch, PAIRS};
use crate::model::glm::blocks::{BLOCK, Layout, Line, View};
use crate::model::glm::compiled::Cache;
use crate::model::glm::kernel::{self, DITHERS, NEAR, Pair, column, eta};
use crate::model::glm::list::List;
use crate::population::{Moments, merge_checked};
use crate::simd::{Lanes, Level, dispatched, prefetch_at};

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
    for (&place, &factor) in columns.iter().zip(factors) {
        let [x, y] = column(simd, lines, place as usize);
        let factor = Lanes::splat(simd, factor);
        low = x.mul_add(factor, low);
        high = y.mul_add(factor, high);
    }
    [low, high]
}

impl Move<'_> {
    /// η of the columns, without offset.
    #[inline(always)]
    fn eta<S: Simd>(&self, simd: S, lines: &[Line], block: usize) -> Pair<S> {
        let (dither, count) = (block % DITHERS, self.active.len());
        let coefficients = &self.coefficients[dither * count..][..count];
        dot(simd, lines, self.active, coefficients, self.constants[dither])
    }

    #[inline(always)]
    fn delta<S: Simd>(&self, simd: S, lines: &[Line]) -> Pair<S> {
        dot(simd, lines, self.changed, self.steps, self.change)
    }

    /// Asks for the lines of a block that will be read.
    #[inline(always)]
    pub(super) fn prefetch(&self, layout: &Layout, lines: &[Line], cached: bool) {
        let fetch = |column: usize| {
            prefetch_at(lines, 2 * column);
            prefetch_at(lines, 2 * column + 1);
        };
        if !cached {
            self.active.iter().for_each(|&column| fetch(column as usize));
            layout.offset.into_iter().for_each(fetch);
        }
        self.changed.iter().for_each(|&column| fetch(column as usize));
        fetch(layout.response);
        layout.weight.into_iter().for_each(fetch);
    }
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
        if !near {
            for next in [ahead.next(), ahead.next()].into_iter().flatten() {
                task.prefetch(layout, blocks.block(next), MODE == eta::CACHED);
            }
        }
        let lines = [blocks.block(block), blocks.block(other)];
        let mut rows = |lines: &[Line], block: usize| {
            let zero = [Lanes::splat(simd, 0.0); 2];
            let eta = if MODE == eta::CACHED { zero } else { task.eta(simd, lines, block) };
            kernel::rows::<S, Logistic, MODE>(simd, layout, lines, eta, &mut cache[place(block)])
        };
        let rows = [rows(lines[0], block), rows(lines[1], other)];
        let delta = [task.delta(simd, lines[0]), task.delta(simd, lines[1])];
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
            let eta = task.eta(simd, lines, block);
            let rows = kernel::rows::<S, Logistic, { eta::FRESH }>(simd, layout, lines, eta, &mut []);
            let delta = task.delta(simd, lines);
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
        kernel::summarize_rows(|block| values_of(simd, blocks, task, block).0, &mut *rows, moments)
    })
}

/// Writes the differences of storage positions `rows` to `out`.
pub(super) fn reveal(level: Level, blocks: &View<'_>, task: &Move<'_>, rows: Range<usize>, out: &mut [f64]) {
    dispatched!(level, simd => {
        kernel::reveal(|block| values_of(simd, blocks, task, block).0, rows.clone(), out);
    });
}
