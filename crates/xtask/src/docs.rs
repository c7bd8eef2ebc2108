//! `cargo xtask docs`: the site of the documentation, built without a network and without a warning.
//!
//! The pages are those in docs/. Sphinx runs in a virtual environment with the package installed, so that the Python reference comes from the docstrings and
//! notebooks are executed; the command-line reference comes from the program's parser. A warning is an error: a link to a page, a heading or a file that
//! is not there among them. Only the environment needs a network, once.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command::{self, cargo};
use crate::python::{Environment, Packages, interpreter};
use crate::suite::target;

/// What builds the pages.
const PACKAGES: Packages = (
    &[
        "maturin>=1.9.4,<2",
        "numpy",
        "sphinx>=8,<10",
        "myst-nb>=1.2",
        "pydata-sphinx-theme>=0.16",
        "ipykernel",
    ],
    &[&["pandas", "scikit-learn"]],
);

/// Builds the site in `target/site`.
pub(crate) fn build(root: &Path) -> Result<(), String> {
    let python = interpreter().ok_or("the site needs Python 3.9 or newer with venv")?;
    let environment = Environment::at(root.join("target/docs-tools"), PACKAGES);
    environment.prepare(&python)?.iter().for_each(|remark| println!("{remark}"));
    environment.install(root)?;
    command::run(&mut cargo(root, &["build", "--profile", "test", "-p", "austerity-cli", "--all-features"]))?;
    let program = target(root).join("debug").join(format!("austerity{}", std::env::consts::EXE_SUFFIX));
    explain(root, &environment.python)?;
    let site = root.join("target/site");
    let _ = std::fs::remove_dir_all(&site);
    command::run(&mut sphinx(root, &environment.python, (&program, &site)))?;
    rustdoc(root, &site)?;
    println!("{}", site.join("index.html").display());
    Ok(())
}

/// Sphinx: warnings are errors, nothing is taken from an earlier build.
fn sphinx(root: &Path, python: &Path, (program, site): (&Path, &PathBuf)) -> Command {
    let mut call = Command::new(python);
    call.args(["-m", "sphinx", "-b", "html", "-W", "--keep-going", "-E", "-q", "-d"])
        .arg(root.join("target/site-doctrees"))
        .arg("docs")
        .arg(site)
        .env("AUSTERITY_PROGRAM", program)
        .env("AUSTERITY_EXPLAINED", extra(root))
        .current_dir(root)
        .stdin(Stdio::null());
    call
}

/// The folder of pages that Sphinx copies as they are.
fn extra(root: &Path) -> PathBuf {
    root.join("target/site-extra")
}

/// The page that explains itself, from tables of the theory.
fn explain(root: &Path, python: &Path) -> Result<(), String> {
    let mut call = Command::new(python);
    call.arg("docs/explained/make.py").arg(extra(root).join("explained-page.html"));
    command::run(call.current_dir(root).stdin(Stdio::null()))
}

/// The pages of the Rust crates, below `rust`.
fn rustdoc(root: &Path, site: &Path) -> Result<(), String> {
    command::run(&mut cargo(
        root,
        &["doc", "--profile", "test", "--workspace", "--all-features", "--no-deps"],
    ))?;
    copy(&target(root).join("doc"), &site.join("rust"))
}

/// Copies a folder.
fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let wrong = |error: std::io::Error| format!("{}: {error}", from.display());
    std::fs::create_dir_all(to).map_err(wrong)?;
    for entry in std::fs::read_dir(from).map_err(wrong)? {
        let path = entry.map_err(wrong)?.path();
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map_err(wrong)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_an_error() {
        let call = command::show(&sphinx(
            Path::new("."),
            Path::new("python"),
            (Path::new("austerity"), &"site".into()),
        ));
        assert!(call.contains("sphinx -b html -W"), "{call}");
    }
}
