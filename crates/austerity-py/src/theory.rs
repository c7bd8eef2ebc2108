//! How wrong is a test, which one to take, are its assumptions sound: the commands `analyze`, `design` and `check` as values.

use austerity_fit::options::{AnalyzeOptions, CheckOptions, Common, DesignOptions};
use austerity_fit::{analyze as analysis, check as checks, design as designs};
use clap::Parser;
use pyo3::prelude::*;

use crate::arguments::parse;
use crate::error::{exception, python_words};
use crate::table::{Columns, source};

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct AnalyzeCall {
    #[command(flatten)]
    options: AnalyzeOptions,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct DesignCall {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    options: DesignOptions,
}

#[derive(Debug, Parser)]
#[command(no_binary_name = true, disable_help_flag = true)]
struct CheckCall {
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    options: CheckOptions,
}

/// The JSON of `analyze --json`.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    let call: AnalyzeCall = parse(words)?;
    py.detach(|| analysis::answer(&call.options)).map(|value| value.to_string()).map_err(|e| exception(&e))
}

/// The JSON of `design --json`.
#[pyfunction]
pub(crate) fn design(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    let call: DesignCall = parse(words)?;
    py.detach(|| designs::answer(&call.common, &call.options))
        .map(|value| value.to_string())
        .map_err(|e| exception(&e))
}

/// The JSON of `check --json` on the file or the store that the options name.
#[pyfunction]
pub(crate) fn check_file(py: Python<'_>, words: Vec<String>) -> PyResult<String> {
    let call: CheckCall = parse(words)?;
    py.detach(|| checks::answer(None, &call.common, &call.options))
        .map(|value| python_words(&value.to_string()))
        .map_err(|e| exception(&e))
}

/// The JSON of `check --json`.
#[pyfunction]
pub(crate) fn check(py: Python<'_>, columns: Columns<'_>, words: Vec<String>) -> PyResult<String> {
    let call: CheckCall = parse(words)?;
    let table = source(&columns, &call.options.data.data.to_string_lossy())?;
    py.detach(|| checks::answer(Some(&table), &call.common, &call.options))
        .map(|value| python_words(&value.to_string()))
        .map_err(|e| exception(&e))
}
