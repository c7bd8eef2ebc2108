//! The rules that a plan chooses from, and what each should cost and bring.
//!
//! On a surrogate: the test on residuals, stopped at the tolerances τ = 0.3, 0.1, 0.03, 0.01 and 0.003, and exact decisions on all residuals. A pilot tells what steps
//! cost, how many are accepted and the spread of the residuals; the standard error falls as the root of the rows, so a test reads V/(τ² + V/N) of them, V = (N·sd)². Its noise
//! moves means and sds by at most [`noise_bias`] (root mean square over the parameters), those of a walk by [`noise_inflation`]; what batches may miss counts as noise too.
//!
//! On the rows themselves: a random walk decided exactly or by a test of the grid of [`walks()`], with steps as long as they are best for exact decisions and half as
//! long, and independent draws around the mode, decided exactly. A few steps of a pilot tell how many of those are accepted and what a pass costs.

use std::time::Instant;

use crate::risk::{Effort, Estimates, Offer, Prices, noise_bias, noise_inflation, plan, spread_at, walks};
use austerity::model::Mode;
use austerity::proposal::{Laplace, RandomWalk, RobustAdaptive};
use austerity::rule::audit::SET_UP;
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::{Chain, ChainCheckpoint, Settings};
use austerity_glm::proposal::RegressionProposal;

use super::super::begin::Planner;
use super::super::choose::Chosen;
use super::super::decide::Decided;
use super::super::options;
use super::super::plan::{Proposing, Why};
use super::super::proposal::{Candidates, INDEPENDENT, ProposalChoice};
use super::super::save_draws::Stored;
use super::super::surrogate::SurrogateReport;
use super::{Budget, BudgetPlan, Candidate, Unit, terms, too_small};
use crate::model::Sampled;
use crate::output::Failure;

/// Tolerances of the standard error of a total log ratio, and that of the defaults.
const TOLERANCES: [f64; 5] = [0.3, 0.1, 0.03, 0.01, 0.003];
const USUAL_TOLERANCE: f64 = SequentialSettings::RESIDUAL_TOLERANCE;
/// What batches may miss is a bound, and about so many times what they do miss.
const BOUND: f64 = 3.0;
/// Rows of the first look at residuals.
const FIRST_LOOK: f64 = SequentialSettings::RESIDUAL_FIRST_LOOK as f64;
/// Lengths of steps, in units of a tuned walk's.
const SCALES: [f64; 2] = [0.5, 1.0];
/// Pilot steps: the first, which tell what one costs, and the most.
const FIRST_STEPS: usize = 3;
const MOST_STEPS: usize = 60;
/// Share of what is left that a pilot may take.
const PILOT: f64 = 0.05;
/// Budgets in seconds below this are not spent on looking at many tests.
const SHORT: f64 = 5.0;
/// Seconds of a step besides rows, until the clock says otherwise: at all, and per pair of parameters.
const STEP: f64 = 1e-6;
const PAIR: f64 = 1.5e-9;
/// Share of what is left that the audits of the set-up may take.
const AUDITS: f64 = 0.2;

/// A surrogate about to be sampled.
pub(in super::super) struct Residuals<'a, M, P> {
    pub(in super::super) model: &'a M,
    pub(in super::super) proposal: &'a P,
    pub(in super::super) decided: &'a Decided,
    pub(in super::super) report: &'a SurrogateReport,
    /// Independent draws that an accepted step is worth.
    pub(in super::super) worth: f64,
    /// Whether candidates are (nearly) independent draws or come from steps reversible for the surrogate: then errors of decisions leave the surrogate's posterior at
    /// worst, and do not add up along the way.
    pub(in super::super) transition: bool,
    /// A typical draw.
    pub(in super::super) start: Vec<f64>,
}

