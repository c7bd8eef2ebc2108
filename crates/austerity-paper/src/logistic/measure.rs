//! What chains from the posterior have cost and sampled, beside what the theory predicts from the exact acceptance rate alone.
//!
//! An exact walk on a near-Gaussian posterior accepts 2Φ(−D/2); that D gives temperature, data use and acceptance of a test
//! ([`austerity::theory::bias`]). The measured sd is that of the second half of all chains, pooled: at first they still have the spread of the
//! posterior they were started from.

use austerity::rule::Law;
use austerity::run::Counters;
use austerity::theory::{Accuracy, ErrorTable, Moves, TestPlan, TestWalk};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF as _, Normal};

use super::chains::{Both, PER_DOUBLING, Start, test};
use super::problem::Problem;
use super::truth::Truth;
use super::{EPSILONS, Plan};
use crate::claim::Estimate;
use crate::error::Result;
use crate::trajectory::Trajectory;

/// A rule at stationarity.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Measured {
    /// ε, 0 for exact decisions.
    pub(super) epsilon: f64,
    /// Share of candidates accepted.
    pub(super) acceptance: f64,
    /// Mean share of the rows that a decision rested on.
    pub(super) share: f64,
    /// Standard errors of both, from the spread of the chains.
    pub(super) acceptance_error: f64,
    pub(super) share_error: f64,
    /// Likelihood evaluations per step.
    pub(super) evaluations: f64,
    /// Steps per CPU second.
    pub(super) speed: f64,
    /// Posterior sd of the chain over the true one: root mean square over the coefficients.
    pub(super) inflation: f64,
    /// Its standard error, from the spread of the chains.
    pub(super) inflation_error: f64,
    /// What the theory says of acceptance, share and inflation.
    pub(super) predicted: Predicted,
}

/// A prediction.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Predicted {
    pub(super) acceptance: f64,
    pub(super) share: f64,
    pub(super) inflation: f64,
}

/// Every rule, the exact one first.
pub(super) fn all(problem: &Problem, truth: &Truth, both: &Both, plan: &Plan) -> Result<Vec<Measured>> {
    let family = &both[Start::Stationary as usize];
    let counters: Vec<Counters> = family.iter().map(|chains| count(chains)).collect();
    let exact = counters[0].acceptance().clamp(1e-6, 1.0 - 1e-6);
    let energy_root = -2.0 * Normal::standard().inverse_cdf(exact / 2.0);
    EPSILONS
        .iter()
        .zip(family)
        .zip(&counters)
        .map(|((&epsilon, chains), counters)| {
            let predicted = match test(epsilon, plan) {
                None => Predicted { acceptance: exact, share: 1.0, inflation: 1.0 },
                Some(test) => {
                    let walk = TestWalk::new(TestPlan::of_settings(&test, problem.rows())?, Accuracy::Exact);
                    let table = ErrorTable::new(&walk, Accuracy::Exact);
                    let bias = table.bias(Law::Metropolis, Moves::plain(energy_root))?;
                    Predicted {
                        acceptance: bias.acceptance,
                        share: bias.data_usage,
                        inflation: bias.sd_inflation,
                    }
                }
            };
            let (inflation, inflation_error) = inflation(chains, truth);
            let steps = counters.steps as f64;
            let each = |of: &dyn Fn(&Counters) -> f64| -> Vec<f64> {
                chains.iter().map(|chain| of(&chain.counters)).collect()
            };
            let error = |values: Vec<f64>| Estimate::mean("", &values).error;
            Ok(Measured {
                epsilon,
                acceptance: counters.acceptance(),
                share: counters.data_share(problem.rows()),
                acceptance_error: error(each(&Counters::acceptance)),
                share_error: error(each(&|counters| counters.data_share(problem.rows()))),
                evaluations: counters.evaluations as f64 / steps,
                speed: steps / chains.iter().map(|chain| chain.seconds).sum::<f64>(),
                inflation,
                inflation_error,
                predicted,
            })
        })
        .collect()
}

fn count(chains: &[Trajectory]) -> Counters {
    let mut all = Counters::default();
    chains.iter().for_each(|chain| all.add(&chain.counters));
    all
}

/// Sd of the second half of all chains over the true one, and its standard error.
fn inflation(chains: &[Trajectory], truth: &Truth) -> (f64, f64) {
    let dimension = truth.mean.len();
    let halves: Vec<Vec<f64>> = chains.iter().filter_map(|chain| second_half(chain, 2 * dimension)).collect();
    let count = halves.len() as f64;
    let centre: Vec<f64> =
        (0..dimension).map(|i| halves.iter().map(|half| half[i]).sum::<f64>() / count).collect();
    // About the pooled mean, relative to the true variance, mean over the coefficients.
    let ratio = |half: &Vec<f64>| {
        let about = |i: usize| half[dimension + i] - 2.0 * centre[i] * half[i] + centre[i] * centre[i];
        (0..dimension).map(|i| about(i) / truth.variance[i]).sum::<f64>() / dimension as f64
    };
    let ratios: Vec<f64> = halves.iter().map(ratio).collect();
    let mean = ratios.iter().sum::<f64>() / count;
    let spread = ratios.iter().map(|ratio| (ratio - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (mean.sqrt(), (spread / count).sqrt() / (2.0 * mean.sqrt()))
}

/// Means over the second half of the time of the last `width` functions.
fn second_half(chain: &Trajectory, width: usize) -> Option<Vec<f64>> {
    let last = chain.checkpoints.last()?;
    let middle = &chain.checkpoints[chain.checkpoints.len().checked_sub(1 + PER_DOUBLING)?];
    let (all, half) = (last.steps as f64, middle.steps as f64);
    let tail = |means: &[f64]| means[means.len() - width..].to_vec();
    let pairs = tail(&last.means).into_iter().zip(tail(&middle.means));
    (all > half).then(|| pairs.map(|(whole, first)| (all * whole - half * first) / (all - half)).collect())
}
