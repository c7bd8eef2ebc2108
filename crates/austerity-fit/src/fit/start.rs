//! Where chains start: the mode, and what it tells about the data.
//!
//! The mode is found with smooth priors of the same width where the prior has a kink (Laplace), which Newton's method cannot pass; only
//! starts and steps come of it, so the posterior is not changed. Chains start at draws from a normal distribution twice as
//! wide (in variance) as the Laplace approximation there, so that R-hat has something to compare.

use austerity::model::{Access, Mode, Model as _, find_mode, find_mode_near};
use austerity::population::Population as _;
use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, stream};
use austerity::run::Hazard;
use austerity_glm::ResponseKind;
use austerity_glm::check::{CONFLICT, Conflict, prior_conflicts};
use austerity_glm::glm::expansion::sampled_mode;
use austerity_glm::proposal::Spike;
use austerity_glm::{Glm, Prior, Priors, Store, WeighedMode};
use nalgebra::{DMatrix, DVector};

use super::AskedPriors;
use super::budget::{Budget, Hurried, hurry};
use super::modes::{Modes, ModesRecord};
use super::plan::{Remark, TailRecord};
use crate::model::{Family, Regression, Task};
use crate::output::Failure;
use crate::runs::about;

/// Variance of the starts over that of the Laplace approximation.
const SPREAD: f64 = 2.0;
/// Times that the distance of a start from the mode is halved at most.
const HALVINGS: u32 = 12;
/// Share of the prior's sd beyond which the prior decides about a coefficient.
const WEAK: f64 = 0.5;
/// The remedy for a posterior that has no mode.
const PROPER: &str = "use a proper prior such as normal:2.5";
/// Rows of the sample whose mode the search begins at; fewer than twice as many are not sampled.
const SAMPLE: usize = 1 << 16;
/// Eigenvalues that may be 0, and how far, in standard deviations of the coefficients given the others, a flat direction must be flat: it
/// changes the density by a nat where the eigenvalue is 2·10⁻¹⁰.
const SINGULAR: f64 = 1e-5;
const FAR: f64 = 1e5;
/// Draws of the priors that a lost search begins again from.
const DRAWS: usize = 8;
/// Fall of the log-likelihood, three of its standard deviations beyond its centre, that shows that it has one; a normal one falls by 4.5.
const FALL: f64 = 1.0;
/// Coefficients that are named in a warning.
const NAMED: usize = 5;

/// The mode and what was noticed there.
pub(super) struct Start {
    pub(super) mode: Mode,
    /// All modes that matter, the main one first.
    pub(super) modes: Vec<WeighedMode>,
    /// How they were found; none where nobody looked.
    pub(super) searched: Option<ModesRecord>,
    /// The largest distance of a default prior from the likelihood, in standard deviations.
    pub(super) conflict: Option<f64>,
    pub(super) remarks: Vec<Remark>,
    /// What is wrong with the posterior, however long the chains run.
    pub(super) hazards: Vec<Hazard>,
    /// On which sides it has the tail of its prior.
    pub(super) tails: Vec<TailRecord>,
    /// Coefficients whose prior is so narrow that local steps do not reach what lies beyond.
    pub(super) spikes: Vec<Spike>,
    /// Distance of the mode from that of all rows, in posterior sds, where there was no time for more than a sample.
    pub(super) hurried: Option<f64>,
}

/// Finds the mode.
pub(super) struct FindMode<'a> {
    pub(super) family: Family,
    pub(super) priors: &'a AskedPriors,
    /// Mean and standard deviation of a real response, and whether there is an intercept.
    pub(super) centre: f64,
    pub(super) width: f64,
    pub(super) intercept: bool,
    /// Whether rows have an offset: 0 is then not the state of even odds.
    pub(super) offset: bool,
    /// The budget that may leave no time for it.
    pub(super) budget: Option<Budget>,
    pub(super) threads: usize,
}

