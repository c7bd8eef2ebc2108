//! The values of a formula's columns in some rows.
//!
//! Every factor is computed once per piece, whatever the number of terms it is in; a column of a block is the product of those of its
//! factors. Cost: a few operations per row and column. A value that is not finite is an error with its row.

use std::borrow::Cow;

use austerity_formula::{Arithmetic, Basis, Block, Coding, Factor, Problem};

use super::sheet::{Lookup, Made, Sheet, levels_alone};
use super::{Learnt, wrong};
use crate::error::{Error, Place, Result};
use crate::table::Chunk;
use crate::table::derived::{Cells, Compute, Rows, Values};
use crate::table::levels::truths;

/// Levels named in an error.
const LISTED: usize = 8;
/// A level that was not looked up yet.
const UNSEEN: u32 = u32::MAX;

/// The values of a factor in some rows.
enum FactorValues<'a> {
    /// Of each of its columns.
    Numbers(Vec<Cow<'a, [f64]>>),
    /// Places of levels.
    Levels(Vec<u32>),
}

/// The factors of some rows, as far as they were needed.
struct Factors<'s, 'a> {
    sheet: &'s Sheet,
    rows: Rows<'a>,
    known: Vec<Option<FactorValues<'a>>>,
}

/// The numbers of a column of the table; `true` and `false` of text files are 1 and 0.
pub(super) fn numbers<'a>(
    sheet: &austerity_formula::Expanded,
    rows: &Rows<'a>,
    name: &str,
) -> Result<Cow<'a, [f64]>> {
    match rows.chunk(name) {
        Chunk::Numbers(values) => Ok(Cow::Borrowed(values)),
        // Columns of tables have none.
        Chunk::Slopes { numbers, .. } => Ok(Cow::Borrowed(numbers)),
        Chunk::Levels { codes, labels, truths: allowed } => match allowed.then(|| truths(labels)).flatten() {
            Some(truths) => Ok(codes.iter().map(|&code| truths[code as usize]).collect()),
            None => {
                let text = codes.first().map_or("", |&code| labels[code as usize].as_str());
                let problem = Problem::TextColumn { column: name.into(), text: text.into() };
                Err(wrong(rows.file)(sheet.error_at(name, problem)))
            }
        },
    }
}

/// The values of arithmetic; all of them finite.
pub(super) fn evaluated<'a>(
    formula: &austerity_formula::Expanded,
    rows: &Rows<'a>,
    of: &Arithmetic,
) -> Result<Cow<'a, [f64]>> {
    if let Arithmetic::Column(name) = of {
        return numbers(formula, rows, name);
    }
    let mut names: Vec<&str> = Vec::new();
    of.visit_columns(&mut |name| {
        if !names.contains(&name) {
            names.push(name);
        }
    });
    let columns: Vec<Cow<'a, [f64]>> =
        names.iter().map(|name| numbers(formula, rows, name)).collect::<Result<_>>()?;
    let column = |name: &str| {
        let place = names.iter().position(|own| *own == name);
        place.map_or(&[][..], |place| &columns[place][..])
    };
    let values = of.evaluate_all(rows.count, &column);
    let Some(row) = values.iter().position(|value| !value.is_finite()) else {
        return Ok(Cow::Owned(values));
    };
    let given: Vec<String> =
        names.iter().zip(&columns).map(|(name, values)| format!("{name} = {}", values[row])).collect();
    Err(Error::Value {
        place: Place::new(rows.file, &of.to_string(), rows.first + row),
        problem: format!("it is {} in this row, with {}", values[row], given.join(", ")),
        remedy: "drop the row, or change the formula".into(),
    })
}

impl Lookup {
    /// The places of the levels of some rows; or the first row with another level, and that.
    fn places(&self, chunk: &Chunk<'_>) -> std::result::Result<Vec<u32>, (usize, String)> {
        match *chunk {
            Chunk::Levels { codes, labels, .. } | Chunk::Slopes { codes, labels, .. } => {
                let mut places = vec![UNSEEN; labels.len()];
                let mut place = |(row, &code): (usize, &u32)| {
                    let known = &mut places[code as usize];
                    if *known == UNSEEN {
                        let label = &labels[code as usize];
                        *known = self.text(label).ok_or_else(|| (row, label.clone()))?;
                    }
                    Ok(*known)
                };
                codes.iter().enumerate().map(&mut place).collect()
            }
            Chunk::Numbers(values) => {
                let place =
                    |(row, &value): (usize, &f64)| self.number(value).ok_or_else(|| (row, value.to_string()));
                values.iter().enumerate().map(place).collect()
            }
        }
    }
}

