//! The population of one variable and two of its values: the differences of the factors that touch it.
//!
//! Binary fields whose blocks are drawn whole go through the SIMD kernel of `bits`; everything else number by number.
//! A number is the same to the last bit whichever way it is read. A row costs one evaluation: the difference is stored.

use std::ops::Range;

use super::bits::{self, BLOCK};
use super::{Site, Storage};
use austerity::error::Result;
use austerity::population::{Moments, Population, RowCost};
use austerity_glm::simd::Level;

/// Numbers that are merged at once where they come one by one.
const CHUNK: usize = 64;

/// Working memory of conditionals: the values of the neighbours.
#[derive(Clone, Debug, Default)]
pub struct Neighbourhood {
    values: Vec<u8>,
    bits: bits::State,
}

/// log f_n(x_i = to, rest) − log f_n(x_i = from, rest) for every factor n that touches variable i.
///
/// Rows are the variable's factors in shuffled order; [`Population::original_row`] gives the factor's number.
#[derive(Debug)]
pub struct Conditional<'a> {
    site: &'a Site,
    level: Level,
    pair: [u8; 2],
    neighbourhood: &'a Neighbourhood,
}

impl<'a> Conditional<'a> {
    pub(super) fn new(
        site: &'a Site,
        level: Level,
        pair: [u8; 2],
        state: &[u8],
        neighbourhood: &'a mut Neighbourhood,
    ) -> Self {
        let values = site.neighbours.iter().map(|&other| state[other as usize]);
        match &site.storage {
            Storage::Bits(_) => neighbourhood.bits = bits::pack(values),
            Storage::Tables(_) => {
                neighbourhood.values.clear();
                neighbourhood.values.extend(values);
                neighbourhood.values.push(0);
            }
        }
        Self { site, level, pair, neighbourhood }
    }

    /// The same variable and neighbours with other values, which the caller knows to be in range.
    pub(crate) fn between(&self, pair: [u8; 2]) -> Self {
        Self { pair, ..*self }
    }

    /// What the variable's own factors say: log f(to) − log f(from), summed; known exactly.
    #[must_use]
    pub fn offset(&self) -> f64 {
        let [to, from] = self.pair.map(|value| self.site.own[usize::from(value)]);
        to - from
    }

    fn difference(&self, row: usize) -> f64 {
        match &self.site.storage {
            Storage::Bits(bits) => self.sign() * f64::from(bits.difference(row, &self.neighbourhood.bits)),
            Storage::Tables(tables) => tables.difference(row, self.pair, &self.neighbourhood.values),
        }
    }

    /// For binary variables: 1 for value 1 against 0, −1 for 0 against 1, 0 for a value against itself.
    fn sign(&self) -> f64 {
        f64::from(self.pair[0]) - f64::from(self.pair[1])
    }

    /// Adds the numbers of single rows.
    fn summarize_rows(&self, rows: impl Iterator<Item = usize>, moments: &mut Moments) {
        let mut buffer = [0.0; CHUNK];
        let mut count = 0;
        for row in rows {
            buffer[count] = self.difference(row);
            count += 1;
            if count == CHUNK {
                moments.merge(&Moments::of(&buffer));
                count = 0;
            }
        }
        moments.merge(&Moments::of(&buffer[..count]));
    }
}

/// The moments of the same numbers with the opposite sign.
fn negated(moments: &Moments) -> Moments {
    Moments {
        mean: -moments.mean,
        m3: -moments.m3,
        minimum: -moments.maximum,
        maximum: -moments.minimum,
        ..*moments
    }
}

impl Population for Conditional<'_> {
    fn len(&self) -> usize {
        self.site.order.len()
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        for (value, row) in out.iter_mut().zip(rows) {
            *value = self.difference(row);
        }
        Ok(())
    }

    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        let len = self.len();
        let start = |&block: &u32| block as usize * block_rows;
        let whole = block_rows.is_multiple_of(BLOCK) || blocks == [0] && block_rows >= len;
        if let Storage::Bits(bits) = &self.site.storage
            && whole
            && self.pair[0] != self.pair[1]
        {
            let pieces = block_rows.min(len).div_ceil(BLOCK);
            let last = len.div_ceil(BLOCK);
            let list = blocks.iter().flat_map(|block| {
                let first = start(block) / BLOCK;
                first..(first + pieces).min(last)
            });
            let mut part = Moments::EMPTY;
            bits.summarize(self.level, &self.neighbourhood.bits, list, &mut part);
            moments.merge(&if self.pair[0] > self.pair[1] { part } else { negated(&part) });
            return Ok(());
        }
        let rows = blocks.iter().flat_map(|block| start(block)..(start(block) + block_rows).min(len));
        self.summarize_rows(rows, moments);
        Ok(())
    }

    fn total(&mut self) -> Result<Moments> {
        let len = self.len();
        if let Some(polynomial) = &self.site.polynomial
            && len > 0
        {
            let sum = self.sign() * polynomial.value(self.level, &self.neighbourhood.bits);
            let unknown = Moments { m2: f64::NAN, m3: f64::NAN, m4: f64::NAN, ..Moments::EMPTY };
            return Ok(Moments { count: len as u64, mean: sum / len as f64, ..unknown });
        }
        let mut moments = Moments::EMPTY;
        self.summarize(&[0], len.max(1), &mut moments)?;
        Ok(moments)
    }

    fn original_row(&self, position: usize) -> usize {
        self.site.order[position] as usize
    }

    fn prefetch(&self, blocks: &[u32], block_rows: usize) {
        if let Storage::Bits(bits) = &self.site.storage
            && block_rows == BLOCK
        {
            blocks.iter().for_each(|&block| bits.prefetch(block as usize));
        }
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 1, scanned: u64::from(self.site.polynomial.is_none()) }
    }
}
