//! One row: mean, intervals and log score from its linear predictors, by family.
//!
//! Links are increasing, so order statistics of the predictors are those of the means: one selection, two links. Intervals of
//! means and real observations interpolate between order statistics (type 7); those of counts are order statistics
//! themselves (type 1), so that their ends are counts. The log score is log of the average over the draws of p(y | η_d, σ_d).

use std::f64::consts::PI;
use std::ops::Range;

use austerity_glm::glm::{Binomial, Family as _, Poisson};
use austerity_io::design::Piece;
use statrs::function::gamma::ln_gamma;

use super::draws::Draws;
use super::product::{Product, TILE};
use crate::model::{FREEDOM, Family};

/// Chance below which 1 − mean has lost digits that its logarithm would show.
const CANCELLED: f64 = 1e-3;

/// Predicts rows.
#[derive(Debug)]
pub(super) struct Predictor<'a> {
    family: Family,
    draws: &'a Draws,
    /// Probability left out on each side.
    tail: f64,
    /// Whether a binomial's mean is the probability, for want of trials.
    probability: bool,
}

/// What was predicted, one number per row; NaN where there is none.
#[derive(Debug, Default)]
pub(super) struct Predictions {
    pub(super) mean: Vec<f64>,
    pub(super) lower: Vec<f64>,
    pub(super) upper: Vec<f64>,
    pub(super) predictive_lower: Vec<f64>,
    pub(super) predictive_upper: Vec<f64>,
    pub(super) log_density: Vec<f64>,
}

impl Predictions {
    /// The columns to write.
    pub(super) fn columns(&self, predictive: bool) -> impl Iterator<Item = &[f64]> {
        let further =
            [&self.predictive_lower, &self.predictive_upper].into_iter().filter(move |_| predictive);
        [&self.mean, &self.lower, &self.upper].into_iter().chain(further).map(Vec::as_slice)
    }

    fn all(&mut self) -> [&mut Vec<f64>; 6] {
        let Self { mean, lower, upper, predictive_lower, predictive_upper, log_density } = self;
        [mean, lower, upper, predictive_lower, predictive_upper, log_density]
    }
}

impl<'a> Predictor<'a> {
    pub(super) fn new(family: Family, draws: &'a Draws, interval: f64, probability: bool) -> Self {
        Self { family, draws, tail: 0.5 - 0.5 * interval, probability }
    }

    /// Whether there is an interval of new observations.
    pub(super) fn is_predictive(&self) -> bool {
        self.family != Family::Logistic && !self.probability
    }

    /// Predicts the rows of a piece on so many threads, which change no bit.
    pub(super) fn predict(&self, piece: &Piece<'_>, threads: usize, out: &mut Predictions) {
        out.all().into_iter().for_each(|column| column.resize(piece.rows, f64::NAN));
        let share = piece.rows.div_ceil(threads.max(1)).next_multiple_of(TILE);
        std::thread::scope(|scope| {
            let mut rest = out.all().map(Vec::as_mut_slice);
            for first in (0..piece.rows).step_by(share) {
                let rows = first..piece.rows.min(first + share);
                let mine = rest.each_mut().map(|rest| {
                    let (mine, others) = std::mem::take(rest).split_at_mut(rows.len());
                    *rest = others;
                    mine
                });
                if rows.end == piece.rows {
                    self.rows(piece, rows, mine);
                } else {
                    scope.spawn(move || self.rows(piece, rows, mine));
                }
            }
        });
    }

    fn rows(&self, piece: &Piece<'_>, rows: Range<usize>, mut out: [&mut [f64]; 6]) {
        let mut product = Product::new(self.draws);
        let mut scratch = vec![0.0; self.draws.count()];
        for first in rows.clone().step_by(TILE) {
            let count = TILE.min(rows.end - first);
            product.compute(piece, first, count);
            for at in 0..count {
                let row = first + at;
                let trials = piece.trials.as_ref().map_or(1.0, |trials| trials[row]);
                let response = piece.response.as_ref().map(|response| response[row]);
                let made = self.row(product.row(at), trials, response, &mut scratch);
                for (column, value) in out.iter_mut().zip(made) {
                    column[row - rows.start] = value;
                }
            }
        }
    }

    /// Mean, its interval, the interval of a new observation and the log density of the response.
    fn row(&self, eta: &mut [f64], trials: f64, response: Option<f64>, scratch: &mut [f64]) -> [f64; 6] {
        let mut made = [f64::NAN; 6];
        made[0] = eta.iter().map(|&eta| self.mean(eta, trials)).sum::<f64>() / eta.len() as f64;
        if let Some(y) = response {
            made[5] = self.log_density(eta, made[0], trials, y, scratch);
        }
        if self.is_predictive() {
            for (d, (new, &eta)) in scratch.iter_mut().zip(&*eta).enumerate() {
                *new = self.observation(d, eta, trials);
            }
            let whole = matches!(self.family, Family::Poisson | Family::Binomial);
            [made[3], made[4]] =
                if whole { counted(scratch, self.tail) } else { quantiles(scratch, self.tail, |y| y) };
        }
        [made[1], made[2]] = quantiles(eta, self.tail, |eta| self.mean(eta, trials));
        made
    }

    /// E[y | η].
    #[inline]
    fn mean(&self, eta: f64, trials: f64) -> f64 {
        match self.family {
            Family::Logistic => sigmoid(eta),
            Family::Binomial => trials * sigmoid(eta),
            Family::Poisson => eta.exp(),
            Family::Student | Family::Linear | Family::Own => eta,
        }
    }

