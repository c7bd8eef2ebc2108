//! From a model to its expansion: centre, sums of the derivatives, scores of all rows, stratum.
//!
//! Where the user knows no bound on the third derivative, rows are scored by probing: s = max |R(h)|/√15 over sixteen draws h from the Laplace
//! approximation. R is about t·z³ with z normal along the row's own direction, so that √(E R²) = √15·t, and the largest of sixteen is
//! rather above than below it (twice in the median; below half of it in one row of 45, below a fifth in one of 1,200). Every row is probed, since a sample
//! cannot tell which rows it has missed.

use std::fmt;
use std::ops::Range;
use std::sync::OnceLock;

use nalgebra::{DMatrix, DVector};
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::residuals::RowMemory;
use super::{RowExpansion, RowExpansionReport};
use crate::check::blindness::{Falling, ResidualTest, Stratum, heaviest, surrogate};
use crate::own::RowCurvature;
use crate::pass::Driver;
use austerity::error::{Error, Result, setting};
use austerity::model::check_length;
use austerity::model::mode::laplace;
use austerity::model::{Access, find_mode};
use austerity::population::Population as _;
use austerity::rng::{Role, stream};

/// Draws that rows are probed with.
const PROBES: usize = 16;
/// Draws looked at for those inside the support of the prior.
const TRIES: usize = 256;
/// Rows probed at once.
const CHUNK: usize = 64;
/// √(E z⁶).
const CUBE: f64 = 3.872_983_346_207_417;
/// Scores beyond this are all alike.
const LARGEST_SCORE: f64 = 1e18;

/// A user's score of a row: from (centre, covariance there, row), at least a sixth of the largest third derivative of its log-likelihood along
/// a posterior standard deviation.
pub type Score<'a> = &'a (dyn Fn(&[f64], &[f64], usize) -> f64 + Sync);

/// Which rows are read at every decision.
#[derive(Clone, Copy, Default)]
pub enum Certainty<'a> {
    /// Every row is probed; the heaviest are in, as many as pay.
    #[default]
    Probed,
    /// As probed, by a score of the user's.
    Scored(Score<'a>),
    /// These rows, as the user counts them. Whether the others can be missed is not checked.
    Rows(&'a [usize]),
    /// None, and nothing is checked.
    Unchecked,
}

impl fmt::Debug for Certainty<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Probed => f.write_str("Probed"),
            Self::Scored(_) => f.write_str("Scored"),
            Self::Rows(rows) => f.debug_tuple("Rows").field(&rows.len()).finish(),
            Self::Unchecked => f.write_str("Unchecked"),
        }
    }
}

/// How an expansion is built.
#[derive(Clone, Copy, Debug)]
pub struct RowExpansionSettings<'a> {
    /// 1 or 2.
    pub order: u8,
    /// Which rows are read at every decision.
    pub certainty: Certainty<'a>,
    /// The test that the stratum is made for.
    pub stratum: ResidualTest,
    /// Whether the start is the centre, as it is; otherwise the mode is looked for from there.
    pub fixed: bool,
}

impl Default for RowExpansionSettings<'_> {
    fn default() -> Self {
        Self { order: 2, certainty: Certainty::Probed, stratum: ResidualTest::default(), fixed: false }
    }
}

