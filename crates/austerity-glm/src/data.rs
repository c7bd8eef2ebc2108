//! What a user brings: named columns and a response, checked, scaled and shuffled once.
//!
//! [`Data`] is what was given, [`CheckedData`] what survived the checks. Columns are shifted and scaled in f64
//! before they are stored as f32: stored value = (value − shift)/scale.
//!
//! | column | shift | scale |
//! |---|---|---|
//! | dense | mean | standard deviation (divisor N) |
//! | rare (at most 10 % of the values differ from 0) | 0, so that its zeros stay zeros | root mean square of its non-zeros |
//! | constant, without an intercept (the user's own intercept) | 0 | its absolute value |
//!
//! The shift and scale never change the posterior: states stay on the scale of the user's columns. What
//! would otherwise fail inside a chain (missing values, labels outside the family's range, columns without
//! information) fails here, with the column, the row and the value. Cost: a few passes over the data.
//!
//! | file | what it holds |
//! |---|---|
//! | [`summary`] | one pass over a column, whole or streamed |
//! | [`scale`] | shift and scale, and what single precision loses |
//! | [`sides`] | response, trials, offset and weights |
//! | `checks` | refusals |

mod checks;
pub mod scale;
pub mod sides;
pub mod summary;

use serde::{Deserialize, Serialize};

use crate::default_priors::{ColumnFacts, ResponseFacts, ResponseRow, default_priors};
use crate::{DefaultPriors, NoiseTails, Priors};
use austerity::error::{Error, Result, setting};
use austerity::model::{check_length, check_rows, storage_order};

use scale::Rounding;
use summary::ColumnSummary;

pub use checks::check_finite;
pub(crate) use checks::{check_duplicates, check_names};
pub use scale::Transform;
pub use sides::{SidePlan, SideSurvey, Sides};
pub use summary::RARE_SHARE;

/// Seed of the shuffle when none is given.
const DEFAULT_SHUFFLE: u64 = 0;

/// Which responses a family can explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseKind {
    /// Any finite number.
    Real,
    /// 0 or 1.
    Binary,
    /// 0, 1, 2, …
    Count,
    /// 0, 1, …, the row's number of trials, which must be given.
    CountOfTrials,
    /// Any positive number.
    Positive,
    /// A number between 0 and 1, neither included.
    Share,
    /// A positive number: the time of an event, or the time until which there was none.
    Time,
    /// The number of a level in the order of levels: 0, 1, ….
    Ordered,
}

impl ResponseKind {
    /// What is stored of a response, but for the mean that is taken off centred ones: ±1 for 1 and 0, the logarithm of positive numbers, the log odds of shares,
    /// else the number.
    #[must_use]
    #[inline(always)]
    pub fn stored(self, response: f64) -> f64 {
        match self {
            Self::Binary => 2.0 * response - 1.0,
            Self::Positive | Self::Time => response.ln(),
            Self::Share => response.ln() - (-response).ln_1p(),
            Self::Real | Self::Count | Self::CountOfTrials | Self::Ordered => response,
        }
    }

    /// Whether only the distance of the stored response from the linear predictor matters, so that it is stored less its offset and its mean.
    #[must_use]
    #[inline(always)]
    pub const fn is_centred(self) -> bool {
        matches!(self, Self::Real | Self::Positive | Self::Time)
    }

    /// Whether responses are real numbers, so that quantiles may lie between them.
    #[must_use]
    pub const fn is_continuous(self) -> bool {
        matches!(self, Self::Real | Self::Positive | Self::Time | Self::Share)
    }
}

impl std::fmt::Display for ResponseKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Real => "real numbers",
            Self::Binary => "0 or 1",
            Self::Count => "counts",
            Self::CountOfTrials => "counts of trials",
            Self::Positive => "positive numbers",
            Self::Share => "shares between 0 and 1",
            Self::Time => "times, with events",
            Self::Ordered => "ordered levels",
        })
    }
}

/// Named columns and a response, as the user gave them.
///
/// ```
/// use austerity_glm::{Data, ResponseKind};
/// let data = Data::new(["age"], vec![vec![30.0, 41.0, 57.0]], vec![0.0, 1.0, 1.0]);
/// let checked = data.shuffle(7).check(ResponseKind::Binary)?;
/// assert_eq!(checked.coefficients(), 2); // the intercept comes first
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Data {
    names: Vec<String>,
    columns: Vec<Vec<f64>>,
    response: Vec<f64>,
    weights: Option<Vec<f64>>,
    trials: Option<Vec<f64>>,
    offset: Option<Vec<f64>>,
    intercept: bool,
    shuffle: Option<u64>,
}

