//! Checksums of a store's arrays: one CRC-32C per piece of about 64 kB, so that damage has a place.
//!
//! `checksums.npy` holds those of `blocks.npy`, then those of `rows.npy`; `meta.json` holds its checksum and its own. A piece is a
//! whole number of blocks. The **checksum of the data**, which a run remembers, is a [`Fingerprint`] of the sums of the blocks: equal numbers in
//! equal order have equal ones, whether they are mapped or in memory.
//!
//! Cost: 4 bytes per piece, and a pass at the speed of the processor's own instruction for CRC-32C, in parallel.

use austerity::model::Fingerprint;
use austerity::parallel;
use austerity_glm::Store;
use austerity_glm::glm::blocks::{BLOCK, Line};

/// Bytes of a piece, about.
const PIECE: usize = 1 << 16;
/// Row numbers in a piece.
pub(super) const ROWS_IN_PIECE: usize = PIECE / size_of::<u32>();
/// Pieces that a thread takes at a time.
const PIECES_PER_TURN: usize = 64;

/// Blocks of so many columns in a piece.
pub(super) fn blocks_in_piece(width: usize) -> usize {
    (PIECE / block_bytes(width).max(1)).max(1)
}

/// Bytes of a block.
pub(super) fn block_bytes(width: usize) -> usize {
    width * BLOCK * size_of::<f32>()
}

/// Sums of an array that comes bit by bit.
pub(super) struct Sums {
    piece: usize,
    filled: usize,
    sum: u32,
    done: Vec<u32>,
}

impl Sums {
    /// Of pieces of so many bytes.
    pub(super) fn new(piece: usize) -> Self {
        Self { piece, filled: 0, sum: 0, done: Vec::new() }
    }

    pub(super) fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(self.piece - self.filled));
            self.sum = crc32c::crc32c_append(self.sum, now);
            self.filled += now.len();
            if self.filled == self.piece {
                self.done.push(self.sum);
                (self.filled, self.sum) = (0, 0);
            }
            bytes = later;
        }
    }

    pub(super) fn finish(mut self) -> Vec<u32> {
        if self.filled > 0 {
            self.done.push(self.sum);
        }
        self.done
    }
}

/// Sums of an array at hand, on so many threads.
pub(super) fn of_bytes(bytes: &[u8], piece: usize, threads: usize) -> Vec<u32> {
    let stretches: Vec<&[u8]> = bytes.chunks(piece * PIECES_PER_TURN).collect();
    each(threads, &stretches, |stretch| stretch.chunks(piece).map(crc32c::crc32c).collect())
}

/// Sums of the blocks of a store, wherever its memory is, on so many threads.
fn of_blocks(store: &Store, threads: usize) -> Vec<u32> {
    let width = store.blocks().layout().width;
    let piece = blocks_in_piece(width) * block_bytes(width) / size_of::<Line>();
    let lines = store.blocks().lines();
    let stretches: Vec<&[Line]> = lines.chunks(piece * PIECES_PER_TURN).collect();
    each(threads, &stretches, |stretch| {
        let mut bytes = vec![0; piece * size_of::<Line>()];
        let one = |lines: &[Line]| {
            let bytes = &mut bytes[..size_of_val(lines)];
            let values = lines.iter().flat_map(|line| &line.0);
            bytes.as_chunks_mut::<4>().0.iter_mut().zip(values).for_each(|(slot, v)| *slot = v.to_le_bytes());
            crc32c::crc32c(bytes)
        };
        stretch.chunks(piece).map(one).collect()
    })
}

fn each<T: Sync>(threads: usize, stretches: &[T], work: impl Fn(&T) -> Vec<u32> + Sync) -> Vec<u32> {
    parallel::map(threads, stretches, work).concat()
}

/// The checksum of the data, from the sums of the blocks.
pub(super) fn of_data(blocks: &[u32]) -> String {
    let mut sum = Fingerprint::default();
    sum.push(blocks.iter().copied());
    format!("crc:{:016x}", sum.finish())
}

/// The checksum of all numbers of a store; reads all of them.
#[must_use]
pub fn checksum(store: &Store, threads: usize) -> String {
    of_data(&of_blocks(store, threads))
}

/// The same as stores and runs of earlier versions have it.
#[must_use]
pub fn earlier_checksum(store: &Store) -> String {
    let mut sum = Fingerprint::default();
    let lines = store.blocks().lines().iter();
    sum.push(lines.flat_map(|line| line.0.iter().map(|value| value.to_bits())));
    format!("{:016x}", sum.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_are_the_same_however_they_come() {
        let bytes: Vec<u8> = (0..200_003_u32).map(|i| (i * 31 % 251) as u8).collect();
        let whole = of_bytes(&bytes, 1000, 3);
        assert_eq!(whole.len(), 201);
        for step in [1, 7, 1000, 4096] {
            let mut sums = Sums::new(1000);
            bytes.chunks(step).for_each(|some| sums.push(some));
            assert_eq!(sums.finish(), whole, "in steps of {step}");
        }
        assert!(Sums::new(10).finish().is_empty() && of_bytes(&[], 10, 2).is_empty());
        assert_eq!(blocks_in_piece(4), 128);
        assert_eq!(blocks_in_piece(100_000), 1);
    }
}
