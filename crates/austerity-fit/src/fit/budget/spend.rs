//! A budget while it is spent: the stretch in force, and what its end teaches.
//!
//! At the end of a stretch the plan learns what it cost and how well it mixed, chooses again and is written to `run.toml`, before the first draws of
//! the next are durable. A stretch that takes half as long again as it should is cut short. Where the file has a next stretch already, since the
//! run was interrupted, that is followed instead. Effective draws are those of the running diagnostics of the stretch; under `--evaluations` they come
//! from acceptances, which checkpoints keep.

use austerity::run::{Settings, UNBOUNDED};

use super::super::execute::SHORTEST;
use super::super::plan::Plan;
use super::{Budget, BudgetPlan, FIRST, Now, Unit};
use crate::risk as spending;

/// A stretch that takes so many times as long as was planned is cut short.
const PATIENCE: f64 = 1.5;

/// Limits settings to the stretch of a plan at `draw`: its end, and the time that is left.
pub(in super::super) fn limit(
    settings: &mut Settings,
    plan: &BudgetPlan,
    draw: u64,
    budget: Option<&Budget>,
) {
    let at = plan.at(draw);
    let followed = plan.stretches.get(at + 1).map(|next| next.from);
    let end = match budget {
        Some(_) => followed.unwrap_or(plan.stretches[at].until),
        None => followed.unwrap_or(settings.draws),
    };
    settings.draws = settings.draws.min(end);
    if let Some(budget) = budget {
        clock(settings, budget);
    }
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

/// Puts the rule of a stretch in force.
pub(in super::super) fn follow(plan: &mut Plan, stretch: usize) {
    let Some(budget) = &plan.budget else { return };
    let candidate = budget.candidate(stretch).clone();
    (plan.settings.rule, plan.settings.audit) = (candidate.rule, candidate.audit);
    plan.decision.prediction = candidate.prediction;
}

impl BudgetPlan {
    /// Learns from a stretch that this session has seen from `before` to `now`, with so many effective draws.
    pub(in super::super) fn learn(
        &mut self,
        stretch: usize,
        (before, now): (&Now, &Now),
        effective: f64,
        settings: &Settings,
    ) {
        // Evaluations are counted over all sessions, seconds in this one.
        if self.unit == Unit::Seconds {
            return self.observe(before, now, Some(effective), settings);
        }
        let whole = &self.stretches[stretch];
        let (spent, steps, accepted) = (whole.spent, whole.steps, whole.accepted);
        let began = Now { spent, draws: whole.from, longest: whole.from, steps, accepted };
        self.observe(&began, now, None, settings);
    }
}
