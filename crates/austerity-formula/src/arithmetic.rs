//! Arithmetic of the columns of a row, as it stands in `I()`, in `log(x)` and in the functions of formulas.
//!
//! Operators bind as in mathematics: `-x^2` is −(x²), and powers group to the right. What is printed means the same when it is read again.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{At, Problem, Wanted};
use crate::factor::{Given, KNOWN, shown};
use crate::syntax::{Kind, Node};

/// The functions of one number.
const FUNCTIONS: &[(&str, Function)] = &[
    ("abs", Function::Abs),
    ("exp", Function::Exp),
    ("expm1", Function::Expm1),
    ("log", Function::Log),
    ("log10", Function::Log10),
    ("log1p", Function::Log1p),
    ("log2", Function::Log2),
    ("sqrt", Function::Sqrt),
];
/// A function of one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Function {
    /// The absolute value.
    Abs,
    /// The exponential.
    Exp,
    /// exp(x) − 1.
    Expm1,
    /// The natural logarithm.
    Log,
    /// The logarithm to base 10.
    Log10,
    /// log(1 + x).
    Log1p,
    /// The logarithm to base 2.
    Log2,
    /// The square root.
    Sqrt,
}

impl Function {
    /// Its value at `x`.
    #[must_use]
    pub fn apply(self, x: f64) -> f64 {
        match self {
            Self::Abs => x.abs(),
            Self::Exp => x.exp(),
            Self::Expm1 => x.exp_m1(),
            Self::Log => x.ln(),
            Self::Log10 => x.log10(),
            Self::Log1p => x.ln_1p(),
            Self::Log2 => x.log2(),
            Self::Sqrt => x.sqrt(),
        }
    }

    fn name(self) -> &'static str {
        FUNCTIONS.iter().find(|(_, function)| *function == self).map_or("", |(name, _)| name)
    }
}

/// An operation on two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// a + b.
    Add,
    /// a − b.
    Subtract,
    /// a·b.
    Multiply,
    /// a/b.
    Divide,
    /// a to the power b.
    Power,
}

impl Operation {
    fn of(sign: &'static str) -> Option<Self> {
        Some(match sign {
            "+" => Self::Add,
            "-" => Self::Subtract,
            "*" => Self::Multiply,
            "/" => Self::Divide,
            "^" => Self::Power,
            _ => return None,
        })
    }

    fn apply(self, a: f64, b: f64) -> f64 {
        match self {
            Self::Add => a + b,
            Self::Subtract => a - b,
            Self::Multiply => a * b,
            Self::Divide => a / b,
            Self::Power => a.powf(b),
        }
    }

    /// How it is written, and how strongly it binds.
    fn written(self) -> (&'static str, u8) {
        match self {
            Self::Add => (" + ", 1),
            Self::Subtract => (" - ", 1),
            Self::Multiply => (" * ", 2),
            Self::Divide => (" / ", 2),
            Self::Power => ("^", 4),
        }
    }
}

/// Arithmetic of the columns of a row.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arithmetic {
    /// A constant.
    Number(f64),
    /// A column.
    Column(String),
    /// −a.
    Negative(Box<Arithmetic>),
    /// A function of a number.
    Function(Function, Box<Arithmetic>),
    /// Two numbers and what is done with them.
    Binary(Operation, Box<Arithmetic>, Box<Arithmetic>),
}

impl Arithmetic {
    pub(crate) fn read(node: &Node) -> Result<Self, At> {
        let boxed = |node: &Node| Self::read(node).map(Box::new);
        Ok(match &node.kind {
            Kind::Name(name) => Self::Column(name.clone()),
            Kind::Number(text) => Self::Number(number(text, node.position)?),
            Kind::Bracket(inside) => Self::read(inside)?,
            Kind::Signed("-", inside) => Self::Negative(boxed(inside)?),
            Kind::Signed(_, inside) => Self::read(inside)?,
            Kind::Binary(sign, left, right) => match Operation::of(sign) {
                Some(operation) => Self::Binary(operation, boxed(left)?, boxed(right)?),
                None => {
                    let problem = Problem::Operator { operator: sign, arithmetic: true };
                    return Err(At::new(problem, node.position));
                }
            },
            Kind::Call { name, arguments } => {
                let given = Given::new(name, arguments, node.position);
                match FUNCTIONS.iter().find(|(known, _)| known == name) {
                    Some((_, function)) => Self::Function(*function, boxed(given.only("one number")?)?),
                    None if name == "I" => Self::read(given.only("arithmetic, as in I(x^2)")?)?,
                    None => return Err(unknown(name, node.position)),
                }
            }
            Kind::Text(_) | Kind::Dot | Kind::List(_) => {
                let problem = Problem::Expected { wanted: Wanted::Column, found: Some(shown(node)) };
                return Err(At::new(problem, node.position));
            }
        })
    }

