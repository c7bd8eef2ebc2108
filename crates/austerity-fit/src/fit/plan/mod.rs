//! What a run will do and why, as a value: made once by planning, printed by `--dry-run`, kept in `run.toml`, read by `--resume`.
//!
//! | file | what it holds |
//! |---|---|
//! | `mod` | [`Plan`] and its parts |
//! | `why` | how candidates are proposed, reasons and remarks, as enums |
//! | `words` | the plan for people |

mod why;
pub(crate) mod words;

use std::path::PathBuf;

use austerity::design::Prediction;
use austerity::rule::RuleSettings;
use austerity::run::{Hazard, Memory, Settings};
use austerity_glm::{FreeTail, Prior, Priors};
use austerity_io::coding::{Recipe, ResponseCoding};
use serde::{Deserialize, Serialize};

use super::AskedPriors;
use super::budget::BudgetPlan;
use super::crossing::CrossingRecord;
use super::gradients::GradientRecord;
use super::groups::GroupsRecord;
use super::modes::ModesRecord;
use super::part::PartRecord;
use super::sampled::SampleRecord;
use super::start::Start;
use super::storage::Storage;
use super::surrogate::SurrogateRecord;
use super::wide::WideRecord;
use crate::data::Loaded;
use crate::model::Family;
use crate::output::Failure;
use crate::parts::PartsRecord;
use crate::request::Request;
use crate::runs::about;

pub(crate) use why::{Origin, Proposing, Remark, Threshold, Why, Without};

/// What a run will do and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub(crate) data: DataRecord,
    pub(crate) model: ModelRecord,
    pub(crate) decision: DecisionRecord,
    /// The surrogate whose residuals are decided about, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) surrogate: Option<SurrogateRecord>,
    /// Why there is none, where that was found out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) without: Option<Without>,
    /// The sample of rows that paths follow, if they do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) sample: Option<SampleRecord>,
    /// The paths on all rows, where there are too many coefficients for tests on residuals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) wide: Option<WideRecord>,
    /// The steps up the gradient of mini-batches, where these were asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gradients: Option<GradientRecord>,
    /// The modes that chains cross between, where several matter.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) crossing: Option<CrossingRecord>,
    /// How a budget is spent, where that was planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) budget: Option<BudgetPlan>,
    /// How many draws are stored; unlimited in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) storage: Option<Storage>,
    /// The posterior, where it is that of `select`, `ica` or `gibbs`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) part: Option<PartRecord>,
    /// The groups, where effects vary between groups.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) groups: Option<GroupsRecord>,
    /// How candidates are proposed.
    pub(crate) proposal: Proposing,
    /// What it will take; unknown in runs of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) expected: Option<Expected>,
    /// Rule, audits, length and seed of the chains.
    pub(crate) settings: Settings,
    /// How the columns of the file become those of the design.
    pub(crate) recipe: Recipe,
}

/// What a run will take.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Expected {
    /// Rows that a decision reads on average, where that can be predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) rows: Option<f64>,
    /// Seconds of the chains without audits, at the pace of a few steps, where these were timed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seconds: Option<f64>,
    /// Bytes in memory: all, and those of the data, mapped from disk or not.
    pub(crate) resident: u64,
    pub(crate) data: u64,
    /// Bytes on disk; the most where something else than a number of draws ends the run.
    pub(crate) disk: u64,
}

impl Expected {
    /// What is known once there are chains.
    pub(crate) fn memory(memory: &Memory, plan: &Plan) -> Self {
        let traced = if plan.settings.limits.target_ess.is_some() { memory.draws } else { 0 };
        let data = if plan.data.mapped { 0 } else { memory.data };
        let resident = (memory.order + memory.scratch + traced + data) as u64;
        Self { rows: plan.rows_per_decision(), seconds: None, resident, data: memory.data as u64, disk: 0 }
    }
}

impl Plan {
    /// What was noticed about the data and the posterior, in words.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let without = self.without.as_ref().and_then(words::without);
        let noticed = self.data.remarks.iter().map(words::remark);
        noticed.chain(without.map(|why| format!("no surrogate: {why}"))).collect()
    }

    /// The numbers that a decision is about: rows, or groups where there are some.
    pub(crate) fn population(&self) -> usize {
        self.groups.as_ref().map_or(self.data.rows, |groups| groups.groups)
    }

    /// What these are called.
    pub(crate) fn unit(&self) -> &'static str {
        if self.groups.is_some() { "groups" } else { "rows" }
    }

    /// Whether every candidate is taken, without a decision.
    pub(crate) fn is_untested(&self) -> bool {
        self.gradients.as_ref().is_some_and(|record| !record.tested)
    }

    /// Rows that a decision should read on average, where that can be predicted.
    fn rows_per_decision(&self) -> Option<f64> {
        if self.is_untested() {
            return Some(0.0);
        }
        let rows = self.population() as f64;
        match (&self.settings.rule, &self.surrogate) {
            _ if self.model.family == Family::Linear
                && self.groups.is_none()
                && self.decision.prediction.is_none() =>
            {
                Some(0.0)
            }
            (RuleSettings::Exact { .. }, _) => Some(rows),
            (RuleSettings::Sequential(_), Some(surrogate)) => {
                let report = &surrogate.report;
                Some((report.rows_to_tolerance() + report.stratum() as f64).min(rows))
            }
            (RuleSettings::Sequential(_), None) => {
                self.decision.prediction.map(|prediction| prediction.data_share * rows)
            }
            _ => None,
        }
    }
}

