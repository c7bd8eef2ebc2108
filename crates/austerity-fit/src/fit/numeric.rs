//! The mode of a model that knows no derivatives, by differences: only starts, pilots and the shape of proposals come of it.
//!
//! Newton's method with central differences of f(θ) = N/S·Σ_S [ℓ_i(θ) − ℓ_i(θ₀)] + log ρ(θ) over the first S = 30,000 rows of the storage, which is
//! in random order, then two steps with gradients of all rows and the Hessian of the sample. Differences of 10⁻⁴ posterior standard
//! deviations would drown in rounding and those of one would see the curvature change; a tenth of a standard deviation, as the last
//! Hessian tells it, is taken.
//!
//! Cost: some ten Hessians of 2d² sums of S rows, and 4d sums of N rows. A mode that is off by a standard deviation costs warm-up steps,
//! never correctness; where none is found, chains start at the user's own start.

use austerity::model::{Access, Mode};
use austerity::population::{Batch, Population as _};
use austerity::run::Control;
use nalgebra::{DMatrix, DVector};

use crate::model::Sampled;
use crate::output::Failure;

/// S.
const SAMPLE: usize = 30_000;
/// Newton steps on the sample.
const STEPS: usize = 30;
/// Halvings of one step.
const HALVINGS: usize = 12;
/// Above so many parameters the Hessian costs more than the warm-up that it saves.
const MOST_PARAMETERS: usize = 40;
/// Width of a difference in standard deviations.
const WIDTH: f64 = 0.1;
/// Squared Newton step, in standard deviations, at which the search ends.
const CLOSE: f64 = 1e-3;

/// The mode near `start`, or nothing where the search does not end.
pub(super) fn mode<M: Sampled>(model: &M, start: &[f64], control: &Control) -> Result<Option<Mode>, Failure> {
    let d = start.len();
    if d > MOST_PARAMETERS {
        return Ok(None);
    }
    let mut density = Density::new(model, start, control);
    let mut state = DVector::from_column_slice(start);
    let mut widths: Vec<f64> = start.iter().map(|x| 1e-4 * x.abs().max(1.0)).collect();
    for step in 1..=STEPS {
        let here = density.at(&state, true)?;
        if !here.is_finite() {
            return Ok(None);
        }
        let (gradient, hessian) = density.derivatives(&state, here, &widths)?;
        let Some(inverse) = regular(&hessian) else { return Ok(None) };
        let move_by = &inverse * &gradient;
        let length = gradient.dot(&move_by);
        widths = (0..d).map(|i| WIDTH * inverse[(i, i)].max(0.0).sqrt().max(1e-12)).collect();
        let mut share = 1.0;
        let mut found = false;
        for _ in 0..HALVINGS {
            let there = density.at(&(&state + &move_by * share), true)?;
            if there >= here - 1e-9 * here.abs().max(1.0) {
                found = true;
                break;
            }
            share *= 0.5;
        }
        if !found {
            return Ok(None);
        }
        state += &move_by * share;
        if !(length.is_finite()) {
            return Ok(None);
        }
        if length < CLOSE {
            let covariance = inverse.clone();
            for _ in 0..2 {
                let gradient = density.gradient(&state, &widths)?;
                let by = &covariance * gradient;
                if by.iter().all(|x| x.is_finite()) {
                    state += by;
                }
            }
            let row_by_row = covariance.transpose().as_slice().to_vec();
            return Ok(Some(Mode {
                state: state.as_slice().to_vec(),
                log_density: 0.0,
                covariance: row_by_row,
                iterations: step,
            }));
        }
    }
    Ok(None)
}

/// The inverse of −H, with a ridge while it is not positive definite.
fn regular(hessian: &DMatrix<f64>) -> Option<DMatrix<f64>> {
    let d = hessian.nrows();
    let largest = hessian.diagonal().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    let mut ridge = 0.0;
    for _ in 0..40 {
        let matrix = -hessian + DMatrix::identity(d, d) * ridge;
        if let Some(cholesky) = matrix.cholesky() {
            return Some(cholesky.inverse());
        }
        ridge = if ridge == 0.0 { 1e-8 * largest } else { 10.0 * ridge };
    }
    None
}

