//! Block-columnar storage: `[block][column][32]` in f32, one block one contiguous run of memory.
//!
//! A block holds 32 rows. Its columns lie one after the other, 128 bytes each, aligned to cache lines: first the
//! dense columns x̃ = (x − shift)/scale, then the factor columns (the place of a row's level in the table of levels, as the
//! bits of a u32, see [`super::predictor`]) and the numbers that the last of them are multiplied with, then the side columns that the family needs (response, trials, offset,
//! weight), see [`crate::data::sides`]. A look that reads random blocks so reads whole runs, and a dot product
//! reads straight through. Rows missing from the last block are zero in every column. The intercept is not stored: it is
//! the initial value of the accumulators.
//!
//! The memory is a vector or anything else that lends lines, such as a memory map ([`Memory`]). A [`View`] borrows it
//! once, so that the loops over blocks pay nothing for that freedom.
//!
//! Cost: 4 bytes per row and column, 4 per row and factor or side column. Do not use for sparse data: zeros are stored.

use std::fmt;
use std::sync::Arc;

use crate::memory::filled;
use austerity::error::{Error, Result};

/// Rows in a block of the storage.
pub const BLOCK: usize = 32;

/// Half a column of a block: one cache line.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(align(64))]
pub struct Line(pub [f32; 16]);

/// Sixteen zeros.
pub const ZERO: Line = Line([0.0; 16]);

/// Where the side columns of a block are, counted in columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Dense columns.
    pub columns: usize,
    /// Factor columns, which follow them.
    pub factors: usize,
    /// The last so many of them have slopes: each is multiplied with a column of its own, which follow in the same order.
    pub slopes: usize,
    /// Levels of all factors that have a coefficient.
    pub levels: usize,
    /// Column of the response.
    pub response: usize,
    /// Column of the binomial trials.
    pub trials: Option<usize>,
    /// Column of the known part of the linear predictor.
    pub offset: Option<usize>,
    /// Column of the frequency weights.
    pub weight: Option<usize>,
    /// All columns.
    pub width: usize,
}

impl Layout {
    /// The layout of so many columns and the side columns that are there.
    #[must_use]
    pub fn new(columns: usize, trials: bool, offset: bool, weight: bool) -> Self {
        let mut width = columns + 1;
        let mut side = |present: bool| {
            present.then(|| {
                width += 1;
                width - 1
            })
        };
        let (trials, offset, weight) = (side(trials), side(offset), side(weight));
        Self { columns, factors: 0, slopes: 0, levels: 0, response: columns, trials, offset, weight, width }
    }

    /// The same with so many factor columns after the dense ones, and so many levels with a coefficient in all of them.
    #[must_use]
    pub fn with_factors(self, factors: usize, levels: usize) -> Self {
        Self { factors: self.factors + factors, levels: self.levels + levels, ..self.moved(factors) }
    }

    /// The same where the last so many factors have slopes.
    #[must_use]
    pub fn with_slopes(self, slopes: usize) -> Self {
        Self { slopes: self.slopes + slopes, ..self.moved(slopes) }
    }

    /// The same with so many more columns before the side columns.
    fn moved(self, by: usize) -> Self {
        let moved = |place: Option<usize>| place.map(|place| place + by);
        Self {
            response: self.response + by,
            trials: moved(self.trials),
            offset: moved(self.offset),
            weight: moved(self.weight),
            width: self.width + by,
            ..self
        }
    }

    /// Factor columns without slopes, which come first.
    #[must_use]
    #[inline(always)]
    pub fn plain_factors(&self) -> usize {
        self.factors - self.slopes
    }

    /// Entries of the table of levels: one without a coefficient, for reference levels, and one for every level.
    #[must_use]
    #[inline(always)]
    pub fn table(&self) -> usize {
        if self.factors == 0 { 0 } else { 1 + self.levels }
    }

    /// Coefficients in the order of the storage: dense columns, then the table of levels.
    #[must_use]
    #[inline(always)]
    pub fn coefficients(&self) -> usize {
        self.columns + self.table()
    }

    /// Cache lines in a block.
    #[must_use]
    #[inline(always)]
    pub fn lines(&self) -> usize {
        2 * self.width
    }
}

/// What lends the lines of a storage: a vector, a memory map.
pub type Memory = Arc<dyn AsRef<[Line]> + Send + Sync>;

/// N rows in blocks of 32. A clone shares the memory.
#[derive(Clone)]
pub struct Blocks {
    memory: Memory,
    layout: Layout,
    rows: usize,
}

impl fmt::Debug for Blocks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { layout, rows, .. } = self;
        f.debug_struct("Blocks").field("layout", layout).field("rows", rows).finish_non_exhaustive()
    }
}

