//! Names from a table, shown to people: without what a terminal would obey or a spreadsheet would compute.

use std::borrow::Cow;

/// Whether a terminal may obey the character, or show a text in another order than it is written.
fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

/// A name in one line: control characters, line ends included, as escapes (`\u{1b}`).
///
/// ```
/// use austerity_io::text::printable;
/// assert_eq!(printable("größe"), "größe");
/// assert_eq!(printable("a\u{1b}[31m\nb"), "a\\u{1b}[31m\\nb");
/// ```
#[must_use]
pub fn printable(name: &str) -> Cow<'_, str> {
    escaped(name, is_obeyed)
}

/// A text of several lines: the same, but its line ends and tabs stay.
#[must_use]
pub fn printable_lines(text: &str) -> Cow<'_, str> {
    escaped(text, |letter| is_obeyed(letter) && letter != '\n' && letter != '\t')
}

fn escaped(text: &str, bad: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&bad) {
        return text.into();
    }
    let one = |letter: char| {
        if bad(letter) { letter.escape_default().to_string() } else { letter.to_string() }
    };
    text.chars().map(one).collect::<String>().into()
}

/// A text as a cell that no spreadsheet takes for a formula: one that begins like a formula gets an apostrophe before it.
///
/// ```
/// use austerity_io::text::cell;
/// assert_eq!(cell("speed"), "speed");
/// assert_eq!(cell("=HYPERLINK(\"x\")"), "'=HYPERLINK(\"x\")");
/// ```
#[must_use]
pub fn cell(text: &str) -> Cow<'_, str> {
    // What is skipped before a formula, and the full-width forms that some spreadsheets take for the signs.
    let first =
        text.trim_start_matches(|letter: char| letter.is_whitespace() || letter.is_control()).chars().next();
    let begins = matches!(first, Some('=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠'));
    if begins { format!("'{text}").into() } else { text.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_obeyed_or_computed() {
        assert_eq!(printable("x\r\u{202E}y\u{9B}z"), "x\\r\\u{202e}y\\u{9b}z");
        assert_eq!(printable_lines("a\nb\u{7}\tc"), "a\nb\\u{7}\tc");
        for formula in ["=1+1", "+1", "-2", "@SUM(A1)", "\t=1", "\r\n=1", " =1", "＝1"] {
            assert!(cell(formula).starts_with('\''), "{formula:?}");
        }
        for harmless in ["", "x", "1", "x=1", "größe"] {
            assert_eq!(cell(harmless), harmless);
        }
    }
}
