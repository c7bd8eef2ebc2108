//! One feature of a design as plain data, and its columns for new rows.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::feature::as_levels;
use crate::error::{Error, Place, Result};
use crate::table::Column;

/// Most levels that a feature may have: each has a coefficient.
pub const MOST_LEVELS: usize = 3000;

/// Levels named in an error.
const LISTED: usize = 8;

/// One feature of the design.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Term {
    /// (value − shift)/scale.
    Number {
        /// Name in the file and in the design.
        column: String,
        /// The mean when standardised, else 0.
        shift: f64,
        /// The standard deviation when standardised, else 1.
        scale: f64,
    },
    /// One 0/1 column per level but the reference.
    Levels {
        /// Name in the file.
        column: String,
        /// The level whose columns are all 0; `None` when every level has a column.
        reference: Option<String>,
        /// The levels with a column, in order.
        levels: Vec<String>,
    },
    /// One 0/1 column per combination of levels in a block of a formula.
    Cells {
        /// Name of the block.
        column: String,
        /// Names of the columns.
        names: Vec<String>,
        /// The level without a column, where the block has one factor.
        reference: Option<String>,
    },
}

impl Term {
    /// Name of the column in the file.
    #[must_use]
    pub fn column(&self) -> &str {
        match self {
            Self::Number { column, .. } | Self::Levels { column, .. } | Self::Cells { column, .. } => column,
        }
    }

    /// Names of its columns in the design.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        match self {
            Self::Number { column, .. } => vec![column.clone()],
            Self::Levels { column, levels, .. } => {
                levels.iter().map(|level| format!("{column}={level}")).collect()
            }
            Self::Cells { names, .. } => names.clone(),
        }
    }

    /// Its columns for new rows, coded as the old ones were.
    pub(super) fn apply(&self, file: &Path, given: &Column) -> Result<Vec<Vec<f64>>> {
        match (self, given) {
            (Self::Number { shift, scale, .. }, Column::Numbers(values)) => {
                Ok(vec![values.iter().map(|value| (value - shift) / scale).collect()])
            }
            (Self::Number { column, .. }, Column::Levels { labels, .. }) => Err(Error::Role {
                file: file.into(),
                column: column.clone(),
                problem: format!(
                    "it holds text such as `{}`, but the model was fitted to numbers",
                    labels.first().map_or("", String::as_str)
                ),
                remedy: "give the column as it was when the model was fitted".into(),
            }),
            (Self::Levels { reference, levels, .. }, given) => {
                let (codes, labels) = as_levels(given);
                let known = |label: &String| reference.as_ref() == Some(label) || levels.contains(label);
                let strange: Vec<bool> = labels.iter().map(|label| !known(label)).collect();
                if let Some(row) = codes.iter().position(|&code| strange[code as usize]) {
                    return Err(unseen(self, file, row, &labels[codes[row] as usize]));
                }
                Ok(levels.iter().map(|level| indicator(&codes, &labels, level)).collect())
            }
            (Self::Cells { names, .. }, given) => {
                let (codes, labels) = as_levels(given);
                Ok(names.iter().map(|name| indicator(&codes, &labels, name)).collect())
            }
        }
    }
}

/// The error for a level that was not there when the model was fitted; `row` from 0.
pub(super) fn unseen(term: &Term, file: &Path, row: usize, level: &str) -> Error {
    let known: Vec<&str> = match term {
        Term::Number { .. } | Term::Cells { .. } => Vec::new(),
        Term::Levels { reference, levels, .. } => {
            reference.iter().chain(levels).map(String::as_str).collect()
        }
    };
    let more = if known.len() > LISTED { ", …" } else { "" };
    Error::Value {
        place: Place::new(file, term.column(), row),
        problem: format!(
            "the level `{level}` was not there when the model was fitted (levels: {}{more})",
            known[..known.len().min(LISTED)].join(", ")
        ),
        remedy: "drop the row, or give it a known level".into(),
    }
}

/// 1 where the row has this level, else 0.
fn indicator(codes: &[u32], labels: &[String], level: &str) -> Vec<f64> {
    match labels.iter().position(|label| label == level) {
        Some(wanted) => codes.iter().map(|&code| f64::from(u8::from(code as usize == wanted))).collect(),
        None => vec![0.0; codes.len()],
    }
}
