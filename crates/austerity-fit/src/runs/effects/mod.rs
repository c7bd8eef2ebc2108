//! `austerity predictions|comparisons|slopes RUN`: what a run says on the scale of the response.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the command |
//! | `ask` | which columns change from what to what, and at which rows |
//! | `frame` | rows as the table has them, with a column changed |
//! | `average` | averages over all rows from a few of them, by group |
//! | `words` | the answer as a table, as JSON, as a file and as a picture |
//!
//! The verbs are those of Arel-Bundock, Greifer and Heiss (2024, "How to interpret statistical models using marginaleffects for R and Python"): a prediction is the expected response, a comparison how it changes when a column of the
//! table changes, a slope its derivative. Each is averaged over the rows of the data (or of a group), or computed at the points of a grid on which the other columns are at their mean or most
//! frequent value. Intervals are those of the posterior of the average. Of binomial responses the expectation is that of one trial.
//!
//! An average over the rows is that of *these* rows: its interval says how well the model knows it, not how much another data set would differ.

mod ask;
mod average;
pub(super) mod frame;
mod words;

use std::path::{Path, PathBuf};

use super::rows::Rows;
use super::{Folder, after, predict};
use crate::data::all_cores;
use crate::output::{Failure, picture};
use crate::refusal::Refusal;
use crate::request::{Common, Keyword};
use ask::{Grid, Unit};
use average::{Posterior, averages, sides};
use frame::{Change, Frame, Inputs};
use predict::draws::Draws;

pub use ask::{Given, Verb};

/// Share of the posterior's standard deviation that the sample may add by default.
pub const TOLERANCE: f64 = 0.05;
/// Draws by default.
pub const DRAWS: usize = 1_000;

/// What an effect command is asked for.
#[derive(Clone, Debug)]
pub struct EffectOptions {
    /// What is computed.
    pub verb: Verb,
    /// The run.
    pub run: PathBuf,
    /// Its rows, where they are elsewhere now.
    pub data: Option<PathBuf>,
    /// The file for the numbers.
    pub out: Option<PathBuf>,
    /// The file for a picture.
    pub plot: Option<PathBuf>,
    /// How.
    pub settings: Settings,
}

/// How effects are computed.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The columns that change; every one that explains where none are given.
    pub variables: Vec<Given>,
    /// A column of the table: one answer for each of its values.
    pub by: Option<String>,
    /// Columns and values of a grid, in place of the rows.
    pub at: Vec<Given>,
    /// Probability of the intervals.
    pub interval: f64,
    /// Sampling error to reach, as a share of the posterior's standard deviation.
    pub tolerance: f64,
    /// Most draws.
    pub draws: usize,
    /// Of the sample.
    pub seed: u64,
    /// 0 stands for all cores.
    pub threads: usize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            variables: Vec::new(),
            by: None,
            at: Vec::new(),
            interval: 0.95,
            tolerance: TOLERANCE,
            draws: DRAWS,
            seed: 1,
            threads: 0,
        }
    }
}

/// One number of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Estimate {
    /// The column that changes.
    pub term: String,
    /// From what to what.
    pub contrast: String,
    /// The value of the grouping column.
    pub group: String,
    /// Columns and values of a point of the grid.
    pub at: Vec<(String, String)>,
    /// Posterior mean.
    pub estimate: f64,
    /// Posterior standard deviation.
    pub sd: f64,
    /// Lower end of the interval.
    pub lower: f64,
    /// Upper end.
    pub upper: f64,
    /// Posterior probability of being above 0.
    pub above: f64,
    /// Rows that it is averaged over.
    pub rows: usize,
    /// Rows that were computed under every draw.
    pub read: usize,
    /// Standard error for want of rows.
    pub sampling: f64,
}

/// All numbers that were asked for.
#[derive(Clone, Debug)]
pub struct Effects {
    /// What was computed.
    pub verb: Verb,
    /// The numbers.
    pub estimates: Vec<Estimate>,
    /// Response, in words.
    pub response: String,
    /// The grouping column.
    pub by: Option<String>,
    /// Probability of the intervals.
    pub interval: f64,
    /// Draws used.
    pub draws: usize,
}

/// Computes and prints.
pub fn run(common: &Common, options: &EffectOptions) -> Result<(), Failure> {
    let made = answer(options.verb, &options.run, &Rows::at(options.data.as_deref()), &options.settings)?;
    if let Some(out) = &options.out {
        made.write(out)?;
    }
    if let Some(plot) = &options.plot {
        picture(plot, &made.picture())?;
    }
    let title = format!("Average {}", made.verb.name());
    after::keep(&options.run, (made.verb.name(), &title), made.words(&[]), Some(&made.picture()));
    made.tell(common, &[options.out.as_deref(), options.plot.as_deref()])
}

