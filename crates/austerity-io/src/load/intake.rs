//! The first pass over a table, which decides everything, and the second, which hands over what is stored.

use std::path::Path;

use austerity_glm::data::Sides;
use austerity_glm::data::summary::{ColumnSummary, Summarizer};
use austerity_glm::store::{Blueprint, Order};
use austerity_glm::{ResponseKind, Store};
use serde::{Deserialize, Serialize};

use super::Loaded;
use crate::coding::feature::{self, Filled, Filling, Made, Wish};
use crate::coding::response::{self, Beside, Coded, check_beside};
use crate::coding::roles::Roles;
use crate::coding::{Choice, CodingOptions, FormulaRecipe, Named, Recipe, Term, check, role};
use crate::error::{Error, Result};
use crate::table::levels::truths;
use crate::table::{Chunk, Source};

/// Takes the first row, the side columns and, for every feature, what is stored of a piece.
pub(crate) type VisitStored<'a> = dyn FnMut(usize, &Sides<'_>, &[Filled]) -> Result<()> + 'a;

/// What the first pass decided.
pub(crate) struct Intake {
    pub(crate) roles: Roles,
    pub(crate) options: CodingOptions,
    pub(crate) coded: Coded,
    pub(crate) features: Vec<Planned>,
    notes: Vec<String>,
    warnings: Vec<String>,
}

/// A feature of the design and its place among the columns.
pub(crate) struct Planned {
    pub(crate) term: Term,
    pub(crate) filling: Filling,
    pub(crate) summaries: Vec<ColumnSummary>,
    /// Number of its first column.
    pub(crate) first: usize,
}

impl Planned {
    /// The column of every code.
    pub(crate) fn places(&self) -> Vec<Option<usize>> {
        match &self.filling {
            Filling::Levels { columns, .. } | Filling::Slopes { columns, .. } => {
                columns.iter().map(|column| column.map(|column| self.first + column)).collect()
            }
            _ => Vec::new(),
        }
    }
}

/// What becomes of the features, in order, with their notes and warnings.
pub(crate) struct Assembly {
    pub(crate) features: Vec<Planned>,
    notes: Vec<String>,
    warnings: Vec<String>,
    columns: usize,
    /// Whether the next levels keep all their columns.
    pub(crate) full_levels: bool,
    explicit: bool,
}

impl Assembly {
    pub(crate) fn new(roles: &Roles, options: &CodingOptions) -> Self {
        Self {
            features: Vec::new(),
            notes: Vec::new(),
            warnings: Vec::new(),
            columns: 0,
            full_levels: !options.intercept,
            explicit: roles.explicit,
        }
    }

    /// Adds the next feature.
    pub(crate) fn add(&mut self, source: &Source, name: &str, made: Made) -> Result<()> {
        match made {
            Made::Feature(feature) => {
                self.full_levels &= !matches!(feature.term, Term::Levels { .. });
                self.notes.extend(feature.note);
                let first = self.columns;
                self.columns += feature.summaries.len();
                let (term, filling, summaries) = (feature.term, feature.filling, feature.summaries);
                self.features.push(Planned { term, filling, summaries, first });
                Ok(())
            }
            Made::Constant { value } if self.explicit => Err(role(
                source.path(),
                name,
                format!("it is {value} in every row, so its coefficient cannot be told from the intercept"),
                "leave it out",
            )),
            Made::Constant { value } => {
                self.warnings.push(format!("column `{name}` was left out: it is {value} in every row"));
                Ok(())
            }
        }
    }
}

/// What the first pass over a table, or a part of it, saw.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Surveyed {
    pub(crate) rows: usize,
    response: response::Survey,
    /// By name: files of a table may have their columns in any order.
    features: Vec<(String, feature::Survey)>,
}

