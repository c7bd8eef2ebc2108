//! What can be typed after `select`, `ica` and `gibbs`, as a [`Request`].

use std::path::PathBuf;

use austerity_fit::Request;
use austerity_fit::request::{
    BoundChoice, Common, DataOptions, IcaOptions, LengthOptions, PartOptions, Reference, RuleChoice,
    SelectOptions, ShapeOptions,
};
use clap::Args;

use super::choices;
use super::fit::LengthArguments;

/// Shown below the help of `select`.
pub(super) const SELECT_EXAMPLES: &str = "\
Examples:
  austerity select patients.csv --response ill
  austerity select patients.csv --response ill --out run --draws 5000
  austerity select patients.csv --response ill --out run --resume --draws 20000
  austerity select big.parquet --response y --rule sequential --epsilon 0.01 --batch 500
  austerity predict run new-patients.csv --out predicted.csv

Exit codes: 0 done, 1 finished but not to be trusted (the reasons are printed), 2 bad usage or input.";

/// Shown below the help of `ica`.
pub(super) const ICA_EXAMPLES: &str = "\
Examples:
  austerity ica microphones.csv --sources voices.csv
  austerity ica stereo.wav --sources unmixed.wav
  austerity ica mixtures.parquet --features left,right --out run
  austerity ica mixtures.csv --mixing truth.csv --json

Exit codes: 0 done, 1 finished but not to be trusted (the reasons are printed), 2 bad usage or input.";

/// Shown below the help of `gibbs`.
pub(super) const GIBBS_EXAMPLES: &str = "\
Examples:
  austerity gibbs grid.uai
  austerity gibbs grid.uai --out run --draws 20000 --chains 8
  austerity gibbs dense.uai --rule sequential --epsilon 0.05 --batch 500

Exit codes: 0 done, 1 finished but not to be trusted (the reasons are printed), 2 bad usage or input.";

/// Options of `select`.
#[derive(Args, Clone, Debug)]
pub(crate) struct SelectArguments {
    /// A CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file.
    data: PathBuf,
    /// Response column: two values.
    #[arg(long, value_name = "COL")]
    response: Option<String>,
    /// Feature columns. [default: all columns without another role]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    features: Option<Vec<String>>,
    /// Features to treat as categorical even if they hold numbers.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    categorical: Vec<String>,
    /// Value of the response that counts as a success. [default: the larger number, or the text that sorts last]
    #[arg(long, value_name = "VALUE")]
    success: Option<String>,
    /// Reference level of a categorical feature; may be repeated. [default: its most frequent level]
    #[arg(long, value_name = "COL=LEVEL")]
    reference: Vec<Reference>,
    /// Leave out the intercept.
    #[arg(long)]
    no_intercept: bool,
    /// Leave numeric columns on their own scale. One prior holds for all coefficients, so columns are standardised unless you say this.
    #[arg(long)]
    raw: bool,
    /// Prior rate λ of the number of features: smaller values favour smaller models. [default: 1]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = "Model")]
    rate: Option<f64>,
    #[command(flatten)]
    pub(crate) common: PartArguments,
}

/// Options of `ica`.
#[derive(Args, Clone, Debug)]
pub(crate) struct IcaArguments {
    /// A CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file with one mixture per column, or sound (.wav) with one per channel, such as one microphone each.
    data: PathBuf,
    /// Columns to unmix. [default: all]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    features: Option<Vec<String>>,
    /// File for the sources that the mean unmixing makes of the columns (.csv, .csv.gz, .parquet, or .wav with one channel each).
    #[arg(long, value_name = "FILE")]
    sources: Option<PathBuf>,
    /// Table with the true mixing matrix, one row per column of DATA and one column per source: the Amari distance to it is recorded.
    #[arg(long, value_name = "FILE")]
    mixing: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) common: PartArguments,
}

/// Options of `gibbs`.
#[derive(Args, Clone, Debug)]
pub(crate) struct GibbsArguments {
    /// A factor graph in the UAI format with the preamble MARKOV.
    file: PathBuf,
    #[command(flatten)]
    pub(crate) common: PartArguments,
}

