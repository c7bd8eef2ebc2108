//! Requests that cannot be met: what is wrong, as fields, and the one place that puts it into words, in the reader's [`Dialect`].

use std::fmt;
use std::path::PathBuf;

use austerity::model::Prior;

use crate::request::{Dialect, Keyword, grammar::size_words};

/// Names in a message before it says how many there are.
const LISTED: usize = 12;

/// What a sentence is about: an option, or something without one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum About {
    /// An option.
    Keyword(Keyword),
    /// Something else, in words.
    Thing(String),
}

impl About {
    fn words(&self, dialect: Dialect) -> String {
        match self {
            Self::Keyword(keyword) => keyword.name(dialect),
            Self::Thing(words) => words.clone(),
        }
    }
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
    /// The worst case does not depend on the law.
    LawWorstCase,
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

    /// What happened, which value, what to do.
    #[must_use]
    pub fn words(&self, dialect: Dialect) -> String {
        match self {
            Self::Range { keyword, value, allowed } => {
                format!("{} is {value}; allowed: {allowed}", keyword.name(dialect))
            }
            Self::Value { keyword, value, why } => format!("{}: {why}", keyword.with(value, dialect)),
            Self::Missing { keyword, why } => format!("{} is missing: {why}", keyword.name(dialect)),
            Self::Changed { what, stored, now } => format!(
                "{} was {stored} when the run began and is {now} now: a run goes on with what it began with; drop the option or begin a \
                 new run in another folder",
                what.words(dialect)
            ),
            Self::StoreDiffers { file, what, stored, now } => format!(
                "{}: {} was {stored} when the store was made and is {now} now; drop the option or convert the table again",
                file.display(),
                what.words(dialect)
            ),
            _ => self
                .about_rules(dialect)
                .or_else(|| self.about_lengths(dialect))
                .or_else(|| self.about_models(dialect))
                .or_else(|| self.about_folders(dialect))
                .unwrap_or_default(),
        }
    }

    fn about_rules(&self, dialect: Dialect) -> Option<String> {
        use Keyword::{Audit, Batch, Bound, Energy, Epsilon, Growth, Law, Preset, Proposal, Rule, StopAt, Tolerance, WorstCase};
        let spelled = |keyword: Keyword| keyword.spelled(dialect);
        let (exact, compensated) = (Rule.with("exact", dialect), Law.with("compensated", dialect));
        let certified = Rule.with("certified", dialect);
        Some(match self {
            Self::ExactMakesNoTest => format!(
                "{exact} and {certified} make no test: drop {}",
                listed(&[Preset, Epsilon, Batch, Growth, Bound, StopAt].map(spelled))
            ),
            Self::ExactMakesNoError => format!(
                "{exact} and {certified} make no error to be tolerated or audited: drop {}",
                listed(&[Tolerance, Audit].map(spelled))
            ),
            Self::CompensatedExact => {
                format!("{compensated} belongs to a test; exact decisions need none: drop it")
            }
            Self::CompensatedResiduals => format!(
                "{compensated}: a test on residuals needs no compensation; drop it, or use {}",
                Keyword::Surrogate.with("none", dialect)
            ),
            Self::CompensatedSteps => format!(
                "{compensated}: λ is known for random walks only; use {} or give λ",
                Proposal.with("adaptive", dialect)
            ),
            Self::NoCompensation => format!(
                "{compensated}: no λ cancels the temperature of this test; use a smaller {}, a larger {} (about N/25) or shorter steps",
                spelled(Epsilon),
                spelled(Batch)
            ),
            Self::EpsilonTwice => format!(
                "{} and the G0 of {} say the same thing: drop one",
                spelled(Epsilon),
                Bound.with("wang-tsiatis:G0,ALPHA", dialect)
            ),
            Self::NoMoves => format!(
                "the pilot met no move that could be decided by a test; use {exact} or another {}",
                spelled(Proposal)
            ),
            Self::NeedsSurrogate { keyword, value, why, instead } => {
                let (why, remedy) = why.words(dialect);
                format!(
                    "{} needs a surrogate, and there is none here: {why}; {remedy}, or use {}",
                    keyword.with(value, dialect),
                    keyword.with(instead, dialect)
                )
            }
            Self::EnergyLogistic => format!(
                "{} predicts the bias of Metropolis–Hastings chains; drop it or {}",
                spelled(Energy),
                Law.with("logistic", dialect)
            ),
            Self::LawWorstCase => {
                format!("{} has no say with {}; drop one of the two", spelled(Law), spelled(WorstCase))
            }
            _ => return None,
        })
    }

