//! The words of Rust code, without comments, strings and character literals.
//!
//! A scanner, not a parser: enough to tell a keyword from the same word in prose.

/// Words (identifiers, keywords, numbers) with their line, counted from 1.
pub(crate) fn words(text: &str) -> Vec<(usize, String)> {
    let mut scanner = Scanner { chars: text.chars().collect(), at: 0, line: 1 };
    let mut found = Vec::new();
    while let Some(next) = scanner.peek(0) {
        match (next, scanner.peek(1)) {
            ('/', Some('/')) => scanner.skip_line(),
            ('/', Some('*')) => scanner.skip_comment(),
            ('"', _) => scanner.skip_string(),
            ('\'', following) => scanner.skip_quote(following),
            _ if is_word(next) => {
                let line = scanner.line;
                let word = scanner.take_word();
                if !(matches!(word.as_str(), "r" | "br" | "cr") && scanner.skip_raw_string()) {
                    found.push((line, word));
                }
            }
            _ => scanner.skip(1),
        }
    }
    found
}

fn is_word(letter: char) -> bool {
    letter == '_' || letter.is_alphanumeric()
}

struct Scanner {
    chars: Vec<char>,
    at: usize,
    line: usize,
}

impl Scanner {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn skip(&mut self, count: usize) {
        let end = (self.at + count).min(self.chars.len());
        self.line += self.chars[self.at..end].iter().filter(|&&letter| letter == '\n').count();
        self.at = end;
    }

    fn skip_line(&mut self) {
        while self.peek(0).is_some_and(|letter| letter != '\n') {
            self.skip(1);
        }
    }

    /// Block comments nest.
    fn skip_comment(&mut self) {
        let mut depth = 0;
        while let Some(next) = self.peek(0) {
            match (next, self.peek(1)) {
                ('/', Some('*')) => {
                    depth += 1;
                    self.skip(2);
                }
                ('*', Some('/')) => {
                    depth -= 1;
                    self.skip(2);
                    if depth == 0 {
                        return;
                    }
                }
                _ => self.skip(1),
            }
        }
    }

    fn skip_string(&mut self) {
        self.skip(1);
        while let Some(next) = self.peek(0) {
            self.skip(if next == '\\' { 2 } else { 1 });
            if next == '"' {
                return;
            }
        }
    }

    /// A character literal, or only the quote of a lifetime.
    fn skip_quote(&mut self, following: Option<char>) {
        if following == Some('\\') {
            self.skip(3);
            while self.peek(0).is_some_and(|letter| letter != '\'') {
                self.skip(1);
            }
            self.skip(1);
        } else if self.peek(2) == Some('\'') {
            self.skip(3);
        } else {
            self.skip(1);
        }
    }

    /// After `r`: skips `#…#"…"#…#` and says so, or stays where it is.
    fn skip_raw_string(&mut self) -> bool {
        let hashes = self.chars[self.at..].iter().take_while(|&&letter| letter == '#').count();
        if self.peek(hashes) != Some('"') {
            return false;
        }
        self.skip(hashes + 1);
        while let Some(next) = self.peek(0) {
            let closes = next == '"' && (1..=hashes).all(|ahead| self.peek(ahead) == Some('#'));
            self.skip(if closes { hashes + 1 } else { 1 });
            if closes {
                break;
            }
        }
        true
    }

    fn take_word(&mut self) -> String {
        let word: String = self.chars[self.at..].iter().take_while(|&&letter| is_word(letter)).collect();
        self.skip(word.chars().count());
        word
    }
}

#[cfg(test)]
mod tests {
    use super::words;

    fn plain(text: &str) -> Vec<String> {
        words(text).into_iter().map(|(_, word)| word).collect()
    }

    #[test]
    fn prose_is_no_code() {
        for hidden in [
            "// word",
            "/// word",
            "/* word /* word */ word */",
            "\"word\"",
            "\"a \\\" word\"",
            "r\"word\"",
            "r#\"a \" word\"#",
            "br##\"a \"# word\"##",
        ] {
            assert_eq!(plain(&format!("before {hidden}\n after")), ["before", "after"], "{hidden}");
        }
    }

    #[test]
    fn code_after_quotes_is_seen() {
        assert_eq!(plain("'\"' word '\\'' word '\\u{1F600}' word"), ["word"; 3]);
        assert_eq!(plain("fn f<'a>(x: &'a str) {}"), ["fn", "f", "a", "x", "a", "str"]);
        assert_eq!(plain("b\"x\" word r#type"), ["b", "word", "r", "type"]);
    }

    #[test]
    fn lines_count_through_strings_and_unfinished_text_ends() {
        assert_eq!(words("\"a\nb\" /*\n*/ word"), [(3, "word".to_owned())]);
        for open in ["\"a", "/* a", "r#\"a", "'\\", "'"] {
            assert!(words(open).is_empty(), "{open}");
        }
    }
}
