//! A log density with a gradient, as leapfrog paths need it: that of a differentiable model, or that of a surrogate.

use crate::error::Result;
use crate::model::Gradient;

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
