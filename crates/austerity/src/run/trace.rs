//! The draws in memory: per chain the recorded numbers, draw after draw, and the decision behind each draw.

use serde::{Deserialize, Serialize};

use crate::rule::Decision;

/// The draws of one chain.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ChainTrace {
    /// Draw after draw, all parameters of each.
    pub values: Vec<f64>,
    /// The last decision of each draw.
    pub decisions: Vec<Decision>,
}

impl ChainTrace {
    /// Number of draws.
    #[must_use]
    pub fn len(&self) -> usize {
        self.decisions.len()
    }

    /// Whether there is no draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.decisions.is_empty()
    }

    /// The draws from number `first` on, of `width` numbers each.
    #[must_use]
    pub fn tail(&self, first: usize, width: usize) -> Self {
        Self { values: self.values[first * width..].to_vec(), decisions: self.decisions[first..].to_vec() }
    }
}

/// The draws of all chains.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Trace {
    /// Names of the parameters.
    pub names: Vec<String>,
    /// One entry per chain. Chains stopped by time may differ in length by a few draws: every reader below
    /// cuts them to the shortest, and a resumed run goes on from all of them.
    pub chains: Vec<ChainTrace>,
}

impl Trace {
    /// Draws per chain: the length of the shortest.
    #[must_use]
    pub fn len(&self) -> usize {
        self.chains.iter().map(ChainTrace::len).min().unwrap_or(0)
    }

    /// Whether some chain has no draw.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The draws of one parameter, chain by chain, all of equal length.
    #[must_use]
    pub fn parameter(&self, index: usize) -> Vec<Vec<f64>> {
        let (length, width) = (self.len(), self.names.len());
        self.chains
            .iter()
            .map(|chain| {
                chain.values.iter().skip(index).step_by(width.max(1)).take(length).copied().collect()
            })
            .collect()
    }

    /// One draw of one chain.
    #[must_use]
    pub fn draw(&self, chain: usize, draw: usize) -> Option<&[f64]> {
        let width = self.names.len();
        self.chains.get(chain)?.values.get(draw * width..(draw + 1) * width)
    }

    /// Adds the draws of a later session of the same run.
    pub fn append(&mut self, later: Self) {
        if self.chains.is_empty() {
            *self = later;
            return;
        }
        for (chain, more) in self.chains.iter_mut().zip(later.chains) {
            chain.values.extend(more.values);
            chain.decisions.extend(more.decisions);
        }
    }
}
