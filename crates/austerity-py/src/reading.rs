//! Runs on disk: what can be said of them, their draws, pages, tables and predictions.

use std::path::PathBuf;

use austerity_fit::output::Failure;
use austerity_fit::request::Dialect;
use austerity_fit::runs::{self, Overview};
use austerity_io::run::{DrawsReader, ExportOptions, export as export_draws};
use numpy::PyArray1;
use numpy::PyArrayMethods as _;
use pyo3::prelude::*;

use crate::error::exception;
use crate::table::{Columns, source};

/// A column and its name.
type Named<'py> = (String, Bound<'py, PyArray1<f64>>);

/// An array with its shape.
type Shaped<'py> = Bound<'py, PyAny>;

fn raise(error: impl Into<Failure>) -> PyErr {
    exception(&error.into())
}

/// The JSON of `summary --json`, the tables, and the sentences.
pub(crate) type Said = (String, String, Vec<String>);

/// What can be said of a run.
pub(crate) fn said(overview: &Overview) -> Said {
    (overview.json().to_string(), overview.tables(), overview.sentences())
}

/// Files below a folder need not survive a power cut: those of a temporary one.
#[pyfunction]
pub(crate) fn volatile(folder: PathBuf) {
    austerity_io::run::volatile(folder);
}

/// What can be said of a run on disk.
#[pyfunction]
pub(crate) fn overview(py: Python<'_>, run: PathBuf) -> PyResult<Said> {
    py.detach(|| Overview::open(&run, Dialect::Python).map(|overview| said(&overview))).map_err(raise)
}

fn stacked<'py>(py: Python<'py>, chains: &[Vec<f64>]) -> PyResult<Shaped<'py>> {
    let (count, draws) = (chains.len(), chains.first().map_or(0, Vec::len));
    Ok(PyArray1::from_vec(py, chains.concat()).reshape([count, draws])?.into_any())
}

/// Names, how many of them are coefficients, and one array (chain, draw) for each.
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
pub(crate) fn draws<'py>(
    py: Python<'py>,
    run: PathBuf,
) -> PyResult<(Vec<String>, Vec<String>, Vec<Shaped<'py>>)> {
    let (reader, values) = py
        .detach(|| {
            let reader = DrawsReader::open(run.join("draws.zarr"))?;
            let values = reader.parameters(0..reader.names().len())?;
            Ok((reader, values))
        })
        .map_err(|error: austerity_io::Error| raise(error))?;
    let shape = [reader.chains(), reader.draws()];
    let array = |values| Ok(PyArray1::from_vec(py, values).reshape(shape)?.into_any());
    let arrays = values.into_iter().map(array).collect::<PyResult<_>>()?;
    Ok((reader.names(), reader.coefficient_names().to_vec(), arrays))
}

/// What is known of each draw's decision, by name.
#[pyfunction]
pub(crate) fn statistics<'py>(py: Python<'py>, run: PathBuf) -> PyResult<Vec<(String, Shaped<'py>)>> {
    let made = py
        .detach(|| {
            let reader = DrawsReader::open(run.join("draws.zarr"))?;
            let read = |name: String| reader.statistic(&name).map(|values| (name, values));
            reader.statistic_names().into_iter().map(read).collect::<Result<Vec<_>, _>>()
        })
        .map_err(raise)?;
    made.into_iter().map(|(name, chains)| Ok((name, stacked(py, &chains)?))).collect()
}

/// The JSON of `verify --json`.
#[pyfunction]
pub(crate) fn verify(py: Python<'_>, path: PathBuf) -> PyResult<String> {
    let threads = std::thread::available_parallelism().map_or(1, Into::into);
    py.detach(|| runs::verify::check(&path, threads).map(|made| made.json(&path).to_string())).map_err(raise)
}

/// Writes the page.
#[pyfunction]
pub(crate) fn report(py: Python<'_>, run: PathBuf, out: PathBuf) -> PyResult<()> {
    py.detach(|| runs::page::save(&run, &out)).map_err(raise)
}

/// Writes the draws as a table.
#[pyfunction]
pub(crate) fn export(py: Python<'_>, run: PathBuf, out: PathBuf, statistics: bool) -> PyResult<()> {
    py.detach(|| {
        let reader = DrawsReader::open(run.join("draws.zarr"))?;
        export_draws(&reader, &out, ExportOptions { format: None, statistics })
    })
    .map_err(raise)
}

/// Predictions for new rows, by name.
#[pyfunction]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
pub(crate) fn predict<'py>(
    py: Python<'py>,
    run: PathBuf,
    columns: Columns<'py>,
    interval: f64,
    most_draws: usize,
    seed: u64,
    threads: usize,
    survival: Vec<f64>,
) -> PyResult<Vec<Named<'py>>> {
    let rows = source(&columns, "the new rows")?;
    let settings = runs::predict::PredictSettings { interval, most_draws, seed, threads, survival };
    let made = py.detach(|| runs::predict::table(&run, &rows, &settings)).map_err(raise)?;
    Ok(made.into_iter().map(|(name, values)| (name, PyArray1::from_vec(py, values))).collect())
}

/// The columns that new rows must have: features, offset, trials.
#[pyfunction]
pub(crate) fn columns(run: PathBuf) -> PyResult<(Vec<String>, Option<String>, Option<String>)> {
    let runs::NewColumns { features, offset, trials } = runs::columns(&run).map_err(raise)?;
    Ok((features, offset, trials))
}
