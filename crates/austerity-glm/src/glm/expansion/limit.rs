//! How large the residuals of a move can be in all, from one matrix: what settles most decisions of many rows without reading any.
//!
//! As in [`super::bound`]: with C Cᵀ the covariance, z = Cᵀx and lev = |z| of a row, u = C⁻¹(θ − θ̂) and ρ = |u| of a state, D₃ and D₄ the largest third and fourth
//! derivative within lev·ρ_max of η̂,
//!
//! ```text
//! |Σ R_i| ≤ ρ·uᵀAu,    A = Σ w D₃/6·lev·z zᵀ      (second order)
//! |Σ R_i| ≤ ρ²·uᵀAu,   A = Σ w D₄/24·lev²·z zᵀ    (third order)
//! A = Q Λ Qᵀ,  y = QᵀC⁻¹(θ − θ̂):   ρ = |y|,  uᵀAu = Σ λ_k y_k²
//! ```
//!
//! so that a state costs one product with a d × d matrix. The limit of a move, the sum of both, is of the order of d²·N^{−1/2} or d³/N: a candidate whose log u is further from
//! what the surrogate says of it is decided for certain. At 10⁶ rows and 20 columns that is nine decisions of ten; a limit that would settle few is not
//! kept. Where it settles nothing, the test goes on as without it: decisions that are certain are right, and the others are as they were.
//!
//! A is summed beside the scores, in the same pass, and the rows of the stratum are taken out again. Sums are in f32 over panels of rows, as everything there:
//! what rounding can do to them is added to the diagonal, and what it can do to the total that f32 arithmetic computes to the weights of the rows (as in
//! [`super::bound`]; of the third order as a multiple of ρ³, since that term is what rounds), so that the limit is one of the total as it comes.
//!
//! Cost: d² multiply-adds a row; d² per candidate. Extra parameters of the family add matrices of rank one, and their rows are bounded one by one ([`super::span`]).

use nalgebra::{DMatrix, SymmetricEigen};

use super::scores::{Scoring, by_fourth};
use super::span::Span;
use super::spread::{Spread, not_definite};
use super::tensor::{PANEL, Panel, ROWS, Sums};
use crate::glm::blocks::BLOCK;
use crate::glm::family::Around;
use crate::glm::{Coding, Family, Glm};
use crate::simd::eight::{LANES, add_matrix_product, filled, strips};
use crate::simd::{Level, dispatched};
use austerity::error::Result;

/// Relative rounding of sums over panels.
const SUMMED: f64 = 3e-6;
/// Relative rounding of a term of a dot product in f32, twice over.
const UNIT: f64 = 1.2e-7;
/// Rows whose leverage is known to this share are summed as they are.
const KNOWN: f64 = 0.01;
/// What covers that and the rounding of scores.
const COVER: f64 = 1.02;
/// Relative accuracy of R in f32, the order of its sum included, and how much an error of h/ρ weighs in it.
const ACCURACY: f64 = 3e-5;
const SENSITIVE: f64 = 8.0;
/// (√F + ρ√E)² ≤ (1 + η)·F + (1 + 1/η)·ρ²·E, of this η.
const SPLIT: f64 = 1e-3;
/// A typical limit of a move beyond this settles too few decisions to be asked for.
const WORTH: f64 = 1.0;
/// With d⁴ or d³ beyond so many times N, the typical limit of logistic regression is not worth it by the second and by the third order.
const FEW: [f64; 2] = [16.0, 4.0];

/// What is summed for a limit, in a pass over rows.
pub(super) struct Collector {
    /// For z, and for scores within the reach.
    spread: Spread,
    /// sd of a coefficient, in the order of the storage.
    widths: Vec<f32>,
    /// Terms of a linear predictor.
    terms: usize,
    /// The extra parameters.
    span: Span,
    /// C.
    lower: DMatrix<f64>,
    /// ρ_max.
    reach: f64,
    /// Of the third order, not of the second.
    third: bool,
}

/// What a pass has collected.
pub(super) struct Collected {
    pub(super) collector: Collector,
    pub(super) totals: Totals,
}

/// Sums over some rows.
pub(super) struct Totals {
    sums: Sums,
    /// Σ w δ²: z is known to within δ.
    error: f64,
    /// Trace of A.
    trace: f64,
    /// Σ M/6·lev, or Σ M/24·lev², of a family with extra parameters.
    spanned: f64,
    /// Σ w D₃/6·lev³, or Σ w D₄/24·lev⁴, of rows whose z is hardly known.
    vague: f64,
    /// What rounding does to a total of the third order, in units of ρ³.
    rounding: f64,
}

