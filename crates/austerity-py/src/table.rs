//! Arrays as a table in memory: one column each, copied once, column by column.

use std::path::PathBuf;

use austerity_io::table::{Column, Source, Table};
use numpy::{PyReadonlyArray1, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;

/// Columns by name: an array of float64, or codes (uint32) with their labels.
pub(crate) type Columns<'py> = Vec<(String, Bound<'py, PyAny>)>;

/// The table. What `file` says is only what messages call it.
pub(crate) fn source(columns: &Columns<'_>, file: &str) -> PyResult<Source> {
    let mut table = Table { file: PathBuf::from(file), names: Vec::new(), columns: Vec::new(), rows: 0 };
    for (name, value) in columns {
        let column = column(name, value)?;
        table.rows = column.len();
        table.names.push(name.clone());
        table.columns.push(column);
    }
    Ok(Source::of_table(table))
}

fn column(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Column> {
    if let Ok(numbers) = value.extract::<PyReadonlyArray1<'_, f64>>() {
        let mut values = Vec::with_capacity(numbers.len());
        values.extend(numbers.as_array().iter().copied());
        return Ok(Column::Numbers(values));
    }
    if let Ok((codes, labels)) = value.extract::<(PyReadonlyArray1<'_, u32>, Vec<String>)>() {
        let codes: Vec<u32> = codes.as_array().iter().copied().collect();
        if codes.iter().all(|&code| (code as usize) < labels.len()) {
            return Ok(Column::Levels { codes, labels });
        }
    }
    Err(PyTypeError::new_err(format!("column {name}: neither float64 nor codes with labels")))
}