impl<'m, M: RowCurvature> RowExpansion<'m, M> {
    /// Expands `model`, looking for its mode from `start`.
    pub fn new(model: &'m M, start: &[f64], settings: &RowExpansionSettings<'_>) -> Result<Self> {
        let RowExpansionSettings { order, certainty, ref stratum, fixed } = *settings;
        if !(1..=2).contains(&order) {
            return Err(setting("order of the expansion", order, "1 or 2"));
        }
        check_length("state", model.dimension(), start.len())?;
        let centre = if fixed { start.to_vec() } else { find_mode(model, start)?.state };
        let mut survey = Survey::new(model, order, centre);
        survey.sums(0..model.len())?;
        let (distance, covariance) = survey.laplace()?;
        let scores = match certainty {
            Certainty::Probed => survey.probe(&covariance)?,
            Certainty::Scored(score) => Some(survey.scores(&covariance, score)?),
            Certainty::Rows(_) | Certainty::Unchecked => None,
        };
        let (apart, predicted) = match (&scores, certainty) {
            (Some(scores), _) => {
                let chosen = choose(scores, stratum)?;
                (heaviest(&Driver::default(), scores, chosen.rows), Some(chosen))
            }
            (None, Certainty::Rows(rows)) => (positions(model, rows)?, None),
            (None, _) => (Vec::new(), None),
        };
        // The stratum's own sums are taken out of those of all rows.
        survey.sign = -1.0;
        apart.iter().try_for_each(|&p| survey.sums(p as usize..p as usize + 1))?;
        let report =
            RowExpansionReport { rows: model.len(), order, stratum: apart.len(), distance, predicted };
        let Survey { centre, linear, quadratic, .. } = survey;
        Ok(Self {
            model,
            order,
            centre,
            covariance,
            linear,
            quadratic,
            apart,
            report,
            problem: OnceLock::new(),
        })
    }
}

/// The cheapest stratum that is not blind, or the largest allowed.
fn choose(scores: &[f32], settings: &ResidualTest) -> Result<Stratum> {
    let falling = Falling::new(scores, settings.largest_stratum, settings.first);
    match surrogate(&falling, settings)?.chosen {
        Some(chosen) => Ok(chosen),
        None => falling.stratum(settings.largest_stratum, settings),
    }
}

/// Storage positions of the user's rows, ascending.
fn positions<M: RowCurvature>(model: &M, rows: &[usize]) -> Result<Vec<u32>> {
    let mut wanted = vec![false; model.len()];
    for &row in rows {
        let slot = wanted
            .get_mut(row)
            .ok_or_else(|| setting("row of the stratum", row, &format!("below {}", model.len())))?;
        *slot = true;
    }
    Ok((0..model.len()).filter(|&p| wanted[model.original_row(p)]).map(|p| p as u32).collect())
}

/// Passes over the rows at a centre.
struct Survey<'m, M: RowCurvature> {
    model: &'m M,
    curved: bool,
    centre: Vec<f64>,
    /// Of the log-likelihood.
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    /// What rows are added with.
    sign: f64,
    memory: RowMemory<M::Workspace>,
}

impl<'m, M: RowCurvature> Survey<'m, M> {
    fn new(model: &'m M, order: u8, centre: Vec<f64>) -> Self {
        let d = centre.len();
        Self {
            model,
            curved: order == 2,
            linear: vec![0.0; d],
            quadratic: vec![0.0; d * d],
            centre,
            sign: 1.0,
            memory: RowMemory::default(),
        }
    }

    /// Adds the derivatives of some rows, refusing what is not finite or not symmetric.
    fn sums(&mut self, rows: Range<usize>) -> Result<()> {
        let d = self.centre.len();
        for position in rows {
            self.memory.fill(self.model, &self.centre, position as u32, self.curved)?;
            let (gradient, hessian) = (&self.memory.gradient, &self.memory.hessian);
            let refused = |what: &str, value: f64, allowed: &str| Error::OutOfRange {
                what: format!("{what} of the log-likelihood at the centre"),
                row: self.model.original_row(position),
                value,
                allowed: allowed.into(),
            };
            for (what, values) in [("gradient", gradient), ("Hessian", hessian)] {
                if let Some(&value) = values.iter().find(|value| !value.is_finite()) {
                    return Err(refused(what, value, "finite; check the function, or start elsewhere"));
                }
            }
            let largest = hessian.iter().fold(0.0f64, |most, value| most.max(value.abs()));
            for i in 0..if self.curved { d } else { 0 } {
                if let Some(j) =
                    (0..i).find(|&j| (hessian[i * d + j] - hessian[j * d + i]).abs() > 1e-8 * largest)
                {
                    return Err(refused("Hessian", hessian[i * d + j], "symmetric: fill both triangles"));
                }
            }
            self.linear.iter_mut().zip(gradient).for_each(|(sum, value)| *sum += self.sign * value);
            self.quadratic.iter_mut().zip(hessian).for_each(|(sum, value)| *sum += self.sign * value);
        }
        Ok(())
    }

