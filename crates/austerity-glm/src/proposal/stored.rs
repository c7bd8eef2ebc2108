//! Proposals chosen at run time, as plain data that a checkpoint keeps.
//!
//! | type | what it holds | makes candidates |
//! |---|---|---|
//! | [`RegressionProposal`] | the core's [`AnyProposal`], and those of this crate that need no surrogate | by itself |
//! | [`StoredProposal`] | the same, and the plans of transitions on a surrogate | together with its surrogate ([`Transition::restored`](super::Transition::restored)) |
//!
//! Every kind is stored under a name of its own, whatever type of the two holds it.

use austerity::error::{Result, setting};
use austerity::proposal::{AnyProposal, Laplace, Mixture, Proposal, Proposed, RandomWalk, RobustAdaptive};
use austerity::rng::Rng;
use serde::{Deserialize, Serialize};

use super::{
    CrankNicolson, LangevinPlan, ModeDraws, ModeJumpsPlan, SampledPlan, SpikeSteps, TailSteps,
    TransitionPlan, WholePathPlan,
};

/// Any proposal for a regression that needs no surrogate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RegressionProposal {
    /// Steps that leave a normal distribution as it is.
    CrankNicolson(CrankNicolson),
    /// Single coefficients into the tails of their priors.
    Tails(TailSteps),
    /// Single coefficients between a narrow prior and the likelihood.
    Spikes(SpikeSteps),
    /// Draws from a mixture over several modes.
    Modes(ModeDraws),
    /// A random choice among several.
    Mixture(Mixture<RegressionProposal>),
    /// One of the core.
    #[serde(untagged)]
    Plain(AnyProposal),
}

impl Proposal<Vec<f64>> for RegressionProposal {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        match self {
            Self::CrankNicolson(steps) => steps.propose(from, to, rng),
            Self::Tails(steps) => steps.propose(from, to, rng),
            Self::Spikes(steps) => steps.propose(from, to, rng),
            Self::Modes(draws) => draws.propose(from, to, rng),
            Self::Mixture(mixture) => mixture.propose(from, to, rng),
            Self::Plain(proposal) => proposal.propose(from, to, rng),
        }
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        match self {
            Self::CrankNicolson(_) | Self::Tails(_) | Self::Spikes(_) | Self::Modes(_) => {}
            Self::Mixture(mixture) => mixture.learn(accepted, step),
            Self::Plain(proposal) => proposal.learn(accepted, step),
        }
    }
}

impl From<RandomWalk> for RegressionProposal {
    fn from(walk: RandomWalk) -> Self {
        Self::Plain(walk.into())
    }
}

impl From<RobustAdaptive> for RegressionProposal {
    fn from(walk: RobustAdaptive) -> Self {
        Self::Plain(walk.into())
    }
}

impl From<Laplace> for RegressionProposal {
    fn from(draws: Laplace) -> Self {
        Self::Plain(draws.into())
    }
}

impl From<CrankNicolson> for RegressionProposal {
    fn from(steps: CrankNicolson) -> Self {
        Self::CrankNicolson(steps)
    }
}

impl From<TailSteps> for RegressionProposal {
    fn from(steps: TailSteps) -> Self {
        Self::Tails(steps)
    }
}

impl From<SpikeSteps> for RegressionProposal {
    fn from(steps: SpikeSteps) -> Self {
        Self::Spikes(steps)
    }
}

impl From<ModeDraws> for RegressionProposal {
    fn from(draws: ModeDraws) -> Self {
        Self::Modes(draws)
    }
}

impl From<Mixture<RegressionProposal>> for RegressionProposal {
    fn from(mixture: Mixture<RegressionProposal>) -> Self {
        Self::Mixture(mixture)
    }
}

