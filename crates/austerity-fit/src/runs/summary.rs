//! `austerity summary RUN`: a table and sentences, or JSON.

use std::path::Path;

use austerity_io::coding::TermNames;
use serde_json::json;

use super::{Folder, Overview};
use crate::output::{Failure, json, say};
use crate::request::{Common, Dialect};

/// Prints what can be said of a run.
pub fn run(common: &Common, run: &Path, by_terms: bool) -> Result<(), Failure> {
    let overview = Overview::read(&Folder::new(run), Dialect::Shell)?;
    let terms = if by_terms { overview.terms()? } else { Vec::new() };
    told(common, &overview, &terms)
}

/// The same for a run just made.
pub fn print(common: &Common, overview: &Overview) -> Result<(), Failure> {
    told(common, overview, &[])
}

/// Prints it, the coefficients grouped by these terms.
fn told(common: &Common, overview: &Overview, terms: &[TermNames]) -> Result<(), Failure> {
    if common.json {
        let mut value = overview.json();
        if let serde_json::Value::Object(fields) = &mut value {
            fields.insert("run".into(), overview.path.display().to_string().into());
            if !terms.is_empty() {
                let one = |term: &TermNames| json!({"term": term.term, "coefficients": term.coefficients});
                fields.insert("terms".into(), terms.iter().map(one).collect());
            }
        }
        return json(&value);
    }
    let head = if overview.verdict.trusted() { "" } else { "NOT TO BE TRUSTED YET:\n" };
    let sentences: Vec<String> = overview.sentences().iter().map(|text| format!("• {text}")).collect();
    let about = overview.about().join("\n");
    say(format!(
        "\nRun: {}\n{about}\n\n{}\n\n{head}{}\n\n{}",
        overview.path.display(),
        overview.tables_by(terms),
        sentences.join("\n"),
        overview.checks()
    ))
}
