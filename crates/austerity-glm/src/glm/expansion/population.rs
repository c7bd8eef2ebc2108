//! The residuals of a move as a population: R(θ') − R(θ) of every row that is not in the stratum.

use std::ops::Range;

use super::GlmExpansion;
use super::bound::Places;
use crate::glm::blocks::BLOCK;
use crate::glm::list::List;
use crate::glm::residual::Task;
use crate::glm::{Expanded, Family, Kernel as _, MOST_EXTRA};
use crate::simd::prefetch_slice;
use crate::surrogate::Expansion as _;
use austerity::error::{Error, Result};
use austerity::population::{Certificate, Moments, Population, RowCost, positions, refuse, relocated};

/// Blocks that one prefetch hint asks for.
const PREFETCHED: usize = 4;

/// Working memory of one chain.
#[derive(Clone, Debug)]
pub struct Scratch {
    coefficients: Vec<[f32; 2]>,
    /// θ − θ̂ of both states.
    moved: [Vec<f64>; 2],
    places: Places,
}

impl Scratch {
    pub(super) fn new(size: usize) -> Self {
        Self { coefficients: vec![[0.0; 2]; size], moved: Default::default(), places: Places::default() }
    }
}

/// What the expansion leaves of a move.
#[derive(Debug)]
pub struct Residuals<'a, F: Family> {
    expansion: &'a GlmExpansion<F>,
    /// What every row moves by, once the coefficients are worked out.
    constants: Option<[f32; 2]>,
    expanded: Expanded<F>,
    /// Of the extra parameters from the centre, at both states.
    changes: [[f64; MOST_EXTRA]; 2],
    /// The heads read for a certificate, and what they hold.
    heads: (usize, Moments),
    scratch: &'a mut Scratch,
}

impl<'a, F: Family> Residuals<'a, F> {
    pub(super) fn new(
        expansion: &'a GlmExpansion<F>,
        from: &[f64],
        to: &[f64],
        scratch: &'a mut Scratch,
    ) -> Self {
        let (model, centre) = (&expansion.model, &expansion.centre);
        let mut constants = None;
        if expansion.limit.is_some() {
            // Most moves are settled without a row: coefficients are worked out when one is to be read.
            scratch.places.take(displaced(from, centre), displaced(to, centre));
        } else {
            let Scratch { coefficients, moved, places } = scratch;
            for (moved, state) in moved.iter_mut().zip([from, to]) {
                moved.clear();
                moved.extend(displaced(state, centre));
            }
            let [before, after] = moved;
            constants = Some(expansion.coefficients([before, after], coefficients));
            if expansion.bounds.is_some() {
                let moved = |state| {
                    expansion.active.iter().map(move |&i| coordinate(state, i) - coordinate(centre, i))
                };
                places.take(moved(from), moved(to));
            }
        }
        let (base, before, after) = (model.extra(centre), model.extra(from), model.extra(to));
        let mut changes = [[0.0; MOST_EXTRA]; 2];
        for (changes, state) in changes.iter_mut().zip([before, after]) {
            let moved = state.iter().zip(base).map(|(state, base)| state - base);
            changes.iter_mut().zip(moved).for_each(|(slot, change)| *slot = change);
        }
        Self {
            expansion,
            constants,
            expanded: <F::Kernel>::expanded(&model.family, base, before, after),
            changes,
            heads: (0, Moments::EMPTY),
            scratch,
        }
    }

    fn task(&mut self) -> Task<'_, F> {
        let expansion = self.expansion;
        let Scratch { coefficients, places, .. } = &mut *self.scratch;
        let constants =
            *self.constants.get_or_insert_with(|| expansion.coefficients(places.moved(), coefficients));
        let first_order = (expansion.order == 1).then(|| {
            let model = &expansion.model;
            (&model.family, model.extra(&expansion.centre), self.changes)
        });
        Task {
            coefficients: &self.scratch.coefficients,
            constants,
            expanded: self.expanded,
            eta: &expansion.eta,
            scale: expansion.scale,
            third: expansion.order == 3,
            first_order,
        }
    }

    fn located(&self, error: Error) -> Error {
        relocated(error, |position| self.original_row(position))
    }

    fn unit(&self) -> f64 {
        1.0 / f64::from(self.expansion.scale)
    }
}

impl<F: Family> GlmExpansion<F> {
    /// The coefficients of two displacements in the units of the storage, and what every row moves by.
    fn coefficients(&self, moved: [&[f64]; 2], coefficients: &mut [[f32; 2]]) -> [f32; 2] {
        let [before, after] = moved;
        let mut constants = if self.coding.intercept { [before[0], after[0]] } else { [0.0; 2] };
        for entry in &self.coding.entries {
            let (before, after) = (before[entry.parameter], after[entry.parameter]);
            constants = [constants[0] + before * entry.shift, constants[1] + after * entry.shift];
            coefficients[entry.slot] = [limited(before * entry.scale), limited(after * entry.scale)];
        }
        constants.map(limited)
    }
}

