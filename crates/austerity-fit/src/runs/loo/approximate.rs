//! Every row's leave-one-out log density from the mean and covariance of the draws.
//!
//! The variance of a row's linear predictor is |Fᵀx|², F the covariance factor of the draws ([`Gaussian`]); the rest is [`cavity`](crate::estimate::cavity). Rows go by 32: the
//! products with F are sums over rows that lie side by side. Columns that are 0 in all 32 rows cost nothing.
//!
//! Cost per row: features × rank multiplications, rank at most 32, and one set of derivatives.

use std::ops::Range;

use austerity_glm::glm::family::VARIABLES;
use austerity_io::coding::Piece;

use crate::estimate::cavity::{Approximation, Square, approximate};
use crate::estimate::gaussian::Gaussian;
use crate::model::Family;
use crate::runs::law::{Law, Lawful, under};
use crate::runs::rows::in_parallel;

/// Rows side by side.
const WIDTH: usize = 32;

/// Approximates rows.
#[derive(Debug)]
pub(super) struct Approximator<'a> {
    family: Family,
    gaussian: &'a Gaussian,
    intercept: bool,
    /// Number of coefficients.
    coefficients: usize,
    /// Number of extra parameters, which follow them.
    extras: usize,
    /// Covariance of η (unknown yet) and the extra parameters.
    covariance: Square,
}

impl<'a> Approximator<'a> {
    /// `gaussian` is that of the coefficients and the logarithms of the extra parameters.
    pub(super) fn new(family: Family, gaussian: &'a Gaussian, intercept: bool) -> Self {
        let extras = family.extra().len();
        let coefficients = gaussian.mean.len() - extras;
        let mut covariance: Square = [[0.0; VARIABLES]; VARIABLES];
        for a in 0..extras {
            for b in 0..extras {
                let (left, right) = (gaussian.row(coefficients + a), gaussian.row(coefficients + b));
                covariance[1 + a][1 + b] = left.iter().zip(right).map(|(a, b)| a * b).sum();
            }
        }
        Self { family, gaussian, intercept, coefficients, extras, covariance }
    }

    /// All rows of a piece.
    pub(super) fn piece(&self, piece: &Piece<'_>, threads: usize, out: &mut Vec<Approximation>) {
        out.clear();
        out.resize(piece.rows, Approximation::default());
        in_parallel(threads, out, |rows, out| under(self.family, Stretch { this: self, piece, rows, out }));
    }
}

/// Some rows of a piece.
struct Stretch<'a> {
    this: &'a Approximator<'a>,
    piece: &'a Piece<'a>,
    rows: Range<usize>,
    out: &'a mut [Approximation],
}

impl Lawful for Stretch<'_> {
    type Output = ();

    fn under(self, law: &impl Law) {
        let Self { this, piece, rows, out } = self;
        let mut tile = Tile::new(this.gaussian.rank);
        let extra = &this.gaussian.mean[this.coefficients..];
        for (first, out) in rows.step_by(WIDTH).zip(out.chunks_mut(WIDTH)) {
            tile.fill(this, piece, first, out.len());
            for (at, out) in out.iter_mut().enumerate() {
                let row = first + at;
                let of = |side: &Option<std::borrow::Cow<'_, [f64]>>, usual: f64| {
                    side.as_ref().map_or(usual, |side| side[row])
                };
                let (trials, weight) = (of(&piece.trials, 1.0), of(&piece.weights, 1.0));
                let y = piece.response.as_ref().map_or(f64::NAN, |response| response[row]);
                let covariance = tile.covariance(this, at);
                let mut curve = law.curve(tile.eta[at], extra, y, trials);
                let value =
                    weight * (law.log_density(tile.eta[at], extra, y, trials) + law.constant(y, trials));
                if weight != 1.0 {
                    curve
                        .slope
                        .iter_mut()
                        .chain(curve.second.iter_mut().flatten())
                        .for_each(|entry| *entry *= weight);
                }
                *out = approximate(value, &curve, &covariance, 1 + this.extras);
            }
        }
    }
}

/// The linear predictors of 32 rows, and their products with the factor.
struct Tile {
    eta: [f64; WIDTH],
    /// Fᵀx, entry after entry those of all rows.
    along: Vec<[f64; WIDTH]>,
}

impl Tile {
    fn new(rank: usize) -> Self {
        Self { eta: [0.0; WIDTH], along: vec![[0.0; WIDTH]; rank] }
    }

    fn fill(&mut self, this: &Approximator<'_>, piece: &Piece<'_>, first: usize, count: usize) {
        self.eta = [0.0; WIDTH];
        if let Some(offset) = &piece.offset {
            self.eta[..count].copy_from_slice(&offset[first..first + count]);
        }
        self.along.iter_mut().for_each(|sums| *sums = [0.0; WIDTH]);
        let gaussian = this.gaussian;
        let skip = usize::from(this.intercept);
        if this.intercept {
            self.add(&[1.0; WIDTH], gaussian.mean[0], gaussian.row(0));
        }
        let mut values = [0.0; WIDTH];
        for (j, column) in piece.columns.iter().enumerate().take(this.coefficients - skip) {
            let given = &column[first..first + count];
            if given.iter().all(|value| *value == 0.0) {
                continue;
            }
            values[..count].copy_from_slice(given);
            self.add(&values, gaussian.mean[skip + j], gaussian.row(skip + j));
        }
    }

    fn add(&mut self, values: &[f64; WIDTH], mean: f64, row: &[f64]) {
        for (eta, value) in self.eta.iter_mut().zip(values) {
            *eta += mean * value;
        }
        for (sums, &entry) in self.along.iter_mut().zip(row) {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += entry * value;
            }
        }
    }

    /// Covariance of η and the extra parameters of a row.
    fn covariance(&self, this: &Approximator<'_>, at: usize) -> Square {
        let mut covariance = this.covariance;
        covariance[0][0] = self.along.iter().map(|sums| sums[at] * sums[at]).sum();
        for a in 0..this.extras {
            let row = this.gaussian.row(this.coefficients + a);
            let cross = self.along.iter().zip(row).map(|(sums, entry)| sums[at] * entry).sum();
            (covariance[0][1 + a], covariance[1 + a][0]) = (cross, cross);
        }
        covariance
    }
}
