//! Quantiles against a reference: draws from the surrogate posterior, each weighted by its residuals on all rows.
//!
//! Leapfrog paths on the surrogate make the draws and read no data; w = exp Σ r_i(θ) over all rows corrects them exactly, so that nothing of the
//! reference rests on a test or a sample. Required: every 2.5, 50 and 97.5 % quantile within max(3.5 MCSE, 0.05 sd), the MCSE that of run and reference together.

use std::thread;

use austerity::diagnostics::{ess_bulk, mcse_quantile, quantile};
use austerity::model::Model as _;
use austerity::population::Population as _;
use austerity::proposal::Proposal as _;
use austerity::rng::{Rng, Role, seek, stream};
use austerity_glm::Surrogate;
use austerity_glm::proposal::{TransitionKind, TransitionPlan};
use austerity_glm::surrogate::{CertainSteps, ResidualGradient};
use rand::RngExt as _;

/// The quantiles compared.
pub(crate) const PROBABILITIES: [f64; 3] = [0.025, 0.5, 0.975];

/// Weighted draws.
pub(crate) struct Reference {
    /// Parameter by parameter.
    draws: Vec<Vec<f64>>,
    weights: Vec<f64>,
    /// Effective number of draws.
    pub(crate) effective: f64,
}

impl Reference {
    /// `count` draws, `thin` paths apart, on `threads` threads.
    pub(crate) fn new<E: CertainSteps + ResidualGradient>(
        surrogate: &Surrogate<E>,
        plan: &TransitionPlan,
        count: usize,
        thin: usize,
        threads: usize,
    ) -> Self {
        let expansion = surrogate.expansion();
        let plan = TransitionPlan::pilot(
            expansion,
            (&plan.mean, &plan.covariance),
            Some(TransitionKind::Hamiltonian),
            7,
        )
        .expect("a plan");
        let parts: Vec<(Vec<Vec<f64>>, Vec<f64>)> = thread::scope(|scope| {
            let plan = &plan;
            let handles: Vec<_> = (0..threads)
                .map(|thread| {
                    scope.spawn(move || part(surrogate, plan, count / threads, thin, thread as u32))
                })
                .collect();
            handles.into_iter().map(|handle| handle.join().expect("a thread")).collect()
        });
        let d = expansion.dimension();
        let mut draws: Vec<Vec<f64>> = vec![Vec::new(); d];
        let mut logs = Vec::new();
        let mut smallest = f64::INFINITY;
        for i in 0..d {
            let chains: Vec<&[f64]> = parts.iter().map(|(draws, _)| &draws[i][..]).collect();
            smallest = smallest.min(ess_bulk(&chains));
        }
        for (part, weights) in parts {
            draws.iter_mut().zip(part).for_each(|(all, part)| all.extend(part));
            logs.extend(weights);
        }
        let largest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let weights: Vec<f64> = logs.iter().map(|log| (log - largest).exp()).collect();
        let (sum, square) = weights.iter().fold((0.0, 0.0), |(s, q), w| (s + w, q + w * w));
        let effective = smallest * (sum * sum / square) / weights.len() as f64;
        Self { draws, weights, effective }
    }

    /// Means and standard deviations.
    pub(crate) fn moments(&self) -> (Vec<f64>, Vec<f64>) {
        let total: f64 = self.weights.iter().sum();
        let mean = |values: &[f64], map: &dyn Fn(f64) -> f64| {
            values.iter().zip(&self.weights).map(|(&value, weight)| weight * map(value)).sum::<f64>() / total
        };
        let both = self.draws.iter().map(|values| {
            let centre = mean(values, &|value| value);
            (centre, mean(values, &|value| (value - centre).powi(2)).sqrt())
        });
        both.unzip()
    }

    /// One draw from the posterior.
    pub(crate) fn draw(&self, rng: &mut Rng) -> Vec<f64> {
        let mut left = rng.random::<f64>() * self.weights.iter().sum::<f64>();
        let reached = |weight: &f64| {
            left -= weight;
            left <= 0.0
        };
        let place = self.weights.iter().position(reached).unwrap_or(0);
        self.draws.iter().map(|values| values[place]).collect()
    }

