//! Rows as the table has them, and the same rows with one column changed.
//!
//! A model sees columns that follow from those of the table: levels, products, splines. An effect changes a column of the table, so the columns of the model are made again from it, the
//! way they are made for predictions ([`NewRows`]).

use std::collections::BTreeMap;

use austerity_io::coding::{NewRows, Piece};
use austerity_io::table::{Chunk, Column, Source, Table, nearest};

use crate::output::Failure;
use crate::runs::RunFile;
use crate::runs::rows::{Kept, same_count};

/// Different numbers that are counted one by one.
const COUNTED: usize = 20;
/// Different texts that are counted.
const TEXTS: usize = 4_096;

/// What a column becomes.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Change {
    /// Everywhere this number.
    Number(f64),
    /// So much more.
    Plus(f64),
    /// Everywhere this text.
    Text(String),
}

/// Some rows of a table.
#[derive(Clone, Debug, Default)]
pub(in crate::runs) struct Frame {
    pub(in crate::runs) names: Vec<String>,
    /// Texts of columns of text; the values are then their places.
    pub(in crate::runs) labels: Vec<Option<Vec<String>>>,
    pub(in crate::runs) values: Vec<Vec<f64>>,
}

impl Frame {
    /// No rows of so many columns.
    pub(in crate::runs) fn new(names: Vec<String>) -> Self {
        let (labels, values) = (vec![None; names.len()], vec![Vec::new(); names.len()]);
        Self { names, labels, values }
    }

    pub(in crate::runs) fn rows(&self) -> usize {
        self.values.first().map_or(0, Vec::len)
    }

    pub(in crate::runs) fn place(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|own| own == name)
    }

    /// In place of all rows those of a piece.
    pub(in crate::runs) fn fill(&mut self, chunks: &[Chunk<'_>]) {
        for ((labels, values), chunk) in self.labels.iter_mut().zip(&mut self.values).zip(chunks) {
            values.clear();
            match chunk {
                Chunk::Numbers(numbers) => values.extend_from_slice(numbers),
                Chunk::Levels { codes, labels: known, .. } | Chunk::Slopes { codes, labels: known, .. } => {
                    values.extend(codes.iter().map(|&code| f64::from(code)));
                    let own = labels.get_or_insert_default();
                    own.extend_from_slice(&known[own.len().min(known.len())..]);
                }
            }
        }
    }

    /// Adds a row of another frame with the same columns, or puts it in the place of another.
    pub(in crate::runs) fn take(&mut self, other: &Self, row: usize, place: Option<usize>) {
        for (own, values) in self.values.iter_mut().zip(&other.values) {
            match place {
                Some(place) => own[place] = values[row],
                None => own.push(values[row]),
            }
        }
    }

    /// The rows with a column changed.
    fn table(&self, change: Option<(usize, &Change)>) -> Result<Source, Failure> {
        let rows = self.rows();
        let column = |j: usize| match (change.filter(|(changed, _)| *changed == j), &self.labels[j]) {
            (Some((_, Change::Number(number))), _) => Column::Numbers(vec![*number; rows]),
            (Some((_, Change::Plus(step))), _) => {
                Column::Numbers(self.values[j].iter().map(|value| value + step).collect())
            }
            (Some((_, Change::Text(text))), _) => {
                Column::Levels { codes: vec![0; rows], labels: vec![text.clone()] }
            }
            (None, None) => Column::Numbers(self.values[j].clone()),
            (None, Some(labels)) => {
                let codes = self.values[j].iter().map(|&code| code as u32).collect();
                Column::Levels { codes, labels: labels.clone() }
            }
        };
        let columns = self.names.iter().enumerate().map(|(j, name)| (name.as_str(), column(j)));
        Ok(Source::of_table(Table::new("the changed rows", columns)?))
    }

    /// Hands over the columns of the model in pieces, with a column of the table changed.
    pub(super) fn design(
        &self,
        run: &RunFile,
        change: Option<(usize, &Change)>,
        visit: &mut dyn FnMut(&Piece<'_>),
    ) -> Result<(), Failure> {
        let source = self.table(change)?;
        let new = NewRows::new(&source, &run.plan.recipe, run.plan.model.family.kind(), false)?;
        new.scan(&mut |piece| {
            // Means are those of one trial.
            visit(&Piece { trials: None, ..piece.clone() });
            Ok(())
        })?;
        Ok(())
    }

    /// The same rows with their responses, kept.
    pub(in crate::runs) fn scored(&self, run: &RunFile) -> Result<Kept, Failure> {
        let source = self.table(None)?;
        let new = NewRows::new(&source, &run.plan.recipe, run.plan.model.family.kind(), true)?;
        let mut kept = Kept::default();
        new.scan(&mut |piece| {
            (0..piece.rows).for_each(|at| kept.push(piece, at));
            Ok(())
        })?;
        Ok(kept)
    }

    /// The same, kept.
    pub(super) fn kept(&self, run: &RunFile, change: Option<(usize, &Change)>) -> Result<Kept, Failure> {
        let mut kept = Kept::default();
        self.design(run, change, &mut |piece| (0..piece.rows).for_each(|at| kept.push(piece, at)))?;
        Ok(kept)
    }
}

/// Which columns of the table a run needs, and where they are.
pub(super) struct Inputs<'a> {
    pub(super) run: &'a RunFile,
    source: Source,
    /// Columns that explain.
    pub(super) explaining: Vec<String>,
    text: Vec<String>,
    pub(super) weights: Option<String>,
}

