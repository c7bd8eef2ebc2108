//! One pass over a column: its mean, spread, range and fingerprint, whole or in pieces.
//!
//! Rows are taken in runs of [`RUN`] counted from the first row, however they arrive, so that the numbers are the same
//! to the last bit for a column in memory and for one that is streamed. Within a run deviations from its first value are
//! summed; runs are merged by the formula of Chan, Golub & LeVeque (1983), so that a column far from 0 keeps its
//! digits. Only non-zeros are summed: zeros join at the end in closed form, and a column of 0 and 1 is known by its count.
//!
//! The fingerprint is the sum Σ w_i·b_i mod 2¹²⁸ of pseudo-random 64-bit w_i times the bits b_i of the values (0 for 0),
//! each run with a factor of its own: columns that differ share it with a chance of about 2⁻⁶⁴, and that of a level's 0/1
//! column is the sum of its rows' weights times the bits of 1. No shield against malice. Cost: about 2 ns per value.
//! Memory: one run.

use serde::{Deserialize, Serialize};

use super::checks::LARGEST_VALUE;
use crate::simd::{detected, dispatched};
use austerity::error::{Error, Result};

/// Rows summed together.
pub const RUN: usize = 1024;

/// A column with at most this share of non-zeros is rare: centring it would destroy its zeros.
pub const RARE_SHARE: f64 = 0.1;

/// What one pass over a column tells.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ColumnSummary {
    /// Rows.
    pub rows: usize,
    /// Values that differ from 0.
    pub nonzeros: usize,
    /// Smallest value.
    pub minimum: f64,
    /// Largest value.
    pub maximum: f64,
    /// Whether all values are whole numbers.
    pub whole: bool,
    /// Whether there are exactly two different values.
    pub two_valued: bool,
    /// Mean.
    pub mean: f64,
    /// Standard deviation, divisor N.
    pub sd: f64,
    /// Mean and standard deviation of the non-zeros; 0 without any.
    pub of_nonzeros: (f64, f64),
    /// Equal for equal columns, and for others almost never.
    pub fingerprint: u128,
    /// The first value that is not finite or too large, with its row.
    unfit: Option<(usize, f64)>,
}

impl ColumnSummary {
    /// The summary of values in memory.
    #[must_use]
    pub fn of(values: &[f64]) -> Self {
        let mut summary = Summarizer::default();
        summary.push(values);
        summary.finish()
    }

    /// The summary of a column that is 1 in `ones` of `rows` rows, whose weights (see [`row_weight`]) add up to
    /// `weight`, and 0 in the others.
    #[must_use]
    pub fn of_indicator(rows: usize, ones: usize, weight: u128) -> Self {
        let running = Running { count: ones as u64, mean: f64::from(u8::from(ones > 0)), squares: 0.0 };
        let fingerprint = weight.wrapping_mul(u128::from(1f64.to_bits()));
        let minimum = if ones == rows { 1.0 } else { 0.0 };
        running.summary(rows, (minimum, running.mean), (true, true), fingerprint, None)
    }

    /// The summary of (value − shift)/scale, whose fingerprint stays that of the values.
    #[must_use]
    pub fn moved(&self, shift: f64, scale: f64) -> Self {
        let to = |value: f64| (value - shift) / scale;
        let (mean, sd) = (to(self.mean), self.sd / scale);
        let nonzeros = if shift == 0.0 { self.nonzeros } else { self.rows };
        let of_nonzeros =
            if shift == 0.0 { (self.of_nonzeros.0 / scale, self.of_nonzeros.1 / scale) } else { (mean, sd) };
        let (minimum, maximum) = (to(self.minimum), to(self.maximum));
        Self { nonzeros, minimum, maximum, whole: false, mean, sd, of_nonzeros, ..*self }
    }

    /// Whether few values differ from 0.
    #[must_use]
    pub fn is_rare(&self) -> bool {
        self.nonzeros as f64 <= RARE_SHARE * self.rows as f64
    }

