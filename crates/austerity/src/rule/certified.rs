//! Certified decision: exact Metropolis–Hastings that reads only what it must.
//!
//! The population is asked what is certain about its total ([`Certificate`]): |total − estimate| ≤ bound. Once
//!
//! ```text
//! |estimate + offset − threshold| > bound
//! ```
//!
//! the sign is that of the total and the decision is the exact one, whatever the rows hold. Otherwise the next certificate is asked for, and after the last
//! all rows are read in storage order, as [`Exact`] does. There is no test and no error: on the same streams the decisions are those of [`Exact`]. For the
//! residuals of a second-order expansion the stages are
//!
//! 1. the bound of the second order, which reads no row and whose size falls like N^{−1/2};
//! 2. the third-order term, summed beforehand, and the bound of the fourth order, which falls like 1/N;
//! 3. the blocks with the largest bounds, read; the others by the same bounds;
//! 4. everything.
//!
//! A share of the order of 1/N of the decisions reads N rows, so the mean cost does not grow with N. Idea of deterministic bounds on residuals: Maclaurin & Adams
//! (2014), Bardenet, Doucet & Holmes (2017). Populations without a certificate are read whole: use it with a surrogate that carries one
//! (`austerity_glm::glm::expansion::GlmExpansion::with_certificate`).
//!
//! [`Certificate`]: crate::population::Certificate
//! [`Exact`]: crate::rule::Exact

use crate::error::Result;
use crate::population::{Certificate, Reveal};
use crate::rng::Rng;
use crate::rule::exact::decide_by_total;
use crate::rule::{Comparison, DecideAt, Decision, Law, Rule, Stopped};

/// Rounding of the sum of total and offset and of its comparison with the threshold, relative to their sizes.
const ROUNDING: f64 = 1e-14;

/// Decides by what is certain about the total.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Certified {
    law: Law,
}

impl Certified {
    /// A certified rule with the given threshold law.
    pub fn new(law: Law) -> Result<Self> {
        law.check()?;
        Ok(Self { law })
    }
}

/// Which of the stages before reading everything ended a certified decision, from 0: second order, third order, some rows.
#[must_use]
pub fn stage(decision: &Decision) -> usize {
    match (decision.used, decision.looks) {
        (0, ..=1) => 0,
        (0, _) => 1,
        _ => 2,
    }
}

impl<P: Reveal + ?Sized> Rule<P> for Certified {
    fn decide(&mut self, population: &mut P, offset: f64, rng: &mut Rng) -> Result<Decision> {
        self.decide_at(population, offset, self.law.draw(rng))
    }
}

impl<P: Reveal + ?Sized> DecideAt<P> for Certified {
    fn decide_at(&mut self, population: &mut P, offset: f64, threshold: f64) -> Result<Decision> {
        let comparison = Comparison { offset, threshold };
        let (mut stage, mut needed) = (0, f64::INFINITY);
        while let Some(certificate) = population.certify(stage, needed)? {
            stage += 1;
            let gap = certificate.estimate + offset - threshold;
            if let Some(decision) = settled(&certificate, population, comparison, stage) {
                return Ok(decision);
            }
            needed = gap.abs();
        }
        decide_by_total(population, comparison, stage + 1, 0)
    }
}

/// The decision that a certificate settles, the `looks`-th that was asked for.
pub(super) fn settled<P: Reveal + ?Sized>(
    certificate: &Certificate,
    population: &P,
    comparison: Comparison,
    looks: u32,
) -> Option<Decision> {
    let Comparison { offset, threshold } = comparison;
    let gap = certificate.estimate + offset - threshold;
    let size = certificate.estimate.abs() + offset.abs() + threshold.abs();
    // Written so that a NaN settles nothing.
    (gap.abs() > certificate.bound + ROUNDING * size).then(|| {
        let (rows, cost) = (population.len() as f64, population.cost());
        Decision {
            accepted: gap > 0.0,
            used: cost.rows,
            read: cost.rows,
            evaluations: cost.evaluations,
            looks,
            mean: certificate.estimate / rows,
            sd: f64::NAN,
            threshold: comparison.of_mean(rows),
            stopped: Stopped::Certified,
            guarded: 0,
            audit: None,
        }
    })
}

#[cfg(test)]
mod tests;
