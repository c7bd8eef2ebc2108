//! Keyword arguments as a [`Request`]: values of Python become values of Rust, one line per option.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use austerity_fit::Request;
use austerity_fit::refusal::Refusal;
use austerity_fit::request::{AuditChoice, Dialect, Keyword, Reference, Unread, grammar};
use austerity_glm::Prior;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// A value of Python with the name of its keyword.
pub(crate) struct Given<'a, 'py> {
    pub(crate) name: &'a str,
    pub(crate) value: &'a Bound<'py, PyAny>,
}

/// Hands every keyword that has a value to `set`, which says whether it knows it.
pub(crate) fn each(
    options: &Bound<'_, PyDict>,
    mut set: impl FnMut(&Given<'_, '_>) -> PyResult<bool>,
) -> PyResult<()> {
    for (name, value) in options {
        let name: String = name.extract()?;
        if !value.is_none() && !set(&Given { name: &name, value: &value })? {
            return Err(PyTypeError::new_err(format!("unexpected keyword argument {name:?}")));
        }
    }
    Ok(())
}

impl Given<'_, '_> {
    fn wrong(&self, wanted: impl Display) -> PyErr {
        let shown = self.value.repr().map(|text| text.to_string()).unwrap_or_default();
        PyValueError::new_err(format!("{} is {shown}; {wanted}", self.name))
    }

    /// A number.
    pub(crate) fn number(&self) -> PyResult<f64> {
        let text = || self.value.extract::<String>().ok()?.trim().parse().ok();
        self.value.extract().ok().or_else(text).ok_or_else(|| self.wrong("give a number"))
    }

    /// A whole number.
    pub(crate) fn whole<T: TryFrom<u64>>(&self) -> PyResult<T> {
        let number = self.number()?;
        // Larger whole numbers are not those that were given.
        let exact = self.value.extract::<u64>().ok();
        let small = || (number.fract() == 0.0 && (0.0..9e15).contains(&number)).then_some(number as u64);
        let whole = exact.or_else(small).and_then(|number| T::try_from(number).ok());
        whole.ok_or_else(|| self.wrong("give a whole number, at least 0"))
    }

    /// A list of numbers; one number is a list, too.
    pub(crate) fn numbers(&self) -> PyResult<Vec<f64>> {
        let one = |error| self.number().map(|number| vec![number]).map_err(|_| error);
        self.value.extract().or_else(|_: PyErr| one(self.wrong("give numbers")))
    }

    /// A list of whole numbers.
    pub(crate) fn wholes(&self) -> PyResult<Vec<usize>> {
        self.value.extract().or_else(|_: PyErr| Ok(vec![self.whole()?]))
    }

    /// Whether something is asked for.
    pub(crate) fn flag(&self) -> PyResult<bool> {
        self.value.is_truthy()
    }

    /// A name.
    pub(crate) fn text(&self) -> PyResult<String> {
        Ok(self.value.str()?.to_string())
    }

    /// A path.
    pub(crate) fn path(&self) -> PyResult<PathBuf> {
        self.value.extract().map_err(|_: PyErr| self.wrong("give a path"))
    }

    /// A list of names; one name is a list, too.
    pub(crate) fn names(&self) -> PyResult<Vec<String>> {
        match self.value.extract::<String>() {
            Ok(names) => Ok(names.split(',').map(Into::into).collect()),
            Err(_) => self.value.extract().map_err(|_: PyErr| self.wrong("give a list of names")),
        }
    }

    /// One of the choices that texts name.
    pub(crate) fn choice<T: FromStr<Err = Unread>>(&self) -> PyResult<T> {
        self.read(&self.text()?, str::parse)
    }

    fn read<T>(&self, text: &str, read: impl Fn(&str) -> Result<T, Unread>) -> PyResult<T> {
        read(text).map_err(|unread| match Keyword::named(self.name) {
            Some(keyword) => {
                let refusal = Refusal::Value { keyword, value: unread.text, why: unread.allowed };
                PyValueError::new_err(refusal.words(Dialect::Python))
            }
            None => self.wrong(unread),
        })
    }

