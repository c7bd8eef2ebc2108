//! What chains run on: the rows themselves, a surrogate of them, a sample of rows that leads the way, paths on all rows, or gradients of mini-batches.
//!
//! An engine is a model with a way to build its proposals from what a checkpoint keeps. Planning makes the engine of a new run; a run that goes on
//! makes the same again from its [`Plan`]. [`Work`] is done on whichever it is: a plan is completed, chains are sampled.
//!
//! [`Chains`] say what a session records of a kernel, and how it goes on from a checkpoint:
//!
//! | chains | kernel |
//! |---|---|
//! | [`OfModel`] | Metropolis–Hastings with audits: every fit, `select` and `ica` |
//! | `part::field` | one variable of a field from its conditional: `gibbs` |

use std::marker::PhantomData;

use austerity::kernel::Kernel;
use austerity::proposal::RandomWalk;
use austerity::rule::RuleSettings;
use austerity::run::{Audited, Checkpoint, Sampler, Settings, Target};
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::{GlmExpansion, RowSample};
use austerity_glm::proposal::{ModeJumps, SampledPaths, StoredProposal, Transition, WholePaths};
use austerity_glm::{CertainSteps, Glm, ResidualGradient, SeveralExpansions, Surrogate, Whole};

use super::Host;
use super::gradients::OnGradients;
use super::plan::Plan;
use super::save_draws::{Kept, Stored};
use super::{crossing, surrogate, wide};
use crate::model::Sampled;
use crate::output::Failure;

/// Work on any model with its proposals.
pub(super) trait Work {
    type Output;

    /// Does it on `model`; `restored` builds a proposal from what a checkpoint keeps of it.
    fn on<M: Sampled, P: Stored>(
        self,
        model: &M,
        restored: impl FnMut(StoredProposal) -> austerity::Result<P>,
    ) -> Result<Self::Output, Failure>;
}

/// A model with its proposals.
pub(super) trait Engine {
    /// Hands them over.
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure>;
}

/// Decisions about the rows themselves, for any model.
pub(super) struct OnRows<'m, M>(pub(super) &'m M);

impl<M: Sampled> Engine for OnRows<'_, M> {
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        work.on(self.0, StoredProposal::plain)
    }
}

/// Decisions about the residuals of a surrogate.
pub(super) struct OnResiduals<E>(pub(super) Surrogate<E>);

impl<E: CertainSteps + ResidualGradient> Engine for OnResiduals<E>
where
    Surrogate<E>: Sampled,
{
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        work.on(&self.0, |stored| Transition::restored(&self.0, stored))
    }
}

/// Decisions about the residuals of one expansion per mode.
pub(super) struct OnModes<E>(pub(super) Surrogate<SeveralExpansions<E>>);

impl<E: CertainSteps + ResidualGradient> Engine for OnModes<E> {
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        work.on(&self.0, |stored| ModeJumps::restored(self.0.expansion(), &stored))
    }
}

