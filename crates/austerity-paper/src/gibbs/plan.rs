//! How large the experiment is.

use austerity::rule::{Law, RuleSettings, SequentialSettings};
use serde::Serialize;

use crate::extent::Extent;

/// Everything that is chosen.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Plan {
    /// D.
    pub(super) variables: usize,
    /// Standard deviation of the log potentials.
    pub(super) sd: f64,
    /// m.
    pub(super) batch: usize,
    /// ε of the tests.
    pub(super) epsilons: Vec<f64>,
    /// Conditionals whose probabilities are measured, and tests of each at each ε.
    pub(super) conditionals: usize,
    pub(super) repeats: u32,
    /// M and the size of the subsets.
    pub(super) subsets: usize,
    pub(super) subset_size: usize,
    /// Chains of each kind, CPU seconds of each, times at which they are looked at.
    pub(super) chains: u32,
    pub(super) seconds: f64,
    pub(super) checkpoints: usize,
    /// Sweeps of the exact chains that stand for the truth, all together.
    pub(super) truth_sweeps: u64,
    /// Variables of the field with four values, conditionals and races of each.
    pub(super) race_variables: usize,
    pub(super) race_conditionals: usize,
    pub(super) race_repeats: u32,
}

impl Plan {
    /// The plan of a size: the paper's field at every size, the paper's times at the last.
    pub(super) fn of(extent: Extent) -> Self {
        let size = extent.size;
        let count = |quick, usual, paper| extent.count(quick, usual, paper) as u32;
        Self {
            variables: 100,
            sd: 0.02,
            batch: 500,
            epsilons: vec![0.01, 0.05, 0.1, 0.15, 0.2, 0.25],
            conditionals: size.pick(11, 25, 49),
            repeats: count(2_000, 20_000, 100_000),
            subsets: 1600,
            subset_size: 5,
            chains: size.pick(3, 6, 10),
            seconds: extent.amount(1.2, 10.0, 1000.0 / 64.0),
            checkpoints: size.pick(9, 15, 25),
            truth_sweeps: extent.count(200_000, 6_000_000, 20_000_000),
            race_variables: 40,
            race_conditionals: size.pick(6, 12, 24),
            race_repeats: count(1_500, 10_000, 100_000),
        }
    }

    /// The smallest that shows every part, for tests.
    #[cfg(test)]
    pub(super) fn tiny() -> Self {
        Self {
            variables: 24,
            sd: 0.09,
            batch: 50,
            epsilons: vec![0.01, 0.05, 0.1, 0.15, 0.2, 0.25],
            conditionals: 5,
            repeats: 200,
            subsets: 20,
            chains: 2,
            seconds: 0.02,
            checkpoints: 3,
            truth_sweeps: 4_000,
            race_variables: 12,
            race_conditionals: 2,
            race_repeats: 200,
            ..Self::of(crate::context::Size::Quick.into())
        }
    }

    /// N: factors at a variable.
    pub(super) fn factors(&self) -> usize {
        (self.variables - 1) * (self.variables - 2) / 2
    }

    /// The paper's test to the letter: pairs drawn one by one.
    pub(super) fn letter(&self, epsilon: f64) -> SequentialSettings {
        SequentialSettings { law: Law::Logistic, ..SequentialSettings::paper(self.batch, epsilon) }
    }

    /// The same test on blocks of 32 pairs, which is how a chain should read.
    pub(super) fn blocks(&self, epsilon: f64) -> RuleSettings {
        let blocks = SequentialSettings::constant(self.batch, epsilon);
        RuleSettings::Sequential(SequentialSettings { law: Law::Logistic, guard: None, ..blocks })
    }
}
