//! Where to go next: proposals, each with its log density ratio log q(back) − log q(forth).
//!
//! | file | what it holds |
//! |---|---|
//! | [`random_walk`] | [`RandomWalk`]: Gaussian steps, isotropic, diagonal or dense |
//! | [`adaptive`] | [`RobustAdaptive`]: a dense walk that learns its shape during warm-up |
//! | [`crank_nicolson`] | [`CrankNicolson`]: steps that leave a normal distribution as it is, independent draws among them |
//! | [`laplace`] | [`Laplace`]: independent draws around the mode |
//! | [`hamiltonian`] | [`Hamiltonian`]: leapfrog paths along the gradient of all the data, for differentiable models |
//! | [`langevin`] | [`Langevin`]: a step up the gradient of a mini-batch, and noise; [`LangevinPlan`]: on a surrogate |
//! | [`fisher_scoring`] | [`FisherScoring`]: the same, preconditioned by the information in the data |
//! | [`stiefel`] | [`Stiefel`]: symmetric walk on orthonormal frames |
//! | [`jump`] | [`Jump`]: update, birth and death, between models of different size |
//! | [`surrogate_step`] | [`SurrogateStep`]: steps reversible for a surrogate posterior, touching no data |
//! | [`sweeps`] | [`Sweeps`]: exact steps of single coefficients that only the certainty stratum knows |
//! | [`heavy`] | candidates for one coefficient with the tail of a Student prior |
//! | [`tail_steps`] | [`TailSteps`]: the same as candidates of their own |
//! | [`transition`] | [`TransitionPlan`]: which of these suits a surrogate, by a pilot that reads no data |
//! | [`whole_paths`] | [`WholePathPlan`]: Hamiltonian paths on all rows for very many coefficients, by a pilot |
//! | [`mixture`] | [`Mixture`]: one of several proposals, chosen at random |
//!
//! Nothing adapts after warm-up: an adapted chain would no longer have the target as its stationary law.

pub mod adaptive;
pub mod crank_nicolson;
pub mod fisher_scoring;
pub mod hamiltonian;
pub mod heavy;
pub mod jump;
pub mod langevin;
pub mod laplace;
pub mod mixture;
pub mod random_walk;
pub mod stiefel;
pub mod surrogate_step;
pub mod sweeps;
pub mod tail_steps;
pub mod transition;
pub mod whole_paths;

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::rng::Rng;

pub use adaptive::RobustAdaptive;
pub use crank_nicolson::CrankNicolson;
pub use fisher_scoring::{FisherScoring, empirical_information};
pub use hamiltonian::{Hamiltonian, Path};
pub use jump::{IndexChoice, Jump, JumpMove, JumpTally};
pub use langevin::{Langevin, LangevinPlan};
pub use laplace::Laplace;
pub use mixture::Mixture;
pub use random_walk::{RandomWalk, Shape};
pub use stiefel::Stiefel;
pub use surrogate_step::SurrogateStep;
pub use sweeps::Sweeps;
pub use tail_steps::{HeavyCoefficient, TailSteps};
pub use transition::{ANTITHETIC_CORRELATION, Transition, TransitionKind, TransitionPlan};
pub use whole_paths::{GradientSeconds, WholePathPlan, WholePaths};

/// Proposes a candidate.
pub trait Proposal<S> {
    /// Writes a candidate to `to` and returns log q(from|to) − log q(to|from).
    fn propose(&mut self, from: &S, to: &mut S, rng: &mut Rng) -> Result<f64>;

    /// Writes the candidate that [`Proposal::propose`] would write, for a kernel that does not ask for its ratio.
    fn draw(&mut self, from: &S, to: &mut S, rng: &mut Rng) -> Result<()> {
        self.propose(from, to, rng).map(|_| ())
    }

    /// Whether the last candidate differs from the state it was made from: where it does not, nothing needs to be decided.
    fn moved(&self) -> bool {
        true
    }

    /// The log prior of the last candidate, where the proposal knows it: to the bit what the model would say.
    fn candidate_density(&self) -> Option<f64> {
        None
    }

    /// After the decision: moves `state` by steps of its own that leave the posterior as it is and need no row of the population. True
    /// when the state changed.
    fn refresh(&mut self, _state: &mut S, _rng: &mut Rng) -> Result<bool> {
        Ok(false)
    }

    /// Learns from warm-up step number `step` (from 1), whose candidate was accepted or not.
    fn learn(&mut self, _accepted: bool, _step: u64) {}
}

/// Any proposal of the library for vector states, chosen at run time and stored in checkpoints.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AnyProposal {
    /// Gaussian random walk.
    RandomWalk(RandomWalk),
    /// Robust adaptive Metropolis.
    Adaptive(RobustAdaptive),
    /// Steps that leave a normal distribution as it is.
    CrankNicolson(CrankNicolson),
    /// Independent draws around the mode.
    Laplace(Laplace),
    /// Walk on orthonormal frames.
    Stiefel(Stiefel),
    /// Single coefficients into the tails of their priors.
    Tails(TailSteps),
    /// A random choice among several.
    Mixture(Mixture<AnyProposal>),
    /// The plan of a transition on a surrogate, as stored; only together with its surrogate it makes candidates ([`Transition`]).
    Transition(TransitionPlan),
    /// The plan of Langevin steps on a surrogate, likewise.
    Langevin(LangevinPlan),
    /// The plan of Hamiltonian paths on all rows; only together with its model it makes candidates ([`WholePaths`]).
    WholePaths(WholePathPlan),
}

impl Proposal<Vec<f64>> for AnyProposal {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<f64> {
        match self {
            Self::RandomWalk(walk) => walk.propose(from, to, rng),
            Self::Adaptive(walk) => walk.propose(from, to, rng),
            Self::CrankNicolson(steps) => steps.propose(from, to, rng),
            Self::Laplace(draws) => draws.propose(from, to, rng),
            Self::Stiefel(walk) => walk.propose(from, to, rng),
            Self::Tails(steps) => steps.propose(from, to, rng),
            Self::Mixture(mixture) => mixture.propose(from, to, rng),
            Self::Transition(_) | Self::Langevin(_) => Err(setting(
                "proposal",
                "a plan for a surrogate",
                "one that needs no surrogate, or `Transition::restored`",
            )),
            Self::WholePaths(_) => Err(setting(
                "proposal",
                "a plan for paths on all rows",
                "one that needs no gradient, or `WholePaths::restored`",
            )),
        }
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        match self {
            Self::RandomWalk(_)
            | Self::CrankNicolson(_)
            | Self::Laplace(_)
            | Self::Stiefel(_)
            | Self::Tails(_)
            | Self::Transition(_)
            | Self::Langevin(_)
            | Self::WholePaths(_) => {}
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

impl From<CrankNicolson> for AnyProposal {
    fn from(steps: CrankNicolson) -> Self {
        Self::CrankNicolson(steps)
    }
}

impl From<Laplace> for AnyProposal {
    fn from(draws: Laplace) -> Self {
        Self::Laplace(draws)
    }
}

impl From<Stiefel> for AnyProposal {
    fn from(walk: Stiefel) -> Self {
        Self::Stiefel(walk)
    }
}

impl From<TailSteps> for AnyProposal {
    fn from(steps: TailSteps) -> Self {
        Self::Tails(steps)
    }
}

impl From<Mixture<AnyProposal>> for AnyProposal {
    fn from(mixture: Mixture<AnyProposal>) -> Self {
        Self::Mixture(mixture)
    }
}
