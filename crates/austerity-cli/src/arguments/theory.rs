//! What can be typed after `analyze`, `design` and `check`.

use std::path::PathBuf;

use austerity::rule::Law;
use austerity_fit::request::{
    AnalyzeOptions, BoundChoice, BoundFamily, CheckOptions, DesignOptions, LawChoice, StatisticChoice, Unread,
};
use austerity_fit::runs::appraisal::{self, AppraisalOptions, AppraisalSettings};
use clap::Args;

use super::choices;
use super::fit::DataArguments;

/// Shown below the help of `check`.
pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  austerity generate logistic --rows 100000 --features 10 --out data.csv
  austerity check data.csv --response y
  austerity check data.parquet --response label --features pc1,pc2,pc3 --batch 1000 --json
  austerity check run
  austerity check run --test held-out.parquet --by carrier --plot check.svg

Of the folder of a run: posterior predictive checks on a random sample of its rows, or of the rows of --test, with scores. Probabilities of binary
responses are checked for calibration, counts by a rootogram, every family by PIT values, replicated statistics and residual quantiles by column.";

/// Shown below the help of `analyze`.
pub(super) const ANALYZE_EXAMPLES: &str = "\
Examples:
  austerity analyze --n 12214 --batch 500 --epsilon 0.05
  austerity analyze --n 10000 --batch 500 --epsilon 0.05 --mean -0.0001 --sd 0.02
  austerity analyze --n 12214 --batch 500 --epsilon 0.05 --energy 1.34 --plot error.svg
  austerity analyze --n 10000 --batch 500 --epsilon 0.01 --mean 0 --sd 0.005 --bound-total-variation 0.9
  austerity analyze --n 1000 --looks 100,300,600 --bound wang-tsiatis:2,0.75 --json";

/// Shown below the help of `design`.
pub(super) const DESIGN_EXAMPLES: &str = "\
Examples:
  austerity design --n 12214 --tolerance 0.05
  austerity design --n 12214 --tolerance 0.05 --worst-case
  austerity design --n 12214 --tolerance 0.01 --law compensated --energy 1.34
  austerity design --n 12214 --tolerance 0.01 --trial pairs.csv --plot front.svg
(pairs.csv has the columns mean,sd and optionally offset: one completed decision per line)";

/// Options of `analyze`.
#[derive(Args, Clone, Debug)]
pub(crate) struct AnalyzeArguments {
    /// Rows of the population, N.
    #[arg(long, value_name = "N")]
    n: usize,
    /// Rows of the first look, m.
    #[arg(long, value_name = "M", required_unless_present = "looks", conflicts_with = "looks")]
    batch: Option<usize>,
    /// Factor between looks; 1 is the paper's constant steps.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0)]
    growth: f64,
    /// Looks as cumulative rows; a look at N is appended.
    #[arg(long, value_name = "N1,N2,..", value_delimiter = ',')]
    looks: Vec<usize>,
    /// One-sided error allowed at a look.
    #[arg(long, value_name = "E", allow_hyphen_values = true)]
    epsilon: Option<f64>,
    /// Stopping boundary: pocock, obrien-fleming or wang-tsiatis:G0,ALPHA.
    #[arg(long, default_value_t = BoundChoice::Pocock)]
    bound: BoundChoice,
    /// Critical values.
    #[arg(long, value_parser = choices::<StatisticChoice>(), default_value_t = StatisticChoice::Normal)]
    statistic: StatisticChoice,
    /// Rows that are drawn together; looks are rounded up to whole blocks.
    #[arg(long, value_name = "ROWS", default_value_t = 1)]
    block_rows: usize,
    /// Standardised distances (μ − μ0)√(N−1)/σ at which to compute error and data use.
    #[arg(long, value_name = "Z,Z,..", value_delimiter = ',', allow_hyphen_values = true, default_values_t = [0.0, 0.5, 1.0, 2.0, 4.0])]
    mu_std: Vec<f64>,
    /// Mean of the N log-likelihood differences: analyses one Metropolis–Hastings step.
    #[arg(long, value_name = "MU", requires = "sd", allow_hyphen_values = true)]
    mean: Option<f64>,
    /// Their standard deviation (divisor N).
    #[arg(long, value_name = "SIGMA", requires = "mean", allow_hyphen_values = true)]
    sd: Option<f64>,
    /// Log prior ratio plus log proposal ratio of that step.
    #[arg(long, value_name = "X", requires = "mean", default_value_t = 0.0, allow_hyphen_values = true)]
    offset: f64,
    /// Law of the threshold: metropolis, logistic (Gibbs) or compensated:LAMBDA.
    #[arg(long, default_value = "metropolis", value_parser = law)]
    law: Law,
    /// Also predict the bias of a chain on a Gaussian target whose steps have this root energy D (2.38 for a tuned walk).
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    energy: Option<f64>,
    /// κ of those steps, when it is not D (a control variate makes it smaller).
    #[arg(long, value_name = "KAPPA", requires = "energy", allow_hyphen_values = true)]
    kappa: Option<f64>,
    /// Bound the total variation distance of the draws' distribution from the posterior by Δ_max/(1 − ETA), where a step of exact chains
    /// brings any two distributions closer by the factor ETA (Theorem 1). Δ_max is the largest error of a step with the κ of --sd or --kappa, else E(0).
    #[arg(long, value_name = "ETA", allow_hyphen_values = true)]
    bound_total_variation: Option<f64>,
    /// With --bound-total-variation and --law logistic: ETA is that of a Gibbs sweep over so many variables, whose errors add up.
    #[arg(long, value_name = "D", requires = "bound_total_variation")]
    sites: Option<usize>,
    /// Draw the curves of error, data use and Δ (and with --energy the bias against ε).
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Further levels ε to draw beside the first.
    #[arg(long, value_name = "E,E,..", value_delimiter = ',', requires = "plot", requires = "epsilon")]
    compare: Vec<f64>,
}