impl Totals {
    pub(super) fn new(size: usize) -> Self {
        Self { sums: Sums::second(size), error: 0.0, trace: 0.0, spanned: 0.0, vague: 0.0, rounding: 0.0 }
    }

    pub(super) fn add(&mut self, other: &Self) {
        self.sums.add(&other.sums);
        self.error += other.error;
        self.trace += other.trace;
        self.spanned += other.spanned;
        self.vague += other.vague;
        self.rounding += other.rounding;
    }
}

impl Collector {
    /// For states within √d + 4 posterior sds of the centre, with C = `lower`; `None` where rows are too few for their parameters.
    pub(super) fn new<F: Family>(
        model: &Glm<F>,
        lower: DMatrix<f64>,
        span: Span,
        third: bool,
    ) -> Option<Self> {
        let d = model.parameters();
        let (size, rows) = (d as f64, model.blocks().rows() as f64);
        let few = if third { size.powi(3) > FEW[1] * rows } else { size.powi(4) > FEW[0] * rows };
        if few {
            return None;
        }
        let reach = (d as f64).sqrt() + 4.0;
        let widths = widths(&lower, &model.coding);
        let spread = Spread::of(&lower, &model.coding, ((1.0 + KNOWN) * reach) as f32);
        let terms = model.blocks().layout().columns + model.blocks().layout().factors;
        Some(Self { spread, widths, terms, span: span.reaching(reach), lower, reach, third })
    }

    /// Adds the rows of at most [`PANEL`] blocks of `model`, whose η̂ are `eta`.
    pub(super) fn take<F: Family>(
        &self,
        model: &Glm<F>,
        first: usize,
        eta: &[f32],
        panel: &mut Panel,
        totals: &mut Totals,
    ) {
        let view = model.blocks().view();
        let blocks: Vec<u32> = (first..first + eta.len() / BLOCK).map(|block| block as u32).collect();
        if !model.family.extra().is_empty() {
            panel.take(model.level, &self.spread, &self.widths, &view, &blocks);
            self.take_spanned(model, first, eta, panel, totals);
            totals.sums.push(model.level, panel);
            return;
        }
        panel.take(model.level, &self.spread, &self.widths, &view, &blocks);
        let mut scores = [0.0f32; ROWS];
        let range = first..first + blocks.len();
        let own = &mut scores[..eta.len()];
        if self.third {
            by_fourth(model, range, (&self.spread, &self.span), 1.0, eta, own);
        } else {
            (F::compiled().scores)(model, range, Scoring::new(&self.spread, &[]).knowing(panel), eta, own);
        }
        let constant = f64::from(self.spread.constant());
        for (row, &score) in scores[..eta.len()].iter().enumerate() {
            let (vector, lane) = (row / 16, row % 16);
            let square = f64::from(panel.squares[vector][lane]);
            let (score, leverage) = (f64::from(score), square.sqrt());
            let size = f64::from(panel.sizes[vector][lane]) + constant;
            let delta = UNIT * (self.terms + 5) as f64 * size;
            let uncertain = SENSITIVE * delta + ACCURACY * leverage;
            if delta <= KNOWN * leverage {
                let mut weight = COVER * score / square;
                if self.third {
                    totals.rounding += uncertain * square * self.third_of(model, first, row, eta, leverage);
                } else {
                    weight *= 1.0 + uncertain / leverage;
                }
                panel.weights[0][vector][lane] = weight as f32;
                totals.error += weight * delta * delta;
                totals.trace += weight * square;
            } else if row % BLOCK < view.rows_in(first + row / BLOCK) {
                let far = leverage + delta;
                let (weight, bounds) = row_bounds(model, first, row, eta, far * self.reach);
                let [third, fourth] = bounds;
                let cubic = third / 6.0 * far.powi(3);
                let left = if self.third { fourth / 24.0 * far.powi(4) } else { (1.0 + SENSITIVE) * cubic };
                totals.rounding += if self.third { SENSITIVE * weight * cubic } else { 0.0 };
                totals.vague += weight * left;
            }
        }
        totals.sums.push(model.level, panel);
    }

