//! Whether a posterior has too many coefficients for tests on residuals, and what is done then: Hamiltonian paths on all rows, decided exactly.
//!
//! A second-order expansion leaves residuals whose total has a spread of about d/√N and whose sampled total an error of about d^{3/2}/√(N·n) after n rows. With 1,000 columns and 300,000 rows a decision reads a quarter
//! of the data, few candidates are accepted, and chains stay where their weight is large. [`Width`] predicts that from 4,096 rows, for more than 64 parameters, before anything is expanded. Where a decision
//! about residuals brings less than an effective draw per pass over the data, a pilot tries paths ([`WholePathPlan`]), and the cheaper per effective draw is taken.
//!
//! | what | chosen |
//! |---|---|
//! | candidates | Hamiltonian paths on all rows, whitened by the covariance at the mode |
//! | rule | exact: the density of all rows is known where a path ends |
//! | length | 600 effective draws per chain by the pilot, 50 warm-up steps, unless set |
//!
//! Paths are also taken for more than 64 parameters where an expansion would be blind: a random walk would need d/0.33 steps a draw. Only where nothing was set about rule, surrogate, proposal or audits,
//! and no tail of a posterior is that of its prior, which needs steps of its own. Cost: see the pilot; a resumed run computes the covariance again, to the same bits.

use austerity::model::{Curvature, Gradient as _, Model as _, covariance_at};
use austerity::proposal::RandomWalk;
use austerity::rule::SequentialSettings;
use austerity::run::Settings;
use austerity_glm::glm::expansion::Width;
use austerity_glm::proposal::{StoredProposal, WholePathPlan};
use austerity_glm::{Glm, WithPriors};
use serde::{Deserialize, Serialize};
use std::time::Instant;

use super::begin::Planner;
use super::choose::Chosen;
use super::engine::GlmEngine;
use super::options::settings;
use super::plan::Why;
use super::progress::duration;
use super::proposal::Candidates;
use super::surrogate::FEWEST_ROWS;
use crate::output::Failure;
use crate::request::{LengthOptions, ProposalChoice, SurrogateChoice};

/// Parameters up to which an expansion serves: it may have a third order there.
const NARROW: usize = 64;
/// Standard error of a log ratio at which tests on residuals stop.
const TOLERANCE: f64 = SequentialSettings::RESIDUAL_TOLERANCE;
/// Effective draws per pass that no path exceeds.
const BEST: f64 = 1.0;
/// What the worst of many coefficients is worth under a test on residuals, over the prediction: 0.5 at 100,000 rows and 300 columns, 1 at 300,000 and 1,000.
const WORST: f64 = 0.5;
/// Warm-up steps: every one forgets most of the last.
const WARMUP: u64 = 50;
/// Effective draws per chain that a run without a length is planned for, and a round number of draws.
const EFFECTIVE: f64 = 600.0;
const ROUND: u64 = 50;
/// Passes of a chain before its first step.
const FIRST: f64 = 4.0;
/// Passes of a pilot and a short run that a budget must leave time for twice.
const SHORT_RUN: f64 = 600.0;
/// Seed of the pilot: which paths suit a posterior does not depend on the seed of the draws.
const PILOT: u64 = 1;

/// What is kept of the choice in `run.toml`: enough to make the same paths again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct WideRecord {
    /// Gradients of a path.
    pub(crate) gradients: u32,
    /// Share of the paths that the pilot accepted.
    pub(crate) acceptance: f64,
    /// Seconds of a gradient on one thread in the pilot, and those that the thread had a core.
    pub(crate) pass_seconds: [f64; 2],
    /// Seconds that chains should take, and those of all cores together; none where something else than draws ends the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<[f64; 2]>,
    /// What a test on residuals was predicted to have: standard error after 64 rows, share of the rows read, sd of the total.
    pub(crate) residuals: Option<[f64; 3]>,
    /// Where the covariance is taken: the mode.
    pub(crate) at: Vec<f64>,
}

impl WideRecord {
    /// What it will take, in a sentence.
    pub(crate) fn sentence(&self) -> String {
        let Self { gradients, pass_seconds, expected, .. } = self;
        let each = format!("a gradient of all rows takes {:.0} ms", 1e3 * pass_seconds[0]);
        match expected {
            Some([wall, cores]) => {
                format!("Expected: about {} ({} of CPU time); {each}.", duration(*wall), duration(*cores))
            }
            None => format!(
                "Expected: {} of CPU time per draw; {each}.",
                duration(f64::from(*gradients) * pass_seconds[1])
            ),
        }
    }
}

/// Paths for a run.
pub(super) struct Wide {
    pub(super) plan: WholePathPlan,
    pub(super) shape: RandomWalk,
    pub(super) record: WideRecord,
    pub(super) reason: Why,
}

/// The shape of the paths of a run that goes on.
pub(super) fn restored<M>(model: &M, record: &WideRecord) -> Result<RandomWalk, Failure>
where
    M: WithPriors + Curvature<State = Vec<f64>>,
{
    let smooth = model.with_priors(model.priors().smooth())?;
    Ok(RandomWalk::dense(record.at.len(), &covariance_at(&smooth, &record.at)?)?)
}

