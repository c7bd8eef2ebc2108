//! `--budget` and `--evaluations` where the decision is left open: the rule with the least risk when they are spent.
//!
//! | file | what it decides or does |
//! |---|---|
//! | `candidates` | the rules to choose from, with or without a surrogate, and what each should cost and bring |
//! | `hurry` | whether the time is enough for the mode and a surrogate, and what to do where it is not |
//! | `spend` | the stretch in force, and what its end teaches |
//! | `words` | the plan for people and for `summary.json` |
//!
//! The plan is made after mode and surrogate and again whenever what is spent has doubled ([`next_review`]), each time for the least predicted risk of all
//! draws at the end ([`plan`]). A stretch ends after a number of draws, the same in all chains, so that the plan kept in `run.toml` can be replayed: a
//! resumed run changes its rule at the same draws. With `--evaluations` nothing depends on the clock. What was typed is never planned: then the budget
//! only ends the run.

mod candidates;
mod hurry;
mod spend;
mod words;

use std::time::Instant;

use crate::risk::{Estimates, Observed, Offer, PredictedRisk, Segment, Terms, next_review, plan};
use austerity::design::Prediction;
use austerity::rule::RuleSettings;
use austerity::run::{Checkpoint, Settings, UNBOUNDED};
use serde::{Deserialize, Serialize};

use super::decide::Wanted;
use super::proposal::ProposalChoice;
use crate::request::LengthOptions;

pub(super) use candidates::{Residuals, on_residuals, on_rows, rows_serve};
pub(super) use hurry::{Hurried, hurry};
pub(super) use spend::{follow, limit};
use words::least_budget;
pub(super) use words::{amount, too_small};

/// The first stretch ends after this share of the budget.
const FIRST: f64 = 1.0 / 16.0;
/// Share of the steps that warm-up takes unless told otherwise, its fewest steps (where there are four times as many) and most, and the most in steps that are worth an independent draw: those
/// that are nearly independent forget their start at once.
const WARMUP: f64 = 0.1;
const FEWEST_WARMUP: f64 = 20.0;
const MOST_WARMUP: f64 = 1_000.0;
const FORGETTING: f64 = 20.0;

/// What a budget is counted in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Unit {
    Seconds,
    Evaluations,
}

/// A budget that is being spent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Budget {
    pub(super) unit: Unit,
    pub(super) all: f64,
    /// Seconds at the end that are for the summary and the page.
    reserve: f64,
    /// Spent in earlier sessions; of evaluations the chains keep count themselves.
    before: f64,
    begun: Instant,
}

/// A session of a command: when it began, and the seconds that its end takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sitting {
    pub(super) begun: Instant,
    pub(super) closing: f64,
}

impl Budget {
    /// The budget that was typed, where there is one and something to plan: neither rule, law, tolerance nor width of steps were typed, and nothing else
    /// ends the run.
    pub(super) fn read(
        length: &LengthOptions,
        wanted: &Wanted,
        proposal: ProposalChoice,
        sitting: Sitting,
    ) -> Option<Self> {
        let open = wanted.is_open() && !proposal.fixes_steps();
        if !open || length.draws.is_some() || length.target_ess.is_some() {
            return None;
        }
        Self::typed(length, sitting)
    }

    /// The budget that was typed.
    fn typed(length: &LengthOptions, Sitting { begun, closing }: Sitting) -> Option<Self> {
        let (unit, all) = match (length.budget, length.evaluations) {
            (Some(time), None) => (Unit::Seconds, time.as_secs_f64()),
            (None, Some(evaluations)) => (Unit::Evaluations, evaluations),
            _ => return None,
        };
        let reserve = if unit == Unit::Seconds { closing } else { 0.0 };
        Some(Self { unit, all, reserve, before: 0.0, begun })
    }

