//! The gradient of a batch of blocks, for a step of a chain: no log-likelihood, no allocation.
//!
//! As [`super::derivative`], with the sums of up to four blocks, wherever they lie, in f32 and then in f64. Cost: 2·d multiply-adds
//! and one derivative per row; a block of which only some rows are wanted costs as much as a whole one.

use std::ops::Range;

use fearless_simd::{Simd, prelude::*};

use super::blocks::{BLOCK, Layout, Line};
use super::kernel::{self, Pair, Rows};
use super::predictor::{self, levels};
use super::{Family, Glm, Kernel as _};
use crate::gradients::{At, BatchGradient, check_request};
use crate::simd::{Lanes, lanes_sum};
use austerity::error::Result;
use austerity::population::Batch;

/// Blocks whose products are summed in f32.
const PANEL: usize = 4;

/// Working memory of a gradient.
#[derive(Clone, Debug, Default)]
pub struct Workspace {
    /// 0 and γ in the order of the storage, as [`predictor::of_one`] takes them.
    pub(super) coefficients: Vec<[f32; 2]>,
    pub(super) constant: f32,
    /// In the units of the storage: the constant, the coefficients, the extra parameters.
    pub(super) sums: Vec<f64>,
}

impl Workspace {
    /// Takes in a state, given its coefficients, and empties the sums, with room for `extras` extra parameters.
    pub(super) fn begin(
        &mut self,
        coding: &predictor::Coding,
        start: f64,
        coefficient: impl Fn(usize) -> f64,
        extras: usize,
    ) {
        self.coefficients.clear();
        self.coefficients.resize(coding.slots(), [0.0; 2]);
        let coefficients = &mut self.coefficients;
        let constant =
            coding.place(start, coefficient, |slot, value| coefficients[slot] = [0.0, value as f32]);
        self.constant = constant as f32;
        self.sums.clear();
        self.sums.resize(coding.slots() + 1 + extras, 0.0);
    }

    /// Adds the sums to the gradient of a state, whose extra parameters begin at `extra`.
    pub(super) fn finish(&self, coding: &predictor::Coding, extra: usize, gradient: &mut [f64]) {
        coding.add_gradient(&self.sums, gradient);
        let more = &self.sums[coding.slots() + 1..];
        gradient[extra..].iter_mut().zip(more).for_each(|(slot, sum)| *slot += sum);
    }
}

/// Blocks waiting to be summed, each with the derivative of its rows in η.
pub(super) struct Panel<'a, S: Simd> {
    layout: &'a Layout,
    blocks: [&'a [Line]; PANEL],
    first: [Pair<S>; PANEL],
    count: usize,
}

impl<'a, S: Simd> Panel<'a, S> {
    #[inline(always)]
    pub(super) fn new(simd: S, layout: &'a Layout) -> Self {
        Self { layout, blocks: [&[]; PANEL], first: [[Lanes::splat(simd, 0.0); 2]; PANEL], count: 0 }
    }

    /// Takes a block; a full panel is added to `sums`.
    #[inline(always)]
    pub(super) fn push(&mut self, simd: S, lines: &'a [Line], first: Pair<S>, sums: &mut [f64]) {
        self.blocks[self.count] = lines;
        self.first[self.count] = first;
        self.count += 1;
        if self.count == PANEL {
            self.add_to(simd, sums);
        }
    }

    /// Adds Σ first·z to `sums`.
    #[inline(always)]
    pub(super) fn add_to(&mut self, simd: S, sums: &mut [f64]) {
        let zero = Lanes::splat(simd, 0.0);
        let (blocks, first) = (&self.blocks[..self.count], &self.first[..self.count]);
        let mut total = zero;
        for pair in first {
            total += pair[0] + pair[1];
        }
        sums[0] += f64::from(lanes_sum(total));
        let (dense, table) = sums[1..].split_at_mut(self.layout.columns);
        for (j, sum) in dense.iter_mut().enumerate() {
            let mut part = [zero; 2];
            for (block, pair) in blocks.iter().zip(first) {
                let x = kernel::column(simd, block, j);
                part = [x[0].mul_add(pair[0], part[0]), x[1].mul_add(pair[1], part[1])];
            }
            *sum += f64::from(lanes_sum(part[0] + part[1]));
        }
        if self.layout.factors > 0 {
            for (block, pair) in blocks.iter().zip(first) {
                levels::scatter(self.layout, block, &kernel::array(*pair), table);
            }
        }
        self.count = 0;
    }
}

