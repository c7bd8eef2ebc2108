//! Candidates from a weighted sample of the rows: where a posterior is too far from normal for a surrogate, or has tails that its normal approximation does not reach, and after audits contradicted a test.
//!
//! A decision about all rows costs the same whatever proposed it, so what counts is how far candidates go. Leapfrog paths on some thousand rows ([`SampledPlan`]) are worth half an independent draw and more each, a step of
//! a random walk 0.33/d. The sample is enlarged where it does not stand for all rows, and given up for the walk where it is worth less than that.
//!
//! Cost: two passes to draw the rows, a pilot on them, a pass to hold 64 of its states against all rows.

use austerity::model::{Mode, Parameters as _};
use austerity_glm::glm::Family;
use austerity_glm::glm::expansion::{GlmExpansion, RowSample};
use austerity_glm::proposal::{SampledPlan, StoredProposal, TailSteps};
use austerity_glm::{Glm, Surrogate};
use serde::{Deserialize, Serialize};

use super::begin::Planner;
use super::choose::{Chosen, TAIL_STEPS};
use super::engine::GlmEngine;
use super::healing::Care;
use super::options::settings;
use super::plan::{Proposing, Why};
use super::proposal::Candidates;
use super::{reach, tails};
use crate::output::Failure;
use crate::request::ProposalChoice;

/// Warm-up steps unless told otherwise: paths are tuned, and only have to forget where they begin.
pub(super) const WARMUP: u64 = 300;
/// Rows of a sample: so many, so many per parameter; and how often it is enlarged fourfold.
const ROWS: usize = 4096;
const PER_PARAMETER: usize = 256;
const ENLARGED: u32 = 2;
/// What a step of a tuned random walk is worth in independent draws, times the number of parameters (Roberts & Rosenthal 2001).
const WALK: f64 = 0.33;
/// Share of candidates that all rows must agree to.
const AGREEMENT: f64 = 0.6;

/// A sample, as its folder keeps it: enough to draw the same again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SampleRecord {
    /// The state whose neighbourhood it stands for.
    pub(crate) centre: Vec<f64>,
    /// Rows that were asked for.
    pub(crate) rows: usize,
}

impl SampleRecord {
    /// The sample itself.
    pub(super) fn restore<F: Family>(&self, model: &Glm<F>, threads: usize) -> Result<RowSample<F>, Failure> {
        Ok(RowSample::new(model, &self.centre, self.rows, threads)?)
    }
}

/// Whether candidates on a surrogate had better come from a sample of the rows: none of its coefficients has steps of its own, and the posterior has a tail that draws from the normal approximation, or paths on a polynomial, do not
/// reach evenly. For few parameters, where the sample is not the larger part of the cost, and likelihoods without others.
pub(super) fn is_better<F: Family>(
    surrogate: &Surrogate<GlmExpansion<F>>,
    stored: &StoredProposal,
    mode: &Mode,
) -> bool {
    let StoredProposal::Transition(plan) = stored else { return false };
    let few =
        PER_PARAMETER * mode.state.len() <= ROWS && surrogate.expansion().model().family().extra().is_empty();
    few && plan.sweeps == 0 && reach::has_heavy_tail(surrogate, mode)
}

/// A sample that serves, with the paths on it and steps into `tails` besides; none where a random walk is worth more.
pub(super) fn prepare<F: Family>(
    model: &Glm<F>,
    mode: &Mode,
    tails: Option<&(f64, TailSteps)>,
    threads: usize,
) -> Option<(RowSample<F>, SampledPlan, SampleRecord)> {
    let d = model.parameters();
    let mut rows = ROWS.max(PER_PARAMETER * d);
    for enlarged in 0..=ENLARGED {
        let record = SampleRecord { centre: mode.state.clone(), rows };
        let sample = record.restore(model, threads).ok()?;
        let plan = SampledPlan { tails: tails.cloned(), ..SampledPlan::pilot(&sample).ok()? };
        if plan.agreement >= AGREEMENT || enlarged == ENLARGED && plan.worth() > WALK / d as f64 {
            return Some((sample, plan, record));
        }
        rows *= 4;
    }
    None
}

/// Candidates from a sample of so many rows.
pub(super) fn candidates(plan: SampledPlan, rows: usize) -> Candidates {
    Candidates {
        proposing: Proposing::on_sample(&plan, rows),
        worth: plan.worth(),
        stored: StoredProposal::Sampled(plan),
    }
}

impl Planner<'_> {
    /// Exact decisions about candidates that a sample of the rows leads to: for posteriors that no expansion describes, and where audits contradicted a test.
    pub(super) fn by_sample<'m, F: Family>(
        &mut self,
        model: &'m Glm<F>,
    ) -> Result<(Chosen, GlmEngine<'m, F>), Failure> {
        self.host.note("drawing rows for the proposal");
        let reason = match self.wanted.care() {
            Care::Planned => Why::FarFromNormal,
            _ => Why::Contradicted,
        };
        let decided = self.wanted.exact(reason);
        let mut settings = settings(self.request)?;
        let mode = &self.start.mode;
        let tails = tails::steps(&model.names(), mode, &self.model.tails)?.map(|steps| (TAIL_STEPS, steps));
        let Some((sample, plan, record)) = prepare(model, mode, tails.as_ref(), self.threads()) else {
            let (proposal, proposing) = ProposalChoice::Adaptive.build(mode)?;
            let worth = WALK / model.parameters() as f64;
            let candidates = Candidates { stored: proposal.into(), proposing, worth };
            let chosen = Chosen::of(candidates, decided, settings);
            return Ok((self.with_tail_steps(chosen, &model.names())?, GlmEngine::Rows(model)));
        };
        if self.request.shape.warmup.is_none() {
            settings.warmup = WARMUP;
        }
        let candidates = candidates(plan, sample.rows());
        let chosen = Chosen { sample: Some(record), ..Chosen::of(candidates, decided, settings) };
        Ok((chosen, GlmEngine::Sampled { rows: model, sample: Box::new(sample), surrogate: None }))
    }
}
