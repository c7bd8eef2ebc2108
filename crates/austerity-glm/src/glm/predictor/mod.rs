//! The linear predictor: η = offset + constant + dense columns + one level per factor.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | the linear predictors of blocks, for the kernels |
//! | [`coding`] | how the coefficients of a state become those of the storage, and derivatives go back |
//! | `dense` | dot products of dense columns |
//! | `levels` | gathers and scatters of factor columns |
//! | [`products`] | weighted sums Σ f·z and Σ w·z zᵀ over rows, which gradients and Hessians are |
//!
//! A **factor column** stores one number per row: the place of the row's level in a table that all factors share. Place 0 belongs to
//! every reference level, and to rows missing from the last block; it has no coefficient. So
//!
//! ```text
//! η_i = constant + Σ_j γ_j x̃_ij + Σ_f τ[level_f(i)]·z_f(i),    τ[0] = 0
//! ```
//!
//! with z = 1, or the number of the row where the factor has **slopes**: the interaction of a factor with a number.
//!
//! and coefficients, gradients and widths are lists in the *order of the storage*: dense columns, then the table. Nothing outside this
//! room asks whether a coefficient belongs to a column or to a level.
//!
//! Cost of a factor, whatever the number of its levels: 4 bytes (8 with slopes) and one gather per row; one addition per row in a gradient; one row of
//! dense columns per row in a Hessian. Not for factors with a handful of levels, whose 0/1 columns are as fast in registers.

pub mod coding;
mod dense;
pub(crate) mod levels;
pub mod products;

use fearless_simd::Simd;

use super::blocks::{Layout, Line};
use super::kernel::Pair;

pub use coding::{Coding, Entry};
pub use dense::Ahead;

/// Two lists of coefficients in the order of the storage, and their constants.
#[derive(Clone, Copy, Debug)]
pub struct Rounding<'a> {
    /// Of both predictors, coefficient by coefficient.
    pub coefficients: &'a [[f32; 2]],
    /// Of both predictors.
    pub constants: [f32; 2],
}

impl<'a> Rounding<'a> {
    /// The dense columns alone, and the table of levels.
    #[inline(always)]
    fn split(self, layout: &Layout) -> (Self, &'a [[f32; 2]]) {
        let (dense, table) = self.coefficients.split_at(layout.columns);
        (Self { coefficients: dense, ..self }, table)
    }
}

/// Both predictors of a block, without offset; the second alone (and nothing of use for the first) unless `BOTH`. Prefetches
/// `ahead` on the way.
#[inline(always)]
pub fn of_block<S: Simd, const BOTH: bool>(
    simd: S,
    layout: &Layout,
    lines: &[Line],
    rounding: Rounding<'_>,
    ahead: Ahead<'_>,
) -> (Pair<S>, Pair<S>) {
    let (dense, table) = rounding.split(layout);
    let sums = dense::dots::<S, BOTH>(simd, lines, dense, ahead);
    if layout.factors == 0 { sums } else { levels::add::<S, BOTH>(simd, layout, lines, table, sums) }
}

/// [`of_block`] of two blocks at once, to the same bits.
#[inline(always)]
pub fn of_two_blocks<S: Simd, const BOTH: bool>(
    simd: S,
    layout: &Layout,
    lines: [&[Line]; 2],
    [first, second]: [Rounding<'_>; 2],
    ahead: [Ahead<'_>; 2],
) -> [(Pair<S>, Pair<S>); 2] {
    let ((dense, table), (other, other_table)) = (first.split(layout), second.split(layout));
    let sums = dense::dots_of_two::<S, BOTH>(simd, lines, [dense, other], ahead);
    if layout.factors == 0 {
        return sums;
    }
    [
        levels::add::<S, BOTH>(simd, layout, lines[0], table, sums[0]),
        levels::add::<S, BOTH>(simd, layout, lines[1], other_table, sums[1]),
    ]
}

/// The second predictor of a block alone, without offset.
#[inline(always)]
pub fn of_one<S: Simd>(
    simd: S,
    layout: &Layout,
    lines: &[Line],
    coefficients: &[[f32; 2]],
    constant: f32,
) -> Pair<S> {
    let rounding = Rounding { coefficients, constants: [0.0, constant] };
    of_block::<S, false>(simd, layout, lines, rounding, Ahead::default()).1
}

#[cfg(test)]
mod tests;
