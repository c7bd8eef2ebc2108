//! What can be typed after `fit`, as a [`Request`].

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use austerity_fit::Request;
use austerity_fit::output::Failure;
use austerity_fit::parts::{Arrivals, Machines};
use austerity_fit::request::{
    AuditChoice, BoundChoice, Common, DataOptions, FamilyChoice, LawChoice, LengthOptions, MissingChoice,
    Preset, ProposalChoice, Reference, RuleChoice, ShapeOptions, SurrogateChoice, grammar,
};
use austerity_glm::Prior;
use clap::Args;

use super::{choices, families};

/// Shown below the help of `fit`.
pub(super) const EXAMPLES: &str = "\
Examples:
  austerity generate logistic --rows 1000000 --features 10 --out data.parquet
  austerity fit data.parquet --response y
  austerity fit data.parquet --response y --dry-run
  austerity fit data.parquet --response y --out run
  austerity fit data.parquet --response y --out run --resume --draws 20000
  austerity fit counts.csv --response n --family poisson --offset log_exposure --out run
  austerity fit data.parquet --response y --out run --preset paper --epsilon 0.05 --batch 500 --proposal random-walk:0.01
  austerity fit data.parquet --response y --out run --rule sequential --tolerance 0.05 --budget 60s

Exit codes: 0 done, 1 finished but not to be trusted (the reasons are printed), 2 bad usage or input.";

/// Shown below the help of `plan`.
pub(super) const PLAN_EXAMPLES: &str = "\
Examples:
  austerity plan 'days/*.parquet' --response y
  austerity plan 'days/*.parquet' --response y --rows 1e12 --hosts 1000 --cores 16

`austerity fit --dry-run` prints what a fit would decide.";

/// Shown below the help of `update`.
pub(super) const UPDATE_EXAMPLES: &str = "\
Examples:
  austerity fit 'days/*.parquet' --response y --sample-rows 200000 --out run
  austerity update run today.parquet --out run2
  austerity update run2 tomorrow.parquet --forget days/day-01.parquet --out run3

Priors and the coding of columns stay those of the first fit. Exit codes as of fit.";

/// Options of `fit`.
#[derive(Args, Clone, Debug)]
pub(crate) struct FitArguments {
    #[command(flatten)]
    data: DataArguments,
    /// Folder of the run. [default: a new folder named after DATA, such as flights-run for flights.parquet]
    #[arg(long, value_name = "RUN")]
    out: Option<PathBuf>,
    /// Continue the run in --out, interrupted or finished; --draws is then the total per chain.
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    shape: ShapeArguments,
    #[command(flatten)]
    length: LengthArguments,
    /// Rows that chains run on, of data read in parts: see docs/scale.md. All rows in memory where there are no more. [default: all, or as many as --memory allows]
    #[arg(long, value_name = "M", help_heading = "Scale")]
    sample_rows: Option<usize>,
    /// Memory that the rows may take, such as 2GB. Larger data are read in parts, several times, and chains run on a sample. [default: what is free]
    #[arg(long, value_name = "SIZE", value_parser = grammar::bytes, help_heading = "Scale")]
    memory: Option<u64>,
    /// Who reads data in parts: threads, or from `python -m austerity fit` processes:4, dask:tcp://HOST:8786, spark or mpi. [default: threads]
    #[arg(long, value_name = "ENGINE", help_heading = "Scale")]
    pub(crate) engine: Option<String>,
    /// Print progress as one JSON line per second on standard error.
    #[arg(long)]
    pub(crate) json_progress: bool,
    /// Print the plan (data, model, surrogate, proposal, rule, length, rows per decision, time, memory, disk) and stop: no folder is made
    /// and nothing is drawn. With --json the plan is one JSON object.
    #[arg(long, conflicts_with = "resume")]
    pub(crate) dry_run: bool,
    /// Draw from the priors alone and stop: prints the prior of every parameter; with --out FILE (.parquet, .csv, .csv.gz) writes --draws draws [1000],
    /// each with a response that it predicts. As the command `priors`.
    #[arg(long, conflicts_with_all = ["resume", "dry_run"])]
    pub(crate) prior_only: bool,
}

impl FitArguments {
    /// How many draws from the priors to write, and where.
    pub(crate) fn prior_draws(&self) -> Option<(usize, &Path)> {
        let draws = self.length.options().draws.unwrap_or(1000);
        self.out.as_deref().map(|out| (usize::try_from(draws).unwrap_or(usize::MAX), out))
    }

