//! `cargo xtask test`: the checks of the project, in the order in which a person wants to hear of them.
//!
//! | tier | command | what it adds |
//! |---|---|---|
//! | first | `cargo xtask test` | format, lints, tests, doc tests, docs, project rules, the Python and the R package |
//! | second | `cargo xtask test --full` | tests marked `#[ignore = "second tier"]`, Python tests marked `slow`, every experiment of the paper |
//!
//! Tests called `on_demand_…` print tables for the record and belong to no tier.
//!
//! Everything is built once with the settings of `[profile.test]`: lints and docs share their metadata, tests, experiments and the wheel their
//! libraries. The step `first build` checks the program without features, as a newcomer builds it.

use crate::checks::{documents, functions, manifests, sources};
use crate::command::{self, cargo};
use crate::docs;
use crate::python;
use crate::r;
use crate::slowest;
use crate::steps::{Outcome, Steps};
use crate::tree::Tree;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::time::Instant;

/// How much is checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tier {
    /// What every change must pass.
    First,
    /// That, and what takes long.
    Full,
}

impl Tier {
    /// How long it takes, on two cores that do nothing else.
    const fn expected(self) -> &'static str {
        match self {
            Self::First => {
                "The first tier takes up to 8 minutes on two cores when everything is built, 20 from a fresh clone."
            }
            Self::Full => "Both tiers take up to 85 minutes on two cores.",
        }
    }

    /// Where the length of its last run is kept.
    const fn record(self) -> &'static str {
        match self {
            Self::First => "first-tier-seconds.txt",
            Self::Full => "both-tiers-seconds.txt",
        }
    }
}

/// The folder that cargo builds in.
pub(crate) fn target(root: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into)
}

/// How long the tier takes, and how long it took here the last time.
fn expectation(tier: Tier, last: Option<f64>) -> String {
    let last = last.map_or_else(String::new, |seconds| {
        format!(" The last run here took {:.0} min {:02.0} s.", (seconds / 60.0).floor(), seconds % 60.0)
    });
    format!("{}{last}", tier.expected())
}

