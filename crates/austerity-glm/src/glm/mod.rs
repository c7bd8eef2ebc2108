//! Generalised linear models on f32 blocks: η_i = offset_i + β_0 + Σ_j β_j x_ij, one [`Family`] per likelihood.
//!
//! | file | what it holds |
//! |---|---|
//! | [`family`] | what a likelihood is: [`Family`], and its optional [`Kernel`] |
//! | [`families`] | the list of all families, one file each |
//! | [`number`], [`derived`] | numbers that a log density is computed in, and all that follows from it |
//! | [`plain`] | one type for all families without a kernel |
//! | `counts` | quantiles of counts |
//! | [`blocks`] | the storage: 32 rows by columns, one contiguous run per block |
//! | [`predictor`] | the linear predictor: dense columns and factor columns |
//! | [`kernel`] | the hot loops over blocks |
//! | [`compiled`] | those loops as plain functions, compiled once with their family |
//! | `batch`, `rows`, [`list`] | moments of sixteen blocks at once; single rows; which blocks to read |
//! | [`remainder`], [`residual`] | what a second-order expansion leaves of rows, and its moments |
//! | [`ratio`] | the population of a move, and a chain's working memory |
//! | [`derivative`], `tiles` | gradient and Hessian; the latter of many columns |
//! | [`precise`] | double precision where single precision is too coarse for the posterior |
//! | [`expansion`] | second-order surrogate: centre, certainty stratum, residuals of the rest |
//! | [`gradient`] | the gradient of a batch of blocks |
//! | [`influence`] | what each row can do: its leverage, spread and third-order score |
//! | `dispersed` | few rows that show every mode, and starts that rows of high leverage suggest |
//! | `totals` | the totals of several moves in one pass |
//! | `start` | whether a state gives every row a probability |
//!
//! States are on the scale of the user's columns. The storage holds (x − shift)/scale, so inside γ_j = β_j·scale_j
//! and the constant is β_0 + Σ β_j·shift_j; nothing of it shows outside. Side columns are centred too: where only
//! y − η matters (Student), y − offset less its mean is stored and no offset; elsewhere the offset less its mean. The
//! means join the constant in f64. Frequency weights multiply a row's
//! log-likelihood.
//!
//! Where the posterior is narrower than f32 can place it, double precision takes over ([`precise`]). Elsewhere exact up to f32: a difference l carries a relative error of about 2e-7 given η and δ, mostly of random sign; the
//! total log ratio of 10⁷ rows is off by about 5e-6 for a full random-walk step, and by less for smaller ones. Do not use for data that f32 cannot hold after shift and scale.

pub mod batch;
pub mod blocks;
pub mod compiled;
mod counts;
pub mod derivative;
pub mod derived;
mod dispersed;
pub mod expansion;
pub mod families;
pub mod family;
pub mod gradient;
pub mod influence;
pub mod kernel;
pub mod list;
pub mod number;
pub mod plain;
pub mod precise;
pub mod predictor;
pub mod ratio;
pub mod remainder;
pub mod residual;
pub mod rows;
mod start;
mod tiles;
mod totals;

#[cfg(test)]
mod tests;

use fearless_simd::Simd;

use crate::pass::Driver;
use crate::simd::{self, Level};
use crate::store::Beyond;
use crate::{CheckedData, Priors, ResponseKind, Store, WithPriors};
use austerity::error::{Error, Result};
use austerity::model::{Access, Curvature, Gradient, Model, Parameters, check_length, fingerprint};
use austerity::population::Moments;

pub use blocks::Blocks;
pub use compiled::Compiled;
pub use families::listed::*;
pub use families::ordered::MOST_LEVELS;
pub use families::{AnyFamily, Visitor};
pub use family::{Curve, Expanded, Extra, ExtraDerivatives, Family, Kernel, MOST_EXTRA, Setting, Step};
pub use influence::Influence;
pub use kernel::{Displaced, Pair, Rows};
pub use predictor::Coding;
pub use ratio::{Ratio, Scratch};

/// Derivatives of the log-likelihood of 32 rows.
#[derive(Clone, Copy, Debug)]
pub struct Derivatives<S: Simd> {
    /// In η.
    pub first: Pair<S>,
    /// Twice in η.
    pub second: Pair<S>,
    /// In the extra parameters, where there are some.
    pub extra: Option<ExtraDerivatives<S>>,
}

/// A generalised linear model: N rows, a family, a prior per parameter.
#[derive(Clone, Debug)]
pub struct Glm<F: Family> {
    family: F,
    store: Store,
    /// How states become coefficients of the storage.
    coding: Coding,
    /// What the centred side columns leave to the constant of the linear predictor.
    side_constant: f64,
    intercept: bool,
    names: Vec<String>,
    priors: Priors,
    level: Level,
    /// Whether totals, derivatives and the certainty stratum are computed in double precision.
    precise: bool,
    /// Who runs passes over all rows.
    driver: Driver,
}

