//! Reads a field from the text of a UAI file with the preamble MARKOV.
//!
//! ```text
//! MARKOV
//! 3                    number of variables
//! 2 2 3                how many values each takes
//! 2                    number of factors
//! 2 0 1                variables of each factor: how many, which (from 0)
//! 2 1 2
//! 4  1.0 0.5 0.5 1.0   table of each factor: how many numbers, the numbers; the last variable varies fastest
//! 6  1 2 3 4 5 6
//! ```
//!
//! Numbers are potentials, not logarithms, and must be above 0: a state that a factor rules out can keep a chain of single variables from reaching others.
//! Line breaks mean nothing to the format. Errors name the line all the same. This is the format of the UAI inference competitions (2006 to 2022).
//!
//! Cost: one pass over the text.

use std::fmt;
use std::str::FromStr;

use super::FieldBuilder;

/// Most variables of a factor: its table has 2 to that many numbers.
const LARGEST_FACTOR: usize = 24;

/// What is wrong with a file, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UaiError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there, and what to do.
    pub what: String,
}

impl fmt::Display for UaiError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.what)
    }
}

impl std::error::Error for UaiError {}

/// The words of a text with their lines.
struct Words<'t> {
    words: Box<dyn Iterator<Item = (usize, &'t str)> + 't>,
    last: usize,
}

impl<'t> Words<'t> {
    fn of(text: &'t str) -> Self {
        let numbered = (1..).zip(text.lines());
        let words = numbered.flat_map(|(line, text)| text.split_whitespace().map(move |word| (line, word)));
        Self { words: Box::new(words), last: 1 }
    }

    fn error(&self, what: impl Into<String>) -> UaiError {
        UaiError { line: self.last, what: what.into() }
    }

    fn word(&mut self, wanted: &str) -> Result<&'t str, UaiError> {
        match self.words.next() {
            Some((line, word)) => {
                self.last = line;
                Ok(word)
            }
            None => {
                Err(self.error(format!("the file ends where {wanted} should follow; it may be cut short")))
            }
        }
    }

    fn number<T: FromStr>(&mut self, wanted: &str) -> Result<T, UaiError> {
        let word = self.word(wanted)?;
        word.parse().map_err(|_| self.error(format!("`{word}` is not {wanted}")))
    }

    /// A whole number from `least` to `most`.
    fn count(&mut self, wanted: &str, [least, most]: [usize; 2]) -> Result<usize, UaiError> {
        let found: usize = self.number(wanted)?;
        if (least..=most).contains(&found) {
            return Ok(found);
        }
        Err(self.error(format!("{wanted} is {found}; allowed: {least} to {most}")))
    }
}

/// The field of a UAI file, in the making.
///
/// ```
/// use austerity_models::field::uai;
/// let field = uai::parse("MARKOV 2  2 2  1  2 0 1  4  2 1 1 2").unwrap().build(1)?;
/// assert!((field.probabilities(0, &[0, 1])?[1] - 2.0 / 3.0).abs() < 1e-6);
/// # Ok::<(), austerity::Error>(())
/// ```
pub fn parse(text: &str) -> Result<FieldBuilder, UaiError> {
    let mut words = Words::of(text);
    match words.word("the word MARKOV")? {
        "MARKOV" => {}
        "BAYES" => {
            return Err(words.error(
                "the preamble is BAYES; its tables are factors as well: write MARKOV, if no probability in them is 0",
            ));
        }
        other => {
            return Err(words.error(format!(
                "the preamble is `{other}`; a UAI file of a factor graph begins with MARKOV"
            )));
        }
    }
    let variables = words.count("the number of variables", [1, u32::MAX as usize])?;
    let mut values = Vec::new();
    for variable in 0..variables {
        values.push(words.count(&format!("the number of values of variable {variable}"), [2, 255])? as u8);
    }
    let mut builder = FieldBuilder::new(&values).map_err(|error| words.error(error.to_string()))?;
    let factors = words.count("the number of factors", [0, u32::MAX as usize])?;
    let mut scopes = Vec::new();
    for factor in 0..factors {
        let size =
            words.count(&format!("the number of variables of factor {factor}"), [0, LARGEST_FACTOR])?;
        let mut scope = Vec::with_capacity(size);
        for _ in 0..size {
            let variable = words.count(&format!("a variable of factor {factor}"), [0, variables - 1])?;
            if scope.contains(&variable) {
                return Err(
                    words.error(format!("factor {factor} has variable {variable} twice; name each once"))
                );
            }
            scope.push(variable);
        }
        scopes.push(scope);
    }
    for (factor, scope) in scopes.iter().enumerate() {
        let logs = table(&mut words, factor, scope, &values)?;
        // A factor of no variables changes nothing.
        if !scope.is_empty() {
            builder.factor(scope, &logs).map_err(|error| words.error(error.to_string()))?;
        }
    }
    if let Some((line, word)) = words.words.next() {
        return Err(UaiError {
            line,
            what: format!("`{word}` follows the last table; remove what does not belong there"),
        });
    }
    Ok(builder)
}

