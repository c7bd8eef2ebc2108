//! What a formula needs of a table, and what came of it.

use std::path::PathBuf;

use austerity_fit::runs;
use austerity_formula::{Formula, Problem};
use austerity_io::table::nearest;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::exception;

/// Stands for the columns of a table that are not known yet.
const OTHERS: &str = "\u{1}";

/// The columns that a formula needs of those that there are. Without names, what it names; nothing where it needs all the others.
#[pyfunction]
pub(crate) fn formula_columns(formula: &str, names: Option<Vec<String>>) -> PyResult<Option<Vec<String>>> {
    let refuse = |error: austerity_formula::Error| PyValueError::new_err(error.to_string());
    let there: Vec<&str> =
        names.as_ref().map_or(vec![OTHERS], |names| names.iter().map(String::as_str).collect());
    let expanded = Formula::parse(formula).and_then(|formula| formula.expand(&there)).map_err(refuse)?;
    let needed: Vec<String> = expanded.columns().into_iter().map(Into::into).collect();
    let Some(names) = names else {
        return Ok((!needed.iter().any(|name| name == OTHERS)).then_some(needed));
    };
    match needed.iter().find(|name| !names.contains(name)) {
        None => Ok(Some(needed)),
        Some(name) => {
            let nearest = nearest(&names, name).map(Into::into);
            Err(refuse(expanded.error_at(name, Problem::UnknownColumn { name: name.clone(), nearest })))
        }
    }
}

/// The terms of a run's model with the names of their coefficients.
#[pyfunction]
pub(crate) fn terms(run: PathBuf) -> PyResult<Vec<(String, Vec<String>)>> {
    let terms = runs::terms(&run).map_err(|failure| exception(&failure))?;
    Ok(terms.into_iter().map(|term| (term.term, term.coefficients)).collect())
}
