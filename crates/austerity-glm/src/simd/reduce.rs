//! Sixteen lanes brought together by halves.
//!
//! As an array, which compiles to the instructions meant where the reductions of the SIMD crate are calls. The order is the same on every
//! instruction set.

use fearless_simd::{Simd, prelude::*};

use super::Lanes;

/// `join` over all lanes: the upper half with the lower, and again.
#[inline(always)]
pub fn reduce<S: Simd>(lanes: Lanes<S>, join: impl Fn(f32, f32) -> f32) -> f32 {
    let mut all = [0.0f32; 16];
    lanes.store_array(&mut all);
    let eight: [f32; 8] = std::array::from_fn(|i| join(all[i], all[i + 8]));
    let four: [f32; 4] = std::array::from_fn(|i| join(eight[i], eight[i + 4]));
    join(join(four[0], four[2]), join(four[1], four[3]))
}

/// Their sum.
#[inline(always)]
pub fn lanes_sum<S: Simd>(lanes: Lanes<S>) -> f32 {
    reduce(lanes, |a, b| a + b)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::{available, dispatched};

    #[test]
    fn every_lane_counts_once() {
        for level in available() {
            let values: [f32; 16] = std::array::from_fn(|i| (1u32 << i) as f32);
            let (total, largest) = dispatched!(level, simd => {
                let lanes = Lanes::load_array_ref(simd, &values);
                (lanes_sum(lanes), reduce(lanes, f32::max))
            });
            assert_eq!((total, largest), (65535.0, 32768.0));
        }
    }
}
