//! Asking for memory before it is needed.
//!
//! A prefetch is a hint: it reads nothing that the program can see and faults on no address. It pays when the
//! next block is known but its address is not predictable, which is what a random block order is. On targets
//! other than x86-64 these functions do nothing. With `memory.rs`, this is all of the library's `unsafe` code.

/// Bytes of a cache line.
const LINE: usize = 64;

/// Asks for the cache line of `slice[index]`; any index is allowed.
#[inline(always)]
pub fn prefetch_at<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        let address = slice.as_ptr().wrapping_add(index).cast::<i8>();
        // SAFETY: the instruction belongs to SSE, which every x86-64 has. It dereferences nothing: an address
        // outside any mapping is ignored, and `wrapping_add` may form such an address.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// As [`prefetch_at`], but only into the second-level cache: for what is needed later.
#[inline(always)]
pub fn prefetch_far<T>(slice: &[T], index: usize) {
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T1, _mm_prefetch};
        let address = slice.as_ptr().wrapping_add(index).cast::<i8>();
        // SAFETY: as in `prefetch_at`.
        unsafe { _mm_prefetch::<_MM_HINT_T1>(address) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (slice, index);
}

/// Asks for all cache lines of `slice`.
#[inline]
pub fn prefetch_slice<T>(slice: &[T]) {
    let step = (LINE / size_of::<T>().max(1)).max(1);
    for index in (0..slice.len()).step_by(step) {
        prefetch_at(slice, index);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_index_is_harmless() {
        let values = [1.0f32; 40];
        for index in [0, 39, 40, 1 << 20, usize::MAX] {
            prefetch_at(&values, index);
            prefetch_far(&values, index);
        }
        prefetch_slice(&values);
        prefetch_slice::<f64>(&[]);
        prefetch_slice(&[(); 3]);
        assert_eq!(values[0], 1.0);
    }
}
