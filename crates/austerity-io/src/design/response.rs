//! How the response becomes what the family explains.
//!
//! | the family explains | given | becomes |
//! |---|---|---|
//! | 0 or 1 | 0, 1, booleans | itself |
//! | | −1, 1 | 0, 1 |
//! | | two other numbers | the smaller 0, the larger 1; a note says so |
//! | | two texts | the alphabetically first 0, the second 1; a note says so |
//! | counts, counts of trials, reals | numbers | itself |
//!
//! A response with one value only leaves nothing to explain: a warning where a prior can still answer (0/1 and
//! counts), else an error.

use austerity::model::ResponseKind;
use serde::{Deserialize, Serialize};

use super::Shelf;
use crate::error::{Error, Result};
use crate::table::Column;

/// What 0 and 1 stand for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseCoding {
    /// The numbers of the file.
    AsGiven,
    /// Two numbers.
    TwoNumbers {
        /// Coded as 0.
        zero: f64,
        /// Coded as 1.
        one: f64,
    },
    /// Two texts.
    TwoTexts {
        /// Coded as 0.
        zero: String,
        /// Coded as 1.
        one: String,
    },
}

/// The response, coded.
pub(super) struct Coded {
    pub(super) values: Vec<f64>,
    pub(super) coding: ResponseCoding,
    pub(super) note: Option<String>,
    pub(super) warning: Option<String>,
}

/// Codes the column `name` for a family that explains `kind`.
pub(super) fn code(
    shelf: &Shelf,
    name: &str,
    given: Column,
    trials: Option<&[f64]>,
    kind: ResponseKind,
) -> Result<Coded> {
    match (kind, given) {
        (ResponseKind::Binary, Column::Numbers(values)) => two_numbers(shelf, name, values),
        (ResponseKind::Binary, Column::Levels { codes, labels }) => two_texts(shelf, name, &codes, labels),
        (_, Column::Levels { labels, .. }) => Err(shelf.role(
            name,
            format!("the response holds text such as `{}`", labels.first().map_or("", String::as_str)),
            "this family needs numbers; two texts are coded for the logistic family",
        )),
        (_, Column::Numbers(values)) => numbers(shelf, name, values, trials, kind),
    }
}

fn numbers(
    shelf: &Shelf,
    name: &str,
    values: Vec<f64>,
    trials: Option<&[f64]>,
    kind: ResponseKind,
) -> Result<Coded> {
    let whole = |y: f64| y >= 0.0 && y.fract() == 0.0;
    match (kind, trials) {
        (ResponseKind::Count, _) => {
            let remedy = "choose a family for real numbers, or mend the value";
            shelf.check(name, &values, |_, y| whole(y), "a count must be 0, 1, 2, …", remedy)?;
        }
        (ResponseKind::CountOfTrials, Some(trials)) => {
            let problem = "a count of trials must be 0, 1, … and at most the row's trials";
            let allowed = |row: usize, y| whole(y) && y <= trials[row];
            shelf.check(name, &values, allowed, problem, "mend the response or the trials")?;
        }
        _ => {}
    }
    let mut warning = None;
    if all_equal(&values) {
        let value = values[0];
        if kind == ResponseKind::Real {
            return Err(nothing_to_explain(shelf, name, &value.to_string()));
        }
        // Different trials make equal counts informative.
        let informative =
            trials.is_some_and(|trials| !all_equal(trials) || (value > 0.0 && value < trials[0]));
        warning = (!informative).then(|| warn_all_equal(name, value));
    }
    Ok(Coded { values, coding: ResponseCoding::AsGiven, note: None, warning })
}

fn two_numbers(shelf: &Shelf, name: &str, mut values: Vec<f64>) -> Result<Coded> {
    let mut found: Vec<f64> = Vec::new();
    for (row, &value) in values.iter().enumerate() {
        if found.contains(&value) {
            continue;
        }
        if found.len() == 2 {
            return Err(Error::Value {
                place: shelf.place(name, row),
                problem: format!(
                    "{value} is a third value of the response, beside {} and {}",
                    found[0], found[1]
                ),
                remedy: "the logistic family explains two values: choose another family, or keep two classes"
                    .into(),
            });
        }
        found.push(value);
    }
    found.sort_by(f64::total_cmp);
    let as_given =
        |values, warning| Ok(Coded { values, coding: ResponseCoding::AsGiven, note: None, warning });
    match found[..] {
        [zero, one] if zero == 0.0 && one == 1.0 => as_given(values, None),
        [value] if value == 0.0 || value == 1.0 => as_given(values, Some(warn_all_equal(name, value))),
        [zero, one] => {
            values.iter_mut().for_each(|value| *value = f64::from(u8::from(*value == one)));
            let note = format!("the response `{name}` was coded: {zero} as 0, {one} as 1");
            Ok(Coded {
                values,
                coding: ResponseCoding::TwoNumbers { zero, one },
                note: Some(note),
                warning: None,
            })
        }
        [value] => Err(nothing_to_explain(shelf, name, &value.to_string())),
        _ => as_given(values, None),
    }
}

fn two_texts(shelf: &Shelf, name: &str, codes: &[u32], labels: Vec<String>) -> Result<Coded> {
    let [first, second] = match <[String; 2]>::try_from(labels) {
        Ok(two) => two,
        Err(labels) if labels.len() < 2 => {
            let value = labels.first().map_or("", String::as_str);
            return Err(nothing_to_explain(shelf, name, &format!("`{value}`")));
        }
        Err(labels) => {
            return Err(Error::Value {
                place: shelf.place(name, codes.iter().position(|&code| code == 2).unwrap_or(0)),
                problem: format!(
                    "`{}` is a third text of the response, beside `{}` and `{}`",
                    labels[2], labels[0], labels[1]
                ),
                remedy: "the logistic family explains two values: keep two classes".into(),
            });
        }
    };
    let (zero, one, code_of_one) = if first < second { (first, second, 1) } else { (second, first, 0) };
    Ok(Coded {
        values: codes.iter().map(|&code| f64::from(u8::from(code == code_of_one))).collect(),
        note: Some(format!("the response `{name}` was coded: `{zero}` as 0, `{one}` as 1")),
        coding: ResponseCoding::TwoTexts { zero, one },
        warning: None,
    })
}

fn all_equal(values: &[f64]) -> bool {
    values.first().is_some_and(|first| values.iter().all(|value| value == first))
}

fn warn_all_equal(name: &str, value: f64) -> String {
    format!("the response `{name}` is {value} in every row: the prior decides, not the data")
}

fn nothing_to_explain(shelf: &Shelf, name: &str, value: &str) -> Error {
    shelf.role(
        name,
        format!("the response is {value} in every row: there is nothing to explain"),
        "check the column and how the rows were selected",
    )
}
