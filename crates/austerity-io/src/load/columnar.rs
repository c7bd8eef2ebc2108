//! Files stored by columns: every column is decoded once, on some thread, summarised, stored and dropped.
//!
//! Side columns and levels come first: they say how wide a block is. A numeric column that turns out to be constant has
//! its place until the end, when it is cut out of the blocks.

use austerity_glm::ResponseKind;
use austerity_glm::data::summary::ColumnSummary;
use austerity_glm::store::{Blueprint, Order, ShuffledColumn, Shuffler, StoreBuilder};

use super::Loaded;
use super::intake::{Assembly, Intake, beside, changed, kind_wanted, nothing_left, success, wish};
use crate::design::feature::{self, Feature, Filled, Filling, Made};
use crate::design::roles::Roles;
use crate::design::{DesignOptions, Named, response};
use crate::error::{Error, Result};
use crate::table::{Chunk, Column, ColumnKind, Source};

/// Columns written to the blocks together: a block is far from the next, and a visit should pay.
const TOGETHER: usize = 8;

pub(super) fn load(
    source: &Source,
    options: &DesignOptions,
    kind: Option<ResponseKind>,
    order: Order,
    threads: usize,
) -> Result<Loaded> {
    let wrong = || Error::data(source.path());
    let roles = Roles::assign(source.path(), &source.schema().names, options)?;
    let single = roles.columns().len() - roles.features.len();
    let sides = source.read(Some(&roles.columns()[..single]))?;
    let chunks: Vec<Chunk<'_>> = sides.columns.iter().map(Column::chunk).collect();
    let at = Named { file: source.path(), name: &roles.response };
    let mut survey = response::Survey::new(kind_wanted(options, kind));
    let (beside, _) = beside(source, &roles, 0, &chunks[1..])?;
    survey.push(at, &chunks[0], beside)?;
    let coded = survey.finish(at, success(source, options))?;
    let values = coded.coder.apply(&chunks[0]).ok_or_else(|| changed(source))?;

    // Levels say how many columns there are; numbers have one each.
    let is_levels = |name: &String| {
        let position = source.schema().names.iter().position(|n| n == name);
        options.categorical.contains(name)
            || position.is_some_and(|position| source.schema().kinds[position] == ColumnKind::Text)
    };
    let (level_names, number_names): (Vec<String>, Vec<String>) =
        roles.features.iter().cloned().partition(is_levels);
    let survey = |position: usize, column: Column| {
        let name = &level_names[position];
        let mut survey = feature::Survey::new();
        survey.push(source.path(), name, &column.chunk(), options.categorical.contains(name))?;
        Ok((survey, column))
    };
    let mut levels: Vec<Option<(feature::Survey, Column)>> = level_names.iter().map(|_| None).collect();
    source.each_column(&level_names, threads, &survey, &mut |position, surveyed| {
        levels[position] = Some(surveyed);
        Ok(())
    })?;

    // What comes of every feature; numbers are still to come and have one column.
    let mut outcomes: Vec<Outcome> = Vec::new();
    let (mut width, mut full_levels, mut levels) = (0, !options.intercept, levels.into_iter());
    for name in &roles.features {
        let mut outcome = Outcome { first: width, made: None, column: None };
        if is_levels(name) {
            let (survey, column) = levels.next().flatten().ok_or_else(|| changed(source))?;
            let made =
                survey.finish(source.path(), name, wish(source, options, &roles, (name, full_levels)))?;
            if let Made::Feature(feature) = &made {
                full_levels = false;
                width += feature.summaries.len();
                outcome.column = Some(column);
            }
            outcome.made = Some(made);
        } else {
            width += 1;
        }
        outcomes.push(outcome);
    }
    if width == 0 && !options.intercept {
        return Err(nothing_left(source, &roles));
    }
    let mut blueprint =
        Blueprint::new(coded.plan.clone(), width, options.intercept, order).map_err(wrong())?;
    for outcome in &outcomes {
        if let Some(Made::Feature(feature)) = &outcome.made
            && feature.filling.is_factor()
        {
            blueprint.make_factor(outcome.first..outcome.first + feature.summaries.len());
        }
    }
    let mut builder = StoreBuilder::new(blueprint);
    let mut waiting: Vec<&mut Outcome> =
        outcomes.iter_mut().filter(|outcome| outcome.made.is_none()).collect();
    let shuffler = builder.shuffler();
    let prepare = |position: usize, column: Column| {
        prepare(source, (&number_names[position], column), options, &roles, &shuffler)
    };
    let (mut gone, mut ready) = (Vec::new(), Vec::new());
    source.each_column(&number_names, threads, &prepare, &mut |position, (made, shuffled)| {
        let outcome = &mut *waiting[position];
        outcome.made = Some(made);
        match shuffled {
            Some(shuffled) => ready.push((outcome.first, shuffled)),
            None => gone.push(outcome.first),
        }
        if ready.len() < TOGETHER {
            return Ok(());
        }
        builder.fill_columns(std::mem::take(&mut ready)).map_err(wrong())
    })?;
    builder.fill_columns(ready).map_err(wrong())?;

    // The memory of the blocks was taken while the first columns were decoded: what is at hand comes last.
    builder.fill_sides(0, &beside.sides(&values)).map_err(wrong())?;
    drop(chunks);
    drop((sides, values));
    for outcome in &mut outcomes {
        let (Some(Made::Feature(feature)), Some(column)) = (&outcome.made, outcome.column.take()) else {
            continue;
        };
        plan(source, &mut builder, feature, outcome.first)?;
        let (Some(Filled::Codes(codes)), Filling::Levels { columns, .. }) =
            (feature.filling.apply(&column.chunk()), &feature.filling)
        else {
            return Err(changed(source));
        };
        drop(column);
        let places: Vec<Option<usize>> = columns.iter().map(|c| c.map(|c| outcome.first + c)).collect();
        builder.fill_levels(&places, 0, &codes).map_err(wrong())?;
    }

    // Constants are cut out.
    let mut assembly = Assembly::new(&roles, options);
    for (name, outcome) in roles.features.iter().zip(outcomes) {
        let made = outcome.made.ok_or_else(|| changed(source))?;
        assembly.add(source, name, made)?;
    }
    gone.sort_unstable();
    builder.remove(&gone);
    let intake = Intake::new(source, roles, options, coded, assembly)?;
    let store = builder.finish().map_err(wrong())?;
    Ok(intake.loaded(source, store))
}

