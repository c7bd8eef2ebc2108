//! What is asked about: which columns change from what to what, and at which rows.

use super::frame::{Change, Described, Inputs};
use crate::output::Failure;

/// Levels of a column that are compared.
const MOST_LEVELS: usize = 50;
/// Rows of a grid.
const MOST_POINTS: usize = 10_000;
/// Values of a column that the grid chooses itself.
const STEPS: usize = 25;
/// The step of a slope, in ranges of the column.
const STEP: f64 = 1e-4;

/// What is computed of every row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// The expected response.
    Predictions,
    /// How it changes when a column changes.
    Comparisons,
    /// Its derivative in a column.
    Slopes,
}

impl Verb {
    /// The command.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Predictions => "predictions",
            Self::Comparisons => "comparisons",
            Self::Slopes => "slopes",
        }
    }

    /// The verb that a command names.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Predictions, Self::Comparisons, Self::Slopes].into_iter().find(|verb| verb.name() == name)
    }
}

/// A column and values that were given for it.
#[derive(Clone, Debug, PartialEq)]
pub struct Given {
    /// The column.
    pub column: String,
    /// The values as texts; none lets the data choose.
    pub values: Vec<String>,
}

impl std::str::FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (column, values) = text.split_once('=').unwrap_or((text, ""));
        if column.trim().is_empty() {
            return Err("name a column, such as `x`, or with values as in `x=1,2`".into());
        }
        let values = values.split(',').map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        Ok(Self { column: column.trim().into(), values: values.collect() })
    }
}

/// One number per row: the difference of two predictions, over a step.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// The column that changes; empty of predictions.
    pub(super) term: String,
    /// From what to what.
    pub(super) contrast: String,
    /// The change that is subtracted, where there is one.
    pub(super) low: Option<Change>,
    /// The other one; nothing of predictions.
    pub(super) high: Option<Change>,
    pub(super) step: f64,
}

/// What is computed of every row.
pub(super) fn units(inputs: &Inputs<'_>, verb: Verb, variables: &[Given]) -> Result<Vec<Unit>, Failure> {
    if verb == Verb::Predictions {
        if let Some(given) = variables.first() {
            return Err(Failure::Usage(format!(
                "predictions change no column: drop `{}`, or ask with --at or --by for its values",
                given.column
            )));
        }
        return Ok(vec![Unit {
            term: String::new(),
            contrast: String::new(),
            low: None,
            high: None,
            step: 1.0,
        }]);
    }
    for given in variables {
        inputs.check(&given.column, true)?;
    }
    let all: Vec<Given>;
    let variables = if variables.is_empty() {
        let offset = inputs.run.plan.recipe.offset.as_deref();
        let explaining = inputs.explaining.iter().filter(|name| Some(name.as_str()) != offset);
        all = explaining.map(|name| Given { column: name.clone(), values: Vec::new() }).collect();
        &all
    } else {
        variables
    };
    let names: Vec<String> = variables.iter().map(|given| given.column.clone()).collect();
    let described = inputs.described(&names)?;
    let mut units = Vec::new();
    for (given, described) in variables.iter().zip(&described) {
        match verb {
            Verb::Slopes => units.extend(slope(given, described, variables.len() > 1)?),
            _ => units.extend(comparisons(given, described)?),
        }
    }
    if units.is_empty() {
        return Err(Failure::Usage(
            "no column of numbers explains: slopes need one; ask for comparisons".into(),
        ));
    }
    Ok(units)
}

/// The derivative in a column of numbers; nothing of texts, unless they were asked for by name.
fn slope(given: &Given, described: &Described, one_of_many: bool) -> Result<Option<Unit>, Failure> {
    if described.texts.is_some() {
        if one_of_many {
            return Ok(None);
        }
        return Err(Failure::Usage(format!(
            "column `{}` holds text and has no slope: ask for comparisons",
            given.column
        )));
    }
    if !given.values.is_empty() {
        return Err(Failure::Usage(format!(
            "a slope is taken at the values of the rows: drop the values of `{}`, or give them with --at",
            given.column
        )));
    }
    let range = described.high - described.low;
    let step = STEP * if range > 0.0 { range } else { 1.0 };
    Ok(Some(Unit {
        term: given.column.clone(),
        contrast: "slope".into(),
        low: Some(Change::Plus(-0.5 * step)),
        high: Some(Change::Plus(0.5 * step)),
        step,
    }))
}

