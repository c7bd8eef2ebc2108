//! Text → tokens: names, numbers, texts in quotes, operators, each with the position of its first character.
//!
//! Limits are checked here, before anything recurses: at most [`MOST_CHARACTERS`] characters, brackets nested [`DEEPEST`] deep, and as many
//! powers or signs in a row.

use winnow::Parser;
use winnow::ascii::{digit1, multispace0};
use winnow::combinator::{alt, delimited, opt, preceded};
use winnow::stream::{LocatingSlice, Location as _};
use winnow::token::{any, one_of, take_till, take_while};

use crate::error::{At, Problem};

/// Characters that a formula may have.
pub const MOST_CHARACTERS: usize = 8_192;
/// How deep brackets may be nested, and how many powers or signs may follow each other.
pub const DEEPEST: usize = 64;

/// What a token is.
#[derive(Clone, Debug, PartialEq)]
pub enum Token {
    /// A name, with or without backquotes.
    Name(String),
    /// A number, as it was written.
    Number(String),
    /// A text in quotes.
    Text(String),
    /// An operator, a bracket or a comma.
    Sign(&'static str),
}

impl Token {
    /// The token as it would be written.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Name(name) | Self::Number(name) => name.clone(),
            Self::Text(text) => format!("{text:?}"),
            Self::Sign(sign) => (*sign).into(),
        }
    }
}

/// A token and the number of the character where it begins.
#[derive(Clone, Debug, PartialEq)]
pub struct Placed {
    /// The token.
    pub token: Token,
    /// Characters before it.
    pub position: usize,
}

type Input<'i> = LocatingSlice<&'i str>;
type Parsed<T> = winnow::Result<T>;

/// Reads all tokens of a formula.
pub(crate) fn tokens(text: &str) -> Result<Vec<Placed>, At> {
    let length = text.chars().count();
    if length > MOST_CHARACTERS {
        return Err(At::new(Problem::TooLong { limit: MOST_CHARACTERS }, MOST_CHARACTERS));
    }
    let place = |byte: usize| text[..byte].chars().count();
    let mut input = LocatingSlice::new(text);
    let mut found = Vec::new();
    loop {
        let _ = multispace0::<_, winnow::error::EmptyError>.parse_next(&mut input);
        let byte = input.current_token_start();
        if byte == text.len() {
            break;
        }
        let position = place(byte);
        match token(&mut input) {
            Ok(token) => found.push(Placed { token, position }),
            Err(_) => {
                let first = text[byte..].chars().next().unwrap_or(' ');
                let problem = match first {
                    '"' | '\'' | '`' => Problem::Unclosed(first),
                    other => Problem::Character(other),
                };
                return Err(At::new(problem, position));
            }
        }
    }
    check_depth(&found)?;
    Ok(found)
}

fn token(input: &mut Input<'_>) -> Parsed<Token> {
    alt((number, name, quoted, sign)).parse_next(input)
}

fn number(input: &mut Input<'_>) -> Parsed<Token> {
    let mantissa = alt(((digit1, opt(('.', opt(digit1)))).void(), ('.', digit1).void()));
    let exponent = (one_of(['e', 'E']), opt(one_of(['+', '-'])), digit1);
    (mantissa, opt(exponent)).take().map(|text: &str| Token::Number(text.into())).parse_next(input)
}

fn name(input: &mut Input<'_>) -> Parsed<Token> {
    let begins = |c: char| c.is_alphabetic() || c == '_';
    let goes_on = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
    let plain = (one_of(begins), take_while(0.., goes_on)).take().map(str::to_owned);
    let quoted = delimited('`', take_till(1.., '`'), '`').map(str::to_owned);
    alt((plain, quoted)).map(Token::Name).parse_next(input)
}

/// A text in single or double quotes; a backslash takes the next character as it is.
fn quoted(input: &mut Input<'_>) -> Parsed<Token> {
    let quote = one_of(['"', '\'']).parse_next(input)?;
    let mut text = String::new();
    loop {
        let next =
            alt((preceded('\\', any).map(Some), any.map(|c| (c != quote).then_some(c)))).parse_next(input)?;
        match next {
            Some(character) => text.push(character),
            None => return Ok(Token::Text(text)),
        }
    }
}

fn sign(input: &mut Input<'_>) -> Parsed<Token> {
    alt((
        alt(("||".value("||"), "**".value("^"), "|".value("|"), "~".value("~"), "+".value("+"))),
        alt(("-".value("-"), "*".value("*"), "/".value("/"), ":".value(":"), "^".value("^"))),
        alt(("(".value("("), ")".value(")"), "[".value("["), "]".value("]"), ",".value(","))),
        alt(("=".value("="), ".".value("."))),
    ))
    .map(Token::Sign)
    .parse_next(input)
}

/// Refuses what would recurse too deep.
fn check_depth(tokens: &[Placed]) -> Result<(), At> {
    let (mut brackets, mut signs, mut powers) = (0usize, 0, 0);
    for Placed { token, position } in tokens {
        let Token::Sign(sign) = token else {
            signs = 0;
            continue;
        };
        signs = if matches!(*sign, "+" | "-") { signs + 1 } else { 0 };
        powers = match *sign {
            "^" => powers + 1,
            "+" | "," | "~" => 0,
            _ => powers,
        };
        match *sign {
            "(" | "[" => brackets += 1,
            ")" | "]" => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if brackets.max(signs).max(powers) > DEEPEST {
            return Err(At::new(Problem::TooDeep { limit: DEEPEST }, *position));
        }
    }
    Ok(())
}
