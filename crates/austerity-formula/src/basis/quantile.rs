//! Exact order statistics of any number of values in bounded memory: count their leading bits, then look closer where the wanted ranks are.
//!
//! A number becomes an integer of 64 bits in the same order. A pass counts, for each open bucket, the next 16 bits. A bucket with few values is
//! collected and sorted instead, so two passes are usual and four the most. Counts add and collections join, whatever the order of the parts.
//! Memory: 512 kB for each open bucket, of which there are at most two for each quantile.

use std::collections::BTreeMap;

/// Bits that a pass counts.
const DIGIT: u32 = 16;
/// Values of a bucket that are collected rather than counted.
const COLLECTED: u64 = 100_000;

/// The integer whose order is that of the numbers; −0 is 0.
pub(crate) fn key(value: f64) -> u64 {
    let bits = (value + 0.0).to_bits();
    if bits >> 63 == 1 { !bits } else { bits | 1 << 63 }
}

/// The number of an integer.
pub(crate) fn value(key: u64) -> f64 {
    f64::from_bits(if key >> 63 == 1 { key & !(1 << 63) } else { !key })
}

/// A bucket of values that share their leading bits.
#[derive(Clone, Debug, PartialEq)]
struct Bucket {
    /// The leading bits, and how many they are.
    prefix: u64,
    bits: u32,
    /// Ranks that are wanted, counted within the bucket from 0.
    ranks: Vec<u64>,
    /// Whether its values are collected.
    collects: bool,
}

/// What is known of the wanted ranks so far.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    open: Vec<Bucket>,
    /// The value of every wanted rank, once it is known.
    found: BTreeMap<u64, f64>,
    /// Rank within all values of the first value of each open bucket.
    begins: Vec<u64>,
}

/// The answer of some of the values.
#[derive(Clone, Debug, PartialEq)]
pub struct Counts {
    tables: Vec<Table>,
}

#[derive(Clone, Debug, PartialEq)]
enum Table {
    Counts(Vec<u64>),
    Values(Vec<f64>),
}

impl Search {
    /// Looks for the ranks, counted from 0, of `count` values.
    #[must_use]
    pub fn new(ranks: &[u64], count: u64) -> Self {
        let bucket = Bucket { prefix: 0, bits: 0, ranks: ranks.to_vec(), collects: count <= COLLECTED };
        Self { open: vec![bucket], found: BTreeMap::new(), begins: vec![0] }
    }

    /// An empty answer.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let table = |bucket: &Bucket| {
            if bucket.collects { Table::Values(Vec::new()) } else { Table::Counts(vec![0; 1 << DIGIT]) }
        };
        Counts { tables: self.open.iter().map(table).collect() }
    }

    /// Adds a value to an answer.
    pub fn add(&self, counts: &mut Counts, number: f64) {
        let key = key(number);
        for (bucket, table) in self.open.iter().zip(&mut counts.tables) {
            if bucket.bits > 0 && key >> (64 - bucket.bits) != bucket.prefix {
                continue;
            }
            match table {
                Table::Values(values) => values.push(number),
                Table::Counts(counts) => {
                    let digit = key >> (64 - bucket.bits - DIGIT) & ((1 << DIGIT) - 1);
                    counts[digit as usize] += 1;
                }
            }
        }
    }

    /// What follows from the answer of all values.
    #[must_use]
    pub fn advance(&self, counts: Counts) -> Self {
        let mut next = Self { open: Vec::new(), found: self.found.clone(), begins: Vec::new() };
        for ((bucket, begins), table) in self.open.iter().zip(&self.begins).zip(counts.tables) {
            match table {
                Table::Values(mut values) => {
                    values.sort_by(f64::total_cmp);
                    for rank in &bucket.ranks {
                        next.found.insert(begins + rank, values[*rank as usize]);
                    }
                }
                Table::Counts(counts) => next.split(bucket, *begins, &counts),
            }
        }
        next
    }

    /// Opens the parts of a bucket that hold wanted ranks.
    fn split(&mut self, bucket: &Bucket, begins: u64, counts: &[u64]) {
        let mut before = 0;
        for (digit, &count) in counts.iter().enumerate() {
            let ranks: Vec<u64> = bucket
                .ranks
                .iter()
                .filter(|rank| (before..before + count).contains(*rank))
                .map(|r| r - before)
                .collect();
            if !ranks.is_empty() {
                let (prefix, bits) = (bucket.prefix << DIGIT | digit as u64, bucket.bits + DIGIT);
                if bits == 64 {
                    for rank in ranks {
                        self.found.insert(begins + before + rank, value(prefix));
                    }
                } else {
                    self.open.push(Bucket { prefix, bits, ranks, collects: count <= COLLECTED });
                    self.begins.push(begins + before);
                }
            }
            before += count;
        }
    }

    /// The values of all wanted ranks, once no pass is needed.
    #[must_use]
    pub fn found(&self) -> Option<&BTreeMap<u64, f64>> {
        self.open.is_empty().then_some(&self.found)
    }
}

impl Counts {
    /// Adds another part's answer.
    pub fn merge(&mut self, other: Self) {
        for (mine, theirs) in self.tables.iter_mut().zip(other.tables) {
            match (mine, theirs) {
                (Table::Values(mine), Table::Values(theirs)) => mine.extend(theirs),
                (Table::Counts(mine), Table::Counts(theirs)) => {
                    mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += theirs);
                }
                // Answers to other questions do not meet.
                (Table::Values(_), Table::Counts(_)) | (Table::Counts(_), Table::Values(_)) => {}
            }
        }
    }
}

/// The two ranks between which the quantile lies, and how far after the first.
pub(crate) fn between(share: f64, count: u64) -> (u64, u64, f64) {
    let place = share * (count - 1) as f64;
    let low = (place.floor() as u64).min(count - 1);
    (low, (low + 1).min(count - 1), place - low as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_keep_the_order_and_the_number() {
        let numbers = [f64::MIN, -2.5, -1e-300, 0.0, 5e-324, 1.0, 1.0000000000000002, 7e9, f64::MAX];
        for pair in numbers.windows(2) {
            assert!(key(pair[0]) < key(pair[1]));
        }
        assert!(numbers.iter().all(|number| value(key(*number)) == *number));
        assert_eq!(key(-0.0), key(0.0));
    }

    #[test]
    fn ranks_of_many_values_are_those_of_sorting_in_any_cut() {
        // Half of the values share 40 leading bits, so that buckets are split to the end.
        let numbers: Vec<f64> = (0..300_000u64)
            .map(|i| {
                let noise = i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
                if i % 2 == 0 { 1.0 + noise as f64 * 1e-13 } else { noise as f64 - 8e6 }
            })
            .collect();
        let mut sorted = numbers.clone();
        sorted.sort_by(f64::total_cmp);
        let ranks = [0, 1, 74_999, 150_000, 225_001, 299_999];
        for parts in [1, 7] {
            let (mut search, mut passes) = (Search::new(&ranks, 300_000), 0);
            while search.found().is_none() {
                let mut all = search.counts();
                for part in numbers.chunks(300_000usize.div_ceil(parts)) {
                    let mut counts = search.counts();
                    part.iter().for_each(|number| search.add(&mut counts, *number));
                    all.merge(counts);
                }
                search = search.advance(all);
                passes += 1;
            }
            let found = search.found().unwrap();
            assert!(ranks.iter().all(|rank| found[rank] == sorted[*rank as usize]), "{found:?}");
            assert!((2..=4).contains(&passes), "{passes}");
        }
    }
}
