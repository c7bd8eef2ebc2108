//! What chains run on: the rows themselves, a surrogate of them, a sample of rows that leads the way, paths on all rows, or gradients of mini-batches.
//!
//! An engine is a model with a way to build its proposals from what a checkpoint keeps. Planning makes the engine of a new run; a run that goes on
//! makes the same again from its [`Plan`]. [`Work`] is done on the chains of whichever it is: a plan is completed, chains are sampled.
//!
//! [`Chains`] say what a session records of a kernel, and how it goes on from a checkpoint:
//!
//! | chains | kernel |
//! |---|---|
//! | [`OfModel`] | Metropolis–Hastings with audits: every fit, `select` and `ica` |
//! | `part::field` | one variable of a field from its conditional: `gibbs` |
//!
//! Models and proposals have some forty combinations of types, and a session is a lot of code. So what a session holds of them has one type each:
//! [`AnyTarget`], [`AnyKernel`], [`AnySampler`]. Threads, storage, healing and budgets are compiled once; only a step is compiled for
//! each combination. A step is called through a table, which costs a nanosecond.

use austerity::kernel::Kernel;
use austerity::kernel::metropolis::check_starts;
use austerity::proposal::RandomWalk;
use austerity::rng::Streams;
use austerity::rule::{Audit, Decision, RuleSettings};
use austerity::run::{
    Audited, ChainCheckpoint, Checkpoint, Ledger, Memory, Sampler, Settings, Target, Tightened,
};
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

/// Work on the chains of any model with any proposals.
pub(super) trait Work {
    type Output;

    /// Does it.
    fn on<'m>(self, chains: &dyn ModelChains<'m>) -> Result<Self::Output, Failure>;
}

/// A model with its proposals.
pub(super) trait Engine {
    /// Hands its chains over.
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure>;
}

/// Decisions about the rows themselves, for any model.
pub(super) struct OnRows<'m, M>(pub(super) &'m M);

impl<M: Sampled> Engine for OnRows<'_, M> {
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        work.on(&OfModel::new(self.0, StoredProposal::plain))
    }
}

/// Decisions about the residuals of a surrogate.
pub(super) struct OnResiduals<E>(pub(super) Surrogate<E>);

impl<E: CertainSteps + ResidualGradient> Engine for OnResiduals<E>
where
    Surrogate<E>: Sampled,
{
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        work.on(&OfModel::new(&self.0, |stored| Transition::restored(&self.0, stored)))
    }
}

/// Decisions about the residuals of one expansion per mode.
pub(super) struct OnModes<E>(pub(super) Surrogate<SeveralExpansions<E>>);

impl<E: CertainSteps + ResidualGradient> Engine for OnModes<E> {
    fn give<W: Work>(&self, work: W) -> Result<W::Output, Failure> {
        work.on(&OfModel::new(&self.0, |stored| ModeJumps::restored(self.0.expansion(), &stored)))
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
                    Some(surrogate) => work.on(&OfModel::new(&**surrogate, restored)),
                    None => work.on(&OfModel::new(*rows, restored)),
                }
            }
            Self::Whole { rows, shape, gradients } => {
                let whole = Whole::new(*rows, u64::from(*gradients));
                work.on(&OfModel::new(&whole, |stored| WholePaths::restored(*rows, shape, &stored)))
            }
        }
    }
}

/// What is recorded of any chains.
pub(super) type AnyTarget<'m> = dyn Target<State = Vec<f64>> + 'm;

/// Any chains on threads.
pub(super) type AnySampler<'m> = Sampler<'m, AnyTarget<'m>, AnyKernel<'m>>;

/// Chains that a session can run.
pub(super) trait Chains<'m> {
    /// What is recorded.
    fn target(&self) -> &'m AnyTarget<'m>;

    /// Chains that go on from `checkpoint`.
    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
    ) -> austerity::Result<AnySampler<'m>>;

    /// Chains that make no step yet, one from each of `starts` or all from the only one.
    fn beginning(
        &self,
        settings: &Settings,
        starts: &[Vec<f64>],
        stored: &StoredProposal,
    ) -> Checkpoint<Vec<f64>, StoredProposal> {
        let target = self.target();
        let chains = starts.iter().cycle().take(settings.chains as usize);
        Checkpoint {
            version: env!("CARGO_PKG_VERSION").into(),
            settings: settings.clone(),
            rows: target.rows(),
            fingerprint: target.fingerprint(),
            names: target.names(),
            chains: chains.map(|start| ChainCheckpoint::start(start.clone(), stored.clone())).collect(),
        }
    }
}

/// Chains of a model: more is known of them before they begin.
pub(super) trait ModelChains<'m>: Chains<'m> {
    /// The log prior density of a state.
    fn log_prior(&self, state: &[f64]) -> f64;

    /// Refuses states that are impossible. Costs one pass for all of them.
    fn check_starts(&self, starts: &[Vec<f64>]) -> austerity::Result<()>;

