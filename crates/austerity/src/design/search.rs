//! The search itself: error against data use for every candidate, the front, the optimum.
//!
//! * Worst case: min π̄(0) subject to E(0) ≤ tolerance. Needs no pilot; E(0) bounds every |Δ|. Very
//!   conservative.
//! * Average: min mean E_u\[π̄\] subject to mean |Δ| ≤ tolerance, means over the pairs of completed decisions.
//!   Under a compensated law the error is the mean |detailed-balance defect| instead: Δ is then intended.
//!
//! Korattikara, Chen & Welling (2014), section 5.3 and supplement D. Error and data use are those of the
//! theory (1e-4); the optimum is the best of the grid. Cost: one sweep per candidate, plus a few microseconds
//! per pair. Do not use moments of stopped decisions: see [`crate::design::pairs`].

use super::pairs::Pairs;
use super::space::{Candidate, Space};
use crate::error::{Result, setting};
use crate::rule::Law;
use crate::theory::{Accuracy, ErrorTable, Plan, RandomWalk};

/// A candidate with what it costs and how wrong it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// The test.
    pub candidate: Candidate,
    /// J.
    pub looks: usize,
    /// The error that the search measured: E(0), mean |Δ| or mean |defect|.
    pub error: f64,
    /// The data use that goes with it.
    pub data_usage: f64,
    /// E(0), whatever the search measured.
    pub worst_error: f64,
}

/// The outcome of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// Designs that no other beats in both error and data use, by rising data use and falling error.
    pub front: Vec<Design>,
    /// The design with the least data use whose error is within the tolerance, if there is one.
    pub best: Option<Design>,
    /// The design with the least error: what comes nearest when none is within the tolerance.
    pub nearest: Design,
    /// The tolerance asked for.
    pub tolerance: f64,
}

impl Search {
    /// The outcome in a sentence.
    #[must_use]
    pub fn verdict(&self) -> String {
        match &self.best {
            Some(best) => format!(
                "m = {}, epsilon = {:.4}, growth {}: error {:.4} within {}, {:.1} % of the data per decision",
                best.candidate.first,
                best.candidate.epsilon(),
                best.candidate.growth,
                best.error,
                self.tolerance,
                100.0 * best.data_usage
            ),
            None => format!(
                "no design that was searched has an error within {}; nearest is m = {}, epsilon = {:.4}, growth {} with error {:.4} at \
                 {:.1} % of the data: allow more error, or use the exact rule",
                self.tolerance,
                self.nearest.candidate.first,
                self.nearest.candidate.epsilon(),
                self.nearest.candidate.growth,
                self.nearest.error,
                100.0 * self.nearest.data_usage
            ),
        }
    }
}

/// The worst-case design for populations of `rows` rows.
pub fn worst_case(space: &Space, rows: usize, tolerance: f64) -> Result<Search> {
    search(space, rows, tolerance, |plan| {
        let worst = RandomWalk::new(plan, Accuracy::Fast).worst_case();
        Ok([worst.error, worst.data_usage, worst.error])
    })
}

/// The average design for decisions like `pairs` under `law`.
pub fn average(space: &Space, pairs: &Pairs, law: Law, tolerance: f64) -> Result<Search> {
    law.check()?;
    if pairs.as_slice().is_empty() {
        return Err(setting("pairs", 0, "at least one completed decision (about 100 are wanted)"));
    }
    search(space, pairs.rows(), tolerance, |plan| {
        let table = ErrorTable::new(&RandomWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
        let [error, usage] = evaluate(&table, pairs, law)?;
        Ok([error, usage, table.worst_error()])
    })
}

/// Mean error and mean data use of one test over `pairs`: what [`average`] measures, for a test at hand.
pub fn evaluate(table: &ErrorTable, pairs: &Pairs, law: Law) -> Result<[f64; 2]> {
    let compensated = matches!(law, Law::Compensated { .. });
    let mut sums = [0.0; 2];
    for pair in pairs.as_slice() {
        let step = table.step(law, pair.ratio, pair.kappa)?;
        sums[0] +=
            if compensated { table.defect(law, pair.ratio, pair.kappa)?.abs() } else { step.delta.abs() };
        sums[1] += step.data_usage;
    }
    let count = pairs.as_slice().len().max(1) as f64;
    Ok(sums.map(|sum| sum / count))
}

fn search(
    space: &Space,
    rows: usize,
    tolerance: f64,
    measure: impl Fn(Plan) -> Result<[f64; 3]>,
) -> Result<Search> {
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(setting("tolerance", tolerance, "a number between 0 and 1, both excluded"));
    }
    let mut designs = Vec::new();
    for candidate in space.candidates() {
        let plan = space.plan(&candidate, rows)?;
        let looks = plan.looks();
        let [error, data_usage, worst_error] = measure(plan)?;
        designs.push(Design { candidate, looks, error, data_usage, worst_error });
    }
    designs.sort_by(|a, b| a.data_usage.total_cmp(&b.data_usage).then(a.error.total_cmp(&b.error)));
    let Some(&first) = designs.first() else {
        return Err(setting("space", "empty", "at least one first look, growth and bound"));
    };
    let mut front = vec![first];
    for design in designs {
        if front.last().is_none_or(|last| design.error < last.error) {
            front.push(design);
        }
    }
    let best = front.iter().copied().find(|design| design.error <= tolerance);
    let nearest = front.last().copied().unwrap_or(first);
    Ok(Search { front, best, nearest, tolerance })
}
