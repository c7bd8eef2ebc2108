//! `austerity sensitivity RUN`: would another prior, or more data, say something else?
//!
//! Prior and likelihood are raised to a power α near 1, one at a time, and the change of every marginal is measured (Kallioinen, Paananen, Bürkner and Vehtari 2024, "Detecting and diagnosing prior and likelihood
//! sensitivity with power-scaling"). Draws get the weights p(θ)^(α−1), α = 0.99 and 1.01; the distance of the weighted from the plain distribution is the cumulative Jensen–Shannon distance of their
//! empirical distribution functions, over log₂ α: a derivative. Above 0.05 a marginal is sensitive:
//!
//! | prior | likelihood | what it says |
//! |---|---|---|
//! | below | above | the data decide: the usual case |
//! | above | above | prior and data pull in different directions: look at both |
//! | above | below | the prior decides: the data say little of this parameter |
//!
//! The log-likelihood of a draw is the second-order expansion of all rows at the mean of the draws, summed in one pass, and what it leaves out, from a sample of rows. Constants cancel in the weights.
//! The prior of a positive parameter is that of the parameter itself, not of its logarithm.
//!
//! Cost: one pass with parameters² multiplications per row, then sample × draws × features. Not for standardised runs: their priors hold for columns that this pass does not see.

use std::path::{Path, PathBuf};

use austerity::rng::{Role, stream};
use austerity_glm::{Prior, glm::Curve};
use austerity_io::coding::Piece;
use rand::seq::index::sample;
use serde_json::{Value, json};

use super::law::{Law, Lawful, under};
use super::predict::draws::Draws;
use super::predict::product::{Product, TILE};
use super::rows::{Kept, Rows, RunRows};
use super::{Folder, RunFile, after, predict};
use crate::data::all_cores;
use crate::fit::plan::PriorRecord;
use crate::output::{Failure, json as print_json, say};
use crate::request::Common;
use crate::table::table;

/// Powers.
const POWERS: [f64; 2] = [0.99, 1.01];
/// A marginal that moves faster is sensitive.
const SENSITIVE: f64 = 0.05;
/// Rows whose expansions are corrected.
const ROWS: usize = 1_000;
/// Draws used.
const DRAWS: usize = 4_000;
/// Most parameters: the sums have their square.
const MOST: usize = 300;

/// How a marginal reacts.
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction {
    /// The parameter.
    pub name: String,
    /// To the prior.
    pub prior: f64,
    /// To the likelihood.
    pub likelihood: f64,
}

impl Reaction {
    /// What it says; nothing where the data decide.
    #[must_use]
    pub fn diagnosis(&self) -> Option<&'static str> {
        match (self.prior > SENSITIVE, self.likelihood > SENSITIVE) {
            (true, true) => Some("prior and data pull in different directions"),
            (true, false) => Some("the prior decides, the data say little"),
            _ => None,
        }
    }
}

/// What `sensitivity` is asked for.
#[derive(Clone, Debug)]
pub struct SensitivityOptions {
    /// The run.
    pub run: PathBuf,
    /// Its rows, where they are elsewhere now.
    pub data: Option<PathBuf>,
}

/// Measures and prints.
pub fn run(common: &Common, options: &SensitivityOptions) -> Result<(), Failure> {
    let made = answer(&options.run, &Rows::at(options.data.as_deref()), (common.seed(), common.threads))?;
    after::keep(&options.run, ("sensitivity", "Sensitivity to prior and likelihood"), words(&made), None);
    if common.json { print_json(&json(&made)) } else { say(words(&made)) }
}

/// What `--json` prints.
#[must_use]
pub fn json(made: &[Reaction]) -> Value {
    let one = |reaction: &Reaction| json!({"name": reaction.name, "prior": reaction.prior, "likelihood": reaction.likelihood, "diagnosis": reaction.diagnosis()});
    json!({"parameters": made.iter().map(one).collect::<Vec<Value>>(), "threshold": SENSITIVE})
}

