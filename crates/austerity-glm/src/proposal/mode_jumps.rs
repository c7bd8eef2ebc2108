//! Transitions on a surrogate with several modes: jumps between them, and in each the local steps that suit it.
//!
//! | with probability | candidate | ratio |
//! |---|---|---|
//! | [`JUMPS`] | a draw from the mixture over all modes ([`ModeDraws`]) | log q(θ) − log q(θ'), of the whole mixture |
//! | otherwise | a step of the transition planned for the mode whose region holds θ | that of the step; a candidate outside the region is refused |
//!
//! Which kind is chosen does not depend on the state, so each must be reversible by itself. A local step is reversible for the posterior; its way back from another region
//! would be made by another transition, so it is cut to its region, which keeps it reversible (a candidate outside counts as a rejection without a decision). Sweeps
//! of single coefficients after a decision stay in their region for the same reason ([`SeveralExpansions`]).
//!
//! The plan is plain data for a checkpoint. Cost: that of the pilots of every mode, and of the trial of the jumps, on the surrogate alone; no row is read.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::mode_draws::{ModeDraws, ModeTrial};
use super::stored::StoredProposal;
use super::transition::{Transition, TransitionPlan};
use crate::surrogate::{CertainSteps, ResidualGradient};
use crate::{Expansion, SeveralExpansions};
use austerity::error::{Result, setting};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// Share of jumps among the candidates.
pub const JUMPS: f64 = 0.6;
/// Draws per mode that jumps are tried with.
const TRIED: usize = 400;

/// Jumps and local steps as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeJumpsPlan {
    /// Draws from the mixture over all modes.
    pub draws: ModeDraws,
    /// The transition of every mode.
    pub local: Vec<TransitionPlan>,
}

impl ModeJumpsPlan {
    /// Plans for `expansion`, with the mean and covariance of each mode as far as known; `shares` are what the modes seem to hold.
    pub fn pilot<E: CertainSteps>(
        expansion: &SeveralExpansions<E>,
        modes: &[(&[f64], &[f64])],
        shares: &[f64],
        seed: u64,
    ) -> Result<(Self, ModeTrial)> {
        let parts = expansion.parts().iter().zip(modes);
        let plan = |(part, at): (&E, &(&[f64], &[f64]))| TransitionPlan::pilot(part, *at, None, seed);
        let local: Vec<TransitionPlan> = parts.map(plan).collect::<Result<_>>()?;
        if local.len() != modes.len() {
            return Err(setting("modes", modes.len(), "one per expansion"));
        }
        let learnt: Vec<(&[f64], &[f64])> =
            local.iter().map(|plan| (&plan.mean[..], &plan.covariance[..])).collect();
        let density =
            |states: &[Vec<f64>]| Ok(states.iter().map(|state| expansion.log_density(state)).collect());
        let (draws, trial) =
            ModeDraws::new(&learnt, shares)?.tried(expansion.regions(), TRIED, seed, density)?;
        Ok((Self { draws, local }, trial))
    }

    /// The proposal that the plan describes.
    pub fn build<'e, E: CertainSteps + ResidualGradient>(
        &self,
        expansion: &'e SeveralExpansions<E>,
    ) -> Result<ModeJumps<'e, E>> {
        if self.local.len() != expansion.parts().len() {
            return Err(setting("transitions", self.local.len(), "one per expansion"));
        }
        let local = self.local.iter().map(|plan| plan.build(expansion)).collect::<Result<_>>()?;
        Ok(ModeJumps { expansion, draws: self.draws.clone(), local, plan: self.clone() })
    }
}

/// Jumps between modes, and local steps.
#[derive(Debug)]
pub struct ModeJumps<'e, E: CertainSteps + ResidualGradient> {
    expansion: &'e SeveralExpansions<E>,
    draws: ModeDraws,
    local: Vec<Transition<'e, SeveralExpansions<E>>>,
    plan: ModeJumpsPlan,
}

impl<E: CertainSteps + ResidualGradient> Clone for ModeJumps<'_, E> {
    fn clone(&self) -> Self {
        Self {
            expansion: self.expansion,
            draws: self.draws.clone(),
            local: self.local.clone(),
            plan: self.plan.clone(),
        }
    }
}

impl<'e, E: CertainSteps + ResidualGradient> ModeJumps<'e, E> {
    /// The proposal that a checkpoint kept.
    pub fn restored(expansion: &'e SeveralExpansions<E>, stored: &StoredProposal) -> Result<Self> {
        match stored {
            StoredProposal::ModeJumps(plan) => plan.build(expansion),
            _ => Err(setting("proposal", "another", "jumps between the modes of a surrogate")),
        }
    }

    /// Plain data that a checkpoint can keep.
    #[must_use]
    pub fn stored(self) -> StoredProposal {
        StoredProposal::ModeJumps(self.plan)
    }
}

impl<E: CertainSteps + ResidualGradient> Proposal<Vec<f64>> for ModeJumps<'_, E> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        if rng.random::<f64>() < JUMPS {
            return self.draws.propose(from, to, rng);
        }
        let region = self.expansion.label(from);
        let proposed = self.local[region].propose(from, to, rng)?;
        let stays = !proposed.moved || self.expansion.label(to) == region;
        Ok(Proposed { moved: proposed.moved && stays, ..proposed })
    }

    fn refresh(&mut self, state: &mut Vec<f64>, rng: &mut Rng) -> Result<bool> {
        let region = self.expansion.label(state);
        self.local[region].refresh(state, rng)
    }
}
