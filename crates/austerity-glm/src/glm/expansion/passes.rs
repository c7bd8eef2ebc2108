//! Whole passes over the data on several threads, in pieces whose borders do not depend on how many threads there are.
//!
//! Sums of floating-point numbers depend on their order, so the pieces are fixed by the number of blocks alone and added in their
//! order: the same centre, curvature and stratum whatever the machine.

use std::ops::Range;
use std::thread;

use crate::glm::blocks::BLOCK;
use austerity::error::Result;

/// Pieces of a pass.
const PIECES: usize = 64;
/// Blocks in a piece are a multiple of this: panels of the derivative stay whole.
const WHOLE: usize = 4;
/// Fewer blocks than this are not worth a thread.
const WORTH: usize = 512;

/// Blocks, and what is kept of their rows.
type Piece<'a> = (Range<usize>, &'a mut [f32]);

/// Runs `work` on every piece of `count` blocks, with the part of `kept` that belongs to its rows (32 numbers a block, or none at
/// all), and returns the outcomes in order.
pub(super) fn in_pieces<T: Send>(
    count: usize,
    threads: usize,
    kept: &mut [f32],
    work: impl Fn(Range<usize>, &mut [f32]) -> Result<T> + Sync,
) -> Result<Vec<T>> {
    let size = count.div_ceil(PIECES).next_multiple_of(WHOLE);
    let mut kept = kept;
    let mut pieces = Vec::new();
    for start in (0..count).step_by(size) {
        let range = start..(start + size).min(count);
        let part = (range.len() * BLOCK).min(kept.len());
        let (mine, rest) = std::mem::take(&mut kept).split_at_mut(part);
        kept = rest;
        pieces.push((range, mine));
    }
    let threads = if count < WORTH { 1 } else { threads.clamp(1, pieces.len().max(1)) };
    if threads == 1 {
        return pieces.into_iter().map(|(range, kept)| work(range, kept)).collect();
    }
    // Every thread takes every so many-th piece, so that slow regions are shared.
    let mut shares: Vec<Vec<_>> = (0..threads).map(|_| Vec::new()).collect();
    for (number, piece) in pieces.into_iter().enumerate() {
        shares[number % threads].push((number, piece));
    }
    let work = &work;
    let mut outcomes: Vec<(usize, Result<T>)> = thread::scope(|scope| {
        let run = |share: Vec<(usize, Piece<'_>)>| {
            share.into_iter().map(|(number, (range, kept))| (number, work(range, kept))).collect::<Vec<_>>()
        };
        let mut shares = shares.into_iter();
        let own = shares.next();
        let handles: Vec<_> = shares.map(|share| scope.spawn(move || run(share))).collect();
        let mut outcomes = own.map(run).unwrap_or_default();
        for handle in handles {
            match handle.join() {
                Ok(more) => outcomes.extend(more),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        outcomes
    });
    outcomes.sort_unstable_by_key(|&(number, _)| number);
    outcomes.into_iter().map(|(_, outcome)| outcome).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_block_and_its_rows_once_in_order_for_any_number_of_threads() {
        for count in [1, 3, 511, 512, 5000] {
            for threads in [1, 2, 7] {
                let mut kept = vec![0.0; count * BLOCK];
                let parts = in_pieces(count, threads, &mut kept, |range, kept| {
                    assert_eq!(kept.len(), range.len() * BLOCK);
                    for (i, value) in kept.iter_mut().enumerate() {
                        *value += (range.start * BLOCK + i) as f32;
                    }
                    Ok(range)
                });
                let parts = parts.unwrap();
                assert_eq!(
                    parts.iter().flat_map(Clone::clone).collect::<Vec<_>>(),
                    (0..count).collect::<Vec<_>>()
                );
                assert!(kept.iter().enumerate().all(|(i, &value)| value == i as f32));
                assert!(in_pieces(count, threads, &mut [], |range, kept| Ok((range, kept.len()))).is_ok());
            }
        }
    }
}
