//! Text as small numbers: each different text is kept once.

use std::collections::HashMap;

use super::{Chunk, Column};

/// The code of a row without a text, in scans that keep missing values.
pub(crate) const MISSING: u32 = u32::MAX;

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
            && self.labels.get(last as usize).is_some_and(|label| label == text)
        {
            self.codes.push(last);
            return Ok(());
        }
        let code = match self.known.get(text) {
            Some(&code) => code,
            None => {
                let code = u32::try_from(self.labels.len()).ok().filter(|&code| code < MISSING);
                let code = code.ok_or(TooManyLevels)?;
                self.labels.push(text.to_owned());
                self.known.insert(text.to_owned(), code);
                code
            }
        };
        self.codes.push(code);
        Ok(())
    }

    /// Appends rows without a text.
    pub(super) fn push_missing(&mut self, rows: usize) {
        self.codes.resize(self.codes.len() + rows, MISSING);
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

/// Texts of several files, or of some rows of one, under codes of their own: in the order of the first row that has them.
#[derive(Debug, Default)]
pub(super) struct Relabel {
    labels: Vec<String>,
    known: HashMap<String, u32>,
    /// Our code of each of theirs, where a row had it.
    places: Vec<u32>,
}

impl Relabel {
    /// The codes that come belong to another file.
    pub(super) fn begin_file(&mut self) {
        self.places.clear();
    }

    /// Our codes for theirs; missing texts stay missing.
    pub(super) fn apply(&mut self, theirs: &[u32], labels: &[String], out: &mut Vec<u32>) {
        self.places.resize(labels.len(), MISSING);
        out.extend(theirs.iter().map(|&code| match self.places.get(code as usize) {
            None => MISSING,
            Some(&MISSING) => {
                let place = self.code(&labels[code as usize]);
                self.places[code as usize] = place;
                place
            }
            Some(&place) => place,
        }));
    }

    /// Our code of a text.
    pub(super) fn code(&mut self, label: &str) -> u32 {
        if let Some(&code) = self.known.get(label) {
            return code;
        }
        let code = self.labels.len() as u32;
        self.labels.push(label.into());
        self.known.insert(label.into(), code);
        code
    }

    /// The texts so far.
    pub(super) fn labels(&self) -> &[String] {
        &self.labels
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
    fn texts_of_several_files_have_one_code_each() {
        let mut all = Relabel::default();
        let mut codes = Vec::new();
        let labels = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        all.apply(&[0, MISSING, 2], &labels(&["b", "unused", "a"]), &mut codes);
        all.begin_file();
        all.apply(&[0, 1, 0], &labels(&["a", "c"]), &mut codes);
        assert_eq!(codes, [0, MISSING, 1, 1, 2, 1]);
        assert_eq!(all.labels(), ["b", "a", "c"]);
    }

    #[test]
    fn true_and_false_are_numbers_unless_a_third_text_appears() {
        let labels = |texts: &[&str]| build(texts).labels;
        assert_eq!(truths(&labels(&["TRUE", "false", "True"])), Some(vec![1.0, 0.0, 1.0]));
        assert_eq!(truths(&labels(&["true", "maybe"])), None);
    }
}
