//! A number that changes when an array does: how a model notices that its data were written to after it was built.
//!
//! Eight lanes of h ← (h ⊕ word)·K mod 2⁶⁴, K odd, mixed at the end. A lane is a bijection of each of its words, so one changed word always
//! changes the number; other changes go unnoticed with probability about 2⁻⁶⁴. Positions count: reordered rows have another number. Not for
//! security. Costs one read of the memory.

use numpy::{PyReadonlyArrayDyn, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// 2⁶⁴ divided by the golden ratio, odd.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;
const LANES: usize = 8;

/// The fingerprint of an array of uint64 or uint8; of an array that is not contiguous, its elements are visited in their logical order.
#[pyfunction]
pub(crate) fn fingerprint(array: &Bound<'_, PyAny>) -> PyResult<u64> {
    if let Ok(words) = array.extract::<PyReadonlyArrayDyn<'_, u64>>() {
        return Ok(match words.as_slice() {
            Ok(words) => of_words(words),
            Err(_) => of_each(words.as_array().iter().copied()) ^ words.len() as u64,
        });
    }
    if let Ok(bytes) = array.extract::<PyReadonlyArrayDyn<'_, u8>>() {
        return Ok(of_each(bytes.as_array().iter().map(|&byte| u64::from(byte))) ^ bytes.len() as u64);
    }
    Err(PyTypeError::new_err("an array of uint64 or uint8 is needed"))
}

fn step(lane: u64, word: u64) -> u64 {
    (lane ^ word).wrapping_mul(MULTIPLIER).rotate_left(29)
}

fn of_words(words: &[u64]) -> u64 {
    let mut lanes: [u64; LANES] = std::array::from_fn(|lane| lane as u64);
    let (blocks, rest) = words.as_chunks::<LANES>();
    for block in blocks {
        for (lane, &word) in lanes.iter_mut().zip(block) {
            *lane = step(*lane, word);
        }
    }
    let rest = of_each(rest.iter().copied());
    lanes.iter().fold(rest ^ words.len() as u64, |all, &lane| step(all, lane))
}

fn of_each(words: impl Iterator<Item = u64>) -> u64 {
    words.fold(LANES as u64, step)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_word_and_any_order_counts() {
        let words: Vec<u64> = (0..37).collect();
        let plain = of_words(&words);
        for at in 0..words.len() {
            let mut other = words.clone();
            other[at] ^= 1 << (at % 64);
            assert_ne!(of_words(&other), plain, "{at}");
        }
        let reversed: Vec<u64> = words.iter().rev().copied().collect();
        assert_ne!(of_words(&reversed), plain);
        assert_ne!(of_words(&words[..36]), plain);
    }
}
