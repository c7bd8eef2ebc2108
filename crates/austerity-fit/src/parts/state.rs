//! What a run keeps of data in parts, as `parts.bin`: the recipe, the sums at the centre, the rows that were kept, and which parts came when.
//!
//! `--resume` builds the same posterior from it without reading the data again; `update` adds new parts to it.

use std::path::Path;

use austerity_glm::store::{Description, LinearSums};
use austerity_io::coding::Recipe;
use austerity_io::load::part::ColumnHashes;
use austerity_io::table::PartSpec;
use serde::{Deserialize, Serialize};

use super::message::{decode, encode};
use super::passes::Known;
use super::rows::Carried;
use crate::fit::plan::PriorRecord;
use crate::model::Family;
use crate::output::Failure;
use crate::report::count;

/// The file's name.
pub(crate) const STATE: &str = "parts.bin";

/// Everything that passes found.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct State {
    pub(super) recipe: Recipe,
    pub(super) description: Description,
    pub(super) remarks: Vec<String>,
    pub(super) family: Family,
    pub(super) priors: Vec<PriorRecord>,
    /// Of the keys of rows.
    pub(super) seed: u64,
    /// Rows that are sampled at most, and rows of the stratum.
    pub(super) most: usize,
    pub(super) heavy: usize,
    pub(super) parts: Vec<PartState>,
    /// Rows in all, and the number of the next.
    pub(super) rows: u64,
    pub(super) next: u64,
    pub(super) centre: Vec<f64>,
    pub(super) covariance: Vec<f64>,
    pub(super) sums: PartSums,
    pub(super) heaviest: Carried,
    pub(super) sample: Carried,
    pub(super) engine: String,
    pub(super) measured: Option<f64>,
    pub(super) passes: u32,
    pub(super) read: u64,
    pub(super) arrivals: Vec<Arrival>,
}

/// A part whose rows are in the fit.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct PartState {
    pub(super) part: PartSpec,
    pub(super) first: u64,
    pub(super) rows: usize,
    pub(super) hashes: ColumnHashes,
    pub(super) sums: PartSums,
}

/// The sums of a part, or of all, at the centre.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct PartSums {
    pub(super) gradient: Vec<f64>,
    pub(super) hessian: Vec<f64>,
    /// Of squared scores.
    pub(super) squares: f64,
    pub(super) linear: Option<LinearSums>,
}

/// Rows that came, or went.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Arrival {
    /// When.
    pub(crate) at: String,
    /// The first and the last file.
    pub(crate) files: Vec<String>,
    pub(crate) parts: usize,
    /// Rows that came.
    pub(crate) rows: u64,
    /// Rows that were forgotten.
    #[serde(default)]
    pub(crate) forgotten: u64,
    /// Rows that were read for it.
    pub(crate) read: u64,
    /// Distance of the mode from the centre, in posterior sds, before anything was centred anew.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) drift: Option<f64>,
    /// Whether the sums were made anew at another centre.
    #[serde(default)]
    pub(crate) recentred: bool,
}

/// What `run.toml` says of data in parts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PartsRecord {
    /// Parts of the data.
    pub(crate) parts: usize,
    /// Passes, and rows that they read.
    pub(crate) passes: u32,
    pub(crate) read: u64,
    /// Who ran them.
    pub(crate) engine: String,
    /// Rows that chains run on, and how many of these are there for sure.
    pub(crate) kept: usize,
    pub(crate) stratum: usize,
    /// Standard error of a log ratio that the sample leaves: a bound by the scores of all rows, and as measured.
    pub(crate) error: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) measured: Option<f64>,
    /// Of all columns of all parts, in hexadecimal.
    pub(crate) fingerprint: String,
    /// What came when.
    pub(crate) arrivals: Vec<Arrival>,
}

/// The largest standard error of a log ratio that the sample may leave.
pub(crate) const ERROR_LIMIT: f64 = 0.03;

