//! What a store of draws holds: which parameters, which statistics of each decision, how many chains.
//!
//! Coefficients share one array (chain, draw, feature); every other parameter is an array (chain, draw) under its own name.
//! Each statistic is a row of a table: name, type, meaning, and how it follows from a [`Decision`], so that a new one
//! is a new row. A statistic that the decision does not know (an audit) is [`Source::Extra`]: its values
//! are handed to [`append_with`](super::DrawsWriter::append_with).

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use austerity::rule::{Audit, Decision, Stopped};
use austerity::run::Settings;

use super::plan::{Plan, array_name};
use super::zarr::NumberType;
use crate::error::{Error, Result};

/// Names that mean something else in the store.
const RESERVED: [&str; 5] = ["coefficients", "feature", "chain", "draw", "zarr.json"];

/// What a store of draws holds.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The parameters, in the order in which a draw gives them.
    pub names: Vec<String>,
    /// So many of them, from the first, are coefficients; the others are scalars such as `sigma`.
    pub coefficients: usize,
    /// The parameters to keep, as positions in `names`; all when `None`. Kept in the order of `names`.
    pub keep: Option<Vec<usize>>,
    /// Number of chains.
    pub chains: u32,
    /// Number of the first chain; the others follow it.
    pub first_chain: u32,
    /// Numbers of the chains, where they do not follow each other: one per chain.
    pub chain_numbers: Option<Vec<u32>>,
    /// Draws per chain that are expected: a short run gets small chunks. More may come.
    pub draws: u64,
    /// What is kept of each decision.
    pub statistics: Vec<StatisticField>,
    /// Draws that a chain makes per stored draw.
    pub stored_every: u64,
    /// The seed of the run.
    pub seed: u64,
    /// When the run began, as text (ISO 8601).
    pub created_at: String,
    /// More to be told to readers, by name.
    pub attributes: BTreeMap<String, String>,
}

impl Layout {
    /// All parameters and the standard statistics of a run.
    #[must_use]
    pub fn new(names: Vec<String>, coefficients: usize, settings: &Settings) -> Self {
        Self {
            names,
            coefficients,
            keep: None,
            chains: settings.chains,
            first_chain: settings.first_chain,
            chain_numbers: None,
            draws: settings.draws,
            statistics: StatisticField::standard(),
            stored_every: settings.record_every,
            seed: settings.seed,
            created_at: String::new(),
            attributes: BTreeMap::new(),
        }
    }

    /// Positions of the kept parameters, ascending.
    #[must_use]
    pub fn kept(&self) -> Vec<usize> {
        match &self.keep {
            None => (0..self.names.len()).collect(),
            Some(keep) => keep.iter().copied().collect::<BTreeSet<_>>().into_iter().collect(),
        }
    }

    /// Bytes on disk after `draws` draws of every chain, for the estimate before a run.
    #[must_use]
    pub fn bytes(&self, draws: u64) -> u64 {
        Plan::new(self).bytes(draws)
    }

    /// Refuses what cannot be stored; `store` is named in the message.
    pub(super) fn check(&self, store: &Path) -> Result<()> {
        let refuse = |problem: String, remedy: &str| Err(Error::format(store, problem, remedy));
        let kept = self.kept();
        if self.chains == 0 {
            return refuse("cannot hold draws of 0 chains".into(), "run at least one chain");
        }
        if let Some(numbers) = &self.chain_numbers
            && (numbers.len() != self.chains as usize
                || numbers.iter().collect::<BTreeSet<_>>().len() != numbers.len())
        {
            let problem = format!("cannot number {} chains {numbers:?}", self.chains);
            return refuse(problem, "give each chain a number of its own");
        }
        if let Some(index) = kept.iter().find(|&&index| index >= self.names.len()) {
            let problem = format!("cannot keep parameter {} of {}", index + 1, self.names.len());
            return refuse(problem, "name parameters of the model");
        }
        if kept.is_empty() {
            return refuse("would keep no parameter".into(), "name at least one to keep");
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = kept.iter().map(|&index| &self.names[index]).find(|&name| !seen.insert(name)) {
            return refuse(format!("cannot hold two parameters called `{twice}`"), "rename one");
        }
        let scalars = kept.iter().filter(|&&index| index >= self.coefficients);
        let statistics = self.statistics.iter().map(|field| field.name.as_str());
        let arrays = scalars.map(|&index| array_name(&self.names[index]));
        for name in arrays.chain(statistics.map(str::to_owned)) {
            let name = name.as_str();
            if name.is_empty()
                || name.starts_with(['.', '_'])
                || RESERVED.contains(&name)
                || leaves_folder(name)
            {
                let problem = format!("cannot hold an array called `{name}`");
                return refuse(problem, "rename the parameter: letters, digits, `_`, `-`, `[`, `]`, no path");
            }
        }
        let mut seen = BTreeSet::new();
        match self.statistics.iter().find(|field| !seen.insert(&field.name)) {
            Some(twice) => refuse(format!("cannot hold `{}` twice", twice.name), "name each statistic once"),
            None => Ok(()),
        }
    }
}

/// Whether a name would leave its folder or confuse a file system.
fn leaves_folder(name: &str) -> bool {
    name.len() > 200 || name.contains(|c: char| c.is_control() || "/\\:*?\"<>|".contains(c))
}

/// A number kept of every decision.
#[derive(Clone, Debug)]
pub struct StatisticField {
    /// Name of the array.
    pub name: String,
    /// How its numbers are stored.
    pub number: NumberType,
    /// What it means, for the array's attributes.
    pub meaning: String,
    /// Names of the bits from the lowest, where the number is a set of flags.
    pub bits: Vec<String>,
    /// Where the number comes from.
    pub source: Source,
}

/// Where a statistic comes from.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// It follows from the decision.
    Decision(fn(&Decision) -> f64),
    /// It follows from the audit of the decision; the number where there was none.
    Audit(fn(&Audit) -> f64, f64),
    /// The caller gives it beside the decision.
    Extra,
}

