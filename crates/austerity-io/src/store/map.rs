//! Files of numbers as slices, by memory map: the system reads what is touched and forgets what is not.
//!
//! The file should not be cut short while it is mapped: the system ends a process that touches a page beyond the end, here with a message
//! ([`Watch`]). Stores are written once under another name and renamed, so that only a user's own hand does that.

use std::fs::File;
use std::path::Path;

use austerity_glm::glm::blocks::Line;
use memmap2::Mmap;

use super::bus::Watch;
use crate::error::{Error, Result};

/// Bytes before the numbers: a multiple of the alignment of [`Line`].
pub(super) const START: usize = 128;

/// A mapped file, watched while it is mapped.
struct Map {
    // Dropped first.
    _watch: Watch,
    bytes: Mmap,
}

fn map(path: &Path) -> Result<Map> {
    let file = File::open(path).map_err(Error::io("open", path))?;
    // SAFETY: the map is read only and the bytes are only ever read as numbers, for which every pattern is valid. That
    // nobody shortens or changes the file meanwhile is asked of the user (see above): no program can rule it out.
    let bytes = unsafe { Mmap::map(&file) }.map_err(Error::io("map", path))?;
    Ok(Map { _watch: Watch::new(&bytes, path), bytes })
}

/// A whole number of `T` from [`START`] on, aligned for `T`: where they are and how many.
fn numbers<T>(map: &Map) -> (*const T, usize) {
    let bytes = map.bytes.get(START..).unwrap_or_default();
    if bytes.as_ptr().cast::<T>().is_aligned() {
        (bytes.as_ptr().cast(), bytes.len() / size_of::<T>())
    } else {
        (std::ptr::NonNull::dangling().as_ptr(), 0)
    }
}

/// The blocks of a store.
pub(super) struct Lines(Map);

impl Lines {
    pub(super) fn open(path: &Path) -> Result<Self> {
        map(path).map(Self)
    }

    /// The numbers as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.bytes.get(START..).unwrap_or_default()
    }
}

impl AsRef<[Line]> for Lines {
    fn as_ref(&self) -> &[Line] {
        let (first, count) = numbers(&self.0);
        // SAFETY: `first` is aligned and points to `count` lines inside the map, which lives as long as `self`; a line is
        // 16 floats without padding, for which every pattern of bytes is valid; nothing writes to the map.
        unsafe { std::slice::from_raw_parts(first, count) }
    }
}

/// The row numbers of a store.
pub(super) struct Rows(Map);

impl Rows {
    pub(super) fn open(path: &Path) -> Result<Self> {
        map(path).map(Self)
    }

    /// The numbers as bytes.
    pub(super) fn bytes(&self) -> &[u8] {
        self.0.bytes.get(START..).unwrap_or_default()
    }
}

impl AsRef<[u32]> for Rows {
    fn as_ref(&self) -> &[u32] {
        let (first, count) = numbers(&self.0);
        // SAFETY: as above, of 32-bit integers.
        unsafe { std::slice::from_raw_parts(first, count) }
    }
}
