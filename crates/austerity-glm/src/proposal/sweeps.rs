//! Exact steps of single coefficients that only the certainty stratum knows.
//!
//! A coefficient whose column is zero outside the stratum leaves every sampled residual at exactly 0: changed alone, its Metropolis–Hastings decision needs its prior
//! and its own rows, and is exact. Long tails of such coefficients (a rare feature without a single event, say) mix slowly under leapfrog paths; steps
//! θ_j' = θ_j + s_j·c with c standard Cauchy, s_j = 1.5 sds, cross them. Where the prior is Student, whose tail may be the posterior's own, each such step is followed
//! by a draw from the prior and by a stretch ([`heavy`](super::heavy)), with their densities in the ratio. Several sweeps over all such coefficients follow every decision
//! about the candidate of the wrapped proposal; each step leaves the posterior as it is, so their order and number are free. Nothing adapts.
//!
//! Cost per sweep: the rows of the stratum that have the feature, each once, three times with a Student prior. Nothing is done where there is no such coefficient.

use rand::RngExt as _;

use crate::PowerTail;
use crate::proposal::heavy::{HeavyStep, from_prior, stretched};
use crate::surrogate::CertainSteps;
use austerity::error::Result;
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// Size of a step in sds.
const STRETCH: f64 = 1.5;
/// Sweeps after every decision, where there is a coefficient to be swept.
const USUAL: u32 = 3;

/// Sweeps after every decision that suit an expansion.
pub(super) fn usual<E: CertainSteps>(expansion: &E) -> u32 {
    if expansion.certain_parameters().is_empty() { 0 } else { USUAL }
}

/// Standard deviations of a d × d covariance.
pub(super) fn sds(covariance: &[f64]) -> Vec<f64> {
    covariance.iter().step_by(covariance.len().isqrt() + 1).map(|variance| variance.sqrt()).collect()
}

/// A coefficient to be swept.
#[derive(Clone, Copy, Debug)]
struct Swept {
    parameter: usize,
    /// Size of its Cauchy steps.
    size: f64,
    /// Its prior, where that has a tail of its own.
    tail: Option<PowerTail>,
}

/// A proposal whose decisions are followed by sweeps.
#[derive(Debug)]
pub struct Sweeps<'e, E: CertainSteps, P> {
    expansion: &'e E,
    proposal: P,
    swept: Vec<Swept>,
    sweeps: u32,
    memory: E::Memory,
    taken: u64,
    tried: u64,
}

impl<E: CertainSteps, P: Clone> Clone for Sweeps<'_, E, P> {
    fn clone(&self) -> Self {
        Self {
            expansion: self.expansion,
            proposal: self.proposal.clone(),
            swept: self.swept.clone(),
            memory: E::Memory::default(),
            ..*self
        }
    }
}

impl<'e, E: CertainSteps, P: Proposal<Vec<f64>>> Sweeps<'e, E, P> {
    /// So many `sweeps` after every decision; `sds` are posterior standard deviations of all parameters.
    pub fn new(expansion: &'e E, proposal: P, sds: &[f64], sweeps: u32) -> Self {
        let swept = |parameter| {
            let size = STRETCH * sds.get(parameter)?;
            Some(Swept { parameter, size, tail: expansion.certain_tail(parameter) })
        };
        let swept = expansion.certain_parameters().into_iter().filter_map(swept).collect();
        Self { expansion, proposal, swept, sweeps, memory: E::Memory::default(), taken: 0, tried: 0 }
    }

    /// Cauchy steps alone, whatever the priors: what tails need the other candidates for.
    #[must_use]
    pub fn walking(mut self) -> Self {
        self.swept.iter_mut().for_each(|swept| swept.tail = None);
        self
    }

    /// The wrapped proposal.
    pub fn inner(&self) -> &P {
        &self.proposal
    }

    /// Share of single steps taken; NaN before the first.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.taken as f64 / self.tried as f64
    }

    /// Moves `parameter` by a step, or not.
    fn step(&mut self, state: &mut [f64], parameter: usize, step: HeavyStep, rng: &mut Rng) -> bool {
        let threshold = rng.random::<f64>().ln();
        let change = self.expansion.certain_change(&self.memory, state, parameter, step.by);
        self.tried += 1;
        // A change that is no number takes nothing.
        let taken = change + step.log_ratio > threshold;
        if taken {
            state[parameter] += step.by;
            self.expansion.take_certain(&mut self.memory, state, parameter, step.by);
            self.taken += 1;
        }
        taken
    }
}

impl<E: CertainSteps, P: Proposal<Vec<f64>>> Proposal<Vec<f64>> for Sweeps<'_, E, P> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.proposal.propose(from, to, rng)
    }

    fn refresh(&mut self, state: &mut Vec<f64>, rng: &mut Rng) -> Result<bool> {
        let mut changed = self.proposal.refresh(state, rng)?;
        if self.swept.is_empty() || self.sweeps == 0 {
            return Ok(changed);
        }
        self.expansion.begin_certain(state, &mut self.memory);
        for _ in 0..self.sweeps {
            for place in 0..self.swept.len() {
                let Swept { parameter, size, tail } = self.swept[place];
                let angle = std::f64::consts::PI * (rng.random::<f64>() - 0.5);
                let walk = HeavyStep { by: size * angle.tan(), log_ratio: 0.0 };
                changed |= self.step(state, parameter, walk, rng);
                let Some(prior) = tail else { continue };
                if let Some(drawn) = from_prior(&prior, state[parameter], rng) {
                    changed |= self.step(state, parameter, drawn, rng);
                }
                let stretch = stretched(&prior, state[parameter], rng);
                changed |= self.step(state, parameter, stretch, rng);
            }
        }
        Ok(changed)
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        self.proposal.learn(accepted, step);
    }
}
