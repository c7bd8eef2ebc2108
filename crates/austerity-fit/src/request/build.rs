//! Building a request, running it, and what comes of it: the default fit for Rust, from a file or from columns in memory.
//!
//! A run needs a folder for its draws and checkpoints. [`Request::out()`] names it. Without a name a fit of a file makes one named after the file, as
//! the program does; a fit of columns in memory makes a temporary one that goes with the [`Fit`].

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use austerity::diagnostics::Summary;
use austerity::run::Reason;
use austerity_glm::Prior;
use austerity_io::run::DrawsReader;
use austerity_io::table::Source;

use super::{FamilyChoice, MissingChoice, ProposalChoice, Reference, Request, RuleChoice, SurrogateChoice};
use crate::fit::{self, Host, Plan, Unattended};
use crate::output::Failure;
use crate::runs::Overview;

/// Names that are tried for a temporary folder.
const ATTEMPTS: usize = 16;

/// Methods that set one value and hand the request on.
macro_rules! setters {
    ($($(#[$about:meta])* $name:ident($($part:ident).+: $Type:ty);)*) => { $(
        $(#[$about])*
        #[must_use]
        pub fn $name(mut self, $name: $Type) -> Self {
            self.$($part).+ = Some($name.into());
            self
        }
    )* };
}

impl Request {
    /// A regression of `response` on the other columns of `file`; a family is its name as text, such as `"student:7".parse()?`.
    #[must_use]
    pub fn new(family: Option<FamilyChoice>, file: impl Into<PathBuf>, response: &str) -> Self {
        let mut request = Self::default();
        request.data.file = file.into();
        request.data.response = Some(response.into());
        request.data.family = family;
        request
    }

    /// A logistic regression of `response` on the other columns of `file`.
    #[must_use]
    pub fn logistic(file: impl Into<PathBuf>, response: &str) -> Self {
        Self::new(FamilyChoice::named("logistic"), file, response)
    }

    /// A linear regression with normal noise.
    #[must_use]
    pub fn linear(file: impl Into<PathBuf>, response: &str) -> Self {
        Self::new(FamilyChoice::named("linear"), file, response)
    }

    /// A regression by a formula, such as `y ~ x + C(city)`.
    #[must_use]
    pub fn formula(file: impl Into<PathBuf>, formula: &str) -> Self {
        let mut request = Self::default();
        request.data.file = file.into();
        request.data.formula = Some(formula.into());
        request
    }

    setters! {
        /// The column of frequency weights.
        weights(data.weights: &str);
        /// The column of binomial trials.
        trials(data.trials: &str);
        /// The column of events of survival times: 1, or 0 where the time is censored.
        event(data.event: &str);
        /// The column of offsets.
        offset(data.offset: &str);
        /// The value of the response that counts as a success.
        success(data.success: &str);
        /// Draws per chain, in total over all resumptions.
        draws(length.draws: u64);
        /// Wall-clock time, reading and preparation included.
        budget(length.budget: Duration);
        /// Likelihood evaluations of the chains.
        evaluations(length.evaluations: f64);
        /// Bulk effective sample size of every parameter that ends the run.
        target_ess(length.target_ess: f64);
        /// Largest size of the run's folder, in bytes.
        max_disk(length.max_disk: u64);
        /// Chains.
        chains(shape.chains: u32);
        /// Warm-up steps per chain.
        warmup(shape.warmup: u64);
        /// Steps per draw.
        thin(shape.thin: u64);
        /// The accept/reject rule.
        rule(shape.rule: RuleChoice);
        /// Largest mean error of the acceptance probability.
        tolerance(shape.tolerance: f64);
        /// The proposal distribution.
        proposal(shape.proposal: ProposalChoice);
        /// The surrogate of the log-likelihood.
        surrogate(shape.surrogate: SurrogateChoice);
        /// Prior of every coefficient but the intercept.
        prior(shape.prior: Prior);
        /// Prior of the intercept, where every column is 0.
        prior_intercept(shape.prior_intercept: Prior);
        /// The prior of the standard deviation of every group effect.
        prior_group(shape.prior_group: Prior);
        /// Folder of the run.
        out(out: impl Into<PathBuf>);
        /// Seed of the random numbers.
        seed(seed: u64);
    }

    /// Columns that explain the response.
    #[must_use]
    pub fn features(mut self, names: &[&str]) -> Self {
        self.data.features = Some(names.iter().map(|&name| name.into()).collect());
        self
    }

    /// The reference level of a categorical column.
    #[must_use]
    pub fn reference(mut self, column: &str, level: &str) -> Self {
        self.data.reference.push(Reference { column: column.into(), level: level.into() });
        self
    }

    /// The prior of one coefficient, or of `sigma`.
    #[must_use]
    pub fn prior_of(mut self, coefficient: &str, prior: Prior) -> Self {
        self.shape.priors.insert(coefficient.into(), prior);
        self
    }

    /// Leaves out rows in which a column that is used has no value; a remark counts them by column.
    #[must_use]
    pub fn drop_missing(mut self) -> Self {
        self.data.missing = Some(MissingChoice::Drop);
        self
    }

    /// Standardises numeric columns; priors then apply to the standardised ones.
    #[must_use]
    pub fn standardized(mut self) -> Self {
        self.data.standardize = true;
        self
    }

    /// Goes on with the run in [`Request::out()`].
    #[must_use]
    pub fn resumed(mut self) -> Self {
        self.resume = true;
        self
    }

    /// The seed: 1 unless given.
    #[must_use]
    pub(crate) fn seed_or_default(&self) -> u64 {
        self.seed.unwrap_or(1)
    }

    /// The same request about a table in memory.
    #[must_use]
    pub fn data(self, table: &Source) -> OnTable<'_> {
        OnTable { request: self, table }
    }

    /// Plans the fit of the file: no folder is made, nothing is drawn.
    pub fn plan(&self) -> Result<Plan, Failure> {
        fit::plan(self, &mut Unattended::default())
    }

    /// Fits the file.
    pub fn run(&self) -> Result<Fit, Failure> {
        self.run_with(&mut Unattended::default())
    }

    /// Fits the file; the host follows the run and may end it.
    pub fn run_with(&self, host: &mut dyn Host) -> Result<Fit, Failure> {
        Ok(Fit { overview: fit::run(self, host)?, _temporary: None })
    }
}

/// A request about a table in memory.
#[derive(Clone, Debug)]
pub struct OnTable<'t> {
    request: Request,
    table: &'t Source,
}