    /// Whether all values are the same.
    #[must_use]
    pub fn is_constant(&self) -> bool {
        self.minimum == self.maximum
    }

    /// Half the distance of the two values of a column that has no others: the standard deviation it would have if both
    /// were equally frequent.
    #[must_use]
    pub fn half_range(&self) -> Option<f64> {
        self.two_valued.then_some(0.5 * (self.maximum - self.minimum))
    }

    /// Refuses what is not finite, and what is too large to be squared.
    pub fn check(&self, name: &str) -> Result<()> {
        match self.unfit {
            None => Ok(()),
            Some((row, value)) if value.is_finite() => Err(Error::OutOfRange {
                what: format!("column `{name}`"),
                row,
                value,
                allowed: format!("at most {LARGEST_VALUE:e} in absolute value; rescale the column"),
            }),
            Some((row, value)) => Err(Error::NotFinite { column: name.into(), row, value }),
        }
    }
}

/// Takes a column piece by piece, and parts of it that were taken elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Summarizer {
    /// The rows of a run that is not complete.
    pending: Vec<f64>,
    /// Rows of parts that have ended.
    before: usize,
    runs: usize,
    running: Running,
    range: (f64, f64),
    whole: bool,
    /// Whether all values so far are one of the ends of the range.
    at_ends: bool,
    fingerprint: u128,
    unfit: Option<(usize, f64)>,
}

impl Default for Summarizer {
    fn default() -> Self {
        Self {
            pending: Vec::new(),
            before: 0,
            runs: 0,
            running: Running::default(),
            range: (f64::INFINITY, f64::NEG_INFINITY),
            whole: true,
            at_ends: true,
            fingerprint: 0,
            unfit: None,
        }
    }
}

impl Summarizer {
    /// The next rows.
    pub fn push(&mut self, mut values: &[f64]) {
        if !self.pending.is_empty() {
            let (now, later) = values.split_at(values.len().min(RUN - self.pending.len()));
            self.pending.extend_from_slice(now);
            values = later;
            if self.pending.len() == RUN {
                let run = std::mem::take(&mut self.pending);
                self.run(&run);
                self.pending = run;
                self.pending.clear();
            }
        }
        let runs = values.chunks_exact(RUN);
        self.pending.extend_from_slice(runs.remainder());
        runs.for_each(|run| self.run(run));
    }

    /// Ends a part of a column, the one of this number; [`Summarizer::merge`] joins parts in their order.
    ///
    /// The fingerprint of a part gets a factor of its number, as that of a run has: equal columns that were cut alike have equal fingerprints.
    #[must_use]
    pub fn into_part(mut self, number: usize) -> Self {
        let rest = std::mem::take(&mut self.pending);
        self.before = self.runs * RUN + rest.len();
        if !rest.is_empty() {
            self.run(&rest);
        }
        self.runs = 0;
        self.fingerprint = self.fingerprint.wrapping_mul(run_factor(number));
        self
    }

    /// Adds the part that follows. Both were ended by [`Summarizer::into_part`].
    pub fn merge(&mut self, later: &Self) {
        let ends = [self.range, later.range];
        if let (None, Some((row, value))) = (self.unfit, later.unfit) {
            self.unfit = Some((self.before + row, value));
        }
        self.range = (ends[0].0.min(ends[1].0), ends[0].1.max(ends[1].1));
        let range = self.range;
        let known = |(low, high): (f64, f64)| low > high || is_end(low, range) && is_end(high, range);
        self.at_ends = self.at_ends && later.at_ends && ends.into_iter().all(known);
        self.whole &= later.whole;
        if later.running.count > 0 {
            self.running.merge(&later.running);
        }
        self.fingerprint = self.fingerprint.wrapping_add(later.fingerprint);
        self.before += later.before;
    }

