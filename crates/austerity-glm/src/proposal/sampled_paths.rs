//! Leapfrog paths on a posterior of few rows, decided about on all of them: for posteriors that no expansion describes.
//!
//! Hamiltonian steps are exact for the target of the decision whatever function takes the place of the gradient ([`Hamiltonian`]); here it is that of a weighted sample of rows ([`RowSample`]). So the
//! candidate costs some thousand rows and the decision one pass, with whatever rule decides.
//!
//! A pilot on the sample alone tunes the paths: two rounds from the mode learn the step length for an acceptance of 0.84 and the covariance. Then the sample is held against all rows, at 64 of the pilot's
//! states: with w = log π − log q, the share of candidates that the decision will take is about E min(1, e^{w' − w}) over pairs of them ([`SampledPlan::agreement`]).
//!
//! One candidate in ten is a step of a random walk of the same covariance: where the sample has far less density than the posterior, as beyond the rows that it happens to hold, paths lead nowhere, and the walk leads back.
//!
//! The plan is plain data, a function of the sample; nothing adapts afterwards, and a checkpoint keeps it. Cost: some 20,000 gradients of the sample and two passes over all rows; then 4 to 5 gradients of the sample a
//! candidate. Not for many rows where an expansion holds: its decisions read some hundred rows, and these all.

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::glm::Family;
use crate::glm::expansion::row_sample::{RowSample, SampleDensity};
use crate::proposal::StoredProposal;
use crate::proposal::TailSteps;
use crate::surrogate::posterior_differences;
use austerity::error::{Error, Result};
use austerity::proposal::{Hamiltonian, Path, Proposal, Proposed, RandomWalk};
use austerity::rng::{Rng, Role, seek, stream};

/// Steps of the two rounds of a pilot.
const ROUNDS: [u32; 2] = [500, 3000];
/// Length of a leapfrog step in posterior sds, before it is learnt, and the acceptance on the sample that it is learnt for.
const LENGTH: f64 = 0.45;
const ACCEPTANCE: f64 = 0.84;
/// Share of steps of a random walk.
const WALK: f64 = 0.1;
/// States of the pilot at which the sample is held against all rows.
const COMPARED: usize = 64;

/// The plan of such paths.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SampledPlan {
    /// Mean and covariance (d × d, row by row) of the posterior of the sample.
    pub mean: Vec<f64>,
    /// See [`SampledPlan::mean`].
    pub covariance: Vec<f64>,
    /// The paths.
    pub path: Path,
    /// Share of the candidates that the pilot took.
    #[serde(with = "austerity::diagnostics::summary::nullable")]
    pub acceptance: f64,
    /// Mean squared distance of a step of the pilot, per coefficient and in units of that between independent draws.
    #[serde(with = "austerity::diagnostics::summary::nullable")]
    pub jump: f64,
    /// Share of candidates that exact decisions would take if paths kept log q as it is.
    #[serde(with = "austerity::diagnostics::summary::nullable")]
    pub agreement: f64,
    /// Steps into the tails of priors, and how often they are made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tails: Option<(f64, TailSteps)>,
}

impl SampledPlan {
    /// Plans paths on `sample`.
    pub fn pilot<F: Family>(sample: &RowSample<F>) -> Result<Self> {
        let mut plan = Self {
            mean: sample.centre().to_vec(),
            covariance: sample.covariance().to_vec(),
            path: Path { length: LENGTH, steps: 3..=6, jitter: 0.2, target: Some(ACCEPTANCE) },
            acceptance: f64::NAN,
            jump: f64::NAN,
            agreement: f64::NAN,
            tails: None,
        };
        let mut some = Vec::new();
        for (round, steps) in ROUNDS.into_iter().enumerate() {
            some = plan.round(sample, steps, round as u64)?;
        }
        plan.path.target = None;
        plan.agreement = agreement(sample, &some)?;
        Ok(plan)
    }

    /// Effective draws per decision, roughly: a path that forgets where it began is worth what an independent draw is.
    #[must_use]
    pub fn worth(&self) -> f64 {
        let share = 1.0 - self.tails.as_ref().map_or(0.0, |tails| tails.0);
        (1.0 - WALK) * share * self.jump.min(1.0) * self.agreement / (2.0 - self.agreement)
    }

