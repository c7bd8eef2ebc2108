//! The centre of an expansion: about the mode, found with two passes over the data instead of ten.
//!
//! Newton's method runs on a sample first: the first rows of the storage, which is shuffled, each standing for N/n rows, *all* rows of
//! thin columns, whose coefficients a sample could not know, and enough rows of every thin level. From there a full Newton step, with gradient and Hessian of all rows, lands within a
//! fraction of a posterior sd of the mode, since the curvature changes little over the way. The next pass confirms that and
//! leaves what an expansion needs anyway: gradient, Hessian and η̂ at the centre. The centre need not be the mode exactly: the
//! gradient there is kept. Where four passes do not get there (ten events in a million rows: the sample may hold none), Newton's method with shorter steps climbs on all
//! rows from the start.
//!
//! Kinks of Laplace priors are rounded while searching ([`Prior::smooth`](crate::Prior::smooth)): only the centre comes of it, never the posterior.

use nalgebra::{DMatrix, DVector};

use crate::glm::blocks::{BLOCK, View};
use crate::glm::derivative::{self, Derivatives};
use crate::glm::predictor::levels;
use crate::glm::{Family, Glm};
use crate::memory::filled_on;
use austerity::error::{Error, Result};
use austerity::model::{Mode, find_mode};
use austerity::population::relocated;

/// Rows of the sample.
const SAMPLE: usize = 1 << 16;
/// Of few rows a quarter is looked at first, but at least so many per parameter.
const PER_PARAMETER: usize = 64;
/// A column with fewer non-zeros than this in a sample of that size is thin: all its rows are taken, and of a thin level so many.
const THIN: f64 = 500.0;
/// Rows that are taken of a thin level, at the least.
const FEWEST_OF_LEVEL: usize = 16;
/// Full passes at most before all rows are climbed on.
const PASSES: u32 = 4;
/// Squared distance to the mode, in posterior sds, that a centre may have.
const CLOSE: f64 = 0.1;

/// Squared distance of the mode from that of a sample, over its mean: χ²_d/d is beyond that less than once in 10⁴ times from 4 parameters on.
const LIKELY: f64 = 6.0;

/// An expansion point and what all rows say there.
pub(super) struct Centre {
    pub(super) state: Vec<f64>,
    /// Of the log-likelihood.
    pub(super) gradient: Vec<f64>,
    /// Of the log-likelihood, d × d.
    pub(super) hessian: Vec<f64>,
    /// η̂ of every row of the storage, filled up to whole blocks.
    pub(super) eta: Vec<f32>,
    /// Inverse of the negative Hessian with the (smoothed) prior.
    pub(super) covariance: Vec<f64>,
    /// Mean of the diagonal of the negative Hessian.
    pub(super) mean_precision: f64,
    /// The mode as the expansion sees it: a Newton step from the centre.
    pub(super) mode: Vec<f64>,
    /// Full passes made.
    pub(super) passes: u32,
}

/// The mode as a sample of about `rows` rows sees it, by Newton's method from `start`: off by √(N/n) posterior sds, at a fraction of the cost. All rows
/// of thin columns are taken besides, the priors are as they are, and the covariance is that of all rows, roughly.
///
/// For starts, and for knowing what derivatives cost; not for centres of expansions, which need gradient and Hessian of all rows. With `rows` of
/// half the data or more it is [`find_mode`].
pub fn sampled_mode<F: Family>(model: &Glm<F>, start: &[f64], rows: usize) -> Result<Mode> {
    // Rows of the sample are named by their place in the model's storage.
    let found = find_mode(&sampled(model, rows)?, start);
    found.map_err(|error| relocated(error, |position| model.original(position)))
}

