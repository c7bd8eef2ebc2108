//! Independent draws from a mixture over the modes, with its full density in the ratio: how chains cross between modes.
//!
//! ```text
//! q(θ) = Σ_k w_k t_ν(θ; m_k, Σ_k),      log q(θ) − log q(θ') enters the decision
//! ```
//!
//! The mean and covariance of mode k shape a Student t with ν = max(8, 2d) degrees of freedom, whose tails are heavier than a normal posterior's. The density of the
//! *whole* mixture is in the ratio, so that a draw counts wherever it fell: with the density of the component alone, two modes that overlap would be sampled wrongly (Tierney
//! 1994, independence chains; Andrieu & Thoms 2008 for mixtures). Weights decide how often a mode is tried, never how much mass it has.
//!
//! [`ModeDraws::tried`] draws from every component and compares with the posterior density, before chains start. Importance weights v = π/q give the share of each mode
//! and what share of the draws a chain in equilibrium accepts:
//!
//! ```text
//! flow out of mode a per draw = Σ_{i in a, j not in a} q_i q_j min(v_i, v_j) / Σ q_i v_i      rate_a = flow / (s_a (1 − s_a))
//! ```
//!
//! 1 means that the mode changes as if draws were independent, 0 that chains never cross. Weights, means and covariances are then improved by what was found, where that helps.
//!
//! Cost: d normals, one χ² and d²/2 multiplications per mode and draw; the trial some hundred densities per mode. Do not use where modes cannot be told apart from
//! their surroundings by a t distribution, as in many dimensions with few rows: the rate shows it.

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::Regions;
use crate::regions::Component;
use austerity::error::{Result, setting};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::{Rng, Role, stream};

/// Smallest degrees of freedom.
const FREEDOM: f64 = 8.0;
/// Share of the weight that all modes have alike, whatever mass they seem to hold.
const ALIKE: f64 = 0.2;
/// Effective draws per parameter and entry that a covariance is learnt from.
const LEARNABLE: f64 = 10.0;
/// How often means and covariances are improved.
const ROUNDS: usize = 3;

/// Independent draws from a mixture of Student t distributions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModeDraws {
    components: Vec<Component>,
    /// w_k.
    weights: Vec<f64>,
    freedom: f64,
}

/// What a trial found.
#[derive(Clone, Debug, PartialEq)]
pub struct ModeTrial {
    /// The mass of each region.
    pub shares: Vec<f64>,
    /// How fast the mode changes, beside independent draws: that of the slowest.
    pub rate: f64,
}

/// A draw of a trial.
struct Tried {
    state: Vec<f64>,
    label: usize,
    /// π/q, relative to the largest, times the weight of the draw in its component.
    importance: f64,
    /// q of the draw: w_k/n_k.
    mass: f64,
}

impl ModeDraws {
    /// Draws around these means with these covariances (d × d, row by row), each mode with about its share of the draws.
    pub fn new(modes: &[(&[f64], &[f64])], shares: &[f64]) -> Result<Self> {
        if modes.is_empty() || modes.len() != shares.len() {
            return Err(setting("modes", modes.len(), "at least one, each with a share"));
        }
        let components = modes
            .iter()
            .map(|(mean, covariance)| Component::new(mean, covariance))
            .collect::<Result<Vec<_>>>()?;
        let freedom = FREEDOM.max(2.0 * modes[0].0.len() as f64);
        Ok(Self { components, weights: weights(shares)?, freedom })
    }

    /// log q.
    fn log_density(&self, state: &[f64]) -> f64 {
        let power = -0.5 * (self.freedom + state.len() as f64);
        let one = |(component, weight): (&Component, &f64)| {
            let tail = power * (component.square(state) / self.freedom).ln_1p();
            weight.ln() - component.half_log_determinant() + tail
        };
        let logs = || self.components.iter().zip(&self.weights).map(one);
        let most = logs().fold(f64::NEG_INFINITY, f64::max);
        most + logs().map(|log| (log - most).exp()).sum::<f64>().ln()
    }

    /// A draw from component `k`.
    fn draw_from(&self, k: usize, to: &mut Vec<f64>, rng: &mut Rng) -> Result<()> {
        let Component { mean, factor } = &self.components[k];
        let d = mean.len();
        let noise: Vec<f64> = (0..d).map(|_| rng.sample(StandardNormal)).collect();
        let chi: f64 = ChiSquared::new(self.freedom)
            .map_err(|_| setting("degrees of freedom of draws around modes", self.freedom, "positive"))?
            .sample(rng);
        let stretch = (self.freedom / chi).sqrt();
        to.clear();
        let mut row = 0;
        for (i, mean) in mean.iter().enumerate() {
            let sum = austerity::dot::dot(&factor[row..=row + i], &noise[..=i]);
            to.push(mean + stretch * sum);
            row += i + 1;
        }
        Ok(())
    }

    /// Compares `draws` draws per mode with the log posterior density, improves weights, means and covariances by what is found, and tells how well chains will cross.
    pub fn tried(
        self,
        regions: &Regions,
        draws: usize,
        seed: u64,
        mut log_density: impl FnMut(&[Vec<f64>]) -> Result<Vec<f64>>,
    ) -> Result<(Self, ModeTrial)> {
        let mut best: Option<(Self, ModeTrial)> = None;
        let mut next = self;
        for round in 0..ROUNDS {
            let all = next.weighed(regions, draws, seed + round as u64, &mut log_density)?;
            let trial = ModeTrial { shares: shares(&all, regions.len()), rate: rate(&all, regions.len()) };
            let improved = next.improved(&all, &trial.shares);
            if best.as_ref().is_none_or(|(_, known)| trial.rate > known.rate) {
                best = Some((next, trial));
            }
            match improved {
                Some(improved) if round + 1 < ROUNDS => next = improved,
                _ => break,
            }
        }
        best.ok_or_else(|| setting("modes", "none", "at least one"))
    }