    /// The proposal that the plan describes.
    pub fn build<'r, F: Family>(&self, sample: &'r RowSample<F>) -> Result<SampledPaths<'r, F>> {
        let shape = RandomWalk::dense(self.mean.len(), &self.covariance)?;
        let paths = Hamiltonian::new(sample.density(), &shape, self.path.clone())?;
        let walk = RandomWalk::for_posterior(self.mean.len(), &self.covariance)?;
        Ok(SampledPaths { plan: self.clone(), walk, paths })
    }

    /// A round of paths that are decided about on the sample alone; some of its states.
    fn round<F: Family>(&mut self, sample: &RowSample<F>, steps: u32, round: u64) -> Result<Vec<Vec<f64>>> {
        let mut rng = stream(1, u32::MAX, Role::Start);
        seek(&mut rng, round);
        let mut paths = self.build(sample)?.paths;
        let (mut state, mut to) = (self.mean.clone(), self.mean.clone());
        let mut here = sample.log_density(&state);
        let d = state.len();
        let (mut kept, mut jumps, mut taken) = (Vec::new(), vec![0.0; d], 0.0);
        for step in 0..steps {
            let ratio = paths.propose(&state, &mut to, &mut rng)?.log_ratio;
            let there = sample.log_density(&to);
            let accepted = there - here + ratio > rng.random::<f64>().ln();
            paths.learn(accepted, u64::from(step) + 1);
            let late = step >= steps / 2;
            if accepted {
                if late {
                    taken += 1.0;
                    for (sum, (to, from)) in jumps.iter_mut().zip(to.iter().zip(&state)) {
                        *sum += (to - from).powi(2);
                    }
                }
                std::mem::swap(&mut state, &mut to);
                here = there;
            }
            if late {
                kept.push(state.clone());
            }
        }
        let count = kept.len() as f64;
        let mean: Vec<f64> = (0..d).map(|i| kept.iter().map(|s| s[i]).sum::<f64>() / count).collect();
        let product = |i: usize, j: usize| {
            kept.iter().map(|s| (s[i] - mean[i]) * (s[j] - mean[j])).sum::<f64>() / (count - 1.0)
        };
        // A little of the old covariance keeps a short round from a singular matrix.
        let keep = d as f64 / (count + d as f64);
        let old = std::mem::take(&mut self.covariance);
        self.covariance = (0..d * d).map(|k| (1.0 - keep) * product(k / d, k % d) + keep * old[k]).collect();
        if !self.covariance.iter().chain(&mean).all(|value| value.is_finite()) {
            return Err(Error::NotPositiveDefinite {
                what: "the covariance of a pilot on a sample of the rows".into(),
                remedy: "give every coefficient a proper prior".into(),
            });
        }
        self.acceptance = taken / count;
        // Twice the variance is the mean square between independent draws.
        let shares = (0..d).map(|i| (jumps[i] / count / (2.0 * product(i, i))).min(1.0));
        self.jump = shares.sum::<f64>() / d as f64;
        // The length was in units of the old covariance; the new one is the posterior's own.
        let length = if round == 0 { LENGTH } else { paths.path().length };
        self.path = Path { length, ..paths.path().clone() };
        self.mean = mean;
        Ok(kept.into_iter().step_by((count as usize / COMPARED).max(1)).collect())
    }
}

/// E min(1, e^{w' − w}) over pairs of `states`, w = log π − log q.
fn agreement<F: Family>(sample: &RowSample<F>, states: &[Vec<f64>]) -> Result<f64> {
    let centre = sample.centre().to_vec();
    let moves: Vec<(&Vec<f64>, &Vec<f64>)> = states.iter().map(|state| (&centre, state)).collect();
    let exact = posterior_differences(sample.model(), &moves)?;
    let start = sample.log_density(&centre);
    let weights: Vec<f64> =
        exact.iter().zip(states).map(|(exact, state)| exact - (sample.log_density(state) - start)).collect();
    let pairs = weights.iter().flat_map(|a| weights.iter().map(move |b| (b - a).exp().min(1.0)));
    Ok(pairs.sum::<f64>() / (weights.len() * weights.len()) as f64)
}

/// Leapfrog paths on a sample of the rows.
#[derive(Clone, Debug)]
pub struct SampledPaths<'r, F: Family> {
    plan: SampledPlan,
    walk: RandomWalk,
    paths: Hamiltonian<SampleDensity<'r, F>>,
}

impl<'r, F: Family> SampledPaths<'r, F> {
    /// The paths that a checkpoint kept.
    pub fn restored(sample: &'r RowSample<F>, stored: &StoredProposal) -> Result<Self> {
        match stored {
            StoredProposal::Sampled(plan) => plan.build(sample),
            _ => Err(austerity::error::setting(
                "proposal",
                "another",
                "leapfrog paths on a sample of the rows",
            )),
        }
    }

    /// Plain data that a checkpoint can keep.
    #[must_use]
    pub fn stored(self) -> StoredProposal {
        StoredProposal::Sampled(self.plan)
    }
}

