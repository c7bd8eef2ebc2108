//! What can be typed after the commands that read runs, and after `convert`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::DataOptions;
use crate::parse;

/// A run on disk.
#[derive(Args, Debug)]
pub(crate) struct RunOptions {
    /// The folder of a run.
    pub(crate) run: PathBuf,
}

/// Options of `report`.
#[derive(Args, Debug)]
pub(crate) struct ReportOptions {
    /// The folder of a run.
    pub(crate) run: PathBuf,
    /// The file to write. [default: RUN/report.html]
    #[arg(long, value_name = "FILE")]
    pub(crate) out: Option<PathBuf>,
}

/// How draws are exported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportFormat {
    Parquet,
    Csv,
}

/// Options of `export`.
#[derive(Args, Debug)]
pub(crate) struct ExportOptions {
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
pub(crate) struct ConvertOptions {
    #[command(flatten)]
    pub(crate) data: DataOptions,
    /// The folder of the store.
    #[arg(long, value_name = "STORE")]
    pub(crate) out: PathBuf,
    /// Memory for the shuffle, such as 500MB or 2GB.
    #[arg(long, value_name = "BYTES", default_value = "1GB", value_parser = parse::bytes)]
    pub(crate) memory: usize,
    /// Stores to make, each a random part of the rows.
    #[arg(long, value_name = "K", default_value_t = 1)]
    pub(crate) shards: usize,
}

/// Options of `completions`.
#[derive(Args, Debug)]
pub(crate) struct CompletionsOptions {
    /// The shell.
    #[arg(value_enum)]
    pub(crate) shell: clap_complete::Shell,
}

/// Options of `man`.
#[derive(Args, Debug)]
pub(crate) struct ManOptions {
    /// Folder for the pages of all commands; without one the main page is printed.
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
}
