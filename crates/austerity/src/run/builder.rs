//! A run in one expression: `model.sampler().draws(2_000).run()?`.
//!
//! Every setting has a default: an adaptive random walk, exact decisions, four chains from 0, 1,000 steps of warm-up and 1,000 draws each. What is
//! not listed here is a field of [`Settings`] ([`Builder::settings`]).

use crate::error::Result;
use crate::model::{Model, Parameters};
use crate::proposal::adaptive::TARGET_ACCEPTANCE;
use crate::proposal::{AnyProposal, Proposal, RandomWalk, RobustAdaptive};
use crate::rule::RuleSettings;
use crate::run::{Control, Run, Sampler, Settings, Silent};

/// A run of a model, to be.
///
/// ```
/// use austerity::model::from_fn;
/// use austerity::rule::SequentialSettings;
/// use austerity::run::Sampled as _;
///
/// let waits: Vec<f64> = (0..5000).map(|i| -((i as f64 + 0.5) / 5000.0).ln() / 3.0).collect();
/// let model = from_fn(5000, 1, |_: &[f64]| 0.0, |at: &[f64], row: usize| at[0] - at[0].exp() * waits[row])?;
/// let run = model.sampler().rule(SequentialSettings::paper(500, 0.01)).chains(4).draws(2_000).run()?;
/// assert!((run.summary()[0].mean - 3f64.ln()).abs() < 0.02);
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Debug)]
#[must_use = "nothing is drawn before `run`"]
pub struct Builder<'m, M: Model, P> {
    model: &'m M,
    proposal: Result<P>,
    starts: Vec<M::State>,
    settings: Settings,
}

/// Models that a run can be made of in one expression.
pub trait Sampled: Parameters<State = Vec<f64>> + Sized {
    /// A run of the model, with defaults for everything.
    fn sampler(&self) -> Builder<'_, Self, AnyProposal> {
        let dimension = self.names().len();
        // Short enough to be accepted now and then wherever rows are many: warm-up lengthens what is too short.
        let width = (self.len().max(1) as f64).sqrt().recip();
        let walk = RandomWalk::isotropic(dimension, width);
        let adaptive = walk.and_then(|walk| RobustAdaptive::new(&walk, TARGET_ACCEPTANCE));
        Builder {
            model: self,
            proposal: adaptive.map(Into::into),
            starts: vec![vec![0.0; dimension]],
            settings: Settings::default(),
        }
    }
}

impl<M: Parameters<State = Vec<f64>>> Sampled for M {}

impl<'m, M: Parameters, P: Proposal<M::State> + Clone + Send> Builder<'m, M, P> {
    /// Another proposal.
    pub fn proposal<Q: Proposal<M::State>>(self, proposal: Q) -> Builder<'m, M, Q> {
        let Self { model, starts, settings, .. } = self;
        Builder { model, proposal: Ok(proposal), starts, settings }
    }

    /// Who decides.
    pub fn rule(mut self, rule: impl Into<RuleSettings>) -> Self {
        self.settings.rule = rule.into();
        self
    }

    /// Starts all chains at `state`.
    pub fn start(mut self, state: M::State) -> Self {
        self.starts = vec![state];
        self
    }

    /// Starts each chain at a state of its own.
    pub fn starts(mut self, states: Vec<M::State>) -> Self {
        self.starts = states;
        self
    }

    /// Number of chains.
    pub fn chains(mut self, chains: u32) -> Self {
        self.settings.chains = chains;
        self
    }

    /// Draws per chain.
    pub fn draws(mut self, draws: u64) -> Self {
        self.settings.draws = draws;
        self
    }

    /// Warm-up steps per chain.
    pub fn warmup(mut self, steps: u64) -> Self {
        self.settings.warmup = steps;
        self
    }

    /// The seed of everything random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.settings.seed = seed;
        self
    }

    /// Share of the decisions that are audited on all rows.
    pub fn audit(mut self, share: f64) -> Self {
        self.settings.audit = share;
        self
    }

    /// All settings at once.
    pub fn settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The sampler, to be run with a control, an observer or a sink of one's own.
    pub fn build(self) -> Result<super::MetropolisSampler<'m, M, P>> {
        Sampler::new(self.model, &self.settings, &self.proposal?, &self.starts)
    }

    /// Runs to the end.
    pub fn run(self) -> Result<Run<M::State, P>> {
        Ok(self.build()?.run(&Control::new(), &mut Silent))
    }
}
