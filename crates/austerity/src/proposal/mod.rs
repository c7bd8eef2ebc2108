//! Where to go next: proposals, each with its log density ratio log q(back) − log q(forth).
//!
//! | file | what it holds |
//! |---|---|
//! | [`random_walk`] | [`RandomWalk`]: Gaussian steps, isotropic, diagonal or dense |
//! | [`adaptive`] | [`RobustAdaptive`]: a dense walk that learns its shape during warm-up |
//! | [`laplace`] | [`Laplace`]: independent draws around the mode |
//! | [`hamiltonian`] | [`Hamiltonian`]: leapfrog paths along the gradient of all the data, for differentiable models |
//! | [`mixture`] | [`Mixture`]: one of several proposals, chosen at random |
//!
//! Nothing adapts after warm-up: an adapted chain would no longer have the target as its stationary law.

pub mod adaptive;
pub mod hamiltonian;
pub mod laplace;
pub mod mixture;
pub mod random_walk;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::rng::Rng;

pub use adaptive::RobustAdaptive;
pub use hamiltonian::{Hamiltonian, Path};
pub use laplace::Laplace;
pub use mixture::Mixture;
pub use random_walk::{RandomWalk, Shape};

/// What a proposal knows of its candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Proposed {
    /// log q(from|to) − log q(to|from); −∞ where there is no way back.
    pub log_ratio: f64,
    /// Whether the candidate differs from the state it was made from: where it does not, nothing needs to be decided.
    pub moved: bool,
    /// The log prior of the candidate, where it is known: to the bit what the model would say.
    pub log_prior: Option<f64>,
}

/// A candidate of which the ratio alone is known.
impl From<f64> for Proposed {
    fn from(log_ratio: f64) -> Self {
        Self { log_ratio, moved: true, log_prior: None }
    }
}

/// Proposes a candidate.
pub trait Proposal<S> {
    /// Writes a candidate to `to` and returns what is known of it.
    fn propose(&mut self, from: &S, to: &mut S, rng: &mut Rng) -> Result<Proposed>;

    /// Writes the candidate that [`Proposal::propose`] would write, for a kernel that does not ask for its ratio.
    fn draw(&mut self, from: &S, to: &mut S, rng: &mut Rng) -> Result<()> {
        self.propose(from, to, rng).map(|_| ())
    }

    /// After the decision: moves `state` by steps of its own that leave the posterior as it is and need no row of the population. True
    /// when the state changed.
    fn refresh(&mut self, _state: &mut S, _rng: &mut Rng) -> Result<bool> {
        Ok(false)
    }

    /// Learns from warm-up step number `step` (from 1), whose candidate was accepted or not.
    fn learn(&mut self, _accepted: bool, _step: u64) {}
}

/// Any proposal of this crate for vector states that learns nothing of the model, chosen at run time and stored in checkpoints.
///
/// A checkpoint keeps whatever proposal its sampler has ([`Checkpoint`](crate::run::Checkpoint) takes its type as a parameter), so a crate with proposals of its
/// own has a type of its own for them.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyProposal {
    /// Gaussian random walk.
    RandomWalk(RandomWalk),
    /// Robust adaptive Metropolis.
    Adaptive(RobustAdaptive),
    /// Independent draws around the mode.
    Laplace(Laplace),
    /// A random choice among several.
    Mixture(Mixture<AnyProposal>),
}

impl Proposal<Vec<f64>> for AnyProposal {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        match self {
            Self::RandomWalk(walk) => walk.propose(from, to, rng),
            Self::Adaptive(walk) => walk.propose(from, to, rng),
            Self::Laplace(draws) => draws.propose(from, to, rng),
            Self::Mixture(mixture) => mixture.propose(from, to, rng),
        }
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        match self {
            Self::RandomWalk(_) | Self::Laplace(_) => {}
            Self::Adaptive(walk) => walk.learn(accepted, step),
            Self::Mixture(mixture) => mixture.learn(accepted, step),
        }
    }
}

impl From<RandomWalk> for AnyProposal {
    fn from(walk: RandomWalk) -> Self {
        Self::RandomWalk(walk)
    }
}

impl From<RobustAdaptive> for AnyProposal {
    fn from(walk: RobustAdaptive) -> Self {
        Self::Adaptive(walk)
    }
}

impl From<Laplace> for AnyProposal {
    fn from(draws: Laplace) -> Self {
        Self::Laplace(draws)
    }
}

impl From<Mixture<AnyProposal>> for AnyProposal {
    fn from(mixture: Mixture<AnyProposal>) -> Self {
        Self::Mixture(mixture)
    }
}
