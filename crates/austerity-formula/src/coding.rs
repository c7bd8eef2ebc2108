//! Terms → columns: which factors keep all of their levels, so that the columns span what the terms mean and none is redundant.
//!
//! A term of numbers x and factors a, b spans the products of x with every subset of {a, b}, each factor without its reference level
//! (reduced): 1, a⁻, b⁻, a⁻b⁻. What earlier terms with the same numbers span already is left out. The rest is put together again:
//! S and S·a⁻ are S·a with all levels of a. So `a` beside an intercept is reduced, alone it is not; `x:a` without `x` keeps every level;
//! `a:b` beside an intercept is b⁻ and a⁻:b. This is the rule of S and R as Nathaniel Smith made it exact for patsy, and formulaic's.
//!
//! Within a term the first factor's levels vary fastest. Cost: 2^k subsets for a term of k factors with levels; k above
//! [`MOST_TOGETHER`] is refused.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::error::Problem;
use crate::factor::Factor;
use crate::terms::Terms;

/// Factors with levels that one term may have.
pub const MOST_TOGETHER: usize = 12;
/// How alike levels must be for one to be suggested (Jaro and Winkler's measure).
const ALIKE: f64 = 0.8;

/// What a factor is in a table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Numbers.
    Number,
    /// Levels, in their order.
    Levels(Vec<String>),
}

impl Kind {
    /// Levels, in their order.
    pub fn levels<S: Into<String>>(levels: impl IntoIterator<Item = S>) -> Self {
        Self::Levels(levels.into_iter().map(Into::into).collect())
    }
}

/// How a factor enters a block of columns.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Coding {
    /// As this many columns of numbers.
    Numbers(usize),
    /// One column for each level but the reference.
    Reduced {
        /// The place of the reference level.
        reference: usize,
        /// The number of levels, the reference included.
        levels: usize,
    },
    /// One column for each level.
    Full {
        /// The number of levels.
        levels: usize,
    },
}

impl Coding {
    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Numbers(width) => *width,
            Self::Reduced { levels, .. } => levels - 1,
            Self::Full { levels } => *levels,
        }
    }

    /// The column of a level, where it has one.
    #[must_use]
    pub fn column_of(&self, level: usize) -> Option<usize> {
        match self {
            Self::Numbers(_) => None,
            Self::Full { .. } => Some(level),
            Self::Reduced { reference, .. } if level == *reference => None,
            Self::Reduced { reference, .. } => Some(level - usize::from(level > *reference)),
        }
    }

    /// The level of a column.
    fn level_of(&self, column: usize) -> usize {
        match self {
            Self::Reduced { reference, .. } => column + usize::from(column >= *reference),
            Self::Numbers(_) | Self::Full { .. } => column,
        }
    }
}

/// A factor in a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its place in the list of factors.
    pub factor: usize,
    /// How it enters.
    pub coding: Coding,
}

/// Columns that are the products of those of some factors; the first factor's vary fastest. The intercept is the block of none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// The place of its term in the list of terms.
    pub term: usize,
    /// The factors.
    pub parts: Vec<Part>,
}

impl Block {
    /// The number of columns.
    #[must_use]
    pub fn width(&self) -> usize {
        self.parts.iter().map(|part| part.coding.width()).product()
    }
}

/// The columns of a design.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Columns {
    /// Their blocks, in order.
    pub blocks: Vec<Block>,
    names: Vec<String>,
}

impl Columns {
    /// The names of all columns.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }
}

/// Factors with levels, each reduced or not, beside the numbers of a term.
type Scope = Vec<(usize, Span)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Span {
    Reduced,
    Full,
}

pub(crate) fn code(terms: &Terms, factors: &[Factor], kinds: &[Kind]) -> Result<Columns, Problem> {
    check_levels(factors, kinds)?;
    let mut spanned: BTreeSet<(Vec<usize>, Vec<usize>)> = BTreeSet::new();
    let mut blocks = Vec::new();
    for (number, term) in terms.0.iter().enumerate() {
        let is_levels = |factor: &&usize| matches!(kinds[**factor], Kind::Levels(_));
        let with_levels: Vec<usize> = term.0.iter().filter(is_levels).copied().collect();
        let mut numbers: Vec<usize> = term.0.iter().filter(|factor| !is_levels(factor)).copied().collect();
        numbers.sort_unstable();
        if with_levels.len() > MOST_TOGETHER {
            return Err(Problem::TooManyTerms { limit: 1 << MOST_TOGETHER });
        }
        let mut open: Vec<Scope> = Vec::new();
        for subset in subsets(&with_levels) {
            let mut key = subset.clone();
            key.sort_unstable();
            if spanned.insert((numbers.clone(), key)) {
                open.push(subset.into_iter().map(|factor| (factor, Span::Reduced)).collect());
            }
        }
        for scope in joined(open) {
            let parts = term.0.iter().filter_map(|&factor| part(factor, &scope, factors, kinds)).collect();
            blocks.push(Block { term: number, parts });
        }
    }
    let mut names = Vec::new();
    for block in &blocks {
        names_of(block, factors, kinds, &mut names);
    }
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(name.as_str())) {
        Some(twice) => Err(Problem::Repeated(twice.clone())),
        None => Ok(Columns { blocks, names }),
    }
}