impl Task for FindMode<'_> {
    type Output = Start;

    fn run<M: Regression>(self, model: &M) -> Result<Start, Failure> {
        let zero = self.first(model.names().len());
        let (family, width) = (self.family, self.width);
        self.from(model, &zero, find_mode(model, &zero), |mode| Ok(Modes::of(family, model, mode, width)))
    }

    fn run_expandable<F: austerity_glm::glm::Family>(self, model: &Glm<F>) -> Result<Start, Failure> {
        let hurried = match &self.budget {
            Some(budget) => hurry(model, budget, self.threads)?,
            None => None,
        };
        if let Some(Hurried { mode: Some(mode), distance, remark }) = hurried {
            return Ok(Start { remarks: vec![remark], hurried: Some(distance), ..Start::at(mode) });
        }
        // Chains have not begun: passes over all rows have all threads.
        let model = &model.clone().with_threads(self.threads);
        // A sample leads to the neighbourhood of the mode at a fraction of the cost.
        let zero = self.first(model.parameters());
        let near = if model.len() > 2 * SAMPLE { sampled_mode(model, &zero, SAMPLE).ok() } else { None };
        let found =
            near.as_ref().map_or_else(|| find_mode(model, &zero), |near| find_mode_near(model, &near.state));
        let (family, width) = (self.family, self.width);
        let start = near.map_or(zero, |mode| mode.state);
        let mut start = self.from(model, &start, found, |mode| Modes::of_glm(family, model, mode, width))?;
        if let Some(Hurried { distance, remark, .. }) = hurried {
            start.remarks.insert(0, remark);
            start.hurried = Some(distance);
        }
        Ok(start)
    }
}

impl Start {
    /// A mode that nothing more is known of.
    pub(super) fn at(mode: Mode) -> Self {
        Self {
            mode,
            modes: Vec::new(),
            searched: None,
            conflict: None,
            remarks: Vec::new(),
            hazards: Vec::new(),
            tails: Vec::new(),
            spikes: Vec::new(),
            hurried: None,
        }
    }
}

