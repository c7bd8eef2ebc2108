//! Whether a surrogate holds where the posterior is.
//!
//! A Taylor expansion at the mode is good where the log-likelihood is nearly the polynomial. With one event in 300,000 rows it is not: the likelihood of the intercept is e^{h − e^h}, whose left tail falls
//! like e^h where a parabola falls like e^{−h²/2}. A chain that the residuals let go there does not come back. Scores of rows do not see this: each residual is small, and all have the same sign.
//!
//! So the residuals of all rows are added up two standard deviations on either side of the mode, along each coefficient with the others following (δ = ±2·Σe_j/√Σ_jj). Their sum is what the
//! surrogate's log density misses there: 8/(6√S) for the intercept and S events at the second order. Beyond 0.75 (S < 4) decisions are about the rows themselves.
//!
//! Between the two, with some 5 to 25 events, a surrogate of the third order holds well enough to decide with, but draws from a normal distribution do not reach the left tail evenly: a chain that comes
//! there stays for long. So the posterior's own log density is looked at four standard deviations out on either side; where it is 1.75 above the normal one (S < 27) and the surrogate is off by 0.5, paths on a sample of the
//! rows make the candidates.
//!
//! Cost: 4,096 rows for each of at most 64 sides, and a pass where these do not tell. Not for moves of many coefficients at once, whose small residuals add up: acceptance of the pilot tells those.

use austerity::model::{Access, Mode, Model};
use austerity::population::{Moments, Population as _};
use austerity_glm::{Expansion, Surrogate};

/// Standard deviations from the mode.
const SDS: f64 = 2.0;
/// The most that the log density may be off there.
const MOST: f64 = 0.75;
/// Rows that are looked at first.
const SAMPLE: usize = 4096;
/// Coefficients that are looked at.
const COEFFICIENTS: usize = 32;

/// Standard deviations at which tails are looked at, and by how much the log density may there exceed the normal one.
const TAIL: f64 = 4.0;
const HEAVY: f64 = 1.75;
/// The same for the surrogate, and how well that must be known.
const OFF: f64 = 0.5;
const CLEAR: f64 = 0.1;

/// Whether the posterior has a tail that neither draws from its normal approximation nor paths on the surrogate reach evenly: four standard deviations from the mode along some coefficient (the others following) log π
/// exceeds that of the normal distribution by more than [`HEAVY`], and the surrogate is off by more than [`OFF`] on some side. Heavy tails that rows of high leverage make are in the certainty stratum, and the surrogate knows them.
pub(super) fn has_heavy_tail<E: Expansion>(surrogate: &Surrogate<E>, mode: &Mode) -> bool {
    let d = mode.state.len();
    let centre = surrogate.expansion().log_density(&mode.state);
    let (mut heavy, mut off) = (false, false);
    for parameter in 0..d.min(COEFFICIENTS) {
        for side in [TAIL, -TAIL] {
            let there = along(mode, parameter, side);
            let known = surrogate.expansion().log_density(&there) - centre + 0.5 * TAIL * TAIL;
            // What cannot be computed is no tail.
            let Ok(rest) = missed(surrogate, &mode.state, &there, |_, error| error < CLEAR) else { continue };
            heavy |= known + rest > HEAVY;
            off |= rest.abs() > OFF;
        }
    }
    heavy && off
}

/// Whether it has such a tail, of a model without a surrogate, on all rows.
pub(super) fn is_skewed<M: Model<State = Vec<f64>>>(model: &M, mode: &Mode) -> bool {
    let mut scratch = model.scratch(Access::Blocks);
    (0..mode.state.len().min(COEFFICIENTS)).any(|parameter| {
        [TAIL, -TAIL].into_iter().any(|side| {
            let there = along(mode, parameter, side);
            let prior = model.log_prior(&there) - model.log_prior(&mode.state);
            let rows = model.compare(&mode.state, &there, &mut scratch).total();
            rows.is_ok_and(|rows| !rows.impossible() && prior + rows.sum() + 0.5 * TAIL * TAIL > HEAVY)
        })
    })
}

/// The mode, moved by so many standard deviations of a coefficient along it, the others following.
fn along(mode: &Mode, parameter: usize, sds: f64) -> Vec<f64> {
    let d = mode.state.len();
    let column = &mode.covariance[parameter * d..(parameter + 1) * d];
    let sd = column[parameter].sqrt();
    mode.state.iter().zip(column).map(|(state, entry)| state + sds * entry / sd).collect()
}

/// Where a surrogate is off by more than [`MOST`]: the coefficient and by how much.
pub(super) fn lost<M: Model<State = Vec<f64>>>(surrogate: &M, mode: &Mode) -> Option<(usize, f64)> {
    let d = mode.state.len();
    let mut worst: Option<(usize, f64)> = None;
    let clear = |total: f64, error: f64| (total.abs() - MOST).abs() > 4.0 * error && error < MOST;
    for parameter in 0..d.min(COEFFICIENTS) {
        for side in [SDS, -SDS] {
            let there = along(mode, parameter, side);
            // Where residuals cannot be computed, the surrogate does not hold.
            let off = missed(surrogate, &mode.state, &there, clear).map_or(f64::INFINITY, f64::abs);
            if off > worst.map_or(MOST, |(_, most)| most) {
                worst = Some((parameter, off));
            }
        }
    }
    worst
}

/// Σ residuals of a move: by a sample where its total and standard error are `clear`, else by all rows.
fn missed<M: Model<State = Vec<f64>>>(
    surrogate: &M,
    from: &Vec<f64>,
    to: &Vec<f64>,
    clear: impl Fn(f64, f64) -> bool,
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
    if clear(total, error) {
        return Ok(total);
    }
    let totals = surrogate.totals(&[(from, to)])?;
    Ok(totals.iter().map(|total| if total.impossible() { f64::NEG_INFINITY } else { total.sum() }).sum())
}

#[cfg(test)]
mod tests {
    use austerity::model::find_mode;
    use austerity_glm::glm::expansion::{ExpansionSettings, GlmExpansion};
    use austerity_glm::{Data, Glm, Logistic, Prior, ResponseKind};

    use super::*;

    /// So many events in 20,000 rows: one is beyond every expansion, ten are within reach of one and have a tail of their own, a thousand have none.
    #[test]
    fn few_events_are_told_from_many() {
        for (events, off, heavy) in [(1, true, true), (10, false, true), (1000, false, false)] {
            let rows = 20_000;
            let x: Vec<f64> = (0..rows).map(|i| 3.0 * ((f64::from(i) * 0.618_034).fract() - 0.5)).collect();
            let y = (0..rows).map(|i| f64::from(i * 7 % rows < 7 * events && i % 7 == 0)).collect();
            let data = Data::new(["x"], vec![x], y).check(ResponseKind::Binary).unwrap();
            let model = Glm::new(Logistic, &data, vec![Prior::normal(10.0), Prior::normal(2.5)]).unwrap();
            let mode = find_mode(&model, &[0.0; 2]).unwrap();
            let settings = ExpansionSettings { raise: true, ..ExpansionSettings::default() };
            let surrogate = Surrogate::new(GlmExpansion::new(&model, &mode.state, &settings).unwrap());
            assert_eq!(lost(&surrogate, &mode).is_some(), off, "{events}: {:?}", lost(&surrogate, &mode));
            assert_eq!(has_heavy_tail(&surrogate, &mode), heavy, "{events}");
            assert_eq!(is_skewed(&model, &mode), heavy, "{events}");
        }
    }
}
