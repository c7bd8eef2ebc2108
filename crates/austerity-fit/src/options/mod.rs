//! What a user can ask for: the options of the commands, which are the keyword arguments of the Python package too.
//!
//! | file | of |
//! |---|---|
//! | `family` | every command that has a likelihood |
//! | `fit` | `fit` |
//! | `predict` | `predict`, `merge` |
//! | `runs` | commands that read runs, and `convert` |
//! | `theory` | `analyze`, `design`, `check` |

use std::path::PathBuf;

use clap::Args;
use serde::{Deserialize, Serialize};

mod family;
mod fit;
mod predict;
mod runs;
mod theory;

pub use family::FamilyChoice;
pub(crate) use fit::size_words;
pub use fit::{FIT_EXAMPLES, FitOptions, LengthOptions, MAX_DISK, Preset, RuleChoice, ShapeOptions};
pub use predict::{MERGE_EXAMPLES, MergeOptions, PREDICT_EXAMPLES, PredictOptions};
pub use runs::{ConvertOptions, ExportFormat, ExportOptions, ReportOptions, RunOptions, VerifyOptions};
pub use theory::{
    ANALYZE_EXAMPLES, AnalyzeOptions, BoundFamily, CHECK_EXAMPLES, CheckOptions, DESIGN_EXAMPLES,
    DesignOptions, StatisticChoice,
};

/// Options of every command.
#[derive(Args, Debug)]
pub struct Common {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Seed of the random numbers. [default: 1]
    #[arg(long, global = true, value_name = "SEED")]
    seed: Option<u64>,
    /// Threads (0: one per core). The draws do not depend on it.
    #[arg(long, global = true, default_value_t = 0, value_name = "THREADS")]
    pub threads: usize,
}

impl Common {
    /// The seed: 1 unless given.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The same with another seed.
    pub(crate) fn with_seed(&self, seed: u64) -> Self {
        Self { seed: Some(seed), ..*self }
    }

    /// The seed that was typed.
    pub fn given_seed(&self) -> Option<u64> {
        self.seed
    }
}

/// Where the data are and which column is what.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataOptions {
    /// A CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file, or a store made by `convert`.
    pub data: PathBuf,
    /// Response column (a store has its own).
    #[arg(long, value_name = "COL")]
    pub response: Option<String>,
    /// Feature columns. [default: all columns without another role]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub features: Option<Vec<String>>,
    /// Features to treat as categorical even if they hold numbers.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// Value of a two-valued response that counts as a success. [default: the larger number, or the text that sorts last]
    #[arg(long, value_name = "VALUE")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub success: Option<String>,
    /// Reference level of a categorical feature; may be repeated. [default: its most frequent level]
    #[arg(long, value_name = "COL=LEVEL")]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reference: Vec<String>,
    /// Column of frequency weights.
    #[arg(long, value_name = "COL")]
    pub weights: Option<String>,
    /// Column of binomial trials.
    #[arg(long, value_name = "COL")]
    pub trials: Option<String>,
    /// Column of offsets: a known part of the linear predictor, such as log exposure.
    #[arg(long, value_name = "COL")]
    pub offset: Option<String>,
    /// Leave out the intercept.
    #[arg(long)]
    pub no_intercept: bool,
    /// Standardise numeric features; priors then apply to the standardised columns.
    #[arg(long)]
    pub standardize: bool,
    /// Likelihood. [default: logistic for a response with two values or --trials, otherwise linear]
    #[arg(long, value_enum)]
    pub family: Option<FamilyChoice>,
}