impl<'a> Inputs<'a> {
    pub(super) fn new(run: &'a RunFile, source: Source) -> Result<Self, Failure> {
        let recipe = &run.plan.recipe;
        let explaining = recipe.inputs()?;
        let weights = recipe.weights.clone().filter(|name| source.schema().names.contains(name));
        Ok(Self { run, explaining, text: recipe.text_columns(), weights, source })
    }

    /// Refuses a column that the table, or the model, does not have.
    pub(super) fn check(&self, name: &str, explains: bool) -> Result<(), Failure> {
        let known = if explains { &self.explaining } else { &self.source.schema().names };
        if known.iter().any(|own| own == name) {
            return Ok(());
        }
        let near = nearest(known, name).map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let what = if explains { "the model explains with no column" } else { "the table has no column" };
        Err(Failure::Usage(format!("{what} `{name}`{near} (it has {})", listed(known))))
    }

    /// The columns that explain, weights, and further ones, each once.
    pub(super) fn columns(&self, further: Option<&str>) -> Vec<String> {
        let mut names = self.explaining.clone();
        for name in self.weights.iter().map(String::as_str).chain(further) {
            if !names.iter().any(|own| own == name) {
                names.push(name.into());
            }
        }
        names
    }

    /// All rows, piece by piece.
    pub(super) fn scan(
        &self,
        names: &[String],
        visit: &mut dyn FnMut(&[Chunk<'_>]) -> austerity_io::Result<()>,
    ) -> Result<usize, Failure> {
        let text: Vec<String> = self.text.iter().filter(|name| names.contains(name)).cloned().collect();
        let rows = self.source.scan(names, &text, &mut |_, chunks| visit(chunks))?;
        same_count(self.run, self.source.path(), rows)?;
        Ok(rows)
    }

    /// What is typical of the columns: one pass.
    pub(super) fn described(&self, names: &[String]) -> Result<Vec<Described>, Failure> {
        let mut found: Vec<Described> = names.iter().map(|name| Described::new(name)).collect();
        self.scan(names, &mut |chunks| {
            found.iter_mut().zip(chunks).for_each(|(found, chunk)| found.add(chunk));
            Ok(())
        })?;
        Ok(found)
    }
}

fn listed(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(12).map(String::as_str).collect();
    let more = if names.len() > 12 { ", …" } else { "" };
    format!("{}{more}", shown.join(", "))
}

/// What is typical of a column.
#[derive(Clone, Debug)]
pub(super) struct Described {
    pub(super) name: String,
    count: f64,
    sum: f64,
    pub(super) low: f64,
    pub(super) high: f64,
    /// How often each number occurs, while there are few.
    numbers: BTreeMap<u64, (f64, usize)>,
    /// How often each text occurs.
    pub(super) texts: Option<Vec<(String, usize)>>,
}

impl Described {
    fn new(name: &str) -> Self {
        Self {
            name: name.into(),
            count: 0.0,
            sum: 0.0,
            low: f64::INFINITY,
            high: f64::NEG_INFINITY,
            numbers: BTreeMap::new(),
            texts: None,
        }
    }

    fn add(&mut self, chunk: &Chunk<'_>) {
        match chunk {
            Chunk::Numbers(values) => {
                for &value in *values {
                    self.count += 1.0;
                    self.sum += value;
                    self.low = self.low.min(value);
                    self.high = self.high.max(value);
                    if self.numbers.len() <= COUNTED {
                        self.numbers.entry(value.to_bits()).or_insert((value, 0)).1 += 1;
                    }
                }
            }
            Chunk::Levels { codes, labels, .. } | Chunk::Slopes { codes, labels, .. } => {
                let texts = self.texts.get_or_insert_default();
                texts.extend(
                    labels[texts.len().min(labels.len())..]
                        .iter()
                        .take(TEXTS)
                        .map(|label| (label.clone(), 0)),
                );
                for &code in *codes {
                    if let Some(text) = texts.get_mut(code as usize) {
                        text.1 += 1;
                    }
                }
            }
        }
    }

    /// The different numbers, in order, where there are few.
    pub(super) fn few(&self) -> Option<Vec<f64>> {
        let few = self.texts.is_none() && self.numbers.len() <= COUNTED;
        let mut values: Vec<f64> = self.numbers.values().map(|(value, _)| *value).collect();
        values.sort_unstable_by(f64::total_cmp);
        few.then_some(values)
    }

    /// The levels of a text column, the most frequent first.
    pub(super) fn levels(&self) -> Vec<String> {
        let mut texts = self.texts.clone().unwrap_or_default();
        texts.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
        texts.into_iter().filter(|(_, count)| *count > 0).map(|(text, _)| text).collect()
    }

    /// The mean of numbers; the most frequent of texts and of few whole numbers.
    pub(super) fn typical(&self) -> Change {
        if self.texts.is_some() {
            return Change::Text(self.levels().into_iter().next().unwrap_or_default());
        }
        let whole = self.numbers.values().all(|(value, _)| value.fract() == 0.0);
        if self.few().is_some() && whole {
            let most = self.numbers.values().max_by(|a, b| a.1.cmp(&b.1).then(b.0.total_cmp(&a.0)));
            return Change::Number(most.map_or(0.0, |(value, _)| *value));
        }
        Change::Number(self.sum / self.count.max(1.0))
    }
}
