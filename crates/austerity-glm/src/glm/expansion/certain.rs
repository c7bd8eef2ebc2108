//! The certainty stratum: rows that are read at every evaluation of the surrogate, exactly.
//!
//! Their log-likelihood relative to the centre, L(θ) = Σ [ℓ(η̂ + x·(θ − θ̂)) − ℓ(η̂)], comes from the stable differences of the family, its gradient from
//! the family's derivatives, in f32 block by block and f64 across blocks (gradients: f32 lane by lane, which costs a leapfrog path nothing).
//! Rows are sorted by their rare features, and a block names the columns that are not zero in it, so that 1,000 rows with one of
//! fifteen rare features each cost little more than the dense columns alone.
//!
//! Cost: K·(non-zero columns) multiply-adds for the value, twice that with the gradient, and one difference and derivative a row.

use fearless_simd::{Simd, prelude::*};

use crate::glm::blocks::{BLOCK, Layout, Line};
use crate::glm::kernel::{self, Pair, Rows, column};
use crate::glm::predictor::levels;
use crate::glm::{Family, Glm, Kernel as _, MOST_EXTRA, Step, precise};
use crate::simd::{Lanes, Level, dispatched, lanes_sum};

/// Where a state lies, as seen from the centre, in the units of the storage.
#[derive(Debug)]
pub struct Displacement<'a, F: Family> {
    /// x·(θ − θ̂) is this much in every place of the order of the storage,
    pub coefficients: &'a [f32],
    /// and this much in the constant.
    pub constant: f32,
    /// The step of the extra parameters from the centre.
    pub step: Step<F>,
    /// The extra parameters of the state.
    pub extra: &'a [f64],
    /// The coefficients and the constant in f64, of a model that needs them.
    pub exact: &'a [f64],
    /// See `exact`.
    pub exact_constant: f64,
}

/// Sums of slopes, lane by lane.
#[derive(Clone, Debug, Default)]
pub struct Slopes {
    /// Of every dense column.
    pub columns: Vec<[f32; 16]>,
    /// Of the table of levels.
    pub levels: Vec<f64>,
    /// Of the constant.
    pub constant: f64,
    /// Of the extra parameters.
    pub extra: [f64; MOST_EXTRA],
}

impl Slopes {
    /// Sets all sums of a storage to 0.
    pub(super) fn reset(&mut self, layout: &Layout) {
        self.columns.clear();
        self.columns.resize(layout.columns, [0.0; 16]);
        self.levels.clear();
        self.levels.resize(layout.table(), 0.0);
        (self.constant, self.extra) = (0.0, [0.0; MOST_EXTRA]);
    }

    /// The sum of a place in the order of the storage.
    pub(super) fn of(&self, slot: usize) -> f64 {
        match self.columns.get(slot) {
            Some(lanes) => f64::from(lanes.iter().sum::<f32>()),
            None => self.levels[slot - self.columns.len()],
        }
    }
}

/// The rows of the stratum.
#[derive(Clone, Debug)]
pub struct CertainRows<F: Family> {
    /// The model of these rows alone.
    model: Glm<F>,
    /// η̂ of every row, filled up to whole blocks.
    eta: Vec<f32>,
    /// The same in f64, of a model that needs it.
    exact_eta: Vec<f64>,
    /// Dense columns that are not zero, block after block.
    columns: Vec<u32>,
    /// Where the columns of each block begin; one more at the end.
    starts: Vec<usize>,
    /// Blocks in which a coefficient takes part, in the order of the storage.
    blocks: Vec<Vec<u32>>,
}

/// The linear predictors of the stratum at a state, and its extra parameters.
#[derive(Debug, Default)]
pub struct Predictors {
    eta: Vec<f32>,
    extra: Vec<f64>,
}

impl<F: Family> CertainRows<F> {
    /// The rows of `model`, expanded at `centre`, with their η there.
    pub(super) fn new(model: Glm<F>, eta: Vec<f32>, centre: &[f64]) -> Self {
        let view = model.blocks().view();
        let (mut columns, mut starts) = (Vec::new(), vec![0]);
        for block in 0..view.count() {
            let lines = view.block(block);
            let zero = |j: usize| lines[2 * j..2 * j + 2].iter().all(|line| line.0.iter().all(|&x| x == 0.0));
            columns.extend((0..view.layout().columns).filter(|&j| !zero(j)).map(|j| j as u32));
            starts.push(columns.len());
        }
        let layout = view.layout();
        let mut blocks = vec![Vec::new(); layout.coefficients()];
        for (block, ends) in starts.windows(2).enumerate() {
            columns[ends[0]..ends[1]].iter().for_each(|&j| blocks[j as usize].push(block as u32));
            let (lines, rows) = (view.block(block), 0..view.rows_in(block));
            for place in rows.flat_map(|i| levels::of_row(layout, lines, i)) {
                let own: &mut Vec<u32> = &mut blocks[layout.columns + place];
                if own.last() != Some(&(block as u32)) {
                    own.push(block as u32);
                }
            }
        }
        let exact_eta = if model.precise { precise::predictors(&model, centre) } else { Vec::new() };
        Self { model, eta, exact_eta, columns, starts, blocks }
    }

