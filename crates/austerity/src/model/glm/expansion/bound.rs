//! How far a second-order expansion can be off, for certain: what certified decisions rest on.
//!
//! With C Cᵀ the covariance of the coefficients, z = Cᵀx and lev = |z| of a row, u = C⁻¹(θ − θ̂) and ρ = |u| of a state, the linear predictor moves by
//! h = z·u, |h| ≤ lev·ρ. For all states with ρ ≤ ρ_max, by Taylor's theorem with D₃ and D₄ the largest third and fourth derivative within lev·ρ_max of η̂,
//!
//! ```text
//! |Σ R_i|                ≤ Σ w D₃/6·|h|³   ≤ ρ·uᵀA₃u,    A₃ = Σ w D₃/6·lev·z zᵀ        (second order)
//! |Σ R_i − T[u,u,u]/6|   ≤ Σ w D₄/24·h⁴    ≤ ρ²·uᵀA₄u,   A₄ = Σ w D₄/24·lev²·z zᵀ      (third order)
//! ```
//!
//! with the tensor T = Σ w ℓ'''(η̂) z⊗z⊗z. Bounding only one factor |h| (or two) by lev·ρ keeps the bounds d times narrower than lev³ρ³ would.
//! The total of a move R(θ') − R(θ) is bounded by the sum of both. The rows with the largest bounds come in a few *heads*, blocks that can be read: matrices
//! and tensors of the *tails*, the blocks after each head, bound what is then left. States beyond ρ_max have no bound.
//!
//! What is bounded is the total that f32 arithmetic computes: with δ the largest error of h/ρ, of a row as dot products in f32 have it, another form
//! Σ w D₃/6·(8δ + 3e-5·lev)·z zᵀ covers the effect of δ on R and on T and the relative accuracy of R itself ([`crate::model::glm::remainder`]).
//!
//! Cost: two passes; d²/2 multiply-adds a row each, and d³/6 for the tensor, which is built up to 40 coefficients. A decision: d² and d³/6 numbers per new
//! state. For families without extra parameters: where a scale moves too, h alone bounds nothing.

use nalgebra::DMatrix;

use super::passes::in_pieces;
use super::scores::{Spread, factor};
use super::tensor::{self, FORMS, PANEL, Panel, ROWS, Sums};
use super::{GlmExpansion, dot};
use crate::error::{Result, setting};
use crate::model::glm::Family;
use crate::model::glm::blocks::BLOCK;

/// How a certificate is built.
#[derive(Clone, Debug, PartialEq)]
pub struct CertificateSettings {
    /// ρ_max: sds within which states have a bound. `None`: √d + 4.
    pub reach: Option<f64>,
    /// Whether the tensor is built. `None`: up to 40 coefficients.
    pub third_order: Option<bool>,
    /// Threads for the passes. Nothing depends on them but the time.
    pub threads: usize,
}

impl Default for CertificateSettings {
    fn default() -> Self {
        Self {
            reach: None,
            third_order: None,
            threads: std::thread::available_parallelism().map_or(1, Into::into),
        }
    }
}

/// Coefficients up to which the tensor is built.
const LARGEST_TENSOR: usize = 40;
/// Shares of the blocks that the heads end at.
const HEADS: [f64; 4] = [1.0 / 1024.0, 1.0 / 256.0, 1.0 / 64.0, 1.0 / 16.0];
/// Relative rounding of a term of a dot product in f32, twice over.
const UNIT: f64 = 1.2e-7;
/// Relative accuracy of R in f32, the order of its sum included.
const ACCURACY: f64 = 3e-5;
/// Relative rounding of sums over panels.
const SUMMED: f64 = 3e-6;

/// The forms of a tail.
const CUBIC: usize = 0;
const QUARTIC: usize = 1;
const ROUNDING: usize = 2;

/// Bounds of what an expansion leaves.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// C, packed row by row.
    factor: Vec<f64>,
    /// ρ_max.
    reach: f64,
    /// Of all blocks, then of those after each head.
    tails: Vec<Tail>,
    /// The blocks of each head, ascending.
    heads: Vec<Vec<u32>>,
}

