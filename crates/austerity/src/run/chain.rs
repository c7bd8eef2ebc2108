//! One chain: a kernel, a state, a step counter.
//!
//! `step` makes one step; during warm-up the kernel learns, afterwards every `thin` steps make a draw. The streams are repositioned at every
//! step, so the step counter, the state and the proposal are all there is to know about where a chain stands.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::kernel::{Kernel, Metropolis};
use crate::model::Model;
use crate::population::BlockOrder;
use crate::proposal::Proposal;
use crate::rng::Streams;
use crate::rule::{AnyRule, Decision, Stopped, certified};
use crate::run::{ChainCheckpoint, Settings};

/// What steps have cost and how they ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counters {
    /// Steps made.
    pub steps: u64,
    /// Candidates accepted.
    pub accepted: u64,
    /// Rows the decisions rested on.
    pub rows: u64,
    /// Rows read, those read again included.
    pub read: u64,
    /// Likelihood evaluations.
    pub evaluations: u64,
    /// Looks taken.
    pub looks: u64,
    /// Decisions that the guard held up at least once.
    pub guarded: u64,
    /// Decisions that read everything.
    pub exhausted: u64,
    /// Decisions that a certificate ended: of the second order, of the third, and after some rows; see [`crate::rule::Certified`].
    #[serde(default)]
    pub certified: [u64; 3],
    /// Decisions that a bound ended.
    pub bounded: u64,
    /// Decisions that the absolute tolerance ended.
    pub tolerated: u64,
    /// Candidates with no likelihood or no prior density.
    pub impossible: u64,
    /// Decisions audited.
    pub audited: u64,
    /// Audited decisions that all rows would have decided otherwise.
    pub disagreed: u64,
    /// Audited decisions that had not read everything.
    pub deviating: u64,
    /// Sum of the squares of their deviations; see [`crate::rule::Audit`].
    pub deviations: f64,
    /// Likelihood evaluations of audits, not counted elsewhere.
    pub audit_evaluations: u64,
}

impl Counters {
    /// Adds one decision.
    pub fn count(&mut self, decision: &Decision) {
        self.steps += 1;
        self.accepted += u64::from(decision.accepted);
        self.rows += decision.used;
        self.read += decision.read;
        self.evaluations += decision.evaluations;
        self.looks += u64::from(decision.looks);
        self.guarded += u64::from(decision.guarded > 0);
        if let Some(audit) = &decision.audit {
            self.audited += 1;
            self.disagreed += u64::from(audit.accepted != decision.accepted);
            let sampled = !matches!(decision.stopped, Stopped::Exhausted | Stopped::Certified);
            self.deviating += u64::from(sampled);
            self.deviations += audit.deviation * audit.deviation;
        }
        match decision.stopped {
            Stopped::Exhausted => self.exhausted += 1,
            Stopped::Certified => self.certified[certified::stage(decision)] += 1,
            Stopped::Bound => self.bounded += 1,
            Stopped::Tolerance => self.tolerated += 1,
            Stopped::Impossible | Stopped::Offset => self.impossible += 1,
            Stopped::Untested | Stopped::Unmoved => {}
        }
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.steps += other.steps;
        self.accepted += other.accepted;
        self.rows += other.rows;
        self.read += other.read;
        self.evaluations += other.evaluations;
        self.looks += other.looks;
        self.guarded += other.guarded;
        self.exhausted += other.exhausted;
        self.certified.iter_mut().zip(other.certified).for_each(|(mine, theirs)| *mine += theirs);
        self.bounded += other.bounded;
        self.tolerated += other.tolerated;
        self.impossible += other.impossible;
        self.audited += other.audited;
        self.disagreed += other.disagreed;
        self.deviating += other.deviating;
        self.deviations += other.deviations;
        self.audit_evaluations += other.audit_evaluations;
    }

    /// Share of candidates accepted; NaN before the first step.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.accepted as f64 / self.steps as f64
    }

    /// Mean share of `population` rows that a decision rested on; NaN before the first step.
    #[must_use]
    pub fn data_share(&self, population: usize) -> f64 {
        self.rows as f64 / self.steps as f64 / population as f64
    }
}

/// One chain.
pub struct Chain<'m, M: Model, P> {
    number: u32,
    kernel: Metropolis<'m, M, P, AnyRule>,
    state: M::State,
    streams: Streams,
    step: u64,
    warmup_steps: u64,
    thin: u64,
    audit: f64,
    audit_cost: u64,
    /// Counts of the warm-up.
    warmup: Counters,
    /// Counts of the steps that were recorded or thinned away.
    sampling: Counters,
}

impl<'m, M: Model, P: Proposal<M::State>> Chain<'m, M, P> {
    /// Chain `number` of the run `settings`, as `checkpoint` left it; `rule` is that of the settings, built once for all chains.
    pub fn new(
        model: &'m M,
        settings: &Settings,
        rule: AnyRule,
        number: u32,
        checkpoint: ChainCheckpoint<M::State, P>,
    ) -> Result<Self> {
        let ChainCheckpoint { state, proposal, step, warmup, sampling } = checkpoint;
        let order = BlockOrder::new(model.len(), settings.rule.block_rows(), settings.seed, number)?;
        Ok(Self {
            number,
            kernel: Metropolis::new(model, proposal, rule, order, &state)?,
            state,
            streams: Streams::new(settings.seed, number),
            step,
            warmup_steps: settings.warmup,
            thin: settings.thin,
            audit: settings.audit,
            audit_cost: 2 * model.len() as u64,
            warmup,
            sampling,
        })
    }

    /// Makes one step. In warm-up the proposal learns from it.
    pub fn step(&mut self) -> Result<Decision> {
        self.streams.begin(self.step);
        self.kernel.audit(if self.warming() { 0.0 } else { self.audit });
        let decision = self.kernel.step(&mut self.state, &mut self.streams)?;
        self.step += 1;
        if self.step <= self.warmup_steps {
            self.warmup.count(&decision);
            self.kernel.learn(&decision, self.step);
        } else {
            self.sampling.count(&decision);
            let passed = decision.audit.is_some() && decision.stopped != Stopped::Exhausted;
            self.sampling.audit_evaluations += u64::from(passed) * self.audit_cost;
        }
        Ok(decision)
    }

    /// Whether the next step is still warm-up.
    pub fn warming(&self) -> bool {
        self.step < self.warmup_steps
    }

    /// Whether the last step completed a draw.
    pub fn drew(&self) -> bool {
        self.step > self.warmup_steps && (self.step - self.warmup_steps).is_multiple_of(self.thin)
    }

    /// Draws completed since the chain began.
    pub fn draws(&self) -> u64 {
        self.step.saturating_sub(self.warmup_steps) / self.thin
    }

    /// Steps made since the chain began.
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Number of the chain.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Where the chain is.
    pub fn state(&self) -> &M::State {
        &self.state
    }

    /// Counts of the warm-up.
    pub fn warmup(&self) -> &Counters {
        &self.warmup
    }

    /// Counts after the warm-up.
    pub fn sampling(&self) -> &Counters {
        &self.sampling
    }

    /// Likelihood evaluations since the chain began.
    pub fn evaluations(&self) -> u64 {
        self.warmup.evaluations + self.sampling.evaluations + self.sampling.audit_evaluations
    }

    /// All that is needed to go on.
    pub fn checkpoint(&self) -> ChainCheckpoint<M::State, P>
    where
        P: Clone,
    {
        ChainCheckpoint {
            state: self.state.clone(),
            proposal: self.kernel.proposal().clone(),
            step: self.step,
            warmup: self.warmup,
            sampling: self.sampling,
        }
    }
}
