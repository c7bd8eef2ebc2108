//! One row: mean, intervals and log score from its linear predictors, by family.
//!
//! Links are increasing, so order statistics of the predictors are those of the means: one selection, two links. Means that depend on the extra parameters, too, are computed for every
//! draw. Intervals of
//! means and real observations interpolate between order statistics (type 7); those of counts are order statistics
//! themselves (type 1), so that their ends are counts. The log score is log of the average over the draws of p(y | η_d, extra parameters).

use std::ops::Range;

use austerity_glm::ResponseKind;
use austerity_io::coding::Piece;

use super::draws::Draws;
use super::groups::GroupShifts;
use super::product::{Product, TILE};
use crate::model::Family;
use crate::runs::law::{Law, Lawful, under};

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
    /// What groups add.
    groups: Option<&'a GroupShifts>,
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
        Self { family, draws, tail: 0.5 - 0.5 * interval, probability, groups: None }
    }

    /// The same with what groups add.
    pub(super) fn with_groups(self, groups: Option<&'a GroupShifts>) -> Self {
        Self { groups, ..self }
    }

    /// Whether there is an interval of new observations.
    pub(super) fn is_predictive(&self) -> bool {
        self.family.kind() != ResponseKind::Binary && !self.probability
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
                let eta = product.row(at);
                if let Some(groups) = self.groups {
                    groups.add(piece, row, eta);
                }
                let made = self.row(eta, trials, response, &mut scratch);
                for (column, value) in out.iter_mut().zip(made) {
                    column[row - rows.start] = value;
                }
            }
        }
    }

    /// Mean, its interval, the interval of a new observation and the log density of the response.
    fn row(&self, eta: &mut [f64], trials: f64, response: Option<f64>, scratch: &mut [f64]) -> [f64; 6] {
        let task = Row { predictor: self, eta, trials, response, scratch };
        under(self.family, task)
    }
}

/// What is to be predicted of one row.
struct Row<'a> {
    predictor: &'a Predictor<'a>,
    /// Of every draw.
    eta: &'a mut [f64],
    trials: f64,
    response: Option<f64>,
    scratch: &'a mut [f64],
}

impl Lawful for Row<'_> {
    type Output = [f64; 6];

    fn under(self, law: &impl Law) -> [f64; 6] {
        self.made(law)
    }
}

impl Row<'_> {
    fn made(self, law: &impl Law) -> [f64; 6] {
        let Row { predictor, eta, trials, response, scratch } = self;
        let (draws, tail) = (predictor.draws, predictor.tail);
        let mut made = [f64::NAN; 6];
        let mean = |(d, &eta): (usize, &f64)| law.mean(eta, draws.extra(d), trials);
        made[0] = eta.iter().enumerate().map(mean).sum::<f64>() / eta.len() as f64;
        if let Some(y) = response {
            let chance = if y == 1.0 { made[0] } else { 1.0 - made[0] };
            made[5] = if predictor.family.kind() == ResponseKind::Binary && chance > CANCELLED {
                chance.ln()
            } else {
                log_density(law, (draws, &*eta), (y, trials), scratch)
            };
        }
        if predictor.is_predictive() {
            for (d, (new, &eta)) in scratch.iter_mut().zip(&*eta).enumerate() {
                *new = law.quantile((draws.level[d], draws.noise[d]), eta, draws.extra(d), trials);
            }
            let whole = !predictor.family.kind().is_continuous();
            [made[3], made[4]] = if whole { counted(scratch, tail) } else { quantiles(scratch, tail, |y| y) };
        }
        [made[1], made[2]] = if predictor.family.has_mean_by_extra() {
            scratch.iter_mut().zip(eta.iter().enumerate().map(mean)).for_each(|(slot, mean)| *slot = mean);
            quantiles(scratch, tail, |mean| mean)
        } else {
            quantiles(eta, tail, |eta| law.mean(eta, &[], trials))
        };
        made
    }
}

/// log of the average density of y.
fn log_density(
    law: &impl Law,
    (draws, eta): (&Draws, &[f64]),
    (y, trials): (f64, f64),
    scratch: &mut [f64],
) -> f64 {
    for (d, (out, &eta)) in scratch.iter_mut().zip(eta).enumerate() {
        *out = law.log_density(eta, draws.extra(d), y, trials);
    }
    let largest = scratch.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if !largest.is_finite() {
        return largest;
    }
    let sum: f64 = scratch.iter().map(|log| (log - largest).exp()).sum();
    law.constant(y, trials) + largest + (sum / eta.len() as f64).ln()
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
