//! Data with known coefficients: the command `generate` as arrays.

use austerity_fit::output::Failure;
use austerity_fit::refusal::Refusal;
use austerity_fit::request::{FamilyChoice, Keyword, Unread};
use numpy::{PyArray1, PyArrayMethods};
use pyo3::prelude::*;

use crate::error::exception;

/// Names of the features, those as an array (feature, row), the response, the coefficients.
type Made<'py> = (Vec<String>, Bound<'py, PyAny>, Bound<'py, PyAny>, Vec<f64>);

/// Makes the data of a family: as many dense features as said, then rare ones.
#[pyfunction]
pub(crate) fn generate<'py>(
    py: Python<'py>,
    family: &str,
    size: (usize, usize, usize),
    correlated: bool,
    seed: u64,
) -> PyResult<Made<'py>> {
    let (rows, features, rare) = size;
    let made = py.detach(|| {
        let family = family.parse::<FamilyChoice>().map_err(unknown)?;
        let made = family.generate(rows, features).rare(rare).correlated(correlated).seed(seed).build();
        made.map_err(Failure::from)
    });
    let made = made.map_err(|failure| exception(&failure))?;
    let data = &made.data;
    let columns = PyArray1::from_vec(py, data.columns().concat()).reshape([data.columns().len(), rows])?;
    let response = PyArray1::from_slice(py, data.response());
    Ok((data.column_names().to_vec(), columns.into_any(), response.into_any(), made.coefficients))
}

fn unknown(family: Unread) -> Failure {
    Refusal::Value { keyword: Keyword::Family, value: family.text, why: family.allowed }.into()
}