/// Finds a centre from `start`; exactly there when `fixed`.
pub(super) fn find<F: Family>(model: &Glm<F>, start: &[f64], fixed: bool) -> Result<Centre> {
    let mut smoothed = model.clone();
    smoothed.priors = model.priors.smooth();
    let start = &model.begun_at(start)[..];
    let mut state = start.to_vec();
    if !fixed {
        state = if model.blocks().rows() > 2 * SAMPLE {
            nearer(&smoothed, start, sampled_mode(&smoothed, start, SAMPLE)?)
        } else {
            mode_of_few(&smoothed, start)?.state
        };
    }
    snap(model, &mut state);
    let mut eta = filled_on(model.driver.threads(), model.blocks().count() * BLOCK, 0.0);
    let mut passes = 0;
    loop {
        passes += 1;
        let (gradient, hessian) = all_rows(model, &state, &mut eta)?;
        let finite = gradient.iter().chain(&hessian).all(|value| value.is_finite());
        if !finite {
            return Err(Error::ImpossibleStart {
                density: "not a number".into(),
                why: "a derivative of the log-likelihood is not finite at the centre of the expansion".into(),
            });
        }
        let (covariance, mean_precision, step) = newton(&smoothed, &state, &gradient, &hessian)?;
        let mut slope = gradient.clone();
        smoothed.add_outside_gradient(&state, &mut slope);
        let gain: f64 = slope.iter().zip(&step).map(|(g, s)| g * s).sum();
        let mode: Vec<f64> = state.iter().zip(&step).map(|(s, d)| s + d).collect();
        let lost = !fixed && gain > CLOSE && passes >= PASSES;
        // Events that the sample has too few of lead far away, from where whole steps do not come back: all rows are climbed on, step by step.
        let climbed = if lost && passes == PASSES { find_mode(&smoothed, start).ok() } else { None };
        if climbed.is_none() && (fixed || gain <= CLOSE || lost) {
            return Ok(Centre { state, gradient, hessian, eta, covariance, mean_precision, mode, passes });
        }
        state = climbed.map_or(mode, |mode| mode.state);
        snap(model, &mut state);
    }
}

/// The start, where a sample cannot tell it from the mode, as that of a search on all rows; otherwise the mode of the sample.
///
/// The covariance is that of all rows, roughly, in which the mode of a sample of n is off by d·N/n, squared.
fn nearer<F: Family>(model: &Glm<F>, start: &[f64], sampled: Mode) -> Vec<f64> {
    let d = start.len();
    let away = DVector::from_iterator(d, start.iter().zip(&sampled.state).map(|(a, b)| a - b));
    let factor = DMatrix::from_row_slice(d, d, &sampled.covariance).cholesky();
    let square = factor.map_or(f64::INFINITY, |factor| away.dot(&factor.solve(&away)));
    let usual = d as f64 * model.blocks().rows() as f64 / SAMPLE as f64;
    if square <= LIKELY * usual { start.to_vec() } else { sampled.state }
}

/// The mode of few rows: all of them are climbed on, from where a quarter has its mode. A quarter may be separable, miss events, or have none; then from `start`.
fn mode_of_few<F: Family>(model: &Glm<F>, start: &[f64]) -> Result<Mode> {
    let some = (model.blocks().rows() / 4).max(PER_PARAMETER * model.parameters());
    let near = sampled_mode(model, start, some).map_or_else(|_| start.to_vec(), |mode| mode.state);
    find_mode(model, &near).or_else(|_| find_mode(model, start))
}

/// Gradient and Hessian of the log-likelihood of all rows, in the user's coefficients; η goes to `eta`.
pub(super) fn all_rows<F: Family>(
    model: &Glm<F>,
    state: &[f64],
    eta: &mut [f32],
) -> Result<(Vec<f64>, Vec<f64>)> {
    let sums = model.driver.run_keeping(&Derivatives::new(model, state, false, true), model, eta)?;
    let d = state.len();
    let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
    derivative::to_user(model, &sums, &mut gradient, Some(&mut hessian));
    Ok((gradient, hessian))
}

