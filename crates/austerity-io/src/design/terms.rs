//! How one feature becomes columns of the design.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result};
use crate::table::Column;

/// Most levels that a feature may have: each is a column.
pub const MOST_LEVELS: usize = 1000;

/// A column is rare when at most this share of its values differs from 0; the zeros of a rare column are kept,
/// as the storage of the library does.
const RARE_SHARE: f64 = 0.1;

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
}

/// What is wanted of a feature.
#[derive(Clone, Copy)]
pub(super) struct Wish {
    pub(super) categorical: bool,
    pub(super) standardize: bool,
    pub(super) intercept: bool,
    /// A column for every level.
    pub(super) full_levels: bool,
}

/// What came of it.
pub(super) enum Made {
    Term {
        term: Term,
        columns: Vec<Vec<f64>>,
        note: Option<String>,
    },
    /// A column without information; `value` as shown to the user.
    Constant {
        value: String,
    },
}

impl Term {
    /// Name of the column in the file.
    #[must_use]
    pub fn column(&self) -> &str {
        match self {
            Self::Number { column, .. } | Self::Levels { column, .. } => column,
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
            (Self::Levels { column, reference, levels }, given) => {
                let (codes, labels) = as_levels(given);
                let known = |label: &String| reference.as_ref() == Some(label) || levels.contains(label);
                let unseen: Vec<bool> = labels.iter().map(|label| !known(label)).collect();
                if let Some(row) = codes.iter().position(|&code| unseen[code as usize]) {
                    let all: Vec<&str> =
                        reference.iter().chain(levels).take(LISTED).map(String::as_str).collect();
                    return Err(Error::Value {
                        place: Place::new(file, column, row),
                        problem: format!(
                            "the level `{}` was not there when the model was fitted (levels: {}{})",
                            labels[codes[row] as usize],
                            all.join(", "),
                            if levels.len() + 1 > LISTED { ", …" } else { "" }
                        ),
                        remedy: "drop the row, or give it a known level".into(),
                    });
                }
                Ok(levels.iter().map(|level| indicator(&codes, &labels, level)).collect())
            }
        }
    }
}

/// Makes the columns of one feature.
pub(super) fn make(file: &Path, name: &str, given: Column, wish: Wish) -> Result<Made> {
    match given {
        Column::Numbers(values) if !wish.categorical => Ok(number(name, values, wish)),
        given => levels(file, name, &given, wish),
    }
}

fn number(name: &str, mut values: Vec<f64>, wish: Wish) -> Made {
    let constant = values.first().filter(|first| values.iter().all(|value| value == *first));
    if let Some(&value) = constant
        && (wish.intercept || value == 0.0)
    {
        return Made::Constant { value: value.to_string() };
    }
    let (mut shift, mut scale, mut note) = (0.0, 1.0, None);
    if wish.standardize && constant.is_none() {
        let (mean, sd) = mean_and_sd(&values);
        let non_zeros = values.iter().filter(|&&value| value != 0.0).count();
        let rare = non_zeros as f64 <= RARE_SHARE * values.len() as f64;
        scale = sd;
        if wish.intercept && !rare {
            shift = mean;
        } else if rare {
            note = Some(format!(
                "column `{name}` was scaled but not centred: {non_zeros} of its {} values differ from 0",
                values.len()
            ));
        }
        values.iter_mut().for_each(|value| *value = (*value - shift) / scale);
    }
    let term = Term::Number { column: name.into(), shift, scale };
    Made::Term { term, columns: vec![values], note }
}

fn levels(file: &Path, name: &str, given: &Column, wish: Wish) -> Result<Made> {
    let (codes, labels) = as_levels(given);
    if labels.len() == 1 && !wish.full_levels {
        return Ok(Made::Constant { value: format!("`{}`", labels[0]) });
    }
    if labels.len() > MOST_LEVELS {
        return Err(Error::Role {
            file: file.into(),
            column: name.into(),
            problem: format!(
                "it has {} different values, and each of at most {MOST_LEVELS} levels is a column",
                labels.len()
            ),
            remedy: "leave it out (an identifier explains nothing), or group its rare levels".into(),
        });
    }
    let mut counts = vec![0_usize; labels.len()];
    codes.iter().for_each(|&code| counts[code as usize] += 1);
    let order = sorted(&labels);
    let most = counts.iter().max().copied().unwrap_or(0);
    let reference = order.iter().copied().find(|&code| counts[code] == most && !wish.full_levels);
    let kept: Vec<String> =
        order.iter().filter(|&&code| Some(code) != reference).map(|&code| labels[code].clone()).collect();
    let note = match reference {
        Some(code) => format!(
            "column `{name}` has {} levels; the reference is the most frequent, `{}` ({most} rows)",
            labels.len(),
            labels[code]
        ),
        None => format!(
            "column `{name}` has {} levels, each with its own column because there is no intercept",
            labels.len()
        ),
    };
    let columns = kept.iter().map(|level| indicator(&codes, &labels, level)).collect();
    let reference = reference.map(|code| labels[code].clone());
    let term = Term::Levels { column: name.into(), reference, levels: kept };
    Ok(Made::Term { term, columns, note: Some(note) })
}

/// Codes and labels; of numbers, each different value is a level, written as Rust writes it.
fn as_levels(given: &Column) -> (Cow<'_, [u32]>, Cow<'_, [String]>) {
    match given {
        Column::Levels { codes, labels } => (Cow::Borrowed(codes), Cow::Borrowed(labels)),
        Column::Numbers(values) => {
            let mut labels = Vec::new();
            let mut known: HashMap<u64, u32> = HashMap::new();
            let codes = values
                .iter()
                .map(|value| {
                    // −0 is 0.
                    let value = value + 0.0;
                    *known.entry(value.to_bits()).or_insert_with(|| {
                        labels.push(value.to_string());
                        labels.len() as u32 - 1
                    })
                })
                .collect();
            (Cow::Owned(codes), Cow::Owned(labels))
        }
    }
}

/// Codes in the order of their labels: numeric when all are numbers, else alphabetical.
fn sorted(labels: &[String]) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    match numbers {
        Some(numbers) => {
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then_with(|| labels[a].cmp(&labels[b])));
        }
        None => order.sort_by(|&a, &b| labels[a].cmp(&labels[b])),
    }
    order
}

/// 1 where the row has this level, else 0.
fn indicator(codes: &[u32], labels: &[String], level: &str) -> Vec<f64> {
    match labels.iter().position(|label| label == level) {
        Some(wanted) => codes.iter().map(|&code| f64::from(u8::from(code as usize == wanted))).collect(),
        None => vec![0.0; codes.len()],
    }
}

/// Mean and standard deviation (divisor N) in two passes.
fn mean_and_sd(values: &[f64]) -> (f64, f64) {
    let rows = values.len() as f64;
    let mean = values.iter().sum::<f64>() / rows;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / rows).sqrt())
}
