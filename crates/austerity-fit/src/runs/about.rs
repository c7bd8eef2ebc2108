//! What a run is about: the model, which class of the response counts as success, the reference levels, the priors.
//!
//! Numbers are rounded for people; `run.toml` keeps every digit.

use std::collections::HashMap;

use austerity_glm::{ResponseKind, Store};
use austerity_io::coding::{Recipe, ResponseCoding, Term};
use austerity_io::text::printable;

use crate::fit::groups::GroupsRecord;
use crate::fit::part::PartRecord;
use crate::fit::plan::{Plan, PriorRecord};
use crate::model::Family;
use crate::report::{Meaning, count};

/// Reference levels that a line names.
const LISTED: usize = 8;
/// Priors that a line shows.
const PRIORS: usize = 4;

/// The model and its response, then the success class and the reference levels where there are any.
pub(crate) fn lines(plan: &Plan) -> Vec<String> {
    let rows = count(plan.data.rows as f64);
    let mut said = if !plan.model.family.is_regression() {
        vec![format!("Model: {}, {rows} rows.", plan.model.family.words())]
    } else {
        vec![format!("Model: {}; response {}, {rows} rows.", plan.model.family.words(), plan.recipe.response)]
    };
    said.extend(coding(plan));
    said.extend(plan.part.iter().flat_map(PartRecord::sentences));
    said.extend(priors(&plan.model.priors, plan.model.family));
    said.iter_mut().for_each(|text| *text = printable(text).into_owned());
    said
}

/// The priors of the first parameters and of sigma, which are defaults, and where that of the intercept holds.
pub(crate) fn priors(records: &[PriorRecord], family: Family) -> Option<String> {
    let one = |record: &PriorRecord| {
        let at = if record.at_means { " at the column means" } else { "" };
        format!("{}{at} {}", record.parameter, rounded(&record.prior))
    };
    let (shown, rest) = records.split_at(records.len().min(PRIORS));
    let mut said: Vec<String> = shown.iter().map(one).collect();
    match rest {
        [] => {}
        [.., last] if family.extra().iter().any(|extra| extra.name == last.parameter) && rest.len() > 1 => {
            said.extend(["…".into(), one(last)]);
        }
        [last] => said.push(one(last)),
        _ => said.push("…".into()),
    }
    let defaults = records.iter().filter(|record| record.default).count();
    let which = match defaults {
        0 => "",
        _ if defaults == records.len() => "defaults, ",
        _ => "some of them defaults, ",
    };
    (!said.is_empty()).then(|| format!("Priors: {} ({which}all in run.toml)", said.join(", ")))
}

/// The success class and the reference levels.
pub(crate) fn coding(plan: &Plan) -> Vec<String> {
    let success = success(plan).map(|class| format!("Success: {class}."));
    let references = references(&plan.recipe);
    let listed: Vec<String> =
        references.iter().take(LISTED).map(|(column, level)| format!("{column} = {level}")).collect();
    let more = references.len().saturating_sub(LISTED);
    let more = if more > 0 { format!(" and {more} more (all in run.toml)") } else { String::new() };
    let references = (!listed.is_empty()).then(|| format!("Reference levels: {}{more}.", listed.join(", ")));
    success.into_iter().chain(references).map(|text| printable(&text).into_owned()).collect()
}

/// The class whose probability is modelled, with its number of rows where that was counted.
pub(crate) fn success(plan: &Plan) -> Option<String> {
    if plan.model.family.kind() != ResponseKind::Binary {
        return None;
    }
    let class = match &plan.recipe.coding {
        ResponseCoding::AsGiven | ResponseCoding::Levels { .. } => "1".to_owned(),
        ResponseCoding::TwoNumbers { one, .. } => one.to_string(),
        ResponseCoding::TwoTexts { one, .. } => one.clone(),
    };
    let number = plan.data.successes.map_or(String::new(), |successes| {
        format!(" ({} of {} rows)", count(successes as f64), count(plan.data.rows as f64))
    });
    Some(format!("{} = {class}{number}", plan.recipe.response))
}

