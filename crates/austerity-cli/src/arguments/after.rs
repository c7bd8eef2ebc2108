//! What can be typed after the commands that say what a run is worth and what it means: `loo` and its kin.

use std::ffi::OsString;
use std::path::PathBuf;

use austerity_fit::runs::effects::{self, EffectOptions, Given, Settings, Verb};
use austerity_fit::runs::hypothesis::HypothesisOptions;
use austerity_fit::runs::loo::compare::CompareOptions;
use austerity_fit::runs::loo::{self, LooOptions, LooSettings};
use austerity_fit::runs::sensitivity::SensitivityOptions;
use clap::Args;

/// Shown below the help of `loo`.
pub(super) const LOO_EXAMPLES: &str = "\
Examples:
  austerity loo run
  austerity loo run --json
  austerity loo run --tolerance 0.01 --out rows.csv
  austerity loo run --exact

elpd_loo is the expected log predictive density for new rows: larger is better. One pass approximates every row; exact
Pareto-smoothed importance sampling of a random sample, and of the most influential rows, corrects the sum. A row with Pareto k above 0.7 is
unreliable. --out writes the rows computed: row (from 1), elpd_loo, lpd, pareto_k, influence, stands_for.";

/// Shown below the help of `compare`.
pub(super) const COMPARE_EXAMPLES: &str = "\
Examples:
  austerity compare small large
  austerity compare small large --json
  austerity compare small medium large --plot compare.svg

The runs must explain the same rows of the same response. Differences are paired: every run is asked about the same rows.
weight is that of stacking: the mixture of the runs that predicts best.";

/// Shown below the help of `predictions`.
pub(super) const PREDICTIONS_EXAMPLES: &str = "\
Examples:
  austerity predictions run
  austerity predictions run --by carrier
  austerity predictions run --at distance=500,1000,2000 --at carrier
  austerity predictions run --at distance --at carrier=AA,DL --plot distance.svg

Without --at the expected responses are averaged over the rows of the data. --at COLUMN=VALUES makes a grid: the other columns are at
their mean, or at their most frequent value (texts, and few whole numbers). --at COLUMN alone spans the values of the column.";

/// Shown below the help of `comparisons`.
pub(super) const COMPARISONS_EXAMPLES: &str = "\
Examples:
  austerity comparisons run
  austerity comparisons run --variable distance
  austerity comparisons run --variable distance=500,1000 --by carrier
  austerity comparisons run --variable carrier=AA,DL --plot effect.svg

What changes: a column of numbers by 1 (x=10: by 10; x=A,B: from A to B), a column with two numbers from the smaller to the larger, text from its
most frequent level to every other. The changes of the expected response are averaged over the rows of the data.";

/// Shown below the help of `slopes`.
pub(super) const SLOPES_EXAMPLES: &str = "\
Examples:
  austerity slopes run
  austerity slopes run --variable distance --by carrier
  austerity slopes run --variable distance --at distance=500,1000,2000

A slope is the derivative of the expected response in a column of numbers, averaged over the rows of the data.";

/// Options of `predictions`, `comparisons` and `slopes`.
#[derive(Args, Clone, Debug)]
pub(crate) struct EffectArguments {
    /// The folder of a run.
    run: PathBuf,
    /// The column that changes, with values where the usual ones will not do; may be repeated. [default: every column that explains]
    #[arg(long, value_name = "COLUMN[=A,B]")]
    variable: Vec<Given>,
    /// A column of the data: one answer for each of its values.
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Points of a grid in place of the rows; may be repeated.
    #[arg(long, value_name = "COLUMN[=A,B,..]", conflicts_with = "by")]
    at: Vec<Given>,
    /// Probability of the intervals, equal-tailed.
    #[arg(long, value_name = "P", default_value_t = 0.95, allow_hyphen_values = true)]
    interval: f64,
    /// Sampling error to reach, as a share of the posterior standard deviation.
    #[arg(long, value_name = "SHARE", default_value_t = effects::TOLERANCE, allow_hyphen_values = true)]
    tolerance: f64,
    /// Most draws to use, evenly spread over all chains.
    #[arg(long, value_name = "N", default_value_t = effects::DRAWS)]
    draws: usize,
    /// The rows that the run was fitted to, where they are elsewhere now.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// The file to write the numbers to (.csv, .parquet).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// The file to write a picture to (.svg).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl EffectArguments {
    pub(crate) fn options(&self, verb: Verb, seed: u64, threads: usize) -> EffectOptions {
        let Self { run, variable, by, at, interval, tolerance, draws, data, out, plot } = self.clone();
        let settings = Settings { variables: variable, by, at, interval, tolerance, draws, seed, threads };
        EffectOptions { verb, run, data, out, plot, settings }
    }
}

