//! Keyword arguments are the options of the program: `rule="exact"` is `--rule exact`, read by the same parser with the same checks.

use austerity_fit::options::{Common, FitOptions};
use clap::{CommandFactory as _, Parser};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

use crate::error::python_words;

/// What a fit is asked for.
#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
pub(crate) struct FitCall {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(flatten)]
    pub(crate) options: FitOptions,
}

/// Reads options, or says in Python's words what is wrong.
pub(crate) fn parse<T: Parser>(words: Vec<String>) -> PyResult<T> {
    T::try_parse_from(words).map_err(|error| {
        use clap::error::ErrorKind;
        let text = error.to_string();
        // What follows the first paragraph is about the command line.
        let text = text.split("\n\nUsage:").next().unwrap_or(&text);
        let text = text.split("\n\nFor more").next().unwrap_or(text);
        let text = python_words(text.trim_start_matches("error: ").trim_end());
        match error.kind() {
            ErrorKind::UnknownArgument | ErrorKind::MissingRequiredArgument => PyTypeError::new_err(text),
            _ => PyValueError::new_err(text),
        }
    })
}

/// Name, help and whether it takes no value, of every option that `sample` hands on.
#[pyfunction]
pub(crate) fn fit_options() -> Vec<(String, String, bool)> {
    FitCall::command()
        .get_arguments()
        .filter_map(|argument| {
            let name = argument.get_long()?.replace('-', "_");
            let help = argument.get_help().map(|help| python_words(&help.to_string())).unwrap_or_default();
            Some((name, help, !argument.get_action().takes_values()))
        })
        .collect()
}
