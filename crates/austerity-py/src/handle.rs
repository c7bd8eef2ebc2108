//! A run on a thread of its own, which Python watches, pauses and ends without holding the interpreter's lock.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use austerity::run::{Control, Observer, Progress, Settings, UNBOUNDED};
use austerity_fit::fit::{self as fitting, Host, Own};
use austerity_fit::output::Failure;
use austerity_fit::parts::{self, Arrivals, Engine};
use austerity_fit::request::Dialect;
use austerity_fit::runs::Overview;
use austerity_fit::{Plan, Request};
use austerity_io::table::{OpenOptions, open_all};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::callback::{Functions, Given, Trouble};
use crate::derivatives::Known;
use crate::engine::Callable;
use crate::error::exception;
use crate::native::{Compiled, Native};
use crate::own::{Blocks, Calls, Structure};
use crate::reading::{Said, said};
use crate::request::request;
use crate::table::{Columns, source};

/// What a run tells while it goes on.
#[derive(Default)]
struct Told {
    doing: String,
    plan: String,
    warnings: Vec<String>,
    progress: Option<Progress>,
    bounded: bool,
    /// How it ended: with draws, or of what came before the chains.
    ended: Option<Result<Ending, PyErr>>,
}

/// What came of it.
enum Ending {
    /// A run that is over.
    Ran {
        /// What a chain failed of.
        failure: Option<String>,
        /// What was said of the run at its end: making it costs a pass over all draws.
        said: Said,
        /// The folder then.
        stamp: Option<Stamp>,
    },
    /// A plan, in words and as JSON.
    Planned(String, String),
}

/// What is done on the thread: a run, or its plan.
enum Done {
    Ran(Box<Overview>),
    Planned(Box<Plan>),
}

impl Done {
    fn run(outcome: Result<Overview, Failure>) -> Result<Self, Failure> {
        outcome.map(|overview| Self::Ran(Box::new(overview)))
    }

    fn plan(outcome: Result<Plan, Failure>) -> Result<Self, Failure> {
        outcome.map(|plan| Self::Planned(Box::new(plan)))
    }

    fn ending(&self, folder: &Path) -> PyResult<Ending> {
        Ok(match self {
            Self::Ran(overview) => Ending::Ran {
                failure: overview.failure().map(Into::into),
                said: said(overview),
                stamp: stamp(folder),
            },
            Self::Planned(plan) => {
                let json = serde_json::to_string(plan)
                    .map_err(|error| PyRuntimeError::new_err(format!("the plan cannot be shown: {error}")))?;
                Ending::Planned(plan.words(Dialect::Python), json)
            }
        })
    }
}

/// When the files that every session writes were written, and their lengths.
type Stamp = [(SystemTime, u64); 2];

fn stamp(folder: &Path) -> Option<Stamp> {
    let of = |name: &str| {
        let known = folder.join(name).metadata().ok()?;
        Some((known.modified().ok()?, known.len()))
    };
    Some([of("run.toml")?, of("checkpoint")?])
}

/// What the run's thread and Python share.
struct Shared {
    control: Control,
    told: Mutex<Told>,
    over: Condvar,
}

impl Shared {
    fn told(&self) -> MutexGuard<'_, Told> {
        self.told.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The host of a run: writes down what it is told.
struct Watcher(Arc<Shared>);

impl Observer for Watcher {
    fn progress(&mut self, progress: &Progress) {
        self.0.told().progress = Some(progress.clone());
    }
}

impl Host for Watcher {
    fn control(&self) -> Control {
        self.0.control.clone()
    }

    fn dialect(&self) -> Dialect {
        Dialect::Python
    }

    fn note(&mut self, doing: &str) {
        self.0.told().doing = doing.into();
    }

    fn plan(&mut self, text: &str) -> Result<(), Failure> {
        self.0.told().plan = text.into();
        Ok(())
    }

    fn warn(&mut self, text: &str) {
        self.0.told().warnings.push(text.into());
    }

    fn begin(&mut self, settings: &Settings) {
        let mut told = self.0.told();
        told.doing = "sampling".into();
        told.bounded = settings.draws < UNBOUNDED;
    }