/// As a table.
#[must_use]
pub fn words(made: &[Reaction]) -> String {
    let mut shown = table(&["", "prior", "likelihood", "diagnosis"]);
    for reaction in made {
        shown.add_row([
            reaction.name.clone(),
            format!("{:.3}", reaction.prior),
            format!("{:.3}", reaction.likelihood),
            reaction.diagnosis().unwrap_or("–").to_owned(),
        ]);
    }
    let off = made.iter().filter(|reaction| reaction.diagnosis().is_some()).count();
    let said = match off {
        0 => "No marginal is sensitive to the prior: the data decide.".to_owned(),
        off => format!("{off} of {} marginals are sensitive to the prior (above {SENSITIVE}).", made.len()),
    };
    format!("{shown}\n{said}")
}

/// The reactions of all parameters of the run at `run`.
pub fn answer(run: &Path, rows: &Rows<'_>, (seed, threads): (u64, usize)) -> Result<Vec<Reaction>, Failure> {
    let folder = Folder::new(run);
    let file = predict::answerable(&folder)?;
    if file.plan.model.standardize {
        return Err(Failure::Usage("the priors of this run hold for standardised columns: fit without --standardize to ask how sensitive it is".into()));
    }
    let draws = Draws::read(&folder, &file, DRAWS, seed)?;
    let states = draws.states();
    let parameters = states.first().map_or(0, Vec::len);
    if parameters > MOST {
        return Err(Failure::Usage(format!("the run has {parameters} parameters; allowed: {MOST}")));
    }
    let count = states.len() as f64;
    let mut mean = vec![0.0; parameters];
    states
        .iter()
        .for_each(|state| mean.iter_mut().zip(state).for_each(|(mean, value)| *mean += value / count));
    let source = RunRows::open(&file, rows, all_cores(threads))?;
    let sums = pass(&file, (&draws, &mean), &source, seed)?;
    let likelihood = sums.log_likelihoods(&file, &draws, &mean, &states);
    let prior = log_priors(&file, &states, &sums.means)?;
    let names = file.plan.recipe.coefficient_names().into_iter();
    let names = names.chain(file.plan.model.family.extra().iter().map(|extra| extra.name.to_owned()));
    Ok(names
        .enumerate()
        .map(|(place, name)| {
            let values: Vec<f64> = states.iter().map(|state| state[place]).collect();
            Reaction { name, prior: reaction(&values, &prior), likelihood: reaction(&values, &likelihood) }
        })
        .collect())
}

/// Log prior of every draw.
fn log_priors(file: &RunFile, states: &[Vec<f64>], means: &[f64]) -> Result<Vec<f64>, Failure> {
    let records = &file.plan.model.priors;
    let priors = PriorRecord::read(records, means)?;
    let positive = records
        .iter()
        .map(|record| record.prior.parse::<Prior>().map(|prior| prior.is_positive()).map_err(Failure::from))
        .collect::<Result<Vec<bool>, Failure>>()?;
    Ok(states
        .iter()
        .map(|state| {
            let turned: f64 =
                state.iter().zip(&positive).filter(|(_, positive)| **positive).map(|(value, _)| value).sum();
            priors.log_density(state) - turned
        })
        .collect())
}

/// Sums over all rows at the mean of the draws, and some rows.
struct Sums {
    gradient: Vec<f64>,
    /// Row after row, of which the lower triangle is filled.
    hessian: Vec<f64>,
    /// Of the columns of the model.
    means: Vec<f64>,
    rows: usize,
    kept: Kept,
}

fn pass(
    file: &RunFile,
    (draws, mean): (&Draws, &[f64]),
    source: &RunRows<'_>,
    seed: u64,
) -> Result<Sums, Failure> {
    let (count, parameters) = (source.count(), mean.len());
    let skip = usize::from(draws.intercept());
    let mut chosen = sample(&mut stream(seed, 4, Role::Data), count, ROWS.min(count)).into_vec();
    chosen.sort_unstable();
    let mut sums = Sums {
        gradient: vec![0.0; parameters],
        hessian: vec![0.0; parameters * parameters],
        means: vec![0.0; draws.coefficients() - skip],
        rows: count,
        kept: Kept::default(),
    };
    let mut next = 0;
    source.scan(&mut |piece| {
        for (total, column) in sums.means.iter_mut().zip(&piece.columns) {
            *total += column.iter().sum::<f64>() / count as f64;
        }
        under(
            file.plan.model.family,
            Add { piece, mean, skip, coefficients: draws.coefficients(), sums: &mut sums },
        );
        while let Some(&row) = chosen.get(next).filter(|row| **row < piece.first + piece.rows) {
            sums.kept.push(piece, row - piece.first);
            next += 1;
        }
        Ok(())
    })?;
    Ok(sums)
}