impl Surveyed {
    /// Reads the table once; `watch` is shown every piece of its columns, with their names.
    pub(crate) fn of(
        source: &Source,
        (options, kind): (&CodingOptions, Option<ResponseKind>),
        watch: &mut dyn FnMut(&[String], &[Chunk<'_>]),
    ) -> Result<Self> {
        let roles = Roles::assign(source.path(), &source.schema().names, options)?;
        let at = Named { file: source.path(), name: &roles.response };
        let mut response = response::Survey::new(kind_wanted(options, kind));
        let mut features: Vec<(String, feature::Survey)> =
            roles.features.iter().map(|name| (name.clone(), feature::Survey::new())).collect();
        let columns = roles.columns();
        let rows = source.scan(&columns, &options.categorical, &mut |first, chunks| {
            watch(&columns, chunks);
            let spelled = spelled_truths(&chunks[1..]);
            let (beside, count) = beside(source, (&roles, kind), first, (&chunks[1..], &spelled))?;
            response.push(at, &chunks[0], beside)?;
            for ((name, survey), chunk) in features.iter_mut().zip(&chunks[1 + count..]) {
                survey.push(source.path(), name, chunk, options.categorical.contains(name))?;
            }
            Ok(())
        })?;
        Ok(Self { rows, response, features })
    }

    /// Ends the part of this number: parts that are merged in their order have the summaries of the whole.
    pub(crate) fn into_part(self, number: usize) -> Self {
        let part = |(name, survey): (String, feature::Survey)| (name, survey.into_part(number));
        Self {
            rows: self.rows,
            response: self.response.into_part(number),
            features: self.features.into_iter().map(part).collect(),
        }
    }

    /// Adds the part that follows; `file` is named in messages.
    pub(crate) fn merge(&mut self, (file, response): (&Path, &str), later: Self) -> Result<()> {
        self.response.merge(Named { file, name: response }, later.response)?;
        for (name, survey) in later.features {
            match self.features.iter_mut().find(|(known, _)| *known == name) {
                Some((_, mine)) => mine.merge((file, &name), survey)?,
                None => self.features.push((name, survey)),
            }
        }
        self.rows += later.rows;
        Ok(())
    }
}

/// The kind to look for: trials say what they count.
pub(crate) fn kind_wanted(options: &CodingOptions, kind: Option<ResponseKind>) -> Option<ResponseKind> {
    kind.or_else(|| options.trials.is_some().then_some(ResponseKind::CountOfTrials))
}

/// Columns that stand beside a response, at most.
const SIDES: usize = 3;

/// The numbers of those of the columns beside the response that are spelled `true` and `false`.
pub(crate) fn spelled_truths(chunks: &[Chunk<'_>]) -> Vec<Option<Vec<f64>>> {
    let numbers = |chunk: &Chunk<'_>| match *chunk {
        Chunk::Levels { codes, labels, truths: true } => {
            truths(labels).map(|values| codes.iter().map(|&code| values[code as usize]).collect())
        }
        _ => None,
    };
    chunks.iter().take(SIDES).map(numbers).collect()
}

/// The columns beside the response: trials or events, weights, offset, in the order of [`Roles::columns`]; with what [`spelled_truths`] says of them.
pub(crate) fn beside<'a>(
    source: &Source,
    (roles, kind): (&Roles, Option<ResponseKind>),
    first: usize,
    (chunks, spelled): (&[Chunk<'a>], &'a [Option<Vec<f64>>]),
) -> Result<(Beside<'a>, usize)> {
    let mut next = 0;
    let mut take = |name: &Option<String>, role_name: &str| -> Result<Option<&'a [f64]>> {
        let Some(name) = name else { return Ok(None) };
        next += 1;
        match chunks[next - 1] {
            Chunk::Numbers(values) => Ok(Some(values)),
            Chunk::Levels { .. } if spelled[next - 1].is_some() => Ok(spelled[next - 1].as_deref()),
            Chunk::Levels { labels, .. } | Chunk::Slopes { labels, .. } => Err(role(
                source.path(),
                name,
                format!("it holds text such as `{}`", labels.first().map_or("", String::as_str)),
                format!("{role_name} must be numbers"),
            )),
        }
    };
    let trials_name = if kind == Some(ResponseKind::Time) { "events" } else { "trials" };
    let (weights, trials, offset) =
        (take(&roles.weights, "weights")?, take(&roles.trials, trials_name)?, take(&roles.offset, "offset")?);
    if let (Some(name), Some(weights)) = (&roles.weights, weights) {
        let at = Named { file: source.path(), name };
        check(at, first, weights, |_, w| w > 0.0, "a weight must be positive", "drop the row")?;
    }
    if let (Some(name), Some(trials)) = (&roles.trials, trials) {
        let at = Named { file: source.path(), name };
        check_beside(at, first, trials, kind)?;
    }
    Ok((Beside { trials, offset, weights }, next))
}

/// Makes the summaries of these features again.
pub(crate) type SummarizeAgain<'a> = dyn FnMut(&mut [Planned], &[usize]) -> Result<()> + 'a;

impl Intake {
    /// Reads the table once (twice to standardise).
    pub(crate) fn survey(
        source: &Source,
        options: &CodingOptions,
        kind: Option<ResponseKind>,
    ) -> Result<Self> {
        let surveyed = Surveyed::of(source, (options, kind), &mut |_, _| {})?;
        Self::of_survey(source, options, surveyed, &mut |features, standardized| {
            summarize_again(source, options, features, standardized)
        })
    }