impl FindMode<'_> {
    /// The mode from 0 or from a draw of the priors, where a search got lost: on a saddle between two modes, or far out where a likelihood is flat.
    fn elsewhere<M: Regression>(&self, model: &M) -> Option<Mode> {
        let priors = &self.priors.priors;
        let parameters = priors.len();
        let coefficients = parameters - self.family.extra().len();
        let first = self.first(parameters);
        let mut rng = stream(0, 0, Role::Start);
        let draws = (0..DRAWS).filter_map(|_| {
            let drawn: Option<Vec<f64>> =
                priors[..coefficients].iter().map(|prior| prior.draw(&mut rng)).collect();
            drawn.map(|mut state| {
                state.extend_from_slice(&first[coefficients..]);
                state
            })
        });
        let starts: Vec<Vec<f64>> = std::iter::once(vec![0.0; parameters]).chain(draws).collect();
        starts.iter().find_map(|start| find_mode(model, start).ok())
    }

    /// What to do about a mode that was not found.
    fn no_mode(&self, error: &austerity::Error, flat: bool) -> Failure {
        let why = if flat && self.family.kind() == ResponseKind::Binary {
            format!("with a flat prior this happens when the data are separable; {PROPER}")
        } else if flat {
            format!("a flat prior leaves open what the data do not tell; {PROPER}")
        } else {
            "look for columns that repeat each other or differ wildly in scale, or use a tighter prior".into()
        };
        Failure::Usage(format!("the posterior has no mode that could be found: {error}; {why}"))
    }

    /// Where a search begins: at 0; with an unknown σ at the mean and the spread of the response, far from which the likelihood of Student noise is
    /// all but flat.
    fn first(&self, parameters: usize) -> Vec<f64> {
        let mut state = vec![0.0; parameters];
        let coefficients = parameters - self.family.extra().len();
        state[coefficients..].copy_from_slice(&self.family.typical(self.width));
        if self.family.has_sigma() && self.width > 0.0 && self.intercept {
            state[0] = self.centre;
        }
        state
    }

    /// What follows of a search that began at `start`.
    fn from<M: Regression>(
        self,
        model: &M,
        start: &[f64],
        found: austerity::Result<Mode>,
        modes: impl FnOnce(&Mode) -> Result<Modes, Failure>,
    ) -> Result<Start, Failure> {
        let names = model.names();
        let priors = &self.priors.priors;
        let flat = priors.contains(&Prior::Flat);
        let found = found.or_else(|error| self.elsewhere(model).ok_or(error));
        let (width, rows) = (names.len(), model.len());
        let exact = self.family.has_sigma() && width > rows;
        if flat && !exact {
            // Rounding may make a mode of a flat direction.
            let at = found.as_ref().map_or(start, |mode| &mode.state);
            let free = free(model, at, &names)?;
            if !free.is_empty() {
                return Err(Failure::Usage(format!(
                    "the posterior density is flat along a direction of {}: their priors are flat, and the data do not tell them apart; {PROPER}, \
                     or leave out a column that repeats another",
                    free.join(", ")
                )));
            }
        }
        let mode = found.map_err(|error| match exact {
            true => Failure::Usage(format!(
                "{width} parameters and {rows} rows: every row can be hit exactly, so nothing keeps sigma from 0; use fewer \
                 columns, or give sigma a prior that keeps it above 0, such as log-normal:0,1"
            )),
            false => self.no_mode(&error, flat),
        })?;
        let modes = modes(&mode)?;
        let mode = modes.weighed.first().map_or(mode, |first| first.mode.clone());
        let mut remarks = Vec::new();
        if self.family.kind() == ResponseKind::Binary && !self.offset && separable(model, &mode.state)? {
            // Newton's method may stop on the slope without end, where rounding has flattened it.
            let mut slopes =
                names.iter().zip(priors.iter()).filter(|(name, _)| *name != "intercept").peekable();
            if slopes.peek().is_some() && slopes.all(|(_, prior)| *prior == Prior::Flat) {
                return Err(Failure::Usage(format!(
                    "the posterior has no mode: the data are separable (every row can be put on its side) and the priors are flat; {PROPER}"
                )));
            }
            remarks.push(Remark::Separable);
        }
        let mut conflicts = conflicts(model, &mode);
        let defaults = conflicts.iter().filter(|found| self.priors.default[found.parameter]);
        let largest = defaults.map(|found| found.z).fold(0.0, f64::max);
        conflicts.retain(|found| found.z > CONFLICT);
        remarks.extend(weak(&names, priors, &mode, &conflicts));
        let shown = |state: &[f64]| {
            let mut values = state.to_vec();
            model.write(&state.to_vec(), &mut values);
            values
        };
        let mut hazards: Vec<Hazard> = modes.hazard(&names, shown).into_iter().collect();
        hazards.extend(conflicts.into_iter().map(|Conflict { parameter, likelihood, z, .. }| {
            let at = if parameter == 0 && priors.means().is_some() { " at the column means" } else { "" };
            Hazard::PriorConflict {
                parameter: format!("{}{at}", names[parameter]),
                prior: about::rounded(&priors[parameter].to_string()),
                likelihood,
                z,
                default: self.priors.default[parameter],
            }
        }));
        Ok(Start {
            modes: modes.that_matter().to_vec(),
            searched: Some(modes.record),
            conflict: Some(largest),
            remarks,
            hazards,
            ..Start::at(mode)
        })
    }
}

/// What priors and likelihood say of every parameter, where the likelihood has a centre.
fn conflicts<M: Regression>(model: &M, mode: &Mode) -> Vec<Conflict> {
    let priors = model.priors();
    let mut scratch = model.scratch(Access::Blocks);
    let mut bounded = |conflict: &Conflict| {
        let [centre, beyond] = &conflict.beyond;
        // So far out a likelihood may overflow: then it falls.
        model.compare(centre, beyond, &mut scratch).total().map_or(true, |rows| rows.sum() < -FALL)
    };
    let mut asked = |conflict: Conflict| {
        let mut open = priors.clone();
        open.set(conflict.parameter, Prior::Flat);
        match model.with_priors(open).and_then(|alone| find_mode(&alone, &mode.state)) {
            Ok(alone) => Some(conflict.at_likelihood(priors, &alone)),
            Err(_) => bounded(&conflict).then_some(conflict),
        }
    };
    // Only a conflict is worth passes over the rows.
    let ask = |conflict: Conflict| if conflict.z > CONFLICT { asked(conflict) } else { Some(conflict) };
    prior_conflicts(priors, mode, 0.0).into_iter().filter_map(ask).collect()
}

/// Noise this small beside the response is rounding: single precision holds seven digits.
const EXACT: f64 = 1e-6;