/// Columns of levels and the level that the others are compared with.
pub(crate) fn references(recipe: &Recipe) -> Vec<(String, String)> {
    let reference = |term: &Term| match term {
        Term::Levels { column, reference: Some(level), .. }
        | Term::Cells { column, reference: Some(level), .. } => Some((column.clone(), level.clone())),
        _ => None,
    };
    recipe.terms.iter().filter_map(reference).collect()
}

/// What the coefficients stand for, for the forest plot.
pub(crate) fn meaning(plan: &Plan) -> Meaning {
    let Some(effect) = plan.model.family.effect() else { return Meaning::default() };
    let names = plan.recipe.terms.iter().flat_map(|term| {
        let is_number = matches!(term, Term::Number { .. });
        term.names().into_iter().map(move |name| (name, is_number))
    });
    let scales: HashMap<String, f64> = names
        .zip(&plan.data.sds)
        .map(|((name, is_number), &sd)| (name, if is_number { sd } else { 1.0 }))
        .collect();
    Meaning {
        effect: Some(effect),
        apart: std::iter::once("intercept")
            .chain(plan.model.family.extra().iter().map(|extra| extra.name))
            .map(Into::into)
            .chain(plan.groups.iter().flat_map(GroupsRecord::parameters))
            .collect(),
        scales,
        references: references(&plan.recipe),
    }
}

/// Standard deviation of every column of the design, on the scale of the file.
pub(crate) fn sds(store: &Store, recipe: &Recipe) -> Vec<f64> {
    let scales = recipe.terms.iter().flat_map(|term| {
        let scale = if let Term::Number { scale, .. } = term { *scale } else { 1.0 };
        vec![scale; term.names().len()]
    });
    let columns = &store.description().columns;
    let scales: Vec<f64> = scales.collect();
    if columns.len() != scales.len() {
        return Vec::new();
    }
    columns.iter().zip(scales).map(|(column, scale)| column.sd * scale).collect()
}

/// Rows of the success class. A store on disk is not read for it.
pub(crate) fn successes(store: &Store) -> Option<u64> {
    if store.description().kind != ResponseKind::Binary || store.is_mapped() {
        return None;
    }
    let blocks = store.blocks();
    let at = 2 * blocks.layout().response;
    // Stored as 1 and −1; what pads the last block is 0.
    let ones = |block: usize| {
        let lines = &blocks.block(block)[at..at + 2];
        lines.iter().flat_map(|line| line.0).filter(|value| *value > 0.0).count() as u64
    };
    Some((0..blocks.count()).map(ones).sum())
}

/// A prior as it would be typed, its numbers rounded to three significant digits.
pub(crate) fn rounded(prior: &str) -> String {
    let Some((name, numbers)) = prior.split_once(':') else { return prior.into() };
    let round = |text: &str| match text.trim().parse::<f64>() {
        Ok(value) if value != 0.0 && value.is_finite() => {
            // Through its digits, so that no new ones appear.
            format!("{value:.2e}").parse::<f64>().map_or_else(|_| text.into(), |value| value.to_string())
        }
        _ => text.into(),
    };
    format!("{name}:{}", numbers.split(',').map(round).collect::<Vec<String>>().join(","))
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity_glm::{Data, ResponseKind};

    #[test]
    fn priors_have_three_digits() {
        for (exact, shown) in [
            ("normal:2.4999713", "normal:2.5"),
            ("normal:3.000001", "normal:3"),
            ("student:3,0.0012345", "student:3,0.00123"),
            ("normal:-1234567,0.5", "normal:-1230000,0.5"),
            ("laplace:1e-12", "laplace:0.000000000001"),
            ("flat", "flat"),
        ] {
            assert_eq!(rounded(exact), shown);
        }
    }

    #[test]
    fn successes_are_counted_without_the_padding() {
        let response: Vec<f64> = (0..77).map(|row| f64::from(u8::from(row % 3 == 0))).collect();
        let column = (0..77).map(f64::from).collect();
        let data = Data::new(["x"], vec![column], response);
        let store = Store::new(&data.check(ResponseKind::Binary).unwrap(), ResponseKind::Binary).unwrap();
        assert_eq!(successes(&store), Some(26));
    }
}
