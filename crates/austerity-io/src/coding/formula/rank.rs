//! Do the columns of a formula repeat each other? `city + country` does, where a city is in one country.
//!
//! Columns that are linearly dependent on all rows are so on a sample. So the columns of the first stored rows, which are in random order, are
//! orthogonalised one after the other (modified Gram–Schmidt, twice; Björck 1967). A column of which nothing but rounding is left is written as a
//! combination of those before it, and the combination is tried on every row. If it holds, the formula is refused, with the names of the columns that
//! take part. The columns of `cr()` add up to 1 by design: there the prior decides, and a warning says so.
//!
//! Cost: 2·n·d² for n sampled rows of d columns; a pass over all rows only where the sample found something. Designs of more than
//! [`MOST_COLUMNS`] columns are not looked at, nor are columns that are constant in the sample.

use std::path::Path;

use austerity_glm::Store;

use crate::coding::{Recipe, role};
use crate::error::Result;

/// Columns beyond which nothing is looked at.
const MOST_COLUMNS: usize = 300;
/// Rows of the sample: at least so many, and so many per column.
const SAMPLE: usize = 2000;
const SAMPLE_PER_COLUMN: usize = 10;
/// What single precision leaves of a column that others add up to is less than this, in standard deviations: its roundings are 6e-8.
const NOTHING: f64 = 1e-5;
/// A combination holds where it leaves no more than this of any row, in standard deviations of the sample.
const HOLDS: f64 = 1e-3;
/// Columns that take part in a combination have at least this share of its largest coefficient.
const TAKES_PART: f64 = 1e-4;

/// A column of the sample: its mean, its norm, and what is left of it.
struct Scaled {
    mean: f64,
    norm: f64,
}

/// Columns that add up to another.
struct Combination {
    /// The column, and the others with their coefficients, in units of their norms.
    column: usize,
    others: Vec<(usize, f64)>,
}

/// Refuses a design whose columns repeat each other; a warning where they are meant to.
pub fn check_rank(file: &Path, store: &Store, recipe: &Recipe) -> Result<Option<String>> {
    let Some(formula) = &recipe.formula else { return Ok(None) };
    let d = store.description().columns.len();
    if d == 0 || d > MOST_COLUMNS {
        return Ok(None);
    }
    let rows = store.rows().min(SAMPLE.max(SAMPLE_PER_COLUMN * d));
    let mut columns = vec![Vec::with_capacity(rows); d];
    for position in 0..rows {
        columns.iter_mut().zip(store.row(position)).for_each(|(column, value)| column.push(value));
    }
    let scaled: Vec<Scaled> = columns.iter_mut().map(|column| scale(column, recipe.intercept)).collect();
    let names = store.coefficient_names();
    let names = &names[usize::from(recipe.intercept)..];
    let terms = recipe.term_names()?;
    let term_of = |name: &String| {
        let term = terms.iter().find(|term| term.coefficients.contains(name));
        term.map_or("", |term| term.term.as_str())
    };
    let add_up = formula.splines_that_add_up();
    let mut warning = None;
    for found in combinations(&columns, &scaled) {
        if !holds(store, &scaled, &found, recipe.intercept) {
            continue;
        }
        let mut parts: Vec<usize> = found.others.iter().map(|(column, _)| *column).collect();
        parts.push(found.column);
        parts.sort_unstable();
        let mut involved: Vec<&str> = Vec::new();
        for term in parts.iter().map(|&column| term_of(&names[column])) {
            if !involved.contains(&term) {
                involved.push(term);
            }
        }
        let by_design = |term: &&str| term.split(':').any(|factor| add_up.iter().any(|own| own == factor));
        if let Some(term) = involved.iter().copied().find(|term| by_design(term)) {
            warning.get_or_insert_with(|| {
                format!("the columns of {term} add up to those of another term: the prior tells them apart")
            });
            continue;
        }
        let listed: Vec<String> = parts.iter().map(|&column| format!("`{}`", names[column])).collect();
        let problem = format!(
            "the columns {} cannot be told apart: in every row one is a sum of multiples of the others{}",
            listed.join(", "),
            if recipe.intercept { " and the intercept" } else { "" }
        );
        return Err(role(
            file,
            &names[found.column],
            problem,
            format!("leave out one of the terms {}", involved.join(", ")),
        ));
    }
    Ok(warning)
}

