//! A table in parts: each part is read by itself, wherever that is, and what was seen of all of them merges.
//!
//! | step | of one part | of all |
//! |---|---|---|
//! | learn | [`learn_part`]: levels, summaries, checks | [`Learning`] merges them in the order of the parts and decides how columns are coded |
//! | rows | [`store_part`]: rows in the order of the file, coded as all others are | – |
//!
//! Both hash the columns as the file has them ([`ColumnHashes`]), so that a part that changed in between is noticed, whatever changed: a value, a label, a bit.
//! The recipe of a table that is cut in the same parts is the same to the last bit, in whatever order they come; of other cuts its means and spreads agree to about 1e-12.
//! Formulas learn their own numbers (means, knots) from the table as a whole before, in passes of their own.
//!
//! Memory: the rows of a part. What rounding to single precision loses is not measured here.

use std::collections::BTreeMap;
use std::path::Path;

use austerity_glm::data::Sides;
use austerity_glm::data::summary::ColumnSummary;
use austerity_glm::store::{Blueprint, Description, Order, StoreBuilder};
use austerity_glm::{ResponseKind, Store};
use serde::{Deserialize, Serialize};

use super::intake::{Intake, Planned, Surveyed, changed};
use crate::coding::feature::Filling;
use crate::coding::roles::Roles;
use crate::coding::{CodingOptions, FormulaRecipe, NewRows, Piece, Recipe, Term, formula, role};
use crate::error::{Error, Result};
use crate::table::{Chunk, PartSpec, Source};

/// A multiplier whose bits look random (the golden ratio in 64 bits).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes of columns by name, in the order of their rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnHashes(BTreeMap<String, [u64; 4]>);

impl ColumnHashes {
    /// Takes the next rows of some columns.
    pub(crate) fn push(&mut self, names: &[String], chunks: &[Chunk<'_>]) {
        for (name, chunk) in names.iter().zip(chunks) {
            if !self.0.contains_key(name) {
                self.0.insert(name.clone(), [1, 2, 3, 4]);
            }
            let Some(state) = self.0.get_mut(name) else { continue };
            match *chunk {
                Chunk::Numbers(values) => add(state, values.iter().map(|value| value.to_bits())),
                Chunk::Levels { codes, labels, .. } => add(state, texts(codes, labels)),
                Chunk::Slopes { codes, labels, numbers } => {
                    add(state, texts(codes, labels));
                    add(state, numbers.iter().map(|value| value.to_bits()));
                }
            }
        }
    }

    /// The first column that both have and that differs.
    #[must_use]
    pub fn differs(&self, other: &Self) -> Option<&str> {
        let differs =
            |(name, hash): &(&String, &[u64; 4])| other.0.get(*name).is_some_and(|own| own != *hash);
        self.0.iter().find(differs).map(|(name, _)| name.as_str())
    }

    /// One number for all columns, whatever their order.
    #[must_use]
    pub fn number(&self) -> u64 {
        let mut state = [5, 6, 7, 8];
        for (name, hash) in &self.0 {
            add(&mut state, std::iter::once(text(name)).chain(*hash));
        }
        state.iter().fold(0, |all, lane| (all ^ lane).wrapping_mul(MIX).rotate_left(29))
    }
}

/// Mixes words into four lanes in turn.
fn add(state: &mut [u64; 4], words: impl Iterator<Item = u64>) {
    let mut lanes = *state;
    let mut at = 0;
    for word in words {
        lanes[at] = (lanes[at] ^ word).wrapping_mul(MIX).rotate_left(31);
        at = (at + 1) % 4;
    }
    // How many there were counts as well.
    lanes.rotate_left(1);
    lanes[0] ^= at as u64;
    *state = lanes;
}

fn text(text: &str) -> u64 {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

fn texts(codes: &[u32], labels: &[String]) -> impl Iterator<Item = u64> {
    let hashes: Vec<u64> = labels.iter().map(|label| text(label)).collect();
    codes
        .iter()
        .map(move |&code| hashes.get(code as usize).copied().unwrap_or(0))
        .collect::<Vec<_>>()
        .into_iter()
}

/// What is to be learnt of a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToLearn {
    /// Which columns play which role; the formula is learnt already.
    pub options: CodingOptions,
    /// The kind of response that the family explains; the values tell where there is none.
    pub kind: Option<ResponseKind>,
    /// The formula that makes the columns.
    pub formula: Option<FormulaRecipe>,
}

/// What was learnt of a part.
#[derive(Clone, Serialize, Deserialize)]
pub struct Learnt {
    surveyed: Surveyed,
    /// Of its columns.
    pub hashes: ColumnHashes,
}

impl Learnt {
    /// Rows of the part.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.surveyed.rows
    }
}

