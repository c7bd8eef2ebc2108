//! What was typed.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::str::FromStr;

use austerity_fit::request::{Choice, Common, FamilyChoice};
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand};

mod after;
#[cfg(feature = "paper")]
mod data;
mod fit;
mod parts;
#[cfg(feature = "paper")]
mod reproduce;
mod runs;
#[cfg(test)]
mod tests;
mod theory;

#[cfg(not(feature = "paper"))]
use crate::without_paper::Words;
use after::{CompareArguments, HypothesisArguments, LooArguments, SensitivityArguments};
pub(crate) use after::{EffectArguments, with_minus};
#[cfg(feature = "paper")]
pub(crate) use data::{DataCommand, FetchOptions};
use fit::PriorsArguments;
pub(crate) use fit::{FitArguments, PlanArguments, UpdateArguments};
pub(crate) use parts::{GibbsArguments, IcaArguments, PartArguments, SelectArguments};
#[cfg(feature = "paper")]
pub(crate) use reproduce::ReproduceOptions;
pub(crate) use runs::{ConvertArguments, ExportArguments, ExportFormat};
use runs::{MergeArguments, PredictArguments, ReportArguments, SummaryArguments, VerifyArguments};
use theory::{AnalyzeArguments, CheckArguments, DesignArguments};

/// Bayesian inference on tall data that reads a fraction of the data per step and says how wrong it may be.
#[derive(Debug, Parser)]
#[command(name = "austerity", version, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
    #[command(flatten)]
    common: CommonArguments,
}

impl Arguments {
    /// The options that every command takes.
    pub(crate) fn common(&self) -> Common {
        let CommonArguments { json, seed, threads } = self.common;
        Common { json, seed, threads }
    }
}

/// Options of every command.
#[derive(Args, Clone, Copy, Debug)]
struct CommonArguments {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    json: bool,
    /// Seed of the random numbers. [default: 1]
    #[arg(long, global = true, value_name = "SEED")]
    seed: Option<u64>,
    /// Threads (0: one per core). The draws do not depend on it.
    #[arg(long, global = true, default_value_t = 0, value_name = "THREADS")]
    threads: usize,
}

/// A parser of a choice among names, with their help.
fn choices<C: Choice + Send + Sync>() -> impl TypedValueParser<Value = C> {
    let values = C::all()
        .iter()
        .map(|(_, name, help)| PossibleValue::new(*name).help(help.trim().trim_end_matches('.')));
    let chosen =
        |name: String| C::all().iter().find(|(_, known, _)| *known == name).map(|(choice, ..)| *choice);
    PossibleValuesParser::new(values).try_map(move |name| chosen(name).ok_or("no such choice"))
}

/// A parser of families: their names, or a name with its number as in `student:7`.
fn families() -> impl TypedValueParser<Value = FamilyChoice> {
    WithNumber(choices::<FamilyChoice>())
}

/// Texts with a colon are read by the type itself, all others by the inner parser, which lists the names in its help and its complaints.
#[derive(Clone)]
struct WithNumber<P>(P);