    /// K.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.model.blocks().rows()
    }

    /// The model of these rows alone.
    #[must_use]
    pub fn model(&self) -> &Glm<F> {
        &self.model
    }

    /// η̂ of every row in f64, of a model that needs it.
    pub(in crate::glm) fn exact_eta(&self) -> &[f64] {
        &self.exact_eta
    }

    /// Dense columns that are not zero in a block.
    pub(in crate::glm) fn columns_of(&self, block: usize) -> &[u32] {
        &self.columns[self.starts[block]..self.starts[block + 1]]
    }

    pub(in crate::glm) fn level(&self) -> Level {
        self.model.level
    }

    /// Takes in the linear predictors at a state.
    pub(super) fn predict(&self, displacement: &Displacement<'_, F>, to: &mut Predictors) {
        to.extra.clear();
        to.extra.extend_from_slice(displacement.extra);
        to.eta.clone_from(&self.eta);
        dispatched!(self.level(), simd => self.add_displacement(simd, displacement, &mut to.eta));
    }

    #[inline(always)]
    fn add_displacement<S: Simd>(&self, simd: S, displacement: &Displacement<'_, F>, eta: &mut [f32]) {
        let view = self.model.blocks().view();
        for (block, eta) in eta.chunks_exact_mut(BLOCK).enumerate() {
            let lines = view.block(block);
            let mut sums = [Lanes::splat(simd, displacement.constant); 2];
            for &j in &self.columns[self.starts[block]..self.starts[block + 1]] {
                let coefficient = Lanes::splat(simd, displacement.coefficients[j as usize]);
                let x = column(simd, lines, j as usize);
                sums = [x[0].mul_add(coefficient, sums[0]), x[1].mul_add(coefficient, sums[1])];
            }
            add_lanes(simd, eta, sums);
            if view.layout().factors > 0 {
                add_lanes(simd, eta, gathered(simd, view.layout(), lines, displacement.coefficients));
            }
        }
    }

    /// The change of the log-likelihood when the coefficient of the place `slot` moves by `by`, in the units of the storage.
    pub(super) fn change(&self, at: &Predictors, slot: usize, by: f32) -> f64 {
        (F::compiled().certain_change)(self, at, slot, by)
    }

    /// Moves it.
    pub(super) fn take(&self, at: &mut Predictors, slot: usize, by: f32) {
        dispatched!(self.level(), simd => self.add_step(simd, slot, by, &mut at.eta));
    }

    #[inline(always)]
    fn add_step<S: Simd>(&self, simd: S, slot: usize, by: f32, eta: &mut [f32]) {
        let view = self.model.blocks().view();
        let by = Lanes::splat(simd, by);
        for &block in &self.blocks[slot] {
            let eta = &mut eta[block as usize * BLOCK..][..BLOCK];
            let x = values(simd, view.layout(), view.block(block as usize), slot);
            add_lanes(simd, eta, [x[0] * by, x[1] * by]);
        }
    }

    /// The change of the log-likelihood from the centre; `slopes` receives its gradient.
    pub(super) fn evaluate(&self, displacement: &Displacement<'_, F>, slopes: Option<&mut Slopes>) -> f64 {
        (F::compiled().certain)(self, displacement, slopes)
    }
}

/// What a coefficient multiplies in the rows of a block.
#[inline(always)]
fn values<S: Simd>(simd: S, layout: &Layout, lines: &[Line], slot: usize) -> Pair<S> {
    match slot.checked_sub(layout.columns) {
        None => column(simd, lines, slot),
        Some(place) => levels::pair(simd, &levels::indicator(layout, lines, place)),
    }
}

/// What levels add to the rows of a block.
#[inline(always)]
fn gathered<S: Simd>(simd: S, layout: &Layout, lines: &[Line], coefficients: &[f32]) -> Pair<S> {
    let mut sums = [0.0; BLOCK];
    levels::gather(layout, lines, &coefficients[layout.columns..], &mut sums);
    levels::pair(simd, &sums)
}

/// `value` times `weight`; a missing row must not bring ∞·0.
#[inline(always)]
fn weighted<S: Simd>(simd: S, value: Lanes<S>, weight: Lanes<S>) -> Lanes<S> {
    let zero = Lanes::splat(simd, 0.0);
    weight.simd_eq(zero).select(zero, value * weight)
}

/// η += moved, of 32 rows.
#[inline(always)]
fn add_lanes<S: Simd>(simd: S, eta: &mut [f32], moved: Pair<S>) {
    for (half, moved) in eta.chunks_exact_mut(16).zip(moved) {
        (Lanes::from_slice(simd, half) + moved).store_slice(half);
    }
}

