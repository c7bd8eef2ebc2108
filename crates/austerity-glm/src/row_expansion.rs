//! A surrogate of a user's own model: Taylor expansion of its rows by their gradients and Hessians, a certainty stratum exactly.
//!
//! ```text
//! log p(data|θ) − log p(data|θ̂) = Σ_stratum [ℓ_i(θ) − ℓ_i(θ̂)] + g·h + ½ h'Hh + Σ_rest R_i(h),   h = θ − θ̂
//! R_i(h') − R_i(h) = ℓ_i(θ') − ℓ_i(θ) − g_i·(h' − h) − ½ (h' − h)'H_i(h' + h)
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `build` | centre, sums, scores and stratum: [`RowExpansion::new`] |
//! | [`residuals`] | what is left of a move, row by row, and its gradient |
//!
//! As [`GlmExpansion`](crate::glm::expansion::GlmExpansion), for any model whose rows can be differentiated ([`RowCurvature`]). Nothing is known
//! about their likelihood, so residuals are differences as written above, in f64: they carry an absolute error of about 1e-16·|ℓ_i|, which
//! matters from N ≈ 10⁸ rows on. The decision stays about the exact posterior whatever the derivatives are, and whether or not
//! the centre is a mode: what the expansion leaves is measured against the log-likelihood itself.
//!
//! Cost: building takes Newton's passes and one more with 16 log-likelihoods a row (scores); nothing is kept per row. A revealed row costs two
//! log-likelihoods, a gradient, a Hessian and d² operations; an evaluation of the surrogate d² and K log-likelihoods. Do not use where one log-likelihood is
//! cheaper than a Hessian by more than the surrogate saves, nor for posteriors with several modes.

mod build;
pub mod residuals;

#[cfg(test)]
mod tests;

use std::fmt;
use std::sync::OnceLock;

use crate::check::blindness::Stratum;
use crate::gradients::At;
use crate::own::RowCurvature;
use crate::surrogate::{CertainSteps, Expansion, posterior_differences};
use austerity::error::{Error, Result};
use austerity::model::Access;
use austerity::population::{Batch, Population as _};
use serde::{Deserialize, Serialize};

pub use build::{Certainty, RowExpansionSettings, Score};
pub use residuals::{RowMemory, RowResiduals, RowScratch};

/// Further from the mode than this, in posterior standard deviations, a centre is worth a word.
const FAR: f64 = 1.0;

/// What building an expansion found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RowExpansionReport {
    /// N.
    pub rows: usize,
    /// Order of the expansion: 1 or 2.
    pub order: u8,
    /// K: rows of the certainty stratum.
    pub stratum: usize,
    /// From the centre to the mode, by a Newton step, in posterior standard deviations.
    pub distance: f64,
    /// What the scores predict; nothing where rows were not scored.
    pub predicted: Option<Stratum>,
}

impl RowExpansionReport {
    /// Whether decisions could rest on batches that miss what matters without knowing it; nothing where rows were not scored.
    #[must_use]
    pub fn is_blind(&self) -> Option<bool> {
        self.predicted.map(|stratum| stratum.blindness.is_blind())
    }

    /// Why approximate decisions on these residuals must not be trusted as they are; nothing if they may.
    #[must_use]
    pub fn doubt(&self) -> Option<String> {
        match self.predicted {
            None => Some(
                "the rows were not scored, so whether a sample can miss influential ones could not be checked; score them, or use the exact rule"
                    .into(),
            ),
            Some(stratum) if stratum.blindness.is_blind() => Some(format!(
                "rows outside a sample of {} could shift the log ratio by {:.2} while the test assumes an error of {:.2}; allow a larger stratum, or use \
                 the exact rule",
                stratum.blindness.look, stratum.blindness.missed, stratum.blindness.believed
            )),
            Some(_) => None,
        }
    }

