//! What can be wrong with a formula, and the character where it is.

use std::fmt;

use crate::basis::Trouble;

/// The result of reading a formula.
pub type Result<T> = std::result::Result<T, Error>;

/// A formula that cannot be used: what is wrong, and where.
#[derive(Clone, Debug, PartialEq)]
pub struct Error {
    /// What is wrong.
    pub problem: Problem,
    /// The character where it is, counted from 0.
    pub position: usize,
    /// The formula.
    pub formula: String,
}

/// What can be wrong with a formula.
#[derive(Clone, Debug, PartialEq)]
pub enum Problem {
    /// The text is empty, or there is no `~`.
    NoTilde,
    /// More characters than a formula may have.
    TooLong {
        /// How many there may be.
        limit: usize,
    },
    /// Brackets, powers or signs nested deeper than allowed.
    TooDeep {
        /// How deep they may be.
        limit: usize,
    },
    /// More terms than a formula may have.
    TooManyTerms {
        /// How many there may be.
        limit: usize,
    },
    /// A character that no formula has.
    Character(char),
    /// A quotation mark or a backquote without its partner.
    Unclosed(char),
    /// Something stands where something else must.
    Expected {
        /// What must stand there.
        wanted: Wanted,
        /// What stands there; nothing at the end of the formula.
        found: Option<String>,
    },
    /// A function that is not known.
    UnknownFunction {
        /// Its name.
        name: String,
        /// A known one with a similar name.
        nearest: Option<&'static str>,
    },
    /// Arguments that a function does not take.
    Arguments {
        /// The function.
        function: String,
        /// What it takes.
        takes: &'static str,
    },
    /// A number other than 0 and 1 as a term.
    NumberAsTerm(String),
    /// A power of terms that is no whole number from 1 on.
    Power,
    /// A formula operator where arithmetic must stand, or the reverse.
    Operator {
        /// The operator.
        operator: &'static str,
        /// Whether arithmetic was wanted.
        arithmetic: bool,
    },
    /// `a | b` outside brackets.
    BareGroup,
    /// A group term inside an interaction, a power or another group.
    NestedGroup,
    /// A response that is not a column, arithmetic of columns, or one of the two-column forms.
    Response,
    /// Weights or an offset inside an interaction, or two weights.
    Misplaced(&'static str),
    /// A factor with one level, or none.
    FewLevels {
        /// The factor.
        factor: String,
        /// Its levels.
        levels: usize,
    },
    /// A reference level that the column does not have.
    NoSuchLevel {
        /// The factor.
        factor: String,
        /// The level.
        level: String,
        /// A level with a similar name.
        nearest: Option<String>,
    },
    /// A column that the table does not have.
    UnknownColumn {
        /// Its name.
        name: String,
        /// A column with a similar name.
        nearest: Option<String>,
    },
    /// Text where a number is needed.
    TextColumn {
        /// The column.
        column: String,
        /// One of its texts.
        text: String,
    },
    /// More levels, or combinations of levels, than coefficients are given to.
    ManyLevels {
        /// The factor or the term.
        factor: String,
        /// How many there may be.
        limit: usize,
    },
    /// The response among the terms.
    ResponseAsTerm(String),
    /// What the values of a column do not allow.
    Unlearnt {
        /// The factor.
        factor: String,
        /// Why.
        trouble: Trouble,
    },
    /// Group terms, for which there is no model.
    Groups,
    /// The name of a column more than once: two terms mean the same.
    Repeated(String),
}

/// What must stand in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A column, a function, a number or a bracket.
    Operand,
    /// An operator or the end.
    Operator,
    /// This character.
    Character(char),
    /// The name of a column.
    Column,
}

