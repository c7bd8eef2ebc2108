//! Derivatives of a model that comes in batches: what [`find_mode`](austerity::model::find_mode) and [`RowExpansion`](crate::RowExpansion) ask for.
//!
//! Sums over all rows are asked for as such, since a device adds them faster than it answers row by row. Gradients and Hessians of single
//! rows are only ever asked for at one state, the centre of an expansion, which is announced first: [`Derivatives::prepare`].

use super::{FromBatches, Likelihoods};
use crate::gradients::{At, BatchGradient};
use austerity::error::Result;
use austerity::model::{Curvature, Gradient, Parameters};
use austerity::population::Batch;

/// Log-likelihoods with their first and second derivatives.
pub trait Derivatives: Likelihoods {
    /// Tells that `centre` is where single rows will be differentiated.
    fn prepare(&self, centre: &[f64]) -> Result<()>;

    /// Log posterior density of all rows, its gradient, and its d × d Hessian row by row where that is wanted.
    fn density(&self, state: &[f64], gradient: &mut [f64], hessian: Option<&mut [f64]>) -> Result<f64>;

    /// Adds the gradient of the log prior density.
    fn add_prior_gradient(&self, state: &[f64], gradient: &mut [f64]) -> Result<()>;

    /// Adds the gradient of Σ log p(x_i|θ) over the rows of `batch`.
    fn add_gradient(&self, state: &[f64], batch: Batch<'_>, gradient: &mut [f64]) -> Result<()>;

    /// Adds the Hessian of log p(x_i|θ) of one row.
    fn add_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()>;
}

/// A model whose rows can be differentiated one by one: their gradients are those of batches of one row.
pub trait RowCurvature: BatchGradient + Curvature + Parameters {
    /// Adds the d × d Hessian of log p(x_i|θ) of the row at storage position `position`, row by row, to `hessian`.
    fn add_row_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()>;
}

impl<L: Derivatives> BatchGradient for FromBatches<L> {
    type Workspace = ();

    fn dimension(&self) -> usize {
        self.names.len()
    }

    fn add_gradient(&self, at: At<'_>, (): &mut (), gradient: &mut [f64]) -> Result<()> {
        self.likelihoods.add_gradient(at.state, at.batch, gradient)
    }

    fn add_prior_gradient(&self, state: &[f64], (): &mut (), gradient: &mut [f64]) -> Result<()> {
        self.likelihoods.add_prior_gradient(state, gradient)
    }
}

impl<L: Derivatives> Gradient for FromBatches<L> {
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        self.likelihoods.density(state, gradient, None)
    }
}

impl<L: Derivatives> Curvature for FromBatches<L> {
    fn hessian(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64> {
        self.likelihoods.density(state, gradient, Some(hessian))
    }
}

impl<L: Derivatives> RowCurvature for FromBatches<L> {
    fn add_row_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()> {
        self.likelihoods.add_hessian(state, position, hessian)
    }
}