fn displaced<'a>(state: &'a [f64], centre: &'a [f64]) -> impl Iterator<Item = f64> + Clone + 'a {
    state.iter().zip(centre).map(|(state, centre)| state - centre)
}

fn coordinate(state: &[f64], parameter: u32) -> f64 {
    state[parameter as usize]
}

/// f32 dot products must not form ∞ − ∞.
#[inline]
fn limited(value: f64) -> f32 {
    value.clamp(-1e30, 1e30) as f32
}

impl<F: Family> Population for Residuals<'_, F> {
    fn len(&self) -> usize {
        self.expansion.blocks.rows()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        let (view, start) = (self.expansion.blocks.view(), rows.start);
        (F::compiled().residual_reveal)(self.expansion.model.level, &view, &self.task(), rows, out);
        let unit = self.unit();
        out.iter_mut().for_each(|value| *value *= unit);
        refuse(out, start).map_err(|error| self.located(error))
    }

    fn summarize(&mut self, list: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let view = self.expansion.blocks.view();
        let (level, task) = (self.expansion.model.level, self.task());
        let mut part = Moments::EMPTY;
        let outcome = if block_rows.is_multiple_of(BLOCK) || list == [0] && block_rows >= view.rows() {
            let list = List::of_groups(list, block_rows.div_ceil(BLOCK), view.count());
            (F::compiled().residuals)(level, &view, &task, list, &mut part)
        } else {
            let mut rows = positions(list, block_rows, view.rows());
            (F::compiled().residual_rows)(level, &view, &task, &mut rows, &mut part)
        };
        outcome.map_err(|error| self.located(error))?;
        moments.merge(&part.scaled(self.unit()));
        Ok(())
    }

    fn total(&mut self) -> Result<Moments> {
        let view = self.expansion.blocks.view();
        let mut moments = Moments::EMPTY;
        let list = List::all(view.count());
        let outcome =
            (F::compiled().residuals)(self.expansion.model.level, &view, &self.task(), list, &mut moments);
        outcome.map_err(|error| self.located(error))?;
        Ok(moments.scaled(self.unit()))
    }

    /// With a limit, that and nothing more. With bounds: second order, third order, then heads of blocks with large bounds: the shortest one whose reading should settle the matter.
    fn certify(&mut self, stage: u32, needed: f64) -> Result<Option<Certificate>> {
        let expansion = self.expansion;
        if let (Some(limit), 0) = (&expansion.limit, stage) {
            let level = expansion.level();
            let bound = self.scratch.places.limited(|moved, room| limit.of(level, moved, room));
            return Ok(Some(Certificate { estimate: 0.0, bound, rows: 0 }));
        }
        let Some(bounds) = &expansion.bounds else { return Ok(None) };
        let places = &mut self.scratch.places;
        if !bounds.locate(places) {
            return Ok(None);
        }
        let read = self.heads.0;
        let (rest, heads) = match stage {
            0 => (bounds.second(places), 0),
            1 => (bounds.after(0, places), 0),
            _ => {
                let mut later =
                    (read + 1..=bounds.heads().len()).map(|heads| (bounds.after(heads, places), heads));
                match later.find(|(rest, _)| rest.bound < 0.5 * needed) {
                    Some(found) => found,
                    None => return Ok(None),
                }
            }
        };
        let mut rows = 0;
        for head in &bounds.heads()[read..heads.max(read)] {
            let mut moments = self.heads.1;
            self.summarize(head, BLOCK, &mut moments)?;
            self.heads.1 = moments;
            let view = expansion.blocks.view();
            rows += head.iter().map(|&block| view.rows_in(block as usize) as u64).sum::<u64>();
        }
        self.heads.0 = heads.max(read);
        let known = if heads > 0 { self.heads.1.sum() } else { 0.0 };
        Ok(Some(Certificate { estimate: known + rest.estimate, bound: rest.bound, rows }))
    }

    fn original_row(&self, position: usize) -> usize {
        self.expansion.original_row(position)
    }

    fn prefetch(&self, list: &[u32], block_rows: usize) {
        let view = self.expansion.blocks.view();
        for &b in list.iter().take(PREFETCHED) {
            let block = b as usize * block_rows / BLOCK;
            if block < view.count() {
                prefetch_slice(&self.expansion.eta[block * BLOCK..(block + 1) * BLOCK]);
                prefetch_slice(view.block(block));
            }
        }
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 2, scanned: 2 }
    }
}
