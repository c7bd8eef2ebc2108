//! What the commands beside `fit` are asked for.

use std::path::PathBuf;

use austerity::rule::Law;

use super::{BoundChoice, BoundFamily, DataOptions, LawChoice, StatisticChoice};

/// The options of every command that prints.
#[derive(Clone, Copy, Debug, Default)]
pub struct Common {
    /// Whether to print JSON instead of text.
    pub json: bool,
    /// Seed of the random numbers; 1 where none is given.
    pub seed: Option<u64>,
    /// Threads; 0 stands for one per core. The draws do not depend on it.
    pub threads: usize,
}

impl Common {
    /// The seed: 1 unless given.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed.unwrap_or(1)
    }
}

/// What `analyze` is asked for.
#[derive(Clone, Debug)]
pub struct AnalyzeOptions {
    /// Rows of the population, N.
    pub n: usize,
    /// Rows of the first look, m.
    pub batch: Option<usize>,
    /// Factor between looks; 1 is the paper's constant steps.
    pub growth: f64,
    /// Looks as cumulative rows, in place of `batch` and `growth`.
    pub looks: Vec<usize>,
    /// One-sided error allowed at a look.
    pub epsilon: Option<f64>,
    /// The stopping boundary.
    pub bound: BoundChoice,
    /// Critical values.
    pub statistic: StatisticChoice,
    /// Rows that are drawn together; looks are rounded up to whole blocks.
    pub block_rows: usize,
    /// Standardised distances (μ − μ0)√(N−1)/σ at which to compute error and data use.
    pub mu_std: Vec<f64>,
    /// Mean of the N log-likelihood differences: analyses one Metropolis–Hastings step.
    pub mean: Option<f64>,
    /// Their standard deviation (divisor N).
    pub sd: Option<f64>,
    /// Log prior ratio plus log proposal ratio of that step.
    pub offset: f64,
    /// Law of the threshold.
    pub law: Law,
    /// Root energy D of the steps of a chain whose bias is to be predicted.
    pub energy: Option<f64>,
    /// κ of those steps, when it is not D.
    pub kappa: Option<f64>,
    /// η: by which factor a step of exact chains brings distributions together, for a bound on what is sampled (Theorem 1).
    pub bound_total_variation: Option<f64>,
    /// Variables that a Gibbs sweep updates in turn, where η is that of a sweep.
    pub sites: Option<usize>,
    /// Where to draw the curves of error, data use and Δ.
    pub plot: Option<PathBuf>,
    /// Further levels ε to draw beside the first.
    pub compare: Vec<f64>,
}

impl AnalyzeOptions {
    /// The usual analysis of tests on `n` rows.
    #[must_use]
    pub fn new(n: usize) -> Self {
        Self {
            n,
            batch: None,
            growth: 1.0,
            looks: Vec::new(),
            epsilon: None,
            bound: BoundChoice::Pocock,
            statistic: StatisticChoice::Normal,
            block_rows: 1,
            mu_std: vec![0.0, 0.5, 1.0, 2.0, 4.0],
            mean: None,
            sd: None,
            offset: 0.0,
            law: Law::Metropolis,
            energy: None,
            kappa: None,
            bound_total_variation: None,
            sites: None,
            plot: None,
            compare: Vec::new(),
        }
    }
}

/// What `design` is asked for.
#[derive(Clone, Debug)]
pub struct DesignOptions {
    /// Rows of the population, N.
    pub n: usize,
    /// Error allowed.
    pub tolerance: f64,
    /// Whether to design for the worst case: a mean at the threshold.
    pub worst_case: bool,
    /// Completed decisions to design for: a CSV file, or a run with its pairs.csv.
    pub trial: Option<PathBuf>,
    /// Without a trial: root energy D of the steps on a Gaussian target.
    pub energy: f64,
    /// Shape of the bounds to search.
    pub bound: BoundFamily,
    /// Factors between looks to try.
    pub growth: Vec<f64>,
    /// Law of the threshold.
    pub law: LawChoice,
    /// Where to draw error against data use.
    pub plot: Option<PathBuf>,
}

impl DesignOptions {
    /// The usual design for `n` rows.
    #[must_use]
    pub fn new(n: usize, tolerance: f64) -> Self {
        Self {
            n,
            tolerance,
            worst_case: false,
            trial: None,
            energy: 2.38,
            bound: BoundFamily::Pocock,
            growth: vec![1.0, 1.5, 2.0],
            law: LawChoice::Given(Law::Metropolis),
            plot: None,
        }
    }
}

/// What `check` is asked for.
#[derive(Clone, Debug)]
pub struct CheckOptions {
    /// The table.
    pub data: DataOptions,
    /// Rows of the first look to be checked; 500, or half of fewer than 1000 rows, where none are given.
    pub batch: Option<usize>,
    /// Rows that are drawn together.
    pub block_rows: usize,
    /// Pairs of states from a short pilot.
    pub pairs: usize,
    /// Batches drawn for each pair.
    pub repetitions: usize,
}

impl CheckOptions {
    /// The usual check of these data.
    #[must_use]
    pub fn new(data: DataOptions) -> Self {
        Self { data, batch: None, block_rows: austerity::BLOCK_ROWS, pairs: 8, repetitions: 400 }
    }
}

/// What `predict` is asked for.
#[derive(Clone, Debug)]
pub struct PredictOptions {
    /// The folder of a run.
    pub run: PathBuf,
    /// New rows.
    pub data: PathBuf,
    /// The file to write; its extension says the format.
    pub out: PathBuf,
    /// Probability of the intervals, equal-tailed.
    pub interval: f64,
    /// Most draws to use, evenly spread over all chains.
    pub draws: usize,
    /// Times at which survival is predicted.
    pub survival: Vec<f64>,
}
