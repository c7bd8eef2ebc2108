//! `austerity predict RUN DATA --out FILE`: posterior predictive means and intervals for new rows.
//!
//! | file | what it does |
//! |---|---|
//! | `draws` | the draws of a run as panels, and one noise per draw |
//! | `groups` | what the groups of new rows add, of a multilevel fit |
//! | `product` | rows × draws: the linear predictors of some rows under every draw |
//! | `row` | one row: mean, intervals, log score, by family |
//! | `chances` | the chance that an event comes after given times, and of every level of an ordered response |
//!
//! With η_d = x·β_d + offset for draw d and the family's mean m (identity, exp, logistic × trials): `mean` is the average of m(η_d) over
//! the draws, `lower` and `upper` are quantiles of m(η_d) (type 7, equal tails), and `predictive_lower`, `predictive_upper` quantiles of y_d,
//! one new observation per draw. Nothing is drawn anew for each row: y_d is the quantile u_d of p(y | η_d, σ_d), where the u_d are the
//! midpoints (k + ½)/D in an order shuffled by `--seed`. So equal rows get equal answers, on any number of threads, and the
//! noise is spread evenly rather than by chance.
//!
//! New rows stream through in pieces of some thousand, in double precision (coefficients on the original scale of the columns cancel
//! with the intercept: f32 would not do). Cost: rows × draws × features multiply-adds, one exponential per row and draw
//! where the link has one, and selections of order statistics. Memory: the draws used and a few pieces.

mod chances;
pub(super) mod draws;
mod groups;
pub(super) mod product;
mod row;

use std::time::Instant;

use austerity::run::Control;
use austerity_glm::ResponseKind;
use austerity_io::coding::{NewRows, Piece};
use austerity_io::table::{OpenOptions, Source, open_with};
use austerity_io::write::{Field, TableWriter};
use serde_json::{Map, Value, json};

use super::{Folder, RunFile};
use crate::model::Family;
use crate::output::{Failure, json as print_json, say};
use crate::progress::Line;
use crate::refusal::Refusal;
use crate::request::{Common, Keyword, PredictOptions};
use chances::Chances;
use draws::Draws;
use groups::GroupShifts;
use row::{Predictions, Predictor};

/// Predicts, writes and scores.
pub fn run(common: &Common, options: &PredictOptions, control: &Control) -> Result<(), Failure> {
    let begun = Instant::now();
    probability(options.interval)?;
    if austerity_io::store::is_store(&options.data) {
        return Err(Failure::Usage(format!(
            "{} is a store, which holds rows in shuffled order and without the texts of levels: give the table that it was made of",
            options.data.display()
        )));
    }
    let folder = Folder::new(&options.run);
    let run = predictable(&folder)?;
    let most = groups::most_draws(&folder, &run, options.draws);
    let draws = Draws::read(&folder, &run, most, common.seed())?;
    let task = Task { common, options, folder: &folder, run: &run, draws: &draws, control };
    let mut remarks = Vec::new();
    let outcome = match task.predict(true) {
        // The response is never needed: what is wrong with it only costs the scores.
        Err(Failure::File(error)) if error.column() == Some(run.plan.recipe.response.as_str()) => {
            remarks.push(format!("not scored: {error}"));
            task.predict(false)?
        }
        outcome => outcome?,
    };
    remarks.extend(outcome.remarks);
    let seconds = begun.elapsed().as_secs_f64();
    let Outcome { rows, scores, columns, .. } = outcome;
    if common.json {
        return print_json(&json!({
            "file": options.out,
            "rows": rows,
            "draws": draws.count(),
            "interval": options.interval,
            "columns": columns,
            "scores": scores.as_ref().map(Scores::json),
            "remarks": remarks,
            "seconds": seconds,
        }));
    }
    let mut lines = vec![format!(
        "{}: {rows} rows, means and {} % intervals from {} draws in {seconds:.1} s.",
        options.out.display(),
        100.0 * options.interval,
        draws.count()
    )];
    lines.extend(scores.map(|scores| scores.words()));
    lines.extend(remarks);
    say(lines.join("\n"))
}

/// Refuses intervals of no probability.
pub(super) fn probability(interval: f64) -> Result<(), Refusal> {
    if interval > 0.0 && interval < 1.0 {
        return Ok(());
    }
    Err(Refusal::range(Keyword::Interval, interval, "a probability between 0 and 1, such as 0.95"))
}

