//! The search itself: error against data use for every candidate, the front, the optimum.
//!
//! The bounds of a space span a range for each first look, growth and shape. Over its grid error and data use are
//! computed; where the error crosses the tolerance between two bounds, the bound that meets it exactly is solved for
//! (regula falsi on log error against G₀, to 0.01 % of the tolerance and never above it).
//!
//! * Worst case: min π̄(0) subject to E(0) ≤ tolerance. Needs no pilot; E(0) bounds every |Δ|. Very
//!   conservative.
//! * Average: min mean E_u\[π̄\] subject to mean |Δ| ≤ tolerance, means over the pairs of completed decisions.
//!   Under a compensated law the error is the mean |detailed-balance defect| instead: Δ is then intended.
//! * Compensated: the same, with the λ of each candidate at which the predicted temperature is 1, for moves with the
//!   root mean square κ of the pairs and the sd of their log ratios as D. Candidates for which no λ exists
//!   are left out.
//!
//! Korattikara, Chen & Welling (2014), section 5.2 and supplement D. Error and data use are those of the
//! theory (1e-4), with the critical values of the space's statistic (normal) and without the guard of a rule,
//! which reads more data, never less. Cost: one sweep per candidate and three or four per crossing, plus a few microseconds
//! per pair; λ costs some ten times a candidate. Do not use moments of stopped decisions: see [`crate::design::pairs`].

use super::pairs::Pairs;
use super::space::{Space, TestCandidate};
use crate::error::{Result, setting};
use crate::rule::Law;
use crate::theory::{Accuracy, ErrorTable, TestPlan, TestWalk};

/// A candidate with what it costs and how wrong it is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Design {
    /// The test.
    pub candidate: TestCandidate,
    /// J.
    pub looks: usize,
    /// The law of the threshold it was measured under.
    pub law: Law,
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
        let worst = TestWalk::new(plan, Accuracy::Fast).worst_case();
        let (error, data_usage) = (worst.error, worst.data_usage);
        Ok(Some(Measured { law: Law::Metropolis, error, data_usage, worst_error: error }))
    })
}

/// The average design for decisions like `pairs` under `law`.
pub fn average(space: &Space, pairs: &Pairs, law: Law, tolerance: f64) -> Result<Search> {
    law.check()?;
    average_under(space, pairs, tolerance, |_| Ok(Some(law)))
}

/// The average design for decisions like `pairs` when every candidate has the λ that cancels its temperature. The
/// tolerance is on the mean |detailed-balance defect|.
pub fn average_compensated(space: &Space, pairs: &Pairs, tolerance: f64) -> Result<Search> {
    let moves = pairs.moves()?;
    average_under(space, pairs, tolerance, |table| {
        Ok(table.compensation(moves)?.map(|lambda| Law::Compensated { lambda }))
    })
}

