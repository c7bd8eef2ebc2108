//! What came of a run: draws, costs, warnings, and why it ended.

use std::convert::Infallible;

use serde::Serialize;

use crate::diagnostics::Summary;
use crate::error::Error;
use crate::parallel;
use crate::run::{Checkpoint, Counters, Evidence, Trace, Verdict, stuck};

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
    /// The draws could not be stored; what was stored before is kept.
    Unstored {
        /// What went wrong.
        error: Error,
    },
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
pub struct Run<S, L> {
    /// The draws of this session.
    pub trace: Trace,
    /// All that is needed to go on.
    pub checkpoint: Checkpoint<S, L>,
    /// Why it ended.
    pub ended: Ended,
    /// Wall-clock seconds of this session.
    pub seconds: f64,
}

impl<S, L> Run<S, L> {
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
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        let trace = &self.trace;
        let summaries = parallel::each(threads, &trace.names, |index, name| {
            let chains = trace.parameter(index);
            let chains: Vec<&[f64]> = chains.iter().map(Vec::as_slice).collect();
            Ok::<_, Infallible>(Summary::new(name, &chains))
        });
        summaries.unwrap_or_default()
    }

    /// Whether the draws of this session may be used.
    #[must_use]
    pub fn verdict(&self, summary: &[Summary]) -> Verdict {
        Verdict::new(&Evidence {
            summary,
            counters: &self.counters(),
            rows: self.checkpoint.rows,
            chains: self.trace.chains.len(),
            rule: &self.checkpoint.settings.rule,
            ended: Some(&self.ended),
            tightened: self.checkpoint.chains.iter().filter(|chain| !chain.tightened.is_empty()).count(),
            predicted_inflation: None,
            draws: self.trace.len(),
            stuck: stuck(self.checkpoint.chains.iter().map(|chain| &chain.sampling)),
            hazards: &[],
        })
    }

    /// Sentences about what a careful person would want to know before using the draws.
    #[must_use]
    pub fn warnings(&self, summary: &[Summary]) -> Vec<String> {
        let Verdict { reasons, remarks, .. } = self.verdict(summary);
        reasons.iter().chain(&remarks).map(ToString::to_string).collect()
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
            Self::Unstored { error } => format!("failed: {error}"),
            Self::Failed { chain, error } => format!("failed: chain {chain}: {error}"),
        })
    }
}
