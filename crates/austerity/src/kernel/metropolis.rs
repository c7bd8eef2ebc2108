//! Metropolis–Hastings with a replaceable decision.
//!
//! Proposes θ', puts log prior ratio and log proposal ratio into the offset, builds the population of
//! log-likelihood differences and lets the rule decide. Exact or approximate as the rule is. Cost: the rule's
//! likelihood evaluations, and O(d) to O(d²) for the proposal; no allocation after the first step.

use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::model::Model;
use crate::population::{BlockOrder, BlockReveal, Population, Reveal};
use crate::proposal::Proposal;
use crate::rng::Streams;
use crate::rule::{Decision, Rule, Stopped};

/// Blocks of the next decision that are fetched ahead: the kernel fetches further ones itself while it works.
const FETCH_AHEAD: usize = 2;

/// The pair of states of a decision that is to be audited, and what was known of it beforehand.
#[derive(Clone, Debug, PartialEq)]
pub struct AuditedPair<S> {
    /// State of the chain before the decision.
    pub from: S,
    /// The candidate.
    pub to: S,
    /// Log prior ratio and log proposal ratio.
    pub offset: f64,
}

/// Propose, compare, decide.
pub struct Metropolis<'m, M: Model, P, R> {
    model: &'m M,
    proposal: P,
    rule: R,
    scratch: M::Scratch,
    order: BlockOrder,
    candidate: M::State,
    log_prior: f64,
    audit_rate: f64,
    /// Whether the last decision read rows.
    read: bool,
    audited: Option<AuditedPair<M::State>>,
}

impl<'m, M, P, R> Metropolis<'m, M, P, R>
where
    M: Model,
    P: Proposal<M::State>,
    R: for<'r> Rule<dyn Reveal + 'r>,
{
    /// A kernel whose chain is at `state`, revealing blocks in `order`.
    ///
    /// Refuses a state with prior density 0 or NaN; the likelihood is the caller's to check
    /// ([`check_starts`]), since that costs a pass.
    pub fn new(model: &'m M, proposal: P, rule: R, order: BlockOrder, state: &M::State) -> Result<Self> {
        let log_prior = starting_prior(model, state)?;
        let scratch = model.scratch(rule.access());
        Ok(Self {
            model,
            proposal,
            rule,
            scratch,
            order,
            candidate: state.clone(),
            log_prior,
            audit_rate: 0.0,
            read: false,
            audited: None,
        })
    }

    /// Puts that share of the following decisions aside for an audit; 0 none.
    pub fn audit(&mut self, rate: f64) {
        self.audit_rate = rate;
    }

    /// The pair of the last decision, if it is to be audited.
    pub fn take_audited(&mut self) -> Option<AuditedPair<M::State>> {
        self.audited.take()
    }

    /// Lets another rule decide from now on.
    pub fn replace_rule(&mut self, rule: R) {
        self.scratch = self.model.scratch(rule.access());
        self.rule = rule;
    }

    /// Lets the proposal take steps of its own.
    fn refresh(&mut self, state: &mut M::State, streams: &mut Streams) -> Result<()> {
        if self.proposal.refresh(state, &mut streams.proposal)? {
            self.log_prior = self.model.log_prior(state);
        }
        Ok(())
    }

    /// The proposal, as adapted so far.
    pub fn proposal(&self) -> &P {
        &self.proposal
    }
}

impl<M, P, R> Kernel for Metropolis<'_, M, P, R>
where
    M: Model,
    P: Proposal<M::State> + Clone,
    R: for<'r> Rule<dyn Reveal + 'r>,
{
    type State = M::State;
    type Learnt = P;

    fn learnt(&self) -> P {
        self.proposal.clone()
    }

    fn step(&mut self, state: &mut M::State, streams: &mut Streams) -> Result<Decision> {
        let proposed = self.proposal.propose(state, &mut self.candidate, &mut streams.proposal)?;
        if !proposed.moved {
            let decision = Decision::unmoved();
            self.refresh(state, streams)?;
            return Ok(decision);
        }
        let log_prior = match proposed.log_prior {
            Some(known) => known,
            None => self.model.log_prior(&self.candidate),
        };
        if log_prior.is_nan() || log_prior == f64::INFINITY {
            return Err(self.model.prior_error());
        }
        let offset = (log_prior - self.log_prior) + proposed.log_ratio;
        if offset.is_nan() || offset == f64::INFINITY {
            return Err(Error::ProposalRatio { value: proposed.log_ratio });
        }
        if offset == f64::NEG_INFINITY {
            self.refresh(state, streams)?;
            return Ok(Decision::ruled_out());
        }
        let step = streams.step();
        let decision = {
            let mut ratio = self.model.compare(state, &self.candidate, &mut self.scratch);
            let mut cursor = BlockReveal::new(&mut ratio, &mut self.order, step);
            let decision = self.rule.decide(&mut cursor as &mut dyn Reveal, offset, &mut streams.decision)?;
            let first = self.rule.first_look();
            // Where rows were read twice running, the next decision will read some, too.
            let read = std::mem::replace(&mut self.read, decision.used > 0);
            if first < self.model.len() && read && self.read {
                self.order.begin(step + 1);
                let block_rows = self.order.block_rows();
                let blocks = FETCH_AHEAD.min(first.div_ceil(block_rows));
                ratio.prefetch(self.order.first(blocks), block_rows);
            }
            decision
        };
        let tested = matches!(
            decision.stopped,
            Stopped::Exhausted | Stopped::Bound | Stopped::Tolerance | Stopped::Certified
        );
        if tested && streams.audited(self.audit_rate) {
            self.audited = Some(AuditedPair { from: state.clone(), to: self.candidate.clone(), offset });
        }
        if decision.accepted {
            // The user's code first: if it panics, the chain has not moved.
            self.model.accepted(&mut self.scratch);
            std::mem::swap(state, &mut self.candidate);
            self.log_prior = log_prior;
        }
        self.refresh(state, streams)?;
        Ok(decision)
    }

    fn learn(&mut self, decision: &Decision, step: u64) {
        self.proposal.learn(decision.accepted, step);
    }
}

/// The log prior of a start, which must be finite.
fn starting_prior<M: Model>(model: &M, state: &M::State) -> Result<f64> {
    let log_prior = model.log_prior(state);
    if log_prior.is_finite() {
        return Ok(log_prior);
    }
    Err(Error::ImpossibleStart {
        density: if log_prior.is_nan() { "not a number" } else { "zero or infinite" }.into(),
        why: format!("the log prior is {log_prior}"),
    })
}

/// Refuses starts at which the prior or the likelihood of some row is zero or not a number. Costs one pass for all of them.
pub fn check_starts<M: Model>(model: &M, starts: &[M::State]) -> Result<()> {
    starts.iter().try_for_each(|state| model.check_state(state))?;
    starts.iter().try_for_each(|state| starting_prior(model, state).map(|_| ()))?;
    match model.totals(&starts.iter().map(|state| (state, state)).collect::<Vec<_>>()) {
        Ok(totals) if totals.iter().all(|moments| moments.sum().is_finite()) => Ok(()),
        Ok(_) => Err(Error::ImpossibleStart {
            density: "zero".into(),
            why: "the log-likelihood is infinite".into(),
        }),
        Err(Error::NotANumber { row }) => Err(Error::ImpossibleStart {
            density: "zero or not a number".into(),
            why: format!("see the log-likelihood of row {row}"),
        }),
        Err(Error::InfiniteRatio { row }) => Err(Error::ImpossibleStart {
            density: "zero".into(),
            why: format!("row {row} has no probability"),
        }),
        Err(other) => Err(other),
    }
}