fn average_under(
    space: &Space,
    pairs: &Pairs,
    tolerance: f64,
    law: impl Fn(&ErrorTable) -> Result<Option<Law>>,
) -> Result<Search> {
    if pairs.as_slice().is_empty() {
        return Err(setting("pairs", 0, "at least one completed decision (about 100 are wanted)"));
    }
    search(space, pairs.rows(), tolerance, |plan| {
        let table = ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
        let Some(law) = law(&table)? else { return Ok(None) };
        let [error, data_usage] = evaluate(&table, pairs, law)?;
        Ok(Some(Measured { law, error, data_usage, worst_error: table.worst_error() }))
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

/// What is measured of a test.
#[derive(Clone, Copy)]
struct Measured {
    law: Law,
    error: f64,
    data_usage: f64,
    worst_error: f64,
}

/// Solved errors are at most this share below the tolerance.
const CLOSE: f64 = 1e-4;
/// Neighbours of the grid between which a solution is looked for, the most promising first.
const SOLVED: usize = 3;
/// Steps of the solution; regula falsi takes three or four.
const STEPS: usize = 12;

fn search(
    space: &Space,
    rows: usize,
    tolerance: f64,
    measure: impl Fn(TestPlan) -> Result<Option<Measured>>,
) -> Result<Search> {
    if !(tolerance > 0.0 && tolerance < 1.0) {
        return Err(setting("tolerance", tolerance, "a number between 0 and 1, both excluded"));
    }
    let evaluate = |candidate: TestCandidate| -> Result<Option<Design>> {
        let plan = space.plan(&candidate, rows)?;
        let looks = plan.looks();
        Ok(measure(plan)?.map(|Measured { law, error, data_usage, worst_error }| Design {
            candidate,
            looks,
            law,
            error,
            data_usage,
            worst_error,
        }))
    };
    let families = space.families();
    let (mut designs, mut tried) = (Vec::new(), 0);
    // Neighbours between which the tolerance lies, with the data use that a straight line gives there.
    let mut brackets: Vec<(f64, Design, Design)> = Vec::new();
    for (&first, &growth) in space.first.iter().flat_map(|m| space.growth.iter().map(move |g| (m, g))) {
        for family in &families {
            let mut before: Option<Design> = None;
            for &bound in family {
                tried += 1;
                let found = evaluate(TestCandidate { first, growth, bound })?;
                if let (Some(fits), Some(misses)) = (before, found)
                    && fits.error < tolerance
                    && misses.error > tolerance
                {
                    let way = (tolerance / fits.error.max(f64::MIN_POSITIVE)).ln()
                        / (misses.error / fits.error.max(f64::MIN_POSITIVE)).ln();
                    let usage = fits.data_usage + way * (misses.data_usage - fits.data_usage);
                    brackets.push((usage, fits, misses));
                }
                designs.extend(found);
                before = found;
            }
        }
    }
    // The cheapest few are solved for; a solution reads no less than its looser neighbour.
    brackets.sort_by(|a, b| a.0.total_cmp(&b.0));
    let fitting = designs.iter().filter(|design| design.error <= tolerance);
    let mut cheapest = fitting.map(|design| design.data_usage).fold(f64::INFINITY, f64::min);
    for (_, fits, misses) in brackets.into_iter().take(SOLVED) {
        if misses.data_usage < cheapest
            && let Some(design) = solve(fits, misses, tolerance, evaluate)?
        {
            cheapest = cheapest.min(design.data_usage);
            designs.push(design);
        }
    }
    if designs.is_empty() {
        return Err(if tried == 0 {
            setting("space", "empty", "at least one first look, growth and bound")
        } else {
            setting(
                "law",
                "compensated",
                "decisions with less noise: no test that was searched has a λ that cancels its bias",
            )
        });
    }
    designs.sort_by(|a, b| a.data_usage.total_cmp(&b.data_usage).then(a.error.total_cmp(&b.error)));
    let first = designs[0];
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

/// The design between two neighbours whose error is the tolerance: regula falsi (Illinois) in G₀ on the logarithm of the
/// error, aimed at the middle of what is close enough.
fn solve(
    fits: Design,
    misses: Design,
    tolerance: f64,
    evaluate: impl Fn(TestCandidate) -> Result<Option<Design>>,
) -> Result<Option<Design>> {
    let excess = |design: &Design| (design.error.max(f64::MIN_POSITIVE) / tolerance).ln() + 0.5 * CLOSE;
    let place = |design: &Design| design.candidate.bound.base_critical();
    let (mut low, mut high) = ((place(&misses), excess(&misses)), (place(&fits), excess(&fits)));
    let mut best = None;
    let mut kept = 0;
    for _ in 0..STEPS {
        if !(high.0 - low.0).is_finite() {
            break;
        }
        let critical = (low.0 * high.1 - high.0 * low.1) / (high.1 - low.1);
        let bound = fits.candidate.bound.with_base_critical(critical);
        let Some(design) = evaluate(TestCandidate { bound, ..fits.candidate })? else { break };
        let value = excess(&design);
        if design.error <= tolerance {
            best = Some(design);
            if value >= -CLOSE {
                break;
            }
        }
        if value > 0.0 {
            low = (critical, value);
            if kept > 0 {
                high.1 *= 0.5;
            }
            kept = 1;
        } else {
            high = (critical, value);
            if kept < 0 {
                low.1 *= 0.5;
            }
            kept = -1;
        }
    }
    Ok(best)
}