    /// Builds the request from the flags and reads the priors file that they name.
    pub(crate) fn request(&self, common: &Common) -> Result<Request, Failure> {
        Ok(Request {
            out: self.out.clone(),
            resume: self.resume,
            seed: common.seed,
            threads: common.threads,
            data: DataOptions { sample_rows: self.sample_rows, memory: self.memory, ..self.data.options() },
            length: self.length.options(),
            shape: self.shape.options()?,
            part: None,
        })
    }
}

/// Options of `plan`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PlanArguments {
    #[command(flatten)]
    data: DataArguments,
    /// Rows that chains would run on. [default: 100000]
    #[arg(long, value_name = "M")]
    sample_rows: Option<usize>,
    /// Rows, to extrapolate to, such as 1e12. [default: those of the files]
    #[arg(long, value_name = "X")]
    rows: Option<f64>,
    /// Hosts.
    #[arg(long, value_name = "N", default_value_t = 1)]
    hosts: u32,
    /// Cores of each host. [default: those of this machine]
    #[arg(long, value_name = "N")]
    cores: Option<u32>,
    /// Bytes that a host reads in a second, such as 1GB.
    #[arg(long, value_name = "SIZE", value_parser = grammar::bytes, default_value = "1GB")]
    speed: u64,
}

impl PlanArguments {
    /// The data, and where they would be fitted.
    pub(crate) fn asked(&self) -> (DataOptions, Machines) {
        let here = || std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32);
        let machines = Machines {
            rows: self.rows,
            hosts: f64::from(self.hosts.max(1)),
            cores: f64::from(self.cores.unwrap_or_else(here).max(1)),
            speed: self.speed.max(1) as f64,
        };
        (DataOptions { sample_rows: self.sample_rows, ..self.data.options() }, machines)
    }
}

/// Options of `update`.
#[derive(Args, Clone, Debug)]
pub(crate) struct UpdateArguments {
    /// The folder of a run whose data were read in parts (--sample-rows or --memory).
    run: PathBuf,
    /// New rows: files, folders or patterns with the columns of the run's data.
    new: Vec<PathBuf>,
    /// Folder of the new run.
    #[arg(long, value_name = "RUN2")]
    out: PathBuf,
    /// A file of the run whose rows are to be forgotten; may be repeated.
    #[arg(long, value_name = "FILE")]
    forget: Vec<PathBuf>,
    /// Draws per chain. [default: as in the old run]
    #[arg(long, value_name = "N")]
    draws: Option<u64>,
    /// Who reads the new rows: see `fit --engine`.
    #[arg(long, value_name = "ENGINE")]
    pub(crate) engine: Option<String>,
    /// Print progress as one JSON line per second on standard error.
    #[arg(long)]
    pub(crate) json_progress: bool,
}

impl UpdateArguments {
    /// The old run, what comes and goes, and where the new run is to be.
    pub(crate) fn asked(&self, common: &Common) -> (&Path, Arrivals, Request) {
        let request = Request {
            out: Some(self.out.clone()),
            seed: common.seed,
            threads: common.threads,
            ..Request::default()
        };
        (
            &self.run,
            Arrivals { new: self.new.clone(), forget: self.forget.clone(), draws: self.draws },
            request,
        )
    }
}

/// Where the data are and which column is what.
#[derive(Args, Clone, Debug)]
pub(crate) struct DataArguments {
    /// A CSV (.csv, .csv.gz, .tsv), Parquet or NumPy file, a folder of such files, a pattern in quotes such as "parts/*.parquet", or a store
    /// made by `convert`. Several files with the same columns are one table.
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Model formula, such as "y ~ x + C(city)*poly(hour, 2) + offset(log(n))", instead of --response, --features and the other options
    /// about columns: see docs/formulas.md.
    #[arg(long, value_name = "FORMULA")]
    formula: Option<String>,
    /// Response column (a store has its own).
    #[arg(long, value_name = "COL")]
    response: Option<String>,
    /// Feature columns. [default: all columns without another role]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    features: Option<Vec<String>>,
    /// Features to treat as categorical even if they hold numbers.
    #[arg(long, value_name = "A,B,..", value_delimiter = ',')]
    categorical: Vec<String>,
    /// Value of a two-valued response that counts as a success. [default: the larger number, or the text that sorts last]
    #[arg(long, value_name = "VALUE")]
    success: Option<String>,
    /// Reference level of a categorical feature; may be repeated. [default: its most frequent level]
    #[arg(long, value_name = "COL=LEVEL")]
    reference: Vec<Reference>,
    /// Column of frequency weights.
    #[arg(long, value_name = "COL")]
    weights: Option<String>,
    /// Column of binomial trials.
    #[arg(long, value_name = "COL")]
    trials: Option<String>,
    /// Column that is 1 where a survival time ended with the event and 0 where it is censored. [default: every time did]
    #[arg(long, value_name = "COL")]
    event: Option<String>,
    /// Column of offsets: a known part of the linear predictor, such as log exposure.
    #[arg(long, value_name = "COL")]
    offset: Option<String>,
    /// Leave out the intercept.
    #[arg(long)]
    no_intercept: bool,
    /// Standardise numeric features; priors then apply to the standardised columns.
    #[arg(long)]
    standardize: bool,
    /// Rows in which a column that is used has no value. [default: refuse]
    #[arg(long, value_parser = choices::<MissingChoice>())]
    missing: Option<MissingChoice>,
    /// Likelihood. [default: logistic for a response with two values or --trials, otherwise linear]
    #[arg(long, value_parser = families())]
    family: Option<FamilyChoice>,
}

