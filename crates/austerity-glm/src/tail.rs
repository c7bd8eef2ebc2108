//! The tail of a prior that falls like a power, and what it does to a posterior.
//!
//! A Student prior with ν degrees of freedom, location m and scale s has P(θ > x) ∝ x^{−ν} far out. Where the likelihood stays bounded away from 0 in that
//! direction (a level whose rows all have the same response, a level without a row) the posterior keeps this tail: its mean exists only for ν > 1, its
//! variance only for ν > 2. Where the likelihood falls to 0 like an exponential, as it does for almost every column of real data, all moments exist.
//!
//! ```text
//! P(θ > x) = ½ I_{ν/(ν+z²)}(ν/2, ½),   z = (x − m)/s ≥ 0        (regularised incomplete beta function)
//! ```
//!
//! The default prior of an intercept is one of α + x̄'β. With α held by the data it multiplies the tail of β_j by a normal density of sd
//! s/|x̄_j|: a [`Brake`], which is far out for a rare column and near for a common one. P(θ > x) is then an integral, by Simpson's rule in log θ.
//!
//! Cost: one incomplete beta function, or 129 densities with a brake. Other priors have tails that fall like an exponential or faster, and are none of this file's business.

use rand_distr::{Distribution as _, StudentT};
use serde::{Deserialize, Serialize};
use statrs::function::beta::checked_beta_reg;

use crate::Prior;
use austerity::rng::Rng;

/// A Student prior, by its tail.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PowerTail {
    /// Degrees of freedom: P(θ > x) falls like x to minus this power.
    pub freedom: f64,
    /// Location.
    pub location: f64,
    /// Scale.
    pub scale: f64,
}

impl PowerTail {
    /// The tail of `prior`, where it falls like a power.
    #[must_use]
    pub fn of(prior: &Prior) -> Option<Self> {
        match *prior {
            Prior::Student { freedom, mean, scale } => Some(Self { freedom, location: mean, scale }),
            _ => None,
        }
    }

    /// A draw from the prior; `None` where it is beyond what a number can hold.
    pub fn draw(&self, rng: &mut Rng) -> Option<f64> {
        let value = self.location + self.scale * StudentT::new(self.freedom).ok()?.sample(rng);
        value.is_finite().then_some(value)
    }

    /// Log density at `value`, up to a constant.
    #[must_use]
    pub fn log_density(&self, value: f64) -> f64 {
        let z = (value - self.location) / self.scale;
        // ln(1 + z²/ν), where z² may be beyond what a number can hold.
        let log = if z.abs() < 1e100 {
            (z * z / self.freedom).ln_1p()
        } else {
            2.0 * z.abs().ln() - self.freedom.ln()
        };
        -0.5 * (self.freedom + 1.0) * log
    }

    /// log P(θ > value) for `up`, log P(θ < value) otherwise.
    #[must_use]
    pub fn log_beyond(&self, value: f64, up: bool) -> f64 {
        let z = (value - self.location) / self.scale * if up { 1.0 } else { -1.0 };
        let share = 1.0 / (1.0 + z * z / self.freedom);
        let half = checked_beta_reg(0.5 * self.freedom, 0.5, share).map_or(f64::NAN, |both| 0.5 * both);
        if z >= 0.0 { half.ln() } else { (-half).ln_1p() }
    }
}

/// What the prior of the intercept at the column means does to a coefficient far out: its density is multiplied by a normal one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Brake {
    /// Mean of the normal density.
    pub centre: f64,
    /// Its standard deviation.
    pub sd: f64,
}

/// A side on which the likelihood of a coefficient stays bounded away from 0, so that the tail of the posterior is that of its prior.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FreeTail {
    /// The prior.
    pub prior: PowerTail,
    /// Whether the side is that of large values.
    pub up: bool,
    /// From here on the likelihood is constant.
    pub from: f64,
    /// Share of the posterior beyond, given the other coefficients at their mode: its order of magnitude. 0 where it is not known.
    #[serde(default)]
    pub share: f64,
    /// Where the prior of the intercept ends the tail, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub brake: Option<Brake>,
}

/// Standard deviations of a brake beyond which nothing is left.
const STOPPED: f64 = 12.0;
/// Share of the tail beyond one sd of the brake from which on draws show that the moments exist.
const SEEN: f64 = 0.01;
/// Intervals of Simpson's rule.
const INTERVALS: u32 = 128;

impl FreeTail {
    /// Whether the posterior mean exists as far as this side goes.
    #[must_use]
    pub fn has_mean(&self) -> bool {
        self.prior.freedom > 1.0 || self.is_braked()
    }

    /// Whether the posterior standard deviation exists as far as this side goes.
    #[must_use]
    pub fn has_sd(&self) -> bool {
        self.prior.freedom > 2.0 || self.is_braked()
    }

    /// Whether the prior of the intercept ends the tail where draws go.
    fn is_braked(&self) -> bool {
        self.brake.is_some_and(|brake| {
            let there = if self.up { brake.centre + brake.sd } else { brake.centre - brake.sd };
            !self.holds(there)
                || self.prior.log_beyond(there, self.up) - self.prior.log_beyond(self.from, self.up)
                    > SEEN.ln()
        })
    }

    /// Whether `value` is where the likelihood is constant.
    #[must_use]
    pub fn holds(&self, value: f64) -> bool {
        if self.up { value > self.from } else { value < self.from }
    }

