//! Chances of a new row, averaged over the draws: that its event comes after given times, that its response has each of its ordered levels.
//!
//! Cost: the linear predictors once more, and one survival function or log density per row, draw and time or level.

use austerity_glm::glm::Visitor;
use austerity_io::coding::{Piece, Recipe, ResponseCoding};

use super::draws::Draws;
use super::product::{Product, TILE};
use crate::model::Family;
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{FamilyChoice, Keyword};

/// Which chances are computed.
pub(super) struct Chances {
    family: Family,
    /// Names of columns.
    pub(super) names: Vec<String>,
    asked: Vec<Asked>,
}

/// One of them.
#[derive(Clone, Copy)]
enum Asked {
    /// That the event comes later.
    After(f64),
    /// Of the level in this place.
    Level(f64),
}

impl Chances {
    /// Of a survival family at these times, of every level of an ordered response. Refuses times that are none, and families that do not explain any.
    pub(super) fn new(family: Family, recipe: &Recipe, times: &[f64]) -> Result<Self, Failure> {
        if let Some(&wrong) = times.iter().find(|time| !(**time > 0.0 && time.is_finite())) {
            return Err(Refusal::range(Keyword::Survival, wrong, "positive times").into());
        }
        if !times.is_empty() && family.kind() != austerity_glm::ResponseKind::Time {
            let allowed = format!("runs of a survival family ({})", FamilyChoice::of_times());
            return Err(Refusal::range(Keyword::Survival, times[0], &allowed).into());
        }
        let levels = match &recipe.coding {
            ResponseCoding::Levels { levels, .. } => &levels[..],
            _ => &[],
        };
        let names = times.iter().map(|time| format!("survival_{time}"));
        let names = names.chain(levels.iter().map(|level| format!("probability_{level}"))).collect();
        let after = times.iter().map(|&time| Asked::After(time));
        let asked = after.chain((0..levels.len()).map(|place| Asked::Level(place as f64))).collect();
        Ok(Self { family, names, asked })
    }

    /// Those of all rows of a piece, one column after the other.
    pub(super) fn of(&self, draws: &Draws, piece: &Piece<'_>) -> Vec<Vec<f64>> {
        let mut columns = vec![Vec::with_capacity(piece.rows); self.asked.len()];
        let (Family::Glm(family), false) = (self.family, columns.is_empty()) else { return columns };
        let mut product = Product::new(draws);
        for first in (0..piece.rows).step_by(TILE) {
            let count = TILE.min(piece.rows - first);
            product.compute(piece, first, count);
            for at in 0..count {
                let eta = product.row(at);
                for (column, &asked) in columns.iter_mut().zip(&self.asked) {
                    column.push(family.visit(Chance { eta, draws, asked }));
                }
            }
        }
        columns
    }
}

struct Chance<'a> {
    eta: &'a [f64],
    draws: &'a Draws,
    asked: Asked,
}

impl Visitor for Chance<'_> {
    type Output = f64;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> f64 {
        let one = |(d, &eta): (usize, &f64)| match self.asked {
            Asked::After(time) => family.survival(time, eta, self.draws.extra(d)).unwrap_or(f64::NAN),
            Asked::Level(level) => family.log_likelihood(self.draws.extra(d), eta, level, 1.0).exp(),
        };
        let sum: f64 = self.eta.iter().enumerate().map(one).sum();
        sum / self.eta.len() as f64
    }
}
