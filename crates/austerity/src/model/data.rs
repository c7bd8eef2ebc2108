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
//! information) fails here, with the column, the row and the value. Cost: a few passes over the data; a column
//! of whole numbers that single precision cannot hold is sorted once more to tell how much is lost.

mod scale;

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use crate::error::{Error, Result, setting};
use crate::model::Prior;

use scale::{Shape, count_warning, rounding_warning, side_warning};

pub use scale::RARE_SHARE;
pub(crate) use scale::mean_and_sd;

/// Larger values are refused: their squares, summed over 2³² rows, would leave the range of f64.
const LARGEST: f64 = 1e145;

/// Seed of the shuffle when none is given.
const DEFAULT_SHUFFLE: u64 = 0;

/// Which responses a family can explain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResponseKind {
    /// Any finite number.
    Real,
    /// 0 or 1.
    Binary,
    /// 0, 1, 2, …
    Count,
    /// 0, 1, …, the row's number of trials, which must be given.
    CountOfTrials,
}

/// Named columns and a response, as the user gave them.
///
/// ```
/// use austerity::model::{Data, ResponseKind};
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

    /// Checks everything once, for a family that explains `kind`.
    pub fn check(self, kind: ResponseKind) -> Result<CheckedData> {
        let rows = self.response.len();
        self.check_shape(rows)?;
        check_names(&self.names, self.intercept)?;
        for (name, column) in self.names.iter().zip(&self.columns) {
            check_finite(name, column)?;
        }
        check_finite("response", &self.response)?;
        if let Some(offset) = &self.offset {
            check_finite("offset", offset)?;
        }
        if let Some(weights) = &self.weights {
            check_each("weight", weights, |_, w| {
                (!(w > 0.0 && w <= LARGEST)).then(|| "positive and finite".into())
            })?;
        }
        self.check_response(kind)?;

        let mut warnings = Vec::new();
        if kind != ResponseKind::Real && rows > 1 && self.response.iter().all(|&y| y == self.response[0]) {
            warnings.push(format!(
                "the response is {} in every row: the data hardly bound the intercept, the prior decides",
                self.response[0]
            ));
        }
        let (mut shift, mut scale) = (Vec::new(), Vec::new());
        for (name, column) in self.names.iter().zip(&self.columns) {
            let shape = Shape::of(column);
            if shape.minimum == shape.maximum && (self.intercept || shape.minimum == 0.0) {
                return Err(Error::ConstantColumn { column: name.clone(), value: shape.minimum });
            }
            warnings.extend(rounding_warning(name, column, &shape));
            shift.push(shape.shift);
            scale.push(shape.scale);
        }
        check_duplicates(&self.names, &self.columns)?;
        warnings.extend(self.side_warnings(kind));
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
            warnings,
        })
    }

    /// Sentences about a response, trials, weights or an offset that single precision cannot hold.
    ///
    /// What is stored is y − offset less its mean for real responses, and the offset less its mean for others.
    fn side_warnings(&self, kind: ResponseKind) -> Vec<String> {
        let mut warnings = Vec::new();
        if kind == ResponseKind::Real {
            let target: Vec<f64> = match &self.offset {
                Some(offset) => self.response.iter().zip(offset).map(|(y, o)| y - o).collect(),
                None => self.response.clone(),
            };
            let what = if self.offset.is_some() { "the response less its offset" } else { "the response" };
            warnings.extend(side_warning(what, &target, f64::INFINITY));
        } else {
            // A link function turns an absolute error of the offset into a relative one of the mean.
            warnings.extend(self.offset.as_ref().and_then(|offset| side_warning("the offset", offset, 1.0)));
        }
        match kind {
            ResponseKind::Count => warnings.extend(count_warning(
                "count",
                &self.response,
                "split such a row into k rows with the same columns, a k-th of the count each and an offset lower by log k",
            )),
            ResponseKind::CountOfTrials => {
                let split = "split such a row into several with the same columns";
                warnings.extend(count_warning("count", &self.response, split));
                let trials = self.trials.as_ref();
                warnings.extend(trials.and_then(|trials| count_warning("number of trials", trials, split)));
            }
            ResponseKind::Real | ResponseKind::Binary => {}
        }
        let weights = self.weights.as_ref();
        warnings.extend(weights.and_then(|weights| {
            count_warning("weight", weights, "split such a row into several that share its weight")
        }));
        warnings
    }

    fn check_shape(&self, rows: usize) -> Result<()> {
        let same = |what: String, found: usize, expected: usize| {
            if found == expected { Ok(()) } else { Err(Error::Dimension { what, expected, found }) }
        };
        same("names of columns".into(), self.names.len(), self.columns.len())?;
        for (name, column) in self.names.iter().zip(&self.columns) {
            same(format!("column `{name}`"), column.len(), rows)?;
        }
        for (what, values) in [("weights", &self.weights), ("trials", &self.trials), ("offset", &self.offset)]
        {
            if let Some(values) = values {
                same(what.into(), values.len(), rows)?;
            }
        }
        if self.columns.is_empty() && !self.intercept {
            return Err(setting("columns", 0, "at least one, or an intercept"));
        }
        check_rows(rows)
    }

    fn check_response(&self, kind: ResponseKind) -> Result<()> {
        let whole = |y: f64| y >= 0.0 && y.fract() == 0.0;
        match (kind, &self.trials) {
            (ResponseKind::CountOfTrials, None) => {
                return Err(Error::Dimension {
                    what: "trials (needed for counts of trials)".into(),
                    expected: self.response.len(),
                    found: 0,
                });
            }
            (ResponseKind::CountOfTrials, Some(trials)) => {
                check_each("trials", trials, |_, t| {
                    (!(whole(t) && (1.0..=LARGEST).contains(&t))).then(|| "1, 2, 3, …".into())
                })?;
                return check_each("response", &self.response, |row, y| {
                    (!(whole(y) && y <= trials[row]))
                        .then(|| format!("a whole number from 0 to its {} trials", trials[row]))
                });
            }
            (_, Some(_)) => return Err(setting("trials", "given", "only when the response counts trials")),
            (_, None) => {}
        }
        check_each("response", &self.response, |_, y| match kind {
            ResponseKind::Binary if y != 0.0 && y != 1.0 => Some("0 or 1".into()),
            ResponseKind::Count if !whole(y) => Some("0, 1, 2, …".into()),
            _ => None,
        })
    }
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

    /// The priors of a user who named none: normal with sd 10 for the intercept and 2.5 divided by the
    /// column's standard deviation (1 for a constant column) for the others.
    #[must_use]
    pub fn default_priors(&self) -> Vec<Prior> {
        let intercept = self.intercept.then_some(Prior::Normal { sd: 10.0 });
        let others = self.columns.iter().map(|column| {
            let sd = mean_and_sd(column).1;
            Prior::Normal { sd: 2.5 / if sd > 0.0 { sd } else { 1.0 } }
        });
        intercept.into_iter().chain(others).collect()
    }

    /// Storage order: position p holds the user's row `storage_order()[p]`. Recomputed from the seed, not kept.
    #[must_use]
    pub fn storage_order(&self) -> Vec<u32> {
        storage_order(self.rows(), self.shuffle)
    }
}