/// A run that can predict.
pub(super) fn predictable(folder: &Folder) -> Result<RunFile, Failure> {
    let run = folder.read_run()?;
    if run.plan.model.family.is_regression() { Ok(run) } else { Err(crate::model::own()) }
}

/// A run that questions after the fit can be asked of: they know nothing of groups.
pub(super) fn answerable(folder: &Folder) -> Result<RunFile, Failure> {
    let run = predictable(folder)?;
    match &run.plan.groups {
        None => Ok(run),
        Some(groups) => Err(Failure::Usage(format!(
            "{} has effects of the groups of `{}`, which this command would leave out: `austerity predict` knows them; fit `C({})` in place of the group term to ask this of fixed effects",
            folder.path().display(),
            groups.name,
            groups.name
        ))),
    }
}

/// Predictions for rows in memory: their names and columns.
pub fn table(
    run: &std::path::Path,
    rows: &Source,
    settings: &PredictSettings,
) -> Result<Vec<(String, Vec<f64>)>, Failure> {
    let &PredictSettings { interval, most_draws, seed, threads, ref survival } = settings;
    probability(interval)?;
    let folder = Folder::new(run);
    let run = predictable(&folder)?;
    let draws = Draws::read(&folder, &run, groups::most_draws(&folder, &run, most_draws), seed)?;
    let shifts = GroupShifts::read(&folder, &run, rows)?;
    let family = run.plan.model.family;
    let asked = Chances::new(family, &run.plan.recipe, survival)?;
    let new = NewRows::new(rows, &run.plan.recipe, family.kind(), false)?;
    let predictor = Predictor::new(
        family,
        &draws,
        interval,
        family.kind() == ResponseKind::CountOfTrials && !new.has_trials(),
    )
    .with_groups(shifts.as_ref());
    let mut columns =
        vec![("mean".to_owned(), Vec::new()), ("lower".into(), Vec::new()), ("upper".into(), Vec::new())];
    if predictor.is_predictive() {
        columns.extend(["predictive_lower", "predictive_upper"].map(|name| (name.into(), Vec::new())));
    }
    columns.extend(asked.names.iter().map(|name| (name.clone(), Vec::new())));
    let mut predictions = Predictions::default();
    new.scan(&mut |piece| {
        predictor.predict(piece, threads.max(1), &mut predictions);
        let chances = asked.of(&draws, piece);
        let made = predictions.columns(predictor.is_predictive()).chain(chances.iter().map(Vec::as_slice));
        for ((_, all), made) in columns.iter_mut().zip(made) {
            all.extend_from_slice(made);
        }
        Ok(())
    })?;
    Ok(columns)
}

/// How rows in memory are predicted.
#[derive(Clone, Debug)]
pub struct PredictSettings {
    /// Probability of the intervals, equal-tailed.
    pub interval: f64,
    /// Most draws to use, evenly spread over all chains.
    pub most_draws: usize,
    /// Of the order in which draws meet noise.
    pub seed: u64,
    /// Threads; they change no bit.
    pub threads: usize,
    /// Times at which survival is predicted.
    pub survival: Vec<f64>,
}

/// What came of it.
struct Outcome {
    rows: usize,
    scores: Option<Scores>,
    columns: Vec<String>,
    remarks: Vec<String>,
}

struct Task<'a> {
    common: &'a Common,
    options: &'a PredictOptions,
    folder: &'a Folder,
    run: &'a RunFile,
    draws: &'a Draws,
    control: &'a Control,
}

