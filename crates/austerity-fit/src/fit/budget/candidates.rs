//! The rules that a plan chooses from, and what each should cost and bring.
//!
//! On a surrogate: the test on residuals, stopped at the tolerances τ = 0.1, 0.03, 0.01 and 0.003, and exact decisions on all residuals. The standard error falls as
//! the root of the rows, so a test reads first·(se/τ)² of them; its noise widens the draws by at most [`noise_inflation`]. What batches may miss
//! counts as noise too.
//!
//! On the rows themselves: a random walk decided exactly or by a test of the grid of [`walks`], with steps as long as they are best for exact decisions and half as
//! long, and independent draws around the mode, decided exactly. A few steps of a pilot tell how many of those are accepted and what a pass costs.

use std::time::Instant;

use austerity::design::budget::{Effort, Estimates, Prices, Setting, plan, walks};
use austerity::model::glm::expansion::ExpansionReport;
use austerity::proposal::{AnyProposal, Laplace, RandomWalk, RobustAdaptive, TransitionKind};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::Settings;
use austerity::theory::noise_inflation;

use super::super::choose::{Chooser, Chosen};
use super::super::decide::{Decided, Wanted};
use super::super::start::{INDEPENDENT, ProposalChoice};
use super::{Budget, BudgetPlan, Candidate, Unit, terms, too_small};
use crate::model::Regression;
use crate::output::Failure;

/// Tolerances of the standard error of a total log ratio.
const TOLERANCES: [f64; 4] = [0.1, 0.03, 0.01, 0.003];
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
/// Seconds of a likelihood evaluation, until the clock says otherwise.
const EVALUATION: f64 = 3e-9;
/// Gradients of a surrogate per Hamiltonian step.
const LEAPFROGS: f64 = 5.0;
/// Share of what is left that the audits of the set-up may take.
const AUDITS: f64 = 0.2;

/// The candidates of a surrogate, whose test is `decided`, with estimates for them.
pub(in super::super) fn on_residuals(
    budget: &Budget,
    (decided, report): (&Decided, &ExpansionReport),
    (kind, worth, dimension): (Option<TransitionKind>, f64, usize),
    settings: &Settings,
) -> (Vec<Candidate>, Estimates) {
    let rows = report.rows as f64;
    let pairs = (dimension * dimension) as f64;
    let seconds = budget.unit == Unit::Seconds;
    let certain = 5.0 * report.stratum as f64;
    let gradients = if kind == Some(TransitionKind::Hamiltonian) { LEAPFROGS } else { 1.0 };
    let overhead = if seconds {
        STEP + gradients * (PAIR * pairs + EVALUATION * certain) + 2.0 * PAIR * pairs
    } else {
        0.0
    };
    let price = if seconds { EVALUATION } else { 1.0 };
    let estimates = Estimates::new(
        terms(settings, budget.unit, 0.0),
        Prices { overhead: 1.0, block: price, scan: price },
    );
    // Eight pairs of every chain in warm-up and eight afterwards, each about the model and the residuals.
    let audits = 16.0 * 3.0 * rows * price * f64::from(settings.chains) / settings.workers() as f64;
    let audit = if seconds && audits > AUDITS * budget.left() { 0.0 } else { decided.audit };
    let set_up = if audit > 0.0 && seconds { audits } else { 0.0 };
    let base = Setting { set_up, overhead, worth, ..Setting::default() };
    let mut found = Vec::new();
    if let RuleSettings::Sequential(test) = &decided.rule {
        let first = 64f64;
        for tau in TOLERANCES {
            let read = (first * (report.standard_error / tau).powi(2).max(1.0)).min(rows);
            let noise = tau.min(report.standard_error).hypot(report.missed.min(tau));
            let setting =
                Setting { block_evaluations: 2.0 * read, inflation: noise_inflation(noise), ..base };
            let rule = SequentialSettings { stop_at: Some(tau), ..test.clone() };
            let rule = RuleSettings::Sequential(rule);
            found.push(Candidate { setting, rule, audit, acceptance: 1.0, prediction: None });
        }
    }
    let exact = Setting { set_up: 0.0, scan_evaluations: rows, ..base };
    let rule = RuleSettings::Exact { law: decided.rule.law().uncompensated() };
    found.push(Candidate { setting: exact, rule, audit: 0.0, acceptance: 1.0, prediction: None });
    (found, estimates)
}

/// What a plan on the rows themselves rests on.
pub(in super::super) struct Rows<'a> {
    pub(in super::super) budget: &'a Budget,
    pub(in super::super) wanted: &'a Wanted,
    pub(in super::super) typed: ProposalChoice,
    /// Distance of the starts from the mode, in posterior sds.
    pub(in super::super) distance: f64,
    pub(in super::super) typed_warmup: bool,
}

