//! Columns of a file as regression data: what [`crate::load`] decides in its first pass.
//!
//! | file | decides |
//! |---|---|
//! | `roles` | which column is what: response, features, weights, trials, offset |
//! | `response` | how the response becomes 0 and 1, or stays a number |
//! | `choice` | which level is the success, which the reference |
//! | `feature` | how a feature becomes columns: a number, standardised or not, or its levels |
//! | `terms` | a feature as plain data |
//! | `recipe` | all of it as plain data: back to the original scale, and the same coding for new rows |
//! | `formula` | formulas as codings: what they learn, the columns they make |
//! | `grid` | a row of a reference grid, without the data |
//! | `apply` | that coding applied to a file piece by piece, on the original scale |
//!
//! **Levels.** Text columns, and columns named as categorical, have one coefficient `column=level` per level but the
//! *reference*. Rows store the place of their level, or 0/1 columns where levels are few. The reference is the level that the user names, else the first of labels with an order of their own, else the most frequent
//! level (the first in order among equally frequent ones). Levels without an order of their own are in numeric order when
//! all are numbers, else alphabetical. Without an intercept the first such column keeps all its
//! levels, or its reference would be forced to have no effect.
//!
//! **Standardisation** is (value − mean)/sd, divisor N, of numeric features; 0/1 columns of levels stay. Rare
//! columns (at most 10 % of the values differ from 0) and designs without an intercept are only scaled. Coefficients go
//! back by [`Recipe::to_original`].

mod apply;
mod choice;
pub(crate) mod feature;
pub mod formula;
mod grid;
mod recipe;
pub(crate) mod response;
pub(crate) mod roles;
mod terms;

use std::path::Path;

use crate::error::{Error, Place, Result};
use crate::table::Missing;
use serde::{Deserialize, Serialize};

pub use apply::{NewRows, Piece};
pub use formula::{FormulaRecipe, TermNames};
pub use grid::{Cell, GridRow};
pub use recipe::Recipe;
pub use response::ResponseCoding;
pub use terms::{MOST_LEVELS, Term};

pub(crate) use choice::Choice;
pub(crate) use response::Named;

/// Which columns play which role.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodingOptions {
    /// A formula, which then says all that the fields about columns say; these do not count.
    pub formula: Option<String>,
    /// What is to be explained.
    pub response: String,
    /// What explains it; every column without another role when `None`.
    pub features: Option<Vec<String>>,
    /// Features whose values are levels, even when they are numbers.
    pub categorical: Vec<String>,
    /// Frequency weights.
    pub weights: Option<String>,
    /// Binomial trials; of times, the events.
    pub trials: Option<String>,
    /// Known part of the linear predictor.
    pub offset: Option<String>,
    /// The value of a two-valued response that is coded as 1.
    pub success: Option<String>,
    /// References of features with levels, each as `column=level`.
    pub references: Vec<String>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Whether numeric features are standardised.
    pub standardize: bool,
    /// What becomes of rows in which a column used has no value.
    pub missing: Missing,
    /// Whether a formula may have group terms: who does not look at them must not accept them.
    pub groups: bool,
}

impl CodingOptions {
    /// What a formula says.
    pub fn of_formula(formula: impl Into<String>) -> Self {
        Self { formula: Some(formula.into()), ..Self::new("") }
    }

    /// All other columns explain `response`, with an intercept, on their own scale.
    pub fn new(response: impl Into<String>) -> Self {
        Self {
            formula: None,
            response: response.into(),
            features: None,
            categorical: Vec::new(),
            weights: None,
            trials: None,
            offset: None,
            success: None,
            references: Vec::new(),
            intercept: true,
            standardize: false,
            missing: Missing::Refuse,
            groups: false,
        }
    }
}

/// Refuses the first value that is not `allowed`; `first` is the row of the first value, from 0.
pub(crate) fn check(
    at: Named<'_>,
    first: usize,
    values: &[f64],
    allowed: impl Fn(usize, f64) -> bool,
    problem: &str,
    remedy: &str,
) -> Result<()> {
    match values.iter().enumerate().position(|(row, &value)| !allowed(row, value)) {
        None => Ok(()),
        Some(row) => Err(Error::Value {
            place: place(at.file, at.name, first + row),
            problem: format!("{}: {problem}", values[row]),
            remedy: remedy.into(),
        }),
    }
}

/// The place of a row counted from 0.
fn place(file: &Path, column: &str, row: usize) -> Box<Place> {
    Place::new(file, column, row)
}

pub(crate) fn role(
    file: &Path,
    column: &str,
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> Error {
    Error::Role { file: file.into(), column: column.into(), problem: problem.into(), remedy: remedy.into() }
}
