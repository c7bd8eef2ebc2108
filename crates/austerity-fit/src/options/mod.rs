//! What a user can ask for: the options of the commands, which are the keyword arguments of the Python package too.
//!
//! | file | of |
//! |---|---|
//! | `fit` | `fit` |
//! | `predict` | `predict`, `merge` |
//! | `runs` | commands that read runs, and `convert` |
//! | `theory` | `analyze`, `design`, `check` |

use std::path::PathBuf;

use austerity::model::generate::{self, Generate};
use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

mod fit;
mod predict;
mod runs;
mod theory;

pub(crate) use fit::size_words;
pub use fit::{FIT_EXAMPLES, FitOptions, LengthOptions, MAX_DISK, Preset, RuleChoice, ShapeOptions};
pub use predict::{MERGE_EXAMPLES, MergeOptions, PREDICT_EXAMPLES, PredictOptions};
pub use runs::{ConvertOptions, ExportFormat, ExportOptions, ReportOptions, RunOptions};
pub use theory::{
    ANALYZE_EXAMPLES, AnalyzeOptions, BoundFamily, CHECK_EXAMPLES, CheckOptions, DESIGN_EXAMPLES,
    DesignOptions, StatisticChoice,
};

/// Options of every command.
#[derive(Args, Debug)]
pub struct Common {
    /// Print JSON instead of tables and words.
    #[arg(long, global = true)]
    pub json: bool,
    /// Seed of everything random.
    #[arg(long, global = true, value_name = "SEED")]
    seed: Option<u64>,
    /// Threads (0: as many as there are cores). Never changes a draw.
    #[arg(long, global = true, default_value_t = 0, value_name = "THREADS")]
    pub threads: usize,
}

impl Common {
    /// The seed: 1 unless given.
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The seed that was typed.
    pub fn given_seed(&self) -> Option<u64> {
        self.seed
    }
}

/// The likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FamilyChoice {
    /// Binary response, or counts out of --trials.
    Logistic,
    /// Real response, normal noise.
    Linear,
    /// Counts, log link.
    Poisson,
    /// Real response, Student-t noise with 4 degrees of freedom.
    Student,
}

impl FamilyChoice {
    /// Data of this family with known coefficients.
    #[must_use]
    pub fn generate(self, rows: usize, features: usize) -> Generate {
        let family = match self {
            Self::Logistic => generate::logistic,
            Self::Linear => generate::linear,
            Self::Poisson => generate::poisson,
            Self::Student => generate::student,
        };
        family(rows, features)
    }
}

/// Where the data are and which column is what.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct DataOptions {
    /// A CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file, or a store made by `convert`.
    pub data: PathBuf,
    /// The column to be explained; a store knows its own.
    #[arg(long, value_name = "COL")]
    pub response: Option<String>,
    /// The columns that explain it (all others without a role).
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub features: Option<Vec<String>>,
    /// Features whose values are levels, even when they are numbers.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub categorical: Vec<String>,
    /// Frequency weights.
    #[arg(long, value_name = "COL")]
    pub weights: Option<String>,
    /// Binomial trials.
    #[arg(long, value_name = "COL")]
    pub trials: Option<String>,
    /// Known part of the linear predictor.
    #[arg(long, value_name = "COL")]
    pub offset: Option<String>,
    /// No intercept.
    #[arg(long)]
    pub no_intercept: bool,
    /// Standardise numeric features.
    #[arg(long)]
    pub standardize: bool,
    /// The likelihood. [default: logistic for a response with two values or --trials, else linear]
    #[arg(long, value_enum)]
    pub family: Option<FamilyChoice>,
}
