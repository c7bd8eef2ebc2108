//! What a new run does: its engine, its proposal and its rule.
//!
//! | model | what is chosen, the first that serves |
//! |---|---|
//! | a regression that can be expanded | paths on all rows (`wide`), residuals of a surrogate (`surrogate`), paths on a sample (`sampled`), the rows themselves |
//! | a linear model, a user's own without derivatives | the rows themselves |
//! | a user's own with derivatives | residuals of a surrogate, the rows themselves |
//!
//! On the rows themselves pilots of both kinds of proposal decide. A step of a tuned random walk in d dimensions is worth 0.33/d independent draws (Roberts &
//! Rosenthal 2001), an independent draw accepted with probability a about a/(2 − a). A walk's decision costs what the rule found for it costs, an independent
//! draw's N evaluations. The better per evaluation is taken, unless a proposal or a test was asked for: tests gain where
//! steps are short, so they get the walk.

use austerity::design::pilot::{Pilot, PilotSettings, STEPS, pilot};
use austerity::design::{Pairs, Steps};
use austerity::proposal::{Laplace, Mixture};
use austerity::rule::RuleSettings;
use austerity::run::{Hazard, Settings};
use austerity_glm::Glm;
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::GlmExpansion;
use austerity_glm::proposal::{RegressionProposal, SpikeSteps, StoredProposal, Transition};

use super::begin::Planner;
use super::budget::{self, BudgetPlan, Candidate};
use super::crossing::CrossingRecord;
use super::decide::Decided;
use super::engine::{GlmEngine, OnResiduals};
use super::gradients::{GradientRecord, OnGradients};
use super::healing::Care;
use super::modes::ModesRecord;
use super::options::settings;
use super::plan::{Proposing, Why, Without};
use super::proposal::{Candidates, INDEPENDENT, ProposalChoice};
use super::sampled::{self, SampleRecord};
use super::spikes::are_spikes;
use super::start::typical;
use super::surrogate::{Absence, Prepared, SurrogateRecord};
use super::wide::WideRecord;
use super::{reach, tails};
use crate::model::{Family as AnyModel, Sampled};
use crate::output::Failure;
use crate::request::{Keyword, RuleChoice, SurrogateChoice};

/// Share of candidates that go into the tails of priors, where there are some.
pub(super) const TAIL_STEPS: f64 = 1.0 / 3.0;

/// What a draw between a spike and its shoulder is worth in independent ones: about a fifth are accepted.
const SPIKE_WORTH: f64 = 0.2;

/// What was chosen for a run.
pub(super) struct Chosen {
    pub(super) candidates: Candidates,
    pub(super) decided: Decided,
    pub(super) settings: Settings,
    /// Complete moments of the proposal's moves, where there was a pilot that read rows.
    pub(super) pairs: Option<Pairs>,
    pub(super) surrogate: Option<SurrogateRecord>,
    pub(super) sample: Option<SampleRecord>,
    /// Paths on all rows, whose length is planned already.
    pub(super) wide: Option<WideRecord>,
    /// Steps up the gradient of mini-batches.
    pub(super) gradients: Option<GradientRecord>,
    /// The modes that chains cross between.
    pub(super) crossing: Option<CrossingRecord>,
    pub(super) budget: Option<BudgetPlan>,
}

impl Chosen {
    /// Decisions about the rows themselves, and no plan for a budget.
    pub(super) fn of(candidates: Candidates, decided: Decided, settings: Settings) -> Self {
        Self {
            candidates,
            decided,
            settings,
            pairs: None,
            surrogate: None,
            sample: None,
            wide: None,
            gradients: None,
            crossing: None,
            budget: None,
        }
    }

    /// Effective draws per N likelihood evaluations.
    fn worth_per_pass(&self) -> f64 {
        self.candidates.worth / self.decided.prediction.map_or(1.0, |prediction| 2.0 * prediction.data_share)
    }
}

/// A choice on the engine of a regression.
type OnGlm<'m, F> = (Chosen, GlmEngine<'m, F>);

