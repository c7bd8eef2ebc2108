//! The population of a move between two unmixing matrices, and a chain's working memory.
//!
//! For a rule that scans, the working memory keeps t_j = tanh(s_j/2) of the current state, 4·D bytes per sample. As in
//! [`crate::model::glm::ratio`] it is keyed by the state that it was computed from: a rejected move leaves it valid; the
//! first scan after an acceptance computes t afresh and keeps it. A cached t equals a fresh one to the last bit, so a total is
//! the same with and without the cache. Counted as likelihood evaluations are the log-likelihoods of new states: 1 per
//! scanned sample with the cache, 2 per sample revealed in a block.

use std::ops::Range;

use super::Ica;
use super::kernel::{self, Move, mode};
use crate::error::{Error, Result};
use crate::model::data::check_length;
use crate::model::glm::blocks::{BLOCK, Line, ZERO};
use crate::model::glm::list::List;
use crate::model::glm::rows as single;
use crate::population::{Moments, Population, RowCost, positions, refuse, relocated};
use crate::simd::{dispatched, prefetch_slice};

/// Blocks that one prefetch hint asks for.
const PREFETCHED: usize = 4;

/// Working memory of one chain.
#[derive(Clone, Debug)]
pub struct Scratch {
    single: Vec<[f32; 2]>,
    double: Vec<[f64; 2]>,
    cache: Option<Kept>,
}

/// t of every sample at one state.
#[derive(Clone, Debug)]
struct Kept {
    lines: Vec<Line>,
    state: Vec<f64>,
    valid: bool,
}

impl Scratch {
    pub(super) fn new(model: &Ica, scan: bool) -> Self {
        let entries = model.dimension * model.dimension;
        Self {
            single: vec![[0.0; 2]; entries],
            double: vec![[0.0; 2]; entries],
            cache: scan.then(|| Kept {
                lines: vec![ZERO; model.lines.len()],
                state: vec![0.0; entries],
                valid: false,
            }),
        }
    }
}

/// The differences l_i of a move.
#[derive(Debug)]
pub struct Ratio<'a> {
    model: &'a Ica,
    from: &'a [f64],
    fits: Result<()>,
    scratch: &'a mut Scratch,
}

impl<'a> Ratio<'a> {
    pub(super) fn new(model: &'a Ica, from: &'a [f64], to: &'a [f64], scratch: &'a mut Scratch) -> Self {
        let expected = model.dimension * model.dimension;
        let fits = check_length("state", expected, from.len())
            .and_then(|()| check_length("candidate", expected, to.len()));
        if fits.is_ok() {
            for (k, (&w, &moved)) in from.iter().zip(to).enumerate() {
                let half = 0.5 * (moved - w);
                scratch.double[k] = [w, half];
                scratch.single[k] = [w as f32, half as f32];
            }
        }
        Self { model, from, fits, scratch }
    }

    fn summarize_blocks<const MODE: u8>(
        model: &Ica,
        task: Move<'_>,
        list: List<'_>,
        cache: &mut [Line],
        moments: &mut Moments,
    ) -> Result<()> {
        let samples = &model.samples();
        // Four sources, the paper's example, have a loop of their own: unrolled, it is about twice as fast.
        if model.dimension == 4 {
            dispatched!(model.level, simd => kernel::summarize::<_, 4, MODE>(simd, samples, task, list, cache, moments))
        } else {
            dispatched!(model.level, simd => kernel::summarize::<_, 0, MODE>(simd, samples, task, list, cache, moments))
        }
    }

    fn block(&self, block: usize) -> [f64; BLOCK] {
        let (samples, task) = (&self.model.samples(), self.task());
        dispatched!(self.model.level, simd => kernel::values_of(simd, samples, task, block))
    }

    fn task(&self) -> Move<'_> {
        Move { single: &self.scratch.single, double: &self.scratch.double }
    }

    fn located(&self, error: Error) -> Error {
        relocated(error, |position| self.model.order[position] as usize)
    }
}

impl Population for Ratio<'_> {
    fn len(&self) -> usize {
        self.model.order.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        self.fits.clone()?;
        let start = rows.start;
        single::reveal(|block| self.block(block), rows, out);
        refuse(out, start).map_err(|error| self.located(error))
    }

    fn summarize(&mut self, list: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        self.fits.clone()?;
        let (model, task) = (self.model, self.task());
        if block_rows.is_multiple_of(BLOCK) || list == [0] && block_rows >= self.len() {
            let list = List::of_groups(list, block_rows.div_ceil(BLOCK), model.samples().count());
            let outcome = Self::summarize_blocks::<{ mode::FRESH }>(model, task, list, &mut [], moments);
            return outcome.map_err(|error| self.located(error));
        }
        let rows = positions(list, block_rows, self.len());
        single::summarize_rows(|block| self.block(block), rows, moments).map_err(|error| self.located(error))
    }

    fn total(&mut self) -> Result<Moments> {
        self.fits.clone()?;
        let model = self.model;
        let Scratch { single, double, cache } = &mut *self.scratch;
        let task = Move { single, double };
        let list = List::all(model.samples().count());
        let mut moments = Moments::EMPTY;
        let outcome = match cache {
            None => Self::summarize_blocks::<{ mode::FRESH }>(model, task, list, &mut [], &mut moments),
            Some(kept) if kept.valid && kept.state == self.from => {
                let lines = &mut kept.lines;
                Self::summarize_blocks::<{ mode::CACHED }>(model, task, list, lines, &mut moments)
            }
            Some(kept) => {
                kept.valid = false;
                let lines = &mut kept.lines;
                let outcome =
                    Self::summarize_blocks::<{ mode::STORED }>(model, task, list, lines, &mut moments);
                if outcome.is_ok() {
                    kept.state.copy_from_slice(self.from);
                    kept.valid = true;
                }
                outcome
            }
        };
        outcome.map_err(|error| self.located(error))?;
        Ok(moments)
    }

    fn prefetch(&self, list: &[u32], block_rows: usize) {
        let stride = 2 * self.model.dimension;
        for &group in list.iter().take(PREFETCHED) {
            let start = group as usize * block_rows / BLOCK * stride;
            if let Some(block) = self.model.lines.get(start..start + stride) {
                prefetch_slice(block);
            }
        }
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: if self.scratch.cache.is_some() { 1 } else { 2 } }
    }
}
