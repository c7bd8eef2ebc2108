//! The term of the third order of an expansion: T[u, u, u]/6 with T = Σ w ℓ'''(η̂) z⊗z⊗z over the sampled rows.
//!
//! z = Cᵀx and u = C⁻¹(θ − θ̂) as in [`super::tensor`], C Cᵀ the covariance of the parameters that move the rest. What is then left of a row is
//! of the order of h⁴: residuals N^{−1/2} times as large again, and their total with them. It pays where the second order leaves decisions
//! that read more than their first look: up to some 10⁵ rows, or many coefficients; [`super::build`] weighs that.
//!
//! The different coefficients, d(d+1)(d+2)/6 of them times the number of their orders, stand in rows c ≤ b, each filled up to whole vectors of eight,
//! so that value and gradient are vertical multiply-adds. The polynomial has no largest value: far away it is no density, and
//! leapfrog paths that go there are refused by the decision about residuals, which are then as large.
//!
//! Cost: one pass of d³/6 multiply-adds a row; d³/6 numbers (8 bytes) and as many multiply-adds per value, twice as many with the gradient. Not for
//! more than 64 parameters, nor for families with extra parameters.

use nalgebra::DMatrix;

use super::passes::in_pieces;
use super::scores::{Spread, factor};
use super::tensor::{PANEL, Panel, Sums};
use super::{GlmExpansion, dot, with_buffer};
use crate::error::Result;
use crate::model::glm::Family;
use crate::model::glm::blocks::BLOCK;
use crate::simd::{Level, dispatched};

/// Parameters up to which the term is built.
pub(super) const LARGEST: usize = 64;
/// Numbers of a vector.
const LANES: usize = 8;

/// The cubic form of an expansion.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    size: usize,
    /// C⁻¹, column by column, each from the diagonal on.
    inverse: Vec<f64>,
    /// T of (b, c ≤ b), each with entries a ≤ c times the number of their orders, filled up.
    rows: Vec<[f64; LANES]>,
}

/// Whole vectors that hold `len` numbers.
const fn vectors(len: usize) -> usize {
    len.div_ceil(LANES)
}

