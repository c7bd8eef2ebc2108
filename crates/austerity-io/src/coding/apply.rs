//! A recipe applied to new rows, piece by piece, **on the original scale of the columns**: what draws are multiplied with.
//!
//! Numbers stay as they are (a run's coefficients are stored after [`Recipe::to_original`]); levels become their 0/1 columns, and
//! one that was not there when the model was fitted is an error with its row. A level that is spelled otherwise but is the
//! same number (`1.0` and `1`) is the same level. Offset and features must be in the file; trials, weights and response are
//! read where they are there and wanted.
//!
//! Memory: one piece of some thousand rows. For coefficients of standardised columns use [`Recipe::features`] instead.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use austerity_glm::ResponseKind;

use super::response::{Named, check_beside, check_counts};
use super::terms::unseen;
use super::{Recipe, ResponseCoding, Term, check, place, role};
use crate::error::{Error, Result};
use crate::table::levels::truths;
use crate::table::{Chunk, ColumnKind, Source};

/// The columns of a file that new rows are made of.
#[derive(Debug)]
pub struct NewRows<'a> {
    source: Source,
    recipe: &'a Recipe,
    kind: ResponseKind,
    names: Vec<String>,
    trials: bool,
    weights: bool,
    response: bool,
}

/// Some rows of the design, on the original scale.
#[derive(Clone, Debug)]
pub struct Piece<'a> {
    /// Number of the first row, from 0.
    pub first: usize,
    /// Rows.
    pub rows: usize,
    /// The columns of the design, without the intercept.
    pub columns: Vec<Cow<'a, [f64]>>,
    /// The offset, where the design has one.
    pub offset: Option<Cow<'a, [f64]>>,
    /// The trials, where the design and the file have them.
    pub trials: Option<Cow<'a, [f64]>>,
    /// Frequency weights of the scored rows, where the design and the file have them.
    pub weights: Option<Cow<'a, [f64]>>,
    /// The response as the family sees it, where it is scored.
    pub response: Option<Vec<f64>>,
}

impl<'a> NewRows<'a> {
    /// Finds the columns. `kind` is what the family explains; the response is read when it is to be `scored`, the file
    /// has it, and it can be understood (a count of trials needs the trials).
    pub fn new(file: &Source, recipe: &'a Recipe, kind: ResponseKind, scored: bool) -> Result<Self> {
        let mut source = recipe.over(file)?;
        let there = |name: &String| source.schema().names.contains(name);
        let trials = recipe.trials.as_ref().is_some_and(there);
        // Without events a time would count as one.
        let response = scored && there(&recipe.response) && (trials || recipe.trials.is_none());
        let weights = response && recipe.weights.as_ref().is_some_and(there);
        let mut names = recipe.feature_columns();
        names.extend(recipe.trials.iter().filter(|_| trials).cloned());
        names.extend(recipe.weights.iter().filter(|_| weights).cloned());
        names.extend(response.then(|| recipe.response.clone()));
        if names.is_empty() {
            source = file.clone();
            // An intercept alone needs no column, but rows must be counted.
            let readable =
                source.schema().kinds.iter().position(|k| !matches!(k, ColumnKind::Unsupported(_)));
            names.extend(readable.map(|j| source.schema().names[j].clone()));
        }
        Ok(Self { source, recipe, kind, names, trials, weights, response })
    }

    /// Whether the response will be read.
    #[must_use]
    pub fn scored(&self) -> bool {
        self.response
    }

    /// Whether weights will be read.
    #[must_use]
    pub fn has_weights(&self) -> bool {
        self.weights
    }

    /// Whether trials will be read.
    #[must_use]
    pub fn has_trials(&self) -> bool {
        self.trials
    }