    /// The outcome in a sentence or two.
    #[must_use]
    pub fn sentence(&self) -> String {
        let Self { rows, order, stratum, distance, predicted, .. } = self;
        let kind = if *order == 2 { "second" } else { "first" };
        let apart = match stratum {
            0 => "no row is read at every decision".into(),
            k => format!("every decision reads {k} rows of large influence"),
        };
        let mut text = format!("{kind}-order surrogate of {rows} rows: {apart}");
        if let Some(stratum) = predicted {
            text += &format!(", predicted standard error {:.3}", stratum.standard_error);
        }
        if *distance > FAR {
            text += &format!(
                "; the centre is {distance:.1} posterior standard deviations from the mode, which makes decisions read more rows"
            );
        }
        if let Some(doubt) = self.doubt() {
            text += &format!("; do not use it with approximate decisions: {doubt}");
        }
        text
    }
}

/// The expansion of a model by the derivatives of its rows.
pub struct RowExpansion<'m, M> {
    model: &'m M,
    order: u8,
    centre: Vec<f64>,
    covariance: Vec<f64>,
    /// g and H of the rest.
    linear: Vec<f64>,
    quadratic: Vec<f64>,
    /// Storage positions of the stratum, ascending.
    apart: Vec<u32>,
    report: RowExpansionReport,
    /// Why a density was NaN, once it was.
    problem: OnceLock<Error>,
}

impl<M> fmt::Debug for RowExpansion<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowExpansion").field("report", &self.report).finish_non_exhaustive()
    }
}

impl<M> Clone for RowExpansion<'_, M> {
    fn clone(&self) -> Self {
        Self {
            model: self.model,
            order: self.order,
            centre: self.centre.clone(),
            covariance: self.covariance.clone(),
            linear: self.linear.clone(),
            quadratic: self.quadratic.clone(),
            apart: self.apart.clone(),
            report: self.report.clone(),
            problem: self.problem.clone(),
        }
    }
}

impl<'m, M: RowCurvature> RowExpansion<'m, M> {
    /// The model expanded.
    #[must_use]
    pub fn model(&self) -> &'m M {
        self.model
    }

    /// What building it found.
    #[must_use]
    pub fn report(&self) -> &RowExpansionReport {
        &self.report
    }

    /// Inverse of the negative Hessian of the log posterior density at the centre, d × d row by row.
    #[must_use]
    pub fn covariance(&self) -> &[f64] {
        &self.covariance
    }

    /// The rows that are read at every decision, as the user counts them.
    pub fn stratum(&self) -> impl Iterator<Item = usize> + '_ {
        self.apart.iter().map(|&position| self.model.original_row(position as usize))
    }

    fn is_apart(&self, position: usize) -> bool {
        self.apart.binary_search(&(position as u32)).is_ok()
    }

    /// g·h + ½h'Hh, and g + Hh added to `gradient`.
    fn taylor(&self, state: &[f64], mut gradient: Option<&mut [f64]>) -> f64 {
        let d = self.centre.len();
        let mut value = 0.0;
        for i in 0..d {
            let moved = self.quadratic[i * d..(i + 1) * d].iter().zip(state.iter().zip(&self.centre));
            let curve: f64 = moved.map(|(entry, (to, centre))| entry * (to - centre)).sum();
            value += (state[i] - self.centre[i]) * (self.linear[i] + 0.5 * curve);
            if let Some(gradient) = &mut gradient {
                gradient[i] += self.linear[i] + curve;
            }
        }
        value
    }

    /// The exact change of the log-likelihood of the stratum from the centre.
    fn certain(&self, state: &[f64]) -> Result<f64> {
        if self.apart.is_empty() {
            return Ok(0.0);
        }
        let state = state.to_vec();
        let mut scratch = self.model.scratch(Access::Blocks);
        let mut ratio = self.model.compare(&self.centre, &state, &mut scratch);
        let mut values = vec![0.0; self.apart.len()];
        let rows = Batch { blocks: &self.apart, block_rows: 1, population: self.model.len() };
        ratio.reveal_batch(rows, &mut values)?;
        Ok(values.iter().sum())
    }

    /// Prior, expansion and stratum; their gradient is added to `gradient`.
    fn density(&self, state: &[f64], gradient: Option<(&mut M::Workspace, &mut [f64])>) -> Result<f64> {
        let prior = self.model.log_prior(&state.to_vec());
        if prior.is_nan() {
            return Err(self.model.prior_error());
        }
        if prior == f64::NEG_INFINITY {
            // Outside the support of the prior the likelihood need not be a number.
            return Ok(prior);
        }
        let Some((workspace, gradient)) = gradient else {
            return Ok(prior + self.taylor(state, None) + self.certain(state)?);
        };
        self.model.add_prior_gradient(state, &mut M::Workspace::default(), gradient)?;
        if !self.apart.is_empty() {
            let rows = Batch { blocks: &self.apart, block_rows: 1, population: self.model.len() };
            self.model.add_gradient(At { state, batch: rows }, workspace, gradient)?;
        }
        Ok(prior + self.taylor(state, Some(gradient)) + self.certain(state)?)
    }

    /// The density, or NaN and a note why.
    fn noted(&self, density: Result<f64>) -> f64 {
        density.unwrap_or_else(|error| {
            self.problem.get_or_init(|| error);
            f64::NAN
        })
    }
}