impl Planner<'_> {
    /// The engine, proposal and rule of a regression that can be expanded.
    pub(super) fn glm<'m, F: Family>(&mut self, model: &'m Glm<F>) -> Result<OnGlm<'m, F>, Failure> {
        if let Some((chosen, record)) = self.gradients(model.parameters())? {
            return Ok((chosen, GlmEngine::Gradients(OnGradients { model, record })));
        }
        let auto = self.request.shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto;
        if self.start.hurried.is_some() && auto {
            return Ok((self.on_rows(model)?, GlmEngine::Rows(model)));
        }
        if self.has_spikes() {
            return Ok((self.across_spikes(model)?, GlmEngine::Rows(model)));
        }
        if let Some((chosen, modes)) = self.modes(model)? {
            return Ok((chosen, GlmEngine::Modes(Box::new(modes))));
        }
        if let Some(chosen) = self.rows_across(model)? {
            return Ok((chosen, GlmEngine::Rows(model)));
        }
        if let Some(wide) = self.wide(model)? {
            return self.widely(model, wide);
        }
        match self.surrogate(model)? {
            Ok(prepared) => self.on_residuals(model, *prepared),
            Err(why) => self.without_surrogate(model, why),
        }
    }

    /// Decisions about the residuals of a surrogate, unless a budget or a heavy tail speak against it.
    fn on_residuals<'m, F: Family>(
        &mut self,
        rows: &'m Glm<F>,
        prepared: Prepared<GlmExpansion<F>>,
    ) -> Result<OnGlm<'m, F>, Failure> {
        let Prepared { model, candidates, mut decided, record } = prepared;
        let mut settings = settings(self.request)?;
        let mut planned = None;
        if let Some(budget) = self.budget {
            let question = budget::Residuals {
                model: &model,
                proposal: &Transition::restored(&model, candidates.stored.clone())?,
                decided: &decided,
                report: &record.report,
                worth: candidates.worth,
                transition: matches!(candidates.stored, StoredProposal::Transition(_)),
                start: typical(&self.start.mode, self.request.seed_or_default())?,
            };
            let (ways, estimates) = budget::on_residuals(&budget, &question, &settings)?;
            let auto = self.request.shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto;
            let open = auto && !self.proposal().needs_surrogate();
            if open && budget::rows_serve(&budget, &ways, &estimates, self.data.rows) {
                self.without = Some(Without::Dear);
                return Ok((self.on_rows(rows)?, GlmEngine::Rows(rows)));
            }
            let none = budget::too_small(&budget, &ways, &estimates, settings.chains);
            let typed = self.request.shape.warmup.is_some();
            let plan = BudgetPlan::begin(&budget, (ways, estimates), &mut settings, typed).ok_or(none)?;
            let Candidate { rule, audit, .. } = plan.candidate(0).clone();
            (decided.rule, decided.audit) = (rule, audit);
            planned = Some(plan);
        }
        let open = self.budget.is_none() && self.proposal() == ProposalChoice::Auto;
        if open && sampled::is_better(&model, &candidates.stored, &self.start.mode) {
            self.host.note("drawing rows for the proposal");
            if let Some((sample, plan, sampled)) =
                sampled::prepare(rows, &self.start.mode, None, self.threads())
            {
                let chosen = Chosen {
                    surrogate: Some(record),
                    sample: Some(sampled),
                    ..Chosen::of(sampled::candidates(plan, sample.rows()), decided, settings)
                };
                let (sample, surrogate) = (Box::new(sample), Some(Box::new(model)));
                return Ok((chosen, GlmEngine::Sampled { rows, sample, surrogate }));
            }
        }
        let chosen =
            Chosen { surrogate: Some(record), budget: planned, ..Chosen::of(candidates, decided, settings) };
        Ok((chosen, GlmEngine::Residuals(Box::new(OnResiduals(model)))))
    }

    /// Without a surrogate: paths on all rows or on a sample where those serve, otherwise decisions about the rows themselves.
    fn without_surrogate<'m, F: Family>(
        &mut self,
        model: &'m Glm<F>,
        why: Without,
    ) -> Result<OnGlm<'m, F>, Failure> {
        let skewed = matches!(why, Without::Skewed { .. });
        self.without = Some(why);
        if let Some(wide) = self.wide_without_surrogate(model)? {
            return self.widely(model, wide);
        }
        let skewed = match skewed {
            true => !self.wanted.certified() || self.wanted.care() == Care::Certified,
            false => self.wanted.care() == Care::Exact && reach::is_skewed(model, &self.start.mode),
        };
        let open = self.budget.is_none() && self.proposal() == ProposalChoice::Auto;
        if skewed && open {
            return self.by_sample(model);
        }
        Ok((self.on_rows(model)?, GlmEngine::Rows(model)))
    }

    /// Decisions about the rows themselves.
    pub(super) fn on_rows<M: Sampled>(&mut self, model: &M) -> Result<Chosen, Failure> {
        if self.has_spikes() && are_spikes(&self.start.modes, &self.start.spikes) {
            // Steps between spike and shoulder cross; chains still start in both.
            self.unbridged = true;
            self.model.hazards.retain(|hazard| !matches!(hazard, Hazard::SeveralModes { .. }));
            if let Some(ModesRecord::Searched { found, beside, .. }) = &mut self.model.modes {
                (*found, *beside) = (1, 0.0);
            }
        }
        if let Some(chosen) = self.rows_across(model)? {
            return Ok(chosen);
        }
        if self.wanted.care() == Care::Certified {
            // There is nothing to certify: exact decisions are the next safer setting.
            self.wanted = self.wanted.clone().with_care(Care::Exact);
        }
        self.refuse_without_surrogate()?;
        let chosen = match self.budget {
            None => self.choose(model)?,
            Some(budget) => budget::on_rows(model, self, &budget)?,
        };
        self.with_tail_steps(chosen, &model.names())
    }

    /// Whether narrow priors make spikes with shoulders, and what would not reach these is left open.
    fn has_spikes(&self) -> bool {
        let (typed, certified) = (self.wanted.care() == Care::Planned, self.wanted.certified());
        let open = self.wanted.is_open() || !typed || !(self.wanted.needs_pilot() || certified);
        let auto = self.request.shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto
            && self.proposal() == ProposalChoice::Auto;
        !self.start.spikes.is_empty() && open && auto && self.budget.is_none()
    }

    /// Exact decisions about the rows, with draws between spikes and shoulders.
    fn across_spikes<M: Sampled>(&mut self, model: &M) -> Result<Chosen, Failure> {
        if !self.wanted.certified() {
            self.wanted = self.wanted.clone().with_care(Care::Exact);
        }
        self.on_rows(model)
    }

    /// The choice, with steps into the tails that the posterior has from its priors, and between spikes and shoulders, where nobody chose the proposal and decisions are exact.
    pub(super) fn with_tail_steps(&self, mut chosen: Chosen, names: &[String]) -> Result<Chosen, Failure> {
        let exact = matches!(chosen.decided.rule, RuleSettings::Exact { .. });
        if self.proposal() != ProposalChoice::Auto || !exact || self.budget.is_some() {
            return Ok(chosen);
        }
        if let Some(steps) = tails::steps(names, &self.start.mode, &self.model.tails)? {
            chosen.candidates =
                mixed(chosen.candidates, (steps.into(), Proposing::with_tails), f64::INFINITY)?;
        }
        let spikes = &self.start.spikes;
        if !spikes.is_empty() {
            let steps = SpikeSteps::new(spikes.clone())?;
            let most = TAIL_STEPS * SPIKE_WORTH / spikes.len() as f64;
            chosen.candidates = mixed(chosen.candidates, (steps.into(), Proposing::with_spikes), most)?;
        }
        Ok(chosen)
    }

    /// Refuses what only a surrogate can do.
    fn refuse_without_surrogate(&self) -> Result<(), Failure> {
        let absence = Absence {
            choice: self.request.shape.surrogate.unwrap_or_default(),
            family: self.model.family,
            rows: self.data.rows,
            paper: self.wanted.is_paper(),
            hurried: self.start.hurried.is_some(),
            found: self.without.as_ref(),
        };
        if self.wanted.certified() {
            return Err(absence.refuse(Keyword::Rule, RuleChoice::Certified.to_string(), "exact"));
        }
        if self.proposal().needs_surrogate() {
            return Err(absence.refuse(Keyword::Proposal, self.proposal().to_string(), "laplace"));
        }
        Ok(())
    }

    /// Chooses the rule by pilot runs of the proposal that the user set with `--proposal`.
    fn choose<M: Sampled>(&mut self, model: &M) -> Result<Chosen, Failure> {
        match self.proposal() {
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
        self.wanted.needs_pilot() && (!self.sums_rows_up() || self.wanted.wants_test())
    }

    /// Whether decisions follow from sums of squares.
    fn sums_rows_up(&self) -> bool {
        self.model.family == AnyModel::Linear && self.groups.is_none()
    }

    fn exact(&self) -> Decided {
        let sums = self.sums_rows_up() && !self.wanted.wants_test();
        self.wanted.exact(match self.wanted.care() {
            _ if sums => Why::SumsOfSquares,
            Care::Planned => Why::Asked,
            _ if !self.start.spikes.is_empty() => Why::FarFromNormal,
            _ => Why::Contradicted,
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
            let steps = independent.candidates.worth / walk.candidates.worth;
            independent.decided = self.wanted.exact(Why::IndependentDraws { acceptance, steps });
        }
        Ok(independent)
    }

    /// A random walk and the rule that its pilot leads to.
    fn walk<M: Sampled>(&mut self, model: &M, walk: ProposalChoice) -> Result<Chosen, Failure> {
        let (proposal, proposing) = walk.build(&self.start.mode)?;
        let worth = 0.33 / model.names().len() as f64;
        let candidates = Candidates { stored: proposal.clone().into(), proposing, worth };
        let settings = settings(self.request)?;
        if !self.may_test() {
            return Ok(Chosen::of(candidates, self.exact(), settings));
        }
        let pairs = self.pilot(model, &proposal, STEPS)?.pairs;
        let decided = self.wanted.decide(&pairs, walk.steps())?;
        Ok(Chosen { pairs: Some(pairs), ..Chosen::of(candidates, decided, settings) })
    }

    /// An adapting random walk with exact decisions, where no expansion and no independent draws describe the posterior.
    pub(super) fn walk_exactly(&self, parameters: usize) -> Result<Chosen, Failure> {
        let (proposal, proposing) = ProposalChoice::Adaptive.build(&self.start.mode)?;
        let candidates = Candidates { stored: proposal.into(), proposing, worth: 0.33 / parameters as f64 };
        Ok(Chosen::of(candidates, self.wanted.exact(Why::FarFromNormal), settings(self.request)?))
    }

    /// Independent draws with exact decisions, and the share of them that a pilot accepted.
    fn independent<M: Sampled>(&mut self, model: &M) -> Result<(Chosen, f64), Failure> {
        let (proposal, proposing) = ProposalChoice::Laplace.build(&self.start.mode)?;
        let draws = Laplace::new(&self.start.mode.state, &self.start.mode.covariance)?;
        let Pilot { pairs, acceptance, .. } = self.pilot(model, &draws.into(), STEPS)?;
        let worth = INDEPENDENT * acceptance / (2.0 - acceptance);
        let pairs = (!pairs.as_slice().is_empty()).then_some(pairs);
        let candidates = Candidates { stored: proposal.into(), proposing, worth };
        let chosen = Chosen { pairs, ..Chosen::of(candidates, self.exact(), settings(self.request)?) };
        Ok((chosen, acceptance))
    }

    /// Exact steps from a typical draw.
    pub(super) fn pilot<M: Sampled>(
        &mut self,
        model: &M,
        proposal: &RegressionProposal,
        steps: usize,
    ) -> Result<Pilot<Vec<f64>>, Failure> {
        let control = self.host.control();
        let seed = self.request.seed_or_default();
        let start = typical(&self.start.mode, seed)?;
        let host = &mut *self.host;
        let mut go_on = |step: usize| {
            host.note(&format!("pilot: exact step {} of {steps}", step + 1));
            !control.stopped()
        };
        let settings = PilotSettings { start: &start, steps, seed };
        let seen = pilot(model, &mut proposal.clone(), &settings, &mut go_on)?;
        if control.stopped() {
            return Err(Failure::Interrupted);
        }
        Ok(seen)
    }
}

/// Candidates with others in every third place, whose draws are worth no more than `most`.
fn mixed(
    candidates: Candidates,
    (steps, named): (RegressionProposal, fn(Proposing) -> Proposing),
    most: f64,
) -> Result<Candidates, Failure> {
    let Candidates { stored, proposing, worth } = candidates;
    let parts = vec![(1.0 - TAIL_STEPS, stored.plain()?), (TAIL_STEPS, steps)];
    Ok(Candidates {
        stored: RegressionProposal::from(Mixture::new(parts)?).into(),
        proposing: named(proposing),
        worth: ((1.0 - TAIL_STEPS) * worth).min(most),
    })
}
