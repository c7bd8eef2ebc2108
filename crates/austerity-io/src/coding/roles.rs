//! Which column is what, checked before anything is read.

use std::path::Path;

use super::{CodingOptions, choice};
use crate::error::{Error, Result};
use crate::table::names::unknown;

/// Every column that is needed, in its role.
pub(crate) struct Roles {
    pub(crate) response: String,
    pub(crate) features: Vec<String>,
    /// Whether the user named the features.
    pub(crate) explicit: bool,
    pub(crate) weights: Option<String>,
    pub(crate) trials: Option<String>,
    pub(crate) offset: Option<String>,
    /// Features and the levels named as their references.
    references: Vec<(String, String)>,
}

impl Roles {
    /// Gives each column of `names` at most one role.
    pub(crate) fn assign(file: &Path, names: &[String], options: &CodingOptions) -> Result<Self> {
        let role = |column: &str, problem: String, remedy: &str| Error::Role {
            file: file.into(),
            column: column.into(),
            problem,
            remedy: remedy.into(),
        };
        let mut taken: Vec<(&str, &str)> = Vec::new();
        let single = [
            ("response", Some(&options.response)),
            ("weights", options.weights.as_ref()),
            ("trials", options.trials.as_ref()),
            ("offset", options.offset.as_ref()),
        ];
        for (what, column) in single {
            let Some(column) = column else { continue };
            if !names.contains(column) {
                return Err(unknown(file, names, column));
            }
            if let Some((other, _)) = taken.iter().find(|(_, name)| name == column) {
                return Err(role(
                    column,
                    format!("it is named as {other} and as {what}"),
                    "give it one role",
                ));
            }
            taken.push((what, column));
        }
        let features: Vec<String> = match &options.features {
            None => names.iter().filter(|name| !taken.iter().any(|(_, t)| t == name)).cloned().collect(),
            Some(features) => {
                for (at, name) in features.iter().enumerate() {
                    if !names.contains(name) {
                        return Err(unknown(file, names, name));
                    }
                    if let Some((what, _)) = taken.iter().find(|(_, t)| t == name) {
                        return Err(role(
                            name,
                            format!("it is named as {what} and as a feature"),
                            "a column cannot explain itself: leave it out of the features",
                        ));
                    }
                    if features[..at].contains(name) {
                        return Err(role(name, "it is named as a feature twice".into(), "name it once"));
                    }
                }
                features.clone()
            }
        };
        for name in &options.categorical {
            if !names.contains(name) {
                return Err(unknown(file, names, name));
            }
            if !features.contains(name) {
                return Err(role(
                    name,
                    "it is named as categorical but is not a feature".into(),
                    "name it as a feature too, or leave it out",
                ));
            }
        }
        let references = choice::references(file, names, &features, &options.references)?;
        Ok(Self {
            response: options.response.clone(),
            features,
            explicit: options.features.is_some(),
            weights: options.weights.clone(),
            trials: options.trials.clone(),
            offset: options.offset.clone(),
            references,
        })
    }

    /// The level named as the reference of a feature.
    pub(crate) fn reference(&self, feature: &str) -> Option<&str> {
        self.references.iter().find(|(column, _)| column == feature).map(|(_, level)| level.as_str())
    }

    /// Every column needed, once.
    pub(crate) fn columns(&self) -> Vec<String> {
        let single =
            [Some(&self.response), self.weights.as_ref(), self.trials.as_ref(), self.offset.as_ref()];
        single.into_iter().flatten().chain(&self.features).cloned().collect()
    }
}
