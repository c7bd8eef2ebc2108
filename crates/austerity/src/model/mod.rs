//! Posteriors: what compares two states row by row.
//!
//! A [`Model`] turns a pair of states into a [`Population`] of log-likelihood differences
//! l_i = log p(x_i|θ') − log p(x_i|θ). Other powers are separate traits that a model may add.
//!
//! | file | what it holds |
//! |---|---|
//! | [`mod@from_fn`] | [`from_fn()`]: the user's own model, made of two closures |
//! | [`known_rows`] | which numbers such functions may return, and those already known of a state |
//! | [`log_density`] | [`LogDensity`]: what leapfrog paths need, of a model or a surrogate |
//! | [`rows`] | rows as a user gives them: what is refused, and the order they are stored in |
//! | [`mode`] | [`find_mode`]: Newton's method for the mode and the covariance there |

pub mod from_fn;
pub mod known_rows;
pub mod log_density;
pub mod mode;
pub mod rows;

use crate::error::{Error, Result};
use crate::population::{Moments, Population, together};

pub use crate::population::Access;
pub use from_fn::{FromFn, from_fn};
pub use log_density::LogDensity;
pub use mode::{Mode, covariance_at, find_mode, find_mode_near};
pub use rows::{check_length, check_rows, check_state, shuffle_keys, storage_order};

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

    /// Number of rows, N.
    fn len(&self) -> usize;

    /// Whether there is no row at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Working memory for a chain whose rule reads in the way of `access`.
    fn scratch(&self, access: Access) -> Self::Scratch;

    /// Refuses a state that does not fit the model (its length, say). Asked once about every start.
    fn check_state(&self, _state: &Self::State) -> Result<()> {
        Ok(())
    }

    /// Log prior density up to a constant; −∞ outside the support.
    fn log_prior(&self, state: &Self::State) -> f64;

    /// What it means that [`Model::log_prior`] was NaN.
    fn prior_error(&self) -> Error {
        Error::PriorNotANumber
    }

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

    /// The moments of all differences of several moves `(from, to)`, in one pass over memory.
    ///
    /// The moments of a move are the same to the bit whichever moves are asked for with it; see [`together`].
    fn totals(&self, moves: &[(&Self::State, &Self::State)]) -> Result<Vec<Moments>> {
        let mut scratches: Vec<_> = moves.iter().map(|_| self.scratch(Access::Blocks)).collect();
        let mut populations: Vec<_> = moves
            .iter()
            .zip(&mut scratches)
            .map(|(&(from, to), scratch)| self.compare(from, to, scratch))
            .collect();
        together::totals(&mut populations, self.data_bytes() / self.len().max(1))
    }

    /// For a model that stands for another, of the same posterior: the change of the log posterior density of each move as
    /// that other model has it, from all its rows. `None` where the model stands for itself.
    fn exact_differences(&self, _moves: &[(&Self::State, &Self::State)]) -> Result<Option<Vec<f64>>> {
        Ok(None)
    }

    /// Where row `position` of the storage stood in the user's data.
    fn original_row(&self, position: usize) -> usize {
        position
    }

    /// A number that other data or another prior would almost surely change: a checkpoint refuses to go on with another.
    /// 0 where the model cannot see its data.
    fn fingerprint(&self) -> u64 {
        0
    }

    /// Bytes of the data held, for the estimate printed before a run.
    fn data_bytes(&self) -> usize {
        0
    }

    /// Bytes of working memory per chain under `access`, for the estimate printed before a run.
    fn scratch_bytes(&self, _access: Access) -> usize {
        0
    }
}

/// FNV-1a over 32-bit words (Fowler, Noll & Vo), taken piece by piece: fast, the same on every machine, no shield
/// against malice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(u64);

impl Default for Fingerprint {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fingerprint {
    /// Takes the next words.
    pub fn push(&mut self, words: impl Iterator<Item = u32>) {
        self.0 =
            words.fold(self.0, |hash, word| (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3));
    }

    /// Takes a text, a word per byte.
    pub fn push_text(&mut self, text: &str) {
        self.push(text.bytes().map(u32::from));
    }

    /// The number.
    #[must_use]
    pub fn finish(self) -> u64 {
        self.0
    }
}

/// The [`Fingerprint`] of some words.
pub fn fingerprint(words: impl Iterator<Item = u32>) -> u64 {
    let mut fingerprint = Fingerprint::default();
    fingerprint.push(words);
    fingerprint.finish()
}

/// The numbers of a state that a trace records.
pub trait Parameters: Model {
    /// Names of the numbers, in the order of [`Parameters::write`].
    fn names(&self) -> Vec<String>;
    /// Writes the numbers of `state`.
    fn write(&self, state: &Self::State, out: &mut [f64]);
}

/// Log posterior density and its first derivative.
pub trait Gradient: Model {
    /// Log posterior density at `state` up to a constant; its gradient goes to `gradient`.
    fn log_density_gradient(&self, state: &Self::State, gradient: &mut [f64]) -> Result<f64>;

    /// The gradient alone, to the same bits: for models where the density itself costs more than its derivative.
    fn gradient(&self, state: &Self::State, gradient: &mut [f64]) -> Result<()> {
        self.log_density_gradient(state, gradient).map(drop)
    }
}

/// Second derivative of the log posterior density.
pub trait Curvature: Gradient {
    /// Log posterior density at `state` up to a constant; its gradient goes to `gradient`, its d × d Hessian, row by row, to `hessian`.
    fn hessian(&self, state: &Self::State, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64>;

    /// Gradient and Hessian alone, to the same bits: for models where the density itself costs more.
    fn derivatives(&self, state: &Self::State, gradient: &mut [f64], hessian: &mut [f64]) -> Result<()> {
        self.hessian(state, gradient, hessian).map(drop)
    }
}
