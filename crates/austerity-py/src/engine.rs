//! Engines of Python: a callable that maps [`run_part`] over tasks anywhere. `austerity.engines` makes one of executors, clients and sessions.

use std::path::PathBuf;

use austerity_fit::output::Failure;
use austerity_fit::parts::{self, Engine, Take};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList};

/// A callable `engine(request, tasks)` that yields answers.
pub(crate) struct Callable {
    name: String,
    map: Py<PyAny>,
}

impl Callable {
    pub(crate) fn new((name, map): (String, Py<PyAny>)) -> Self {
        Self { name, map }
    }
}

impl Engine for Callable {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn map(&self, request: &[u8], tasks: &[Vec<u8>], take: &mut Take<'_>) -> Result<(), Failure> {
        Python::attach(|py| {
            let tasks =
                PyList::new(py, tasks.iter().map(|task| PyBytes::new(py, task))).map_err(Failure::other)?;
            let answers =
                self.map.bind(py).call1((PyBytes::new(py, request), tasks)).map_err(Failure::other)?;
            for answer in answers.try_iter().map_err(Failure::other)? {
                let bytes: Vec<u8> = answer.and_then(|answer| answer.extract()).map_err(Failure::other)?;
                take(bytes)?;
            }
            Ok(())
        })
    }
}

/// The answer of one part: what every worker runs.
#[pyfunction]
pub(crate) fn run_part<'py>(py: Python<'py>, request: &[u8], task: &[u8]) -> Bound<'py, PyBytes> {
    let (request, task) = (request.to_vec(), task.to_vec());
    let answer = py.detach(move || parts::run_part(&request, &task));
    PyBytes::new(py, &answer)
}

/// Runs the program with what was typed; `resolve` makes engines of their names. Gives the exit code.
#[pyfunction]
pub(crate) fn program(py: Python<'_>, typed: Vec<String>, resolve: Py<PyAny>) -> u8 {
    austerity_cli::engine::set(Box::new(move |name| {
        Python::attach(|py| {
            let found = resolve.bind(py).call1((name,)).and_then(|found| found.extract());
            let found: (String, Py<PyAny>) = found.map_err(|error: PyErr| error.value(py).to_string())?;
            Ok(Box::new(Callable::new(found)) as Box<dyn Engine>)
        })
    }));
    py.detach(move || austerity_cli::run(typed.into_iter().map(PathBuf::from)))
}
