//! What was typed.

use std::path::PathBuf;

use austerity::rule::Law;
use clap::{Args, Parser, Subcommand, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::parse::{self, BoundChoice, DesignLaw};

mod data;
mod fit;
mod predict;
mod reproduce;
mod runs;

pub(crate) use data::{DataCommand, FetchOptions};
pub(crate) use fit::{FitOptions, LengthOptions, Preset, RuleChoice, ShapeOptions};
pub(crate) use predict::{MergeOptions, PredictOptions};
pub(crate) use reproduce::ReproduceOptions;
pub(crate) use runs::{
    CompletionsOptions, ConvertOptions, ExportFormat, ExportOptions, ManOptions, ReportOptions, RunOptions,
};

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
    #[arg(long, global = true, value_name = "SEED")]
    seed: Option<u64>,
    /// Threads (0: as many as there are cores). Never changes a draw.
    #[arg(long, global = true, default_value_t = 0, value_name = "THREADS")]
    pub(crate) threads: usize,
}

impl Common {
    /// The seed: 1 unless given.
    pub(crate) fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The seed that was typed.
    pub(crate) fn given_seed(&self) -> Option<u64> {
        self.seed
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// From a file to a posterior: draws on disk, a summary, and whether to trust it.
    #[command(after_help = fit::FIT_EXAMPLES)]
    Fit(Box<FitOptions>),
    /// What a run found, and whether to trust it: a table and sentences.
    #[command(after_help = "Examples:\n  austerity summary run\n  austerity summary run --json")]
    Summary(RunOptions),
    /// One page about a run, for a browser, a phone or paper; needs no network.
    #[command(after_help = "Examples:\n  austerity report run\n  austerity report run --out page.html")]
    Report(ReportOptions),
    /// The draws of a run as one table.
    #[command(
        after_help = "Examples:\n  austerity export run --format parquet\n  austerity export run --out draws.csv --statistics"
    )]
    Export(ExportOptions),
    /// A table as a block store on disk that is mapped, not loaded: for data larger than memory.
    #[command(
        after_help = "Examples:\n  austerity convert data.parquet --response y --out store --memory 500MB\n  austerity fit store --out run"
    )]
    Convert(ConvertOptions),
    /// Completions for a shell, to standard output.
    #[command(
        after_help = "Example:\n  austerity completions bash > ~/.local/share/bash-completion/completions/austerity"
    )]
    Completions(CompletionsOptions),
    /// The manual.
    #[command(after_help = "Examples:\n  austerity man | man -l -\n  austerity man --out man1")]
    Man(ManOptions),
    /// Expected responses and intervals for new rows, from the draws of a run.
    #[command(after_help = predict::PREDICT_EXAMPLES)]
    Predict(PredictOptions),
    /// Makes one run of several that drew other chains of the same posterior.
    #[command(after_help = predict::MERGE_EXAMPLES)]
    Merge(MergeOptions),
    /// Compares exact and sequential decisions on built-in data: a table and words, in under a minute.
    #[command(
        after_help = "Examples:\n  austerity demo\n  austerity demo --seconds 2 --rows 50000\n  austerity demo --json > demo.json"
    )]
    Demo(DemoOptions),
    /// How wrong is a sequential test? Its error and data use, of one step, and of the stationary distribution.
    #[command(after_help = ANALYZE_EXAMPLES)]
    Analyze(AnalyzeOptions),
    /// Which test costs least for a tolerance? Searches first look, level and growth.
    #[command(after_help = DESIGN_EXAMPLES)]
    Design(DesignOptions),
    /// Are the assumptions of the test sound on these data? Asked before running.
    #[command(after_help = CHECK_EXAMPLES)]
    Check(CheckOptions),
    /// The experiments and figures of the paper, each claim with a verdict.
    #[command(after_help = reproduce::EXAMPLES)]
    Reproduce(ReproduceOptions),
    /// Public data sets: those of the paper's experiments.
    #[command(after_help = data::EXAMPLES, subcommand)]
    Data(DataCommand),
    /// Makes data with known coefficients: columns x1, x2, … and the response y.
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateOptions),
}

const CHECK_EXAMPLES: &str = "\
Examples:
  austerity generate logistic --rows 100000 --features 10 --out data.csv
  austerity check data.csv --response y
  austerity check data.parquet --response label --features pc1,pc2,pc3 --batch 1000 --json";

const GENERATE_EXAMPLES: &str = "\
Examples:
  austerity generate logistic --rows 1000000 --features 20 --out data.parquet
  austerity generate poisson --rows 50000 --features 5 --rare 3 --seed 7 --out counts.csv";