impl DataArguments {
    pub(crate) fn options(&self) -> DataOptions {
        let given = self.clone();
        let mut files = given.data.into_iter();
        DataOptions {
            file: files.next().unwrap_or_default(),
            further: files.collect(),
            formula: given.formula,
            response: given.response,
            features: given.features,
            categorical: given.categorical,
            success: given.success,
            reference: given.reference,
            weights: given.weights,
            trials: given.trials,
            event: given.event,
            offset: given.offset,
            no_intercept: given.no_intercept,
            standardize: given.standardize,
            missing: given.missing,
            family: given.family,
            ..DataOptions::default()
        }
    }
}

/// Priors.
#[derive(Args, Clone, Debug)]
struct GivenPriors {
    /// Prior of every coefficient but the intercept: normal:SD, laplace:SCALE, student:DF,SCALE or flat; with another mean normal:MEAN,SD,
    /// laplace:MEAN,SCALE, student:DF,MEAN,SCALE. [default: normal:2.5 divided by each column's sd (of a column of two values, such as 0 and 1, normal:5
    /// divided by their distance), times the sd of a real response]
    ///
    /// NAME=PRIOR is the prior of one coefficient or of an extra parameter such as sigma. NAME may be a pattern with * and ? that several columns match:
    /// --prior "x*=normal:0,1". May be repeated; a name that is spelled out goes before patterns, and patterns before PRIOR alone.
    #[arg(long, value_name = "[NAME=]PRIOR", help_heading = "Model")]
    prior: Vec<NamedPrior>,
    /// Prior of the intercept, where every column is 0. [default: at the column means, normal around the link of the mean response with sd 10;
    /// of real responses around their mean with 2.5 times their sd]
    #[arg(long, value_name = "PRIOR", help_heading = "Model")]
    prior_intercept: Option<Prior>,
    /// Prior of the standard deviation of every group effect, as in (1 | group): half-normal:SCALE, half-student:DF,SCALE or exponential:RATE, in the unit of the linear
    /// predictor. [default: half-student:3,2.5]
    #[arg(long, value_name = "PRIOR", help_heading = "Model")]
    prior_group: Option<Prior>,
    /// Priors of single coefficients: a CSV file with the columns coefficient,prior. That of sigma is half-normal:SCALE, half-student:DF,SCALE,
    /// exponential:RATE, gamma:SHAPE,RATE or log-normal:MEAN,SD. [default of sigma: half-student:3, scale the sd of the response]
    #[arg(long, value_name = "FILE", help_heading = "Model")]
    priors: Option<PathBuf>,
}

/// Options of `priors`.
#[derive(Args, Clone, Debug)]
pub(crate) struct PriorsArguments {
    #[command(flatten)]
    data: DataArguments,
    #[command(flatten)]
    priors: GivenPriors,
    /// Draw so many times from the priors; each draw has a response that it predicts, of a row whose columns are at their means.
    #[arg(long, value_name = "N", requires = "out")]
    draws: Option<usize>,
    /// The file of the draws; its extension says the format (.parquet, .csv, .csv.gz).
    #[arg(long, value_name = "FILE", requires = "draws")]
    out: Option<PathBuf>,
}

impl PriorsArguments {
    /// The fit whose priors are asked for.
    pub(crate) fn request(&self, common: &Common) -> Result<Request, Failure> {
        let mut request = Request {
            seed: common.seed,
            threads: common.threads,
            data: self.data.options(),
            ..Request::default()
        };
        self.priors.give(&mut request.shape)?;
        Ok(request)
    }

