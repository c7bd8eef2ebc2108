//! How one feature becomes columns of the design: decided from one pass over it, whole or in pieces.
//!
//! Numbers are summarised; of levels the rows are counted, which says all about their 0/1 columns. Nothing of the length
//! of the data is kept. The second pass turns pieces of the file's column into what is stored ([`Filling`]).

use std::collections::HashMap;
use std::path::Path;

use austerity_glm::data::summary::{ColumnSummary, SparseSummarizer, Summarizer, row_weight, run_factor};
use serde::{Deserialize, Serialize};

use super::choice::{self, Choice, absent};
use super::role;
use super::terms::{MOST_LEVELS, Term};
use crate::error::{Error, Result};
use crate::table::derived::Cells;
use crate::table::levels::truths;
use crate::table::{Chunk, Column};

/// Columns named in an error.
const LISTED: usize = 4;
/// Levels with a coefficient from which a feature is stored as a factor column. With fewer the 0/1 columns are as fast and as small.
pub(crate) const FEWEST_LEVELS: usize = 8;

/// What is wanted of a feature.
#[derive(Clone, Copy)]
pub(crate) struct Wish<'a> {
    pub(crate) standardize: bool,
    pub(crate) intercept: bool,
    /// A column for every level.
    pub(crate) full_levels: bool,
    /// The reference, and whether the labels have an order.
    pub(crate) choice: Choice<'a>,
    /// What the levels stand for, where they are cells of a formula.
    pub(crate) cells: Option<Cells<'a>>,
}

/// What came of it.
pub(crate) enum Made {
    Feature(Feature),
    /// A column without information; `value` as shown to the user.
    Constant {
        value: String,
    },
}

/// A feature with its columns.
pub(crate) struct Feature {
    pub(crate) term: Term,
    pub(crate) note: Option<String>,
    /// One per column of the design.
    pub(crate) summaries: Vec<ColumnSummary>,
    pub(crate) filling: Filling,
    /// Whether the numbers change before they are stored, so that the summary is that of other numbers.
    pub(crate) standardized: bool,
}

/// How the file's column becomes columns of the design.
#[derive(Clone)]
pub(crate) enum Filling {
    /// (value − shift)/scale.
    Number { shift: f64, scale: f64 },
    /// (truth of the code − shift)/scale.
    Truths { truths: Vec<f64>, shift: f64, scale: f64 },
    /// The column, counted from the feature's first, of every code.
    Levels { columns: Vec<Option<usize>>, known: Option<HashMap<u64, u32>> },
    /// The same with a number of each row, stored divided by `scale`.
    Slopes { columns: Vec<Option<usize>>, scale: f64 },
}

/// Takes the column of a file piece by piece, and parts of it that were taken elsewhere.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Survey {
    rows: usize,
    numbers: Option<Summarizer>,
    levels: Option<Levels>,
}

/// Rows of every level.
#[derive(Clone, Default, Serialize, Deserialize)]
struct Levels {
    labels: Vec<String>,
    counts: Vec<usize>,
    weights: Vec<u128>,
    /// Whether `true` and `false` may stand for numbers.
    truths: bool,
    /// Codes of numbers that are levels.
    known: Option<HashMap<u64, u32>>,
    /// The numbers of every level, of slopes.
    slopes: Vec<SparseSummarizer>,
}

impl Survey {
    pub(crate) fn new() -> Self {
        Self { rows: 0, numbers: None, levels: None }
    }

