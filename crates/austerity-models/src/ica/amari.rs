//! Amari distance: how far an unmixing matrix is from undoing a mixing, whatever the order, sign and scale of the sources.
//!
//! With P = W·A, which is a permutation times a scaling when W undoes A,
//!
//! d(W, A) = 1/(2·D·(D−1)) · { Σ_i (Σ_j |p_ij| / max_k |p_ik| − 1) + Σ_j (Σ_i |p_ij| / max_k |p_kj| − 1) },
//!
//! **normalised to 0 … 1**: 0 only for a perfect separation, 1 when all |p_ij| are equal. Rows of W may be permuted, their signs and the
//! scale of all of W changed at will; columns of A likewise. Amari, Cichocki & Yang (1996), whose index is 2·D·(D−1) times
//! this; Bach & Jordan (2002) divide by 2·D. Cost: 2·D³ operations, no allocation.

use austerity::error::{Result, setting};
use austerity::model::check_length;

/// The Amari distance, 0 … 1, of `unmixing` from the inverse of `mixing`, both D × D and row by row.
///
/// The distance of two unmixing matrices W and W₀ is that of W and the mixing W₀⁻¹, which is W₀ᵀ for an orthonormal W₀.
/// A row or column of W·A that is 0 counts as no separation at all.
///
/// ```
/// use austerity_models::ica::amari_distance;
/// let mixing = [0.6, -0.8, 0.8, 0.6];
/// // The transpose undoes it, and so does the transpose with its rows exchanged and one of them turned round.
/// assert!(amari_distance(2, &[0.6, 0.8, -0.8, 0.6], &mixing)? < 1e-15);
/// assert!(amari_distance(2, &[0.8, -0.6, 0.6, 0.8], &mixing)? < 1e-15);
/// assert!((amari_distance(2, &[1.0, 1.0, 1.0, -1.0], &[1.0, 0.0, 0.0, 1.0])? - 1.0).abs() < 1e-15);
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn amari_distance(dimension: usize, unmixing: &[f64], mixing: &[f64]) -> Result<f64> {
    let d = dimension;
    if d < 2 {
        return Err(setting("dimension", d, "at least 2 sources"));
    }
    check_length("unmixing matrix", d * d, unmixing.len())?;
    check_length("mixing matrix", d * d, mixing.len())?;
    let entry =
        |i: usize, j: usize| (0..d).map(|k| unmixing[i * d + k] * mixing[k * d + j]).sum::<f64>().abs();
    let spill = |entries: &dyn Fn(usize) -> f64| {
        let (mut sum, mut largest) = (0.0, 0.0);
        for k in 0..d {
            let value = entries(k);
            sum += value;
            largest = f64::max(largest, value);
        }
        if largest > 0.0 { sum / largest - 1.0 } else { (d - 1) as f64 }
    };
    let total: f64 = (0..d).map(|i| spill(&|j| entry(i, j)) + spill(&|j| entry(j, i))).sum();
    Ok(total / (2 * d * (d - 1)) as f64)
}
