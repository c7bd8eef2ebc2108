//! Formulas as codings of a table: what is learnt of the data, and the columns that follow from it.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | [`FormulaRecipe`]: what was learnt, as plain data; a formula as options of a coding |
//! | `learn` | the passes over the table that find levels, means and knots |
//! | `sheet` | which columns there are, and what each is made of |
//! | `values` | their values in some rows |
//! | `groups` | [`Grouping`]: the group of every row, and what varies |
//! | `rank` | whether columns repeat each other |
//!
//! A formula becomes computed columns of the table (`Source::derived`), and these are coded, loaded, converted and predicted like any
//! others. A block of terms with levels alone is one column of level places; it is stored as a factor or as 0/1 columns, whichever
//! suits its size. Nothing of the length of the data is kept.
//!
//! **Standardisation** changes columns of numbers, products of numbers with few levels included; columns of levels stay.

mod groups;
mod learn;
mod rank;
mod sheet;
mod values;

use std::path::Path;
use std::sync::Arc;

use austerity_formula::{Arithmetic, Basis, Factor, Formula, Problem, ResponseRole, Spline};
use serde::{Deserialize, Serialize};

pub(crate) use groups::read as read_groups;
pub use groups::{Grouping, groups_of_rows};
pub use rank::check_rank;

use super::CodingOptions;
use crate::error::{Error, Result};
use crate::table::{ColumnKind, Source};
use sheet::Sheet;

/// What was learnt of a factor of a formula.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Learnt {
    /// Its levels, in order.
    Levels(Vec<String>),
    /// What its numbers become.
    Basis(Basis),
}

/// A formula and what was learnt of the data: enough to make the same columns of other rows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FormulaRecipe {
    /// The formula, as it was written.
    pub text: String,
    /// The columns of the table, where the formula has a `.`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub columns: Vec<String>,
    /// What was learnt of every factor, in the order in which the formula names them.
    pub factors: Vec<Learnt>,
}

/// A term of a formula and the coefficients that it has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TermNames {
    /// The term, such as `distance:C(carrier)`.
    pub term: String,
    /// Names of its coefficients, in order.
    pub coefficients: Vec<String>,
}

impl FormulaRecipe {
    /// A table with the columns of this formula beside those it has. What the formula explains, and weights, may be missing.
    pub(crate) fn over(&self, source: &Source) -> Result<Source> {
        let sheet = Sheet::new(self.clone(), source.path())?;
        let columns = sheet.columns_over(source)?;
        Ok(source.derived(columns, Arc::new(sheet)))
    }

    /// The terms with their coefficients, the intercept included.
    pub(super) fn terms(&self) -> Result<Vec<TermNames>> {
        Ok(Sheet::new(self.clone(), Path::new("the recipe"))?.terms())
    }

    /// Names of the factors whose columns add up to 1.
    fn splines_that_add_up(&self) -> Vec<String> {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let formula = Formula::parse(&self.text).and_then(|formula| formula.expand(&columns));
        let factors = formula.map(|formula| formula.factors).unwrap_or_default();
        let is_natural =
            |factor: &&Factor| matches!(factor, Factor::Spline { kind: Spline::NaturalCubic, .. });
        factors.iter().filter(is_natural).map(Factor::name).collect()
    }

    /// The column of trials, where the response counts successes of trials that are a column.
    #[must_use]
    pub fn trials_column(&self) -> Option<String> {
        let formula = Formula::parse(&self.text).and_then(|formula| formula.expand(&[])).ok()?;
        match formula.response.role {
            ResponseRole::Trials(Arithmetic::Column(name)) => Some(name),
            _ => None,
        }
    }

    /// All columns of a table that the formula names, the response, weights and trials included.
    pub fn columns_fitted(&self) -> Result<Vec<String>> {
        let columns: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        let formula = Formula::parse(&self.text).and_then(|formula| formula.expand(&columns));
        let formula = formula.map_err(wrong(Path::new("the recipe")))?;
        Ok(formula.columns().into_iter().map(str::to_owned).collect())
    }

    /// The columns of a table that new rows must have, the trials not among them.
    pub(super) fn inputs(&self) -> Result<Vec<String>> {
        Ok(Sheet::new(self.clone(), Path::new("the recipe"))?.needed())
    }
}

/// What stands beside the response of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// Nothing.
    Nothing,
    /// Trials: the response counts successes.
    Trials,
    /// Events: the response is a time.
    Event,
}

/// What stands beside the response of a formula.
pub fn beside(file: &Path, text: &str) -> Result<Beside> {
    let formula = Formula::parse(text).and_then(|formula| formula.expand(&[])).map_err(wrong(file))?;
    Ok(match formula.response.role {
        ResponseRole::Alone => Beside::Nothing,
        ResponseRole::Trials(_) => Beside::Trials,
        ResponseRole::Event(_) => Beside::Event,
    })
}

/// The columns of a table that a formula names, and those of them whose texts count as they are spelled.
pub(crate) fn inputs(source: &Source, text: &str) -> Result<(Vec<String>, Vec<String>)> {
    let formula = expanded(source.path(), text, &source.schema().names)?;
    let columns: Vec<String> = formula.columns().into_iter().map(str::to_owned).collect();
    let spelled = columns.iter().filter(|name| sheet::levels_alone(&formula, name)).cloned().collect();
    Ok((columns, spelled))
}

/// A formula that cannot be used with a file, to be used in `map_err`.
fn wrong(file: &Path) -> impl FnOnce(austerity_formula::Error) -> Error {
    move |source| Error::Formula { file: file.into(), source: Box::new(source) }
}

/// Learns a formula from a table: its computed columns as a source, and the roles that they play.
pub(crate) fn prepare(
    source: &Source,
    options: &CodingOptions,
    text: &str,
) -> Result<(Source, FormulaRecipe, CodingOptions)> {
    if !options.groups {
        refuse_groups(source.path(), &expanded(source.path(), text, &source.schema().names)?)?;
    }
    let (recipe, notes) = learn::learn(source, text)?;
    let sheet = Sheet::new(recipe.clone(), source.path())?;
    let options = sheet.roles(options);
    let columns: Vec<(String, ColumnKind)> = sheet.columns_over(source)?;
    let mut derived = source.derived(columns, Arc::new(sheet));
    derived.note(notes);
    Ok((derived, recipe, options))
}

/// A formula, expanded for a table with these columns.
fn expanded(file: &Path, text: &str, columns: &[String]) -> Result<austerity_formula::Expanded> {
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    Formula::parse(text).and_then(|formula| formula.expand(&columns)).map_err(wrong(file))
}

/// Refuses group terms where nothing can be made of them.
fn refuse_groups(file: &Path, formula: &austerity_formula::Expanded) -> Result<()> {
    let Some(group) = formula.groups.first() else { return Ok(()) };
    let by = group.by.first().map_or("", String::as_str);
    Err(wrong(file)(formula.error_at(by, Problem::Groups)))
}

/// Whether a formula has group terms; `false` where it cannot be read.
#[must_use]
pub fn has_groups(text: &str) -> bool {
    Formula::parse(text)
        .and_then(|formula| formula.expand(&[]))
        .is_ok_and(|formula| !formula.groups.is_empty())
}
