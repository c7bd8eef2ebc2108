//! Refusals that every way of giving data shares: shapes, names, ranges, each with its row and value.

use std::collections::{HashMap, HashSet};

use super::ResponseKind;
use super::summary::is_whole;
use austerity::error::{Error, Result, setting};

/// Larger values are refused: their squares, summed over 2³² rows, would leave the range of f64.
pub(crate) const LARGEST_VALUE: f64 = 1e145;

/// Refuses what is not finite, and what is too large to be squared.
pub fn check_finite(name: &str, values: &[f64]) -> Result<()> {
    check_finite_from(0, name, values)
}

/// [`check_finite`] of values whose first row is `first`.
pub(super) fn check_finite_from(first: usize, name: &str, values: &[f64]) -> Result<()> {
    for (row, &value) in values.iter().enumerate() {
        if !value.is_finite() {
            return Err(Error::NotFinite { column: name.into(), row: first + row, value });
        }
        if value.abs() > LARGEST_VALUE {
            return Err(Error::OutOfRange {
                what: format!("column `{name}`"),
                row: first + row,
                value,
                allowed: format!("at most {LARGEST_VALUE:e} in absolute value; rescale the column"),
            });
        }
    }
    Ok(())
}

/// Refuses the first value for which `refusal` names the allowed range; `first` is the row of the first value.
pub(super) fn check_each(
    first: usize,
    what: &str,
    values: &[f64],
    refusal: impl Fn(usize, f64) -> Option<String>,
) -> Result<()> {
    for (at, &value) in values.iter().enumerate() {
        if let Some(allowed) = refusal(at, value) {
            return Err(Error::OutOfRange { what: what.into(), row: first + at, value, allowed });
        }
    }
    Ok(())
}

/// Refuses responses and trials that `kind` does not allow.
pub(super) fn check_response(
    first: usize,
    kind: ResponseKind,
    response: &[f64],
    trials: Option<&[f64]>,
) -> Result<()> {
    let whole = |y: f64| y >= 0.0 && is_whole(y);
    if let (ResponseKind::CountOfTrials, Some(trials)) = (kind, trials) {
        check_each(first, "trials", trials, |_, t| {
            (!(whole(t) && (1.0..=LARGEST_VALUE).contains(&t))).then(|| "1, 2, 3, …".into())
        })?;
        return check_each(first, "response", response, |at, y| {
            (!(whole(y) && y <= trials[at]))
                .then(|| format!("a whole number from 0 to its {} trials", trials[at]))
        });
    }
    if let (ResponseKind::Time, Some(events)) = (kind, trials) {
        check_each(first, "event", events, |_, event| {
            (event != 0.0 && event != 1.0).then(|| "0, of a censored time, or 1".into())
        })?;
    }
    check_each(first, "response", response, |_, y| match kind {
        ResponseKind::Binary if y != 0.0 && y != 1.0 => Some("0 or 1".into()),
        ResponseKind::Count | ResponseKind::Ordered if !whole(y) => Some("0, 1, 2, …".into()),
        ResponseKind::Positive | ResponseKind::Time if y <= 0.0 => Some("positive".into()),
        ResponseKind::Share if !(y > 0.0 && y < 1.0) => Some("between 0 and 1, neither included".into()),
        _ => None,
    })
}

/// Refuses trials where there should be none, and their absence where they are needed.
pub(super) fn check_trials(kind: ResponseKind, rows: usize, given: bool) -> Result<()> {
    match (kind, given) {
        (ResponseKind::CountOfTrials, false) => Err(Error::Dimension {
            what: "trials (needed for counts of trials)".into(),
            expected: rows,
            found: 0,
        }),
        (ResponseKind::CountOfTrials | ResponseKind::Time, true) | (_, false) => Ok(()),
        (_, true) => {
            Err(setting("trials or events", "given", "only when the response counts trials, or is a time"))
        }
    }
}

/// Refuses names that repeat each other, and the name of the intercept.
pub(crate) fn check_names<'a>(names: impl Iterator<Item = &'a str>, intercept: bool) -> Result<()> {
    let mut seen = HashSet::new();
    if intercept {
        seen.insert("intercept");
    }
    for name in names {
        if !seen.insert(name) {
            let allowed = if name == "intercept" && intercept {
                "the intercept is there already: rename the column or leave the intercept out"
            } else {
                "names that differ from each other"
            };
            return Err(setting("column name", format!("`{name}`"), allowed));
        }
    }
    Ok(())
}

/// Refuses columns whose fingerprints say that they are the same.
pub(crate) fn check_duplicates<'a>(columns: impl Iterator<Item = (&'a str, u128)>) -> Result<()> {
    let mut seen: HashMap<u128, &str> = HashMap::new();
    for (name, fingerprint) in columns {
        if let Some(first) = seen.insert(fingerprint, name) {
            return Err(Error::DuplicateColumns { first: first.into(), second: name.into() });
        }
    }
    Ok(())
}
