//! The log density of a surrogate posterior with its gradient, as leapfrog paths need it.

use austerity::error::Result;
use austerity::model::LogDensity;

use crate::Expansion;

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
