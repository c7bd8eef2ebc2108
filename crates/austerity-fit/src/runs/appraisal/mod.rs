//! `austerity check RUN`: does the fitted model look like the data, and how well does it predict?
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the command: which rows, what is measured of which family |
//! | `look` | rows and what the draws say of them |
//! | `measures` | how predictions and responses fit together: pure functions |
//! | `words` | the answer as tables, as JSON and as a picture |
//!
//! Posterior predictive checks on a random sample of the rows: PIT values of every family, calibration of binary responses and trials, a rootogram of counts, statistics of the data against replicated data, and residual quantiles
//! (standardised residuals of shares) by column (and by a column that `--by` names). With `--test FILE` the same of rows that the run has not seen, and scores with posterior intervals. The sample is stated, and so
//! is what its size can show: n rows see a bias of 3/√n standard deviations.
//!
//! Cost: one pass over the data, then sample × draws × features. Memory: the sample. Checks on the rows of the fit are slightly too kind: they have been used twice.

mod look;
mod measures;
mod words;

use std::path::{Path, PathBuf};

use austerity::diagnostics::quantiles;
use austerity::rng::{Role, stream};
use austerity_glm::ResponseKind;
use austerity_io::coding::ResponseCoding;
use austerity_io::table::{OpenOptions, Source, open_with};
use rand::RngExt as _;

use super::effects::frame::Frame;
use super::rows::{Rows, same_count};
use super::{Folder, RunFile, after, predict};
use crate::data::all_cores;
use crate::output::{Failure, picture};
use crate::refusal::Refusal;
use crate::request::{Common, Keyword};
use look::{Looked, look};
use measures::{Bin, area, by_column, calibration, residual, uniformity};
use predict::draws::Draws;

/// Rows of the sample by default.
pub const ROWS: usize = 20_000;
/// Draws by default.
pub const DRAWS: usize = 400;
/// Chance below which a measure of the whole is called striking.
const STRIKING: f64 = 0.01;

/// What the check of a run is asked for.
#[derive(Clone, Debug)]
pub struct AppraisalOptions {
    /// The run.
    pub run: PathBuf,
    /// Its rows, where they are elsewhere now.
    pub data: Option<PathBuf>,
    /// The file for a picture.
    pub plot: Option<PathBuf>,
    /// How.
    pub settings: AppraisalSettings,
}

/// How a run is checked.
#[derive(Clone, Debug)]
pub struct AppraisalSettings {
    /// Rows that the run has not seen.
    pub test: Option<PathBuf>,
    /// Whether the rows that are handed over are ones that the run has not seen.
    pub held_out: bool,
    /// A column of the table to look at residuals by.
    pub by: Option<String>,
    /// Rows of the sample.
    pub rows: usize,
    /// Most draws.
    pub draws: usize,
    /// Of sample and replicates.
    pub seed: u64,
    /// 0 stands for all cores.
    pub threads: usize,
}

impl Default for AppraisalSettings {
    fn default() -> Self {
        Self { test: None, held_out: false, by: None, rows: ROWS, draws: DRAWS, seed: 1, threads: 0 }
    }
}

/// A score with its posterior.
#[derive(Clone, Debug)]
struct Score {
    name: &'static str,
    meaning: &'static str,
    /// Of the predictions averaged over the draws.
    estimate: f64,
    /// Standard deviation and 95 % interval over the draws.
    sd: f64,
    ends: (f64, f64),
    /// Standard error for want of rows.
    error: f64,
}

/// A statistic of the data beside that of replicated data.
#[derive(Clone, Debug)]
struct Statistic {
    name: &'static str,
    observed: f64,
    expected: f64,
    ends: (f64, f64),
    /// Two-sided chance of being as far away.
    chance: f64,
}