impl Cubic {
    /// Of the rows that `expansion` samples.
    pub(super) fn new<F: Family>(expansion: &GlmExpansion<F>, threads: usize) -> Result<Self> {
        let (size, d) = (expansion.active.len(), expansion.model.parameters());
        let active = |k: usize| expansion.active[k] as usize;
        let covariance = DMatrix::from_fn(size, size, |i, k| expansion.covariance[active(i) * d + active(k)]);
        let lower = factor(&covariance)?;
        let transform: Vec<(f64, f64)> =
            expansion.columns.iter().map(|&column| expansion.model.transform[column as usize]).collect();
        let spread = Spread::of(&lower, expansion.model.intercept, &transform, 0.0);
        let parts = in_pieces(expansion.blocks.count(), threads, &mut [], |range, _| {
            let mut sums = Sums::new(size, true);
            let mut panel = Panel::new(&spread);
            let blocks: Vec<u32> = range.map(|block| block as u32).collect();
            for blocks in blocks.chunks(PANEL) {
                take(expansion, &spread, blocks, &mut panel);
                sums.push(expansion.level(), &panel);
            }
            Ok(sums)
        })?;
        let mut sums = Sums::new(size, true);
        parts.iter().for_each(|part| sums.add(part));
        sums.complete();
        let mut rows = Vec::new();
        let mut rest = &sums.cubic[..];
        for b in 0..size {
            for c in 0..=b {
                let (row, after) = rest.split_at(c + 1);
                rest = after;
                rows.extend(row.chunks(LANES).map(filled_up));
            }
        }
        let inverse = lower.solve_lower_triangular(&DMatrix::identity(size, size)).unwrap_or(lower);
        let inverse = (0..size).flat_map(|k| (k..size).map(move |i| (i, k))).map(|at| inverse[at]).collect();
        Ok(Self { size, inverse, rows })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.inverse[..]) + size_of_val(&self.rows[..])
    }

    /// The value at a displacement of the parameters that move the rest, and its gradient added to `gradient`.
    pub(super) fn evaluate(&self, level: Level, moved: &[f64], gradient: Option<&mut [f64]>) -> f64 {
        dispatched!(level, _simd => self.form(moved, gradient))
    }

    #[inline(always)]
    fn form(&self, moved: &[f64], gradient: Option<&mut [f64]>) -> f64 {
        let filled = vectors(self.size) * LANES;
        with_buffer(filled, 0.0f64, |u| {
            let mut rest = &self.inverse[..];
            for (k, &h) in moved.iter().enumerate() {
                let (column, after) = rest.split_at(self.size - k);
                rest = after;
                u[k..].iter_mut().zip(column).for_each(|(u, entry)| *u += h * entry);
            }
            let (u, _) = u.as_chunks::<LANES>();
            match gradient {
                None => self.value(u) / 6.0,
                Some(gradient) => with_buffer(filled, 0.0f64, |slope| {
                    let value = self.slopes(u, slope);
                    // ∇ by θ is C⁻ᵀ times that by u.
                    let mut rest = &self.inverse[..];
                    for (k, slot) in gradient.iter_mut().enumerate() {
                        let (column, after) = rest.split_at(self.size - k);
                        rest = after;
                        *slot += dot(column, &slope[k..self.size]) / 6.0;
                    }
                    value / 6.0
                }),
            }
        })
    }

    /// T[u, u, u].
    #[inline(always)]
    fn value(&self, u: &[[f64; LANES]]) -> f64 {
        let flat = u.as_flattened();
        let mut rows = self.rows.iter();
        let mut total = [0.0; LANES];
        for (b, &ub) in flat[..self.size].iter().enumerate() {
            let mut inner = [0.0; LANES];
            for (c, &uc) in flat[..=b].iter().enumerate() {
                let mut sum = [0.0; LANES];
                for (place, row) in rows.by_ref().take(vectors(c + 1)).enumerate() {
                    add_product(&mut sum, row, &u[place]);
                }
                add_multiple(&mut inner, &sum, uc);
            }
            add_multiple(&mut total, &inner, ub);
        }
        total.iter().sum()
    }

    /// T[u, u, u], and its gradient by u.
    #[inline(always)]
    fn slopes(&self, u: &[[f64; LANES]], slope: &mut [f64]) -> f64 {
        let flat = u.as_flattened();
        let mut rows = self.rows.iter();
        let mut total = [0.0; LANES];
        // Partial sums of the slopes of the largest and of the middle index; those of the smallest are whole.
        with_buffer(self.size, [0.0f64; LANES], |middle| {
            let (smallest, _) = slope.as_chunks_mut::<LANES>();
            for (b, &ub) in flat[..self.size].iter().enumerate() {
                let mut inner = [0.0; LANES];
                for (c, &uc) in flat[..=b].iter().enumerate() {
                    let mut sum = [0.0; LANES];
                    for (place, row) in rows.by_ref().take(vectors(c + 1)).enumerate() {
                        add_product(&mut sum, row, &u[place]);
                        add_multiple(&mut smallest[place], row, ub * uc);
                    }
                    add_multiple(&mut inner, &sum, uc);
                    add_multiple(&mut middle[c], &sum, ub);
                }
                add_multiple(&mut total, &inner, ub);
                add_multiple(&mut middle[b], &inner, 1.0);
            }
            for (slot, sums) in slope.iter_mut().zip(middle) {
                *slot += sums.iter().sum::<f64>();
            }
        });
        total.iter().sum()
    }
}

/// A vector of at most eight numbers.
fn filled_up(numbers: &[f64]) -> [f64; LANES] {
    std::array::from_fn(|lane| numbers.get(lane).copied().unwrap_or(0.0))
}

#[inline(always)]
fn add_product(sum: &mut [f64; LANES], a: &[f64; LANES], b: &[f64; LANES]) {
    for lane in 0..LANES {
        sum[lane] += a[lane] * b[lane];
    }
}

#[inline(always)]
fn add_multiple(sum: &mut [f64; LANES], a: &[f64; LANES], times: f64) {
    for lane in 0..LANES {
        sum[lane] += a[lane] * times;
    }
}

/// Takes in some blocks, weighted with the third derivatives of their rows.
fn take<F: Family>(expansion: &GlmExpansion<F>, spread: &Spread, blocks: &[u32], panel: &mut Panel) {
    let view = expansion.blocks.view();
    let (layout, family) = (view.layout(), &expansion.model.family);
    panel.take(expansion.level(), spread, &[], &view, blocks);
    for (place, &block) in blocks.iter().enumerate() {
        let (block, lines) = (block as usize, view.block(block as usize));
        for i in 0..view.rows_in(block) {
            let side =
                |place: Option<usize>| place.map_or(1.0, |p| f64::from(lines[2 * p + i / 16].0[i % 16]));
            let eta = f64::from(expansion.eta[block * BLOCK + i]);
            let (weight, row) = (side(layout.weight), place * BLOCK + i);
            if !eta.is_nan() && weight != 0.0 {
                let response = side(Some(layout.response));
                let [.., third] = family.row_derivatives(&[], eta, response, side(layout.trials));
                panel.cubic[row / 16][row % 16] = (weight * third) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests;
