//! What came of a run: draws, costs, warnings, and why it ended.

use serde::Serialize;

use crate::diagnostics::{ESS_PER_CHAIN, RHAT_LIMIT, Summary};
use crate::error::Error;
use crate::rule::RuleSettings;
use crate::run::{Checkpoint, Counters, Trace};

/// Why a run ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Ended {
    /// All draws were made.
    Draws,
    /// The time was up.
    Seconds,
    /// The likelihood evaluations were spent.
    Evaluations,
    /// The effective sample size was reached.
    TargetEss,
    /// Somebody stopped it.
    Interrupted,
    /// A chain met an error; what was drawn before is kept.
    Failed {
        /// Number of the chain.
        chain: u32,
        /// What it met.
        error: Error,
    },
}

/// Draws, costs and the way on.
#[derive(Clone, Debug, PartialEq)]
pub struct Run<S, P> {
    /// The draws of this session.
    pub trace: Trace,
    /// All that is needed to go on.
    pub checkpoint: Checkpoint<S, P>,
    /// Why it ended.
    pub ended: Ended,
    /// Wall-clock seconds of this session.
    pub seconds: f64,
}

/// Share of the decisions that the guard may hold up before it is worth a word.
const GUARD_LIMIT: f64 = 0.01;
/// Share of the data at which a test of two evaluations per row costs as much as exact decisions.
const SHARE_LIMIT: f64 = 0.5;

impl<S, P> Run<S, P> {
    /// Counts of all chains after warm-up.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let mut all = Counters::default();
        self.checkpoint.chains.iter().for_each(|chain| all.add(&chain.sampling));
        all
    }

    /// Counts of all chains in warm-up.
    #[must_use]
    pub fn warmup_counters(&self) -> Counters {
        let mut all = Counters::default();
        self.checkpoint.chains.iter().for_each(|chain| all.add(&chain.warmup));
        all
    }

    /// Mean share of the data that a decision rested on, after warm-up.
    #[must_use]
    pub fn data_share(&self) -> f64 {
        self.counters().data_share(self.checkpoint.rows)
    }

    /// One summary per parameter.
    #[must_use]
    pub fn summary(&self) -> Vec<Summary> {
        self.trace
            .names
            .iter()
            .enumerate()
            .map(|(index, name)| {
                let chains = self.trace.parameter(index);
                let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
                Summary::new(name, &chains)
            })
            .collect()
    }

    /// Sentences about what a careful person would want to know before using the draws.
    #[must_use]
    pub fn warnings(&self, summary: &[Summary]) -> Vec<String> {
        let mut warnings = Vec::new();
        if let Ended::Failed { chain, error } = &self.ended {
            warnings.push(format!("Chain {chain} stopped: {error}. Draws made before are kept."));
        }
        let counters = self.counters();
        if counters.steps == 0 {
            warnings.push(
                "The run ended during warm-up: there is no draw yet. Give it more time or resume it.".into(),
            );
            return warnings;
        }
        if counters.accepted == 0 {
            warnings.push("No candidate was accepted: the chain has not moved. Use smaller steps.".into());
        }
        let share = counters.data_share(self.checkpoint.rows);
        let sequential = matches!(self.checkpoint.settings.rule, RuleSettings::Sequential(_));
        if sequential && share > SHARE_LIMIT {
            warnings.push(format!(
                "A decision read {:.0} % of the data on average: at two evaluations per row exact decisions would be cheaper. \
                 Use the exact rule or smaller steps.",
                100.0 * share
            ));
        }
        let guarded = counters.guarded as f64 / counters.steps as f64;
        if guarded > GUARD_LIMIT {
            warnings.push(format!(
                "The guard held up {:.1} % of the decisions: a few rows carry most of a difference there. \
                 Look for outliers, rare features or scales, or use the exact rule.",
                100.0 * guarded
            ));
        }
        let apart: Vec<&str> = summary
            .iter()
            .filter(|s| s.rhat > RHAT_LIMIT || s.rhat.is_nan())
            .map(|s| s.name.as_str())
            .collect();
        if !apart.is_empty() && self.trace.chains.len() > 1 {
            let worst = summary.iter().map(|s| s.rhat).fold(f64::NAN, f64::max);
            warnings.push(format!(
                "Chains disagree about {} of {} parameters (largest R-hat {worst:.3}, first: {}). Run longer.",
                apart.len(),
                summary.len(),
                apart[0]
            ));
        }
        if summary.iter().any(|s| s.ess_bulk.is_nan() || s.ess_tail.is_nan()) {
            warnings.push("There are too few draws to tell an effective sample size. Run longer.".into());
            return warnings;
        }
        let least = summary.iter().map(|s| s.ess_bulk.min(s.ess_tail)).fold(f64::INFINITY, f64::min);
        if least < ESS_PER_CHAIN * self.trace.chains.len() as f64 {
            warnings.push(format!(
                "The smallest effective sample size is {least:.0}: intervals are rough. Run longer or improve the proposal."
            ));
        }
        warnings
    }
}

/// Serialised only in words: errors are for people.
impl Serialize for Ended {
    fn serialize<T: serde::Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        serializer.serialize_str(&match self {
            Self::Draws => "draws".into(),
            Self::Seconds => "seconds".into(),
            Self::Evaluations => "evaluations".into(),
            Self::TargetEss => "target_ess".into(),
            Self::Interrupted => "interrupted".into(),
            Self::Failed { chain, error } => format!("failed: chain {chain}: {error}"),
        })
    }
}