/// The likelihood.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum FamilyChoice {
    /// Binary response, or counts out of --trials.
    Logistic,
    /// Real response, normal noise.
    Linear,
    /// Counts, log link.
    Poisson,
    /// Real response, Student-t noise with 4 degrees of freedom.
    Student,
}

/// Where the data are and which column is what.
#[derive(Args, Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DataOptions {
    /// A CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file, or a store made by `convert`.
    pub(crate) data: PathBuf,
    /// The column to be explained; a store knows its own.
    #[arg(long, value_name = "COL")]
    pub(crate) response: Option<String>,
    /// The columns that explain it (all others without a role).
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) features: Option<Vec<String>>,
    /// Features whose values are levels, even when they are numbers.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    pub(crate) categorical: Vec<String>,
    /// Frequency weights.
    #[arg(long, value_name = "COL")]
    pub(crate) weights: Option<String>,
    /// Binomial trials.
    #[arg(long, value_name = "COL")]
    pub(crate) trials: Option<String>,
    /// Known part of the linear predictor.
    #[arg(long, value_name = "COL")]
    pub(crate) offset: Option<String>,
    /// No intercept.
    #[arg(long)]
    pub(crate) no_intercept: bool,
    /// Standardise numeric features.
    #[arg(long)]
    pub(crate) standardize: bool,
    /// The likelihood. [default: logistic for a response with two values or --trials, else linear]
    #[arg(long, value_enum)]
    pub(crate) family: Option<FamilyChoice>,
}

/// Options of `check`.
#[derive(Args, Debug)]
pub(crate) struct CheckOptions {
    #[command(flatten)]
    pub(crate) data: DataOptions,
    /// Rows of the first look to be checked. [default: 500, or half of fewer than 1000 rows]
    #[arg(long, value_name = "M")]
    pub(crate) batch: Option<usize>,
    /// Rows that are drawn together.
    #[arg(long, value_name = "ROWS", default_value_t = austerity::BLOCK_ROWS)]
    pub(crate) block_rows: usize,
    /// Pairs of states from a short pilot.
    #[arg(long, value_name = "K", default_value_t = 8)]
    pub(crate) pairs: usize,
    /// Batches drawn for each pair.
    #[arg(long, value_name = "K", default_value_t = 400)]
    pub(crate) repetitions: usize,
}

/// Options of `generate`.
#[derive(Args, Debug)]
pub(crate) struct GenerateOptions {
    /// The likelihood.
    #[arg(value_enum)]
    pub(crate) family: FamilyChoice,
    /// Rows.
    #[arg(long, value_name = "N")]
    pub(crate) rows: usize,
    /// Dense features, standard normal.
    #[arg(long, value_name = "D")]
    pub(crate) features: usize,
    /// Rare binary features, present in 10 to 200 rows each.
    #[arg(long, value_name = "K", default_value_t = 0)]
    pub(crate) rare: usize,
    /// Correlate neighbouring features (0.5).
    #[arg(long)]
    pub(crate) correlated: bool,
    /// The file to write; its extension says the format (.parquet, .csv, .csv.gz).
    #[arg(long, value_name = "FILE")]
    pub(crate) out: PathBuf,
}

const ANALYZE_EXAMPLES: &str = "\
Examples:
  austerity analyze --n 12214 --batch 500 --epsilon 0.05
  austerity analyze --n 10000 --batch 500 --epsilon 0.05 --mean -0.0001 --sd 0.02
  austerity analyze --n 12214 --batch 500 --epsilon 0.05 --energy 1.34 --plot error.svg
  austerity analyze --n 1000 --looks 100,300,600 --bound wang-tsiatis:2,0.75 --json";

const DESIGN_EXAMPLES: &str = "\
Examples:
  austerity design --n 12214 --tolerance 0.05
  austerity design --n 12214 --tolerance 0.05 --worst-case
  austerity design --n 12214 --tolerance 0.01 --law compensated --energy 1.34
  austerity design --n 12214 --tolerance 0.01 --trial pairs.csv --plot front.svg
(pairs.csv has the columns mean,sd and optionally offset: one completed decision per line)";

/// Reference distribution of the statistic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatisticChoice {
    /// Standard normal.
    Normal,
    /// Student t with n − 1 degrees of freedom.
    T,
}