fn check_levels(factors: &[Factor], kinds: &[Kind]) -> Result<(), Problem> {
    for (factor, kind) in factors.iter().zip(kinds) {
        let Kind::Levels(levels) = kind else { continue };
        if levels.len() < 2 {
            return Err(Problem::FewLevels { factor: factor.name(), levels: levels.len() });
        }
        if let Factor::Levels { reference: Some(reference), .. } = factor
            && !levels.contains(reference)
        {
            let alike = |level: &&String| strsim::jaro_winkler(level, reference);
            let nearest = levels.iter().max_by(|a, b| alike(a).total_cmp(&alike(b)));
            let nearest = nearest.filter(|level| alike(level) > ALIKE).cloned();
            return Err(Problem::NoSuchLevel { factor: factor.name(), level: reference.clone(), nearest });
        }
    }
    Ok(())
}

/// All subsets, smaller ones first, each in the order of `all`.
fn subsets(all: &[usize]) -> Vec<Vec<usize>> {
    let member = |bits: usize| (0..all.len()).filter(move |place| bits >> place & 1 == 1);
    let mut subsets: Vec<Vec<usize>> =
        (0..1usize << all.len()).map(|bits| member(bits).map(|place| all[place]).collect()).collect();
    subsets.sort_by_key(Vec::len);
    subsets
}

/// The fewest scopes that span the same: S and S·a⁻ become S·a.
fn joined(mut open: Vec<Scope>) -> Vec<Scope> {
    let mut kept: Vec<Scope> = Vec::new();
    open.sort_by_key(Vec::len);
    'next: for scope in open {
        for (place, small) in kept.iter().enumerate() {
            if let Some(whole) = join(small, &scope) {
                kept.remove(place);
                kept.push(whole);
                kept = joined(kept);
                continue 'next;
            }
        }
        kept.push(scope);
    }
    kept
}

/// `large` with all levels of the one reduced factor that `small` lacks, if that is all the difference.
fn join(small: &Scope, large: &Scope) -> Option<Scope> {
    let mut extra = large.iter().filter(|part| !small.contains(part));
    let (new, Span::Reduced) = *extra.next()? else { return None };
    if extra.next().is_some() || large.len() != small.len() + 1 {
        return None;
    }
    Some(
        large.iter().map(|&(factor, span)| (factor, if factor == new { Span::Full } else { span })).collect(),
    )
}

/// How a factor of a term enters one of its scopes, if it does.
fn part(factor: usize, scope: &Scope, factors: &[Factor], kinds: &[Kind]) -> Option<Part> {
    let Kind::Levels(levels) = &kinds[factor] else {
        return Some(Part { factor, coding: Coding::Numbers(factors[factor].width()) });
    };
    let (_, span) = scope.iter().find(|(member, _)| *member == factor)?;
    let coding = match span {
        Span::Full => Coding::Full { levels: levels.len() },
        Span::Reduced => {
            let named = if let Factor::Levels { reference: Some(name), .. } = &factors[factor] {
                levels.iter().position(|level| level == name)
            } else {
                None
            };
            Coding::Reduced { reference: named.unwrap_or(0), levels: levels.len() }
        }
    };
    Some(Part { factor, coding })
}

fn names_of(block: &Block, factors: &[Factor], kinds: &[Kind], names: &mut Vec<String>) {
    if block.parts.is_empty() {
        names.push("intercept".into());
        return;
    }
    let choices: Vec<Vec<String>> = block
        .parts
        .iter()
        .map(|Part { factor, coding }| {
            let name = factors[*factor].name();
            (0..coding.width())
                .map(|column| match &kinds[*factor] {
                    Kind::Levels(levels) => format!("{name}[{}]", levels[coding.level_of(column)]),
                    Kind::Number if factors[*factor].is_numbered() => format!("{name}[{}]", column + 1),
                    Kind::Number => name.clone(),
                })
                .collect()
        })
        .collect();
    for number in 0..block.width() {
        let mut left = number;
        let chosen: Vec<&str> = choices
            .iter()
            .map(|choice| {
                let name = choice[left % choice.len()].as_str();
                left /= choice.len();
                name
            })
            .collect();
        names.push(chosen.join(":"));
    }
}
