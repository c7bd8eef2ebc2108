//! Rows as a user gives them: how many there may be, which lengths fit, and the order they are stored in.
//!
//! Whoever writes a model of a type of its own checks its input and shuffles its rows with these. Storage is shuffled once, so that a decision may read
//! blocks of neighbours as if they were drawn at random.

use crate::error::{Error, Result};
use crate::parallel;

/// Refuses no rows and more rows than u32 can count.
pub fn check_rows(rows: usize) -> Result<()> {
    match rows {
        0 => Err(Error::EmptyData),
        _ if rows > u32::MAX as usize => Err(Error::TooManyRows { rows, limit: u32::MAX as usize }),
        _ => Ok(()),
    }
}

/// Refuses a state of the wrong length.
pub fn check_state(state: &[f64], expected: usize) -> Result<()> {
    check_length("state", expected, state.len())
}

/// Refuses another length than the expected one.
pub fn check_length(what: &str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Dimension { what: what.into(), expected, found }) }
}

/// The key of every row from `first` on: a random number that depends on the seed and on the row's number alone (words 2·row and 2·row + 1 of a ChaCha stream).
///
/// Rows in the order of their keys are in a uniformly random order: see [`storage_order`]. Parts of the data can be given their keys without the others, so that files
/// larger than memory, or in several parts, are shuffled as one file in memory is.
pub fn shuffle_keys(seed: u64, first: usize) -> impl Iterator<Item = u64> {
    use rand::Rng as _;
    let mut rng = crate::rng::stream(seed, 1, crate::rng::Role::Shuffle);
    rng.set_word_pos(2 * first as u128);
    std::iter::repeat_with(move || rng.next_u64())
}

/// The rows in the order of their [`shuffle_keys`]; as given without a seed. Two rows stand in the same order in whatever data they are part of.
///
/// Keys that tie, which takes 2³² rows to happen once in two seeds, leave rows in their order. Made on all cores: the keys are cut into ranges, each sorted by itself.
#[must_use]
pub fn storage_order(rows: usize, shuffle: Option<u64>) -> Vec<u32> {
    let Some(seed) = shuffle else { return (0..rows as u32).collect() };
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    sorted(rows, &|first| shuffle_keys(seed, first), threads)
}

/// Rows whose keys are made together, and rows of a range of keys on average.
const TOGETHER: usize = 1 << 17;
const SORTED_TOGETHER: usize = 1 << 15;

/// The rows by key, then by number. Sorted are the 32 bits of the key after those of its range, with the row below them; where these tie, whole keys decide.
fn sorted<K: Iterator<Item = u64>>(
    rows: usize,
    keys: &(impl Fn(usize) -> K + Sync),
    threads: usize,
) -> Vec<u32> {
    let bits = (rows / SORTED_TOGETHER).max(1).ilog2();
    let range = |key: u64| key.checked_shr(u64::BITS - bits).unwrap_or(0) as usize;
    let firsts: Vec<usize> = (0..rows).step_by(TOGETHER).collect();
    let scattered = parallel::map(threads, &firsts, |&first| {
        let count = TOGETHER.min(rows - first);
        let mut ranges = vec![Vec::with_capacity((count >> bits) + (count >> bits) / 4 + 16); 1 << bits];
        for (row, key) in (first..first + count).zip(keys(first)) {
            ranges[range(key)].push(((key << bits) >> 32 << 32) | row as u64);
        }
        ranges
    });
    let ranges: Vec<usize> = (0..1 << bits).collect();
    let ordered = parallel::map(threads, &ranges, |&range| {
        let mut own: Vec<u64> = Vec::with_capacity(2 * SORTED_TOGETHER);
        scattered.iter().for_each(|ranges| own.extend_from_slice(&ranges[range]));
        own.sort_unstable();
        let ties = own.chunk_by_mut(|one, next| one >> 32 == next >> 32).filter(|tied| tied.len() > 1);
        ties.for_each(|tied| tied.sort_by_key(|&one| keys(one as u32 as usize).next()));
        own.into_iter().map(|one| one as u32).collect::<Vec<u32>>()
    });
    ordered.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// χ² of how often each order of four rows comes up over 12,000 seeds; 24 orders. Beyond 58.6 with probability 10⁻⁴ (23 degrees of freedom).
    fn unevenness<K: Iterator<Item = u64>>(keys: impl Fn(u64, usize) -> K + Sync) -> f64 {
        let (seeds, mut counts) = (12_000, std::collections::HashMap::new());
        for seed in 0..seeds {
            let order = sorted(4, &|first| keys(seed, first), 1);
            *counts.entry(order).or_insert(0.0) += 1.0;
        }
        let expected = seeds as f64 / 24.0;
        let missing = (24 - counts.len()) as f64 * expected;
        missing + counts.values().map(|count: &f64| (count - expected).powi(2) / expected).sum::<f64>()
    }

    /// False alarms: 10⁻⁴, once for this seed range. Keys of four bits, whose ties keep the table's order, must fail.
    #[test]
    fn every_order_is_as_likely() {
        assert!(unevenness(shuffle_keys) < 58.6);
        assert!(unevenness(|seed, first| shuffle_keys(seed, first).map(|key| key & (15 << 60))) > 58.6);
    }

    /// The mean of key ranks over neighbours: rows far apart in storage are no nearer in the table than others. Within 4 sds: false alarms 6·10⁻⁵.
    #[test]
    fn storage_neighbours_are_strangers() {
        let (rows, order) = (300_000.0, storage_order(300_000, Some(9)));
        let gaps = order.windows(2).map(|two| f64::from(two[0].abs_diff(two[1])) / rows);
        let mean = gaps.sum::<f64>() / (rows - 1.0);
        // Two uniform numbers are 1/3 apart, with the variance 1/18; neighbouring gaps share a row (correlation −1/20 at most).
        assert!((mean - 1.0 / 3.0).abs() < 4.0 * (1.0 / 18.0 / rows * 1.2).sqrt(), "{mean}");
    }

    #[test]
    fn an_order_depends_on_seed_and_row_alone() {
        let keys = |first: usize| shuffle_keys(3, first);
        for rows in [0, 1, 5, TOGETHER + 1, 3 * TOGETHER + 77] {
            let one = sorted(rows, &keys, 1);
            for threads in [2, 3, 7] {
                assert_eq!(sorted(rows, &keys, threads), one);
            }
            let all: Vec<u64> = shuffle_keys(3, 0).take(rows).collect();
            let mut plain: Vec<u32> = (0..rows as u32).collect();
            plain.sort_by_key(|&row| all[row as usize]);
            assert_eq!(one, plain);
        }
        // A part of the data is ordered as in all of them.
        let (all, part) = (storage_order(1000, Some(3)), storage_order(400, Some(3)));
        assert_eq!(all.into_iter().filter(|&row| row < 400).collect::<Vec<_>>(), part);
        assert_eq!(storage_order(4, None), [0, 1, 2, 3]);
        assert_ne!(storage_order(50, Some(1)), storage_order(50, Some(2)));
        assert!(shuffle_keys(5, 7).take(3).eq(shuffle_keys(5, 0).skip(7).take(3)));
    }
}