/// Options of all three.
#[derive(Args, Clone, Debug)]
pub(crate) struct PartArguments {
    /// Folder of the run. [default: a new folder named after the file]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Continue the run in --out, interrupted or finished; --draws is then the total per chain.
    #[arg(long)]
    resume: bool,
    /// Accept/reject rule: exact or sequential. [default: exact]
    #[arg(long, value_parser = choices::<RuleChoice>(), value_name = "RULE", help_heading = "Decision")]
    rule: Option<RuleChoice>,
    /// Error probability ε of the sequential test, one-sided, at each look at the data. [default: 0.05]
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Decision")]
    epsilon: Option<f64>,
    /// Rows (or factors) in the first look of the sequential test. [default: 500]
    #[arg(long, value_name = "M", allow_hyphen_values = true, help_heading = "Decision")]
    batch: Option<usize>,
    /// Factor by which the sample grows between looks; 1 adds --batch rows each time, as in the paper.
    #[arg(long, value_name = "F", allow_hyphen_values = true, help_heading = "Decision")]
    growth: Option<f64>,
    /// Stopping boundary of the sequential test: pocock, obrien-fleming or wang-tsiatis:G0,ALPHA. [default: pocock]
    #[arg(long, value_name = "BOUND", help_heading = "Decision")]
    bound: Option<BoundChoice>,
    /// Number of chains. [default: 4]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "Length")]
    chains: Option<u32>,
    /// Warm-up per chain, in sweeps: one step per variable or source each, four per feature. [default: 1000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Length")]
    warmup: Option<u64>,
    /// Sweeps per stored draw. [default: 1]
    #[arg(long, value_name = "K", help_heading = "Length")]
    thin: Option<u64>,
    #[command(flatten)]
    length: LengthArguments,
    /// Print progress as one JSON line per second on standard error.
    #[arg(long)]
    pub(crate) json_progress: bool,
    /// Print the plan and stop: no folder is made and nothing is drawn. With --json the plan is one JSON object.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
}

impl SelectArguments {
    /// Builds the request from the flags.
    pub(crate) fn request(&self, common: &Common) -> Request {
        let given = self.clone();
        let data = DataOptions {
            file: given.data,
            response: given.response,
            features: given.features,
            categorical: given.categorical,
            success: given.success,
            reference: given.reference,
            no_intercept: given.no_intercept,
            ..DataOptions::default()
        };
        let options = SelectOptions { rate: self.rate, raw: self.raw };
        self.common.request(common, (data, PartOptions::Select(options)))
    }
}

impl IcaArguments {
    /// Builds the request from the flags.
    pub(crate) fn request(&self, common: &Common) -> Request {
        let given = self.clone();
        let data = DataOptions { file: given.data, features: given.features, ..DataOptions::default() };
        let options = IcaOptions { mixing: given.mixing, sources: given.sources };
        self.common.request(common, (data, PartOptions::Ica(options)))
    }
}

impl GibbsArguments {
    /// Builds the request from the flags.
    pub(crate) fn request(&self, common: &Common) -> Request {
        let data = DataOptions { file: self.file.clone(), ..DataOptions::default() };
        self.common.request(common, (data, PartOptions::Gibbs))
    }
}

impl PartArguments {
    fn request(&self, common: &Common, (data, part): (DataOptions, PartOptions)) -> Request {
        let length: LengthOptions = self.length.options();
        Request {
            out: self.out.clone(),
            resume: self.resume,
            seed: common.seed,
            threads: common.threads,
            data,
            length,
            shape: ShapeOptions {
                rule: self.rule,
                epsilon: self.epsilon,
                batch: self.batch,
                growth: self.growth,
                bound: self.bound,
                chains: self.chains,
                warmup: self.warmup,
                thin: self.thin,
                ..ShapeOptions::default()
            },
            part: Some(part),
        }
    }
}
