//! Columns of other libraries' tables, through Arrow: held by reference, decoded when rows are loaded.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use austerity_fit::output::Failure;
use austerity_io::Error;
use austerity_io::table::arrow::{self, ArrowColumn};
use austerity_io::table::{Column, Held, Missing};
use numpy::PyArray1;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::capsule;
use crate::error::exception;

/// A column that another library owns.
#[pyclass(frozen, module = "austerity._austerity", name = "Held")]
pub(crate) struct PyHeld(pub(crate) Arc<ArrowColumn>);

/// Why a stream was not read to its end.
enum Ended {
    /// In the words of the reader.
    Told(String),
    /// Ctrl-C.
    Raised(PyErr),
}

impl From<String> for Ended {
    fn from(what: String) -> Self {
        Self::Told(what)
    }
}

/// The columns in the capsules of a table: the `wanted` ones, all where none are named. Of a single column `alone` is the name. `orders` says of columns
/// of categories in which order their labels are.
#[pyfunction]
pub(crate) fn held(
    py: Python<'_>,
    capsules: Vec<Bound<'_, PyCapsule>>,
    wanted: Option<Vec<String>>,
    alone: &str,
    orders: HashMap<String, Vec<String>>,
) -> PyResult<Vec<(String, PyHeld)>> {
    let Some(mut batches) = capsule::batches(&capsules)? else {
        return Err(PyValueError::new_err(
            "the stream was read before, and can be read once only; make a new one",
        ));
    };
    // Producers may need the lock on threads of their own.
    let read = py.detach(|| {
        let pause = &mut || {
            let signals = Python::attach(|py| {
                py.check_signals()?;
                Ok(())
            });
            signals.map_err(Ended::Raised)
        };
        arrow::read(&mut *batches, wanted.as_deref(), alone, pause)
    });
    let columns = read.map_err(|ended| match ended {
        Ended::Told(what) => PyValueError::new_err(what),
        Ended::Raised(error) => error,
    })?;
    let made = columns.into_iter().map(|(name, mut column)| {
        if let Some(order) = orders.get(&name) {
            column.put_in_order(order);
        }
        (name, PyHeld(Arc::new(column)))
    });
    Ok(made.collect())
}

#[pymethods]
impl PyHeld {
    fn __len__(&self) -> usize {
        self.0.len()
    }

    /// Whether its values are levels.
    #[getter]
    fn is_text(&self) -> bool {
        self.0.is_text()
    }

    /// Refuses the first value that is infinite, or missing where missing ones are not dropped.
    fn check(&self, py: Python<'_>, name: &str, drop: bool) -> PyResult<()> {
        let missing = if drop { Missing::Drop } else { Missing::Refuse };
        let held = Held::Arrow(self.0.clone());
        let found = py.detach(|| held.check(Path::new("memory"), name, missing));
        found.map_err(|error| match error {
            Error::MissingValue { place, .. } => PyValueError::new_err(format!(
                "column '{name}', row {}: a value is missing; drop the row, impute the value, or give the model missing='drop'",
                place.row - 1
            )),
            Error::NotFinite { place, value } => PyValueError::new_err(format!(
                "column '{name}', row {}: {value} is not finite; drop the row or impute the value",
                place.row - 1
            )),
            error => exception(&Failure::from(error)),
        })
    }

    /// All values as NumPy has them: numbers, or codes with labels and whether their order means something.
    fn values<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let held = Held::Arrow(self.0.clone());
        let decoded = py.detach(|| held.decoded(Path::new("memory"), "a column"));
        let ordered = self.0.is_ordered();
        match decoded.map_err(|error| PyRuntimeError::new_err(error.to_string()))? {
            Column::Numbers(values) => Ok(PyArray1::from_vec(py, values).into_any()),
            Column::Levels { codes, labels } => {
                Ok((PyArray1::from_vec(py, codes), labels, ordered).into_pyobject(py)?.into_any())
            }
        }
    }

    /// A copy, as a pickle makes one, is NumPy's.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (Bound<'py, PyAny>,))> {
        Ok((py.import("austerity._columns")?.getattr("restored")?, (self.values(py)?,)))
    }
}
