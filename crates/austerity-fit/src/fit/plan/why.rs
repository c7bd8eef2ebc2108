//! Why a plan is as it is, and what was noticed on the way to it: enums with the numbers that the reasons rest on. `words` makes sentences of them.

use serde::{Deserialize, Serialize};

use crate::fit::surrogate::SurrogateReport;

/// Why this rule decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// Exact decisions were asked for.
    Asked,
    /// Exact decisions are the default of `select`, `ica` and `gibbs`.
    Usual,
    /// Exact decisions on all residuals were asked for.
    AskedOnResiduals,
    /// Sums of squares and products decide: no row is read.
    SumsOfSquares,
    /// Audits contradicted a test.
    Contradicted,
    /// The posterior is far from normal.
    FarFromNormal,
    /// The pilot met no move that a test could decide.
    NoMoves,
    /// This share of independent draws is accepted, and each is worth so many steps of a random walk.
    IndependentDraws { acceptance: f64, steps: f64 },
    /// Bounds certify decisions: asked for, or since audits contradicted a test.
    Bounds { asked: bool },
    /// The residuals of the surrogate are small: see its report.
    Residuals,
    /// A test that was asked for or designed, and what became of its threshold.
    Test { origin: Origin, threshold: Threshold },
    /// Exact decisions cost less than any test within the tolerance, in the words of the design.
    ExactByDesign { finding: String },
    /// Of so many rules and lengths of steps the one with the least predicted risk at the end of the budget.
    LeastRisk { ways: usize },
    /// There are too many coefficients for tests on residuals: see the record of the paths.
    TooWide,
    /// Residuals of a surrogate cannot be sampled safely.
    UnsafeResiduals,
    /// Jumps between modes change every row.
    Jumps,
    /// In the words of an earlier version.
    #[serde(untagged)]
    Told(String),
}

/// Where a test comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// It was asked for.
    Asked,
    /// A test was asked for, and this one was designed, in the words of the design.
    Designed(String),
    /// It is the cheapest within the tolerance, in the words of the design.
    Cheapest(String),
}

/// What became of the threshold of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Threshold {
    /// It is as it was asked for, or plain.
    AsGiven,
    /// It is divided by this λ, so that the temperature of the draws is right.
    Compensated(f64),
    /// No λ exists: the noise of the first look is too large.
    NoLambda,
}

/// Why there is no surrogate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Without {
    /// None was asked for, or none is made with the other options.
    Unasked,
    /// It could not be made, in the words of the error.
    Failed(String),
    /// Decisions about its residuals could be blind.
    Blind(SurrogateReport),
    /// Its residuals are so large that decisions about the rows themselves cost less.
    Dear,
    /// The posterior is too far from a polynomial: two standard deviations from the mode of this coefficient the log density is off by so much.
    Skewed { parameter: String, off: f64 },
}

impl Without {
    /// Whether something was found out beyond the options.
    pub(crate) fn is_found(&self) -> bool {
        *self != Self::Unasked
    }
}

/// What was noticed about the data and the posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Remark {
    /// Every row is on its side at the mode.
    Separable,
    /// The data hardly tell these two sources apart, counted from 1.
    Alike { first: usize, second: usize },
    /// The prior decides about these parameters, and about so many more.
    Weak { parameters: Vec<String>, more: usize },
    /// No mode was found from the start that was given.
    NoMode,
    /// Another mode is the first with these two parameters exchanged, as of a mixture.
    LabelsSwitch { first: String, second: String },
    /// Chains stay in their mode: jumps would be accepted at this share of the rate of independent draws.
    NoCrossing { rate: f64 },
    /// The budget leaves no time for a surrogate.
    Hurried {
        /// Seconds that the mode of all rows and a surrogate would take, and the budget that would do.
        needed: f64,
        enough: f64,
        /// Rows of the sample at whose mode chains start, where there is no time for the mode of all rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sample: Option<usize>,
    },
    /// In the words of the reader of the data, or of an earlier version.
    #[serde(untagged)]
    Told(String),
}

impl From<String> for Remark {
    fn from(words: String) -> Self {
        Self::Told(words)
    }
}