    /// A duration: seconds, or a text such as 60s.
    fn duration(&self) -> PyResult<Duration> {
        if let Ok(text) = self.value.extract::<String>() {
            return self.read(&text, grammar::duration);
        }
        let wrong = || self.wrong("give seconds above 0, or a text such as '60s' or '5m'");
        let seconds = self.number().map_err(|_| wrong())?;
        Duration::try_from_secs_f64(seconds).ok().filter(|time| !time.is_zero()).ok_or_else(wrong)
    }

    /// A size: bytes, or a text such as 500MB.
    fn bytes(&self) -> PyResult<u64> {
        self.read(&self.text()?, grammar::bytes)
    }

    /// A share, `auto` or `off`.
    fn audit(&self) -> PyResult<AuditChoice> {
        match self.value.extract::<f64>() {
            Ok(rate) => Ok(AuditChoice::Rate(rate)),
            Err(_) => self.choice(),
        }
    }

    /// Levels by column.
    fn references(&self) -> PyResult<Vec<Reference>> {
        let levels =
            self.value.cast::<PyDict>().map_err(|_| self.wrong("give a dict such as {'city': 'Bonn'}"))?;
        let text = |value: Bound<'_, PyAny>| Ok::<_, PyErr>(value.str()?.to_string());
        levels
            .iter()
            .map(|(column, level)| Ok(Reference { column: text(column)?, level: text(level)? }))
            .collect()
    }

    /// Priors by coefficient.
    fn priors(&self) -> PyResult<BTreeMap<String, Prior>> {
        let priors =
            self.value.cast::<PyDict>().map_err(|_| self.wrong("give a dict of priors by coefficient"))?;
        priors.iter().map(|(name, value)| Ok((name.str()?.to_string(), prior(&value)?))).collect()
    }
}

/// A prior: an object of the package with its numbers, or a text such as normal:2.5.
pub(crate) fn prior(value: &Bound<'_, PyAny>) -> PyResult<Prior> {
    let refused = |error: austerity::Error| PyValueError::new_err(error.to_string());
    if let Ok(text) = value.extract::<String>() {
        return text.parse().map_err(refused);
    }
    let (kind, numbers): (String, Vec<f64>) = value.call_method0("_parts")?.extract()?;
    let made = match (kind.as_str(), &numbers[..]) {
        ("flat", []) => Prior::Flat,
        ("normal", &[mean, sd]) => Prior::Normal { mean, sd },
        ("laplace", &[mean, scale]) => Prior::Laplace { mean, scale },
        ("student", &[freedom, mean, scale]) => Prior::Student { freedom, mean, scale },
        ("half-normal", &[scale]) => Prior::HalfNormal { scale },
        ("gamma", &[shape, rate]) => Prior::Gamma { shape, rate },
        ("half-student", &[freedom, scale]) => Prior::HalfStudent { freedom, scale },
        ("exponential", &[rate]) => Prior::Exponential { rate },
        ("log-normal", &[mean, sd]) => Prior::LogNormal { mean, sd },
        _ => return Err(PyTypeError::new_err(format!("{kind} with {} numbers is no prior", numbers.len()))),
    };
    made.check().map_err(refused)?;
    Ok(made)
}

/// What a fit is asked for.
pub(crate) fn request(options: &Bound<'_, PyDict>) -> PyResult<Request> {
    let mut request = Request::default();
    each(options, |given| set(&mut request, given))?;
    Ok(request)
}

/// Sets one option; tells whether there is one of that name.
fn set(request: &mut Request, given: &Given<'_, '_>) -> PyResult<bool> {
    if given.name == "file" {
        request.data.file = given.path()?;
        return Ok(true);
    }
    if given.name == "further" {
        request.data.further =
            given.value.extract().map_err(|_: PyErr| given.wrong("give a list of paths"))?;
        return Ok(true);
    }
    if given.name == "part" {
        let part = serde_json::from_str(&given.text()?);
        request.part = Some(part.map_err(|error| given.wrong(error))?);
        return Ok(true);
    }
    let Some(keyword) = Keyword::named(given.name) else { return Ok(false) };
    Ok(about_run(request, keyword, given)?
        || about_data(request, keyword, given)?
        || about_shape(request, keyword, given)?)
}

