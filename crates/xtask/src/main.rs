//! Project tasks, run as `cargo xtask <task>`: every check in one command, and the benches.
//!
//! Standard library only, so that the checks compile in a second and can judge a broken workspace.

mod checks;
mod command;
mod dist;
mod docs;
mod figures;
mod python;
mod r;
mod slowest;
mod steps;
mod suite;
mod torture;
mod tree;

use std::path::PathBuf;
use std::process::ExitCode;

/// The tasks and what each does; documented commands are checked against this list.
pub(crate) const TASKS: &[(&str, &str)] = &[
    ("test", "run the first tier of checks, as continuous integration does; --full adds the second tier"),
    ("bench", "run the benches of every crate, or the one that is named, such as `bench flat-in-n --quick`"),
    ("torture", "fail file calls, kill and flip bits at random places; --minutes M says how long (10)"),
    (
        "reproduce",
        "run the paper's experiments, at the size --quick, --paper, --time TIME or between; --check compares them with the published run",
    ),
    ("figures", "draw the pictures of the pages in docs/ anew, by the commands the pages name"),
    ("docs", "build the site of the documentation in target/site; a warning or a dead link is an error"),
    (
        "dist",
        "make what people install in target/dist: wheel, sources, program, licences, checksums; and try the wheel",
    ),
    ("help", "print this text"),
];

/// Exit code of a call that could not be understood.
const USAGE_ERROR: u8 = 2;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let root = project_root();
    match arguments.first().map(String::as_str) {
        Some("test") if arguments.len() == 1 => suite::run(&root, suite::Tier::First),
        Some("test") if arguments.len() == 2 && arguments[1] == "--full" => {
            suite::run(&root, suite::Tier::Full)
        }
        Some("bench") => bench(&root, &arguments[1..]),
        Some("torture") if torture::minutes(&arguments[1..]).is_some() => {
            outcome(torture::run(&root, torture::minutes(&arguments[1..]).unwrap_or_default()))
        }
        Some("reproduce") if suite::reproduction(&root, &arguments[1..]).is_some() => {
            outcome(suite::reproduce(&root, &arguments[1..]))
        }
        Some("figures") if arguments.len() == 1 => outcome(figures::draw(&root)),
        Some("docs") if arguments.len() == 1 => outcome(docs::build(&root)),
        Some("dist") => outcome(dist::make(&root, &arguments[1..])),
        Some("help" | "--help" | "-h") => {
            print!("{}", usage());
            ExitCode::SUCCESS
        }
        None => {
            eprint!("{}", usage());
            ExitCode::from(USAGE_ERROR)
        }
        Some(_) => {
            eprintln!("error: unknown task or argument: `{}`\n", arguments.join(" "));
            eprint!("{}", usage());
            ExitCode::from(USAGE_ERROR)
        }
    }
}

/// All benches, or the one that the first argument names, with the other arguments.
fn bench(root: &std::path::Path, further: &[String]) -> ExitCode {
    let mut arguments = vec!["bench", "--workspace"];
    let mut further = further.iter().map(String::as_str).peekable();
    if let Some(name) = further.next_if(|first| !first.starts_with('-')) {
        arguments.extend(["--bench", name, "--"]);
    }
    arguments.extend(further);
    outcome(command::run(&mut command::cargo(root, &arguments)))
}

fn outcome(result: Result<(), String>) -> ExitCode {
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::FAILURE
        }
    }
}

fn usage() -> String {
    let mut text = String::from("Usage: cargo xtask <task>\n\nTasks:\n");
    for (name, purpose) in TASKS {
        text.push_str(&format!("  {name:<9}{purpose}\n"));
    }
    text
}

/// The workspace's root: cargo tells where this package lives; it is two folders below the root.
fn project_root() -> PathBuf {
    let package = std::env::var_os("CARGO_MANIFEST_DIR")
        .map_or_else(|| PathBuf::from(env!("CARGO_MANIFEST_DIR")), PathBuf::from);
    package.ancestors().nth(2).map_or_else(|| PathBuf::from("."), PathBuf::from)
}

#[cfg(test)]
mod tests {
    #[test]
    fn usage_names_every_task() {
        let text = super::usage();
        for (name, purpose) in super::TASKS {
            assert!(text.contains(name) && text.contains(purpose), "{name} is missing from:\n{text}");
        }
    }

    #[test]
    fn root_holds_the_workspace_manifest() {
        assert!(super::project_root().join("Cargo.lock").is_file());
    }
}
