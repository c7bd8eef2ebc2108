//! E and π̄ as functions that cost nanoseconds: interpolation tables.
//!
//! Nodes μ_i = s₀·sinh(i·h), i = 0, …, up to the drift at which the first look decides all; cubic (four-point
//! Lagrange) in s = asinh(μ/s₀). s₀ = 0.01 because E has a cusp at 0 of the width 1/√t of the last look
//! before N (smaller still where that is). 97 nodes give about 1e-6 in E and 1e-5 in π̄ for constant steps;
//! the error is estimated by leaving out every other node (one sixteenth of the change), and nodes are
//! doubled until it is below the aim. Cost: one [`TestWalk::outcome`] per node.

use super::walk::{Accuracy, Outcome, TestWalk};

const SCALE: f64 = 0.01;
const FIRST_NODES: usize = 97;
const MOST_NODES: usize = 3073;

/// E and π̄ of one test, tabulated.
#[derive(Clone, Debug)]
pub struct ErrorTable {
    /// (E, π̄ − π_1) at the nodes.
    nodes: Vec<[f64; 2]>,
    scale: f64,
    spacing: f64,
    first_share: f64,
}

impl ErrorTable {
    /// Tabulates `walk`; the aim is 1e-7 in E and 1e-6 in π̄ for [`Accuracy::Exact`], a hundred times that
    /// for [`Accuracy::Fast`].
    #[must_use]
    pub fn new(walk: &TestWalk, accuracy: Accuracy) -> Self {
        let aim = match accuracy {
            Accuracy::Exact => 1e-7,
            Accuracy::Fast => 1e-5,
        };
        let last_time = walk.plan().stages().last().map_or(1.0, |stage| stage.time);
        let scale = SCALE.min(0.5 / last_time.sqrt());
        let mut table = Self {
            nodes: Vec::new(),
            scale,
            spacing: (walk.certain_drift() / scale).asinh() / (FIRST_NODES - 1) as f64,
            first_share: walk.first_share(),
        };
        let node = |drift: f64| {
            let Outcome { error, data_usage } = walk.outcome(drift);
            [error, data_usage - walk.first_share()]
        };
        if table.spacing == 0.0 {
            return table; // one look: always right, always all data
        }
        table.nodes = (0..FIRST_NODES).map(|i| node(table.drift_at(i as f64 * table.spacing))).collect();
        loop {
            let [error, usage] = table.halving_error();
            if (error <= aim && usage <= 10.0 * aim) || table.nodes.len() >= MOST_NODES {
                return table;
            }
            table.spacing *= 0.5;
            let old = std::mem::take(&mut table.nodes);
            for (i, kept) in old.iter().enumerate() {
                if i > 0 {
                    table.nodes.push(node(table.drift_at((2 * i - 1) as f64 * table.spacing)));
                }
                table.nodes.push(*kept);
            }
        }
    }

    /// A sixteenth of the change at odd nodes when only even ones are used: what the full table errs by.
    fn halving_error(&self) -> [f64; 2] {
        let even: Vec<[f64; 2]> = self.nodes.iter().copied().step_by(2).collect();
        let mut worst = [0.0; 2];
        for (i, value) in self.nodes.iter().enumerate().skip(1).step_by(2) {
            let guess = cubic(&even, i as f64 / 2.0);
            for k in 0..2 {
                worst[k] = f64::max(worst[k], (guess[k] - value[k]).abs() / 16.0);
            }
        }
        worst
    }

    /// E and π̄ at `mu_std`; only its size matters, NaN counts as 0.
    #[must_use]
    pub fn outcome(&self, mu_std: f64) -> Outcome {
        let drift = if mu_std.is_nan() { 0.0 } else { mu_std.abs() };
        let [error, usage] = self.at((drift / self.scale).asinh());
        Outcome { error, data_usage: self.first_share + usage }
    }

    /// E(0), the largest error.
    #[must_use]
    pub fn worst_error(&self) -> f64 {
        self.nodes.first().map_or(0.0, |node| node[0])
    }

    /// Share of the data at the first look that can decide.
    #[must_use]
    pub fn first_share(&self) -> f64 {
        self.first_share
    }

    /// (E, π̄ − π_1) at s = asinh(μ/s₀).
    pub(crate) fn at(&self, s: f64) -> [f64; 2] {
        let position = s / self.spacing;
        if self.nodes.is_empty() || position >= (self.nodes.len() - 1) as f64 {
            return [0.0; 2];
        }
        let [error, usage] = cubic(&self.nodes, position);
        [error.clamp(0.0, 0.5), usage.clamp(0.0, 1.0 - self.first_share)]
    }

    /// The largest tabulated s; beyond it decisions are certain.
    pub(crate) fn end(&self) -> f64 {
        self.spacing * self.nodes.len().saturating_sub(1) as f64
    }

    pub(crate) fn drift_at(&self, s: f64) -> f64 {
        self.scale * s.sinh()
    }

    pub(crate) fn scale(&self) -> f64 {
        self.scale
    }
}

/// Four-point Lagrange interpolation at `position` in units of the spacing.
fn cubic(nodes: &[[f64; 2]], position: f64) -> [f64; 2] {
    let start = (position as usize).saturating_sub(1).min(nodes.len().saturating_sub(4));
    let x = position - start as f64;
    let weights = [
        -(x - 1.0) * (x - 2.0) * (x - 3.0) / 6.0,
        x * (x - 2.0) * (x - 3.0) / 2.0,
        -x * (x - 1.0) * (x - 3.0) / 2.0,
        x * (x - 1.0) * (x - 2.0) / 6.0,
    ];
    let mut sum = [0.0; 2];
    for (weight, node) in weights.iter().zip(&nodes[start..]) {
        sum[0] += weight * node[0];
        sum[1] += weight * node[1];
    }
    sum
}
