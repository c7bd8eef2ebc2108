//! Errors as Python exceptions: bad input is a `ValueError`, a file that fails an `OSError`, the rest a `RuntimeError`.

use austerity_fit::output::Failure;
use pyo3::exceptions::{PyKeyboardInterrupt, PyOSError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// The exception of a failure.
pub(crate) fn exception(failure: &Failure) -> PyErr {
    let text = python_words(&failure.to_string());
    match failure {
        Failure::Interrupted => PyKeyboardInterrupt::new_err(text),
        Failure::File(austerity_io::Error::Io { .. }) | Failure::Writing(_) | Failure::Unstored(_) => {
            PyOSError::new_err(text)
        }
        Failure::Library(austerity::Error::Panicked { .. } | austerity::Error::Sink { .. })
        | Failure::Other(_) => PyRuntimeError::new_err(text),
        Failure::Library(_) | Failure::File(_) | Failure::Usage(_) => PyValueError::new_err(text),
    }
}

/// `--block-rows` becomes `block_rows`: options are keyword arguments here.
pub(crate) fn python_words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("--") {
        let (before, after) = rest.split_at(at);
        let word: String = after[2..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        let begins = before.chars().next_back().is_none_or(|c| !c.is_alphanumeric() && c != '-');
        out += before;
        if begins && word.starts_with(|c: char| c.is_ascii_lowercase()) {
            out += &word.replace('-', "_");
            rest = &after[2 + word.len()..];
        } else {
            out += "--";
            rest = &after[2..];
        }
    }
    out + rest
}