/// A count, how often it was observed, expected, and the 95 % interval of replicated data.
#[derive(Clone, Debug)]
struct Counted {
    value: usize,
    observed: f64,
    expected: f64,
    ends: (f64, f64),
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Appraisal {
    run: PathBuf,
    test: Option<PathBuf>,
    held_out: bool,
    rows: usize,
    available: usize,
    draws: usize,
    seed: u64,
    pit: Vec<f64>,
    uniformity: (f64, f64),
    calibration: Option<(Vec<Bin>, f64)>,
    rootogram: Vec<Counted>,
    statistics: Vec<Statistic>,
    columns: Vec<(String, Vec<Bin>)>,
    scores: Vec<Score>,
}

/// Checks and prints.
pub fn run(common: &Common, options: &AppraisalOptions) -> Result<(), Failure> {
    let made = answer(&options.run, &Rows::at(options.data.as_deref()), &options.settings)?;
    if let Some(plot) = &options.plot {
        picture(plot, &made.picture())?;
    }
    let (question, title) = match options.settings.test {
        Some(_) => ("check-held-out", "Held-out data"),
        None => ("check", "Does the model look like the data?"),
    };
    after::keep(&options.run, (question, title), made.words(None), Some(&made.picture()));
    made.tell(common, options.plot.as_deref())
}

/// Whether a path is the folder of a run.
#[must_use]
pub fn is_run(path: &Path) -> bool {
    path.join("run.toml").is_file()
}

/// Checks the run at `run`, with its rows from there.
pub fn answer(run: &Path, rows: &Rows<'_>, settings: &AppraisalSettings) -> Result<Appraisal, Failure> {
    if settings.rows < 50 {
        return Err(Refusal::range(Keyword::Rows, settings.rows, "at least 50").into());
    }
    let folder = Folder::new(run);
    let file = predict::answerable(&folder)?;
    let draws = Draws::read(&folder, &file, settings.draws, settings.seed)?;
    let threads = all_cores(settings.threads);
    let source = match &settings.test {
        Some(test) => open_with(test, &OpenOptions { threads: Some(threads), ..OpenOptions::default() })?,
        None => rows.table(&file, threads)?,
    };
    let (frame, available) = sample(&file, &source, run, settings)?;
    if available == 0 {
        return Err(Failure::Usage(format!("{} has no rows", source.path().display())));
    }
    if settings.test.is_none() && !settings.held_out {
        same_count(&file, source.path(), available)?;
    }
    let kept = frame.scored(&file)?;
    let family = file.plan.model.family;
    let seen = look(family, (&draws, &kept), family.kind() == ResponseKind::Count, settings.seed);
    if seen.response.iter().any(|y| y.is_nan()) {
        return Err(Failure::Usage(format!(
            "{} has no column `{}`, which the run explains: a check compares predictions with it",
            source.path().display(),
            file.plan.recipe.response
        )));
    }
    Ok(appraise((run, &file), (&frame, available), &seen, settings))
}

/// A random sample of the rows of a table.
fn sample(
    file: &RunFile,
    source: &Source,
    run: &Path,
    settings: &AppraisalSettings,
) -> Result<(Frame, usize), Failure> {
    let (mut names, _) = super::fitted(run)?;
    let there = &source.schema().names;
    if let Some(missing) = names.iter().find(|name| !there.contains(name)) {
        return Err(Failure::Usage(format!(
            "{} has no column `{missing}`, which the run was fitted to",
            source.path().display()
        )));
    }
    if let Some(by) = &settings.by {
        if !there.contains(by) {
            return Err(Failure::Usage(format!("the table has no column `{by}`")));
        }
        if !names.contains(by) {
            names.push(by.clone());
        }
    }
    let recipe = &file.plan.recipe;
    let mut text = recipe.text_columns();
    if matches!(recipe.coding, ResponseCoding::TwoTexts { .. }) {
        text.push(recipe.response.clone());
    }
    text.retain(|name| names.contains(name));
    let most = settings.rows.min((8 << 20) / names.len().max(1));
    let (mut piece, mut kept) = (Frame::new(names.clone()), Frame::new(names.clone()));
    let (mut seen, mut rng) = (0usize, stream(settings.seed, 3, Role::Data));
    source.scan(&names, &text, &mut |_, chunks| {
        piece.fill(chunks);
        for row in 0..piece.rows() {
            let slot = if seen < most { None } else { Some(rng.random_range(0..=seen)) };
            if slot.is_none_or(|slot| slot < most) {
                kept.take(&piece, row, slot);
            }
            seen += 1;
        }
        Ok(())
    })?;
    kept.labels.clone_from(&piece.labels);
    Ok((kept, seen))
}

fn appraise(
    (run, file): (&Path, &RunFile),
    (frame, available): (&Frame, usize),
    seen: &Looked,
    settings: &AppraisalSettings,
) -> Appraisal {
    let kind = file.plan.model.family.kind();
    let shares = matches!(kind, ResponseKind::Binary | ResponseKind::CountOfTrials);
    // Randomised quantiles of two-valued responses are mostly noise: shares have standardised residuals.
    let standardised = |row: usize| {
        let share = (seen.mean[row] / seen.trials[row]).clamp(1e-9, 1.0 - 1e-9);
        (seen.response[row] - seen.mean[row]) / (seen.trials[row] * share * (1.0 - share)).sqrt()
    };
    let residuals: Vec<f64> = if shares {
        (0..seen.mean.len()).map(standardised).collect()
    } else {
        seen.pit.iter().map(|pit| residual(*pit)).collect()
    };
    let beside = [
        Some(&file.plan.recipe.response),
        file.plan.recipe.weights.as_ref(),
        file.plan.recipe.trials.as_ref(),
    ];
    let columns = frame
        .names
        .iter()
        .enumerate()
        .filter(|(_, name)| !beside.contains(&Some(name)))
        .map(|(j, name)| (name.clone(), by_column(&frame.values[j], frame.labels[j].as_deref(), &residuals)))
        .filter(|(_, bins)| bins.len() > 1)
        .collect();
    let triples: Vec<[f64; 3]> = (0..seen.mean.len())
        .map(|row| [seen.mean[row] / seen.trials[row], seen.response[row], seen.trials[row]])
        .collect();
    Appraisal {
        run: run.into(),
        test: settings.test.clone(),
        held_out: settings.held_out || settings.test.is_some(),
        rows: seen.mean.len(),
        available,
        draws: seen.draws,
        seed: settings.seed,
        pit: seen.pit.clone(),
        uniformity: uniformity(&seen.pit),
        calibration: shares.then(|| calibration(&triples)),
        rootogram: rootogram(seen),
        statistics: if kind == ResponseKind::Time { Vec::new() } else { statistics(seen, kind) },
        columns,
        scores: scores(seen, kind),
    }
}

fn rootogram(seen: &Looked) -> Vec<Counted> {
    let count = |(value, replicated): (usize, &Vec<f64>)| {
        let observed = seen.response.iter().filter(|y| **y == value as f64).count() as f64;
        let ends = quantiles(&[replicated], &[0.025, 0.975]);
        let expected = replicated.iter().sum::<f64>() / replicated.len() as f64;
        Counted { value, observed, expected, ends: (ends[0], ends[1]) }
    };
    seen.counts.iter().enumerate().map(count).collect()
}

fn statistics(seen: &Looked, kind: ResponseKind) -> Vec<Statistic> {
    let y = &seen.response;
    let n = y.len() as f64;
    let mean = y.iter().sum::<f64>() / n;
    let sd = (y.iter().map(|y| y * y).sum::<f64>() / n - mean * mean).max(0.0).sqrt();
    let zeros = y.iter().filter(|y| **y == 0.0).count() as f64 / n;
    let largest = y.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let all = [("mean", mean), ("standard deviation", sd), ("share of zeros", zeros), ("largest", largest)];
    let wanted = |place: usize| match kind {
        ResponseKind::Binary => place == 0,
        ResponseKind::Count | ResponseKind::CountOfTrials => true,
        _ => place != 2,
    };
    all.into_iter()
        .enumerate()
        .filter(|(place, _)| wanted(*place))
        .map(|(place, (name, observed))| {
            let values: Vec<f64> = seen.statistics.iter().map(|statistics| statistics[place]).collect();
            let ends = quantiles(&[&values], &[0.025, 0.975]);
            let count = values.len() as f64;
            let above = values.iter().filter(|value| **value > observed).count() as f64;
            let same = values.iter().filter(|value| **value == observed).count() as f64;
            let share = (above + 0.5 * same + 0.5) / (count + 1.0);
            Statistic {
                name,
                observed,
                expected: values.iter().sum::<f64>() / count,
                ends: (ends[0], ends[1]),
                chance: 2.0 * share.min(1.0 - share),
            }
        })
        .collect()
}

/// Scores of the predictions averaged over the draws, with the posterior of the same score under single draws.
fn scores(seen: &Looked, kind: ResponseKind) -> Vec<Score> {
    let losses: Vec<f64> = seen.density.iter().map(|density| -density).collect();
    let by_draw: Vec<f64> = seen.densities.iter().map(|sum| -sum / seen.mean.len() as f64).collect();
    let loss = score("log_loss", "minus the mean log predictive density", moments(&losses), &by_draw);
    let others = match kind {
        ResponseKind::Time => Vec::new(),
        ResponseKind::Binary => scores_of_classes(seen),
        _ => scores_of_numbers(seen),
    };
    std::iter::once(loss).chain(others).collect()
}

/// A score: its estimate with its error, and its values under single draws.
fn score(name: &'static str, meaning: &'static str, (estimate, error): (f64, f64), by_draw: &[f64]) -> Score {
    let count = by_draw.len() as f64;
    let mean = by_draw.iter().sum::<f64>() / count;
    let squares = by_draw.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    let ends = quantiles(&[by_draw], &[0.025, 0.975]);
    let sd = (squares / (count - 1.0).max(1.0)).sqrt();
    Score { name, meaning, estimate, sd, ends: (ends[0], ends[1]), error }
}

/// Mean and standard error.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}

/// The expected responses of all rows under one draw.
fn expected(seen: &Looked, draw: usize) -> impl Iterator<Item = f64> + '_ {
    (0..seen.mean.len()).map(move |row| f64::from(seen.means[row * seen.draws + draw]))
}