impl<'a> Factors<'_, 'a> {
    /// Computes a factor, unless it was computed before.
    fn need(&mut self, factor: usize) -> Result<()> {
        if self.known[factor].is_none() {
            self.known[factor] = Some(self.compute(factor)?);
        }
        Ok(())
    }

    fn compute(&self, factor: usize) -> Result<FactorValues<'a>> {
        let (sheet, rows) = (self.sheet, &self.rows);
        match (&sheet.formula.factors[factor], &sheet.recipe.factors[factor]) {
            (Factor::Column(name) | Factor::Levels { column: name, .. }, Learnt::Levels(levels)) => {
                let Some(lookup) = &sheet.lookups[factor] else {
                    return Ok(FactorValues::Levels(Vec::new()));
                };
                let places = lookup.places(&rows.chunk(name)).map_err(|(row, label)| {
                    let more = if levels.len() > LISTED { ", …" } else { "" };
                    let known = levels[..levels.len().min(LISTED)].join(", ");
                    Error::Value {
                        place: Place::new(rows.file, name, rows.first + row),
                        problem: format!(
                            "the level `{label}` was not there when the model was fitted (levels: {known}{more})"
                        ),
                        remedy: "drop the row, or give it a known level".into(),
                    }
                })?;
                Ok(FactorValues::Levels(places))
            }
            (Factor::Column(name) | Factor::Levels { column: name, .. }, Learnt::Basis(_)) => {
                Ok(FactorValues::Numbers(vec![numbers(&sheet.formula, rows, name)?]))
            }
            (
                Factor::Number(of)
                | Factor::Scaled { of, .. }
                | Factor::Polynomial { of, .. }
                | Factor::Spline { of, .. },
                Learnt::Basis(basis),
            ) => {
                let values = evaluated(&sheet.formula, rows, of)?;
                self.check_limits(&sheet.formula.factors[factor].name(), basis, (&of.to_string(), &values))?;
                Ok(FactorValues::Numbers(applied(basis, values)))
            }
            (_, Learnt::Levels(_)) => Ok(FactorValues::Numbers(Vec::new())),
        }
    }

    /// Refuses values where a basis says nothing.
    fn check_limits(&self, factor: &str, basis: &Basis, (of, values): (&str, &[f64])) -> Result<()> {
        let Some((low, high)) = basis.limits() else { return Ok(()) };
        match values.iter().position(|value| !(low..=high).contains(value)) {
            None => Ok(()),
            Some(row) => Err(Error::Value {
                place: Place::new(self.rows.file, of, self.rows.first + row),
                problem: format!(
                    "{} is outside of {low} to {high}, where the knots of {factor} are",
                    values[row]
                ),
                remedy: "drop the row, or fit with cr(), which goes on as a straight line".into(),
            }),
        }
    }

    /// A column of a block of numbers, or of numbers and levels.
    fn product(&mut self, block: &Block, column: usize) -> Result<Vec<f64>> {
        let mut left = column;
        let mut product: Option<Vec<f64>> = None;
        for part in &block.parts {
            let width = part.coding.width().max(1);
            let own = left % width;
            left /= width;
            self.need(part.factor)?;
            let Some(values) = &self.known[part.factor] else { continue };
            match (values, &mut product) {
                (FactorValues::Numbers(columns), None) => product = Some(columns[own].to_vec()),
                (FactorValues::Numbers(columns), Some(product)) => {
                    product.iter_mut().zip(&*columns[own]).for_each(|(product, value)| *product *= value);
                }
                (FactorValues::Levels(places), product) => {
                    let product = product.get_or_insert_with(|| vec![1.0; places.len()]);
                    for (product, &place) in product.iter_mut().zip(places) {
                        if part.coding.column_of(place as usize) != Some(own) {
                            *product = 0.0;
                        }
                    }
                }
            }
        }
        Ok(product.unwrap_or_default())
    }

    /// The cells of a block: the number of the column that is 1, or one more than the last where none is.
    fn cells(&mut self, block: &Block) -> Result<Vec<u32>> {
        let all = block.parts.iter().map(|part| part.coding.width()).product::<usize>() as u32;
        let mut cells = vec![0u32; self.rows.count];
        let mut stride = 1;
        for part in &block.parts {
            self.need(part.factor)?;
            let Some(FactorValues::Levels(places)) = &self.known[part.factor] else { continue };
            let levels = match &part.coding {
                Coding::Reduced { levels, .. } | Coding::Full { levels } => *levels,
                Coding::Numbers(_) => 0,
            };
            let columns: Vec<Option<u32>> =
                (0..levels).map(|level| part.coding.column_of(level).map(|column| column as u32)).collect();
            for (cell, &place) in cells.iter_mut().zip(places) {
                *cell = match columns[place as usize] {
                    Some(column) if *cell < all => *cell + stride * column,
                    _ => all,
                };
            }
            stride *= part.coding.width() as u32;
        }
        Ok(cells)
    }
}

