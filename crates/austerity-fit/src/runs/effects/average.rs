//! Averages over all rows of a number that every draw gives every row, from a few rows.
//!
//! With f_i(θ) the number of row i (a prediction, or the difference of two), the average under draw s is F̄(θ_s). One pass computes F̄ at the posterior mean θ̄ over all rows, and
//! keeps a random sample of them. A draw then needs the sample alone:
//!
//! F̄(θ_s) ≈ F̄(θ̄) + (1/n) Σ_sample [f_i(θ_s) − f_i(θ̄)],
//!
//! the difference estimator: what is left to the sample shrinks with the width of the posterior, so n does not grow with N. The sample doubles until its standard error,
//! √(1 − n/N)·s/√n per draw, is below a share of the posterior's standard deviation of every average.
//!
//! Groups have samples of their own (reservoirs: Vitter 1985, algorithm R, then shuffled so that the first n are a random sample, too). Frequency weights weigh both parts.
//!
//! Cost: a pass of two predictions per row and effect, then sample × draws × features. Memory: the sample (at most [`LARGEST`] rows, shared among groups).

use austerity::diagnostics::quantiles;
use austerity::rng::{Role, stream};
use rand::RngExt as _;
use rand::seq::SliceRandom as _;

use super::ask::Unit;
use super::frame::{Change, Frame, Inputs};
use super::{Estimate, Settings};
use crate::model::Family;
use crate::output::Failure;
use crate::runs::law::{Law, Lawful, under};
use crate::runs::predict::draws::Draws;
use crate::runs::predict::product::{Product, TILE};
use crate::runs::rows::Kept;

/// Rows of all samples together.
const LARGEST: usize = 1 << 16;
/// Rows of the sample of one group.
const LARGEST_OF_GROUP: usize = 1 << 13;
/// Rows of the first look.
const FIRST: usize = 256;
/// Groups at most.
const MOST_GROUPS: usize = 200;
/// Numbers of a sample at most.
const LARGEST_NUMBERS: usize = 8 << 20;

/// What effects need of a run.
pub(super) struct Posterior<'a> {
    pub(super) family: Family,
    pub(super) draws: &'a Draws,
    /// The mean of the draws: coefficients, then the logarithms of the extra parameters.
    pub(super) mean: Vec<f64>,
}

impl Posterior<'_> {
    fn coefficients(&self) -> &[f64] {
        &self.mean[..self.draws.coefficients()]
    }

    fn extra(&self) -> &[f64] {
        &self.mean[self.draws.coefficients()..]
    }

    /// The expected responses of all rows of a frame at the mean of the draws.
    fn centre(
        &self,
        inputs: &Inputs<'_>,
        frame: &Frame,
        change: Option<(usize, &Change)>,
    ) -> Result<Vec<f64>, Failure> {
        let (mut all, skip) = (Vec::with_capacity(frame.rows()), usize::from(self.draws.intercept()));
        let coefficients = self.coefficients();
        frame.design(inputs.run, change, &mut |piece| {
            let first = all.len();
            match &piece.offset {
                Some(offset) => all.extend_from_slice(offset),
                None => all.resize(first + piece.rows, 0.0),
            }
            if skip == 1 {
                all[first..].iter_mut().for_each(|eta| *eta += coefficients[0]);
            }
            for (column, coefficient) in piece.columns.iter().zip(&coefficients[skip..]) {
                for (eta, value) in all[first..].iter_mut().zip(column.iter()) {
                    *eta += coefficient * value;
                }
            }
        })?;
        under(self.family, Means { eta: &mut all, extra: self.extra() });
        Ok(all)
    }

    /// The expected responses of rows `rows` of a sample under every draw: row after row.
    pub(super) fn means(&self, kept: &Kept, rows: std::ops::Range<usize>) -> Vec<f64> {
        let mut product = Product::new(self.draws);
        let (piece, count) = (kept.piece(), self.draws.count());
        let mut all = Vec::with_capacity(rows.len() * count);
        for first in rows.clone().step_by(TILE) {
            let tile = TILE.min(rows.end - first);
            product.compute(&piece, first, tile);
            (0..tile).for_each(|at| all.extend_from_slice(product.row(at)));
        }
        under(self.family, MeansOfDraws { eta: &mut all, draws: self.draws });
        all
    }
}

struct Means<'a> {
    eta: &'a mut [f64],
    extra: &'a [f64],
}

impl Lawful for Means<'_> {
    type Output = ();

    fn under(self, law: &impl Law) {
        self.eta.iter_mut().for_each(|eta| *eta = law.mean(*eta, self.extra, 1.0));
    }
}

