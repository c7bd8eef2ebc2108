//! The sum of a binary variable's factors in closed form, where factors have at most three variables.
//!
//! A function of two bits is d₀₀ + (d₁₀ − d₀₀)x + (d₀₁ − d₀₀)y + (d₁₁ − d₁₀ − d₀₁ + d₀₀)xy, so the log odds of a variable are
//!
//! a + Σ_j b_j x_j + Σ_{j<k} c_jk x_j x_k
//!
//! over its neighbours' bits, however many factors there are: factors that share neighbours are merged once and for all. Exact.
//! Cost: 64 bytes for every 16 of the k > j, for every j that is 1; for the paper's example about a seventh of the memory
//! traffic of its 4,851 factors one by one. Memory: up to 512 bytes a neighbour. Not for more values or more variables a factor, where
//! there are more terms than numbers in the tables.

use fearless_simd::{Simd, mask32x16, prelude::*};

use super::bits::{LARGEST_NEIGHBOURHOOD, State};
use super::builder::Slice;
use austerity_glm::glm::blocks::{Line, ZERO};
use austerity_glm::simd::{Lanes, Level, dispatched, lanes_sum};

/// Lines of sixteen neighbours.
const LINES: usize = LARGEST_NEIGHBOURHOOD.div_ceil(16);

/// Log odds of one variable as a polynomial of its neighbours.
#[derive(Clone, Debug)]
pub(super) struct Polynomial {
    constant: f64,
    /// b_j.
    linear: [Line; LINES],
    /// c_jk for k > j, zeros elsewhere, one row for each j.
    products: Vec<[Line; LINES]>,
}

impl Polynomial {
    /// The polynomial of factors with at most two other variables each, all binary.
    pub(super) fn new(neighbours: usize, slices: &[Slice]) -> Self {
        let mut constant = 0.0;
        let mut linear = vec![0.0f64; 16 * LINES];
        let mut products = vec![0.0f64; 16 * LINES * neighbours];
        for slice in slices {
            let d = |rest: usize| slice.logs[2 * rest + 1] - slice.logs[2 * rest];
            constant += d(0);
            for (bit, &place) in slice.places.iter().enumerate() {
                linear[place as usize] += d(1 << bit) - d(0);
            }
            if let &[first, second] = &slice.places[..] {
                let (low, high) = (first.min(second) as usize, first.max(second) as usize);
                products[16 * LINES * low + high] += d(3) - d(2) - d(1) + d(0);
            }
        }
        let lines = |values: &[f64]| {
            let mut lines = [ZERO; LINES];
            for (place, &value) in values.iter().enumerate() {
                lines[place / 16].0[place % 16] = value as f32;
            }
            lines
        };
        Self { constant, linear: lines(&linear), products: products.chunks(16 * LINES).map(lines).collect() }
    }

    /// The log odds of value 1 given the neighbours.
    pub(super) fn value(&self, level: Level, state: &State) -> f64 {
        dispatched!(level, simd => value(simd, self, state))
    }

    pub(super) fn bytes(&self) -> usize {
        size_of_val(&self.products[..]) + size_of::<Self>()
    }
}

#[inline(always)]
fn value<S: Simd>(simd: S, polynomial: &Polynomial, state: &State) -> f64 {
    // Sixteen bits a line: place 16·line + lane is bit `line` of byte `lane`.
    let masks: [u64; LINES] = std::array::from_fn(|line| {
        state.iter().enumerate().fold(0, |mask, (lane, byte)| mask | u64::from(byte >> line & 1) << lane)
    });
    let mut sums: [Lanes<S>; LINES] =
        std::array::from_fn(|line| Lanes::load_array_ref(simd, &polynomial.linear[line].0));
    let used = polynomial.products.len().div_ceil(16);
    for (line, mut mask) in masks.into_iter().enumerate() {
        while mask != 0 {
            let place = 16 * line + mask.trailing_zeros() as usize;
            mask &= mask - 1;
            let Some(row) = polynomial.products.get(place) else { break };
            for (sum, products) in sums[line..used].iter_mut().zip(&row[line..used]) {
                *sum += Lanes::load_array_ref(simd, &products.0);
            }
        }
    }
    let zero = Lanes::splat(simd, 0.0);
    let mut total = zero;
    for (sum, mask) in sums.into_iter().zip(masks) {
        total += mask32x16::from_bitmask(simd, mask).select(sum, zero);
    }
    polynomial.constant + f64::from(lanes_sum(total))
}