/// Centres a column if there is an intercept, and divides it by its norm.
fn scale(column: &mut [f64], centred: bool) -> Scaled {
    let mean = if centred { column.iter().sum::<f64>() / column.len() as f64 } else { 0.0 };
    let size = column.iter().map(|value| value.abs()).fold(0.0, f64::max);
    column.iter_mut().for_each(|value| *value -= mean);
    let norm = column.iter().map(|value| value * value).sum::<f64>().sqrt();
    // Constant in the sample, up to rounding.
    let norm = if norm <= 1e-7 * size * (column.len() as f64).sqrt() { 0.0 } else { norm };
    if norm > 0.0 {
        column.iter_mut().for_each(|value| *value /= norm);
    }
    Scaled { mean, norm }
}

/// Columns of the sample of which nothing is left after those before them, as combinations of these.
fn combinations(columns: &[Vec<f64>], scaled: &[Scaled]) -> Vec<Combination> {
    let mut directions: Vec<Vec<f64>> = Vec::new();
    // For each direction its column, and that column's products with the directions up to its own.
    let mut kept: Vec<(usize, Vec<f64>)> = Vec::new();
    let mut found = Vec::new();
    for (number, column) in columns.iter().enumerate().filter(|(number, _)| scaled[*number].norm > 0.0) {
        let mut left = column.clone();
        let mut products = vec![0.0; directions.len()];
        for _ in 0..2 {
            for (direction, product) in directions.iter().zip(&mut products) {
                let dot: f64 = direction.iter().zip(&left).map(|(a, b)| a * b).sum();
                *product += dot;
                left.iter_mut().zip(direction).for_each(|(left, direction)| *left -= dot * direction);
            }
        }
        let norm = left.iter().map(|value| value * value).sum::<f64>().sqrt();
        if norm > NOTHING {
            left.iter_mut().for_each(|value| *value /= norm);
            directions.push(left);
            products.push(norm);
            kept.push((number, products));
        } else if !products.is_empty() {
            found.push(Combination { column: number, others: solved(products, &kept) });
        }
    }
    found
}

/// The combination of the kept columns that has these products with the directions, by back substitution.
fn solved(mut products: Vec<f64>, kept: &[(usize, Vec<f64>)]) -> Vec<(usize, f64)> {
    let mut all = Vec::new();
    for (place, (column, own)) in kept.iter().enumerate().rev() {
        let coefficient = products[place] / own[place];
        products.iter_mut().zip(own).for_each(|(product, own)| *product -= coefficient * own);
        all.push((*column, coefficient));
    }
    let largest = all.iter().map(|(_, coefficient)| coefficient.abs()).fold(0.0, f64::max);
    all.retain(|(_, coefficient)| coefficient.abs() > TAKES_PART * largest);
    all
}

/// Whether a combination is that of every row.
fn holds(store: &Store, scaled: &[Scaled], found: &Combination, centred: bool) -> bool {
    let rows = store.rows().min(SAMPLE.max(SAMPLE_PER_COLUMN * scaled.len()));
    let unit = |column: usize| scaled[column].norm / (rows as f64).sqrt();
    let value = |row: &[f64], column: usize| {
        (row[column] - if centred { scaled[column].mean } else { 0.0 }) / unit(column)
    };
    (0..store.rows()).all(|position| {
        let row = store.row(position);
        let others: f64 = found.others.iter().map(|&(column, c)| c * value(&row, column)).sum();
        (value(&row, found.column) - others).abs() < HOLDS
    })
}
