//! What was asked of a run after its fit, kept in `RUN/after` for its report: one file per question, the newest answer.
//!
//! The draws do not depend on these files. A folder that cannot be written to keeps nothing, and the answer is printed all the same.

use std::path::Path;

use austerity_plot::Figure;
use serde::{Deserialize, Serialize};

/// An answer as the report shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Answer {
    /// Heading.
    pub(crate) title: String,
    /// Table and sentences.
    pub(crate) words: String,
    /// The picture, where there is one.
    pub(crate) picture: Option<String>,
}

/// Questions in the order of the report: whether the fit is any good, then what it says.
const QUESTIONS: [&str; 7] =
    ["check", "check-held-out", "loo", "sensitivity", "comparisons", "slopes", "predictions"];

/// Keeps an answer.
pub(super) fn keep(run: &Path, (question, title): (&str, &str), words: String, picture: Option<&Figure>) {
    let answer = Answer { title: title.into(), words, picture: picture.map(Figure::svg) };
    let folder = run.join("after");
    let made = std::fs::create_dir_all(&folder).is_ok();
    if let (true, Ok(text)) = (made, serde_json::to_string_pretty(&answer)) {
        // A report without the answer is still a report.
        let _ = austerity_io::run::write_file(folder.join(format!("{question}.json")), text.as_bytes());
    }
}

/// The answers that are there.
pub(super) fn answers(run: &Path) -> Vec<Answer> {
    let read = |question: &&str| {
        let text = std::fs::read(run.join("after").join(format!("{question}.json"))).ok()?;
        serde_json::from_slice(&text).ok()
    };
    QUESTIONS.iter().filter_map(read).collect()
}
