//! A formula as a value: response, terms, offset, weights, group terms.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::arithmetic::Arithmetic;
use crate::coding::{self, Columns, Kind as FactorKind};
use crate::error::{At, Error, Problem, Result};
use crate::factor::{Factor, Given};
use crate::syntax::{self, Kind, Node};
use crate::terms::{Term, Terms, Walk};
use crate::token::{self, Token};

/// A formula that was read and is sound; `.` is still open.
#[derive(Clone, Debug, PartialEq)]
pub struct Formula {
    text: String,
    left: Node,
    right: Node,
}

/// What the response is beside its own column.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ResponseRole {
    /// Nothing.
    Alone,
    /// Successes out of so many trials.
    Trials(Arithmetic),
    /// A time, and whether the event happened then (1) or had not by then (0).
    Event(Arithmetic),
}

/// The response.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Response {
    /// The column, or arithmetic of columns.
    pub value: Arithmetic,
    /// What belongs to it.
    pub role: ResponseRole,
}

/// A group term: effects that vary with the levels of some columns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Group {
    /// What varies.
    pub effects: Terms,
    /// The columns whose combinations are the groups.
    pub by: Vec<String>,
    /// Whether the effects of one group are correlated: `|`, not `||`.
    pub correlated: bool,
}

/// A formula whose `.` is known.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expanded {
    /// The formula as it was written.
    pub text: String,
    /// The response.
    pub response: Response,
    /// Everything that stands between operators, once each.
    pub factors: Vec<Factor>,
    /// The terms, in the order of their columns.
    pub terms: Terms,
    /// Numbers added to the linear predictor with coefficient 1.
    pub offsets: Vec<Arithmetic>,
    /// Frequency weights.
    pub weights: Option<Arithmetic>,
    /// The group terms.
    pub groups: Vec<Group>,
}

impl Formula {
    /// Reads a formula. Everything that can be wrong without knowing the table is found here.
    pub fn parse(text: &str) -> Result<Self> {
        let read = || {
            let tokens = token::tokens(text)?;
            let tree = syntax::tree(&tokens, text.chars().count())?;
            match tree.kind {
                Kind::Binary("~", left, right) => Ok((*left, *right)),
                _ => Err(At::new(Problem::NoTilde, 0)),
            }
        };
        let (left, right) = read().map_err(|at| at.of(text))?;
        let formula = Self { text: text.into(), left, right };
        formula.expand(&[])?;
        Ok(formula)
    }

    /// The formula as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The terms, given the columns of the table in their order: `.` is those that nothing else names.
    pub fn expand(&self, columns: &[&str]) -> Result<Expanded> {
        self.expanded(columns).map_err(|at| at.of(&self.text))
    }

    fn expanded(&self, columns: &[&str]) -> std::result::Result<Expanded, At> {
        let (response, weights) = response(&self.left)?;
        let mut taken = BTreeSet::new();
        names(&self.left, &mut taken);
        roles(&self.right, &mut taken);
        let rest = columns.iter().copied().filter(|name| !taken.contains(name)).collect();
        let mut walk = Walk { rest, factors: Vec::new(), offsets: Vec::new(), weights, groups: Vec::new() };
        let terms = walk.terms(&self.right)?;
        let Walk { factors, offsets, weights, groups, .. } = walk;
        Ok(Expanded { text: self.text.clone(), response, factors, terms, offsets, weights, groups })
    }
}

impl Expanded {
    /// The columns of the table that are needed, in alphabetical order.
    #[must_use]
    pub fn columns(&self) -> Vec<&str> {
        let mut found = BTreeSet::new();
        let mut seen = |name| {
            found.insert(name);
        };
        self.response.value.visit_columns(&mut seen);
        if let ResponseRole::Trials(other) | ResponseRole::Event(other) = &self.response.role {
            other.visit_columns(&mut seen);
        }
        self.offsets.iter().chain(&self.weights).for_each(|number| number.visit_columns(&mut seen));
        self.factors.iter().for_each(|factor| factor.visit_columns(&mut seen));
        self.groups.iter().flat_map(|group| &group.by).for_each(|name| seen(name));
        found.into_iter().collect()
    }

