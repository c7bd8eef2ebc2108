//! The ground truth: predictive means, posterior means and variances from a long run of Hamiltonian Monte Carlo, as in the paper.
//!
//! Leapfrog paths shaped by the covariance at the mode, about π/2 posterior standard deviations long, their step learnt in
//! warm-up; exact decisions. What the truth's own error adds to a risk is seen from its chains: variance between chains divided by
//! their number.

use austerity::model::{Model as _, find_mode};
use austerity::proposal::{Hamiltonian, Path, RandomWalk};
use austerity::run::{Chain, ChainCheckpoint, Counters, Settings};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::Plan;
use super::problem::Problem;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;

/// States kept as starts of other chains.
const STARTS: u64 = 64;

/// What is known about the posterior.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Truth {
    /// Predictive mean at every test point.
    pub(super) predictive: Vec<f64>,
    /// Means of the coefficients.
    pub(super) mean: Vec<f64>,
    /// Variances of the coefficients.
    pub(super) variance: Vec<f64>,
    /// Draws from the posterior.
    pub(super) starts: Vec<Vec<f64>>,
    /// What its own error adds to a risk of the predictive mean.
    pub(super) predictive_floor: f64,
    /// The same for the risk of the variances, each relative to the variance itself.
    pub(super) variance_floor: f64,
    /// Risk of the predictive mean of one independent draw.
    pub(super) single: f64,
    /// Acceptance rate.
    pub(super) acceptance: f64,
    /// Leapfrog length learnt, mean over the chains.
    pub(super) length: f64,
    /// Passes over the data for gradients.
    pub(super) gradients: u64,
    /// Paths that led nowhere.
    pub(super) lost: u64,
    /// Draws in all.
    pub(super) draws: u64,
}

/// Sums over one chain.
struct Sums {
    /// Σ p and Σ p² at the test points; Σ (θ − mode) and its squares.
    predictive: [Vec<f64>; 2],
    state: [Vec<f64>; 2],
    starts: Vec<Vec<f64>>,
    counters: Counters,
    length: f64,
    gradients: u64,
    lost: u64,
}

impl Truth {
    /// From the cache, or by a long run.
    pub(super) fn find(context: &Context, problem: &Problem, plan: &Plan) -> Result<Self> {
        let (chains, warmup, draws) = plan.truth;
        let settings = json!({
            "data": format!("{:016x}", problem.model.fingerprint()), "rows": problem.rows(),
            "test_points": problem.points.len(), "chains": chains, "warmup": warmup, "draws": draws, "seed": context.seed,
        });
        context.truth("logistic", &settings, || Self::compute(context, problem, plan))
    }

    fn compute(context: &Context, problem: &Problem, plan: &Plan) -> Result<Self> {
        context.stage("ground truth by Hamiltonian Monte Carlo", 0.01)?;
        let (chains, warmup, draws) = plan.truth;
        let model = &problem.model;
        let mode = find_mode(model, &vec![0.0; problem.dimension()])?;
        let shape = RandomWalk::dense(problem.dimension(), &mode.covariance)?;
        let path = Path { length: 0.45, steps: 2..=5, ..Path::default() };
        let paths = Hamiltonian::new(model, &shape, path)?;
        let settings = Settings { chains, warmup, draws, seed: context.seed, ..Settings::default() };
        let rule = settings.rule.build(model.len())?;
        let numbers: Vec<u32> = (0..chains).collect();
        let all = parallel::each(context.threads, &numbers, |_, &number| {
            let start = ChainCheckpoint::start(mode.state.clone(), paths.clone());
            let mut chain = Chain::new(model, &settings, rule.clone(), (number, start))?;
            let apart = (draws * u64::from(chains) / STARTS).max(1);
            let mut sums = Sums::new(problem);
            let mut prediction = vec![0.0; problem.points.len()];
            while chain.draws() < draws {
                if context.stopped() {
                    return Err(Error::Interrupted);
                }
                chain.step()?;
                if chain.drew() {
                    problem.points.predict(chain.state(), &mut prediction);
                    sums.add(&prediction, chain.state(), &mode.state);
                    if chain.draws() % apart == 0 {
                        sums.starts.push(chain.state().clone());
                    }
                }
            }
            let learnt = chain.checkpoint().learnt;
            (sums.length, sums.gradients, sums.lost) =
                (learnt.path().length, learnt.gradients(), learnt.lost());
            sums.counters = *chain.sampling();
            Ok(sums)
        })?;
        Ok(Self::of(&all, &mode.state, draws as f64))
    }

