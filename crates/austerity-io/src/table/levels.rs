//! Text as small numbers: each different text is kept once.

use std::collections::HashMap;

use super::{Chunk, Column};

/// Collects texts, row after row.
#[derive(Debug, Default)]
pub(super) struct LevelBuilder {
    codes: Vec<u32>,
    labels: Vec<String>,
    known: HashMap<String, u32>,
}

impl LevelBuilder {
    /// Appends a row. `Err` when there are more different texts than codes.
    pub(super) fn push(&mut self, text: &str) -> Result<(), TooManyLevels> {
        // Sorted and grouped files repeat the text of the row before.
        if let Some(&last) = self.codes.last()
            && self.labels[last as usize] == text
        {
            self.codes.push(last);
            return Ok(());
        }
        let code = match self.known.get(text) {
            Some(&code) => code,
            None => {
                let code = u32::try_from(self.labels.len()).map_err(|_| TooManyLevels)?;
                self.labels.push(text.to_owned());
                self.known.insert(text.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
        Ok(())
    }

    /// The rows since the last [`LevelBuilder::forget`] and all texts so far.
    pub(super) fn chunk(&self, truths: bool) -> Chunk<'_> {
        Chunk::Levels { codes: &self.codes, labels: &self.labels, truths }
    }

    /// Forgets the rows and keeps the texts.
    pub(super) fn forget(&mut self) {
        self.codes.clear();
    }

    /// The column as levels.
    pub(super) fn levels(mut self) -> Column {
        self.codes.shrink_to_fit();
        Column::Levels { codes: self.codes, labels: self.labels }
    }
}

/// The numbers 0 and 1 that texts stand for, when every one is `true` or `false` in some capitalisation.
pub(crate) fn truths(labels: &[String]) -> Option<Vec<f64>> {
    labels.iter().map(|label| truth(label)).collect()
}

/// More different texts than a 32-bit code can tell apart.
#[derive(Debug)]
pub(super) struct TooManyLevels;

/// 1 for `true`, 0 for `false`, in any capitalisation.
pub(crate) fn truth(text: &str) -> Option<f64> {
    if text.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if text.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn build(texts: &[&str]) -> LevelBuilder {
        let mut builder = LevelBuilder::default();
        texts.iter().for_each(|text| builder.push(text).unwrap());
        builder
    }

    #[test]
    fn labels_keep_the_order_of_their_first_row() {
        let column = build(&["b", "b", "a", "b"]).levels();
        assert_eq!(column, Column::Levels { codes: vec![0, 0, 1, 0], labels: vec!["b".into(), "a".into()] });
    }

    #[test]
    fn true_and_false_are_numbers_unless_a_third_text_appears() {
        let labels = |texts: &[&str]| build(texts).labels;
        assert_eq!(truths(&labels(&["TRUE", "false", "True"])), Some(vec![1.0, 0.0, 1.0]));
        assert_eq!(truths(&labels(&["true", "maybe"])), None);
    }
}