/// Reads part number `number` for what a recipe needs.
pub fn learn_part(part: &PartSpec, number: usize, wanted: &ToLearn) -> Result<Learnt> {
    let work = || {
        let file = part.open()?;
        let source =
            wanted.formula.as_ref().map_or_else(|| Ok(file.clone()), |formula| formula.over(&file))?;
        let mut hashes = ColumnHashes::default();
        let surveyed = Surveyed::of(&source, (&wanted.options, wanted.kind), &mut |names, chunks| {
            hashes.push(names, chunks);
        })?;
        Ok(Learnt { surveyed: surveyed.into_part(number), hashes })
    };
    work().map_err(|error| part.located(error))
}

/// Merges what was learnt of the parts of a table.
pub struct Learning {
    /// The table, with the columns that the formula makes.
    source: Source,
    wanted: ToLearn,
    seen: Option<Surveyed>,
}

/// How the columns of a table are coded, and what they are.
#[derive(Clone, Debug)]
pub struct Design {
    /// How the columns of the files become those of a store.
    pub recipe: Recipe,
    /// A store of all rows, in the order of the files.
    pub description: Description,
    /// Sentences about choices.
    pub notes: Vec<String>,
    /// Sentences about what may be a mistake.
    pub warnings: Vec<String>,
}

impl Learning {
    /// Begins; a formula is learnt from the table.
    pub fn new(source: &Source, options: &CodingOptions, kind: Option<ResponseKind>) -> Result<Self> {
        let (source, mut wanted) = match &options.formula {
            None => (source.clone(), ToLearn { options: options.clone(), kind, formula: None }),
            Some(text) => {
                let (derived, recipe, options) =
                    formula::prepare(source, options, text).map_err(|error| source.located(error))?;
                (derived, ToLearn { options, kind, formula: Some(recipe) })
            }
        };
        // Refuses columns that are not there before a pass begins.
        Roles::assign(source.path(), &source.schema().names, &wanted.options)?;
        wanted.options.formula = None;
        Ok(Self { source, wanted, seen: None })
    }

    /// What parts are asked.
    #[must_use]
    pub fn wanted(&self) -> &ToLearn {
        &self.wanted
    }

    /// Adds the part that follows; `file` is named where it does not fit those before.
    pub fn add(&mut self, file: &Path, part: Learnt) -> Result<()> {
        match &mut self.seen {
            None => self.seen = Some(part.surveyed),
            Some(seen) => seen.merge((file, &self.wanted.options.response), part.surveyed)?,
        }
        Ok(())
    }

    /// Decides how columns are coded.
    pub fn finish(self) -> Result<Design> {
        let Self { source, wanted, seen } = self;
        let seen = seen.ok_or_else(|| changed(&source))?;
        let intake = Intake::of_survey(&source, &wanted.options, seen, &mut |features, which| {
            which.iter().for_each(|&place| standardize(&mut features[place]));
            Ok(())
        });
        let located = |error: Error| source.located(error).naming_response(&wanted.options.response);
        let intake = intake.map_err(located)?;
        let blueprint: Blueprint = intake.blueprint(Order::AsGiven).map_err(Error::data(source.path()))?;
        let description = blueprint.describe().map_err(Error::data(source.path()))?;
        let recipe = intake.recipe(wanted.formula);
        let (notes, warnings) = intake.remarks(&description.warnings);
        Ok(Design { recipe, description, notes, warnings })
    }
}

