//! What one reading of some rows answers: derivatives at a state, scores, totals of moves. A part of data that are spread over many files is such rows.
//!
//! The passes are those of a model in memory ([`Derivatives`](crate::glm::derivative::Derivatives), the scores of [`super::scores`], `Totals`), so that data in parts and data in memory have
//! one set-up. Answers about several parts merge: sums add, and of the heaviest rows of each the heaviest of all remain. Rows of different parts are told apart by whoever merges.
//!
//! Cost: that of the passes; one part at a time is in memory.

use serde::{Deserialize, Serialize};

use super::centre::{self, Centre};
use super::scores;
use crate::glm::blocks::BLOCK;
use crate::glm::{Family, Glm};
use crate::memory::filled;
use austerity::error::Result;
use austerity::model::{Model as _, check_length};
use austerity::population::Moments;

/// What is asked about some rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Question {
    /// The state that everything is about.
    pub state: Vec<f64>,
    /// The covariance of the posterior, d × d: rows are scored with it by what they can leave of an expansion at the state.
    pub covariance: Option<Vec<f64>>,
    /// How many of the heaviest rows are told.
    pub heaviest: usize,
    /// States whose log-likelihood is compared with that of the state; derivatives are told where there is none.
    pub moves: Vec<Vec<f64>>,
}

/// The answer of some rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Gradient of the log-likelihood.
    pub gradient: Vec<f64>,
    /// Hessian of the log-likelihood, row by row.
    pub hessian: Vec<f64>,
    /// Sum of the squared scores of all rows.
    pub squares: f64,
    /// Scores and storage positions of the heaviest rows, in falling order.
    pub heaviest: Vec<(f32, u32)>,
    /// Of every move, what the log-likelihood changes by.
    pub totals: Vec<f64>,
}

impl Question {
    /// Asks the rows of a model.
    pub fn ask<F: Family>(&self, model: &Glm<F>) -> Result<Answer> {
        check_length("state", model.parameters(), self.state.len())?;
        let mut answer = Answer::default();
        if !self.moves.is_empty() {
            let moves: Vec<_> = self.moves.iter().map(|to| (&self.state, to)).collect();
            let totals = model.totals(&moves)?;
            answer.totals = totals.iter().map(Moments::sum).collect();
            return Ok(answer);
        }
        let mut eta = filled(model.blocks().count() * BLOCK, 0.0);
        let (gradient, hessian) = centre::all_rows(model, &self.state, &mut eta)?;
        if let Some(covariance) = &self.covariance {
            check_length("covariance", hessian.len(), covariance.len())?;
            let at = Centre {
                state: self.state.clone(),
                gradient: Vec::new(),
                hessian: Vec::new(),
                eta,
                covariance: covariance.clone(),
                mean_precision: 0.0,
                mode: self.state.clone(),
                passes: 1,
            };
            let (mut scores, _) = scores::of_all(model, &at, false, false)?;
            scores.truncate(model.blocks().rows());
            answer.squares = scores.iter().map(|&score| f64::from(score).powi(2)).sum();
            answer.heaviest = heaviest(&scores, self.heaviest);
        }
        (answer.gradient, answer.hessian) = (gradient, hessian);
        Ok(answer)
    }
}

/// The rows with the largest scores, equal ones in their order.
fn heaviest(scores: &[f32], count: usize) -> Vec<(f32, u32)> {
    let mut all: Vec<(f32, u32)> = scores.iter().zip(0..).map(|(&score, row)| (score, row)).collect();
    let order = |a: &(f32, u32), b: &(f32, u32)| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1));
    if count < all.len() {
        all.select_nth_unstable_by(count, order);
        all.truncate(count);
    }
    all.sort_unstable_by(order);
    all
}

/// The nearest state whose coefficients are single-precision numbers in the units of the storage: passes then are about the state itself.
#[must_use]
pub fn snapped<F: Family>(model: &Glm<F>, state: &[f64]) -> Vec<f64> {
    let mut state = state.to_vec();
    centre::snap(model, &mut state);
    state
}
