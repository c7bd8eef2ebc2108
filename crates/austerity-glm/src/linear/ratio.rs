//! The differences of a move of a Gaussian linear model: their sum from statistics, or one by one from rows.
//!
//! With z = r/σ and z' = r'/σ' a row's difference is w·[−Δs − ½(z' − z)(z' + z)], where
//! z' − z = z·(e^(−Δs) − 1) − x·(θ'−θ)/σ' is formed as it stands, so that small steps keep their digits.

use std::ops::Range;

use super::Linear;
use crate::{CheckedData, Store};
use austerity::dot::dot;
use austerity::error::{Error, Result, setting};
use austerity::model::Model as _;
use austerity::population::{Moments, Population, RowCost};

/// A noise sd that falls by more than this power of e in one move leaves no row possible: (σ/σ')² nears the range
/// of f64.
const SUDDEN: f64 = -350.0;

/// Centred and scaled rows in storage order.
#[derive(Clone, Debug)]
pub(super) enum Rows {
    /// In f64, beside the user's data.
    Wide {
        order: Vec<u32>,
        /// Row by row: the columns, then y − offset − level.
        values: Vec<f64>,
        weights: Option<Vec<f64>>,
    },
    /// In the blocks of a store.
    Stored(Store),
}

impl Rows {
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Wide { order, values, weights } => {
                let weights = weights.as_deref().map_or(0, size_of_val);
                size_of_val(order.as_slice()) + size_of_val(values.as_slice()) + weights
            }
            Self::Stored(store) => store.bytes(),
        }
    }

    pub(super) fn new(data: &CheckedData, level: f64) -> Self {
        let order = data.storage_order();
        let mut values = Vec::with_capacity(order.len() * (data.columns.len() + 1));
        for &i in &order {
            let i = i as usize;
            for ((column, shift), scale) in data.columns.iter().zip(&data.shift).zip(&data.scale) {
                values.push((column[i] - shift) / scale);
            }
            values.push(data.response[i] - data.offset.as_ref().map_or(0.0, |o| o[i]) - level);
        }
        let weights = data.weights.as_ref();
        let weights = weights.map(|w| order.iter().map(|&i| w[i as usize]).collect());
        Self::Wide { order, values, weights }
    }

    /// Row of the user's data at a storage position.
    pub(super) fn original(&self, position: usize) -> usize {
        match self {
            Self::Wide { order, .. } => order[position] as usize,
            Self::Stored(store) => store.original_row(position),
        }
    }

    /// Writes the columns and y − offset − level of a storage position to `row`; returns the weight.
    pub(super) fn read(&self, position: usize, row: &mut [f64]) -> f64 {
        match self {
            Self::Wide { values, weights, .. } => {
                row.copy_from_slice(&values[position * row.len()..(position + 1) * row.len()]);
                weights.as_ref().map_or(1.0, |w| w[position])
            }
            Self::Stored(store) => {
                let (blocks, columns) = (store.blocks(), row.len() - 1);
                let value = |column: usize| f64::from(blocks.value(position, column));
                store.read(position, &mut row[..columns]);
                row[columns] = value(blocks.layout().response);
                blocks.layout().weight.map_or(1.0, value)
            }
        }
    }
}

pub(super) fn no_rows() -> Error {
    setting(
        "rows",
        "not kept",
        "a linear model made by `Linear::new` or `Linear::from_store`, or the exact rule, which needs no rows",
    )
}

/// The differences l_i of a move.
#[derive(Debug)]
pub struct LinearRatio<'a> {
    pub(super) model: &'a Linear,
    pub(super) point: &'a [f64],
    pub(super) step: &'a [f64],
    /// `point` seen from φ̂.
    pub(super) away: &'a [f64],
    /// Whether the states have the right length.
    pub(super) fits: Result<()>,
    /// Δs.
    pub(super) rise: f64,
    /// 1/σ and 1/σ'.
    pub(super) inverse: (f64, f64),
}