    /// What a run goes on with: what was typed now on top of what is spent, or what is left.
    pub(super) fn resumed(length: &LengthOptions, plan: &BudgetPlan, sitting: Sitting) -> Option<Self> {
        if length.draws.is_some() || length.target_ess.is_some() {
            return None;
        }
        let begun = sitting.begun;
        let rest = Self { unit: plan.unit, all: plan.all, reserve: plan.reserve, before: plan.spent, begun };
        match Self::typed(length, sitting) {
            None if length.budget.is_some() || length.evaluations.is_some() => None,
            None => Some(rest),
            // The unit decides what candidates were priced in.
            Some(typed) if typed.unit != plan.unit => None,
            Some(typed) if typed.unit == Unit::Seconds => {
                Some(Self { all: plan.spent + typed.all, reserve: typed.reserve, ..rest })
            }
            Some(typed) => Some(Self { all: typed.all, ..rest }),
        }
    }

    /// What is spent, when the chains have made so many likelihood evaluations.
    pub(super) fn spent(&self, evaluations: u64) -> f64 {
        match self.unit {
            Unit::Seconds => self.before + self.begun.elapsed().as_secs_f64(),
            Unit::Evaluations => evaluations as f64,
        }
    }

    /// Sets other seconds aside for the end.
    pub(super) fn reserving(self, closing: f64) -> Self {
        if self.unit == Unit::Seconds { Self { reserve: closing, ..self } } else { self }
    }

    /// What chains may have spent when they end: all but what the summary takes.
    pub(super) fn end(&self) -> f64 {
        self.all - self.reserve
    }

    /// What is left before chains have run.
    pub(super) fn left(&self) -> f64 {
        self.end() - self.spent(0)
    }

    /// Seconds that are left before chains have run, where the budget is one of time.
    pub(super) fn seconds_left(&self) -> Option<f64> {
        (self.unit == Unit::Seconds).then(|| self.left())
    }

    /// In words.
    pub(super) fn words(&self, amount: f64) -> String {
        words::amount(self.unit, amount)
    }
}

/// A rule to choose from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Candidate {
    pub(crate) setting: Offer,
    pub(crate) rule: RuleSettings,
    pub(crate) audit: f64,
    /// Share of moves that should be accepted.
    pub(crate) acceptance: f64,
    pub(crate) prediction: Option<Prediction>,
    /// Sds of draws under it over those of the posterior, for the parameter that suffers most.
    #[serde(default = "exactly")]
    pub(crate) worst: f64,
}

fn exactly() -> f64 {
    1.0
}

/// A part of a run under one rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Stretch {
    /// Its first draw of every chain, and the first after it.
    pub(crate) from: u64,
    pub(crate) until: u64,
    pub(crate) candidate: usize,
    /// What was spent when it began, and steps and acceptances of all chains then.
    pub(crate) spent: f64,
    pub(crate) steps: u64,
    pub(crate) accepted: u64,
}

/// The plan of a run, as its folder keeps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BudgetPlan {
    pub(crate) unit: Unit,
    pub(crate) all: f64,
    pub(crate) spent: f64,
    /// Of it, what the summary takes at the end.
    #[serde(default)]
    pub(crate) reserve: f64,
    /// What is expected of all draws at the end; after the end, of those that were made.
    pub(crate) expected: PredictedRisk,
    pub(crate) estimates: Estimates,
    pub(crate) stretches: Vec<Stretch>,
    pub(crate) candidates: Vec<Candidate>,
}

/// Where chains stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Now {
    pub(super) spent: f64,
    /// Of the shortest chain, and of the longest.
    pub(super) draws: u64,
    pub(super) longest: u64,
    steps: u64,
    accepted: u64,
}

