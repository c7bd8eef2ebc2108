//! Orthonormal frames: p orthonormal rows in Rⁿ, p ≤ n, stored row by row. The Stiefel manifold; for p = n the orthogonal
//! group O(n), which has two components told apart by the sign of the determinant.
//!
//! [`nearest_frame`] is the polar factor U·Vᵀ of M = U·S·Vᵀ, the frame nearest to M (Fan & Hoffman 1955).
//! [`uniform_frame`] is the polar factor of a matrix of independent normals, whose law is the uniform one
//! (Chikuse 2003, theorem 2.2.1). Cost: a singular value decomposition each; not for hot loops.

use nalgebra::DMatrix;
use rand::RngExt as _;
use rand_distr::StandardNormal;

use austerity::error::{Error, Result, setting};
use austerity::rng::Rng;

/// Refuses a shape that has no frame.
pub(super) fn check_shape(rows: usize, columns: usize) -> Result<()> {
    if rows == 0 || rows > columns {
        return Err(setting("rows of a frame", rows, &format!("1 to {columns}, the number of columns")));
    }
    Ok(())
}

/// max |W·Wᵀ − I|: how far `frame` is from orthonormal rows; NaN where an entry is.
#[must_use]
pub fn departure(rows: usize, frame: &[f64]) -> f64 {
    let columns = frame.len() / rows.max(1);
    let mut worst = 0.0;
    for i in 0..rows {
        for j in 0..=i {
            let (a, b) = (&frame[i * columns..][..columns], &frame[j * columns..][..columns]);
            let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            let off = (product - f64::from(i == j)).abs();
            if off.is_nan() {
                return off;
            }
            worst = f64::max(worst, off);
        }
    }
    worst
}

/// The frame of `rows` rows nearest to the matrix given row by row.
pub fn nearest_frame(rows: usize, columns: usize, matrix: &[f64]) -> Result<Vec<f64>> {
    check_shape(rows, columns)?;
    if matrix.len() != rows * columns {
        let what = "matrix to be made orthonormal".into();
        return Err(Error::Dimension { what, expected: rows * columns, found: matrix.len() });
    }
    if let Some(value) = matrix.iter().find(|value| !value.is_finite()) {
        return Err(setting("matrix to be made orthonormal", value, "finite numbers"));
    }
    let parts = DMatrix::from_row_slice(rows, columns, matrix).svd(true, true);
    let independent = parts.singular_values.min() > 1e-12 * parts.singular_values.max();
    match (parts.u, parts.v_t) {
        (Some(u), Some(v)) if independent => {
            let frame = u * v;
            Ok((0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|at| frame[at]).collect())
        }
        _ => Err(setting("matrix to be made orthonormal", "singular", "linearly independent rows")),
    }
}

/// A uniformly distributed frame: for p = n both components of O(n) are equally likely.
pub fn uniform_frame(rows: usize, columns: usize, rng: &mut Rng) -> Result<Vec<f64>> {
    check_shape(rows, columns)?;
    let matrix: Vec<f64> = (0..rows * columns).map(|_| rng.sample(StandardNormal)).collect();
    nearest_frame(rows, columns, &matrix)
}
