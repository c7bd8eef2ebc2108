//! The group terms of a formula: which rows belong together, and what varies between groups.
//!
//! `(1 + x | g)` says that intercept and slope of x vary between the levels of g. Slopes must also be terms of the formula: what varies does so about a coefficient. The levels of `a:b`
//! are the combinations that rows have. Numbers are levels as they are: 7 and 7.0 are the same group. Memory: 4 bytes per row and term.

use std::collections::HashMap;

use austerity_formula::{Expanded, Problem};

use super::{expanded, wrong};
use crate::coding::feature::{number_codes, sorted};
use crate::error::{Error, Result};
use crate::table::{Column, Source};

/// A group term, with the group of every row.
#[derive(Clone, Debug, PartialEq)]
pub struct Grouping {
    /// The columns whose combinations are the groups, joined by colons.
    pub name: String,
    /// Whether the intercept varies.
    pub intercept: bool,
    /// Names of the terms whose coefficients vary.
    pub slopes: Vec<String>,
    /// Whether the effects of a group are correlated.
    pub correlated: bool,
    /// The group of every row.
    pub codes: Vec<u32>,
    /// Names of the groups, sorted.
    pub levels: Vec<String>,
    /// Whether the levels are numbers.
    pub numeric: bool,
}

/// The group terms of a formula.
pub(crate) fn read(source: &Source, text: &str) -> Result<Vec<Grouping>> {
    let formula = expanded(source.path(), text, &source.schema().names)?;
    formula.groups.iter().map(|group| one(source, &formula, group)).collect()
}

fn one(source: &Source, formula: &Expanded, group: &austerity_formula::Group) -> Result<Grouping> {
    if let Some(name) = group.by.iter().find(|name| !source.schema().names.contains(name)) {
        let nearest = crate::table::nearest(&source.schema().names, name).map(Into::into);
        let problem = Problem::UnknownColumn { name: name.clone(), nearest };
        return Err(wrong(source.path())(formula.error_at(name, problem)));
    }
    let (codes, levels, numeric) = codes(source, &group.by)?;
    let (codes, levels) = in_order(codes, &levels);
    let name = group.by.join(":");
    if levels.len() < 2 {
        return Err(Error::Role {
            file: source.path().into(),
            column: name,
            problem: format!("it has {} level, so nothing can vary between its groups", levels.len()),
            remedy: "leave the group term out".into(),
        });
    }
    let slopes = group
        .effects
        .0
        .iter()
        .filter(|term| !term.0.is_empty())
        .map(|term| formula.term_name(term))
        .collect();
    Ok(Grouping {
        name,
        intercept: group.effects.intercept(),
        slopes,
        correlated: group.correlated,
        codes,
        levels,
        numeric,
    })
}

/// The group of every row of other data, and the names of the groups, in any order.
pub fn groups_of_rows(source: &Source, by: &[String]) -> Result<(Vec<u32>, Vec<String>)> {
    let (codes, levels, _) = codes(source, by).map_err(|error| source.located(error))?;
    Ok((codes, levels))
}

/// The combination of columns that every row has, and whether all of them are numbers.
fn codes(source: &Source, by: &[String]) -> Result<(Vec<u32>, Vec<String>, bool)> {
    let table = source.read(Some(by))?;
    let (mut codes, mut levels, mut numeric) = (Vec::new(), Vec::new(), true);
    for (place, column) in table.columns.iter().enumerate() {
        let (own, labels) = match column {
            Column::Levels { codes, labels } => {
                numeric = false;
                (codes.clone(), labels.clone())
            }
            Column::Numbers(values) => {
                let mut labels = Vec::new();
                (number_codes(values, &mut HashMap::new(), &mut labels), labels)
            }
        };
        (codes, levels) = if place == 0 { (own, labels) } else { joined((&codes, &levels), (&own, &labels)) };
    }
    Ok((codes, levels, numeric))
}

/// Combinations of two columns of levels that rows have.
fn joined(
    (codes, levels): (&[u32], &[String]),
    (others, labels): (&[u32], &[String]),
) -> (Vec<u32>, Vec<String>) {
    let (mut known, mut names) = (HashMap::new(), Vec::new());
    let pairs = codes.iter().zip(others);
    let codes = pairs
        .map(|(&a, &b)| {
            *known.entry((a, b)).or_insert_with(|| {
                names.push(format!("{}:{}", levels[a as usize], labels[b as usize]));
                names.len() as u32 - 1
            })
        })
        .collect();
    (codes, names)
}

/// Levels that rows have, sorted.
fn in_order(mut codes: Vec<u32>, levels: &[String]) -> (Vec<u32>, Vec<String>) {
    let mut used = vec![false; levels.len()];
    codes.iter().for_each(|&code| used[code as usize] = true);
    let order: Vec<usize> = sorted(levels).into_iter().filter(|&code| used[code]).collect();
    let mut place = vec![0_u32; levels.len()];
    order.iter().enumerate().for_each(|(new, &old)| place[old] = new as u32);
    codes.iter_mut().for_each(|code| *code = place[*code as usize]);
    let names = order.into_iter().map(|code| levels[code].clone()).collect();
    (codes, names)
}