    /// Distance to the mode in posterior standard deviations, and the covariance.
    fn laplace(&self) -> Result<(f64, Vec<f64>)> {
        let (gradient, covariance) = laplace(self.model, &self.centre)?;
        let covariance = covariance.ok_or_else(|| Error::NotPositiveDefinite {
            what: "the negative Hessian at the centre of the expansion".into(),
            remedy: "give every parameter a proper prior, expand at a mode, or check the Hessians".into(),
        })?;
        let d = self.centre.len();
        let slope = DVector::from_vec(gradient);
        let square = slope.dot(&(DMatrix::from_row_slice(d, d, &covariance) * &slope));
        Ok((square.max(0.0).sqrt(), covariance))
    }

    /// The user's scores.
    fn scores(&self, covariance: &[f64], score: Score<'_>) -> Result<Vec<f32>> {
        let of = |position: usize| {
            let row = self.model.original_row(position);
            let value = score(&self.centre, covariance, row);
            if value.is_nan() || value < 0.0 {
                let allowed = "0 or more".into();
                return Err(Error::OutOfRange { what: "score".into(), row, value, allowed });
            }
            Ok(value.min(LARGEST_SCORE) as f32)
        };
        (0..self.model.len()).map(of).collect()
    }

    /// Scores by what the expansion leaves at some draws; nothing if no draw is inside the support of the prior.
    fn probe(&mut self, covariance: &[f64]) -> Result<Option<Vec<f32>>> {
        let states = self.draws(covariance);
        if states.is_empty() {
            return Ok(None);
        }
        let (model, centre) = (self.model, &self.centre);
        let moves: Vec<Vec<f64>> =
            states.iter().map(|state| state.iter().zip(centre).map(|(s, c)| s - c).collect()).collect();
        let mut scratches: Vec<M::Scratch> = states.iter().map(|_| model.scratch(Access::Blocks)).collect();
        let pairs = scratches.iter_mut().zip(&states);
        let mut ratios: Vec<_> =
            pairs.map(|(scratch, state)| model.compare(centre, state, scratch)).collect();
        let mut values = vec![[0.0; CHUNK]; ratios.len()];
        let mut scores = Vec::with_capacity(model.len());
        for start in (0..model.len()).step_by(CHUNK) {
            let rows = start..(start + CHUNK).min(model.len());
            for (ratio, values) in ratios.iter_mut().zip(&mut values) {
                ratio.reveal(rows.clone(), &mut values[..rows.len()])?;
            }
            for (i, position) in rows.enumerate() {
                self.memory.fill(model, centre, position as u32, self.curved)?;
                let left = moves.iter().zip(&values).map(|(h, values)| values[i] - self.memory.known(h, h));
                // An impossible row is as heavy as rows can be.
                let most = left.fold(0.0f64, |most, value| most.max(value.abs()));
                scores.push((most / CUBE).min(LARGEST_SCORE) as f32);
            }
        }
        Ok(Some(scores))
    }

    /// States from the Laplace approximation inside the support of the prior.
    fn draws(&self, covariance: &[f64]) -> Vec<Vec<f64>> {
        let d = self.centre.len();
        let Some(factor) = DMatrix::from_row_slice(d, d, covariance).cholesky() else { return Vec::new() };
        let mut rng = stream(0, 0, Role::Start);
        let draw = || -> Vec<f64> {
            let z = DVector::from_fn(d, |_, _| rng.sample::<f64, _>(StandardNormal));
            (factor.l() * z).iter().zip(&self.centre).map(|(h, centre)| centre + h).collect()
        };
        let inside = |state: &Vec<f64>| self.model.log_prior(state).is_finite();
        std::iter::repeat_with(draw).take(TRIES).filter(inside).take(PROBES).collect()
    }
}