/// Options of `loo`.
#[derive(Args, Clone, Debug)]
pub(crate) struct LooArguments {
    /// The folder of a run.
    run: PathBuf,
    #[command(flatten)]
    sample: SampleArguments,
    /// Compute every row exactly.
    #[arg(long, conflicts_with = "rows")]
    exact: bool,
    /// The file to write the computed rows to (.parquet, .csv, .csv.gz).
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
}

/// Options of every command that leaves rows out.
#[derive(Args, Clone, Debug)]
pub(crate) struct SampleArguments {
    /// The rows that the run was fitted to, where they are elsewhere now.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
    /// Sampling error to reach, as a share of the standard error of the data.
    #[arg(long, value_name = "SHARE", default_value_t = loo::TOLERANCE, allow_hyphen_values = true)]
    tolerance: f64,
    /// Rows of the sample, in place of a tolerance.
    #[arg(long, value_name = "M")]
    rows: Option<usize>,
    /// Most draws to use, evenly spread over all chains.
    #[arg(long, value_name = "N", default_value_t = loo::DRAWS)]
    draws: usize,
}

/// Options of `compare`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CompareArguments {
    /// Runs of the same data.
    #[arg(required = true, num_args = 2.., value_name = "RUN")]
    runs: Vec<PathBuf>,
    #[command(flatten)]
    sample: SampleArguments,
    /// The file to write a picture of the differences to (.svg).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl CompareArguments {
    pub(crate) fn options(&self, seed: u64, threads: usize) -> CompareOptions {
        let Self { runs, sample: SampleArguments { data, tolerance, rows, draws }, plot } = self.clone();
        let settings = LooSettings { tolerance, rows, exact: false, draws, seed, threads };
        CompareOptions { runs, data, plot, settings }
    }
}

impl LooArguments {
    pub(crate) fn options(&self, seed: u64, threads: usize) -> LooOptions {
        let Self { run, sample: SampleArguments { data, tolerance, rows, draws }, exact, out } = self.clone();
        let settings = LooSettings { tolerance, rows, exact, draws, seed, threads };
        LooOptions { run, data, out, settings }
    }
}

/// Options of `sensitivity`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SensitivityArguments {
    /// The folder of a run.
    run: PathBuf,
    /// The rows that the run was fitted to, where they are elsewhere now.
    #[arg(long, value_name = "FILE")]
    data: Option<PathBuf>,
}

impl SensitivityArguments {
    pub(crate) fn options(&self) -> SensitivityOptions {
        SensitivityOptions { run: self.run.clone(), data: self.data.clone() }
    }
}

/// Options of `hypothesis`.
#[derive(Args, Clone, Debug)]
pub(crate) struct HypothesisArguments {
    /// The folder of a run.
    run: PathBuf,
    /// Sums and differences of parameters, with `>` or `<` where a probability is wanted.
    #[arg(required = true, value_name = "EXPRESSION")]
    expressions: Vec<String>,
}

impl HypothesisArguments {
    pub(crate) fn options(&self) -> HypothesisOptions {
        let expressions = self.expressions.iter().map(|text| text.trim().to_owned()).collect();
        HypothesisOptions { run: self.run.clone(), expressions }
    }
}

/// The arguments, with a space before each expression of `hypothesis` that begins with a minus. So clap does not take it for an option, and options may follow it.
pub(crate) fn with_minus(typed: Vec<OsString>) -> Vec<OsString> {
    let of_all = |text: &str| text.starts_with('-') || text.parse::<u64>().is_ok();
    let command = typed.iter().enumerate().skip(1).find(|(_, word)| !word.to_str().is_some_and(of_all));
    let Some((place, _)) = command.filter(|(_, word)| *word == "hypothesis") else { return typed };
    let guarded = |(at, word): (usize, OsString)| match word.to_str() {
        Some(text) if at > place && minus(text) => format!(" {text}").into(),
        _ => word,
    };
    typed.into_iter().enumerate().map(guarded).collect()
}

/// Whether an expression begins with a minus.
fn minus(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && !matches!(text, "-" | "-h" | "-V")
}
