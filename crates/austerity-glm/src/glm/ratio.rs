//! The population of a move: differences of log-likelihoods between two states, and a chain's working memory.
//!
//! [`Ratio`] sets the move up once (γ and Δγ in f32, from differences taken in f64) and sends whole looks to
//! [`super::kernel`], one dispatch of the instruction set per call.
//!
//! For a rule that scans, the working memory keeps η of the current state, 4 bytes per row. It is keyed by the γ
//! that it was computed from: a rejected move leaves it valid, so the next scan takes one dot product per row (δ). An
//! accepted one makes the next scan take two in the same pass over memory: δ, and η afresh, which it keeps. Adding
//! the accepted δ to η would save that second dot product, but rounds once more per acceptance: η would drift from
//! its state, and a resumed chain, which has only the state, would not repeat an uninterrupted one. As it is a cached η
//! equals a fresh one to the last bit, and a total is the same with and without the cache.
//!
//! Counted as likelihood evaluations are the log-likelihoods of new states: 1 per scanned row with the cache, whether
//! or not η is refilled on the way, so the counters of a resumed run are those of an uninterrupted one. What the
//! refill costs in time is printed by the bench `kernel`; from memory, where the pass waits for the data, little.

use std::ops::Range;

use super::blocks::{BLOCK, Blocks};
use super::compiled::Cache;
use super::kernel::{DITHERS, Move, dithered};
use super::list::List;
use super::precise::ExactMove;
use super::{Family, Glm, Kernel as _, Step};
use crate::memory::filled;
use crate::simd::prefetch_slice;
use austerity::error::{Error, Result};
use austerity::model::check_length;
use austerity::population::{Moments, Population, RowCost, positions, refuse, relocated};

/// Blocks that one prefetch hint asks for: more would push each other out of the cache.
const PREFETCHED: usize = 4;

/// Working memory of one chain.
#[derive(Clone, Debug)]
pub struct Scratch {
    /// γ in f64, its constant last.
    exact: Vec<f64>,
    /// Δγ in f64, its constant last.
    change: Vec<f64>,
    coefficients: Vec<[f32; 2]>,
    constants: [[f32; 2]; DITHERS],
    cache: Option<Kept>,
}

/// η of every row at one state.
#[derive(Clone, Debug)]
struct Kept {
    eta: Vec<f32>,
    exact: Vec<f64>,
    valid: bool,
}

impl Scratch {
    pub(super) fn new(blocks: &Blocks, scan: bool) -> Self {
        let size = blocks.layout().coefficients();
        Self {
            exact: vec![0.0; size + 1],
            change: vec![0.0; size + 1],
            coefficients: vec![[0.0; 2]; size * DITHERS],
            constants: [[0.0; 2]; DITHERS],
            cache: scan.then(|| Kept {
                eta: filled(blocks.count() * BLOCK, 0.0),
                exact: vec![0.0; size + 1],
                valid: false,
            }),
        }
    }

    pub(super) fn bytes(blocks: &Blocks, scan: bool) -> usize {
        let size = blocks.layout().coefficients();
        let cache = blocks.count() * BLOCK * 4 + (size + 1) * 8;
        (size + 1) * 8 * (2 + DITHERS) + if scan { cache } else { 0 }
    }
}

impl Kept {
    /// Whether η belongs to this γ.
    fn holds(&self, exact: &[f64]) -> bool {
        self.valid && self.exact == exact
    }
}

/// The differences l_i of a move.
#[derive(Debug)]
pub struct Ratio<'a, F: Family> {
    model: &'a Glm<F>,
    /// The step of the family, or why there is none.
    step: Result<Step<F>>,
    scratch: &'a mut Scratch,
    cached: bool,
}

