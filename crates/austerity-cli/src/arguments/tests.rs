//! What is typed becomes the request that the table says, option by option; Python's keywords are held to the same table.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use austerity_fit::request::Keyword;
use clap::Parser as _;
use serde_json::Value;

use super::{Arguments, Command};

const TABLE: &str = include_str!("../../../austerity-fit/tests/requests.json");

/// The request of `austerity fit data.csv` with these words.
fn request(words: &[String]) -> Value {
    let line = ["austerity", "fit", "data.csv"].map(String::from).into_iter().chain(words.iter().cloned());
    let arguments = Arguments::try_parse_from(line).unwrap();
    let Command::Fit(fit) = &arguments.command else { panic!("another command") };
    serde_json::to_value(fit.request(&arguments.common()).unwrap()).unwrap()
}

/// `value` with the fields of `change` in their place.
fn changed(mut value: Value, change: &Value) -> Value {
    match (&mut value, change) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (name, change) in changes {
                let field = fields.remove(name).unwrap_or(Value::Null);
                fields.insert(name.clone(), changed(field, change));
            }
            value
        }
        _ => change.clone(),
    }
}

#[test]
fn every_option_sets_what_the_table_says() {
    let rows: Vec<Value> = serde_json::from_str(TABLE).unwrap();
    let plain = request(&[]);
    assert_eq!(plain["data"]["file"], "data.csv");
    for row in &rows {
        let mut words: Vec<String> = serde_json::from_value(row["shell"].clone()).unwrap();
        let file = std::env::temp_dir().join(format!("austerity-priors-{}.csv", std::process::id()));
        if let Some(content) = row["file"].as_str() {
            std::fs::write(&file, content).unwrap();
            words[1] = file.display().to_string();
        }
        let made = request(&words);
        assert_eq!(made, changed(plain.clone(), &row["request"]), "{words:?}");
        assert_ne!(made, plain, "{words:?} changes nothing");
        let _ = std::fs::remove_file(&file);
    }
    let listed: Vec<&str> = rows.iter().filter_map(|row| row["keyword"].as_str()).collect();
    let known: Vec<String> = Keyword::of_fit().iter().map(|keyword| keyword.key()).collect();
    assert_eq!(listed, known, "tests/requests.json and the options of a fit");
}

#[test]
fn every_flag_of_the_program_is_an_option_of_a_request() {
    use clap::CommandFactory as _;
    let command = Arguments::command();
    let fit = command.find_subcommand("fit").unwrap();
    let flags = fit.get_arguments().chain(command.get_arguments()).filter_map(|flag| flag.get_long());
    // How the program prints, how far it goes, and who reads the data, is no part of a request.
    let told = ["json", "json-progress", "dry-run", "prior-only", "engine", "help", "version"];
    let flags = flags.filter(|flag| !told.contains(flag));
    let mut flags: Vec<String> = flags.map(|flag| flag.replace('-', "_")).collect();
    let mut known: Vec<String> = Keyword::of_fit().iter().map(|keyword| keyword.key()).collect();
    flags.sort();
    known.sort();
    assert_eq!(flags, known);
}
