//! Sequential test: is the mean of a finite population above a threshold?
//!
//! Reveals the population in looks n₁ < n₂ < … < N and stops as soon as |mean − μ0|/s_j exceeds the bound of
//! look j, where s_j = s_l/√n · √(1 − (n−1)/(N−1)), or as soon as the standard error N·s_j of the total log
//! ratio falls below an absolute tolerance τ. What rows that are rarely sampled can add, where that is known beforehand, joins s_j. The last look is the exact decision. A population that knows how large its total can be
//! ([`crate::population::Certificate`]) is asked first, and what that settles needs no look.
//!
//! Korattikara, Chen & Welling (2014), Algorithm 1; looks and bounds generalised as in Wang & Tsiatis (1987).
//! Approximate: with J looks at level ε the error is at most (J−1)·ε and typically a third of that. Cost: two
//! likelihood evaluations per row revealed. Do not use where a handful of rows dominates the sum: the
//! [`Guard`] tells when they are in the sample, nothing tells when they are not.

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::population::{Access, Moments, Reveal};
use crate::rng::Rng;
use crate::rule::bound::Shape;
use crate::rule::certified::settled;
use crate::rule::exact::decide_by_total;
use crate::rule::{Bound, Comparison, DecideAt, Decision, Guard, Law, Looks, Rule, Statistic, Stopped};

/// A sequential test as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SequentialSettings {
    /// When it looks.
    pub looks: Looks,
    /// How extreme the statistic must be.
    pub bound: Bound,
    /// Reference distribution of the statistic.
    pub statistic: Statistic,
    /// The random threshold.
    pub law: Law,
    /// τ: decide once the standard error of the total log ratio is below this.
    pub stop_at: Option<f64>,
    /// What rows that a first look typically misses can add to the total log ratio, known beforehand (`austerity_glm::check::blindness`). It is part of every claimed
    /// standard error, falling like 1/n: a sample that has not met the heavy rows must not claim to know the total better than that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missed: Option<f64>,
    /// Refuses decisions on odd samples; `None` switches it off.
    pub guard: Option<Guard>,
    /// Rows that are drawn together.
    pub block_rows: usize,
}

impl SequentialSettings {
    /// Algorithm 1 of the paper to the letter: constant steps of `step` single rows, constant bounds, Student t, no absolute stop, no guard.
    #[must_use]
    pub fn paper(step: usize, epsilon: f64) -> Self {
        Self { guard: None, block_rows: 1, ..Self::constant(step, epsilon) }
    }

    /// The same with whole blocks of rows and the guard on.
    #[must_use]
    pub fn constant(step: usize, epsilon: f64) -> Self {
        Self {
            looks: Looks::constant(step),
            bound: Bound::pocock(epsilon),
            statistic: Statistic::Student,
            law: Law::Metropolis,
            stop_at: None,
            missed: None,
            guard: Some(Guard::default()),
            block_rows: crate::BLOCK_ROWS,
        }
    }

    /// Rows of the first look at residuals.
    pub const RESIDUAL_FIRST_LOOK: usize = 64;
    /// Growth of the looks at residuals.
    pub const RESIDUAL_GROWTH: f64 = 1.5;
    /// τ: the standard error of a total of residuals at which the test stops.
    pub const RESIDUAL_TOLERANCE: f64 = 0.03;

    /// The defaults for residuals of a surrogate, [`Self::residuals_from`] the usual first look on.
    #[must_use]
    pub fn residuals() -> Self {
        Self::residuals_from(Self::RESIDUAL_FIRST_LOOK)
    }

    /// The defaults for residuals of a surrogate: looks at `first` rows, growing by a constant factor, Wang–Tsiatis bounds with α = ¾ and ε = 0.01, an
    /// absolute stop, no guard, since residuals are guarded beforehand (`austerity_glm::check::blindness`).
    #[must_use]
    pub fn residuals_from(first: usize) -> Self {
        Self {
            looks: Looks::Growing { first, growth: Self::RESIDUAL_GROWTH },
            bound: Bound { shape: Shape::WangTsiatis { alpha: 0.75 }, ..Bound::pocock(0.01) },
            stop_at: Some(Self::RESIDUAL_TOLERANCE),
            guard: None,
            ..Self::constant(first, 0.01)
        }
    }
}

/// One look of the table a test runs by.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// Rows seen in all.
    pub rows: usize,
    /// Critical value of the statistic.
    pub critical: f64,
}

/// The sequential test, ready to run on populations of one size.
#[derive(Clone, Debug, PartialEq)]
pub struct Sequential {
    looks: Vec<Look>,
    law: Law,
    /// τ, 0 for none.
    tolerance: f64,
    /// What rows that are missed can add to the total, times the rows seen.
    missed: f64,
    guard: Option<Guard>,
    rows: usize,
}

/// Relative rounding of a sum in another order, times Σ|l| ≤ N·rms: f32 sums of 32 values err by at most
/// 5·2⁻²⁴ = 3e-7 each way. Closer to the threshold than this, the exact decision is re-summed in storage order.
const TIE: f64 = 1e-6;