    /// A weighted quantile.
    fn quantile(&self, parameter: usize, probability: f64) -> f64 {
        let values = &self.draws[parameter];
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|&a, &b| values[a].total_cmp(&values[b]));
        let total: f64 = self.weights.iter().sum();
        let mut before = 0.0;
        for &place in &order {
            before += self.weights[place];
            if before >= probability * total {
                return values[place];
            }
        }
        values[order[order.len() - 1]]
    }

    /// Half the width between the quantiles one standard error of a share apart.
    fn error(&self, parameter: usize, probability: f64) -> f64 {
        let step = (probability * (1.0 - probability) / self.effective).sqrt();
        let at = |p: f64| self.quantile(parameter, p.clamp(1e-4, 1.0 - 1e-4));
        0.5 * (at(probability + step) - at(probability - step))
    }

    /// A robust standard deviation: a quarter of the central 95 %.
    fn sd(&self, parameter: usize) -> f64 {
        (self.quantile(parameter, 0.975) - self.quantile(parameter, 0.025)) / 3.92
    }

    /// Compares chains (parameter by parameter) with the reference and prints the outcome.
    pub(crate) fn compare(&self, label: &str, chains: &[Vec<Vec<f64>>]) {
        let (mut outside, mut worst, mut largest) = (0, 0.0f64, 0.0f64);
        for parameter in 0..self.draws.len() {
            let own: Vec<&[f64]> = chains.iter().map(|chain| &chain[parameter][..]).collect();
            let sd = self.sd(parameter);
            for probability in PROBABILITIES {
                let difference = (quantile(&own, probability) - self.quantile(parameter, probability)).abs();
                let error = mcse_quantile(&own, probability).hypot(self.error(parameter, probability));
                let allowed = (3.5 * error).max(0.05 * sd);
                outside += usize::from(difference > allowed);
                worst = worst.max(difference / allowed);
                largest = largest.max(difference / sd);
            }
        }
        println!(
            "  {label}: {outside} of {} quantiles outside max(3.5 MCSE, .05 sd); worst {worst:.2} of what is allowed, largest difference {largest:.3} sd \
             (reference: {:.0} effective draws)",
            3 * self.draws.len(),
            self.effective
        );
    }

    /// How far the quantiles of a normal distribution with this mean and these sds are off, in sds.
    pub(crate) fn normal(&self, mean: &[f64], sds: &[f64]) -> f64 {
        let mut largest = 0.0f64;
        for parameter in 0..self.draws.len() {
            for (probability, z) in PROBABILITIES.into_iter().zip([-1.96, 0.0, 1.96]) {
                let off = mean[parameter] + z * sds[parameter] - self.quantile(parameter, probability);
                largest = largest.max(off.abs() / self.sd(parameter));
            }
        }
        largest
    }
}

/// Draws of one thread and the logs of their weights.
fn part<E: CertainSteps + ResidualGradient>(
    surrogate: &Surrogate<E>,
    plan: &TransitionPlan,
    count: usize,
    thin: usize,
    number: u32,
) -> (Vec<Vec<f64>>, Vec<f64>) {
    let expansion = surrogate.expansion();
    let mut transition = plan.build(expansion).expect("a transition");
    let mut scratch = surrogate.scratch(austerity::model::Access::Blocks);
    let centre = expansion.centre().to_vec();
    let (mut state, mut to) = (plan.mean.clone(), plan.mean.clone());
    let mut draws = vec![Vec::with_capacity(count); state.len()];
    let mut weights = Vec::with_capacity(count);
    let mut rng = stream(99, number, Role::Proposal);
    for draw in 0..count + 20 {
        for step in 0..thin {
            seek(&mut rng, (draw * thin + step) as u64);
            transition.propose(&state, &mut to, &mut rng).expect("a path");
            state.clone_from(&to);
            transition.refresh(&mut state, &mut rng).expect("sweeps");
        }
        if draw < 20 {
            continue;
        }
        let residuals = surrogate.compare(&centre, &state, &mut scratch).total().expect("residuals").sum();
        weights.push(residuals);
        draws.iter_mut().zip(&state).for_each(|(draws, value)| draws.push(*value));
    }
    (draws, weights)
}
