//! A user's own model together with the derivatives of its rows, given as closures.
//!
//! One closure adds ∇ log ρ(θ) to its last argument, the other ∇ log p(x_i|θ) of one row ([`with_gradient`]): what Langevin proposals need. Two more add the second
//! derivatives, as d × d matrices row by row ([`with_curvature`]): with them [`find_mode`](austerity::model::find_mode) climbs to the mode, and
//! [`RowExpansion`](crate::RowExpansion) expands there.
//!
//! The closures are trusted to belong to the model's densities. A wrong gradient costs acceptance, not correctness, as long as the test is made: the proposal
//! then has another drift, whose density is still the one that the test uses. Under [`Uncorrected`](austerity::kernel::Uncorrected) it is plainly wrong. Wrong
//! second derivatives make a surrogate poor, and its decisions dear; they are about the exact posterior all the same, since what the surrogate leaves is measured
//! against the log-likelihood itself. A panic becomes [`Error::Panicked`]; a closure that writes outside its argument panics.
//!
//! Cost: one call per row, and one per batch or Hessian. A model without derivatives has no surrogate; the plain test on differences is then the one to use.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use austerity::error::{Error, Result, panic_message, setting};
use austerity::model::{Access, Curvature, Gradient, Model, Parameters, check_length};
use austerity::population::{Batch, Population as _};

use super::RowCurvature;
use crate::gradients::{At, BatchGradient, check_request};

/// A model with derivatives that it does not have itself. Everything else is the model's own.
#[derive(Clone, Debug)]
pub struct Derived<M, D> {
    model: M,
    derivatives: D,
}

/// Closures that add a derivative of the log prior and of the log-likelihood of one row.
#[derive(Clone, Debug)]
struct Closures<P, R> {
    prior: P,
    row: R,
}

/// First derivatives, of states of some length.
#[derive(Clone, Debug)]
pub struct First<P, R> {
    dimension: usize,
    closures: Closures<P, R>,
}

/// Second derivatives.
#[derive(Clone, Debug)]
pub struct Second<P, R>(Closures<P, R>);

/// A model and its gradients; see [`with_gradient`].
pub type WithGradient<M, P, R> = Derived<M, First<P, R>>;
/// A model and its second derivatives; see [`with_curvature`].
pub type WithCurvature<M, P, R> = Derived<M, Second<P, R>>;

/// `model`, whose states have `dimension` numbers, with closures that add the gradient of the log prior and of the
/// log-likelihood of one row (counted as the user gave them) to their last argument.
///
/// ```
/// use austerity::model::from_fn;
/// use austerity_glm::own::with_gradient;
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
    Ok(Derived { model, derivatives: First { dimension, closures: Closures { prior, row } } })
}

/// `model`, which knows its gradients, with closures that add the Hessian of the log prior and of the log-likelihood of one row (counted as the user gave them) to
/// their last argument, d × d row by row.
///
/// ```
/// use austerity::model::{find_mode, from_fn};
/// use austerity_glm::own::{with_curvature, with_gradient};
/// // Exponential waiting times and a flat prior on their log rate.
/// let waits = [0.7, 1.9, 0.2, 1.1];
/// let rows = |state: &[f64], row: usize| state[0] - state[0].exp() * waits[row];
/// let model = from_fn(4, 1, |_: &[f64]| 0.0, rows)?;
/// let slope = |state: &[f64], row: usize, to: &mut [f64]| to[0] += 1.0 - state[0].exp() * waits[row];
/// let model = with_gradient(model, 1, |_: &[f64], _: &mut [f64]| {}, slope)?;
/// let curve = |state: &[f64], row: usize, to: &mut [f64]| to[0] -= state[0].exp() * waits[row];
/// let model = with_curvature(model, |_: &[f64], _: &mut [f64]| {}, curve);
/// let mode = find_mode(&model, &[0.0])?;
/// assert!((mode.state[0].exp() - 4.0 / 3.9).abs() < 1e-6 && (mode.covariance[0] - 0.25).abs() < 1e-6);
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn with_curvature<M, P, R>(model: M, prior: P, row: R) -> WithCurvature<M, P, R>
where
    M: BatchGradient + Gradient,
    P: Fn(&[f64], &mut [f64]) + Sync,
    R: Fn(&[f64], usize, &mut [f64]) + Sync,
{
    Derived { model, derivatives: Second(Closures { prior, row }) }
}