    /// The next rows.
    pub(crate) fn push(
        &mut self,
        file: &Path,
        name: &str,
        chunk: &Chunk<'_>,
        categorical: bool,
    ) -> Result<()> {
        match *chunk {
            Chunk::Numbers(values) if !categorical => {
                self.numbers.get_or_insert_with(Summarizer::default).push(values);
            }
            Chunk::Numbers(values) => {
                let levels = self.levels.get_or_insert_with(Levels::default);
                let mut known = levels.known.take().unwrap_or_default();
                let codes = number_codes(values, &mut known, &mut levels.labels);
                levels.known = Some(known);
                levels.count(self.rows, &codes);
            }
            Chunk::Levels { codes, labels, truths } => {
                let levels = self.levels.get_or_insert_with(Levels::default);
                levels.labels.extend_from_slice(&labels[levels.labels.len()..]);
                levels.truths = truths;
                levels.count(self.rows, codes);
            }
            Chunk::Slopes { codes, labels, numbers } => {
                let levels = self.levels.get_or_insert_with(Levels::default);
                levels.labels.extend_from_slice(&labels[levels.labels.len()..]);
                levels.count(self.rows, codes);
                levels.slopes.resize(labels.len(), SparseSummarizer::default());
                for (at, (&code, &number)) in codes.iter().zip(numbers).enumerate() {
                    levels.slopes[code as usize].push(self.rows + at, number);
                }
            }
        }
        self.rows += chunk.len();
        self.check_levels(file, name)
    }

    /// Refuses more levels than there may be.
    fn check_levels(&self, file: &Path, name: &str) -> Result<()> {
        match &self.levels {
            Some(levels) if levels.labels.len() > MOST_LEVELS => Err(Error::Role {
                file: file.into(),
                column: name.into(),
                problem: format!(
                    "it has more than {MOST_LEVELS} different values, and each of at most {MOST_LEVELS} levels has a coefficient"
                ),
                remedy: "leave it out (an identifier explains nothing), or group its rare levels".into(),
            }),
            _ => Ok(()),
        }
    }

    /// Ends the part of this number, as [`Summarizer::into_part`] does.
    pub(crate) fn into_part(mut self, number: usize) -> Self {
        self.numbers = self.numbers.map(|numbers| numbers.into_part(number));
        if let Some(levels) = &mut self.levels {
            let factor = run_factor(number);
            levels.weights.iter_mut().for_each(|weight| *weight = weight.wrapping_mul(factor));
            levels.slopes = levels.slopes.drain(..).map(|slope| slope.into_part(number)).collect();
        }
        self
    }

