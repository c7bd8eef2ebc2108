//! What an expansion leaves of a move, row by row, and the gradient of it.
//!
//! Cost of a row: what the model's own difference costs, one gradient and (second order) one Hessian at the centre, d² operations.

use std::fmt;
use std::ops::Range;

use super::RowExpansion;
use crate::gradients::At;
use crate::own::RowCurvature;
use crate::surrogate::ResidualGradient;
use austerity::error::Result;
use austerity::model::{Access, Model};
use austerity::population::{Batch, Moments, Population, RowCost, merge_batch};

/// Rows of a pass over all of them that are revealed at once.
const PASS: usize = 1 << 12;

/// Working memory of one chain.
#[derive(Debug)]
pub struct RowScratch<M: RowCurvature> {
    model: M::Scratch,
    from: Vec<f64>,
    to: Vec<f64>,
    /// h' − h and h' + h.
    difference: Vec<f64>,
    sum: Vec<f64>,
    values: Vec<f64>,
    memory: RowMemory<M::Workspace>,
}

impl<M: RowCurvature> RowScratch<M> {
    pub(super) fn new(model: &M) -> Self {
        let zeros = vec![0.0; model.dimension()];
        Self {
            model: model.scratch(Access::Blocks),
            from: zeros.clone(),
            to: zeros.clone(),
            difference: zeros.clone(),
            sum: zeros,
            values: Vec::new(),
            memory: RowMemory::default(),
        }
    }
}

/// Derivatives of a row.
#[derive(Clone, Debug, Default)]
pub struct RowMemory<W> {
    workspace: W,
    pub(super) gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    /// Rows of a batch that are sampled.
    positions: Vec<u32>,
}

impl<W> RowMemory<W> {
    /// Takes in the derivatives at the centre of the row at `position`.
    pub(super) fn fill<M: RowCurvature<Workspace = W>>(
        &mut self,
        model: &M,
        centre: &[f64],
        position: u32,
        curved: bool,
    ) -> Result<()> {
        let row = Batch { blocks: &[position], block_rows: 1, population: model.len() };
        self.gradient.clear();
        self.gradient.resize(centre.len(), 0.0);
        model.add_gradient(At { state: centre, batch: row }, &mut self.workspace, &mut self.gradient)?;
        if curved {
            self.hessian.clear();
            self.hessian.resize(centre.len() * centre.len(), 0.0);
            model.add_row_hessian(centre, position as usize, &mut self.hessian)?;
        }
        Ok(())
    }

    /// g·difference + ½ difference'·H·sum: what the expansion knows of a move.
    pub(super) fn known(&self, difference: &[f64], sum: &[f64]) -> f64 {
        let linear: f64 = self.gradient.iter().zip(difference).map(|(g, by)| g * by).sum();
        let rows = self.hessian.chunks_exact(difference.len()).zip(difference);
        let curved: f64 = rows
            .map(|(row, by)| by * row.iter().zip(sum).map(|(entry, value)| entry * value).sum::<f64>())
            .sum();
        linear + 0.5 * curved
    }
}

/// What the expansion leaves of a move.
pub struct RowResiduals<'a, M: RowCurvature + 'a> {
    expansion: &'a RowExpansion<'a, M>,
    ratio: <M as Model>::Ratio<'a>,
    difference: &'a [f64],
    sum: &'a [f64],
    values: &'a mut Vec<f64>,
    memory: &'a mut RowMemory<M::Workspace>,
}

impl<M: RowCurvature> fmt::Debug for RowResiduals<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RowResiduals").field("difference", &self.difference).finish_non_exhaustive()
    }
}