    /// The weights of rows that extra parameters move too.
    fn take_spanned<F: Family>(
        &self,
        model: &Glm<F>,
        first: usize,
        eta: &[f32],
        panel: &mut Panel,
        totals: &mut Totals,
    ) {
        let view = model.blocks().view();
        let layout = view.layout();
        let (constant, around) = (f64::from(self.spread.constant()), self.span.around());
        for (row, &eta) in eta.iter().enumerate() {
            let (block, i) = (first + row / BLOCK, row % BLOCK);
            if i >= view.rows_in(block) {
                continue;
            }
            let lines = view.block(block);
            let side =
                |place: Option<usize>| place.map_or(1.0, |p| f64::from(lines[2 * p + i / 16].0[i % 16]));
            let weight = side(layout.weight);
            if weight == 0.0 {
                continue;
            }
            let (vector, lane) = (row / 16, row % 16);
            let square = f64::from(panel.squares[vector][lane]);
            let size = f64::from(panel.sizes[vector][lane]) + constant;
            let delta = UNIT * (self.terms + 5) as f64 * size;
            let near = square.sqrt() + delta;
            let far = near.hypot(self.span.square.sqrt()) * (1.0 + 1e-6);
            let (response, trials) = (side(Some(layout.response)), side(layout.trials));
            let place = (f64::from(eta), near * self.reach);
            let [third, fourth] = model.family.row_bounds(&around, place, response, trials, self.third);
            let cubic = weight * third / 6.0;
            let uncertain = SENSITIVE * delta + ACCURACY * far;
            let form = if self.third {
                totals.rounding += uncertain * far * far * cubic;
                weight * fourth / 24.0 * far * far
            } else {
                cubic * (far + uncertain)
            };
            if delta <= KNOWN * far {
                panel.weights[0][vector][lane] = form as f32;
                totals.error += form * delta * delta;
                totals.trace += form * (square + self.span.square);
                totals.spanned += form;
            } else {
                totals.vague += form * far * far;
            }
        }
    }

    /// w D₃/6 of a row.
    fn third_of<F: Family>(
        &self,
        model: &Glm<F>,
        first: usize,
        row: usize,
        eta: &[f32],
        leverage: f64,
    ) -> f64 {
        let (weight, bounds) = row_bounds(model, first, row, eta, leverage * self.reach);
        let there = row % BLOCK < model.blocks().view().rows_in(first + row / BLOCK);
        if there { weight * bounds[0] / 6.0 } else { 0.0 }
    }

    /// Of ρ.
    fn power(&self) -> i32 {
        if self.third { 2 } else { 1 }
    }

    /// The limit of a move between two draws, of the trace of A.
    fn typical(&self, trace: f64) -> f64 {
        2.0 * (self.lower.nrows() as f64).sqrt().powi(self.power()) * trace
    }

    /// Room for a pass.
    pub(super) fn panel(&self) -> Panel {
        Panel::new(&self.spread)
    }

    /// Room for sums.
    pub(super) fn totals(&self) -> Totals {
        Totals::new(self.lower.nrows())
    }

    /// All rows of a model, in one thread.
    fn all<F: Family>(&self, model: &Glm<F>, eta: &[f32]) -> Totals {
        let (mut panel, mut totals) = (self.panel(), self.totals());
        for (k, eta) in eta.chunks(PANEL * BLOCK).enumerate() {
            self.take(model, k * PANEL, eta, &mut panel, &mut totals);
        }
        totals
    }
}

/// sd of every coefficient in the order of the storage, of the lower factor of the covariance.
pub(super) fn widths(lower: &DMatrix<f64>, coding: &Coding) -> Vec<f32> {
    let first = usize::from(coding.intercept);
    let mut widths = vec![0.0; coding.slots()];
    for (n, entry) in coding.entries.iter().enumerate() {
        widths[entry.slot] = (entry.scale.abs() * lower.row(first + n).norm()) as f32;
    }
    widths
}

/// Weight of a row, by its place after the block `first`, and the bounds of its derivatives within `reach` of its η̂.
fn row_bounds<F: Family>(
    model: &Glm<F>,
    first: usize,
    row: usize,
    eta: &[f32],
    reach: f64,
) -> (f64, [f64; 2]) {
    let view = model.blocks().view();
    let (layout, lines, i) = (view.layout(), view.block(first + row / BLOCK), row % BLOCK);
    let side = |place: Option<usize>| place.map_or(1.0, |p| f64::from(lines[2 * p + i / 16].0[i % 16]));
    let (response, trials) = (side(Some(layout.response)), side(layout.trials));
    let place = (f64::from(eta[row]), reach);
    (side(layout.weight), model.family.row_bounds(&Around::NOTHING, place, response, trials, true))
}

