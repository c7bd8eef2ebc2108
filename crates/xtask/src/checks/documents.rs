//! What the documents tell a newcomer to type must be there.

use crate::TASKS;
use crate::steps::Outcome;
use crate::tree::Tree;
use std::collections::BTreeSet;

/// The commands that every reader of the README needs.
const REQUIRED: &[&str] = &["cargo run --release -- demo", "cargo xtask test"];

/// The documents whose commands are checked.
const DOCUMENTS: &[&str] = &["README.md", "CONTRIBUTING.md"];

/// The README names the required commands; every task named in a document is one of ours, and
/// `try_program` accepts every subcommand of the program that a document runs.
pub(crate) fn commands(tree: &Tree, mut try_program: impl FnMut(&str) -> Result<(), String>) -> Outcome {
    let readme = tree.file("README.md").map_or("", |file| file.text.as_str());
    let absent = REQUIRED.iter().filter(|command| !readme.contains(**command));
    let mut complaints: Vec<String> =
        absent.map(|command| format!("README.md: does not mention `{command}`")).collect();

    let mut subcommands = BTreeSet::new();
    for file in DOCUMENTS.iter().filter_map(|path| tree.file(path)) {
        for task in words_after(&file.text, "cargo xtask ") {
            if !TASKS.iter().any(|(name, _)| *name == task) {
                complaints.push(format!("{}: `cargo xtask {task}` does not exist", file.path));
            }
        }
        subcommands.extend(words_after(&file.text, "cargo run --release -- "));
    }
    for subcommand in &subcommands {
        if let Err(why) = try_program(subcommand) {
            complaints.push(format!("documented subcommand `{subcommand}`: {why}"));
        }
    }
    Outcome::of(complaints, Vec::new())
}

/// The word that follows each occurrence of `start`; placeholders such as `<task>` are passed over.
fn words_after<'a>(text: &'a str, start: &'a str) -> impl Iterator<Item = &'a str> {
    text.split(start).skip(1).filter_map(|rest| {
        let end = rest
            .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '-'))
            .unwrap_or(rest.len());
        let word = &rest[..end];
        (!word.is_empty() && !word.starts_with('-')).then_some(word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = "Run `cargo run --release -- demo`, then\n\n    cargo xtask test\n";

    fn accept(_: &str) -> Result<(), String> {
        Ok(())
    }

    #[test]
    fn required_commands_must_be_mentioned() {
        assert_eq!(commands(&Tree::of(&[("README.md", README)]), accept), Outcome::Passed(Vec::new()));
        match commands(&Tree::of(&[("README.md", "nothing")]), accept) {
            Outcome::Failed(complaints) => assert_eq!(complaints.len(), REQUIRED.len()),
            other => panic!("{other:?}"),
        }
        assert!(matches!(commands(&Tree::of(&[]), accept), Outcome::Failed(_)));
    }

    #[test]
    fn tasks_and_subcommands_must_exist() {
        let with = |guide| Tree::of(&[("README.md", README), ("CONTRIBUTING.md", guide)]);
        assert_eq!(
            commands(&with("`cargo xtask <task>`, `cargo xtask bench`"), accept),
            Outcome::Passed(vec![])
        );
        assert_eq!(
            commands(&with("`cargo xtask fly`"), accept),
            Outcome::Failed(vec!["CONTRIBUTING.md: `cargo xtask fly` does not exist".into()])
        );
        let only_demo = |name: &str| {
            if name == "demo" { Ok(()) } else { Err("unknown".to_owned()) }
        };
        assert!(matches!(commands(&with(""), only_demo), Outcome::Passed(_)));
        let guide = with("`cargo run --release -- dance --json`");
        assert!(matches!(commands(&guide, only_demo), Outcome::Failed(_)));
    }
}