    fn about_lengths(&self, dialect: Dialect) -> Option<String> {
        use Keyword::{Chains, Draws, Keep, MaxDisk, TargetEss};
        let spelled = |keyword: Keyword| keyword.spelled(dialect);
        Some(match self {
            Self::DiskTooSmall { max_disk, draws, chains, parameters, least } => format!(
                "{} is too small for {draws} draws of {chains} chains with {parameters} parameters; the least is about {}",
                MaxDisk.with(size_words(*max_disk), dialect),
                MaxDisk.with(format!("{}MB", least.div_ceil(1_000_000)), dialect)
            ),
            Self::TargetTooLarge { target, max_disk, reachable } => format!(
                "{} needs more stored draws than {} hold: a target of at most {reachable} can be reached for certain; ask for less or \
                 allow more with {}",
                TargetEss.with(target, dialect),
                size_words(*max_disk),
                spelled(MaxDisk)
            ),
            Self::BudgetTooSmall { budget, what, keyword, least } => format!(
                "the budget of {budget} is too small for {what}; the least is about {}",
                keyword.with(least, dialect)
            ),
            Self::TooManyChains { chains, most } => format!(
                "{} is {chains}; allowed: at most {most}; ask for more {} instead",
                Chains.name(dialect),
                spelled(Draws)
            ),
            Self::KeepTwice { keep, name } => {
                format!("{}: {name} is named twice; name it once", Keep.with(keep.join(","), dialect))
            }
            Self::KeepUnknown { name, near, known } => format!(
                "{}: there is no such parameter{}; there are {}",
                Keep.with(name, dialect),
                near.as_ref().map(|near| format!(", did you mean {near}?")).unwrap_or_default(),
                some(known)
            ),
            Self::NotKept { run, names } => format!(
                "{} did not keep {}: predictions need every coefficient; fit again without {}",
                run.display(),
                names.join(", "),
                spelled(Keep)
            ),
            Self::FewerThanChains { draws, chains } => format!(
                "{}: the run has {chains} chains, and at least one draw of each is used",
                Draws.with(draws, dialect)
            ),
            _ => return None,
        })
    }

    fn about_models(&self, dialect: Dialect) -> Option<String> {
        use Keyword::{Family, Features, PriorIntercept, Priors, Rule, Trials};
        Some(match self {
            Self::SigmaColumn { file } => format!(
                "{}: a column is called sigma, as the spread of the noise is: rename it or leave it out with {}",
                file.display(),
                Features.spelled(dialect)
            ),
            Self::OwnDerivatives { keyword } => format!(
                "{}: a surrogate needs gradients and Hessians of the rows, which these functions do not give; drop it, or give functions \
                 that can be differentiated",
                keyword.spelled(dialect)
            ),
            Self::OwnPrior => format!(
                "{}: the prior of a model of one's own is its log_prior; drop it",
                Keyword::Prior.spelled(dialect)
            ),
            Self::OwnCertified => format!(
                "{} needs bounds that a model of one's own does not have; use {}",
                Rule.with("certified", dialect),
                Rule.with("exact", dialect)
            ),
            Self::UnknownCoefficient { name, near, known } => format!(
                "{}: the model has no coefficient `{name}`{}; its coefficients: {}",
                Priors.spelled(dialect),
                near.as_ref().map(|near| format!(", did you mean `{near}`?")).unwrap_or_default(),
                some(known)
            ),
            Self::NoIntercept => {
                format!("{}: the model has no intercept; drop it", PriorIntercept.spelled(dialect))
            }
            Self::PositivePrior { keyword, coefficient, prior } => format!(
                "{}{}: {prior} is a prior of positive numbers, and a coefficient may be negative; use normal:SD, laplace:SCALE, \
                 student:DF,SCALE or flat",
                keyword.spelled(dialect),
                coefficient.as_ref().map(|name| format!(" {name}")).unwrap_or_default()
            ),
            Self::SigmaPrior { prior } => format!(
                "{} sigma: sigma is positive, and {prior} is no prior of a positive number; use half-normal:SCALE, \
                 half-student:DF,SCALE, exponential:RATE or log-normal:MEAN,SD",
                Priors.spelled(dialect)
            ),
            Self::TrialsFamily { trials } => format!(
                "{} belongs to {} only; drop it",
                Trials.with(trials, dialect),
                Family.with("logistic", dialect)
            ),
            _ => return None,
        })
    }

