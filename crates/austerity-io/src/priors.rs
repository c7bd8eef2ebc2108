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

use std::collections::BTreeMap;
use std::path::Path;

use austerity_glm::Prior;

use crate::error::{Error, Place, Result};
use crate::table::{Column, OpenOptions, open_with};

/// Reads priors by the names of their coefficients.
pub fn read(path: impl AsRef<Path>) -> Result<BTreeMap<String, Prior>> {
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
    let mut found = BTreeMap::new();
    for (row, (name, text)) in names.into_iter().zip(&priors).enumerate() {
        if found.contains_key(&name) {
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
        found.insert(name, prior);
    }
    Ok(found)
}