/// Computes the numbers of a verb for the run at `run`, with its rows from there.
pub fn answer(verb: Verb, run: &Path, rows: &Rows<'_>, settings: &Settings) -> Result<Effects, Failure> {
    predict::probability(settings.interval)?;
    if !(settings.tolerance > 0.0 && settings.tolerance.is_finite()) {
        return Err(
            Refusal::range(Keyword::Tolerance, settings.tolerance, "a positive share, such as 0.05").into()
        );
    }
    if settings.by.is_some() && !settings.at.is_empty() {
        return Err(Failure::Usage(
            "a grid has no groups: give either --by or --at (from Python: by= or at=)".into(),
        ));
    }
    let folder = Folder::new(run);
    let file = predict::answerable(&folder)?;
    let draws = Draws::read(&folder, &file, settings.draws, settings.seed)?;
    let states = draws.states();
    let count = states.len() as f64;
    let mut mean = vec![0.0; states.first().map_or(0, Vec::len)];
    states
        .iter()
        .for_each(|state| mean.iter_mut().zip(state).for_each(|(mean, value)| *mean += value / count));
    let posterior = Posterior { family: file.plan.model.family, draws: &draws, mean };
    let inputs = Inputs::new(&file, rows.table(&file, all_cores(settings.threads))?)?;
    if let Some(by) = &settings.by {
        inputs.check(by, false)?;
    }
    let units = ask::units(&inputs, verb, &settings.variables)?;
    let estimates = if settings.at.is_empty() {
        averages(&inputs, &posterior, &units, settings)?
    } else {
        let grid = ask::grid(&inputs, &settings.at)?;
        at_points(&inputs, &posterior, (&units, &grid), settings)?
    };
    Ok(Effects {
        verb,
        estimates,
        response: file.plan.recipe.response.clone(),
        by: settings.by.clone(),
        interval: settings.interval,
        draws: draws.count(),
    })
}

/// The numbers at every point of a grid, under every draw.
fn at_points(
    inputs: &Inputs<'_>,
    posterior: &Posterior<'_>,
    (units, grid): (&[Unit], &Grid),
    settings: &Settings,
) -> Result<Vec<Estimate>, Failure> {
    let frame = points(grid);
    let mut made = Vec::new();
    for unit in units {
        let [low, high] = sides(unit, &frame);
        let upper = frame.kept(inputs.run, high)?;
        let lower = low.map(|low| frame.kept(inputs.run, Some(low))).transpose()?;
        for point in 0..grid.points {
            let mut values = posterior.means(&upper, point..point + 1);
            if let Some(lower) = &lower {
                let less = posterior.means(lower, point..point + 1);
                values.iter_mut().zip(less).for_each(|(high, low)| *high = (*high - low) / unit.step);
            }
            let at = grid.axes.iter().zip(grid.point(point));
            made.push(Estimate {
                term: unit.term.clone(),
                contrast: unit.contrast.clone(),
                at: at.map(|((name, _), value)| (name.clone(), text(value))).collect(),
                rows: 1,
                read: 1,
                ..Estimate::of(&values, settings.interval)
            });
        }
    }
    Ok(made)
}

fn text(value: &Change) -> String {
    match value {
        Change::Number(number) | Change::Plus(number) => number.to_string(),
        Change::Text(text) => text.clone(),
    }
}

/// The points of a grid as rows of a table.
fn points(grid: &Grid) -> Frame {
    let names = grid.axes.iter().map(|(name, _)| name).chain(grid.fixed.iter().map(|(name, _)| name));
    let mut frame = Frame::new(names.cloned().collect());
    for point in 0..grid.points {
        let values = grid.point(point).into_iter().chain(grid.fixed.iter().map(|(_, value)| value));
        for (column, value) in values.enumerate() {
            let number = match value {
                Change::Number(number) | Change::Plus(number) => *number,
                Change::Text(text) => {
                    let labels = frame.labels[column].get_or_insert_default();
                    let place = labels.iter().position(|label| label == text).unwrap_or_else(|| {
                        labels.push(text.clone());
                        labels.len() - 1
                    });
                    place as f64
                }
            };
            frame.values[column].push(number);
        }
    }
    frame
}