impl<F: Family> Proposal<Vec<f64>> for SampledPaths<'_, F> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        if let Some((share, tails)) = &mut self.plan.tails
            && rng.random::<f64>() < *share
        {
            return tails.propose(from, to, rng);
        }
        if rng.random::<f64>() < WALK {
            return self.walk.propose(from, to, rng);
        }
        self.paths.propose(from, to, rng)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, Glm, Logistic, Prior, ResponseKind};
    use austerity::model::find_mode;
    use austerity::proposal::Laplace;
    use austerity::run::{Control, Sampler, Settings, Silent};

    /// One event in 20,000 rows, at x = 1: means and quantiles of both coefficients are those of quadrature (within 5 Monte Carlo errors: false alarm 6e-7 each). Draws around the mode, decided as exactly, make ten times
    /// fewer effective draws of the tails.
    #[test]
    fn one_event_comes_out_right() {
        let rows = 20_000;
        let x: Vec<f64> = (0..rows)
            .map(|i| if i == 0 { 1.0 } else { 4.0 * ((f64::from(i) * 0.618_034).fract() - 0.5) })
            .collect();
        let y = (0..rows).map(|i| f64::from(u8::from(i == 0))).collect();
        let data = Data::new(["x"], vec![x.clone()], y).check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(10.0), Prior::normal(2.5)]).unwrap();
        let mode = find_mode(&model, &[0.0; 2]).unwrap();
        let sample = RowSample::new(&model, &mode.state, 2048, 1).unwrap();
        let plan = SampledPlan::pilot(&sample).unwrap();
        assert!(plan.agreement > 0.6 && plan.worth() > 0.3, "{plan:?}");
        let settings = Settings { warmup: 200, draws: 3000, seed: 5, ..Settings::default() };
        let starts = [mode.state.clone()];
        let paths = plan.build(&sample).unwrap();
        let run = Sampler::new(&model, &settings, &paths, &starts).unwrap().run(&Control::new(), &mut Silent);
        // By quadrature over b; the rows are 20,000 evenly spread ones, of which every tenth is enough.
        let some: Vec<f64> = x.iter().copied().step_by(10).collect();
        let grid = |from: f64, to: f64, steps: u32| {
            (0..steps).map(move |k| from + (to - from) * (f64::from(k) + 0.5) / f64::from(steps))
        };
        let (mut total, mut means, mut squares) = (0.0, [0.0; 2], [0.0; 2]);
        for b in grid(-12.0, 14.0, 130) {
            let sum: f64 = 10.0 * some.iter().map(|x| (b * x).exp()).sum::<f64>();
            for a in grid(-45.0, -2.0, 430) {
                // log(1 + e^η) is e^η where events are this rare.
                let log = a + b - a.exp() * sum - 0.5 * (a / 10.0).powi(2) - 0.5 * (b / 2.5).powi(2);
                let weight = (log + 10.0).exp();
                total += weight;
                for (k, value) in [a, b].into_iter().enumerate() {
                    means[k] += weight * value;
                    squares[k] += weight * value * value;
                }
            }
        }
        let summary = run.summary();
        for (k, found) in summary.iter().enumerate() {
            let mean = means[k] / total;
            let sd = (squares[k] / total - mean * mean).sqrt();
            assert!(
                (found.mean - mean).abs() < 5.0 * found.mcse_mean + 0.01 * sd,
                "{k}: {} {mean}",
                found.mean
            );
            assert!((found.sd / sd - 1.0).abs() < 0.08, "{k}: {} {sd}", found.sd);
            assert!(found.ess_bulk > 2000.0 && found.rhat < 1.01, "{found:?}");
        }
        let around = Laplace::new(&mode.state, &mode.covariance).unwrap();
        let other =
            Sampler::new(&model, &settings, &around, &starts).unwrap().run(&Control::new(), &mut Silent);
        let least = |run: &[austerity::diagnostics::Summary]| {
            run.iter().map(|s| s.ess_tail).fold(f64::INFINITY, f64::min)
        };
        let (ours, theirs) = (least(&summary), least(&other.summary()));
        assert!(ours > 10.0 * theirs, "{ours} {theirs}");
    }

    /// A stored plan makes the same candidates with the sample drawn anew, and none without one.
    #[test]
    fn a_stored_plan_is_the_proposal() {
        let x: Vec<f64> = (0..9000).map(|i| (f64::from(i) * 0.618_034).fract()).collect();
        let y = (0..9000).map(|i| f64::from(u8::from(i % 4000 == 9))).collect();
        let data = Data::new(["x"], vec![x], y).check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(10.0), Prior::normal(2.5)]).unwrap();
        let mode = find_mode(&model, &[0.0; 2]).unwrap();
        let draw = || RowSample::new(&model, &mode.state, 500, 2).unwrap();
        let (first, second) = (draw(), draw());
        let mut paths = SampledPlan::pilot(&first).unwrap().build(&first).unwrap();
        let stored = paths.clone().stored();
        let text = serde_json::to_string(&stored).unwrap();
        let read: StoredProposal = serde_json::from_str(&text).unwrap();
        let mut restored = SampledPaths::restored(&second, &read).unwrap();
        let (mut one, mut two) = (stream(3, 0, Role::Proposal), stream(3, 0, Role::Proposal));
        let (mut from, mut to, mut other) = (mode.state.clone(), Vec::new(), Vec::new());
        for _ in 0..50 {
            let ratio = paths.propose(&from, &mut to, &mut one).unwrap();
            assert_eq!(restored.propose(&from, &mut other, &mut two).unwrap(), ratio);
            assert_eq!(to, other);
            from.clone_from(&to);
        }
        assert!(read.clone().plain().is_err());
        let walk: StoredProposal = RandomWalk::isotropic(2, 1.0).unwrap().into();
        assert!(SampledPaths::restored(&second, &walk).is_err());
    }
}
