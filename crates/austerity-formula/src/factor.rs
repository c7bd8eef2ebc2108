//! What stands between the operators of a formula: columns, `C()`, polynomials, splines, arithmetic.
//!
//! | written | is |
//! |---|---|
//! | `x` | the column, as numbers or as levels, whichever it holds |
//! | `C(x)`, `C(x, reference="a")` | the column as levels; the reference is the first level unless given |
//! | `log(x)`, `I(x^2 + 1)` | arithmetic of columns |
//! | `scale(x)`, `center(x)` | (x − mean)/sd, x − mean |
//! | `poly(x, 3)`, `poly(x, 3, raw=1)` | orthogonal polynomials, or powers |
//! | `bs(x, 4)`, `bs(x, knots=[1, 2], degree=2)` | B-splines (de Boor 1978), without the one that the intercept makes redundant |
//! | `cr(x, 4)` | natural cubic regression splines (Wood 2006, section 4.1.2) |

use serde::{Deserialize, Serialize};

use crate::arithmetic::Arithmetic;
use crate::error::{At, Problem, Wanted};
use crate::syntax::{Argument, Kind, Node};

/// The functions that formulas know.
pub const KNOWN: &[&str] = &[
    "C", "I", "abs", "bs", "center", "cr", "exp", "expm1", "log", "log10", "log1p", "log2", "offset", "poly",
    "scale", "sqrt", "weights",
];
/// Columns that a polynomial or a spline may have.
const MOST_COLUMNS: usize = 1_000;
/// Degree of splines unless another is given.
const CUBIC: usize = 3;

/// Which splines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Spline {
    /// B-splines.
    B,
    /// Natural cubic regression splines.
    NaturalCubic,
}

/// What stands between operators.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Factor {
    /// A column, as numbers or as levels, whichever it holds.
    Column(String),
    /// A column as levels.
    Levels {
        /// The column.
        column: String,
        /// The level that has no column of its own; the first one unless given.
        reference: Option<String>,
    },
    /// Arithmetic of columns.
    Number(Arithmetic),
    /// A number less its mean, divided by its standard deviation if `scale`.
    Scaled {
        /// The number.
        of: Arithmetic,
        /// Whether to divide.
        scale: bool,
    },
    /// Polynomials up to a degree.
    Polynomial {
        /// The number.
        of: Arithmetic,
        /// The degree.
        degree: usize,
        /// Powers instead of orthogonal polynomials.
        raw: bool,
    },
    /// Splines.
    Spline {
        /// Which.
        kind: Spline,
        /// The number.
        of: Arithmetic,
        /// Columns; knots follow as quantiles.
        columns: usize,
        /// The degree.
        degree: usize,
        /// The inner knots, where they are given.
        knots: Vec<f64>,
    },
}

impl Factor {
    pub(crate) fn read(node: &Node) -> Result<Self, At> {
        match &node.kind {
            Kind::Name(name) => Ok(Self::Column(name.clone())),
            Kind::Call { name, arguments } => Self::called(&Given::new(name, arguments, node.position), node),
            _ => {
                let problem = Problem::Expected { wanted: Wanted::Operand, found: Some(shown(node)) };
                Err(At::new(problem, node.position))
            }
        }
    }

    fn called(given: &Given<'_>, node: &Node) -> Result<Self, At> {
        match given.function {
            "C" => Self::levels(given),
            "scale" | "center" => {
                let scale = given.function == "scale";
                Ok(Self::Scaled { of: Arithmetic::read(given.only("one column or arithmetic")?)?, scale })
            }
            "poly" => Self::polynomial(given),
            "bs" => Self::spline(given, Spline::B),
            "cr" => Self::spline(given, Spline::NaturalCubic),
            "offset" => Err(At::new(Problem::Misplaced("offset"), node.position)),
            "weights" => Err(At::new(Problem::Misplaced("weights"), node.position)),
            _ => Ok(Self::Number(Arithmetic::read(node)?)),
        }
    }