/// What is wrong with the data of a regression: one response in every row, or columns that reproduce it.
pub(super) fn hazards(store: &Store, family: Family, mode: &Mode) -> Vec<Hazard> {
    let one = store.only_response().map(|value| Hazard::OneResponse {
        value: match (family.kind() == ResponseKind::CountOfTrials, value) {
            (true, 1.0) => "a success in every trial".into(),
            (_, value) => value.to_string(),
        },
    });
    // The first extra parameter of such a family is log σ.
    let log_sigma = mode.state.iter().rev().nth(family.extra().len().saturating_sub(1));
    let noise = log_sigma.filter(|_| family.has_sigma()).map(|log_sigma| log_sigma.exp());
    let exact = noise.is_some_and(|noise| noise < EXACT * store.response_sd());
    one.into_iter().chain(exact.then_some(Hazard::ExactFit)).collect()
}

/// Coefficients along which neither the data nor the prior change the density.
///
/// −H, scaled to a unit diagonal, has an eigenvalue of about 0 there; the log density itself, [`FAR`] units along the eigenvector, confirms it.
fn free<M: Regression>(model: &M, state: &[f64], names: &[String]) -> Result<Vec<String>, Failure> {
    let (d, here) = (state.len(), state.to_vec());
    let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
    model.hessian(&here, &mut gradient, &mut hessian)?;
    if !hessian.iter().all(|entry| entry.is_finite()) {
        return Ok(Vec::new());
    }
    let unit: Vec<f64> = (0..d)
        .map(|i| match hessian[i * d + i].abs() {
            0.0 => here[i].abs().max(1.0),
            curvature => curvature.powf(-0.5),
        })
        .collect();
    let eigen = DMatrix::from_fn(d, d, |i, j| -hessian[i * d + j] * unit[i] * unit[j]).symmetric_eigen();
    let mut parts = vec![false; d];
    let mut scratch = model.scratch(Access::Blocks);
    for (value, vector) in eigen.eigenvalues.iter().zip(eigen.eigenvectors.column_iter()) {
        if value.abs() > SINGULAR {
            continue;
        }
        let mut level = true;
        for length in [FAR, -FAR] {
            let there: Vec<f64> = (0..d).map(|i| here[i] + length * vector[i] * unit[i]).collect();
            let prior = model.log_prior(&there) - model.log_prior(&here);
            // So far out a likelihood may overflow: then it is not flat.
            let rows = model.compare(&here, &there, &mut scratch).total();
            level = level && rows.is_ok_and(|rows| (prior + rows.sum()).abs() < 1.0);
        }
        if level {
            let most = vector.amax();
            parts.iter_mut().zip(vector.iter()).for_each(|(part, entry)| *part |= entry.abs() > 0.1 * most);
        }
    }
    Ok(names.iter().zip(parts).filter(|(_, part)| *part).map(|(name, _)| name.clone()).collect())
}

/// Whether every row is more probable than not at `state`: log p(y|0) − log p(y|state) is then negative in every row.
fn separable<M: Regression>(model: &M, state: &Vec<f64>) -> Result<bool, Failure> {
    let zero = vec![0.0; state.len()];
    Ok(model.totals(&[(state, &zero)])?.iter().all(|rows| rows.maximum < 0.0))
}

/// Coefficients that the data hardly bound.
fn weak(names: &[String], priors: &Priors, mode: &Mode, conflicts: &[Conflict]) -> Option<Remark> {
    let covariance = DMatrix::from_row_slice(names.len(), names.len(), &mode.covariance);
    // Of what the prior is about: the intercept at the column means, where it holds there.
    let variance = |i: usize| {
        let direction = DVector::from_vec(priors.direction(i));
        direction.dot(&(&covariance * &direction))
    };
    let bound = |&(i, prior): &(usize, &Prior)| match spread(prior) {
        // Where prior and data disagree, both say much.
        Some(sd) if conflicts.iter().all(|conflict| conflict.parameter != i) => {
            variance(i).sqrt() > WEAK * sd
        }
        Some(_) => false,
        None => false,
    };
    let mut parameters: Vec<String> =
        priors.iter().enumerate().filter(bound).map(|(i, _)| names[i].clone()).collect();
    let more = parameters.len().saturating_sub(NAMED);
    parameters.truncate(NAMED);
    (!parameters.is_empty()).then_some(Remark::Weak { parameters, more })
}

