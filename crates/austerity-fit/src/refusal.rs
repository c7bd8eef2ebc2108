//! Requests that cannot be met: what is wrong, as fields. `words` puts it into a sentence, in the reader's [`Dialect`].

mod words;

use std::fmt;
use std::path::PathBuf;

use austerity::model::Prior;

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

/// Why a request cannot be met.
#[derive(Clone, Debug, PartialEq)]
pub enum Refusal {
    /// A number outside its range.
    Range {
        /// The option.
        keyword: Keyword,
        /// Its value.
        value: String,
        /// What is allowed.
        allowed: String,
    },
    /// A value that cannot be used.
    Value {
        /// The option.
        keyword: Keyword,
        /// Its value.
        value: String,
        /// What is wrong with it, or allowed instead.
        why: String,
    },
    /// An option that is needed.
    Missing {
        /// The option.
        keyword: Keyword,
        /// What it is needed for.
        why: &'static str,
    },
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
    NeedsSurrogate {
        /// The option.
        keyword: Keyword,
        /// Its value.
        value: String,
        /// Why there is none.
        why: NoSurrogate,
        /// The value that works without one.
        instead: &'static str,
    },
    /// The folder cannot hold enough draws.
    DiskTooSmall {
        /// Bytes allowed.
        max_disk: u64,
        /// The fewest draws that make sense.
        draws: u64,
        /// Chains.
        chains: u64,
        /// Parameters.
        parameters: usize,
        /// Bytes that would do.
        least: u64,
    },
    /// More effective draws than the folder can hold for certain.
    TargetTooLarge {
        /// Effective draws asked for.
        target: f64,
        /// Bytes allowed.
        max_disk: u64,
        /// Effective draws that can be reached.
        reachable: u64,
    },
    /// A budget that affords nothing.
    BudgetTooSmall {
        /// The budget in words.
        budget: String,
        /// What it is too small for.
        what: String,
        /// The option.
        keyword: Keyword,
        /// The least value of it.
        least: String,
    },
    /// More chains than any machine has use for.
    TooManyChains {
        /// Chains asked for.
        chains: u32,
        /// The most.
        most: u32,
    },
    /// A column with the name of a parameter.
    SigmaColumn {
        /// The table.
        file: PathBuf,
    },
    /// Functions without derivatives cannot be expanded.
    OwnDerivatives {
        /// The option that asks for a surrogate.
        keyword: Keyword,
    },
    /// A model of the user's own brings its prior.
    OwnPrior,
    /// A model of the user's own has no bounds.
    OwnCertified,
    /// A parameter that is to be kept twice.
    KeepTwice {
        /// The list.
        keep: Vec<String>,
        /// The one that repeats.
        name: String,
    },
    /// A parameter that does not exist.
    KeepUnknown {
        /// The name.
        name: String,
        /// The nearest parameter.
        near: Option<String>,
        /// All parameters.
        known: Vec<String>,
    },
    /// A prior for a coefficient that does not exist.
    UnknownCoefficient {
        /// The name.
        name: String,
        /// The nearest coefficient.
        near: Option<String>,
        /// All coefficients.
        known: Vec<String>,
    },
    /// A prior of an intercept that the model does not have.
    NoIntercept,
    /// A prior of positive numbers for a coefficient.
    PositivePrior {
        /// The option.
        keyword: Keyword,
        /// The coefficient, where the option names several.
        coefficient: Option<String>,
        /// The prior.
        prior: Prior,
    },
    /// A prior of real numbers for sigma.
    SigmaPrior {
        /// The prior.
        prior: Prior,
    },
    /// A resumed run would change.
    Changed {
        /// What.
        what: About,
        /// What it was.
        stored: String,
        /// What it would be.
        now: String,
    },
    /// A store was made with other options.
    StoreDiffers {
        /// The store.
        file: PathBuf,
        /// What differs.
        what: About,
        /// What it was.
        stored: String,
        /// What it would be.
        now: String,
    },
    /// Trials with a family that has none.
    TrialsFamily {
        /// The column.
        trials: String,
    },
    /// A bias is predicted for Metropolis–Hastings only.
    EnergyLogistic,
    /// Two options that exclude each other.
    Both(Keyword, Keyword),
    /// A folder that cannot be used.
    Folder {
        /// What is wrong with it.
        problem: String,
    },
    /// A folder that holds something else.
    FolderFull {
        /// The folder.
        folder: PathBuf,
    },
    /// A folder that holds a run.
    FolderTaken {
        /// The folder.
        folder: PathBuf,
    },
    /// A run that is to go on, and nobody said which.
    ResumeWhere {
        /// A folder that could be meant.
        example: PathBuf,
    },
    /// Predictions need parameters that the run did not keep.
    NotKept {
        /// The run.
        run: PathBuf,
        /// The parameters.
        names: Vec<String>,
    },
    /// Fewer draws than chains.
    FewerThanChains {
        /// Draws asked for.
        draws: usize,
        /// Chains.
        chains: usize,
    },
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
