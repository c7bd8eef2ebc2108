//! Columns of a file as regression data.
//!
//! | file | decides |
//! |---|---|
//! | `roles` | which column is what: response, features, weights, trials, offset |
//! | `response` | how the response becomes 0 and 1, or stays a number |
//! | `terms` | how a feature becomes columns: a number, standardised or not, or its levels one-hot |
//! | `recipe` | all of it as plain data: back to the original scale, and the same coding for new rows |
//!
//! **Levels.** Text columns, and columns named as categorical, become one 0/1 column `column=level` per level but the
//! *reference*: the most frequent level, the first in order among equally frequent ones. Levels are in numeric
//! order when all are numbers, else alphabetical. Without an intercept the first such column keeps all its
//! levels, or its reference would be forced to have no effect.
//!
//! **Standardisation** is (value − mean)/sd, divisor N, of numeric features; 0/1 columns of levels stay. Rare
//! columns (at most 10 % of the values differ from 0) and designs without an intercept are only scaled. Coefficients go
//! back by [`Recipe::to_original`].

mod recipe;
mod response;
mod roles;
mod terms;

use std::path::PathBuf;

use austerity::model::{Data, ResponseKind};

use crate::error::{Error, Place, Result};
use crate::table::{Column, Source, Table};

pub use recipe::Recipe;
pub use response::ResponseCoding;
pub use terms::{MOST_LEVELS, Term};

use roles::Roles;

/// Which columns play which role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DesignOptions {
    /// What is to be explained.
    pub response: String,
    /// What explains it; every column without another role when `None`.
    pub features: Option<Vec<String>>,
    /// Features whose values are levels, even when they are numbers.
    pub categorical: Vec<String>,
    /// Frequency weights.
    pub weights: Option<String>,
    /// Binomial trials.
    pub trials: Option<String>,
    /// Known part of the linear predictor.
    pub offset: Option<String>,
    /// Whether there is an intercept.
    pub intercept: bool,
    /// Whether numeric features are standardised.
    pub standardize: bool,
}

impl DesignOptions {
    /// All other columns explain `response`, with an intercept, on their own scale.
    pub fn new(response: impl Into<String>) -> Self {
        Self {
            response: response.into(),
            features: None,
            categorical: Vec::new(),
            weights: None,
            trials: None,
            offset: None,
            intercept: true,
            standardize: false,
        }
    }
}

/// Regression data and how they were made.
#[derive(Clone, Debug)]
pub struct Design {
    /// The file, for messages.
    pub file: PathBuf,
    /// The data, not yet checked by the library.
    pub data: Data,
    /// How they were made.
    pub recipe: Recipe,
    /// Sentences about choices.
    pub notes: Vec<String>,
    /// Sentences about what may be a mistake.
    pub warnings: Vec<String>,
}

impl Design {
    /// Reads the columns that the options need, and no others, and makes the design of them.
    pub fn read(source: &Source, options: &DesignOptions, kind: ResponseKind) -> Result<Self> {
        let roles = Roles::assign(source.path(), &source.schema().names, options)?;
        let table = source.read_with(Some(&roles.columns()), &options.categorical)?;
        let mut design = Self::build(table, &roles, options, kind)?;
        design.notes.splice(0..0, source.schema().notes.iter().cloned());
        Ok(design)
    }

    /// Makes the design of columns in memory.
    pub fn from_table(table: Table, options: &DesignOptions, kind: ResponseKind) -> Result<Self> {
        let roles = Roles::assign(&table.file, &table.names, options)?;
        Self::build(table, &roles, options, kind)
    }