impl<F: Family> Glm<F> {
    /// Stores `data` in blocks. `priors` has one entry per parameter: the intercept (if there is one), the columns,
    /// then the extra parameters of the family.
    pub fn new(family: F, data: &CheckedData, priors: impl Into<Priors>) -> Result<Self> {
        let priors = priors.into();
        check_parameters(&family, data.coefficients(), &priors)?;
        let empty = Vec::new();
        let trials = data.trials.as_ref().unwrap_or(&empty);
        if family.kind() == ResponseKind::CountOfTrials {
            check_length("trials", data.rows(), trials.len())?;
        }
        for (row, &value) in data.response.iter().enumerate() {
            let trials = trials.get(row).copied().unwrap_or(1.0);
            if let Some(allowed) = family.refuses(value, trials) {
                return Err(Error::OutOfRange {
                    what: format!("response of the {} family", family.name()),
                    row,
                    value,
                    allowed: allowed.into(),
                });
            }
        }
        Self::from_store(family, Store::new(data, family.kind())?, priors)
    }

    /// The model of rows that are stored already, as responses of the kind that the family explains. `priors` as in
    /// [`Glm::new`].
    pub fn from_store(family: F, store: Store, priors: impl Into<Priors>) -> Result<Self> {
        let priors = priors.into();
        check_parameters(&family, store.coefficients(), &priors)?;
        let priors = priors.rising(family.is_rising().then(|| store.coefficients()));
        store.check_kind(family.name(), family.kind())?;
        let description = store.description();
        let mut names = store.coefficient_names();
        names.extend(family.extra().iter().map(|extra| extra.name.into()));
        Ok(Self {
            family,
            coding: Coding::new(description),
            side_constant: description.side_constant(),
            intercept: description.intercept,
            names,
            priors,
            level: simd::detected(),
            precise: precise::is_needed(&store),
            driver: Driver::default(),
            store,
        })
    }

    /// The same model on another instruction set: for tests and comparisons.
    #[must_use]
    pub fn with_level(mut self, level: Level) -> Self {
        self.level = level;
        self
    }

    /// The same model, whose passes over all rows run on so many threads (one unless told). No result depends on it.
    #[must_use]
    pub fn with_threads(mut self, threads: usize) -> Self {
        self.driver = self.driver.with_threads(threads);
        self
    }

    /// Who runs passes over all rows.
    #[must_use]
    pub fn driver(&self) -> &Driver {
        &self.driver
    }

    /// The same model in double precision, or in single precision whatever it costs in accuracy: see [`precise`].
    #[must_use]
    pub fn with_precision(mut self, double: bool) -> Self {
        self.precise = double;
        self
    }

    /// Whether totals, derivatives and the certainty stratum are computed in double precision.
    #[must_use]
    pub fn is_precise(&self) -> bool {
        self.precise
    }

    /// The family.
    #[must_use]
    pub fn family(&self) -> &F {
        &self.family
    }

    /// The storage.
    #[must_use]
    pub fn blocks(&self) -> &Blocks {
        self.store.blocks()
    }

    /// The rows, prepared.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Number of parameters.
    #[must_use]
    pub fn parameters(&self) -> usize {
        self.names.len()
    }

    /// The model of some of the rows, each standing for so many of its kind.
    pub(crate) fn subset(&self, positions: &[u32], weights: Option<&[f64]>) -> Result<Self> {
        Ok(Self { store: self.store.subset(positions, weights), ..self.clone() })
    }

    /// γ in the order of the storage and its constant, last, of a state.
    fn exact_predictor(&self, state: &[f64]) -> Vec<f64> {
        let size = self.coding.slots();
        let mut gamma = vec![0.0; size + 1];
        gamma[size] = self.coding.place(self.side_constant, |i| state[i], |slot, value| gamma[slot] = value);
        gamma
    }

    /// What rows that are not stored add to the log-likelihood.
    fn beyond(&self) -> Option<&Beyond> {
        self.store.beyond()
    }

    /// Log density of all but the stored rows: the priors, and what rows that are not stored add.
    fn log_outside(&self, state: &[f64]) -> f64 {
        let prior = self.priors.log_density(state);
        self.beyond().map_or(prior, |beyond| prior + beyond.value(state))
    }

    /// Adds its gradient.
    fn add_outside_gradient(&self, state: &[f64], gradient: &mut [f64]) {
        self.priors.add_gradient(state, gradient);
        if let Some(beyond) = self.beyond() {
            beyond.add_gradient(state, gradient);
        }
    }

