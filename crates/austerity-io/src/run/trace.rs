//! Stored draws as the trace in memory that a resumed run looks back on.
//!
//! A decision comes back as far as it was kept: `read` counts as `used`, `evaluations` as 0, `guarded` as 0 or 1, and a
//! statistic that the layout left out as 0 or NaN. A run that kept some parameters only has a trace of those.

use austerity::rule::{Decision, Stopped};
use austerity::run::{ChainTrace, Trace};

use super::layout::flags;
use super::reader::{Cursor, DrawsReader};
use crate::error::{Error, Result};

/// Draws read at a time.
const BATCH: usize = 4096;

impl DrawsReader {
    /// All draws up to the length of the shortest chain.
    pub fn trace(&self) -> Result<Trace> {
        self.trace_until(&vec![self.draws() as u64; self.chains()])
    }

    /// The first `drawn[c]` draws of each chain, those that the metadata do not reveal yet included: exactly what a
    /// resumed run continues.
    pub fn trace_until(&self, drawn: &[u64]) -> Result<Trace> {
        if drawn.len() != self.chains() {
            let what = "counts of draws, one per chain".into();
            let source = austerity::Error::Dimension { what, expected: self.chains(), found: drawn.len() };
            return Err(Error::Data { file: self.path.clone(), source });
        }
        let one = |(chain, &draws): (usize, &u64)| {
            let count = usize::try_from(draws).unwrap_or(usize::MAX);
            // Memory grows with what is found, so a count that the disk does not bear out is an error, not a demand for memory.
            let (mut values, mut cursor) = (Vec::new(), Cursor::new(self, chain, draws));
            for first in (0..count).step_by(BATCH) {
                let end = count.min(first + BATCH);
                values.resize(end * self.plan.parameters(), 0.0);
                cursor.read(first..end, &mut values[first * self.plan.parameters()..])?;
            }
            Ok(ChainTrace { values, decisions: self.decisions(chain, draws)? })
        };
        let chains = drawn.iter().enumerate().map(one).collect::<Result<_>>()?;
        Ok(Trace { names: self.names(), chains })
    }

    fn decisions(&self, chain: usize, draws: u64) -> Result<Vec<Decision>> {
        let statistic = |name: &str| {
            let place = self.plan.statistics.iter().position(|(known, _)| known == name);
            place
                .map(|place| self.chain_column(&self.plan.sample_stats()[place], 0, chain, draws))
                .transpose()
        };
        let at =
            |column: &Option<Vec<f64>>, draw: usize, absent: f64| column.as_ref().map_or(absent, |c| c[draw]);
        let [accepted, used, looks, mean, sd, threshold, flags] =
            ["accepted", "data_used", "looks", "mu_mean", "mu_sd", "mu_threshold", "flags"].map(statistic);
        let (accepted, used, looks, flags) = (accepted?, used?, looks?, flags?);
        let (mean, sd, threshold) = (mean?, sd?, threshold?);
        let decision = |draw| {
            let used = at(&used, draw, 0.0) as u64;
            let flags = at(&flags, draw, 0.0) as u8;
            Decision {
                accepted: at(&accepted, draw, 0.0) != 0.0,
                used,
                read: used,
                evaluations: 0,
                looks: at(&looks, draw, 0.0) as u32,
                mean: at(&mean, draw, f64::NAN),
                sd: at(&sd, draw, f64::NAN),
                threshold: at(&threshold, draw, f64::NAN),
                stopped: stopped(flags, used),
                guarded: u32::from(flags & flags::GUARDED),
                audit: None,
            }
        };
        Ok((0..usize::try_from(draws).unwrap_or(usize::MAX)).map(decision).collect())
    }
}

fn stopped(flags: u8, used: u64) -> Stopped {
    match flags {
        flags if flags & flags::IMPOSSIBLE != 0 && used == 0 => Stopped::Offset,
        flags if flags & flags::IMPOSSIBLE != 0 => Stopped::Impossible,
        flags if flags & flags::EXHAUSTED != 0 => Stopped::Exhausted,
        flags if flags & flags::TOLERANCE != 0 => Stopped::Tolerance,
        flags if flags & flags::CERTIFIED != 0 => Stopped::Certified,
        _ if used == 0 => Stopped::Untested,
        _ => Stopped::Bound,
    }
}