    /// Draws from every component with their importance.
    fn weighed(
        &self,
        regions: &Regions,
        draws: usize,
        seed: u64,
        log_density: &mut impl FnMut(&[Vec<f64>]) -> Result<Vec<f64>>,
    ) -> Result<Vec<Tried>> {
        let mut rng = stream(seed, u32::MAX, Role::Proposal);
        let mut states = vec![Vec::new(); draws * self.components.len()];
        for (place, state) in states.iter_mut().enumerate() {
            self.draw_from(place / draws, state, &mut rng)?;
        }
        let densities = log_density(&states)?;
        let logs: Vec<f64> = states
            .iter()
            .zip(&densities)
            .map(|(state, density)| {
                let log = density - self.log_density(state);
                if log.is_nan() { f64::NEG_INFINITY } else { log }
            })
            .collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let tried = |(place, state): (usize, Vec<f64>)| Tried {
            label: regions.label(&state),
            importance: if most.is_finite() { (logs[place] - most).exp() } else { 0.0 },
            mass: self.weights[place / draws] / draws as f64,
            state,
        };
        Ok(states.into_iter().enumerate().map(tried).collect())
    }

    /// The same with the weights, and where enough draws tell, the means and covariances that were found; none where nothing was.
    fn improved(&self, all: &[Tried], shares: &[f64]) -> Option<Self> {
        let mut next = Self { weights: weights(shares).ok()?, ..self.clone() };
        for (k, component) in next.components.iter_mut().enumerate() {
            let own: Vec<(f64, &[f64])> = all
                .iter()
                .filter(|tried| tried.label == k)
                .map(|tried| (tried.mass * tried.importance, &tried.state[..]))
                .collect();
            if let Some(found) = moments(&own) {
                *component = found;
            }
        }
        Some(next)
    }
}

/// Mean and covariance of weighted states; none where too few carry the weight.
fn moments(states: &[(f64, &[f64])]) -> Option<Component> {
    let d = states.first()?.1.len();
    let total: f64 = states.iter().map(|(weight, _)| weight).sum();
    let effective = total.powi(2) / states.iter().map(|(weight, _)| weight * weight).sum::<f64>();
    // A NaN is no number of draws.
    if effective.is_nan() || effective < LEARNABLE * (d + 1) as f64 {
        return None;
    }
    let mut mean = vec![0.0; d];
    for (weight, state) in states {
        mean.iter_mut().zip(*state).for_each(|(slot, value)| *slot += weight / total * value);
    }
    let mut covariance = vec![0.0; d * d];
    for (weight, state) in states {
        for i in 0..d {
            for j in 0..d {
                covariance[i * d + j] += weight / total * (state[i] - mean[i]) * (state[j] - mean[j]);
            }
        }
    }
    Component::new(&mean, &covariance).ok()
}

/// Weights from shares: a part alike, the rest by mass.
fn weights(shares: &[f64]) -> Result<Vec<f64>> {
    if let Some(share) = shares.iter().find(|share| !(**share >= 0.0 && share.is_finite())) {
        return Err(setting("share of a mode", share, "a number from 0 to 1"));
    }
    let (total, count) = (shares.iter().sum::<f64>(), shares.len() as f64);
    if total <= 0.0 {
        return Err(setting("shares of modes", total, "a positive sum"));
    }
    Ok(shares.iter().map(|share| ALIKE / count + (1.0 - ALIKE) * share / total).collect())
}

/// The mass of each region.
fn shares(all: &[Tried], modes: usize) -> Vec<f64> {
    let mut shares = vec![0.0; modes];
    all.iter().for_each(|tried| shares[tried.label] += tried.mass * tried.importance);
    let total: f64 = shares.iter().sum();
    shares.iter().map(|share| if total > 0.0 { share / total } else { 0.0 }).collect()
}

/// How fast the slowest mode changes, beside independent draws.
fn rate(all: &[Tried], modes: usize) -> f64 {
    let total: f64 = all.iter().map(|tried| tried.mass * tried.importance).sum();
    let held = shares(all, modes);
    let mut flows = vec![0.0; modes];
    for a in all {
        for b in all.iter().filter(|b| b.label != a.label) {
            flows[a.label] += a.mass * b.mass * a.importance.min(b.importance) / total;
        }
    }
    // A region without mass changes nothing.
    let rates = flows
        .iter()
        .zip(&held)
        .filter(|(_, held)| **held > 0.0)
        .map(|(flow, held)| flow / (held * (1.0 - held)));
    let slowest = rates.fold(f64::INFINITY, f64::min);
    if slowest.is_finite() { slowest } else { 0.0 }
}

impl Proposal<Vec<f64>> for ModeDraws {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let mut left: f64 = rng.random();
        let mut chosen = self.weights.len() - 1;
        for (k, weight) in self.weights.iter().enumerate() {
            if left < *weight {
                chosen = k;
                break;
            }
            left -= weight;
        }
        self.draw_from(chosen, to, rng)?;
        Ok((self.log_density(from) - self.log_density(to)).into())
    }
}

#[cfg(test)]
mod tests;
