//! What each row can do to a decision near the mode: one pass after mode and curvature.
//!
//! With C Cᵀ the Laplace covariance of the coefficients and η̂ the linear predictor at the mode, row i of weight w has
//!
//! ```text
//! leverage  lev = |Cᵀx|                                    sd of x·(θ − θ̂) under the posterior
//! slope     w · max over t of |l'(η̂ + t·lev)|              t = −2, …, 2: two posterior sds either way
//! score     w · max over t of |l'''(η̂ + t·lev)| · lev³/6   what a second-order expansion at the mode leaves
//! ```
//!
//! A step of a random walk with covariance ρ²·C Cᵀ changes x·θ by ρ·lev (one sd), so slope·lev·ρ bounds the sd of the
//! row's difference. The value at t = 0 is not enough for the score: where l''' vanishes at the mode the row may still
//! be the heaviest. t has 7 values, more where lev is large, so that the peak of |l'''| is not stepped over. Extra parameters (log σ of the Student family) stay at the mode.
//!
//! Cost: N·d²/2 multiply-adds (N·d for every factor, whatever its levels) and 7·N derivatives (or more) in f64: about a second for a million rows of 40 columns. Reads
//! nothing but the data, so it sees the rows that no sample has met; it does not see far from the mode.

use std::ops::Range;

use nalgebra::DMatrix;

use super::blocks::BLOCK;
use super::predictor::levels;
use super::{Family, Glm, precise};
use austerity::error::{Error, Result};
use austerity::model::check_length;

/// Derivatives are looked at up to so many posterior sds either way,
const REACH: f64 = 2.0;
/// in at least so many steps from end to end,
const FEWEST_STEPS: f64 = 6.0;
/// each at most half the scale of the likelihood, in which |l'''| rises and falls,
const SPACING: f64 = 0.5;
/// as long as that is no more steps than this.
const MOST_STEPS: f64 = 1000.0;

/// Scores beyond this are all alike, so that sums of their squares stay finite.
const LARGEST_SCORE: f64 = 1e120;

/// What one row can do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// Position in storage.
    pub position: usize,
    /// lev: the posterior sd of the row's linear predictor.
    pub leverage: f64,
    /// The largest |l'| within two posterior sds.
    pub slope: f64,
    /// The largest |l'''| within two posterior sds, times lev³/6.
    pub score: f64,
}

/// The factor of the covariance in the units of the storage.
struct Factor {
    constant: Vec<f64>,
    /// In the order of the storage. Lower triangular: each moves some of the first directions.
    columns: Vec<Vec<f64>>,
}

/// The question what each row can do, as passes ask it: the mode and the factor of its covariance in the units of the storage.
pub(crate) struct Influences {
    factor: Factor,
    /// γ in the order of the storage, its constant last.
    gamma: Vec<f64>,
    extra: Vec<f64>,
    /// Scale of the likelihood in η.
    unit: f64,
}

impl Influences {
    pub(crate) fn new<F: Family>(model: &Glm<F>, state: &[f64], covariance: &[f64]) -> Result<Self> {
        let size = model.parameters();
        check_length("state", size, state.len())?;
        check_length("covariance", size * size, covariance.len())?;
        let factor = model.factor(covariance)?;
        let (gamma, extra) = (model.exact_predictor(state), model.extra(state).to_vec());
        let unit = model.family.unit(&extra);
        Ok(Self { factor, gamma, extra, unit })
    }

