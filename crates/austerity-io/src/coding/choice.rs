//! Which level of a response is the success and which level of a feature is the reference.
//!
//! | who says it | success | reference |
//! |---|---|---|
//! | the user, by name | that value | that level |
//! | the order of the labels, see [`crate::table::Source::with_order`] | the last of two | the first |
//! | nobody | the larger number, the text that sorts last | the most frequent level |
//!
//! A name matches a level that is spelled so, else one that is the same number (`1` and `1.0`). A name that matches no level is an
//! error that lists the levels.

use std::path::Path;

use super::role;
use crate::error::{Error, Result};
use crate::table::levels::truth;
use crate::table::names::unknown;

/// Levels named in an error.
const LISTED: usize = 8;

/// What was said about the levels of one column.
#[derive(Clone, Copy, Default)]
pub(crate) struct Choice<'a> {
    /// The success or the reference, as it was typed.
    pub(crate) named: Option<&'a str>,
    /// Whether the order of the labels is that of the user.
    pub(crate) ordered: bool,
}

/// The label that `named` means.
pub(crate) fn position(labels: &[String], named: &str) -> Option<usize> {
    let number = |text: &str| text.trim().parse::<f64>().ok();
    let spelled = labels.iter().position(|label| label == named);
    spelled.or_else(|| {
        let wanted = number(named)?;
        labels.iter().position(|label| number(label) == Some(wanted))
    })
}

/// The number that `named` means; `true` is 1 and `false` is 0.
pub(super) fn value(named: &str) -> Option<f64> {
    named.trim().parse().ok().or_else(|| truth(named.trim()))
}

/// The error for a level that does not occur.
pub(super) fn absent(file: &Path, column: &str, what: &str, named: &str, there: &[String]) -> Error {
    let more = if there.len() > LISTED { format!(", … ({} in all)", there.len()) } else { String::new() };
    let listed: Vec<String> = there.iter().take(LISTED).map(|level| format!("`{level}`")).collect();
    let problem = format!("{what} `{named}` does not occur; there are {}{more}", listed.join(", "));
    role(file, column, problem, "name one of these")
}

/// Columns and their references, of words such as `city=Bonn`. A column may have `=` in its name: the longest feature that fits counts.
pub(super) fn references(
    file: &Path,
    names: &[String],
    features: &[String],
    words: &[String],
) -> Result<Vec<(String, String)>> {
    let mut found: Vec<(String, String)> = Vec::new();
    for word in words {
        let splits = word.match_indices('=').map(|(at, _)| (&word[..at], &word[at + 1..]));
        let fits = splits.clone().rfind(|(column, _)| features.iter().any(|name| name == column));
        let Some((column, level)) = fits else {
            let Some((column, _)) = splits.clone().next() else {
                let problem = format!("the reference `{word}` names no column");
                return Err(role(file, word, problem, "write it as COLUMN=LEVEL"));
            };
            if !names.iter().any(|name| name == column) {
                return Err(unknown(file, names, column));
            }
            let problem = "a reference is named, but it is not a feature";
            return Err(role(file, column, problem, "name it as a feature too, or leave the reference out"));
        };
        if found.iter().any(|(known, other)| known == column && other != level) {
            return Err(role(file, column, "it is given two references", "name one"));
        }
        found.push((column.into(), level.into()));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(texts: &[&str]) -> Vec<String> {
        texts.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn labels_are_found_as_spelled_then_as_numbers() {
        let labels = strings(&["1.0", "1", "a", "2.50"]);
        assert_eq!(position(&labels, "1"), Some(1));
        assert_eq!(position(&labels, "2.5"), Some(3));
        assert_eq!(position(&labels, "a"), Some(2));
        assert_eq!(position(&labels, "b"), None);
        assert_eq!((value("True"), value("-1"), value("x")), (Some(1.0), Some(-1.0), None));
    }

    #[test]
    fn references_name_a_feature_and_its_level() {
        let names = strings(&["y", "city", "a=b"]);
        let features = &names[1..];
        let read = |word: &str| references(Path::new("f.csv"), &names, features, &strings(&[word]));
        assert_eq!(read("city=Bonn, Beuel").unwrap(), [("city".into(), "Bonn, Beuel".into())]);
        assert_eq!(read("city=a=b").unwrap(), [("city".into(), "a=b".into())]);
        assert_eq!(read("a=b=c").unwrap(), [("a=b".into(), "c".into())]);
        for (word, said) in [("Bonn", "COLUMN=LEVEL"), ("town=Bonn", "town"), ("y=1", "not a feature")] {
            let message = read(word).unwrap_err().to_string();
            assert!(message.contains(said), "{message}");
        }
        let twice = strings(&["city=Bonn", "city=Ulm"]);
        assert!(references(Path::new("f.csv"), &names, features, &twice).is_err());
    }
}