    /// Its value, given the columns of a row.
    pub fn evaluate(&self, column: &dyn Fn(&str) -> f64) -> f64 {
        match self {
            Self::Number(number) => *number,
            Self::Column(name) => column(name),
            Self::Negative(inside) => -inside.evaluate(column),
            Self::Function(function, inside) => function.apply(inside.evaluate(column)),
            Self::Binary(operation, a, b) => operation.apply(a.evaluate(column), b.evaluate(column)),
        }
    }

    /// Its values in some rows, given their columns: those of [`Arithmetic::evaluate`], to the bit.
    pub fn evaluate_all<'a>(&self, rows: usize, column: &dyn Fn(&str) -> &'a [f64]) -> Vec<f64> {
        match self {
            Self::Number(number) => vec![*number; rows],
            Self::Column(name) => column(name).to_vec(),
            Self::Negative(inside) => each(inside.evaluate_all(rows, column), |x| -x),
            Self::Function(function, inside) => {
                each(inside.evaluate_all(rows, column), |x| function.apply(x))
            }
            Self::Binary(operation, a, b) => {
                let (mut left, right) = (a.evaluate_all(rows, column), b.evaluate_all(rows, column));
                left.iter_mut().zip(right).for_each(|(a, b)| *a = operation.apply(*a, b));
                left
            }
        }
    }

    /// Calls `seen` with every column.
    pub fn visit_columns<'a>(&'a self, seen: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Number(_) => {}
            Self::Column(name) => seen(name),
            Self::Negative(inside) | Self::Function(_, inside) => inside.visit_columns(seen),
            Self::Binary(_, a, b) => {
                a.visit_columns(seen);
                b.visit_columns(seen);
            }
        }
    }

    /// Writes it, in brackets where it binds less than `least`.
    fn write(&self, f: &mut fmt::Formatter<'_>, least: u8) -> fmt::Result {
        match self {
            Self::Number(number) => write!(f, "{number}"),
            Self::Column(name) => f.write_str(name),
            Self::Negative(inside) => {
                f.write_str("-")?;
                inside.write(f, 3)
            }
            Self::Function(function, inside) => {
                write!(f, "{}(", function.name())?;
                inside.write(f, 0)?;
                f.write_str(")")
            }
            Self::Binary(operation, a, b) => {
                let (sign, power) = operation.written();
                // Powers group to the right, everything else to the left.
                let (left, right) =
                    if *operation == Operation::Power { (power + 1, power) } else { (power, power + 1) };
                f.write_str(if power < least { "(" } else { "" })?;
                a.write(f, left)?;
                f.write_str(sign)?;
                b.write(f, right)?;
                f.write_str(if power < least { ")" } else { "" })
            }
        }
    }
}

impl fmt::Display for Arithmetic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

fn each(mut values: Vec<f64>, of: impl Fn(f64) -> f64) -> Vec<f64> {
    values.iter_mut().for_each(|value| *value = of(*value));
    values
}

fn unknown(name: &str, position: usize) -> At {
    /// Letters changed, added, left out or exchanged with their neighbour beyond which no name is suggested.
    const MOST_CHANGES: usize = 2;
    let changes = |known: &&str| strsim::damerau_levenshtein(&name.to_lowercase(), &known.to_lowercase());
    let nearest = KNOWN.iter().copied().min_by_key(changes);
    let nearest = nearest.filter(|known| changes(known) <= MOST_CHANGES.min(name.len() / 2));
    At::new(Problem::UnknownFunction { name: name.into(), nearest }, position)
}

fn number(text: &str, position: usize) -> Result<f64, At> {
    text.parse::<f64>()
        .ok()
        .filter(|number| number.is_finite())
        .ok_or_else(|| At::new(Problem::NumberAsTerm(text.into()), position))
}
