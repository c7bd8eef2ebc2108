//! `cargo xtask dist`: what people install, in `target/dist`: wheel, sources, program, licences, checksums. `.ci/dist/make.py` says what each is, builds
//! and tries it; continuous integration calls the same script.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::command;
use crate::python::{Environment, Packages, interpreter};

/// What builds wheels and links against an old glibc.
const PACKAGES: Packages = (&["maturin>=1.9.4,<2", "ziglang", "cargo-zigbuild"], &[]);

/// Makes everything.
pub(crate) fn make(root: &Path, further: &[String]) -> Result<(), String> {
    let python = interpreter().ok_or("wheels need Python 3.9 or newer with venv")?;
    let environment = Environment::at(root.join("target/dist-tools"), PACKAGES);
    environment.prepare(&python)?.iter().for_each(|remark| println!("{remark}"));
    let tools = environment.python.parent().map(Path::to_path_buf).unwrap_or_default();
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let path = std::env::join_paths(std::iter::once(tools).chain(std::env::split_paths(&paths)))
        .map_err(|error| error.to_string())?;
    let mut call = Command::new(&environment.python);
    call.arg(".ci/dist/make.py").args(further).env("PATH", path).current_dir(root).stdin(Stdio::null());
    command::run(&mut call)
}