impl Data {
    /// Columns with their names, and the response; nothing is checked before [`Data::check`].
    pub fn new<I>(names: I, columns: Vec<Vec<f64>>, response: Vec<f64>) -> Self
    where
        I: IntoIterator,
        I::Item: Into<String>,
    {
        Self {
            names: names.into_iter().map(Into::into).collect(),
            columns,
            response,
            weights: None,
            trials: None,
            offset: None,
            intercept: true,
            shuffle: Some(DEFAULT_SHUFFLE),
        }
    }

    /// Whether the model has an intercept as its first coefficient (it has unless told otherwise).
    #[must_use]
    pub fn intercept(mut self, intercept: bool) -> Self {
        self.intercept = intercept;
        self
    }

    /// Frequency weights: row i stands for `weights[i]` equal rows.
    #[must_use]
    pub fn weights(mut self, weights: Vec<f64>) -> Self {
        self.weights = Some(weights);
        self
    }

    /// Binomial trials of each row.
    #[must_use]
    pub fn trials(mut self, trials: Vec<f64>) -> Self {
        self.trials = Some(trials);
        self
    }

    /// A known part of each row's linear predictor, such as log exposure.
    #[must_use]
    pub fn offset(mut self, offset: Vec<f64>) -> Self {
        self.offset = Some(offset);
        self
    }

    /// Seed of the one shuffle of the storage (there is a fixed one unless told otherwise).
    #[must_use]
    pub fn shuffle(mut self, seed: u64) -> Self {
        self.shuffle = Some(seed);
        self
    }

    /// Stores the rows in the order given. Only for rows that come in random order already: blocks of
    /// neighbouring rows are drawn together.
    #[must_use]
    pub fn keep_order(mut self) -> Self {
        self.shuffle = None;
        self
    }

    /// Names of the columns.
    #[must_use]
    pub fn column_names(&self) -> &[String] {
        &self.names
    }

    /// The columns.
    #[must_use]
    pub fn columns(&self) -> &[Vec<f64>] {
        &self.columns
    }

    /// The response.
    #[must_use]
    pub fn response(&self) -> &[f64] {
        &self.response
    }

    /// The side columns.
    fn sides(&self) -> Sides<'_> {
        Sides {
            response: &self.response,
            trials: self.trials.as_deref(),
            offset: self.offset.as_deref(),
            weights: self.weights.as_deref(),
        }
    }

    /// Checks everything once, for a family that explains `kind`.
    pub fn check(self, kind: ResponseKind) -> Result<CheckedData> {
        let rows = self.response.len();
        self.check_shape(rows)?;
        check_names(self.names.iter().map(String::as_str), self.intercept)?;
        let summaries: Vec<ColumnSummary> = self.columns.iter().map(|c| ColumnSummary::of(c)).collect();
        for (name, summary) in self.names.iter().zip(&summaries) {
            summary.check(name)?;
        }
        let mut sides = SidePlan::of(kind, &self.sides())?;
        let mut warnings: Vec<String> = sides.constant_warning().into_iter().collect();
        let (mut shift, mut scale) = (Vec::new(), Vec::new());
        for ((name, column), summary) in self.names.iter().zip(&self.columns).zip(&summaries) {
            let transform = transform_of(name, summary, self.intercept)?;
            let mut rounding = Rounding::of_column(summary, transform);
            rounding.push(column);
            warnings.extend(rounding.of_column_in_words(name));
            shift.push(transform.shift);
            scale.push(transform.scale);
        }
        check_duplicates(self.names.iter().map(String::as_str).zip(summaries.iter().map(|s| s.fingerprint)))?;
        sides.observe(&self.sides());
        warnings.extend(sides.warnings());
        Ok(CheckedData {
            names: self.names,
            columns: self.columns,
            shift,
            scale,
            response: self.response,
            weights: self.weights,
            trials: self.trials,
            offset: self.offset,
            intercept: self.intercept,
            shuffle: self.shuffle,
            kind,
            warnings,
        })
    }

    fn check_shape(&self, rows: usize) -> Result<()> {
        check_length("names of columns", self.names.len(), self.columns.len())?;
        for (name, column) in self.names.iter().zip(&self.columns) {
            check_length(&format!("column `{name}`"), rows, column.len())?;
        }
        check_not_empty(self.columns.len(), self.intercept)?;
        for (what, values) in [("weights", &self.weights), ("trials", &self.trials), ("offset", &self.offset)]
        {
            values.as_ref().map_or(Ok(()), |values| check_length(what, rows, values.len()))?;
        }
        check_rows(rows)
    }
}