/// The summary of numbers after they were shifted and scaled.
fn standardize(feature: &mut Planned) {
    if let (Filling::Number { shift, scale } | Filling::Truths { shift, scale, .. }, [summary]) =
        (&feature.filling, &mut feature.summaries[..])
    {
        *summary = ColumnSummary::moved(summary, *shift, *scale);
    }
}

/// The rows of a part in the order of the file, stored as those of `description` are, and the hashes of its columns.
pub fn store_part(
    part: &PartSpec,
    recipe: &Recipe,
    description: &Description,
) -> Result<(Store, ColumnHashes)> {
    read_part(part, recipe, description).map_err(|error| part.located(error))
}

fn read_part(part: &PartSpec, recipe: &Recipe, description: &Description) -> Result<(Store, ColumnHashes)> {
    let source = part.open()?;
    let wrong = || Error::data(&part.path);
    let rows = NewRows::new(&source, recipe, description.kind, true)?;
    let missing = |name: &String, what: &str| {
        Err(role(
            &part.path,
            name,
            format!("{what} is not in this file"),
            "all files of a table have the same columns",
        ))
    };
    if !rows.scored() {
        return missing(recipe.trials.as_ref().unwrap_or(&recipe.response), "the response, or the trials,");
    }
    if let Some(name) = recipe.weights.as_ref().filter(|_| !rows.has_weights()) {
        return missing(name, "the column of weights");
    }
    // Text files do not say how many rows they have.
    let count = match source.schema().rows {
        Some(rows) => rows,
        None => source.scan(
            &[source.schema().names[0].clone()],
            &[source.schema().names[0].clone()],
            &mut |_, _| Ok(()),
        )?,
    };
    let mut builder = StoreBuilder::new(Blueprint::described(description, count).map_err(wrong())?);
    let mut hashes = ColumnHashes::default();
    let mut watch = |names: &[String], chunks: &[Chunk<'_>]| hashes.push(names, chunks);
    rows.scan_watched(&mut watch, &mut |piece| {
        fill(&mut builder, recipe, description, piece).map_err(wrong())
    })?;
    Ok((builder.finish().map_err(wrong())?, hashes))
}

/// Stores a piece of rows.
fn fill(
    builder: &mut StoreBuilder,
    recipe: &Recipe,
    description: &Description,
    piece: &Piece<'_>,
) -> austerity::Result<()> {
    let response = piece.response.as_deref().unwrap_or_default();
    let sides = Sides {
        response,
        trials: piece.trials.as_deref().filter(|_| description.trials),
        offset: piece.offset.as_deref(),
        weights: piece.weights.as_deref().filter(|_| description.weights),
    };
    builder.fill_sides(piece.first, &sides)?;
    let mut at = 0;
    for term in &recipe.terms {
        let columns = at..at + term.names().len();
        at = columns.end;
        let given = &piece.columns[columns.clone()];
        let stored = &description.columns[columns.clone()];
        if stored.first().is_some_and(|column| column.factor.is_some()) {
            // The code of a row is the column that is not 0 there; beyond the last one there is none.
            let none = columns.len() as u32;
            let mut codes = vec![none; piece.rows];
            let mut numbers = vec![0.0; piece.rows];
            for (code, column) in given.iter().enumerate() {
                for (row, &value) in column.iter().enumerate().filter(|&(_, &value)| value != 0.0) {
                    (codes[row], numbers[row]) = (code as u32, value);
                }
            }
            let places: Vec<Option<usize>> = columns.map(Some).chain([None]).collect();
            if stored[0].slope {
                builder.fill_slopes(&places, piece.first, (&codes, &numbers))?;
            } else {
                builder.fill_levels(&places, piece.first, &codes)?;
            }
            continue;
        }
        for (column, values) in columns.zip(given) {
            match term {
                Term::Number { shift, scale, .. } if (*shift, *scale) != (0.0, 1.0) => {
                    let moved: Vec<f64> = values.iter().map(|value| (value - shift) / scale).collect();
                    builder.fill(column, piece.first, &moved)?;
                }
                _ => builder.fill(column, piece.first, values)?,
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
