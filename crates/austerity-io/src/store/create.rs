//! A table becomes a store: surveyed, scattered to buckets, written in shuffled order.
//!
//! Passes over the table: one that decides (two to standardise), one that scatters. Memory: what
//! [`ConvertOptions::memory`] says for the rows, and beside it the pages of a few thousand rows of every column. Everything
//! goes to a temporary folder beside `OUT`, which becomes `OUT` at the end: a store under its own name is complete, an error leaves nothing
//! behind, and what a killed conversion left is removed by the next one. Disk: the store, and while it is made the rows once more unless they fit in the memory given.

use std::path::{Path, PathBuf};

use austerity::model::shuffle_keys;
use austerity_glm::ResponseKind;
use austerity_glm::glm::blocks::BLOCK;
use austerity_glm::store::{Blueprint, Order};

use super::Shard;
use super::blocks::{About, BlockWriter, PartFolder};
use super::buckets::Buckets;
use crate::coding::feature::{Filled, Filling};
use crate::coding::{CodingOptions, formula};
use crate::error::{Error, Result};
use crate::load::intake::Intake;
use crate::load::without_missing;
use crate::table::Source;

/// How to convert.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvertOptions {
    /// Bytes that the rows may take in memory while they are shuffled.
    pub memory: usize,
    /// Stores to make; more than one become folders of the output.
    pub shards: usize,
}

impl Default for ConvertOptions {
    /// A gigabyte, and one store.
    fn default() -> Self {
        Self { memory: 1 << 30, shards: 1 }
    }
}

/// How far a conversion is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The table is read for the first time.
    Survey,
    /// Rows scattered to buckets, of all.
    Scatter {
        /// Rows done.
        done: usize,
        /// Rows in all.
        rows: usize,
    },
    /// Rows written in their final order, of all.
    Write {
        /// Rows done.
        done: usize,
        /// Rows in all.
        rows: usize,
    },
}

/// What was made.
#[derive(Clone, Debug)]
pub struct Created {
    /// The stores.
    pub folders: Vec<PathBuf>,
    /// Rows in all of them.
    pub rows: usize,
    /// Bytes of all files.
    pub bytes: u64,
    /// Buckets of the shuffle: 1 when everything fitted in the memory given.
    pub buckets: usize,
    /// Sentences about choices.
    pub notes: Vec<String>,
    /// Sentences about what may be a mistake.
    pub warnings: Vec<String>,
}