impl fmt::Display for Wanted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Operand => f.write_str("a column, a function, 0, 1 or a bracket"),
            Self::Operator => f.write_str("an operator such as + or :"),
            Self::Character(character) => write!(f, "`{character}`"),
            Self::Column => f.write_str("the name of a column"),
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoTilde => f.write_str("a formula is `response ~ terms`, such as `y ~ x1 + x2`"),
            Self::TooLong { limit } => {
                write!(f, "a formula has at most {limit} characters; use `.` for all other columns")
            }
            Self::TooDeep { limit } => write!(f, "brackets, powers and signs are nested at most {limit} deep"),
            Self::TooManyTerms { limit } => {
                write!(f, "more than {limit} terms; a lower power or fewer columns in `.` has fewer")
            }
            Self::Character(character) => write!(f, "`{character}` has no meaning in a formula"),
            Self::Unclosed(quote) => write!(f, "this {quote} is never closed"),
            Self::Expected { wanted, found: Some(found) } => write!(f, "expected {wanted}, found `{found}`"),
            Self::Expected { wanted, found: None } => write!(f, "expected {wanted}, but the formula ends"),
            Self::UnknownFunction { name, nearest: Some(nearest) } => {
                write!(f, "there is no function `{name}`; did you mean `{nearest}`?")
            }
            Self::UnknownFunction { name, nearest: None } => {
                write!(f, "there is no function `{name}`; formulas know {}", crate::factor::KNOWN.join(", "))
            }
            Self::Arguments { function, takes } => write!(f, "`{function}` takes {takes}"),
            Self::NumberAsTerm(number) => {
                write!(f, "`{number}` is no term: 1 is the intercept, 0 leaves it out, arithmetic goes in I()")
            }
            Self::Power => f.write_str("the power of terms is a whole number from 1 on; for squares write I(x^2)"),
            Self::Operator { operator, arithmetic: true } => {
                write!(f, "`{operator}` joins terms; within a function only arithmetic is allowed")
            }
            Self::Operator { operator, arithmetic: false } => {
                write!(f, "`{operator}` cannot join terms; put arithmetic in I()")
            }
            Self::BareGroup => f.write_str("a group term stands in brackets, as in `y ~ x + (1 | group)`"),
            Self::NestedGroup => f.write_str("a group term can only be added, as in `y ~ x + (1 | group)`"),
            Self::Response => f.write_str(
                "the response is a column, arithmetic of columns, `successes | trials(n)` or `time | cens(event)`",
            ),
            Self::Misplaced(what) => write!(f, "`{what}()` is added once, as a term of its own"),
            Self::FewLevels { factor, levels } => write!(
                f,
                "{factor} has {levels} level{}; a factor needs two or more",
                if *levels == 1 { "" } else { "s" }
            ),
            Self::NoSuchLevel { factor, level, nearest: Some(nearest) } => {
                write!(f, "{factor} has no level {level:?}; did you mean {nearest:?}?")
            }
            Self::NoSuchLevel { factor, level, nearest: None } => write!(f, "{factor} has no level {level:?}"),
            Self::UnknownColumn { name, nearest: Some(nearest) } => {
                write!(f, "there is no column `{name}`; did you mean `{nearest}`?")
            }
            Self::UnknownColumn { name, nearest: None } => write!(f, "there is no column `{name}`"),
            Self::TextColumn { column, text } => {
                write!(f, "a number is needed here, but `{column}` holds text such as {text:?}; for its levels write C({column})")
            }
            Self::ManyLevels { factor, limit } => write!(
                f,
                "{factor} has more than {limit} levels, and each would have a coefficient of its own; for that many write a group term, \
                 as in (1 | id), group rare levels, or leave it out"
            ),
            Self::ResponseAsTerm(name) => write!(f, "the response {name} cannot explain itself; leave it out here"),
            Self::Unlearnt { factor, trouble } => trouble.write(factor, f),
            Self::Groups => f.write_str(
                "group terms are for `fit`; C(group) gives every level a coefficient",
            ),
            Self::Repeated(name) => write!(f, "two terms both make the column {name}; leave one out"),
        }
    }
}

/// Characters of the formula that are shown on either side of the place.
const SHOWN: usize = 60;

impl fmt::Display for Error {
    /// The sentence, the formula, and a mark below the character.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let characters: Vec<char> = self.formula.chars().collect();
        let position = self.position.min(characters.len());
        let from = position.saturating_sub(SHOWN);
        let to = (position + SHOWN).min(characters.len());
        let line: String =
            characters[from..to].iter().map(|c| if c.is_control() { ' ' } else { *c }).collect();
        let (before, after) =
            (if from > 0 { "… " } else { "" }, if to < characters.len() { " …" } else { "" });
        let indent = " ".repeat(before.chars().count() + position - from);
        write!(
            f,
            "formula, character {}: {}\n  {before}{line}{after}\n  {indent}^",
            position + 1,
            self.problem
        )
    }
}

impl std::error::Error for Error {}

/// A problem at a position of a formula that whoever reads it knows.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At {
    pub(crate) problem: Problem,
    pub(crate) position: usize,
}

impl At {
    pub(crate) fn new(problem: Problem, position: usize) -> Self {
        Self { problem, position }
    }

    pub(crate) fn of(self, formula: &str) -> Error {
        Error { problem: self.problem, position: self.position, formula: formula.into() }
    }
}