struct Density<'m, M: Sampled> {
    model: &'m M,
    control: &'m Control,
    scratch: M::Scratch,
    origin: Vec<f64>,
    values: Vec<f64>,
}

impl<'m, M: Sampled> Density<'m, M> {
    fn new(model: &'m M, origin: &[f64], control: &'m Control) -> Self {
        let scratch = model.scratch(Access::Blocks);
        Self { model, control, scratch, origin: origin.to_vec(), values: Vec::new() }
    }

    /// f, on the sample or on all rows; −∞ where the state is impossible.
    fn at(&mut self, state: &DVector<f64>, sampled: bool) -> Result<f64, Failure> {
        if self.control.stopped() {
            return Err(Failure::Interrupted);
        }
        let state = state.as_slice().to_vec();
        let prior = self.model.log_prior(&state);
        if prior.is_nan() {
            return Err(self.model.prior_error().into());
        }
        if prior == f64::NEG_INFINITY {
            return Ok(prior);
        }
        let rows = self.model.len();
        let sample = rows.min(SAMPLE);
        let mut ratio = self.model.compare(&self.origin, &state, &mut self.scratch);
        let sum = if sampled && sample < rows {
            self.values.resize(sample, 0.0);
            ratio.reveal_batch(
                Batch { blocks: &[0], block_rows: sample, population: rows },
                &mut self.values,
            )?;
            self.values.iter().sum::<f64>() * (rows as f64 / sample as f64)
        } else {
            ratio.total()?.sum()
        };
        Ok(prior + sum)
    }

    fn derivatives(
        &mut self,
        state: &DVector<f64>,
        here: f64,
        widths: &[f64],
    ) -> Result<(DVector<f64>, DMatrix<f64>), Failure> {
        let d = widths.len();
        let mut gradient = DVector::zeros(d);
        let mut hessian = DMatrix::zeros(d, d);
        let mut ahead = vec![0.0; d];
        let mut behind = vec![0.0; d];
        let moved = |by: &[(usize, f64)]| {
            let mut state = state.clone();
            by.iter().for_each(|&(i, by)| state[i] += by);
            state
        };
        for i in 0..d {
            ahead[i] = self.at(&moved(&[(i, widths[i])]), true)?;
            behind[i] = self.at(&moved(&[(i, -widths[i])]), true)?;
            gradient[i] = (ahead[i] - behind[i]) / (2.0 * widths[i]);
            hessian[(i, i)] = (ahead[i] + behind[i] - 2.0 * here) / (widths[i] * widths[i]);
        }
        for i in 0..d {
            for j in 0..i {
                let both = self.at(&moved(&[(i, widths[i]), (j, widths[j])]), true)?;
                let neither = self.at(&moved(&[(i, -widths[i]), (j, -widths[j])]), true)?;
                let mixed = both + neither - ahead[i] - ahead[j] - behind[i] - behind[j] + 2.0 * here;
                hessian[(i, j)] = mixed / (2.0 * widths[i] * widths[j]);
                hessian[(j, i)] = hessian[(i, j)];
            }
        }
        Ok((gradient, hessian))
    }

    /// Of all rows.
    fn gradient(&mut self, state: &DVector<f64>, widths: &[f64]) -> Result<DVector<f64>, Failure> {
        let mut gradient = DVector::zeros(widths.len());
        for (i, width) in widths.iter().enumerate() {
            let (mut ahead, mut behind) = (state.clone(), state.clone());
            ahead[i] += width;
            behind[i] -= width;
            gradient[i] = (self.at(&ahead, false)? - self.at(&behind, false)?) / (2.0 * width);
        }
        Ok(gradient)
    }
}

#[cfg(test)]
mod tests;