/// Sums over some blocks.
#[derive(Clone, Debug)]
struct Tail {
    sums: Sums,
    /// Σ w δ² of the forms: z is known to within δ.
    errors: [f64; FORMS],
    /// Traces of the forms, which their rounding is relative to.
    traces: [f64; FORMS],
}

impl Tail {
    fn new(directions: usize, cubic: bool) -> Self {
        Self { sums: Sums::new(directions, cubic), errors: [0.0; FORMS], traces: [0.0; FORMS] }
    }

    fn add(&mut self, other: &Self) {
        self.sums.add(&other.sums);
        for k in 0..FORMS {
            self.errors[k] += other.errors[k];
            self.traces[k] += other.traces[k];
        }
    }

    /// Σ w (z·u)² from above: √Σw(z·u)² ≤ √Σw(z̃·u)² + ρ√Σwδ².
    fn form(&self, which: usize, place: &Place) -> f64 {
        let rho = place.distance;
        let computed = tensor::quadratic(&self.sums.forms[which], &place.coordinates).max(0.0);
        let root = (computed + SUMMED * self.traces[which] * rho * rho).sqrt();
        (root + rho * self.errors[which].sqrt()).powi(2)
    }
}

/// Where a state lies, and what is bounded there.
#[derive(Clone, Debug, Default)]
pub(super) struct Place {
    /// θ − θ̂ of the coefficients that move residuals.
    moved: Vec<f64>,
    /// u, once asked for.
    coordinates: Vec<f64>,
    /// ρ.
    distance: f64,
    /// Whether both are those of `moved`.
    known: bool,
    /// The bound of the second order, without rounding.
    second: Option<f64>,
    /// The term of the third order and its bound, without rounding.
    third: Option<(f64, f64)>,
}

impl Place {
    fn set(&mut self, moved: impl Iterator<Item = f64>) {
        self.moved.clear();
        self.moved.extend(moved);
        (self.known, self.second, self.third) = (false, None, None);
    }

    fn is(&self, mut moved: impl Iterator<Item = f64>) -> bool {
        !self.moved.is_empty() && self.moved.iter().all(|&h| moved.next() == Some(h))
    }
}

/// The two states of a move; what is known of a state that was the candidate before is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Places([Place; 2]);

impl Places {
    /// Takes in a move.
    pub(super) fn take<I: Iterator<Item = f64> + Clone>(&mut self, from: I, to: I) {
        let [here, there] = &mut self.0;
        if there.is(from.clone()) {
            std::mem::swap(here, there);
        } else if !here.is(from.clone()) {
            here.set(from);
        }
        there.set(to);
    }
}

/// What the blocks after some heads add to a total: an estimate and its bound.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rest {
    pub(super) estimate: f64,
    pub(super) bound: f64,
}

impl Bounds {
    /// Heads that can be read.
    pub(super) fn heads(&self) -> &[Vec<u32>] {
        &self.heads
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        let of = |tail: &Tail| tail.sums.cubic.len() + FORMS * tail.sums.forms[0].len();
        8 * (self.factor.len() + self.tails.iter().map(of).sum::<usize>())
    }

    /// Finds u and ρ of both states; whether they have bounds.
    pub(super) fn locate(&self, places: &mut Places) -> bool {
        for place in &mut places.0 {
            if !place.known {
                place.coordinates.clear();
                let mut rest = &self.factor[..];
                for (k, &h) in place.moved.iter().enumerate() {
                    let (row, after) = rest.split_at(k + 1);
                    rest = after;
                    let u = (h - dot(&row[..k], &place.coordinates)) / row[k];
                    place.coordinates.push(u);
                }
                let square = dot(&place.coordinates, &place.coordinates);
                place.distance = square.sqrt() * (1.0 + 1e-9);
                place.known = true;
            }
        }
        places.0.iter().all(|place| place.distance <= self.reach)
    }

