//! What several expansions leave of a move: one population within a region, the sum of two across.

use std::ops::Range;

use super::SeveralExpansions;
use crate::Expansion;
use austerity::error::Result;
use austerity::population::{Certificate, Moments, Population, RowCost, merge_checked};

/// Numbers that are computed at once.
const CHUNK: usize = 512;

/// The residuals of a move, filled with zeros up to the number of rows that all moves have.
pub struct SeveralResiduals<'a, E: Expansion + 'a> {
    rows: usize,
    /// From the state within its region, or to its centre.
    first: E::Residuals<'a>,
    /// From the centre of another region to the candidate.
    second: Option<E::Residuals<'a>>,
    /// What was certain of each part at the last stage that had something to say.
    known: [Option<Certificate>; 2],
    room: Vec<f64>,
}

impl<E: Expansion> std::fmt::Debug for SeveralResiduals<'_, E> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let across = self.second.is_some();
        f.debug_struct("SeveralResiduals")
            .field("rows", &self.rows)
            .field("across", &across)
            .finish_non_exhaustive()
    }
}

impl<'a, E: Expansion> SeveralResiduals<'a, E> {
    pub(super) fn new(
        all: &'a SeveralExpansions<E>,
        from: &[f64],
        to: &[f64],
        scratch: &'a mut [E::Scratch],
    ) -> Self {
        let (a, b) = (all.label(from), all.label(to));
        let (first, second) = if a == b {
            (all.parts[a].residuals(from, to, &mut scratch[a]), None)
        } else {
            let (low, high) = scratch.split_at_mut(a.max(b));
            let (back, forth) = if a < b { (&mut low[a], &mut high[0]) } else { (&mut high[0], &mut low[b]) };
            let home = all.parts[a].centre();
            let there = all.parts[b].centre();
            (all.parts[a].residuals(from, home, back), Some(all.parts[b].residuals(there, to, forth)))
        };
        Self { rows: all.rows, first, second, known: [None; 2], room: Vec::new() }
    }

    /// Whether the one part there is has a number for every row of these blocks.
    fn is_whole(&self, blocks: &[u32], block_rows: usize) -> bool {
        let within = |&block: &u32| (block as usize + 1) * block_rows <= self.first.len();
        self.second.is_none() && (self.first.len() == self.rows || blocks.iter().all(within))
    }
}

/// Adds the numbers of `part` at `rows`, as far as it has some, to `out`.
fn add(part: &mut impl Population, rows: Range<usize>, room: &mut Vec<f64>, out: &mut [f64]) -> Result<()> {
    let end = rows.end.min(part.len());
    if rows.start >= end {
        return Ok(());
    }
    room.clear();
    room.resize(end - rows.start, 0.0);
    part.reveal(rows.start..end, room)?;
    out.iter_mut().zip(&*room).for_each(|(slot, value)| *slot += value);
    Ok(())
}

impl<E: Expansion> Population for SeveralResiduals<'_, E> {
    fn len(&self) -> usize {
        self.rows
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        add(&mut self.first, rows.clone(), &mut self.room, out)?;
        match &mut self.second {
            Some(second) => add(second, rows, &mut self.room, out),
            None => Ok(()),
        }
    }

    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        if self.is_whole(blocks, block_rows) {
            return self.first.summarize(blocks, block_rows, moments);
        }
        let mut values = [0.0; CHUNK];
        for &block in blocks {
            let mut start = block as usize * block_rows;
            let end = (start + block_rows).min(self.rows);
            while start < end {
                let stop = (start + CHUNK).min(end);
                let out = &mut values[..stop - start];
                self.reveal(start..stop, out)?;
                // The parts have refused what is no number, naming its row.
                merge_checked(out, start, moments)?;
                start = stop;
            }
        }
        Ok(())
    }

    fn total(&mut self) -> Result<Moments> {
        if self.is_whole(&[], 1) && self.first.len() == self.rows {
            return self.first.total();
        }
        let mut moments = Moments::EMPTY;
        self.summarize(&[0], self.rows.max(1), &mut moments)?;
        Ok(moments)
    }

    /// Of two parts the sum; one that has nothing more to say stays as it was.
    fn certify(&mut self, stage: u32, needed: f64) -> Result<Option<Certificate>> {
        let Some(second) = &mut self.second else { return self.first.certify(stage, needed) };
        let found = [self.first.certify(stage, 0.5 * needed)?, second.certify(stage, 0.5 * needed)?];
        if found.iter().all(Option::is_none) {
            return Ok(None);
        }
        let mut rows = 0;
        for (known, found) in self.known.iter_mut().zip(found) {
            if let Some(found) = found {
                rows += found.rows;
                *known = Some(found);
            }
        }
        Ok(match self.known {
            [Some(a), Some(b)] => {
                Some(Certificate { estimate: a.estimate + b.estimate, bound: a.bound + b.bound, rows })
            }
            _ => None,
        })
    }

    fn original_row(&self, position: usize) -> usize {
        self.first.original_row(position.min(self.first.len().saturating_sub(1)))
    }

    fn prefetch(&self, blocks: &[u32], block_rows: usize) {
        self.first.prefetch(blocks, block_rows);
        if let Some(second) = &self.second {
            second.prefetch(blocks, block_rows);
        }
    }

    fn row_cost(&self) -> RowCost {
        let first = self.first.row_cost();
        match self.second.as_ref().map(Population::row_cost) {
            None => first,
            Some(second) => RowCost {
                revealed: first.revealed + second.revealed,
                scanned: first.scanned + second.scanned,
            },
        }
    }
}