/// The curve of a row at a state.
fn curve(
    law: &impl Law,
    (piece, row): (&Piece<'_>, usize),
    eta: f64,
    extra: &[f64],
) -> (f64, f64, f64, Curve) {
    let trials = piece.trials.as_ref().map_or(1.0, |trials| trials[row]);
    let weight = piece.weights.as_ref().map_or(1.0, |weights| weights[row]);
    let y = piece.response.as_ref().map_or(f64::NAN, |response| response[row]);
    (y, trials, weight, law.curve(eta, extra, y, trials))
}

/// Adds the rows of a piece.
struct Add<'a> {
    piece: &'a Piece<'a>,
    mean: &'a [f64],
    skip: usize,
    coefficients: usize,
    sums: &'a mut Sums,
}

impl Lawful for Add<'_> {
    type Output = ();

    fn under(self, law: &impl Law) {
        let Self { piece, mean, skip, coefficients, sums } = self;
        let (parameters, extra) = (mean.len(), &mean[coefficients..]);
        let mut x = vec![0.0; coefficients];
        for row in 0..piece.rows {
            if skip == 1 {
                x[0] = 1.0;
            }
            x[skip..].iter_mut().zip(&piece.columns).for_each(|(value, column)| *value = column[row]);
            let offset = piece.offset.as_ref().map_or(0.0, |offset| offset[row]);
            let eta = offset + x.iter().zip(mean).map(|(x, b)| x * b).sum::<f64>();
            let (_, _, weight, curve) = curve(law, (piece, row), eta, extra);
            for (a, value) in x.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                sums.gradient[a] += weight * curve.slope[0] * value;
                let scaled = weight * curve.second[0][0] * value;
                for (entry, other) in sums.hessian[a * parameters..=a * parameters + a].iter_mut().zip(&x) {
                    *entry += scaled * other;
                }
            }
            for k in 0..extra.len() {
                let own = coefficients + k;
                sums.gradient[own] += weight * curve.slope[1 + k];
                for (entry, value) in sums.hessian[own * parameters..].iter_mut().zip(&x) {
                    *entry += weight * curve.second[0][1 + k] * value;
                }
                for other in 0..=k {
                    sums.hessian[own * parameters + coefficients + other] +=
                        weight * curve.second[1 + k][1 + other];
                }
            }
        }
    }
}

impl Sums {
    /// Log-likelihood of every draw, up to a constant.
    fn log_likelihoods(&self, file: &RunFile, draws: &Draws, mean: &[f64], states: &[Vec<f64>]) -> Vec<f64> {
        let parameters = mean.len();
        let mut all: Vec<f64> = states
            .iter()
            .map(|state| {
                let moved: Vec<f64> = state.iter().zip(mean).map(|(value, mean)| value - mean).collect();
                let mut total = 0.0;
                for a in 0..parameters {
                    let row = &self.hessian[a * parameters..=a * parameters + a];
                    let products: f64 = row.iter().zip(&moved).map(|(entry, moved)| entry * moved).sum();
                    total += moved[a] * (self.gradient[a] + products - 0.5 * row[a] * moved[a]);
                }
                total
            })
            .collect();
        let left = under(file.plan.model.family, LeftOver { sums: self, draws, mean });
        let scale = self.rows as f64 / self.kept.rows.len().max(1) as f64;
        all.iter_mut().zip(left).for_each(|(total, left)| *total += scale * left);
        all
    }
}

/// What the expansions of the kept rows leave out, draw by draw.
struct LeftOver<'a> {
    sums: &'a Sums,
    draws: &'a Draws,
    mean: &'a [f64],
}

