//! Which columns a formula makes, what each is made of, and which columns of the table it needs.
//!
//! | block of a term | its columns here |
//! |---|---|
//! | numbers alone | one each |
//! | levels alone | one, of cells: the place of a row's combination of levels |
//! | numbers and few levels | one each |
//! | numbers and eight or more combinations of levels | for each number one, of cells with slopes; levels then vary fastest |

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use austerity_formula::{
    Arithmetic, Block, Coding, Columns, Expanded, Factor, Kind, Part, Problem, ResponseRole,
};

use super::{FormulaRecipe, Learnt, TermNames, expanded, wrong};
use crate::coding::feature::FEWEST_LEVELS;
use crate::coding::{CodingOptions, MOST_LEVELS};
use crate::error::Result;
use crate::table::derived::Cells;
use crate::table::names::unknown;
use crate::table::{ColumnKind, Missing, Source};

/// What a computed column is made of.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Made {
    /// A column of the table, as it is.
    Given(String),
    /// A sum of numbers.
    Sum(Vec<Arithmetic>),
    /// A column of a block, from 0.
    Product {
        /// The block.
        block: usize,
        /// Its column.
        column: usize,
    },
    /// The places of the combinations of levels of a block.
    Cells {
        /// The block.
        block: usize,
        /// Names of the columns of the cells; the last is empty where rows with a reference level have none.
        labels: Vec<String>,
        /// The reference level, where there is one factor.
        reference: Option<String>,
        /// The number that they are multiplied with, of those of the block; none in a block of levels alone.
        number: Option<usize>,
    },
}

/// A computed column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) made: Made,
}

/// Where the levels of a factor are found.
#[derive(Debug)]
pub(super) struct Lookup {
    spelled: HashMap<String, u32>,
    numbers: HashMap<u64, u32>,
}

/// A formula whose columns are known.
#[derive(Debug)]
pub(super) struct Sheet {
    pub(super) recipe: FormulaRecipe,
    pub(super) formula: Expanded,
    pub(super) blocks: Vec<Block>,
    pub(super) columns: Vec<Column>,
    /// Of every factor with levels.
    pub(super) lookups: Vec<Option<Lookup>>,
    /// Names of all coefficients of every block.
    names: Vec<Vec<String>>,
    features: usize,
}

impl Column {
    /// Names of the columns that cells stand for.
    fn cell_names(&self) -> Vec<String> {
        match &self.made {
            Made::Cells { labels, .. } => labels.iter().filter(|label| !label.is_empty()).cloned().collect(),
            _ => Vec::new(),
        }
    }
}

fn is_number(part: &Part) -> bool {
    matches!(part.coding, Coding::Numbers(_))
}

/// Which of the numbers of a block a column belongs to: the columns of its parts that are numbers, the first part's varying fastest.
fn number_of(block: &Block, mut column: usize) -> usize {
    let (mut number, mut stride) = (0, 1);
    for part in &block.parts {
        let width = part.coding.width().max(1);
        if is_number(part) {
            number += stride * (column % width);
            stride *= width;
        }
        column /= width;
    }
    number
}

impl Lookup {
    fn new(levels: &[String]) -> Self {
        let places = levels.iter().enumerate();
        let number =
            |(place, level): (usize, &String)| Some((bits(level.trim().parse().ok()?), place as u32));
        Self {
            spelled: places.clone().map(|(place, level)| (level.clone(), place as u32)).collect(),
            // The first of several spellings of a number.
            numbers: places.rev().filter_map(number).collect(),
        }
    }

    /// The place of a level, as it is spelled, else as a number.
    pub(super) fn text(&self, label: &str) -> Option<u32> {
        let spelled = self.spelled.get(label).copied();
        spelled.or_else(|| self.number(label.trim().parse().ok()?))
    }

    /// The place of a number.
    pub(super) fn number(&self, value: f64) -> Option<u32> {
        self.numbers.get(&bits(value)).copied()
    }
}

/// −0 is 0.
fn bits(value: f64) -> u64 {
    (value + 0.0).to_bits()
}

impl Sheet {
    /// The columns of a recipe; messages name `file`.
    pub(super) fn new(recipe: FormulaRecipe, file: &Path) -> Result<Self> {
        let formula = expanded(file, &recipe.text, &recipe.columns)?;
        let kinds: Vec<Kind> = recipe
            .factors
            .iter()
            .map(|learnt| match learnt {
                Learnt::Levels(levels) => Kind::Levels(levels.clone()),
                Learnt::Basis(_) => Kind::Number,
            })
            .collect();
        let kind = |factor: &Factor| {
            let place = formula.factors.iter().position(|own| own == factor);
            place.and_then(|place| kinds.get(place)).cloned().unwrap_or(Kind::Number)
        };
        let coded: Columns = formula.coding(kind).map_err(wrong(file))?;
        let mut names = coded.names().iter().cloned();
        let names = coded.blocks.iter().map(|block| names.by_ref().take(block.width()).collect()).collect();
        let lookups = recipe
            .factors
            .iter()
            .map(|learnt| if let Learnt::Levels(levels) = learnt { Some(Lookup::new(levels)) } else { None })
            .collect();
        let blocks = coded.blocks;
        let mut sheet = Self { recipe, formula, blocks, columns: Vec::new(), lookups, names, features: 0 };
        sheet.make_columns(file)?;
        Ok(sheet)
    }