/// Where the data are.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DataRecord {
    pub(crate) file: PathBuf,
    pub(crate) rows: usize,
    /// Fingerprint of data and prior, in hexadecimal.
    pub(crate) fingerprint: String,
    /// Checksum of every stored number, in hexadecimal.
    #[serde(default)]
    pub(crate) checksum: String,
    /// Bytes in memory or mapped.
    pub(crate) bytes: usize,
    /// Whether they are mapped from disk.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) mapped: bool,
    /// What was noticed while reading, and on the way to the plan.
    pub(crate) remarks: Vec<Remark>,
    /// What passes over data in parts did, where chains run on a sample of the rows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) parts: Option<PartsRecord>,
    /// Rows of the success class of a response with two classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) successes: Option<u64>,
    /// Standard deviation of every column of the design, on the scale of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) sds: Vec<f64>,
}

impl DataRecord {
    /// Of a table, with what was noticed while it was read.
    pub(crate) fn of(request: &Request, loaded: &Loaded) -> Self {
        let Loaded { store, recipe, remarks, checksum, .. } = loaded;
        Self {
            file: request.data.file.clone(),
            rows: store.rows(),
            parts: None,
            fingerprint: String::new(),
            checksum: checksum.clone(),
            bytes: store.bytes(),
            mapped: store.is_mapped(),
            remarks: remarks.iter().cloned().map(Remark::from).collect(),
            successes: about::successes(store),
            sds: about::sds(store, recipe),
        }
    }
}

/// The recipe of data that have no response.
pub(crate) fn no_recipe() -> Recipe {
    Recipe {
        response: String::new(),
        coding: ResponseCoding::AsGiven,
        terms: Vec::new(),
        weights: None,
        trials: None,
        offset: None,
        intercept: false,
        formula: None,
    }
}

/// The posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ModelRecord {
    pub(crate) family: Family,
    /// Whether numeric features are standardised: the priors are then those of standardised columns.
    pub(crate) standardize: bool,
    /// The number of parameters; 0 in runs of earlier versions.
    #[serde(default)]
    pub(crate) parameters: usize,
    pub(crate) priors: Vec<PriorRecord>,
    /// What is wrong with it, however long the chains run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) hazards: Vec<Hazard>,
    /// How its modes were found; nobody looked in runs of earlier versions, and where a budget left no time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) modes: Option<ModesRecord>,
    /// The largest distance of a default prior from the likelihood, in standard deviations, where it was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) conflict: Option<f64>,
    /// Where its tail is that of a prior.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) tails: Vec<TailRecord>,
}

impl ModelRecord {
    /// A model with these priors, and what was noticed at its mode.
    pub(in crate::fit) fn of(
        family: Family,
        priors: Vec<PriorRecord>,
        recipe: &Recipe,
        start: &Start,
    ) -> Self {
        Self {
            family,
            standardize: recipe.is_standardized(),
            parameters: 0,
            priors,
            hazards: start.hazards.clone(),
            modes: start.searched.clone(),
            conflict: start.conflict,
            tails: start.tails.clone(),
        }
    }
}

/// A side on which the posterior of a parameter has the tail of its prior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct TailRecord {
    pub(crate) parameter: String,
    #[serde(flatten)]
    pub(crate) tail: FreeTail,
}

/// The prior of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct PriorRecord {
    pub(crate) parameter: String,
    /// As an option would have it.
    pub(crate) prior: String,
    /// Whether it holds for the linear predictor at the column means, not for the parameter itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) at_means: bool,
    /// Whether it is a default: nobody asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) default: bool,
}

impl PriorRecord {
    pub(crate) fn list(names: &[String], asked: &AskedPriors) -> Vec<Self> {
        let AskedPriors { priors, default } = asked;
        let one = |(place, (name, prior)): (usize, (&String, &Prior))| Self {
            parameter: name.clone(),
            prior: prior.to_string(),
            at_means: place == 0 && priors.means().is_some(),
            default: default[place],
        };
        names.iter().zip(priors.iter()).enumerate().map(one).collect()
    }

    /// The priors of a run, of rows with these column means.
    pub(crate) fn read(records: &[Self], means: &[f64]) -> Result<Priors, Failure> {
        let each = records.iter().map(|record| record.prior.parse().map_err(Failure::from));
        let priors = Priors::from(each.collect::<Result<Vec<Prior>, Failure>>()?);
        Ok(if records.first().is_some_and(|first| first.at_means) { priors.at_means(means) } else { priors })
    }
}

/// Who decides and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct DecisionRecord {
    pub(crate) reason: Why,
    pub(crate) tolerance: f64,
    /// What the theory expects, where a test decides.
    pub(crate) prediction: Option<Prediction>,
}
