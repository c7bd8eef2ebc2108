//! A model together with the gradient of its rows, given as closures: what Langevin proposals need of a user's own model.
//!
//! One closure adds ∇ log ρ(θ) to its last argument, the other ∇ log p(x_i|θ) of one row; both are trusted to belong
//! to the model's densities. A wrong gradient costs acceptance, not correctness, as long as the test is made: the proposal then
//! has another drift, whose density is still the one that the test uses. Under
//! [`Uncorrected`](crate::kernel::Uncorrected) it is plainly wrong. A panic becomes [`Error::Panicked`].
//!
//! Cost: one call per row of a batch, and one per batch.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result, panic_message, setting};
use crate::model::batch_gradient::check_request;
use crate::model::{Access, BatchGradient, Gradient, Model, Parameters};
use crate::population::{Batch, Population as _};

/// A model and its gradients; see [`with_gradient`].
#[derive(Clone, Debug)]
pub struct WithGradient<M, P, R> {
    model: M,
    dimension: usize,
    prior: P,
    row: R,
}

/// `model`, whose states have `dimension` numbers, with closures that add the gradient of the log prior and of the
/// log-likelihood of one row (counted as the user gave them) to their last argument.
///
/// ```
/// use austerity::model::{from_fn, with_gradient};
/// let waits = [0.7, 1.9, 0.2, 1.1];
/// let model = from_fn(
///     waits.len(),
///     1,
///     |state: &[f64]| -0.5 * state[0] * state[0],
///     |state: &[f64], row| state[0] - state[0].exp() * waits[row],
/// )?;
/// let model = with_gradient(
///     model,
///     1,
///     |state: &[f64], gradient: &mut [f64]| gradient[0] -= state[0],
///     |state: &[f64], row, gradient: &mut [f64]| gradient[0] += 1.0 - state[0].exp() * waits[row],
/// )?;
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn with_gradient<M, P, R>(model: M, dimension: usize, prior: P, row: R) -> Result<WithGradient<M, P, R>>
where
    M: Model<State = Vec<f64>>,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    if dimension == 0 {
        return Err(setting("dimension", dimension, "at least 1"));
    }
    Ok(WithGradient { model, dimension, prior, row })
}

impl<M, P, R> WithGradient<M, P, R> {
    /// The model without its gradient.
    pub fn model(&self) -> &M {
        &self.model
    }
}

/// Everything but the gradient is the model's own.
impl<M, P, R> Model for WithGradient<M, P, R>
where
    M: Model<State = Vec<f64>>,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    type State = Vec<f64>;
    type Scratch = M::Scratch;
    type Ratio<'a>
        = M::Ratio<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.model.len()
    }

    fn scratch(&self, access: Access) -> M::Scratch {
        self.model.scratch(access)
    }

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        self.model.check_state(state)
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.model.log_prior(state)
    }

    fn prior_error(&self) -> Error {
        self.model.prior_error()
    }

    fn compare<'a>(
        &'a self,
        from: &'a Vec<f64>,
        to: &'a Vec<f64>,
        scratch: &'a mut M::Scratch,
    ) -> M::Ratio<'a> {
        self.model.compare(from, to, scratch)
    }

    fn accepted(&self, scratch: &mut M::Scratch) {
        self.model.accepted(scratch);
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

    fn scratch_bytes(&self, access: Access) -> usize {
        self.model.scratch_bytes(access)
    }
}

impl<M, P, R> Parameters for WithGradient<M, P, R>
where
    M: Parameters<State = Vec<f64>>,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    fn names(&self) -> Vec<String> {
        self.model.names()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        self.model.write(state, out);
    }
}

impl<M, P, R> BatchGradient for WithGradient<M, P, R>
where
    M: Model<State = Vec<f64>>,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    type Workspace = ();

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn add_batch_gradient(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        _workspace: &mut (),
        gradient: &mut [f64],
    ) -> Result<()> {
        check_request(self, state, batch, gradient)?;
        let visiting = Cell::new(0);
        // Unwind safety: `gradient` is not used after an error; what the closure left half done is its author's.
        catch_unwind(AssertUnwindSafe(|| {
            for position in batch.ranges().flatten() {
                visiting.set(self.model.original_row(position));
                (self.row)(state, visiting.get(), gradient);
            }
        }))
        .map_err(|payload| panicked("gradient of the log-likelihood", Some(visiting.get()), &*payload))
    }

    fn add_prior_gradient(&self, state: &[f64], gradient: &mut [f64]) -> Result<()> {
        // Unwind safety: as above.
        catch_unwind(AssertUnwindSafe(|| (self.prior)(state, gradient)))
            .map_err(|payload| panicked("gradient of the log prior", None, &*payload))
    }
}

/// The whole gradient, and the log density relative to the state of zeros (which must therefore be possible).
impl<M, P, R> Gradient for WithGradient<M, P, R>
where
    M: Model<State = Vec<f64>>,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        let all = Batch { blocks: &[0], block_rows: self.len(), population: self.len() };
        self.stochastic_gradient(state, all, &mut (), gradient)?;
        let zeros = vec![0.0; self.dimension];
        let mut scratch = self.model.scratch(Access::Blocks);
        let likelihood = self.model.compare(&zeros, state, &mut scratch).total()?.sum();
        Ok(likelihood + self.model.log_prior(state))
    }
}

fn panicked(what: &str, row: Option<usize>, payload: &(dyn std::any::Any + Send)) -> Error {
    Error::Panicked { what: what.into(), row, message: panic_message(payload) }
}
