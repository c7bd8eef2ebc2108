//! Python functions that know derivatives: an object with the methods
//!
//! | method | gives |
//! |---|---|
//! | `density(theta, curved)` | log posterior density of all rows, its gradient, and its Hessian (or `None`) |
//! | `prior_gradient(theta)` | the gradient of the log prior |
//! | `gradient(theta, rows)` | the gradient of the log-likelihood of these rows, added up |
//! | `rows(theta)` | gradients (N × d) and Hessians (N × d × d) of all rows: asked for once, at the centre |

use std::sync::{PoisonError, RwLock};

use austerity::model::{Derivatives, Likelihoods};
use austerity::population::Batch;
use austerity::{Error, Result};
use numpy::{PyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callback::{Arrays, Functions, Trouble, numbers};

/// Bytes of the derivatives of all rows beyond which there is no surrogate.
const MOST_BYTES: usize = 4 << 30;

/// Derivatives of all rows, as the user counts them, at one state.
struct Rows {
    centre: Vec<f64>,
    gradients: Vec<f64>,
    hessians: Vec<f64>,
}

/// Functions with derivatives.
pub(crate) struct Differentiable {
    functions: Functions,
    derivatives: Py<PyAny>,
    rows: RwLock<Option<Rows>>,
}

impl Differentiable {
    pub(crate) fn new(functions: Functions, derivatives: Py<PyAny>) -> Self {
        Self { functions, derivatives, rows: RwLock::new(None) }
    }

    pub(crate) fn trouble(&self) -> Trouble {
        self.functions.trouble.clone()
    }

    /// Calls a method; an exception ends the run.
    fn ask<T>(
        &self,
        what: &str,
        ask: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        Python::attach(|py| ask(py, self.derivatives.bind(py)))
            .map_err(|error| self.functions.trouble.keep(what, error))
    }

    fn with_rows<T>(&self, state: &[f64], use_them: impl FnOnce(&Rows) -> T) -> Option<T> {
        let rows = self.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.as_ref().filter(|rows| rows.centre == state).map(use_them)
    }
}

impl Likelihoods for Differentiable {
    type Memory = Arrays;

    fn rows(&self) -> usize {
        self.functions.rows()
    }

    fn names(&self) -> Vec<String> {
        self.functions.names()
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        self.functions.log_prior(state)
    }

    fn log_likelihoods(
        &self,
        state: &[f64],
        batch: Batch<'_>,
        memory: &mut Arrays,
        out: &mut [f64],
    ) -> Result<()> {
        self.functions.log_likelihoods(state, batch, memory, out)
    }

    fn original_row(&self, position: usize) -> usize {
        self.functions.original_row(position)
    }
}

impl Derivatives for Differentiable {
    fn prepare(&self, centre: &[f64]) -> Result<()> {
        let (n, d) = (self.functions.order.len(), centre.len());
        let bytes = n * (d + d * d) * size_of::<f64>();
        if bytes > MOST_BYTES {
            return Err(Error::Setting {
                name: "surrogate".into(),
                value: format!("{:.1} GB of derivatives of {n} rows", bytes as f64 / 1e9),
                allowed: format!(
                    "{:.1} GB; use fewer parameters or surrogate=\"none\"",
                    MOST_BYTES as f64 / 1e9
                ),
            });
        }
        let (gradients, hessians) = self.ask("derivatives of rows", |py, object| {
            let made = object.call_method1("rows", (PyArray1::from_slice(py, centre),))?;
            let (gradients, hessians): (PyReadonlyArray2<'_, f64>, PyReadonlyArray3<'_, f64>) =
                made.extract()?;
            if gradients.shape() != [n, d] || hessians.shape() != [n, d, d] {
                return Err(PyValueError::new_err("derivatives of rows have the wrong shape"));
            }
            Ok((
                gradients.as_array().iter().copied().collect(),
                hessians.as_array().iter().copied().collect(),
            ))
        })?;
        let rows = Rows { centre: centre.to_vec(), gradients, hessians };
        *self.rows.write().unwrap_or_else(PoisonError::into_inner) = Some(rows);
        Ok(())
    }

    fn density(&self, state: &[f64], gradient: &mut [f64], hessian: Option<&mut [f64]>) -> Result<f64> {
        self.ask("derivatives", |py, object| {
            let theta = PyArray1::from_slice(py, state);
            let made = object.call_method1("density", (theta, hessian.is_some()))?;
            let (value, first, second): (f64, Bound<'_, PyAny>, Bound<'_, PyAny>) = made.extract()?;
            numbers("the gradient", &first, gradient)?;
            if let Some(hessian) = hessian {
                numbers("the Hessian", &second.call_method1("reshape", (-1,))?, hessian)?;
            }
            Ok(value)
        })
    }

    fn add_prior_gradient(&self, state: &[f64], gradient: &mut [f64]) -> Result<()> {
        let mut own = vec![0.0; state.len()];
        self.ask("gradient of the log prior", |py, object| {
            let made = object.call_method1("prior_gradient", (PyArray1::from_slice(py, state),))?;
            numbers("the gradient of the log prior", &made, &mut own)
        })?;
        gradient.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        Ok(())
    }

    fn add_gradient(&self, state: &[f64], batch: Batch<'_>, gradient: &mut [f64]) -> Result<()> {
        let d = state.len();
        let known = self.with_rows(state, |rows| {
            for position in batch.ranges().flatten() {
                let row = self.functions.order[position] as usize;
                let own = &rows.gradients[row * d..(row + 1) * d];
                gradient.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
            }
        });
        if known.is_some() {
            return Ok(());
        }
        let mut own = vec![0.0; d];
        self.ask("gradient of the log-likelihood", |py, object| {
            let rows = batch.ranges().flatten().map(|position| i64::from(self.functions.order[position]));
            let rows = PyArray1::from_iter(py, rows);
            let made = object.call_method1("gradient", (PyArray1::from_slice(py, state), rows))?;
            numbers("the gradient of the log-likelihood", &made, &mut own)
        })?;
        gradient.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        Ok(())
    }

    fn add_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()> {
        let size = hessian.len();
        let row = self.functions.order[position] as usize;
        self.with_rows(state, |rows| {
            let own = &rows.hessians[row * size..(row + 1) * size];
            hessian.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        })
        .ok_or_else(|| Error::Setting {
            name: "state of a row's Hessian".into(),
            value: "not the centre".into(),
            allowed: "the centre of the expansion".into(),
        })
    }
}