/// What a checkpoint of a regression keeps of a proposal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StoredProposal {
    /// The plan of a transition on a surrogate.
    Transition(TransitionPlan),
    /// The plan of Langevin steps on a surrogate.
    Langevin(LangevinPlan),
    /// The plan of jumps between the modes of a surrogate.
    ModeJumps(ModeJumpsPlan),
    /// The plan of leapfrog paths on a sample of the rows.
    Sampled(SampledPlan),
    /// The plan of Hamiltonian paths on all rows.
    Whole(WholePathPlan),
    /// A proposal that learns nothing: the plan of its run says all there is to know.
    Planned,
    /// A proposal that needs no surrogate.
    #[serde(untagged)]
    Plain(RegressionProposal),
}

impl StoredProposal {
    /// The proposal itself, where it needs no surrogate.
    pub fn plain(self) -> Result<RegressionProposal> {
        match self {
            Self::Plain(proposal) => Ok(proposal),
            Self::Transition(_) | Self::Langevin(_) => Err(setting(
                "proposal",
                "a plan for a surrogate",
                "one that needs no surrogate, or `Transition::restored`",
            )),
            Self::ModeJumps(_) => Err(setting(
                "proposal",
                "a plan for a surrogate with several modes",
                "one that needs no surrogate, or `ModeJumps::restored`",
            )),
            Self::Sampled(_) => Err(setting(
                "proposal",
                "a plan for a sample of the rows",
                "one that needs no sample, or `SampledPaths::restored`",
            )),
            Self::Whole(_) => Err(setting(
                "proposal",
                "a plan of paths on all rows",
                "one that needs no gradients, or `WholePaths::restored`",
            )),
            Self::Planned => Err(setting("proposal", "that of a plan", "one that a checkpoint holds")),
        }
    }
}

impl<P: Into<RegressionProposal>> From<P> for StoredProposal {
    fn from(proposal: P) -> Self {
        Self::Plain(proposal.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PowerTail;
    use crate::proposal::HeavyCoefficient;
    use austerity::rng::{Role, stream};

    fn walk() -> RandomWalk {
        RandomWalk::isotropic(2, 0.25).unwrap()
    }

    fn text(stored: &impl Serialize) -> String {
        serde_json::to_string(stored).unwrap()
    }

    /// Ten candidates in a row, and their ratios.
    fn candidates(mut proposal: impl Proposal<Vec<f64>>) -> Vec<(Vec<f64>, Proposed)> {
        let mut rng = stream(3, 0, Role::Proposal);
        let mut next = || {
            let mut to = vec![];
            let ratio = proposal.propose(&vec![0.1, 0.2], &mut to, &mut rng).unwrap();
            (to, ratio)
        };
        (0..10).map(|_| next()).collect()
    }

    /// A checkpoint does not tell which type held a proposal, and the core reads what is its own.
    #[test]
    fn every_kind_has_one_name() {
        let stored = text(&StoredProposal::from(walk()));
        assert_eq!(stored, text(&AnyProposal::from(walk())));
        assert!(stored.starts_with(r#"{"random_walk":"#), "{stored}");
        assert_eq!(candidates(serde_json::from_str::<AnyProposal>(&stored).unwrap()), candidates(walk()));
        assert!(serde_json::from_str::<StoredProposal>(&stored.replace("random_walk", "walk")).is_err());
    }

    #[test]
    fn every_kind_is_restored() {
        let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 2.5 };
        let tails = TailSteps::new(vec![HeavyCoefficient { parameter: 1, prior, size: 0.5 }]).unwrap();
        let draws = CrankNicolson::new(&[0.1, 0.2], &[1.0, 0.3, 0.3, 2.0], -0.45).unwrap();
        let adaptive = RobustAdaptive::new(&walk(), 0.3).unwrap();
        let parts = vec![(0.5, adaptive.into()), (0.3, tails.clone().into()), (0.2, draws.clone().into())];
        let mixture = RegressionProposal::from(Mixture::new(parts).unwrap());
        for proposal in [walk().into(), tails.into(), draws.into(), mixture] {
            let stored = text(&StoredProposal::from(proposal.clone()));
            let restored: StoredProposal = serde_json::from_str(&stored).unwrap();
            assert_eq!(text(&restored), stored);
            assert_eq!(candidates(restored.plain().unwrap()), candidates(proposal), "{stored}");
        }
    }
}