    /// Adds the part that follows; refuses text beside numbers.
    pub(crate) fn merge(&mut self, (file, name): (&Path, &str), later: Self) -> Result<()> {
        if self.numbers.is_some() && later.levels.is_some()
            || self.levels.is_some() && later.numbers.is_some()
        {
            return Err(role(
                file,
                name,
                "it holds text in some files and numbers in others",
                "write it the same way in all files, or leave the column out",
            ));
        }
        match (&mut self.numbers, later.numbers) {
            (Some(mine), Some(theirs)) => mine.merge(&theirs),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
        match (&mut self.levels, later.levels) {
            (Some(mine), Some(theirs)) => mine.merge(theirs, self.rows),
            (mine @ None, theirs) => *mine = theirs,
            (Some(_), None) => {}
        }
        self.rows += later.rows;
        self.check_levels(file, name)
    }

    /// The feature.
    pub(crate) fn finish(self, file: &Path, name: &str, wish: Wish<'_>) -> Result<Made> {
        let numeric = |what: &str| match wish.choice.named {
            None => Ok(()),
            Some(level) => Err(role(
                file,
                name,
                format!("the reference `{level}` is named, but the column holds {what}"),
                "name the column as categorical to make its values levels, or leave the reference out",
            )),
        };
        match (self.numbers, self.levels) {
            (_, Some(levels)) => match levels.truths.then(|| truths(&levels.labels)).flatten() {
                Some(truths) => {
                    numeric("true and false, which count as 1 and 0")?;
                    let summary = levels.of_truths(self.rows, &truths);
                    Ok(number(name, &summary, wish, |shift, scale| Filling::Truths { truths, shift, scale }))
                }
                None => levels.finish(file, name, self.rows, wish),
            },
            (numbers, None) => {
                numeric("numbers")?;
                let summary = numbers.unwrap_or_default().finish();
                Ok(number(name, &summary, wish, |shift, scale| Filling::Number { shift, scale }))
            }
        }
    }
}

/// Levels up to which a column may have fewer than two rows for each.
const MOST_SINGLE_LEVELS: usize = 1000;

/// Refuses a column of many levels with hardly a row each: an identifier.
fn check_identifier(file: &Path, name: &str, levels: usize, rows: usize) -> Result<()> {
    if levels <= MOST_SINGLE_LEVELS || 2 * levels <= rows {
        return Ok(());
    }
    Err(role(
        file,
        name,
        format!(
            "it has {levels} different values in {rows} rows; beyond {MOST_SINGLE_LEVELS} levels each needs two rows on average"
        ),
        "leave it out (an identifier explains nothing), or group its rare levels",
    ))
}

fn number(
    name: &str,
    summary: &ColumnSummary,
    wish: Wish<'_>,
    filling: impl FnOnce(f64, f64) -> Filling,
) -> Made {
    if summary.is_constant() && (wish.intercept || summary.minimum == 0.0) {
        return Made::Constant { value: summary.minimum.to_string() };
    }
    let (mut shift, mut scale, mut note) = (0.0, 1.0, None);
    let standardized = wish.standardize && !summary.is_constant();
    if standardized {
        scale = summary.sd;
        if wish.intercept && !summary.is_rare() {
            shift = summary.mean;
        } else if summary.is_rare() {
            note = Some(format!(
                "column `{name}` was scaled but not centred: {} of its {} values differ from 0",
                summary.nonzeros, summary.rows
            ));
        }
    }
    let term = Term::Number { column: name.into(), shift, scale };
    let filling = filling(shift, scale);
    Made::Feature(Feature { term, note, summaries: vec![*summary], filling, standardized })
}

impl Levels {
    /// Adds the levels of the part that follows `rows` rows.
    fn merge(&mut self, later: Self, rows: usize) {
        let mut places: HashMap<String, usize> =
            self.labels.iter().enumerate().map(|(code, label)| (label.clone(), code)).collect();
        self.truths &= later.truths;
        let mut codes = Vec::with_capacity(later.labels.len());
        for label in later.labels {
            let code = *places.entry(label.clone()).or_insert_with(|| {
                self.labels.push(label);
                self.labels.len() - 1
            });
            codes.push(code);
        }
        self.counts.resize(self.labels.len(), 0);
        self.weights.resize(self.labels.len(), 0);
        for ((&code, count), weight) in codes.iter().zip(later.counts).zip(later.weights) {
            self.counts[code] += count;
            self.weights[code] = self.weights[code].wrapping_add(weight);
        }
        if !later.slopes.is_empty() {
            self.slopes.resize(self.labels.len(), SparseSummarizer::default());
            for (&code, slope) in codes.iter().zip(&later.slopes) {
                self.slopes[code].merge(slope, rows);
            }
        }
        if let Some(known) = later.known {
            let mine = self.known.get_or_insert_with(HashMap::new);
            mine.extend(known.into_iter().map(|(bits, code)| (bits, codes[code as usize] as u32)));
        }
    }

    fn count(&mut self, first: usize, codes: &[u32]) {
        self.counts.resize(self.labels.len(), 0);
        self.weights.resize(self.labels.len(), 0);
        for (at, &code) in codes.iter().enumerate() {
            let (code, weight) = (code as usize, row_weight(first + at));
            self.counts[code] += 1;
            self.weights[code] = self.weights[code].wrapping_add(weight);
        }
    }

    /// The summary of the numbers that the texts stand for.
    fn of_truths(&self, rows: usize, truths: &[f64]) -> ColumnSummary {
        let (mut ones, mut weight) = (0, 0u128);
        for (code, _) in truths.iter().enumerate().filter(|&(_, &truth)| truth == 1.0) {
            ones += self.counts[code];
            weight = weight.wrapping_add(self.weights[code]);
        }
        ColumnSummary::of_indicator(rows, ones, weight)
    }

