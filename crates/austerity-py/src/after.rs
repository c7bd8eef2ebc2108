//! What a run is worth and what it says: `loo`, `compare`, `predictions`, `comparisons` and `slopes` as values.

use std::path::PathBuf;

use austerity::run::Control;
use austerity_fit::output::Failure;
use austerity_fit::runs;
use austerity_fit::runs::appraisal::AppraisalSettings;
use austerity_fit::runs::effects::{Given as Variable, Settings, Verb};
use austerity_fit::runs::loo::{LooSettings, Point};
use austerity_fit::runs::rows::Rows;
use austerity_io::table::Source;
use numpy::PyArray1;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::error::exception;
use crate::request::{Given, each};
use crate::table::{Columns, source};

/// Rows of a run: columns in memory, a path, or neither.
pub(crate) type From<'py> = (Option<Columns<'py>>, Option<PathBuf>);

/// The JSON, the words, and a picture or columns.
type Said<T> = (String, String, T);

/// Columns by name.
type Named<'py> = Vec<(String, Bound<'py, PyArray1<f64>>)>;

fn raise(failure: Failure) -> PyErr {
    exception(&failure)
}

/// The table in memory, if that is where the rows are.
fn table(from: &From<'_>) -> PyResult<Option<Source>> {
    from.0.as_ref().map(|columns| source(columns, "data")).transpose()
}

fn rows<'a>(table: Option<&'a Source>, path: Option<&PathBuf>) -> Rows<'a> {
    table.map_or_else(|| Rows::at(path.map(PathBuf::as_path)), Rows::Table)
}

fn sampling(settings: &mut LooSettings, given: &Given<'_, '_>) -> PyResult<bool> {
    match given.name {
        "tolerance" => settings.tolerance = given.number()?,
        "rows" => settings.rows = Some(given.whole()?),
        "exact" => settings.exact = given.flag()?,
        "draws" => settings.draws = given.whole()?,
        "seed" => settings.seed = given.whole()?,
        "threads" => settings.threads = given.whole()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// Leave-one-out cross-validation of a run: the JSON, the words, and the rows that were computed.
#[pyfunction]
pub(crate) fn loo<'py>(
    py: Python<'py>,
    run: PathBuf,
    from: From<'py>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Said<Named<'py>>> {
    let mut settings = LooSettings::default();
    each(options, |given| sampling(&mut settings, given))?;
    let table = table(&from)?;
    let path = from.1;
    let made = py
        .detach(|| runs::loo::answer(&run, &rows(table.as_ref(), path.as_ref()), &settings, &Control::new()))
        .map_err(raise)?;
    let column = |name: &str, of: fn(&Point) -> f64| {
        (name.to_owned(), PyArray1::from_vec(py, made.points.iter().map(of).collect()))
    };
    let columns = vec![
        column("row", |point| point.row as f64),
        column("elpd_loo", |point| point.elpd),
        column("lpd", |point| point.lpd),
        column("pareto_k", |point| point.shape),
        column("influence", |point| point.influence),
        column("stands_for", |point| point.stands_for),
    ];
    Ok((made.json().to_string(), made.words(None), columns))
}

/// Log densities of a random sample of rows: the rows, how many each stands for, chains, and an array (row, draw).
#[pyfunction]
#[allow(clippy::type_complexity, reason = "a tuple for Python")]
pub(crate) fn log_likelihood<'py>(
    py: Python<'py>,
    run: PathBuf,
    from: From<'py>,
    options: &Bound<'py, PyDict>,
) -> PyResult<(Vec<usize>, f64, usize, Bound<'py, PyArray1<f64>>)> {
    let mut settings = LooSettings::default();
    each(options, |given| sampling(&mut settings, given))?;
    let table = table(&from)?;
    let path = from.1;
    let made = py
        .detach(|| {
            runs::loo::log_likelihood(&run, &rows(table.as_ref(), path.as_ref()), &settings, &Control::new())
        })
        .map_err(raise)?;
    Ok((made.rows, made.stands_for, made.chains, PyArray1::from_vec(py, made.values)))
}

/// Compares runs: the JSON, the words and the picture.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    runs: Vec<(String, PathBuf, From<'py>)>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Said<String>> {
    let mut settings = LooSettings::default();
    each(options, |given| sampling(&mut settings, given))?;
    let tables = runs.iter().map(|(_, _, from)| table(from)).collect::<PyResult<Vec<_>>>()?;
    let paths: Vec<Option<PathBuf>> = runs.iter().map(|(_, _, from)| from.1.clone()).collect();
    let named: Vec<(String, PathBuf)> = runs.into_iter().map(|(name, path, _)| (name, path)).collect();
    let made = py
        .detach(|| {
            let all: Vec<Rows<'_>> =
                tables.iter().zip(&paths).map(|(table, path)| rows(table.as_ref(), path.as_ref())).collect();
            runs::loo::compare::answer(&named, &all, &settings, &Control::new())
        })
        .map_err(raise)?;
    Ok((made.json().to_string(), made.words(None), made.picture().svg()))
}

