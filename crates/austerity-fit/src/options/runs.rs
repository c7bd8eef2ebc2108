//! What can be typed after the commands that read runs, and after `convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DataOptions;
use crate::parse;

/// A run on disk.
#[derive(Args, Debug)]
pub struct RunOptions {
    /// The folder of a run.
    pub run: PathBuf,
}

/// Options of `verify`.
#[derive(Args, Debug)]
pub struct VerifyOptions {
    /// The folder of a run, or a store made by `convert`.
    #[arg(value_name = "RUN|STORE")]
    pub path: PathBuf,
}

/// Options of `report`.
#[derive(Args, Debug)]
pub struct ReportOptions {
    /// The folder of a run.
    pub run: PathBuf,
    /// The file to write. [default: RUN/report.html]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
}

/// How draws are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
#[allow(missing_docs, reason = "a comment would be shown in the help")]
pub enum ExportFormat {
    Parquet,
    Csv,
}

/// Options of `export`.
#[derive(Args, Debug)]
pub struct ExportOptions {
    /// The folder of a run.
    pub run: PathBuf,
    /// The format. [default: that of the extension of --out, else parquet]
    #[arg(long, value_enum)]
    pub format: Option<ExportFormat>,
    /// The file to write. [default: RUN/draws.parquet or RUN/draws.csv]
    #[arg(long, value_name = "FILE")]
    pub out: Option<PathBuf>,
    /// Also what is known of each draw's decision.
    #[arg(long)]
    pub statistics: bool,
}

/// Options of `convert`.
#[derive(Args, Debug)]
pub struct ConvertOptions {
    /// The table.
    #[command(flatten)]
    pub data: DataOptions,
    /// The folder of the store.
    #[arg(long, value_name = "STORE")]
    pub out: PathBuf,
    /// Memory for the shuffle, such as 500MB or 2GB.
    #[arg(long, value_name = "BYTES", default_value = "1GB", value_parser = parse::bytes)]
    pub memory: usize,
    /// Stores to make, each a random part of the rows.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub shards: usize,
}
