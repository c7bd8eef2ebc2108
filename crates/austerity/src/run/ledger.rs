//! Where a chain stands: its steps, and what those of the warm-up and those after it have cost.
//!
//! A step counter says all there is to know about time: the first `warmup` steps are warm-up, of the others every `thin`-th makes a draw. Kernels
//! that audit their decisions read and complete the counts here ([`Kernel::review`](crate::kernel::Kernel::review)).

use serde::{Deserialize, Serialize};

use crate::rule::{Decision, Stopped, certified};
use crate::run::{ChainCheckpoint, Settings, Tally};

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

/// Steps of a chain and what they have cost.
#[derive(Clone, Copy, Debug)]
pub struct Ledger {
    step: u64,
    warmup_steps: u64,
    thin: u64,
    warmup: Counters,
    sampling: Counters,
}

impl Ledger {
    /// The ledger of a chain under `settings`, as `checkpoint` left it.
    pub(super) fn resumed<S, L>(settings: &Settings, checkpoint: &ChainCheckpoint<S, L>) -> Self {
        let ChainCheckpoint { step, warmup, sampling, .. } = checkpoint;
        Self {
            step: *step,
            warmup_steps: settings.warmup,
            thin: settings.thin,
            warmup: *warmup,
            sampling: *sampling,
        }
    }

    /// The ledger of a chain without warm-up whose every step is a draw.
    pub(super) fn plain() -> Self {
        Self { step: 0, warmup_steps: 0, thin: 1, warmup: Counters::default(), sampling: Counters::default() }
    }

    /// Counts a step.
    pub(super) fn count(&mut self, decision: &Decision) {
        self.step += 1;
        self.last_phase().count(decision);
    }

    /// Steps made since the chain began.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// Steps of the warm-up.
    #[must_use]
    pub fn warmup_steps(&self) -> u64 {
        self.warmup_steps
    }

    /// Whether the next step is still warm-up.
    #[must_use]
    pub fn warming(&self) -> bool {
        self.step < self.warmup_steps
    }

    /// Whether the last step was warm-up.
    #[must_use]
    pub fn warmed(&self) -> bool {
        self.step <= self.warmup_steps
    }

    /// Whether the last step completed a draw.
    #[must_use]
    pub fn drew(&self) -> bool {
        self.step > self.warmup_steps && (self.step - self.warmup_steps).is_multiple_of(self.thin)
    }

    /// Draws completed since the chain began.
    #[must_use]
    pub fn draws(&self) -> u64 {
        self.step.saturating_sub(self.warmup_steps) / self.thin
    }

    /// Counts of the warm-up.
    #[must_use]
    pub fn warmup(&self) -> &Counters {
        &self.warmup
    }

    /// Counts after the warm-up.
    #[must_use]
    pub fn sampling(&self) -> &Counters {
        &self.sampling
    }

    /// Counts of the phase that the next step belongs to.
    #[must_use]
    pub fn next_phase(&self) -> &Counters {
        if self.warming() { &self.warmup } else { &self.sampling }
    }

    /// Counts of the phase that the last step belonged to.
    pub fn last_phase(&mut self) -> &mut Counters {
        if self.warmed() { &mut self.warmup } else { &mut self.sampling }
    }

    /// Likelihood evaluations since the chain began.
    #[must_use]
    pub fn evaluations(&self) -> u64 {
        let of = |counters: &Counters| counters.evaluations + counters.audit_evaluations;
        of(&self.warmup) + of(&self.sampling)
    }
}