impl Blocks {
    /// Rows that are stored already.
    pub fn new(memory: Memory, layout: Layout, rows: usize) -> Result<Self> {
        let (expected, found) = (rows.div_ceil(BLOCK) * layout.lines(), (*memory).as_ref().len());
        if expected != found {
            return Err(Error::Dimension { what: "cache lines of the storage".into(), expected, found });
        }
        Ok(Self { memory, layout, rows })
    }

    /// The storage, borrowed once for many reads.
    #[must_use]
    pub fn view(&self) -> View<'_> {
        View { lines: (*self.memory).as_ref(), layout: &self.layout, rows: self.rows }
    }

    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of blocks.
    #[must_use]
    pub fn count(&self) -> usize {
        self.view().count()
    }

    /// Where the side columns are.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory of `block`.
    #[must_use]
    pub fn block(&self, block: usize) -> &[Line] {
        self.view().block(block)
    }

    /// All memory.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        (*self.memory).as_ref()
    }

    /// A copy of some rows and dense columns, the factor and side columns with them.
    pub(crate) fn gather(&self, positions: impl Iterator<Item = u32>, rows: usize, columns: &[u32]) -> Self {
        let from = &self.layout;
        let layout =
            Layout::new(columns.len(), from.trials.is_some(), from.offset.is_some(), from.weight.is_some())
                .with_factors(from.factors, from.levels)
                .with_slopes(from.slopes);
        let places: Vec<usize> =
            columns.iter().map(|&j| j as usize).chain(from.columns..from.width).collect();
        let view = self.view();
        let mut lines = filled(rows.div_ceil(BLOCK) * layout.lines(), ZERO);
        for (row, position) in positions.take(rows).enumerate() {
            let (i, k) = (position as usize % BLOCK, row % BLOCK);
            let source = view.block(position as usize / BLOCK);
            let target = &mut lines[row / BLOCK * layout.lines()..][..layout.lines()];
            for (to, &from) in places.iter().enumerate() {
                target[2 * to + k / 16].0[k % 16] = source[2 * from + i / 16].0[i % 16];
            }
        }
        Self { memory: Arc::new(lines), layout, rows }
    }

    /// The same rows with other weights.
    pub(crate) fn weighted(&self, weights: &[f64]) -> Self {
        let from = self.layout;
        let layout = Layout::new(from.columns, from.trials.is_some(), from.offset.is_some(), true)
            .with_factors(from.factors, from.levels)
            .with_slopes(from.slopes);
        let place = layout.width - 1;
        let mut lines = filled(self.count() * layout.lines(), ZERO);
        for (block, target) in lines.chunks_exact_mut(layout.lines()).enumerate() {
            let copied = 2 * place;
            target[..copied].copy_from_slice(&self.block(block)[..copied]);
            for (k, &weight) in weights.iter().skip(block * BLOCK).take(BLOCK).enumerate() {
                let own = from.weight.map_or(1.0, |p| self.value(block * BLOCK + k, p));
                target[2 * place + k / 16].0[k % 16] = own * weight as f32;
            }
        }
        Self { memory: Arc::new(lines), layout, rows: self.rows }
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines())
    }

    /// The words of at most 4,096 blocks spread over the storage: what a fingerprint is made of.
    pub fn sample(&self) -> impl Iterator<Item = u32> {
        let view = self.view();
        let blocks = (0..view.count()).step_by(sample_stride(view.count()));
        let lines = blocks.flat_map(move |block| view.block(block));
        lines.flat_map(|line| line.0.iter().map(|value| value.to_bits()))
    }

    /// The stored value of a column at a storage position.
    #[must_use]
    pub fn value(&self, position: usize, column: usize) -> f32 {
        let i = position % BLOCK;
        self.block(position / BLOCK)[2 * column + i / 16].0[i % 16]
    }
}

/// Every so many blocks one is looked at for a fingerprint.
#[must_use]
pub fn sample_stride(blocks: usize) -> usize {
    blocks.div_ceil(4096).max(1)
}

/// [`Blocks`], borrowed.
#[derive(Clone, Copy, Debug)]
pub struct View<'a> {
    lines: &'a [Line],
    layout: &'a Layout,
    rows: usize,
}

impl<'a> View<'a> {
    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of blocks.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.div_ceil(BLOCK)
    }

    /// Rows in `block`.
    #[must_use]
    #[inline(always)]
    pub fn rows_in(&self, block: usize) -> usize {
        BLOCK.min(self.rows - block * BLOCK)
    }

    /// Where the side columns are.
    #[must_use]
    #[inline(always)]
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The memory of `block`.
    #[must_use]
    #[inline(always)]
    pub fn block(&self, block: usize) -> &'a [Line] {
        let stride = self.layout.lines();
        &self.lines[block * stride..][..stride]
    }

    /// All memory.
    #[must_use]
    pub fn lines(&self) -> &'a [Line] {
        self.lines
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines)
    }
}
