//! Which proposal a run uses: the one that the user set with `--proposal`, or the one that suits the surrogate.
//!
//! | typed | on a surrogate | on the rows themselves |
//! |---|---|---|
//! | nothing, or `auto` | draws from the normal approximation or Hamiltonian steps, by a pilot | draws around the mode or an adapting walk, by pilots |
//! | `surrogate-hmc` | Hamiltonian steps | refused |
//! | `langevin:STEP` | Langevin steps up the gradient of the surrogate and of mini-batches of residuals | refused |
//! | `sgld:SD`, `sgfs:STEP` | refused | steps up the gradient of mini-batches (`gradients`) |
//! | `laplace`, `adaptive`, `random-walk:SD` | only with `--surrogate taylor1`, `taylor2`, `taylor3`: weighed by the surrogate | as they are |

use austerity::design::Steps;
use austerity::model::Mode;
use austerity::proposal::adaptive::TARGET_ACCEPTANCE;
use austerity::proposal::{Laplace, Mixture, RandomWalk, RobustAdaptive};
use austerity_glm::proposal::{LangevinPlan, TransitionKind, TransitionPlan};
use austerity_glm::proposal::{RegressionProposal, StoredProposal};
use austerity_glm::{CertainSteps, ResidualGradient, Surrogate};

use super::plan::Proposing;
use crate::output::Failure;
use crate::refusal::{NoSurrogate, Refusal};
use crate::request::Keyword;
pub(super) use crate::request::ProposalChoice;

/// Seed of pilots on surrogates: which proposal suits a posterior must not depend on the seed of the draws.
const PILOT: u64 = 1;

/// Share of independent draws in their mixture with a walk.
pub(super) const INDEPENDENT: f64 = 0.8;

impl ProposalChoice {
    /// Whether a surrogate may make the candidates.
    pub(super) fn open_to_surrogate(self) -> bool {
        self == Self::Auto || self.needs_surrogate()
    }

    /// Whether nothing but a surrogate can make the candidates.
    pub(super) fn needs_surrogate(self) -> bool {
        matches!(self, Self::SurrogateHmc | Self::Langevin(_))
    }

    /// The width of a walk that was asked for.
    pub(super) fn width(self) -> Option<f64> {
        match self {
            Self::RandomWalk(sd) => Some(sd),
            _ => None,
        }
    }

    /// How it makes its steps.
    pub(super) fn steps(self) -> Steps {
        match self {
            Self::Auto | Self::Adaptive => Steps::Adapting(TARGET_ACCEPTANCE),
            Self::RandomWalk(_) => Steps::Fixed,
            Self::Laplace | Self::SurrogateHmc | Self::Langevin(_) | Self::Sgld(_) | Self::Sgfs(_) => {
                Steps::Other
            }
        }
    }

    /// Whether the length of steps was typed.
    pub(super) fn fixes_steps(self) -> bool {
        matches!(self, Self::RandomWalk(_) | Self::Langevin(_) | Self::Sgld(_) | Self::Sgfs(_))
    }

    /// The proposal without a surrogate, and what a plan says of it.
    pub(super) fn build(self, mode: &Mode) -> Result<(RegressionProposal, Proposing), Failure> {
        let dimension = mode.state.len();
        let shaped = || RandomWalk::for_posterior(dimension, &mode.covariance);
        Ok(match self {
            Self::Auto | Self::Adaptive => {
                let walk = RobustAdaptive::new(&shaped()?, TARGET_ACCEPTANCE)?;
                (walk.into(), Proposing::AdaptingWalk { stretch: 1.0 })
            }
            Self::Laplace => {
                let draws = Laplace::new(&mode.state, &mode.covariance)?;
                let walk = RobustAdaptive::new(&shaped()?, TARGET_ACCEPTANCE)?;
                let parts = vec![(INDEPENDENT, draws.into()), (1.0 - INDEPENDENT, walk.into())];
                (Mixture::new(parts)?.into(), Proposing::AroundMode)
            }
            Self::SurrogateHmc | Self::Langevin(_) => {
                return Err(Refusal::NeedsSurrogate {
                    keyword: Keyword::Proposal,
                    value: self.to_string(),
                    why: NoSurrogate::Unasked,
                    instead: "laplace",
                }
                .into());
            }
            Self::Sgld(_) | Self::Sgfs(_) => {
                return Err(Refusal::Value {
                    keyword: Keyword::Proposal,
                    value: self.to_string(),
                    why: "it follows mini-batches of the rows of a regression; a model of one's own takes langevin:1 or surrogate-hmc".into(),
                }
                .into());
            }
            Self::RandomWalk(sd) => {
                (RandomWalk::isotropic(dimension, sd)?.into(), Proposing::FixedWalk { sd })
            }
        })
    }
}

/// Candidates on a surrogate.
pub(super) struct Candidates {
    /// What a checkpoint keeps.
    pub(super) stored: StoredProposal,
    pub(super) proposing: Proposing,
    /// Effective draws per draw, roughly.
    pub(super) worth: f64,
}

/// Where candidates are looked for.
pub(super) struct Around<'a> {
    /// The centre of the surrogate and the covariance there.
    pub(super) centre: &'a [f64],
    pub(super) covariance: &'a [f64],
    /// The posterior's own mode, for proposals that know nothing of surrogates.
    pub(super) mode: &'a Mode,
    pub(super) seed: u64,
    /// A pilot that would take longer is refused.
    pub(super) seconds: Option<f64>,
}

impl Candidates {
    /// The proposal that the user set, built on `surrogate`.
    pub(super) fn find<E: CertainSteps + ResidualGradient>(
        typed: ProposalChoice,
        surrogate: &Surrogate<E>,
        around: &Around<'_>,
    ) -> Result<Self, Failure> {
        let Around { centre, covariance, mode, seed, seconds } = *around;
        let at = (centre, covariance);
        let transition = |kind| -> Result<Self, Failure> {
            let expansion = surrogate.expansion();
            let plan = match seconds {
                None => TransitionPlan::pilot(expansion, at, kind, PILOT)?,
                Some(seconds) => TransitionPlan::pilot_within(expansion, at, kind, (PILOT, seconds))?
                    .ok_or_else(|| {
                        Failure::Usage(
                            "the budget leaves no time for the pilot of Hamiltonian steps on it".into(),
                        )
                    })?,
            };
            let worth = match plan.kind {
                TransitionKind::Independent => 0.9,
                TransitionKind::Hamiltonian => 0.2,
            };
            Ok(Self { proposing: (&plan).into(), stored: StoredProposal::Transition(plan), worth })
        };
        match typed {
            ProposalChoice::Auto => transition(None),
            ProposalChoice::SurrogateHmc => transition(Some(TransitionKind::Hamiltonian)),
            ProposalChoice::Langevin(step) => {
                let plan = LangevinPlan::pilot(surrogate, centre, covariance, step, seed)?;
                Ok(Self {
                    proposing: (&plan).into(),
                    worth: plan.worth(),
                    stored: StoredProposal::Langevin(plan),
                })
            }
            plain => {
                let (stored, proposing) = plain.build(mode)?;
                Ok(Self { stored: stored.into(), proposing, worth: 0.33 / mode.state.len() as f64 })
            }
        }
    }
}
