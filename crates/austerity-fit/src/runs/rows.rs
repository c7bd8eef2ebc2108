//! The rows that a run was fitted to, once more: streamed from the table or the store, piece by piece.
//!
//! Values are in double precision on the original scale of the columns, as `predict` reads them. A store hands over its rows in storage order, as precise as it holds them. The number of
//! rows, and of successes where the run knows it, must be those of the fit. Memory: one piece of some thousand rows.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use austerity_glm::ResponseKind;
use austerity_io::coding::{NewRows, Piece};
use austerity_io::load::without_missing;
use austerity_io::store::{self, StoreOnDisk};
use austerity_io::table::{CHUNK_ROWS, OpenOptions, Source, open_with};

use super::RunFile;
use crate::output::Failure;
use crate::request::{DataOptions, MissingChoice};

/// Where the rows of a run are.
#[derive(Clone, Debug, Default)]
pub enum Rows<'a> {
    /// Where they were when the run began.
    #[default]
    AsThen,
    /// In this file, folder or store.
    At(PathBuf),
    /// In memory.
    Table(&'a Source),
}

impl<'a> Rows<'a> {
    /// At a path that an option may name.
    #[must_use]
    pub fn at(path: Option<&Path>) -> Self {
        path.map_or(Self::AsThen, |path| Self::At(path.into()))
    }

    /// The table, if it is one.
    pub(super) fn table(&self, run: &RunFile, threads: usize) -> Result<Source, Failure> {
        let data = &run.request.data;
        let path = match self {
            Self::Table(source) => return complete(run, (*source).clone()),
            Self::AsThen if !data.further.is_empty() => {
                same_values(run, data, threads)?;
                return complete(run, crate::data::opened(data)?);
            }
            Self::At(path) => path,
            Self::AsThen => {
                let data = DataOptions { file: run.plan.data.file.clone(), ..data.clone() };
                same_values(run, &data, threads)?;
                &run.plan.data.file
            }
        };
        if store::is_store(path) {
            return Err(Failure::Usage(format!(
                "{} is a store, which holds no columns by name: give the table that it was made of with --data FILE",
                path.display()
            )));
        }
        complete(run, opened(path, threads)?)
    }
}

/// Numbers of data sets whose checksum is compared: more would have to be read once more for long.
const COMPARED: usize = 4 << 20;

/// Refuses a table with other values than those of the fit, where reading it once more takes a moment. What cannot be read is told by who reads it next.
fn same_values(run: &RunFile, data: &DataOptions, threads: usize) -> Result<(), Failure> {
    let (plan, file) = (&run.plan, &data.file);
    let numbers = plan.data.rows.saturating_mul(plan.recipe.coefficient_names().len() + 1);
    // Earlier versions wrote other checksums.
    let comparable = plan.data.checksum.contains(':') && plan.data.parts.is_none();
    if !comparable || numbers > COMPARED || store::is_store(file) {
        return Ok(());
    }
    let Ok(loaded) = crate::data::load(data, None, plan.settings.seed, threads) else { return Ok(()) };
    same_count(run, file, loaded.store.rows())?;
    let names = loaded.recipe.coefficient_names() == plan.recipe.coefficient_names();
    if names && loaded.checksum == plan.data.checksum { Ok(()) } else { Err(other_values(file)) }
}

fn other_values(file: &Path) -> Failure {
    Failure::Usage(format!(
        "{} has other columns or values now than when the run began (its checksum differs): restore the file, or name a copy of the rows that the run was \
         fitted to with --data FILE",
        file.display()
    ))
}

/// Refuses another number of rows than the fit had.
pub(super) fn same_count(run: &RunFile, file: &Path, rows: usize) -> Result<(), Failure> {
    if rows == run.plan.data.rows {
        Ok(())
    } else {
        Err(changed(file, "rows", (run.plan.data.rows as u64, rows as u64)))
    }
}

fn changed(file: &Path, what: &str, (then, now): (u64, u64)) -> Failure {
    Failure::Usage(format!(
        "{} has {now} {what} now and had {then} when the run began: give the rows that the run was fitted to with --data FILE (from Python: data=)",
        file.display()
    ))
}

/// The rows that the fit kept: those without missing values, where it was to drop the others.
fn complete(run: &RunFile, source: Source) -> Result<Source, Failure> {
    let data = &run.request.data;
    if data.missing != Some(MissingChoice::Drop) {
        return Ok(source);
    }
    Ok(without_missing(&source, &crate::data::design(data)?)?.0)
}

/// Opens a table; says what to do when it is gone.
fn opened(path: &Path, threads: usize) -> Result<Source, Failure> {
    if !path.exists() && !path.to_string_lossy().contains('*') {
        return Err(Failure::Usage(format!(
            "{} is not there, and the run does not keep its rows: name the file with --data FILE (from Python: pass the table as data=)",
            path.display()
        )));
    }
    Ok(open_with(path, &OpenOptions { threads: Some(threads), ..OpenOptions::default() })?)
}