    fn levels(given: &Given<'_>) -> Result<Self, At> {
        const TAKES: &str = "a column, and reference=\"level\" if you want another than the first";
        let arguments = given.take(&["reference"], TAKES)?;
        let column = match &arguments[0] {
            Some(Node { kind: Kind::Name(name), .. }) => name.clone(),
            _ => return Err(given.refuse(TAKES)),
        };
        let reference = match arguments[1].map(|node| &node.kind) {
            None => None,
            Some(Kind::Text(text) | Kind::Number(text) | Kind::Name(text)) => Some(text.clone()),
            Some(_) => return Err(given.refuse(TAKES)),
        };
        Ok(Self::Levels { column, reference })
    }

    fn polynomial(given: &Given<'_>) -> Result<Self, At> {
        const TAKES: &str = "a column and a degree from 1 on, as in poly(x, 2); raw=1 gives powers";
        let arguments = given.take(&["degree", "raw"], TAKES)?;
        let of = Arithmetic::read(given.first(&arguments, TAKES)?)?;
        let degree = arguments[1].and_then(whole).filter(|degree| (1..=MOST_COLUMNS).contains(degree));
        let raw = match arguments[2].map(|node| &node.kind) {
            None => false,
            Some(Kind::Name(word)) if matches!(word.as_str(), "True" | "TRUE" | "true") => true,
            Some(Kind::Name(word)) if matches!(word.as_str(), "False" | "FALSE" | "false") => false,
            Some(Kind::Number(text)) if text == "1" => true,
            Some(Kind::Number(text)) if text == "0" => false,
            Some(_) => return Err(given.refuse(TAKES)),
        };
        Ok(Self::Polynomial { of, degree: degree.ok_or_else(|| given.refuse(TAKES))?, raw })
    }

    fn spline(given: &Given<'_>, kind: Spline) -> Result<Self, At> {
        let (keywords, takes, least): (&[&str], _, _) = match kind {
            Spline::B => (
                &["df", "knots", "degree"],
                "a column and at least `degree` columns, as in bs(x, 4), or knots, as in bs(x, knots=[1, 2])",
                1,
            ),
            Spline::NaturalCubic => {
                (&["df", "knots"], "a column and at least 3 columns, as in cr(x, 4), or knots", 3)
            }
        };
        let arguments = given.take(keywords, takes)?;
        let of = Arithmetic::read(given.first(&arguments, takes)?)?;
        let degree = match arguments.get(3).copied().flatten() {
            Some(node) => {
                whole(node).filter(|degree| (1..=10).contains(degree)).ok_or_else(|| given.refuse(takes))?
            }
            None => CUBIC,
        };
        let knots = match arguments[2] {
            None => Vec::new(),
            Some(Node { kind: Kind::List(items), .. }) => items
                .iter()
                .map(|item| constant(item).ok_or_else(|| given.refuse(takes)))
                .collect::<Result<_, _>>()?,
            Some(_) => return Err(given.refuse(takes)),
        };
        if knots.windows(2).any(|pair| pair[0] >= pair[1]) {
            return Err(given.refuse("knots in increasing order"));
        }
        // Inner knots and columns say the same thing twice.
        let from_knots = match kind {
            Spline::B => knots.len() + degree,
            Spline::NaturalCubic => knots.len() + 2,
        };
        let columns = match (arguments[1], knots.is_empty()) {
            (Some(node), true) => whole(node).ok_or_else(|| given.refuse(takes))?,
            (None, false) => from_knots,
            (Some(node), false) if whole(node) == Some(from_knots) => from_knots,
            _ => return Err(given.refuse(takes)),
        };
        let least = if kind == Spline::B { degree } else { least };
        if !(least..=MOST_COLUMNS).contains(&columns) {
            return Err(given.refuse(takes));
        }
        Ok(Self::Spline { kind, of, columns, degree, knots })
    }

