//! Requests that cannot be met: what is wrong, as fields. `words` puts it into a sentence, in the reader's [`Dialect`].

mod words;

use std::fmt;
use std::path::PathBuf;

use austerity_glm::Prior;

use crate::request::{Dialect, Keyword};

/// What a sentence is about: an option, or something without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// An option.
    Keyword(Keyword),
    /// Something that follows from an option.
    Because(&'static str, Keyword),
    /// Something else, in words.
    Thing(String),
}

impl From<Keyword> for About {
    fn from(keyword: Keyword) -> Self {
        Self::Keyword(keyword)
    }
}

/// Why a run has no surrogate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoSurrogate {
    /// It would not serve, for a reason in words.
    Unfit(String),
    /// A linear model decides from sums of squares.
    Linear,
    /// None was asked for.
    AskedForNone,
    /// The preset of the paper decides about the rows themselves.
    Paper,
    /// The budget leaves no time for one.
    Hurried,
    /// So few rows are read whole in less time.
    Few(usize),
    /// None is made by itself with the other options.
    Unasked,
}

/// Why group terms cannot be fitted.
#[allow(missing_docs, reason = "the fields are called what they are")]
#[derive(Clone, Debug, PartialEq)]
pub enum GroupRefusal {
    /// More than one term.
    Several { names: Vec<String> },
    /// A slope that has no coefficient, or is no number.
    Slope { group: String, slope: String },
    /// A slope of a column of levels.
    TextSlope { group: String, slope: String },
    /// No effect, or too many.
    Effects { group: String, effects: usize, most: usize },
    /// As many groups as rows, where noise has a scale of its own.
    AsManyAsRows { group: String },
    /// A column standardised by an option.
    Standardized,
    /// The marginal posterior has no mode that could be found.
    NoMode { error: String },
    /// A prior of groups without groups.
    NoGroups { keyword: Keyword },
}

/// Why a request cannot be met. Fields hold what the sentence names: the option, its value, what is allowed.
#[allow(missing_docs, reason = "the fields are called what they are")]
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// A number outside its range.
    Range { keyword: Keyword, value: String, allowed: String },
    /// A value that cannot be used.
    Value { keyword: Keyword, value: String, why: String },
    /// An option that is needed.
    Missing { keyword: Keyword, why: &'static str },
    /// Exact rules with options of a test.
    ExactMakesNoTest,
    /// Exact rules with a tolerance or audits.
    ExactMakesNoError,
    /// A compensated threshold for exact decisions.
    CompensatedExact,
    /// A compensated threshold for a test on residuals.
    CompensatedResiduals,
    /// λ is to be found for steps that the theory does not know.
    CompensatedSteps,
    /// No λ exists for the test.
    NoCompensation,
    /// Two options that fix the level of the same test.
    EpsilonTwice,
    /// The pilot met no move that a test could decide.
    NoMoves,
    /// An option needs a surrogate, and there is none.
    NeedsSurrogate { keyword: Keyword, value: String, why: NoSurrogate, instead: &'static str },
    /// The folder cannot hold enough draws.
    DiskTooSmall { max_disk: u64, draws: u64, chains: u64, parameters: usize, least: u64 },
    /// More effective draws than the folder can hold for certain.
    TargetTooLarge { target: f64, max_disk: u64, reachable: u64 },
    /// A budget that affords nothing.
    BudgetTooSmall { budget: String, what: String, keyword: Keyword, least: String },
    /// More chains than any machine has use for.
    TooManyChains { chains: u32, most: u32 },
    /// A column with the name of a parameter of the family, and what that is.
    ExtraColumn { file: PathBuf, name: &'static str, about: &'static str },
    /// Functions without derivatives cannot be expanded.
    OwnDerivatives { keyword: Keyword },
    /// A model of the user's own brings its prior.
    OwnPrior,
    /// A model of the user's own has no bounds.
    OwnCertified,
    /// A parameter that is to be kept twice.
    KeepTwice { keep: Vec<String>, name: String },
    /// A parameter that does not exist.
    KeepUnknown { name: String, near: Option<String>, known: Vec<String> },
    /// A prior for a coefficient that does not exist.
    UnknownCoefficient { name: String, near: Option<String>, known: Vec<String> },
    /// A prior of an intercept that the model does not have.
    NoIntercept,
    /// A prior of positive numbers for a coefficient.
    PositivePrior { keyword: Keyword, coefficient: Option<String>, prior: Prior },
    /// A prior of real numbers for sigma.
    SigmaPrior { name: String, prior: Prior },
    /// A resumed run would change.
    Changed { what: About, stored: String, now: String },
    /// A store was made with other options.
    StoreDiffers { file: PathBuf, what: About, stored: String, now: String },
    /// Two patterns that give one coefficient different priors.
    TwoPatterns { name: String, patterns: [String; 2] },
    /// Events with a family that does not explain times.
    EventFamily { event: String },
    /// The same of a formula.
    FormulaEvent,
    /// Trials with a family that has none.
    TrialsFamily { trials: String },
    /// The same of a formula.
    FormulaTrials,
    /// A bias is predicted for Metropolis–Hastings only.
    EnergyLogistic,
    /// An option that says what the formula says.
    FormulaSays(Keyword),
    /// Two options that exclude each other.
    Both(Keyword, Keyword),
    /// A folder that cannot be used.
    Folder { problem: String },
    /// A folder that holds something else.
    FolderFull { folder: PathBuf },
    /// A folder that holds a run.
    FolderTaken { folder: PathBuf },
    /// A run that is to go on, and nobody said which.
    ResumeWhere { example: PathBuf },
    /// Predictions need parameters that the run did not keep.
    NotKept { run: PathBuf, names: Vec<String> },
    /// Group terms that cannot be fitted.
    Groups(GroupRefusal),
    /// Fewer draws than chains.
    FewerThanChains { draws: usize, chains: usize },
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words(Dialect::Shell))
    }
}

impl std::error::Error for Refusal {}

impl Refusal {
    /// A number outside its range.
    pub(crate) fn range(keyword: Keyword, value: impl fmt::Display, allowed: impl Into<String>) -> Self {
        Self::Range { keyword, value: value.to_string(), allowed: allowed.into() }
    }
}
