//! What an experiment found.

use austerity_plot::Figure;
use serde::Serialize;

/// Whether a claim of the paper was seen here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As the paper says.
    Holds,
    /// Not as the paper says.
    Differs,
    /// The noise of this run is too large to tell, or the data of the paper are missing.
    Unclear,
}

/// One claim and what was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// A short name, unique in its experiment.
    pub name: String,
    /// What the paper, or the theory, says.
    pub claim: String,
    /// What was measured, in words a reader understands without the code.
    pub measured: String,
    /// What had to be measured for the claim to hold.
    pub wanted: String,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What else a reader should know, most of all where a claim does not hold.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remark: String,
}

impl Check {
    /// A claim that holds or not.
    pub fn new(
        name: impl Into<String>,
        claim: impl Into<String>,
        wanted: impl Into<String>,
        measured: impl Into<String>,
        holds: bool,
    ) -> Self {
        Self {
            name: name.into(),
            claim: claim.into(),
            measured: measured.into(),
            wanted: wanted.into(),
            verdict: if holds { Verdict::Holds } else { Verdict::Differs },
            remark: String::new(),
        }
    }

    /// The same check, with a remark.
    #[must_use]
    pub fn remark(self, remark: impl Into<String>) -> Self {
        Self { remark: remark.into(), ..self }
    }

    /// The same check, undecided where `clear` is false: the noise is too large or the paper's data are missing.
    #[must_use]
    pub fn clear_if(self, clear: bool) -> Self {
        Self { verdict: if clear { self.verdict } else { Verdict::Unclear }, ..self }
    }
}

/// A figure beside the claims it bears on.
#[derive(Clone, Debug)]
pub struct Section {
    /// Its heading.
    pub title: String,
    /// The figure and the name of its file, without the ending.
    pub figure: Option<(String, Figure)>,
    /// What the figure shows.
    pub caption: String,
    /// The claims.
    pub checks: Vec<Check>,
}

/// Numbers in columns, written as CSV.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// The name of its file, without the ending.
    pub name: String,
    /// Names of the columns.
    pub columns: Vec<String>,
    /// The rows.
    pub rows: Vec<Vec<Cell>>,
}

/// One cell of a table.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// A number.
    Number(f64),
    /// A word.
    Text(String),
}

impl From<f64> for Cell {
    fn from(value: f64) -> Self {
        Self::Number(value)
    }
}

impl From<&str> for Cell {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl Table {
    /// A table without rows.
    #[must_use]
    pub fn new(name: &str, columns: &[&str]) -> Self {
        Self {
            name: name.into(),
            columns: columns.iter().map(|&name| name.into()).collect(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, which must have a cell for each column.
    pub fn push(&mut self, row: Vec<Cell>) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row of table {}", self.name);
        self.rows.push(row);
    }
}

/// What an experiment found.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The heading of its page.
    pub title: String,
    /// What was done, on which data, in a few sentences; a stand-in for missing data is named here.
    pub about: Vec<String>,
    /// The settings.
    pub settings: serde_json::Value,
    /// Numbers that no table holds.
    pub numbers: serde_json::Value,
    /// Figures and claims.
    pub sections: Vec<Section>,
    /// Tables.
    pub tables: Vec<Table>,
}

impl Outcome {
    /// All claims, in order.
    pub fn checks(&self) -> impl Iterator<Item = &Check> {
        self.sections.iter().flat_map(|section| &section.checks)
    }
}