impl Now {
    pub(super) fn of<S, P>(checkpoint: &Checkpoint<S, P>, budget: Option<&Budget>) -> Self {
        let Settings { warmup, thin, .. } = checkpoint.settings;
        let chains = &checkpoint.chains;
        let evaluations = chains.iter().flat_map(|chain| [&chain.warmup, &chain.sampling]);
        let evaluations = evaluations.map(|counts| counts.evaluations + counts.audit_evaluations).sum();
        let draws = |step: u64| step.saturating_sub(warmup) / thin.max(1);
        Self {
            spent: budget.map_or(f64::NAN, |budget| budget.spent(evaluations)),
            draws: chains.iter().map(|chain| draws(chain.step)).min().unwrap_or(0),
            longest: chains.iter().map(|chain| draws(chain.step)).max().unwrap_or(0),
            steps: chains.iter().map(|chain| chain.step).sum(),
            accepted: chains.iter().map(|chain| chain.sampling.accepted).sum(),
        }
    }
}

impl BudgetPlan {
    /// The first plan, or `None` where not one candidate can be afforded. Sets the warm-up unless it was typed.
    pub(super) fn begin(
        budget: &Budget,
        (candidates, estimates): (Vec<Candidate>, Estimates),
        settings: &mut Settings,
        typed_warmup: bool,
    ) -> Option<Self> {
        let mut this = Self {
            unit: budget.unit,
            all: budget.all,
            spent: budget.spent(0),
            reserve: budget.reserve,
            expected: PredictedRisk::of(&[]),
            estimates,
            stretches: Vec::new(),
            candidates,
        };
        let rest = if typed_warmup { budget.left() } else { (1.0 - WARMUP) * budget.left() };
        let choice = plan(&this.settings(), &[], &this.estimates, rest);
        let place = choice.setting?;
        let each = choice.steps / f64::from(settings.chains);
        if !typed_warmup {
            let most = (FORGETTING / this.candidates[place].setting.worth).clamp(FEWEST_WARMUP, MOST_WARMUP);
            settings.warmup = (WARMUP * each).clamp(FEWEST_WARMUP, most).min(0.25 * each) as u64;
        }
        this.expected = choice.risk;
        let now = Now { spent: this.spent, draws: 0, longest: 0, steps: 0, accepted: 0 };
        let warmup = settings.warmup as f64;
        let until = this.until(place, &now, settings, warmup);
        this.push(place, &now, until);
        Some(this)
    }

    fn settings(&self) -> Vec<Offer> {
        self.candidates.iter().map(|candidate| candidate.setting).collect()
    }

    fn push(&mut self, candidate: usize, now: &Now, until: u64) {
        let Now { spent, draws: from, steps, accepted, .. } = *now;
        self.stretches.push(Stretch { from, until, candidate, spent, steps, accepted });
    }

    /// The draw at which the next review is due, when `before` steps of a chain come first.
    fn until(&self, place: usize, now: &Now, settings: &Settings, before: f64) -> u64 {
        let end = self.all - self.reserve;
        let review = next_review(FIRST * self.all, now.spent, end);
        if review >= end {
            return UNBOUNDED;
        }
        let Candidate { setting, .. } = &self.candidates[place];
        let paid = Offer { set_up: 0.0, ..*setting };
        let steps = self.estimates.steps(&paid, review - now.spent) / f64::from(settings.chains) - before;
        now.draws + (steps / settings.thin as f64).max(1.0) as u64
    }

    /// The stretch in force at a draw.
    pub(crate) fn at(&self, draw: u64) -> usize {
        self.stretches.iter().rposition(|stretch| stretch.from <= draw).unwrap_or(0)
    }

    pub(crate) fn candidate(&self, stretch: usize) -> &Candidate {
        &self.candidates[self.stretches[stretch].candidate]
    }

    /// Prepares for another session: a budget that was added ends the last stretch where the longest chain is, to be planned anew.
    pub(super) fn go_on(&mut self, budget: Option<&Budget>, (shortest, longest): (u64, u64)) {
        let Some(budget) = budget else { return };
        let last = self.at(shortest) + 1 == self.stretches.len();
        if last && budget.all > self.all {
            self.cut(longest);
        }
        (self.all, self.reserve) = (budget.all, budget.reserve);
    }