/// Covariance, mean precision and Newton step, of likelihood and prior. A prior that curves upwards (the flanks of a Student t) counts as flat.
fn newton<F: Family>(
    model: &Glm<F>,
    state: &[f64],
    gradient: &[f64],
    hessian: &[f64],
) -> Result<(Vec<f64>, f64, Vec<f64>)> {
    let d = state.len();
    let (mut hessian, mut slope) = (hessian.to_vec(), DVector::from_column_slice(gradient));
    model.add_outside_hessian(state, &mut hessian, |second| second.min(0.0));
    model.add_outside_gradient(state, slope.as_mut_slice());
    let matrix = DMatrix::from_fn(d, d, |i, j| -hessian[i * d + j]);
    // A unit diagonal keeps columns of different units apart from singular ones.
    let unit = matrix.diagonal().map(|a| if a > 0.0 { 1.0 / a.sqrt() } else { 1.0 });
    let scaled = DMatrix::from_fn(d, d, |i, j| matrix[(i, j)] * unit[i] * unit[j]);
    let inverse = scaled.cholesky().map(|factor| factor.inverse());
    let inverse =
        inverse.filter(|m| m.iter().all(|v| v.is_finite())).ok_or_else(|| Error::NotPositiveDefinite {
            what: "the negative Hessian at the centre of the expansion".into(),
            remedy: "the data and the prior leave some direction free; give every coefficient a proper prior"
                .into(),
        })?;
    let covariance = DMatrix::from_fn(d, d, |i, j| inverse[(i, j)] * unit[i] * unit[j]);
    let step = &covariance * slope;
    let precision = matrix.trace() / d as f64;
    Ok((covariance.transpose().as_slice().to_vec(), precision, step.as_slice().to_vec()))
}

/// Moves a state to the nearest one whose coefficients, in the units of the storage, are f32: η̂ is then that of the centre itself.
pub(super) fn snap<F: Family>(model: &Glm<F>, state: &mut [f64]) {
    let mut constant = model.side_constant;
    for entry in &model.coding.entries {
        let beta = &mut state[entry.parameter];
        let rounded = f64::from((*beta * entry.scale) as f32) / entry.scale;
        if rounded.is_finite() {
            *beta = rounded;
        }
        constant += *beta * entry.shift;
    }
    if model.intercept {
        state[0] = f64::from((constant + state[0]) as f32) - constant;
    }
}

/// A part of the rows that stands for all: the first `size` of the storage, which is shuffled, all rows of columns that are thin among them, and some
/// hundred rows of every thin level, which stand for its others. All rows where they are fewer than twice as many.
pub fn sampled<F: Family>(model: &Glm<F>, size: usize) -> Result<Glm<F>> {
    sampled_with(model, size, &[])
}

