//! The tests among which a design is looked for.
//!
//! A candidate is a first look m, a growth of the looks and a bound. Spaces are grids: (m, ε) with constant
//! steps and bounds as in the paper, (m, G₀, α) of Wang & Tsiatis (1987), each with any growths. Grids are
//! geometric, because error and data use change with log m and log ε.

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::rule::bound::{Base, Shape, Time, normal_upper};
use crate::rule::{Bound, Guard, Law, Looks, SequentialSettings, Statistic};
use crate::theory::TestPlan;

/// One sequential test that a design may choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TestCandidate {
    /// m: rows of the first look.
    pub first: usize,
    /// Factor between looks; 1 for constant steps.
    pub growth: f64,
    /// The bound.
    pub bound: Bound,
}

impl TestCandidate {
    /// The rule of thumb of the paper (section 5.2): m ≈ 500, so that means are normal, and a small ε.
    #[must_use]
    pub fn heuristic(rows: usize) -> Self {
        Self { first: 500.min(rows.max(1)), growth: 1.0, bound: Bound::pocock(0.01) }
    }

    /// Settings of a rule with this test, the guard on.
    ///
    /// The design computes with the critical values of its space's statistic, normal unless told otherwise, and without
    /// the guard. [`Statistic::Student`] has wider bounds than what was computed (by 0.2 % at 500 rows, 1 % at 100) and the guard
    /// forbids decisions: with either the rule errs less and reads more than the design says, never the reverse.
    #[must_use]
    pub fn settings(&self, statistic: Statistic, law: Law, block_rows: usize) -> SequentialSettings {
        SequentialSettings {
            looks: Looks::Growing { first: self.first, growth: self.growth },
            bound: self.bound,
            statistic,
            law,
            missed: None,
            stop_at: None,
            guard: Some(Guard::default()),
            block_rows,
        }
    }

    /// ε: the one-sided level of the bound's base.
    #[must_use]
    pub fn epsilon(&self) -> f64 {
        match self.bound.base {
            Base::Epsilon(epsilon) => epsilon,
            Base::Critical(critical) => crate::rule::bound::normal_tail(critical),
        }
    }
}

/// A grid of candidates, all combinations of its lists.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Space {
    /// First looks.
    pub first: Vec<usize>,
    /// Growths.
    pub growth: Vec<f64>,
    /// Bounds.
    pub bounds: Vec<Bound>,
    /// Reference distribution of the statistic, normal unless told otherwise.
    pub statistic: Statistic,
    /// Rows drawn together: looks are rounded up to whole blocks.
    pub block_rows: usize,
}

impl Space {
    /// The paper's: 10 first looks from 500 (or N/20) to N/2 and 20 levels ε from 0.0005 to 0.3, constant
    /// steps.
    pub fn constant(rows: usize) -> Result<Self> {
        let bounds = geometric(5e-4, 0.3, 20).into_iter().map(Bound::pocock).collect();
        Ok(Self { first: first_looks(rows)?, growth: vec![1.0], bounds, ..Self::empty() })
    }

    /// Wang–Tsiatis bounds: α from Pocock (½) to O'Brien–Fleming (1), 10 values of G₀, 8 first looks.
    pub fn wang_tsiatis(rows: usize) -> Result<Self> {
        let mut bounds = Vec::new();
        for alpha in [0.5, 0.625, 0.75, 0.875, 1.0] {
            for epsilon in geometric(5e-4, 0.3, 10) {
                let shape = Shape::WangTsiatis { alpha };
                let base = Base::Critical(normal_upper(epsilon));
                bounds.push(Bound { base, shape, time: Time::Share });
            }
        }
        let first = first_looks(rows)?.into_iter().take(8).collect();
        Ok(Self { first, growth: vec![1.0], bounds, ..Self::empty() })
    }

    /// This space with these growths of the looks.
    #[must_use]
    pub fn with_growth(mut self, growth: &[f64]) -> Self {
        self.growth = growth.to_vec();
        self
    }

    /// This space with blocks of `block_rows` rows.
    #[must_use]
    pub fn with_blocks(mut self, block_rows: usize) -> Self {
        self.block_rows = block_rows;
        self
    }

    /// This space with these first looks.
    #[must_use]
    pub fn with_first(mut self, first: &[usize]) -> Self {
        self.first = first.to_vec();
        self
    }

    fn empty() -> Self {
        Self {
            first: Vec::new(),
            growth: Vec::new(),
            bounds: Vec::new(),
            statistic: Statistic::Normal,
            block_rows: 1,
        }
    }

    /// The bounds of one shape and clock each, by falling critical values.
    pub(super) fn families(&self) -> Vec<Vec<Bound>> {
        let mut families: Vec<Vec<Bound>> = Vec::new();
        for &bound in &self.bounds {
            match families.iter_mut().find(|f| f[0].shape == bound.shape && f[0].time == bound.time) {
                Some(family) => family.push(bound),
                None => families.push(vec![bound]),
            }
        }
        for family in &mut families {
            family.sort_by(|a, b| b.base_critical().total_cmp(&a.base_critical()));
        }
        families
    }

    /// All candidates.
    #[must_use]
    pub fn candidates(&self) -> Vec<TestCandidate> {
        let mut candidates = Vec::with_capacity(self.first.len() * self.growth.len() * self.bounds.len());
        for &first in &self.first {
            for &growth in &self.growth {
                candidates.extend(self.bounds.iter().map(|&bound| TestCandidate { first, growth, bound }));
            }
        }
        candidates
    }

    /// The looks of a candidate on `rows` rows.
    pub fn plan(&self, candidate: &TestCandidate, rows: usize) -> Result<TestPlan> {
        let settings = SequentialSettings {
            guard: None,
            ..candidate.settings(self.statistic, Law::Metropolis, self.block_rows)
        };
        TestPlan::of_settings(&settings, rows)
    }
}

fn first_looks(rows: usize) -> Result<Vec<usize>> {
    if rows < 2 {
        return Err(setting("rows (N)", rows, "at least 2"));
    }
    let from = 500.0f64.min(rows as f64 / 20.0).max(1.0);
    let mut looks: Vec<usize> =
        geometric(from, 0.5 * rows as f64, 10).into_iter().map(|m| m.round() as usize).collect();
    looks.dedup();
    Ok(looks)
}

fn geometric(from: f64, to: f64, count: usize) -> Vec<f64> {
    (0..count).map(|i| from * (to / from).powf(i as f64 / (count - 1) as f64)).collect()
}