/// The candidates of a surrogate, with estimates for them, by a pilot of its test.
pub(in super::super) fn on_residuals<M: Sampled, P: Stored>(
    budget: &Budget,
    question: &Residuals<'_, M, P>,
    settings: &Settings,
) -> Result<(Vec<Candidate>, Estimates), Failure> {
    let Residuals { decided, report, worth, .. } = question;
    let rows = report.rows() as f64;
    let missed = report.missed().map_or(0.0, |(missed, _)| missed);
    let seconds = budget.unit == Unit::Seconds;
    let exact = RuleSettings::Exact { law: decided.rule.law().uncompensated() };
    let scan = question.pilot(budget, &exact, FIRST_STEPS, settings.seed)?;
    let price = if seconds { scan.cost / scan.evaluations.max(1.0) } else { 1.0 };
    let steps = if seconds { (PILOT * budget.left() / scan.cost) as usize } else { MOST_STEPS };
    let terms = terms(settings, budget.unit, 0.0);
    let mut estimates = Estimates::new(terms, Prices { overhead: 1.0, block: price, scan: price });
    let mut found = Vec::new();
    let mut base = Offer { worth: *worth, ..Offer::default() };
    let mut acceptance = 1.0;
    if let RuleSettings::Sequential(test) = &decided.rule {
        let seen = question.pilot(
            budget,
            &decided.rule,
            steps.clamp(4 * FIRST_STEPS, 4 * MOST_STEPS),
            settings.seed,
        )?;
        acceptance = seen.acceptance;
        base.worth = worth * acceptance / (2.0 - acceptance);
        let read = |tau: f64| seen.rows(tau, rows);
        let usual = test.stop_at.unwrap_or(USUAL_TOLERANCE);
        let ratio = seen.evaluations / (2.0 * read(usual));
        if seconds {
            // What the rows do not explain, at least a small part.
            base.overhead = (seen.cost - price * seen.evaluations).max(0.05 * seen.cost);
            estimates.prices.block = (seen.cost - base.overhead) / seen.evaluations.max(1.0);
        }
        // Some pairs of every chain in warm-up and as many afterwards, each about the model and the residuals.
        let audits =
            2.0 * SET_UP as f64 * 3.0 * rows * price * f64::from(settings.chains) / settings.workers() as f64;
        let audit = if seconds && audits > AUDITS * budget.left() { 0.0 } else { decided.audit };
        let set_up = if audit > 0.0 && seconds { audits } else { 0.0 };
        for tau in TOLERANCES {
            let noise = tau.min(seen.first_error()).hypot((missed / BOUND).min(tau));
            let block_evaluations = (2.0 * ratio * read(tau)).clamp(2.0 * FIRST_LOOK, 2.0 * rows);
            let worst = noise_inflation(noise);
            let inflation = if question.transition {
                1.0 + noise_bias(noise, spread_at(seen.least_acceptance()), question.model.names().len())
            } else {
                worst
            };
            let setting = Offer { set_up, block_evaluations, inflation, ..base };
            let rule = RuleSettings::Sequential(SequentialSettings { stop_at: Some(tau), ..test.clone() });
            found.push(Candidate { setting, rule, audit, acceptance, prediction: None, worst });
        }
    }
    let setting = Offer { scan_evaluations: scan.evaluations.max(1.0), ..base };
    found.push(Candidate { setting, rule: exact, audit: 0.0, acceptance, prediction: None, worst: 1.0 });
    Ok((found, estimates))
}

/// Whether independent draws decided exactly about `rows` rows have less risk than all candidates of a surrogate, whose exact decisions, the last of them, read every row
/// at two states.
pub(in super::super) fn rows_serve(
    budget: &Budget,
    candidates: &[Candidate],
    estimates: &Estimates,
    rows: usize,
) -> bool {
    let Some(exact) = candidates.last().map(|candidate| candidate.setting) else { return false };
    let mut settings: Vec<Offer> = candidates.iter().map(|candidate| candidate.setting).collect();
    settings.push(Offer { scan_evaluations: rows as f64, worth: INDEPENDENT * exact.worth, ..exact });
    plan(&settings, &[], estimates, budget.left()).setting == Some(candidates.len())
}

/// What a few steps of a chain have shown.
struct Seen {
    /// Seconds of a step.
    cost: f64,
    evaluations: f64,
    acceptance: f64,
    /// (N·sd)² of the residuals of every decision.
    spreads: Vec<f64>,
}