/// The same with other rows that are taken for certain.
pub(in crate::glm) fn sampled_with<F: Family>(model: &Glm<F>, size: usize, more: &[u32]) -> Result<Glm<F>> {
    let size = size.max(1);
    if model.blocks().rows() <= 2 * size {
        return Ok(model.clone());
    }
    let view = model.blocks().view();
    let (rows, width) = (view.rows(), view.layout().columns);
    let rate = size as f64 / rows as f64;
    let few = THIN * (size as f64 / SAMPLE as f64).min(1.0);
    // Only columns that are not centred can have zeros.
    let entries = model.coding.entries.iter();
    let sparse = entries.filter(|entry| model.coding.level(entry).is_none() && entry.shift == 0.0);
    let sparse: Vec<usize> = sparse.map(|entry| entry.slot).collect();
    let has = |block: usize, j: usize| {
        let lines = &view.block(block)[2 * j..2 * j + 2];
        lines.iter().any(|line| line.0.iter().any(|&x| x != 0.0))
    };
    let value = |position: usize, j: usize| {
        let i = position % BLOCK;
        view.block(position / BLOCK)[2 * j + i / 16].0[i % 16]
    };
    let mut counts = vec![0u64; width];
    for block in 0..view.count() {
        for &j in sparse.iter().filter(|&&j| has(block, j)) {
            let lines = &view.block(block)[2 * j..2 * j + 2];
            counts[j] += lines.iter().flat_map(|line| line.0).filter(|&x| x != 0.0).count() as u64;
        }
    }
    let is_thin = |count: u64| (count as f64) * rate < few;
    let thin: Vec<usize> = sparse.into_iter().filter(|&j| is_thin(counts[j])).collect();
    let mut certain: Vec<u32> = more.to_vec();
    for block in 0..if thin.is_empty() { 0 } else { view.count() } {
        if thin.iter().any(|&j| has(block, j)) {
            let rows = block * BLOCK..block * BLOCK + view.rows_in(block);
            let found = rows.filter(|&p| thin.iter().any(|&j| value(p, j) != 0.0));
            certain.extend(found.map(|p| p as u32));
        }
    }
    certain.sort_unstable();
    certain.dedup();
    let mut strata = Strata::new(&view, size, few, is_thin);
    let (mut positions, mut of_stratum) = (certain.clone(), Vec::new());
    let mut apart = certain.iter().peekable();
    for position in 0..if strata.levels.is_empty() { size } else { rows } {
        if apart.next_if_eq(&&(position as u32)).is_none()
            && let Some(stratum) = strata.take(&view, position)
        {
            positions.push(position as u32);
            of_stratum.push(stratum);
        }
    }
    if strata.levels.is_empty() {
        strata.rows[0] = rows - certain.len();
    }
    let weight = |&stratum: &usize| strata.rows[stratum] as f64 / strata.taken[stratum] as f64;
    let weights: Vec<f64> =
        std::iter::repeat_n(1.0, certain.len()).chain(of_stratum.iter().map(weight)).collect();
    model.subset(&positions, Some(&weights))
}

/// Rows by their rarest thin level, each stratum with its own sample; stratum 0 is all other rows.
struct Strata {
    /// Rows of every level where it is thin, else the largest number; empty where no level is.
    levels: Vec<u64>,
    /// Rows that are taken of stratum 0, from the first ones, and of each level.
    size: usize,
    quota: usize,
    rows: Vec<usize>,
    taken: Vec<usize>,
}

impl Strata {
    fn new(view: &View<'_>, size: usize, few: f64, is_thin: impl Fn(u64) -> bool) -> Self {
        let mut levels = levels::counts(view);
        // Place 0 is no level.
        levels.iter_mut().take(1).for_each(|count| *count = u64::MAX);
        levels.iter_mut().filter(|count| !is_thin(**count)).for_each(|count| *count = u64::MAX);
        let thin = levels.iter().filter(|&&count| count < u64::MAX).count();
        if thin == 0 {
            levels.clear();
        }
        // Together they are no more than twice the sample, unless that is hardly a row each.
        let quota = (few as usize).min(2 * size / thin.max(1)).max(FEWEST_OF_LEVEL);
        let strata = levels.len().max(1);
        Self { levels, size, quota, rows: vec![0; strata], taken: vec![0; strata] }
    }

    /// Counts a row; its stratum, if it is taken.
    fn take(&mut self, view: &View<'_>, position: usize) -> Option<usize> {
        let lines = view.block(position / BLOCK);
        let places = levels::of_row(view.layout(), lines, position % BLOCK);
        let rarest = places.filter(|&place| self.levels.get(place).is_some_and(|&count| count < u64::MAX));
        let stratum = rarest.min_by_key(|&place| self.levels[place]).unwrap_or(0);
        self.rows[stratum] += 1;
        let wanted = if stratum == 0 { position < self.size } else { self.taken[stratum] < self.quota };
        self.taken[stratum] += usize::from(wanted);
        wanted.then_some(stratum)
    }
}
