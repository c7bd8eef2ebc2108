//! `austerity priors DATA`: the prior of every parameter before anything is fitted, and draws from it.
//!
//! The table is what `fit` would use with the same options. `--draws N --out FILE` writes N draws of the parameters from their priors, each with one response
//! that it predicts: a new observation of a row whose columns are at their means, without offset, of one trial. Quantiles of that column are a prior predictive
//! check: a prior that expects responses nobody has seen is too wide or in the wrong place. (Gabry, Simpson, Vehtari, Betancourt & Gelman 2019, §3.)
//!
//! Cost: reading the data once, then N draws.

use std::path::Path;

use austerity::rng::{Rng, Role, stream};
use austerity_glm::Priors;
use austerity_glm::glm::Visitor;
use austerity_io::write::{Field, TableWriter};
use rand_distr::{Distribution as _, StandardNormal};
use serde_json::json;

use super::Asked;
use super::begin::prior_records;
use super::plan::PriorRecord;
use crate::model::Family;
use crate::output::{Failure, json as print_json, say};
use crate::refusal::Refusal;
use crate::request::{Common, Keyword, Request};
use crate::runs::about;
use crate::table::table;

/// Draws of cut points until they rise.
const MOST_TRIES: usize = 1_000_000;
/// Draws of one write.
const PIECE: usize = 4096;

/// What the priors of a fit are about.
pub(super) struct PriorTable {
    pub(super) family: Family,
    pub(super) records: Vec<PriorRecord>,
    pub(super) priors: Priors,
    /// Means of the columns, on the user's scale.
    pub(super) means: Vec<f64>,
    pub(super) intercept: bool,
}

/// Prints the priors that a fit would have; writes draws from them where a file is named.
pub fn run(common: &Common, request: &Request, draws: Option<(usize, &Path)>) -> Result<(), Failure> {
    super::begin::check(request)?;
    let found = prior_records(&Asked::new(request))?;
    if let Some((count, file)) = draws {
        found.write(common.seed(), count, file)?;
    }
    if common.json {
        let rows: Vec<_> = found.records.iter().map(|record| json!(record)).collect();
        let file = draws.map(|(count, file)| json!({"file": file, "draws": count}));
        return print_json(&json!({"family": found.family.words(), "priors": rows, "drawn": file}));
    }
    let mut lines = table(&["parameter", "prior", ""]);
    for record in &found.records {
        let whence = if record.default { "default" } else { "asked for" };
        let at = if record.at_means { ", at the column means" } else { "" };
        lines.add_row([record.parameter.clone(), about::rounded(&record.prior), format!("{whence}{at}")]);
    }
    let drawn =
        draws.map(|(count, file)| format!("\n{count} draws from the priors are in {}.", file.display()));
    say(format!("{}\n{lines}{}", found.family.words(), drawn.unwrap_or_default()))
}

/// A new response of a family; NaN where it is beyond the range of the sampler.
struct Respond<'a> {
    eta: f64,
    extra: &'a [f64],
    rng: &'a mut Rng,
}

impl Visitor for Respond<'_> {
    type Output = f64;

    fn visit<F: austerity_glm::glm::Family>(self, family: F) -> f64 {
        family.sample(self.rng, self.eta, self.extra, 1.0)
    }
}

impl PriorTable {
    /// The parameters as draws of a fit have them, and a response.
    fn draw(&self, rng: &mut Rng) -> Result<Vec<f64>, Failure> {
        let mut state = Vec::with_capacity(self.records.len() + 1);
        for (prior, record) in self.priors.iter().zip(&self.records) {
            let flat = || {
                Refusal::range(
                    Keyword::Prior,
                    &record.prior,
                    format!("a prior of {} to draw from", record.parameter),
                )
            };
            state.push(prior.draw(rng).ok_or_else(flat)?);
        }
        let extras = self.family.extra().len();
        let coefficients = state.len() - extras;
        if self.family.has_rising() {
            self.raise(&mut state[coefficients..], rng)?;
        }
        let columns = &state[usize::from(self.intercept)..coefficients];
        let slopes: f64 = columns.iter().zip(&self.means).map(|(slope, mean)| slope * mean).sum();
        let mut eta = slopes;
        if self.intercept {
            // The prior is one of the linear predictor at the column means, or of the intercept itself.
            if self.priors.means().is_some() {
                state[0] -= slopes;
            }
            eta += state[0];
        }
        let response = match self.family {
            Family::Glm(family) => family.visit(Respond { eta, extra: &state[coefficients..], rng }),
            Family::Linear | Family::Own | Family::Components | Family::Field => {
                let noise: f64 = StandardNormal.sample(rng);
                eta + state[coefficients].exp() * noise
            }
        };
        state[coefficients..].iter_mut().for_each(|value| *value = value.exp());
        state.push(response);
        Ok(state)
    }

    /// Makes cut points rise: the priors are those of cut points that do.
    fn raise(&self, cuts: &mut [f64], rng: &mut Rng) -> Result<(), Failure> {
        let priors = &self.priors[self.priors.len() - cuts.len()..];
        if priors.windows(2).all(|pair| pair[0] == pair[1]) {
            // Of independent draws from one prior every order is as likely.
            cuts.sort_by(f64::total_cmp);
            return Ok(());
        }
        for _ in 0..MOST_TRIES {
            if cuts.is_sorted_by(|a, b| a < b) {
                return Ok(());
            }
            for (cut, prior) in cuts.iter_mut().zip(priors) {
                *cut = prior.draw(rng).unwrap_or(f64::NAN);
            }
        }
        let given: Vec<String> = priors.iter().map(ToString::to_string).collect();
        let allowed = "priors of cut points under which they rise more often than once in a million draws";
        Err(Refusal::range(Keyword::Prior, given.join(", "), allowed).into())
    }

    /// Writes draws as a table.
    fn write(&self, seed: u64, count: usize, file: &Path) -> Result<(), Failure> {
        if count == 0 {
            return Err(Refusal::range(Keyword::Draws, 0, "at least 1").into());
        }
        let mut rng = stream(seed, 0, Role::Start);
        let mut fields: Vec<Field> =
            self.records.iter().map(|record| Field::double_or_missing(&record.parameter)).collect();
        fields.push(Field::double_or_missing("(response)"));
        let first = self.draw(&mut rng.clone())?;
        let mut writer = TableWriter::create(file, fields)?;
        for begun in (0..count).step_by(PIECE) {
            let mut columns = vec![Vec::new(); first.len()];
            for _ in begun..count.min(begun + PIECE) {
                for (column, value) in columns.iter_mut().zip(self.draw(&mut rng)?) {
                    // Heavy tails may leave the range of the numbers.
                    column.push(if value.is_finite() { value } else { f64::NAN });
                }
            }
            let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
            writer.write(&columns)?;
        }
        writer.finish()?;
        Ok(())
    }
}