    /// Adds its Hessian; `limit` may replace the second derivative of a single prior.
    fn add_outside_hessian(&self, state: &[f64], hessian: &mut [f64], limit: impl Fn(f64) -> f64) {
        self.priors.add_hessian(state, hessian, limit);
        if let Some(beyond) = self.beyond() {
            beyond.add_hessian(hessian);
        }
    }

    /// Its change when one parameter moves.
    fn outside_change(&self, state: &[f64], parameter: usize, by: f64) -> f64 {
        let prior = self.priors.change(state, parameter, by);
        self.beyond().map_or(prior, |beyond| prior + beyond.change(state, parameter, by))
    }

    /// Number of coefficients, the intercept included.
    fn coefficients(&self) -> usize {
        usize::from(self.intercept) + self.coding.len()
    }

    /// The extra parameters of a state.
    fn extra<'a>(&self, state: &'a [f64]) -> &'a [f64] {
        &state[self.coefficients()..]
    }

    /// A state to begin at: one whose cut points do not rise, such as 0, begins at the usual ones.
    fn begun_at(&self, state: &[f64]) -> Vec<f64> {
        let mut begun = state.to_vec();
        if let Some(extra) = begun.get_mut(self.coefficients()..)
            && self.family.is_rising()
            && !extra.is_sorted_by(|a, b| a < b)
        {
            extra.iter_mut().zip(self.family.extra()).for_each(|(slot, extra)| *slot = extra.typical.ln());
        }
        begun
    }

    /// Where a storage position stood in the user's data.
    fn original(&self, position: usize) -> usize {
        self.store.original_row(position)
    }
}

fn check_parameters<F: Family>(family: &F, coefficients: usize, priors: &Priors) -> Result<()> {
    family.check()?;
    priors.check(coefficients + family.extra().len())
}

impl<F: Family> Model for Glm<F> {
    type State = Vec<f64>;
    type Scratch = Scratch;
    type Ratio<'a> = Ratio<'a, F>;

    fn len(&self) -> usize {
        self.blocks().rows()
    }

    fn scratch(&self, access: Access) -> Scratch {
        Scratch::new(self.blocks(), access == Access::Scan)
    }

    /// Refuses a wrong length, and a state at which a row has no probability or none that is a number. Reads all data.
    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        check_length("state", self.parameters(), state.len())?;
        start::check(self, state)
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        self.log_outside(state)
    }

    /// The cache in `scratch` is keyed by the coefficients of `from`, so it needs no word of acceptance.
    fn compare<'a>(&'a self, from: &'a Vec<f64>, to: &'a Vec<f64>, scratch: &'a mut Scratch) -> Ratio<'a, F> {
        Ratio::new(self, from, to, scratch)
    }

    fn totals(&self, moves: &[(&Vec<f64>, &Vec<f64>)]) -> Result<Vec<Moments>> {
        self.driver.run(&totals::Totals { moves }, self)
    }

    fn original_row(&self, position: usize) -> usize {
        self.original(position)
    }

    fn data_bytes(&self) -> usize {
        self.blocks().bytes()
    }

    /// Of at most 4,096 blocks spread over the storage, the names and the priors.
    fn fingerprint(&self) -> u64 {
        let mut words =
            format!("{} {:?} {:?} {}", self.family.name(), self.names, self.priors, self.blocks().rows());
        if let Some(Beyond { rows, gradient, hessian, .. }) = self.beyond() {
            words += &format!(" {rows} {gradient:?} {hessian:?}");
        }
        fingerprint(self.blocks().sample().chain(words.bytes().map(u32::from)))
    }

    fn scratch_bytes(&self, access: Access) -> usize {
        Scratch::bytes(self.blocks(), access == Access::Scan)
    }
}

impl<F: Family> WithPriors for Glm<F> {
    fn priors(&self) -> &Priors {
        &self.priors
    }

    fn with_priors(&self, priors: Priors) -> Result<Self> {
        priors.check(self.parameters())?;
        let priors = priors.rising(self.family.is_rising().then(|| self.coefficients()));
        Ok(Self { priors, ..self.clone() })
    }
}

impl<F: Family> Parameters for Glm<F> {
    fn names(&self) -> Vec<String> {
        self.names.clone()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        out.copy_from_slice(state);
        for extra in out.iter_mut().rev().take(self.family.extra().len()) {
            *extra = extra.exp();
        }
    }
}

impl<F: Family> Gradient for Glm<F> {
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        derivative::evaluate(self, state, gradient, None, true)
    }

    fn gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<()> {
        derivative::evaluate(self, state, gradient, None, false).map(drop)
    }
}

impl<F: Family> Curvature for Glm<F> {
    fn hessian(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64> {
        derivative::evaluate(self, state, gradient, Some(hessian), true)
    }

    fn derivatives(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<()> {
        derivative::evaluate(self, state, gradient, Some(hessian), false).map(drop)
    }
}
