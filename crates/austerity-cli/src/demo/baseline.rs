//! Metropolis–Hastings without a surrogate, on the posterior of the demo's fit: what a step costs and how far its posterior is from the exact one.

use austerity::diagnostics::Summary;
use austerity::model::{Mode, find_mode};
use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, seek, stream};
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::run::{Control, Limits, Sampler, Settings};
use austerity::theory::{Accuracy, ErrorTable, Moves, TestPlan, TestWalk};
use austerity_fit::Line;
use austerity_fit::output::Failure;
use austerity_fit::request::Common;
use austerity_glm::glm::{Glm, Logistic};
use austerity_glm::proposal::{ANTITHETIC_CORRELATION, CrankNicolson, RegressionProposal};
use austerity_glm::{Data, ResponseKind};
use serde::Serialize;

/// Chains per baseline.
const CHAINS: u32 = 4;
/// Steps before a chain is recorded; it starts near stationarity.
const WARMUP: u64 = 10;
/// Root of the step energy of a random walk with covariance (2.38²/d)·Σ.
const STEP_ENERGY_ROOT: f64 = 2.38;
/// Time ends a chain, not the number of its draws.
const ENOUGH: u64 = 1 << 32;
/// First look and level of the paper's test.
const FIRST_LOOK: usize = 500;
const LEVEL: f64 = 0.05;

/// The posterior of the fit, as a model of all rows.
pub(super) struct Problem {
    model: Glm<Logistic>,
    mode: Mode,
    rows: usize,
}

/// A sampler to be measured.
pub(super) struct Baseline {
    pub(super) name: &'static str,
    rule: RuleSettings,
    proposal: RegressionProposal,
    /// Whether the proposals are those of the fit.
    pub(super) like_fit: bool,
}

/// What was measured.
#[derive(Serialize)]
pub(super) struct Measured {
    pub(super) name: &'static str,
    pub(super) like_fit: bool,
    pub(super) rows_per_decision: f64,
    pub(super) acceptance: f64,
    pub(super) steps_per_second: f64,
    /// The smaller of bulk and tail effective sample size of the worst parameter.
    pub(super) effective: f64,
    pub(super) seconds: f64,
    /// What the theory predicts for the posterior sds, relative to the exact posterior's.
    pub(super) predicted_sd: f64,
    #[serde(skip)]
    pub(super) summary: Vec<Summary>,
}

/// The baselines in the order of the table, the reference for standard deviations first.
pub(super) fn baselines(problem: &Problem) -> Result<Vec<Baseline>, Failure> {
    let Mode { state, covariance, .. } = &problem.mode;
    let draws: RegressionProposal = CrankNicolson::new(state, covariance, ANTITHETIC_CORRELATION)?.into();
    let walk: RegressionProposal = RandomWalk::for_posterior(state.len(), covariance)?.into();
    let test = SequentialSettings { guard: None, ..SequentialSettings::constant(FIRST_LOOK, LEVEL) };
    let exact = RuleSettings::default;
    Ok(vec![
        Baseline { name: "exact MH, proposals of the fit", rule: exact(), proposal: draws, like_fit: true },
        Baseline { name: "exact MH, random walk", rule: exact(), proposal: walk.clone(), like_fit: false },
        Baseline {
            name: "paper's test, same random walk",
            rule: RuleSettings::Sequential(test),
            proposal: walk,
            like_fit: false,
        },
    ])
}

impl Problem {
    /// Finds the mode, from which proposals take their shape.
    pub(super) fn new(data: Data, seed: u64) -> Result<Self, Failure> {
        let (rows, width) = (data.response().len(), data.column_names().len() + 1);
        let data = data.shuffle(seed).check(ResponseKind::Binary)?;
        let model = Glm::new(Logistic, &data, data.default_priors())?;
        let mode = find_mode(&model, &vec![0.0; width])?;
        Ok(Self { model, mode, rows })
    }

    /// Draws from the normal approximation at the mode: starts near stationarity.
    fn starts(&self, seed: u64) -> Result<Vec<Vec<f64>>, Failure> {
        let mut draws = CrankNicolson::new(&self.mode.state, &self.mode.covariance, 0.0)?;
        let start = |chain| {
            let mut rng = stream(seed, chain, Role::Start);
            seek(&mut rng, 0);
            let mut to = self.mode.state.clone();
            draws.propose(&self.mode.state, &mut to, &mut rng)?;
            Ok(to)
        };
        (0..CHAINS).map(start).collect()
    }

    /// Runs one baseline for `seconds`; nothing where it was stopped before there was anything to tell.
    pub(super) fn measure(
        &self,
        baseline: &Baseline,
        (common, seconds): (&Common, f64),
        control: &Control,
        line: &mut Line,
    ) -> Result<Option<Measured>, Failure> {
        let settings = Settings {
            chains: CHAINS,
            seed: common.seed(),
            threads: common.threads,
            rule: baseline.rule.clone(),
            draws: ENOUGH,
            warmup: WARMUP,
            limits: Limits { seconds: Some(seconds), ..Limits::default() },
            ..Settings::default()
        };
        let starts = self.starts(common.seed())?;
        let run = Sampler::new(&self.model, &settings, &baseline.proposal, &starts)?.run(control, line);
        line.clear();
        let (summary, counters) = (run.summary(), run.counters());
        let effective = summary.iter().map(|s| s.ess_bulk.min(s.ess_tail)).fold(f64::INFINITY, f64::min);
        if !effective.is_finite() {
            return Ok(None);
        }
        Ok(Some(Measured {
            name: baseline.name,
            like_fit: baseline.like_fit,
            rows_per_decision: run.data_share() * self.rows as f64,
            acceptance: counters.acceptance(),
            steps_per_second: counters.steps as f64 / run.seconds,
            effective,
            seconds: run.seconds,
            predicted_sd: predicted(&baseline.rule, self.rows)?,
            summary,
        }))
    }
}

/// The sd inflation that the theory predicts for the random walk on a Gaussian target; 1 for exact decisions.
fn predicted(rule: &RuleSettings, rows: usize) -> Result<f64, Failure> {
    let RuleSettings::Sequential(settings) = rule else { return Ok(1.0) };
    let walk = TestWalk::new(TestPlan::of_settings(settings, rows)?, Accuracy::Fast);
    let bias =
        ErrorTable::new(&walk, Accuracy::Fast).bias(Law::Metropolis, Moves::plain(STEP_ENERGY_ROOT))?;
    Ok(bias.sd_inflation)
}
