//! The term of the third order of an expansion: T[u, u, u]/6 with T = Σ w ℓ'''(η̂) z⊗z⊗z over the sampled rows.
//!
//! z = Cᵀx and u = C⁻¹(θ − θ̂) as in [`super::tensor`], C Cᵀ the covariance of the parameters that move the rest. What is then left of a row is
//! of the order of h⁴: residuals N^{−1/2} times as large again, and their total with them. It pays where the second order leaves decisions
//! that read more than their first look: up to some 10⁵ rows, or many coefficients; [`super::build`] weighs that.
//!
//! The different coefficients a ≤ c ≤ b, d(d+1)(d+2)/6 of them times the number of their orders, stand in vectors of sixteen a, of every b and c below it, so that
//! value and gradient are vertical multiply-adds in loops over c: in f32 for one b, in f64 over all of them. Entries are of one size in these coordinates, so that rounding
//! costs some 10⁻⁷ of the term. The polynomial has no largest value: far away it is no density, and
//! leapfrog paths that go there are refused by the decision about residuals, which are then as large.
//!
//! Cost: one pass of d³/6 multiply-adds a row; d³/6 numbers (4 bytes) and as many multiply-adds per value, twice as many with the gradient. Not for
//! more than 64 parameters, nor for families with extra parameters.

use nalgebra::DMatrix;

use super::passes::in_pieces;
use super::scores::{Spread, factor};
use super::tensor::{PANEL, Panel, Sums};
use super::{GlmExpansion, with_buffer};
use crate::error::Result;
use crate::model::glm::Family;
use crate::model::glm::blocks::BLOCK;
use crate::simd::eight::{LANES, add_matrix_product, add_multiple, add_product, combined, strips};
use crate::simd::{Level, dispatched};

