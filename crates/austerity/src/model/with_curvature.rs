//! A model together with the second derivatives of its rows, given as closures: what a surrogate of a user's own model needs.
//!
//! One closure adds ∇² log ρ(θ) to its last argument, the other ∇² log p(x_i|θ) of one row, as d × d matrices row by row; the model below
//! knows its gradients already ([`with_gradient`](crate::model::with_gradient())). With them [`find_mode`](crate::model::find_mode) climbs to the mode, and
//! `austerity_glm::RowExpansion` expands there. Wrong second derivatives make a surrogate poor, and its decisions dear; they are about
//! the exact posterior all the same, since what the surrogate leaves is measured against the log-likelihood itself. A panic becomes
//! [`Error::Panicked`]; a closure that writes outside its argument panics.
//!
//! Cost: one call per row. A model without derivatives has no surrogate; the plain test on differences is then the one to use.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::error::{Error, Result, panic_message};
use crate::model::check_length;
use crate::model::{Access, BatchGradient, Curvature, Gradient, Model, Parameters};
use crate::population::Batch;

/// A model whose rows can be differentiated one by one: their gradients are those of batches of one row.
pub trait RowCurvature: BatchGradient + Curvature + Parameters {
    /// Adds the d × d Hessian of log p(x_i|θ) of the row at storage position `position`, row by row, to `hessian`.
    fn add_row_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()>;
}

/// A model and its second derivatives; see [`with_curvature`].
#[derive(Clone, Debug)]
pub struct WithCurvature<M, P, R> {
    model: M,
    prior: P,
    row: R,
}

/// `model` with closures that add the Hessian of the log prior and of the log-likelihood of one row (counted as the user gave them) to
/// their last argument, d × d row by row.
///
/// ```
/// use austerity::model::{find_mode, from_fn, with_curvature, with_gradient};
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
/// let model = with_curvature(
///     model,
///     |_: &[f64], hessian: &mut [f64]| hessian[0] -= 1.0,
///     |state: &[f64], row, hessian: &mut [f64]| hessian[0] -= state[0].exp() * waits[row],
/// );
/// let mode = find_mode(&model, &[0.0])?;
/// assert!(mode.covariance[0] > 0.0);
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn with_curvature<M, P, R>(model: M, prior: P, row: R) -> WithCurvature<M, P, R>
where
    M: BatchGradient + Gradient,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    WithCurvature { model, prior, row }
}

impl<M, P, R> WithCurvature<M, P, R> {
    /// The model without its second derivatives.
    pub fn model(&self) -> &M {
        &self.model
    }
}

/// Everything but the second derivatives is the model's own.
impl<M, P, R> Model for WithCurvature<M, P, R>
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

impl<M, P, R> Parameters for WithCurvature<M, P, R>
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

impl<M, P, R> BatchGradient for WithCurvature<M, P, R>
where
    M: BatchGradient,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    type Workspace = M::Workspace;

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn add_batch_gradient(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        workspace: &mut M::Workspace,
        gradient: &mut [f64],
    ) -> Result<()> {
        self.model.add_batch_gradient(state, batch, workspace, gradient)
    }

    fn add_prior_gradient(&self, state: &[f64], gradient: &mut [f64]) -> Result<()> {
        self.model.add_prior_gradient(state, gradient)
    }
}

impl<M, P, R> Gradient for WithCurvature<M, P, R>
where
    M: Gradient<State = Vec<f64>>,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        self.model.log_density_gradient(state, gradient)
    }

    fn gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<()> {
        self.model.gradient(state, gradient)
    }
}

impl<M, P, R> Curvature for WithCurvature<M, P, R>
where
    M: BatchGradient + Gradient,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    fn log_density_hessian(
        &self,
        state: &Vec<f64>,
        gradient: &mut [f64],
        hessian: &mut [f64],
    ) -> Result<f64> {
        check_length("hessian", self.dimension() * self.dimension(), hessian.len())?;
        let value = self.model.log_density_gradient(state, gradient)?;
        hessian.fill(0.0);
        let visiting = Cell::new(None);
        // Unwind safety: `hessian` is not used after an error; what the closure left half done is its author's.
        catch_unwind(AssertUnwindSafe(|| {
            (self.prior)(state, hessian);
            for position in 0..self.len() {
                let row = self.original_row(position);
                visiting.set(Some(row));
                (self.row)(state, row, hessian);
            }
        }))
        .map_err(|payload| panicked(visiting.get(), &*payload))?;
        Ok(value)
    }
}

impl<M, P, R> RowCurvature for WithCurvature<M, P, R>
where
    M: BatchGradient + Gradient + Parameters,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    fn add_row_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()> {
        let row = self.original_row(position);
        // Unwind safety: as above.
        catch_unwind(AssertUnwindSafe(|| (self.row)(state, row, hessian)))
            .map_err(|payload| panicked(Some(row), &*payload))
    }
}

fn panicked(row: Option<usize>, payload: &(dyn std::any::Any + Send)) -> Error {
    let part = if row.is_some() { "log-likelihood" } else { "log prior" };
    Error::Panicked { what: format!("Hessian of the {part}"), row, message: panic_message(payload) }
}
