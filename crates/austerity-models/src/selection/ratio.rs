//! The population of a move between two selections, and a chain's working memory.
//!
//! The move is set up once: γ of the active columns, and Δγ of those whose coefficient differs, taken in f64 by walking down both
//! lists. A birth, a death or a step of one coefficient changes one column; any two selections can be compared.
//!
//! For a rule that scans, η of the current state is kept, 4 bytes per row, keyed by the selection it belongs to; see
//! [`austerity_glm::glm::ratio`], whose promises hold here too: a cached η equals a fresh one to the last bit.

use std::ops::Range;

use super::kernel::{self, Move};
use super::{Selection, VariableSelection};
use austerity::error::{Error, Result};
use austerity::model::Model as _;
use austerity::population::{Moments, Population, RowCost, positions, refuse, relocated};
use austerity_glm::glm::blocks::BLOCK;
use austerity_glm::glm::compiled::Cache;
use austerity_glm::glm::kernel::{DITHERS, dithered};
use austerity_glm::glm::list::List;

/// Blocks that one prefetch hint asks for.
const PREFETCHED: usize = 4;

/// Working memory of one chain.
#[derive(Clone, Debug)]
pub struct SelectionScratch {
    active: Vec<u32>,
    coefficients: Vec<f32>,
    constants: [f32; DITHERS],
    changed: Vec<u32>,
    steps: Vec<f32>,
    change: f32,
    cache: Option<Kept>,
}

/// η of every row at one state.
#[derive(Clone, Debug)]
struct Kept {
    eta: Vec<f32>,
    state: Option<Selection>,
}

impl SelectionScratch {
    pub(super) fn new(model: &VariableSelection, scan: bool) -> Self {
        let features = model.features();
        Self {
            active: Vec::with_capacity(features),
            coefficients: Vec::with_capacity(features * DITHERS),
            constants: [0.0; DITHERS],
            changed: Vec::with_capacity(features),
            steps: Vec::with_capacity(features),
            change: 0.0,
            cache: scan.then(|| Kept { eta: vec![0.0; model.blocks().count() * BLOCK], state: None }),
        }
    }

    pub(super) fn bytes(model: &VariableSelection, scan: bool) -> usize {
        let move_bytes = model.features() * 4 * (3 + DITHERS);
        move_bytes + if scan { model.blocks().count() * BLOCK * 4 + model.features() * 12 } else { 0 }
    }

    /// Sets the move from one state to another up.
    fn prepare(&mut self, model: &VariableSelection, from: &Selection, to: &Selection) {
        let clamped = |value: f64| value.clamp(-1e30, 1e30) as f32;
        let mut constant = model.side_constant;
        self.active.clear();
        self.coefficients.clear();
        for (feature, beta) in from.iter() {
            let Some(column) = feature.checked_sub(model.first) else {
                constant += beta;
                continue;
            };
            constant += beta * model.transform[column].0;
            self.active.push(column as u32);
        }
        for dither in 0..DITHERS {
            let scaled = from.iter().filter(|&(feature, _)| feature >= model.first);
            let scaled = scaled.map(|(feature, beta)| beta * model.transform[feature - model.first].1);
            self.coefficients.extend(scaled.map(|gamma| dithered(gamma, dither)));
        }
        self.constants = std::array::from_fn(|dither| dithered(constant, dither));
        let mut change = 0.0;
        self.changed.clear();
        self.steps.clear();
        differences(from, to, |feature, difference| match feature.checked_sub(model.first) {
            None => change += difference,
            Some(column) => {
                let (shift, scale) = model.transform[column];
                change += difference * shift;
                self.changed.push(column as u32);
                self.steps.push(clamped(difference * scale));
            }
        });
        self.change = clamped(change);
    }
}

