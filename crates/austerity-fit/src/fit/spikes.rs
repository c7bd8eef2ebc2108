//! Which coefficients have a Student prior so narrow that their posterior is a spike with a shoulder.
//!
//! A prior of scale s, a tenth of what the likelihood leaves open or less, makes a spike; about the centre of the likelihood the tail of the prior may hold some more of the mass, often without a mode of its own.
//! Whatever is scaled by the curvature at the mode (a walk, leapfrog paths, an expansion's strata) has the size of the spike. So such coefficients are looked for, their decisions are exact, and every third
//! candidate draws one of them anew ([`SpikeSteps`](austerity_glm::proposal::SpikeSteps)).
//!
//! ```text
//! narrow:  1/V + (log p)'' < K/100 at the mode,   K = (ν + 1)/(ν s²) the curvature of the prior at its centre
//! share:   ∫ t_ν(θ; m, s) N(θ; c, v) beyond 8 s of m, over the whole
//! ```
//!
//! c and v are centre and standard deviation of the likelihood, by a climb without the narrow priors. A share between 0.1 and 99.9 % matters.
//!
//! Cost: nothing unless a prior is narrow; then a search for the mode. Coefficients that the data do not bound are those of [`tails`](super::tails).

use austerity::model::{Mode, find_mode};
use austerity_glm::proposal::Spike;
use austerity_glm::{PowerTail, Prior, Priors, WeighedMode};

use super::modes::MATTERS;
use super::plan::TailRecord;
use crate::model::{Regression, Task};
use crate::output::Failure;

/// Curvature of the likelihood over that of the prior, below which the prior is narrow.
const NARROW: f64 = 0.01;
/// Scales of the prior that the spike reaches to.
const REACH: f64 = 8.0;
/// Climbs with one narrow prior left out, where one without all of them fails.
const SINGLE: usize = 12;
/// Standard deviations that another coefficient may move between the modes.
const APART: f64 = 3.0;
/// Points of a quadrature on either side, and standard deviations of the likelihood that it spans.
const POINTS: i32 = 4000;
const SPAN: f64 = 10.0;

/// Finds them.
pub(super) struct FindSpikes<'a> {
    pub(super) priors: &'a Priors,
    pub(super) mode: &'a Mode,
    /// Sides on which the posterior has the tail of its prior: those coefficients are left out.
    pub(super) free: &'a [TailRecord],
}

impl FindSpikes<'_> {
    /// The coefficients whose prior is narrow.
    fn narrow(&self) -> Vec<(usize, PowerTail)> {
        let d = self.mode.state.len();
        let narrow = |(parameter, prior): (usize, &Prior)| {
            let tail = PowerTail::of(prior)?;
            let (_, curve) = prior.derivatives(self.mode.state[parameter]);
            let likelihood = 1.0 / self.mode.covariance[parameter * (d + 1)] + curve;
            let spike = (tail.freedom + 1.0) / (tail.freedom * tail.scale * tail.scale);
            (likelihood < NARROW * spike).then_some((parameter, tail))
        };
        self.priors.iter().enumerate().filter_map(narrow).collect()
    }

    /// Whether there is anything to be looked for.
    pub(super) fn is_needed(&self) -> bool {
        !self.narrow().is_empty()
    }

    /// The mode without the priors of these coefficients.
    fn without<M: Regression>(&self, model: &M, parameters: &[usize]) -> Option<Mode> {
        let mut open = self.priors.clone();
        parameters.iter().for_each(|&parameter| open.set(parameter, Prior::Flat));
        model.with_priors(open).and_then(|open| find_mode(&open, &self.mode.state)).ok()
    }
}

impl Task for FindSpikes<'_> {
    type Output = Vec<Spike>;

    fn run<M: Regression>(self, model: &M) -> Result<Vec<Spike>, Failure> {
        let names = model.names();
        let mut narrow = self.narrow();
        narrow.retain(|&(parameter, _)| self.free.iter().all(|side| side.parameter != names[parameter]));
        let parameters: Vec<usize> = narrow.iter().map(|&(parameter, _)| parameter).collect();
        if parameters.is_empty() {
            return Ok(Vec::new());
        }
        let all = self.without(model, &parameters);
        let found = narrow.into_iter().enumerate().filter_map(|(place, (parameter, prior))| {
            let alone = match &all {
                Some(all) => all.clone(),
                None if place < SINGLE => self.without(model, &[parameter])?,
                None => return None,
            };
            let spread = alone.covariance[parameter * (alone.state.len() + 1)].sqrt();
            let spike = Spike { parameter, prior, centre: alone.state[parameter], spread };
            let share = if spread > 0.0 && spread.is_finite() { shoulder(&spike) } else { 0.0 };
            (MATTERS..1.0 - MATTERS).contains(&share).then_some(spike)
        });
        Ok(found.collect())
    }
}