/// The permutation that `shuffle` gives for `rows` rows; the identity without one.
#[must_use]
pub fn storage_order(rows: usize, shuffle: Option<u64>) -> Vec<u32> {
    use rand::seq::SliceRandom as _;
    let mut order: Vec<u32> = (0..rows as u32).collect();
    if let Some(seed) = shuffle {
        order.shuffle(&mut crate::rng::stream(seed, 0, crate::rng::Role::Shuffle));
    }
    order
}

/// Refuses no rows and more rows than u32 can count.
pub(crate) fn check_rows(rows: usize) -> Result<()> {
    match rows {
        0 => Err(Error::EmptyData),
        _ if rows > u32::MAX as usize => Err(Error::TooManyRows { rows, limit: u32::MAX as usize }),
        _ => Ok(()),
    }
}

/// Refuses a state of the wrong length.
pub(crate) fn check_state(state: &[f64], expected: usize) -> Result<()> {
    if state.len() == expected {
        return Ok(());
    }
    Err(Error::Dimension { what: "state".into(), expected, found: state.len() })
}

/// Refuses what is not finite, and what is too large to be squared.
pub(crate) fn check_finite(name: &str, values: &[f64]) -> Result<()> {
    for (row, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { column: name.into(), row, value });
        }
        if value.abs() > LARGEST {
            return Err(Error::OutOfRange {
                what: format!("column `{name}`"),
                row,
                value,
                allowed: format!("at most {LARGEST:e} in absolute value; rescale the column"),
            });
        }
    }
    Ok(())
}

/// Refuses the first value for which `refusal` names the allowed range.
fn check_each(what: &str, values: &[f64], refusal: impl Fn(usize, f64) -> Option<String>) -> Result<()> {
    for (row, &value) in values.iter().enumerate() {
        if let Some(allowed) = refusal(row, value) {
            return Err(Error::OutOfRange { what: what.into(), row, value, allowed });
        }
    }
    Ok(())
}

fn check_names(names: &[String], intercept: bool) -> Result<()> {
    let mut seen = std::collections::HashSet::new();
    if intercept {
        seen.insert("intercept");
    }
    for name in names {
        if !seen.insert(name.as_str()) {
            let allowed = if name == "intercept" && intercept {
                "the intercept is there already: rename the column or leave the intercept out"
            } else {
                "names that differ from each other"
            };
            return Err(setting("column name", format!("`{name}`"), allowed));
        }
    }
    Ok(())
}

fn check_duplicates(names: &[String], columns: &[Vec<f64>]) -> Result<()> {
    let mut seen: HashMap<u64, Vec<usize>> = HashMap::new();
    for (j, column) in columns.iter().enumerate() {
        let mut hasher = DefaultHasher::new();
        // −0 equals 0 and must hash alike.
        column.iter().for_each(|v| (v + 0.0).to_bits().hash(&mut hasher));
        let alike = seen.entry(hasher.finish()).or_default();
        if let Some(&i) = alike.iter().find(|&&i| columns[i] == *column) {
            return Err(Error::DuplicateColumns { first: names[i].clone(), second: names[j].clone() });
        }
        alike.push(j);
    }
    Ok(())
}

#[cfg(test)]
mod tests;