    /// The new observation of a draw.
    #[inline]
    fn observation(&self, d: usize, eta: f64, trials: f64) -> f64 {
        let Draws { sigma, level, noise, .. } = self.draws;
        match self.family {
            Family::Logistic => f64::NAN,
            Family::Binomial => Binomial.quantile((level[d], noise[d]), eta, &[], trials),
            Family::Poisson => Poisson.quantile((level[d], noise[d]), eta, &[], trials),
            Family::Student | Family::Linear | Family::Own => eta + sigma[d] * noise[d],
        }
    }

    /// log of the average density of y.
    fn log_density(&self, eta: &[f64], mean: f64, trials: f64, y: f64, scratch: &mut [f64]) -> f64 {
        if self.family == Family::Logistic {
            let (chance, sign) = if y == 1.0 { (mean, 1.0) } else { (1.0 - mean, -1.0) };
            if chance > CANCELLED {
                return chance.ln();
            }
            let mean = eta.iter().map(|eta| sigmoid(sign * eta)).sum::<f64>() / eta.len() as f64;
            return mean.max(f64::MIN_POSITIVE).ln();
        }
        let sigma = &self.draws.sigma;
        let constant = match self.family {
            Family::Poisson => -ln_gamma(y + 1.0),
            Family::Binomial => ln_gamma(trials + 1.0) - ln_gamma(y + 1.0) - ln_gamma(trials - y + 1.0),
            Family::Student => {
                ln_gamma(0.5 * (FREEDOM + 1.0)) - ln_gamma(0.5 * FREEDOM) - 0.5 * (FREEDOM * PI).ln()
            }
            Family::Logistic | Family::Linear | Family::Own => -0.5 * (2.0 * PI).ln(),
        };
        for (d, (out, &eta)) in scratch.iter_mut().zip(eta).enumerate() {
            *out = match self.family {
                Family::Poisson => y * eta - eta.exp(),
                Family::Binomial => y * eta - trials * softplus(eta),
                Family::Student => {
                    let z = (y - eta) / sigma[d];
                    -0.5 * (FREEDOM + 1.0) * (z * z / FREEDOM).ln_1p() - sigma[d].ln()
                }
                Family::Logistic | Family::Linear | Family::Own => {
                    -0.5 * ((y - eta) / sigma[d]).powi(2) - sigma[d].ln()
                }
            };
        }
        let largest = scratch.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        if !largest.is_finite() {
            return largest;
        }
        let sum: f64 = scratch.iter().map(|log| (log - largest).exp()).sum();
        constant + largest + (sum / eta.len() as f64).ln()
    }
}

#[inline]
fn sigmoid(eta: f64) -> f64 {
    1.0 / (1.0 + (-eta).exp())
}

/// log(1 + e^η).
fn softplus(eta: f64) -> f64 {
    eta.max(0.0) + (-eta.abs()).exp().ln_1p()
}

/// The quantiles `tail` and 1 − `tail` of `of(values)`, `of` increasing; reorders the values.
fn quantiles(values: &mut [f64], tail: f64, of: impl Fn(f64) -> f64) -> [f64; 2] {
    let last = values.len() - 1;
    let place = |p: f64| (((last as f64 * p).floor() as usize).min(last), (last as f64 * p).fract());
    let between =
        |low: f64, high: f64, share: f64| if low == high { low } else { low + share * (high - low) };
    let (lower, share) = place(tail);
    // What is right of a selected place is not smaller: the next order statistic is its least.
    let (_, &mut at, right) = values.select_nth_unstable_by(lower, f64::total_cmp);
    let next = right.iter().copied().reduce(f64::min).unwrap_or(at);
    let low = between(of(at), of(next), share);
    let (upper, share) = place(1.0 - tail);
    let (_, &mut at, right) = values[lower..].select_nth_unstable_by(upper - lower, f64::total_cmp);
    let next = right.iter().copied().reduce(f64::min).unwrap_or(at);
    [low, between(of(at), of(next), share)]
}

/// The smallest counts that at least `tail` and 1 − `tail` of the counts do not exceed.
fn counted(counts: &mut [f64], tail: f64) -> [f64; 2] {
    let last = counts.len() - 1;
    let place = |p: f64| ((counts.len() as f64 * p).ceil() as usize).saturating_sub(1).min(last);
    let (lower, upper) = (place(tail), place(1.0 - tail));
    let low = *counts.select_nth_unstable_by(lower, f64::total_cmp).1;
    [low, *counts[lower..].select_nth_unstable_by(upper - lower, f64::total_cmp).1]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_those_of_the_library() {
        for count in [1, 2, 3, 40, 1000] {
            let values: Vec<f64> = (0..count).map(|i| f64::from(i * 7919 % 1009) / 100.0).collect();
            for tail in [0.0, 0.025, 0.05, 0.25, 0.5] {
                let expected = austerity::diagnostics::quantiles(&[&values], &[tail, 1.0 - tail]);
                let found = quantiles(&mut values.clone(), tail, |x| x);
                for (found, expected) in found.iter().zip(expected) {
                    assert!((found - expected).abs() < 1e-12, "{count} {tail}: {found} {expected}");
                }
            }
        }
    }

    #[test]
    fn counts_are_not_interpolated() {
        let counts: Vec<f64> = (0..100).rev().map(f64::from).collect();
        assert_eq!(counted(&mut counts.clone(), 0.025), [2.0, 97.0]);
        assert_eq!(counted(&mut [4.0], 0.025), [4.0, 4.0]);
    }
}
