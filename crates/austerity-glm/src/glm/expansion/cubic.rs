//! The term of the third order of an expansion: T[u, u, u]/6 with T = Σ w ℓ'''(η̂) z⊗z⊗z over the sampled rows.
//!
//! z = Cᵀx and u = C⁻¹(θ − θ̂) as in [`super::tensor`], C Cᵀ the covariance of the parameters that move the rest. What is then left of a row is
//! of the order of h⁴: residuals N^{−1/2} times as large again, and their total with them. It pays where the second order leaves decisions
//! that read more than their first look: up to some 10⁵ rows, or many coefficients; [`super::build`] weighs that.
//!
//! The different coefficients a ≤ c ≤ b, d(d+1)(d+2)/6 of them times the number of their orders, stand in vectors of sixteen a, of every b and c below it, so that
//! value and gradient are vertical multiply-adds in loops over c, in f32. Entries are of one size in these coordinates, so that rounding
//! costs some 10⁻⁷ of the term. The polynomial has no largest value: far away it is no density, and
//! leapfrog paths that go there are refused by the decision about residuals, which are then as large.
//!
//! Cost: one pass of d³/6 multiply-adds a row; d³/6 numbers (4 bytes) and as many multiply-adds per value, twice as many with the gradient. Not for
//! more than 64 parameters. Extra parameters of the family take part in the tensor ([`super::span`]).

use std::ops::Range;

use fearless_simd::{Simd, prelude::*};
use nalgebra::DMatrix;

use super::span::{Mixed, MixedPanel, Span};
use super::spread::{Spread, factor, not_definite};
use super::tensor::{PANEL, Panel, Sums};
use super::{GlmExpansion, Line, with_buffer};
use crate::glm::Family;
use crate::glm::blocks::BLOCK;
use crate::pass::Pass;
use crate::simd::eight::{LANES, add_matrix_product, add_product, strips};
use crate::simd::{Lanes, Level, dispatched, lanes_sum};
use austerity::error::Result;

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
    vectors: Vec<Line>,
}

/// The pass for the sums of the third order over the rows that an expansion samples.
struct CubicSums {
    spread: Spread,
    size: usize,
    extras: usize,
}

impl<F: Family> Pass<GlmExpansion<F>> for CubicSums {
    type Partial = (Sums, Mixed);
    const NAME: &'static str = "third order";

    fn blocks(&self, expansion: &GlmExpansion<F>) -> usize {
        expansion.blocks.count()
    }

    fn empty(&self, _expansion: &GlmExpansion<F>) -> Self::Partial {
        (Sums::third(self.size), Mixed::new(self.size, self.extras))
    }

    fn visit(
        &self,
        expansion: &GlmExpansion<F>,
        blocks: Range<usize>,
        _kept: &mut [f32],
        (sums, more): &mut Self::Partial,
    ) -> Result<()> {
        let (mut panel, mut mixed) = (Panel::new(&self.spread), MixedPanel::new(self.extras));
        let blocks: Vec<u32> = blocks.map(|block| block as u32).collect();
        for blocks in blocks.chunks(PANEL) {
            take(expansion, &self.spread, blocks, &mut panel, &mut mixed);
            sums.push(expansion.level(), &panel);
            more.push(expansion.level(), &mut panel, &mixed);
        }
        Ok(())
    }

    fn merge(&self, earlier: &mut Self::Partial, later: Self::Partial) {
        earlier.0.add(&later.0);
        earlier.1.add(&later.1);
    }
}