/// The weights of the rows of block `index` that are in `range`, 0 for the others.
#[inline(always)]
pub(super) fn within<S: Simd>(mut weight: Pair<S>, range: &Range<usize>, index: usize) -> Pair<S> {
    let start = index * BLOCK;
    let wanted = range.start.max(start) - start..range.end.min(start + BLOCK) - start;
    if wanted.len() < BLOCK {
        for i in (0..BLOCK).filter(|i| !wanted.contains(i)) {
            weight[i / 16].as_mut_slice()[i % 16] = 0.0;
        }
    }
    weight
}

/// Sums over the rows of `batch`, into the workspace.
#[inline(always)]
pub(super) fn pass<S: Simd, F: Family>(
    simd: S,
    model: &Glm<F>,
    batch: Batch<'_>,
    extra: &[f64],
    workspace: &mut Workspace,
) {
    let Workspace { coefficients, constant, sums } = workspace;
    let view = model.blocks().view();
    let layout = view.layout();
    let zero = Lanes::splat(simd, 0.0);
    let (sums, extra_sum) = sums.split_at_mut(coefficients.len() + 1);
    let mut panel = Panel::new(simd, layout);
    for range in batch.ranges().filter(|range| !range.is_empty()) {
        for index in range.start / BLOCK..range.end.div_ceil(BLOCK) {
            let lines = view.block(index);
            let column = |place: Option<usize>, missing: f32| match place {
                Some(place) => kernel::column(simd, lines, place),
                None => [Lanes::splat(simd, missing); 2],
            };
            let eta = predictor::of_one(simd, layout, lines, coefficients, *constant);
            let offset = column(layout.offset, 0.0);
            let rows = Rows {
                eta: [eta[0] + offset[0], eta[1] + offset[1]],
                response: column(Some(layout.response), 0.0),
                trials: column(layout.trials, 1.0),
            };
            let weight = within(column(layout.weight, 1.0), &range, index);
            let all = <F::Kernel>::derivatives(&model.family, simd, extra, &rows);
            // A row that is not wanted must not bring ∞·0.
            let weighted = |pair: Pair<S>, half: usize| {
                weight[half].simd_eq(zero).select(zero, pair[half] * weight[half])
            };
            if let Some(extra) = all.extra {
                for (sum, slope) in extra_sum.iter_mut().zip(extra.slope) {
                    *sum += f64::from(lanes_sum(weighted(slope, 0) + weighted(slope, 1)));
                }
            }
            panel.push(simd, lines, [weighted(all.first, 0), weighted(all.first, 1)], sums);
        }
    }
    panel.add_to(simd, sums);
}

impl<F: Family> BatchGradient for Glm<F> {
    type Workspace = Workspace;

    fn dimension(&self) -> usize {
        self.parameters()
    }

    fn add_gradient(&self, at: At<'_>, workspace: &mut Workspace, gradient: &mut [f64]) -> Result<()> {
        check_request(self, at, gradient)?;
        let At { state, batch } = at;
        workspace.begin(&self.coding, self.side_constant, |i| state[i], self.family.extra().len());
        (F::compiled().batch_gradient)(self, batch, self.extra(state), workspace);
        workspace.finish(&self.coding, self.coefficients(), gradient);
        Ok(())
    }

    fn add_prior_gradient(&self, state: &[f64], _: &mut Workspace, gradient: &mut [f64]) -> Result<()> {
        self.add_outside_gradient(state, gradient);
        Ok(())
    }
}
