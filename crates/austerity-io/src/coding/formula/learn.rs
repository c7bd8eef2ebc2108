//! What a formula learns of a table: levels and truths, means, ranges, moments and knots, in as many passes as its factors need.
//!
//! | factor | passes |
//! |---|---|
//! | numbers, arithmetic | none |
//! | levels, `scale`, `center` | one, the first |
//! | `poly` | two |
//! | `bs`, `cr` | one to five: see [`austerity_formula::basis::learn`] |
//!
//! All factors share a pass. Values are added in the order of the rows, whatever the pieces they come in, so that the same table gives
//! the same recipe, bit for bit. Memory: the different levels, and per column of quantiles a few thousand counters.

use std::collections::HashMap;

use austerity_formula::{Arithmetic, Basis, Expanded, Factor, Learner, Partial, Problem, Step};

use super::sheet::levels_alone;
use super::values::evaluated;
use super::{FormulaRecipe, Learnt, expanded, wrong};
use crate::coding::MOST_LEVELS;
use crate::coding::feature::{number_codes, sorted};
use crate::error::Result;
use crate::table::derived::{Rows, in_pieces};
use crate::table::levels::truths;
use crate::table::{Chunk, ColumnKind, Source, nearest};

/// Levels named in a note.
const LISTED: usize = 8;

/// Different values of a column.
#[derive(Default)]
struct Tally {
    labels: Vec<String>,
    used: Vec<bool>,
    known: HashMap<u64, u32>,
    /// Whether `true` and `false` may stand for numbers.
    truths: bool,
}

/// What is being learnt of a factor.
enum State {
    Levels(Tally),
    Numbers(Learner, Partial),
    Done(Learnt),
}

/// Learns what a formula needs; also gives notes.
pub(super) fn learn(source: &Source, text: &str) -> Result<(FormulaRecipe, Vec<String>)> {
    let file = source.path();
    let names = &source.schema().names;
    let formula = expanded(file, text, names)?;
    let has_dot = formula != expanded(file, text, &[])?;
    check_columns(source, &formula)?;
    let mut states: Vec<State> = formula.factors.iter().map(|factor| begin(source, factor)).collect();
    let mut notes = Vec::new();
    while states.iter().any(|state| !matches!(state, State::Done(_))) {
        pass(source, &formula, &mut states)?;
        let mut next = Vec::new();
        for (factor, state) in formula.factors.iter().zip(states) {
            next.push(advance(source, &formula, (factor, state), &mut notes)?);
        }
        states = next;
    }
    let done = |state| if let State::Done(learnt) = state { Some(learnt) } else { None };
    let factors = states.into_iter().filter_map(done).collect();
    let columns = if has_dot { names.clone() } else { Vec::new() };
    Ok((FormulaRecipe { text: text.into(), columns, factors }, notes))
}

/// Refuses columns that are not there, and a response that explains itself.
fn check_columns(source: &Source, formula: &Expanded) -> Result<()> {
    let names = &source.schema().names;
    let refuse = |name: &str, problem| Err(wrong(source.path())(formula.error_at(name, problem)));
    for name in formula.columns() {
        if !names.iter().any(|own| own == name) {
            let nearest = nearest(names, name).map(Into::into);
            return refuse(name, Problem::UnknownColumn { name: name.into(), nearest });
        }
    }
    let response = formula.response.value.to_string();
    for factor in &formula.factors {
        let mut explains = factor.name() == response;
        factor.visit_columns(&mut |name| explains |= name == response);
        if explains {
            return refuse(&response, Problem::ResponseAsTerm(response.clone()));
        }
    }
    let constant = |of: &Arithmetic| {
        let mut constant = true;
        of.visit_columns(&mut |_| constant = false);
        constant.then(|| of.to_string())
    };
    let numbers = formula.factors.iter().filter_map(number_of);
    let all = numbers.chain(&formula.offsets).chain(&formula.weights).chain([&formula.response.value]);
    match all.into_iter().find_map(constant) {
        Some(text) => refuse("", Problem::NumberAsTerm(text)),
        None => Ok(()),
    }
}

/// The arithmetic that a factor is made of.
fn number_of(factor: &Factor) -> Option<&Arithmetic> {
    match factor {
        Factor::Column(_) | Factor::Levels { .. } => None,
        Factor::Number(of)
        | Factor::Scaled { of, .. }
        | Factor::Polynomial { of, .. }
        | Factor::Spline { of, .. } => Some(of),
    }
}

