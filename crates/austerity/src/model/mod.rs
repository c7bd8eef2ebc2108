//! Posteriors: what compares two states row by row.
//!
//! A [`Model`] turns a pair of states into a [`Population`] of log-likelihood differences
//! l_i = log p(x_i|θ') − log p(x_i|θ). Other powers are separate traits that a model may add.

pub mod data;
pub mod glm;
pub mod prior;

use crate::error::Result;
use crate::population::Population;

pub use data::CheckedData;
pub use glm::{Binomial, Glm, Logistic, Poisson, Student};
pub use prior::Prior;

/// How a rule is going to read the population, so that a model can prepare for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Random blocks: a cache of the current state would go stale unread.
    Blocks,
    /// All rows in storage order at every decision: a per-row cache of the current state pays.
    Scan,
}

/// A posterior over states, given N rows.
pub trait Model: Sync {
    /// A point of the parameter space.
    type State: Clone + Send;
    /// Working memory of one chain: buffers, and for [`Access::Scan`] a per-row cache of the current state.
    type Scratch: Send;
    /// The differences between two states.
    type Ratio<'a>: Population
    where
        Self: 'a;

    /// N.
    fn len(&self) -> usize;

    /// Whether there is no row at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Working memory for a chain whose rule reads in the way of `access`.
    fn scratch(&self, access: Access) -> Self::Scratch;

    /// Log prior density up to a constant; −∞ outside the support.
    fn log_prior(&self, state: &Self::State) -> f64;

    /// The population of log-likelihood differences of the move `from` → `to`.
    ///
    /// A cache in `scratch` belongs to the state of the last [`Model::accepted`], or to the first `from`.
    fn compare<'a>(
        &'a self,
        from: &'a Self::State,
        to: &'a Self::State,
        scratch: &'a mut Self::Scratch,
    ) -> Self::Ratio<'a>;

    /// Tells that the candidate of the last comparison became the current state.
    fn accepted(&self, _scratch: &mut Self::Scratch) {}

    /// Where row `position` of the storage stood in the user's data.
    fn original_row(&self, position: usize) -> usize {
        position
    }

    /// Bytes of working memory per chain under `access`, for the estimate printed before a run.
    fn scratch_bytes(&self, _access: Access) -> usize {
        0
    }
}

/// The numbers of a state that a trace records.
pub trait Parameters: Model {
    /// Their names, in the order of [`Parameters::write`].
    fn names(&self) -> Vec<String>;
    /// Writes the numbers of `state`.
    fn write(&self, state: &Self::State, out: &mut [f64]);
}

/// Log posterior density and its first derivative.
pub trait Gradient: Model {
    /// Log posterior density at `state` up to a constant; its gradient goes to `gradient`.
    fn log_density_gradient(&self, state: &Self::State, gradient: &mut [f64]) -> Result<f64>;
}

/// Second derivative of the log posterior density.
pub trait Curvature: Gradient {
    /// As [`Gradient::log_density_gradient`], and the d × d Hessian, row by row, goes to `hessian`.
    fn log_density_hessian(
        &self,
        state: &Self::State,
        gradient: &mut [f64],
        hessian: &mut [f64],
    ) -> Result<f64>;
}
