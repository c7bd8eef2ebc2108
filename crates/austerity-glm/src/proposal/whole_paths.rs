//! Paths on all rows, for posteriors of so many coefficients that residuals of an expansion are no longer few or small: which path, by a pilot.
//!
//! A candidate is the end of k rotating leapfrog steps ([`Hamiltonian::rotating`]) of the angle 1.6/k each, whitened by the covariance at the mode, and costs k gradients of all rows. The steps
//! are exact for the normal approximation, so acceptance does not fall with the dimension but with what the posterior has beyond the second order: with 1,000 coefficients and 300,000 rows one step of
//! the whole angle is accepted 19 times of 20. After a quarter turn, an angle of 1.6, a draw has forgotten the last one.
//!
//! **k** is the one with the most effective draws per gradient. A path accepted with probability a is worth about a/(2 − a) independent draws. k = 1, 2, 3, 4, 6, … are tried at four places each, three paths
//! each, until more steps could not pay even if all were accepted. The outcome is plain data and does not depend on threads; seconds do.
//!
//! Together with [`Whole`](crate::Whole) and the exact rule the draws are those of exact Hamiltonian Monte Carlo. Cost of the pilot: 12k gradients for every k tried and 4 more. Not for data
//! where a test on residuals reads a small part of the rows at every decision.

use std::time::Instant;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::proposal::StoredProposal;
use crate::whole::WholeDensity;
use austerity::error::{Result, setting};
use austerity::model::{Gradient, Model};
use austerity::parallel;
use austerity::proposal::{Hamiltonian, Path, Proposal, Proposed, RandomWalk};
use austerity::rng::{Rng, Role, stream};

/// Angle of a path.
const ANGLE: f64 = 1.6;
/// Share of its angle that a step's may differ by.
const JITTER: f64 = 0.1;
/// Steps that are tried.
const LADDER: [u32; 10] = [1, 2, 3, 4, 6, 8, 12, 16, 24, 32];
/// Places of a pilot, and paths from each.
const PLACES: usize = 4;
const PATHS: usize = 3;
/// Paths that are accepted less often than this lead nowhere.
const LEAST: f64 = 0.05;

/// Paths as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WholePathPlan {
    /// k: steps, and gradients, of a path.
    pub steps: u32,
    /// Angle of a step.
    pub angle: f64,
    /// Share of its angle that a step's may differ by.
    pub jitter: f64,
    /// Share of the paths that a pilot accepted; NaN without one.
    #[serde(with = "austerity::diagnostics::summary::nullable")]
    pub acceptance: f64,
}

/// What a pilot has seen of some paths.
#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    acceptance: f64,
    gradients: u64,
    seconds: GradientSeconds,
}

/// What a gradient of all rows takes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GradientSeconds {
    /// Seconds of a thread.
    pub wall: f64,
    /// Seconds that the thread had a core; where the system does not tell, the same.
    pub core: f64,
}

impl WholePathPlan {
    /// Paths of so many steps, of which nothing is known.
    #[must_use]
    pub fn of(steps: u32) -> Self {
        let steps = steps.max(1);
        Self { steps, angle: ANGLE / f64::from(steps), jitter: JITTER, acceptance: f64::NAN }
    }

    /// Plans for `model`, whose mode is about `mode` and whose covariance there is that of `shape`. `None` where no path of up to 32 steps is
    /// accepted. Tells also what a gradient took.
    pub fn pilot<M>(
        model: &M,
        mode: &[f64],
        shape: &RandomWalk,
        threads: usize,
        seed: u64,
    ) -> Result<Option<(Self, GradientSeconds)>>
    where
        M: Gradient<State = Vec<f64>> + Sync,
    {
        let mut places: Vec<(Vec<f64>, Rng)> = Vec::new();
        for place in 0..PLACES as u32 {
            let mut rng = stream(seed, u32::MAX - place, Role::Start);
            let mut state = mode.to_vec();
            shape.clone().propose(&mode.to_vec(), &mut state, &mut rng)?;
            places.push((state, rng));
        }
        let mut best: Option<Self> = None;
        let (mut seconds, mut gradients) = (GradientSeconds::default(), 0);
        for steps in LADDER {
            if best.as_ref().is_some_and(|best| best.worth_per_gradient() >= 1.0 / f64::from(steps)) {
                break;
            }
            let mut plan = Self::of(steps);
            let tried =
                parallel::each(threads, &places, |_, (state, rng)| plan.tried(model, shape, state, rng))?;
            for (seen, ..) in &tried {
                gradients += seen.gradients;
                seconds.wall += seen.seconds.wall;
                seconds.core += seen.seconds.core;
            }
            plan.acceptance = tried.iter().map(|(seen, ..)| seen.acceptance).sum::<f64>() / PLACES as f64;
            // The next paths go on from where these led.
            places = tried.into_iter().map(|(_, state, rng)| (state, rng)).collect();
            if best.as_ref().is_none_or(|best| plan.worth_per_gradient() > best.worth_per_gradient()) {
                best = Some(plan);
            }
        }
        let each = |all: f64| all / gradients as f64;
        let seconds = GradientSeconds { wall: each(seconds.wall), core: each(seconds.core) };
        Ok(best.filter(|best| best.acceptance > LEAST).map(|best| (best, seconds)))
    }