/// Parameters up to which the term is built.
pub(super) const LARGEST: usize = 64;
/// Numbers of a vector of f32.
const WIDE: usize = 16;
/// The cubic form of an expansion.
#[derive(Clone, Debug)]
pub(super) struct Cubic {
    size: usize,
    /// C⁻¹ in strips of eight rows.
    inverse: Vec<[f64; LANES]>,
    /// T times the number of orders: of every b, of every sixteen a up to it, of every c from the first of them to b; 0 where a > c.
    vectors: Vec<[f32; WIDE]>,
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
        let entry = |a: usize, c: usize, b: usize| {
            let place = b * (b + 1) * (b + 2) / 6 + c * (c + 1) / 2 + a;
            if a <= c { sums.cubic[place] } else { 0.0 }
        };
        let mut vectors = Vec::new();
        for b in 0..size {
            for first in (0..=b).step_by(WIDE) {
                vectors.extend(
                    (first..=b).map(|c| std::array::from_fn(|lane| entry(first + lane, c, b) as f32)),
                );
            }
        }
        let inverse = lower.solve_lower_triangular(&DMatrix::identity(size, size)).unwrap_or(lower);
        let inverse = strips(size, size, |i, k| inverse[(i, k)]);
        Ok(Self { size, inverse, vectors })
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.inverse[..]) + size_of_val(&self.vectors[..])
    }

    /// The value at a displacement of the parameters that move the rest, and its gradient added to `gradient`.
    pub(super) fn evaluate(&self, level: Level, moved: &[f64], gradient: Option<&mut [f64]>) -> f64 {
        // Buffers are made out here: closures inside would not be compiled for the instruction set at hand.
        let wide = self.size.next_multiple_of(WIDE);
        with_buffer(wide, 0.0f64, |exact| {
            with_buffer(wide, 0.0f32, |u| match gradient {
                None => dispatched!(level, _simd => self.value(moved, exact, u)),
                Some(gradient) => with_buffer(
                    self.size,
                    [0.0f32; WIDE],
                    |middle| dispatched!(level, _simd => self.slopes(moved, exact, u, middle, gradient)),
                ),
            })
        })
    }

    /// u = C⁻¹ `moved` in f64, then in whole vectors of f32.
    #[inline(always)]
    fn whiten<'u>(&self, moved: &[f64], exact: &mut [f64], u: &'u mut [f32]) -> &'u [[f32; WIDE]] {
        add_matrix_product(exact.as_chunks_mut().0, &self.inverse, moved);
        u.iter_mut().zip(exact).for_each(|(u, exact)| *u = *exact as f32);
        u.as_chunks::<WIDE>().0
    }

    /// T[u, u, u]/6.
    #[inline(always)]
    fn value(&self, moved: &[f64], exact: &mut [f64], u: &mut [f32]) -> f64 {
        let u = self.whiten(moved, exact, u);
        let flat = u.as_flattened();
        let mut rest = &self.vectors[..];
        let mut total = [0.0; WIDE];
        for (b, &ub) in flat[..self.size].iter().enumerate() {
            let mut inner = [0.0; WIDE];
            for (strip, own) in u[..=b / WIDE].iter().enumerate() {
                let factors = &flat[strip * WIDE..=b];
                let (vectors, after) = rest.split_at(factors.len());
                rest = after;
                add_product(&mut inner, &combined(vectors, factors), own);
            }
            add_wide(&mut total, &inner, ub);
        }
        total.iter().sum::<f64>() / 6.0
    }

    /// The same, with its gradient by θ added to `gradient`. `middle` is zeros.
    #[inline(always)]
    fn slopes(
        &self,
        moved: &[f64],
        slope: &mut [f64],
        u: &mut [f32],
        middle: &mut [[f32; WIDE]],
        gradient: &mut [f64],
    ) -> f64 {
        let u = self.whiten(moved, slope, u);
        slope.fill(0.0);
        let flat = u.as_flattened();
        let mut rest = &self.vectors[..];
        let mut total = [0.0; WIDE];
        // Slopes by the smallest of the three indices are whole; those by the other two are partial sums in `middle`.
        let (smallest, _) = slope.as_chunks_mut::<WIDE>();
        for (b, &ub) in flat[..self.size].iter().enumerate() {
            let mut inner = [0.0; WIDE];
            for (strip, own) in u[..=b / WIDE].iter().enumerate() {
                let factors = &flat[strip * WIDE..=b];
                let (vectors, after) = rest.split_at(factors.len());
                rest = after;
                let sum = combined(vectors, factors);
                add_product(&mut inner, &sum, own);
                add_wide(&mut smallest[strip], &sum, ub);
                let own: [f32; WIDE] = std::array::from_fn(|lane| ub * own[lane]);
                for (middle, vector) in middle[strip * WIDE..].iter_mut().zip(vectors) {
                    add_product(middle, vector, &own);
                }
            }
            add_wide(&mut total, &inner, ub);
            add_multiple(&mut middle[b], &inner, 1.0);
        }
        let partial = |sums: &[f32; WIDE]| sums.iter().map(|&sum| f64::from(sum)).sum::<f64>();
        slope.iter_mut().zip(middle).for_each(|(slot, sums)| *slot += partial(sums));
        // By θ it is C⁻ᵀ times that by u.
        for (k, slot) in gradient.iter_mut().enumerate() {
            let mut sum = 0.0;
            for (strip, slopes) in self.inverse.chunks_exact(self.size).zip(slope.as_chunks::<LANES>().0) {
                sum += strip[k].iter().zip(slopes).map(|(entry, slope)| entry * slope).sum::<f64>();
            }
            *slot += sum / 6.0;
        }
        total.iter().sum::<f64>() / 6.0
    }
}

/// sum += times·a, in f64.
#[inline(always)]
fn add_wide(sum: &mut [f64; WIDE], a: &[f32; WIDE], times: f32) {
    let times = f64::from(times);
    for lane in 0..WIDE {
        sum[lane] += f64::from(a[lane]) * times;
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