fn about_run(request: &mut Request, keyword: Keyword, given: &Given<'_, '_>) -> PyResult<bool> {
    let length = &mut request.length;
    match keyword {
        Keyword::Out => request.out = Some(given.path()?),
        Keyword::Resume => request.resume = given.flag()?,
        Keyword::Seed => request.seed = Some(given.whole()?),
        Keyword::Threads => request.threads = given.whole()?,
        Keyword::Draws => length.draws = Some(given.whole()?),
        Keyword::Budget => length.budget = Some(given.duration()?),
        Keyword::Evaluations => length.evaluations = Some(given.number()?),
        Keyword::TargetEss => length.target_ess = Some(given.number()?),
        Keyword::MaxDisk => length.max_disk = Some(given.bytes()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn about_data(request: &mut Request, keyword: Keyword, given: &Given<'_, '_>) -> PyResult<bool> {
    let data = &mut request.data;
    match keyword {
        Keyword::Formula => data.formula = Some(given.text()?),
        Keyword::Response => data.response = Some(given.text()?),
        Keyword::Features => data.features = Some(given.names()?),
        Keyword::Categorical => data.categorical = given.names()?,
        Keyword::Success => data.success = Some(given.text()?),
        Keyword::Reference => data.reference = given.references()?,
        Keyword::Weights => data.weights = Some(given.text()?),
        Keyword::Trials => data.trials = Some(given.text()?),
        Keyword::Event => data.event = Some(given.text()?),
        Keyword::Offset => data.offset = Some(given.text()?),
        Keyword::NoIntercept => data.no_intercept = given.flag()?,
        Keyword::Standardize => data.standardize = given.flag()?,
        Keyword::Missing => data.missing = Some(given.choice()?),
        Keyword::Family => data.family = Some(given.choice()?),
        Keyword::SampleRows => data.sample_rows = Some(given.whole()?),
        Keyword::Memory => data.memory = Some(given.bytes()?),
        _ => return Ok(false),
    }
    Ok(true)
}

fn about_shape(request: &mut Request, keyword: Keyword, given: &Given<'_, '_>) -> PyResult<bool> {
    let shape = &mut request.shape;
    match keyword {
        Keyword::Prior => shape.prior = Some(prior(given.value)?),
        Keyword::PriorIntercept => shape.prior_intercept = Some(prior(given.value)?),
        Keyword::PriorGroup => shape.prior_group = Some(prior(given.value)?),
        Keyword::Priors => shape.priors = given.priors()?,
        Keyword::Rule => shape.rule = Some(given.choice()?),
        Keyword::Preset => shape.preset = Some(given.choice()?),
        Keyword::Epsilon => shape.epsilon = Some(given.number()?),
        Keyword::Batch => shape.batch = Some(given.whole()?),
        Keyword::Growth => shape.growth = Some(given.number()?),
        Keyword::Bound => shape.bound = Some(given.choice()?),
        Keyword::Law => shape.law = Some(given.choice()?),
        Keyword::StopAt => shape.stop_at = Some(given.number()?),
        Keyword::Tolerance => shape.tolerance = Some(given.number()?),
        Keyword::Surrogate => shape.surrogate = Some(given.choice()?),
        Keyword::Audit => shape.audit = Some(given.audit()?),
        Keyword::BlockRows => shape.block_rows = Some(given.whole()?),
        Keyword::Proposal => shape.proposal = Some(given.choice()?),
        Keyword::Chains => shape.chains = Some(given.whole()?),
        Keyword::FirstChain => shape.first_chain = Some(given.whole()?),
        Keyword::Warmup => shape.warmup = Some(given.whole()?),
        Keyword::Thin => shape.thin = Some(given.whole()?),
        Keyword::Keep => shape.keep = Some(given.names()?),
        Keyword::KeepGroups => shape.keep_groups = given.flag()?,
        _ => return Ok(false),
    }
    Ok(true)
}

/// The names of all options of a fit.
#[pyfunction]
pub(crate) fn fit_options() -> Vec<String> {
    Keyword::of_fit().iter().map(|keyword| keyword.key()).collect()
}

/// The request that keyword arguments make, as JSON.
#[pyfunction]
pub(crate) fn request_json(options: &Bound<'_, PyDict>) -> PyResult<String> {
    serde_json::to_string(&request(options)?).map_err(|error| PyValueError::new_err(error.to_string()))
}