impl<'a, M: RowCurvature> RowResiduals<'a, M> {
    pub(super) fn new(
        expansion: &'a RowExpansion<'a, M>,
        from: &[f64],
        to: &[f64],
        scratch: &'a mut RowScratch<M>,
    ) -> Self {
        let RowScratch { model, from: before, to: after, difference, sum, values, memory } = scratch;
        before.clear();
        before.extend_from_slice(from);
        after.clear();
        after.extend_from_slice(to);
        difference.clear();
        difference.extend(to.iter().zip(from).map(|(to, from)| to - from));
        sum.clear();
        let ends = to.iter().zip(from).zip(&expansion.centre);
        sum.extend(ends.map(|((to, from), centre)| (to - centre) + (from - centre)));
        let ratio = expansion.model.compare(before, after, model);
        Self { expansion, ratio, difference, sum, values, memory }
    }

    /// Takes what the expansion knows out of the differences of the rows at `positions`.
    fn leave(&mut self, positions: impl Iterator<Item = usize>, out: &mut [f64]) -> Result<()> {
        let Self { expansion, difference, sum, memory, .. } = self;
        for (out, position) in out.iter_mut().zip(positions) {
            if expansion.is_apart(position) {
                *out = 0.0;
                continue;
            }
            memory.fill(expansion.model, &expansion.centre, position as u32, expansion.order == 2)?;
            *out -= memory.known(difference, sum);
        }
        Ok(())
    }
}

impl<M: RowCurvature> Population for RowResiduals<'_, M> {
    fn len(&self) -> usize {
        self.expansion.model.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        self.ratio.reveal(rows.clone(), out)?;
        self.leave(rows, out)
    }

    fn reveal_batch(&mut self, batch: Batch<'_>, out: &mut [f64]) -> Result<()> {
        self.ratio.reveal_batch(batch, out)?;
        self.leave(batch.ranges().flatten(), out)
    }

    /// With one call of the model for all blocks.
    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let batch = Batch { blocks, block_rows, population: self.len() };
        let mut values = std::mem::take(self.values);
        values.resize(batch.rows(), 0.0);
        let made = self
            .reveal_batch(batch, &mut values)
            .and_then(|()| merge_batch(&values, batch, moments, |position| self.original_row(position)));
        *self.values = values;
        made
    }

    fn total(&mut self) -> Result<Moments> {
        let mut moments = Moments::EMPTY;
        for block in 0..self.len().div_ceil(PASS) as u32 {
            self.summarize(&[block], PASS, &mut moments)?;
        }
        Ok(moments)
    }

    fn original_row(&self, position: usize) -> usize {
        self.expansion.model.original_row(position)
    }

    /// Log-likelihoods; derivatives are not counted.
    fn row_cost(&self) -> RowCost {
        self.ratio.row_cost()
    }
}

/// ∇ℓ_i(θ) − g_i − H_i h, in f64.
impl<M: RowCurvature> ResidualGradient for RowExpansion<'_, M> {
    type Memory = RowMemory<M::Workspace>;

    fn residual_gradient(&self, at: At<'_>, memory: &mut Self::Memory, gradient: &mut [f64]) -> Result<()> {
        let At { state, batch } = at;
        let d = self.centre.len();
        let mut positions = std::mem::take(&mut memory.positions);
        positions.clear();
        let sampled = batch.ranges().flatten().filter(|&position| !self.is_apart(position));
        positions.extend(sampled.map(|position| position as u32));
        if !positions.is_empty() {
            // One call for all rows: a user's own functions may cost more to be called than to be computed.
            let rows = Batch { blocks: &positions, block_rows: 1, population: self.model.len() };
            self.model.add_gradient(At { state, batch: rows }, &mut memory.workspace, gradient)?;
        }
        for &position in &positions {
            memory.fill(self.model, &self.centre, position, self.order == 2)?;
            gradient.iter_mut().zip(&memory.gradient).for_each(|(slot, known)| *slot -= known);
            for (slot, row) in gradient.iter_mut().zip(memory.hessian.chunks_exact(d)) {
                let moved = row.iter().zip(state.iter().zip(&self.centre));
                *slot -= moved.map(|(entry, (at, centre))| entry * (at - centre)).sum::<f64>();
            }
        }
        memory.positions = positions;
        Ok(())
    }
}