    fn end(&mut self) {
        self.0.told().doing = "summarising".into();
    }
}

/// A run that goes on.
#[pyclass(frozen)]
pub(crate) struct Handle {
    shared: Arc<Shared>,
    folder: PathBuf,
    trouble: Trouble,
    /// Threads do not survive a fork.
    process: u32,
}

impl Handle {
    fn start(
        request: Request,
        trouble: Trouble,
        work: impl FnOnce(&Request, &mut Watcher) -> Result<Done, Failure> + Send + 'static,
    ) -> PyResult<Self> {
        let control = Control::new();
        let shared = Arc::new(Shared { control, told: Mutex::default(), over: Condvar::new() });
        let mine = shared.clone();
        // `sample` always names a folder.
        let folder = request.out.clone().unwrap_or_default();
        let written = folder.clone();
        thread::Builder::new().name("austerity".into()).spawn(move || {
            let mut watcher = Watcher(mine.clone());
            let outcome = catch_unwind(AssertUnwindSafe(|| work(&request, &mut watcher)));
            mine.told().ended = Some(match outcome {
                Ok(Ok(done)) => done.ending(&written),
                Ok(Err(failure)) => Err(exception(&failure)),
                Err(_) => {
                    Err(PyRuntimeError::new_err("a bug in austerity: the run panicked; please report it"))
                }
            });
            mine.over.notify_all();
        })?;
        Ok(Self { shared, folder, trouble, process: std::process::id() })
    }
}

#[pymethods]
impl Handle {
    /// Waits so many seconds for the end; tells whether it has come.
    fn wait(&self, py: Python<'_>, seconds: f64) -> PyResult<bool> {
        if std::process::id() != self.process {
            return Err(PyRuntimeError::new_err(
                "this run belongs to the process that began it, and a fork does not carry its threads; open its folder with \
                 austerity.open, or sample anew in this process",
            ));
        }
        let shared = &self.shared;
        Ok(py.detach(move || {
            let until = Instant::now() + Duration::from_secs_f64(seconds.clamp(0.0, 1e6));
            let mut told = shared.told();
            while told.ended.is_none() {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    return false;
                }
                told = shared.over.wait_timeout(told, left).unwrap_or_else(PoisonError::into_inner).0;
            }
            true
        }))
    }

    /// Whether it has ended.
    fn ended(&self) -> bool {
        self.shared.told().ended.is_some()
    }

    /// Raises what the run failed of; what a chain failed of is returned in words when it has draws.
    fn outcome(&self, py: Python<'_>) -> PyResult<Option<String>> {
        if let Some(error) = self.trouble.take() {
            return Err(error);
        }
        match &self.shared.told().ended {
            Some(Err(error)) => Err(error.clone_ref(py)),
            Some(Ok(Ending::Ran { failure, .. })) => Ok(failure.clone()),
            Some(Ok(Ending::Planned(..))) | None => Ok(None),
        }
    }

    /// The plan in words and as JSON, where only that was asked for.
    fn planned(&self) -> Option<(String, String)> {
        match &self.shared.told().ended {
            Some(Ok(Ending::Planned(words, json))) => Some((words.clone(), json.clone())),
            _ => None,
        }
    }

    /// What `overview` would say of the folder; nothing where another session may have been there since the end.
    fn overview(&self) -> Option<Said> {
        let told = self.shared.told();
        let Some(Ok(Ending::Ran { said, stamp: before, .. })) = &told.ended else { return None };
        (before.is_some() && *before == stamp(&self.folder)).then(|| said.clone())
    }

    fn pause(&self) {
        self.shared.control.pause();
    }

    fn resume(&self) {
        self.shared.control.resume();
    }

    fn stop(&self) {
        self.shared.control.resume();
        self.shared.control.stop();
    }

    fn paused(&self) -> bool {
        self.shared.control.paused()
    }

    /// What is being done, in a word or two.
    fn doing(&self) -> String {
        self.shared.told().doing.clone()
    }

    /// What will be done and why.
    fn plan(&self) -> String {
        self.shared.told().plan.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.shared.told().warnings.clone()
    }

    /// (share, draws, acceptance, share of the data, elapsed, remaining, R-hat, ESS) of all chains, once they run.
    #[allow(clippy::type_complexity, reason = "a tuple for Python")]
    fn progress(&self) -> Option<(f64, u64, f64, f64, f64, Option<f64>, Option<f64>, Option<f64>)> {
        let told = self.shared.told();
        let progress = told.progress.as_ref()?;
        let mean = |value: fn(&austerity::run::ChainProgress) -> f64| {
            let known: Vec<f64> = progress.chains.iter().map(value).filter(|v| v.is_finite()).collect();
            known.iter().sum::<f64>() / known.len() as f64
        };
        let by_clock = progress.remaining.map_or(0.0, |left| progress.elapsed / (progress.elapsed + left));
        let share = if told.bounded { progress.share().max(by_clock) } else { by_clock };
        Some((
            share,
            progress.chains.iter().map(|chain| chain.draws).sum(),
            mean(|chain| chain.acceptance),
            mean(|chain| chain.data_share),
            progress.elapsed,
            progress.remaining,
            progress.rhat,
            progress.ess,
        ))
    }
}

