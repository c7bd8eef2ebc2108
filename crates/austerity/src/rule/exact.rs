//! Exact decision: the sum of all N differences, in storage order, against the threshold.
//!
//! Accepts when Σ l_i + offset > log u (Metropolis et al. 1953; Hastings 1970). No error. Cost: N rows, one
//! likelihood evaluation each when the model caches its current state, two otherwise. Use it as the baseline
//! and wherever a sequential test would read more than half of the data.

use crate::error::Result;
use crate::population::Reveal;
use crate::rng::Rng;
use crate::rule::{Comparison, DecideAt, Decision, Law, Rule, Stopped};

/// Reads everything.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Exact {
    law: Law,
}

impl Exact {
    /// An exact rule with the given threshold law.
    pub fn new(law: Law) -> Result<Self> {
        law.check()?;
        Ok(Self { law })
    }
}

impl<P: Reveal + ?Sized> Rule<P> for Exact {
    fn decide(&mut self, population: &mut P, offset: f64, rng: &mut Rng) -> Result<Decision> {
        self.decide_at(population, offset, self.law.draw(rng))
    }
}

impl<P: Reveal + ?Sized> DecideAt<P> for Exact {
    fn decide_at(&mut self, population: &mut P, offset: f64, threshold: f64) -> Result<Decision> {
        decide_by_total(population, Comparison { offset, threshold }, 1, 0)
    }
}

/// The exact decision about `population`; `looks` and `guarded` are what happened before.
pub(super) fn decide_by_total<P: Reveal + ?Sized>(
    population: &mut P,
    comparison: Comparison,
    looks: u32,
    guarded: u32,
) -> Result<Decision> {
    let rows = population.len() as f64;
    let moments = population.total()?;
    let cost = population.cost();
    let impossible = moments.impossible();
    Ok(Decision {
        accepted: !impossible && moments.sum() + comparison.offset > comparison.threshold,
        used: cost.rows.min(population.len() as u64),
        read: cost.rows,
        evaluations: cost.evaluations,
        looks,
        mean: moments.mean,
        sd: moments.sd(),
        threshold: comparison.of_mean(rows),
        stopped: if impossible { Stopped::Impossible } else { Stopped::Exhausted },
        guarded,
        audit: None,
    })
}