/// A law with all its numbers.
fn law(text: &str) -> Result<Law, Unread> {
    text.parse::<LawChoice>()?.given()
}

impl AnalyzeArguments {
    pub(crate) fn options(&self) -> AnalyzeOptions {
        AnalyzeOptions {
            n: self.n,
            batch: self.batch,
            growth: self.growth,
            looks: self.looks.clone(),
            epsilon: self.epsilon,
            bound: self.bound,
            statistic: self.statistic,
            block_rows: self.block_rows,
            mu_std: self.mu_std.clone(),
            mean: self.mean,
            sd: self.sd,
            offset: self.offset,
            law: self.law,
            energy: self.energy,
            kappa: self.kappa,
            bound_total_variation: self.bound_total_variation,
            sites: self.sites,
            plot: self.plot.clone(),
            compare: self.compare.clone(),
        }
    }
}

/// Options of `design`.
#[derive(Args, Clone, Debug)]
pub(crate) struct DesignArguments {
    /// Rows of the population, N.
    #[arg(long, value_name = "N")]
    n: usize,
    /// Error allowed: mean |Δ| of the acceptance probability, the mean detailed-balance defect under a compensated law, or the
    /// worst-case error with --worst-case.
    #[arg(long, value_name = "D", allow_hyphen_values = true)]
    tolerance: f64,
    /// Design for the worst case: a mean at the threshold.
    #[arg(long, conflicts_with = "trial")]
    worst_case: bool,
    /// Completed decisions to design for: a CSV file with the columns mean, sd and optionally offset, or a run with its pairs.csv.
    #[arg(long, value_name = "RUN")]
    trial: Option<PathBuf>,
    /// Without a trial: root energy D of the steps on a Gaussian target (2.38 for a tuned random walk).
    #[arg(long, value_name = "D", default_value_t = 2.38, conflicts_with_all = ["trial", "worst_case"])]
    energy: f64,
    /// Shape of the bounds to search: pocock (m, ε) or wang-tsiatis (m, G0, α).
    #[arg(long, value_parser = choices::<BoundFamily>(), default_value_t = BoundFamily::Pocock)]
    bound: BoundFamily,
    /// Factors between looks to try.
    #[arg(long, value_name = "F,F,..", value_delimiter = ',', default_values_t = [1.0, 1.5, 2.0])]
    growth: Vec<f64>,
    /// Law of the threshold: metropolis, logistic, compensated:LAMBDA, or compensated: the λ that cancels the bias of each test.
    #[arg(long, default_value = "metropolis")]
    law: LawChoice,
    /// Draw error against data use.
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

impl DesignArguments {
    pub(crate) fn options(&self) -> DesignOptions {
        let Self { n, tolerance, worst_case, trial, energy, bound, growth, law, plot } = self.clone();
        DesignOptions { n, tolerance, worst_case, trial, energy, bound, growth, law, plot }
    }
}

/// Options of `check`.
#[derive(Args, Clone, Debug)]
pub(crate) struct CheckArguments {
    #[command(flatten)]
    data: DataArguments,
    /// Rows of the first look to be checked. [default: 500, or half of fewer than 1000 rows]
    #[arg(long, value_name = "M")]
    batch: Option<usize>,
    /// Rows that are drawn together.
    #[arg(long, value_name = "ROWS", default_value_t = austerity::BLOCK_ROWS)]
    block_rows: usize,
    /// Pairs of states from a short pilot.
    #[arg(long, value_name = "K", default_value_t = 8)]
    pairs: usize,
    /// Batches drawn for each pair.
    #[arg(long, value_name = "K", default_value_t = 400)]
    repetitions: usize,
    /// Of a run: rows that it has not seen, to check and score it on.
    #[arg(long, value_name = "FILE")]
    test: Option<PathBuf>,
    /// Of a run: a column of the table to look at residuals by.
    #[arg(long, value_name = "COLUMN")]
    by: Option<String>,
    /// Of a run: rows of the sample to look at.
    #[arg(long, value_name = "M", default_value_t = appraisal::ROWS)]
    rows: usize,
    /// Of a run: most draws to use.
    #[arg(long, value_name = "N", default_value_t = appraisal::DRAWS)]
    draws: usize,
    /// Of a run: the rows that it was fitted to, where they are elsewhere now.
    #[arg(long, value_name = "FILE")]
    fitted_to: Option<PathBuf>,
    /// Of a run: the file to write a picture to (.svg).
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

impl CheckArguments {
    /// The check of a run, where DATA is the folder of one.
    pub(crate) fn of_run(&self, seed: u64, threads: usize) -> Option<AppraisalOptions> {
        let run = self.data.options().file;
        let Self { test, by, rows, draws, fitted_to, plot, .. } = self;
        let settings = AppraisalSettings {
            test: test.clone(),
            held_out: test.is_some(),
            by: by.clone(),
            rows: *rows,
            draws: *draws,
            seed,
            threads,
        };
        appraisal::is_run(&run).then(|| AppraisalOptions {
            run,
            data: fitted_to.clone(),
            plot: plot.clone(),
            settings,
        })
    }

    pub(crate) fn options(&self) -> CheckOptions {
        let Self { batch, block_rows, pairs, repetitions, .. } = *self;
        CheckOptions { data: self.data.options(), batch, block_rows, pairs, repetitions }
    }
}
