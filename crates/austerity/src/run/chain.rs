//! One chain: a kernel, a state, a step counter.
//!
//! `step` makes one step; during warm-up the kernel learns, afterwards every `thin` steps make a draw. The streams are repositioned at every
//! step, so the step counter, the state and the proposal are all there is to know about where a chain stands.
//!
//! Audited decisions wait until there are enough of them ([`crate::run::auditor`]); those of the set-up are completed as soon as they are enough to
//! tell whether more are needed. In warm-up a contradiction makes the test stricter ([`RuleSettings::tightened`]) and counting begins anew; afterwards
//! nothing changes any more, and the verdict on the run speaks of it.

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::kernel::{Kernel, Metropolis};
use crate::model::Model;
use crate::population::BlockOrder;
use crate::proposal::Proposal;
use crate::rng::Streams;
use crate::rule::audit::{IN_DOUBT, SET_UP};
use crate::rule::{AnyRule, Audit, Decision, RuleSettings, Stopped, certified};
use crate::run::auditor::{Auditor, TOGETHER};
use crate::run::{ChainCheckpoint, Contradiction, Settings, Tally, Tightened};

/// Steps within which all audits of a set-up in doubt are to be expected, at half of them.
const SET_UP_STEPS: u64 = 1024;

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
    /// What audits have found.
    #[serde(default)]
    pub audits: Tally,
    /// Likelihood evaluations of audits, those that still wait included, not counted elsewhere.
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
        self.audits.add(&other.audits);
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
    rows: usize,
    kernel: Metropolis<'m, M, P, AnyRule>,
    state: M::State,
    streams: Streams,
    step: u64,
    warmup_steps: u64,
    thin: u64,
    rule: RuleSettings,
    audit: f64,
    auditor: Auditor<'m, M>,
    /// Audits that the set-up asks for, as far as is known.
    wanted: u64,
    tightened: Vec<Tightened>,
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
        let ChainCheckpoint { state, proposal, step, warmup, sampling, tightened } = checkpoint;
        let followed = settings.rule.tightened(tightened.len());
        let rule = if tightened.is_empty() { rule } else { followed.build(model.len())? };
        let order = BlockOrder::new(model.len(), settings.rule.block_rows(), settings.seed, number)?;
        let mut chain = Self {
            number,
            rows: model.len(),
            kernel: Metropolis::new(model, proposal, rule, order, &state)?,
            state,
            streams: Streams::new(settings.seed, number),
            step,
            warmup_steps: settings.warmup,
            thin: settings.thin,
            rule: settings.rule.clone(),
            audit: settings.audit,
            auditor: Auditor::new(model, followed)?,
            wanted: SET_UP,
            tightened,
            warmup,
            sampling,
        };
        chain.look_at_audits();
        Ok(chain)
    }

    /// Makes one step. In warm-up the proposal learns from it.
    pub fn step(&mut self) -> Result<Decision> {
        self.streams.begin(self.step);
        let share = self.audited_share();
        self.kernel.audit(share);
        let decision = self.kernel.step(&mut self.state, &mut self.streams)?;
        self.step += 1;
        let warming = self.step <= self.warmup_steps;
        if warming {
            self.warmup.count(&decision);
            self.kernel.learn(&decision, self.step);
        } else {
            self.sampling.count(&decision);
        }
        let pair = self.kernel.take_audited();
        let audited = pair.is_some();
        if let Some(pair) = pair {
            let draw = self.drew().then(|| self.draws() - 1);
            let cost = self.auditor.put_aside(pair, &decision, draw);
            let counters = if warming { &mut self.warmup } else { &mut self.sampling };
            counters.audit_evaluations += cost;
            let made = counters.audits.audited + self.auditor.waiting() as u64;
            if in_set_up(made) || self.auditor.waiting() >= TOGETHER {
                self.settle()?;
            }
        }
        if warming && (audited || self.step == self.warmup_steps) {
            self.review()?;
        }
        Ok(decision)
    }

    /// Share of the decisions to be audited now: more than asked for until the audits of the set-up are made. While these can tell whether
    /// more are wanted none waits, so the share depends on the audited steps alone.
    fn audited_share(&self) -> f64 {
        if self.audit == 0.0 {
            return 0.0;
        }
        let (counters, steps) = match self.warming() {
            true => (&self.warmup, self.warmup_steps.min(SET_UP_STEPS)),
            false => (&self.sampling, SET_UP_STEPS),
        };
        let made = counters.audits.audited + self.auditor.waiting() as u64;
        let soon = if made < self.wanted { 2.0 * IN_DOUBT as f64 / steps as f64 } else { 0.0 };
        soon.max(self.audit).min(1.0)
    }

    /// Completes the audits that wait: before a checkpoint, and when the chain stops.
    pub fn settle(&mut self) -> Result<()> {
        let warming = self.step <= self.warmup_steps;
        let counters = if warming { &mut self.warmup } else { &mut self.sampling };
        self.auditor.settle(&mut counters.audits)?;
        self.look_at_audits();
        Ok(())
    }

    /// Decides how many audits the set-up of the next step's phase asks for.
    fn look_at_audits(&mut self) {
        let counters = if self.warming() { &self.warmup } else { &self.sampling };
        self.wanted = if counters.audits.is_doubtful() { IN_DOUBT } else { SET_UP };
    }

    /// In warm-up, after every audit of the set-up, every eighth and at the end: audits that contradict the prediction make the test stricter.
    /// When that is depends on the audited steps alone.
    fn review(&mut self) -> Result<()> {
        let made = self.warmup.audits.audited + self.auditor.waiting() as u64;
        if self.step < self.warmup_steps && !in_set_up(made) && !made.is_multiple_of(IN_DOUBT) {
            return Ok(());
        }
        self.settle()?;
        let audits = &self.warmup.audits;
        if !audits.contradiction().is_some_and(Contradiction::yields_to_data) {
            return Ok(());
        }
        let next = self.rule.tightened(self.tightened.len() + 1);
        if next == self.rule.tightened(self.tightened.len()) {
            return Ok(());
        }
        self.tightened.push(Tightened { step: self.step, why: audits.sentence().unwrap_or_default() });
        self.warmup.audits = Tally::default();
        self.kernel.replace_rule(next.build(self.rows)?);
        self.auditor.follow(next);
        self.look_at_audits();
        Ok(())
    }

    /// Audits of recorded draws (numbered from 0) that were completed since the last time.
    pub fn completed_audits(&mut self) -> impl Iterator<Item = (u64, Audit)> + '_ {
        self.auditor.done()
    }

    /// How often, and when, the test was made stricter in warm-up.
    pub fn tightened(&self) -> &[Tightened] {
        &self.tightened
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
        let of = |counters: &Counters| counters.evaluations + counters.audit_evaluations;
        of(&self.warmup) + of(&self.sampling)
    }

    /// All that is needed to go on, once the audits that wait are settled.
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
            tightened: self.tightened.clone(),
        }
    }
}

/// Whether so many audits can tell whether the set-up needs more.
fn in_set_up(made: u64) -> bool {
    (SET_UP..=IN_DOUBT).contains(&made)
}
