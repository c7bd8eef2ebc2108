//! A surrogate for the likelihood, and the model whose decisions are about what it leaves.
//!
//! log p(data|θ) = S(θ) + Σ r_i(θ), where S is cheap: a Taylor expansion at a centre, plus the rows of a certainty stratum
//! exactly. [`Surrogate`] is a [`Model`] again: its "prior" is prior × exp S, known without sampling, and its population the differences of the r_i,
//! whose spread falls like 1/N with an expansion of the second order. So every rule, proposal, sink and checkpoint works on it unchanged, and the cost
//! of a decision no longer grows with N.
//!
//! Quiroz, Kohn, Villani & Tran (2019), Bardenet, Doucet & Holmes (2017, §7), Cornish et al. (2019), each for decisions of their own. The posterior stays the
//! exact one: the surrogate decides what a decision costs, never what it is about. A test on residuals is only as good as the certainty stratum:
//! rows with large residuals must be inside, which no sample can tell (see [`crate::check`]).
//!
//! Do not use far from the centre, or where the posterior has several modes: residuals are then as large as the differences themselves.

use crate::PowerTail;
use crate::gradients::{At, BatchGradient, check_request};
use austerity::error::{Error, Result};
use austerity::model::{Access, Model, Parameters};
use austerity::population::{Moments, Population, together};

/// A cheap approximation of a log-likelihood and the exact rest.
pub trait Expansion: Sync {
    /// Working memory of one chain.
    type Scratch: Send;
    /// Working memory of a density with gradient.
    type Workspace: Clone + Default + std::fmt::Debug + Send;
    /// What is left of the rows.
    type Residuals<'a>: Population
    where
        Self: 'a;

    /// Rows of the population of residuals.
    fn rows(&self) -> usize;

    /// Number of parameters.
    fn dimension(&self) -> usize;

    /// The centre.
    fn centre(&self) -> &[f64];

    /// Log prior density plus S, up to a constant: the log density of the surrogate posterior.
    fn log_density(&self, state: &[f64]) -> f64;

    /// What it means that [`Expansion::log_density`] was NaN.
    fn density_error(&self) -> Error {
        Error::PriorNotANumber
    }

    /// As [`Expansion::log_density`], with its gradient.
    fn log_density_gradient(
        &self,
        state: &[f64],
        workspace: &mut Self::Workspace,
        gradient: &mut [f64],
    ) -> f64;

    /// Working memory for a chain.
    fn scratch(&self) -> Self::Scratch;

