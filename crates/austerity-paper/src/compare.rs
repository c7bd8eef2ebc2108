//! Two runs side by side: whether a new run bears out a published one.
//!
//! Claims are matched by name and subject. A claim that held and now differs, or the other way round, is a contradiction; one that either
//! run leaves undecided is none. Each verdict is wrong with probability 1 % at most, so a contradiction of a claim that is not about the speed
//! of a machine is a finding. Numbers are listed where both runs have the same size: those that are more than four joint standard
//! errors apart.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::error::{Error, Result};

/// What became of the claims of a published run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Comparison {
    /// Claims with the same verdict.
    pub same: usize,
    /// Claims that one of the runs leaves undecided.
    pub undecided: usize,
    /// Claims that hold in one run and differ in the other, in words.
    pub contradictions: Vec<String>,
    /// Claims of the published run that the new one does not have, and the other way round.
    pub missing: Vec<String>,
    /// Numbers that are more than four joint standard errors apart, in words.
    pub apart: Vec<String>,
}

/// Compares the results in two folders, experiment by experiment, as far as the new one has them.
pub fn compare(published: &Path, new: &Path) -> Result<Comparison> {
    let mut found = Comparison::default();
    let mut both = 0;
    for experiment in crate::EXPERIMENTS {
        let read = |folder: &Path| -> Result<Option<Value>> {
            let path = folder.join(experiment.name).join("result.json");
            match fs::read(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(Error::file(&path)(error)),
                Ok(bytes) => serde_json::from_slice(&bytes)
                    .map(Some)
                    .map_err(|error| Error::File { path, source: error.into() }),
            }
        };
        if let (Some(old), Some(new)) = (read(published)?, read(new)?) {
            results(&mut found, experiment.name, &old, &new);
            both += 1;
        }
    }
    if both == 0 {
        let source = std::io::Error::new(
            std::io::ErrorKind::NotFound,
            "no experiment has a result.json here and in the new run",
        );
        return Err(Error::File { path: published.into(), source });
    }
    Ok(found)
}

fn results(found: &mut Comparison, experiment: &str, old: &Value, new: &Value) {
    let checks = |result: &Value| result["checks"].as_array().cloned().unwrap_or_default();
    let id = |check: &Value| {
        let text = |key: &str| check[key].as_str().unwrap_or_default().to_owned();
        (text("name"), text("subject"))
    };
    let (before, after) = (checks(old), checks(new));
    let words = |check: &Value| format!("{experiment}: {}", [id(check).0, id(check).1].join(" ").trim_end());
    for check in &after {
        if !before.iter().any(|other| id(other) == id(check)) {
            found.missing.push(format!("{} is new", words(check)));
        }
    }
    for check in &before {
        let Some(other) = after.iter().find(|other| id(other) == id(check)) else {
            found.missing.push(format!("{} is not there any more", words(check)));
            continue;
        };
        match (check["verdict"].as_str(), other["verdict"].as_str()) {
            (Some("undecided"), _) | (_, Some("undecided")) => found.undecided += 1,
            (one, two) if one == two => found.same += 1,
            (one, two) => found.contradictions.push(format!(
                "{}: {} then, {} now ({}; {})",
                words(check),
                one.unwrap_or("?"),
                two.unwrap_or("?"),
                check["measured"].as_str().unwrap_or_default(),
                other["measured"].as_str().unwrap_or_default()
            )),
        }
        if old["size"] == new["size"] && old["share"] == new["share"] {
            found.apart.extend(numbers(check, other).map(|text| format!("{}: {text}", words(check))));
        }
    }
}

/// Estimates of a claim that are far apart.
fn numbers(old: &Value, new: &Value) -> impl Iterator<Item = String> {
    let list = |check: &Value| check["estimates"].as_array().cloned().unwrap_or_default();
    let pairs = list(old).into_iter().zip(list(new));
    pairs.filter_map(|(old, new)| {
        let number = |estimate: &Value, key: &str| estimate[key].as_f64();
        let ratio = old["ratio"].as_bool()? && number(&old, "value")? > 0.0 && number(&new, "value")? > 0.0;
        let value = |estimate: &Value| {
            Some(if ratio { number(estimate, "value")?.ln() } else { number(estimate, "value")? })
        };
        let error = number(&old, "error")?.hypot(number(&new, "error")?);
        let off = (value(&old)? - value(&new)?).abs();
        (error > 0.0 && off > 4.0 * error && old["label"] == new["label"]).then(|| {
            format!(
                "{} {} then, {} now ({:.1} standard errors)",
                old["label"].as_str().unwrap_or_default(),
                old["value"],
                new["value"],
                off / error
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn result(verdict: &str, value: f64) -> Value {
        let estimate = json!({ "label": "", "value": value, "error": 0.1, "ratio": false });
        json!({ "size": "quick", "checks": [
            { "name": "a", "subject": "x", "verdict": verdict, "measured": "m", "estimates": [estimate] },
        ] })
    }

    #[test]
    fn nothing_to_compare_is_an_error() {
        let folder = std::env::temp_dir().join(format!("austerity-compare-{}", std::process::id()));
        let home = folder.join("new").join("theory");
        fs::create_dir_all(&home).unwrap();
        fs::write(home.join("result.json"), result("holds", 1.0).to_string()).unwrap();
        let error = compare(&folder.join("old"), &folder.join("new")).unwrap_err().to_string();
        assert!(error.contains("no experiment has a result.json"), "{error}");
        assert_eq!(compare(&folder.join("new"), &folder.join("new")).unwrap().same, 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn contradictions_and_far_numbers_are_told_and_noise_is_not() {
        let run = |old: &Value, new: &Value| {
            let mut found = Comparison::default();
            results(&mut found, "demo", old, new);
            found
        };
        let same = run(&result("holds", 1.0), &result("holds", 1.1));
        assert_eq!((same.same, same.apart.len(), same.contradictions.len()), (1, 0, 0));
        let open = run(&result("holds", 1.0), &result("undecided", 1.0));
        assert_eq!((open.same, open.undecided), (0, 1));
        let other = run(&result("holds", 1.0), &result("differs", 2.0));
        assert!(other.contradictions[0].contains("demo: a x: holds then, differs now"), "{other:?}");
        assert_eq!(other.apart.len(), 1);
        let gone = run(&result("holds", 1.0), &json!({ "size": "quick", "checks": [] }));
        assert_eq!(gone.missing.len(), 1);
    }
}
