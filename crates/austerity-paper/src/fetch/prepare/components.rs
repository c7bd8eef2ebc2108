//! Principal components of rows of bytes: x/255, the mean, the covariance with divisor n − 1, the eigenvectors of its largest
//! eigenvalues. The sign of each is chosen so that its loading of largest magnitude is positive: any two programs agree.
//!
//! Cost: n·d² for the covariance, in blocks of rows; about 10·d³ for the eigenvectors. Not for thousands of columns.

use nalgebra::{DMatrix, SymmetricEigen};

/// Rows that are multiplied at a time.
const BLOCK: usize = 512;

/// Mean and leading components.
pub(super) struct Components {
    pub(super) mean: Vec<f64>,
    /// One column per component.
    pub(super) loadings: DMatrix<f64>,
    /// Standard deviation of each score.
    pub(super) sd: Vec<f64>,
    /// Share of the total variance of each.
    pub(super) explained: Vec<f64>,
}

impl Components {
    /// The first `kept` components of rows of `width` bytes; there are more than one row and at least `kept` columns.
    pub(super) fn of(bytes: &[u8], width: usize, kept: usize) -> Self {
        let rows = bytes.len() / width;
        let mut totals = vec![0u64; width];
        for row in bytes.chunks_exact(width) {
            totals.iter_mut().zip(row).for_each(|(total, &byte)| *total += u64::from(byte));
        }
        let mean: Vec<f64> = totals.iter().map(|&total| total as f64 / 255.0 / rows as f64).collect();
        let mut covariance = DMatrix::zeros(width, width);
        for block in bytes.chunks(BLOCK * width) {
            let centred = centred(block, &mean);
            covariance.gemm(1.0 / (rows as f64 - 1.0), &centred, &centred.transpose(), 1.0);
        }
        let total = covariance.trace();
        let eigen = SymmetricEigen::new(covariance);
        let mut order: Vec<usize> = (0..width).collect();
        order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
        order.truncate(kept);
        let mut loadings = eigen.eigenvectors.select_columns(&order);
        for mut column in loadings.column_iter_mut() {
            if column[column.icamax()] < 0.0 {
                column.neg_mut();
            }
        }
        let variance = order.iter().map(|&j| eigen.eigenvalues[j].max(0.0));
        let (sd, explained) = variance.map(|variance| (variance.sqrt(), variance / total)).unzip();
        Self { mean, loadings, sd, explained }
    }

    /// Scores of rows of bytes, one vector per component.
    pub(super) fn scores(&self, bytes: &[u8]) -> Vec<Vec<f64>> {
        let width = self.mean.len();
        let mut scores = vec![Vec::new(); self.loadings.ncols()];
        for block in bytes.chunks(BLOCK * width) {
            let block = self.loadings.tr_mul(&centred(block, &self.mean));
            for (component, scores) in scores.iter_mut().enumerate() {
                scores.extend(block.row(component).iter());
            }
        }
        scores
    }
}

/// Rows of bytes as columns of numbers, without the mean.
fn centred(bytes: &[u8], mean: &[f64]) -> DMatrix<f64> {
    let width = mean.len();
    DMatrix::from_fn(width, bytes.len() / width, |pixel, row| {
        f64::from(bytes[row * width + pixel]) / 255.0 - mean[pixel]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes whose columns differ in spread, from a small congruential generator.
    fn bytes(rows: usize, width: usize) -> Vec<u8> {
        let mut state = 1u64;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize
        };
        let mut all = Vec::new();
        for _ in 0..rows {
            let shared = next() % 100;
            all.extend((0..width).map(|j| (next() % (10 + 7 * j) + shared * (j % 3) / 2) as u8));
        }
        all
    }

    #[test]
    fn components_diagonalise_the_covariance_computed_directly() {
        let (rows, width, kept) = (700, 20, 6);
        let bytes = bytes(rows, width);
        let found = Components::of(&bytes, width, kept);
        let value = |i: usize, j: usize| f64::from(bytes[i * width + j]) / 255.0;
        let mean: Vec<f64> =
            (0..width).map(|j| (0..rows).map(|i| value(i, j)).sum::<f64>() / rows as f64).collect();
        let covariance = |a: usize, b: usize| {
            (0..rows).map(|i| (value(i, a) - mean[a]) * (value(i, b) - mean[b])).sum::<f64>()
                / (rows as f64 - 1.0)
        };
        let total: f64 = (0..width).map(|j| covariance(j, j)).sum();
        for component in 0..kept {
            let loading = found.loadings.column(component);
            assert!((loading.norm() - 1.0).abs() < 1e-12);
            assert!(loading.max() >= -loading.min(), "the sign rule");
            let variance = found.sd[component].powi(2);
            assert!((found.explained[component] - variance / total).abs() < 1e-12);
            for a in 0..width {
                let image: f64 = (0..width).map(|b| covariance(a, b) * loading[b]).sum();
                assert!((image - variance * loading[a]).abs() < 1e-12, "no eigenvector: {component} {a}");
            }
        }
        assert!(found.sd.windows(2).all(|pair| pair[0] >= pair[1]));
        // Power: the eigenvalues are those of the largest components, no smaller one was taken.
        let rest = 1.0 - found.explained.iter().sum::<f64>();
        assert!(rest <= found.explained[kept - 1] * (width - kept) as f64);
        let scores = found.scores(&bytes);
        for (scores, sd) in scores.iter().zip(&found.sd) {
            let mean = scores.iter().sum::<f64>() / rows as f64;
            let variance = scores.iter().map(|s| (s - mean).powi(2)).sum::<f64>() / (rows as f64 - 1.0);
            assert!(mean.abs() < 1e-12 && (variance.sqrt() - sd).abs() < 1e-12);
        }
        let direct: f64 = (0..width).map(|j| (value(3, j) - mean[j]) * found.loadings[(j, 2)]).sum();
        assert!((direct - scores[2][3]).abs() < 1e-12);
    }
}
