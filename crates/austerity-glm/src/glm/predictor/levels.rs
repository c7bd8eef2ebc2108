//! Factor columns: gathers from the table of levels, and sums that are scattered to it.
//!
//! A factor column holds the place of each row's level as the bits of a u32, so that no conversion stands between a load and the
//! gather. A factor with slopes has a second column, of numbers that its levels are multiplied with. A place beyond the table (a damaged file) counts as the last one. The loops are plain: 32 loads of 8 bytes each from a
//! table that stays in the first-level cache cost what a handful of dense columns cost, and are compiled once.

use fearless_simd::{Simd, prelude::*};

use crate::glm::blocks::{BLOCK, Layout, Line, View};
use crate::glm::kernel::Pair;
use crate::simd::Lanes;

/// A stored place of a level.
#[must_use]
pub(crate) fn stored(place: u32) -> f32 {
    f32::from_bits(place)
}

/// The lines of the factor columns of a block that have no slopes.
#[inline(always)]
fn lines_of<'a>(layout: &Layout, lines: &'a [Line]) -> &'a [Line] {
    &lines[2 * layout.columns..2 * (layout.columns + layout.plain_factors())]
}

/// The lines of the factor columns with slopes, and of what they are multiplied with.
#[inline(always)]
fn slopes_of<'a>(layout: &Layout, lines: &'a [Line]) -> (&'a [Line], &'a [Line]) {
    let first = 2 * (layout.columns + layout.plain_factors());
    lines[first..first + 4 * layout.slopes].split_at(2 * layout.slopes)
}

/// Places in the table of row `i` of a block, factor by factor.
#[inline(always)]
pub(crate) fn of_row<'a>(
    layout: &Layout,
    lines: &'a [Line],
    i: usize,
) -> impl Iterator<Item = usize> + Clone + 'a {
    let last = layout.levels;
    let (slopes, _) = slopes_of(layout, lines);
    let factors = lines_of(layout, lines).as_chunks::<2>().0.iter().chain(slopes.as_chunks::<2>().0);
    factors.map(move |factor| {
        let place = factor[i / 16].0[i % 16].to_bits() as usize;
        place.min(last)
    })
}

/// The same with what each level is multiplied with: 1 without slopes.
#[inline(always)]
pub(crate) fn values_of_row<'a>(
    layout: &Layout,
    lines: &'a [Line],
    i: usize,
) -> impl Iterator<Item = (usize, f32)> + Clone + 'a {
    let (_, numbers) = slopes_of(layout, lines);
    let slopes = numbers.as_chunks::<2>().0.iter().map(move |number| number[i / 16].0[i % 16]);
    of_row(layout, lines, i).zip(std::iter::repeat_n(1.0, layout.plain_factors()).chain(slopes))
}

/// Calls `visit` with every row of a block and the place of its level, factor by factor.
#[inline(always)]
fn each(lines: &[Line], last: usize, mut visit: impl FnMut(usize, usize)) {
    for factor in lines.as_chunks::<2>().0 {
        for (i, value) in factor[0].0.iter().chain(&factor[1].0).enumerate() {
            visit(i, (value.to_bits() as usize).min(last));
        }
    }
}

/// Calls `visit` with every row of a block, the place of its level and what that is multiplied with, slope by slope.
#[inline(always)]
fn each_slope(layout: &Layout, lines: &[Line], mut visit: impl FnMut(usize, usize, f32)) {
    let (factors, numbers) = slopes_of(layout, lines);
    for (factor, number) in factors.as_chunks::<2>().0.iter().zip(numbers.as_chunks::<2>().0) {
        let numbers = number[0].0.iter().chain(&number[1].0);
        for (i, (value, number)) in factor[0].0.iter().chain(&factor[1].0).zip(numbers).enumerate() {
            visit(i, (value.to_bits() as usize).min(layout.levels), *number);
        }
    }
}

/// [`gather_two`], called where a loop without factors never comes: marked so that the loop keeps its sums in registers for those without.
#[cold]
#[inline(never)]
fn gather_apart(layout: &Layout, lines: &[Line], table: &[[f32; 2]]) -> [[f32; BLOCK]; 2] {
    gather_two(layout, lines, table)
}