/// The rows of a run.
#[derive(Debug)]
pub(super) struct RunRows<'a> {
    run: &'a RunFile,
    from: From<'a>,
    file: PathBuf,
}

#[derive(Debug)]
enum From<'a> {
    Table(Box<NewRows<'a>>, Source),
    Store(Box<StoreOnDisk>),
}

impl<'a> RunRows<'a> {
    /// Finds them.
    pub(super) fn open(run: &'a RunFile, rows: &Rows<'_>, threads: usize) -> Result<Self, Failure> {
        let path = match rows {
            Rows::At(path) => path,
            _ => &run.plan.data.file,
        };
        if !matches!(rows, Rows::Table(_)) && store::is_store(path) {
            let made = Self::stored(run, path)?;
            let sum = &run.plan.data.checksum;
            return match &made.from {
                From::Store(opened)
                    if matches!(rows, Rows::AsThen) && sum.contains(':') && opened.checksum() != sum =>
                {
                    Err(other_values(path))
                }
                _ => Ok(made),
            };
        }
        let source = rows.table(run, threads)?;
        let recipe = &run.plan.recipe;
        let new = NewRows::new(&source, recipe, run.plan.model.family.kind(), true)?;
        if !new.scored() {
            return Err(Failure::Usage(format!(
                "{} has no column `{}`, which the run explains: give the table that it was fitted to",
                source.path().display(),
                recipe.response
            )));
        }
        let file = source.path().into();
        Ok(Self { run, from: From::Table(Box::new(new), source), file })
    }

    fn stored(run: &'a RunFile, path: &Path) -> Result<Self, Failure> {
        let opened = store::open(path)?;
        let description = opened.store.description();
        if opened.recipe.coefficient_names() != run.plan.recipe.coefficient_names()
            || description.kind != run.plan.model.family.kind()
        {
            return Err(Failure::Usage(format!(
                "{} has other columns than the run: give the store that it was fitted to",
                path.display()
            )));
        }
        if recipe_has_lost_offset(&opened) {
            return Err(Failure::Usage(format!(
                "{} does not keep its offset apart from the response: give the table that it was made of with --data FILE",
                path.display()
            )));
        }
        Ok(Self { run, from: From::Store(Box::new(opened)), file: path.into() })
    }

    /// N.
    pub(super) fn count(&self) -> usize {
        self.run.plan.data.rows
    }

    /// The numbers, from 0, of rows in the table, before rows with missing values were dropped.
    pub(super) fn in_file(&self, rows: &[usize]) -> HashMap<usize, usize> {
        let mut sorted = rows.to_vec();
        sorted.sort_unstable();
        let given = match &self.from {
            From::Table(_, source) => source.rows_before_dropping(&sorted),
            From::Store(_) => sorted.clone(),
        };
        sorted.into_iter().zip(given).collect()
    }

    /// Hands over all rows, piece by piece.
    pub(super) fn scan(
        &self,
        visit: &mut dyn FnMut(&Piece<'_>) -> austerity_io::Result<()>,
    ) -> Result<(), Failure> {
        let (mut successes, expected) = (0u64, self.run.plan.data.successes);
        let binary = self.run.plan.model.family.kind() == ResponseKind::Binary;
        let mut counted = |piece: &Piece<'_>| {
            if binary {
                successes += piece.response.iter().flatten().filter(|y| **y == 1.0).count() as u64;
            }
            if piece.first + piece.rows <= self.count() { visit(piece) } else { Ok(()) }
        };
        let found = match &self.from {
            From::Table(new, _) => new.scan(&mut counted)?,
            From::Store(opened) => scan_store(opened, &mut counted)?,
        };
        same_count(self.run, &self.file, found)?;
        match expected {
            Some(expected) if binary && expected != successes => {
                Err(changed(&self.file, "successes", (expected, successes)))
            }
            _ => Ok(()),
        }
    }
}

/// Whether densities of the response cannot be had from what is stored.
fn recipe_has_lost_offset(opened: &StoreOnDisk) -> bool {
    let kind = opened.store.description().kind;
    opened.recipe.offset.is_some() && matches!(kind, ResponseKind::Positive | ResponseKind::Time)
}

