//! Which rows can do most to a decision, and how concentrated that is.
//!
//! One pass over the rows of a [`Glm`] after its mode and Laplace covariance are known: the leverage of a row is the
//! posterior sd of its linear predictor, its score what a second-order expansion at the mode leaves of it, its spread
//! the sd of its log-likelihood difference per unit of step (all of them in [`crate::glm::influence`]). Sorted,
//! scores and spreads answer whether a test can be blind: [`Leverage::surrogate`], [`Leverage::raw`].
//!
//! By the information equality Σ spread² is about d, so that κ of a random-walk step of relative size ρ is about ρ√d.
//! Cost: one pass, 24 bytes per row while it lasts and 16 afterwards. Near the mode only: rows that matter elsewhere
//! (several modes, a cold start) are not seen.

use std::ops::Range;

use super::blindness::{Falling, RawBlindness, ResidualTest, SurrogateBlindness, raw, surrogate};
use crate::glm::influence::Influences;
use crate::glm::{Family, Glm, Influence};
use crate::pass::Pass;
use austerity::error::Result;
use austerity::model::{Mode, Model as _};

/// Rows listed.
const LISTED: usize = 10;
/// Share of the highest hundredth, and largest over typical leverage, beyond which a few rows decide about a
/// coefficient. Gaussian columns stay below 0.05 and 5.
const CONCENTRATED: (f64, f64) = (0.2, 10.0);

/// What the rows can do.
#[derive(Clone, Debug)]
pub struct Leverage {
    /// N.
    pub rows: usize,
    /// d.
    pub parameters: usize,
    /// Root mean square of the leverages.
    pub typical: f64,
    /// The largest leverage over the typical one.
    pub largest_ratio: f64,
    /// Share of Σ lev² in the hundredth of the rows that have most: 0.01 if all are alike, about 0.03 for Gaussian
    /// columns, near 1 when a few rows decide about a coefficient.
    pub top_share: f64,
    /// The rows with the largest leverages, largest first.
    pub by_leverage: Vec<Influence>,
    /// The rows with the largest scores, largest first.
    pub by_score: Vec<Influence>,
    scores: Vec<f32>,
    /// slope·lev, falling.
    spreads: Vec<f64>,
}

/// Looks at every row of `model`, whose mode is given.
pub fn check_leverage<F: Family>(model: &Glm<F>, mode: &Mode) -> Result<Leverage> {
    let rows = model.len();
    let pass = RowLeverages(Influences::new(model, &mode.state, &mode.covariance)?);
    let Seen { mut squares, scores, mut spreads, by_leverage, by_score } =
        model.driver().run(&pass, model)?;
    let falling = |values: &mut Vec<f64>| values.sort_unstable_by(|a, b| b.total_cmp(a));
    falling(&mut spreads);
    falling(&mut squares);
    let total: f64 = squares.iter().rev().sum();
    let typical = (total / rows.max(1) as f64).sqrt();
    let top: f64 = squares.iter().take(rows.div_ceil(100)).sum();
    let share = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    Ok(Leverage {
        rows,
        parameters: model.parameters(),
        typical,
        largest_ratio: share(squares.first().map_or(0.0, |s| s.sqrt()), typical),
        top_share: share(top, total),
        by_leverage,
        by_score,
        scores,
        spreads,
    })
}

/// The pass over all rows: what each can do, in their order, and those that can do most.
struct RowLeverages(Influences);

/// What some rows can do.
#[derive(Default)]
struct Seen {
    squares: Vec<f64>,
    scores: Vec<f32>,
    spreads: Vec<f64>,
    by_leverage: Vec<Influence>,
    by_score: Vec<Influence>,
}

impl<F: Family> Pass<Glm<F>> for RowLeverages {
    type Partial = Seen;
    const NAME: &'static str = "leverages";

    fn blocks(&self, model: &Glm<F>) -> usize {
        model.blocks().count()
    }

    fn empty(&self, _model: &Glm<F>) -> Seen {
        Seen::default()
    }

    fn visit(&self, model: &Glm<F>, blocks: Range<usize>, _kept: &mut [f32], seen: &mut Seen) -> Result<()> {
        self.0.visit(model, blocks, &mut |row| {
            seen.squares.push(row.leverage * row.leverage);
            seen.scores.push(row.score.min(1e18) as f32);
            seen.spreads.push(row.slope * row.leverage);
            list(&mut seen.by_leverage, row, |row| row.leverage);
            list(&mut seen.by_score, row, |row| row.score);
        });
        Ok(())
    }

    fn merge(&self, earlier: &mut Seen, later: Seen) {
        earlier.squares.extend(later.squares);
        earlier.scores.extend(later.scores);
        earlier.spreads.extend(later.spreads);
        later.by_leverage.into_iter().for_each(|row| list(&mut earlier.by_leverage, row, |row| row.leverage));
        later.by_score.into_iter().for_each(|row| list(&mut earlier.by_score, row, |row| row.score));
    }
}

/// Keeps the rows with the largest `value`, largest first.
fn list(largest: &mut Vec<Influence>, row: Influence, value: fn(&Influence) -> f64) {
    if largest.get(LISTED - 1).is_none_or(|last| value(&row) > value(last)) {
        let place = largest.partition_point(|other| value(other) >= value(&row));
        largest.insert(place, row);
        largest.truncate(LISTED);
    }
}

impl Leverage {
    /// Whether a test on residuals of a second-order expansion can be blind here, and the certainty stratum that cures it.
    pub fn surrogate(&self, settings: &ResidualTest) -> Result<SurrogateBlindness> {
        surrogate(&Falling::new(&self.scores, settings.largest_stratum, settings.first), settings)
    }

    /// Whether a test on raw differences whose first look is at `first` rows can be blind here, for steps of a tuned
    /// random walk.
    pub fn raw(&self, first: usize) -> Result<RawBlindness> {
        raw(&self.spreads, self.parameters, first)
    }

    /// How concentrated the leverage is, in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        let top = 100.0 * self.top_share;
        let largest = self.largest_ratio;
        if self.top_share > CONCENTRATED.0 || largest > CONCENTRATED.1 {
            format!(
                "Leverage is concentrated: one row in a hundred has {top:.0} % of it, the largest is {largest:.0} times the typical one."
            )
        } else {
            format!(
                "Leverage is spread out: the highest hundredth of the rows has {top:.1} % of it, the largest is {largest:.1} times the typical one."
            )
        }
    }
}

#[cfg(test)]
mod tests;