/// The levels and the numbers of a block, each as a block.
fn parted(block: &Block) -> (Block, Block) {
    let (numbers, levels) =
        block.parts.iter().cloned().partition(|part| matches!(part.coding, Coding::Numbers(_)));
    (Block { term: block.term, parts: levels }, Block { term: block.term, parts: numbers })
}

/// The columns of a basis.
fn applied<'a>(basis: &Basis, values: Cow<'a, [f64]>) -> Vec<Cow<'a, [f64]>> {
    if *basis == Basis::Plain {
        return vec![values];
    }
    let width = basis.width();
    let mut columns = vec![vec![0.0; values.len()]; width];
    let mut row = vec![0.0; width];
    for (at, &value) in values.iter().enumerate() {
        basis.write(value, &mut row);
        columns.iter_mut().zip(&row).for_each(|(column, &value)| column[at] = value);
    }
    columns.into_iter().map(Cow::Owned).collect()
}

impl Compute for Sheet {
    fn needs(&self, chosen: &[usize], as_text: &[String]) -> (Vec<String>, Vec<String>) {
        let (mut names, mut text): (Vec<String>, Vec<String>) = (Vec::new(), Vec::new());
        for &number in chosen {
            let Some(column) = self.columns.get(number) else { continue };
            for name in self.needs_of(column) {
                if levels_alone(&self.formula, &name)
                    || matches!(column.made, Made::Given(_)) && as_text.contains(&column.name)
                {
                    text.push(name.clone());
                }
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        (names, text)
    }

    fn plain(&self, column: usize) -> Option<&str> {
        match &self.columns.get(column)?.made {
            Made::Given(name) => Some(name),
            Made::Product { block, .. } => match &self.blocks[*block].parts[..] {
                [part] => match &self.formula.factors[part.factor] {
                    Factor::Column(name) | Factor::Number(Arithmetic::Column(name)) => Some(name),
                    _ => None,
                },
                _ => None,
            },
            Made::Sum(all) => match &all[..] {
                [Arithmetic::Column(name)] => Some(name),
                _ => None,
            },
            Made::Cells { .. } => None,
        }
    }

    fn group(&self, column: usize) -> usize {
        match self.columns.get(column).map(|column| &column.made) {
            Some(Made::Product { block, .. } | Made::Cells { block, .. }) => *block,
            _ => self.blocks.len() + column,
        }
    }

    fn cells(&self, column: usize) -> Option<Cells<'_>> {
        self.cells_of(column)
    }

    fn ordered_like(&self, column: usize) -> Option<&str> {
        match &self.columns.get(column)?.made {
            Made::Given(name) => Some(name),
            _ => None,
        }
    }

    fn compute<'a>(&'a self, rows: &Rows<'a>, chosen: &[usize]) -> Result<Vec<Values<'a>>> {
        let known = (0..self.formula.factors.len()).map(|_| None).collect();
        let mut factors = Factors { sheet: self, rows: *rows, known };
        let mut made = Vec::with_capacity(chosen.len());
        for &number in chosen {
            if let Some(chunk) = self.plain(number).map(|name| rows.chunk(name))
                && (matches!(chunk, Chunk::Numbers(_)) || self.is_given(number))
            {
                made.push(Values::Given(chunk));
                continue;
            }
            made.push(match self.columns.get(number).map(|column| &column.made) {
                Some(Made::Product { block, column }) => {
                    Values::Numbers(factors.product(&self.blocks[*block], *column)?)
                }
                Some(Made::Cells { block, labels, number: None, .. }) => {
                    Values::Levels { codes: factors.cells(&self.blocks[*block])?, labels }
                }
                Some(Made::Cells { block, labels, number: Some(number), .. }) => {
                    let (levels, numbers) = parted(&self.blocks[*block]);
                    let codes = factors.cells(&levels)?;
                    Values::Slopes { codes, labels, numbers: factors.product(&numbers, *number)? }
                }
                Some(Made::Sum(all)) => {
                    let mut sum = vec![0.0; rows.count];
                    for of in all {
                        let values = evaluated(&self.formula, rows, of)?;
                        sum.iter_mut().zip(&*values).for_each(|(sum, value)| *sum += value);
                    }
                    Values::Numbers(sum)
                }
                Some(Made::Given(_)) | None => Values::Given(Chunk::Numbers(&[])),
            });
        }
        Ok(made)
    }
}

impl Sheet {
    /// Whether a column is handed on whatever it holds: the response.
    fn is_given(&self, column: usize) -> bool {
        matches!(self.columns.get(column).map(|column| &column.made), Some(Made::Given(_)))
    }
}