/// The rows of a store in storage order.
fn scan_store(
    opened: &StoreOnDisk,
    visit: &mut dyn FnMut(&Piece<'_>) -> austerity_io::Result<()>,
) -> austerity_io::Result<usize> {
    let (store, description) = (&opened.store, opened.store.description());
    let (layout, slots) = (description.layout(), description.slots());
    let blocks = store.blocks();
    let dense = slots.iter().all(|slot| *slot < layout.columns);
    let side = |column: usize, rows: std::ops::Range<usize>| -> Vec<f64> {
        rows.map(|position| f64::from(blocks.value(position, column))).collect()
    };
    for first in (0..store.rows()).step_by(CHUNK_ROWS) {
        let rows = first..(first + CHUNK_ROWS).min(store.rows());
        let mut columns = vec![Vec::with_capacity(rows.len()); slots.len()];
        if dense {
            for ((column, &slot), stored) in columns.iter_mut().zip(&slots).zip(&description.columns) {
                let given = |value: f64| stored.transform.shift + stored.transform.scale * value;
                column.extend(side(slot, rows.clone()).into_iter().map(given));
            }
        } else {
            for position in rows.clone() {
                columns.iter_mut().zip(store.row(position)).for_each(|(column, value)| column.push(value));
            }
        }
        let optional = |column: Option<usize>| -> Option<Cow<'_, [f64]>> {
            column.map(|column| Cow::Owned(side(column, rows.clone())))
        };
        let mut offset = optional(layout.offset);
        if let Some(offset) = &mut offset {
            offset.to_mut().iter_mut().for_each(|value| *value += description.offset_shift);
        }
        let response = side(layout.response, rows.clone()).into_iter();
        let response = response.map(|y| given(description.kind, y, description.response_shift)).collect();
        visit(&Piece {
            first,
            rows: rows.len(),
            columns: columns.into_iter().map(Cow::Owned).collect(),
            offset,
            trials: optional(layout.trials),
            weights: optional(layout.weight),
            response: Some(response),
        })?;
    }
    Ok(store.rows())
}

/// The response as the user has it, less its offset where it is stored so.
fn given(kind: ResponseKind, stored: f64, shift: f64) -> f64 {
    match kind {
        ResponseKind::Binary => f64::from(u8::from(stored > 0.0)),
        ResponseKind::Real => stored + shift,
        ResponseKind::Positive | ResponseKind::Time => (stored + shift).exp(),
        ResponseKind::Share => 1.0 / (1.0 + (-stored).exp()),
        ResponseKind::Count | ResponseKind::CountOfTrials | ResponseKind::Ordered => stored,
    }
}

/// Some rows, kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    /// Their numbers, from 0.
    pub(super) rows: Vec<usize>,
    columns: Vec<Vec<f64>>,
    offset: Option<Vec<f64>>,
    trials: Option<Vec<f64>>,
    weights: Option<Vec<f64>>,
    response: Vec<f64>,
}

impl Kept {
    /// Keeps row `at` of a piece.
    pub(super) fn push(&mut self, piece: &Piece<'_>, at: usize) {
        self.rows.push(piece.first + at);
        self.columns.resize(piece.columns.len(), Vec::new());
        self.columns.iter_mut().zip(&piece.columns).for_each(|(kept, column)| kept.push(column[at]));
        let side = |kept: &mut Option<Vec<f64>>, column: &Option<Cow<'_, [f64]>>| {
            if let Some(column) = column {
                kept.get_or_insert_default().push(column[at]);
            }
        };
        side(&mut self.offset, &piece.offset);
        side(&mut self.trials, &piece.trials);
        side(&mut self.weights, &piece.weights);
        self.response.push(piece.response.as_ref().map_or(f64::NAN, |response| response[at]));
    }

    /// As a piece.
    pub(super) fn piece(&self) -> Piece<'_> {
        let side = |kept: &'_ Option<Vec<f64>>| kept.clone().map(Cow::Owned);
        Piece {
            first: 0,
            rows: self.rows.len(),
            columns: self.columns.iter().map(|column| Cow::Borrowed(column.as_slice())).collect(),
            offset: side(&self.offset),
            trials: side(&self.trials),
            weights: side(&self.weights),
            response: Some(self.response.clone()),
        }
    }

    /// The same rows and those of another.
    pub(super) fn extend(&mut self, other: &Self) {
        let piece = other.piece();
        for (at, &row) in other.rows.iter().enumerate() {
            self.push(&piece, at);
            if let Some(last) = self.rows.last_mut() {
                *last = row;
            }
        }
    }
}

/// Fills `out`, one entry per row, on so many threads; `work` gets a range of rows and their entries.
pub(super) fn in_parallel<T: Send>(
    threads: usize,
    out: &mut [T],
    work: impl Fn(std::ops::Range<usize>, &mut [T]) + Sync,
) {
    /// Rows that are worth a thread.
    const WORTH: usize = 64;
    let share = out.len().div_ceil(threads.max(1)).next_multiple_of(WORTH);
    std::thread::scope(|scope| {
        let mut rest = out;
        let mut first = 0;
        while !rest.is_empty() {
            let (mine, others) = rest.split_at_mut(share.min(rest.len()));
            rest = others;
            let rows = first..first + mine.len();
            first = rows.end;
            let work = &work;
            if rest.is_empty() {
                work(rows, mine);
            } else {
                scope.spawn(move || work(rows, mine));
            }
        }
    });
}
