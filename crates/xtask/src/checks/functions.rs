//! Rules on functions: none longer than a screen, few positional arguments in the crates that are named here.
//!
//! Sources are formatted, so a function ends with a brace under the first letter of its signature, and its arguments are what stands
//! between its parentheses.

use crate::steps::Outcome;
use crate::tree::Tree;

/// Lines of a function at the most, its signature included.
const MOST_LINES: usize = 80;
/// Positional arguments at the most, `self` not counted.
const MOST_ARGUMENTS: usize = 4;
/// The crates whose functions keep to that.
const CAREFUL: [&str; 6] =
    ["austerity", "austerity-fit", "austerity-cli", "austerity-formula", "austerity-plot", "xtask"];

/// Functions of these crates with more arguments.
const ARGUMENTS_ALLOWED: &[(&str, &str)] = &[("crates/austerity/src/kernel/metropolis.rs", "new")];

/// A function as it stands in a file.
struct Function<'a> {
    name: &'a str,
    /// Number of its first line.
    line: usize,
    lines: usize,
    arguments: usize,
}

/// No function is longer than [`MOST_LINES`].
pub(crate) fn lengths(tree: &Tree) -> Outcome {
    let mut complaints = Vec::new();
    for file in tree.sources(None) {
        for function in functions(&file.text).filter(|function| function.lines > MOST_LINES) {
            let Function { name, line, lines, .. } = function;
            complaints.push(format!("{}:{line}: `{name}` has {lines} lines (over {MOST_LINES})", file.path));
        }
    }
    Outcome::of(complaints, Vec::new())
}

/// No function of these crates takes more than [`MOST_ARGUMENTS`].
pub(crate) fn arguments(tree: &Tree) -> Outcome {
    let mut complaints = Vec::new();
    for file in CAREFUL
        .iter()
        .flat_map(|&package| tree.sources(Some(package)))
        .filter(|file| !file.path.contains("tests"))
    {
        for function in functions(&file.text).filter(|function| function.arguments > MOST_ARGUMENTS) {
            let Function { name, line, arguments, .. } = function;
            if !ARGUMENTS_ALLOWED.contains(&(file.path.as_str(), name)) {
                complaints.push(format!(
                    "{}:{line}: `{name}` takes {arguments} arguments (over {MOST_ARGUMENTS}): give it a struct",
                    file.path
                ));
            }
        }
    }
    Outcome::of(complaints, Vec::new())
}

/// The functions of a file, those within others too.
fn functions(text: &str) -> impl Iterator<Item = Function<'_>> {
    let lines: Vec<&str> = text.lines().collect();
    (0..lines.len()).filter_map(move |first| {
        let code = lines[first].trim_start();
        let indent = lines[first].len() - code.len();
        let after = signature(code)?;
        let name = after.split(|c: char| !c.is_alphanumeric() && c != '_').next()?;
        let rest = lines[first..].join("\n");
        let start = rest.find(&format!("fn {name}"))? + 3 + name.len();
        let arguments = arguments_in(&rest[start..]);
        let end = format!("{}}}", " ".repeat(indent));
        // One that fits on a line, or has no body, ends there.
        let body = lines[first..].iter().position(|line| line.ends_with(['{', ';', '}']))?;
        let lines = if lines[first + body].ends_with('{') {
            1 + lines[first..].iter().position(|line| **line == end)?
        } else {
            1 + body
        };
        Some(Function { name, line: first + 1, lines, arguments })
    })
}

/// What follows `fn ` where a line begins a function.
fn signature(code: &str) -> Option<&str> {
    let (before, after) = code.split_once("fn ")?;
    let known = ["pub", "const", "unsafe", "async", "extern", "\"C\""];
    let qualifier = |word: &str| known.contains(&word) || word.starts_with("pub(") || word.ends_with(')');
    before.split_whitespace().all(qualifier).then_some(after)
}

/// Arguments between the first parentheses outside `<…>`, `self` not counted.
fn arguments_in(text: &str) -> usize {
    let (mut depth, mut angles, mut last, mut begun) = (0, 0, ' ', false);
    let (mut count, mut current) = (0, String::new());
    let counts = |argument: &str| {
        let own = argument.trim().trim_start_matches('&').trim_start_matches("mut ");
        usize::from(!own.is_empty() && own != "self" && !own.ends_with(" self") && !own.starts_with("self:"))
    };
    for c in text.chars() {
        match c {
            '<' => angles += 1,
            '>' if last != '-' && last != '=' => angles -= 1,
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        last = c;
        if begun && depth == 0 {
            return count + counts(&current);
        }
        if begun && depth == 1 && angles == 0 && c == ',' {
            count += counts(&current);
            current.clear();
        } else if begun {
            current.push(c);
        }
        begun |= depth == 1 && angles == 0 && c == '(';
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;

    fn core(text: &str) -> Tree {
        Tree::of(&[("crates/austerity/src/rule/exact.rs", text)])
    }

    #[test]
    fn a_function_of_more_than_a_screen_is_refused() {
        let long = |lines: usize| format!("    fn f() {{\n{}    }}\n", "        g();\n".repeat(lines - 2));
        assert_eq!(lengths(&core(&long(MOST_LINES))), Outcome::Passed(Vec::new()));
        let Outcome::Failed(complaints) = lengths(&core(&long(MOST_LINES + 1))) else {
            panic!("not refused")
        };
        assert_eq!(complaints, ["crates/austerity/src/rule/exact.rs:1: `f` has 81 lines (over 80)"]);
    }

    #[test]
    fn five_arguments_are_refused_in_the_core() {
        let found = |text: &str| functions(text).next().map(|function| function.arguments);
        assert_eq!(found("fn f(a: A, b: B<C, D>, c: (E, F), d: impl Fn(G, H) -> I) {}"), Some(4));
        assert_eq!(found("pub(super) const fn f<'a, T: Into<(A, B)>>(&'a self, a: [u8; 2]) -> T;"), Some(1));
        assert_eq!(found("fn f(\n    mut self,\n    a: A,\n    b: B,\n) {\n}"), Some(2));
        let five = "fn f(a: A, b: B, c: C, d: D, e: E) {}";
        assert!(matches!(arguments(&core(five)), Outcome::Failed(complaints) if complaints.len() == 1));
        assert_eq!(
            arguments(&Tree::of(&[("crates/austerity-io/src/lib.rs", five)])),
            Outcome::Passed(Vec::new())
        );
    }
}
