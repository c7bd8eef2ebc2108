//! Files stored by columns: every column is decoded once, on some thread, summarised, stored and dropped.
//!
//! Side columns and levels come first: they say how wide a block is. A numeric column that turns out to be constant has
//! its place until the end, when it is cut out of the blocks.

use austerity_glm::ResponseKind;
use austerity_glm::data::summary::ColumnSummary;
use austerity_glm::store::{Blueprint, Order, RowMoves, ShuffledColumn, Shuffler, StoreBuilder};

use super::Loaded;
use super::intake::{
    Assembly, Intake, beside, changed, kind_wanted, nothing_left, spelled_truths, success, wish,
};
use crate::coding::feature::{self, Feature, Filled, Filling, Made};
use crate::coding::response::{self, Coded, Coder};
use crate::coding::roles::Roles;
use crate::coding::{CodingOptions, Named};
use crate::error::{Error, Result};
use crate::table::{Chunk, Column, ColumnKind, Source, Table};

/// Columns written to the blocks together: a block is far from the next, and a visit should pay.
const TOGETHER: usize = 4;

pub(super) fn load(
    source: &Source,
    options: &CodingOptions,
    kind: Option<ResponseKind>,
    order: Order,
    threads: usize,
) -> Result<Loaded> {
    let wrong = || Error::data(source.path());
    let roles = Roles::assign(source.path(), &source.schema().names, options)?;
    // The order of the rows needs none of them: it is made while the response is decoded.
    let (moves, response) = std::thread::scope(|scope| {
        let moves = scope.spawn(|| source.schema().rows.map(|rows| RowMoves::new(order, rows, threads)));
        let response = ResponseRead::new(source, &roles, options, kind);
        (moves.join(), response)
    });
    let (moves, response) = (moves.unwrap_or_else(|panic| std::panic::resume_unwind(panic)), response?);
    let mut features = Features::survey(source, &roles, options, threads)?;
    if features.width == 0 && !options.intercept {
        return Err(nothing_left(source, &roles));
    }
    let plan = response.coded.plan.clone();
    let mut blueprint = Blueprint::new(plan, features.width, options.intercept, order).map_err(wrong())?;
    features.make_factors(&mut blueprint);
    let mut builder = StoreBuilder::new(blueprint).on_threads(threads, moves);
    let gone = features.fill_numbers(source, (&roles, options), threads, &mut builder)?;
    // The memory of the blocks was taken while the first columns were decoded: what is at hand comes last.
    let coded = response.fill(source, &roles, &mut builder)?;
    features.fill_levels(source, &mut builder)?;

    // Constants are cut out.
    let mut assembly = Assembly::new(&roles, options);
    for (name, outcome) in roles.features.iter().zip(features.outcomes) {
        let made = outcome.made.ok_or_else(|| changed(source))?;
        assembly.add(source, name, made)?;
    }
    builder.remove(&gone);
    let intake = Intake::new(source, roles, options, coded, assembly)?;
    let store = builder.finish().map_err(wrong())?;
    Ok(intake.loaded(source, store))
}

/// The response and what stands beside it, decoded and coded.
struct ResponseRead {
    sides: Table,
    coded: Coded,
    values: Vec<f64>,
}

impl ResponseRead {
    fn new(
        source: &Source,
        roles: &Roles,
        options: &CodingOptions,
        kind: Option<ResponseKind>,
    ) -> Result<Self> {
        let single = roles.columns().len() - roles.features.len();
        let mut sides = source.read(Some(&roles.columns()[..single]))?;
        let chunks: Vec<Chunk<'_>> = sides.columns.iter().map(Column::chunk).collect();
        let at = Named { file: source.path(), name: &roles.response };
        let mut survey = response::Survey::new(kind_wanted(options, kind));
        let spelled = spelled_truths(&chunks[1..]);
        let (beside, _) = beside(source, (roles, kind), 0, (&chunks[1..], &spelled))?;
        survey.push(at, &chunks[0], beside)?;
        let coded = survey.finish(at, success(source, options))?;
        let applied = match coded.coder {
            Coder::AsGiven => None,
            _ => Some(coded.coder.apply(&chunks[0]).ok_or_else(|| changed(source))?),
        };
        drop(chunks);
        let values = match (applied, std::mem::take(&mut sides.columns[0])) {
            (Some(values), _) | (None, Column::Numbers(values)) => values,
            (None, Column::Levels { .. }) => return Err(changed(source)),
        };
        Ok(Self { sides, coded, values })
    }

    /// Stores them; their memory is given back.
    fn fill(self, source: &Source, roles: &Roles, builder: &mut StoreBuilder) -> Result<Coded> {
        let chunks: Vec<Chunk<'_>> = self.sides.columns.iter().map(Column::chunk).collect();
        let spelled = spelled_truths(&chunks[1..]);
        let known = Some(self.coded.plan.kind());
        let (beside, _) = beside(source, (roles, known), 0, (&chunks[1..], &spelled))?;
        builder.fill_sides(0, &beside.sides(&self.values)).map_err(Error::data(source.path()))?;
        Ok(self.coded)
    }
}

