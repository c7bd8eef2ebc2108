//! What is asked for: typed values that flags, keyword arguments and Rust build alike, and that `run.toml` keeps.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`Request`] and its parts |
//! | `build` | its builder, and [`Fit`], what comes of it |
//! | `choice` | choices among a few names |
//! | `grammar` | choices with numbers, such as `random-walk:0.01` |
//! | `keyword` | the options by name, and how each front end spells them |
//! | `part` | what `select`, `ica` and `gibbs` are asked for |
//! | `commands` | what other commands are asked for |
//!
//! A value that is not given is `None` and decided by the fit; a resumed run accepts no other value than it began with.

mod build;
mod choice;
mod commands;
mod family;
pub mod grammar;
mod keyword;
mod part;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use austerity_glm::Prior;
use serde::{Deserialize, Serialize};

use crate::refusal::Refusal;
pub use build::{Fit, OnTable, Verdict};
pub use choice::{BoundFamily, Choice, MissingChoice, Preset, RuleChoice, StatisticChoice, Unread};
pub use commands::{AnalyzeOptions, CheckOptions, Common, DesignOptions, PredictOptions};
pub use family::FamilyChoice;
pub use grammar::{AuditChoice, BoundChoice, LawChoice, ProposalChoice, Reference, SurrogateChoice};
pub use keyword::{Dialect, Keyword};
pub use part::{IcaOptions, PartOptions, SelectOptions};

/// The largest size of a run's folder unless another is given, in bytes.
pub const MAX_DISK: u64 = 1_000_000_000;

/// A fit as it is asked for.
///
/// ```no_run
/// # fn main() -> Result<(), austerity_fit::output::Failure> {
/// let fit = austerity_fit::Request::logistic("flights.parquet", "delayed").draws(2_000).out("run").run()?;
/// println!("{}", fit.verdict());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Request {
    /// The folder of the run; one named after the data where none is given.
    pub out: Option<PathBuf>,
    /// Whether to go on with the run in that folder.
    pub resume: bool,
    /// Seed of the random numbers; 1 where none is given.
    pub seed: Option<u64>,
    /// Threads; 0 stands for one per core. The draws do not depend on it.
    pub threads: usize,
    /// Where the data are and which column is what.
    pub data: DataOptions,
    /// How long the run is.
    pub length: LengthOptions,
    /// What shapes the draws.
    pub shape: ShapeOptions,
    /// Another posterior than that of a regression on all features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<PartOptions>,
}

/// Where the data are and which column is what.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DataOptions {
    /// The table or the store; of a table in memory, what messages call it.
    #[serde(alias = "data")]
    pub file: PathBuf,
    /// Further files with the same columns, whose rows come after those of the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<PathBuf>,
    /// The model as a formula, such as `y ~ x + C(city)`; it names the response, the features, the offset, the trials and the weights.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub formula: Option<String>,
    /// The response column; a store has its own.
    pub response: Option<String>,
    /// The feature columns; all columns without another role where none are given.
    pub features: Option<Vec<String>>,
    /// Features that are categorical even if they hold numbers.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub categorical: Vec<String>,
    /// The value of a two-valued response that counts as a success; the larger number, or the text that sorts last, where none is given.
    pub success: Option<String>,
    /// Reference levels of categorical features; the most frequent level where none is given.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<Reference>,
    /// The column of frequency weights.
    pub weights: Option<String>,
    /// The column of binomial trials.
    pub trials: Option<String>,
    /// The column that is 1 where a time is that of an event, and 0 where it is censored; every time is that of an event where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// The column of offsets, a known part of the linear predictor.
    pub offset: Option<String>,
    /// Whether to leave out the intercept.
    pub no_intercept: bool,
    /// Whether to standardise numeric features; priors then apply to the standardised columns.
    pub standardize: bool,
    /// What becomes of rows in which a column that is used has no value; refused where it is not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingChoice>,
    /// The likelihood; the usual one of the response where none is given.
    pub family: Option<FamilyChoice>,
    /// Rows that chains run on, of data that are read in parts; all rows in memory where there are no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sample_rows: Option<usize>,
    /// Bytes of memory that the rows may take; data that need more are read in parts. What is free on the machine where none is given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
}

