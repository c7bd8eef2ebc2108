//! The program: see the library of this package.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(austerity_cli::run(std::env::args_os()))
}
