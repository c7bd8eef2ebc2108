//! Metropolis–Hastings under a rule of the run's settings, its decisions audited: the kernel of every fit.
//!
//! Audited decisions wait until there are enough of them ([`crate::run::auditor`]); those of the set-up are completed as soon as they are enough to
//! tell whether more are needed. In warm-up a contradiction makes the test stricter ([`RuleSettings::tightened`]) and counting begins anew; afterwards
//! nothing changes any more, and the verdict on the run speaks of it.
//!
//! Cost beyond [`Metropolis`]: one comparison per step, and what the audits take.

use crate::error::Result;
use crate::kernel::{Kernel, Metropolis};
use crate::model::Model;
use crate::population::BlockOrder;
use crate::proposal::Proposal;
use crate::rng::Streams;
use crate::rule::audit::{IN_DOUBT, SET_UP};
use crate::rule::{AnyRule, Audit, Decision, RuleSettings};
use crate::run::auditor::{Auditor, PAIRS_PER_PASS};
use crate::run::{ChainCheckpoint, Contradiction, Ledger, Settings, Tally, Tightened};

/// Steps within which all audits of a set-up in doubt are to be expected, at half of them.
const SET_UP_STEPS: u64 = 1024;

/// Propose, compare, decide, audit.
pub struct Audited<'m, M: Model, P> {
    kernel: Metropolis<'m, M, P, AnyRule>,
    rows: usize,
    rule: RuleSettings,
    audit: f64,
    auditor: Auditor<'m, M>,
    /// Audits that the set-up asks for, as far as is known.
    wanted: u64,
    tightened: Vec<Tightened>,
}

impl<'m, M: Model, P: Proposal<M::State> + Clone> Audited<'m, M, P> {
    /// The kernel of chain `number` under `settings`, as `checkpoint` left it; `rule` is that of the settings, built once for all chains.
    pub fn new(
        model: &'m M,
        settings: &Settings,
        rule: AnyRule,
        (number, checkpoint): (u32, ChainCheckpoint<M::State, P>),
    ) -> Result<(Self, ChainCheckpoint<M::State, ()>)> {
        let (proposal, rest) = checkpoint.split();
        let followed = settings.rule.tightened(rest.tightened.len());
        let rule = if rest.tightened.is_empty() { rule } else { followed.build(model.len())? };
        let order = BlockOrder::new(model.len(), settings.rule.block_rows(), settings.seed, number)?;
        let mut kernel = Self {
            kernel: Metropolis::new(model, proposal, rule, order, &rest.state)?,
            rows: model.len(),
            rule: settings.rule.clone(),
            audit: settings.audit,
            auditor: Auditor::new(model, followed)?,
            wanted: SET_UP,
            tightened: rest.tightened.clone(),
        };
        kernel.look_at_audits(&Ledger::resumed(settings, &rest));
        Ok((kernel, rest))
    }

    /// Share of the decisions to be audited now: more than asked for until the audits of the set-up are made. While these can tell whether
    /// more are wanted none waits, so the share depends on the audited steps alone.
    fn audited_share(&self, ledger: &Ledger) -> f64 {
        if self.audit == 0.0 {
            return 0.0;
        }
        let steps = if ledger.warming() { ledger.warmup_steps().min(SET_UP_STEPS) } else { SET_UP_STEPS };
        let made = ledger.next_phase().audits.audited + self.auditor.waiting() as u64;
        let soon = if made < self.wanted { 2.0 * IN_DOUBT as f64 / steps as f64 } else { 0.0 };
        soon.max(self.audit).min(1.0)
    }

    /// Decides how many audits the set-up of the next step's phase asks for.
    fn look_at_audits(&mut self, ledger: &Ledger) {
        self.wanted = if ledger.next_phase().audits.is_doubtful() { IN_DOUBT } else { SET_UP };
    }

    /// In warm-up, after every audit of the set-up, every eighth and at the end: audits that contradict the prediction make the test stricter.
    /// When that is depends on the audited steps alone.
    fn tighten(&mut self, ledger: &mut Ledger) -> Result<()> {
        let made = ledger.warmup().audits.audited + self.auditor.waiting() as u64;
        let last = ledger.steps() == ledger.warmup_steps();
        if !last && !in_set_up(made) && !made.is_multiple_of(IN_DOUBT) {
            return Ok(());
        }
        self.settle(ledger)?;
        let audits = &ledger.warmup().audits;
        if !audits.contradiction().is_some_and(Contradiction::yields_to_data) {
            return Ok(());
        }
        let next = self.rule.tightened(self.tightened.len() + 1);
        if next == self.rule.tightened(self.tightened.len()) {
            return Ok(());
        }
        self.tightened.push(Tightened { step: ledger.steps(), why: audits.sentence().unwrap_or_default() });
        ledger.last_phase().audits = Tally::default();
        self.kernel.replace_rule(next.build(self.rows)?);
        self.auditor.follow(next);
        self.look_at_audits(ledger);
        Ok(())
    }
}

impl<M: Model, P: Proposal<M::State> + Clone> Kernel for Audited<'_, M, P> {
    type State = M::State;
    type Learnt = P;

    fn step(&mut self, state: &mut M::State, streams: &mut Streams) -> Result<Decision> {
        self.kernel.step(state, streams)
    }

    fn learn(&mut self, decision: &Decision, step: u64) {
        self.kernel.learn(decision, step);
    }

    fn learnt(&self) -> P {
        self.kernel.learnt()
    }

    fn prepare(&mut self, ledger: &Ledger) {
        let share = self.audited_share(ledger);
        self.kernel.audit(share);
    }

    fn review(&mut self, decision: &Decision, ledger: &mut Ledger) -> Result<()> {
        let pair = self.kernel.take_audited();
        let audited = pair.is_some();
        if let Some(pair) = pair {
            let draw = ledger.drew().then(|| ledger.draws() - 1);
            let cost = self.auditor.put_aside(pair, decision, draw);
            let counters = ledger.last_phase();
            counters.audit_evaluations += cost;
            let made = counters.audits.audited + self.auditor.waiting() as u64;
            if in_set_up(made) || self.auditor.waiting() >= PAIRS_PER_PASS {
                self.settle(ledger)?;
            }
        }
        if ledger.warmed() && (audited || ledger.steps() == ledger.warmup_steps()) {
            self.tighten(ledger)?;
        }
        Ok(())
    }

    fn settle(&mut self, ledger: &mut Ledger) -> Result<()> {
        self.auditor.settle(&mut ledger.last_phase().audits)?;
        self.look_at_audits(ledger);
        Ok(())
    }

    fn completed_audits(&mut self) -> Vec<(u64, Audit)> {
        self.auditor.done()
    }

    fn tightened(&self) -> &[Tightened] {
        &self.tightened
    }
}

/// Whether so many audits can tell whether the set-up needs more.
fn in_set_up(made: u64) -> bool {
    (SET_UP..=IN_DOUBT).contains(&made)
}