/// The comparisons of a column: one more of numbers, 1 with 0 where these are all, each level with the most frequent one, or pairs of the values given.
fn comparisons(given: &Given, described: &Described) -> Result<Vec<Unit>, Failure> {
    let name = &given.column;
    let unit = |low: Change, high: Change, contrast: String| Unit {
        term: name.clone(),
        contrast,
        low: Some(low),
        high: Some(high),
        step: 1.0,
    };
    let of = |value: &str| value_of(value, described);
    if let [step] = given.values.as_slice()
        && described.texts.is_none()
    {
        let step: f64 = step.trim_start_matches('+').parse().map_err(|_| no_number(name, step))?;
        return Ok(vec![unit(Change::Plus(0.0), Change::Plus(step), format!("+{step}"))]);
    }
    if given.values.len() > 1 {
        let first = of(&given.values[0])?;
        let others = given.values[1..].iter();
        return others
            .map(|value| Ok(unit(first.clone(), of(value)?, format!("{value} - {}", given.values[0]))))
            .collect();
    }
    if described.texts.is_some() {
        let levels = described.levels();
        let reference = given.values.first().or(levels.first()).cloned().unwrap_or_default();
        of(&reference)?;
        if levels.len() > MOST_LEVELS {
            return Err(Failure::Usage(format!(
                "column `{name}` has {} levels: name those to compare, as in `{name}={}`",
                levels.len(),
                levels[..2].join(",")
            )));
        }
        let others = levels.iter().filter(|level| **level != reference);
        return Ok(others
            .map(|level| {
                unit(
                    Change::Text(reference.clone()),
                    Change::Text(level.clone()),
                    format!("{level} - {reference}"),
                )
            })
            .collect());
    }
    Ok(match described.few().as_deref() {
        Some(&[low, high]) => {
            vec![unit(Change::Number(low), Change::Number(high), format!("{high} - {low}"))]
        }
        _ => vec![unit(Change::Plus(0.0), Change::Plus(1.0), "+1".into())],
    })
}

fn no_number(name: &str, value: &str) -> Failure {
    Failure::Usage(format!("column `{name}` holds numbers, and `{value}` is none"))
}

/// A value for a column.
fn value_of(value: &str, described: &Described) -> Result<Change, Failure> {
    if described.texts.is_none() {
        return value.parse().map(Change::Number).map_err(|_| no_number(&described.name, value));
    }
    let levels = described.levels();
    if levels.iter().any(|level| level == value) {
        return Ok(Change::Text(value.into()));
    }
    let near = austerity_io::table::nearest(&levels, value)
        .map_or(String::new(), |near| format!("; did you mean `{near}`?"));
    Err(Failure::Usage(format!("column `{}` has no level `{value}`{near}", described.name)))
}

/// The values of every column of a grid, column by column.
pub(super) fn grid(inputs: &Inputs<'_>, at: &[Given]) -> Result<Grid, Failure> {
    for given in at {
        inputs.check(&given.column, true)?;
    }
    let described = inputs.described(&inputs.explaining)?;
    let mut axes: Vec<(String, Vec<Change>)> = Vec::new();
    for given in at {
        let Some(described) = described.iter().find(|one| one.name == given.column) else { continue };
        let values = if given.values.is_empty() {
            chosen(described)
        } else {
            given.values.iter().map(|value| value_of(value, described)).collect::<Result<_, _>>()?
        };
        axes.push((given.column.clone(), values));
    }
    let points: usize = axes.iter().map(|(_, values)| values.len()).product();
    if points > MOST_POINTS {
        return Err(Failure::Usage(format!("the grid has {points} points; allowed: {MOST_POINTS}")));
    }
    let fixed = described
        .iter()
        .filter(|one| !axes.iter().any(|(name, _)| *name == one.name))
        .map(|one| (one.name.clone(), one.typical()))
        .collect();
    Ok(Grid { axes, fixed, points })
}

/// Evenly spaced numbers over the range of a column, all of few, or its levels.
fn chosen(described: &Described) -> Vec<Change> {
    if described.texts.is_some() {
        return described.levels().into_iter().take(MOST_LEVELS).map(Change::Text).collect();
    }
    if let Some(few) = described.few() {
        return few.into_iter().map(Change::Number).collect();
    }
    let step = (described.high - described.low) / (STEPS - 1) as f64;
    (0..STEPS).map(|k| Change::Number(described.low + step * k as f64)).collect()
}

/// Points at which effects are computed, in place of the rows.
#[derive(Clone, Debug)]
pub(super) struct Grid {
    /// Columns with several values; the last varies fastest.
    pub(super) axes: Vec<(String, Vec<Change>)>,
    /// The others.
    pub(super) fixed: Vec<(String, Change)>,
    pub(super) points: usize,
}

impl Grid {
    /// The value of every axis at a point.
    pub(super) fn point(&self, point: usize) -> Vec<&Change> {
        let (mut rest, mut values) = (point, Vec::new());
        for (_, axis) in self.axes.iter().rev() {
            values.push(&axis[rest % axis.len()]);
            rest /= axis.len();
        }
        values.reverse();
        values
    }
}
