//! What was typed.

use clap::{Args, Parser, Subcommand};

/// Bayesian inference on tall data that reads a fraction of the data per step and says how wrong it may be.
#[derive(Debug, Parser)]
#[command(name = "austerity", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    pub(crate) common: Common,
}

/// Options of every command.
#[derive(Args, Debug)]
pub(crate) struct Common {
    /// Print JSON instead of tables and words.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Seed of everything random.
    #[arg(long, global = true, default_value_t = 1, value_name = "SEED")]
    pub(crate) seed: u64,
    /// Threads (0: as many as there are cores). Never changes a draw.
    #[arg(long, global = true, default_value_t = 0, value_name = "THREADS")]
    pub(crate) threads: usize,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Compares exact and sequential decisions on built-in data: a table and words, in under a minute.
    #[command(
        after_help = "Examples:\n  austerity demo\n  austerity demo --seconds 2 --rows 50000\n  austerity demo --json > demo.json"
    )]
    Demo(DemoOptions),
}

/// Options of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoOptions {
    /// Rows of the generated data.
    #[arg(long, default_value_t = 200_000, value_name = "N")]
    pub(crate) rows: usize,
    /// Features, besides the intercept.
    #[arg(long, default_value_t = 10, value_name = "D")]
    pub(crate) features: usize,
    /// Seconds that each rule may sample.
    #[arg(long, default_value_t = 9.0, value_name = "SECONDS", allow_negative_numbers = true)]
    pub(crate) seconds: f64,
}
