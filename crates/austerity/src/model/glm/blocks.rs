//! Block-columnar storage: `[block][column][32]` in f32, one block one contiguous run of memory.
//!
//! A block holds 32 rows. Its columns lie one after the other, 128 bytes each, aligned to cache lines: first the
//! stored columns x̃ = (x − shift)/scale, then the side columns that the family needs (response, trials, offset,
//! weight). Side columns are centred like the others where the likelihood allows it (see [`Blocks::new`]), so that
//! f32 loses nothing to a large mean. A look that reads random blocks so reads whole runs, and a dot product reads straight through.
//! Rows missing from the last block are zero in every column. The intercept is not stored: it is the initial
//! value of the accumulators.
//!
//! Cost: 4 bytes per row and column, 4 per row and side column. Do not use for sparse data: zeros are stored.

use crate::error::{Error, Result};
use crate::model::CheckedData;

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
    /// Stored columns.
    pub columns: usize,
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
    /// Cache lines in a block.
    #[must_use]
    #[inline(always)]
    pub fn lines(&self) -> usize {
        2 * self.width
    }
}

/// N rows in blocks of 32.
#[derive(Clone, Debug)]
pub struct Blocks {
    lines: Vec<Line>,
    layout: Layout,
    rows: usize,
}

impl Blocks {
    /// Stores `data` in its storage order. `response` gives what is stored as the response of a row (of the user's
    /// order); the offset is stored less `offset_shift`, and not at all without one.
    pub fn new(
        data: &CheckedData,
        trials: bool,
        response: impl Fn(usize) -> f64,
        offset_shift: Option<f64>,
    ) -> Result<Self> {
        let rows = data.rows();
        if rows == 0 {
            return Err(Error::EmptyData);
        }
        if u32::try_from(rows).is_err() {
            return Err(Error::TooManyRows { rows, limit: u32::MAX as usize });
        }
        let trials = if trials { data.trials.as_ref() } else { None };
        let offset = offset_shift.and_then(|shift| Some((data.offset.as_ref()?, shift)));
        let mut width = data.columns.len() + 1;
        let mut side = |present: bool| {
            present.then(|| {
                width += 1;
                width - 1
            })
        };
        let layout = Layout {
            columns: data.columns.len(),
            response: data.columns.len(),
            trials: side(trials.is_some()),
            offset: side(offset.is_some()),
            weight: side(data.weights.is_some()),
            width,
        };
        let mut blocks = Self { lines: vec![ZERO; rows.div_ceil(BLOCK) * layout.lines()], layout, rows };
        let order = data.storage_order();
        for (j, column) in data.columns.iter().enumerate() {
            let (shift, scale) = (data.shift[j], data.scale[j]);
            blocks.fill(j, &order, |row| (column[row] - shift) / scale);
        }
        blocks.fill(layout.response, &order, response);
        for (place, values) in [(layout.trials, trials), (layout.weight, data.weights.as_ref())] {
            if let (Some(place), Some(values)) = (place, values) {
                blocks.fill(place, &order, |row| values[row]);
            }
        }
        if let (Some(place), Some((values, shift))) = (layout.offset, offset) {
            blocks.fill(place, &order, |row| values[row] - shift);
        }
        Ok(blocks)
    }

    fn fill(&mut self, column: usize, order: &[u32], stored: impl Fn(usize) -> f64) {
        let stride = self.layout.lines();
        for (block, rows) in order.chunks(BLOCK).enumerate() {
            let lines = &mut self.lines[block * stride + 2 * column..][..2];
            for (i, &row) in rows.iter().enumerate() {
                lines[i / 16].0[i % 16] = stored(row as usize) as f32;
            }
        }
    }

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
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The memory of `block`.
    #[must_use]
    #[inline(always)]
    pub fn block(&self, block: usize) -> &[Line] {
        let stride = self.layout.lines();
        &self.lines[block * stride..][..stride]
    }

    /// All memory.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// Bytes held.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.lines.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn data(rows: usize) -> CheckedData {
        CheckedData {
            names: vec!["a".into(), "b".into()],
            columns: vec![
                (0..rows).map(|i| i as f64).collect(),
                (0..rows).map(|i| -2.0 * i as f64).collect(),
            ],
            shift: vec![10.0, 0.0],
            scale: vec![4.0, 2.0],
            response: (0..rows).map(|i| (i % 2) as f64).collect(),
            weights: Some((0..rows).map(|i| (i % 5) as f64).collect()),
            trials: None,
            offset: None,
            intercept: true,
            shuffle: Some(3),
            warnings: Vec::new(),
        }
    }

    #[test]
    fn every_row_is_where_the_storage_order_says() {
        let data = data(77);
        let blocks = Blocks::new(&data, false, |row| 2.0 * data.response[row] - 1.0, None).unwrap();
        assert_eq!((blocks.count(), blocks.rows_in(0), blocks.rows_in(2)), (3, 32, 13));
        assert_eq!(blocks.bytes(), 3 * 4 * 128);
        for (p, &row) in data.storage_order().iter().enumerate() {
            let value = |column: usize| blocks.block(p / BLOCK)[2 * column + p % BLOCK / 16].0[p % 16];
            let row = row as f32;
            assert_eq!(value(0), (row - 10.0) / 4.0);
            assert_eq!(value(1), -row);
            assert_eq!(value(2), 2.0 * (row % 2.0) - 1.0);
            assert_eq!(value(3), row % 5.0);
        }
        // Missing rows are zero.
        for line in blocks.block(2).chunks_exact(2).map(|c| &c[0]) {
            assert!(line.0[13..].iter().all(|&x| x == 0.0));
        }
        assert!(Blocks::new(&self::data(0), false, |_| 0.0, None).is_err());
    }
}