/// Tells every feature whose coefficient differs, in ascending order, and by how much.
fn differences(from: &Selection, to: &Selection, mut tell: impl FnMut(usize, f64)) {
    let (mut old, mut new) = (from.iter().peekable(), to.iter().peekable());
    loop {
        let (feature, difference) = match (old.peek().copied(), new.peek().copied()) {
            (None, None) => return,
            (Some((feature, a)), Some((other, b))) if feature == other => {
                old.next();
                new.next();
                (feature, b - a)
            }
            (Some((feature, a)), next) if next.is_none_or(|(other, _)| feature < other) => {
                old.next();
                (feature, -a)
            }
            (_, Some((feature, b))) => {
                new.next();
                (feature, b)
            }
            (Some(_), None) => unreachable!("the third case takes what has no partner"),
        };
        if difference != 0.0 {
            tell(feature, difference);
        }
    }
}

/// The differences l_i of a move.
#[derive(Debug)]
pub struct SelectionRatio<'a> {
    model: &'a VariableSelection,
    from: &'a Selection,
    scratch: &'a mut SelectionScratch,
    fits: Result<()>,
}

impl<'a> SelectionRatio<'a> {
    pub(super) fn new(
        model: &'a VariableSelection,
        from: &'a Selection,
        to: &'a Selection,
        scratch: &'a mut SelectionScratch,
    ) -> Self {
        let fits = model.check_features(from).and_then(|()| model.check_features(to));
        if fits.is_ok() {
            scratch.prepare(model, from, to);
        }
        Self { model, from, scratch, fits }
    }

    fn located(&self, error: Error) -> Error {
        relocated(error, |position| self.model.original_row(position))
    }
}

/// The move that `scratch` holds. A function, so that the cache beside it can be lent too.
macro_rules! task {
    ($scratch:expr) => {
        Move {
            active: &$scratch.active,
            coefficients: &$scratch.coefficients,
            constants: $scratch.constants,
            changed: &$scratch.changed,
            steps: &$scratch.steps,
            change: $scratch.change,
        }
    };
}

impl Population for SelectionRatio<'_> {
    fn len(&self) -> usize {
        self.model.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        self.fits.clone()?;
        let start = rows.start;
        kernel::reveal(self.model.level, &self.model.blocks().view(), &task!(self.scratch), rows, out);
        refuse(out, start).map_err(|error| self.located(error))
    }

    fn summarize(&mut self, list: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        self.fits.clone()?;
        let blocks = &self.model.blocks().view();
        let (level, task) = (self.model.level, task!(self.scratch));
        let outcome = if block_rows.is_multiple_of(BLOCK) || list == [0] && block_rows >= blocks.rows() {
            let list = List::of_groups(list, block_rows.div_ceil(BLOCK), blocks.count());
            kernel::summarize(level, blocks, &task, list, Cache::Fresh, moments)
        } else {
            let mut rows = positions(list, block_rows, blocks.rows());
            kernel::summarize_rows(level, blocks, &task, &mut rows, moments)
        };
        outcome.map_err(|error| self.located(error))
    }

    fn total(&mut self) -> Result<Moments> {
        self.fits.clone()?;
        let blocks = &self.model.blocks().view();
        let (level, task, list) = (self.model.level, task!(self.scratch), List::all(blocks.count()));
        let mut moments = Moments::EMPTY;
        let outcome = match &mut self.scratch.cache {
            None => kernel::summarize(level, blocks, &task, list, Cache::Fresh, &mut moments),
            Some(Kept { eta, state: Some(state) }) if state == self.from => {
                kernel::summarize(level, blocks, &task, list, Cache::Known(eta), &mut moments)
            }
            Some(Kept { eta, state }) => {
                let mut key = state.take();
                let outcome = kernel::summarize(level, blocks, &task, list, Cache::Kept(eta), &mut moments);
                if outcome.is_ok() {
                    key.get_or_insert_with(|| self.from.clone()).clone_from(self.from);
                    *state = key;
                }
                outcome
            }
        };
        outcome.map_err(|error| self.located(error))?;
        Ok(moments)
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    fn prefetch(&self, list: &[u32], block_rows: usize) {
        let blocks = &self.model.blocks().view();
        let task = task!(self.scratch);
        for &b in list.iter().take(PREFETCHED) {
            let block = b as usize * block_rows / BLOCK;
            if block < blocks.count() {
                task.prefetch(blocks.layout(), blocks.block(block));
            }
        }
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: if self.scratch.cache.is_some() { 1 } else { 2 } }
    }
}