impl Seen {
    /// Mean rows until the standard error of the total is `tau`.
    fn rows(&self, tau: f64, rows: f64) -> f64 {
        let each = self.spreads.iter().map(|v| (v / (tau * tau + v / rows)).max(FIRST_LOOK).min(rows));
        each.sum::<f64>() / self.spreads.len().max(1) as f64
    }

    /// The acceptance less a standard error of it.
    fn least_acceptance(&self) -> f64 {
        let share = self.acceptance;
        share - (share * (1.0 - share) / self.spreads.len().max(1) as f64).sqrt()
    }

    /// Root mean square of the standard error at the first look.
    fn first_error(&self) -> f64 {
        (self.spreads.iter().sum::<f64>() / self.spreads.len().max(1) as f64 / FIRST_LOOK).sqrt()
    }
}

impl<M: Sampled, P: Stored> Residuals<'_, M, P> {
    /// A few steps under a rule.
    fn pilot(&self, budget: &Budget, rule: &RuleSettings, steps: usize, seed: u64) -> Result<Seen, Failure> {
        let settings = Settings { rule: rule.clone(), warmup: 0, chains: 1, seed, ..Settings::default() };
        let checkpoint = ChainCheckpoint::start(self.start.clone(), self.proposal.clone());
        let rows = self.model.len();
        let mut chain = Chain::new(self.model, &settings, rule.build(rows)?, (u32::MAX, checkpoint))?;
        let mut spreads = Vec::with_capacity(steps);
        let begun = Instant::now();
        let enough = |made: usize| {
            made >= 2 * FIRST_STEPS
                && budget.unit == Unit::Seconds
                && begun.elapsed().as_secs_f64() > PILOT * budget.left()
        };
        while spreads.len() < steps && !enough(spreads.len()) {
            let decision = chain.step()?;
            let spread = (rows as f64 * decision.sd).powi(2);
            spreads.push(if spread.is_finite() { spread } else { 0.0 });
        }
        let made = spreads.len() as f64;
        let counts = chain.sampling();
        Ok(Seen {
            cost: begun.elapsed().as_secs_f64() / made,
            evaluations: counts.evaluations as f64 / made,
            acceptance: (counts.accepted as f64 + 0.5) / (made + 1.0),
            spreads,
        })
    }
}

/// A proposal with the rules that go with it.
struct Way {
    /// Length of steps; `None` for independent draws.
    scale: Option<f64>,
    candidate: Candidate,
}

/// Proposal, rule and plan where there is no surrogate.
pub(in super::super) fn on_rows<M: Sampled>(
    model: &M,
    planner: &mut Planner<'_>,
    budget: &Budget,
) -> Result<Chosen, Failure> {
    let mut settings = options::settings(planner.request)?;
    // Distance of the starts from the mode, in posterior sds.
    let distance = planner.start.hurried.unwrap_or(0.0);
    let typed_warmup = planner.request.shape.warmup.is_some();
    let (acceptance, price) = pilot(model, planner, budget)?;
    let ways = ways(model, planner, budget, acceptance)?;
    let estimates = Estimates::new(
        terms(&settings, budget.unit, distance),
        Prices { overhead: 1.0, block: price, scan: price },
    );
    let all: Vec<Candidate> = ways.iter().map(|way| way.candidate.clone()).collect();
    let each: Vec<Offer> = all.iter().map(|candidate| candidate.setting).collect();
    let chains = settings.chains;
    let none = || too_small(budget, &all, &estimates, chains);
    let best = plan(&each, &[], &estimates, budget.left()).setting.ok_or_else(none)?;
    let scale = ways[best].scale;
    let candidates = ways.into_iter().filter(|way| way.scale == scale).map(|way| way.candidate).collect();
    let Some(plan) = BudgetPlan::begin(budget, (candidates, estimates), &mut settings, typed_warmup) else {
        return Err(none());
    };
    let candidate = plan.candidate(0).clone();
    let (proposal, proposing) = proposal(scale, &planner.start.mode, candidate.acceptance)?;
    let worth = candidate.setting.worth;
    let decided = Decided {
        rule: candidate.rule,
        audit: candidate.audit,
        prediction: candidate.prediction,
        reason: Why::LeastRisk { ways: all.len() },
    };
    let candidates = Candidates { stored: proposal.into(), proposing, worth };
    Ok(Chosen { budget: Some(plan), ..Chosen::of(candidates, decided, settings) })
}

