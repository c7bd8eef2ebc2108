//! Arrays and held columns as a table in memory: arrays are copied once, column by column, as wide as they are.
//!
//! Labels of a category may have an order; levels that no row has are dropped with a note.

use std::path::PathBuf;

use austerity_fit::output::Failure;
use austerity_formula::Formula;
use austerity_io::coding::{FormulaRecipe, Term};
use austerity_io::store;
use austerity_io::table::{Column, Held, OpenOptions, Source, open_all};
use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::exception;
use crate::held::PyHeld;

/// Levels named in a note.
const LISTED: usize = 8;

/// Columns by name: an array of numbers, codes (uint32) with their labels and whether their order means something, or a column that is held.
pub(crate) type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// The table. What `file` says is only what messages call it.
pub(crate) fn source(columns: &Columns<'_>, file: &str) -> PyResult<Source> {
    let (mut ordered, mut notes) = (Vec::new(), Vec::new());
    let mut made = Vec::new();
    for (name, value) in columns {
        let (held, unused) = column(name, value, &mut ordered)?;
        notes.extend((!unused.is_empty()).then(|| note(name, &unused)));
        made.push((name.clone(), held));
    }
    Ok(Source::of_held(file, made).with_order(ordered, notes))
}

/// A column, and its labels that no row has.
fn column(name: &str, value: &Bound<'_, PyAny>, ordered: &mut Vec<String>) -> PyResult<(Held, Vec<String>)> {
    if let Ok(held) = value.cast::<PyHeld>() {
        let column = &held.get().0;
        ordered.extend(column.is_ordered().then(|| name.to_owned()));
        return Ok((Held::Arrow(column.clone()), column.labels().1));
    }
    if let Some(held) = plain(value) {
        return Ok((held, Vec::new()));
    }
    if let Ok((codes, labels, order)) = value.extract::<(PyReadonlyArray1<'_, u32>, Vec<String>, bool)>() {
        let codes: Vec<u32> = codes.as_array().iter().copied().collect();
        ordered.extend(order.then(|| name.to_owned()));
        if codes.iter().all(|&code| (code as usize) < labels.len() || code == u32::MAX) {
            let mut column = Column::Levels { codes, labels };
            let unused = used_levels(&mut column);
            return Ok((column.into(), unused.unwrap_or_default()));
        }
    }
    Err(PyTypeError::new_err(format!("column {name}: neither numbers nor codes with labels")))
}

/// An array of numbers, copied as wide as it is: whoever has it may write to it once the run has begun.
fn plain(value: &Bound<'_, PyAny>) -> Option<Held> {
    macro_rules! first_of {
        ($($number:ty),*) => {
            $(if let Ok(numbers) = value.extract::<PyReadonlyArray1<'_, $number>>() {
                return Some(numbers.as_array().iter().copied().collect::<Vec<$number>>().into());
            })*
        };
    }
    if let Ok(numbers) = value.extract::<PyReadonlyArray1<'_, f64>>() {
        return Some(Column::Numbers(numbers.as_array().iter().copied().collect()).into());
    }
    first_of!(f32, i64, i32, bool, u8, i8, i16, u16, u32, u64);
    None
}

/// Keeps the labels that occur; gives the others, if there are any.
fn used_levels(column: &mut Column) -> Option<Vec<String>> {
    let Column::Levels { codes, labels } = column else { return None };
    let mut used = vec![false; labels.len()];
    codes.iter().filter(|&&code| code != u32::MAX).for_each(|&code| used[code as usize] = true);
    if used.iter().all(|&used| used) {
        return None;
    }
    let (mut kept, mut unused, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (label, used) in labels.drain(..).zip(used) {
        places.push(kept.len() as u32);
        let list = if used { &mut kept } else { &mut unused };
        list.push(label);
    }
    codes.iter_mut().filter(|code| **code != u32::MAX).for_each(|code| *code = places[*code as usize]);
    *labels = kept;
    Some(unused)
}

/// Says which levels were dropped.
fn note(column: &str, unused: &[String]) -> String {
    let names: Vec<String> = unused.iter().take(LISTED).map(|level| format!("`{level}`")).collect();
    let more = if unused.len() > LISTED { format!(", … ({} in all)", unused.len()) } else { String::new() };
    format!("column `{column}`: levels that no row has were dropped: {}{more}", names.join(", "))
}

/// Names of the columns of files or of a store, and the rows if they are known without reading them.
#[pyfunction]
pub(crate) fn schema(py: Python<'_>, paths: Vec<PathBuf>) -> PyResult<(Vec<String>, Option<usize>)> {
    let found = py.detach(|| match &paths[..] {
        [path] if store::is_store(path) => {
            let opened = store::open(path)?;
            let recipe = &opened.recipe;
            if let Some(columns) = recipe.formula.as_ref().and_then(formula_of) {
                return Ok((columns, Some(opened.store.rows())));
            }
            let roles = [&recipe.weights, &recipe.trials, &recipe.offset].into_iter().flatten().cloned();
            let features = recipe.terms.iter().map(|term| Term::column(term).to_owned());
            let names = std::iter::once(recipe.response.clone()).chain(roles).chain(features).collect();
            Ok((names, Some(opened.store.rows())))
        }
        paths => {
            let source = open_all(paths, &OpenOptions::default())?;
            Ok((source.schema().names.clone(), source.schema().rows))
        }
    });
    found.map_err(|error: austerity_io::Error| exception(&Failure::from(error)))
}

/// The columns that the formula of a store names.
fn formula_of(recipe: &FormulaRecipe) -> Option<Vec<String>> {
    let columns: Vec<&str> = recipe.columns.iter().map(String::as_str).collect();
    let expanded = Formula::parse(&recipe.text).and_then(|formula| formula.expand(&columns)).ok()?;
    Some(expanded.columns().into_iter().map(Into::into).collect())
}
