//! The chance that a new row's event comes after given times: the average over the draws of the survival function.
//!
//! Cost: the linear predictors once more, and one survival function per row, draw and time.

use austerity_glm::glm::Visitor;
use austerity_io::coding::Piece;

use super::draws::Draws;
use super::product::{Product, TILE};
use crate::model::Family;
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{FamilyChoice, Keyword};

/// Refuses times that are none, and families that do not explain any.
pub(super) fn check(family: Family, times: &[f64]) -> Result<(), Failure> {
    if let Some(&wrong) = times.iter().find(|time| !(**time > 0.0 && time.is_finite())) {
        return Err(Refusal::range(Keyword::Survival, wrong, "positive times").into());
    }
    if !times.is_empty() && family.kind() != austerity_glm::ResponseKind::Time {
        let allowed = format!("runs of a survival family ({})", FamilyChoice::of_times());
        return Err(Refusal::range(Keyword::Survival, times[0], &allowed).into());
    }
    Ok(())
}

/// The name of the column of a time.
pub(super) fn name(time: f64) -> String {
    format!("survival_{time}")
}

/// The chances of all rows of a piece, time after time.
pub(super) fn chances(family: Family, draws: &Draws, piece: &Piece<'_>, times: &[f64]) -> Vec<Vec<f64>> {
    let mut columns = vec![Vec::with_capacity(piece.rows); times.len()];
    let Family::Glm(family) = family else { return columns };
    let mut product = Product::new(draws);
    for first in (0..piece.rows).step_by(TILE) {
        let count = TILE.min(piece.rows - first);
        product.compute(piece, first, count);
        for at in 0..count {
            let eta = product.row(at);
            for (column, &time) in columns.iter_mut().zip(times) {
                column.push(family.visit(Chance { eta, draws, time }));
            }
        }
    }
    columns
}

struct Chance<'a> {
    eta: &'a [f64],
    draws: &'a Draws,
    time: f64,
}

impl Visitor for Chance<'_> {
    type Output = f64;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> f64 {
        let one = |(d, &eta): (usize, &f64)| family.survival(self.time, eta, self.draws.extra(d));
        let sum: f64 = self.eta.iter().enumerate().map(|row| one(row).unwrap_or(f64::NAN)).sum();
        sum / self.eta.len() as f64
    }
}