    /// Visits the rows of some blocks.
    pub(crate) fn visit<F: Family>(
        &self,
        model: &Glm<F>,
        blocks: Range<usize>,
        visit: &mut impl FnMut(Influence),
    ) {
        let view = model.blocks().view();
        let layout = view.layout();
        let mut moved = vec![[0.0f64; BLOCK]; self.factor.constant.len()];
        for block in blocks {
            let lines = view.block(block);
            let value = |place: usize, i: usize| f64::from(lines[2 * place + i / 16].0[i % 16]);
            let eta = precise::predictor(layout, lines, &self.gamma);
            moved.iter_mut().zip(&self.factor.constant).for_each(|(m, &c)| *m = [c; BLOCK]);
            let (dense, table) = self.factor.columns.split_at(layout.columns);
            for (j, column) in dense.iter().enumerate() {
                let x: [f64; BLOCK] = std::array::from_fn(|i| value(j, i));
                for (moved, &entry) in moved.iter_mut().zip(column) {
                    moved.iter_mut().zip(&x).for_each(|(moved, x)| *moved += entry * x);
                }
            }
            for i in 0..if table.is_empty() { 0 } else { BLOCK } {
                for (place, number) in levels::values_of_row(layout, lines, i) {
                    let number = f64::from(number);
                    moved.iter_mut().zip(&table[place]).for_each(|(moved, entry)| moved[i] += entry * number);
                }
            }
            for i in 0..view.rows_in(block) {
                let side = |place: Option<usize>, missing: f64| place.map_or(missing, |p| value(p, i));
                let leverage = moved.iter().map(|m| m[i] * m[i]).sum::<f64>().sqrt();
                let eta = eta[i] + side(layout.offset, 0.0);
                let (response, trials) = (value(layout.response, i), side(layout.trials, 1.0));
                let [slope, third] = self.largest(&model.family, (eta, leverage), response, trials);
                let weight = side(layout.weight, 1.0);
                let least = |value: f64| if weight == 0.0 { 0.0 } else { value.min(LARGEST_SCORE) };
                visit(Influence {
                    position: block * BLOCK + i,
                    leverage,
                    slope: least(weight * slope),
                    score: least(weight * third * leverage.powi(3) / 6.0),
                });
            }
        }
    }

    /// The largest first and third derivatives of a row within two posterior sds.
    fn largest<F: Family>(
        &self,
        family: &F,
        (eta, leverage): (f64, f64),
        response: f64,
        trials: f64,
    ) -> [f64; 2] {
        let (mut slope, mut third) = (0.0f64, 0.0f64);
        let steps = (2.0 * REACH * leverage / (SPACING * self.unit)).ceil();
        let steps = steps.clamp(FEWEST_STEPS, MOST_STEPS);
        for k in 0..=steps as u32 {
            let place = REACH * (2.0 * f64::from(k) / steps - 1.0);
            let [a, _, c] = family.row_derivatives(&self.extra, eta + place * leverage, response, trials);
            (slope, third) = (slope.max(a.abs()), third.max(c.abs()));
        }
        [slope, third]
    }
}

impl<F: Family> Glm<F> {
    /// Visits every row in storage order with what it can do, given the mode and the Laplace covariance (d × d, row by
    /// row), as [`find_mode`](austerity::model::find_mode) returns them. Rows of weight 0 can do nothing.
    pub fn influences(
        &self,
        state: &[f64],
        covariance: &[f64],
        mut visit: impl FnMut(Influence),
    ) -> Result<()> {
        let all = 0..self.blocks().count();
        Influences::new(self, state, covariance)?.visit(self, all, &mut visit);
        Ok(())
    }

    fn factor(&self, covariance: &[f64]) -> Result<Factor> {
        let (size, count) = (self.parameters(), self.coefficients());
        let marginal = DMatrix::from_fn(count, count, |i, j| covariance[i * size + j]);
        let lower = marginal.cholesky().map(nalgebra::Cholesky::unpack);
        let lower = lower.filter(|lower| lower.iter().all(|v| v.is_finite())).ok_or_else(|| {
            Error::NotPositiveDefinite {
                what: "the covariance at the mode".into(),
                remedy: "give the inverse of the negative Hessian at a mode".into(),
            }
        })?;
        let mut constant: Vec<f64> =
            (0..count).map(|k| if self.intercept { lower[(0, k)] } else { 0.0 }).collect();
        let mut columns = vec![Vec::new(); self.coding.slots()];
        for entry in &self.coding.entries {
            let row = entry.parameter;
            constant.iter_mut().enumerate().for_each(|(k, c)| *c += entry.shift * lower[(row, k)]);
            columns[entry.slot] = (0..=row).map(|k| entry.scale * lower[(row, k)]).collect();
        }
        Ok(Factor { constant, columns })
    }
}
