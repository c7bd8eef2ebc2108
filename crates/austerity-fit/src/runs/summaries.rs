//! One summary per parameter, in memory that does not grow with the run.
//!
//! Means and standard deviations are those of all draws. Ranks and autocorrelations need the draws of a parameter at once: beyond [`LOOKED_AT`] of
//! them R-hat, effective sample sizes and quantiles are computed from every k-th draw. Thinning loses information, so the
//! effective sample sizes and Monte Carlo errors stated are on the safe side; what a reader learns of R-hat is the same.
//!
//! Memory: about [`PER_DRAW`] bytes per draw looked at and thread; threads are left idle rather than exceed [`MEMORY`].

use austerity::diagnostics::Summary;
use austerity::parallel;
use austerity_io::run::{Column, DrawsReader};

use crate::report::count;

/// Draws of a parameter, all chains together, that diagnostics look at.
const LOOKED_AT: usize = 1 << 22;
/// Numbers of draws that a thread holds, where parameters are few draws each.
const NUMBERS_PER_THREAD: usize = 1 << 20;
/// Bytes that a summary takes per draw, its columns included.
const PER_DRAW: usize = 64;
/// Bytes that all threads may take.
const MEMORY: usize = 256 << 20;

/// Every k-th draw is looked at.
pub(crate) fn every(reader: &DrawsReader) -> usize {
    (reader.chains() * reader.draws()).div_ceil(LOOKED_AT).max(1)
}

/// How many threads the memory allows for so many draws each.
fn threads(draws: usize) -> usize {
    let cores = std::thread::available_parallelism().map_or(1, Into::into);
    (MEMORY / (PER_DRAW * draws).max(1)).clamp(1, cores)
}

/// Summaries of all parameters.
pub(crate) fn of(reader: &DrawsReader) -> Result<Vec<Summary>, austerity_io::Error> {
    let (names, every) = (reader.names(), every(reader));
    let draws = reader.draws() / every * reader.chains();
    let some = (NUMBERS_PER_THREAD / draws.max(1)).max(1);
    let threads = threads(some * draws);
    let some = some.min(names.len().div_ceil(threads).max(1));
    let groups: Vec<&[String]> = names.chunks(some).collect();
    let summaries = parallel::each(threads, &groups, |index, names| {
        let first = index * some;
        let columns = reader.sampled(first..first + names.len(), every)?;
        Ok(names.iter().zip(&columns).map(|(name, column)| summary(name, column, every)).collect::<Vec<_>>())
    })?;
    Ok(summaries.concat())
}

/// The summary of one column.
pub(crate) fn summary(name: &str, column: &Column, every: usize) -> Summary {
    let mut summary = Summary::new(name, &column.chains());
    if every > 1 && summary.mean.is_finite() {
        (summary.mean, summary.sd) = (column.mean, column.sd);
    }
    summary
}

/// What to say where not every draw was looked at.
pub(crate) fn remark(reader: &DrawsReader) -> Option<String> {
    let every = every(reader);
    (every > 1).then(|| {
        format!(
            "R-hat, effective sample sizes and quantiles were computed from one in {every} of the {} stored draws, which bounds the memory; the \
             true effective sample sizes are at least those stated. Means and standard deviations use all draws.",
            count((reader.chains() * reader.draws()) as f64)
        )
    })
}