impl Planner<'_> {
    /// The covariance at the mode, as paths need it, where they may be taken at all.
    fn shape<F: austerity_glm::glm::Family>(&self, model: &Glm<F>) -> Result<Option<RandomWalk>, Failure> {
        let untyped = self.wanted.is_open() && !self.wanted.asks_for_audits();
        let auto = self.request.shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto
            && self.proposal() == ProposalChoice::Auto;
        let plain = self.model.tails.is_empty() && self.start.hurried.is_none();
        let large = model.parameters() > NARROW && model.len() >= FEWEST_ROWS;
        if !(large && untyped && auto && plain) {
            return Ok(None);
        }
        let mode = &self.start.mode;
        Ok(Some(RandomWalk::dense(mode.state.len(), &mode.covariance)?))
    }

    /// Paths on all rows, where they should cost less per effective draw than tests on residuals.
    pub(super) fn wide<F: austerity_glm::glm::Family>(
        &mut self,
        model: &Glm<F>,
    ) -> Result<Option<Wide>, Failure> {
        let Some(shape) = self.shape(model)? else { return Ok(None) };
        let width = Width::predict(model, &self.start.mode.state, &shape, TOLERANCE)?;
        if WORST * width.worth_per_pass() >= BEST {
            return Ok(None);
        }
        self.paths(model, shape, Some(width))
    }

    /// Paths on all rows, where an expansion does not serve.
    pub(super) fn wide_without_surrogate<F: austerity_glm::glm::Family>(
        &mut self,
        model: &Glm<F>,
    ) -> Result<Option<Wide>, Failure> {
        let Some(shape) = self.shape(model)? else { return Ok(None) };
        self.paths(model, shape, None)
    }

    /// The paths that a pilot finds, where they are cheaper than what is known of the alternative.
    fn paths<F: austerity_glm::glm::Family>(
        &mut self,
        model: &Glm<F>,
        shape: RandomWalk,
        width: Option<Width>,
    ) -> Result<Option<Wide>, Failure> {
        if !self.has_time_for_paths(model)? {
            return Ok(None);
        }
        self.host.note("pilot: Hamiltonian paths on all rows");
        let threads = self.threads();
        let found = WholePathPlan::pilot(model, &self.start.mode.state, &shape, threads, PILOT)?;
        let Some((plan, seconds)) = found else { return Ok(None) };
        if width.is_some_and(|width| WORST * width.worth_per_pass() > plan.worth_per_gradient()) {
            return Ok(None);
        }
        let reason = if width.is_some() { Why::TooWide } else { Why::UnsafeResiduals };
        let record = WideRecord {
            gradients: plan.steps,
            acceptance: plan.acceptance,
            pass_seconds: [seconds.wall, seconds.core],
            expected: None,
            residuals: width.map(|width| [width.standard_error, width.share, width.spread]),
            at: self.start.mode.state.clone(),
        };
        Ok(Some(Wide { plan, shape, record, reason }))
    }

    /// Hamiltonian paths on all rows, decided exactly.
    pub(super) fn widely<'m, F: austerity_glm::glm::Family>(
        &mut self,
        model: &'m Glm<F>,
        mut wide: Wide,
    ) -> Result<(Chosen, GlmEngine<'m, F>), Failure> {
        // Only the clock ends such a run: there is no rule to choose.
        self.budget = None;
        let mut settings = settings(self.request)?;
        let typed = self.request.shape.warmup.is_some();
        wide.plan_length(&mut settings, typed, &self.request.length);
        let Wide { plan, shape, record, reason } = wide;
        let gradients = plan.steps;
        let candidates = Candidates {
            proposing: (&plan).into(),
            worth: plan.worth(),
            stored: StoredProposal::Whole(plan),
        };
        let decided = self.wanted.exact(reason);
        let chosen = Chosen { wide: Some(record), ..Chosen::of(candidates, decided, settings) };
        Ok((chosen, GlmEngine::Whole { rows: model, shape, gradients }))
    }

    /// Whether a budget leaves time for a short run: one gradient tells.
    fn has_time_for_paths<F: austerity_glm::glm::Family>(&self, model: &Glm<F>) -> Result<bool, Failure> {
        let Some(left) = self.budget.as_ref().and_then(super::budget::Budget::seconds_left) else {
            return Ok(true);
        };
        let mut gradient = vec![0.0; model.parameters()];
        let begun = Instant::now();
        model.gradient(&self.start.mode.state, &mut gradient)?;
        let workers = self.threads().max(1) as f64;
        Ok(2.0 * SHORT_RUN * begun.elapsed().as_secs_f64() / workers < left)
    }
}

impl Wide {
    /// Sets the length of a run, as far as it was not set, and predicts what it takes.
    pub(super) fn plan_length(
        &mut self,
        settings: &mut Settings,
        typed_warmup: bool,
        length: &LengthOptions,
    ) {
        if !typed_warmup {
            settings.warmup = WARMUP;
        }
        let ends = settings.draws < austerity::run::UNBOUNDED;
        if length.draws.is_none() && ends {
            settings.draws = ((EFFECTIVE / self.plan.worth()).ceil() as u64).next_multiple_of(ROUND);
        }
        if ends {
            let steps = (settings.warmup + settings.draws * settings.thin) as f64;
            let passes = f64::from(settings.chains) * (FIRST + steps * f64::from(self.plan.steps));
            let [wall, core] = self.record.pass_seconds;
            self.record.expected = Some([passes * wall / settings.workers() as f64, passes * core]);
        }
    }
}
