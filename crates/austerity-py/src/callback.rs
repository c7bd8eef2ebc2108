//! A user's model as Python functions: `log_likelihood(theta, rows) -> array` and `log_prior(theta) -> float`.
//!
//! The arrays handed over are made once per chain and size and filled anew for every call, so that a call costs little beside the
//! function itself. An exception ends the run and is raised again, traceback and all, where Python waits.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use austerity::model::storage_order;
use austerity::population::Batch;
use austerity::{Error, Result};
use austerity_glm::own::Likelihoods;
use numpy::{PyArray1, PyArrayMethods as _, PyReadonlyArray1, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::lock::introduce;

/// Arrays kept per chain; looks of a test have few sizes.
const MOST_SIZES: usize = 64;

/// The first exception that a callback raised.
#[derive(Clone, Default)]
pub(crate) struct Trouble(Arc<Mutex<Option<PyErr>>>);

impl Trouble {
    /// Keeps an exception and gives the library's error for it.
    pub(crate) fn keep(&self, what: &str, error: PyErr) -> Error {
        let message = error.to_string();
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
        Error::Panicked { what: what.into(), row: None, message }
    }

    pub(crate) fn take(&self) -> Option<PyErr> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// What Python hands over: the two functions, the number of rows, the names of the parameters, the seed of the order.
pub(crate) type Given = (Py<PyAny>, Py<PyAny>, usize, Vec<String>, u64);

/// Python functions and what they are about; `D` knows their derivatives, where they have some.
pub(crate) struct Functions<D = ()> {
    log_likelihood: Py<PyAny>,
    log_prior: Py<PyAny>,
    names: Vec<String>,
    /// Where each row of the storage stands in the user's data.
    pub(crate) order: Vec<u32>,
    pub(crate) trouble: Trouble,
    pub(crate) derivatives: D,
}

impl<D> Functions<D> {
    pub(crate) fn new((log_likelihood, log_prior, rows, names, seed): Given, derivatives: D) -> Self {
        let order = storage_order(rows, Some(seed));
        Self { log_likelihood, log_prior, names, order, trouble: Trouble::default(), derivatives }
    }
}

/// The order in which rows are stored: position p holds row `order(rows, seed)[p]`.
#[pyfunction]
pub(crate) fn order(py: Python<'_>, rows: usize, seed: u64) -> Bound<'_, PyArray1<i64>> {
    PyArray1::from_iter(py, storage_order(rows, Some(seed)).into_iter().map(i64::from))
}

/// Arrays of one chain, filled anew for every call.
#[derive(Default)]
pub(crate) struct Arrays {
    theta: Option<Py<PyArray1<f64>>>,
    rows: HashMap<usize, Py<PyArray1<i64>>>,
}

impl Arrays {
    /// The state as an array.
    fn theta<'py>(&mut self, py: Python<'py>, state: &[f64]) -> PyResult<Bound<'py, PyArray1<f64>>> {
        let array = match &self.theta {
            Some(array) => array.bind(py).clone(),
            None => {
                let array = PyArray1::zeros(py, state.len(), false);
                self.theta = Some(array.clone().unbind());
                array
            }
        };
        match array.try_readwrite() {
            Ok(mut values) => values.as_slice_mut()?.copy_from_slice(state),
            // Somebody made it read-only: take another.
            Err(_) => {
                let array = PyArray1::from_slice(py, state);
                self.theta = Some(array.clone().unbind());
                return Ok(array);
            }
        }
        Ok(array)
    }

    /// The rows of a batch, as the user counts them.
    fn rows<'py>(
        &mut self,
        py: Python<'py>,
        order: &[u32],
        batch: Batch<'_>,
        count: usize,
    ) -> PyResult<Bound<'py, PyArray1<i64>>> {
        if self.rows.len() > MOST_SIZES {
            self.rows.clear();
        }
        let array = self
            .rows
            .entry(count)
            .or_insert_with(|| PyArray1::zeros(py, count, false).unbind())
            .bind(py)
            .clone();
        let array = match array.try_readwrite() {
            Ok(mut values) => {
                fill(values.as_slice_mut()?, order, batch);
                array
            }
            Err(_) => {
                let other = PyArray1::zeros(py, count, false);
                fill(other.readwrite().as_slice_mut()?, order, batch);
                self.rows.insert(count, other.clone().unbind());
                other
            }
        };
        Ok(array)
    }
}

fn fill(values: &mut [i64], order: &[u32], batch: Batch<'_>) {
    let rows = batch.ranges().flat_map(|range| order[range].iter());
    values.iter_mut().zip(rows).for_each(|(value, &row)| *value = i64::from(row));
}

/// Copies what a function returned, which must be one number for each of `out`.
pub(crate) fn numbers(what: &str, value: &Bound<'_, PyAny>, out: &mut [f64]) -> PyResult<()> {
    let take = |array: &PyReadonlyArray1<'_, f64>, out: &mut [f64]| {
        if array.len() != out.len() {
            return Err(wrong(what, value, out.len()));
        }
        match array.as_slice() {
            Ok(values) => out.copy_from_slice(values),
            Err(_) => out.iter_mut().zip(array.as_array()).for_each(|(out, value)| *out = *value),
        }
        Ok(())
    };
    if let Ok(array) = value.cast::<PyArray1<f64>>() {
        return take(&array.readonly(), out);
    }
    let py = value.py();
    let numpy = py.import("numpy")?;
    let array = numpy.call_method1("asarray", (value, numpy.getattr("float64")?))?;
    match array.cast::<PyArray1<f64>>() {
        Ok(array) => take(&array.readonly(), out),
        Err(_) => Err(wrong(what, value, out.len())),
    }
}

fn wrong(what: &str, value: &Bound<'_, PyAny>, expected: usize) -> PyErr {
    let shape = value
        .getattr("shape")
        .and_then(|shape| shape.str().map(|text| text.to_string()))
        .unwrap_or_else(|_| value.get_type().to_string());
    PyValueError::new_err(format!(
        "{what} returned {shape} where ({expected},) was expected: return one number for each of the rows asked for"
    ))
}

impl<D: Sync> Likelihoods for Functions<D> {
    type Memory = Arrays;

    fn rows(&self) -> usize {
        self.order.len()
    }

    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        introduce();
        Python::attach(|py| {
            let theta = PyArray1::from_slice(py, state);
            self.log_prior.bind(py).call1((theta,))?.extract::<f64>()
        })
        .map_err(|error| self.trouble.keep("log prior", error))
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut Arrays,
        out: &mut [f64],
    ) -> Result<()> {
        introduce();
        Python::attach(|py| {
            let theta = memory.theta(py, state)?;
            let rows = memory.rows(py, &self.order, batch, out.len())?;
            let value = self.log_likelihood.bind(py).call1((theta, rows))?;
            numbers("log_likelihood", &value, out)
        })
        .map_err(|error: PyErr| self.trouble.keep("log-likelihood", error))
    }

    fn original_row(&self, position: usize) -> usize {
        self.order[position] as usize
    }
}