    /// The memory that chains will take.
    fn memory(&self, settings: &Settings) -> austerity::Result<Memory>;
}

/// Chains of a model by Metropolis–Hastings with the proposal that `restored` makes of what a checkpoint keeps.
pub(super) struct OfModel<'m, M, R> {
    model: &'m M,
    restored: R,
}

impl<'m, M, R> OfModel<'m, M, R> {
    pub(super) fn new<P>(model: &'m M, restored: R) -> Self
    where
        R: Fn(StoredProposal) -> austerity::Result<P>,
    {
        Self { model, restored }
    }
}

impl<'m, M, P, R> Chains<'m> for OfModel<'m, M, R>
where
    M: Sampled,
    P: Stored + 'm,
    R: Fn(StoredProposal) -> austerity::Result<P>,
{
    fn target(&self) -> &'m AnyTarget<'m> {
        self.model
    }

    fn resume(
        &self,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
    ) -> austerity::Result<AnySampler<'m>> {
        let rule = settings.rule.build(self.model.len())?;
        AnyKernel::resume(self.target(), settings, checkpoint, &mut |number, at, stored| {
            let checkpoint = at.clone().with((self.restored)(stored)?);
            let (kernel, _) = Audited::new(self.model, settings, rule.clone(), (number, checkpoint))?;
            Ok(AnyKernel::new(kernel))
        })
    }
}

impl<'m, M, P, R> ModelChains<'m> for OfModel<'m, M, R>
where
    M: Sampled,
    P: Stored + 'm,
    R: Fn(StoredProposal) -> austerity::Result<P>,
{
    fn log_prior(&self, state: &[f64]) -> f64 {
        self.model.log_prior(&state.to_vec())
    }

    fn check_starts(&self, starts: &[Vec<f64>]) -> austerity::Result<()> {
        check_starts(self.model, starts)
    }

    fn memory(&self, settings: &Settings) -> austerity::Result<Memory> {
        let rule = settings.rule.build(self.model.len())?;
        Ok(Memory::estimate(self.model, settings, &rule, self.target().names().len()))
    }
}

/// Makes the kernel of a chain again, given its number, where it stands and what it had learnt.
type Again<'a, 'm> =
    dyn FnMut(u32, &ChainCheckpoint<Vec<f64>, ()>, StoredProposal) -> austerity::Result<AnyKernel<'m>> + 'a;

/// Any kernel whose states are numbers; what it learns is what a checkpoint file keeps.
pub(super) struct AnyKernel<'m>(Box<dyn Kernel<State = Vec<f64>, Learnt = StoredProposal> + Send + 'm>);

impl<'m> AnyKernel<'m> {
    pub(super) fn new(kernel: impl Kernel<State = Vec<f64>, Learnt: Kept> + Send + 'm) -> Self {
        Self(Box::new(AsStored(kernel)))
    }

    /// Chains that go on from `checkpoint`, each with the kernel that `again` makes.
    pub(super) fn resume(
        target: &'m AnyTarget<'m>,
        settings: &Settings,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
        again: &mut Again<'_, 'm>,
    ) -> austerity::Result<AnySampler<'m>> {
        Sampler::resume_kernels(target, settings, checkpoint, again)
    }
}

/// A kernel that reports what it has learnt in the form that a checkpoint file keeps.
struct AsStored<K>(K);

/// The methods of a kernel that pass on what the one inside does.
macro_rules! passed_on {
    () => {
        fn step(&mut self, state: &mut Vec<f64>, streams: &mut Streams) -> austerity::Result<Decision> {
            self.0.step(state, streams)
        }

        fn learn(&mut self, decision: &Decision, step: u64) {
            self.0.learn(decision, step);
        }

        fn prepare(&mut self, ledger: &Ledger) {
            self.0.prepare(ledger);
        }

        fn review(&mut self, decision: &Decision, ledger: &mut Ledger) -> austerity::Result<()> {
            self.0.review(decision, ledger)
        }

        fn settle(&mut self, ledger: &mut Ledger) -> austerity::Result<()> {
            self.0.settle(ledger)
        }

        fn completed_audits(&mut self) -> Vec<(u64, Audit)> {
            self.0.completed_audits()
        }

        fn tightened(&self) -> &[Tightened] {
            self.0.tightened()
        }
    };
}

impl<K: Kernel<State = Vec<f64>, Learnt: Kept>> Kernel for AsStored<K> {
    type State = Vec<f64>;
    type Learnt = StoredProposal;

    fn learnt(&self) -> StoredProposal {
        self.0.learnt().kept()
    }

    passed_on!();
}

impl Kernel for AnyKernel<'_> {
    type State = Vec<f64>;
    type Learnt = StoredProposal;

    fn learnt(&self) -> StoredProposal {
        self.0.learnt()
    }

    passed_on!();
}