/// The engines of a regression that can be expanded.
pub(super) enum GlmEngine<'m, F: Family> {
    /// Decisions about the rows themselves.
    Rows(&'m Glm<F>),
    /// Decisions about residuals.
    Residuals(Box<OnResiduals<GlmExpansion<F>>>),
    /// Decisions about residuals of one expansion per mode.
    Modes(Box<OnModes<GlmExpansion<F>>>),
    /// Paths on a sample of the rows, decided about residuals where there is a surrogate.
    Sampled {
        rows: &'m Glm<F>,
        sample: Box<RowSample<F>>,
        surrogate: Option<Box<Surrogate<GlmExpansion<F>>>>,
    },
    /// Steps up the gradient of mini-batches.
    Gradients(OnGradients<'m, Glm<F>>),
    /// Paths on all rows, of so many gradients each.
    Whole { rows: &'m Glm<F>, shape: RandomWalk, gradients: u32 },
}

impl<'m, F: Family> GlmEngine<'m, F> {
    /// The engine of a plan, made again.
    pub(super) fn restored(
        model: &'m Glm<F>,
        plan: &Plan,
        threads: usize,
        host: &mut dyn Host,
    ) -> Result<Self, Failure> {
        if let Some(record) = plan.gradients.clone() {
            return Ok(Self::Gradients(OnGradients { model, record }));
        }
        if let Some(record) = &plan.wide {
            host.note("computing the covariance at the mode as at the beginning");
            let shape = wide::restored(model, record)?;
            return Ok(Self::Whole { rows: model, shape, gradients: record.gradients });
        }
        if let Some(record) = &plan.sample {
            host.note("drawing rows for the proposal as at the beginning");
            let sample = Box::new(record.restore(model, threads)?);
            let surrogate = match &plan.surrogate {
                Some(record) => Some(Box::new(surrogate::restored(model, record, false, threads)?)),
                None => None,
            };
            return Ok(Self::Sampled { rows: model, sample, surrogate });
        }
        let Some(record) = &plan.surrogate else { return Ok(Self::Rows(model)) };
        host.note("expanding the likelihood as at the beginning");
        let bounds = matches!(plan.settings.rule, RuleSettings::Certified { .. });
        if let Some(record) = plan.crossing.as_ref().filter(|record| record.is_expanded()) {
            return Ok(Self::Modes(Box::new(crossing::restored(model, record, bounds, threads)?)));
        }
        let surrogate = surrogate::restored(model, record, bounds, threads)?;
        Ok(Self::Residuals(Box::new(OnResiduals(surrogate))))
    }
}

impl<F: Family> Engine for GlmEngine<'_, F> {
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        match self {
            Self::Rows(rows) => OnRows(*rows).give(work),
            Self::Gradients(gradients) => gradients.give(work),
            Self::Residuals(residuals) => residuals.give(work),
            Self::Modes(modes) => modes.give(work),
            Self::Sampled { rows, sample, surrogate } => {
                let restored = |stored: StoredProposal| SampledPaths::restored(sample, &stored);
                match surrogate {
                    Some(surrogate) => work.on(&**surrogate, restored),
                    None => work.on(*rows, restored),
                }
            }
            Self::Whole { rows, shape, gradients } => {
                let whole = Whole::new(*rows, u64::from(*gradients));
                work.on(&whole, |stored| WholePaths::restored(*rows, shape, &stored))
            }
        }
    }
}

/// What the kernel of some chains learns.
pub(super) type Learnt<'m, C> = <<C as Chains<'m>>::Kernel as Kernel>::Learnt;

/// Chains that a session can run.
pub(super) trait Chains<'m> {
    type Target: Target<State = Vec<f64>> + 'm;
    type Kernel: Kernel<State = Vec<f64>, Learnt: Kept> + Send;

    /// What is recorded.
    fn target(&self) -> &'m Self::Target;

    /// Chains that go on from `checkpoint`.
    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, Learnt<'m, Self>>,
    ) -> austerity::Result<Sampler<'m, Self::Target, Self::Kernel>>
    where
        Self: Sized;
}

/// Chains of a model by Metropolis–Hastings with the proposal `P`.
pub(super) struct OfModel<'m, M, P> {
    model: &'m M,
    proposal: PhantomData<P>,
}

impl<'m, M, P> OfModel<'m, M, P> {
    pub(super) fn new(model: &'m M) -> Self {
        Self { model, proposal: PhantomData }
    }
}

impl<'m, M: Sampled, P: Stored> Chains<'m> for OfModel<'m, M, P> {
    type Target = M;
    type Kernel = Audited<'m, M, P>;

    fn target(&self) -> &'m M {
        self.model
    }

    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, P>,
    ) -> austerity::Result<Sampler<'m, M, Audited<'m, M, P>>> {
        Sampler::resume(self.model, settings, checkpoint)
    }
}