/// Refuses a design without any coefficient.
pub(crate) fn check_not_empty(columns: usize, intercept: bool) -> Result<()> {
    if columns == 0 && !intercept {
        return Err(setting("columns", 0, "at least one, or an intercept"));
    }
    Ok(())
}

/// How a column is stored; a column without information is refused.
pub(crate) fn transform_of(name: &str, summary: &ColumnSummary, intercept: bool) -> Result<Transform> {
    if summary.is_constant() && (intercept || summary.minimum == 0.0) {
        return Err(Error::ConstantColumn { column: name.into(), value: summary.minimum });
    }
    Ok(Transform::of(summary))
}

/// Data that passed every check, with the transformation under which columns are stored.
#[derive(Clone, Debug)]
pub struct CheckedData {
    /// Names of the columns.
    pub names: Vec<String>,
    /// The columns, in the user's row order and on the user's scale.
    pub columns: Vec<Vec<f64>>,
    /// Stored value = (value − shift)/scale.
    pub shift: Vec<f64>,
    /// See `shift`; positive.
    pub scale: Vec<f64>,
    /// The response.
    pub response: Vec<f64>,
    /// Frequency weights, when given: row i stands for that many equal rows.
    pub weights: Option<Vec<f64>>,
    /// Binomial trials, when given.
    pub trials: Option<Vec<f64>>,
    /// Known part of the linear predictor, when given.
    pub offset: Option<Vec<f64>>,
    /// Whether the first coefficient is an intercept.
    pub intercept: bool,
    /// Seed of the one shuffle of the storage; `None` keeps the user's order.
    pub shuffle: Option<u64>,
    /// Which responses these are.
    pub kind: ResponseKind,
    /// Sentences about what looked odd but is no error.
    pub warnings: Vec<String>,
}

impl CheckedData {
    /// N.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.response.len()
    }

    /// Number of coefficients, the intercept included.
    #[must_use]
    pub fn coefficients(&self) -> usize {
        self.columns.len() + usize::from(self.intercept)
    }

    /// Names of the coefficients: `intercept` first, then the columns.
    #[must_use]
    pub fn coefficient_names(&self) -> Vec<String> {
        let intercept = self.intercept.then(|| "intercept".to_owned());
        intercept.into_iter().chain(self.names.iter().cloned()).collect()
    }

    /// The priors of a user who named none, for normal noise where the response is real: see [`mod@super::default_priors`].
    #[must_use]
    pub fn default_priors(&self) -> Priors {
        self.default_priors_with(NoiseTails::Normal).coefficients
    }

    /// The same for other noise, with the prior of σ.
    #[must_use]
    pub fn default_priors_with(&self, tails: NoiseTails) -> DefaultPriors {
        let rows = (0..self.rows()).map(|row| {
            let offset = self.offset.as_ref().map_or(0.0, |offset| offset[row]);
            let (kind, y) = (self.kind, self.response[row]);
            let centred = kind.is_centred();
            ResponseRow {
                response: if centred { kind.stored(y) - offset } else { y },
                offset: if centred { 0.0 } else { offset },
                trials: self.trials.as_ref().map_or(1.0, |trials| trials[row]),
                weight: self.weights.as_ref().map_or(1.0, |weights| weights[row]),
            }
        });
        let response = ResponseFacts::of(self.kind, tails, self.intercept, rows);
        let columns: Vec<ColumnFacts> = self
            .columns
            .iter()
            .map(|column| {
                let summary = ColumnSummary::of(column);
                ColumnFacts { mean: summary.mean, sd: summary.sd, half_range: summary.half_range() }
            })
            .collect();
        default_priors(columns.into_iter(), self.intercept, response)
    }

    /// The side columns.
    #[must_use]
    pub fn sides(&self) -> Sides<'_> {
        Sides {
            response: &self.response,
            trials: self.trials.as_deref(),
            offset: self.offset.as_deref(),
            weights: self.weights.as_deref(),
        }
    }

    /// Storage order: position p holds the user's row `storage_order()[p]`. Recomputed from the seed, not kept.
    #[must_use]
    pub fn storage_order(&self) -> Vec<u32> {
        storage_order(self.rows(), self.shuffle)
    }
}

#[cfg(test)]
mod tests;