impl OnTable<'_> {
    /// Plans the fit of the table: no folder is made, nothing is drawn.
    pub fn plan(&self) -> Result<Plan, Failure> {
        fit::plan_on(self.table, &self.request, &mut Unattended::default())
    }

    /// Fits the table.
    pub fn run(self) -> Result<Fit, Failure> {
        self.run_with(&mut Unattended::default())
    }

    /// Fits the table; the host follows the run and may end it.
    pub fn run_with(mut self, host: &mut dyn Host) -> Result<Fit, Failure> {
        let temporary = if self.request.out.is_none() { Some(Temporary::new()?) } else { None };
        if let Some(Temporary(folder)) = &temporary {
            self.request.out = Some(folder.join("run"));
        }
        Ok(Fit { overview: fit::run_on(self.table, &self.request, host)?, _temporary: temporary })
    }
}

/// A temporary folder, removed with this value.
struct Temporary(PathBuf);

impl Temporary {
    fn new() -> Result<Self, Failure> {
        let mut last = std::io::Error::from(std::io::ErrorKind::AlreadyExists);
        for _ in 0..ATTEMPTS {
            let random = RandomState::new().build_hasher().finish();
            let path = std::env::temp_dir().join(format!("austerity-{random:016x}"));
            match std::fs::create_dir(&path) {
                Ok(()) => {
                    austerity_io::run::volatile(&path);
                    return Ok(Self(path));
                }
                Err(error) => last = error,
            }
        }
        Err(Failure::Usage(format!(
            "cannot make a temporary folder in {}: {last}; name a folder for the run",
            std::env::temp_dir().display()
        )))
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// What a fit found.
pub struct Fit {
    overview: Overview,
    _temporary: Option<Temporary>,
}

impl Fit {
    /// Whether the draws may be trusted, and what else is to be said of them; it prints as sentences.
    #[must_use]
    pub fn verdict(&self) -> Verdict<'_> {
        Verdict(&self.overview)
    }

    /// One summary per parameter.
    #[must_use]
    pub fn summary(&self) -> &[Summary] {
        &self.overview.summary
    }

    /// The draws of a parameter, one list per chain.
    pub fn draws(&self, parameter: &str) -> Result<Vec<Vec<f64>>, Failure> {
        let reader = DrawsReader::open(self.folder().join("draws.zarr"))?;
        let place = reader.names().iter().position(|name| name == parameter).ok_or_else(|| {
            Failure::Usage(format!("{parameter}: no such parameter; there are {}", reader.names().join(", ")))
        })?;
        let values = reader.parameters(place..place + 1)?.swap_remove(0);
        Ok(values.chunks(reader.draws().max(1)).map(<[f64]>::to_vec).collect())
    }

    /// The folder of the run; a temporary one goes with this value.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.overview.path
    }

    /// All that is known of the run.
    #[must_use]
    pub fn overview(&self) -> &Overview {
        &self.overview
    }
}

/// The verdict on a fit.
pub struct Verdict<'f>(&'f Overview);

impl Verdict<'_> {
    /// Whether nothing speaks against the draws.
    #[must_use]
    pub fn trusted(&self) -> bool {
        self.0.verdict.trusted()
    }

    /// What speaks against the draws: values, which print as sentences.
    #[must_use]
    pub fn reasons(&self) -> &[Reason] {
        &self.0.verdict.reasons
    }

    /// What may be improved, or is worth knowing.
    #[must_use]
    pub fn remarks(&self) -> &[Reason] {
        &self.0.verdict.remarks
    }
}

impl fmt::Display for Verdict<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.trusted() { "" } else { "NOT TO BE TRUSTED YET:\n" })?;
        f.write_str(&self.0.findings().join("\n"))
    }
}
