//! The R package: installed into a library of its own, and tested with the program that the tests have built. Skipped, with a word, without R.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::command;
use crate::steps::Outcome;
use crate::suite::{program, target};

/// Installs and tests.
pub(crate) fn run(root: &Path) -> Outcome {
    if command::output(Command::new("Rscript").args(["-e", "library(jsonlite)"])).is_err() {
        return Outcome::Skipped(
            "the R package was not tested: there is no R with the package jsonlite".into(),
        );
    }
    let library = target(root).join("r-library");
    if let Err(error) = std::fs::create_dir_all(&library) {
        return Outcome::Failed(vec![format!("{}: {error}", library.display())]);
    }
    let installed = command::output(
        Command::new("R")
            .args(["CMD", "INSTALL", "--no-docs", "-l"])
            .arg(&library)
            .arg("r/austerity")
            .current_dir(root),
    );
    let tested = installed.and_then(|_| {
        let mut tests = Command::new("Rscript");
        tests
            .arg("r/austerity/tests/fit.R")
            .env("R_LIBS", &library)
            .env("AUSTERITY_PROGRAM", program(root).get_program())
            .current_dir(root)
            .stdin(Stdio::null());
        command::run(&mut tests)
    });
    tested.into()
}