    /// The summary of all rows taken.
    #[must_use]
    pub fn finish(mut self) -> ColumnSummary {
        let rest = std::mem::take(&mut self.pending);
        let rows = self.before + self.runs * RUN + rest.len();
        if !rest.is_empty() {
            self.run(&rest);
        }
        self.running.summary(rows, self.range, (self.whole, self.at_ends), self.fingerprint, self.unfit)
    }

    fn run(&mut self, run: &[f64]) {
        let Seen { low, high, fit, nonzeros, running } = dispatched!(detected(), _simd => Seen::of(run));
        let (from, to) = self.range;
        self.range = (from.min(low), to.max(high));
        self.at_ends = self.at_ends
            && (self.runs == 0 || [from, to, low, high].iter().all(|&end| is_end(end, self.range)))
            && run.iter().all(|&v| is_end(v, (low, high)));
        if !fit && self.unfit.is_none() {
            let at = run.iter().position(|v| !matches!(v.abs(), size if size <= LARGEST_VALUE)).unwrap_or(0);
            self.unfit = Some((self.runs * RUN + at, run[at]));
        }
        self.whole = self.whole && run.iter().all(|&v| is_whole(v));
        if nonzeros == run.len() {
            self.running.merge(&running);
        } else if nonzeros > 0 {
            let mut kept = [0.0; RUN];
            let mut count = 0;
            for &v in run {
                kept[count] = v;
                count += usize::from(v != 0.0);
            }
            self.running.merge(&Seen::of(&kept[..count]).running);
        }
        let products = run.iter().zip(&WEIGHTS).map(|(&v, &weight)| {
            // −0 is 0.
            u128::from((v + 0.0).to_bits()).wrapping_mul(u128::from(weight))
        });
        let sum = products.fold(0u128, u128::wrapping_add);
        self.fingerprint = self.fingerprint.wrapping_add(sum.wrapping_mul(run_factor(self.runs)));
        self.runs += 1;
    }
}

/// Takes a column that is 0 but for the values given, one by one with their rows: a level's share of a column of numbers.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct SparseSummarizer {
    running: Running,
    range: Option<(f64, f64)>,
    fraction: bool,
    fingerprint: u128,
    unfit: Option<(usize, f64)>,
}

impl SparseSummarizer {
    /// The value of a row, counted from 0.
    pub fn push(&mut self, row: usize, value: f64) {
        if value.is_nan() || value.abs() > LARGEST_VALUE {
            self.unfit.get_or_insert((row, value));
        }
        if value == 0.0 {
            return;
        }
        self.running.merge(&Running { count: 1, mean: value, squares: 0.0 });
        let (low, high) = self.range.unwrap_or((value, value));
        self.range = Some((low.min(value), high.max(value)));
        self.fraction |= !is_whole(value);
        let product = u128::from(value.to_bits()).wrapping_mul(row_weight(row));
        self.fingerprint = self.fingerprint.wrapping_add(product);
    }

    /// Ends a part, as [`Summarizer::into_part`] does.
    #[must_use]
    pub fn into_part(mut self, number: usize) -> Self {
        self.fingerprint = self.fingerprint.wrapping_mul(run_factor(number));
        self
    }

    /// Adds the part that follows `rows` rows.
    pub fn merge(&mut self, later: &Self, rows: usize) {
        if let (None, Some((row, value))) = (self.unfit, later.unfit) {
            self.unfit = Some((rows + row, value));
        }
        if let Some((low, high)) = later.range {
            let (from, to) = self.range.unwrap_or((low, high));
            self.range = Some((from.min(low), to.max(high)));
        }
        self.fraction |= later.fraction;
        if later.running.count > 0 {
            self.running.merge(&later.running);
        }
        self.fingerprint = self.fingerprint.wrapping_add(later.fingerprint);
    }

    /// Mean square of the values given, and their number.
    #[must_use]
    pub fn mean_square(&self) -> (f64, u64) {
        let Running { count, mean, squares } = self.running;
        (mean * mean + squares / count.max(1) as f64, count)
    }