/// Makes a store of a table; `seed` shuffles the rows. `options` and `kind` as in [`crate::load::load`].
pub fn create(
    source: &Source,
    (options, kind): (&CodingOptions, Option<ResponseKind>),
    seed: u64,
    out: impl AsRef<Path>,
    how: &ConvertOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<Created> {
    let (mut owned, mut formula) = (None, None);
    let (source, dropped) = &without_missing(source, options)?;
    if let Some(text) = &options.formula {
        progress(Progress::Survey);
        let prepared = formula::prepare(source, options, text);
        let (derived, recipe, roles) = prepared.map_err(|error| source.located(error))?;
        (owned, formula) = (Some((derived, roles)), Some(recipe));
    }
    let (source, options) = owned.as_ref().map_or((source, options), |(source, roles)| (source, roles));
    let out = out.as_ref();
    let wrong = || Error::data(source.path());
    let part = PartFolder::create(out)?;
    progress(Progress::Survey);
    let intake = Intake::survey(source, options, kind).map_err(|error| source.located(error))?;
    let mut blueprint = intake.blueprint(Order::Listed { seed }).map_err(wrong())?;
    let (rows, width) = (blueprint.rows(), blueprint.layout().width);
    let sizes = shard_sizes(source, rows, how.shards)?;
    let mut buckets = Buckets::create(part.path(), rows, width, how.memory)?;
    let count = buckets.count();
    scatter(source, &intake, &mut blueprint, (seed, &mut buckets), progress)?;

    let description = blueprint.describe().map_err(wrong())?;
    let recipe = intake.recipe(formula);
    let (mut notes, warnings) = intake.remarks(&description.warnings);
    notes.extend(dropped.iter().map(ToString::to_string));
    let name = source.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let about = About { recipe: &recipe, source: &name, notes: &notes, warnings: &warnings };
    let shard = |number: usize| (sizes.len() > 1).then_some(Shard { number, of: sizes.len(), rows });
    let begin = |number: usize| {
        let mut folder = part.path().to_path_buf();
        if sizes.len() > 1 {
            folder.push(format!("shard-{number}"));
            std::fs::create_dir(&folder).map_err(Error::io("create", &folder))?;
        }
        BlockWriter::create(folder, sizes[number - 1], width)
    };
    let (mut number, mut left, mut done, mut bytes) = (1, sizes[0], 0_usize, 0);
    let mut writer = Some(begin(1)?);
    buckets.drain(&mut |row, values| {
        if left == 0 {
            if let Some(full) = writer.take() {
                bytes += full.finish(&description, &about, shard(number))?;
            }
            number += 1;
            left = sizes[number - 1];
            writer = Some(begin(number)?);
        }
        left -= 1;
        done += 1;
        if done.is_multiple_of(1 << 16) {
            progress(Progress::Write { done, rows });
        }
        writer.as_mut().map_or(Ok(()), |writer| writer.push(row, values))
    })?;
    if let Some(last) = writer {
        bytes += last.finish(&description, &about, shard(number))?;
    }
    part.complete(out)?;
    let folders = match sizes.len() {
        1 => vec![out.to_path_buf()],
        shards => (1..=shards).map(|number| out.join(format!("shard-{number}"))).collect(),
    };
    Ok(Created { folders, rows, bytes, buckets: count, notes, warnings })
}

/// Sends every row to its bucket.
fn scatter(
    source: &Source,
    intake: &Intake,
    blueprint: &mut Blueprint,
    (seed, buckets): (u64, &mut Buckets),
    progress: &mut dyn FnMut(Progress),
) -> Result<()> {
    let (rows, width) = (blueprint.rows(), blueprint.layout().width);
    // A row of reference levels.
    let mut template = vec![0f32; width];
    let single = intake.features.iter().filter(|feature| !feature.filling.is_factor());
    for column in single.flat_map(|feature| feature.places().into_iter().flatten()) {
        template[blueprint.place(column)] = blueprint.transform(column).stored(0.0);
    }
    let factors: Vec<_> = intake.features.iter().map(|feature| blueprint.factor(&feature.places())).collect();
    let mut stored: Vec<f32> = Vec::new();
    intake.each(source, &mut |first, sides, pieces| {
        stored.clear();
        let count = sides.response.len();
        (0..count).for_each(|_| stored.extend_from_slice(&template));
        blueprint.observe_sides(sides);
        blueprint.each_side(sides, |place, at, value| stored[at * width + place] = value);
        for ((feature, piece), factor) in intake.features.iter().zip(pieces).zip(&factors) {
            if let (Filled::Slopes(codes, numbers), Some((place, values))) = (piece, factor)
                && let Some((beside, scale)) = blueprint.slope(&feature.places())
            {
                let rows = stored.chunks_exact_mut(width).zip(codes.iter().zip(numbers));
                for (row, (&code, number)) in rows {
                    (row[*place], row[beside]) = (values[code as usize], (number / scale) as f32);
                }
                continue;
            }
            if let (Filled::Codes(codes), Some((place, values))) = (piece, factor) {
                let rows = stored.chunks_exact_mut(width).zip(codes);
                rows.for_each(|(row, &code)| row[*place] = values[code as usize]);
                continue;
            }
            match (piece, &feature.filling) {
                (Filled::Codes(codes), Filling::Levels { columns, .. }) => {
                    for (row, &code) in stored.chunks_exact_mut(width).zip(codes) {
                        if let Some(column) = columns[code as usize] {
                            let column = feature.first + column;
                            row[blueprint.place(column)] = blueprint.transform(column).stored(1.0);
                        }
                    }
                }
                (Filled::Numbers(values), _) => {
                    blueprint.observe(feature.first, values);
                    let (transform, place) =
                        (blueprint.transform(feature.first), blueprint.place(feature.first));
                    for (row, &value) in stored.chunks_exact_mut(width).zip(values) {
                        row[place] = transform.stored(value);
                    }
                }
                (Filled::Codes(_) | Filled::Slopes(..), _) => {}
            }
        }
        for (at, (row, key)) in stored.chunks_exact(width).zip(shuffle_keys(seed, first)).enumerate() {
            buckets.push(key, (first + at) as u32, row)?;
        }
        progress(Progress::Scatter { done: first + count, rows });
        Ok(())
    })
}

/// Rows of every shard: whole blocks, as equal as they can be.
fn shard_sizes(source: &Source, rows: usize, shards: usize) -> Result<Vec<usize>> {
    let blocks = rows.div_ceil(BLOCK);
    if shards == 0 || shards > blocks {
        return Err(Error::format(
            source.path(),
            format!(
                "cannot be cut into {shards} shards: it has {rows} rows, which are {blocks} blocks of {BLOCK}"
            ),
            format!("ask for 1 to {blocks} shards"),
        ));
    }
    let end = |shard: usize| (blocks * shard / shards * BLOCK).min(rows);
    Ok((0..shards).map(|shard| end(shard + 1) - end(shard)).collect())
}
