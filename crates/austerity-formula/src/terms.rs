//! The operators of formulas as operations on sets of terms (Wilkinson & Rogers 1973).
//!
//! | written | means |
//! |---|---|
//! | `a + b`, `a - b` | the terms of both; those of a without those of b |
//! | `a:b` | every term of a with every term of b |
//! | `a*b` | `a + b + a:b` |
//! | `a/b` | `a + a:b`, b within all of a |
//! | `(a + b)^2` | all interactions of up to two |
//! | `1`, `0` | the intercept, which is there unless left out |
//! | `.` | all columns that nothing else names |
//!
//! A term is a set of factors, so `a:b` is `b:a` and `x:x` is `x`. Terms are ordered by their number of factors, else as they were written.

use serde::{Deserialize, Serialize};

use crate::arithmetic::Arithmetic;
use crate::error::{At, Problem};
use crate::factor::{Factor, Given};
use crate::formula::Group;
use crate::syntax::{Kind, Node};

/// Terms that a formula may have.
pub const MOST_TERMS: usize = 10_000;

/// An interaction of factors, each given by its place in the list of factors. The intercept is the term of none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Term(pub Vec<usize>);

impl Term {
    fn is(&self, other: &Self) -> bool {
        self.0.len() == other.0.len() && self.0.iter().all(|factor| other.0.contains(factor))
    }

    fn with(&self, other: &Self) -> Self {
        let mut factors = self.0.clone();
        factors.extend(other.0.iter().filter(|factor| !self.0.contains(factor)));
        Self(factors)
    }
}

/// Terms in the order of their columns; the intercept, if there is one, first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Terms(pub Vec<Term>);

impl Terms {
    /// Whether the intercept is among them.
    #[must_use]
    pub fn intercept(&self) -> bool {
        self.0.iter().any(|term| term.0.is_empty())
    }

    fn add(&mut self, term: Term) {
        if !self.0.iter().any(|known| known.is(&term)) {
            self.0.push(term);
        }
    }

    fn remove(&mut self, term: &Term) {
        self.0.retain(|known| !known.is(term));
    }
}

/// Walks the right-hand side of a formula.
pub(crate) struct Walk<'a> {
    /// What `.` stands for.
    pub(crate) rest: Vec<&'a str>,
    pub(crate) factors: Vec<Factor>,
    pub(crate) offsets: Vec<Arithmetic>,
    pub(crate) weights: Option<Arithmetic>,
    pub(crate) groups: Vec<Group>,
}

