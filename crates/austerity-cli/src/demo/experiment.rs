//! What the demo measures.

use austerity::diagnostics::Summary;
use austerity::model::generate;
use austerity::model::glm::{Glm, Logistic};
use austerity::model::{Mode, ResponseKind, find_mode};
use austerity::proposal::{AnyProposal, RandomWalk};
use austerity::rng::{Role, seek, stream};
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::run::{Control, Limits, Memory, Run, Sampler, Settings};
use austerity::theory::{Accuracy, ErrorTable, Moves, Plan};
use serde::Serialize;

use austerity_fit::Line;
use austerity_fit::options::Common;
use austerity_fit::output::Failure;

/// Chains per run.
const CHAINS: u32 = 4;
/// Of the seconds of a rule, the part spent on the cold start.
const COLD_PART: f64 = 0.15;
/// Root of the step energy of a random walk with covariance (2.38²/d)·Σ.
const STEP_ENERGY_ROOT: f64 = 2.38;
/// Draws are stopped by time, not by number.
const ENOUGH: u64 = 1 << 32;

/// The built-in problem.
pub(super) struct Problem {
    pub(super) model: Glm<Logistic>,
    pub(super) mode: Mode,
    walk: AnyProposal,
    pub(super) rows: usize,
}

impl Problem {
    /// Generates the data and finds the mode, from which the proposal takes its shape.
    pub(super) fn new(rows: usize, features: usize, seed: u64) -> Result<Self, Failure> {
        let data = generate::logistic(rows, features).correlated(true).seed(seed).build()?.data;
        let data = data.shuffle(seed).check(ResponseKind::Binary)?;
        let model = Glm::new(Logistic, &data, data.default_priors())?;
        let mode = find_mode(&model, &vec![0.0; features + 1])?;
        let walk = RandomWalk::for_posterior(features + 1, &mode.covariance)?.into();
        Ok(Self { model, mode, walk, rows })
    }

    /// The memory that a run with a hundred thousand draws per chain would take.
    pub(super) fn memory(&self, candidate: &Candidate, common: &Common) -> Result<Memory, Failure> {
        let settings = Settings { draws: 100_000, ..candidate.settings(common) };
        Ok(Sampler::new(&self.model, &settings, &self.walk, std::slice::from_ref(&self.mode.state))?.memory())
    }

    fn dimension(&self) -> usize {
        self.mode.state.len()
    }

    /// Draws from the normal approximation at the mode: starts near stationarity.
    fn typical_starts(&self, seed: u64) -> Result<Vec<Vec<f64>>, Failure> {
        let mut walk = RandomWalk::dense(self.dimension(), &self.mode.covariance)?;
        let mut starts = Vec::new();
        for chain in 0..CHAINS {
            let mut rng = stream(seed, chain, Role::Start);
            seek(&mut rng, 0);
            let mut to = Vec::new();
            austerity::proposal::Proposal::propose(&mut walk, &self.mode.state, &mut to, &mut rng)?;
            starts.push(to);
        }
        Ok(starts)
    }

    /// Squared distance from the mode in posterior standard deviations: about d once a chain has arrived.
    fn distance(&self, precision: &[f64], state: &[f64]) -> f64 {
        let d = self.dimension();
        let step: Vec<f64> = state.iter().zip(&self.mode.state).map(|(a, b)| a - b).collect();
        (0..d).map(|i| step[i] * (0..d).map(|j| precision[i * d + j] * step[j]).sum::<f64>()).sum()
    }
}

/// A rule to be measured.
pub(super) struct Candidate {
    pub(super) name: String,
    rule: RuleSettings,
}

impl Candidate {
    fn settings(&self, common: &Common) -> Settings {
        Settings {
            chains: CHAINS,
            seed: common.seed(),
            threads: common.threads,
            rule: self.rule.clone(),
            ..Settings::default()
        }
    }
}

