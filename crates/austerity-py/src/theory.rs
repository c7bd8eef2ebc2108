//! How wrong is a test, which one to take, are its assumptions sound: the commands `analyze`, `design` and `check` as values.

use austerity_fit::output::Failure;
use austerity_fit::request::{AnalyzeOptions, CheckOptions, Common, DesignOptions, LawChoice};
use austerity_fit::{analyze as analysis, check as checks, design as designs};
use austerity_io::table::Source;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use serde_json::Value;

use crate::error::exception;
use crate::request::{Given, each, request};
use crate::table::{Columns, source};

fn text(answer: Result<Value, Failure>) -> PyResult<String> {
    answer.map(|value| value.to_string()).map_err(|failure| exception(&failure))
}

/// The JSON of `analyze --json`, of tests on `n` rows.
#[pyfunction]
pub(crate) fn analyze(py: Python<'_>, n: usize, options: &Bound<'_, PyDict>) -> PyResult<String> {
    let mut asked = AnalyzeOptions::new(n);
    each(options, |given| {
        match given.name {
            "batch" => asked.batch = Some(given.whole()?),
            "growth" => asked.growth = given.number()?,
            "looks" => asked.looks = given.wholes()?,
            "epsilon" => asked.epsilon = Some(given.number()?),
            "bound" => asked.bound = given.choice()?,
            "statistic" => asked.statistic = given.choice()?,
            "block_rows" => asked.block_rows = given.whole()?,
            "mu_std" => asked.mu_std = given.numbers()?,
            "mean" => asked.mean = Some(given.number()?),
            "sd" => asked.sd = Some(given.number()?),
            "offset" => asked.offset = given.number()?,
            "law" => asked.law = given.choice::<Plain>()?.0,
            "energy" => asked.energy = Some(given.number()?),
            "kappa" => asked.kappa = Some(given.number()?),
            "bound_total_variation" => asked.bound_total_variation = Some(given.number()?),
            "sites" => asked.sites = Some(given.whole()?),
            "plot" => asked.plot = Some(given.path()?),
            "compare" => asked.compare = given.numbers()?,
            _ => return Ok(false),
        }
        Ok(true)
    })?;
    text(py.detach(|| analysis::answer(&asked)))
}

/// A law with all its numbers.
struct Plain(austerity::rule::Law);

impl std::str::FromStr for Plain {
    type Err = austerity_fit::request::Unread;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse::<LawChoice>()?.given().map(Self)
    }
}

/// The JSON of `design --json`, of tests on `n` rows.
#[pyfunction]
pub(crate) fn design(
    py: Python<'_>,
    n: usize,
    tolerance: f64,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut asked = DesignOptions::new(n, tolerance);
    let mut common = Common::default();
    each(options, |given| {
        match given.name {
            "worst_case" => asked.worst_case = given.flag()?,
            "trial" => asked.trial = Some(given.path()?),
            "energy" => asked.energy = given.number()?,
            "bound" => asked.bound = given.choice()?,
            "growth" => asked.growth = given.numbers()?,
            "law" => asked.law = given.choice()?,
            "plot" => asked.plot = Some(given.path()?),
            _ => return shared(&mut common, given),
        }
        Ok(true)
    })?;
    text(py.detach(|| designs::answer(&common, &asked)))
}

fn shared(common: &mut Common, given: &Given<'_, '_>) -> PyResult<bool> {
    match given.name {
        "seed" => common.seed = Some(given.whole()?),
        "threads" => common.threads = given.whole()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The JSON of `check --json`: about columns in memory, else about the file or the store that `data` names.
#[pyfunction]
pub(crate) fn check(
    py: Python<'_>,
    columns: Option<Columns<'_>>,
    data: &Bound<'_, PyDict>,
    options: &Bound<'_, PyDict>,
) -> PyResult<String> {
    let mut asked = CheckOptions::new(request(data)?.data);
    let mut common = Common::default();
    each(options, |given| {
        match given.name {
            "batch" => asked.batch = Some(given.whole()?),
            "block_rows" => asked.block_rows = given.whole()?,
            "pairs" => asked.pairs = given.whole()?,
            "repetitions" => asked.repetitions = given.whole()?,
            _ => return shared(&mut common, given),
        }
        Ok(true)
    })?;
    let table: Option<Source> =
        columns.map(|columns| source(&columns, &asked.data.file.to_string_lossy())).transpose()?;
    text(py.detach(|| checks::answer(table.as_ref(), &common, &asked)))
}
