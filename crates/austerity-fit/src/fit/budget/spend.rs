//! Chains in stretches: each goes on from where the one before ended, under the rule that the plan has for it.
//!
//! At the end of a stretch the plan learns what it cost and how well it mixed, chooses again and is written to `run.toml`, before the first draws of
//! the next are durable. A stretch that takes half as long again as it should is cut short. Where the file has a next stretch already, since the
//! run was interrupted, that is followed instead. Effective draws are those of the running diagnostics of the stretch; under `--evaluations` they come
//! from acceptances, which checkpoints keep.

use austerity::design::budget::next_review;
use austerity::run::{Control, Ended, Observer, Progress, Run, Sampler, Settings, UNBOUNDED};

use super::super::sink::{FolderSink, Stored};
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
}

/// Settings of the stretch of a run at `draw`: its end, and the time that is left.
pub(in super::super) fn stretch(run: &RunFile, draw: u64, budget: Option<&Budget>) -> Settings {
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
        let left = budget.all - spent;
        let review = next_review(FIRST * budget.all, spent, budget.all);
        let limit = if settings.draws < UNBOUNDED { left.min(PATIENCE * (review - spent)) } else { left };
        settings.limits.seconds = Some(limit.max(SHORTEST));
    }
}

/// Runs the chains of a run, stretch by stretch where it has a plan.
pub(in super::super) fn spend<'m, M: Sampled, P: Stored>(
    course: Course<'m, M>,
    first: Sampler<'m, M, P>,
    started: Settings,
    sink: &mut FolderSink<'_>,
    (control, observer): (&Control, &mut dyn Observer),
) -> Result<Run<Vec<f64>, P>, Failure> {
    let Course { model, folder, run, budget } = course;
    let mut sampler = first;
    let mut settings = started;
    let mut seconds = 0.0;
    let mut before = Now::of(sink.checkpoint(), budget.as_ref());
    let mut effective = 0.0;
    loop {
        let mut watch =
            Watch { observer: &mut *observer, earlier: seconds, settings: &run.settings, ess: None };
        let mut outcome = sampler.run_into(sink, control, &mut watch);
        effective += watch.ess.unwrap_or(0.0);
        seconds += outcome.seconds;
        outcome.seconds = seconds;
        let Some(plan) = &mut run.budget else { return Ok(outcome) };
        let now = Now::of(&outcome.checkpoint, budget.as_ref());
        let at = plan.at(before.draws);
        let last = at + 1 == plan.stretches.len();
        let late = outcome.ended == Ended::Seconds && last && settings.draws < run.settings.draws;
        if late && budget.is_some_and(|budget| budget.all - now.spent > SHORTEST) {
            plan.cut(now.longest);
            settings = stretch(run, now.draws, budget.as_ref());
            // The few draws until all chains are level again have all the time there is.
            settings.limits.seconds = budget.map(|budget| (budget.all - now.spent).max(SHORTEST));
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
        settings = stretch(run, now.draws, budget.as_ref());
        sink.replan(run)?;
        let checkpoint = outcome.checkpoint.under(&settings.rule, settings.audit);
        sampler = Sampler::resume(model, &settings, checkpoint)?;
        (before, effective) = (now, 0.0);
    }
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
    ess: Option<f64>,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.ess = progress.ess;
        let mut whole = progress.clone();
        whole.elapsed += self.earlier;
        whole.steps_wanted = Progress::steps_wanted(self.settings);
        self.observer.progress(&whole);
    }
}
