//! What can be typed after `predict` and `merge`.

use std::path::PathBuf;

use clap::Args;

/// Shown below the help of `predict`.
pub const PREDICT_EXAMPLES: &str = "\
Examples:
  austerity predict run new.parquet --out predictions.parquet
  austerity predict run new.csv --out predictions.csv --interval 0.9 --draws 4000
  austerity predict run held-out.csv --out predictions.csv --json

Columns written: row (from 1), mean, lower, upper: the expected response and its interval; for linear, student, poisson and
binomial runs also predictive_lower, predictive_upper: the interval of a new observation. Where DATA has the response, the
predictions are scored.";

/// Shown below the help of `merge`.
pub const MERGE_EXAMPLES: &str = "\
Examples:
  austerity fit data.parquet --response y --out a --chains 2
  austerity fit data.parquet --response y --out b --chains 2 --first-chain 2      (on another machine)
  austerity merge a b --out run";

/// Options of `predict`.
#[derive(Args, Debug)]
pub struct PredictOptions {
    /// The folder of a run.
    pub run: PathBuf,
    /// New rows: a CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file with the features of the run.
    pub data: PathBuf,
    /// The file to write; its extension says the format (.parquet, .csv, .csv.gz).
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// Probability of the intervals, equal-tailed.
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_hyphen_values = true)]
    pub interval: f64,
    /// Most draws to use, evenly spread over all chains.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub draws: usize,
}

/// Options of `merge`.
#[derive(Args, Debug)]
pub struct MergeOptions {
    /// Runs of the same data and settings whose chains have different numbers.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// The folder of the merged run.
    #[arg(long, value_name = "RUN")]
    pub out: PathBuf,
}
