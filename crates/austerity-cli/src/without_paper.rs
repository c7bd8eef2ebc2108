//! `reproduce` and `data` in a program that was built without the feature `paper`: says how to get them.

use std::ffi::OsString;

use austerity_fit::output::Failure;
use clap::Args;

/// Whatever follows the command; only the message repeats it.
#[derive(Args, Debug)]
#[command(disable_help_flag = true)]
pub(crate) struct Words {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true, hide = true)]
    words: Vec<OsString>,
}

/// The remedy, with the command as it was typed.
pub(crate) fn run(command: &str, words: &Words) -> Result<(), Failure> {
    let typed: Vec<String> = std::iter::once(command.to_owned())
        .chain(words.words.iter().map(|word| word.to_string_lossy().into_owned()))
        .collect();
    Err(Failure::Usage(format!(
        "`austerity {command}` needs the experiments of the paper, which this build leaves out. In the project's folder, run\n  \
         cargo run --release --features paper -- {}\nor install a program that has them: cargo install --path crates/austerity-cli --features paper",
        typed.join(" ")
    )))
}