impl Sequential {
    /// Checks `settings` and computes every critical value for populations of `rows` rows.
    pub fn new(settings: &SequentialSettings, rows: usize) -> Result<Self> {
        settings.bound.check()?;
        settings.law.check()?;
        if let Some(guard) = &settings.guard {
            guard.check()?;
        }
        let tolerance = settings.stop_at.unwrap_or(0.0);
        if !(tolerance >= 0.0 && tolerance.is_finite()) {
            return Err(setting("stop_at (tau)", tolerance, "a finite number, 0 or more"));
        }
        let missed = settings.missed.unwrap_or(0.0);
        if !(missed >= 0.0 && missed.is_finite()) {
            return Err(setting("missed", missed, "a finite number, 0 or more"));
        }
        let mut looks: Vec<Look> = settings
            .looks
            .schedule(rows, settings.block_rows)?
            .into_iter()
            .map(|n| Look {
                rows: n,
                critical: if n == rows { 0.0 } else { settings.bound.critical(settings.statistic, n, rows) },
            })
            .collect();
        if tolerance == 0.0 {
            // A look that can never decide is no look: ε = 0 becomes the exact decision itself.
            looks.retain(|look| look.critical < f64::INFINITY);
        }
        let missed = missed * looks.first().map_or(0.0, |look| look.rows as f64);
        Ok(Self { looks, law: settings.law, tolerance, missed, guard: settings.guard, rows })
    }

    /// The standard deviation that gives the claimed standard error: that of the sample, and what may be missed.
    fn claimed_sd(&self, moments: &Moments, missed: f64) -> f64 {
        let (n, rows) = (moments.count as f64, self.rows as f64);
        if missed == 0.0 || n >= rows {
            return moments.sd();
        }
        moments.sd().hypot(missed * (n * (rows - 1.0) / (rows - n)).sqrt())
    }

    /// The table of looks; the last one is at N.
    #[must_use]
    pub fn looks(&self) -> &[Look] {
        &self.looks
    }
}

impl<P: Reveal + ?Sized> Rule<P> for Sequential {
    fn decide(&mut self, population: &mut P, offset: f64, rng: &mut Rng) -> Result<Decision> {
        let threshold = self.law.draw(rng);
        self.decide_at(population, offset, threshold)
    }

    fn access(&self) -> Access {
        if self.looks.len() < 2 { Access::Scan } else { Access::Blocks }
    }

    fn first_look(&self) -> usize {
        self.looks.first().map_or(self.rows, |look| look.rows)
    }
}

impl<P: Reveal + ?Sized> DecideAt<P> for Sequential {
    fn decide_at(&mut self, population: &mut P, offset: f64, threshold: f64) -> Result<Decision> {
        debug_assert_eq!(population.len(), self.rows);
        let rows = self.rows as f64;
        let comparison = Comparison { offset, threshold };
        let mean_threshold = comparison.of_mean(rows);
        // What is certain needs no test. A compensated threshold is right only together with the noise of one.
        if self.law == self.law.uncompensated()
            && let Some(certificate) = population.certify(0, f64::INFINITY)?
            && let Some(decision) = settled(&certificate, population, comparison, 1)
        {
            return Ok(decision);
        }
        let mut guarded = 0;
        let mut hold_until = 0; // the guard waits for twice as many rows
        for (index, look) in self.looks.iter().enumerate() {
            let count = index as u32 + 1;
            let last = look.rows == self.rows;
            if last && index == 0 {
                return decide_by_total(population, comparison, count, guarded);
            }
            let moments = *population.extend_to(look.rows)?;
            let missed = self.missed / (rows * look.rows as f64);
            let end = |accepted, stopped, population: &P| Decision {
                accepted,
                used: moments.count,
                read: population.cost().rows,
                evaluations: population.cost().evaluations,
                looks: count,
                mean: moments.mean,
                sd: self.claimed_sd(&moments, missed),
                threshold: mean_threshold,
                stopped,
                guarded,
                audit: None,
            };
            if moments.impossible() {
                return Ok(end(false, Stopped::Impossible, population));
            }
            let difference = moments.mean - mean_threshold;
            if last || moments.count as usize == self.rows {
                if (difference * rows).abs() <= TIE * rows * root_mean_square(&moments) {
                    return decide_by_total(population, comparison, count, guarded);
                }
                return Ok(end(difference > 0.0, Stopped::Exhausted, population));
            }
            if look.rows < hold_until {
                continue;
            }
            if let Some(guard) = &self.guard
                && !guard.allows(&moments)
            {
                guarded += 1;
                hold_until = 2 * look.rows;
                continue;
            }
            let seen = moments.standard_error(self.rows);
            let error = seen.hypot(missed);
            if difference.abs() > look.critical * error {
                return Ok(end(difference > 0.0, Stopped::Bound, population));
            }
            // A spread of nothing is no evidence that the rest has none.
            if seen > 0.0 && rows * error < self.tolerance {
                return Ok(end(difference > 0.0, Stopped::Tolerance, population));
            }
        }
        // The table ends with a look at N, so this is reached only by an empty one.
        decide_by_total(population, comparison, self.looks.len() as u32 + 1, guarded)
    }
}

fn root_mean_square(moments: &Moments) -> f64 {
    (moments.mean * moments.mean + moments.m2 / moments.count as f64).sqrt()
}

#[cfg(test)]
mod tests;