    /// A problem with the column `name`, or with a factor that names it, at the character where the formula names it first.
    #[must_use]
    pub fn error_at(&self, name: &str, problem: Problem) -> Error {
        let tokens = token::tokens(&self.text).unwrap_or_default();
        let mut named =
            tokens.iter().filter(|placed| matches!(&placed.token, Token::Name(own) if own == name));
        // The response is named on the left, too.
        let is_last = matches!(problem, Problem::ResponseAsTerm(_));
        let position =
            if is_last { named.next_back() } else { named.next() }.map_or(0, |placed| placed.position);
        Error { problem, position, formula: self.text.clone() }
    }

    /// A problem with a factor, at the character where its first column is named.
    #[must_use]
    pub fn error_of(&self, factor: &Factor, problem: Problem) -> Error {
        let mut first = None;
        factor.visit_columns(&mut |name| first = first.or(Some(name)));
        self.error_at(first.unwrap_or_default(), problem)
    }

    /// The name of a term: its factors, joined by colons.
    #[must_use]
    pub fn term_name(&self, term: &Term) -> String {
        let names: Vec<String> = term.0.iter().map(|&factor| self.factors[factor].name()).collect();
        if names.is_empty() { "intercept".into() } else { names.join(":") }
    }

    /// The columns of the design, given what each factor is.
    pub fn coding(&self, kind: impl Fn(&Factor) -> FactorKind) -> Result<Columns> {
        let kinds: Vec<FactorKind> = self.factors.iter().map(kind).collect();
        coding::code(&self.terms, &self.factors, &kinds).map_err(|problem| {
            let about = match &problem {
                Problem::FewLevels { factor, .. } | Problem::NoSuchLevel { factor, .. } => {
                    self.factors.iter().find(|own| own.name() == *factor)
                }
                _ => None,
            };
            match about {
                Some(factor) => self.error_of(factor, problem),
                None => self.error_at("", problem),
            }
        })
    }
}

/// The left-hand side: `y`, `successes | trials(n)`, `time | cens(event)`, each also with `weights(w)`.
fn response(node: &Node) -> std::result::Result<(Response, Option<Arithmetic>), At> {
    let refuse = || At::new(Problem::Response, node.position);
    let Kind::Binary("|", value, beside) = &node.kind else {
        return match &node.kind {
            Kind::Binary("~" | "||" | ":", ..) => Err(refuse()),
            _ => Ok((Response { value: Arithmetic::read(node)?, role: ResponseRole::Alone }, None)),
        };
    };
    let (mut role, mut weights, mut left) = (ResponseRole::Alone, None, vec![&**beside]);
    while let Some(node) = left.pop() {
        match &node.kind {
            Kind::Binary("+", a, b) => left.extend([&**a, &**b]),
            Kind::Call { name, arguments } => {
                let given = Given::new(name, arguments, node.position);
                let number = Arithmetic::read(given.only("one column")?)?;
                match (name.as_str(), &role) {
                    ("weights", _) if weights.is_none() => weights = Some(number),
                    ("trials", ResponseRole::Alone) => role = ResponseRole::Trials(number),
                    ("cens", ResponseRole::Alone) => role = ResponseRole::Event(number),
                    _ => return Err(refuse()),
                }
            }
            _ => return Err(refuse()),
        }
    }
    Ok((Response { value: Arithmetic::read(value)?, role }, weights))
}

/// Every name below a node.
fn names<'a>(node: &'a Node, found: &mut BTreeSet<&'a str>) {
    match &node.kind {
        Kind::Name(name) => {
            found.insert(name);
        }
        Kind::Number(_) | Kind::Text(_) | Kind::Dot => {}
        Kind::List(items) => items.iter().for_each(|item| names(item, found)),
        Kind::Call { arguments, .. } => arguments.iter().for_each(|argument| names(&argument.value, found)),
        Kind::Signed(_, inside) | Kind::Bracket(inside) => names(inside, found),
        Kind::Binary(_, left, right) => {
            names(left, found);
            names(right, found);
        }
    }
}

/// Names with another role than that of a term: in offsets, in weights, and of groups.
fn roles<'a>(node: &'a Node, found: &mut BTreeSet<&'a str>) {
    match &node.kind {
        Kind::Call { name, arguments } if matches!(name.as_str(), "offset" | "weights") => {
            arguments.iter().for_each(|argument| names(&argument.value, found));
        }
        Kind::Binary("|" | "||", _, by) => names(by, found),
        Kind::Signed(_, inside) | Kind::Bracket(inside) => roles(inside, found),
        Kind::Binary(_, left, right) => {
            roles(left, found);
            roles(right, found);
        }
        _ => {}
    }
}
