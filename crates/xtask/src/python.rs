//! The Python package: its wheel is built, installed in a virtual environment of its own, and tested there.
//!
//! The wheel is built with the settings of the tests, so that what they compiled is used again: a release build would compile every
//! dependency a second time. Packages that only some tests need are installed where they can be had; those tests skip without them.
//!
//! The environment is kept for the next run while the interpreter and the lists of packages are the same (the file `STAMP` in it says which) and everything could be
//! installed. Otherwise it is made anew. Two processes share the tests where pytest-xdist could be installed.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::command;
use crate::steps::Outcome;
use crate::suite::Tier;

/// Without these there is no testing.
const NEEDED: &[&str] = &["maturin>=1.9.4,<2", "numpy", "pytest"];
/// What single tests need: all in one call, and group by group where that fails.
const WELCOME: &[&[&str]] = &[
    &["pytest-xdist"],
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
/// The file in the environment that says what it was made of.
const STAMP: &str = "made-of.txt";
/// What an interpreter is: another one makes the environment anew.
const IDENTITY: &str = "import sys; print(sys.executable, sys.version)";
/// The oldest Python that the package supports.
const OLDEST: &str = "import sys, venv; sys.exit(sys.version_info < (3, 9))";

/// Builds, installs and tests.
pub(crate) fn run(root: &Path, tier: Tier) -> Outcome {
    let Some(python) = interpreter() else {
        return Outcome::Skipped(
            "the Python package was not tested: there is no Python 3.9 or newer with venv".into(),
        );
    };
    let environment = Environment::at(root.join("target/python-tests"), (NEEDED, WELCOME));
    let mut remarks = match environment.prepare(&python) {
        Ok(remarks) => remarks,
        Err(why) => return Outcome::Skipped(format!("the Python package was not tested: {why}")),
    };
    let tested = environment.install(root).and_then(|()| {
        let mut tests = Command::new(&environment.python);
        tests
            .args(["-m", "pytest", "-q", "--durations=10", "-p", "no:cacheprovider", "python/tests"])
            .current_dir(root);
        if tier == Tier::First {
            tests.args(["-m", "not slow"]);
        }
        if command::output(Command::new(&environment.python).args(["-c", "import xdist"])).is_ok() {
            tests.args(["-n", "2", "--dist", "worksteal"]);
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

/// Packages that must be there, and groups of packages that are welcome.
pub(crate) type Packages = (&'static [&'static str], &'static [&'static [&'static str]]);

/// A virtual environment with the packages that some task needs.
pub(crate) struct Environment {
    folder: PathBuf,
    /// The interpreter inside.
    pub(crate) python: PathBuf,
    packages: Packages,
}

impl Environment {
    pub(crate) fn at(folder: PathBuf, packages: Packages) -> Self {
        let python = folder.join(if cfg!(windows) { "Scripts" } else { "bin" }).join("python");
        Self { folder, python, packages }
    }

    /// Builds the wheel as the tests do, and installs it.
    pub(crate) fn install(&self, root: &Path) -> Result<(), String> {
        let wheel = build(root, &self.python)?.to_string_lossy().into_owned();
        let arguments = ["--no-deps", "--no-index", "--force-reinstall", &wheel];
        command::output(&mut pip(&self.python, &arguments)).map(|_| ())
    }

    /// Keeps the environment of an earlier run, or makes it anew. Returns remarks on packages that are missing; the error says why there is none.
    pub(crate) fn prepare(&self, interpreter: &str) -> Result<Vec<String>, String> {
        let (needed, welcome) = self.packages;
        let identity = command::output(Command::new(interpreter).args(["-c", IDENTITY]))?;
        let made_of = made_of(&identity, self.packages);
        if self.holds(&made_of) {
            return Ok(Vec::new());
        }
        let mut fresh = Command::new(interpreter);
        fresh.args(["-m", "venv", "--clear"]).arg(&self.folder);
        command::output(&mut fresh).map_err(|why| format!("no virtual environment could be made ({why})"))?;
        let everything: Vec<&str> = needed.iter().chain(welcome.iter().copied().flatten()).copied().collect();
        if command::output(&mut pip(&self.python, &everything)).is_ok() {
            // Without its stamp the next run makes the environment anew: slower, not wrong.
            let _ = std::fs::write(self.folder.join(STAMP), made_of);
            return Ok(Vec::new());
        }
        command::output(&mut pip(&self.python, needed))
            .map_err(|why| format!("its tools could not be installed ({why})"))?;
        let missing = |packages: &&&[&str]| command::output(&mut pip(&self.python, packages)).is_err();
        Ok(welcome
            .iter()
            .filter(missing)
            .map(|packages| {
                format!("warning: {} could not be installed: their tests skip", packages.join(", "))
            })
            .collect())
    }

    /// Whether an earlier run made it of the same things and its interpreter still works.
    fn holds(&self, made_of: &str) -> bool {
        std::fs::read_to_string(self.folder.join(STAMP)).is_ok_and(|stamp| stamp == made_of)
            && command::output(Command::new(&self.python).args(["-c", "import maturin"])).is_ok()
    }
}

/// What an environment is made of: the interpreter and every package.
fn made_of(interpreter: &str, (needed, welcome): Packages) -> String {
    format!("{}\n{needed:?}\n{welcome:?}\n", interpreter.trim())
}

/// A Python that is new enough: the one that PYTHON names, else the usual names.
pub(crate) fn interpreter() -> Option<String> {
    let named = std::env::var("PYTHON").ok();
    named
        .into_iter()
        .chain(["python3".into(), "python".into()])
        .find(|name| command::output(Command::new(name).args(["-c", OLDEST])).is_ok())
}

pub(crate) fn pip(python: &Path, packages: &[&str]) -> Command {
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
    fn an_environment_is_kept_only_with_the_stamp_of_the_same_things() {
        let folder = std::env::temp_dir().join(format!("xtask-environment-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // An interpreter that always succeeds stands in for the one inside.
        let packages: Packages = (&["numpy"], &[]);
        let made_of = |python| made_of(python, packages);
        let environment = Environment { folder: folder.clone(), python: "true".into(), packages };
        assert!(!environment.holds(&made_of("3.12")), "no stamp");
        std::fs::write(folder.join(STAMP), made_of("3.12\n")).unwrap();
        assert_eq!(environment.holds(&made_of("3.12")), cfg!(unix));
        assert!(!environment.holds(&made_of("3.13")), "another interpreter");
        let broken =
            Environment { folder: folder.clone(), python: "no-such-program-anywhere".into(), packages };
        assert!(!broken.holds(&made_of("3.12")), "its interpreter is gone");
        std::fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn pip_is_asked_quietly() {
        let call = command::show(&pip(Path::new("python"), &["numpy"]));
        assert_eq!(call, "python -m pip install --quiet --disable-pip-version-check numpy");
    }
}
