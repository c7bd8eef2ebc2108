//! The sentences of refusals: what happened, which value, what to do. Options are spelled as the reader writes them.

use super::{About, GroupRefusal, NoSurrogate, Refusal};
use crate::request::grammar::size_words;
use crate::request::{Dialect, FamilyChoice, Keyword};

/// Names in a message before it says how many there are.
const LISTED: usize = 12;

impl About {
    fn words(&self, dialect: Dialect) -> String {
        match self {
            Self::Keyword(keyword) => keyword.name(dialect),
            Self::Because(words, keyword) => format!("{words} ({})", keyword.spelled(dialect)),
            Self::Thing(words) => words.clone(),
        }
    }
}

impl Refusal {
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
        use Keyword::{
            Audit, Batch, Bound, Energy, Epsilon, Growth, Law, Preset, Proposal, Rule, StopAt, Tolerance,
        };
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
            Self::FormulaSays(keyword) => format!(
                "{} and {} exclude each other: the formula says it, drop {}",
                Keyword::Formula.spelled(dialect),
                spelled(*keyword),
                spelled(*keyword)
            ),
            Self::Both(one, other) => {
                format!("{} and {} exclude each other: drop one", spelled(*one), spelled(*other))
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
        use Keyword::{Event, Family, Features, PriorIntercept, Priors, Rule, Trials};
        Some(match self {
            Self::ExtraColumn { file, name, about } => format!(
                "{}: a column is called {name}, as the {about} is: rename it or leave it out with {}",
                file.display(),
                Features.spelled(dialect)
            ),
            Self::OwnDerivatives { keyword } => format!(
                "{}: a surrogate needs gradients and Hessians of the rows, which these functions do not give; drop it, or give functions \
                 that can be differentiated",
                keyword.spelled(dialect)
            ),
            Self::Groups(why) => groups(why, dialect),
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
            Self::SigmaPrior { name, prior } => format!(
                "{} {name}: {name} is positive, and {prior} is no prior of a positive number; use half-normal:SCALE, \
                 half-student:DF,SCALE, exponential:RATE, gamma:SHAPE,RATE or log-normal:MEAN,SD",
                Priors.spelled(dialect)
            ),
            Self::TwoPatterns { name, patterns: [one, other] } => format!(
                "{}: {one} and {other} both match `{name}` and give it different priors; give `{name}` a prior of its own",
                Priors.spelled(dialect)
            ),
            Self::EventFamily { event } => format!(
                "{} belongs to {} only; drop it, or choose one of them",
                Event.with(event, dialect),
                Family.with(FamilyChoice::of_times(), dialect)
            ),
            Self::FormulaEvent => format!(
                "cens() in the formula belongs to {} only; choose one of them, or drop cens()",
                Family.with(FamilyChoice::of_times(), dialect)
            ),
            Self::FormulaTrials => format!(
                "trials() in the formula belongs to {} only; drop it",
                Family.with(FamilyChoice::with_trials(), dialect)
            ),
            Self::TrialsFamily { trials } => format!(
                "{} belongs to {} only; drop it",
                Trials.with(trials, dialect),
                Family.with(FamilyChoice::with_trials(), dialect)
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

/// Group terms that cannot be fitted, in words.
fn groups(why: &GroupRefusal, dialect: Dialect) -> String {
    match why {
        GroupRefusal::Several { names } => several_groups(names),
        GroupRefusal::Slope { group, slope } => format!(
            "({slope} | {group}): a slope varies about a coefficient, so {slope} must also be a term of the formula and a column of numbers: add `+ {slope}`"
        ),
        GroupRefusal::TextSlope { group, slope } => format!(
            "({slope} | {group}): a slope needs a column of numbers, and {slope} has levels: write (1 | {group}) for an intercept of every group"
        ),
        GroupRefusal::Effects { group, effects: 0, .. } => {
            format!("(0 | {group}): nothing varies; write (1 | {group}) for an intercept of every group")
        }
        GroupRefusal::Effects { group, effects, most } => format!(
            "{effects} effects vary between the groups of {group}, and at most {most} can be integrated out: leave slopes out of the group term"
        ),
        GroupRefusal::AsManyAsRows { group } => format!(
            "every row has a level of {group} of its own, so the standard deviation between groups cannot be told from that of the noise: leave the group term out"
        ),
        GroupRefusal::Standardized => format!(
            "{}: a multilevel fit takes columns as they are; standardise in the formula, as in scale(x)",
            Keyword::Standardize.name(dialect)
        ),
        GroupRefusal::NoMode { error } => {
            format!(
                "the posterior with the effects of groups integrated out has no mode that could be found: {error}"
            )
        }
        GroupRefusal::NoGroups { keyword } => {
            format!(
                "{} is for group terms, as in (1 | group), and the formula has none",
                keyword.name(dialect)
            )
        }
    }
}

/// More than one group term, in words.
fn several_groups(names: &[String]) -> String {
    let instead = match names {
        [first, rest @ ..] if !rest.is_empty() && rest.iter().all(|name| name == first) => {
            format!(
                "terms of the same groups are one term, as in (x || {first}) for an intercept and a slope of x without correlation"
            )
        }
        [outer, inner] if inner.split(':').any(|part| part == outer) => {
            format!("write (1 | {inner}) + C({outer}), which gives every level of {outer} a coefficient")
        }
        _ => match names.iter().rev().find(|name| !name.contains(':')) {
            Some(name) => format!(
                "keep one of them, and give the levels of the others coefficients, as in C({name}), or leave them out"
            ),
            None => "keep one of them".into(),
        },
    };
    format!("the formula has group terms of {}; one grouping is fitted at a time: {instead}", listed(names))
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