    fn about_folders(&self, dialect: Dialect) -> Option<String> {
        let out = Keyword::Out.spelled(dialect);
        let resume = Keyword::Resume.spelled(dialect);
        Some(match self {
            Self::Folder { problem } => format!("{problem}; name another with {out}"),
            Self::FolderFull { folder } => {
                format!("{} exists and is not empty: name a new folder with {out}", folder.display())
            }
            Self::FolderTaken { folder } => format!(
                "{} holds a run already: add {resume} to go on with it, or name another folder",
                folder.display()
            ),
            Self::ResumeWhere { example } => format!(
                "{resume} needs the folder of the run that is to go on: add {}",
                Keyword::Out.with(example.display(), dialect)
            ),
            _ => return None,
        })
    }
}

impl NoSurrogate {
    /// The reason and what to do for one.
    fn words(&self, dialect: Dialect) -> (String, String) {
        let insist = format!("add {} to insist on one", Keyword::Surrogate.with("taylor2", dialect));
        match self {
            Self::Unfit(why) => (why.clone(), insist),
            Self::Linear => (
                "a linear model decides from sums of squares".into(),
                format!("choose another {}", Keyword::Family.spelled(dialect)),
            ),
            Self::AskedForNone => {
                (format!("{} was asked for", Keyword::Surrogate.with("none", dialect)), "drop that".into())
            }
            Self::Paper => (
                format!("{} decides about the rows themselves", Keyword::Preset.with("paper", dialect)),
                insist,
            ),
            Self::Hurried => ("the budget leaves no time for one".into(), "give more time".into()),
            Self::Few(rows) => (format!("{rows} rows are read whole in less time than one takes"), insist),
            Self::Unasked => ("none is made by itself with the other options".into(), insist),
        }
    }
}

/// a, b and c.
fn listed(names: &[String]) -> String {
    match names {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// The first names, and how many there are in all.
fn some(names: &[String]) -> String {
    let more = if names.len() > LISTED { format!(", … ({} in all)", names.len()) } else { String::new() };
    format!("{}{more}", names[..names.len().min(LISTED)].join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_made_for_the_reader() {
        let refusal = Refusal::range(Keyword::StopAt, -1.0, "a finite number, 0 or more");
        assert_eq!(refusal.to_string(), "--stop-at is -1; allowed: a finite number, 0 or more");
        assert_eq!(refusal.words(Dialect::Python), "stop_at is -1; allowed: a finite number, 0 or more");
        assert_eq!(
            Refusal::ExactMakesNoTest.words(Dialect::Python),
            "rule=\"exact\" and rule=\"certified\" make no test: drop preset=, epsilon=, batch=, growth=, bound= and stop_at="
        );
        let refusal = Refusal::NeedsSurrogate {
            keyword: Keyword::Rule,
            value: "certified".into(),
            why: NoSurrogate::Few(40),
            instead: "exact",
        };
        assert_eq!(
            refusal.to_string(),
            "--rule certified needs a surrogate, and there is none here: 40 rows are read whole in less time than one takes; add \
             --surrogate taylor2 to insist on one, or use --rule exact"
        );
    }
}