/// The rules of the demo: exact, the paper's two, and the paper's stricter ε with few looks.
pub(super) fn candidates(rows: usize) -> Vec<Candidate> {
    let sequential = |name: String, settings| Candidate { name, rule: RuleSettings::Sequential(settings) };
    // The paper's test to the letter, but for drawing rows in blocks.
    let paper = |epsilon| SequentialSettings { guard: None, ..SequentialSettings::constant(500, epsilon) };
    let large = rows.div_ceil(25);
    vec![
        Candidate { name: "exact".into(), rule: RuleSettings::default() },
        sequential("paper: ε = 0.05, m = 500".into(), paper(0.05)),
        sequential("paper: ε = 0.01, m = 500".into(), paper(0.01)),
        sequential(format!("few looks: ε = 0.01, m = {large}"), SequentialSettings::constant(large, 0.01)),
    ]
}

/// The sd inflation that the theory predicts for a chain on a Gaussian target with the demo's proposal.
fn predicted(rule: &RuleSettings, rows: usize) -> Result<f64, Failure> {
    let RuleSettings::Sequential(settings) = rule else { return Ok(1.0) };
    let walk = austerity::theory::RandomWalk::new(Plan::of_settings(settings, rows)?, Accuracy::Fast);
    let bias =
        ErrorTable::new(&walk, Accuracy::Fast).bias(Law::Metropolis, Moves::plain(STEP_ENERGY_ROOT))?;
    Ok(bias.sd_inflation)
}

/// What was measured about one rule.
#[derive(Debug, Serialize)]
pub(super) struct Measured {
    pub(super) rule: String,
    pub(super) data_share: f64,
    pub(super) acceptance: f64,
    pub(super) steps_per_second: f64,
    pub(super) ess_per_second: f64,
    pub(super) ess_per_million_evaluations: f64,
    pub(super) guarded_share: f64,
    pub(super) largest_rhat: f64,
    /// Root mean square over the parameters of (mean − exact mean)/exact sd; 0 for the exact rule itself.
    pub(super) mean_off: f64,
    /// The root mean square that Monte Carlo noise alone would give.
    pub(super) mean_off_by_chance: f64,
    /// Geometric mean over the parameters of sd/exact sd.
    pub(super) sd_ratio: f64,
    /// What the theory predicts for `sd_ratio`; 1 for the exact rule.
    pub(super) sd_ratio_predicted: f64,
    /// Standard error of `sd_ratio` from the Monte Carlo errors of both runs.
    pub(super) sd_ratio_error: f64,
    /// Cold start: seconds and likelihood evaluations until a chain arrived (median); none if it did not.
    pub(super) cold_seconds: Option<f64>,
    pub(super) cold_evaluations: Option<f64>,
    #[serde(skip)]
    summary: Vec<Summary>,
}

/// All results.
#[derive(Debug, Serialize)]
pub(super) struct Demo {
    pub(super) rows: usize,
    pub(super) parameters: usize,
    pub(super) seed: u64,
    pub(super) results: Vec<Measured>,
    #[serde(skip)]
    precision: Vec<f64>,
}

impl Demo {
    pub(super) fn new(problem: &Problem, seed: u64) -> Self {
        let d = problem.dimension();
        let mut gradient = vec![0.0; d];
        let mut hessian = vec![0.0; d * d];
        // The mode was found with these derivatives, so they exist there; zeros would only blank the cold column.
        let _ = austerity::model::Curvature::log_density_hessian(
            &problem.model,
            &problem.mode.state,
            &mut gradient,
            &mut hessian,
        );
        let precision = hessian.iter().map(|h| -h).collect();
        Self { rows: problem.rows, parameters: d, seed, results: Vec::new(), precision }
    }

