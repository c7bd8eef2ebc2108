//! Steps of single coefficients between the spike of a narrow Student prior and where the likelihood has them.
//!
//! A Student prior that is much narrower than what the data say of a coefficient makes its posterior a spike with a shoulder: most of the mass within the width s of the prior, the rest about the centre c
//! of the likelihood, a hundred widths away and often without a mode of its own. Local steps have the size of the spike and do not come to the shoulder; chains that never saw it agree with each other. So one
//! coefficient, chosen at random, is drawn anew, whatever it was:
//!
//! ```text
//! q(θ) = ½ t_ν(θ; m, s) + ½ t_5(θ; c, v),      log q(θ) − log q(θ') enters the decision
//! ```
//!
//! The first part is the prior, the second covers the likelihood, with its centre c and standard deviation v while the other coefficients keep their place. The density of the whole is in the ratio: with that of the
//! drawn part alone the spike would hardly ever be left. (Tierney 1994, independence chains; George & McCulloch 1993 for spikes and slabs.)
//!
//! Cost: that of a decision. Use it as a part of a [`Mixture`](austerity::proposal::Mixture). Do not use it for coefficients that depend strongly on others: their draws are refused.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::ln_gamma;

use crate::PowerTail;
use austerity::error::{Result, setting};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// Degrees of freedom of the draws that cover the likelihood.
const FREEDOM: f64 = 5.0;

/// A coefficient whose prior is a spike beside its likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Spike {
    /// Its place in the state.
    pub parameter: usize,
    /// Its prior.
    pub prior: PowerTail,
    /// Centre of the likelihood.
    pub centre: f64,
    /// Standard deviation of the likelihood.
    pub spread: f64,
}

impl Spike {
    fn likelihood(&self) -> PowerTail {
        PowerTail { freedom: FREEDOM, location: self.centre, scale: self.spread }
    }

    /// log q, up to a constant.
    fn log_density(&self, value: f64) -> f64 {
        let [a, b] = [self.prior, self.likelihood()].map(|part| normalised(&part, value));
        a.max(b) + (-(a - b).abs()).exp().ln_1p()
    }
}

/// The log density of a Student t with all of its constants.
fn normalised(tail: &PowerTail, value: f64) -> f64 {
    let half = 0.5 * tail.freedom;
    ln_gamma(half + 0.5) - ln_gamma(half) - 0.5 * tail.freedom.ln() - tail.scale.ln()
        + tail.log_density(value)
}

/// Steps of such coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SpikeSteps {
    spikes: Vec<Spike>,
}

impl SpikeSteps {
    /// Steps of at least one coefficient.
    pub fn new(spikes: Vec<Spike>) -> Result<Self> {
        if spikes.is_empty() {
            return Err(setting("coefficients with a narrow prior", 0, "at least one"));
        }
        let sound = |one: &Spike| one.centre.is_finite() && one.spread > 0.0 && one.spread.is_finite();
        if let Some(bad) = spikes.iter().find(|one| !sound(one)) {
            return Err(setting(
                "standard deviation of a likelihood",
                bad.spread,
                "a positive finite number",
            ));
        }
        Ok(Self { spikes })
    }
}

impl Proposal<Vec<f64>> for SpikeSteps {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        to.clone_from(from);
        let spike = self.spikes[rng.random_range(0..self.spikes.len())];
        let part = if rng.random::<bool>() { spike.prior } else { spike.likelihood() };
        let here = from[spike.parameter];
        // A candidate beyond what single precision holds is none: the chain stays.
        let there = part.draw(rng).filter(|value| value.abs() < 1e30).unwrap_or(here);
        to[spike.parameter] = there;
        Ok((spike.log_density(here) - spike.log_density(there)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::rng::{Role, stream};

    /// A Cauchy spike of width 0.005 beside a normal likelihood around 3.2: the share of the shoulder is that of quadrature within 4.5 standard errors of 100 batches (false alarm 7e-6). Without the ratio, the partner, it
    /// is off by more than twice that.
    #[test]
    fn the_shoulder_has_its_share() {
        let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 0.005 };
        let density = |x: f64| prior.log_density(x) - 0.5 * (x - 3.2).powi(2);
        // Points that are dense at the spike: x = sinh(k·h)·s, spaced by cosh(k·h)·s.
        let (mut above, mut all) = (0.0, 0.0);
        for k in -80_000..80_000 {
            let t = 1e-4 * f64::from(k);
            let (x, width) = (0.005 * t.sinh(), 0.005 * t.cosh());
            let mass = density(x).exp() * width;
            all += mass;
            above += if x > 1.0 { mass } else { 0.0 };
        }
        let truth = above / all;
        assert!((0.02..0.2).contains(&truth), "{truth}");
        let spike = Spike { parameter: 1, prior, centre: 3.2, spread: 1.0 };
        let run = |honest: bool| {
            let mut steps = SpikeSteps::new(vec![spike]).unwrap();
            let mut rng = stream(13, 0, Role::Proposal);
            let (mut state, mut to, mut batches) = (vec![7.0, 0.0], Vec::new(), Vec::new());
            for _ in 0..100 {
                let mut inside = 0.0;
                for _ in 0..4000 {
                    let ratio = steps.propose(&state, &mut to, &mut rng).unwrap().log_ratio;
                    assert_eq!(to[0], 7.0);
                    let ratio = if honest { ratio } else { 0.0 };
                    if density(to[1]) - density(state[1]) + ratio > rng.random::<f64>().ln() {
                        std::mem::swap(&mut state, &mut to);
                    }
                    inside += f64::from(u8::from(state[1] > 1.0)) / 4000.0;
                }
                batches.push(inside);
            }
            let mean = batches.iter().sum::<f64>() / 100.0;
            let variance = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 99.0;
            (mean - truth) / (variance / 100.0).sqrt()
        };
        let (honest, partner) = (run(true), run(false));
        assert!(honest.abs() < 4.5, "{honest:.1} standard errors");
        assert!(partner.abs() > 9.0, "{partner:.1} standard errors without the ratio");
        assert!(SpikeSteps::new(vec![]).is_err());
        assert!(SpikeSteps::new(vec![Spike { spread: 0.0, ..spike }]).is_err());
    }
}
