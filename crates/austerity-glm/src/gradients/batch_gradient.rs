//! The gradient of the log posterior density from a batch of rows: what stochastic gradients are made of.
//!
//! ```text
//! g(θ; X) = (B/k) Σ_{i in X} ∇ log p(x_i|θ) + ∇ log ρ(θ)            E over random batches = ∇ log posterior(θ)
//! ```
//!
//! X is k of the B blocks of the storage ([`Batch`]); k = B gives the whole gradient. At fixed X it is a function of θ, to
//! the last bit, which is all that a proposal made of it needs to have a density. Where the log density has a kink
//! (a Laplace prior at 0) the subgradient 0 of that part is taken.
//!
//! Cost: n rows, about two multiply-adds per column each. The regressions of this crate and `austerity_models::Lasso`
//! have it; a user's own model gets it from [`with_gradient`](crate::own::with_gradient()).

use austerity::error::Result;
use austerity::model::{Model, check_length};
use austerity::population::Batch;

/// Where a gradient is asked for, and of which rows.
#[derive(Clone, Copy, Debug)]
pub struct At<'a> {
    /// θ.
    pub state: &'a [f64],
    /// X.
    pub batch: Batch<'a>,
}

/// The gradient of the log-likelihood of some rows, and that of the log prior.
pub trait BatchGradient: Model<State = Vec<f64>> {
    /// Working memory, empty at first.
    type Workspace: Clone + std::fmt::Debug + Default + Send;

    /// Length of a state.
    fn dimension(&self) -> usize;

    /// Adds the gradient of Σ log p(x_i|θ) over the rows of the batch to `gradient`. Not finite where the likelihood is not.
    fn add_gradient(&self, at: At<'_>, workspace: &mut Self::Workspace, gradient: &mut [f64]) -> Result<()>;

    /// Adds the gradient of the log prior density to `gradient`.
    fn add_prior_gradient(
        &self,
        state: &[f64],
        workspace: &mut Self::Workspace,
        gradient: &mut [f64],
    ) -> Result<()>;

    /// Writes g(θ; X) to `gradient`.
    fn stochastic_gradient(
        &self,
        at: At<'_>,
        workspace: &mut Self::Workspace,
        gradient: &mut [f64],
    ) -> Result<()> {
        gradient.fill(0.0);
        self.add_gradient(at, workspace, gradient)?;
        let scale = at.batch.scale();
        gradient.iter_mut().for_each(|g| *g *= scale);
        self.add_prior_gradient(at.state, workspace, gradient)
    }
}

/// Refuses a state, a gradient or a batch that does not fit the model.
pub fn check_request<M: BatchGradient>(model: &M, at: At<'_>, gradient: &[f64]) -> Result<()> {
    check_length("state", model.dimension(), at.state.len())?;
    check_length("gradient", model.dimension(), gradient.len())?;
    let rows = "rows of the population that the mini-batch was drawn from";
    check_length(rows, model.len(), at.batch.population)
}
