//! Chains in stretches: each goes on from where the one before ended, under the rule that the plan has for it.
//!
//! At the end of a stretch the plan learns what it cost and how well it mixed, chooses again and is written to `run.toml`, before the first draws of
//! the next are durable. A stretch that takes half as long again as it should is cut short. Where the file has a next stretch already, since the
//! run was interrupted, that is followed instead. Effective draws are those of the running diagnostics of the stretch; under `--evaluations` they come
//! from acceptances, which checkpoints keep.
//!
//! Runs without a plan are one stretch. A stretch is run in legs: where the store is full it keeps some draws, evenly spaced, and chains go on ([`Keeping`]).

use std::time::Instant;

use crate::budget as spending;
use austerity::run::{
    Checkpoint, Control, Ended, MetropolisSampler, Observer, Progress, Run, Sampler, Settings, UNBOUNDED,
};

use super::super::as_stored;
use super::super::healing::{has_time, is_contradicted, next_review};
use super::super::sink::{FolderSink, Stored};
use super::super::storage::Storage;
use super::{Budget, FIRST, Now, Unit};
use crate::model::Sampled;
use crate::output::Failure;
use crate::runs::{Folder, RunFile};

/// Seconds that a session has at least.
const SHORTEST: f64 = 1e-3;
/// A stretch that takes so many times as long as was planned is cut short.
const PATIENCE: f64 = 1.5;

/// What chains follow.
pub(in super::super) struct Course<'a, M> {
    pub(in super::super) model: &'a M,
    pub(in super::super) folder: &'a Folder,
    pub(in super::super) run: &'a mut RunFile,
    /// The budget, where there is more to plan.
    pub(in super::super) budget: Option<Budget>,
    pub(in super::super) keeping: Keeping,
}

/// What a session keeps to, beside the plan.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Keeping {
    /// Draws per chain that are stored at most.
    pub(in super::super) most: u64,
    /// When chains end that only the clock ends.
    pub(in super::super) deadline: Option<Instant>,
    /// Whether chains end where audits contradict their test, and when the command began.
    pub(in super::super) heals: bool,
    pub(in super::super) begun: Instant,
}

impl Keeping {
    /// Settings until the next change of rule or thinning, after `draw` draws of the shortest chain.
    pub(in super::super) fn leg(&self, run: &RunFile, draw: u64, budget: Option<&Budget>) -> Settings {
        let mut settings = stretch(run, draw, budget);
        if let (None, Some(left)) = (budget, self.left())
            && settings.limits.seconds.is_some()
        {
            settings.limits.seconds = Some(left.max(SHORTEST));
        }
        // The store is full then.
        settings.draws = settings.draws.min(self.full(&settings));
        if self.heals && run.budget.is_none() {
            settings.draws = settings.draws.min(next_review(draw, run.settings.draws));
        }
        settings
    }