impl Cubic {
    /// Of the rows that `expansion` samples.
    pub(super) fn new<F: Family>(expansion: &GlmExpansion<F>) -> Result<Self> {
        let (size, d) = (expansion.active.len(), expansion.model.parameters());
        let active = |k: usize| expansion.active[k] as usize;
        let covariance = DMatrix::from_fn(size, size, |i, k| expansion.covariance[active(i) * d + active(k)]);
        let lower = factor(&covariance)?;
        let spread = Spread::of(&lower, &expansion.coding, 0.0);
        let extras = expansion.model.family.extra().len();
        let pass = CubicSums { spread, size, extras };
        let (mut sums, more) = expansion.model.driver.run(&pass, expansion)?;
        more.add_to(&Span::plain(&lower, extras), &mut sums.cubic);
        sums.complete();
        let entry = |a: usize, c: usize, b: usize| {
            let place = b * (b + 1) * (b + 2) / 6 + c * (c + 1) / 2 + a;
            if a <= c { sums.cubic[place] } else { 0.0 }
        };
        let mut vectors = Vec::new();
        for b in 0..size {
            for first in (0..=b).step_by(WIDE) {
                vectors.extend(
                    (first..=b).map(|c| Line(std::array::from_fn(|lane| entry(first + lane, c, b) as f32))),
                );
            }
        }
        let inverse =
            lower.solve_lower_triangular(&DMatrix::identity(size, size)).ok_or_else(not_definite)?;
        let inverse = strips(size, size, &|i, k| inverse[(i, k)]);
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
                None => dispatched!(level, simd => self.value(simd, moved, exact, u)),
                Some(gradient) => with_buffer(wide, 0.0f32, |smallest| {
                    with_buffer(self.size, [0.0f32; WIDE], |middle| {
                        let sums = (smallest, middle);
                        dispatched!(level, simd => self.slopes(simd, moved, exact, u, sums, gradient))
                    })
                }),
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
    fn value<S: Simd>(&self, simd: S, moved: &[f64], exact: &mut [f64], u: &mut [f32]) -> f64 {
        let u = self.whiten(moved, exact, u);
        let flat = u.as_flattened();
        let mut rest = &self.vectors[..];
        let mut total = Lanes::splat(simd, 0.0);
        for (b, &ub) in flat[..self.size].iter().enumerate() {
            let mut inner = Lanes::splat(simd, 0.0);
            for (strip, own) in u[..=b / WIDE].iter().enumerate() {
                let factors = &flat[strip * WIDE..=b];
                let (vectors, after) = rest.split_at(factors.len());
                rest = after;
                let own = Lanes::load_array_ref(simd, own);
                inner = combined(simd, vectors, factors).mul_add(own, inner);
            }
            total = inner.mul_add(Lanes::splat(simd, ub), total);
        }
        f64::from(lanes_sum(total)) / 6.0
    }

    /// The same, with its gradient by θ added to `gradient`. The sums are zeros at first: slopes by the smallest of the three indices, which are
    /// whole, and by the other two, which are partial.
    #[inline(always)]
    fn slopes<S: Simd>(
        &self,
        simd: S,
        moved: &[f64],
        slope: &mut [f64],
        u: &mut [f32],
        (smallest, middle): (&mut [f32], &mut [[f32; WIDE]]),
        gradient: &mut [f64],
    ) -> f64 {
        let u = self.whiten(moved, slope, u);
        let flat = u.as_flattened();
        let mut rest = &self.vectors[..];
        let mut total = Lanes::splat(simd, 0.0);
        for (b, &ub) in flat[..self.size].iter().enumerate() {
            let times = Lanes::splat(simd, ub);
            let mut inner = Lanes::splat(simd, 0.0);
            for (strip, own) in u[..=b / WIDE].iter().enumerate() {
                let factors = &flat[strip * WIDE..=b];
                let (vectors, after) = rest.split_at(factors.len());
                rest = after;
                let own = Lanes::load_array_ref(simd, own);
                let sum = combined(simd, vectors, factors);
                inner = sum.mul_add(own, inner);
                let slot = &mut smallest[strip * WIDE..][..WIDE];
                sum.mul_add(times, Lanes::from_slice(simd, slot)).store_slice(slot);
                let own = own * times;
                for (slot, vector) in middle[strip * WIDE..].iter_mut().zip(vectors) {
                    let vector = Lanes::load_array_ref(simd, &vector.0);
                    vector.mul_add(own, Lanes::load_array_ref(simd, slot)).store_slice(slot);
                }
            }
            total = inner.mul_add(times, total);
            (Lanes::load_array_ref(simd, &middle[b]) + inner).store_slice(&mut middle[b]);
        }
        for ((slot, &whole), partial) in slope.iter_mut().zip(&*smallest).zip(middle) {
            *slot = f64::from(whole) + f64::from(lanes_sum(Lanes::load_array_ref(simd, partial)));
        }
        slope[self.size..].fill(0.0);
        // By θ it is C⁻ᵀ times that by u.
        for (strip, slopes) in self.inverse.chunks_exact(self.size).zip(slope.as_chunks::<LANES>().0) {
            for (slot, entries) in gradient.iter_mut().zip(strip) {
                let mut sum = [0.0; LANES];
                add_product(&mut sum, entries, slopes);
                *slot += sum.iter().sum::<f64>() / 6.0;
            }
        }
        f64::from(lanes_sum(total)) / 6.0
    }
}

/// Σ factor·vector, in four sums: one alone would wait for every addition.
#[inline(always)]
fn combined<S: Simd>(simd: S, vectors: &[Line], factors: &[f32]) -> Lanes<S> {
    let zero = Lanes::splat(simd, 0.0);
    let (mut a, mut b, mut c, mut d) = (zero, zero, zero, zero);
    let (whole, left) = vectors.as_chunks::<4>();
    let (factors, rest) = factors.as_chunks::<4>();
    for (vectors, factors) in whole.iter().zip(factors) {
        a = term(simd, &vectors[0], factors[0], a);
        b = term(simd, &vectors[1], factors[1], b);
        c = term(simd, &vectors[2], factors[2], c);
        d = term(simd, &vectors[3], factors[3], d);
    }
    for (vector, &factor) in left.iter().zip(rest) {
        a = term(simd, vector, factor, a);
    }
    (a + b) + (c + d)
}

/// sum + factor·vector.
#[inline(always)]
fn term<S: Simd>(simd: S, vector: &Line, factor: f32, sum: Lanes<S>) -> Lanes<S> {
    Lanes::load_array_ref(simd, &vector.0).mul_add(Lanes::splat(simd, factor), sum)
}

/// Takes in some blocks, weighted with the third derivatives of their rows.
fn take<F: Family>(
    expansion: &GlmExpansion<F>,
    spread: &Spread,
    blocks: &[u32],
    panel: &mut Panel,
    mixed: &mut MixedPanel,
) {
    let extra = expansion.model.extra(&expansion.centre);
    mixed.clear();
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
                let trials = side(layout.trials);
                let third = if family.extra().is_empty() {
                    family.row_derivatives(extra, eta, response, trials)[2]
                } else {
                    let thirds = family.row_third(extra, eta, response, trials);
                    mixed.set(row, weight, &thirds, family.uses(response));
                    thirds[0]
                };
                panel.cubic[row / 16][row % 16] = (weight * third) as f32;
            }
        }
    }
}

#[cfg(test)]
mod tests;
