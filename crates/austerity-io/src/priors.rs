//! Priors of single coefficients from a file.
//!
//! A CSV file with the header `coefficient,prior`; a prior is written as in options, one with a comma in quotes:
//!
//! ```text
//! coefficient,prior
//! distance,normal:0.5
//! "origin=JFK","student:3,1"
//! intercept,flat
//! ```

use std::path::Path;

use austerity_glm::Prior;

use crate::error::{Error, Place, Result};
use crate::table::names::unknown;
use crate::table::{Column, OpenOptions, open_with};

/// Reads priors; each comes with the place of its coefficient among `coefficients`.
pub fn read(path: impl AsRef<Path>, coefficients: &[String]) -> Result<Vec<(usize, Prior)>> {
    let path = path.as_ref();
    let columns = ["coefficient".to_owned(), "prior".to_owned()];
    let options = OpenOptions { header: Some(true), delimiter: Some(b','), threads: None };
    let table = open_with(path, &options)?.read_with(Some(&columns), &columns)?;
    let texts = |column: &Column| -> Vec<String> {
        match column {
            Column::Levels { codes, labels } => codes.iter().map(|&c| labels[c as usize].clone()).collect(),
            Column::Numbers(values) => values.iter().map(ToString::to_string).collect(),
        }
    };
    let (names, priors) = (texts(&table.columns[0]), texts(&table.columns[1]));
    let mut found: Vec<(usize, Prior)> = Vec::new();
    for (row, (name, text)) in names.iter().zip(&priors).enumerate() {
        let index = coefficients
            .iter()
            .position(|coefficient| coefficient == name)
            .ok_or_else(|| unknown_coefficient(path, coefficients, name, row))?;
        if found.iter().any(|&(known, _)| known == index) {
            return Err(Error::Value {
                place: Place::new(path, "coefficient", row),
                problem: format!("`{name}` has a prior already"),
                remedy: "give one prior per coefficient".into(),
            });
        }
        let prior: Prior = text.parse().map_err(|error: austerity::Error| Error::Value {
            place: Place::new(path, "prior", row),
            problem: error.to_string(),
            remedy: "mend the prior".into(),
        })?;
        found.push((index, prior));
    }
    Ok(found)
}

fn unknown_coefficient(path: &Path, coefficients: &[String], name: &str, row: usize) -> Error {
    let (suggestion, available) = match unknown(path, coefficients, name) {
        Error::UnknownColumn { suggestion, available, .. } => (suggestion, available),
        _ => (None, String::new()),
    };
    let near = suggestion.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
    Error::Value {
        place: Place::new(path, "coefficient", row),
        problem: format!("the model has no coefficient `{name}`{near}"),
        remedy: format!("its coefficients: {available}"),
    }
}
