//! Steps that are reversible for the surrogate posterior and touch no data: then the decision is about residuals alone.
//!
//! With π̃ the surrogate posterior, an inner proposal q makes a candidate, and an inner Metropolis–Hastings decision against π̃ takes it or
//! stays. The step as a whole is reversible for π̃, so its log ratio for the outer decision is log π̃(θ) − log π̃(θ'), which cancels the surrogate's part of the
//! target: the outer decision compares Σ[r_i(θ') − r_i(θ)] with log u (Christen & Fox 2005, delayed acceptance; Payne & Mallick 2018). The same inner step may be
//! repeated, since powers of a reversible kernel are reversible; *different* kernels one after the other are not, unless they form a
//! palindrome or are chosen at random ([`Mixture`](austerity::proposal::Mixture)). Inner kernels must not adapt after warm-up, and their lengths must not depend on the state.
//!
//! Where every inner candidate was refused the chain stays, and nothing is read.
//!
//! Cost: the surrogate's density per inner step, no data. Do not use with a surrogate that is far off: the outer decision then refuses.

use rand::RngExt as _;

use crate::Expansion;
use austerity::error::{Error, Result};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// Inner Metropolis–Hastings steps against a surrogate.
#[derive(Debug)]
pub struct SurrogateStep<'e, E, P> {
    expansion: &'e E,
    inner: P,
    /// Inner steps per candidate.
    steps: u32,
    /// The current state and log π̃ there; empty before the first step.
    known: (Vec<f64>, f64),
    candidate: Vec<f64>,
    density: f64,
    moved: bool,
    taken: u64,
    tried: u64,
}

impl<E, P: Clone> Clone for SurrogateStep<'_, E, P> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            known: self.known.clone(),
            candidate: self.candidate.clone(),
            ..*self
        }
    }
}

impl<'e, E: Expansion, P: Proposal<Vec<f64>>> SurrogateStep<'e, E, P> {
    /// `steps` (at least 1) steps of `inner` per candidate.
    pub fn new(expansion: &'e E, inner: P, steps: u32) -> Self {
        Self {
            expansion,
            inner,
            steps: steps.max(1),
            known: (Vec::new(), 0.0),
            candidate: Vec::new(),
            density: f64::NAN,
            moved: false,
            taken: 0,
            tried: 0,
        }
    }

    /// The inner proposal.
    pub fn inner(&self) -> &P {
        &self.inner
    }

    /// Share of inner candidates taken; NaN before the first.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.taken as f64 / self.tried as f64
    }
}

impl<E: Expansion, P: Proposal<Vec<f64>>> Proposal<Vec<f64>> for SurrogateStep<'_, E, P> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let before = if self.known.0 == *from {
            self.known.1
        } else if self.candidate == *from && self.moved {
            self.known.0.clone_from(from);
            self.known.1 = self.density;
            self.density
        } else {
            self.known.0.clone_from(from);
            self.known.1 = self.expansion.log_density(from);
            self.known.1
        };
        to.clone_from(from);
        let mut density = before;
        self.moved = false;
        for _ in 0..self.steps {
            let Proposed { log_ratio, log_prior, .. } = self.inner.propose(to, &mut self.candidate, rng)?;
            let there = match log_prior {
                Some(density) => density,
                None => self.expansion.log_density(&self.candidate),
            };
            let threshold: f64 = rng.random::<f64>().ln();
            self.tried += 1;
            // A density that is no number is no reason to go there, but a function that fails is one to stop.
            if there.is_nan() {
                match self.expansion.density_error() {
                    Error::NotANumber { .. } | Error::PriorNotANumber => {}
                    error => return Err(error),
                }
            }
            if there - density + log_ratio > threshold {
                std::mem::swap(to, &mut self.candidate);
                density = there;
                self.moved = true;
                self.taken += 1;
            }
        }
        self.density = density;
        if self.moved {
            self.candidate.clone_from(to);
        }
        Ok(Proposed { log_ratio: before - density, moved: self.moved, log_prior: Some(density) })
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        self.inner.learn(accepted, step);
    }
}
