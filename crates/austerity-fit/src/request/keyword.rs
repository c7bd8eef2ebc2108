//! The options by name, and how each front end spells them: `--stop-at 0.1` in a shell, `stop_at=0.1` in Python.

use std::fmt;

/// The language of whoever reads a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Dialect {
    /// Options of the program.
    #[default]
    Shell,
    /// Keyword arguments of the Python package.
    Python,
}

macro_rules! keywords {
    ($($Variant:ident = $name:literal,)*) => {
        /// An option of a request or of another command.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the name says it; Request documents what it means")]
        pub enum Keyword { $($Variant,)* }

        impl Keyword {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$Variant,)*];

            fn kebab(self) -> &'static str {
                match self { $(Self::$Variant => $name,)* }
            }
        }
    };
}

keywords! {
    Formula = "formula",
    Response = "response",
    Features = "features",
    Categorical = "categorical",
    Success = "success",
    Reference = "reference",
    Weights = "weights",
    Trials = "trials",
    Event = "event",
    Offset = "offset",
    NoIntercept = "no-intercept",
    Standardize = "standardize",
    Missing = "missing",
    Family = "family",
    SampleRows = "sample-rows",
    Memory = "memory",
    Out = "out",
    Resume = "resume",
    Prior = "prior",
    PriorIntercept = "prior-intercept",
    PriorGroup = "prior-group",
    Priors = "priors",
    Rule = "rule",
    Preset = "preset",
    Epsilon = "epsilon",
    Batch = "batch",
    Growth = "growth",
    Bound = "bound",
    Law = "law",
    StopAt = "stop-at",
    Tolerance = "tolerance",
    Surrogate = "surrogate",
    Audit = "audit",
    BlockRows = "block-rows",
    Proposal = "proposal",
    Chains = "chains",
    FirstChain = "first-chain",
    Warmup = "warmup",
    Thin = "thin",
    Keep = "keep",
    KeepGroups = "keep-groups",
    Draws = "draws",
    Budget = "budget",
    Evaluations = "evaluations",
    TargetEss = "target-ess",
    MaxDisk = "max-disk",
    Seed = "seed",
    Threads = "threads",
    // Of other commands.
    N = "n",
    Looks = "looks",
    Statistic = "statistic",
    MuStd = "mu-std",
    Mean = "mean",
    Sd = "sd",
    Energy = "energy",
    Kappa = "kappa",
    BoundTotalVariation = "bound-total-variation",
    Sites = "sites",
    Plot = "plot",
    Compare = "compare",
    WorstCase = "worst-case",
    Trial = "trial",
    Pairs = "pairs",
    Repetitions = "repetitions",
    Interval = "interval",
    Survival = "survival",
    Rows = "rows",
}

impl Keyword {
    /// The options of a fit.
    #[must_use]
    pub fn of_fit() -> &'static [Self] {
        let last = Self::ALL.iter().position(|keyword| *keyword == Self::Threads).unwrap_or_default();
        &Self::ALL[..=last]
    }

    /// The option that files and Python call `name`, with underscores.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|keyword| keyword.key() == name)
    }

    /// Its name with underscores, as files have it.
    #[must_use]
    pub fn key(self) -> String {
        self.kebab().replace('-', "_")
    }

    fn is_flag(self) -> bool {
        matches!(
            self,
            Self::NoIntercept | Self::Standardize | Self::KeepGroups | Self::Resume | Self::WorstCase
        )
    }

    /// The option as the subject of a sentence: `--stop-at`, `stop_at`.
    #[must_use]
    pub fn name(self, dialect: Dialect) -> String {
        match (dialect, self) {
            (Dialect::Shell, _) => format!("--{}", self.kebab()),
            (Dialect::Python, Self::Response) => "y".into(),
            (Dialect::Python, Self::NoIntercept) => "intercept".into(),
            (Dialect::Python, _) => self.key(),
        }
    }

    /// The option as one writes it, without its value: `--stop-at`, `stop_at=`; `--resume`, `resume=True`.
    #[must_use]
    pub fn spelled(self, dialect: Dialect) -> String {
        match (dialect, self) {
            (Dialect::Shell, _) => self.name(dialect),
            (Dialect::Python, Self::NoIntercept) => "intercept=False".into(),
            (Dialect::Python, _) => {
                format!("{}={}", self.name(dialect), if self.is_flag() { "True" } else { "" })
            }
        }
    }

    /// The option with a value: `--rule exact`, `rule="exact"`.
    #[must_use]
    pub fn with(self, value: impl fmt::Display, dialect: Dialect) -> String {
        let value = value.to_string();
        match dialect {
            Dialect::Shell => format!("{} {value}", self.name(dialect)),
            Dialect::Python if value.parse::<f64>().is_ok() => format!("{}={value}", self.name(dialect)),
            Dialect::Python => format!("{}=\"{value}\"", self.name(dialect)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_front_end_has_its_spelling() {
        let both = |make: &dyn Fn(Dialect) -> String| [make(Dialect::Shell), make(Dialect::Python)];
        assert_eq!(both(&|dialect| Keyword::StopAt.spelled(dialect)), ["--stop-at", "stop_at="]);
        assert_eq!(both(&|dialect| Keyword::StopAt.name(dialect)), ["--stop-at", "stop_at"]);
        assert_eq!(both(&|dialect| Keyword::StopAt.with(0.1, dialect)), ["--stop-at 0.1", "stop_at=0.1"]);
        assert_eq!(both(&|dialect| Keyword::Rule.with("exact", dialect)), ["--rule exact", "rule=\"exact\""]);
        assert_eq!(both(&|dialect| Keyword::Resume.spelled(dialect)), ["--resume", "resume=True"]);
        assert_eq!(
            both(&|dialect| Keyword::NoIntercept.spelled(dialect)),
            ["--no-intercept", "intercept=False"]
        );
        assert!(Keyword::ALL.iter().all(|keyword| Keyword::named(&keyword.key()) == Some(*keyword)));
        assert_eq!(Keyword::of_fit().last(), Some(&Keyword::Threads));
    }
}