    /// The summary of so many rows.
    #[must_use]
    pub fn finish(&self, rows: usize) -> ColumnSummary {
        let (mut low, mut high) = self.range.unwrap_or((0.0, 0.0));
        let same = low == high;
        if (self.running.count as usize) < rows {
            (low, high) = (low.min(0.0), high.max(0.0));
        }
        self.running.summary(rows, (low, high), (!self.fraction, same), self.fingerprint, self.unfit)
    }
}

/// What one pass over a run shows.
struct Seen {
    low: f64,
    high: f64,
    /// Whether all of it can be used.
    fit: bool,
    nonzeros: usize,
    /// The moments of all values.
    running: Running,
}

/// Values looked at side by side, so that the sums are the same on every instruction set.
const LANES: usize = 16;

impl Seen {
    /// Sums of deviations from the first value c and of their squares. As (c − mean)² ≤ Σ(x − mean)², at most a factor of the
    /// length of the run is lost to cancellation.
    #[inline(always)]
    fn of(run: &[f64]) -> Self {
        let from = run.first().copied().unwrap_or(0.0);
        let (mut off, mut squares, mut nonzeros) = ([0.0; LANES], [0.0; LANES], [0u64; LANES]);
        let (mut low, mut high) = ([f64::INFINITY; LANES], [f64::NEG_INFINITY; LANES]);
        let mut take = |lane: usize, v: f64| {
            off[lane] += v - from;
            squares[lane] += (v - from) * (v - from);
            nonzeros[lane] += u64::from(v != 0.0);
            low[lane] = if v < low[lane] { v } else { low[lane] };
            high[lane] = if v > high[lane] { v } else { high[lane] };
        };
        let (full, rest) = run.as_chunks::<LANES>();
        for values in full {
            for (lane, &v) in values.iter().enumerate() {
                take(lane, v);
            }
        }
        rest.iter().enumerate().for_each(|(lane, &v)| take(lane, v));
        let n = run.len() as f64;
        let (off, squares): (f64, f64) = (off.iter().sum(), squares.iter().sum());
        let running = Running {
            count: run.len() as u64,
            mean: from + off / n,
            squares: (squares - off * off / n).max(0.0),
        };
        Self {
            low: low.into_iter().fold(f64::INFINITY, f64::min),
            high: high.into_iter().fold(f64::NEG_INFINITY, f64::max),
            fit: run.iter().fold(true, |fit, v| fit & (v.abs() <= LARGEST_VALUE)),
            nonzeros: nonzeros.iter().sum::<u64>() as usize,
            running,
        }
    }
}

/// The weight of a row, counted from 0, in the fingerprint of a column.
#[must_use]
pub fn row_weight(row: usize) -> u128 {
    u128::from(WEIGHTS[row % RUN]).wrapping_mul(run_factor(row / RUN))
}

/// The factor of a run, or of a part, in a fingerprint.
#[must_use]
pub fn run_factor(run: usize) -> u128 {
    (u128::from(scrambled(2 * run as u64)) << 64) | u128::from(scrambled(2 * run as u64 + 1) | 1)
}

