//! Python functions that know derivatives: an object with the methods
//!
//! | method | gives |
//! |---|---|
//! | `density(theta, curved)` | log posterior density of all rows, its gradient, and its Hessian (or `None`) |
//! | `prior_gradient(theta)` | the gradient of the log prior |
//! | `gradient(theta, rows)` | the gradient of the log-likelihood of these rows, added up |
//! | `rows(theta, rows)` | gradients (n × d) and Hessians (n × d × d) of these rows: asked for once per row, at the centre |
//!
//! The derivatives at the centre are kept in the order of the storage, of each symmetric Hessian the upper triangle:
//! N·d(d + 3)/2 numbers of eight bytes. They are asked for in chunks that are written where they stay, so the peak is little
//! more than that.

use std::sync::{PoisonError, RwLock};

use austerity::population::Batch;
use austerity::{Error, Result};
use austerity_glm::own::Derivatives;
use numpy::{PyArray1, PyReadonlyArray2, PyReadonlyArray3, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callback::{Functions, numbers};

/// Bytes of the derivatives of all rows beyond which there is no surrogate.
const MOST_BYTES: usize = 4 << 30;

/// Bytes of the derivatives that Python makes at once. JAX holds several times as many while it does.
const CHUNK_BYTES: usize = 4 << 20;
/// Rows of a chunk: at least and at most so many.
const CHUNK_ROWS: (usize, usize) = (64, 1 << 14);

/// Derivatives of all rows at one state, in the order of the storage.
struct Rows {
    centre: Vec<f64>,
    /// N × d.
    gradients: Vec<f64>,
    /// The upper triangles, row by row: N × d(d + 1)/2.
    triangles: Vec<f64>,
}

/// Numbers of the upper triangle of a d × d matrix.
fn triangle(d: usize) -> usize {
    d * (d + 1) / 2
}

/// Rows of a chunk: a power of two, since JAX compiles each size anew.
fn chunk_rows(d: usize) -> usize {
    let rows = CHUNK_BYTES / ((d + d * d) * size_of::<f64>()).max(1);
    let (fewest, most) = CHUNK_ROWS;
    1 << rows.clamp(fewest, most).ilog2()
}

impl Rows {
    fn new(centre: &[f64], rows: usize) -> Self {
        let d = centre.len();
        Self {
            centre: centre.to_vec(),
            gradients: Vec::with_capacity(rows * d),
            triangles: Vec::with_capacity(rows * triangle(d)),
        }
    }

    /// Appends the rows of a chunk. Rounding makes Hessians slightly asymmetric, so both triangles count half.
    fn append(&mut self, gradients: &PyReadonlyArray2<'_, f64>, hessians: &PyReadonlyArray3<'_, f64>) {
        let d = self.centre.len();
        self.gradients.extend(gradients.as_array().iter());
        for hessian in hessians.as_array().outer_iter() {
            for i in 0..d {
                self.triangles.extend((i..d).map(|j| 0.5 * (hessian[(i, j)] + hessian[(j, i)])));
            }
        }
    }
}

/// A Python object that knows derivatives, and those of all rows once they have been asked for.
pub(crate) struct Known {
    object: Py<PyAny>,
    rows: RwLock<Option<Rows>>,
}

impl Known {
    pub(crate) fn new(object: Py<PyAny>) -> Self {
        Self { object, rows: RwLock::new(None) }
    }
}

impl Functions<Known> {
    /// Calls a method; an exception ends the run.
    fn ask<T>(
        &self,
        what: &str,
        ask: impl FnOnce(Python<'_>, &Bound<'_, PyAny>) -> PyResult<T>,
    ) -> Result<T> {
        Python::attach(|py| ask(py, self.derivatives.object.bind(py)))
            .map_err(|error| self.trouble.keep(what, error))
    }

    fn with_rows<T>(&self, state: &[f64], use_them: impl FnOnce(&Rows) -> T) -> Option<T> {
        let rows = self.derivatives.rows.read().unwrap_or_else(PoisonError::into_inner);
        rows.as_ref().filter(|rows| rows.centre == state).map(use_them)
    }
}

impl Derivatives for Functions<Known> {
    fn prepare(&self, centre: &[f64]) -> Result<()> {
        let (n, d) = (self.order.len(), centre.len());
        let bytes = n * (d + triangle(d)) * size_of::<f64>();
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
        // What an earlier centre left goes before the new one comes.
        *self.derivatives.rows.write().unwrap_or_else(PoisonError::into_inner) = None;
        let mut rows = Rows::new(centre, n);
        for part in self.order.chunks(chunk_rows(d)) {
            self.ask("derivatives of rows", |py, object| {
                let numbers = PyArray1::from_iter(py, part.iter().map(|&row| i64::from(row)));
                let made = object.call_method1("rows", (PyArray1::from_slice(py, centre), numbers))?;
                let (gradients, hessians): (PyReadonlyArray2<'_, f64>, PyReadonlyArray3<'_, f64>) =
                    made.extract()?;
                if gradients.shape() != [part.len(), d] || hessians.shape() != [part.len(), d, d] {
                    return Err(PyValueError::new_err("derivatives of rows have the wrong shape"));
                }
                rows.append(&gradients, &hessians);
                Ok(())
            })?;
        }
        *self.derivatives.rows.write().unwrap_or_else(PoisonError::into_inner) = Some(rows);
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
                let own = &rows.gradients[position * d..(position + 1) * d];
                gradient.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
            }
        });
        if known.is_some() {
            return Ok(());
        }
        let mut own = vec![0.0; d];
        self.ask("gradient of the log-likelihood", |py, object| {
            let rows = batch.ranges().flatten().map(|position| i64::from(self.order[position]));
            let rows = PyArray1::from_iter(py, rows);
            let made = object.call_method1("gradient", (PyArray1::from_slice(py, state), rows))?;
            numbers("the gradient of the log-likelihood", &made, &mut own)
        })?;
        gradient.iter_mut().zip(own).for_each(|(sum, value)| *sum += value);
        Ok(())
    }

    fn add_hessian(&self, state: &[f64], position: usize, hessian: &mut [f64]) -> Result<()> {
        let d = state.len();
        self.with_rows(state, |rows| {
            let mut own = rows.triangles[position * triangle(d)..].iter();
            for i in 0..d {
                for (j, value) in (i..d).zip(&mut own) {
                    hessian[i * d + j] += value;
                    if j > i {
                        hessian[j * d + i] += value;
                    }
                }
            }
        })
        .ok_or_else(|| Error::Setting {
            name: "state of a row's Hessian".into(),
            value: "not the centre".into(),
            allowed: "the centre of the expansion".into(),
        })
    }
}
