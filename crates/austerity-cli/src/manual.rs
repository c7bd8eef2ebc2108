//! `austerity completions SHELL` and `austerity man`: made from the parser, so they are never out of date.

use std::fmt::Write as _;
use std::io::stdout;

use clap::{Arg, Command, CommandFactory as _};

use crate::arguments::{Arguments, CompletionsOptions, ManOptions};
use austerity_fit::output::{Failure, say};

/// Prints the completions of a shell.
pub(crate) fn completions(options: &CompletionsOptions) -> Result<(), Failure> {
    let mut buffer = Vec::new();
    clap_complete::generate(options.shell, &mut Arguments::command(), "austerity", &mut buffer);
    std::io::Write::write_all(&mut stdout().lock(), &buffer)?;
    Ok(())
}

/// Writes the manual: the page of the program and one of every command, or prints the first.
pub(crate) fn man(options: &ManOptions) -> Result<(), Failure> {
    match &options.out {
        None if options.markdown => say(markdown()),
        None => Ok(clap_mangen::Man::new(Arguments::command()).render(&mut stdout().lock())?),
        Some(folder) => {
            let wrong = |error: std::io::Error| {
                Failure::Usage(format!("cannot write the manual to {}: {error}", folder.display()))
            };
            std::fs::create_dir_all(folder).map_err(wrong)?;
            clap_mangen::generate_to(Arguments::command(), folder).map_err(wrong)?;
            say(format!(
                "manual pages in {}: try `man {}/austerity-fit.1`",
                folder.display(),
                folder.display()
            ))
        }
    }
}

/// All commands and options as one page.
fn markdown() -> String {
    let mut program = Arguments::command();
    program.build();
    let mut page = format!("# Command line\n\n{}\n", about(&program));
    page += "\nEvery command prints this with `--help`, in short with `-h`. Exit codes: 0 done, 1 finished but not to be trusted, 2 bad usage or input.\n";
    program.get_subcommands().for_each(|command| describe(command, "austerity", &mut page));
    page
}

/// A command, its options, its examples, and the commands below it.
fn describe(command: &Command, above: &str, page: &mut String) {
    if command.is_hide_set() || command.get_name() == "help" {
        return;
    }
    let name = format!("{above} {}", command.get_name());
    let _ = write!(page, "\n## {name}\n\n{}\n", about(command));
    let (places, options): (Vec<&Arg>, Vec<&Arg>) = command
        .get_arguments()
        .filter(|arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version"))
        .partition(|arg| arg.is_positional());
    for arg in places.into_iter().chain(options) {
        let _ = write!(page, "\n`{}`\n: {}\n", spelled(arg), meaning(arg));
    }
    if let Some(examples) = command.get_after_help() {
        let text = examples.to_string();
        let calls: Vec<&str> =
            text.lines().map(str::trim).filter(|line| line.starts_with("austerity ")).collect();
        if !calls.is_empty() {
            let _ = write!(page, "\n```sh\n{}\n```\n", calls.join("\n"));
        }
    }
    command.get_subcommands().for_each(|below| describe(below, &name, page));
}

/// What a command does: the long text where it has one.
fn about(command: &Command) -> String {
    let text = command.get_long_about().or_else(|| command.get_about());
    text.map_or_else(String::new, |text| plain(&text.to_string()))
}

/// An argument as it is typed.
fn spelled(arg: &Arg) -> String {
    let names = arg.get_value_names().unwrap_or_default();
    let values: Vec<String> = names.iter().map(|name| format!("<{name}>")).collect();
    match arg.get_long() {
        Some(long) if arg.get_action().takes_values() => format!("--{long} {}", values.join(" ")),
        Some(long) => format!("--{long}"),
        None => values.join(" "),
    }
}

/// The help of an argument with its default and the values that it takes.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or_else(|| arg.get_help());
    let mut text = help.map_or_else(String::new, |help| plain(&help.to_string()));
    let values = if arg.get_action().takes_values() { arg.get_possible_values() } else { Vec::new() };
    let named: Vec<String> = values
        .iter()
        .filter(|value| !value.is_hide_set())
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if !named.is_empty() {
        let _ = write!(text, " One of {}.", named.join(", "));
    }
    let defaults: Vec<String> =
        arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy())).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(text, " Default: {}.", defaults.join(", "));
    }
    text.replace("\n\n", "\n\n  ")
}

/// A text whose signs mean nothing in Markdown; what stands in backquotes stays code.
fn plain(text: &str) -> String {
    let (mut out, mut code) = (String::new(), false);
    for letter in text.chars() {
        code ^= letter == '`';
        if !code && "*_<>[]|#".contains(letter) {
            out.push('\\');
        }
        out.push(letter);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_has_every_command_and_option() {
        let page = markdown();
        for wanted in
            ["## austerity fit\n", "`--missing <MISSING>`", "`refuse`, `drop`", "## austerity generate\n"]
        {
            assert!(page.contains(wanted), "{wanted} is missing from the page");
        }
        assert!(!page.contains("## austerity help"));
    }
}