    fn of(chains: &[Sums], mode: &[f64], draws: f64) -> Self {
        let count = chains.len() as f64;
        let per_chain = |values: fn(&Sums) -> &Vec<f64>| -> Vec<Vec<f64>> {
            chains.iter().map(|sums| values(sums).iter().map(|v| v / draws).collect()).collect()
        };
        let predictive = per_chain(|sums| &sums.predictive[0]);
        let squares = average(&per_chain(|sums| &sums.predictive[1]));
        let (first, second) = (per_chain(|sums| &sums.state[0]), per_chain(|sums| &sums.state[1]));
        let shift = average(&first);
        let spread = |first: &[f64], second: &[f64]| -> Vec<f64> {
            first.iter().zip(second).map(|(mean, square)| square - mean * mean).collect()
        };
        let variance = spread(&shift, &average(&second));
        let relative: Vec<Vec<f64>> = first
            .iter()
            .zip(&second)
            .map(|(first, second)| spread(first, second).iter().zip(&variance).map(|(v, t)| v / t).collect())
            .collect();
        let mean_predictive = average(&predictive);
        let single = mean_predictive.iter().zip(&squares).map(|(mean, square)| square - mean * mean);
        let mut counters = Counters::default();
        chains.iter().for_each(|sums| counters.add(&sums.counters));
        Self {
            single: single.sum::<f64>() / squares.len() as f64,
            predictive_floor: between(&predictive) / count,
            variance_floor: between(&relative) / count,
            predictive: mean_predictive,
            mean: shift.iter().zip(mode).map(|(shift, mode)| mode + shift).collect(),
            variance,
            starts: chains.iter().flat_map(|sums| sums.starts.clone()).collect(),
            acceptance: counters.acceptance(),
            length: chains.iter().map(|sums| sums.length).sum::<f64>() / count,
            gradients: chains.iter().map(|sums| sums.gradients).sum(),
            lost: chains.iter().map(|sums| sums.lost).sum(),
            draws: counters.steps,
        }
    }

    /// What the page tells of it.
    pub(super) fn numbers(&self) -> Value {
        json!({
            "predictive_floor": self.predictive_floor, "variance_floor": self.variance_floor, "single_draw_risk": self.single,
            "acceptance": self.acceptance, "leapfrog_length": self.length, "gradients": self.gradients, "lost_paths": self.lost,
            "draws": self.draws, "mean_posterior_sd": self.variance.iter().map(|v| v.sqrt()).sum::<f64>() / self.variance.len() as f64,
        })
    }
}

impl Sums {
    fn new(problem: &Problem) -> Self {
        let zeros = |count: usize| [vec![0.0; count], vec![0.0; count]];
        Self {
            predictive: zeros(problem.points.len()),
            state: zeros(problem.dimension()),
            starts: Vec::new(),
            counters: Counters::default(),
            length: 0.0,
            gradients: 0,
            lost: 0,
        }
    }

    fn add(&mut self, prediction: &[f64], state: &[f64], mode: &[f64]) {
        let add = |sums: &mut [Vec<f64>; 2], place: usize, value: f64| {
            sums[0][place] += value;
            sums[1][place] += value * value;
        };
        prediction.iter().enumerate().for_each(|(i, &p)| add(&mut self.predictive, i, p));
        state.iter().zip(mode).enumerate().for_each(|(i, (s, m))| add(&mut self.state, i, s - m));
    }
}

/// Mean over the chains, function by function.
fn average(chains: &[Vec<f64>]) -> Vec<f64> {
    let count = chains.len() as f64;
    (0..chains.first().map_or(0, Vec::len))
        .map(|i| chains.iter().map(|chain| chain[i]).sum::<f64>() / count)
        .collect()
}

/// Variance between chains, mean over the functions.
fn between(chains: &[Vec<f64>]) -> f64 {
    let mean = average(chains);
    let squares: f64 =
        chains.iter().map(|chain| chain.iter().zip(&mean).map(|(v, m)| (v - m) * (v - m)).sum::<f64>()).sum();
    squares / (chains.len() as f64 - 1.0) / mean.len() as f64
}