/// Σ_f table\[level_f\]·number_f of two lists at once.
#[inline(never)]
fn gather_two(layout: &Layout, lines: &[Line], table: &[[f32; 2]]) -> [[f32; BLOCK]; 2] {
    let mut out = [[0.0; BLOCK]; 2];
    let Some(last) = table.len().checked_sub(1) else { return out };
    each(lines_of(layout, lines), last, |i, place| {
        let [first, second] = table[place];
        out[0][i] += first;
        out[1][i] += second;
    });
    each_slope(layout, lines, |i, place, number| {
        let [first, second] = table[place.min(last)];
        out[0][i] += first * number;
        out[1][i] += second * number;
    });
    out
}

/// Σ_f table\[level_f\]·number_f of the rows of a block, in f32 or f64.
#[inline]
pub(in crate::glm) fn gather<T: Copy + std::ops::AddAssign + std::ops::Mul<Output = T> + From<f32>>(
    layout: &Layout,
    lines: &[Line],
    table: &[T],
    out: &mut [T; BLOCK],
) {
    if let Some(last) = table.len().checked_sub(1) {
        each(lines_of(layout, lines), last, |i, place| out[i] += table[place]);
        each_slope(layout, lines, |i, place, number| out[i] += table[place.min(last)] * number.into());
    }
}

/// [`gather`] of sizes: Σ_f table\[level_f\]·|number_f|.
#[inline]
pub(in crate::glm) fn gather_sizes(layout: &Layout, lines: &[Line], table: &[f32], out: &mut [f32; BLOCK]) {
    if let Some(last) = table.len().checked_sub(1) {
        each(lines_of(layout, lines), last, |i, place| out[i] += table[place]);
        each_slope(layout, lines, |i, place, number| out[i] += table[place.min(last)] * number.abs());
    }
}

/// table\[level_f\] += value·number_f of every row and factor.
#[inline]
pub(in crate::glm) fn scatter<V: Copy + Into<f64>>(
    layout: &Layout,
    lines: &[Line],
    values: &[V; BLOCK],
    table: &mut [f64],
) {
    if let Some(last) = table.len().checked_sub(1) {
        each(lines_of(layout, lines), last, |i, place| table[place] += values[i].into());
        each_slope(layout, lines, |i, place, number| {
            table[place.min(last)] += values[i].into() * f64::from(number);
        });
    }
}

/// What the level with this place is multiplied with in the rows of a block: 1 or a slope's number where it is theirs, else 0.
#[inline]
pub(in crate::glm) fn indicator(layout: &Layout, lines: &[Line], place: usize) -> [f32; BLOCK] {
    let mut out = [0.0; BLOCK];
    each(lines_of(layout, lines), layout.levels, |i, own| {
        if own == place {
            out[i] = 1.0;
        }
    });
    each_slope(layout, lines, |i, own, number| {
        if own == place {
            out[i] = number;
        }
    });
    out
}

/// 32 numbers as a pair of vectors.
#[inline(always)]
pub(in crate::glm) fn pair<S: Simd>(simd: S, values: &[f32; BLOCK]) -> Pair<S> {
    [Lanes::from_slice(simd, &values[..16]), Lanes::from_slice(simd, &values[16..])]
}

/// Adds the levels of a block to its sums over dense columns; to the second alone unless `BOTH`.
#[inline(always)]
pub(super) fn add<S: Simd, const BOTH: bool>(
    simd: S,
    layout: &Layout,
    lines: &[Line],
    table: &[[f32; 2]],
    (first, second): (Pair<S>, Pair<S>),
) -> (Pair<S>, Pair<S>) {
    let more = gather_apart(layout, lines, table);
    let own = pair(simd, &more[1]);
    let second = [second[0] + own[0], second[1] + own[1]];
    if !BOTH {
        return (first, second);
    }
    let own = pair(simd, &more[0]);
    ([first[0] + own[0], first[1] + own[1]], second)
}

/// Rows of every level of a storage, by its place in the table; place 0 counts all rows without a level, once per factor.
pub(in crate::glm) fn counts(view: &View<'_>) -> Vec<u64> {
    let layout = view.layout();
    let mut counts = vec![0; layout.table()];
    for block in 0..if layout.factors == 0 { 0 } else { view.count() } {
        let rows = view.rows_in(block);
        each(lines_of(layout, view.block(block)), layout.levels, |i, place| {
            counts[place] += u64::from(i < rows);
        });
        each_slope(layout, view.block(block), |i, place, _| counts[place] += u64::from(i < rows));
    }
    counts
}
