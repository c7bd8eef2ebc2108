//! Running other programs: output passes through, input is closed, failures become sentences.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Stdio};

/// A cargo call in the project's root, with the cargo that started this task.
pub(crate) fn cargo(root: &Path, arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root).stdin(Stdio::null());
    // `cargo run` describes this package to us; a nested cargo must not take that for its own.
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
    command
}

/// Runs to the end; the error names the program and how it ended.
pub(crate) fn run(command: &mut Command) -> Result<(), String> {
    let shown = show(command);
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("`{shown}` ended with {status}")),
        Err(error) => Err(format!("`{shown}` could not be started: {error}")),
    }
}

/// Runs silently and returns what was written to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String, String> {
    let shown = show(command);
    match command.stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        Ok(output) => {
            let complaint = String::from_utf8_lossy(&output.stderr);
            Err(format!("`{shown}` ended with {}: {}", output.status, complaint.trim()))
        }
        Err(error) => Err(format!("`{shown}` could not be started: {error}")),
    }
}

/// The call as a person would type it.
pub(crate) fn show(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_stem().unwrap_or(command.get_program());
    let mut text = program.to_string_lossy().into_owned();
    for argument in command.get_args() {
        text.push(' ');
        text.push_str(&argument.to_string_lossy());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failing_program_is_an_error_with_its_name() {
        let complaint = run(&mut Command::new("no-such-program-anywhere")).unwrap_err();
        assert!(complaint.contains("no-such-program-anywhere"), "{complaint}");
        let mut call = cargo(Path::new("."), &["no-such-task-anywhere"]);
        assert!(output(&mut call).unwrap_err().starts_with("`cargo no-such-task-anywhere` ended with"));
    }

    #[test]
    fn output_is_returned() {
        assert!(output(&mut cargo(Path::new("."), &["--version"])).unwrap().starts_with("cargo "));
    }
}