/// Mean squared errors: of the averaged predictions with its standard error, and under every draw.
fn squared_errors(seen: &Looked) -> ((f64, f64), Vec<f64>) {
    let y = &seen.response;
    let squares: Vec<f64> = seen.mean.iter().zip(y).map(|(mean, y)| (mean - y).powi(2)).collect();
    let of = |draw| expected(seen, draw).zip(y).map(|(mean, y)| (mean - y).powi(2)).sum::<f64>();
    (moments(&squares), (0..seen.draws).map(|draw| of(draw) / y.len() as f64).collect())
}

/// Scores of probabilities of two classes.
fn scores_of_classes(seen: &Looked) -> Vec<Score> {
    let y = &seen.response;
    let (square, by_draw) = squared_errors(seen);
    let mut made =
        vec![score("brier", "Brier score: mean squared error of the probability", square, &by_draw)];
    let successes: Vec<bool> = y.iter().map(|y| *y == 1.0).collect();
    if let Some(auc) = area(&seen.mean, &successes) {
        let of = |draw| area(&expected(seen, draw).collect::<Vec<f64>>(), &successes);
        let each: Vec<f64> = (0..seen.draws).filter_map(of).collect();
        let ones = successes.iter().filter(|one| **one).count() as f64;
        let zeros = successes.len() as f64 - ones;
        // Hanley and McNeil 1982.
        let (first, second) = (auc / (2.0 - auc), 2.0 * auc * auc / (1.0 + auc));
        let pairs = (ones - 1.0) * (first - auc * auc) + (zeros - 1.0) * (second - auc * auc);
        let error = ((auc * (1.0 - auc) + pairs) / (ones * zeros)).max(0.0).sqrt();
        made.push(score("auc", "AUC: chance that a success is ranked above a failure", (auc, error), &each));
    }
    let is_wrong = |mean: f64, y: f64| f64::from(u8::from((mean >= 0.5) != (y == 1.0)));
    let wrong: Vec<f64> = seen.mean.iter().zip(y).map(|(mean, y)| is_wrong(*mean, *y)).collect();
    let of = |draw| expected(seen, draw).zip(y).map(|(mean, y)| is_wrong(mean, *y)).sum::<f64>();
    let each: Vec<f64> = (0..seen.draws).map(|draw| of(draw) / y.len() as f64).collect();
    made.push(score("error_rate", "share of wrong classes", moments(&wrong), &each));
    made
}

/// Scores of expected numbers.
fn scores_of_numbers(seen: &Looked) -> Vec<Score> {
    let (y, n) = (&seen.response, seen.mean.len() as f64);
    let ((square, error), by_draw) = squared_errors(seen);
    let roots: Vec<f64> = by_draw.iter().map(|square| square.sqrt()).collect();
    let root = (square.sqrt(), 0.5 * error / square.sqrt());
    let centre = y.iter().sum::<f64>() / n;
    let variance = y.iter().map(|y| (y - centre).powi(2)).sum::<f64>() / n;
    let shares: Vec<f64> = by_draw.iter().map(|square| 1.0 - square / variance).collect();
    let share = (1.0 - square / variance, error / variance);
    let is_inside = |pit: &f64| f64::from(u8::from((0.05..=0.95).contains(pit)));
    let inside = moments(&seen.pit.iter().map(is_inside).collect::<Vec<f64>>());
    vec![
        score("rmse", "root mean squared error of the mean", root, &roots),
        score("r2", "share of the variance explained by the mean", share, &shares),
        score(
            "coverage_90",
            "share of responses inside their 90 % predictive interval",
            inside,
            &[inside.0; 2],
        ),
    ]
}