impl<'a, F: Family> Ratio<'a, F> {
    pub(super) fn new(model: &'a Glm<F>, from: &[f64], to: &[f64], scratch: &'a mut Scratch) -> Self {
        let expected = model.parameters();
        let fits = check_length("state", expected, from.len())
            .and_then(|()| check_length("candidate", expected, to.len()));
        if let Err(error) = fits {
            return Self { model, step: Err(error), scratch, cached: false };
        }
        let size = model.coding.slots();
        let Scratch { exact, change: changes, coefficients, .. } = &mut *scratch;
        let change = model.coding.place(0.0, |i| to[i] - from[i], |slot, value| changes[slot] = value);
        let constant = model.coding.place(
            model.side_constant,
            |i| from[i],
            |slot, value| {
                exact[slot] = value;
                let moved = changes[slot].clamp(-1e30, 1e30) as f32;
                for dither in 0..DITHERS {
                    coefficients[dither * size + slot] = [dithered(value, dither), moved];
                }
            },
        );
        scratch.exact[size] = constant;
        scratch.change[size] = change;
        let change = change.clamp(-1e30, 1e30) as f32;
        scratch.constants = std::array::from_fn(|dither| [dithered(constant, dither), change]);
        let extra = model.coefficients();
        let cached = scratch.cache.as_ref().is_some_and(|cache| cache.holds(&scratch.exact));
        Self {
            model,
            step: Ok(<F::Kernel>::step(&model.family, &from[extra..], &to[extra..])),
            scratch,
            cached,
        }
    }
}

/// The move in f64, for a model that needs it.
fn precise<'a, F: Family>(model: &Glm<F>, from: &'a [f64], change: &'a [f64]) -> Option<ExactMove<'a>> {
    model.precise.then_some(ExactMove { from, change })
}

impl<F: Family> Ratio<'_, F> {
    fn located(&self, error: Error) -> Error {
        relocated(error, |position| self.model.original(position))
    }
}

impl<F: Family> Population for Ratio<'_, F> {
    fn len(&self) -> usize {
        self.model.blocks().rows()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let blocks = &self.model.blocks().view();
        let task = Move {
            coefficients: &self.scratch.coefficients,
            constants: self.scratch.constants,
            step: *self.step.as_ref().map_err(Error::clone)?,
            exact: precise(self.model, &self.scratch.exact, &self.scratch.change),
        };
        let start = rows.start;
        (F::compiled().reveal)(self.model.level, blocks, &task, rows, out);
        refuse(out, start).map_err(|error| self.located(error))
    }

    fn summarize(&mut self, list: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let blocks = &self.model.blocks().view();
        let task = Move {
            coefficients: &self.scratch.coefficients,
            constants: self.scratch.constants,
            step: *self.step.as_ref().map_err(Error::clone)?,
            exact: precise(self.model, &self.scratch.exact, &self.scratch.change),
        };
        let level = self.model.level;
        let outcome = if block_rows.is_multiple_of(BLOCK) || list == [0] && block_rows >= blocks.rows() {
            let list = List::of_groups(list, block_rows.div_ceil(BLOCK), blocks.count());
            (F::compiled().summarize)(level, blocks, &task, list, Cache::Fresh, moments)
        } else {
            let mut rows = positions(list, block_rows, blocks.rows());
            (F::compiled().summarize_rows)(level, blocks, &task, &mut rows, moments)
        };
        outcome.map_err(|error| self.located(error))
    }

    fn total(&mut self) -> Result<Moments> {
        let blocks = &self.model.blocks().view();
        let task = Move {
            coefficients: &self.scratch.coefficients,
            constants: self.scratch.constants,
            step: *self.step.as_ref().map_err(Error::clone)?,
            exact: precise(self.model, &self.scratch.exact, &self.scratch.change),
        };
        let level = self.model.level;
        let list = List::all(blocks.count());
        let mut moments = Moments::EMPTY;
        let result = &mut moments;
        let summarize = F::compiled().summarize;
        let outcome = match &mut self.scratch.cache {
            None => summarize(level, blocks, &task, list, Cache::Fresh, result),
            // η in f32 is of no use there.
            Some(_) if task.exact.is_some() => summarize(level, blocks, &task, list, Cache::Fresh, result),
            Some(cache) if self.cached => {
                summarize(level, blocks, &task, list, Cache::Known(&mut cache.eta), result)
            }
            Some(cache) => {
                cache.valid = false;
                let outcome = summarize(level, blocks, &task, list, Cache::Kept(&mut cache.eta), result);
                if outcome.is_ok() {
                    cache.exact.copy_from_slice(&self.scratch.exact);
                    cache.valid = true;
                    self.cached = true;
                }
                outcome
            }
        };
        outcome.map_err(|error| self.located(error))?;
        Ok(moments)
    }

    fn prefetch(&self, list: &[u32], block_rows: usize) {
        let blocks = &self.model.blocks().view();
        for &b in list.iter().take(PREFETCHED) {
            let block = b as usize * block_rows / BLOCK;
            if block < blocks.count() {
                prefetch_slice(blocks.block(block));
            }
        }
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: if self.scratch.cache.is_some() { 1 } else { 2 } }
    }
}
