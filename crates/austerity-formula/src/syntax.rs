//! Tokens → tree, by operator precedence (a Pratt parser).
//!
//! | operator | binds | between terms | in arithmetic |
//! |---|---|---|---|
//! | `~` | weakest | response and terms | – |
//! | `\|`, `\|\|` | | group terms, two-column responses | – |
//! | `+ -` | | adds, leaves out | sum, difference |
//! | `* /` | | crossing, nesting | product, quotient |
//! | `:` | | interaction | – |
//! | `^`, `**` | strongest | power of a sum | power |
//!
//! One grammar serves terms and arithmetic; what an operator means is decided by whoever walks the tree.

use winnow::combinator::{Infix, Prefix, expression};
use winnow::error::{ErrMode, ParserError};
use winnow::stream::Stream;
use winnow::token::any;
use winnow::{ModalResult, Parser};

use crate::error::{At, Problem, Wanted};
use crate::token::{Placed, Token};

/// A node of the tree, and the character where it is: of an operator, where that is.
#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    /// What it is.
    pub kind: Kind,
    /// Characters before it.
    pub position: usize,
}

/// What a node is.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A column.
    Name(String),
    /// A number, as it was written.
    Number(String),
    /// A text in quotes.
    Text(String),
    /// All columns that nothing else names.
    Dot,
    /// `[a, b]`.
    List(Vec<Node>),
    /// A function and its arguments.
    Call {
        /// The function.
        name: String,
        /// The arguments.
        arguments: Vec<Argument>,
    },
    /// A sign before its operand.
    Signed(&'static str, Box<Node>),
    /// Two operands with an operator between them.
    Binary(&'static str, Box<Node>, Box<Node>),
    /// What stands in round brackets.
    Bracket(Box<Node>),
}

/// An argument of a function: `4`, or `df=4`.
#[derive(Clone, Debug, PartialEq)]
pub struct Argument {
    /// The keyword, if there is one.
    pub keyword: Option<String>,
    /// The value.
    pub value: Node,
}

type Input<'i> = &'i [Placed];

/// A problem, and how many tokens were left when it was met.
#[derive(Clone, Debug)]
struct Stop {
    problem: Problem,
    left: usize,
}

impl<'i> ParserError<Input<'i>> for Stop {
    type Inner = Self;

    fn from_input(input: &Input<'i>) -> Self {
        let found = input.first().map(|placed| placed.token.text());
        Self { problem: Problem::Expected { wanted: Wanted::Operand, found }, left: input.len() }
    }

    fn into_inner(self) -> Result<Self::Inner, Self> {
        Ok(self)
    }

    fn or(self, other: Self) -> Self {
        // Whoever came further knows better.
        if self.left < other.left { self } else { other }
    }
}

type Parsed<T> = ModalResult<T, Stop>;

/// The tree of a whole formula.
pub(crate) fn tree(tokens: &[Placed], end: usize) -> Result<Node, At> {
    let place = |left: usize| {
        tokens.len().checked_sub(left).and_then(|at| tokens.get(at)).map_or(end, |t| t.position)
    };
    let mut input = tokens;
    let parsed: Parsed<Node> = node(&mut input);
    match parsed {
        Ok(node) if input.is_empty() => Ok(node),
        Ok(_) => {
            let stop = expected(Wanted::Operator, &input);
            Err(At::new(stop.problem, place(stop.left)))
        }
        Err(error) => {
            let stop = match error {
                ErrMode::Backtrack(stop) | ErrMode::Cut(stop) => stop,
                ErrMode::Incomplete(_) => expected(Wanted::Operand, &input),
            };
            Err(At::new(stop.problem, place(stop.left)))
        }
    }
}

fn expected(wanted: Wanted, input: &Input<'_>) -> Stop {
    let found = input.first().map(|placed| placed.token.text());
    Stop { problem: Problem::Expected { wanted, found }, left: input.len() }
}

fn node<'i>(input: &mut Input<'i>) -> Parsed<Node> {
    expression(operand).prefix(prefix).infix(infix).parse_next(input)
}

/// A sign, if one is next; nothing is taken otherwise.
fn next_sign<'i>(input: &mut Input<'i>, known: &[&'static str]) -> Parsed<(&'static str, usize)> {
    match input.first() {
        Some(Placed { token: Token::Sign(sign), position }) if known.contains(sign) => {
            let found = (*sign, *position);
            input.next_token();
            Ok(found)
        }
        _ => Err(ErrMode::Backtrack(expected(Wanted::Operator, input))),
    }
}