    /// Sets aside for the end what the budget does.
    pub(super) fn reserving(&mut self, budget: &Budget) {
        self.reserve = budget.reserve;
    }

    /// Ends the last stretch where the longest chain is.
    pub(super) fn cut(&mut self, longest: u64) {
        if let Some(stretch) = self.stretches.last_mut() {
            stretch.until = stretch.until.min(longest.max(stretch.from) + 1);
        }
    }

    /// Learns from the last stretch, which this session has seen from `started` on.
    fn observe(&mut self, started: &Now, now: &Now, effective: Option<f64>, settings: &Settings) {
        let Some(stretch) = self.stretches.last() else { return };
        let candidate = &self.candidates[stretch.candidate];
        let chains = u64::from(settings.chains);
        let sampled = (now.draws - started.draws.min(now.draws)) * settings.thin * chains;
        let setting = Offer { set_up: 0.0, ..candidate.setting };
        let effective = effective.unwrap_or_else(|| {
            let accepted = now.accepted - started.accepted.min(now.accepted);
            accepted as f64 * setting.worth / candidate.acceptance
        });
        let cost = now.spent - started.spent;
        let steps = (now.steps - started.steps.min(now.steps)) as f64;
        // Warm-up steps cost what others do but leave no draw.
        self.estimates.update(&setting, &Observed { steps, cost, effective: f64::NAN });
        self.estimates.update(&setting, &Observed { steps: sampled as f64, cost: f64::NAN, effective });
    }

    /// All draws so far.
    fn history(&self, draws: u64, settings: &Settings) -> Vec<Segment> {
        let ends = self.stretches.iter().skip(1).map(|stretch| stretch.from).chain([draws]);
        let each = self.stretches.iter().zip(ends).map(|(stretch, end)| {
            let Offer { inflation, doubt, .. } = self.candidates[stretch.candidate].setting;
            let made = end.min(draws).saturating_sub(stretch.from);
            let steps = (made * settings.thin * u64::from(settings.chains)) as f64;
            let mut worth = self.estimates.worth(&self.candidates[stretch.candidate].setting);
            if settings.record_every > 1 {
                // Stored draws are at best independent.
                worth = worth.min(1.0 / (settings.thin * settings.record_every) as f64);
            }
            Segment { steps, effective: steps * worth, inflation, doubt }
        });
        each.filter(|segment| segment.steps > 0.0).collect()
    }

    /// Plans the next stretch, where the last one has been observed.
    pub(super) fn review(&mut self, now: &Now, settings: &Settings) {
        let Some(last) = self.stretches.last().map(|stretch| stretch.candidate) else { return };
        // Set-up is paid.
        let ways: Vec<Offer> =
            self.settings().iter().map(|setting| Offer { set_up: 0.0, ..*setting }).collect();
        let choice = plan(
            &ways,
            &self.history(now.draws, settings),
            &self.estimates,
            self.all - self.reserve - now.spent,
        );
        let place = choice.setting.unwrap_or(last);
        self.expected = choice.risk;
        self.spent = now.spent;
        let until = self.until(place, now, settings, 0.0);
        self.push(place, now, until);
    }

    /// What was made of it.
    pub(super) fn close(&mut self, now: &Now, settings: &Settings) {
        self.expected = PredictedRisk::of(&self.history(now.draws, settings));
        if now.spent.is_finite() {
            self.spent = now.spent;
        }
    }

    /// Predicted sd of all draws over sd of the posterior, for the parameter that suffers most.
    pub(crate) fn inflation(&self) -> f64 {
        let each = self.stretches.iter().map(|stretch| self.candidates[stretch.candidate].worst);
        each.fold(1.0 + self.expected.bias, f64::max)
    }
}

/// How chains are run under a budget.
pub(super) fn terms(settings: &Settings, unit: Unit, start: f64) -> Terms {
    let workers = if unit == Unit::Seconds { settings.workers() } else { 1 };
    Terms { chains: settings.chains, workers, start, discard: false }
}

#[cfg(test)]
mod tests;