/// Options of `analyze`.
#[derive(Args, Debug)]
pub(crate) struct AnalyzeOptions {
    /// Rows of the population, N.
    #[arg(long, value_name = "N")]
    pub(crate) n: usize,
    /// Rows of the first look, m.
    #[arg(long, value_name = "M", required_unless_present = "looks", conflicts_with = "looks")]
    pub(crate) batch: Option<usize>,
    /// Factor between looks; 1 is the paper's constant steps.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    pub(crate) growth: f64,
    /// Looks as cumulative rows; a look at N is appended.
    #[arg(long, value_name = "N1,N2,..", value_delimiter = ',')]
    pub(crate) looks: Vec<usize>,
    /// One-sided error allowed at a look.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    pub(crate) epsilon: Option<f64>,
    /// pocock, obrien-fleming or wang-tsiatis:G0,ALPHA.
    #[arg(long, default_value = "pocock", value_parser = parse::bound)]
    pub(crate) bound: BoundChoice,
    /// Critical values.
    #[arg(long, value_enum, default_value_t = StatisticChoice::Normal)]
    pub(crate) statistic: StatisticChoice,
    /// Rows that are drawn together; looks are rounded up to whole blocks.
    #[arg(long, value_name = "ROWS", default_value_t = 1)]
    pub(crate) block_rows: usize,
    /// Standardised distances (μ − μ0)√(N−1)/σ at which to tell error and data use.
    #[arg(long, value_name = "Z,Z,..", value_delimiter = ',', allow_hyphen_values = true, default_values_t = [0.0, 0.5, 1.0, 2.0, 4.0])]
    pub(crate) mu_std: Vec<f64>,
    /// Mean of the N log-likelihood differences: analyses one Metropolis–Hastings step.
    #[arg(long, value_name = "MU", requires = "sd", allow_hyphen_values = true)]
    pub(crate) mean: Option<f64>,
    /// Their standard deviation (divisor N).
    #[arg(long, value_name = "SIGMA", requires = "mean", allow_hyphen_values = true)]
    pub(crate) sd: Option<f64>,
    /// Log prior ratio plus log proposal ratio of that step.
    #[arg(long, value_name = "X", requires = "mean", default_value_t = 0.0, allow_hyphen_values = true)]
    pub(crate) offset: f64,
    /// Law of the threshold: metropolis, logistic (Gibbs) or compensated:LAMBDA.
    #[arg(long, default_value = "metropolis", value_parser = parse::law)]
    pub(crate) law: Law,
    /// Also predict the bias of a chain on a Gaussian target whose steps have this root energy D (2.38 for a tuned walk).
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) energy: Option<f64>,
    /// κ of those steps, when it is not D (a control variate makes it smaller).
    #[arg(long, value_name = "KAPPA", requires = "energy", allow_hyphen_values = true)]
    pub(crate) kappa: Option<f64>,
    /// Draw the curves of error, data use and Δ (and with --energy the bias against ε).
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
    /// Further levels ε to draw beside the first.
    #[arg(long, value_name = "E,E,..", value_delimiter = ',', requires = "plot", requires = "epsilon")]
    pub(crate) compare: Vec<f64>,
}

/// Options of `design`.
#[derive(Args, Debug)]
pub(crate) struct DesignOptions {
    /// Rows of the population, N.
    #[arg(long, value_name = "N")]
    pub(crate) n: usize,
    /// Error allowed: mean |Δ| of the acceptance probability, the mean detailed-balance defect under a compensated law, or the
    /// worst-case error with --worst-case.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    pub(crate) tolerance: f64,
    /// Design for the worst case: a mean at the threshold.
    #[arg(long, conflicts_with = "trial")]
    pub(crate) worst_case: bool,
    /// Completed decisions to design for: a CSV file with the columns mean, sd and optionally offset, or a run with its pairs.csv.
    #[arg(long, value_name = "RUN")]
    pub(crate) trial: Option<PathBuf>,
    /// Without a trial: root energy D of the steps on a Gaussian target (2.38 for a tuned random walk).
    #[arg(long, value_name = "D", default_value_t = 2.38, conflicts_with_all = ["trial", "worst_case"])]
    pub(crate) energy: f64,
    /// Shape of the bounds to search: pocock (m, ε) or wang-tsiatis (m, G0, α).
    #[arg(long, value_enum, default_value_t = BoundFamily::Pocock)]
    pub(crate) bound: BoundFamily,
    /// Factors between looks to try.
    #[arg(long, value_name = "F,F,..", value_delimiter = ',', default_values_t = [1.0, 1.5, 2.0])]
    pub(crate) growth: Vec<f64>,
    /// Law of the threshold: metropolis, logistic, compensated:LAMBDA, or compensated: the λ that cancels the bias of each test.
    #[arg(long, default_value = "metropolis", value_parser = parse::design_law)]
    pub(crate) law: DesignLaw,
    /// Draw error against data use.
    #[arg(long, value_name = "FILE.svg")]
    pub(crate) plot: Option<PathBuf>,
}

/// The bounds a design searches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum BoundFamily {
    /// Constant bounds at level ε.
    Pocock,
    /// Wang–Tsiatis bounds, O'Brien–Fleming among them.
    WangTsiatis,
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
    #[arg(long, default_value_t = 9.0, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(crate) seconds: f64,
}