    /// How many draws to write, and where.
    pub(crate) fn drawn(&self) -> Option<(usize, &Path)> {
        self.draws.zip(self.out.as_deref())
    }
}

/// What shapes the draws: a resumed run refuses other values.
#[derive(Args, Clone, Debug)]
struct ShapeArguments {
    #[command(flatten)]
    priors: GivenPriors,
    /// Accept/reject rule. [default: auto]
    #[arg(long, value_parser = choices::<RuleChoice>(), value_name = "RULE", help_heading = "Decision")]
    rule: Option<RuleChoice>,
    /// Named set of options.
    #[arg(long, value_parser = choices::<Preset>(), help_heading = "Decision")]
    preset: Option<Preset>,
    /// Error probability ε of the sequential test, one-sided, at each look at the data.
    #[arg(long, value_name = "E", allow_hyphen_values = true, help_heading = "Decision")]
    epsilon: Option<f64>,
    /// Rows in the first look of the sequential test [default: 500; on residuals of a surrogate 64 or what its rows need].
    #[arg(long, value_name = "M", allow_hyphen_values = true, help_heading = "Decision")]
    batch: Option<usize>,
    /// Factor by which the sample grows between looks; 1 adds --batch rows each time, as in the paper.
    #[arg(long, value_name = "F", allow_hyphen_values = true, help_heading = "Decision")]
    growth: Option<f64>,
    /// Stopping boundary of the sequential test: pocock, obrien-fleming or wang-tsiatis:G0,ALPHA. [default: pocock]
    #[arg(long, value_name = "BOUND", help_heading = "Decision")]
    bound: Option<BoundChoice>,
    /// Acceptance threshold: metropolis, logistic (Barker), compensated or compensated:LAMBDA. [default: compensated for a test if a
    /// λ exists, otherwise metropolis]
    #[arg(long, value_name = "LAW", help_heading = "Decision")]
    law: Option<LawChoice>,
    /// Stop a test once the standard error of the log acceptance ratio is below this.
    #[arg(long, value_name = "TAU", allow_hyphen_values = true, help_heading = "Decision")]
    stop_at: Option<f64>,
    /// Largest mean error of the acceptance probability. [default: 0.01]
    #[arg(long, value_name = "D", allow_hyphen_values = true, help_heading = "Decision")]
    tolerance: Option<f64>,
    /// Surrogate of the log-likelihood, a control variate for the decisions: a Taylor expansion at the mode (taylor1, taylor2, taylor3),
    /// none, or the cheaper of both (auto). [default: auto]
    #[arg(long, value_name = "SURROGATE", help_heading = "Decision")]
    surrogate: Option<SurrogateChoice>,
    /// Share of the decisions that are checked against all rows: auto, off or a number from 0 to 1. [default: auto]
    #[arg(long, value_name = "RATE", allow_hyphen_values = true, help_heading = "Decision")]
    audit: Option<AuditChoice>,
    /// Rows that are sampled as one block. [default: 32; 1 with --preset paper]
    #[arg(long, value_name = "ROWS", help_heading = "Decision")]
    block_rows: Option<usize>,
    /// Proposal distribution: auto (chosen by a pilot run), laplace (independent draws from the normal approximation at the mode),
    /// surrogate-hmc (Hamiltonian Monte Carlo on the surrogate), langevin:STEP (Langevin steps on the surrogate and mini-batch residual gradients;
    /// STEP between 0 and 2 posterior sds, usually 1), adaptive (random walk that adapts in warm-up), random-walk:SD, sgld:SD or
    /// sgfs:STEP (stochastic gradient Langevin dynamics and Fisher scoring on mini-batches of --batch rows, such as sgld:0.01 and sgfs:0.5). [default: auto]
    #[arg(long, value_name = "PROPOSAL", help_heading = "Proposal")]
    proposal: Option<ProposalChoice>,
    /// Number of chains. [default: 4]
    #[arg(long, value_name = "C", allow_hyphen_values = true, help_heading = "Length")]
    chains: Option<u32>,
    /// Number of the first chain, for runs on several machines. [default: 0]
    #[arg(long, value_name = "K", help_heading = "Length")]
    first_chain: Option<u32>,
    /// Warm-up steps per chain. [default: 1000]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Length")]
    warmup: Option<u64>,
    /// Thinning: steps per stored draw. [default: 1]
    #[arg(long, value_name = "K", help_heading = "Length")]
    thin: Option<u64>,
    /// Parameters to store. [default: all]
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', help_heading = "Length")]
    keep: Option<Vec<String>>,
    /// Keep draws of all group effects, as in (1 | group), for predictions: 4 bytes per effect, group and draw of up to 400 draws. [default: where that is at most 64 MB]
    #[arg(long, help_heading = "Length")]
    keep_groups: bool,
}

