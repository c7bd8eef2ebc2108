//! The mode of a model that knows no derivatives, by differences: only starts, pilots and the shape of proposals come of it.
//!
//! Newton's method with central differences of f(θ) = N/S·Σ_S [ℓ_i(θ) − ℓ_i(θ₀)] + log ρ(θ) over the first S = 30,000 rows of the storage, which is
//! in random order, then two steps with gradients of all rows and the Hessian of the sample. Differences of 10⁻⁴ posterior standard
//! deviations would drown in rounding and those of one would see the curvature change; a tenth of a standard deviation, as the last
//! Hessian tells it, is taken.
//!
//! Cost: some ten Hessians of 2d² sums of S rows, and 4d sums of N rows. A mode that is off by a standard deviation costs warm-up steps,
//! never correctness; where none is found, chains start at the user's own start. `hazard` tells a posterior without a mode from a search
//! that lost its way.

mod ascent;
mod hazard;

use austerity::Error;
use austerity::model::{Access, Mode};
use austerity::population::{Batch, Population as _};
use austerity::rng::{Role, stream};
use austerity::run::{Control, Hazard};
use austerity_glm::add_mode;
use nalgebra::{DMatrix, DVector};
use rand_distr::{Distribution as _, StandardNormal};

use crate::model::Sampled;
use crate::output::Failure;

/// S.
const SAMPLE: usize = 30_000;
/// Rows of a quick look.
const QUICK: usize = 2_000;
/// Parameters up to which other modes are looked for by Newton's method, and beyond by `ascent`; pairs that are exchanged; random starts.
const MOST_SEARCHED: usize = 8;
const MOST_EXCHANGED: usize = 10;
const RANDOM: usize = 4;
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

/// What a search for the mode ends with.
#[derive(Debug)]
pub(super) struct Search {
    /// The mode, where the search ended at one.
    pub(super) mode: Option<Mode>,
    /// What was noticed about the posterior on the way.
    pub(super) hazard: Option<Hazard>,
}

/// The mode near `start`, and what may be wrong with the posterior.
pub(super) fn mode<M: Sampled>(model: &M, start: &[f64], control: &Control) -> Result<Search, Failure> {
    if start.len() > MOST_PARAMETERS {
        return Ok(Search { mode: None, hazard: None });
    }
    let mut density = Density::new(model, start, control, SAMPLE);
    let end = climb(&mut density, start)?;
    let hazard = hazard::find(&mut density, &end, start, &model.names())?;
    Ok(Search { mode: end.mode, hazard })
}

/// Modes, and the number of starts that were made; or why the search ended.
pub(super) type Found = Result<(Vec<Mode>, usize), Failure>;

/// Other modes of a posterior, with the log density of each over that of `mode`, which comes first, and the number of starts that were made.
///
/// Starts: pairs of parameters exchanged (mixtures are the same under another numbering), all signs changed, and random places about the mode. Few rows
/// are climbed on first; only what ends elsewhere is looked at on more. With more than 8 parameters paths need gradients alone ([`ascent`]), and starts end once all have cost about what the search for `mode` may
/// cost. Beyond 40 parameters nobody looks.
pub(super) fn other_modes<M: Sampled>(model: &M, mode: &Mode, start: &[f64], control: &Control) -> Found {
    let d = mode.state.len();
    let mut modes = vec![Mode { log_density: 0.0, ..mode.clone() }];
    if d > MOST_PARAMETERS {
        return Ok((modes, 0));
    }
    if d > MOST_SEARCHED {
        return ascent::other_modes(model, mode, start, control);
    }
    let starts = elsewhere(&mode.state, start);
    let number = starts.len();
    let mut quick = Density::new(model, &mode.state, control, QUICK);
    let mut thorough = Density::new(model, &mode.state, control, SAMPLE);
    for start in starts {
        let Some(near) = climb(&mut quick, &start)?.mode else { continue };
        let known = modes.len();
        let mut seen = modes.clone();
        add_mode(&mut seen, near.clone());
        if seen.len() == known {
            continue;
        }
        let Some(mut other) = climb(&mut thorough, &near.state)?.mode else { continue };
        other.log_density =
            thorough.at(&DVector::from_column_slice(&other.state), false)? - model.log_prior(&mode.state);
        add_mode(&mut modes, other);
    }
    Ok((modes, number))
}

/// Where else to begin.
fn elsewhere(mode: &[f64], start: &[f64]) -> Vec<Vec<f64>> {
    let d = mode.len();
    let mut starts = Vec::new();
    for i in 0..d {
        for j in 0..i {
            let mut exchanged = mode.to_vec();
            exchanged.swap(i, j);
            starts.push(exchanged);
        }
    }
    starts.truncate(MOST_EXCHANGED);
    if d > MOST_SEARCHED {
        // Whole components of a mixture, whichever way they are laid out.
        let mut halves = mode.to_vec();
        halves.rotate_left(d / 2);
        starts.insert(0, mode.iter().rev().copied().collect());
        starts.insert(0, halves);
    }
    starts.push(mode.iter().map(|x| -x).collect());
    // Seeded by nothing that a user chooses: the same model has the same modes.
    let mut rng = stream(0, 0, Role::Start);
    for _ in 0..RANDOM {
        let place = mode.iter().zip(start).map(|(m, s)| {
            let normal: f64 = StandardNormal.sample(&mut rng);
            m + m.abs().max(s.abs()).max(1.0) * normal
        });
        starts.push(place.collect());
    }
    starts
}

