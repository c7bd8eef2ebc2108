//! Every command line that the documents show is run, in order, in a folder of its own.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The lines of fenced `sh` blocks that call the program, comments cut off.
fn commands(page: &str) -> Vec<Vec<&str>> {
    let mut found = Vec::new();
    let mut shell = false;
    for line in page.lines() {
        if line.starts_with("```") {
            shell = line == "```sh";
        } else if let (true, Some(rest)) = (shell, line.strip_prefix("austerity ")) {
            found.push(words(rest.split(" #").next().unwrap_or(rest)));
        }
    }
    found
}

/// The words of a line; what stands in double quotes is one of them.
fn words(line: &str) -> Vec<&str> {
    let mut parts = line.split('"');
    let mut found: Vec<&str> = parts.next().into_iter().flat_map(str::split_whitespace).collect();
    while let Some(quoted) = parts.next() {
        found.push(quoted);
        found.extend(parts.next().into_iter().flat_map(str::split_whitespace));
    }
    found
}

fn run_page(page: &Path) -> usize {
    let text = std::fs::read_to_string(page).unwrap();
    let name = page.file_stem().unwrap().to_string_lossy().into_owned();
    let folder = std::env::temp_dir().join(format!("austerity-page-{name}-{}", std::process::id()));
    std::fs::create_dir_all(folder.join("docs/figures")).unwrap();
    let lines = commands(&text);
    for arguments in &lines {
        let output = Command::new(env!("CARGO_BIN_EXE_austerity"))
            .args(arguments)
            .current_dir(&folder)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let complaint = String::from_utf8_lossy(&output.stderr);
        // A line may say that its run is too short to be trusted.
        let untrusted =
            text.lines().any(|line| line.contains(&arguments.join(" ")) && line.contains("# exits 1"));
        assert!(
            output.status.success() || untrusted && output.status.code() == Some(1),
            "{}: austerity {}: {complaint}",
            page.display(),
            arguments.join(" ")
        );
    }
    // Pictures that a page shows are drawn by its commands.
    for shown in text.split("](figures/").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(
            folder.join("docs/figures").join(shown).exists(),
            "{}: no command draws {shown}",
            page.display()
        );
    }
    std::fs::remove_dir_all(folder).unwrap();
    lines.len()
}

#[test]
fn documented_commands_work() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut pages = vec![root.join("README.md")];
    pages.extend(std::fs::read_dir(root.join("docs")).unwrap().map(|entry| entry.unwrap().path()));
    let pages = pages.iter().filter(|page| page.extension().is_some_and(|extension| extension == "md"));
    let count: usize = pages.map(|page| run_page(page)).sum();
    assert!(count >= 8, "only {count} commands found: is the reader of the pages broken?");
}

#[test]
fn only_calls_inside_shell_blocks_count() {
    let page =
        "austerity no\n```sh\nausterity analyze --n 5   # why\ncargo x\n```\n```text\nausterity no\n```";
    assert_eq!(commands(page), [["analyze", "--n", "5"]]);
    assert_eq!(words("fit d --formula \"y ~ x\" --out r"), ["fit", "d", "--formula", "y ~ x", "--out", "r"]);
}
