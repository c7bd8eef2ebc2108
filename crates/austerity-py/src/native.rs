//! A user's model as a compiled function, such as numba's `@cfunc`, called from many threads without the interpreter's lock.
//!
//! ```c
//! void log_likelihood(const double *theta, int64_t d, const double *data, int64_t first, int64_t count, double *out);
//! double log_prior(const double *theta, int64_t d);
//! ```
//!
//! `data` holds the rows in storage order, so that a block is read as it lies in memory; row `first + i` goes to `out[i]`.
//!
//! **Safety.** Calling through an address is as safe as the function behind it: the Python side takes the address of an object that it keeps alive,
//! checks its signature where numba tells it, and the documentation says what the function may touch. What this file adds is that the
//! pointers it passes are valid for exactly the lengths it passes with them, that `data` is an array which nobody else holds, kept alive until the
//! run ends, and that `first + count` never exceeds its rows.

use austerity::population::Batch;
use austerity::{Error, Result};
use austerity_glm::own::Likelihoods;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods as _};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::callback::{Functions, Trouble};

type LogLikelihood = unsafe extern "C" fn(*const f64, i64, *const f64, i64, i64, *mut f64);
type LogPrior = unsafe extern "C" fn(*const f64, i64) -> f64;

/// What Python hands over: the address of the function, the rows in storage order, the address of the prior or 0, and the rest as for
/// Python functions (the prior among them is called where there is no address).
pub(crate) type Compiled<'py> = (usize, PyReadonlyArray2<'py, f64>, usize, crate::callback::Given);

/// A compiled function, its data, and names for errors.
pub(crate) struct Native {
    log_likelihood: LogLikelihood,
    log_prior: Option<LogPrior>,
    data: Vec<f64>,
    functions: Functions,
}

impl Native {
    pub(crate) fn new((likelihood, data, prior, given): Compiled<'_>) -> PyResult<Self> {
        let functions = Functions::new(given, ());
        if likelihood == 0 {
            return Err(PyValueError::new_err(
                "the address of log_likelihood is 0; give the address of a compiled function",
            ));
        }
        if data.shape()[0] != functions.order.len() {
            return Err(PyValueError::new_err("data: as many rows as the model has are needed"));
        }
        let values = data.as_array();
        let mut stored = Vec::with_capacity(data.len());
        for &row in &functions.order {
            stored.extend(values.row(row as usize));
        }
        // SAFETY: a non-zero address of a function with this signature, as the caller promises (see above); function pointers and addresses
        // have the same size on every platform that Python runs on.
        let log_likelihood = unsafe { std::mem::transmute::<usize, LogLikelihood>(likelihood) };
        // SAFETY: as above; 0 becomes `None`, which is how an absent function pointer is represented.
        let log_prior = unsafe { std::mem::transmute::<usize, Option<LogPrior>>(prior) };
        Ok(Self { log_likelihood, log_prior, data: stored, functions })
    }

    pub(crate) fn trouble(&self) -> Trouble {
        self.functions.trouble.clone()
    }
}

impl Likelihoods for Native {
    type Memory = ();

    fn rows(&self) -> usize {
        self.functions.rows()
    }

    fn names(&self) -> Vec<String> {
        self.functions.names()
    }

    fn log_prior(&self, state: &[f64]) -> Result<f64> {
        match self.log_prior {
            // SAFETY: `state` is valid for its length; the function reads no more (see above).
            Some(log_prior) => Ok(unsafe { log_prior(state.as_ptr(), state.len() as i64) }),
            None => self.functions.log_prior(state),
        }
    }

    fn log_likelihoods(&self, state: &[f64], batch: Batch<'_>, (): &mut (), out: &mut [f64]) -> Result<()> {
        let mut rest = out;
        for range in batch.ranges() {
            if range.end > self.functions.order.len() || range.len() > rest.len() {
                return Err(Error::Dimension {
                    what: "rows of a batch".into(),
                    expected: self.functions.order.len(),
                    found: range.end,
                });
            }
            let (now, later) = rest.split_at_mut(range.len());
            let (first, count) = (range.start as i64, range.len() as i64);
            // SAFETY: `state` is valid for d numbers, `data` for all rows, of which `first..first + count` exist (checked above), and
            // `now` for `count` numbers that nobody else sees; the function touches nothing else (see above).
            unsafe {
                (self.log_likelihood)(
                    state.as_ptr(),
                    state.len() as i64,
                    self.data.as_ptr(),
                    first,
                    count,
                    now.as_mut_ptr(),
                );
            }
            rest = later;
        }
        Ok(())
    }

    fn original_row(&self, position: usize) -> usize {
        self.functions.original_row(position)
    }

    fn data_bytes(&self) -> usize {
        size_of_val(self.data.as_slice())
    }
}