/// Where a search ended.
struct End {
    state: DVector<f64>,
    mode: Option<Mode>,
    gradient: DVector<f64>,
    hessian: DMatrix<f64>,
    /// Diagonal of the first Hessian.
    first: Option<DVector<f64>>,
    /// Whether −H had to be made positive definite.
    ridged: bool,
    /// The last step.
    step: Option<DVector<f64>>,
}

fn climb<M: Sampled>(density: &mut Density<'_, M>, start: &[f64]) -> Result<End, Failure> {
    let d = start.len();
    let mut end = End {
        state: DVector::from_column_slice(start),
        mode: None,
        gradient: DVector::zeros(d),
        hessian: DMatrix::zeros(d, d),
        first: None,
        ridged: false,
        step: None,
    };
    let mut widths: Vec<f64> = start.iter().map(|x| 1e-4 * x.abs().max(1.0)).collect();
    for step in 1..=STEPS {
        let here = density.at(&end.state, true)?;
        if !here.is_finite() {
            return Ok(end);
        }
        let (gradient, hessian) = density.derivatives(&end.state, here, &widths)?;
        if !gradient.iter().chain(hessian.iter()).all(|x| x.is_finite()) {
            return Ok(end);
        }
        end.first.get_or_insert_with(|| hessian.diagonal());
        (end.gradient, end.hessian) = (gradient, hessian);
        let Some((inverse, ridge)) = regular(&end.hessian) else { return Ok(end) };
        end.ridged = ridge > 0.0;
        let move_by = &inverse * &end.gradient;
        let length = end.gradient.dot(&move_by);
        for (i, width) in widths.iter_mut().enumerate() {
            let curvature = -end.hessian[(i, i)];
            let sd = inverse[(i, i)].max(0.0).sqrt();
            *width = match end.ridged {
                false => WIDTH * sd.max(1e-12),
                // Along a flat direction the sd is that of the ridge, and differences as wide see no curvature at all.
                true if curvature > 0.0 => WIDTH * sd.min(curvature.powf(-0.5)).max(1e-12),
                true => *width,
            };
        }
        let mut share = 1.0;
        let mut found = false;
        for _ in 0..HALVINGS {
            let there = density.at(&(&end.state + &move_by * share), true)?;
            if there >= here - 1e-9 * here.abs().max(1.0) {
                found = true;
                break;
            }
            share *= 0.5;
        }
        if !found || !length.is_finite() {
            return Ok(end);
        }
        let by = &move_by * share;
        end.state += &by;
        end.step = Some(by);
        if length < CLOSE {
            for _ in 0..2 {
                let gradient = density.gradient(&end.state, &widths)?;
                let by = &inverse * gradient;
                if by.iter().all(|x| x.is_finite()) {
                    end.state += by;
                }
            }
            end.mode = Some(Mode {
                state: end.state.as_slice().to_vec(),
                log_density: 0.0,
                covariance: inverse.transpose().as_slice().to_vec(),
                iterations: step,
            });
            return Ok(end);
        }
    }
    Ok(end)
}

/// The inverse of −H, with a ridge while it is not positive definite, and that ridge.
fn regular(hessian: &DMatrix<f64>) -> Option<(DMatrix<f64>, f64)> {
    let d = hessian.nrows();
    let largest = hessian.diagonal().iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    let mut ridge = 0.0;
    for _ in 0..40 {
        let matrix = -hessian + DMatrix::identity(d, d) * ridge;
        if let Some(cholesky) = matrix.cholesky() {
            return Some((cholesky.inverse(), ridge));
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
    /// S.
    sample: usize,
    values: Vec<f64>,
    /// Log-likelihoods of rows computed so far.
    spent: f64,
}

impl<'m, M: Sampled> Density<'m, M> {
    fn new(model: &'m M, origin: &[f64], control: &'m Control, sample: usize) -> Self {
        let scratch = model.scratch(Access::Blocks);
        Self { model, control, scratch, origin: origin.to_vec(), sample, values: Vec::new(), spent: 0.0 }
    }

    /// f, on the sample or on all rows; −∞ where the state is impossible, or far enough out for an overflow.
    fn at(&mut self, state: &DVector<f64>, sampled: bool) -> Result<f64, Failure> {
        match self.value(state, sampled) {
            Err(Failure::Library(
                Error::NotANumber { .. }
                | Error::OutOfRange { .. }
                | Error::InfiniteRatio { .. }
                | Error::PriorNotANumber,
            )) => Ok(f64::NEG_INFINITY),
            other => other,
        }
    }

    fn value(&mut self, state: &DVector<f64>, sampled: bool) -> Result<f64, Failure> {
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
        let sample = rows.min(self.sample);
        self.spent += if sampled { sample as f64 } else { rows as f64 };
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

pub(super) use hazard::untouched;

#[cfg(test)]
mod tests;