fn begin(source: &Source, factor: &Factor) -> State {
    let schema = source.schema();
    let is_text = |name: &String| {
        schema.names.iter().position(|own| own == name).is_some_and(|j| schema.kinds[j] == ColumnKind::Text)
    };
    match factor {
        Factor::Levels { .. } => State::Levels(Tally::default()),
        Factor::Column(name) if is_text(name) => State::Levels(Tally::default()),
        _ => match Learner::begin(factor) {
            Step::Done(basis) => State::Done(Learnt::Basis(basis)),
            Step::Again(learner) => numbers_of(learner),
        },
    }
}

fn numbers_of(learner: Learner) -> State {
    let partial = learner.partial();
    State::Numbers(learner, partial)
}

/// One pass over the columns of the factors that still learn.
fn pass(source: &Source, formula: &Expanded, states: &mut [State]) -> Result<()> {
    let mut names: Vec<String> = Vec::new();
    for (factor, _) in
        formula.factors.iter().zip(&*states).filter(|(_, state)| !matches!(state, State::Done(_)))
    {
        factor.visit_columns(&mut |name| {
            if !names.iter().any(|own| own == name) {
                names.push(name.into());
            }
        });
    }
    let text: Vec<String> = names.iter().filter(|name| levels_alone(formula, name)).cloned().collect();
    in_pieces(source, (&names, &text), &mut |rows| {
        for (factor, state) in formula.factors.iter().zip(&mut *states) {
            match state {
                State::Levels(tally) => tally.push(rows, formula, factor)?,
                State::Numbers(learner, partial) => {
                    if let Some(of) = number_of(factor) {
                        let values = evaluated(formula, rows, of)?;
                        values.iter().for_each(|&value| learner.add(partial, value));
                    }
                }
                State::Done(_) => {}
            }
        }
        Ok(())
    })?;
    Ok(())
}

/// What follows from a pass.
fn advance(
    source: &Source,
    formula: &Expanded,
    (factor, state): (&Factor, State),
    notes: &mut Vec<String>,
) -> Result<State> {
    match state {
        State::Levels(tally) => Ok(State::Done(tally.finish(source, factor, notes))),
        State::Numbers(learner, partial) => match learner.advance(partial) {
            Ok(Step::Again(learner)) => Ok(numbers_of(learner)),
            Ok(Step::Done(basis)) => Ok(State::Done(Learnt::Basis(basis))),
            Err(trouble) => {
                let problem = Problem::Unlearnt { factor: factor.name(), trouble };
                Err(wrong(source.path())(formula.error_of(factor, problem)))
            }
        },
        done @ State::Done(_) => Ok(done),
    }
}

impl Tally {
    /// The next rows.
    fn push(&mut self, rows: &Rows<'_>, formula: &Expanded, factor: &Factor) -> Result<()> {
        let (Factor::Column(name) | Factor::Levels { column: name, .. }) = factor else { return Ok(()) };
        match rows.chunk(name) {
            Chunk::Levels { codes, labels, truths } => {
                self.labels.extend_from_slice(&labels[self.labels.len()..]);
                self.truths = truths;
                self.used.resize(self.labels.len(), false);
                codes.iter().for_each(|&code| self.used[code as usize] = true);
            }
            Chunk::Slopes { .. } => {}
            Chunk::Numbers(values) => {
                number_codes(values, &mut self.known, &mut self.labels);
                self.used.resize(self.labels.len(), true);
            }
        }
        if self.labels.len() <= MOST_LEVELS {
            return Ok(());
        }
        let problem = Problem::ManyLevels { factor: factor.name(), limit: MOST_LEVELS };
        Err(wrong(rows.file)(formula.error_of(factor, problem)))
    }

    /// The levels that rows have, in order; numbers where all of them are truths and the factor does not ask for levels.
    fn finish(self, source: &Source, factor: &Factor, notes: &mut Vec<String>) -> Learnt {
        if self.truths && matches!(factor, Factor::Column(_)) && truths(&self.labels).is_some() {
            return Learnt::Basis(Basis::Plain);
        }
        let (Factor::Column(name) | Factor::Levels { column: name, .. }) = factor else {
            return Learnt::Levels(Vec::new());
        };
        let is_ordered = source.has_order(name);
        let order = if is_ordered { (0..self.labels.len()).collect() } else { sorted(&self.labels) };
        let (used, unused): (Vec<usize>, Vec<usize>) = order.into_iter().partition(|&code| self.used[code]);
        if !unused.is_empty() {
            let named: Vec<String> =
                unused.iter().take(LISTED).map(|&code| format!("`{}`", self.labels[code])).collect();
            let more = if unused.len() > LISTED { ", …" } else { "" };
            notes.push(format!(
                "column `{name}`: levels that no row has were dropped: {}{more}",
                named.join(", ")
            ));
        }
        Learnt::Levels(used.into_iter().map(|code| self.labels[code].clone()).collect())
    }
}