/// Whether several modes differ in such coefficients only: one is the spike, another the shoulder.
pub(super) fn are_spikes(modes: &[WeighedMode], spikes: &[Spike]) -> bool {
    let Some((main, others)) = modes.split_first() else { return false };
    let d = main.mode.state.len();
    let sd = |mode: &Mode, i: usize| mode.covariance[i * (d + 1)].sqrt();
    let same = |other: &Mode, i: usize| {
        let wide = sd(&main.mode, i).max(sd(other, i));
        (other.state[i] - main.mode.state[i]).abs() <= APART * wide
    };
    let spike = |i: usize| spikes.iter().any(|spike| spike.parameter == i);
    others.iter().all(|other| (0..d).all(|i| spike(i) || same(&other.mode, i)))
}

/// The share of the posterior beyond the spike, with a normal likelihood.
fn shoulder(spike: &Spike) -> f64 {
    let Spike { prior, centre, spread, .. } = spike;
    // Dense at the spike, and evenly about the centre of the likelihood.
    let far = ((centre - prior.location).abs() + SPAN * spread) / prior.scale;
    let reach = far.asinh();
    let even = |k: i32| f64::from(k) / f64::from(POINTS);
    let mut points: Vec<f64> = (-POINTS..=POINTS)
        .flat_map(|k| {
            [prior.location + prior.scale * (reach * even(k)).sinh(), centre + SPAN * spread * even(k)]
        })
        .collect();
    points.sort_by(f64::total_cmp);
    let log = |at: f64| prior.log_density(at) - 0.5 * ((at - centre) / spread).powi(2);
    let most = points.iter().map(|&at| log(at)).fold(f64::NEG_INFINITY, f64::max);
    let (mut beyond, mut all) = (0.0, 0.0);
    for pair in points.windows(2) {
        let middle = 0.5 * (pair[0] + pair[1]);
        let mass = (log(middle) - most).exp() * (pair[1] - pair[0]);
        all += mass;
        if (middle - prior.location).abs() > REACH * prior.scale {
            beyond += mass;
        }
    }
    beyond / all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: with a flat likelihood the share beyond 8 scales of a Cauchy prior is 1 − 2·atan(8)/π = 0.0792; where the likelihood is far away and sharp, nearly everything is beyond, and where it is at the spike, nothing.
    #[test]
    fn the_share_of_the_shoulder_is_that_of_quadrature() {
        let prior = PowerTail { freedom: 1.0, location: 0.0, scale: 0.01 };
        let spike = |centre: f64, spread: f64| Spike { parameter: 0, prior, centre, spread };
        let flat = shoulder(&spike(0.0, 1000.0));
        assert!((flat - 0.0792).abs() < 1e-3, "{flat}");
        assert!(shoulder(&spike(50.0, 0.5)) > 0.999_999);
        assert!(shoulder(&spike(0.0, 0.01)) < 1e-6);
        // A likelihood around 3.2 with sd 1, the prior 0.005 wide: simple sums on a fine grid.
        let narrow = Spike { prior: PowerTail { scale: 0.005, ..prior }, ..spike(3.2, 1.0) };
        let (mut beyond, mut all) = (0.0, 0.0);
        for k in -4_000_000..6_000_000 {
            let at = 2e-6 * (f64::from(k) + 0.5);
            let mass = (narrow.prior.log_density(at) - 0.5 * (at - 3.2).powi(2)).exp();
            all += mass;
            beyond += if at.abs() > 0.04 { mass } else { 0.0 };
        }
        let share = shoulder(&narrow);
        assert!((share - beyond / all).abs() < 1e-3 && share > 0.02, "{share} {}", beyond / all);
    }
}