/// Runs every check of the tier, whatever fails on the way, and ends with a table.
pub(crate) fn run(root: &Path, tier: Tier) -> ExitCode {
    let mut steps = Steps::default();
    let (record, begun) = (target(root).join(tier.record()), Instant::now());
    let last = std::fs::read_to_string(&record).ok().and_then(|text| text.trim().parse().ok());
    println!("{}", expectation(tier, last));

    run_cargo(&mut steps, "format", cargo(root, &["fmt", "--check"]));
    let lints = [
        "clippy",
        "--profile",
        "test",
        "--workspace",
        "--all-targets",
        "--all-features",
        "--",
        "-D",
        "warnings",
    ];
    run_cargo(&mut steps, "lints", cargo(root, &lints));
    run_cargo(&mut steps, "first build", cargo(root, &["check", "--profile", "test"]));
    run_cargo(&mut steps, "tests", tests(root, tier));
    if tier == Tier::Full {
        run_cargo(&mut steps, "experiments", experiments(root));
    }
    let doc_tests = ["test", "--workspace", "--all-features", "--doc", "--no-fail-fast"];
    run_cargo(&mut steps, "doc tests", cargo(root, &doc_tests));
    let mut docs = cargo(root, &["doc", "--profile", "test", "--workspace", "--all-features", "--no-deps"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    run_cargo(&mut steps, "docs", docs);

    match Tree::load(root) {
        Ok(tree) => run_project_checks(&mut steps, root, &tree),
        Err(why) => steps.run("project rules", "reading the sources", || Outcome::Failed(vec![why])),
    }
    steps.run("Python package", "the wheel in a virtual environment of its own, and python/tests", || {
        python::run(root, tier)
    });
    if tier == Tier::Full {
        steps.run("site", "the pages of docs/ without a warning or a dead link", || docs::build(root).into());
    }
    steps.run("R package", "r/austerity in a library of its own, and its tests", || r::run(root));
    if let Some(table) = slowest::table(root) {
        print!("\n{table}");
    }
    if tier == Tier::First {
        println!(
            "\nThe second tier, with long statistical tests and the paper's experiments: cargo xtask test --full"
        );
    }
    // For the sentence at the beginning only.
    let _ = std::fs::write(record, format!("{:.0}\n", begun.elapsed().as_secs_f64()));
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
    steps.run("functions", "none longer than a screen", || functions::lengths(tree));
    steps.run("arguments", "few per function of the core", || functions::arguments(tree));
    steps.run("module openings", "library modules say what they are for", || sources::module_openings(tree));
    steps.run("unsafe code", "only where it is allowed", || sources::unsafe_code(tree));
    steps.run("documented commands", "the commands of the README exist", || {
        documents::commands(tree, |subcommand| {
            command::output(program(root).args([subcommand, "--help"])).map(|_| ())
        })
    });
}

fn run_cargo(steps: &mut Steps, name: &str, mut call: Command) {
    let detail = command::show(&call);
    steps.run(name, &detail, || command::run(&mut call).into());
}

/// With nextest where it is installed (one process per test, a clearer list), else cargo's own runner.
/// Without `--no-fail-fast` the first failure would hide the next.
fn tests(root: &Path, tier: Tier) -> Command {
    if command::output(&mut cargo(root, &["nextest", "--version"])).is_ok() {
        let mut call = vec!["nextest", "run", "--workspace", "--all-features", "--no-fail-fast"];
        if tier == Tier::Full {
            call.extend(["--run-ignored", "all", "-E", "not test(on_demand)"]);
        }
        return cargo(root, &call);
    }
    let mut call =
        vec!["test", "--workspace", "--all-features", "--lib", "--bins", "--tests", "--no-fail-fast"];
    if tier == Tier::Full {
        call.extend(["--", "--include-ignored", "--skip", "on_demand"]);
    }
    cargo(root, &call)
}

/// Every experiment of the paper at its smallest size. Claims that do not hold at that size are no failures: the pages, in
/// `target/reproduce`, tell them.
fn experiments(root: &Path) -> Command {
    let mut call = program(root);
    call.args(["reproduce", "all", "--quick", "--out", "target/reproduce"]);
    call
}

/// The run that a new one is compared with.
const PUBLISHED: &str = "docs/reproduction";

/// What `cargo xtask reproduce` calls; nothing where an argument is not understood.
pub(crate) fn reproduction(root: &Path, arguments: &[String]) -> Option<Command> {
    let mut call = cargo(root, &["run", "--release", "--features", "paper", "--"]);
    call.args(["reproduce", "all", "--out", "target/reproduce"]);
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match argument.as_str() {
            "--quick" | "--paper" | "--keep" => call.arg(argument),
            "--time" => call.arg(argument).arg(rest.next()?),
            "--check" => call.args(["--compare", PUBLISHED]),
            _ => return None,
        };
    }
    Some(call)
}

/// Runs the paper's experiments.
pub(crate) fn reproduce(root: &Path, arguments: &[String]) -> Result<(), String> {
    reproduction(root, arguments).map_or(Ok(()), |mut call| command::run(&mut call))
}

/// The program that the tests have built. `cargo run` would choose other features of its dependencies and compile them all again.
pub(crate) fn program(root: &Path) -> Command {
    let mut call =
        Command::new(target(root).join("debug").join(format!("austerity{}", std::env::consts::EXE_SUFFIX)));
    call.current_dir(root).stdin(std::process::Stdio::null());
    call
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `--check` compares with a run that is there.
    #[test]
    fn a_new_run_is_held_against_the_published_one() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        let call = reproduction(&root, &words("--check --time 40m")).unwrap();
        let given: Vec<&str> = call.get_args().filter_map(|argument| argument.to_str()).collect();
        assert!(given.ends_with(&["--compare", PUBLISHED, "--time", "40m"]), "{given:?}");
        assert!(root.join(PUBLISHED).join("theory/result.json").is_file());
        for line in ["--chek", "--time"] {
            assert!(reproduction(&root, &words(line)).is_none(), "{line}");
        }
    }

    #[test]
    fn a_tier_says_how_long_it_takes() {
        assert_eq!(expectation(Tier::Full, None), "Both tiers take up to 85 minutes on two cores.");
        assert!(expectation(Tier::First, Some(432.0)).ends_with("The last run here took 7 min 12 s."));
    }
}