/// Standard deviation of a prior, or its scale where it has none.
fn spread(prior: &Prior) -> Option<f64> {
    match *prior {
        Prior::Normal { sd, .. } => Some(sd),
        Prior::Laplace { scale, .. } | Prior::RoundedLaplace { scale, .. } => {
            Some(scale * std::f64::consts::SQRT_2)
        }
        Prior::Student { scale, .. } => Some(scale),
        // The state of a positive parameter is its logarithm.
        Prior::Flat
        | Prior::HalfNormal { .. }
        | Prior::HalfStudent { .. }
        | Prior::Exponential { .. }
        | Prior::Gamma { .. }
        | Prior::LogNormal { .. } => None,
    }
}

/// One start per chain, the modes that matter in turn. `density` is what the model knows of the posterior without reading a row: under a surrogate nearly all of it.
///
/// Where a posterior falls off as a wall, a draw from the normal approximation can be hundreds of nats below the mode, and a chain may need all of its warm-up to leave that place. Such a start is moved towards
/// the mode by halves until it is as probable as the most distant draws of a normal posterior.
pub(super) fn starts(
    at: &Start,
    seed: u64,
    chains: std::ops::Range<u32>,
    density: impl Fn(&Vec<f64>) -> f64,
) -> Result<Vec<Vec<f64>>, Failure> {
    chains
        .map(|chain| {
            let mode = match &at.modes[..] {
                [] => &at.mode,
                modes => &modes[chain as usize % modes.len()].mode,
            };
            let wide: Vec<f64> = mode.covariance.iter().map(|value| SPREAD * value).collect();
            let mut cloud = RandomWalk::dense(mode.state.len(), &wide)?;
            let mut start = mode.state.clone();
            cloud.propose(&mode.state, &mut start, &mut stream(seed, chain, Role::Start))?;
            draw_near(&mut start, &mode.state, &density);
            Ok(start)
        })
        .collect()
}

/// Moves a start that is too improbable towards the mode.
fn draw_near(start: &mut Vec<f64>, mode: &Vec<f64>, density: impl Fn(&Vec<f64>) -> f64) {
    let least = density(mode) - deepest(mode.len());
    let mut halvings = 0;
    let improbable = |start: &Vec<f64>| {
        let here = density(start);
        here.is_nan() || here < least
    };
    while least.is_finite() && improbable(start) && halvings < HALVINGS {
        start.iter_mut().zip(mode).for_each(|(start, mode)| *start = 0.5 * (*start + mode));
        halvings += 1;
    }
}

/// How far below the mode the start of a normal posterior lies at most: `SPREAD`/2 times χ² with d degrees of freedom, which exceeds d + 5√(2d) + 25 once in ten million draws.
fn deepest(parameters: usize) -> f64 {
    let d = parameters as f64;
    0.5 * SPREAD * (d + 5.0 * (2.0 * d).sqrt() + 25.0)
}

/// A typical draw, for the pilot.
pub(super) fn typical(mode: &Mode, seed: u64) -> Result<Vec<f64>, Failure> {
    let mut cloud = RandomWalk::dense(mode.state.len(), &mode.covariance)?;
    let mut start = mode.state.clone();
    cloud.propose(&mode.state, &mut start, &mut stream(seed, u32::MAX, Role::Start))?;
    Ok(start)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A start on a wall comes near; those of a normal posterior, and all where nothing is known, stay where they are.
    #[test]
    fn only_starts_on_a_wall_are_moved() {
        let wall = |state: &Vec<f64>| -0.5 * state[0] * state[0] + 1000.0 * state[1].min(0.0);
        let mode = vec![0.0, 0.01];
        let mut start = vec![1.0, -1.5];
        draw_near(&mut start, &mode, wall);
        assert!(start[1] < 0.0 && wall(&start) > -deepest(2), "{start:?}");
        let kept = start.clone();
        draw_near(&mut start, &mode, wall);
        assert_eq!(start, kept);
        // The most distant of a normal posterior, and one density that is the same everywhere or no number.
        let mut far = vec![5.5, 0.02];
        draw_near(&mut far, &mode, wall);
        draw_near(&mut far, &mode, |_| 0.0);
        draw_near(&mut far, &mode, |_| f64::NAN);
        assert_eq!(far, [5.5, 0.02]);
        // Where only the start has no density, it goes to where there is one.
        draw_near(&mut far, &mode, |state| if state[0] > 1.0 { f64::NAN } else { 0.0 });
        assert!(far[0] <= 1.0);
    }
}