    /// What rounding can add to a total.
    fn rounding(&self, places: &Places) -> f64 {
        let all = &self.tails[0];
        let of = |place: &Place| place.distance * all.form(ROUNDING, place);
        of(&places.0[0]) + of(&places.0[1])
    }

    /// |Σ r| of all blocks by the second order.
    pub(super) fn second(&self, places: &mut Places) -> Rest {
        let rounding = self.rounding(places);
        let mut of = |i: usize| {
            let place = &mut places.0[i];
            let second = place.second.unwrap_or_else(|| self.second_of(0, place));
            place.second = Some(second);
            second
        };
        Rest { estimate: 0.0, bound: of(0) + of(1) + rounding }
    }

    fn second_of(&self, tail: usize, place: &Place) -> f64 {
        place.distance * self.tails[tail].form(CUBIC, place)
    }

    /// Σ r of all blocks by the third order, where there is a tensor.
    pub(super) fn third(&self, places: &mut Places) -> Option<Rest> {
        let rounding = self.rounding(places);
        let mut of = |i: usize| {
            let place = &mut places.0[i];
            let third = place.third.or_else(|| self.third_of(0, place));
            place.third = third;
            third
        };
        let (from, to) = (of(0)?, of(1)?);
        Some(Rest { estimate: to.0 - from.0, bound: from.1 + to.1 + rounding })
    }

    /// The term of the third order of one state, and the bound of what it leaves.
    fn third_of(&self, tail: usize, place: &Place) -> Option<(f64, f64)> {
        let tail = &self.tails[tail];
        if tail.sums.cubic.is_empty() {
            return None;
        }
        let square = place.distance * place.distance;
        let term = tensor::cubic(&tail.sums.cubic, &place.coordinates) / 6.0;
        // The trace of A₃ is Σ w D₃/6·lev³: what the sums of the tensor are made of, from above.
        let summed = SUMMED * tail.traces[CUBIC] * square * place.distance;
        Some((term, square * tail.form(QUARTIC, place) + summed))
    }

    /// Σ r of the blocks after `heads` heads, by the narrower of both orders.
    pub(super) fn after(&self, heads: usize, places: &mut Places) -> Rest {
        if heads == 0 {
            let (second, third) = (self.second(places), self.third(places));
            return third.filter(|third| third.bound < second.bound).unwrap_or(second);
        }
        let rounding = self.rounding(places);
        let [from, to] = &places.0;
        let bound = self.second_of(heads, from) + self.second_of(heads, to) + rounding;
        let third = self.third_of(heads, from).zip(self.third_of(heads, to));
        let third = third.map(|(from, to)| Rest { estimate: to.0 - from.0, bound: from.1 + to.1 + rounding });
        third.filter(|third| third.bound < bound).unwrap_or(Rest { estimate: 0.0, bound })
    }

    /// The same bounds with the constants of the cubic and the quartic multiplied: for power checks.
    #[cfg(test)]
    pub(super) fn weakened(mut self, factor: f64) -> Self {
        for tail in &mut self.tails {
            for which in [CUBIC, QUARTIC] {
                tail.sums.forms[which].iter_mut().for_each(|entry| *entry *= factor);
                tail.errors[which] *= factor;
                tail.traces[which] *= factor;
            }
        }
        self
    }
}