    /// The name that all outputs use.
    #[must_use]
    pub fn name(&self) -> String {
        match self {
            Self::Column(name) => name.clone(),
            Self::Levels { column, .. } => format!("C({column})"),
            Self::Number(function @ Arithmetic::Function(..)) => function.to_string(),
            Self::Number(arithmetic) => format!("I({arithmetic})"),
            Self::Scaled { of, scale: true } => format!("scale({of})"),
            Self::Scaled { of, scale: false } => format!("center({of})"),
            Self::Polynomial { of, degree, raw: false } => format!("poly({of}, {degree})"),
            Self::Polynomial { of, degree, raw: true } => format!("poly({of}, {degree}, raw=1)"),
            Self::Spline { kind, of, columns, degree, .. } => {
                let function = if *kind == Spline::B { "bs" } else { "cr" };
                let degree = if *degree == CUBIC { String::new() } else { format!(", degree={degree}") };
                format!("{function}({of}, {columns}{degree})")
            }
        }
    }

    /// How many columns it has as a number; one for a plain column.
    #[must_use]
    pub fn width(&self) -> usize {
        match self {
            Self::Column(_) | Self::Levels { .. } | Self::Number(_) | Self::Scaled { .. } => 1,
            Self::Polynomial { degree, .. } => *degree,
            Self::Spline { columns, .. } => *columns,
        }
    }

    /// Whether its columns are numbered: `poly(x, 2)[1]`.
    #[must_use]
    pub fn is_numbered(&self) -> bool {
        matches!(self, Self::Polynomial { .. } | Self::Spline { .. })
    }

    /// Calls `seen` with every column of the table that it needs.
    pub fn visit_columns<'a>(&'a self, seen: &mut dyn FnMut(&'a str)) {
        match self {
            Self::Column(column) | Self::Levels { column, .. } => seen(column),
            Self::Number(of)
            | Self::Scaled { of, .. }
            | Self::Polynomial { of, .. }
            | Self::Spline { of, .. } => of.visit_columns(seen),
        }
    }
}

/// The arguments of a call.
pub(crate) struct Given<'a> {
    function: &'a str,
    arguments: &'a [Argument],
    position: usize,
}

impl<'a> Given<'a> {
    pub(crate) fn new(function: &'a str, arguments: &'a [Argument], position: usize) -> Self {
        Self { function, arguments, position }
    }

    fn refuse(&self, takes: &'static str) -> At {
        At::new(Problem::Arguments { function: self.function.into(), takes }, self.position)
    }

    /// The only argument, without a keyword.
    pub(crate) fn only(&self, takes: &'static str) -> Result<&'a Node, At> {
        match self.arguments {
            [Argument { keyword: None, value }] => Ok(value),
            _ => Err(self.refuse(takes)),
        }
    }

    fn first(&self, arguments: &[Option<&'a Node>], takes: &'static str) -> Result<&'a Node, At> {
        arguments[0].ok_or_else(|| self.refuse(takes))
    }

    /// The first argument, then those of the keywords, by place or by name.
    fn take(&self, keywords: &[&str], takes: &'static str) -> Result<Vec<Option<&'a Node>>, At> {
        let mut taken = vec![None; keywords.len() + 1];
        for (place, Argument { keyword, value }) in self.arguments.iter().enumerate() {
            let place = match keyword {
                None => Some(place),
                Some(word) => keywords.iter().position(|known| known == word).map(|place| place + 1),
            };
            match place.and_then(|place| taken.get_mut(place)) {
                Some(slot @ None) => *slot = Some(value),
                _ => return Err(self.refuse(takes)),
            }
        }
        Ok(taken)
    }
}

fn whole(node: &Node) -> Option<usize> {
    if let Kind::Number(text) = &node.kind { text.parse().ok() } else { None }
}

fn constant(node: &Node) -> Option<f64> {
    match &node.kind {
        Kind::Number(text) => text.parse().ok().filter(|number: &f64| number.is_finite()),
        Kind::Signed("-", inside) => constant(inside).map(|number| -number),
        _ => None,
    }
}

/// A node as a message shows it.
pub(crate) fn shown(node: &Node) -> String {
    match &node.kind {
        Kind::Text(text) => format!("{text:?}"),
        Kind::Number(text) | Kind::Name(text) => text.clone(),
        Kind::Dot => ".".into(),
        Kind::List(_) => "[".into(),
        Kind::Call { name, .. } => format!("{name}("),
        Kind::Signed(sign, _) | Kind::Binary(sign, ..) => (*sign).into(),
        Kind::Bracket(_) => "(".into(),
    }
}
