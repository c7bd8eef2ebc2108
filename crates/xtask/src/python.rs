//! The Python package: its wheel is built, installed in a fresh virtual environment, and tested there.
//!
//! The wheel is built with the settings of the tests, so that what they compiled is used again: a release build would compile every
//! dependency a second time. Packages that only some tests need are installed where they can be had; those tests skip without them.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command;
use crate::steps::Outcome;
use crate::suite::Tier;

/// Without these there is no testing.
const NEEDED: &[&str] = &["maturin>=1.9.4,<2", "numpy", "pytest"];
/// What single tests need, together in one call each.
const WELCOME: &[&[&str]] = &[
    &["scipy", "pandas", "scikit-learn"],
    &["nbclient", "nbformat", "ipykernel"],
    &["numba"],
    &["jax"],
    &["xarray", "arviz", "pyarrow"],
    &["polars", "duckdb"],
];
/// The settings of `[profile.test]`, which the wheel is built with.
const SETTINGS: [(&str, &str); 4] =
    [("opt-level", "3"), ("debug", "false"), ("incremental", "false"), ("lto", "off")];
/// The oldest Python that the package supports.
const OLDEST: &str = "import sys, venv; sys.exit(sys.version_info < (3, 9))";

/// Builds, installs and tests.
pub(crate) fn run(root: &Path, tier: Tier) -> Outcome {
    let Some(python) = interpreter() else {
        return Outcome::Skipped(
            "the Python package was not tested: there is no Python 3.9 or newer with venv".into(),
        );
    };
    let environment = root.join("target/python-tests");
    let mut fresh = Command::new(&python);
    fresh.args(["-m", "venv", "--clear"]).arg(&environment);
    if let Err(why) = command::output(&mut fresh) {
        return Outcome::Skipped(format!(
            "the Python package was not tested: no virtual environment could be made ({why})"
        ));
    }
    let inside = environment.join(if cfg!(windows) { "Scripts" } else { "bin" }).join("python");
    if let Err(why) = command::output(&mut pip(&inside, NEEDED)) {
        return Outcome::Skipped(format!(
            "the Python package was not tested: its tools could not be installed ({why})"
        ));
    }
    let mut remarks: Vec<String> = WELCOME
        .iter()
        .filter(|packages| command::output(&mut pip(&inside, packages)).is_err())
        .map(|packages| format!("warning: {} could not be installed: their tests skip", packages.join(", ")))
        .collect();
    let tested = build(root, &inside)
        .and_then(|wheel| {
            let wheel = wheel.to_string_lossy().into_owned();
            command::output(&mut pip(&inside, &["--no-deps", "--force-reinstall", &wheel]))
        })
        .and_then(|_| {
            let mut tests = Command::new(&inside);
            tests
                .args(["-m", "pytest", "-q", "--durations=10", "-p", "no:cacheprovider", "python/tests"])
                .current_dir(root);
            if tier == Tier::First {
                tests.args(["-m", "not slow"]);
            }
            command::run(tests.stdin(Stdio::null()))
        });
    match tested {
        Ok(()) => Outcome::Passed(remarks),
        Err(why) => {
            remarks.push(why);
            Outcome::Failed(remarks)
        }
    }
}

/// A Python that is new enough: the one that PYTHON names, else the usual names.
fn interpreter() -> Option<String> {
    let named = std::env::var("PYTHON").ok();
    named
        .into_iter()
        .chain(["python3".into(), "python".into()])
        .find(|name| command::output(Command::new(name).args(["-c", OLDEST])).is_ok())
}

fn pip(python: &Path, packages: &[&str]) -> Command {
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]).args(packages);
    command
}

/// The wheel, built anew.
fn build(root: &Path, python: &Path) -> Result<PathBuf, String> {
    let folder = root.join("target/wheels");
    // Only one wheel must be found afterwards.
    let _ = std::fs::remove_dir_all(&folder);
    let mut maturin = Command::new(python);
    maturin
        .args(["-m", "maturin", "build", "--quiet", "--profile", "dev", "--interpreter"])
        .arg(python)
        .arg("--out")
        .arg(&folder)
        .current_dir(root)
        .stdin(Stdio::null())
        // The settings of [profile.test], under another name: maturin cannot build with that profile itself.
        .envs(SETTINGS.map(|(key, value)| {
            (format!("CARGO_PROFILE_DEV_{}", key.to_uppercase().replace('-', "_")), value)
        }));
    command::run(&mut maturin)?;
    let wheels = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    wheels
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .ok_or_else(|| format!("{}: no wheel was built", folder.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_settings_of_the_wheel_are_those_of_the_tests() {
        let manifest =
            std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.toml")).unwrap();
        let test = manifest.split("[profile.test]").nth(1).unwrap().split("\n[").next().unwrap().to_owned();
        let stated: Vec<&str> = test.lines().filter(|line| line.contains(" = ")).collect();
        let wanted = SETTINGS.map(|(key, value)| match value {
            "off" => format!("{key} = \"{value}\""),
            _ => format!("{key} = {value}"),
        });
        assert_eq!(stated, wanted);
    }

    #[test]
    fn pip_is_asked_quietly() {
        let call = command::show(&pip(Path::new("python"), &["numpy"]));
        assert_eq!(call, "python -m pip install --quiet --disable-pip-version-check numpy");
    }
}
