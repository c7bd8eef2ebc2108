//! What the commands `select`, `ica` and `gibbs` are asked for, beside data, length and shape.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A posterior that is no regression's on all its features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PartOptions {
    /// Which features matter: births and deaths of features of a logistic regression.
    Select(SelectOptions),
    /// Independent components of the columns.
    Ica(IcaOptions),
    /// The variables of a factor graph, one at a time.
    Gibbs,
}

/// Which features matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SelectOptions {
    /// λ of the prior: what each further feature multiplies the prior by, about; 1 where none is given.
    pub rate: Option<f64>,
    /// Whether columns stay on their own scale.
    pub raw: bool,
}

/// Independent components.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct IcaOptions {
    /// A table with the true mixing matrix, where it is known: the Amari distance to it is recorded.
    pub mixing: Option<PathBuf>,
    /// Where the sources go.
    pub sources: Option<PathBuf>,
}
