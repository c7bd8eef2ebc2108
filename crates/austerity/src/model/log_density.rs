//! A log density with a gradient, as leapfrog paths need it: that of a differentiable model, or that of a surrogate.

use crate::error::Result;
use crate::model::{Expansion, Gradient};

/// A log density over vectors, with its gradient.
pub trait LogDensity {
    /// Whether the density is the prior of the model that decides, as that of a surrogate is.
    const PRIOR: bool = false;

    /// Log density at `state` up to a constant; its gradient goes to `gradient`.
    #[allow(clippy::ptr_arg, reason = "the states of models are vectors")]
    fn log_density_gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64>;

    /// The gradient alone, to the same bits.
    fn gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<()> {
        self.log_density_gradient(state, gradient).map(drop)
    }
}

/// The posterior of a model.
impl<M: Gradient<State = Vec<f64>>> LogDensity for &M {
    fn log_density_gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        Gradient::log_density_gradient(*self, state, gradient)
    }

    fn gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<()> {
        Gradient::gradient(*self, state, gradient)
    }
}

/// The posterior of a surrogate: prior, stratum and expansion, no data beyond.
#[derive(Debug)]
pub struct SurrogateDensity<'e, E: Expansion> {
    expansion: &'e E,
    workspace: E::Workspace,
}

impl<'e, E: Expansion> SurrogateDensity<'e, E> {
    /// Of an expansion.
    pub fn new(expansion: &'e E) -> Self {
        Self { expansion, workspace: E::Workspace::default() }
    }
}

impl<E: Expansion> Clone for SurrogateDensity<'_, E> {
    fn clone(&self) -> Self {
        Self::new(self.expansion)
    }
}

impl<E: Expansion> LogDensity for SurrogateDensity<'_, E> {
    const PRIOR: bool = true;

    fn log_density_gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        let density = self.expansion.log_density_gradient(state, &mut self.workspace, gradient);
        if density.is_nan() { Err(self.expansion.density_error()) } else { Ok(density) }
    }
}