impl<P: TypedValueParser<Value = FamilyChoice>> TypedValueParser for WithNumber<P> {
    type Value = FamilyChoice;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<FamilyChoice, clap::Error> {
        if value.to_string_lossy().contains(':') {
            return TypedValueParser::parse_ref(&FamilyChoice::from_str, command, argument, value);
        }
        self.0.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        self.0.possible_values()
    }
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Fit a model to a table: posterior draws on disk, a summary, and whether to trust it.
    #[command(after_help = fit::EXAMPLES)]
    Fit(Box<FitArguments>),
    /// Find which features of a logistic regression matter: inclusion probabilities, models, model-averaged draws.
    #[command(after_help = parts::SELECT_EXAMPLES)]
    Select(Box<SelectArguments>),
    /// Unmix the columns of a table into independent sources.
    #[command(after_help = parts::ICA_EXAMPLES)]
    Ica(Box<IcaArguments>),
    /// Compute the marginals of a discrete factor graph by Gibbs sampling.
    #[command(after_help = parts::GIBBS_EXAMPLES)]
    Gibbs(Box<GibbsArguments>),
    /// Summarise a run: posterior table, diagnostics, and whether to trust it.
    #[command(
        after_help = "Examples:\n  austerity summary run\n  austerity summary run --terms\n  austerity summary run --json"
    )]
    Summary(SummaryArguments),
    /// Write a report of a run as one HTML page: forest plot, table, traces, settings.
    #[command(after_help = "Examples:\n  austerity report run\n  austerity report run --out page.html")]
    Report(ReportArguments),
    /// Export the draws of a run as one table.
    #[command(
        after_help = "Examples:\n  austerity export run --format parquet\n  austerity export run --out draws.csv --statistics"
    )]
    Export(ExportArguments),
    /// Convert a table to a memory-mapped store, for data larger than memory.
    #[command(
        after_help = "Examples:\n  austerity convert data.parquet --response y --out store --memory 500MB\n  austerity fit store --out run"
    )]
    Convert(ConvertArguments),
    /// Print completions for a shell.
    #[command(
        after_help = "Example:\n  austerity completions bash > ~/.local/share/bash-completion/completions/austerity"
    )]
    Completions(CompletionsOptions),
    /// Print the manual, or write its pages.
    #[command(
        after_help = "Examples:\n  austerity man | man -l -\n  austerity man --out man1\n  austerity man --markdown > reference.md"
    )]
    Man(ManOptions),
    /// Predict new rows from the draws of a run: expected responses and intervals.
    #[command(after_help = runs::PREDICT_EXAMPLES)]
    Predict(PredictArguments),
    /// Estimate how well a run predicts new rows: leave-one-out cross-validation from a sample of its rows.
    #[command(after_help = after::LOO_EXAMPLES)]
    Loo(LooArguments),
    /// Compare how well runs of the same data predict new rows, and weigh them.
    #[command(after_help = after::COMPARE_EXAMPLES)]
    Compare(CompareArguments),
    /// Average the expected response over the rows, by group or at the points of a grid.
    #[command(after_help = after::PREDICTIONS_EXAMPLES)]
    Predictions(EffectArguments),
    /// Compute how the expected response changes when a column changes, averaged over the rows.
    #[command(after_help = after::COMPARISONS_EXAMPLES)]
    Comparisons(EffectArguments),
    /// Compute the derivative of the expected response in a column, averaged over the rows.
    #[command(after_help = after::SLOPES_EXAMPLES)]
    Slopes(EffectArguments),
    /// Measure how sensitive every marginal is to the prior and to the likelihood, by power-scaling.
    #[command(after_help = "Examples:\n  austerity sensitivity run\n  austerity sensitivity run --json")]
    Sensitivity(SensitivityArguments),
    /// Compute contrasts of parameters, and how probable a hypothesis is.
    #[command(
        after_help = "Examples:\n  austerity hypothesis run 'x1 - x2'\n  austerity hypothesis run 'x1 > 0' 'x1 - 2*x2 > 0.5'"
    )]
    Hypothesis(HypothesisArguments),
    /// Forecast what a fit of data in parts would read and take, from a probe of one part; extrapolate to other rows and hosts.
    #[command(after_help = fit::PLAN_EXAMPLES)]
    Plan(Box<PlanArguments>),
    /// Add new rows to a run whose data were read in parts, or forget old ones: one pass over the new rows.
    #[command(after_help = fit::UPDATE_EXAMPLES)]
    Update(UpdateArguments),
    /// Merge runs that hold different chains of the same posterior.
    #[command(after_help = runs::MERGE_EXAMPLES)]
    Merge(MergeArguments),
    /// Check that every byte of a run or a store is what was written, and name what is lost (exit code 1 if damaged).
    #[command(after_help = "Examples:\n  austerity verify run\n  austerity verify store --json")]
    Verify(VerifyArguments),
    /// Fit a million built-in rows, then compare with exact Metropolis–Hastings and the paper's test, in half a minute.
    #[command(
        after_help = "Examples:\n  austerity demo\n  austerity demo --seconds 2 --rows 50000 --out demo\n  austerity demo --json > demo.json"
    )]
    Demo(DemoOptions),
    /// Compute the error and data use of a sequential test, per step and in the stationary distribution.
    #[command(after_help = theory::ANALYZE_EXAMPLES)]
    Analyze(AnalyzeArguments),
    /// Find the cheapest sequential test within a tolerance.
    #[command(after_help = theory::DESIGN_EXAMPLES)]
    Design(DesignArguments),
    /// Show the prior of every parameter before a fit; --draws writes draws from the priors with responses that they predict.
    #[command(
        after_help = "Examples:\n  austerity priors data.parquet --response y --prior 'x*=student:4,0,1'\n  austerity priors data.parquet --response y --draws 1000 --out prior.csv"
    )]
    Priors(Box<PriorsArguments>),
    /// Check data before a run (are the assumptions of the sequential test sound?), or a run after it (does the model look like the data?).
    #[command(after_help = theory::CHECK_EXAMPLES)]
    Check(CheckArguments),
    /// Reproduce the experiments and figures of the paper, with a verdict for each claim.
    #[cfg(feature = "paper")]
    #[command(after_help = reproduce::EXAMPLES)]
    Reproduce(ReproduceOptions),
    /// Reproduce the experiments of the paper (in programs built with the feature `paper`).
    #[cfg(not(feature = "paper"))]
    Reproduce(Words),
    /// Download the public data sets of the paper's experiments.
    #[cfg(feature = "paper")]
    #[command(after_help = data::EXAMPLES, subcommand)]
    Data(DataCommand),
    /// Download the public data sets of the paper's experiments (in programs built with the feature `paper`).
    #[cfg(not(feature = "paper"))]
    Data(Words),
    /// Generate data with known coefficients: columns x1, x2, … and the response y.
    #[command(after_help = GENERATE_EXAMPLES)]
    Generate(GenerateOptions),
}

const GENERATE_EXAMPLES: &str = "\
Examples:
  austerity generate logistic --rows 1000000 --features 20 --out data.parquet
  austerity generate poisson --rows 50000 --features 5 --rare 3 --seed 7 --out counts.csv";

/// Options of `generate`.
#[derive(Args, Debug)]
pub(crate) struct GenerateOptions {
    /// The likelihood.
    #[arg(value_parser = families())]
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

/// Options of `demo`.
#[derive(Args, Debug)]
pub(crate) struct DemoOptions {
    /// Rows of the generated data.
    #[arg(long, default_value_t = 1_000_000, value_name = "N")]
    pub(crate) rows: usize,
    /// Features, besides the intercept.
    #[arg(long, default_value_t = 10, value_name = "D")]
    pub(crate) features: usize,
    /// Seconds that each of the three baselines samples.
    #[arg(long, default_value_t = 7.0, value_name = "SECONDS", allow_hyphen_values = true)]
    pub(crate) seconds: f64,
    /// Folder for the data, the run and its report page. [default: a new one among the temporary files]
    #[arg(long, value_name = "FOLDER")]
    pub(crate) out: Option<PathBuf>,
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
    /// Print one page of Markdown with all commands and options.
    #[arg(long, conflicts_with = "out")]
    pub(crate) markdown: bool,
}