    /// Decides by a survey of the table; `again` makes the summaries of the features that are standardised.
    pub(crate) fn of_survey(
        source: &Source,
        options: &CodingOptions,
        surveyed: Surveyed,
        again: &mut SummarizeAgain<'_>,
    ) -> Result<Self> {
        let roles = Roles::assign(source.path(), &source.schema().names, options)?;
        let at = Named { file: source.path(), name: &roles.response };
        let Surveyed { response, mut features, .. } = surveyed;
        let coded = response.finish(at, success(source, options))?;
        let mut assembly = Assembly::new(&roles, options);
        let mut standardized = Vec::new();
        for name in &roles.features {
            let place =
                features.iter().position(|(known, _)| known == name).ok_or_else(|| changed(source))?;
            let (_, survey) = features.swap_remove(place);
            let wish = wish(source, options, &roles, (name, assembly.full_levels));
            let made = survey.finish(source.path(), name, wish)?;
            if let Made::Feature(feature::Feature { standardized: true, .. }) = made {
                standardized.push(assembly.features.len());
            }
            assembly.add(source, name, made)?;
        }
        if !standardized.is_empty() {
            again(&mut assembly.features, &standardized)?;
        }
        Self::new(source, roles, options, coded, assembly)
    }

    pub(crate) fn new(
        source: &Source,
        roles: Roles,
        options: &CodingOptions,
        mut coded: Coded,
        assembly: Assembly,
    ) -> Result<Self> {
        if assembly.features.is_empty() && !options.intercept {
            return Err(nothing_left(source, &roles));
        }
        let mut notes = source.schema().notes.clone();
        notes.extend(coded.note.take());
        notes.extend(assembly.notes);
        let mut warnings: Vec<String> = coded.warning.take().into_iter().collect();
        warnings.extend(assembly.warnings);
        Ok(Self { roles, options: options.clone(), coded, features: assembly.features, notes, warnings })
    }

    /// How everything is going to be stored.
    pub(crate) fn blueprint(&self, order: Order) -> austerity::Result<Blueprint> {
        let columns = self.features.iter().map(|feature| feature.summaries.len()).sum();
        let mut blueprint = Blueprint::new(self.coded.plan.clone(), columns, self.options.intercept, order)?;
        for feature in &self.features {
            let columns = feature.first..feature.first + feature.summaries.len();
            match &feature.filling {
                Filling::Slopes { scale, .. } => blueprint.make_slopes(columns, *scale),
                filling if filling.is_factor() => blueprint.make_factor(columns),
                _ => {}
            }
            for (j, (name, summary)) in feature.term.names().iter().zip(&feature.summaries).enumerate() {
                blueprint.plan(feature.first + j, name, summary)?;
            }
        }
        blueprint.check()?;
        Ok(blueprint)
    }