    /// The columns of the cells of a formula's block, in the order of their labels.
    fn finish_cells(self, file: &Path, name: &str, rows: usize, cells: Cells<'_>) -> Result<Made> {
        let Self { labels, counts, weights, slopes, .. } = self;
        let names: Vec<String> = labels.into_iter().filter(|label| !label.is_empty()).collect();
        let summaries: Vec<ColumnSummary> = if slopes.is_empty() {
            let counted = counts.iter().zip(&weights).take(names.len());
            counted.map(|(&count, &weight)| ColumnSummary::of_indicator(rows, count, weight)).collect()
        } else {
            slopes.iter().take(names.len()).map(|slope| slope.finish(rows)).collect()
        };
        let is_empty = |(_, summary): &(&String, &ColumnSummary)| summary.nonzeros == 0;
        let empty: Vec<String> =
            names.iter().zip(&summaries).filter(is_empty).map(|(name, _)| name.clone()).collect();
        if !empty.is_empty() {
            let listed = empty[..empty.len().min(LISTED)].join(", ");
            return Err(role(
                file,
                name,
                format!(
                    "{} of its {} columns are 0 in every row, such as {listed}",
                    empty.len(),
                    names.len()
                ),
                "group rare levels, or leave the interaction out of the formula",
            ));
        }
        let note = cells.reference.map(|reference| {
            let others: usize = counts[..names.len()].iter().sum();
            format!(
                "`{name}` has {} levels; the reference is the first, `{reference}` ({} rows)",
                names.len() + 1,
                rows - others
            )
        });
        let columns = (0..=names.len()).map(|code| (code < names.len()).then_some(code)).collect();
        let reference = cells.reference.map(Into::into);
        let term = Term::Cells { column: name.into(), names, reference };
        let filling = if slopes.is_empty() {
            Filling::Levels { columns, known: None }
        } else {
            let squares = slopes.iter().map(SparseSummarizer::mean_square);
            let (sum, count) = squares
                .fold((0.0, 0), |(sum, all), (square, count)| (sum + square * count as f64, all + count));
            Filling::Slopes { columns, scale: (sum / count.max(1) as f64).sqrt() }
        };
        Ok(Made::Feature(Feature { term, note, summaries, filling, standardized: false }))
    }

    fn finish(self, file: &Path, name: &str, rows: usize, wish: Wish<'_>) -> Result<Made> {
        check_identifier(file, name, self.labels.len(), rows)?;
        if let Some(cells) = wish.cells {
            return self.finish_cells(file, name, rows, cells);
        }
        let Self { labels, counts, weights, known, .. } = self;
        let Choice { named, ordered } = wish.choice;
        let order = if ordered { (0..labels.len()).collect() } else { sorted(&labels) };
        let named = match named {
            None => None,
            Some(level) if wish.full_levels => {
                return Err(role(
                    file,
                    name,
                    format!(
                        "the reference `{level}` is named, but without an intercept every level of this column has a coefficient"
                    ),
                    "leave the reference out, or keep the intercept",
                ));
            }
            Some(level) => Some(choice::position(&labels, level).ok_or_else(|| {
                let there: Vec<String> = order.iter().map(|&code| labels[code].clone()).collect();
                absent(file, name, "the reference", level, &there)
            })?),
        };
        if labels.len() == 1 && !wish.full_levels {
            return Ok(Made::Constant { value: format!("`{}`", labels[0]) });
        }
        let most = counts.iter().max().copied().unwrap_or(0);
        let (reference, why) = match named {
            Some(code) => (Some(code), ""),
            None if wish.full_levels => (None, ""),
            None if ordered => (order.first().copied(), "the first, "),
            None => (order.iter().copied().find(|&code| counts[code] == most), "the most frequent, "),
        };
        let kept: Vec<usize> = order.into_iter().filter(|&code| Some(code) != reference).collect();
        let note = match reference {
            Some(code) => format!(
                "column `{name}` has {} levels; the reference is {why}`{}` ({} rows)",
                labels.len(),
                labels[code],
                counts[code]
            ),
            None => format!(
                "column `{name}` has {} levels, each with its own column because there is no intercept",
                labels.len()
            ),
        };
        let mut columns = vec![None; labels.len()];
        kept.iter().enumerate().for_each(|(column, &code)| columns[code] = Some(column));
        let summary = |&code: &usize| ColumnSummary::of_indicator(rows, counts[code], weights[code]);
        let summaries = kept.iter().map(summary).collect();
        let term = Term::Levels {
            column: name.into(),
            reference: reference.map(|code| labels[code].clone()),
            levels: kept.iter().map(|&code| labels[code].clone()).collect(),
        };
        let filling = Filling::Levels { columns, known };
        Ok(Made::Feature(Feature { term, note: Some(note), summaries, filling, standardized: false }))
    }
}

/// What a piece of a file's column is in the design.
pub(crate) enum Filled {
    /// The numbers of one column.
    Numbers(Vec<f64>),
    /// The codes of the levels.
    Codes(Vec<u32>),
    /// The same with a number of each row.
    Slopes(Vec<u32>, Vec<f64>),
}

impl Filling {
    /// Whether rows store the place of their level instead of 0/1 columns, which few levels are faster with.
    pub(crate) fn is_factor(&self) -> bool {
        match self {
            Self::Levels { columns, .. } => columns.iter().flatten().count() >= FEWEST_LEVELS,
            Self::Slopes { .. } => true,
            Self::Number { .. } | Self::Truths { .. } => false,
        }
    }