struct MeansOfDraws<'a> {
    eta: &'a mut [f64],
    draws: &'a Draws,
}

impl Lawful for MeansOfDraws<'_> {
    type Output = ();

    fn under(self, law: &impl Law) {
        for row in self.eta.chunks_exact_mut(self.draws.count().max(1)) {
            row.iter_mut().enumerate().for_each(|(d, eta)| *eta = law.mean(*eta, self.draws.extra(d), 1.0));
        }
    }
}

/// The changes of a unit as places in a frame.
pub(super) fn sides<'u>(unit: &'u Unit, frame: &Frame) -> [Option<(usize, &'u Change)>; 2] {
    let place = frame.place(&unit.term);
    [&unit.low, &unit.high].map(|change| place.zip(change.as_ref()))
}

/// One group: the sums of the pass, and its sample.
struct Group {
    name: String,
    rows: usize,
    weight: f64,
    /// Σ weight × number at the mean of the draws, one per unit.
    sums: Vec<f64>,
    sample: Frame,
}

/// The averages of every unit, by group.
pub(super) fn averages(
    inputs: &Inputs<'_>,
    posterior: &Posterior<'_>,
    units: &[Unit],
    settings: &Settings,
) -> Result<Vec<Estimate>, Failure> {
    let groups = pass(inputs, posterior, units, settings)?;
    let mut made = Vec::new();
    for (place, unit) in units.iter().enumerate() {
        for group in &groups {
            made.push(one(inputs, posterior, (unit, place, group), settings)?);
        }
    }
    Ok(made)
}

/// One pass over all rows.
fn pass(
    inputs: &Inputs<'_>,
    posterior: &Posterior<'_>,
    units: &[Unit],
    settings: &Settings,
) -> Result<Vec<Group>, Failure> {
    let names = inputs.columns(settings.by.as_deref());
    let by = settings.by.as_ref().and_then(|by| names.iter().position(|name| name == by));
    let weights = inputs.weights.as_ref().and_then(|own| names.iter().position(|name| name == own));
    let most = LARGEST_OF_GROUP.min(LARGEST_NUMBERS / names.len().max(1));
    let (mut frame, mut groups) = (Frame::new(names.clone()), Vec::<Group>::new());
    let mut places: std::collections::HashMap<u64, usize> = std::collections::HashMap::new();
    let mut rng = stream(settings.seed, 1, Role::Data);
    let mut failure = None;
    let mut visit = |frame: &Frame| -> Result<(), Failure> {
        let numbers = units
            .iter()
            .map(|unit| numbers(inputs, posterior, unit, frame))
            .collect::<Result<Vec<_>, _>>()?;
        for row in 0..frame.rows() {
            let key = by.map_or(0, |by| frame.values[by][row].to_bits());
            let place = *places.entry(key).or_insert(groups.len());
            if place == groups.len() {
                if groups.len() == MOST_GROUPS {
                    let by = settings.by.clone().unwrap_or_default();
                    return Err(Failure::Usage(format!(
                        "column `{by}` has more than {MOST_GROUPS} values: group by one with fewer"
                    )));
                }
                groups.push(Group {
                    name: by.map_or(String::new(), |by| shown(frame, by, row)),
                    rows: 0,
                    weight: 0.0,
                    sums: vec![0.0; units.len()],
                    sample: Frame::new(names.clone()),
                });
            }
            let group = &mut groups[place];
            let weight = weights.map_or(1.0, |weights| frame.values[weights][row]);
            group.weight += weight;
            group.sums.iter_mut().zip(&numbers).for_each(|(sum, numbers)| *sum += weight * numbers[row]);
            let slot = if group.rows < most { None } else { Some(rng.random_range(0..=group.rows)) };
            if slot.is_none_or(|slot| slot < most) {
                group.sample.take(frame, row, slot);
            }
            group.rows += 1;
        }
        Ok(())
    };
    inputs.scan(&names, &mut |chunks| {
        if failure.is_none() {
            frame.fill(chunks);
            failure = visit(&frame).err();
        }
        Ok(())
    })?;
    if let Some(failure) = failure {
        return Err(failure);
    }
    let share = (LARGEST / groups.len().max(1)).max(FIRST);
    for group in &mut groups {
        group.sample.labels.clone_from(&frame.labels);
        let rows = group.sample.rows();
        let mut order: Vec<usize> = (0..rows).collect();
        order.shuffle(&mut rng);
        order.truncate(share);
        let mut sample = Frame { labels: frame.labels.clone(), ..Frame::new(names.clone()) };
        order.into_iter().for_each(|row| sample.take(&group.sample, row, None));
        group.sample = sample;
    }
    groups.sort_by(|a, b| natural(&a.name, &b.name));
    Ok(groups)
}

/// Numbers by size, texts by the alphabet.
fn natural(a: &str, b: &str) -> std::cmp::Ordering {
    match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.total_cmp(&b),
        _ => a.cmp(b),
    }
}

