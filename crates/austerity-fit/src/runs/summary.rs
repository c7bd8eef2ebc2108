//! `austerity summary RUN`: a table and sentences, or JSON.

use std::path::Path;

use super::{Folder, Overview};
use crate::output::{Failure, json, say};
use crate::request::{Common, Dialect};

/// Prints what can be said of a run.
pub fn run(common: &Common, run: &Path) -> Result<(), Failure> {
    let overview = Overview::read(&Folder::new(run), Dialect::Shell)?;
    print(common, &overview)
}

/// The same for a run just made.
pub fn print(common: &Common, overview: &Overview) -> Result<(), Failure> {
    if common.json {
        let mut value = overview.json();
        if let serde_json::Value::Object(fields) = &mut value {
            fields.insert("run".into(), overview.path.display().to_string().into());
        }
        return json(&value);
    }
    let head = if overview.verdict.trusted() { "" } else { "NOT TO BE TRUSTED YET:\n" };
    let sentences: Vec<String> = overview.sentences().iter().map(|text| format!("• {text}")).collect();
    let about = overview.about().join("\n");
    say(format!(
        "\nRun: {}\n{about}\n\n{}\n\n{head}{}\n\n{}",
        overview.path.display(),
        overview.tables(),
        sentences.join("\n"),
        overview.checks()
    ))
}
