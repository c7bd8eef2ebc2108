//! Audited decisions put aside and completed together.
//!
//! A step chosen for an audit leaves its pair of states here; when enough are waiting, at every checkpoint and at the end they are
//! completed in one pass over memory ([`Model::totals`]), in the order of their steps. What comes out does not depend on when that is
//! or on how many are completed together, to the bit, so a checkpoint never holds a pending pair and a resumed run counts as an uninterrupted one.
//!
//! Cost: two clones of the state per audit; a pass (two for a surrogate) per completion.

use std::time::Instant;

use crate::error::Result;
use crate::kernel::AuditedPair;
use crate::model::Model;
use crate::population::Moments;
use crate::rule::{Audit, Decision, RuleSettings, Stopped};
use crate::run::tally::{CompletePair, Tally};
use crate::theory::Predictor;

/// Pairs completed together at most.
pub const PAIRS_PER_PASS: usize = 32;
/// Pairs that a measurement of the cost completes.
const MEASURED: usize = 4;

/// A decision that waits for its completion.
#[derive(Clone, Debug)]
struct Waiting<S> {
    pair: AuditedPair<S>,
    decision: Decision,
    /// The draw that the decision led to, if it was recorded.
    draw: Option<u64>,
}

/// Completes audited decisions of one chain.
pub(super) struct Auditor<'m, M: Model> {
    model: &'m M,
    /// Whether the model stands for another that must be asked too.
    stands_for: bool,
    /// Made at the first audit: it costs milliseconds.
    predictor: Option<Predictor>,
    rule: RuleSettings,
    waiting: Vec<Waiting<M::State>>,
    /// What was completed of recorded draws.
    done: Vec<(u64, Audit)>,
}

impl<'m, M: Model> Auditor<'m, M> {
    pub(super) fn new(model: &'m M, rule: RuleSettings) -> Result<Self> {
        let stands_for = model.exact_differences(&[])?.is_some();
        Ok(Self { model, stands_for, predictor: None, rule, waiting: Vec::new(), done: Vec::new() })
    }

    /// Predicts for another rule from now on; nothing is waiting.
    pub(super) fn follow(&mut self, rule: RuleSettings) {
        debug_assert!(self.waiting.is_empty());
        (self.rule, self.predictor) = (rule, None);
    }

    /// Decisions that wait.
    pub(super) fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Puts a decision aside and tells how many likelihood evaluations its completion will cost.
    pub(super) fn put_aside(
        &mut self,
        pair: AuditedPair<M::State>,
        decision: &Decision,
        draw: Option<u64>,
    ) -> u64 {
        let pass = 2 * self.model.len() as u64;
        let passes = u64::from(decision.stopped != Stopped::Exhausted) + u64::from(self.stands_for);
        self.waiting.push(Waiting { pair, decision: *decision, draw });
        passes * pass
    }

    /// Completes all decisions that wait.
    pub(super) fn settle(&mut self, tally: &mut Tally) -> Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        let predictor = match &mut self.predictor {
            Some(predictor) => predictor,
            none => none.insert(Predictor::new(&self.rule, self.model.len())?),
        };
        let moves = |some: &dyn Fn(&Waiting<M::State>) -> bool| -> Vec<usize> {
            (0..self.waiting.len()).filter(|&i| some(&self.waiting[i])).collect()
        };
        let unread = moves(&|w| w.decision.stopped != Stopped::Exhausted);
        let pairs = |list: &[usize]| -> Vec<(&M::State, &M::State)> {
            list.iter().map(|&i| (&self.waiting[i].pair.from, &self.waiting[i].pair.to)).collect()
        };
        let mut totals: Vec<Option<Moments>> = vec![None; self.waiting.len()];
        for (&i, total) in unread.iter().zip(self.model.totals(&pairs(&unread))?) {
            totals[i] = Some(total);
        }
        let every = moves(&|_| true);
        let exact = if self.stands_for { self.model.exact_differences(&pairs(&every))? } else { None };
        for (i, (waiting, total)) in self.waiting.iter().zip(&totals).enumerate() {
            let Waiting { pair, decision, draw } = waiting;
            let mean = total.map_or(decision.mean, |total| total.mean);
            let sum = match total {
                Some(total) if total.impossible() => f64::NEG_INFINITY,
                _ => mean * self.model.len() as f64,
            };
            let defect = exact.as_ref().and_then(|exact| exact.get(i)).map_or((0.0, 0.0), |&exact| {
                let found = self.model.log_prior(&pair.to) - self.model.log_prior(&pair.from) + sum;
                // Both −∞: they agree.
                (if found == exact { 0.0 } else { found - exact }, exact)
            });
            let audit = match total {
                Some(total) => Audit::of(decision, total, defect.0),
                None if defect.0 == 0.0 => Audit::complete(decision),
                None => Audit {
                    accepted: mean - defect.0 / self.model.len() as f64 > decision.threshold,
                    ..Audit::complete(decision)
                },
            };
            let theory = predictor.pair(audit.mean, audit.sd, pair.offset);
            let ratio = audit.mean * self.model.len() as f64 + pair.offset;
            tally.add_audit(decision, &audit, &CompletePair { theory, ratio, defect });
            self.done.extend(draw.map(|draw| (draw, audit)));
        }
        self.waiting.clear();
        Ok(())
    }

    /// What was completed of recorded draws since the last time.
    pub(super) fn done(&mut self) -> Vec<(u64, Audit)> {
        std::mem::take(&mut self.done)
    }
}

/// Seconds that the completion of one audit takes among others, measured on the move `from` → `to`: what
/// [`crate::rule::audit::rate`] weighs a decision against. Costs a pass for each of four pairs.
pub fn seconds_per_audit<M: Model>(model: &M, from: &M::State, to: &M::State) -> Result<f64> {
    let moves = [(from, to); MEASURED];
    let start = Instant::now();
    model.totals(&moves)?;
    model.exact_differences(&moves)?;
    Ok(start.elapsed().as_secs_f64() / MEASURED as f64)
}
