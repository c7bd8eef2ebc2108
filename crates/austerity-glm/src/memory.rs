//! Memory for large arrays, in large pages where the system has them.
//!
//! Blocks are read in random order. In pages of 4 kB nearly every block of a large data set is in a page whose address the processor has to look up
//! first, which takes about as long as fetching a line of it; pages of 2 MB make that rare. On Linux the wish is expressed by `madvise` before the
//! memory is touched; elsewhere, and where the system refuses, nothing changes but speed.

/// Bytes of a large page; smaller arrays cannot have one.
const PAGE: usize = 2 << 20;

/// `count` times `value`.
#[must_use]
pub fn filled<T: Copy>(count: usize, value: T) -> Vec<T> {
    let mut values = Vec::with_capacity(count);
    advise(values.spare_capacity_mut());
    values.resize(count, value);
    values
}

/// Asks for large pages.
#[cfg(target_os = "linux")]
fn advise<T>(untouched: &mut [T]) {
    use rustix::mm::{Advice, madvise};
    let start = untouched.as_mut_ptr().cast::<u8>();
    // `madvise` wants whole pages: the part of a large page at either end is left out.
    let before = start.align_offset(PAGE);
    let length = size_of_val(untouched).saturating_sub(before) / PAGE * PAGE;
    if length > 0 {
        // SAFETY: the range lies within one allocation that is borrowed here alone, and this advice changes neither what the memory holds nor who may
        // use it, only the size of the pages behind it.
        let _ = unsafe { madvise(start.wrapping_add(before).cast(), length, Advice::LinuxHugepage) };
    }
}

/// Asks for nothing: no such pages are known here.
#[cfg(not(target_os = "linux"))]
fn advise<T>(_untouched: &mut [T]) {}

#[cfg(test)]
mod tests {
    use super::filled;

    #[test]
    fn every_size_is_filled() {
        for count in [0, 1, 1000, (5 << 20) + 3] {
            let mut values = filled(count, 1.5f32);
            assert!(values.len() == count && values.iter().all(|&value| value == 1.5));
            values.push(2.5);
            assert_eq!(values.last(), Some(&2.5));
        }
    }
}