impl LinearRatio<'_> {
    /// A σ that underflows leaves every row impossible, now or under the candidate.
    fn degenerate(&self) -> Option<Result<f64>> {
        if let Err(error) = &self.fits {
            Some(Err(error.clone()))
        } else if self.rise.is_nan() {
            Some(Err(Error::UndefinedTotal { value: f64::NAN }))
        } else if !self.inverse.0.is_finite() {
            Some(Err(Error::UndefinedTotal { value: f64::INFINITY }))
        } else if !self.inverse.1.is_finite() || self.rise < SUDDEN {
            Some(Ok(f64::NEG_INFINITY))
        } else {
            None
        }
    }

    /// Σ l_i from the sufficient statistics.
    fn sum(&self) -> f64 {
        let statistics = &self.model.statistics;
        let (mut rise, mut change) = (0.0, 0.0);
        for (i, (away, step)) in self.away.iter().zip(self.step).enumerate() {
            let row = statistics.gram_row(i);
            let at = dot(row, self.away);
            let twice = 2.0 * statistics.slope[i];
            rise += away * (at - twice);
            change += step * (2.0 * at + dot(row, self.step) - twice);
        }
        let residual = (statistics.least + rise).max(0.0) * self.inverse.0 * self.inverse.0;
        // −W·Δs − ½ RSS/σ²·(e^(−2Δs) − 1), its two parts of opposite sign joined.
        let x = -2.0 * self.rise;
        let by_sigma =
            -0.5 * ((residual - statistics.weight) * x.exp_m1() + statistics.weight * expm1_minus(x));
        by_sigma - 0.5 * change * self.inverse.1 * self.inverse.1
    }
}

impl Population for LinearRatio<'_> {
    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    fn len(&self) -> usize {
        self.model.statistics.rows
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let stored = self.model.rows.as_ref().ok_or_else(no_rows)?;
        if let Some(value) = self.degenerate() {
            out.fill(value?);
            return Ok(());
        }
        let stride = self.step.len();
        let shrink = (-self.rise).exp_m1();
        let mut row = vec![0.0; stride];
        for (out, p) in out.iter_mut().zip(rows) {
            let weight = stored.read(p, &mut row);
            let (x, target) = (&row[..stride - 1], row[stride - 1]);
            let change = self.step[0] + dot(x, &self.step[1..]);
            let z = (target - self.point[0] - dot(x, &self.point[1..])) * self.inverse.0;
            // z' − z with z' = (r − change)/σ', then −½(z'² − z²) = −½(z' − z)(z' + z).
            let d = z * shrink - change * self.inverse.1;
            *out = weight * (-self.rise - 0.5 * d * (d + 2.0 * z));
            if out.is_nan() {
                return Err(Error::NotANumber { row: stored.original(p) });
            }
        }
        Ok(())
    }

    fn total(&mut self) -> Result<Moments> {
        let rows = self.len();
        if self.model.by_rows {
            let mut moments = Moments::EMPTY;
            self.summarize(&[0], rows, &mut moments)?;
            return Ok(moments);
        }
        let sum = self.degenerate().unwrap_or_else(|| Ok(self.sum()))?;
        if sum.is_nan() || sum == f64::INFINITY {
            return Err(Error::UndefinedTotal { value: sum });
        }
        Ok(Moments {
            count: rows as u64,
            mean: sum / rows as f64,
            m2: f64::NAN,
            m3: f64::NAN,
            m4: f64::NAN,
            minimum: if sum == f64::NEG_INFINITY { sum } else { f64::NAN },
            maximum: f64::NAN,
            nonzeros: rows as u64,
        })
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: if self.model.by_rows { 2 } else { 0 } }
    }
}

/// e^x − 1 − x without cancellation.
pub(super) fn expm1_minus(x: f64) -> f64 {
    if x.abs() > 0.1 {
        return x.exp_m1() - x;
    }
    // x²/2! + x³/3! + … to x¹²/12!: the next term is below 1e-18 of the first.
    let mut sum = 0.0;
    for k in (3..=12).rev() {
        sum = (1.0 + sum) * x / f64::from(k);
    }
    0.5 * x * x * (1.0 + sum)
}