/// The exact change of the log-likelihood when one coefficient moves.
#[inline(always)]
pub fn change<S: Simd, F: Family>(
    simd: S,
    stratum: &CertainRows<F>,
    at: &Predictors,
    slot: usize,
    by: f32,
) -> f64 {
    let view = stratum.model.blocks().view();
    let layout = view.layout();
    let step = <F::Kernel>::step(&stratum.model.family, &at.extra, &at.extra);
    let mut total = 0.0;
    for &block in &stratum.blocks[slot] {
        let block = block as usize;
        let lines = view.block(block);
        let x = values(simd, layout, lines, slot);
        let by = Lanes::splat(simd, by);
        let delta = [x[0] * by, x[1] * by];
        let eta = &at.eta[block * BLOCK..][..BLOCK];
        let eta = [Lanes::from_slice(simd, &eta[..16]), Lanes::from_slice(simd, &eta[16..])];
        let rows = kernel::rows::<S, F, { kernel::eta::FRESH }>(simd, layout, lines, eta, &mut []);
        let rows = Rows { eta, ..rows };
        let values = kernel::fast::<S, F>(simd, layout, &step, lines, &rows, delta);
        // Rows missing from the last block have x = 0, and with δ = 0 no difference.
        total += match values {
            Some(values) => f64::from(lanes_sum(values[0] + values[1])),
            None => {
                let values = kernel::exact::<S, F>(layout, &step, lines, values, &rows, delta);
                values[..view.rows_in(block)].iter().sum::<f64>()
            }
        };
    }
    total
}

/// The exact change of the log-likelihood, and its slopes.
#[inline(always)]
pub fn pass<S: Simd, F: Family>(
    simd: S,
    stratum: &CertainRows<F>,
    displacement: &Displacement<'_, F>,
    mut slopes: Option<&mut Slopes>,
) -> f64 {
    let view = stratum.model.blocks().view();
    let layout = view.layout();
    let zero = Lanes::splat(simd, 0.0);
    let mut total = 0.0;
    for block in 0..view.count() {
        let lines = view.block(block);
        let used = &stratum.columns[stratum.starts[block]..stratum.starts[block + 1]];
        // Two sums a half: one alone would wait for every addition.
        let mut parts = [[Lanes::splat(simd, displacement.constant); 2], [zero; 2]];
        for pair in used.chunks(2) {
            for (part, &j) in parts.iter_mut().zip(pair) {
                let x = column(simd, lines, j as usize);
                let coefficient = Lanes::splat(simd, displacement.coefficients[j as usize]);
                *part = [x[0].mul_add(coefficient, part[0]), x[1].mul_add(coefficient, part[1])];
            }
        }
        let mut delta = [parts[0][0] + parts[1][0], parts[0][1] + parts[1][1]];
        if layout.factors > 0 {
            let more = gathered(simd, layout, lines, displacement.coefficients);
            delta = [delta[0] + more[0], delta[1] + more[1]];
        }
        let eta = &stratum.eta[block * BLOCK..][..BLOCK];
        let eta = [Lanes::from_slice(simd, &eta[..16]), Lanes::from_slice(simd, &eta[16..])];
        let rows = kernel::rows::<S, F, { kernel::eta::FRESH }>(simd, layout, lines, eta, &mut []);
        // η̂ of the stratum holds the offset already.
        let rows = Rows { eta, ..rows };
        let count = view.rows_in(block);
        let values = kernel::fast::<S, F>(simd, layout, &displacement.step, lines, &rows, delta);
        total += match values {
            Some(values) if count == BLOCK => f64::from(lanes_sum(values[0] + values[1])),
            values => {
                let values = kernel::exact::<S, F>(layout, &displacement.step, lines, values, &rows, delta);
                values[..count].iter().sum::<f64>()
            }
        };
        let Some(slopes) = &mut slopes else { continue };
        let moved = Rows { eta: [eta[0] + delta[0], eta[1] + delta[1]], ..rows };
        let all = <F::Kernel>::derivatives(&stratum.model.family, simd, displacement.extra, &moved);
        let mut weight =
            layout.weight.map_or([Lanes::splat(simd, 1.0); 2], |place| column(simd, lines, place));
        if count < BLOCK {
            let mut present = [0.0f32; BLOCK];
            present[..count].fill(1.0);
            for (half, weight) in weight.iter_mut().enumerate() {
                *weight *= Lanes::from_slice(simd, &present[16 * half..][..16]);
            }
        }
        let first = [weighted(simd, all.first[0], weight[0]), weighted(simd, all.first[1], weight[1])];
        slopes.constant += f64::from(lanes_sum(first[0] + first[1]));
        if let Some(extra) = all.extra {
            for (sum, slope) in
                slopes.extra.iter_mut().zip(extra.slope).take(stratum.model.family.extra().len())
            {
                *sum += f64::from(lanes_sum(
                    weighted(simd, slope[0], weight[0]) + weighted(simd, slope[1], weight[1]),
                ));
            }
        }
        if layout.factors > 0 {
            levels::scatter(layout, lines, &kernel::array(first), &mut slopes.levels);
        }
        for &j in used {
            let x = column(simd, lines, j as usize);
            let sum = &mut slopes.columns[j as usize];
            let total = x[0].mul_add(first[0], Lanes::load_array_ref(simd, sum));
            x[1].mul_add(first[1], total).store_slice(sum);
        }
    }
    total
}