/// What shapes the draws: a resumed run refuses other values.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ShapeOptions {
    /// The prior of every coefficient but the intercept.
    #[serde(with = "optional_text")]
    pub prior: Option<Prior>,
    /// The prior of the intercept, where every column is 0.
    #[serde(with = "optional_text")]
    pub prior_intercept: Option<Prior>,
    /// The accept/reject rule.
    pub rule: Option<RuleChoice>,
    /// A named set of choices.
    pub preset: Option<Preset>,
    /// The error probability ε of the sequential test, one-sided, at each look.
    pub epsilon: Option<f64>,
    /// Rows in the first look.
    pub batch: Option<usize>,
    /// The factor by which the sample grows between looks.
    pub growth: Option<f64>,
    /// The stopping boundary.
    pub bound: Option<BoundChoice>,
    /// The law of the acceptance threshold.
    pub law: Option<LawChoice>,
    /// A test stops once the standard error of the log acceptance ratio is below this.
    pub stop_at: Option<f64>,
    /// The largest mean error of the acceptance probability.
    pub tolerance: Option<f64>,
    /// The surrogate of the log-likelihood.
    pub surrogate: Option<SurrogateChoice>,
    /// The share of the decisions that are checked against all rows.
    pub audit: Option<AuditChoice>,
    /// Rows that are sampled as one block.
    pub block_rows: Option<usize>,
    /// The proposal distribution.
    pub proposal: Option<ProposalChoice>,
    /// The number of chains.
    pub chains: Option<u32>,
    /// The number of the first chain, for runs on several machines.
    pub first_chain: Option<u32>,
    /// Warm-up steps per chain.
    pub warmup: Option<u64>,
    /// Steps per draw.
    pub thin: Option<u64>,
    /// The parameters to store; all where none are given.
    pub keep: Option<Vec<String>>,
    /// The prior of the standard deviation of every group effect.
    #[serde(with = "optional_text", skip_serializing_if = "Option::is_none")]
    pub prior_group: Option<Prior>,
    /// Whether draws of all group effects are kept, however many groups there are.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub keep_groups: bool,
    /// Priors of single coefficients, and of sigma.
    #[serde(with = "texts", skip_serializing_if = "BTreeMap::is_empty")]
    pub priors: BTreeMap<String, Prior>,
}

impl ShapeOptions {
    /// Refuses proposals and surrogates that do not exist, before anything is read.
    pub(crate) fn check(&self) -> Result<(), Refusal> {
        self.proposal.unwrap_or_default().check()?;
        match self.surrogate {
            Some(surrogate @ SurrogateChoice::Order(order)) if !(1..=3).contains(&order) => {
                Err(Refusal::range(Keyword::Surrogate, surrogate, "taylor1, taylor2 or taylor3"))
            }
            _ => Ok(()),
        }
    }
}

/// How long a run is: a resumed run may change it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LengthOptions {
    /// Draws per chain, in total over all resumptions; planned by a pilot run where neither they nor another limit are given.
    pub draws: Option<u64>,
    /// Wall-clock time of this session, reading and preparation included.
    #[serde(with = "optional_duration")]
    pub budget: Option<Duration>,
    /// Likelihood evaluations of the chains.
    pub evaluations: Option<f64>,
    /// The bulk effective sample size of every parameter that ends the run.
    pub target_ess: Option<f64>,
    /// The largest size of the run's folder, in bytes.
    pub max_disk: Option<u64>,
}

/// Keeps a duration as people write it.
mod optional_duration {
    use serde::{Deserialize as _, Deserializer, Serializer};
    use std::time::Duration;

    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(&humantime::format_duration(*value)),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| humantime::parse_duration(&text).map_err(serde::de::Error::custom)).transpose()
    }
}

/// Keeps a prior as people write it.
mod optional_text {
    use austerity_glm::Prior;
    use serde::{Deserialize as _, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(value: &Option<Prior>, serializer: S) -> Result<S::Ok, S::Error> {
        match value {
            Some(value) => serializer.collect_str(value),
            None => serializer.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Prior>, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        text.map(|text| text.parse().map_err(serde::de::Error::custom)).transpose()
    }
}

/// Keeps priors as people write them.
mod texts {
    use std::collections::BTreeMap;

    use austerity_glm::Prior;
    use serde::{Deserialize as _, Deserializer, Serializer};

    type Priors = BTreeMap<String, Prior>;

    pub(super) fn serialize<S: Serializer>(value: &Priors, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(value.iter().map(|(name, prior)| (name, prior.to_string())))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Priors, D::Error> {
        let read =
            |(name, text): (String, String)| Ok((name, text.parse().map_err(serde::de::Error::custom)?));
        BTreeMap::<String, String>::deserialize(deserializer)?.into_iter().map(read).collect()
    }
}