impl<F: Family> GlmExpansion<F> {
    /// The same expansion, whose residuals certify their totals: see [`crate::rule::Certified`].
    ///
    /// Refuses expansions of the first order and families with an extra parameter, which have no certificate.
    ///
    /// ```
    /// use austerity::model::glm::expansion::{CertificateSettings, ExpansionSettings, GlmExpansion};
    /// use austerity::model::{Glm, Logistic, Prior, ResponseKind, Surrogate, generate};
    ///
    /// let data = generate::logistic(20_000, 5).build()?.data.check(ResponseKind::Binary)?;
    /// let model = Glm::new(Logistic, &data, vec![Prior::Normal { sd: 1.0 }; 6])?;
    /// let expansion = GlmExpansion::new(&model, &[0.0; 6], &ExpansionSettings::default())?;
    /// let surrogate = Surrogate::new(expansion.with_certificate(&CertificateSettings::default())?);
    /// assert!(surrogate.expansion().bounds().is_some());
    /// # Ok::<(), austerity::Error>(())
    /// ```
    pub fn with_certificate(mut self, settings: &CertificateSettings) -> Result<Self> {
        if self.order != 2 {
            return Err(setting("order of an expansion with a certificate", self.order, "2"));
        }
        if !F::EXTRA.is_empty() || self.model.family.row_bounds(0.0, 1.0, 0.0).is_none() {
            let families = "families with bounds and no extra parameter: logistic, binomial, poisson";
            return Err(setting("family of an expansion with a certificate", F::NAME, families));
        }
        let size = self.active.len();
        let reach = settings.reach.unwrap_or((size as f64).sqrt() + 4.0);
        if !(reach > 0.0 && reach.is_finite()) {
            return Err(setting("reach of the certificate", reach, "a positive number"));
        }
        let d = self.model.parameters();
        let entry =
            |i: usize, k: usize| self.covariance[self.active[i] as usize * d + self.active[k] as usize];
        let lower = factor(&DMatrix::from_fn(size, size, entry))?;
        let transform: Vec<(f64, f64)> =
            self.columns.iter().map(|&column| self.model.transform[column as usize]).collect();
        let spread = Spread::of(&lower, self.model.intercept, &transform, 0.0);
        let first = usize::from(self.model.intercept);
        let sd = |k: usize| lower.row(k).norm();
        let widths: Vec<f32> = transform
            .iter()
            .enumerate()
            .map(|(j, (_, scale))| (scale.abs() * sd(first + j)) as f32)
            .collect();
        let cubic = settings.third_order.unwrap_or(size <= LARGEST_TENSOR);
        let constant = f64::from(spread.constant());
        let rows = RowTerms { expansion: &self, spread, widths, constant, reach, size };
        let (tails, heads) = rows.collect(cubic, settings.threads.max(1))?;
        let factor = (0..size).flat_map(|i| (0..=i).map(move |k| (i, k))).map(|at| lower[at]).collect();
        self.bounds = Some(Bounds { factor, reach, tails, heads }.into());
        Ok(self)
    }

    /// The bounds that a certificate rests on.
    #[must_use]
    pub fn bounds(&self) -> Option<&Bounds> {
        self.bounds.as_deref()
    }
}

/// What the passes need.
struct RowTerms<'a, F: Family> {
    expansion: &'a GlmExpansion<F>,
    spread: Spread,
    /// sd of a coefficient in the units of the storage.
    widths: Vec<f32>,
    /// lev of the constant.
    constant: f64,
    reach: f64,
    size: usize,
}