impl Task<'_> {
    fn predict(&self, scored: bool) -> Result<Outcome, Failure> {
        let threads = match self.common.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        let opening = OpenOptions { threads: Some(threads), ..OpenOptions::default() };
        let source = open_with(&self.options.data, &opening)?;
        let (family, recipe) = (self.run.plan.model.family, &self.run.plan.recipe);
        let new = NewRows::new(&source, recipe, family.kind(), scored)?;
        let probability = family.kind() == ResponseKind::CountOfTrials && !new.has_trials();
        let shifts = GroupShifts::read(self.folder, self.run, &source)?;
        let predictor = Predictor::new(family, self.draws, self.options.interval, probability)
            .with_groups(shifts.as_ref());
        let asked = Chances::new(family, recipe, &self.options.survival)?;
        let mut columns: Vec<String> = ["row", "mean", "lower", "upper"].map(Into::into).into();
        if predictor.is_predictive() {
            columns.extend(["predictive_lower", "predictive_upper"].map(Into::into));
        }
        columns.extend(asked.names.iter().cloned());
        let mut fields = vec![Field::integer(&columns[0])];
        fields.extend(columns[1..].iter().map(Field::double_or_missing));
        let mut writer = TableWriter::create(&self.options.out, fields)?;
        let mut scores = new.scored().then(|| Scores::new(family));
        let mut line = Line::new("predict");
        let mut predictions = Predictions::default();
        let rows = new.scan(&mut |piece| {
            if self.control.stopped() {
                return Err(austerity_io::Error::Io {
                    action: "finish",
                    file: self.options.out.clone(),
                    source: std::io::Error::other("interrupted; nothing was written"),
                });
            }
            predictor.predict(piece, threads, &mut predictions);
            let numbers: Vec<f64> =
                (piece.first..piece.first + piece.rows).map(|row| (row + 1) as f64).collect();
            let made = predictions.columns(predictor.is_predictive());
            let chances = asked.of(self.draws, piece);
            let all = std::iter::once(numbers.as_slice()).chain(made);
            let all: Vec<&[f64]> = all.chain(chances.iter().map(Vec::as_slice)).collect();
            writer.write(&all)?;
            if let Some(scores) = &mut scores {
                scores.add(piece, &predictions);
            }
            line.note(&format!("{} rows", piece.first + piece.rows));
            Ok(())
        })?;
        writer.finish()?;
        line.clear();
        let mut remarks = source.schema().notes.clone();
        remarks.extend(shifts.as_ref().and_then(GroupShifts::remark));
        if probability && let Some(trials) = &recipe.trials {
            remarks.push(format!("there is no column `{trials}`: the mean is the probability of a success"));
        }
        Ok(Outcome { rows, scores, columns, remarks })
    }
}

/// How good the predictions were, averaged over the rows with their frequency weights.
struct Scores {
    family: Family,
    weight: f64,
    /// Σ log of the average over the draws of p(y | η_d).
    log_score: f64,
    wrong: f64,
    squares: f64,
    /// Responses inside the predictive interval.
    inside: f64,
}

impl Scores {
    fn new(family: Family) -> Self {
        Self { family, weight: 0.0, log_score: 0.0, wrong: 0.0, squares: 0.0, inside: 0.0 }
    }

    fn add(&mut self, piece: &Piece<'_>, made: &Predictions) {
        for (row, &y) in piece.response.iter().flatten().enumerate() {
            let weight = piece.weights.as_ref().map_or(1.0, |weights| weights[row]);
            self.weight += weight;
            self.log_score += weight * made.log_density[row];
            self.wrong += weight * f64::from(u8::from((made.mean[row] >= 0.5) != (y == 1.0)));
            self.squares += weight * (made.mean[row] - y).powi(2);
            let inside = made.predictive_lower[row] <= y && y <= made.predictive_upper[row];
            self.inside += weight * f64::from(u8::from(inside));
        }
    }

    /// Name, value and meaning of what holds for the family.
    fn list(&self) -> Vec<(&'static str, f64, &'static str)> {
        let mean = |sum: f64| sum / self.weight;
        let mut list = vec![("log_score", mean(self.log_score), "log score (mean log predictive density)")];
        if self.family.kind() == ResponseKind::Binary {
            list.push(("error_rate", mean(self.wrong), "error rate"));
            list.push(("brier", mean(self.squares), "Brier score"));
        } else if self.family.kind() != ResponseKind::Time {
            // A censored time says only where the response is not.
            list.push((
                "coverage",
                mean(self.inside),
                "share of the responses inside their predictive interval",
            ));
        }
        list
    }

    fn json(&self) -> Value {
        let number = |value: f64| if value.is_finite() { json!(value) } else { Value::Null };
        let all: Map<String, Value> =
            self.list().into_iter().map(|(name, value, _)| (name.into(), number(value))).collect();
        Value::Object(all)
    }

    fn words(&self) -> String {
        let all: Vec<String> =
            self.list().into_iter().map(|(_, value, meaning)| format!("{meaning} {value:.4}")).collect();
        format!("Scored against the response: {}.", all.join(", "))
    }
}