    /// Seconds until the deadline.
    fn left(&self) -> Option<f64> {
        Some(self.deadline?.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// Draws of every chain with which the store is full.
    fn full(&self, settings: &Settings) -> u64 {
        self.most.saturating_mul(settings.record_every)
    }
}

/// Settings of the stretch of a run at `draw`: its end, and the time that is left.
fn stretch(run: &RunFile, draw: u64, budget: Option<&Budget>) -> Settings {
    let mut settings = run.settings.clone();
    let Some(plan) = &run.budget else { return settings };
    let at = plan.at(draw);
    let followed = plan.stretches.get(at + 1).map(|next| next.from);
    let end = match budget {
        Some(_) => followed.unwrap_or(plan.stretches[at].until),
        None => followed.unwrap_or(settings.draws),
    };
    settings.draws = settings.draws.min(end);
    if let Some(budget) = budget {
        clock(&mut settings, budget);
    }
    settings
}

/// The time that is left becomes the limit, or, of a stretch that ends after some draws, what it may take.
pub(super) fn clock(settings: &mut Settings, budget: &Budget) {
    if budget.unit == Unit::Seconds {
        let spent = budget.spent(0);
        let left = budget.end() - spent;
        let review = spending::next_review(FIRST * budget.all, spent, budget.end());
        let limit = if settings.draws < UNBOUNDED { left.min(PATIENCE * (review - spent)) } else { left };
        settings.limits.seconds = Some(limit.max(SHORTEST));
    }
}

/// Runs the chains of a run, stretch by stretch where it has a plan.
pub(in super::super) fn spend<'m, M: Sampled, P: Stored>(
    course: Course<'m, M>,
    first: MetropolisSampler<'m, M, P>,
    started: Settings,
    sink: &mut FolderSink<'_>,
    (control, observer): (&Control, &mut dyn Observer),
) -> Result<Run<Vec<f64>, P>, Failure> {
    let Course { model, folder, run, budget, keeping } = course;
    let mut sampler = first;
    let mut settings = started;
    let mut seconds = 0.0;
    let mut before = Now::of(sink.checkpoint(), budget.as_ref());
    let first = before;
    let mut effective = 0.0;
    loop {
        let left = match &budget {
            Some(budget) if budget.unit == Unit::Seconds => Some(budget.left()),
            _ => None,
        };
        let mut watch =
            Watch { observer: &mut *observer, earlier: seconds, settings: &run.settings, left, ess: None };
        let mut outcome = sampler.run_into(sink, control, &mut watch);
        effective += watch.ess.unwrap_or(0.0);
        seconds += outcome.seconds;
        outcome.seconds = seconds;
        let now = Now::of(&outcome.checkpoint, budget.as_ref());
        if keeping.heals && is_contradicted(&outcome.checkpoint) && has_time(run, keeping.begun) {
            outcome.checkpoint.settings = run.settings.clone();
            return Ok(outcome);
        }
        let full = outcome.ended == Ended::Draws && settings.draws == keeping.full(&settings);
        if full && settings.draws < run.settings.draws {
            // Some draws stay; what is planned goes on.
            let left = match &budget {
                Some(budget) => (budget.unit == Unit::Seconds).then(|| budget.left()),
                None => keeping.left(),
            };
            let made = (now.draws - first.draws.min(now.draws)) as f64;
            let expected = left.map(|left| now.draws as f64 + made / seconds.max(SHORTEST) * left);
            let factor = Storage::factor(keeping.most, settings.record_every, expected);
            run.settings.record_every = sink.thin(run, factor)?;
            settings = keeping.leg(run, now.draws, budget.as_ref());
            sampler = going_on(model, folder, run, &settings, outcome.checkpoint, sink)?;
            continue;
        }
        if run.budget.is_none() && outcome.ended == Ended::Draws && settings.draws < run.settings.draws {
            // Audits were looked at.
            settings = keeping.leg(run, now.draws, None);
            sampler = going_on(model, folder, run, &settings, outcome.checkpoint, sink)?;
            continue;
        }
        let Some(plan) = &mut run.budget else {
            outcome.checkpoint.settings = run.settings.clone();
            return Ok(outcome);
        };
        let at = plan.at(before.draws);
        let last = at + 1 == plan.stretches.len();
        let late = outcome.ended == Ended::Seconds && last && settings.draws < run.settings.draws;
        if late && budget.is_some_and(|budget| budget.end() - now.spent > SHORTEST) {
            plan.cut(now.longest);
            settings = keeping.leg(run, now.draws, budget.as_ref());
            // The few draws until all chains are level again have all the time there is.
            settings.limits.seconds = budget.map(|budget| (budget.end() - now.spent).max(SHORTEST));
            sampler = Sampler::resume(model, &settings, outcome.checkpoint)?;
            continue;
        }
        if last && budget.is_some() {
            // Evaluations are counted over all sessions, seconds in this one.
            let counted = plan.unit == Unit::Evaluations;
            let whole = &plan.stretches[at];
            let (spent, steps, accepted) = (whole.spent, whole.steps, whole.accepted);
            let began = if counted {
                Now { spent, draws: whole.from, longest: whole.from, steps, accepted }
            } else {
                before
            };
            plan.observe(&began, &now, (!counted).then_some(effective), &run.settings);
        }
        let more = outcome.ended == Ended::Draws && settings.draws < run.settings.draws;
        if !more {
            plan.close(&now, &run.settings);
            outcome.checkpoint.settings = run.settings.clone();
            let written = folder.write_run(run);
            if !matches!(outcome.ended, Ended::Unstored { .. }) {
                written?;
            }
            return Ok(outcome);
        }
        if last {
            plan.review(&now, &run.settings);
        }
        follow(run, at + 1);
        settings = keeping.leg(run, now.draws, budget.as_ref());
        sink.replan(run)?;
        let checkpoint = outcome.checkpoint.under(&settings.rule, settings.audit);
        sampler = Sampler::resume(model, &settings, checkpoint)?;
        (before, effective) = (now, 0.0);
    }
}

/// Chains that go on from `checkpoint`, with the stored draws to look back on where a target ESS asks for them.
fn going_on<'m, M: Sampled, P: Stored>(
    model: &'m M,
    folder: &Folder,
    run: &RunFile,
    settings: &Settings,
    checkpoint: Checkpoint<Vec<f64>, P>,
    sink: &FolderSink<'_>,
) -> Result<MetropolisSampler<'m, M, P>, Failure> {
    let sampler = Sampler::resume(model, settings, checkpoint)?;
    if run.settings.limits.target_ess.is_none() {
        return Ok(sampler);
    }
    let earlier = folder.reader()?.trace_until(&sink.stored())?;
    Ok(as_stored(sampler, run, &sink.checkpoint().names)?.with_earlier(earlier))
}

/// Puts the rule of a stretch in force.
pub(in super::super) fn follow(run: &mut RunFile, stretch: usize) {
    let Some(plan) = &run.budget else { return };
    let candidate = plan.candidate(stretch).clone();
    (run.settings.rule, run.settings.audit) = (candidate.rule, candidate.audit);
    run.decision.prediction = candidate.prediction;
}

/// Passes on what it is told, as of a run that is not in stretches, and remembers the effective sample size.
struct Watch<'a> {
    observer: &'a mut dyn Observer,
    earlier: f64,
    settings: &'a Settings,
    /// Seconds that were left when it began, where only the clock ends the run.
    left: Option<f64>,
    ess: Option<f64>,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.ess = progress.ess;
        let mut whole = progress.clone();
        if let Some(left) = self.left {
            whole.remaining = Some((left - progress.elapsed).max(0.0));
        }
        whole.elapsed += self.earlier;
        whole.steps_wanted = Progress::steps_wanted(self.settings);
        self.observer.progress(&whole);
    }
}
