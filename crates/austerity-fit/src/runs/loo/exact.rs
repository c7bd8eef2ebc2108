//! Exact PSIS-LOO of single rows: every draw's log density, then Pareto smoothing.
//!
//! Cost per row: draws × features multiplications, draws log densities, and [`pareto`](crate::estimate::pareto).

use std::ops::Range;

use austerity_io::coding::Piece;

use crate::estimate::pareto::{LeftOut, Smoother};
use crate::model::Family;
use crate::runs::law::{Law, Lawful, under};
use crate::runs::predict::draws::Draws;
use crate::runs::predict::product::{Product, TILE};
use crate::runs::rows::in_parallel;

/// Leaves rows out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Exact<'a> {
    pub(super) family: Family,
    pub(super) draws: &'a Draws,
    /// Effective draws per draw.
    pub(super) efficiency: f64,
}

impl Exact<'_> {
    /// The rows of a piece in a range, one after the other.
    pub(super) fn rows(&self, piece: &Piece<'_>, rows: Range<usize>, threads: usize) -> Vec<LeftOut> {
        let mut out = vec![LeftOut::default(); rows.len()];
        in_parallel(threads, &mut out, |own, out| {
            let own = rows.start + own.start..rows.start + own.end;
            let mut smoother = Smoother::new(self.draws.count(), self.efficiency);
            under(
                self.family,
                Densities {
                    this: self,
                    piece,
                    rows: own,
                    found: &mut |at, densities: &[f64]| out[at] = smoother.leave_out(densities),
                },
            );
        });
        out
    }
}

impl Exact<'_> {
    /// The log densities of all rows of a piece: row after row one per draw.
    pub(super) fn densities(&self, piece: &Piece<'_>) -> Vec<f64> {
        let mut all = Vec::with_capacity(piece.rows * self.draws.count());
        let mut found = |_: usize, densities: &[f64]| all.extend_from_slice(densities);
        under(self.family, Densities { this: self, piece, rows: 0..piece.rows, found: &mut found });
        all
    }
}

/// The log densities of some rows under every draw.
struct Densities<'a> {
    this: &'a Exact<'a>,
    piece: &'a Piece<'a>,
    rows: Range<usize>,
    found: &'a mut dyn FnMut(usize, &[f64]),
}

impl Lawful for Densities<'_> {
    type Output = ();

    fn under(self, law: &impl Law) {
        let Self { this: Exact { draws, .. }, piece, rows, found } = self;
        let mut product = Product::new(draws);
        for first in rows.clone().step_by(TILE) {
            let count = TILE.min(rows.end - first);
            product.compute(piece, first, count);
            for at in 0..count {
                let row = first + at;
                let trials = piece.trials.as_ref().map_or(1.0, |trials| trials[row]);
                let weight = piece.weights.as_ref().map_or(1.0, |weights| weights[row]);
                let y = piece.response.as_ref().map_or(f64::NAN, |response| response[row]);
                let constant = law.constant(y, trials);
                let eta = product.row(at);
                for (d, eta) in eta.iter_mut().enumerate() {
                    *eta = weight * (law.log_density(*eta, draws.extra(d), y, trials) + constant);
                }
                found(row - rows.start, eta);
            }
        }
    }
}
