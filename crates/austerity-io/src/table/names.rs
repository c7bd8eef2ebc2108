//! Asking for columns by name, and what to say when a name is not there.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Error, Result};

/// Names listed in an error before it says "and more".
const LISTED: usize = 12;

/// Positions of the `wanted` names among `names`, in the order wanted; of all names without a wish.
pub(crate) fn resolve(file: &Path, names: &[String], wanted: Option<&[String]>) -> Result<Vec<usize>> {
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (position, name) in names.iter().enumerate() {
        places.entry(name).or_default().push(position);
    }
    wanted
        .unwrap_or(names)
        .iter()
        .map(|name| match places.get(name.as_str()).map(Vec::as_slice) {
            None | Some([]) => Err(unknown(file, names, name)),
            Some([position]) => Ok(*position),
            Some([first, second, ..]) => Err(Error::DuplicateName {
                file: file.into(),
                column: name.clone(),
                first: first + 1,
                second: second + 1,
            }),
        })
        .collect()
}

/// The error for a name that is not there, with the nearest one that is.
pub(crate) fn unknown(file: &Path, names: &[String], column: &str) -> Error {
    let mut available: Vec<String> = names.iter().take(LISTED).map(|name| format!("`{name}`")).collect();
    if names.len() > LISTED {
        available.push(format!("… ({} in all)", names.len()));
    }
    Error::UnknownColumn {
        file: file.into(),
        column: column.into(),
        suggestion: nearest(names, column).map(str::to_owned),
        available: available.join(", "),
    }
}

/// The name with the fewest edits from `given`, at most a third of its letters (at least one edit, which
/// may be a capital letter).
#[must_use]
pub fn nearest<'a>(names: &'a [String], given: &str) -> Option<&'a str> {
    if given.is_empty() {
        return None;
    }
    let folded = given.to_lowercase();
    let allowed = (folded.chars().count() / 3).max(1);
    names
        .iter()
        .map(|name| (edit_distance(&name.to_lowercase(), &folded), name))
        .filter(|&(distance, _)| distance <= allowed)
        .min_by_key(|&(distance, _)| distance)
        .map(|(_, name)| name.as_str())
}

/// Insertions, deletions, substitutions and swaps of neighbours that turn `a` into `b`
/// (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut before: Vec<usize> = Vec::new();
    let mut above: Vec<usize> = (0..=b.len()).collect();
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let substituted = above[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = substituted.min(above[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row.push(best);
        }
        before = std::mem::replace(&mut above, row);
    }
    above[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn the_nearest_name_is_suggested_and_nothing_far() {
        let there = names(&["distance", "minute_of_day", "origin"]);
        assert_eq!(nearest(&there, "distnace"), Some("distance"));
        assert_eq!(nearest(&there, "Origin"), Some("origin"));
        assert_eq!(nearest(&there, "minutes_of_day"), Some("minute_of_day"));
        assert_eq!(nearest(&there, "price"), None);
        let message = resolve(Path::new("f.csv"), &there, Some(&names(&["orign"]))).unwrap_err().to_string();
        assert!(message.contains("`orign`, did you mean `origin`?"), "{message}");
    }

    #[test]
    fn distances_are_those_of_the_definition() {
        for (a, b, distance) in
            [("", "", 0), ("abc", "", 3), ("abc", "abc", 0), ("ab", "ba", 1), ("kitten", "sitting", 3)]
        {
            assert_eq!(edit_distance(a, b), distance, "{a} {b}");
            assert_eq!(edit_distance(b, a), distance, "{b} {a}");
        }
    }

    #[test]
    fn a_shared_name_matters_only_when_asked_for() {
        let there = names(&["a", "b", "a"]);
        assert_eq!(resolve(Path::new("f"), &there, Some(&names(&["b"]))).unwrap(), [1]);
        let error = resolve(Path::new("f"), &there, Some(&names(&["a"]))).unwrap_err();
        assert!(matches!(error, Error::DuplicateName { first: 1, second: 3, .. }), "{error}");
        assert!(resolve(Path::new("f"), &there, None).is_err());
    }
}
