//! Proposal and rule of a new run, by pilots of both kinds of proposal.
//!
//! A step of a tuned random walk in d dimensions is worth 0.33/d independent draws (Roberts & Rosenthal 2001), an independent draw
//! accepted with probability a about a/(2 − a). A walk's decision costs what the rule found for it costs, an independent
//! draw's N evaluations. The better per evaluation is taken, unless a proposal or a test was asked for: tests gain where
//! steps are short, so they get the walk.

use austerity::design::pilot::{Pilot, PilotSettings, STEPS, pilot};
use austerity::design::{Pairs, Steps};
use austerity::model::Mode;
use austerity::proposal::Laplace;
use austerity_glm::proposal::{RegressionProposal, StoredProposal};

use super::Host;
use super::decide::{Decided, Wanted};
use super::healing::Care;
use super::proposal::{INDEPENDENT, ProposalChoice};
use super::start::typical;
use crate::model::{Family, Sampled};
use crate::output::Failure;

/// A proposal, a rule, and why.
pub(super) struct Chosen {
    pub(super) proposal: StoredProposal,
    pub(super) proposal_words: String,
    pub(super) decided: Decided,
    /// Complete moments of the proposal's moves, where there was a pilot that read rows.
    pub(super) pairs: Option<Pairs>,
    /// Effective draws per draw, roughly.
    pub(super) worth: f64,
}

impl Chosen {
    /// Effective draws per N likelihood evaluations.
    fn worth_per_pass(&self) -> f64 {
        self.worth / self.decided.prediction.map_or(1.0, |prediction| 2.0 * prediction.data_share)
    }
}

/// What a choice rests on.
pub(super) struct Chooser<'a> {
    pub(super) family: Family,
    pub(super) wanted: &'a Wanted,
    pub(super) mode: &'a Mode,
    pub(super) host: &'a mut dyn Host,
    pub(super) seed: u64,
}

impl Chooser<'_> {
    /// Proposal and rule for what was typed as `--proposal`.
    pub(super) fn choose<M: Sampled>(&mut self, model: &M, typed: ProposalChoice) -> Result<Chosen, Failure> {
        match typed {
            ProposalChoice::Auto if self.wanted.wants_test() => self.walk(model, ProposalChoice::Adaptive),
            ProposalChoice::Auto => self.better(model),
            ProposalChoice::Laplace => {
                let (mut chosen, _) = self.independent(model)?;
                if let (true, Some(pairs)) = (self.may_test(), &chosen.pairs) {
                    chosen.decided = self.wanted.decide(pairs, Steps::Other)?;
                }
                Ok(chosen)
            }
            walk => self.walk(model, walk),
        }
    }

    /// Whether a test may decide; linear models read no row unless one is asked for.
    fn may_test(&self) -> bool {
        self.wanted.needs_pilot() && (self.family != Family::Linear || self.wanted.wants_test())
    }

    fn exact(&self) -> Decided {
        self.wanted.exact(if self.family == Family::Linear && !self.wanted.wants_test() {
            "exact decisions from sums of squares and products: no row is read"
        } else {
            match self.wanted.care() {
                Care::Planned => "exact decisions, as asked for",
                _ => "exact decisions, since audits contradicted a test",
            }
        })
    }

    /// The better of a walk and independent draws.
    fn better<M: Sampled>(&mut self, model: &M) -> Result<Chosen, Failure> {
        let walk = self.walk(model, ProposalChoice::Adaptive)?;
        let (mut independent, acceptance) = self.independent(model)?;
        if walk.worth_per_pass() >= independent.worth_per_pass() {
            return Ok(walk);
        }
        if self.may_test() {
            independent.decided = self.wanted.exact(&format!(
                "exact decisions: {:.0} % of the independent draws are accepted, so each is worth about {:.0} random-walk steps; a test saves \
                 little on moves that long",
                100.0 * acceptance,
                independent.worth / walk.worth
            ));
        }
        Ok(independent)
    }

    /// A random walk and the rule that its pilot leads to.
    fn walk<M: Sampled>(&mut self, model: &M, walk: ProposalChoice) -> Result<Chosen, Failure> {
        let (proposal, proposal_words) = walk.build(self.mode)?;
        let worth = 0.33 / model.names().len() as f64;
        if !self.may_test() {
            return Ok(Chosen {
                proposal: proposal.into(),
                proposal_words,
                decided: self.exact(),
                pairs: None,
                worth,
            });
        }
        let pairs = self.pilot(model, &proposal, STEPS)?.pairs;
        let decided = self.wanted.decide(&pairs, walk.steps())?;
        Ok(Chosen { proposal: proposal.into(), proposal_words, decided, pairs: Some(pairs), worth })
    }

    /// Independent draws with exact decisions, and the share of them that a pilot accepted.
    fn independent<M: Sampled>(&mut self, model: &M) -> Result<(Chosen, f64), Failure> {
        let (proposal, proposal_words) = ProposalChoice::Laplace.build(self.mode)?;
        let draws = Laplace::new(&self.mode.state, &self.mode.covariance)?;
        let Pilot { pairs, acceptance, .. } = self.pilot(model, &draws.into(), STEPS)?;
        let worth = INDEPENDENT * acceptance / (2.0 - acceptance);
        let pairs = (!pairs.as_slice().is_empty()).then_some(pairs);
        Ok((
            Chosen { proposal: proposal.into(), proposal_words, decided: self.exact(), pairs, worth },
            acceptance,
        ))
    }

    /// Exact steps from a typical draw.
    pub(super) fn pilot<M: Sampled>(
        &mut self,
        model: &M,
        proposal: &RegressionProposal,
        steps: usize,
    ) -> Result<Pilot<Vec<f64>>, Failure> {
        let control = self.host.control();
        let host = &mut *self.host;
        let mut go_on = |step: usize| {
            host.note(&format!("pilot: exact step {} of {steps}", step + 1));
            !control.stopped()
        };
        let settings = PilotSettings { start: &typical(self.mode, self.seed)?, steps, seed: self.seed };
        let seen = pilot(model, &mut proposal.clone(), &settings, &mut go_on)?;
        if control.stopped() {
            return Err(Failure::Interrupted);
        }
        Ok(seen)
    }
}