    /// The residuals of the move `from` → `to`.
    fn residuals<'a>(
        &'a self,
        from: &[f64],
        to: &[f64],
        scratch: &'a mut Self::Scratch,
    ) -> Self::Residuals<'a>;

    /// The moments of all residuals of several moves `(from, to)`, in one pass: see [`Model::totals`].
    fn residual_totals(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<Moments>> {
        let mut scratches: Vec<_> = moves.iter().map(|_| self.scratch()).collect();
        let moves = moves.iter().zip(&mut scratches);
        let mut populations: Vec<_> =
            moves.map(|(&(from, to), scratch)| self.residuals(from, to, scratch)).collect();
        together::totals(&mut populations, self.bytes() / self.rows().max(1))
    }

    /// The change of the log posterior density of each move `(from, to)`, from all rows of the model expanded and nothing of the
    /// expansion: what [`Expansion::log_density`] and the residuals together must come to. An error in the sums of the expansion
    /// leaves every residual as it should be, so only this can show it; audits ask for it.
    fn exact_differences(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<f64>>;

    /// Refuses a state that does not fit.
    fn check_state(&self, state: &[f64]) -> Result<()>;

    /// Names of the parameters, as a trace records them.
    fn names(&self) -> Vec<String>;

    /// Writes the numbers that a trace records.
    fn write(&self, state: &[f64], out: &mut [f64]);

    /// See [`Model::original_row`].
    fn original_row(&self, position: usize) -> usize;

    /// See [`Model::fingerprint`].
    fn fingerprint(&self) -> u64;

    /// Bytes held.
    fn bytes(&self) -> usize;
}

/// An expansion with coefficients that move no row outside its certainty stratum: changed alone, they leave every residual at 0.
pub trait CertainSteps: Expansion {
    /// What is remembered of a state between single steps.
    type Memory: Send + Default + std::fmt::Debug;

    /// Those coefficients.
    fn certain_parameters(&self) -> Vec<usize>;

    /// Takes in a state.
    fn begin_certain(&self, state: &[f64], memory: &mut Self::Memory);

    /// Change of the log posterior density if `parameter` moved by `by` from `state`.
    fn certain_change(&self, memory: &Self::Memory, state: &[f64], parameter: usize, by: f64) -> f64;

    /// Tells that it did, and is at `state` now.
    fn take_certain(&self, memory: &mut Self::Memory, state: &[f64], parameter: usize, by: f64);

    /// The prior of such a coefficient, where its tail falls like a power.
    fn certain_tail(&self, _parameter: usize) -> Option<PowerTail> {
        None
    }
}

/// An expansion whose residuals can be differentiated: mini-batches of them correct the gradient of the surrogate, with a noise
/// that is as small as they are (control variates: Baker, Fearnhead, Fox & Nemeth 2019).
pub trait ResidualGradient: Expansion {
    /// Working memory, empty at first.
    type Memory: Clone + Default + std::fmt::Debug + Send;

    /// Adds Σ ∇r_i(θ) over the rows of the batch to `gradient`.
    fn residual_gradient(&self, at: At<'_>, memory: &mut Self::Memory, gradient: &mut [f64]) -> Result<()>;
}

/// The change of the log posterior density of `model` from all its rows, for [`Expansion::exact_differences`].
pub(crate) fn posterior_differences<M: Model<State = Vec<f64>>>(
    model: &M,
    moves: &[(&Vec<f64>, &Vec<f64>)],
) -> Result<Vec<f64>> {
    let totals = model.totals(moves)?;
    let of = |(&(from, to), total): (&(&Vec<f64>, &Vec<f64>), &Moments)| {
        let likelihood = if total.impossible() { f64::NEG_INFINITY } else { total.sum() };
        model.log_prior(to) - model.log_prior(from) + likelihood
    };
    Ok(moves.iter().zip(&totals).map(of).collect())
}

/// The model of the same posterior whose rows are residuals.
#[derive(Clone, Debug)]
pub struct Surrogate<E> {
    expansion: E,
}

impl<E: Expansion> Surrogate<E> {
    /// The model behind an expansion.
    pub fn new(expansion: E) -> Self {
        Self { expansion }
    }

    /// The expansion.
    pub fn expansion(&self) -> &E {
        &self.expansion
    }
}

impl<E: Expansion> Model for Surrogate<E> {
    type State = Vec<f64>;
    type Scratch = E::Scratch;
    type Ratio<'a>
        = E::Residuals<'a>
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.expansion.rows()
    }

    fn scratch(&self, _access: Access) -> E::Scratch {
        self.expansion.scratch()
    }

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        self.expansion.check_state(state)
    }

    /// Log density of the surrogate posterior.
    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.expansion.log_density(state)
    }

    fn prior_error(&self) -> Error {
        self.expansion.density_error()
    }

    fn compare<'a>(
        &'a self,
        from: &'a Vec<f64>,
        to: &'a Vec<f64>,
        scratch: &'a mut E::Scratch,
    ) -> E::Residuals<'a> {
        self.expansion.residuals(from, to, scratch)
    }

    fn totals(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<Moments>> {
        self.expansion.residual_totals(moves)
    }

    fn exact_differences(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Option<Vec<f64>>> {
        self.expansion.exact_differences(moves).map(Some)
    }

    fn original_row(&self, position: usize) -> usize {
        self.expansion.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        self.expansion.fingerprint()
    }

    fn data_bytes(&self) -> usize {
        self.expansion.bytes()
    }
}

impl<E: Expansion> Parameters for Surrogate<E> {
    fn names(&self) -> Vec<String> {
        self.expansion.names()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        self.expansion.write(state, out);
    }
}

/// Working memory of the gradient of a surrogate and some residuals.
#[derive(Clone, Debug, Default)]
pub struct GradientMemory<W, R> {
    surrogate: W,
    residuals: R,
    known: Vec<f64>,
}

/// ∇ log surrogate posterior, known without sampling, plus the gradients of a batch of residuals.
impl<E: ResidualGradient> BatchGradient for Surrogate<E> {
    type Workspace = GradientMemory<E::Workspace, E::Memory>;

    fn dimension(&self) -> usize {
        self.expansion.dimension()
    }

    fn add_gradient(&self, at: At<'_>, workspace: &mut Self::Workspace, gradient: &mut [f64]) -> Result<()> {
        check_request(self, at, gradient)?;
        self.expansion.residual_gradient(at, &mut workspace.residuals, gradient)
    }

    fn add_prior_gradient(
        &self,
        state: &[f64],
        workspace: &mut Self::Workspace,
        gradient: &mut [f64],
    ) -> Result<()> {
        let GradientMemory { surrogate, known, .. } = workspace;
        known.resize(gradient.len(), 0.0);
        if self.expansion.log_density_gradient(state, surrogate, known).is_nan() {
            return Err(self.expansion.density_error());
        }
        gradient.iter_mut().zip(&*known).for_each(|(slot, known)| *slot += known);
        Ok(())
    }
}