/// A prior of all columns, or of those of a name.
#[derive(Clone, Debug)]
struct NamedPrior {
    name: Option<String>,
    prior: Prior,
}

impl FromStr for NamedPrior {
    type Err = austerity::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // Names of levels have an equals sign of their own, priors have none.
        let (name, prior) = text.rsplit_once('=').map_or((None, text), |(name, prior)| (Some(name), prior));
        Ok(Self { name: name.map(|name| name.trim().to_owned()), prior: prior.parse()? })
    }
}

/// The prior of all columns, and those of single names beside the ones of a file; no name has two.
fn named(
    given: &[NamedPrior],
    mut priors: BTreeMap<String, Prior>,
) -> Result<(Option<Prior>, BTreeMap<String, Prior>), Failure> {
    let mut all = None;
    for NamedPrior { name, prior } in given {
        let before = match name {
            None => all.replace(*prior),
            Some(name) => priors.insert(name.clone(), *prior),
        };
        if let Some(before) = before {
            let name = name.as_deref().unwrap_or("every column");
            return Err(Failure::Usage(format!(
                "--prior: {name} has two priors, {before} and {prior}; give one"
            )));
        }
    }
    Ok((all, priors))
}

impl GivenPriors {
    /// Puts them in their place, with those of the file that they name.
    fn give(&self, shape: &mut ShapeOptions) -> Result<(), Failure> {
        let priors = self.priors.as_ref().map(austerity_io::priors::read).transpose()?;
        (shape.prior, shape.priors) = named(&self.prior, priors.unwrap_or_default())?;
        shape.prior_intercept = self.prior_intercept;
        shape.prior_group = self.prior_group;
        Ok(())
    }
}

impl ShapeArguments {
    fn options(&self) -> Result<ShapeOptions, Failure> {
        let mut shape = ShapeOptions {
            rule: self.rule,
            preset: self.preset,
            epsilon: self.epsilon,
            batch: self.batch,
            growth: self.growth,
            bound: self.bound,
            law: self.law,
            stop_at: self.stop_at,
            tolerance: self.tolerance,
            surrogate: self.surrogate,
            audit: self.audit,
            block_rows: self.block_rows,
            proposal: self.proposal,
            chains: self.chains,
            first_chain: self.first_chain,
            warmup: self.warmup,
            thin: self.thin,
            keep: self.keep.clone(),
            keep_groups: self.keep_groups,
            ..ShapeOptions::default()
        };
        self.priors.give(&mut shape)?;
        Ok(shape)
    }
}

/// How long: a resumed run may change it.
#[derive(Args, Clone, Debug)]
pub(super) struct LengthArguments {
    /// Draws per chain, in total over all resumptions. [default: from 2000 to 200000, planned by the pilot run for about 600 effective
    /// draws per chain; unlimited if another limit is given]
    #[arg(long, value_name = "N", allow_hyphen_values = true, help_heading = "Length")]
    draws: Option<u64>,
    /// Wall-clock time of this session, such as 60s, 5m or 1h: from the start of the command to its summary, reading and preparation included. Where
    /// rule and tolerance are left open they are chosen, and chosen again as the time passes, for the least bias² + variance at its end.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = grammar::duration, help_heading = "Length")]
    budget: Option<Duration>,
    /// Budget in likelihood evaluations of the chains, such as 1e9. Like --budget, but the draws do not depend on timing.
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Length")]
    evaluations: Option<f64>,
    /// Stop once every parameter has this bulk effective sample size.
    #[arg(long, value_name = "X", allow_hyphen_values = true, help_heading = "Length")]
    target_ess: Option<f64>,
    /// Largest size of the run's folder, such as 500MB or 2GB. A run that would need more stores every 2nd, 4th, 8th, … draw and says so. Runs that only
    /// --budget or --evaluations end store at most 65536 draws per chain unless this is given. [default: 1GB]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true, value_parser = grammar::bytes, help_heading = "Length")]
    max_disk: Option<u64>,
}

impl LengthArguments {
    pub(super) fn options(&self) -> LengthOptions {
        let Self { draws, budget, evaluations, target_ess, max_disk } = *self;
        LengthOptions { draws, budget, evaluations, target_ess, max_disk }
    }
}