    /// Reads the table once more and hands over what is stored, piece by piece.
    pub(crate) fn each(&self, source: &Source, visit: &mut VisitStored<'_>) -> Result<()> {
        let changed = || changed(source);
        let mut columns: Vec<String> = vec![self.roles.response.clone()];
        columns.extend(
            [&self.roles.weights, &self.roles.trials, &self.roles.offset].into_iter().flatten().cloned(),
        );
        columns.extend(self.features.iter().map(|feature| feature.term.column().to_owned()));
        let rows = source.scan(&columns, &self.options.categorical, &mut |first, chunks| {
            let known = Some(self.coded.plan.kind());
            let spelled = spelled_truths(&chunks[1..]);
            let (beside, count) = beside(source, (&self.roles, known), first, (&chunks[1..], &spelled))?;
            let response = self.coded.coder.apply(&chunks[0]).ok_or_else(changed)?;
            let pieces = self.features.iter().zip(&chunks[1 + count..]);
            let pieces: Option<Vec<Filled>> =
                pieces.map(|(feature, chunk)| feature.filling.apply(chunk)).collect();
            visit(first, &beside.sides(&response), &pieces.ok_or_else(changed)?)
        })?;
        if rows == self.coded.plan.rows() { Ok(()) } else { Err(changed()) }
    }

    /// The recipe, given that of the formula if there is one.
    pub(crate) fn recipe(&self, formula: Option<FormulaRecipe>) -> Recipe {
        Recipe {
            formula,
            response: self.roles.response.clone(),
            coding: self.coded.coding.clone(),
            terms: self.features.iter().map(|feature| feature.term.clone()).collect(),
            weights: self.roles.weights.clone(),
            trials: self.roles.trials.clone(),
            offset: self.roles.offset.clone(),
            intercept: self.options.intercept,
        }
    }

    /// The result, with all that was noticed.
    pub(crate) fn loaded(self, source: &Source, store: Store) -> Loaded {
        let recipe = self.recipe(None);
        let (notes, warnings) = self.remarks(&store.description().warnings);
        Loaded {
            store,
            recipe,
            file: source.path().into(),
            notes,
            warnings,
            dropped: None,
            groups: Vec::new(),
        }
    }

    /// Notes, and warnings with those of the library.
    pub(crate) fn remarks(self, library: &[String]) -> (Vec<String>, Vec<String>) {
        (self.notes, self.warnings.into_iter().chain(library.iter().cloned()).collect())
    }
}

/// What is wanted of a feature, given its name and whether levels keep all their columns.
pub(crate) fn wish<'a>(
    source: &'a Source,
    options: &CodingOptions,
    roles: &'a Roles,
    (name, full_levels): (&str, bool),
) -> Wish<'a> {
    let choice = Choice { named: roles.reference(name), ordered: source.has_order(name) };
    let cells = source.cells(name);
    Wish { standardize: options.standardize, intercept: options.intercept, full_levels, choice, cells }
}

/// What was said about the values of the response.
pub(crate) fn success<'a>(source: &Source, options: &'a CodingOptions) -> Choice<'a> {
    Choice { named: options.success.as_deref(), ordered: source.has_order(&options.response) }
}

pub(crate) fn nothing_left(source: &Source, roles: &Roles) -> Error {
    role(
        source.path(),
        &roles.response,
        "nothing is left to explain it: no feature and no intercept",
        "name features or keep the intercept",
    )
}

/// The error for a table that is another in the second pass.
pub(crate) fn changed(source: &Source) -> Error {
    Error::format(source.path(), "changed while it was read", "load it again when nobody writes to it")
}

/// Summaries of the standardised numbers, which only a further pass can tell.
fn summarize_again(
    source: &Source,
    options: &CodingOptions,
    features: &mut [Planned],
    which: &[usize],
) -> Result<()> {
    let columns: Vec<String> = which.iter().map(|&k| features[k].term.column().to_owned()).collect();
    let mut summaries = vec![Summarizer::default(); which.len()];
    source.scan(&columns, &options.categorical, &mut |_, chunks| {
        for ((summary, &k), chunk) in summaries.iter_mut().zip(which).zip(chunks) {
            match features[k].filling.apply(chunk) {
                Some(Filled::Numbers(values)) => summary.push(&values),
                _ => return Err(changed(source)),
            }
        }
        Ok(())
    })?;
    for (&k, summary) in which.iter().zip(summaries) {
        features[k].summaries = vec![summary.finish()];
    }
    Ok(())
}