fn prefix<'i>(input: &mut Input<'i>) -> Parsed<Prefix<Input<'i>, Node, ErrMode<Stop>>> {
    let Ok((sign, _)) = next_sign(input, &["+", "-"]) else {
        return Err(ErrMode::Backtrack(expected(Wanted::Operand, input)));
    };
    // Weaker than `*`, so that −a*b leaves out a*b, and stronger than `+`.
    Ok(match sign {
        "-" => Prefix(5, |_, node| Ok(signed("-", node))),
        _ => Prefix(5, |_, node| Ok(signed("+", node))),
    })
}

fn signed(sign: &'static str, node: Node) -> Node {
    Node { position: node.position, kind: Kind::Signed(sign, Box::new(node)) }
}

fn binary(sign: &'static str, left: Node, right: Node) -> Node {
    Node { position: right.position, kind: Kind::Binary(sign, Box::new(left), Box::new(right)) }
}

fn infix<'i>(input: &mut Input<'i>) -> Parsed<Infix<Input<'i>, Node, ErrMode<Stop>>> {
    use Infix::{Left, Right};
    let (sign, _) = next_sign(input, &["~", "|", "||", "+", "-", "*", "/", ":", "^"])?;
    Ok(match sign {
        "~" => Left(1, |_, a, b| Ok(binary("~", a, b))),
        "|" => Left(2, |_, a, b| Ok(binary("|", a, b))),
        "||" => Left(2, |_, a, b| Ok(binary("||", a, b))),
        "+" => Left(4, |_, a, b| Ok(binary("+", a, b))),
        "-" => Left(4, |_, a, b| Ok(binary("-", a, b))),
        "*" => Left(6, |_, a, b| Ok(binary("*", a, b))),
        "/" => Left(6, |_, a, b| Ok(binary("/", a, b))),
        ":" => Left(8, |_, a, b| Ok(binary(":", a, b))),
        _ => Right(10, |_, a, b| Ok(binary("^", a, b))),
    })
}

fn operand<'i>(input: &mut Input<'i>) -> Parsed<Node> {
    let start = *input;
    let Placed { token, position } = any.parse_next(input)?;
    let kind = match token {
        Token::Name(name) if next_sign(input, &["("]).is_ok() => {
            Kind::Call { name: name.clone(), arguments: list(input, ")", argument)? }
        }
        Token::Name(name) => Kind::Name(name.clone()),
        Token::Number(number) => Kind::Number(number.clone()),
        Token::Text(text) => Kind::Text(text.clone()),
        Token::Sign(".") => Kind::Dot,
        Token::Sign("[") => Kind::List(list(input, "]", node)?),
        Token::Sign("(") => {
            let inside = node(input).map_err(ErrMode::cut)?;
            closing(input, ")")?;
            Kind::Bracket(Box::new(inside))
        }
        Token::Sign(_) => return Err(ErrMode::Backtrack(expected(Wanted::Operand, &start))),
    };
    Ok(Node { kind, position })
}

fn closing<'i>(input: &mut Input<'i>, sign: &'static str) -> Parsed<()> {
    let character = sign.chars().next().unwrap_or(')');
    match next_sign(input, &[sign]) {
        Ok(_) => Ok(()),
        Err(_) => Err(ErrMode::Cut(expected(Wanted::Character(character), input))),
    }
}

/// Items between commas up to the closing sign; none is allowed.
fn list<'i, T>(
    input: &mut Input<'i>,
    end: &'static str,
    item: impl Fn(&mut Input<'i>) -> Parsed<T>,
) -> Parsed<Vec<T>> {
    let mut items = Vec::new();
    if next_sign(input, &[end]).is_ok() {
        return Ok(items);
    }
    loop {
        items.push(item(input).map_err(ErrMode::cut)?);
        if next_sign(input, &[","]).is_err() {
            closing(input, end)?;
            return Ok(items);
        }
    }
}

fn argument<'i>(input: &mut Input<'i>) -> Parsed<Argument> {
    if let [Placed { token: Token::Name(name), .. }, Placed { token: Token::Sign("="), .. }, rest @ ..] =
        *input
    {
        *input = rest;
        return Ok(Argument { keyword: Some(name.clone()), value: node(input)? });
    }
    Ok(Argument { keyword: None, value: node(input)? })
}