impl Lawful for LeftOver<'_> {
    type Output = Vec<f64>;

    fn under(self, law: &impl Law) -> Vec<f64> {
        let Self { sums, draws, mean } = self;
        let (piece, coefficients) = (sums.kept.piece(), draws.coefficients());
        let (skip, extra) = (usize::from(draws.intercept()), &mean[coefficients..]);
        let mut all = vec![0.0; draws.count()];
        let mut product = Product::new(draws);
        for first in (0..piece.rows).step_by(TILE) {
            let tile = TILE.min(piece.rows - first);
            product.compute(&piece, first, tile);
            for at in 0..tile {
                let row = first + at;
                let intercept = if skip == 1 { mean[0] } else { 0.0 };
                let known: f64 = piece
                    .columns
                    .iter()
                    .zip(&mean[skip..coefficients])
                    .map(|(column, b)| column[row] * b)
                    .sum();
                let eta = intercept + known + piece.offset.as_ref().map_or(0.0, |offset| offset[row]);
                let (y, trials, weight, curve) = curve(law, (&piece, row), eta, extra);
                let start = law.log_density(eta, extra, y, trials);
                for (d, own) in product.row(at).iter().enumerate() {
                    let of_draw = draws.extra(d);
                    let moved: Vec<f64> = std::iter::once(own - eta)
                        .chain(of_draw.iter().zip(extra).map(|(a, b)| a - b))
                        .collect();
                    let mut expanded = start;
                    for (a, moved_a) in moved.iter().enumerate() {
                        expanded += curve.slope[a] * moved_a;
                        for (b, moved_b) in moved.iter().enumerate() {
                            expanded += 0.5 * curve.second[a][b] * moved_a * moved_b;
                        }
                    }
                    all[d] += weight * (law.log_density(*own, of_draw, y, trials) - expanded);
                }
            }
        }
        all
    }
}

/// How fast the distribution of `values` changes when the density with these logarithms is raised to a power.
fn reaction(values: &[f64], logs: &[f64]) -> f64 {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_by(|&a, &b| values[a].total_cmp(&values[b]));
    let highest = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let speeds = POWERS.map(|power| {
        let weights: Vec<f64> = logs.iter().map(|log| ((power - 1.0) * (log - highest)).exp()).collect();
        let forward = distance(&order, values, &weights, 1.0);
        let mut back = order.clone();
        back.reverse();
        forward.max(distance(&back, values, &weights, -1.0)) / f64::log2(power).abs()
    });
    0.5 * (speeds[0] + speeds[1])
}

/// Cumulative Jensen–Shannon distance of the weighted from the plain distribution of values in this order, normalised to at most 1 (Nguyen and Vreeken 2015).
fn distance(order: &[usize], values: &[f64], weights: &[f64], sign: f64) -> f64 {
    let (total, count) = (weights.iter().sum::<f64>(), values.len() as f64);
    let (mut plain, mut weighted) = (0.0, 0.0);
    let (mut sum, mut bound) = (0.0, 0.0);
    let log_ratio = |p: f64, middle: f64| if p > 0.0 { p * (p / middle).log2() } else { 0.0 };
    for pair in order.windows(2) {
        plain += 1.0 / count;
        weighted += weights[pair[0]] / total;
        let width = sign * (values[pair[1]] - values[pair[0]]);
        let middle = 0.5 * (plain + weighted);
        sum += width * (log_ratio(plain, middle) + log_ratio(weighted, middle));
        bound += width * (plain + weighted);
    }
    // The linear terms of both directions cancel.
    if bound > 0.0 { (sum / bound).max(0.0).sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use statrs::distribution::{ContinuousCDF as _, Normal};

    /// A normal posterior that is the product of two normal densities: the narrow one moves it, the wide one does not, and where their means are far apart both do.
    #[test]
    fn the_density_that_decides_is_the_sensitive_one() {
        let draws: Vec<f64> =
            (0..2_000).map(|k| Normal::standard().inverse_cdf((f64::from(k) + 0.5) / 2_000.0)).collect();
        let logs = |mean: f64, sd: f64| -> Vec<f64> {
            draws.iter().map(|x| -0.5 * ((x - mean) / sd).powi(2)).collect()
        };
        assert!(reaction(&draws, &logs(0.0, 1.0)) > SENSITIVE);
        assert!(reaction(&draws, &logs(0.0, 20.0)) < 0.2 * SENSITIVE);
        assert!(reaction(&draws, &logs(60.0, 10.0)) > SENSITIVE);
        assert_eq!(reaction(&draws, &vec![1.0; 2_000]), 0.0);
    }
}