/// No parameter is known to move the stratum alone.
impl<M: RowCurvature> CertainSteps for RowExpansion<'_, M> {
    type Memory = ();

    fn certain_parameters(&self) -> Vec<usize> {
        Vec::new()
    }

    fn begin_certain(&self, _state: &[f64], (): &mut ()) {}

    fn certain_change(&self, (): &(), state: &[f64], parameter: usize, by: f64) -> f64 {
        let mut moved = state.to_vec();
        moved[parameter] += by;
        self.log_density(&moved) - self.log_density(state)
    }

    fn take_certain(&self, (): &mut (), _state: &[f64], _parameter: usize, _by: f64) {}
}

impl<M: RowCurvature> Expansion for RowExpansion<'_, M> {
    type Scratch = RowScratch<M>;
    type Workspace = M::Workspace;
    type Residuals<'a>
        = RowResiduals<'a, M>
    where
        Self: 'a;

    /// All rows; those of the stratum leave nothing.
    fn rows(&self) -> usize {
        self.model.len()
    }

    fn dimension(&self) -> usize {
        self.centre.len()
    }

    fn centre(&self) -> &[f64] {
        &self.centre
    }

    fn log_density(&self, state: &[f64]) -> f64 {
        self.noted(self.density(state, None))
    }

    fn density_error(&self) -> Error {
        self.problem.get().cloned().unwrap_or_else(|| self.model.prior_error())
    }

    fn log_density_gradient(&self, state: &[f64], workspace: &mut M::Workspace, gradient: &mut [f64]) -> f64 {
        gradient.fill(0.0);
        self.noted(self.density(state, Some((workspace, gradient))))
    }

    fn scratch(&self) -> RowScratch<M> {
        RowScratch::new(self.model)
    }

    fn residuals<'a>(
        &'a self,
        from: &[f64],
        to: &[f64],
        scratch: &'a mut RowScratch<M>,
    ) -> RowResiduals<'a, M> {
        RowResiduals::new(self, from, to, scratch)
    }

    fn exact_differences(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<f64>> {
        posterior_differences(self.model, moves)
    }

    fn check_state(&self, state: &[f64]) -> Result<()> {
        self.model.check_state(&state.to_vec())
    }

    fn names(&self) -> Vec<String> {
        self.model.names()
    }

    fn write(&self, state: &[f64], out: &mut [f64]) {
        self.model.write(&state.to_vec(), out);
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    /// Of the model, and what was made of it.
    fn fingerprint(&self) -> u64 {
        let words = format!("{:?} {:?} {:?}", self.centre, self.linear, self.apart.len());
        let model = self.model.fingerprint();
        let own = [model as u32, (model >> 32) as u32];
        austerity::model::fingerprint(own.into_iter().chain(words.bytes().map(u32::from)))
    }

    fn bytes(&self) -> usize {
        self.model.data_bytes()
    }
}