/// A proposal with the rules that go with it.
struct Way {
    /// Length of steps; `None` for independent draws.
    scale: Option<f64>,
    candidate: Candidate,
}

/// Proposal, rule and plan where there is no surrogate.
pub(in super::super) fn on_rows<M: Regression>(
    model: &M,
    chooser: &mut Chooser<'_>,
    question: &Rows<'_>,
    settings: &mut Settings,
) -> Result<(Chosen, BudgetPlan), Failure> {
    let Rows { budget, wanted, typed, distance, typed_warmup } = *question;
    let dimension = model.names().len();
    let (acceptance, price) = pilot(model, chooser, budget)?;
    let overhead =
        if budget.unit == Unit::Seconds { STEP + PAIR * (dimension * dimension) as f64 } else { 0.0 };
    let mut ways = Vec::new();
    if matches!(typed, ProposalChoice::Auto | ProposalChoice::Laplace) {
        let setting = Setting {
            overhead,
            scan_evaluations: model.len() as f64,
            worth: INDEPENDENT * acceptance / (2.0 - acceptance),
            ..Setting::default()
        };
        let rule = RuleSettings::default();
        ways.push(Way {
            scale: None,
            candidate: Candidate { setting, rule, audit: 0.0, acceptance, prediction: None },
        });
    }
    if typed != ProposalChoice::Laplace {
        let short = budget.unit == Unit::Seconds && budget.left() < SHORT;
        let effort = if short { Effort::Little } else { Effort::Full };
        let scales = if typed == ProposalChoice::Auto { &SCALES[..] } else { &[1.0] };
        for walk in walks((model.len(), dimension), scales, wanted.block_rows(), effort)? {
            let audit = walk.prediction.map_or(0.0, |prediction| wanted.audited(prediction.data_share));
            let setting = Setting { overhead, ..walk.setting };
            let (rule, acceptance, prediction) = (walk.rule, walk.acceptance, walk.prediction);
            let candidate = Candidate { setting, rule, audit, acceptance, prediction };
            ways.push(Way { scale: Some(walk.scale), candidate });
        }
    }
    let estimates = Estimates::new(
        terms(settings, budget.unit, distance),
        Prices { overhead: 1.0, block: price, scan: price },
    );
    let all: Vec<Candidate> = ways.iter().map(|way| way.candidate.clone()).collect();
    let each: Vec<Setting> = all.iter().map(|candidate| candidate.setting).collect();
    let chains = settings.chains;
    let none = || too_small(budget, &all, &estimates, chains);
    let best = plan(&each, &[], &estimates, budget.left()).setting.ok_or_else(none)?;
    let scale = ways[best].scale;
    let candidates = ways.into_iter().filter(|way| way.scale == scale).map(|way| way.candidate).collect();
    let Some(plan) = BudgetPlan::begin(budget, candidates, estimates, settings, typed_warmup) else {
        return Err(none());
    };
    let candidate = plan.candidate(0).clone();
    let (proposal, proposal_words) = proposal(scale, chooser, candidate.acceptance)?;
    let worth = candidate.setting.worth;
    let decided = Decided {
        rule: candidate.rule,
        audit: candidate.audit,
        prediction: candidate.prediction,
        reason: format!("of {} rules and lengths of steps the one with the least predicted risk", all.len()),
    };
    Ok((Chosen { proposal, proposal_words, decided, pairs: None, worth }, plan))
}

/// The proposal, and how to call it.
fn proposal(
    scale: Option<f64>,
    chooser: &Chooser<'_>,
    acceptance: f64,
) -> Result<(AnyProposal, String), Failure> {
    let Some(scale) = scale else { return ProposalChoice::Laplace.build(chooser.mode) };
    if scale == 1.0 {
        return ProposalChoice::Adaptive.build(chooser.mode);
    }
    let scaled: Vec<f64> = chooser.mode.covariance.iter().map(|value| scale * scale * value).collect();
    let walk = RandomWalk::for_posterior(chooser.mode.state.len(), &scaled)?;
    let words = format!(
        "random walk shaped by the curvature at the mode, steps {scale} times as long as they are best for exact decisions, \
         adapting during warm-up"
    );
    Ok((RobustAdaptive::new(&walk, acceptance.clamp(0.05, 0.95))?.into(), words))
}

/// Share of independent draws that are accepted, and what a likelihood evaluation costs.
fn pilot<M: Regression>(
    model: &M,
    chooser: &mut Chooser<'_>,
    budget: &Budget,
) -> Result<(f64, f64), Failure> {
    let draws: AnyProposal = Laplace::new(&chooser.mode.state, &chooser.mode.covariance)?.into();
    let counted = budget.unit == Unit::Evaluations;
    let mut steps = if counted { MOST_STEPS } else { FIRST_STEPS };
    loop {
        let begun = Instant::now();
        let seen = chooser.pilot(model, &draws, steps)?;
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