    fn build(table: Table, roles: &Roles, options: &DesignOptions, kind: ResponseKind) -> Result<Self> {
        let mut shelf = Shelf { file: table.file, names: table.names, columns: table.columns };
        let (mut notes, mut warnings) = (Vec::new(), Vec::new());

        let given = shelf.take(&roles.response)?;
        let trials = roles.trials.as_deref().map(|name| shelf.take_numbers(name, "trials")).transpose()?;
        let weights = roles.weights.as_deref().map(|name| shelf.take_numbers(name, "weights")).transpose()?;
        let offset = roles.offset.as_deref().map(|name| shelf.take_numbers(name, "offset")).transpose()?;
        if let (Some(name), Some(weights)) = (&roles.weights, &weights) {
            shelf.check(name, weights, |_, w| w > 0.0, "a weight must be positive", "drop the row")?;
        }
        if let (Some(name), Some(trials)) = (&roles.trials, &trials) {
            let whole = |_, t: f64| t >= 1.0 && t.fract() == 0.0;
            shelf.check(
                name,
                trials,
                whole,
                "trials must be 1, 2, 3, …",
                "drop the row or mend the value",
            )?;
        }
        let coded = response::code(&shelf, &roles.response, given, trials.as_deref(), kind)?;
        notes.extend(coded.note);
        warnings.extend(coded.warning);

        let (mut terms, mut names, mut columns) = (Vec::new(), Vec::new(), Vec::new());
        let mut full_levels = !options.intercept;
        for name in &roles.features {
            let column = shelf.take(name)?;
            let wish = terms::Wish {
                categorical: options.categorical.contains(name),
                standardize: options.standardize,
                intercept: options.intercept,
                full_levels,
            };
            match terms::make(&shelf.file, name, column, wish)? {
                terms::Made::Term { term, columns: made, note } => {
                    full_levels &= !matches!(term, Term::Levels { .. });
                    names.extend(term.names());
                    columns.extend(made);
                    notes.extend(note);
                    terms.push(term);
                }
                terms::Made::Constant { value } if roles.explicit => {
                    return Err(shelf.role(
                        name,
                        format!(
                            "it is {value} in every row, so its coefficient cannot be told from the intercept"
                        ),
                        "leave it out",
                    ));
                }
                terms::Made::Constant { value } => {
                    warnings.push(format!("column `{name}` was left out: it is {value} in every row"));
                }
            }
        }
        if terms.is_empty() && !options.intercept {
            return Err(shelf.role(
                &roles.response,
                "nothing is left to explain it: no feature and no intercept",
                "name features or keep the intercept",
            ));
        }
        let mut data = Data::new(names, columns, coded.values).intercept(options.intercept);
        if let Some(weights) = weights {
            data = data.weights(weights);
        }
        if let Some(trials) = trials {
            data = data.trials(trials);
        }
        if let Some(offset) = offset {
            data = data.offset(offset);
        }
        let recipe = Recipe {
            response: roles.response.clone(),
            coding: coded.coding,
            terms,
            weights: roles.weights.clone(),
            trials: roles.trials.clone(),
            offset: roles.offset.clone(),
            intercept: options.intercept,
        };
        Ok(Self { file: shelf.file, data, recipe, notes, warnings })
    }
}

/// Columns that are taken one by one, so that none is copied.
struct Shelf {
    file: PathBuf,
    names: Vec<String>,
    columns: Vec<Column>,
}

impl Shelf {
    fn take(&mut self, name: &str) -> Result<Column> {
        let position = self
            .names
            .iter()
            .position(|n| n == name)
            .ok_or_else(|| crate::table::names::unknown(&self.file, &self.names, name))?;
        Ok(std::mem::replace(&mut self.columns[position], Column::Numbers(Vec::new())))
    }

    fn take_numbers(&mut self, name: &str, role: &str) -> Result<Vec<f64>> {
        match self.take(name)? {
            Column::Numbers(values) => Ok(values),
            Column::Levels { labels, .. } => Err(self.role(
                name,
                format!("it holds text such as `{}`", labels.first().map_or("", String::as_str)),
                format!("{role} must be numbers"),
            )),
        }
    }

    fn check(
        &self,
        column: &str,
        values: &[f64],
        allowed: impl Fn(usize, f64) -> bool,
        problem: &str,
        remedy: &str,
    ) -> Result<()> {
        match values.iter().enumerate().position(|(row, &value)| !allowed(row, value)) {
            None => Ok(()),
            Some(row) => Err(Error::Value {
                place: self.place(column, row),
                problem: format!("{}: {problem}", values[row]),
                remedy: remedy.into(),
            }),
        }
    }

    /// The place of a row counted from 0.
    fn place(&self, column: &str, row: usize) -> Box<Place> {
        Place::new(&self.file, column, row)
    }

    fn role(&self, column: &str, problem: impl Into<String>, remedy: impl Into<String>) -> Error {
        Error::Role {
            file: self.file.clone(),
            column: column.into(),
            problem: problem.into(),
            remedy: remedy.into(),
        }
    }
}

#[cfg(test)]
mod tests;
