//! Any transition for a surrogate, chosen at run time: what a checkpoint keeps becomes a proposal again.
//!
//! The plan is kept, not what it was built of: caches, mini-batches and working memory come out the same whenever they are made anew, so that a run that is resumed makes the
//! candidates of an uninterrupted one.

use super::{Leaps, TransitionPlan};
use crate::Surrogate;
use crate::proposal::LangevinPlan;
use crate::proposal::langevin_plan::Drifts;
use crate::proposal::{CrankNicolson, RegressionProposal, StoredProposal, Sweeps};
use crate::surrogate::{CertainSteps, ResidualGradient};
use austerity::error::Result;
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// A transition for a surrogate, chosen at run time.
#[derive(Debug)]
pub enum Transition<'e, E: CertainSteps + ResidualGradient> {
    /// Independent draws.
    Independent(TransitionPlan, Sweeps<'e, E, CrankNicolson>),
    /// Leapfrog paths.
    Hamiltonian(TransitionPlan, Leaps<'e, E>),
    /// Langevin steps.
    Langevin(LangevinPlan, Box<Drifts<'e, E>>),
    /// Any proposal that knows nothing of surrogates: its candidates are weighed by the surrogate in the offset.
    Plain(RegressionProposal),
}

impl<E: CertainSteps + ResidualGradient> Clone for Transition<'_, E> {
    fn clone(&self) -> Self {
        match self {
            Self::Independent(plan, draws) => Self::Independent(plan.clone(), draws.clone()),
            Self::Hamiltonian(plan, leaps) => Self::Hamiltonian(plan.clone(), leaps.clone()),
            Self::Langevin(plan, drifts) => Self::Langevin(plan.clone(), drifts.clone()),
            Self::Plain(proposal) => Self::Plain(proposal.clone()),
        }
    }
}

impl<'e, E: CertainSteps + ResidualGradient> Transition<'e, E> {
    /// The transition that a checkpoint kept.
    pub fn restored(surrogate: &'e Surrogate<E>, stored: StoredProposal) -> Result<Self> {
        match stored {
            StoredProposal::Transition(plan) => plan.build(surrogate.expansion()),
            StoredProposal::Langevin(plan) => {
                let drifts = Box::new(plan.build(surrogate)?);
                Ok(Self::Langevin(plan, drifts))
            }
            other => other.plain().map(Self::Plain),
        }
    }

    /// Plain data that a checkpoint can keep.
    #[must_use]
    pub fn stored(self) -> StoredProposal {
        match self {
            Self::Independent(plan, _) | Self::Hamiltonian(plan, _) => StoredProposal::Transition(plan),
            Self::Langevin(plan, _) => StoredProposal::Langevin(plan),
            Self::Plain(plain) => StoredProposal::Plain(plain),
        }
    }
}

impl<E: CertainSteps + ResidualGradient> Proposal<Vec<f64>> for Transition<'_, E> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        match self {
            Self::Independent(_, draws) => draws.propose(from, to, rng),
            Self::Hamiltonian(_, leaps) => leaps.propose(from, to, rng),
            Self::Langevin(_, drifts) => drifts.propose(from, to, rng),
            Self::Plain(proposal) => proposal.propose(from, to, rng),
        }
    }

    fn refresh(&mut self, state: &mut Vec<f64>, rng: &mut Rng) -> Result<bool> {
        match self {
            Self::Independent(_, draws) => draws.refresh(state, rng),
            Self::Hamiltonian(_, leaps) => leaps.refresh(state, rng),
            Self::Langevin(_, drifts) => drifts.refresh(state, rng),
            Self::Plain(proposal) => proposal.refresh(state, rng),
        }
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        match self {
            Self::Independent(..) | Self::Hamiltonian(..) | Self::Langevin(..) => {}
            Self::Plain(proposal) => proposal.learn(accepted, step),
        }
    }
}
