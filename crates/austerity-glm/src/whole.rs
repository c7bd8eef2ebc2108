//! The same posterior with its density as a single number: decisions compare log densities of states, computed on all rows by who proposes them.
//!
//! A path along the gradient ends with the density and the gradient of all rows there, in one pass. An exact decision about the differences of the rows would read them once more, for a number that is known.
//! [`Whole`] is a [`Model`] whose "prior" is the whole posterior, likelihood included, and whose population holds nothing but zeros: under [`Exact`](austerity::rule::Exact) the decision is that
//! of Metropolis–Hastings, log π(θ') − log π(θ) + log q(θ|θ') − log q(θ'|θ) > log u, and costs nothing beyond the path. [`WholeDensity`] is what paths follow.
//!
//! Exact up to rounding: the two totals are sums in f64 of N log-likelihoods from f32 predictors, whose difference is off by about 2⁻²⁴·√(Σ ℓ'²η²), 10⁻⁴ at a million ordinary
//! rows; models that single precision cannot place are computed in double ([`glm::precise`](crate::glm::precise)). Counts of rows and likelihood evaluations are those of the passes that paths make.
//!
//! Not for tests: there is nothing to sample. Not for proposals that know no density: each decision would then cost a pass with derivatives ([`Model::log_prior`] here).

use std::ops::Range;

use austerity::error::Result;
use austerity::model::{Access, Gradient, LogDensity, Model, Parameters};
use austerity::population::{Moments, Population, RowCost};

/// A model seen as one number.
#[derive(Clone, Copy, Debug)]
pub struct Whole<'m, M> {
    model: &'m M,
    /// Passes over all rows that a proposal makes.
    passes: u64,
}

impl<'m, M: Gradient<State = Vec<f64>>> Whole<'m, M> {
    /// The posterior of `model`, under proposals that make so many passes each.
    pub fn new(model: &'m M, passes: u64) -> Self {
        Self { model, passes }
    }

    /// The model behind it.
    #[must_use]
    pub fn model(&self) -> &'m M {
        self.model
    }
}

/// Differences that are part of the offset already: zeros.
#[derive(Clone, Copy, Debug)]
pub struct Settled {
    rows: usize,
    passes: u64,
}

impl Population for Settled {
    fn len(&self) -> usize {
        self.rows
    }

    fn reveal(&mut self, _rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        Ok(())
    }

    fn total(&mut self) -> Result<Moments> {
        let zero = Moments { minimum: 0.0, maximum: 0.0, ..Moments::EMPTY };
        Ok(Moments { count: self.rows as u64, ..zero })
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: self.passes, scanned: self.passes }
    }
}

impl<M: Gradient<State = Vec<f64>>> Model for Whole<'_, M> {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a>
        = Settled
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.model.len()
    }

    fn scratch(&self, _access: Access) {}

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        self.model.check_state(state)
    }

    /// Log density of the posterior, by a pass over all rows; NaN where a row has none.
    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        let mut gradient = vec![0.0; state.len()];
        self.model.log_density_gradient(state, &mut gradient).unwrap_or(f64::NAN)
    }

    fn compare<'a>(&'a self, _from: &'a Vec<f64>, _to: &'a Vec<f64>, (): &'a mut ()) -> Settled {
        Settled { rows: self.model.len(), passes: self.passes }
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        self.model.fingerprint()
    }

    fn data_bytes(&self) -> usize {
        self.model.data_bytes()
    }
}

impl<M: Gradient<State = Vec<f64>> + Parameters> Parameters for Whole<'_, M> {
    fn names(&self) -> Vec<String> {
        self.model.names()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        self.model.write(state, out);
    }
}

/// The density that [`Whole`] decides about.
#[derive(Debug)]
pub struct WholeDensity<'m, M>(pub &'m M);

impl<M> Clone for WholeDensity<'_, M> {
    fn clone(&self) -> Self {
        Self(self.0)
    }
}

impl<M: Gradient<State = Vec<f64>>> LogDensity for WholeDensity<'_, M> {
    const PRIOR: bool = true;

    fn log_density_gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        self.0.log_density_gradient(state, gradient)
    }

    fn gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<()> {
        self.0.gradient(state, gradient)
    }
}