/// Predictions, comparisons or slopes of a run: the JSON, the words and the picture.
#[pyfunction]
pub(crate) fn effects<'py>(
    py: Python<'py>,
    asked: (String, PathBuf),
    from: From<'py>,
    variables: Vec<(String, Vec<String>)>,
    at: Vec<(String, Vec<String>)>,
    options: &Bound<'py, PyDict>,
) -> PyResult<Said<String>> {
    let (name, run) = asked;
    let verb =
        Verb::named(&name).ok_or_else(|| PyValueError::new_err(format!("no verb is called {name:?}")))?;
    let variable = |(column, values): (String, Vec<String>)| Variable { column, values };
    let mut settings = Settings {
        variables: variables.into_iter().map(variable).collect(),
        at: at.into_iter().map(variable).collect(),
        ..Settings::default()
    };
    each(options, |given| {
        match given.name {
            "by" => settings.by = Some(given.text()?),
            "interval" => settings.interval = given.number()?,
            "tolerance" => settings.tolerance = given.number()?,
            "draws" => settings.draws = given.whole()?,
            "seed" => settings.seed = given.whole()?,
            "threads" => settings.threads = given.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let table = table(&from)?;
    let path = from.1;
    let made = py
        .detach(|| runs::effects::answer(verb, &run, &rows(table.as_ref(), path.as_ref()), &settings))
        .map_err(raise)?;
    Ok((made.json().to_string(), made.words(&[]), made.picture().svg()))
}

/// Posterior predictive checks and scores of a run: the JSON, the words and the picture. With `held_out` the rows are ones that it has not seen.
#[pyfunction]
pub(crate) fn appraise<'py>(
    py: Python<'py>,
    run: PathBuf,
    from: From<'py>,
    held_out: bool,
    options: &Bound<'py, PyDict>,
) -> PyResult<Said<String>> {
    let mut settings = AppraisalSettings { held_out, ..AppraisalSettings::default() };
    each(options, |given| {
        match given.name {
            "by" => settings.by = Some(given.text()?),
            "rows" => settings.rows = given.whole()?,
            "draws" => settings.draws = given.whole()?,
            "seed" => settings.seed = given.whole()?,
            "threads" => settings.threads = given.whole()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    let table = table(&from)?;
    let path = from.1;
    let made = py
        .detach(|| runs::appraisal::answer(&run, &rows(table.as_ref(), path.as_ref()), &settings))
        .map_err(raise)?;
    Ok((made.json().to_string(), made.words(None), made.picture().svg()))
}

/// Sensitivity of every marginal to prior and likelihood: the JSON and the words.
#[pyfunction]
pub(crate) fn reactions(
    py: Python<'_>,
    run: PathBuf,
    from: From<'_>,
    seed: u64,
) -> PyResult<(String, String)> {
    let table = table(&from)?;
    let path = from.1;
    let made = py
        .detach(|| runs::sensitivity::answer(&run, &rows(table.as_ref(), path.as_ref()), (seed, 0)))
        .map_err(raise)?;
    Ok((runs::sensitivity::json(&made).to_string(), runs::sensitivity::words(&made)))
}

/// Contrasts and hypotheses: the JSON and the words.
#[pyfunction]
pub(crate) fn contrasts(
    py: Python<'_>,
    run: PathBuf,
    expressions: Vec<String>,
) -> PyResult<(String, String)> {
    let made = py.detach(|| runs::hypothesis::answer(&run, &expressions)).map_err(raise)?;
    Ok((runs::hypothesis::json(&made).to_string(), runs::hypothesis::words(&made)))
}

/// The columns of a table that a run was fitted to, and whether its rows are those of a file.
#[pyfunction]
pub(crate) fn fitted(run: PathBuf) -> PyResult<(Vec<String>, bool)> {
    runs::fitted(&run).map_err(raise)
}