    fn make_columns(&mut self, file: &Path) -> Result<()> {
        let (mut columns, mut all_names) = (Vec::new(), self.names.clone());
        for (number, block) in self.blocks.iter().enumerate().filter(|(_, block)| !block.parts.is_empty()) {
            let (levels, numbers): (Vec<_>, Vec<_>) =
                block.parts.iter().partition(|part| !matches!(part.coding, Coding::Numbers(_)));
            let name = || {
                let names: Vec<String> =
                    block.parts.iter().map(|part| self.formula.factors[part.factor].name()).collect();
                names.join(":")
            };
            let cells: usize = levels.iter().map(|part| part.coding.width()).product();
            if cells > MOST_LEVELS {
                let factor = &self.formula.factors[levels[0].factor];
                let problem = Problem::ManyLevels { factor: name(), limit: MOST_LEVELS };
                return Err(wrong(file)(self.formula.error_of(factor, problem)));
            }
            let names = &self.names[number];
            if !numbers.is_empty() && cells >= FEWEST_LEVELS {
                let slopes = self.slopes(number, &name());
                all_names[number] = slopes.iter().flat_map(Column::cell_names).collect();
                columns.extend(slopes);
                continue;
            }
            if !numbers.is_empty() {
                columns.extend(names.iter().enumerate().map(|(column, name)| Column {
                    name: name.clone(),
                    made: Made::Product { block: number, column },
                }));
                continue;
            }
            let mut labels = names.clone();
            let is_reduced = levels.iter().any(|part| matches!(part.coding, Coding::Reduced { .. }));
            labels.extend(is_reduced.then(String::new));
            let reference = match &levels[..] {
                [part] => match (&part.coding, &self.recipe.factors[part.factor]) {
                    (Coding::Reduced { reference, .. }, Learnt::Levels(all)) => all.get(*reference).cloned(),
                    _ => None,
                },
                _ => None,
            };
            let made = Made::Cells { block: number, labels, reference, number: None };
            columns.push(Column { name: name(), made });
        }
        self.features = columns.len();
        columns.extend(self.sides());
        (self.columns, self.names) = (columns, all_names);
        Ok(())
    }

    /// The cells with slopes of a block, one column for each of its numbers.
    fn slopes(&self, number: usize, name: &str) -> Vec<Column> {
        let block = &self.blocks[number];
        let widths = block.parts.iter().filter(|part| is_number(part)).map(|part| part.coding.width());
        let mut labels: Vec<Vec<String>> = vec![Vec::new(); widths.product()];
        for (column, name) in self.names[number].iter().enumerate() {
            labels[number_of(block, column)].push(name.clone());
        }
        let (count, is_reduced) =
            (labels.len(), block.parts.iter().any(|part| matches!(part.coding, Coding::Reduced { .. })));
        let made = labels.into_iter().enumerate().map(|(own, mut labels)| {
            labels.extend(is_reduced.then(String::new));
            let name = if count == 1 { name.into() } else { format!("{name} ({})", own + 1) };
            Column { name, made: Made::Cells { block: number, labels, reference: None, number: Some(own) } }
        });
        made.collect()
    }

    /// The response and what stands beside it.
    fn sides(&self) -> Vec<Column> {
        let value = &self.formula.response.value;
        let made = match value {
            Arithmetic::Column(name) => Made::Given(name.clone()),
            other => Made::Sum(vec![other.clone()]),
        };
        let mut sides = vec![Column { name: value.to_string(), made }];
        let mut sum = |name: String, of: Vec<Arithmetic>| sides.push(Column { name, made: Made::Sum(of) });
        if let (Some(name), ResponseRole::Trials(other) | ResponseRole::Event(other)) =
            (self.trials(), &self.formula.response.role)
        {
            sum(name, vec![other.clone()]);
        }
        if let (Some(name), Some(weights)) = (self.weights(), &self.formula.weights) {
            sum(name, vec![weights.clone()]);
        }
        if let Some(name) = self.offset() {
            sum(name, self.formula.offsets.clone());
        }
        sides
    }

    /// What stands beside the response: trials, or the events of times.
    fn trials(&self) -> Option<String> {
        match &self.formula.response.role {
            ResponseRole::Trials(trials) => Some(format!("trials({trials})")),
            ResponseRole::Event(event) => Some(format!("cens({event})")),
            ResponseRole::Alone => None,
        }
    }

    fn weights(&self) -> Option<String> {
        self.formula.weights.as_ref().map(|weights| format!("weights({weights})"))
    }

