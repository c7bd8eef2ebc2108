//! The population of a move between two unmixing matrices, and a chain's working memory.
//!
//! Nothing is kept per sample from step to step (see [`super::kernel`] for why). Counted as likelihood evaluations are, as everywhere,
//! the log-likelihoods of states that a well-made exact step could not have kept: 1 per sample for a rule that always scans, 2 otherwise.

use std::f64::consts::FRAC_1_SQRT_2;
use std::ops::Range;

use super::Ica;
use super::kernel::{self, Move};
use austerity::error::{Error, Result};
use austerity::model::Access;
use austerity::model::check_length;
use austerity::population::{Moments, Population, RowCost, positions, refuse, relocated};
use austerity_glm::glm::blocks::BLOCK;
use austerity_glm::glm::list::List;
use austerity_glm::glm::rows as single;
use austerity_glm::simd::{dispatched, prefetch_slice};

/// Blocks that one prefetch hint asks for.
const PREFETCHED: usize = 4;

/// Working memory of one chain: W and ½(W' − W) of the move, and how far the short polynomials reach.
#[derive(Clone, Debug)]
pub struct Scratch {
    short: Vec<[f32; 2]>,
    single: Vec<[f32; 2]>,
    double: Vec<[f64; 2]>,
    reach: f32,
    access: Access,
}

impl Scratch {
    pub(super) fn new(model: &Ica, access: Access) -> Self {
        let entries = model.dimension * model.dimension;
        let single = vec![[0.0; 2]; entries];
        Self { short: single.clone(), single, double: vec![[0.0; 2]; entries], reach: 0.0, access }
    }
}

/// The differences l_i of a move.
#[derive(Debug)]
pub struct Ratio<'a> {
    model: &'a Ica,
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
                scratch.short[k] = [w as f32, (half * FRAC_1_SQRT_2) as f32];
            }
            scratch.reach = kernel::reach(model.dimension, &scratch.double);
        }
        Self { model, fits, scratch }
    }

    fn summarize_blocks(&self, list: List<'_>, scan: bool, moments: &mut Moments) -> Result<()> {
        let (model, task) = (self.model, self.task());
        let samples = &model.samples();
        // Four sources, the paper's example, have a loop of their own: unrolled, it is about twice as fast.
        let outcome = if model.dimension == 4 {
            dispatched!(model.level, simd => kernel::summarize::<_, 4>(simd, samples, task, list, scan, moments))
        } else {
            dispatched!(model.level, simd => kernel::summarize::<_, 0>(simd, samples, task, list, scan, moments))
        };
        outcome.map_err(|error| self.located(error))
    }

    fn block(&self, block: usize) -> [f64; BLOCK] {
        let (samples, task) = (&self.model.samples(), self.task());
        dispatched!(self.model.level, simd => kernel::values_of(simd, samples, task, block))
    }

    fn task(&self) -> Move<'_> {
        let Scratch { short, single, double, reach, .. } = &*self.scratch;
        Move { short, single, double, reach: *reach }
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
        single::reveal(|block, _| self.block(block), rows, out);
        refuse(out, start).map_err(|error| self.located(error))
    }

    fn summarize(&mut self, list: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        self.fits.clone()?;
        if block_rows.is_multiple_of(BLOCK) || list == [0] && block_rows >= self.len() {
            let list = List::of_groups(list, block_rows.div_ceil(BLOCK), self.model.samples().count());
            return self.summarize_blocks(list, false, moments);
        }
        let rows = positions(list, block_rows, self.len());
        single::summarize_rows(|block, _| self.block(block), true, rows, moments)
            .map_err(|error| self.located(error))
    }

    fn total(&mut self) -> Result<Moments> {
        self.fits.clone()?;
        let mut moments = Moments::EMPTY;
        self.summarize_blocks(List::all(self.model.samples().count()), true, &mut moments)?;
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
        RowCost { revealed: 2, scanned: if self.scratch.access == Access::Scan { 1 } else { 2 } }
    }
}
