//! `cargo xtask test`: every check of the project, in the order in which a person wants to hear of it.

use crate::checks::{documents, manifests, sources};
use crate::command::{self, cargo};
use crate::python;
use crate::steps::{Outcome, Steps};
use crate::tree::Tree;
use std::path::Path;
use std::process::{Command, ExitCode};

/// Runs every check, whatever fails on the way, and ends with a table.
pub(crate) fn run(root: &Path) -> ExitCode {
    let mut steps = Steps::default();

    run_cargo(&mut steps, "format", cargo(root, &["fmt", "--check"]));
    let lints = ["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"];
    run_cargo(&mut steps, "lints", cargo(root, &lints));
    run_cargo(&mut steps, "tests", tests(root));
    run_cargo(&mut steps, "experiments", experiments(root));
    run_cargo(&mut steps, "doc tests", cargo(root, &["test", "--workspace", "--doc", "--no-fail-fast"]));
    let mut docs = cargo(root, &["doc", "--workspace", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    run_cargo(&mut steps, "docs", docs);

    match Tree::load(root) {
        Ok(tree) => run_project_checks(&mut steps, root, &tree),
        Err(why) => steps.run("project rules", "reading the sources", || Outcome::Failed(vec![why])),
    }
    steps.run("Python package", "the wheel in a fresh virtual environment, and python/tests", || {
        python::run(root)
    });
    steps.finish()
}

fn run_project_checks(steps: &mut Steps, root: &Path, tree: &Tree) {
    steps.run("minimum Rust", "stated once, inherited by every crate, met here", || {
        let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        match command::output(Command::new(rustc).arg("--version").current_dir(root)) {
            Ok(version) => manifests::minimum_rust(tree, &version),
            Err(why) => Outcome::Failed(vec![why]),
        }
    });
    steps.run("file size", "sources of moderate length (warns only)", || sources::file_size(tree));
    steps.run("module openings", "library modules say what they are for", || sources::module_openings(tree));
    steps.run("unsafe code", "only where it is allowed", || sources::unsafe_code(tree));
    steps.run("documented commands", "the commands of the README exist", || {
        documents::commands(tree, |subcommand| {
            // The profile of the tests, so that little is compiled a second time.
            let call = ["run", "--quiet", "--profile", "test", "--", subcommand, "--help"];
            command::output(&mut cargo(root, &call)).map(|_| ())
        })
    });
}

fn run_cargo(steps: &mut Steps, name: &str, mut call: Command) {
    let detail = command::show(&call);
    steps.run(name, &detail, || command::run(&mut call).into());
}

/// With nextest where it is installed (one process per test, a clearer list), else cargo's own runner.
/// Without `--no-fail-fast` the first failure would hide the next.
fn tests(root: &Path) -> Command {
    if command::output(&mut cargo(root, &["nextest", "--version"])).is_ok() {
        cargo(root, &["nextest", "run", "--workspace", "--no-fail-fast"])
    } else {
        cargo(root, &["test", "--workspace", "--lib", "--bins", "--tests", "--no-fail-fast"])
    }
}

/// Every experiment of the paper at its smallest size, with the program that the tests have built. Claims that do not hold at
/// that size are no failures: the pages, in `target/reproduce`, tell them.
fn experiments(root: &Path) -> Command {
    let call = ["run", "--quiet", "--profile", "test", "--", "reproduce", "all", "--quick", "--out"];
    let mut command = cargo(root, &call);
    command.arg("target/reproduce");
    command
}