/// What comes of the features, in the order of their names.
struct Features {
    outcomes: Vec<Outcome>,
    /// Columns of the design; numbers are still to come and have one each.
    width: usize,
    numbers: Vec<String>,
}

impl Features {
    /// Surveys the levels, which say how many columns there are.
    fn survey(source: &Source, roles: &Roles, options: &CodingOptions, threads: usize) -> Result<Self> {
        let is_levels = |name: &String| {
            let position = source.schema().names.iter().position(|n| n == name);
            options.categorical.contains(name)
                || position.is_some_and(|position| source.schema().kinds[position] == ColumnKind::Text)
        };
        let (names, numbers): (Vec<String>, Vec<String>) =
            roles.features.iter().cloned().partition(is_levels);
        let survey = |position: usize, column: &mut Column| {
            let (name, column) = (&names[position], std::mem::take(column));
            let mut survey = feature::Survey::new();
            survey.push(source.path(), name, &column.chunk(), options.categorical.contains(name))?;
            Ok((survey, column))
        };
        let mut levels: Vec<Option<(feature::Survey, Column)>> = names.iter().map(|_| None).collect();
        source.each_column(&names, threads, &survey, &mut |position, surveyed| {
            levels[position] = Some(surveyed);
            Ok(())
        })?;
        let mut outcomes: Vec<Outcome> = Vec::new();
        let (mut width, mut full_levels, mut levels) = (0, !options.intercept, levels.into_iter());
        for name in &roles.features {
            let mut outcome = Outcome { first: width, made: None, column: None };
            if is_levels(name) {
                let (survey, column) = levels.next().flatten().ok_or_else(|| changed(source))?;
                let made =
                    survey.finish(source.path(), name, wish(source, options, roles, (name, full_levels)))?;
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
        Ok(Self { outcomes, width, numbers })
    }

    /// Says which features are stored as level indices.
    fn make_factors(&self, blueprint: &mut Blueprint) {
        for outcome in &self.outcomes {
            if let Some(Made::Feature(feature)) = &outcome.made
                && feature.filling.is_factor()
            {
                blueprint.make_factor(outcome.first..outcome.first + feature.summaries.len());
            }
        }
    }

    /// Decodes the numbers on threads and stores them; returns the columns of those that are constant, ascending.
    fn fill_numbers(
        &mut self,
        source: &Source,
        (roles, options): (&Roles, &CodingOptions),
        threads: usize,
        builder: &mut StoreBuilder,
    ) -> Result<Vec<usize>> {
        let wrong = || Error::data(source.path());
        let mut waiting: Vec<&mut Outcome> =
            self.outcomes.iter_mut().filter(|outcome| outcome.made.is_none()).collect();
        let (shuffler, numbers) = (builder.shuffler(), &self.numbers);
        let prepare = |position: usize, column: &mut Column| {
            prepare(source, (&numbers[position], column), options, roles, &shuffler)
        };
        let (mut gone, mut ready) = (Vec::new(), Vec::new());
        source.each_column(numbers, threads, &prepare, &mut |position, (made, shuffled)| {
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
        gone.sort_unstable();
        Ok(gone)
    }

    /// Stores the levels; their memory is given back.
    fn fill_levels(&mut self, source: &Source, builder: &mut StoreBuilder) -> Result<()> {
        for outcome in &mut self.outcomes {
            let (Some(Made::Feature(feature)), Some(column)) = (&outcome.made, outcome.column.take()) else {
                continue;
            };
            plan(source, builder, feature, outcome.first)?;
            let (Some(Filled::Codes(codes)), Filling::Levels { columns, .. }) =
                (feature.filling.apply(&column.chunk()), &feature.filling)
            else {
                return Err(changed(source));
            };
            drop(column);
            let places: Vec<Option<usize>> = columns.iter().map(|c| c.map(|c| outcome.first + c)).collect();
            builder.fill_levels(&places, 0, &codes).map_err(Error::data(source.path()))?;
        }
        Ok(())
    }
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
    (name, column): (&str, &mut Column),
    options: &CodingOptions,
    roles: &Roles,
    shuffler: &Shuffler,
) -> Result<(Made, Option<ShuffledColumn>)> {
    let Column::Numbers(values) = column else { return Err(changed(source)) };
    let mut survey = feature::Survey::new();
    survey.push(source.path(), name, &Chunk::Numbers(values), false)?;
    let mut made = survey.finish(source.path(), name, wish(source, options, roles, (name, false)))?;
    let Made::Feature(feature) = &mut made else { return Ok((made, None)) };
    if let (true, Filling::Number { shift, scale }) = (feature.standardized, &feature.filling) {
        values.iter_mut().for_each(|value| *value = (*value - shift) / scale);
        feature.summaries = vec![ColumnSummary::of(values)];
    }
    let shuffled =
        shuffler.column(name, &feature.summaries[0], values).map_err(Error::data(source.path()))?;
    Ok((made, Some(shuffled)))
}
