//! How long the steps of a walk become that adapts to an acceptance rate under a test.
//!
//! A test accepts more long moves than an exact rule, and in the wider chain that it makes moves are accepted more often still. A walk that learns its
//! length in warm-up from the decisions of the test (Vihola 2012) therefore ends with longer steps than a pilot with exact decisions: D grows, κ = D with it, and the
//! heat ([`ErrorTable::bias_of`]) grows with both. The factor c on the lengths of the pilot solves
//!
//! ```text
//! acceptance{c·D, c·κ; w(c·D, c·κ)} = target
//! ```
//!
//! At N = 20,000, looks every 500 rows, ε = .05 and 7 coefficients the pilot's D = 2.38 becomes 3.5, and the predicted sd 1.65 instead of 1.37 times the exact one.
//!
//! Lengths vary from step to step (D² like χ²_d/d), which matters to the acceptance: [`lengths`] keeps five of them. Cost: some ten predictions. Not for
//! walks of a fixed length, nor for proposals that are no walk.

use super::bias::{Bias, Moves};
use super::table::ErrorTable;
use crate::error::Result;
use crate::rule::Law;

/// Lengths that stand for all.
const LENGTHS: usize = 5;
/// Steps are not looked for beyond so many times the pilot's, or so few.
const LONGEST_RATIO: f64 = 16.0;
/// Precision of c.
const PRECISION: f64 = 1e-4;

/// Moves that stand for those with these κ: the root mean squares of five equal parts of them, in order, D = κ by the information equality.
#[must_use]
pub fn lengths(kappas: &[f64]) -> Vec<Moves> {
    let mut sorted = kappas.to_vec();
    sorted.sort_by(f64::total_cmp);
    let parts = LENGTHS.min(sorted.len());
    (0..parts)
        .map(|part| {
            let some = &sorted[part * sorted.len() / parts..(part + 1) * sorted.len() / parts];
            let square = some.iter().map(|kappa| kappa * kappa).sum::<f64>() / some.len() as f64;
            Moves::plain(square.sqrt().clamp(1e-6, 1e3))
        })
        .collect()
}

/// All lengths times `factor`.
#[must_use]
pub fn stretched(moves: &[Moves], factor: f64) -> Vec<Moves> {
    let longer = |value: f64, least: f64, most: f64| (factor * value).clamp(least, most);
    let one = |moves: &Moves| Moves {
        energy_root: longer(moves.energy_root, 1e-6, 1e3),
        kappa: longer(moves.kappa, 0.0, 1e6),
    };
    moves.iter().map(one).collect()
}

/// The factor on the lengths of `moves` at which `bias` has the acceptance rate `target`, and the bias there; acceptance falls as the factor grows. 16 or 1/16
/// times where that is not reached.
pub fn adapted(
    moves: &[Moves],
    target: f64,
    mut bias: impl FnMut(&[Moves]) -> Result<Option<Bias>>,
) -> Result<Option<(f64, Bias)>> {
    let Some(here) = bias(moves)? else { return Ok(None) };
    let up = here.acceptance > target;
    let (mut inner, mut outer) = ((1.0f64, here), None);
    while outer.is_none() {
        let factor = inner.0 * if up { 1.4 } else { 1.0 / 1.4 };
        if !(1.0 / LONGEST_RATIO..=LONGEST_RATIO).contains(&factor) {
            return Ok(Some(inner));
        }
        let Some(there) = bias(&stretched(moves, factor))? else { return Ok(None) };
        if (there.acceptance > target) == up {
            inner = (factor, there);
        } else {
            outer = Some((factor, there));
        }
    }
    let Some(mut outer) = outer else { return Ok(Some(inner)) };
    while (outer.0 / inner.0).ln().abs() > PRECISION {
        // Secant in log c, kept off the ends.
        let share = (inner.1.acceptance - target) / (inner.1.acceptance - outer.1.acceptance);
        let share = share.clamp(0.02, 0.98);
        let factor = inner.0.powf(1.0 - share) * outer.0.powf(share);
        let Some(there) = bias(&stretched(moves, factor))? else { return Ok(None) };
        if (there.acceptance - target).abs() < PRECISION {
            return Ok(Some((factor, there)));
        }
        if (there.acceptance > target) == up {
            inner = (factor, there);
        } else {
            outer = (factor, there);
        }
    }
    Ok(Some(inner))
}

impl ErrorTable {
    /// The predicted bias of a walk whose steps were like `moves` under an exact rule, after it adapted to the acceptance rate `target` under the test.
    pub fn adapted_bias(&self, law: Law, moves: &[Moves], target: f64) -> Result<Bias> {
        let found = adapted(moves, target, |moves| self.bias_of(law, moves).map(Some))?;
        found.map_or_else(|| self.bias_of(law, moves), |(_, bias)| Ok(bias))
    }

    /// The λ that cancels the heat at the length to which the walk adapts under it.
    pub fn adapted_compensation(&self, moves: &[Moves], target: f64) -> Result<Option<f64>> {
        let found = adapted(moves, target, |moves| match self.compensation_of(moves)? {
            None => Ok(None),
            Some(lambda) => self.bias_of(Law::Compensated { lambda }, moves).map(Some),
        })?;
        found.map_or(Ok(None), |(factor, _)| self.compensation_of(&stretched(moves, factor)))
    }
}
