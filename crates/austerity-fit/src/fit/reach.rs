//! Whether a surrogate holds where the posterior is.
//!
//! A Taylor expansion at the mode is good where the log-likelihood is nearly the polynomial. With one event in 300,000 rows it is not: the likelihood of the intercept is e^{h − e^h}, whose left tail falls
//! like e^h where a parabola falls like e^{−h²/2}. A chain that the residuals let go there does not come back. Scores of rows do not see this: each residual is small, and all have the same sign.
//!
//! So the residuals of all rows are added up two standard deviations on either side of the mode, along each coefficient with the others following (δ = ±2·Σe_j/√Σ_jj). Their sum is what the
//! surrogate's log density misses there: 8/(6√S) for the intercept and S events at the second order. Beyond 0.75 (S < 4) decisions are about the rows themselves.
//!
//! Cost: 4,096 rows for each of at most 64 sides, and a pass where these do not tell. Not for moves of many coefficients at once, whose small residuals add up: acceptance of the pilot tells those.

use austerity::model::{Access, Mode, Model};
use austerity::population::{Moments, Population as _};

/// Standard deviations from the mode.
const SDS: f64 = 2.0;
/// The most that the log density may be off there.
const MOST: f64 = 0.75;
/// Rows that are looked at first.
const SAMPLE: usize = 4096;
/// Coefficients that are looked at.
const COEFFICIENTS: usize = 32;

/// Where a surrogate is off by more than [`MOST`]: the coefficient and by how much.
pub(super) fn lost<M: Model<State = Vec<f64>>>(surrogate: &M, mode: &Mode) -> Option<(usize, f64)> {
    let d = mode.state.len();
    let mut worst: Option<(usize, f64)> = None;
    for parameter in 0..d.min(COEFFICIENTS) {
        let column = &mode.covariance[parameter * d..(parameter + 1) * d];
        let sd = column[parameter].sqrt();
        for side in [SDS, -SDS] {
            let there: Vec<f64> =
                mode.state.iter().zip(column).map(|(state, entry)| state + side * entry / sd).collect();
            // Where residuals cannot be computed, the surrogate does not hold.
            let off = missed(surrogate, &mode.state, &there).unwrap_or(f64::INFINITY);
            if off > worst.map_or(MOST, |(_, most)| most) {
                worst = Some((parameter, off));
            }
        }
    }
    worst
}

/// |Σ residuals| of a move, or so much of it as is certain.
fn missed<M: Model<State = Vec<f64>>>(
    surrogate: &M,
    from: &Vec<f64>,
    to: &Vec<f64>,
) -> austerity::Result<f64> {
    let rows = surrogate.len();
    let mut scratch = surrogate.scratch(Access::Blocks);
    let mut residuals = surrogate.compare(from, to, &mut scratch);
    // Rows are in random order.
    let mut some = vec![0.0; rows.min(SAMPLE)];
    residuals.reveal(0..some.len(), &mut some)?;
    let mut moments = Moments::EMPTY;
    some.iter().for_each(|&value| moments.push(value));
    let (n, all) = (some.len() as f64, rows as f64);
    let (total, error) =
        (all * moments.mean, all * moments.sd() / n.sqrt() * (1.0 - n / all).max(0.0).sqrt());
    // Close to the limit, or not known well enough to say: all rows.
    if (total.abs() - MOST).abs() > 4.0 * error && error < MOST {
        return Ok(total.abs());
    }
    let total = residuals.total()?;
    Ok(if total.impossible() { f64::INFINITY } else { total.sum().abs() })
}