    fn offset(&self) -> Option<String> {
        let all: Vec<String> = self.formula.offsets.iter().map(|one| format!("offset({one})")).collect();
        (!all.is_empty()).then(|| all.join(" + "))
    }

    /// The roles of the columns, as options of a coding.
    pub(super) fn roles(&self, options: &CodingOptions) -> CodingOptions {
        CodingOptions {
            formula: None,
            // Rows with missing values are gone before a formula learns.
            missing: Missing::Refuse,
            response: self.formula.response.value.to_string(),
            features: Some(self.columns[..self.features].iter().map(|column| column.name.clone()).collect()),
            weights: self.weights(),
            trials: self.trials(),
            offset: self.offset(),
            intercept: self.formula.terms.intercept(),
            categorical: Vec::new(),
            references: Vec::new(),
            ..options.clone()
        }
    }

    /// Names and kinds of the columns that can be made of a table: all of those that explain, and the others where the table has what they need.
    pub(super) fn columns_over(&self, source: &Source) -> Result<Vec<(String, ColumnKind)>> {
        let there = &source.schema().names;
        if let Some(missing) = self.needed().iter().find(|name| !there.contains(name)) {
            return Err(unknown(source.path(), there, missing));
        }
        let kind = |column: &Column| match &column.made {
            Made::Cells { .. } => ColumnKind::Text,
            Made::Given(name) => {
                let place = there.iter().position(|own| own == name);
                place.map_or(ColumnKind::Number, |place| source.schema().kinds[place].clone())
            }
            Made::Sum(_) | Made::Product { .. } => ColumnKind::Number,
        };
        let mut made = Vec::new();
        for column in &self.columns {
            let is_there = self.needs_of(column).iter().all(|name| there.contains(name));
            // A place is kept for what is not there, under a name that nobody asks for.
            let name = if is_there { column.name.clone() } else { format!("{} (not there)", column.name) };
            made.push((name, kind(column)));
        }
        Ok(made)
    }

    /// The columns of the table that explain: those of the terms and the offsets.
    pub(super) fn needed(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        let mut seen = |name: &str| {
            found.insert(name.to_owned());
        };
        self.formula.factors.iter().for_each(|factor| factor.visit_columns(&mut |name| seen(name)));
        self.formula.offsets.iter().for_each(|offset| offset.visit_columns(&mut |name| seen(name)));
        found.into_iter().collect()
    }

    /// The columns of the table that a column is made of, each once.
    pub(super) fn needs_of(&self, column: &Column) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        let mut seen = |name: &str| {
            if !found.iter().any(|own| own == name) {
                found.push(name.to_owned());
            }
        };
        match &column.made {
            Made::Given(name) => seen(name),
            Made::Sum(all) => all.iter().for_each(|one| one.visit_columns(&mut |name| seen(name))),
            Made::Product { block, .. } | Made::Cells { block, .. } => {
                for part in &self.blocks[*block].parts {
                    self.formula.factors[part.factor].visit_columns(&mut |name| seen(name));
                }
            }
        }
        found
    }

    /// What the levels of a column stand for, where it is one of cells.
    pub(super) fn cells_of(&self, column: usize) -> Option<Cells<'_>> {
        match &self.columns.get(column)?.made {
            Made::Cells { reference, number, .. } => {
                Some(Cells { reference: reference.as_deref(), slopes: number.is_some() })
            }
            _ => None,
        }
    }

    /// The terms with the names of their coefficients.
    pub(super) fn terms(&self) -> Vec<TermNames> {
        let mut terms: Vec<(usize, TermNames)> = Vec::new();
        for (block, names) in self.blocks.iter().zip(&self.names) {
            match terms.last_mut() {
                Some((number, term)) if *number == block.term => term.coefficients.extend(names.clone()),
                _ => {
                    let term = self.formula.term_name(&self.formula.terms.0[block.term]);
                    terms.push((block.term, TermNames { term, coefficients: names.clone() }));
                }
            }
        }
        terms.into_iter().map(|(_, term)| term).collect()
    }
}

/// Whether a column of the table is used as levels alone, so that its texts count as they are spelled.
pub(super) fn levels_alone(formula: &Expanded, name: &str) -> bool {
    let (mut levels, mut otherwise) = (false, false);
    for factor in &formula.factors {
        match factor {
            Factor::Levels { column, .. } => levels |= column == name,
            other => other.visit_columns(&mut |own| otherwise |= own == name),
        }
    }
    let trials = match &formula.response.role {
        ResponseRole::Trials(other) | ResponseRole::Event(other) => Some(other),
        ResponseRole::Alone => None,
    };
    let sides = formula.offsets.iter().chain(&formula.weights).chain(trials);
    sides
        .chain([&formula.response.value])
        .for_each(|of| of.visit_columns(&mut |own| otherwise |= own == name));
    levels && !otherwise
}
