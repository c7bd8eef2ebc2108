//! Errors as Python exceptions: bad input is a `ValueError`, a file that fails an `OSError`, the rest a `RuntimeError`.

use austerity_fit::output::Failure;
use austerity_fit::request::Dialect;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The exception of a failure.
pub(crate) fn exception(failure: &Failure) -> PyErr {
    let text = failure.words(Dialect::Python);
    match failure {
        Failure::Interrupted => PyKeyboardInterrupt::new_err(text),
        Failure::File(austerity_io::Error::Io { .. }) | Failure::Writing(_) | Failure::Unstored(_) => {
            PyOSError::new_err(text)
        }
        Failure::Library(austerity::Error::Panicked { .. } | austerity::Error::Sink { .. })
        | Failure::Other(_) => PyRuntimeError::new_err(text),
        Failure::Library(_) | Failure::File(_) | Failure::Refused(_) | Failure::Usage(_) => {
            PyValueError::new_err(text)
        }
    }
}