/// The proposals to choose from, each with its rules, where this share of independent draws is accepted.
fn ways<M: Sampled>(
    model: &M,
    planner: &Planner<'_>,
    budget: &Budget,
    acceptance: f64,
) -> Result<Vec<Way>, Failure> {
    let (typed, dimension) = (planner.proposal(), model.names().len());
    let overhead =
        if budget.unit == Unit::Seconds { STEP + PAIR * (dimension * dimension) as f64 } else { 0.0 };
    let mut ways = Vec::new();
    if matches!(typed, ProposalChoice::Auto | ProposalChoice::Laplace) {
        let setting = Offer {
            overhead,
            scan_evaluations: model.len() as f64,
            worth: INDEPENDENT * acceptance / (2.0 - acceptance),
            ..Offer::default()
        };
        let rule = RuleSettings::default();
        ways.push(Way {
            scale: None,
            candidate: Candidate { setting, rule, audit: 0.0, acceptance, prediction: None, worst: 1.0 },
        });
    }
    if typed != ProposalChoice::Laplace {
        let short = budget.unit == Unit::Seconds && budget.left() < SHORT;
        let effort = if short { Effort::Little } else { Effort::Full };
        let scales = if typed == ProposalChoice::Auto { &SCALES[..] } else { &[1.0] };
        for walk in walks((model.len(), dimension), scales, planner.wanted.block_rows(), effort)? {
            let audit =
                walk.prediction.map_or(0.0, |prediction| planner.wanted.audited(prediction.data_share));
            let setting = Offer { overhead, ..walk.setting };
            let (rule, acceptance, prediction) = (walk.rule, walk.acceptance, walk.prediction);
            let worst = setting.inflation;
            let candidate = Candidate { setting, rule, audit, acceptance, prediction, worst };
            ways.push(Way { scale: Some(walk.scale), candidate });
        }
    }
    Ok(ways)
}

/// The proposal, and what a plan says of it.
fn proposal(
    scale: Option<f64>,
    mode: &Mode,
    acceptance: f64,
) -> Result<(RegressionProposal, Proposing), Failure> {
    let Some(scale) = scale else { return ProposalChoice::Laplace.build(mode) };
    if scale == 1.0 {
        return ProposalChoice::Adaptive.build(mode);
    }
    let scaled: Vec<f64> = mode.covariance.iter().map(|value| scale * scale * value).collect();
    let walk = RandomWalk::for_posterior(mode.state.len(), &scaled)?;
    let adapting = RobustAdaptive::new(&walk, acceptance.clamp(0.05, 0.95))?;
    Ok((adapting.into(), Proposing::AdaptingWalk { stretch: scale }))
}

/// Share of independent draws that are accepted, and what a likelihood evaluation costs.
fn pilot<M: Sampled>(model: &M, planner: &mut Planner<'_>, budget: &Budget) -> Result<(f64, f64), Failure> {
    let draws: RegressionProposal =
        Laplace::new(&planner.start.mode.state, &planner.start.mode.covariance)?.into();
    let counted = budget.unit == Unit::Evaluations;
    let mut steps = if counted { MOST_STEPS } else { FIRST_STEPS };
    loop {
        let begun = Instant::now();
        let seen = planner.pilot(model, &draws, steps)?;
        let each = begun.elapsed().as_secs_f64() / steps as f64;
        let affordable = (PILOT * budget.left() / each) as usize;
        if counted || steps > FIRST_STEPS || affordable <= 2 * FIRST_STEPS {
            let (steps, rows) = (steps as f64, model.len().max(1) as f64);
            let acceptance = (seen.acceptance * steps + 0.5) / (steps + 1.0);
            return Ok((acceptance, if counted { 1.0 } else { each / rows }));
        }
        steps = affordable.min(MOST_STEPS);
    }
}