/// A value of a column as text.
pub(super) fn shown(frame: &Frame, column: usize, row: usize) -> String {
    let value = frame.values[column][row];
    match &frame.labels[column] {
        Some(labels) => labels.get(value as usize).cloned().unwrap_or_default(),
        None => value.to_string(),
    }
}

/// The number of every row of a frame at the mean of the draws.
fn numbers(
    inputs: &Inputs<'_>,
    posterior: &Posterior<'_>,
    unit: &Unit,
    frame: &Frame,
) -> Result<Vec<f64>, Failure> {
    let [low, high] = sides(unit, frame);
    let mut made = posterior.centre(inputs, frame, high)?;
    if low.is_some() {
        let less = posterior.centre(inputs, frame, low)?;
        made.iter_mut().zip(less).for_each(|(high, low)| *high = (*high - low) / unit.step);
    }
    Ok(made)
}

/// The average of a unit over a group.
fn one(
    inputs: &Inputs<'_>,
    posterior: &Posterior<'_>,
    (unit, place, group): (&Unit, usize, &Group),
    settings: &Settings,
) -> Result<Estimate, Failure> {
    let draws = posterior.draws.count();
    let centre = numbers(inputs, posterior, unit, &group.sample)?;
    let [low, high] = sides(unit, &group.sample);
    let upper = group.sample.kept(inputs.run, high)?;
    let lower = low.map(|low| group.sample.kept(inputs.run, Some(low))).transpose()?;
    let weights = inputs.weights.as_ref().and_then(|name| group.sample.place(name));
    let available = centre.len();
    let (mut sums, mut squares, mut weight) = (vec![0.0; draws], vec![0.0; draws], 0.0);
    let (mut done, mut size) = (0, FIRST.min(available));
    loop {
        for first in (done..size).step_by(TILE) {
            let rows = first..(first + TILE).min(size);
            let mut values = posterior.means(&upper, rows.clone());
            if let Some(lower) = &lower {
                let less = posterior.means(lower, rows.clone());
                values.iter_mut().zip(less).for_each(|(high, low)| *high = (*high - low) / unit.step);
            }
            for (row, values) in rows.zip(values.chunks_exact(draws)) {
                let own = weights.map_or(1.0, |weights| group.sample.values[weights][row]);
                weight += own;
                for ((sum, square), value) in sums.iter_mut().zip(&mut squares).zip(values) {
                    let difference = own * (value - centre[row]);
                    *sum += difference;
                    *square += difference * difference;
                }
            }
        }
        done = size;
        let (n, all) = (done as f64, group.rows as f64);
        let mean = weight / n;
        let spread = |(sum, square): (&f64, &f64)| (square - sum * sum / n).max(0.0) / (n - 1.0).max(1.0);
        let variance: f64 = sums.iter().zip(&squares).map(spread).sum::<f64>() / draws as f64;
        let sampling = ((1.0 - n / all).max(0.0) * variance / n).sqrt() / mean;
        let start = group.sums[place] / group.weight;
        let values: Vec<f64> = sums.iter().map(|sum| start + sum / weight).collect();
        let estimate = Estimate::of(&values, settings.interval);
        if sampling <= settings.tolerance * estimate.sd || done == available {
            return Ok(Estimate {
                term: unit.term.clone(),
                contrast: unit.contrast.clone(),
                group: group.name.clone(),
                rows: group.rows,
                read: done,
                sampling,
                ..estimate
            });
        }
        size = (2 * size).min(available);
    }
}

impl Estimate {
    /// Mean, standard deviation and equal-tailed interval of draws.
    pub(super) fn of(values: &[f64], interval: f64) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let variance =
            values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (count - 1.0).max(1.0);
        let tail = 0.5 - 0.5 * interval;
        let ends = quantiles(&[values], &[tail, 1.0 - tail]);
        let above = values.iter().filter(|value| **value > 0.0).count() as f64 / count;
        Self { estimate: mean, sd: variance.sqrt(), lower: ends[0], upper: ends[1], above, ..Self::default() }
    }
}
