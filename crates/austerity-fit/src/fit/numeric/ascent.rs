//! Other modes of posteriors with 9 to 40 parameters, where a Hessian by differences costs 2d² sums a step: climbs that need gradients alone.
//!
//! BFGS (Nocedal & Wright 2006, §6.1) from dispersed starts, its inverse Hessian begun with the covariance at the known mode: 2d sums of few rows a step. What ends where the same few rows have the known mode is that mode;
//! anything else is climbed to again on more rows, and gets one Hessian for its weight.
//!
//! Cost: at most [`SHARE`] times what ten Hessians on the sample cost, which is about what the search for the known mode took; starts that this leaves no room for are not made, and not counted. A search is no proof: a mode
//! that no start leads to stays unseen.

use austerity::model::Mode;
use austerity::run::Control;
use austerity_glm::add_mode;
use nalgebra::{DMatrix, DVector};

use super::{CLOSE, Density, Found, HALVINGS, QUICK, SAMPLE, WIDTH, elsewhere, regular};
use crate::model::Sampled;
use crate::output::Failure;

/// Steps of one climb.
const STEPS: usize = 80;
/// Hessians on the sample that all climbs together may cost.
const SHARE: f64 = 10.0;
/// Squared Newton step, in standard deviations, from which one step more leads to the mode.
const NEAR: f64 = 1.0;
/// Standard deviations of few rows within which two ends are the same.
const SAME: f64 = 1.0;

/// See [`super::other_modes`].
pub(super) fn other_modes<M: Sampled>(model: &M, mode: &Mode, start: &[f64], control: &Control) -> Found {
    let d = mode.state.len();
    let rows = model.len().min(SAMPLE) as f64;
    let limit = SHARE * 2.0 * (d * d) as f64 * rows;
    let covariance = DMatrix::from_row_slice(d, d, &mode.covariance);
    let widths: Vec<f64> = (0..d).map(|i| WIDTH * covariance[(i, i)].max(0.0).sqrt().max(1e-12)).collect();
    let mut modes = vec![Mode { log_density: 0.0, ..mode.clone() }];
    let mut quick = Density::new(model, &mode.state, control, QUICK);
    let mut thorough = Density::new(model, &mode.state, control, SAMPLE);
    let climb = Climb { covariance: &covariance, widths: &widths };
    let Some(known) = climb.run(&mut quick, &mode.state)? else { return Ok((modes, 0)) };
    // The mode of few rows is off by so many times the posterior's own standard deviations.
    let coarse = (model.len() as f64 / model.len().min(QUICK) as f64).sqrt();
    let mut made = 0;
    for start in elsewhere(&mode.state, start) {
        if quick.spent + thorough.spent > limit {
            break;
        }
        made += 1;
        let Some(near) = climb.run(&mut quick, start.as_slice())? else { continue };
        let apart = (0..d).map(|i| ((near[i] - known[i]) * WIDTH / widths[i]).abs()).fold(0.0, f64::max);
        if apart < SAME * coarse {
            continue;
        }
        let Some(mut end) = climb.run(&mut thorough, near.as_slice())? else { continue };
        let here = thorough.at(&end, true)?;
        let (slope, hessian) = thorough.derivatives(&end, here, &widths)?;
        // A ridge would make a mode of a saddle.
        let Some((inverse, 0.0)) = regular(&hessian) else { continue };
        let by = &inverse * &slope;
        if slope.dot(&by) > NEAR {
            continue;
        }
        end += by;
        let log_density = thorough.at(&end, false)? - model.log_prior(&mode.state);
        let covariance = inverse.transpose().as_slice().to_vec();
        add_mode(
            &mut modes,
            Mode { state: end.as_slice().to_vec(), log_density, covariance, iterations: STEPS },
        );
    }
    Ok((modes, made))
}

/// What all climbs share.
struct Climb<'a> {
    covariance: &'a DMatrix<f64>,
    widths: &'a [f64],
}

impl Climb<'_> {
    /// Where a climb from `start` on the sample of `density` ends; none where it gets lost.
    fn run<M: Sampled>(
        &self,
        density: &mut Density<'_, M>,
        start: &[f64],
    ) -> Result<Option<DVector<f64>>, Failure> {
        let mut state = DVector::from_column_slice(start);
        let mut here = density.at(&state, true)?;
        if !here.is_finite() {
            return Ok(None);
        }
        let mut inverse = self.covariance.clone();
        let mut gradient = self.slope(density, &state)?;
        for _ in 0..STEPS {
            if !gradient.iter().all(|slope| slope.is_finite()) {
                return Ok(None);
            }
            let mut by = &inverse * &gradient;
            let mut gain = gradient.dot(&by);
            if gain <= 0.0 {
                // The updates have lost the way: as at the beginning.
                inverse.clone_from(self.covariance);
                by = &inverse * &gradient;
                gain = gradient.dot(&by);
            }
            if gain < CLOSE {
                return Ok(Some(state));
            }
            let mut share = 1.0;
            let mut there = f64::NEG_INFINITY;
            for _ in 0..2 * HALVINGS {
                there = density.at(&(&state + &by * share), true)?;
                if there > here + 1e-4 * share * gain {
                    break;
                }
                share *= 0.5;
            }
            if there <= here {
                // No way up that differences can see: an end, or a place where they see nothing.
                return Ok((gain < NEAR).then_some(state));
            }
            by *= share;
            state += &by;
            here = there;
            let slope = self.slope(density, &state)?;
            let change = &gradient - &slope;
            gradient = slope;
            let curvature = by.dot(&change);
            if curvature > 1e-12 * by.norm() * change.norm() {
                let rho = 1.0 / curvature;
                let product = &inverse * &change;
                let factor = rho * (1.0 + rho * change.dot(&product));
                inverse += &by * by.transpose() * factor
                    - (&product * by.transpose() + &by * product.transpose()) * rho;
            }
        }
        Ok(None)
    }

    /// The gradient by central differences.
    fn slope<M: Sampled>(
        &self,
        density: &mut Density<'_, M>,
        state: &DVector<f64>,
    ) -> Result<DVector<f64>, Failure> {
        let mut slope = DVector::zeros(self.widths.len());
        for (i, width) in self.widths.iter().enumerate() {
            let mut moved = state.clone();
            moved[i] += width;
            let ahead = density.at(&moved, true)?;
            moved[i] -= 2.0 * width;
            slope[i] = (ahead - density.at(&moved, true)?) / (2.0 * width);
        }
        Ok(slope)
    }
}
