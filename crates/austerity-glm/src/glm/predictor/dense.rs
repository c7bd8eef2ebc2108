//! The dense columns of a linear predictor: two chains of multiply-adds per block of 32 rows.
//!
//! η = x·γ and δ = x·Δγ run over the columns in storage order, starting from the constant: the same chain whether a dot
//! product runs alone or beside the other, so that an η from a cache equals a fresh one to the last bit.
//!
//! Cost: 2·d multiply-adds per row. The next block is prefetched on the way.

use fearless_simd::{Simd, prelude::*};

use super::Rounding;
use crate::glm::blocks::Line;
use crate::glm::kernel::Pair;
use crate::simd::{Lanes, prefetch_at, prefetch_far};

/// Blocks that are read soon.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ahead<'a> {
    /// The next one: every line is asked for.
    pub next: &'a [Line],
    /// One further on: a line here and there, which starts the hardware's own prefetching of its pages.
    pub far: &'a [Line],
}

/// Asks for a line of a far block now and then, and for more at first, where the hardware learns the direction.
#[inline(always)]
fn announce(far: &[Line]) {
    for line in (2..8.min(far.len())).step_by(2) {
        prefetch_far(far, line);
    }
    for line in (0..far.len()).step_by(8) {
        prefetch_far(far, line);
    }
}

/// η and δ of a block, without offset; δ alone (and zeros for η) unless `ETA`. Prefetches `ahead` on the way.
#[inline(always)]
pub(super) fn dots<S: Simd, const ETA: bool>(
    simd: S,
    lines: &[Line],
    Rounding { coefficients, constants: constant }: Rounding<'_>,
    ahead: Ahead<'_>,
) -> (Pair<S>, Pair<S>) {
    let mut eta = [Lanes::splat(simd, constant[0]); 2];
    let mut delta = [Lanes::splat(simd, constant[1]); 2];
    announce(ahead.far);
    // Plain indices: zipped iterators compiled to a loop that kept its state in memory.
    let columns = coefficients.len();
    let (pairs, _) = lines[..2 * columns].as_chunks::<2>();
    let columns = columns.min(pairs.len());
    let fetch = !ahead.next.is_empty();
    for j in 0..columns {
        if fetch {
            prefetch_at(ahead.next, 2 * j);
            prefetch_at(ahead.next, 2 * j + 1);
        }
        let low = Lanes::load_array_ref(simd, &pairs[j][0].0);
        let high = Lanes::load_array_ref(simd, &pairs[j][1].0);
        let [g, d] = coefficients[j];
        if ETA {
            let g = Lanes::splat(simd, g);
            eta[0] = low.mul_add(g, eta[0]);
            eta[1] = high.mul_add(g, eta[1]);
        }
        let d = Lanes::splat(simd, d);
        delta[0] = low.mul_add(d, delta[0]);
        delta[1] = high.mul_add(d, delta[1]);
    }
    for line in 2 * columns..ahead.next.len() {
        prefetch_at(ahead.next, line);
    }
    (eta, delta)
}

/// [`dots`] of two blocks at once, to the same bits: eight chains of multiply-adds hide the latency that four cannot.
#[inline(always)]
pub(super) fn dots_of_two<S: Simd, const ETA: bool>(
    simd: S,
    lines: [&[Line]; 2],
    [first, second]: [Rounding<'_>; 2],
    ahead: [Ahead<'_>; 2],
) -> [(Pair<S>, Pair<S>); 2] {
    if S::f32s::LEN < 16 {
        // Too few registers for sixteen accumulators of half a block or less.
        return [
            dots::<S, ETA>(simd, lines[0], first, ahead[0]),
            dots::<S, ETA>(simd, lines[1], second, ahead[1]),
        ];
    }
    // Plain variables and indices: arrays and closures compiled to a loop that kept its state in memory.
    let (first_constant, second_constant) = (first.constants, second.constants);
    let (mut e0, mut e2) = (Lanes::splat(simd, first_constant[0]), Lanes::splat(simd, second_constant[0]));
    let (mut d0, mut d2) = (Lanes::splat(simd, first_constant[1]), Lanes::splat(simd, second_constant[1]));
    let (mut e1, mut e3, mut d1, mut d3) = (e0, e2, d0, d2);
    announce(ahead[0].far);
    announce(ahead[1].far);
    let columns = first.coefficients.len();
    let (first, second) = (first.coefficients, &second.coefficients[..columns]);
    let (low, _) = lines[0][..2 * columns].as_chunks::<2>();
    let (high, _) = lines[1][..2 * columns].as_chunks::<2>();
    let (low, high) = (&low[..columns], &high[..columns]);
    let fetch = !ahead[0].next.is_empty();
    for j in 0..columns {
        if fetch {
            prefetch_at(ahead[0].next, 2 * j);
            prefetch_at(ahead[0].next, 2 * j + 1);
            prefetch_at(ahead[1].next, 2 * j);
            prefetch_at(ahead[1].next, 2 * j + 1);
        }
        let x0 = Lanes::load_array_ref(simd, &low[j][0].0);
        let x1 = Lanes::load_array_ref(simd, &low[j][1].0);
        let x2 = Lanes::load_array_ref(simd, &high[j][0].0);
        let x3 = Lanes::load_array_ref(simd, &high[j][1].0);
        if ETA {
            let g = Lanes::splat(simd, first[j][0]);
            e0 = x0.mul_add(g, e0);
            e1 = x1.mul_add(g, e1);
            let g = Lanes::splat(simd, second[j][0]);
            e2 = x2.mul_add(g, e2);
            e3 = x3.mul_add(g, e3);
        }
        // Δγ is the same in every rounding.
        let d = Lanes::splat(simd, first[j][1]);
        d0 = x0.mul_add(d, d0);
        d1 = x1.mul_add(d, d1);
        d2 = x2.mul_add(d, d2);
        d3 = x3.mul_add(d, d3);
    }
    for ahead in ahead {
        for line in 2 * columns..ahead.next.len() {
            prefetch_at(ahead.next, line);
        }
    }
    [([e0, e1], [d0, d1]), ([e2, e3], [d2, d3])]
}