impl Collected {
    /// The limit of a typical move before rows are set apart, roughly.
    pub(super) fn typical(&self) -> f64 {
        self.collector.typical(self.totals.trace)
    }

    /// The limit of all rows but those `apart`, with their η̂, unless it would settle little.
    pub(super) fn finish<F: Family>(self, apart: Option<(&Glm<F>, &[f32])>) -> Result<Option<Limit>> {
        let Self { collector, totals: mut all } = self;
        // What rounding can do is that of all rows.
        let mut diagonal = SUMMED * all.trace + (1.0 + 1.0 / SPLIT) * all.error + all.vague;
        if let Some((part, eta)) = apart {
            let own = collector.all(part, eta);
            diagonal += SUMMED * own.trace;
            all.sums.subtract(&own.sums);
            all.trace -= own.trace;
            all.spanned -= own.spanned;
            all.rounding -= own.rounding;
        }
        let d = collector.lower.nrows();
        let triangle = &mut all.sums.forms[0];
        collector.span.add_to(triangle, all.spanned);
        let entry = |i: usize, k: usize| {
            let (i, k) = (i.max(k), i.min(k));
            (1.0 + SPLIT) * triangle[i * (i + 1) / 2 + k] + if i == k { diagonal } else { 0.0 }
        };
        let form = DMatrix::from_fn(d, d, entry);
        let typical = collector.typical(form.trace());
        if typical > WORTH || typical.is_nan() {
            return Ok(None);
        }
        let SymmetricEigen { eigenvectors, eigenvalues } = form.symmetric_eigen();
        let inverse =
            collector.lower.solve_lower_triangular(&DMatrix::identity(d, d)).ok_or_else(not_definite)?;
        let turned = eigenvectors.transpose() * inverse;
        let mut values = eigenvalues.as_slice().to_vec();
        values.resize(filled(d), 0.0);
        let turned = strips(d, d, &|i, k| turned[(i, k)]);
        let rounding = all.rounding.max(0.0) + SUMMED * all.rounding.abs();
        Ok(Some(Limit {
            turned,
            values,
            rounding,
            power: collector.power(),
            reach: collector.reach,
            typical,
        }))
    }
}

/// The limit of an expansion.
#[derive(Clone, Debug)]
pub(super) struct Limit {
    /// QᵀC⁻¹ in strips of eight rows.
    turned: Vec<[f64; LANES]>,
    /// Λ, filled up.
    values: Vec<f64>,
    /// In units of ρ³.
    rounding: f64,
    /// Of ρ.
    power: i32,
    reach: f64,
    /// Of a move between two draws.
    typical: f64,
}

impl Limit {
    /// |Σ R_i| at most, at a displacement of all parameters; ∞ beyond the reach. `room` is cleared.
    pub(super) fn of(&self, level: Level, moved: &[f64], room: &mut Vec<f64>) -> f64 {
        room.clear();
        room.resize(self.values.len(), 0.0);
        let (square, form) = dispatched!(level, _simd => self.forms(moved, room));
        let distance = square.sqrt();
        let limit = distance.powi(self.power) * form + self.rounding * square * distance;
        // Written so that a NaN has no limit.
        if distance <= self.reach { (1.0 + 1e-9) * limit } else { f64::INFINITY }
    }

    /// |y|² and Σ λ y².
    #[inline(always)]
    fn forms(&self, moved: &[f64], y: &mut [f64]) -> (f64, f64) {
        add_matrix_product(y.as_chunks_mut().0, &self.turned, moved);
        let (mut square, mut form) = ([0.0; LANES], [0.0; LANES]);
        for (y, values) in y.as_chunks::<LANES>().0.iter().zip(self.values.as_chunks::<LANES>().0) {
            for lane in 0..LANES {
                let own = y[lane] * y[lane];
                square[lane] += own;
                form[lane] += values[lane] * own;
            }
        }
        (square.iter().sum(), form.iter().sum())
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.turned[..]) + size_of_val(&self.values[..])
    }

    /// The limit of a typical move, between two draws from the posterior.
    pub(super) fn typical(&self) -> f64 {
        self.typical
    }
}

#[cfg(test)]
mod tests;