impl Walk<'_> {
    /// The terms of a sum, with the intercept unless it is left out, in the order of their degree.
    pub(crate) fn terms(&mut self, node: &Node) -> Result<Terms, At> {
        let mut terms = Terms(vec![Term(Vec::new())]);
        self.sum(&mut terms, true, node)?;
        terms.0.sort_by_key(|term| term.0.len());
        Ok(terms)
    }

    /// Adds the terms of `node`, or takes them away.
    fn sum(&mut self, terms: &mut Terms, adds: bool, node: &Node) -> Result<(), At> {
        match &node.kind {
            Kind::Binary(sign @ ("+" | "-"), left, right) => {
                self.sum(terms, adds, left)?;
                self.sum(terms, adds == (*sign == "+"), right)
            }
            Kind::Signed(sign, inside) => self.sum(terms, adds == (*sign == "+"), inside),
            Kind::Bracket(inside) => match &inside.kind {
                Kind::Binary(sign @ ("|" | "||"), effects, by) if adds => {
                    self.group(effects, by, *sign == "|")
                }
                _ => self.sum(terms, adds, inside),
            },
            Kind::Binary("|" | "||", ..) => Err(At::new(Problem::BareGroup, node.position)),
            Kind::Number(text) if text == "0" => self.sum(terms, !adds, &one(node)),
            Kind::Call { name, arguments } if adds && matches!(name.as_str(), "offset" | "weights") => {
                let given = Given::new(name, arguments, node.position);
                let value = Arithmetic::read(given.only("one column or arithmetic")?)?;
                if name == "offset" {
                    self.offsets.push(value);
                } else if self.weights.replace(value).is_some() {
                    return Err(At::new(Problem::Misplaced("weights"), node.position));
                }
                Ok(())
            }
            _ => {
                for term in self.product(node)?.0 {
                    if adds {
                        terms.add(term);
                    } else {
                        terms.remove(&term);
                    }
                }
                self.check_number(terms, node)
            }
        }
    }

    /// The terms of an operand, without an intercept of its own.
    fn set(&mut self, node: &Node) -> Result<Terms, At> {
        let (groups, offsets) = (self.groups.len(), self.offsets.len() + usize::from(self.weights.is_some()));
        let mut terms = Terms::default();
        self.sum(&mut terms, true, node)?;
        if self.groups.len() > groups {
            return Err(At::new(Problem::NestedGroup, node.position));
        }
        if self.offsets.len() + usize::from(self.weights.is_some()) > offsets {
            return Err(At::new(Problem::Misplaced("offset"), node.position));
        }
        Ok(terms)
    }

    fn product(&mut self, node: &Node) -> Result<Terms, At> {
        match &node.kind {
            Kind::Binary(":", left, right) => {
                let (left, right) = (self.set(left)?, self.set(right)?);
                self.interact(&left, &right, node)
            }
            Kind::Binary("*", left, right) => {
                let (left, right) = (self.set(left)?, self.set(right)?);
                let both = self.interact(&left, &right, node)?;
                let mut all = left;
                right.0.into_iter().chain(both.0).for_each(|term| all.add(term));
                Ok(all)
            }
            Kind::Binary("/", left, right) => {
                let (mut all, right) = (self.set(left)?, self.set(right)?);
                let within = all.0.iter().fold(Term(Vec::new()), |within, term| within.with(term));
                right.0.iter().for_each(|term| all.add(within.with(term)));
                Ok(all)
            }
            Kind::Binary("^", base, power) => {
                let power = match &power.kind {
                    Kind::Number(text) => text.parse::<usize>().ok().filter(|power| *power >= 1),
                    _ => None,
                };
                let power = power.ok_or_else(|| At::new(Problem::Power, node.position))?;
                let base = self.set(base)?;
                let mut all = base.clone();
                for _ in 1..power {
                    let next = self.interact(&all, &base, node)?;
                    if next.0.len() == all.0.len() {
                        break;
                    }
                    all = next;
                }
                Ok(all)
            }
            Kind::Number(text) if text == "1" => Ok(Terms(vec![Term(Vec::new())])),
            Kind::Number(text) => Err(At::new(Problem::NumberAsTerm(text.clone()), node.position)),
            Kind::Dot => {
                let rest = std::mem::take(&mut self.rest);
                let terms = rest.iter().map(|name| Term(vec![self.place(Factor::Column((*name).into()))]));
                let terms = Terms(terms.collect());
                self.rest = rest;
                Ok(terms)
            }
            Kind::Bracket(_) | Kind::Signed(..) | Kind::Binary("+" | "-", ..) => self.set(node),
            Kind::Binary(operator, ..) => {
                Err(At::new(Problem::Operator { operator, arithmetic: false }, node.position))
            }
            Kind::Name(_) | Kind::Call { .. } | Kind::Text(_) | Kind::List(_) => {
                let factor = Factor::read(node)?;
                Ok(Terms(vec![Term(vec![self.place(factor)])]))
            }
        }
    }

    fn interact(&self, left: &Terms, right: &Terms, node: &Node) -> Result<Terms, At> {
        let mut all = Terms::default();
        for a in &left.0 {
            for b in &right.0 {
                all.add(a.with(b));
                self.check_number(&all, node)?;
            }
        }
        Ok(all)
    }

    fn check_number(&self, terms: &Terms, node: &Node) -> Result<(), At> {
        if terms.0.len() <= MOST_TERMS {
            return Ok(());
        }
        Err(At::new(Problem::TooManyTerms { limit: MOST_TERMS }, node.position))
    }

    /// Where a factor is in the list; it joins the list if it is new.
    fn place(&mut self, factor: Factor) -> usize {
        self.factors.iter().position(|known| *known == factor).unwrap_or_else(|| {
            self.factors.push(factor);
            self.factors.len() - 1
        })
    }

    /// A group term: `(effects | by)`.
    fn group(&mut self, effects: &Node, by: &Node, correlated: bool) -> Result<(), At> {
        let (groups, offsets) = (self.groups.len(), self.offsets.len());
        let effects = self.terms(effects)?;
        if self.groups.len() > groups || self.offsets.len() > offsets {
            return Err(At::new(Problem::NestedGroup, by.position));
        }
        for by in grouping(by)? {
            self.groups.push(Group { effects: effects.clone(), by, correlated });
        }
        Ok(())
    }
}

/// `1`, in the place of a `0`.
fn one(zero: &Node) -> Node {
    Node { kind: Kind::Number("1".into()), position: zero.position }
}

/// The columns whose combinations are the groups: `a/b` is `a` and `a:b`.
fn grouping(node: &Node) -> Result<Vec<Vec<String>>, At> {
    match &node.kind {
        Kind::Name(name) => Ok(vec![vec![name.clone()]]),
        Kind::Bracket(inside) => grouping(inside),
        Kind::Binary(sign @ (":" | "/"), left, right) => {
            let (left, right) = (grouping(left)?, grouping(right)?);
            let within = left.last().cloned().unwrap_or_default();
            let joined = right.into_iter().map(|by| within.iter().cloned().chain(by).collect());
            let mut all: Vec<Vec<String>> = joined.collect();
            if *sign == "/" {
                all.splice(0..0, left);
            }
            Ok(all)
        }
        _ => {
            let problem = Problem::Expected { wanted: crate::error::Wanted::Column, found: None };
            Err(At::new(problem, node.position))
        }
    }
}