    /// Turns a piece into what the design holds; `None` when the column is not what it was in the first pass.
    pub(crate) fn apply(&self, chunk: &Chunk<'_>) -> Option<Filled> {
        Some(match (self, *chunk) {
            (&Self::Number { shift, scale }, Chunk::Numbers(values)) => {
                Filled::Numbers(values.iter().map(|value| (value - shift) / scale).collect())
            }
            (Self::Truths { truths, shift, scale }, Chunk::Levels { codes, .. }) => {
                let value = |&code: &u32| Some((truths.get(code as usize)? - shift) / scale);
                Filled::Numbers(codes.iter().map(value).collect::<Option<_>>()?)
            }
            (Self::Levels { columns, known: None }, Chunk::Levels { codes, .. }) => {
                let fits = codes.iter().all(|&code| (code as usize) < columns.len());
                fits.then(|| Filled::Codes(codes.to_vec()))?
            }
            (Self::Slopes { .. }, Chunk::Slopes { codes, numbers, .. }) => {
                Filled::Slopes(codes.to_vec(), numbers.to_vec())
            }
            (Self::Levels { known: Some(known), .. }, Chunk::Numbers(values)) => {
                let code = |value: &f64| known.get(&(value + 0.0).to_bits()).copied();
                Filled::Codes(values.iter().map(code).collect::<Option<_>>()?)
            }
            _ => return None,
        })
    }
}

/// Codes of numbers that are levels: each different value is one, written as Rust writes it.
pub(crate) fn number_codes(
    values: &[f64],
    known: &mut HashMap<u64, u32>,
    labels: &mut Vec<String>,
) -> Vec<u32> {
    values
        .iter()
        .map(|value| {
            // −0 is 0.
            let value = value + 0.0;
            *known.entry(value.to_bits()).or_insert_with(|| {
                labels.push(value.to_string());
                labels.len() as u32 - 1
            })
        })
        .collect()
}

/// Codes and labels of a whole column.
pub(super) fn as_levels(given: &Column) -> (Vec<u32>, Vec<String>) {
    match given {
        Column::Levels { codes, labels } => (codes.clone(), labels.clone()),
        Column::Numbers(values) => {
            let mut labels = Vec::new();
            (number_codes(values, &mut HashMap::new(), &mut labels), labels)
        }
    }
}

/// Codes in the order of their labels: numeric when all are numbers, else alphabetical.
pub(crate) fn sorted(labels: &[String]) -> Vec<usize> {
    let numbers: Option<Vec<f64>> = labels.iter().map(|label| label.parse().ok()).collect();
    let mut order: Vec<usize> = (0..labels.len()).collect();
    match numbers {
        Some(numbers) => {
            order.sort_by(|&a, &b| numbers[a].total_cmp(&numbers[b]).then_with(|| labels[a].cmp(&labels[b])));
        }
        None => order.sort_by(|&a, &b| labels[a].cmp(&labels[b])),
    }
    order
}