/// What comes of a feature.
struct Outcome {
    /// Number of its first column.
    first: usize,
    made: Option<Made>,
    /// Levels that wait to be stored.
    column: Option<Column>,
}

fn plan(source: &Source, builder: &mut StoreBuilder, feature: &Feature, first: usize) -> Result<()> {
    for (j, (name, summary)) in feature.term.names().iter().zip(&feature.summaries).enumerate() {
        builder.blueprint().plan(first + j, name, summary).map_err(Error::data(source.path()))?;
    }
    Ok(())
}

/// Summarises numbers, standardises them when that is wanted, and puts them in order unless they are constant.
fn prepare(
    source: &Source,
    (name, column): (&str, Column),
    options: &DesignOptions,
    roles: &Roles,
    shuffler: &Shuffler,
) -> Result<(Made, Option<ShuffledColumn>)> {
    let Column::Numbers(mut values) = column else { return Err(changed(source)) };
    let mut survey = feature::Survey::new();
    survey.push(source.path(), name, &Chunk::Numbers(&values), false)?;
    let mut made = survey.finish(source.path(), name, wish(source, options, roles, (name, false)))?;
    let Made::Feature(feature) = &mut made else { return Ok((made, None)) };
    if let (true, Filling::Number { shift, scale }) = (feature.standardized, &feature.filling) {
        values.iter_mut().for_each(|value| *value = (*value - shift) / scale);
        feature.summaries = vec![ColumnSummary::of(&values)];
    }
    let shuffled =
        shuffler.column(name, &feature.summaries[0], &values).map_err(Error::data(source.path()))?;
    Ok((made, Some(shuffled)))
}
