//! Which rows of a table stay when rows with missing values are dropped.
//!
//! One bit per row. Pieces and columns pass through with the other rows cut out, and texts are numbered anew in the order of the first row that stays, so that whoever
//! reads on sees the table that it would be without the dropped rows, to the bit. Memory: an eighth of a byte per row.

use super::Column;
use super::levels::{MISSING, Relabel};
use super::scan::{Chunk, Visit};
use crate::error::Result;

/// Rows of a word.
const WORD: usize = 64;

/// The rows that stay.
#[derive(Debug, Default)]
pub(super) struct Kept {
    bits: Vec<u64>,
    rows: usize,
    dropped: usize,
}

impl Kept {
    /// Keeps the next rows in which every column has a value; counts the missing values of each column.
    pub(super) fn push(&mut self, chunks: &[Chunk<'_>], counts: &mut [usize]) {
        let rows = chunks.first().map_or(0, Chunk::len);
        let mut missing = vec![false; rows];
        for (chunk, count) in chunks.iter().zip(counts) {
            let mut mark = |row: usize| {
                missing[row] = true;
                *count += 1;
            };
            match chunk {
                Chunk::Numbers(values) => {
                    values.iter().enumerate().filter(|(_, v)| v.is_nan()).for_each(|(row, _)| mark(row));
                }
                Chunk::Levels { codes, .. } => {
                    codes.iter().enumerate().filter(|&(_, &c)| c == MISSING).for_each(|(row, _)| mark(row));
                }
                Chunk::Slopes { codes, numbers, .. } => {
                    let missing = |row: &usize| codes[*row] == MISSING || numbers[*row].is_nan();
                    (0..codes.len()).filter(missing).for_each(mark);
                }
            }
        }
        self.bits.resize((self.rows + rows).div_ceil(WORD), 0);
        for (at, missing) in missing.into_iter().enumerate() {
            let row = self.rows + at;
            self.bits[row / WORD] |= u64::from(!missing) << (row % WORD);
            self.dropped += usize::from(missing);
        }
        self.rows += rows;
    }

    /// Rows in all.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Rows that do not stay.
    pub(super) fn dropped(&self) -> usize {
        self.dropped
    }

    fn stays(&self, row: usize) -> bool {
        self.bits.get(row / WORD).is_some_and(|word| word >> (row % WORD) & 1 == 1)
    }

    /// The numbers that rows which stay, in ascending order, had among all rows: one pass.
    pub(super) fn all_given(&self, rows: &[usize]) -> Vec<usize> {
        let (mut made, mut next) = (Vec::with_capacity(rows.len()), 0);
        let mut wanted = rows.iter().copied().peekable();
        for (at, &word) in self.bits.iter().enumerate() {
            let end = next + word.count_ones() as usize;
            if wanted.peek().is_none_or(|row| *row >= end) {
                next = end;
                continue;
            }
            for bit in (0..WORD).filter(|bit| word >> bit & 1 == 1) {
                while wanted.next_if_eq(&next).is_some() {
                    made.push(at * WORD + bit);
                }
                next += 1;
            }
        }
        made.resize(rows.len(), self.rows);
        made
    }

    /// The number that a row which stays had among all rows.
    pub(super) fn given(&self, row: usize) -> usize {
        let mut left = row;
        for (at, &word) in self.bits.iter().enumerate() {
            let here = word.count_ones() as usize;
            if left >= here {
                left -= here;
                continue;
            }
            let stays = |&bit: &usize| word >> bit & 1 == 1;
            return at * WORD + (0..WORD).filter(stays).nth(left).unwrap_or_default();
        }
        self.rows
    }

    /// Hands over the pieces of a scan of `width` columns without the other rows; returns how many rows stay.
    pub(super) fn scan(
        &self,
        width: usize,
        visit: &mut Visit<'_>,
        scan: &mut dyn FnMut(&mut Visit<'_>) -> Result<usize>,
    ) -> Result<usize> {
        let mut texts: Vec<Relabel> = (0..width).map(|_| Relabel::default()).collect();
        let mut done = 0;
        scan(&mut |first, chunks| {
            let rows = chunks.first().map_or(0, Chunk::len);
            let stay: Vec<usize> = (0..rows).filter(|at| self.stays(first + at)).collect();
            if stay.is_empty() {
                return Ok(());
            }
            let cut: Vec<Cut> =
                chunks.iter().zip(&mut texts).map(|(chunk, texts)| Cut::of(chunk, &stay, texts)).collect();
            let cut: Vec<Chunk<'_>> =
                cut.iter().zip(&texts).map(|(cut, texts)| cut.chunk(texts.labels())).collect();
            visit(done, &cut)?;
            done += stay.len();
            Ok(())
        })?;
        Ok(done)
    }

    /// A whole column without the other rows.
    pub(super) fn column(&self, column: Column) -> Column {
        match column {
            Column::Numbers(mut values) => {
                let mut row = 0;
                values.retain(|_| {
                    row += 1;
                    self.stays(row - 1)
                });
                Column::Numbers(values)
            }
            Column::Levels { codes, labels } => {
                let mut row = 0;
                let mut stay = codes;
                stay.retain(|_| {
                    row += 1;
                    self.stays(row - 1)
                });
                let (mut texts, mut codes) = (Relabel::default(), Vec::with_capacity(stay.len()));
                texts.apply(&stay, &labels, &mut codes);
                Column::Levels { codes, labels: texts.labels().to_vec() }
            }
        }
    }
}

/// The rows of a piece that stay.
enum Cut {
    Numbers(Vec<f64>),
    Levels { codes: Vec<u32>, truths: bool },
    Slopes { codes: Vec<u32>, numbers: Vec<f64> },
}

impl Cut {
    fn of(chunk: &Chunk<'_>, stay: &[usize], texts: &mut Relabel) -> Self {
        let mut cut = |codes: &[u32], labels: &[String]| {
            let theirs: Vec<u32> = stay.iter().map(|&row| codes[row]).collect();
            let mut codes = Vec::with_capacity(theirs.len());
            texts.apply(&theirs, labels, &mut codes);
            codes
        };
        let numbers = |values: &[f64]| stay.iter().map(|&row| values[row]).collect();
        match *chunk {
            Chunk::Numbers(values) => Self::Numbers(numbers(values)),
            Chunk::Levels { codes, labels, truths } => Self::Levels { codes: cut(codes, labels), truths },
            Chunk::Slopes { codes, labels, numbers: values } => {
                Self::Slopes { codes: cut(codes, labels), numbers: numbers(values) }
            }
        }
    }

    fn chunk<'a>(&'a self, labels: &'a [String]) -> Chunk<'a> {
        match self {
            Self::Numbers(values) => Chunk::Numbers(values),
            Self::Levels { codes, truths } => Chunk::Levels { codes, labels, truths: *truths },
            Self::Slopes { codes, numbers } => Chunk::Slopes { codes, labels, numbers },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_that_stay_are_found_again() {
        let mut kept = Kept::default();
        let values: Vec<f64> = (0..1000).map(|i| if i % 3 == 1 { f64::NAN } else { f64::from(i) }).collect();
        let mut counts = [0];
        values.chunks(77).for_each(|piece| kept.push(&[Chunk::Numbers(piece)], &mut counts));
        assert_eq!((kept.rows(), kept.dropped(), counts), (1000, 333, [333]));
        let Column::Numbers(stay) = kept.column(Column::Numbers(values)) else { panic!("numbers") };
        assert_eq!(stay.len(), 667);
        for (row, value) in stay.into_iter().enumerate() {
            assert_eq!(kept.given(row) as f64, value);
        }
    }
}