/// The finaliser of SplitMix64 (Steele, Lea & Flood 2014).
const fn scrambled(index: u64) -> u64 {
    let z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

static WEIGHTS: [u64; RUN] = {
    let mut weights = [0; RUN];
    let mut k = 0;
    while k < RUN {
        weights[k] = scrambled(u64::MAX / 2 + k as u64);
        k += 1;
    }
    weights
};

/// Whether a value is a whole number. Doubles from 2⁵³ on are.
pub(crate) fn is_whole(value: f64) -> bool {
    value.abs() >= 9_007_199_254_740_992.0 || (value as i64) as f64 == value
}

fn is_end(value: f64, (from, to): (f64, f64)) -> bool {
    value == from || value == to
}

/// Count, mean and Σ(x − mean)².
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
struct Running {
    count: u64,
    mean: f64,
    squares: f64,
}

impl Running {
    fn merge(&mut self, other: &Self) {
        if self.count == 0 {
            *self = *other;
            return;
        }
        let (a, b) = (self.count as f64, other.count as f64);
        let apart = other.mean - self.mean;
        self.mean += apart * (b / (a + b));
        self.squares += other.squares + apart * apart * (a * b / (a + b));
        self.count += other.count;
    }

    /// The summary of these non-zeros and the zeros beside them.
    fn summary(
        &self,
        rows: usize,
        (minimum, maximum): (f64, f64),
        (whole, at_ends): (bool, bool),
        fingerprint: u128,
        unfit: Option<(usize, f64)>,
    ) -> ColumnSummary {
        let sd = |running: &Self| (running.squares / running.count.max(1) as f64).sqrt();
        let mut all = *self;
        let zeros = rows as u64 - self.count;
        if zeros > 0 {
            all.merge(&Self { count: zeros, mean: 0.0, squares: 0.0 });
        }
        ColumnSummary {
            rows,
            nonzeros: self.count as usize,
            minimum,
            maximum,
            whole,
            two_valued: at_ends && minimum < maximum,
            mean: all.mean,
            sd: if minimum == maximum { 0.0 } else { sd(&all) },
            // Equal values must not differ by the rounding of their mean.
            of_nonzeros: (self.mean, if sd(self) > 1e-13 * self.mean.abs() { sd(self) } else { 0.0 }),
            fingerprint,
            unfit,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(rows: usize) -> Vec<f64> {
        (0..rows).map(|i| if i % 7 == 3 { 0.0 } else { 1e6 + (i as f64 * 0.37).sin() }).collect()
    }

    #[test]
    fn pieces_give_the_bits_of_the_whole() {
        for rows in [1, 2, RUN - 1, RUN, RUN + 1, 5 * RUN + 77] {
            let values = values(rows);
            let whole = ColumnSummary::of(&values);
            for piece in [1, 13, 1000, RUN, 3000] {
                let mut summary = Summarizer::default();
                values.chunks(piece).for_each(|piece| summary.push(piece));
                assert_eq!(summary.finish(), whole, "{rows} rows by {piece}");
            }
        }
    }

    #[test]
    fn moments_are_those_of_the_definition() {
        let values = values(10_000);
        let summary = ColumnSummary::of(&values);
        let n = values.len() as f64;
        let mean = values.iter().sum::<f64>() / n;
        let sd = (values.iter().map(|v| (v - mean).powi(2)).sum::<f64>() / n).sqrt();
        assert!((summary.mean - mean).abs() < 1e-9 * mean && (summary.sd - sd).abs() < 1e-9 * sd);
        assert_eq!((summary.minimum, summary.nonzeros, summary.whole), (0.0, 8571, false));
        // Far from 0 the digits are kept.
        let far: Vec<f64> = (0..10_000).map(|i| 1e12 + f64::from(i % 2)).collect();
        let far = ColumnSummary::of(&far);
        assert_eq!((far.mean, far.sd, far.whole), (1e12 + 0.5, 0.5, true));
    }

    #[test]
    fn indicators_are_known_by_their_rows() {
        let rows = 3 * RUN + 5;
        let ones = |i: usize| i.is_multiple_of(11) || i == 2;
        let column: Vec<f64> = (0..rows).map(|i| f64::from(u8::from(ones(i)))).collect();
        let weight = |rows: &mut dyn Iterator<Item = usize>| rows.map(row_weight).fold(0, u128::wrapping_add);
        let members = || (0..rows).filter(|&row| ones(row));
        let found = ColumnSummary::of_indicator(rows, members().count(), weight(&mut members()));
        assert_eq!(found, ColumnSummary::of(&column));
        let all = ColumnSummary::of_indicator(rows, rows, weight(&mut (0..rows)));
        assert_eq!(all, ColumnSummary::of(&vec![1.0; rows]));
    }

    #[test]
    fn parts_merge_to_the_summary_of_the_whole() {
        let whole = values(5 * RUN + 77);
        let parts = |cuts: &[usize]| {
            let mut all = Summarizer::default().into_part(0);
            let mut from = 0;
            for (number, &to) in cuts.iter().enumerate() {
                let mut part = Summarizer::default();
                part.push(&whole[from..to]);
                all.merge(&part.into_part(number + 1));
                from = to;
            }
            all.finish()
        };
        let (given, cut) = (ColumnSummary::of(&whole), parts(&[100, 3000, 3000, whole.len()]));
        assert_eq!((cut.rows, cut.nonzeros, cut.whole), (given.rows, given.nonzeros, given.whole));
        assert_eq!(
            (cut.minimum, cut.maximum, cut.two_valued),
            (given.minimum, given.maximum, given.two_valued)
        );
        assert!(
            (cut.mean - given.mean).abs() < 1e-12 * given.mean
                && (cut.sd - given.sd).abs() < 1e-12 * given.sd
        );
        assert_eq!(cut.fingerprint, parts(&[100, 3000, 3000, whole.len()]).fingerprint);
        assert_ne!(cut.fingerprint, parts(&[101, 3000, 3000, whole.len()]).fingerprint);
        // Two values are found where no part has both.
        let mut two = Summarizer::default().into_part(0);
        for (number, value) in [0.0, 1.0, 0.0].into_iter().enumerate() {
            let mut part = Summarizer::default();
            part.push(&vec![value; 50]);
            two.merge(&part.into_part(number));
        }
        assert_eq!(two.clone().finish().half_range(), Some(0.5));
        let mut third = Summarizer::default();
        third.push(&[0.5; 3]);
        two.merge(&third.into_part(3));
        assert_eq!(two.finish().half_range(), None);
    }

    #[test]
    fn two_values_are_told_from_three() {
        let half_range = |values: &[f64]| ColumnSummary::of(values).half_range();
        let rows = 3 * RUN + 5;
        let mut column = vec![0.0; rows];
        assert_eq!(half_range(&column), None);
        column[2 * RUN + 7] = -0.0;
        assert_eq!(half_range(&column), None);
        // One of a kind, in any run, also far from 0 where moments could not tell.
        for (off, row) in [(0.0, 0), (0.0, RUN), (0.0, rows - 1), (1e12, 2 * RUN)] {
            let mut column: Vec<f64> = column.iter().map(|v| v + off).collect();
            column[row] += 3.0;
            assert_eq!(half_range(&column), Some(1.5), "{off} {row}");
            // A third value in the same run or another, between, below or above.
            for (other, third) in [(row / RUN * RUN + 1, 1.0), (RUN + 3, -1.0), (3 * RUN + 1, 4.0)] {
                let mut column = column.clone();
                column[other] += third;
                assert_eq!(half_range(&column), None, "{off} {row} {other}");
            }
        }
        // Each run constant.
        let stairs = |most: usize| (0..rows).map(|i| (i / RUN).min(most) as f64).collect::<Vec<f64>>();
        assert_eq!((half_range(&stairs(1)), half_range(&stairs(2))), (Some(0.5), None));
    }

    #[test]
    fn fingerprints_tell_columns_apart() {
        let given = values(5000);
        let fingerprint = |values: &[f64]| ColumnSummary::of(values).fingerprint;
        let mut signed = given.clone();
        signed[3] = -0.0;
        assert_eq!(fingerprint(&signed), fingerprint(&given));
        let mut swapped = given.clone();
        swapped.swap(5, RUN + 5);
        let mut nudged = given.clone();
        nudged[4000] = f64::from_bits(nudged[4000].to_bits() + 1);
        for other in [&swapped, &nudged, &given[..4999].to_vec()] {
            assert_ne!(fingerprint(other), fingerprint(&given));
        }
    }
}
