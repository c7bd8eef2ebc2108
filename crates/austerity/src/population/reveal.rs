//! A cursor that reveals a population without replacement in random block order.
//!
//! A rule asks for more rows and reads merged moments. Looks are rounded up to whole blocks; the last block
//! may be partial and comes at a random place like any other.

use crate::error::Result;
use crate::population::{BlockOrder, Certificate, Moments, Population};

/// How a rule is going to read a population, so that a model can prepare for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Random blocks: a cache of the current state would go stale unread.
    Blocks,
    /// All rows in storage order at every decision: a per-row cache of the current state pays.
    Scan,
}

/// What a decision has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Rows read, a row read twice counted twice.
    pub rows: u64,
    /// Likelihood evaluations.
    pub evaluations: u64,
}

/// What a rule sees: N numbers revealed step by step.
pub trait Reveal {
    /// Number of rows, N.
    fn len(&self) -> usize;

    /// Whether there is no row at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Reveals until at least `rows` rows (at most N) are seen, and gives the moments of all rows seen.
    fn extend_to(&mut self, rows: usize) -> Result<&Moments>;

    /// The moments of all N rows added in storage order, whatever was revealed before: the exact answer.
    fn total(&mut self) -> Result<Moments>;

    /// What is certain about [`Reveal::total`]; see [`Population::certify`].
    fn certify(&mut self, _stage: u32, _needed: f64) -> Result<Option<Certificate>> {
        Ok(None)
    }

    /// What was read so far.
    fn cost(&self) -> Cost;
}

/// Joins a population to the order in which a chain reveals it, for one decision.
#[derive(Debug)]
pub struct BlockReveal<'a, P: Population> {
    population: &'a mut P,
    order: &'a mut BlockOrder,
    moments: Moments,
    blocks: usize,
    rows: usize,
    cost: Cost,
}

impl<'a, P: Population> BlockReveal<'a, P> {
    /// A cursor at the beginning of the decision of `step`.
    pub fn new(population: &'a mut P, order: &'a mut BlockOrder, step: u64) -> Self {
        debug_assert_eq!(population.len(), order.rows());
        order.begin(step);
        Self { population, order, moments: Moments::EMPTY, blocks: 0, rows: 0, cost: Cost::default() }
    }
}

impl<P: Population> Reveal for BlockReveal<'_, P> {
    fn len(&self) -> usize {
        self.order.rows()
    }

    fn extend_to(&mut self, rows: usize) -> Result<&Moments> {
        let rows = rows.min(self.len());
        let block_rows = self.order.block_rows();
        while self.rows < rows {
            // One round is enough unless the partial last block is among the blocks drawn.
            let wanted = self.blocks + (rows - self.rows).div_ceil(block_rows);
            let fresh = &self.order.first(wanted)[self.blocks..];
            self.population.summarize(fresh, block_rows, &mut self.moments)?;
            let fresh_rows = self.order.rows_between(self.blocks, wanted);
            self.blocks = wanted;
            self.rows += fresh_rows;
            self.cost.rows += fresh_rows as u64;
            self.cost.evaluations += fresh_rows as u64 * self.population.row_cost().revealed;
            if self.moments.impossible() {
                break;
            }
        }
        Ok(&self.moments)
    }

    fn total(&mut self) -> Result<Moments> {
        let price = self.population.row_cost().scanned;
        let moments = self.population.total()?;
        let rows = self.len() as u64;
        self.cost.rows += rows * price.min(1);
        self.cost.evaluations += rows * price;
        Ok(moments)
    }

    fn certify(&mut self, stage: u32, needed: f64) -> Result<Option<Certificate>> {
        let certificate = self.population.certify(stage, needed)?;
        let rows = certificate.map_or(0, |certificate| certificate.rows);
        self.cost.rows += rows;
        self.cost.evaluations += rows * self.population.row_cost().revealed;
        Ok(certificate)
    }

    fn cost(&self) -> Cost {
        self.cost
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::population::Numbers;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_size_reveals_whole_blocks_without_repeats(
            rows in 1usize..200, block_rows in 1usize..70, looks in prop::collection::vec(1usize..250, 1..5), seed in any::<u64>(),
        ) {
            // Row i holds 2^i mod p in effect: distinct numbers, so that the moments betray a repeat.
            let mut population = Numbers((0..rows).map(|i| (i as f64).sqrt()).collect());
            let mut order = BlockOrder::new(rows, block_rows, seed, 0).unwrap();
            let total = population.total().unwrap();
            let mut cursor = BlockReveal::new(&mut population, &mut order, 9);
            let mut looks = looks;
            looks.sort_unstable();
            for n in looks {
                let seen = cursor.extend_to(n).unwrap().count as usize;
                prop_assert!(seen >= n.min(rows));
                // Rounded up by less than a block, or two when the partial block fell inside.
                prop_assert!(seen < n.min(rows) + block_rows);
            }
            let all = *cursor.extend_to(rows).unwrap();
            prop_assert_eq!(all.count as usize, rows);
            prop_assert!((all.mean - total.mean).abs() < 1e-9);
            prop_assert!((all.m2 - total.m2).abs() < 1e-6);
            prop_assert_eq!(all.minimum, total.minimum);
            prop_assert_eq!(all.maximum, total.maximum);
            prop_assert_eq!(cursor.cost().rows as usize, rows);
        }
    }
}