    /// −log of the prior's probability beyond `value`, given that of [`FreeTail::from`]: an exponential number of mean 1 where `value` is a posterior draw.
    #[must_use]
    pub fn depth(&self, value: f64) -> f64 {
        let beyond = |value: f64| match self.brake {
            None => self.prior.log_beyond(value, self.up),
            Some(brake) => self.log_beyond_braked(value, brake),
        };
        beyond(self.from) - beyond(value)
    }

    /// log ∫ prior · brake beyond `value`, up to a constant.
    fn log_beyond_braked(&self, value: f64, brake: Brake) -> f64 {
        let (location, side) = (self.prior.location, if self.up { 1.0 } else { -1.0 });
        // Distances from the prior's location on this side.
        let near = (side * (value - location)).max(1e-9 * self.prior.scale);
        let end = (side * (brake.centre - location) + STOPPED * brake.sd).max(2.0 * near);
        let log_density = |log: f64| {
            let there = location + side * log.exp();
            let z = (there - brake.centre) / brake.sd;
            self.prior.log_density(there) - 0.5 * z * z + log
        };
        let (begin, width) = (near.ln(), (end / near).ln() / f64::from(INTERVALS));
        let largest = log_density(begin);
        let sum: f64 = (0..=INTERVALS)
            .map(|place| {
                let weight = match place {
                    0 | INTERVALS => 1.0,
                    odd if odd % 2 == 1 => 4.0,
                    _ => 2.0,
                };
                weight * (log_density(begin + width * f64::from(place)) - largest).exp()
            })
            .sum();
        largest + (sum * width / 3.0).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::rng::{Role, stream};
    use rand::RngExt as _;

    #[test]
    fn the_tail_of_a_cauchy_prior() {
        let tail = PowerTail::of(&Prior::student(1.0, 2.5)).unwrap();
        for value in [-40.0f64, -1.0, 0.0, 0.3, 7.0, 1e4, 1e9] {
            let wanted = 0.5 - (value / 2.5).atan() / std::f64::consts::PI;
            let wanted = if value > 1e3 { 2.5 / (std::f64::consts::PI * value) } else { wanted };
            let found = tail.log_beyond(value, true);
            assert!((found - wanted.ln()).abs() < 1e-6, "{value}: {found} {}", wanted.ln());
            assert!((tail.log_beyond(-value, false) - found).abs() < 1e-12);
            let density = Prior::student(1.0, 2.5).log_density(value);
            assert!((tail.log_density(value) - density).abs() < 1e-9);
        }
        assert!(tail.log_density(1e200).is_finite() && tail.log_beyond(1e150, true).is_finite());
        assert_eq!(PowerTail::of(&Prior::normal(1.0)), None);
    }

    /// Depths of prior draws beyond a point are exponential of mean 1: 4.5 standard errors of 20,000 draws (false alarm 7e-6).
    #[test]
    fn depths_of_draws_are_exponential() {
        for (freedom, up) in [(0.4, true), (1.0, false), (3.0, true)] {
            let prior = PowerTail { freedom, location: 1.0, scale: 0.5 };
            let tail = FreeTail { prior, up, from: if up { 2.0 } else { -1.0 }, share: 0.0, brake: None };
            let mut rng = stream(3, 0, Role::Proposal);
            let depths: Vec<f64> = std::iter::repeat_with(|| prior.draw(&mut rng))
                .flatten()
                .filter(|&draw| tail.holds(draw))
                .map(|draw| tail.depth(draw))
                .take(20_000)
                .collect();
            let mean = depths.iter().sum::<f64>() / 2e4;
            assert!((mean - 1.0).abs() < 4.5 / 2e4f64.sqrt(), "{freedom}: {mean}");
        }
        let thin = FreeTail {
            prior: PowerTail { freedom: 2.5, location: 0.0, scale: 1.0 },
            up: true,
            from: 0.0,
            share: 0.0,
            brake: None,
        };
        assert!(thin.has_mean() && thin.has_sd());
    }

    /// Draws from a Cauchy prior times a brake have depths of mean 1, 4.5 standard errors of 20,000 draws (false alarm 7e-6 each); without the brake
    /// the same draws are too thin.
    #[test]
    fn a_brake_ends_the_tail() {
        let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 2.5 };
        for (centre, sd, up) in [(-60.0, 700.0, true), (20.0, 90.0, false), (0.0, 4e4, true)] {
            let from = if up { 13.0 } else { -13.0 };
            let tail = FreeTail { prior, up, from, share: 0.5, brake: Some(Brake { centre, sd }) };
            let mut rng = stream(4, 0, Role::Proposal);
            let mut draws = Vec::new();
            while draws.len() < 20_000 {
                let Some(draw) = prior.draw(&mut rng) else { continue };
                let z: f64 = (draw - centre) / sd;
                if tail.holds(draw) && rng.random::<f64>() < (-0.5 * z * z).exp() {
                    draws.push(draw);
                }
            }
            let mean = |tail: &FreeTail| draws.iter().map(|&draw| tail.depth(draw)).sum::<f64>() / 2e4;
            let error = 4.5 / 2e4f64.sqrt();
            assert!((mean(&tail) - 1.0).abs() < error, "{sd}: {}", mean(&tail));
            let free = FreeTail { brake: None, ..tail };
            assert_eq!((mean(&free) - 1.0).abs() > error, sd < 1e4, "{sd}: {}", mean(&free));
            assert_eq!((tail.has_mean(), free.has_mean()), (sd < 1e4, false));
        }
    }
}
