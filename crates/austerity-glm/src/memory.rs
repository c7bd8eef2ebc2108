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

/// The same, filled on so many threads: the system clears fresh pages when they are first touched, which takes longer than to fill them.
#[must_use]
pub fn filled_on<T: Copy + Send + Sync>(threads: usize, count: usize, value: T) -> Vec<T> {
    let share = count.div_ceil(threads.max(1)).max(1);
    if share * size_of::<T>() < PAGE {
        return filled(count, value);
    }
    let mut values: Vec<T> = Vec::with_capacity(count);
    let untouched = &mut values.spare_capacity_mut()[..count];
    advise(untouched);
    std::thread::scope(|scope| {
        for share in untouched.chunks_mut(share) {
            scope.spawn(|| share.iter_mut().for_each(|slot| _ = slot.write(value)));
        }
    });
    // SAFETY: the capacity is at least `count`, and the threads, which have ended, have written each of the first `count` elements.
    unsafe { values.set_len(count) };
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
    use super::{filled, filled_on};

    #[test]
    fn every_size_is_filled() {
        for count in [0, 1, 1000, (5 << 20) + 3] {
            let mut values = filled(count, 1.5f32);
            assert_eq!(filled_on(3, count, 1.5f32), values);
            assert!(values.len() == count && values.iter().all(|&value| value == 1.5));
            values.push(2.5);
            assert_eq!(values.last(), Some(&2.5));
        }
    }
}