impl PartsRecord {
    /// Whether the sample is large enough.
    pub(crate) fn passed(&self) -> bool {
        self.error <= ERROR_LIMIT
    }

    /// What was done, in a sentence or two.
    pub(crate) fn sentence(&self, rows: usize) -> String {
        let last = self.arrivals.last();
        let came = last.filter(|_| self.arrivals.len() > 1).map(|last| {
            let drift = last
                .drift
                .map_or(String::new(), |drift| format!(", the mode moved {drift:.1} posterior sds"));
            let anew = if last.recentred { "; all parts were read for a new centre" } else { "" };
            format!(
                " The last of {} updates read {} rows{drift}{anew}.",
                self.arrivals.len() - 1,
                count(last.read as f64)
            )
        });
        let measured = self.measured.map_or(String::new(), |measured| format!(", measured {measured:.1e}"));
        format!(
            "data in {} parts, read by {} in {} passes ({} rows read). Chains run on {} of the {} rows: the {} of largest influence, and a uniform sample that stands for the \
             others. What a sample leaves of a log ratio: standard error {:.1e}{measured} (limit {ERROR_LIMIT}).{}",
            self.parts,
            self.engine,
            self.passes,
            count(self.read as f64),
            count(self.kept as f64),
            count(rows as f64),
            count(self.stratum as f64),
            self.error,
            came.unwrap_or_default()
        )
    }

    /// The error in words, for the table of checks.
    pub(crate) fn words(&self) -> String {
        match self.measured {
            Some(measured) => {
                format!(
                    "standard error of a log ratio that the sample of rows leaves, by the scores of all rows; measured {measured:.1e}"
                )
            }
            None => "standard error of a log ratio that the sample of rows leaves, by the scores of all rows"
                .into(),
        }
    }

    /// Why the draws must not be trusted, if so.
    pub(crate) fn reason(&self) -> Option<String> {
        (!self.passed()).then(|| {
            format!(
                "The sample of rows leaves a standard error of {:.3} in every log ratio (limit {ERROR_LIMIT}), which longer chains do not average. Keep more rows \
                 with --sample-rows.",
                self.error
            )
        })
    }
}

impl PartSums {
    pub(super) fn combine(&mut self, other: &Self, sign: f64) {
        let add = |mine: &mut Vec<f64>, theirs: &[f64]| {
            mine.iter_mut().zip(theirs).for_each(|(mine, theirs)| *mine += sign * theirs);
        };
        add(&mut self.gradient, &other.gradient);
        add(&mut self.hessian, &other.hessian);
        self.squares += sign * other.squares;
        if let (Some(mine), Some(theirs)) = (&mut self.linear, &other.linear) {
            if sign > 0.0 { mine.add(theirs) } else { mine.take_off(theirs) }
        }
    }
}

impl State {
    /// Of all columns of all parts.
    pub(super) fn fingerprint(&self) -> String {
        let mix =
            |all: u64, part: &PartState| (all ^ part.hashes.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        format!("{:016x}", self.parts.iter().fold(self.rows, mix).rotate_left(17))
    }

    pub(super) fn known(&self) -> Vec<Known> {
        let known = |part: &PartState| Known {
            part: part.part.clone(),
            first: part.first,
            rows: part.rows,
            hashes: part.hashes.clone(),
        };
        self.parts.iter().map(known).collect()
    }

    /// Writes it.
    pub(crate) fn write(&self, path: &Path) -> Result<(), Failure> {
        Ok(austerity_io::run::write_file(path, &encode(self)?)?)
    }
}

/// Reads what a run kept.
pub(crate) fn read(path: &Path) -> Result<State, Failure> {
    let bytes = std::fs::read(path).map_err(|error| {
        Failure::Usage(format!(
            "{}: cannot be read ({error}); without it this run, whose data are in parts, cannot go on",
            path.display()
        ))
    })?;
    decode(&bytes).map_err(|failure| Failure::Usage(format!("{}: {failure}", path.display())))
}