/// The logarithms of the table of a factor.
fn table(words: &mut Words<'_>, factor: usize, scope: &[usize], values: &[u8]) -> Result<Vec<f64>, UaiError> {
    let wanted = scope.iter().fold(1usize, |size, &variable| size.saturating_mul(values[variable].into()));
    let found: usize = words.number(&format!("the size of the table of factor {factor}"))?;
    if found != wanted {
        return Err(
            words.error(format!("the table of factor {factor} should have {wanted} numbers, not {found}"))
        );
    }
    let mut logs = Vec::new();
    for place in 0..wanted {
        let potential: f64 = words.number(&format!("number {place} of the table of factor {factor}"))?;
        if !(potential > 0.0 && potential.is_finite()) {
            return Err(words.error(format!(
                "number {place} of the table of factor {factor} is {potential}; potentials must be finite and above 0 (for a state that should not \
                 occur a small one, such as 1e-6)"
            )));
        }
        logs.push(potential.ln());
    }
    Ok(logs)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    const GOOD: &str = "MARKOV\n3\n2 2 3\n2\n2 0 1\n2 1 2\n4\n1 .5\n.5 1\n6 1 2 3 4 5 6\n";

    #[test]
    fn tables_are_read_in_their_order() {
        let field = parse(GOOD).unwrap().build(1).unwrap();
        assert_eq!((field.len(), field.factors()), (3, 2));
        // x2 given x1 = 1: 4, 5, 6.
        let p = field.probabilities(2, &[0, 1, 0]).unwrap();
        assert!((p[0] - 4.0 / 15.0).abs() < 1e-6 && (p[2] - 6.0 / 15.0).abs() < 1e-6, "{p:?}");
        let log = field.log_density(&[1, 0, 2]).unwrap();
        assert!((log - (0.5f64 * 3.0).ln()).abs() < 1e-6);
    }

    #[test]
    fn every_mistake_is_named_with_its_line() {
        for (from, to, line, words) in [
            ("MARKOV", "MARKOF", 1, "MARKOF"),
            ("MARKOV", "BAYES", 1, "write MARKOV"),
            ("\n3\n", "\nthree\n", 2, "`three`"),
            ("2 2 3", "2 1 3", 3, "variable 1"),
            ("2 1 2", "2 1 3", 6, "0 to 2"),
            ("2 1 2", "2 1 1", 6, "twice"),
            ("\n4\n", "\n5\n", 7, "4 numbers, not 5"),
            ("1 .5\n", "1 0\n", 8, "above 0"),
            (".5 1\n", ".5 x\n", 9, "`x` is not number 3"),
            ("5 6\n", "5\n", 10, "cut short"),
            ("5 6\n", "5 6 7\n", 10, "`7` follows"),
            ("5 6\n", "5 inf\n", 10, "finite"),
        ] {
            let text = GOOD.replacen(from, to, 1);
            assert_ne!(text, GOOD, "{from}");
            let error = parse(&text).err().map(|error| error.to_string());
            let told = error.as_deref().unwrap_or("no error");
            assert!(
                told.starts_with(&format!("line {line}: ")) && told.contains(words),
                "{from} → {to}: {told}"
            );
        }
        assert!(parse("").is_err_and(|error| error.line == 1));
    }
}
