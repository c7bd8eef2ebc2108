//! The one error type of the library: every variant names the value, what was allowed, and a remedy.

/// What went wrong, in words a user can act on.
///
/// Rows are counted from 0 in the order in which the user gave them.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Draws that could not be stored.
    #[error("the draws could not be stored: {message}")]
    Sink {
        /// Where and why, in the words of the sink.
        message: String,
    },
    /// There is no row at all.
    #[error("the data are empty: at least one row is needed")]
    EmptyData,
    /// Two things that must have the same length have not.
    #[error("{what}: expected {expected} values, found {found}")]
    Dimension {
        /// What was measured.
        what: String,
        /// The length it should have.
        expected: usize,
        /// The length it has.
        found: usize,
    },
    /// More rows than row numbers can count.
    #[error("{rows} rows are more than the {limit} that one population can hold; split the data")]
    TooManyRows {
        /// Rows given.
        rows: usize,
        /// Largest number allowed.
        limit: usize,
    },
    /// A value of the data is missing, infinite or not a number.
    #[error("column `{column}`, row {row}: {value} is not a finite number; drop the row or impute the value")]
    NotFinite {
        /// Name of the column.
        column: String,
        /// Row, from 0.
        row: usize,
        /// The offending value.
        value: f64,
    },
    /// A column that carries no information.
    #[error(
        "column `{column}` is {value} in every row: its coefficient cannot be told from the intercept; drop the column"
    )]
    ConstantColumn {
        /// Name of the column.
        column: String,
        /// The only value of the column.
        value: f64,
    },
    /// Two columns that are the same to the last bit.
    #[error(
        "columns `{first}` and `{second}` are identical: only the sum of their coefficients is determined; drop one"
    )]
    DuplicateColumns {
        /// Name of the first.
        first: String,
        /// Name of the second.
        second: String,
    },
    /// A value outside the range of its role.
    #[error("{what}, row {row}: {} is outside the allowed range ({allowed})", shown(*value))]
    OutOfRange {
        /// Role of the value, such as "response of the logistic family".
        what: String,
        /// Row, from 0.
        row: usize,
        /// The offending value.
        value: f64,
        /// The allowed range in words.
        allowed: String,
    },
    /// A setting outside its range.
    #[error("setting `{name}` is {value}; allowed: {allowed}")]
    Setting {
        /// Name of the setting.
        name: String,
        /// The value given.
        value: String,
        /// The allowed range in words.
        allowed: String,
    },
    /// A log-likelihood that is not a number.
    #[error("the log-likelihood of row {row} is not a number; check the model at this row")]
    NotANumber {
        /// Row, from 0.
        row: usize,
    },
    /// A log-likelihood that is infinite at the current state, so that no ratio exists.
    #[error(
        "the log-likelihood ratio of row {row} is +infinity: the current state gives this row no probability; start elsewhere"
    )]
    InfiniteRatio {
        /// Row, from 0.
        row: usize,
    },
    /// A total log-likelihood ratio, known in closed form, that is no number to compare with.
    #[error(
        "the total log-likelihood ratio is {value}: the current state gives the data no probability; start elsewhere"
    )]
    UndefinedTotal {
        /// NaN or +∞.
        value: f64,
    },
    /// A start at which the posterior density is zero or undefined.
    #[error("the posterior density at the start is {density}: {why}; choose another start")]
    ImpossibleStart {
        /// "zero" or "not a number".
        density: String,
        /// Why the density is what it is there.
        why: String,
    },
    /// A prior density that is not a number, or infinite.
    #[error("the log prior density is not a number or infinite at the proposed state; check the prior")]
    PriorNotANumber,
    /// A proposal whose density ratio is no number to compare with.
    #[error(
        "the log proposal ratio is {value}: a candidate that can be proposed must also be left again; check the proposal"
    )]
    ProposalRatio {
        /// The ratio returned.
        value: f64,
    },
    /// A gradient of the log density that leads nowhere.
    #[error(
        "the gradient of the log density, or the step it leads to, is {value} in parameter {parameter}; take smaller steps or start nearer to the mode"
    )]
    Gradient {
        /// Which parameter, from 0.
        parameter: usize,
        /// The value that is not finite.
        value: f64,
    },
    /// A user's function panicked.
    #[error("the user's {what} panicked{}: {message}", row.map(|r| format!(" at row {r}")).unwrap_or_default())]
    Panicked {
        /// Which function.
        what: String,
        /// Row, from 0, when the function was about one row.
        row: Option<usize>,
        /// The panic's message.
        message: String,
    },
    /// A matrix that should be positive definite is not.
    #[error("{what} is not positive definite; {remedy}")]
    NotPositiveDefinite {
        /// Which matrix.
        what: String,
        /// What to do about it.
        remedy: String,
    },
    /// A search for the mode that did not end.
    #[error(
        "no mode found after {iterations} Newton steps (last step changed the log density by {change:.3e}); {remedy}"
    )]
    NoMode {
        /// Steps taken.
        iterations: usize,
        /// Change of the log posterior density in the last one.
        change: f64,
        /// What to do about it.
        remedy: String,
    },
    /// A checkpoint that does not belong to this run.
    #[error("cannot resume: {what} is {found}, the checkpoint was made with {stored}")]
    Resume {
        /// What differs.
        what: String,
        /// The value in the checkpoint.
        stored: String,
        /// The value now.
        found: String,
    },
}

/// A result with the library's [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Shorthand for [`Error::Setting`].
pub fn setting(name: &str, value: impl std::fmt::Display, allowed: &str) -> Error {
    Error::Setting { name: name.into(), value: value.to_string(), allowed: allowed.into() }
}

/// The message of a panic caught on its way.
pub fn panic_message(payload: &(dyn std::any::Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "no message".into())
}

/// A number as people write it: with an exponent where it would have more digits than it knows.
fn shown(value: f64) -> String {
    if value.abs() < 1e16 { value.to_string() } else { format!("{value:e}") }
}
