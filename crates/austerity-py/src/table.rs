//! Arrays as a table in memory: one column each, copied once, column by column.
//!
//! Labels of a category may have an order; levels that no row has are dropped with a note.

use std::path::PathBuf;

use austerity_fit::output::Failure;
use austerity_io::coding::Term;
use austerity_io::store;
use austerity_io::table::{Column, Source, Table, open};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

use crate::error::exception;

/// Levels named in a note.
const LISTED: usize = 8;

/// Columns by name: an array of float64, or codes (uint32) with their labels and whether their order means something.
pub(crate) type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// The table. What `file` says is only what messages call it.
pub(crate) fn source(columns: &Columns<'_>, file: &str) -> PyResult<Source> {
    let mut table = Table { file: PathBuf::from(file), names: Vec::new(), columns: Vec::new(), rows: 0 };
    let (mut ordered, mut notes) = (Vec::new(), Vec::new());
    for (name, value) in columns {
        let mut column = column(name, value, &mut ordered)?;
        notes.extend(used_levels(&mut column).map(|unused| note(name, &unused)));
        table.rows = column.len();
        table.names.push(name.clone());
        table.columns.push(column);
    }
    Ok(Source::of_table(table).with_order(ordered, notes))
}

fn column(name: &str, value: &Bound<'_, PyAny>, ordered: &mut Vec<String>) -> PyResult<Column> {
    if let Ok(numbers) = value.extract::<PyReadonlyArray1<'_, f64>>() {
        let mut values = Vec::with_capacity(numbers.len());
        values.extend(numbers.as_array().iter().copied());
        return Ok(Column::Numbers(values));
    }
    if let Ok((codes, labels, order)) = value.extract::<(PyReadonlyArray1<'_, u32>, Vec<String>, bool)>() {
        let codes: Vec<u32> = codes.as_array().iter().copied().collect();
        ordered.extend(order.then(|| name.to_owned()));
        if codes.iter().all(|&code| (code as usize) < labels.len()) {
            return Ok(Column::Levels { codes, labels });
        }
    }
    Err(PyTypeError::new_err(format!("column {name}: neither float64 nor codes with labels")))
}

/// Keeps the labels that occur; gives the others, if there are any.
fn used_levels(column: &mut Column) -> Option<Vec<String>> {
    let Column::Levels { codes, labels } = column else { return None };
    let mut used = vec![false; labels.len()];
    codes.iter().for_each(|&code| used[code as usize] = true);
    if used.iter().all(|&used| used) {
        return None;
    }
    let (mut kept, mut unused, mut places) = (Vec::new(), Vec::new(), Vec::new());
    for (label, used) in labels.drain(..).zip(used) {
        places.push(kept.len() as u32);
        let list = if used { &mut kept } else { &mut unused };
        list.push(label);
    }
    codes.iter_mut().for_each(|code| *code = places[*code as usize]);
    *labels = kept;
    Some(unused)
}

/// Says which levels were dropped.
fn note(column: &str, unused: &[String]) -> String {
    let names: Vec<String> = unused.iter().take(LISTED).map(|level| format!("`{level}`")).collect();
    let more = if unused.len() > LISTED { format!(", … ({} in all)", unused.len()) } else { String::new() };
    format!("column `{column}`: levels that no row has were dropped: {}{more}", names.join(", "))
}

/// Names of the columns of a file or a store, and its rows if they are known without reading it.
#[pyfunction]
pub(crate) fn schema(py: Python<'_>, path: PathBuf) -> PyResult<(Vec<String>, Option<usize>)> {
    let found = py.detach(|| {
        if !store::is_store(&path) {
            let source = open(&path)?;
            return Ok((source.schema().names.clone(), source.schema().rows));
        }
        let opened = store::open(&path)?;
        let recipe = &opened.recipe;
        let roles = [&recipe.weights, &recipe.trials, &recipe.offset].into_iter().flatten().cloned();
        let features = recipe.terms.iter().map(|term| Term::column(term).to_owned());
        let names = std::iter::once(recipe.response.clone()).chain(roles).chain(features).collect();
        Ok((names, Some(opened.store.rows())))
    });
    found.map_err(|error: austerity_io::Error| exception(&Failure::from(error)))
}
