//! Σ w·z zᵀ of many columns over a panel of rows, by tiles that stay in registers.
//!
//! With few columns the Hessian's products are summed lane by lane and reduced at the end of every panel ([`super::derivative`]); with d columns that is d²/2 reductions, and every product waits for its load.
//! From [`MANY`] columns on a panel is laid out again: z of 32 columns beside each other, row after row (16 kB a strip), and w·z of 6 columns likewise. A tile of 6 × 32 sums then takes two loads and six broadcasts
//! for twelve multiply-adds per row, and reduces nothing. Sums run in f32 over the 128 rows of a panel, then in f64.
//!
//! Cost: N·d²/2 multiply-adds at about the speed of the machine, three times as fast as without tiles at d = 1,000. Not for few columns, whose layout would cost more than it saves.

use fearless_simd::{Simd, prelude::*};

use super::blocks::{BLOCK, Line};
use crate::simd::Lanes;

/// Columns from which tiles pay.
pub(super) const MANY: usize = 128;
/// Columns of a tile: beside each other, and below each other.
const ACROSS: usize = 32;
const DOWN: usize = 6;

/// A panel laid out for tiles.
#[derive(Clone, Debug)]
pub(super) struct Tiles {
    /// z of 32 columns, row after row, strip after strip.
    strips: Vec<[[f32; 16]; 2]>,
    /// w·z of 6 columns, row after row.
    weighted: Vec<[f32; DOWN]>,
    rows: usize,
}

impl Tiles {
    /// For panels of up to so many blocks with `columns` columns and a constant.
    pub(super) fn new(columns: usize, blocks: usize) -> Self {
        let (rows, size) = (blocks * BLOCK, columns + 1);
        Self {
            strips: vec![[[0.0; 16]; 2]; size.div_ceil(ACROSS) * rows],
            weighted: vec![[0.0; DOWN]; size.div_ceil(DOWN) * rows],
            rows,
        }
    }

    /// Lays out the blocks of `lines`, whose rows have the weights `weights`, 32 a block; rows beyond them get 0.
    fn fill(&mut self, lines: &[Line], stride: usize, columns: usize, weights: &[f32]) {
        let rows = self.rows;
        for row in 0..rows {
            let weight = weights.get(row).copied().unwrap_or(0.0);
            self.strips[row][0][0] = if weight == 0.0 { 0.0 } else { 1.0 };
            self.weighted[row][0] = weight;
        }
        let filled = weights.len();
        for j in 0..columns {
            let place = j + 1;
            let strip = &mut self.strips[place / ACROSS * rows..][..rows];
            let weighted = &mut self.weighted[place / DOWN * rows..][..rows];
            let (half, lane, down) = (place % ACROSS / 16, place % 16, place % DOWN);
            for (block, lines) in lines.chunks_exact(stride).enumerate() {
                for (k, line) in lines[2 * j..2 * j + 2].iter().enumerate() {
                    for (i, &value) in line.0.iter().enumerate() {
                        let row = block * BLOCK + k * 16 + i;
                        // A row without weight must not bring ∞·0.
                        let value = if weights[row] == 0.0 { 0.0 } else { value };
                        strip[row][half][lane] = value;
                        weighted[row][down] = value * weights[row];
                    }
                }
            }
            for row in filled..rows {
                strip[row][half][lane] = 0.0;
                weighted[row][down] = 0.0;
            }
        }
    }

    /// Adds Σ w·z zᵀ of the blocks of `lines` to `out`, a lower triangle by rows.
    #[inline(always)]
    pub(super) fn add<S: Simd>(
        &mut self,
        simd: S,
        lines: &[Line],
        stride: usize,
        columns: usize,
        weights: &[f32],
        out: &mut [f64],
    ) {
        self.fill(lines, stride, columns, weights);
        let (size, rows) = (columns + 1, self.rows);
        for (across, strip) in self.strips.chunks_exact(rows).enumerate() {
            let first = across * ACROSS;
            // Tiles below the diagonal, and those that it crosses.
            for (down, weighted) in self.weighted.chunks_exact(rows).enumerate().skip(first / DOWN) {
                let mut sums = [[Lanes::splat(simd, 0.0); 2]; DOWN];
                for (z, w) in strip.iter().zip(weighted) {
                    let left = Lanes::load_array_ref(simd, &z[0]);
                    let right = Lanes::load_array_ref(simd, &z[1]);
                    for i in 0..DOWN {
                        let factor = Lanes::splat(simd, w[i]);
                        sums[i][0] = left.mul_add(factor, sums[i][0]);
                        sums[i][1] = right.mul_add(factor, sums[i][1]);
                    }
                }
                for (i, sums) in sums.iter().enumerate() {
                    let a = down * DOWN + i;
                    if a >= size || a < first {
                        continue;
                    }
                    let end = (a + 1).min(first + ACROSS);
                    let row = &mut out[a * (a + 1) / 2 + first..a * (a + 1) / 2 + end];
                    for (entry, b) in row.iter_mut().zip(0..) {
                        *entry += f64::from(sums[b / 16].as_slice()[b % 16]);
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{Glm, Logistic, Prior, ResponseKind, generate};
    use austerity::model::Curvature as _;

    /// The Hessian of many columns, of whole and partial panels, against sums in f64: single precision over 128 rows leaves 10⁻⁵ of the diagonal. Half of the columns would not use tiles.
    #[test]
    fn the_hessian_of_many_columns_is_the_sum_over_rows() {
        for (rows, columns) in [(333, 140), (1024, 128), (40, 161), (500, 60)] {
            let data = generate::logistic(rows, columns).seed(4).build().unwrap().data;
            let data = data.check(ResponseKind::Binary).unwrap();
            let size = columns + 1;
            let model = Glm::new(Logistic, &data, vec![Prior::normal(2.0); size]).unwrap();
            let state: Vec<f64> = (0..size).map(|i| 0.2 * (i as f64).sin()).collect();
            let (mut gradient, mut hessian) = (vec![0.0; size], vec![0.0; size * size]);
            model.hessian(&state, &mut gradient, &mut hessian).unwrap();
            let mut expected = vec![0.0; size * size];
            for row in 0..rows {
                let z: Vec<f64> =
                    std::iter::once(1.0).chain(data.columns.iter().map(|column| column[row])).collect();
                let eta: f64 = z.iter().zip(&state).map(|(z, s)| z * s).sum();
                let p = 1.0 / (1.0 + (-eta).exp());
                for i in 0..size {
                    for j in 0..size {
                        expected[i * size + j] -= p * (1.0 - p) * z[i] * z[j];
                    }
                }
            }
            for i in 0..size {
                expected[i * size + i] -= 0.25;
                for j in 0..size {
                    let scale = (expected[i * size + i] * expected[j * size + j]).sqrt();
                    let off = (hessian[i * size + j] - expected[i * size + j]).abs();
                    assert!(off <= 1e-5 * scale, "{rows} × {columns}, ({i}, {j}): {off} of {scale}");
                }
            }
        }
    }
}
