//! `austerity completions SHELL` and `austerity man`: made from the parser, so they are never out of date.

use std::io::stdout;

use clap::CommandFactory as _;

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
