//! Whitening: columns with mean 0 and covariance I, by the symmetric inverse square root of their covariance.
//!
//! z = V·(x − mean), V = C^{−1/2} = U·Λ^{−1/2}·Uᵀ for the covariance C = U·Λ·Uᵀ (divisor N): of all whitenings the one that moves
//! the samples least (Kessy, Lewin & Strimmer 2018). Afterwards an unmixing matrix can be taken orthonormal. Cost:
//! two passes over the data and a D × D eigenproblem.

use nalgebra::{DMatrix, DVector};

use austerity::error::{Error, Result, setting};
use austerity::model::{check_length, check_rows};
use austerity_glm::data::check_finite;

/// A shift and a symmetric matrix that make columns white.
#[derive(Clone, Debug, PartialEq)]
pub struct Whitening {
    mean: Vec<f64>,
    matrix: DMatrix<f64>,
}

impl Whitening {
    /// The whitening of these columns, which must not be linearly dependent.
    pub fn of(columns: &[Vec<f64>]) -> Result<Self> {
        let rows = columns.first().map_or(0, Vec::len);
        check_rows(rows)?;
        for (j, column) in columns.iter().enumerate() {
            let name = format!("column {}", j + 1);
            check_length(&name, rows, column.len())?;
            check_finite(&name, column)?;
        }
        let (mean, covariance) = moments(columns);
        let parts = covariance.symmetric_eigen();
        if parts.eigenvalues.min() <= 1e-12 * parts.eigenvalues.max() {
            return Err(Error::NotPositiveDefinite {
                what: "the covariance of the columns".into(),
                remedy: "drop columns that are constant or a combination of the others, or add rows".into(),
            });
        }
        let roots = DMatrix::from_diagonal(&parts.eigenvalues.map(|value| 1.0 / value.sqrt()));
        let matrix = &parts.eigenvectors * roots * parts.eigenvectors.transpose();
        Ok(Self { mean, matrix })
    }

    /// The whitened columns.
    pub fn apply(&self, columns: &[Vec<f64>]) -> Result<Vec<Vec<f64>>> {
        check_length("columns to be whitened", self.mean.len(), columns.len())?;
        let rows = columns[0].len();
        columns.iter().try_for_each(|column| check_length("column to be whitened", rows, column.len()))?;
        let mut white = vec![vec![0.0; rows]; columns.len()];
        for (i, white) in white.iter_mut().enumerate() {
            for (j, column) in columns.iter().enumerate() {
                let (factor, mean) = (self.matrix[(i, j)], self.mean[j]);
                for (white, value) in white.iter_mut().zip(column) {
                    *white += factor * (value - mean);
                }
            }
        }
        Ok(white)
    }

    /// What was taken off each column.
    #[must_use]
    pub fn mean(&self) -> &[f64] {
        &self.mean
    }

    /// V, row by row (it is symmetric).
    #[must_use]
    pub fn matrix(&self) -> Vec<f64> {
        self.matrix.iter().copied().collect()
    }

    /// V·A: how whitened samples are mixed when the raw ones are x = A·s, row by row.
    pub fn mixing(&self, raw: &[f64]) -> Result<Vec<f64>> {
        let d = self.mean.len();
        check_length("mixing matrix", d * d, raw.len())?;
        if let Some(value) = raw.iter().find(|value| !value.is_finite()) {
            return Err(setting("mixing matrix", value, "finite numbers"));
        }
        let mixed = (&self.matrix * DMatrix::from_row_slice(d, d, raw)).transpose();
        Ok(mixed.iter().copied().collect())
    }
}

/// Means and covariance (divisor N).
fn moments(columns: &[Vec<f64>]) -> (Vec<f64>, DMatrix<f64>) {
    let d = columns.len();
    let rows = columns.first().map_or(0, Vec::len) as f64;
    let mean: Vec<f64> = columns.iter().map(|column| column.iter().sum::<f64>() / rows).collect();
    let mut covariance = DMatrix::zeros(d, d);
    for i in 0..d {
        for j in 0..=i {
            let products = columns[i].iter().zip(&columns[j]).map(|(a, b)| (a - mean[i]) * (b - mean[j]));
            covariance[(i, j)] = products.sum::<f64>() / rows;
            covariance[(j, i)] = covariance[(i, j)];
        }
    }
    (mean, covariance)
}

/// Largest entry of |mean| and of |covariance − I|.
pub(super) fn departure_from_white(columns: &[Vec<f64>]) -> f64 {
    let (mean, covariance) = moments(columns);
    let d = columns.len();
    (covariance - DMatrix::identity(d, d)).amax().max(DVector::from_vec(mean).amax())
}
