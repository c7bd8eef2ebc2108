//! From a file to rows ready for sampling, in two passes and without a copy of the table.
//!
//! | file | what it does |
//! |---|---|
//! | `intake` | the first pass: roles, codings, levels, summaries, checks; and the second, piece by piece |
//! | [`part`] | a table in parts that are read one by one, here or elsewhere |
//! | `columnar` | files stored by columns: each column is decoded once, summarised, stored and dropped |
//!
//! Text and row-major arrays are read twice (three times to standardise): the first pass decides, the second sends every
//! value straight to its shuffled place. Dropping rows with missing values reads the columns once more, to find them. Parquet and column-major arrays are decoded once, on threads. Both give the same
//! bits. Memory: the blocks (4 bytes per value), 4 bytes per row for the order, and of columnar files up to two columns per
//! thread in double precision and 4 bytes per row of every categorical column.
//!
//! ```no_run
//! use austerity_glm::ResponseKind;
//! use austerity_io::coding::CodingOptions;
//! use austerity_io::load::{LoadOptions, load};
//!
//! let source = austerity_io::table::open("flights.parquet")?;
//! let loaded = load(&source, &CodingOptions::new("late"), Some(ResponseKind::Binary), 1, &LoadOptions::default())?;
//! println!("{} rows, {:?}", loaded.store.rows(), loaded.store.coefficient_names());
//! # Ok::<(), austerity_io::Error>(())
//! ```

mod columnar;
pub(crate) mod intake;
pub mod part;

use std::path::PathBuf;

use austerity_glm::store::{Order, StoreBuilder};
use austerity_glm::{ResponseKind, Store};

use crate::coding::feature::Filled;
use crate::coding::roles::Roles;
use crate::coding::{CodingOptions, Recipe, formula};
use crate::error::{Error, Result};
use crate::table::{Dropped, Missing, Source};
use intake::Intake;

/// How to load.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LoadOptions {
    /// Threads; as many as the source was opened with when `None`. Never changes a bit of the result.
    pub threads: Option<usize>,
}

/// Rows ready for sampling, and how they were made.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The rows. The kind of response that was found is `store.description().kind`.
    pub store: Store,
    /// How the columns of the file became those of the store.
    pub recipe: Recipe,
    /// The file, for messages.
    pub file: PathBuf,
    /// Sentences about choices.
    pub notes: Vec<String>,
    /// Sentences about what may be a mistake, those of the library included.
    pub warnings: Vec<String>,
    /// The rows that were left out, where the options ask for that.
    pub dropped: Option<Dropped>,
    /// The group terms of the formula.
    pub groups: Vec<formula::Grouping>,
}

/// Loads the columns that the options need, and no others; `seed` shuffles the rows.
///
/// Without a `kind` a response with two values is binary and any other real (a count of trials where trials are given).
pub fn load(
    source: &Source,
    options: &CodingOptions,
    kind: Option<ResponseKind>,
    seed: u64,
    how: &LoadOptions,
) -> Result<Loaded> {
    let (source, dropped) = &without_missing(source, options)?;
    if let Some(text) = &options.formula {
        let prepared = formula::prepare(source, options, text);
        let (derived, recipe, roles) = prepared.map_err(|error| source.located(error))?;
        let mut loaded = load(&derived, &roles, kind, seed, how)?;
        loaded.recipe.formula = Some(recipe);
        if options.groups {
            loaded.groups = formula::read_groups(source, text).map_err(|error| source.located(error))?;
        }
        loaded.warnings.extend(formula::check_rank(source.path(), &loaded.store, &loaded.recipe)?);
        return Ok(loaded.with(dropped));
    }
    let order = Order::Shuffled { seed };
    let loaded = if source.is_columnar() && !source.has_slopes() {
        columnar::load(source, options, kind, order, how.threads.unwrap_or(source.threads()))
    } else {
        by_pieces(source, options, kind, order)
    };
    let located = |error| source.located(error).naming_response(&options.response);
    Ok(loaded.map_err(located)?.with(dropped))
}

impl Loaded {
    /// Says which rows were left out.
    fn with(mut self, dropped: &Option<Dropped>) -> Self {
        self.notes.extend(dropped.iter().map(ToString::to_string));
        self.dropped.clone_from(dropped);
        self
    }
}

/// The table without the rows that miss a value in a column used, where the options ask for that.
pub fn without_missing(source: &Source, options: &CodingOptions) -> Result<(Source, Option<Dropped>)> {
    if options.missing == Missing::Refuse {
        return Ok((source.clone(), None));
    }
    let (columns, as_text) = match &options.formula {
        Some(text) => formula::inputs(source, text)?,
        None => {
            let roles = Roles::assign(source.path(), &source.schema().names, options)?;
            (roles.columns(), options.categorical.clone())
        }
    };
    let (source, dropped) = source.without_missing(&columns, &as_text)?;
    Ok((source, Some(dropped)))
}

/// Loads rows piece after piece, twice.
fn by_pieces(
    source: &Source,
    options: &CodingOptions,
    kind: Option<ResponseKind>,
    order: Order,
) -> Result<Loaded> {
    let intake = Intake::survey(source, options, kind)?;
    let wrong = || Error::data(source.path());
    let mut builder = StoreBuilder::new(intake.blueprint(order).map_err(wrong())?);
    intake.each(source, &mut |first, sides, pieces| {
        builder.fill_sides(first, sides).map_err(wrong())?;
        for (feature, piece) in intake.features.iter().zip(pieces) {
            match piece {
                Filled::Numbers(values) => builder.fill(feature.first, first, values),
                Filled::Codes(codes) => builder.fill_levels(&feature.places(), first, codes),
                Filled::Slopes(codes, numbers) => {
                    builder.fill_slopes(&feature.places(), first, (codes, numbers))
                }
            }
            .map_err(wrong())?;
        }
        Ok(())
    })?;
    let store = builder.finish().map_err(wrong())?;
    Ok(intake.loaded(source, store))
}

#[cfg(test)]
mod tests;