impl<F: Family> RowTerms<'_, F> {
    /// The tails, and the heads before them.
    fn collect(&self, cubic: bool, threads: usize) -> Result<(Vec<Tail>, Vec<Vec<u32>>)> {
        let all: Vec<u32> = (0..self.expansion.blocks.count() as u32).collect();
        if all.is_empty() {
            return Ok((vec![Tail::new(self.size, cubic)], Vec::new()));
        }
        // The largest of a block is what its rows can leave: of the fourth order where there is a tensor.
        let left: Vec<f64> = in_pieces(all.len(), threads, &mut [], |range, _| {
            let mut left = Vec::with_capacity(range.len());
            self.panels(&all[range], |panel, blocks| {
                let weights = &panel.weights[if cubic { QUARTIC } else { CUBIC }];
                for k in 0..blocks {
                    let vectors = 2 * k..2 * k + 2;
                    let lanes = weights[vectors.clone()].iter().zip(&panel.squares[vectors]);
                    let rows = lanes.flat_map(|(weight, square)| weight.iter().zip(square));
                    left.push(rows.map(|(&weight, &square)| f64::from(weight) * f64::from(square)).sum());
                }
            });
            Ok(left)
        })?
        .concat();
        let mut falling = all.clone();
        falling.sort_by(|&a, &b| left[b as usize].total_cmp(&left[a as usize]).then(a.cmp(&b)));
        let mut ends: Vec<usize> =
            HEADS.iter().map(|share| (share * all.len() as f64).ceil() as usize).collect();
        ends.dedup();
        ends.retain(|&end| end < all.len());
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut start = 0;
        for end in ends.into_iter().chain([all.len()]) {
            let mut group = falling[start..end].to_vec();
            group.sort_unstable();
            groups.push(group);
            start = end;
        }
        let mut tails = Vec::new();
        let mut after = Tail::new(self.size, cubic);
        for group in groups.iter().rev() {
            after.add(&self.sums(group, cubic, threads)?);
            tails.insert(0, after.clone());
        }
        tails.iter_mut().for_each(|tail| tail.sums.complete());
        groups.pop();
        Ok((tails, groups))
    }

    /// The sums over some blocks.
    fn sums(&self, blocks: &[u32], cubic: bool, threads: usize) -> Result<Tail> {
        let level = self.expansion.model.level;
        let parts = in_pieces(blocks.len(), threads, &mut [], |range, _| {
            let mut tail = Tail::new(self.size, cubic);
            self.panels(&blocks[range], |panel, _| {
                tail.sums.push(level, panel);
                for k in 0..FORMS {
                    for row in 0..ROWS {
                        let (vector, lane) = (row / 16, row % 16);
                        let weight = f64::from(panel.weights[k][vector][lane]);
                        let delta = self.delta(panel, row);
                        tail.errors[k] += weight * delta * delta;
                        tail.traces[k] += weight * f64::from(panel.squares[vector][lane]);
                    }
                }
            });
            Ok(tail)
        })?;
        let mut all = Tail::new(self.size, cubic);
        parts.iter().for_each(|part| all.add(part));
        Ok(all)
    }

    /// δ: how far z of a row, and h/ρ in f32, can be from the truth.
    fn delta(&self, panel: &Panel, row: usize) -> f64 {
        let size = f64::from(panel.sizes[row / 16][row % 16]) + self.constant;
        UNIT * (self.size + 4) as f64 * size
    }

    /// Gives all panels of `blocks`, with the number of blocks in each, to `take`.
    fn panels(&self, blocks: &[u32], mut take: impl FnMut(&Panel, usize)) {
        let expansion = self.expansion;
        let view = expansion.blocks.view();
        let (layout, family) = (view.layout(), &expansion.model.family);
        let mut panel = Panel::new(&self.spread);
        for blocks in blocks.chunks(PANEL) {
            panel.take(expansion.model.level, &self.spread, &self.widths, &view, blocks);
            for (place, &block) in blocks.iter().enumerate() {
                let (block, lines) = (block as usize, view.block(block as usize));
                for i in 0..view.rows_in(block) {
                    let side = |place: Option<usize>| {
                        place.map_or(1.0, |p| f64::from(lines[2 * p + i / 16].0[i % 16]))
                    };
                    let eta = f64::from(expansion.eta[block * BLOCK + i]);
                    let weight = side(layout.weight);
                    if eta.is_nan() || weight == 0.0 {
                        continue;
                    }
                    let row = place * BLOCK + i;
                    let (vector, lane) = (row / 16, row % 16);
                    let delta = self.delta(&panel, row);
                    let leverage = f64::from(panel.squares[vector][lane]).sqrt() * (1.0 + 1e-5) + delta;
                    let bounds = family.row_bounds(eta, side(layout.trials), leverage * self.reach);
                    let Some([third, largest, fourth]) = bounds else { continue };
                    let largest = weight * largest / 6.0;
                    panel.cubic[vector][lane] = (weight * third) as f32;
                    panel.weights[CUBIC][vector][lane] = (largest * leverage) as f32;
                    panel.weights[QUARTIC][vector][lane] =
                        (weight * fourth / 24.0 * leverage * leverage) as f32;
                    panel.weights[ROUNDING][vector][lane] =
                        (largest * (8.0 * delta + ACCURACY * leverage)) as f32;
                }
            }
            take(&panel, blocks.len());
        }
    }
}

#[cfg(test)]
mod tests;