/// The bits of `flags`.
pub(super) mod flags {
    /// The guard asked for more data.
    pub(in crate::run) const GUARDED: u8 = 1;
    /// Every row was read.
    pub(in crate::run) const EXHAUSTED: u8 = 2;
    /// The absolute tolerance ended the decision.
    pub(in crate::run) const TOLERANCE: u8 = 4;
    /// The candidate has no likelihood or no prior density.
    pub(in crate::run) const IMPOSSIBLE: u8 = 8;
    /// What is certain about the total ended the decision.
    pub(in crate::run) const CERTIFIED: u8 = 16;
}

impl StatisticField {
    fn new(name: &str, number: NumberType, meaning: &str, value: fn(&Decision) -> f64) -> Self {
        Self {
            name: name.into(),
            number,
            meaning: meaning.into(),
            bits: Vec::new(),
            source: Source::Decision(value),
        }
    }

    /// A statistic that the caller gives beside the decision.
    pub fn extra(name: impl Into<String>, number: NumberType, meaning: impl Into<String>) -> Self {
        Self { name: name.into(), number, meaning: meaning.into(), bits: Vec::new(), source: Source::Extra }
    }

    /// What every store keeps: `accepted`, `data_used`, `looks`, `mu_mean`, `mu_sd`, `mu_threshold`, `flags`.
    #[must_use]
    pub fn standard() -> Vec<Self> {
        use NumberType::{Bool, Float64, Int32, Int64, Uint8};
        let bits =
            ["guarded", "exhausted", "tolerance", "impossible", "certified"].map(String::from).to_vec();
        vec![
            Self::new("accepted", Bool, "whether the candidate became the state", |d| f64::from(d.accepted)),
            Self::new("data_used", Int64, "rows the decision rests on", |d| d.used as f64),
            Self::new("looks", Int32, "how often the test looked", |d| f64::from(d.looks)),
            Self::new("mu_mean", Float64, "mean log-likelihood difference of the rows used", |d| d.mean),
            Self::new("mu_sd", Float64, "standard deviation of the same", |d| d.sd),
            Self::new("mu_threshold", Float64, "the threshold that the mean was compared with", |d| {
                d.threshold
            }),
            Self {
                bits,
                ..Self::new("flags", Uint8, "how the decision ended, as bits", |d| f64::from(flagged(d)))
            },
        ]
    }

    /// What is kept of audits beside: `audit_accepted` (−1 where a decision was not audited), `audit_mean`, `audit_sd`,
    /// `audit_deviation` (NaN there).
    #[must_use]
    pub fn audits() -> Vec<Self> {
        use NumberType::{Float64, Int8};
        let of = |name: &str, number, meaning: &str, value, missing| Self {
            source: Source::Audit(value, missing),
            ..Self::extra(name, number, meaning)
        };
        let number = |name, meaning, value| of(name, Float64, meaning, value, f64::NAN);
        vec![
            of(
                "audit_accepted",
                Int8,
                "what all rows decide; -1: not audited",
                |audit| f64::from(u8::from(audit.accepted)),
                -1.0,
            ),
            number("audit_mean", "mean log-likelihood difference of all rows", |audit| audit.mean),
            number("audit_sd", "standard deviation of the same (divisor N)", |audit| audit.sd),
            number(
                "audit_deviation",
                "(mean of the rows used - mean of all rows)/claimed standard error",
                |audit| audit.deviation,
            ),
        ]
    }
}

fn flagged(decision: &Decision) -> u8 {
    let guarded = if decision.guarded > 0 { flags::GUARDED } else { 0 };
    guarded
        | match decision.stopped {
            Stopped::Bound | Stopped::Untested | Stopped::Unmoved => 0,
            Stopped::Exhausted => flags::EXHAUSTED,
            Stopped::Tolerance => flags::TOLERANCE,
            Stopped::Certified => flags::CERTIFIED,
            Stopped::Impossible | Stopped::Offset => flags::IMPOSSIBLE,
        }
}