    /// Runs one rule for `seconds`, a part of them from a cold start.
    pub(super) fn measure(
        &mut self,
        problem: &Problem,
        candidate: &Candidate,
        common: &Common,
        seconds: f64,
        control: &Control,
        line: &mut Line,
    ) -> Result<(), Failure> {
        let settings = |seconds, warmup| Settings {
            draws: ENOUGH,
            warmup,
            limits: Limits { seconds: Some(seconds), ..Limits::default() },
            ..candidate.settings(common)
        };
        let cold_settings = settings(COLD_PART * seconds, 0);
        let start = vec![0.0; problem.dimension()];
        let cold = Sampler::new(&problem.model, &cold_settings, &problem.walk, &[start])?.run(control, line);
        let arrival = self.arrival(problem, &cold);

        let warm_settings = settings((1.0 - COLD_PART) * seconds, 100);
        let starts = problem.typical_starts(common.seed())?;
        let run = Sampler::new(&problem.model, &warm_settings, &problem.walk, &starts)?.run(control, line);
        let summary = run.summary();
        let counters = run.counters();
        if summary.iter().any(|s| s.ess_bulk.is_nan()) {
            return Ok(()); // stopped before there was anything to tell
        }
        let least = summary.iter().map(|s| s.ess_bulk).fold(f64::INFINITY, f64::min);
        self.results.push(Measured {
            rule: candidate.name.clone(),
            data_share: run.data_share(),
            acceptance: counters.acceptance(),
            steps_per_second: counters.steps as f64 / run.seconds,
            ess_per_second: least / run.seconds,
            ess_per_million_evaluations: least / (counters.evaluations as f64 / 1e6),
            guarded_share: counters.guarded as f64 / counters.steps as f64,
            largest_rhat: summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max),
            mean_off: 0.0,
            mean_off_by_chance: 0.0,
            sd_ratio: 1.0,
            sd_ratio_predicted: predicted(&candidate.rule, problem.rows)?,
            sd_ratio_error: 0.0,
            cold_seconds: arrival.map(|(seconds, _)| seconds),
            cold_evaluations: arrival.map(|(_, evaluations)| evaluations),
            summary,
        });
        Ok(())
    }

    /// Median over the chains of the seconds and evaluations until a chain first came within the typical distance of
    /// the mode. Seconds are shares of the run's time: chains advance evenly.
    fn arrival(&self, problem: &Problem, run: &Run<Vec<f64>, AnyProposal>) -> Option<(f64, f64)> {
        let d = problem.dimension() as f64;
        let typical = d + 3.0 * (2.0 * d).sqrt();
        let mut arrivals: Vec<(f64, f64)> = Vec::new();
        for (index, chain) in run.trace.chains.iter().enumerate() {
            let arrived = (0..chain.len()).find(|&draw| {
                run.trace
                    .draw(index, draw)
                    .is_some_and(|state| problem.distance(&self.precision, state) < typical)
            })?;
            let spent =
                |draws: usize| chain.decisions[..draws].iter().map(|d| d.evaluations as f64).sum::<f64>();
            let share = spent(arrived + 1) / spent(chain.len());
            arrivals.push((share * run.seconds, spent(arrived + 1)));
        }
        arrivals.sort_by(|a, b| a.0.total_cmp(&b.0));
        arrivals.get(arrivals.len() / 2).copied()
    }

    /// Compares every posterior with that of the exact rule, the first.
    pub(super) fn compare(&mut self) {
        let Some(exact) = self.results.first().map(|first| first.summary.clone()) else { return };
        for result in &mut self.results {
            let pairs: Vec<(&Summary, &Summary)> = result.summary.iter().zip(&exact).collect();
            let count = pairs.len() as f64;
            let off = |(a, b): &(&Summary, &Summary)| ((a.mean - b.mean) / b.sd).powi(2);
            result.mean_off = (pairs.iter().map(off).sum::<f64>() / count).sqrt();
            let chance =
                |(a, b): &(&Summary, &Summary)| (a.mcse_mean.powi(2) + b.mcse_mean.powi(2)) / b.sd.powi(2);
            result.mean_off_by_chance = (pairs.iter().map(chance).sum::<f64>() / count).sqrt();
            result.sd_ratio = (pairs.iter().map(|(a, b)| (a.sd / b.sd).ln()).sum::<f64>() / count).exp();
            // Errors of the parameters are nearly independent; those of the two runs are.
            let variance =
                |(a, b): &(&Summary, &Summary)| (a.mcse_sd / a.sd).powi(2) + (b.mcse_sd / b.sd).powi(2);
            result.sd_ratio_error =
                (pairs.iter().map(variance).sum::<f64>()).sqrt() / count * result.sd_ratio;
        }
        if let Some(first) = self.results.first_mut() {
            first.sd_ratio_error = 0.0;
            first.mean_off_by_chance = 0.0;
        }
    }
}