    /// Hands over the rows, piece by piece; returns their number.
    pub fn scan(&self, visit: &mut dyn FnMut(&Piece<'_>) -> Result<()>) -> Result<usize> {
        self.scan_watched(&mut |_, _| {}, visit)
    }

    /// The same; `watch` is shown every piece of the columns as the file has them, with their names.
    pub(crate) fn scan_watched(
        &self,
        watch: &mut dyn FnMut(&[String], &[Chunk<'_>]),
        visit: &mut dyn FnMut(&Piece<'_>) -> Result<()>,
    ) -> Result<usize> {
        let file = self.source.path();
        let mut text = self.recipe.text_columns();
        if matches!(
            self.recipe.coding,
            ResponseCoding::TwoTexts { .. } | ResponseCoding::Levels { text: true, .. }
        ) {
            text.push(self.recipe.response.clone());
        }
        if self.recipe.feature_columns().is_empty() && !self.trials && !self.response {
            text.extend(self.names.iter().cloned());
        }
        let mut coders: Vec<Coder<'_>> = self.recipe.terms.iter().map(Coder::new).collect();
        let rows = self.source.scan(&self.names, &text, &mut |first, chunks| {
            let rows = chunks.first().map_or(0, Chunk::len);
            watch(&self.names, chunks);
            let mut rest = chunks.iter();
            let mut columns = Vec::new();
            for (coder, chunk) in coders.iter_mut().zip(&mut rest) {
                coder.apply(file, first, chunk, &mut columns)?;
            }
            let mut side = |name: &Option<String>, wanted: bool, what: &str| match (name, wanted) {
                (Some(name), true) => {
                    rest.next().map(|chunk| numbers(file, name, first, chunk, what)).transpose()
                }
                _ => Ok(None),
            };
            let offset = side(&self.recipe.offset, true, "the offset")?;
            let trials = side(&self.recipe.trials, self.trials, "trials")?;
            let weights = side(&self.recipe.weights, self.weights, "weights")?;
            if let (Some(name), Some(trials)) = (&self.recipe.trials, &trials) {
                check_beside(Named { file, name }, first, trials, Some(self.kind))?;
            }
            if let (Some(name), Some(weights)) = (&self.recipe.weights, &weights) {
                let positive = |_, w| w > 0.0;
                check(
                    Named { file, name },
                    first,
                    weights,
                    positive,
                    "a weight must be positive",
                    "drop the row",
                )?;
            }
            let response = match (self.response, rest.next()) {
                (true, Some(chunk)) => Some(self.coded(first, chunk, trials.as_deref())?),
                _ => None,
            };
            visit(&Piece { first, rows, columns, offset, trials, weights, response })
        });
        rows.map_err(|error| self.source.located(error).of_new_rows())
    }

    /// The response as the family sees it.
    fn coded(&self, first: usize, chunk: &Chunk<'_>, trials: Option<&[f64]>) -> Result<Vec<f64>> {
        let (file, name) = (self.source.path(), &self.recipe.response);
        let strange = |row: usize,
                       value: String,
                       zero: &dyn std::fmt::Display,
                       one: &dyn std::fmt::Display| Error::Value {
            place: place(file, name, first + row),
            problem: format!("the response is `{value}`, but the model was fitted to {zero} and {one}"),
            remedy: "mend the value, or leave the column out".into(),
        };
        let unknown = |row: usize, value: &str, levels: &[String]| Error::Value {
            place: place(file, name, first + row),
            problem: format!("the response is `{value}`, but the model was fitted to {}", levels.join(", ")),
            remedy: "mend the value, or leave the column out".into(),
        };
        match (&self.recipe.coding, *chunk) {
            (ResponseCoding::TwoTexts { zero, one }, Chunk::Levels { codes, labels, .. }) => {
                let code = |(row, &code): (usize, &u32)| match &labels[code as usize] {
                    label if label == one => Ok(1.0),
                    label if label == zero => Ok(0.0),
                    label => Err(strange(row, label.clone(), zero, one)),
                };
                codes.iter().enumerate().map(code).collect()
            }
            (ResponseCoding::TwoTexts { .. }, Chunk::Slopes { .. }) => {
                Err(role(file, name, "it has slopes", "name a column"))
            }
            (ResponseCoding::TwoTexts { zero, one }, Chunk::Numbers(values)) => {
                Err(strange(0, values.first().map(ToString::to_string).unwrap_or_default(), zero, one))
            }
            (ResponseCoding::Levels { levels, text: true }, Chunk::Levels { codes, labels, .. }) => {
                let known: Vec<Option<usize>> =
                    labels.iter().map(|label| levels.iter().position(|level| level == label)).collect();
                let code = |(row, &code): (usize, &u32)| {
                    let place = known[code as usize].map(|place| place as f64);
                    place.ok_or_else(|| unknown(row, &labels[code as usize], levels))
                };
                codes.iter().enumerate().map(code).collect()
            }
            (ResponseCoding::Levels { levels, .. }, chunk) => {
                let places: Vec<f64> = levels.iter().filter_map(|level| level.parse().ok()).collect();
                let code = |(row, value): (usize, &f64)| {
                    let place = places.iter().position(|place| place == value).map(|place| place as f64);
                    place.ok_or_else(|| unknown(row, &value.to_string(), levels))
                };
                numbers(file, name, first, &chunk, "the response")?.iter().enumerate().map(code).collect()
            }
            (ResponseCoding::TwoNumbers { zero, one }, chunk) => {
                let code = |(row, &value): (usize, &f64)| match value {
                    value if value == *one => Ok(1.0),
                    value if value == *zero => Ok(0.0),
                    value => Err(strange(row, value.to_string(), zero, one)),
                };
                numbers(file, name, first, &chunk, "the response")?.iter().enumerate().map(code).collect()
            }
            (ResponseCoding::AsGiven, chunk) => {
                let values = numbers(file, name, first, &chunk, "the response")?.into_owned();
                if self.kind == ResponseKind::Binary
                    && let Some(row) = values.iter().position(|&y| y != 0.0 && y != 1.0)
                {
                    return Err(strange(row, values[row].to_string(), &0, &1));
                }
                check_counts(Named { file, name }, first, &values, trials, Some(self.kind))?;
                Ok(values)
            }
        }
    }
}

/// A piece of a column as numbers; `true` and `false` of text files are 1 and 0.
fn numbers<'a>(
    file: &Path,
    column: &str,
    first: usize,
    chunk: &Chunk<'a>,
    what: &str,
) -> Result<Cow<'a, [f64]>> {
    match *chunk {
        Chunk::Numbers(values) => Ok(Cow::Borrowed(values)),
        Chunk::Slopes { .. } => Err(role(file, column, "it has slopes", "name a column")),
        Chunk::Levels { codes, labels, truths: allowed } => match allowed.then(|| truths(labels)).flatten() {
            Some(truths) => Ok(codes.iter().map(|&code| truths[code as usize]).collect()),
            None => {
                let text = codes.first().map_or("", |&code| labels[code as usize].as_str());
                let problem =
                    format!("it holds text such as `{text}` (row {}), but {what} must be numbers", first + 1);
                Err(role(file, column, problem, "give the column as it was when the model was fitted"))
            }
        },
    }
}

/// The column that a level has, if it is known: `None` is the reference.
type Known = Option<Option<usize>>;

/// How one feature is coded, with what was looked up before.
enum Coder<'a> {
    Number(&'a str),
    Cells(usize),
    Levels {
        term: &'a Term,
        width: usize,
        places: HashMap<&'a str, Option<usize>>,
        codes: Vec<Known>,
        numbers: HashMap<u64, Known>,
    },
}

impl<'a> Coder<'a> {
    fn new(term: &'a Term) -> Self {
        match term {
            Term::Number { column, .. } => Self::Number(column),
            Term::Cells { names, .. } => Self::Cells(names.len()),
            Term::Levels { reference, levels, .. } => {
                let kept = levels.iter().enumerate().map(|(j, level)| (level.as_str(), Some(j)));
                let places = reference.iter().map(|level| (level.as_str(), None)).chain(kept).collect();
                let (codes, numbers) = (Vec::new(), HashMap::new());
                Self::Levels { term, width: levels.len(), places, codes, numbers }
            }
        }
    }

    /// Appends the columns of a piece.
    fn apply<'c>(
        &mut self,
        file: &Path,
        first: usize,
        chunk: &Chunk<'c>,
        out: &mut Vec<Cow<'c, [f64]>>,
    ) -> Result<()> {
        let (term, width, places, codes, known_numbers) = match self {
            Self::Number(column) => {
                out.push(numbers(file, column, first, chunk, "the values the model was fitted to")?);
                return Ok(());
            }
            Self::Cells(width) => {
                let (codes, numbers) = match *chunk {
                    Chunk::Levels { codes, .. } => (codes, None),
                    Chunk::Slopes { codes, numbers, .. } => (codes, Some(numbers)),
                    Chunk::Numbers(_) => return Ok(()),
                };
                let mut columns = vec![vec![0.0; codes.len()]; *width];
                for (row, &code) in codes.iter().enumerate() {
                    if let Some(column) = columns.get_mut(code as usize) {
                        column[row] = numbers.map_or(1.0, |numbers| numbers[row]);
                    }
                }
                out.extend(columns.into_iter().map(Cow::Owned));
                return Ok(());
            }
            Self::Levels { term, width, places, codes, numbers } => (*term, *width, places, codes, numbers),
        };
        let mut columns = vec![vec![0.0; chunk.len()]; width];
        let mut mark = |row: usize, known: Known, label: &dyn Fn() -> String| match known {
            Some(column) => {
                if let Some(column) = column {
                    columns[column][row] = 1.0;
                }
                Ok(())
            }
            None => Err(unseen(term, file, first + row, &label())),
        };
        match *chunk {
            Chunk::Slopes { .. } => return Ok(()),
            Chunk::Levels { codes: given, labels, .. } => {
                codes.extend(labels[codes.len()..].iter().map(|label| find(places, label)));
                for (row, &code) in given.iter().enumerate() {
                    mark(row, codes[code as usize], &|| labels[code as usize].clone())?;
                }
            }
            Chunk::Numbers(values) => {
                for (row, value) in values.iter().enumerate() {
                    // −0 is 0.
                    let value = value + 0.0;
                    let known = known_numbers
                        .entry(value.to_bits())
                        .or_insert_with(|| find(places, &value.to_string()));
                    mark(row, *known, &|| value.to_string())?;
                }
            }
        }
        out.extend(columns.into_iter().map(Cow::Owned));
        Ok(())
    }
}

/// Looks a level up as it is spelled, then as a number.
fn find(places: &HashMap<&str, Option<usize>>, label: &str) -> Known {
    let spelled = places.get(label).copied();
    spelled.or_else(|| {
        let number: f64 = label.trim().parse().ok()?;
        places.get((number + 0.0).to_string().as_str()).copied()
    })
}