    /// Some paths from `state`: how they fared, and where they led.
    fn tried<M: Gradient<State = Vec<f64>>>(
        &self,
        model: &M,
        shape: &RandomWalk,
        state: &[f64],
        rng: &Rng,
    ) -> Result<(Seen, Vec<f64>, Rng)> {
        let (mut state, mut rng) = (state.to_vec(), rng.clone());
        let mut paths = self.paths(model, shape)?;
        let (mut to, mut acceptance) = (state.clone(), 0.0);
        let (begun, before) = (Instant::now(), parallel::core_seconds());
        for _ in 0..PATHS {
            paths.propose(&state, &mut to, &mut rng)?;
            let accepted = paths.last_acceptance();
            acceptance += accepted / PATHS as f64;
            if rng.random::<f64>() < accepted {
                std::mem::swap(&mut state, &mut to);
            }
        }
        let wall = begun.elapsed().as_secs_f64();
        let core = before.zip(parallel::core_seconds()).map_or(wall, |(before, after)| after - before);
        let seconds = GradientSeconds { wall, core };
        Ok((Seen { acceptance, gradients: paths.gradients(), seconds }, state, rng))
    }

    fn paths<'m, M: Gradient<State = Vec<f64>>>(
        &self,
        model: &'m M,
        shape: &RandomWalk,
    ) -> Result<Hamiltonian<WholeDensity<'m, M>>> {
        let path =
            Path { length: self.angle, steps: self.steps..=self.steps, jitter: self.jitter, target: None };
        Hamiltonian::new(WholeDensity(model), shape, path)?.rotating()
    }

    /// The proposal that the plan describes, whitened by the covariance of `shape`.
    pub fn build<'m, M: Gradient<State = Vec<f64>>>(
        &self,
        model: &'m M,
        shape: &RandomWalk,
    ) -> Result<WholePaths<'m, M>> {
        Ok(WholePaths { paths: self.paths(model, shape)?, plan: self.clone() })
    }

    /// Effective draws per draw, roughly.
    #[must_use]
    pub fn worth(&self) -> f64 {
        self.acceptance / (2.0 - self.acceptance)
    }

    /// The same per gradient.
    #[must_use]
    pub fn worth_per_gradient(&self) -> f64 {
        self.worth() / f64::from(self.steps)
    }
}

/// Paths on all rows of a model, whose densities are those of [`Whole`](crate::Whole).
#[derive(Debug)]
pub struct WholePaths<'m, M> {
    plan: WholePathPlan,
    paths: Hamiltonian<WholeDensity<'m, M>>,
}

impl<M> Clone for WholePaths<'_, M> {
    fn clone(&self) -> Self {
        Self { plan: self.plan.clone(), paths: self.paths.clone() }
    }
}

impl<'m, M: Gradient<State = Vec<f64>>> WholePaths<'m, M> {
    /// The paths that a checkpoint kept, whitened by the covariance of `shape`.
    pub fn restored(model: &'m M, shape: &RandomWalk, stored: &StoredProposal) -> Result<Self> {
        match stored {
            StoredProposal::Whole(plan) => plan.build(model, shape),
            _ => Err(setting("proposal of a checkpoint", "another one", "Hamiltonian paths on all rows")),
        }
    }

    /// Plain data that a checkpoint can keep: the covariance is that of the mode, and made again.
    #[must_use]
    pub fn stored(self) -> StoredProposal {
        StoredProposal::Whole(self.plan)
    }
}

impl<M: Gradient<State = Vec<f64>> + Model> Proposal<Vec<f64>> for WholePaths<'_, M> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.paths.propose(from, to, rng)
    }
}