/// Fits columns in memory, else the file or the store that the options name; `dry` only plans.
#[pyfunction]
pub(crate) fn fit_table(
    columns: Option<Columns<'_>>,
    options: &Bound<'_, PyDict>,
    dry: bool,
) -> PyResult<Handle> {
    let request = request(options)?;
    let table = columns.map(|columns| source(&columns, &request.data.file.to_string_lossy())).transpose()?;
    Handle::start(request, Trouble::default(), move |request, host| match &table {
        Some(table) if dry => Done::plan(fitting::plan_on(table, request, host)),
        None if dry => Done::plan(fitting::plan(request, host)),
        Some(table) => Done::run(fitting::run_on(table, request, host)),
        None => Done::run(fitting::run(request, host)),
    })
}

/// Fits files whose passes an engine runs, by threads where there is none.
#[pyfunction]
#[pyo3(signature = (files, options, engine=None))]
pub(crate) fn fit_parts(
    files: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    engine: Option<(String, Py<PyAny>)>,
) -> PyResult<Handle> {
    let request = request(options)?;
    Handle::start(request, Trouble::default(), move |request, host| {
        let table = open_all(&files, &OpenOptions::default())?;
        match engine.map(Callable::new) {
            Some(engine) => Done::run(fitting::run_by(&engine, Some(&table), request, host)),
            None => Done::run(fitting::run_on(&table, request, host)),
        }
    })
}

/// Adds new rows to a run whose data are in parts, or forgets old ones.
#[pyfunction]
#[pyo3(signature = (old, new, forget, options, engine=None))]
pub(crate) fn update(
    old: PathBuf,
    new: Vec<PathBuf>,
    forget: Vec<PathBuf>,
    options: &Bound<'_, PyDict>,
    engine: Option<(String, Py<PyAny>)>,
) -> PyResult<Handle> {
    let request = request(options)?;
    Handle::start(request, Trouble::default(), move |request, host| {
        let arrivals = Arrivals { new, forget, draws: request.length.draws };
        let engine = engine.map(Callable::new);
        let engine = engine.as_ref().map(|engine| engine as &dyn Engine);
        Done::run(parts::update((&old, &arrivals), request, engine, host))
    })
}

/// Where a model of one's own is sampled from: a possible state, and rough posterior standard deviations if known.
type Beginning = (Vec<f64>, Option<Vec<f64>>);

fn own(beginning: &Beginning) -> Own<'_> {
    Own { start: &beginning.0, scale: beginning.1.as_deref() }
}

/// Samples a posterior given as Python functions, its parameters in blocks where there are some; `dry` only plans.
#[pyfunction]
pub(crate) fn fit_functions(
    both: (Given, Blocks<'_>),
    beginning: Beginning,
    options: &Bound<'_, PyDict>,
    dry: bool,
) -> PyResult<Handle> {
    let (given, blocks) = both;
    start_own(Calls::Python(Functions::new(given, ())), blocks, beginning, options, dry)
}

/// The same of whatever can be called.
fn start_own(
    calls: Calls,
    blocks: Blocks<'_>,
    beginning: Beginning,
    options: &Bound<'_, PyDict>,
    dry: bool,
) -> PyResult<Handle> {
    let request = request(options)?;
    let structure = Structure::read(blocks)?;
    Handle::start(request, calls.trouble(), move |request, host| {
        let (model, start) = structure.model(calls, &beginning.0)?;
        let own = Own { start: &start, scale: beginning.1.as_deref() };
        match dry {
            true => Done::plan(fitting::plan_expandable(&model, own, request, host)),
            false => Done::run(fitting::run_expandable(&model, own, request, host)),
        }
    })
}

/// The same, with derivatives.
#[pyfunction]
pub(crate) fn fit_derivatives(
    both: (Given, Py<PyAny>),
    beginning: Beginning,
    options: &Bound<'_, PyDict>,
    dry: bool,
) -> PyResult<Handle> {
    let request = request(options)?;
    let (given, derivatives) = both;
    let functions = Functions::new(given, Known::new(derivatives));
    Handle::start(request, functions.trouble.clone(), move |request, host| {
        let model = austerity_glm::own::from_batches(functions)?;
        match dry {
            true => Done::plan(fitting::plan_expandable(&model, own(&beginning), request, host)),
            false => Done::run(fitting::run_expandable(&model, own(&beginning), request, host)),
        }
    })
}

/// Samples a posterior given as a compiled function; `dry` only plans.
#[pyfunction]
pub(crate) fn fit_native(
    both: (Compiled<'_>, Blocks<'_>),
    beginning: Beginning,
    options: &Bound<'_, PyDict>,
    dry: bool,
) -> PyResult<Handle> {
    let (native, blocks) = both;
    start_own(Calls::Compiled(Native::new(native)?), blocks, beginning, options, dry)
}
