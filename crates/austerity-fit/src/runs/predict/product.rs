//! Rows × draws: the linear predictors of some rows under every draw, η = offset + x·β.
//!
//! Two rows and a panel of eight draws at a time, whose sums stay in registers; a panel is read once for all rows of a
//! [`TILE`], so draws larger than a cache cost little more. Sums go through the coefficients in order: a row's predictors depend on
//! nothing but the row.

use austerity_io::coding::Piece;

use super::draws::{Draws, PANEL};

/// Rows whose predictors are computed together; even.
pub(in crate::runs) const TILE: usize = 16;

/// Working memory of one thread.
#[derive(Debug)]
pub(in crate::runs) struct Product<'a> {
    draws: &'a Draws,
    /// Row after row the values that the coefficients multiply; rows beyond the last are those of an earlier tile.
    values: Vec<f64>,
    offset: [f64; TILE],
    /// Row after row the predictors, with room for whole panels.
    predictors: Vec<f64>,
    width: usize,
}

impl<'a> Product<'a> {
    pub(in crate::runs) fn new(draws: &'a Draws) -> Self {
        let width = draws.count().next_multiple_of(PANEL);
        let values = vec![0.0; TILE * draws.coefficients()];
        Self { draws, values, offset: [0.0; TILE], predictors: vec![0.0; TILE * width], width }
    }

    /// Computes the predictors of `rows` (at most [`TILE`]) rows of a piece from `first` on.
    pub(in crate::runs) fn compute(&mut self, piece: &Piece<'_>, first: usize, rows: usize) {
        let count = self.draws.coefficients();
        let skip = usize::from(self.draws.intercept());
        for row in 0..rows {
            let values = &mut self.values[row * count..(row + 1) * count];
            if skip == 1 {
                values[0] = 1.0;
            }
            for (value, column) in values[skip..].iter_mut().zip(&piece.columns) {
                *value = column[first + row];
            }
            self.offset[row] = piece.offset.as_ref().map_or(0.0, |offset| offset[first + row]);
        }
        if count == 0 {
            let rows = self.predictors.chunks_exact_mut(self.width.max(1));
            rows.zip(self.offset).for_each(|(row, offset)| row.fill(offset));
            return;
        }
        for (at, panel) in self.draws.panels().enumerate() {
            for pair in (0..rows).step_by(2) {
                let (a, b) = self.values[pair * count..(pair + 2) * count].split_at(count);
                let (mut left, mut right) = ([self.offset[pair]; PANEL], [self.offset[pair + 1]; PANEL]);
                for ((coefficient, &a), &b) in panel.iter().zip(a).zip(b) {
                    for k in 0..PANEL {
                        left[k] += a * coefficient[k];
                        right[k] += b * coefficient[k];
                    }
                }
                for (row, sums) in [(pair, left), (pair + 1, right)] {
                    let start = row * self.width + at * PANEL;
                    self.predictors[start..start + PANEL].copy_from_slice(&sums);
                }
            }
        }
    }

    /// The predictors of a row of the tile, one per draw; they may be reordered.
    pub(in crate::runs) fn row(&mut self, row: usize) -> &mut [f64] {
        let start = row * self.width;
        &mut self.predictors[start..start + self.draws.count()]
    }
}
