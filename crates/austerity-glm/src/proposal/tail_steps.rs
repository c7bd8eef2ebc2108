//! Steps of single coefficients into the tails of their priors, decided like any other candidate.
//!
//! One of the coefficients, chosen at random, moves by one of three kinds of steps, chosen at random: a Cauchy step, a draw from its prior, a stretch ([`heavy`](super::heavy)). A mixture of kernels that are
//! reversible for the posterior is reversible for it (Tierney 1994). For posteriors whose rows are read at every decision; on a surrogate [`Sweeps`](super::Sweeps) do the same without reading
//! rows that do not have the feature.
//!
//! Cost: that of a decision. Use it as a part of a [`Mixture`](austerity::proposal::Mixture): alone it moves nothing else. Nothing adapts.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::PowerTail;
use crate::proposal::heavy::{HeavyStep, from_prior, stretched};
use austerity::error::{Result, setting};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// A coefficient whose posterior may have the tail of its prior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HeavyCoefficient {
    /// Its place in the state.
    pub parameter: usize,
    /// Its prior.
    pub prior: PowerTail,
    /// Size of its Cauchy steps: about 1.5 posterior sds.
    pub size: f64,
}

/// Steps of such coefficients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TailSteps {
    coefficients: Vec<HeavyCoefficient>,
}

impl TailSteps {
    /// Steps of at least one coefficient.
    pub fn new(coefficients: Vec<HeavyCoefficient>) -> Result<Self> {
        if coefficients.is_empty() {
            return Err(setting("coefficients with heavy tails", 0, "at least one"));
        }
        if let Some(bad) = coefficients.iter().find(|one| !(one.size > 0.0 && one.size.is_finite())) {
            return Err(setting("size of a step", bad.size, "a positive finite number"));
        }
        Ok(Self { coefficients })
    }
}

impl Proposal<Vec<f64>> for TailSteps {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        to.clone_from(from);
        let HeavyCoefficient { parameter, prior, size } =
            self.coefficients[rng.random_range(0..self.coefficients.len())];
        let step = match rng.random_range(0..3u8) {
            0 => {
                let angle = std::f64::consts::PI * (rng.random::<f64>() - 0.5);
                Some(HeavyStep { by: size * angle.tan(), log_ratio: 0.0 })
            }
            1 => from_prior(&prior, from[parameter], rng),
            _ => Some(stretched(&prior, from[parameter], rng)),
        };
        // A candidate beyond what single precision holds is none: the chain stays.
        let step = step.filter(|step| (from[parameter] + step.by).abs() < 1e30);
        let HeavyStep { by, log_ratio } = step.unwrap_or(HeavyStep { by: 0.0, log_ratio: 0.0 });
        to[parameter] += by;
        Ok(log_ratio.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::FreeTail;
    use austerity::rng::{Role, stream};

    /// A Cauchy density above 2: depths beyond 4 have mean 1 within 4.5 standard errors of 100 batches (false alarm 7e-6).
    #[test]
    fn steps_leave_the_density_as_it_is() {
        let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 2.0 };
        let tail = FreeTail { prior, up: true, from: 4.0, share: 0.0, brake: None };
        let mut steps = TailSteps::new(vec![HeavyCoefficient { parameter: 1, prior, size: 3.0 }]).unwrap();
        let density = |x: f64| if x > 2.0 { prior.log_density(x) } else { f64::NEG_INFINITY };
        let mut rng = stream(12, 0, Role::Proposal);
        let (mut state, mut to) = (vec![7.0, 5.0], Vec::new());
        let mut batches = Vec::new();
        for _ in 0..100 {
            let (mut sum, mut count) = (0.0, 0.0);
            for _ in 0..4000 {
                let ratio = steps.propose(&state, &mut to, &mut rng).unwrap().log_ratio;
                assert_eq!(to[0], 7.0);
                if density(to[1]) - density(state[1]) + ratio > rng.random::<f64>().ln() {
                    std::mem::swap(&mut state, &mut to);
                }
                if tail.holds(state[1]) {
                    (sum, count) = (sum + tail.depth(state[1]), count + 1.0);
                }
            }
            batches.push(sum / count);
        }
        let mean = batches.iter().sum::<f64>() / 100.0;
        let variance = batches.iter().map(|b| (b - mean).powi(2)).sum::<f64>() / 99.0;
        let z = (mean - 1.0) / (variance / 100.0).sqrt();
        assert!(z.abs() < 4.5, "{z:.1} standard errors");
        assert!(TailSteps::new(vec![]).is_err());
    }
}
