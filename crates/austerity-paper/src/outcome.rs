//! What an experiment found.

use austerity_plot::Figure;
use serde::Serialize;

use crate::claim::{Claim, Estimate, Source, Verdict};

/// One claim and what was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// The claim's short name.
    pub name: String,
    /// What it is about where the claim is asked several times: a data set or a level.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// Whose words it is.
    pub source: Source,
    /// Section, supplement or equation.
    pub place: String,
    /// The paper's words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub quote: String,
    /// What it says, in our words.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub claim: String,
    /// The threshold, fixed before the run.
    pub wanted: String,
    /// How measured and wanted are compared.
    pub test: String,
    /// What makes it come out the other way.
    pub partner: String,
    /// What was measured, in words a reader understands without the code.
    pub measured: String,
    /// The numbers that the verdict rests on.
    pub estimates: Vec<Estimate>,
    /// Whether it holds.
    pub verdict: Verdict,
    /// What else a reader should know, most of all where a claim does not hold.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub remark: String,
}

impl Check {
    /// A claim held against what was measured.
    #[must_use]
    pub fn of(claim: &Claim, estimates: Vec<Estimate>) -> Self {
        let measured = estimates.iter().map(Estimate::words).collect::<Vec<_>>().join("; ");
        Self {
            name: claim.name.into(),
            subject: String::new(),
            source: claim.source,
            place: claim.place.into(),
            quote: claim.quote.into(),
            claim: claim.says.into(),
            wanted: claim.wanted(),
            test: claim.test(&estimates),
            partner: claim.partner.into(),
            measured: if measured.is_empty() { "nothing could be measured".into() } else { measured },
            verdict: claim.judge(&estimates),
            estimates,
            remark: String::new(),
        }
    }

    /// The same check about one of several data sets or levels.
    #[must_use]
    pub fn about(self, subject: impl Into<String>) -> Self {
        Self { subject: subject.into(), ..self }
    }

    /// The same check with more words about what was measured.
    #[must_use]
    pub fn also(mut self, words: impl AsRef<str>) -> Self {
        self.measured = format!("{}. {}", self.measured, words.as_ref());
        self
    }

    /// The same check, with a remark after those it has.
    #[must_use]
    pub fn remark(mut self, remark: impl AsRef<str>) -> Self {
        if !self.remark.is_empty() && !remark.as_ref().is_empty() {
            self.remark.push(' ');
        }
        self.remark += remark.as_ref();
        self
    }

    /// The same check, undecided whatever was measured where `missing`: the run is not one that the claim is about, and `why` says so.
    #[must_use]
    pub fn undecided_if(self, missing: bool, why: &str) -> Self {
        if missing { Self { verdict: Verdict::Undecided, ..self }.remark(why) } else { self }
    }

    /// Name and subject: what tells it from the others of its experiment.
    #[must_use]
    pub fn id(&self) -> String {
        if self.subject.is_empty() { self.name.clone() } else { format!("{} ({})", self.name, self.subject) }
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