impl<M, D> Derived<M, D> {
    /// The model without these derivatives.
    pub fn model(&self) -> &M {
        &self.model
    }
}

impl<P: Fn(&[f64], &mut [f64]), R: Fn(&[f64], usize, &mut [f64])> Closures<P, R> {
    /// Adds what the prior has to `sum`; `what` is called so in an error.
    fn add_prior(&self, what: &str, state: &[f64], sum: &mut [f64]) -> Result<()> {
        // Unwind safety: `sum` is not used after an error; what the closure left half done is its author's.
        catch_unwind(AssertUnwindSafe(|| (self.prior)(state, sum)))
            .map_err(|payload| panicked(what, "log prior", None, &*payload))
    }

    /// Adds what these rows have to `sum`; `what` is called so in an error.
    fn add_rows(
        &self,
        what: &str,
        rows: impl Iterator<Item = usize>,
        state: &[f64],
        sum: &mut [f64],
    ) -> Result<()> {
        let visiting = Cell::new(0);
        // Unwind safety: as above.
        catch_unwind(AssertUnwindSafe(|| {
            for row in rows {
                visiting.set(row);
                (self.row)(state, row, sum);
            }
        }))
        .map_err(|payload| panicked(what, "log-likelihood", Some(visiting.get()), &*payload))
    }
}

fn panicked(what: &str, part: &str, row: Option<usize>, payload: &(dyn std::any::Any + Send)) -> Error {
    Error::Panicked { what: format!("{what} of the {part}"), row, message: panic_message(payload) }
}

impl<M: Model<State = Vec<f64>>, D: Sync> Model for Derived<M, D> {
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

impl<M: Parameters<State = Vec<f64>>, D: Sync> Parameters for Derived<M, D> {
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
        self.derivatives.dimension
    }

    fn add_gradient(&self, at: At<'_>, (): &mut (), gradient: &mut [f64]) -> Result<()> {
        check_request(self, at, gradient)?;
        let rows = at.batch.ranges().flatten().map(|position| self.model.original_row(position));
        self.derivatives.closures.add_rows("gradient", rows, at.state, gradient)
    }

    fn add_prior_gradient(&self, state: &[f64], (): &mut (), gradient: &mut [f64]) -> Result<()> {
        self.derivatives.closures.add_prior("gradient", state, gradient)
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
        self.stochastic_gradient(At { state, batch: all }, &mut (), gradient)?;
        let zeros = vec![0.0; self.dimension()];
        let mut scratch = self.model.scratch(Access::Blocks);
        let likelihood = self.model.compare(&zeros, state, &mut scratch).total()?.sum();
        Ok(likelihood + self.model.log_prior(state))
    }
}

impl<M: BatchGradient, P: Sync, R: Sync> BatchGradient for WithCurvature<M, P, R> {
    type Workspace = M::Workspace;

    fn dimension(&self) -> usize {
        self.model.dimension()
    }

    fn add_gradient(&self, at: At<'_>, workspace: &mut M::Workspace, gradient: &mut [f64]) -> Result<()> {
        self.model.add_gradient(at, workspace, gradient)
    }

    fn add_prior_gradient(
        &self,
        state: &[f64],
        workspace: &mut M::Workspace,
        gradient: &mut [f64],
    ) -> Result<()> {
        self.model.add_prior_gradient(state, workspace, gradient)
    }
}

impl<M: Gradient<State = Vec<f64>>, P: Sync, R: Sync> Gradient for WithCurvature<M, P, R> {
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
    fn hessian(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64> {
        check_length("hessian", self.dimension() * self.dimension(), hessian.len())?;
        let value = self.model.log_density_gradient(state, gradient)?;
        hessian.fill(0.0);
        self.derivatives.0.add_prior("Hessian", state, hessian)?;
        let rows = (0..self.len()).map(|position| self.original_row(position));
        self.derivatives.0.add_rows("Hessian", rows, state, hessian)?;
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
        self.derivatives.0.add_rows("Hessian", std::iter::once(row), state, hessian)
    }
}
