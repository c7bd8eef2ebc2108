//! What can be typed after the commands that read runs, and after `convert`.

use std::path::PathBuf;

use austerity_fit::request::{PredictOptions, grammar};
use clap::{Args, ValueEnum};

use super::fit::DataArguments;

/// Shown below the help of `predict`.
pub(super) const PREDICT_EXAMPLES: &str = "\
Examples:
  austerity predict run new.parquet --out predictions.parquet
  austerity predict run new.csv --out predictions.csv --interval 0.9 --draws 4000
  austerity predict run held-out.csv --out predictions.csv --json

Columns written: row (from 1), mean, lower, upper: the expected response and its interval; except for binary
responses also predictive_lower, predictive_upper: the interval of a new observation. Where DATA has the response, the predictions
are scored.";

/// Shown below the help of `merge`.
pub(super) const MERGE_EXAMPLES: &str = "\
Examples:
  austerity fit data.parquet --response y --out a --chains 2
  austerity fit data.parquet --response y --out b --chains 2 --first-chain 2      (on another machine)
  austerity merge a b --out run";

/// Options of `summary`.
#[derive(Args, Debug)]
pub(crate) struct SummaryArguments {
    /// The folder of a run.
    pub(crate) run: PathBuf,
    /// Group the coefficients by the terms of the formula, or by the features.
    #[arg(long)]
    pub(crate) terms: bool,
}

/// Options of `verify`.
#[derive(Args, Debug)]
pub(crate) struct VerifyArguments {
    /// The folder of a run, or a store made by `convert`.
    #[arg(value_name = "RUN|STORE")]
    pub(crate) path: PathBuf,
}

/// Options of `report`.
#[derive(Args, Debug)]
pub(crate) struct ReportArguments {
    /// The folder of a run.
    pub(crate) run: PathBuf,
    /// The file to write. [default: RUN/report.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// How draws are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "a comment would be shown in the help")]
pub(crate) enum ExportFormat {
    Parquet,
    Csv,
}

/// Options of `export`.
#[derive(Args, Debug)]
pub(crate) struct ExportArguments {
    /// The folder of a run.
    pub(crate) run: PathBuf,
    /// The format. [default: that of the extension of --out, else parquet]
    #[arg(long, value_enum)]
    pub(crate) format: Option<ExportFormat>,
    /// The file to write. [default: RUN/draws.parquet or RUN/draws.csv]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
    /// Also what is known of each draw's decision.
    #[arg(long)]
    pub(crate) statistics: bool,
}

/// Options of `convert`.
#[derive(Args, Debug)]
pub(crate) struct ConvertArguments {
    #[command(flatten)]
    pub(crate) data: DataArguments,
    /// The folder of the store.
    #[arg(long, value_name = "STORE")]
    pub(crate) out: PathBuf,
    /// Memory for the shuffle, such as 500MB or 2GB.
    #[arg(long, value_name = "BYTES", default_value = "1GB", value_parser = grammar::bytes)]
    pub(crate) memory: u64,
    /// Stores to make, each a random part of the rows.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) shards: usize,
}

/// Options of `predict`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PredictArguments {
    /// The folder of a run.
    run: PathBuf,
    /// New rows: a CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file with the features of the run.
    data: PathBuf,
    /// The file to write; its extension says the format (.parquet, .csv, .csv.gz).
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Probability of the intervals, equal-tailed.
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_hyphen_values = true)]
    interval: f64,
    /// Most draws to use, evenly spread over all chains.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    draws: usize,
    /// Times at which to predict the chance of survival, of a survival family; each becomes a column.
    #[arg(long, value_name = "TIME,...", value_delimiter = ',')]
    survival: Vec<f64>,
}

impl PredictArguments {
    pub(crate) fn options(&self) -> PredictOptions {
        let Self { run, data, out, interval, draws, survival } = self.clone();
        PredictOptions { run, data, out, interval, draws, survival }
    }
}

/// Options of `merge`.
#[derive(Args, Debug)]
pub(crate) struct MergeArguments {
    /// Runs of the same data and settings whose chains have different numbers.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub(crate) runs: Vec<PathBuf>,
    /// The folder of the merged run.
    #[arg(long, value_name = "RUN")]
    pub(crate) out: PathBuf,
}
