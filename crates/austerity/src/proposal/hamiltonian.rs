//! Hamiltonian Monte Carlo: a candidate far away that is nearly as probable, reached along the gradient.
//!
//! The momentum is an auxiliary variable that the proposal draws and forgets. With Σ = L·Lᵀ about the posterior
//! covariance (the inverse of the mass matrix) it is kept whitened, z = Lᵀp ~ N(0, I), and k leapfrog steps of length h
//!
//! z += h/2·Lᵀ∇log π(θ),  θ += h·L·z,  z += h/2·Lᵀ∇log π(θ)
//!
//! lead from (θ, z) to (θ', z'). Turned around at the end the map is its own inverse and preserves volume, so the
//! log ratio is |z|²/2 − |z'|²/2 and the usual decision about the likelihood makes the step exact (Duane et al. 1987; Neal
//! 2011, §5.3.2). Step length and number of steps may be random, since they do not depend on the state (Neal 2011,
//! §5.4.2). Both properties hold for *any* function of θ in the place of the gradient: its rounding to f32 costs
//! acceptance, never exactness. Warm-up steers h to an acceptance rate by
//! log h += n^{−2/3}·(a − a*) (Robbins & Monro 1951), where a = min(1, e^{H−H'}) is known from the path itself.
//!
//! **Rotating paths** ([`Hamiltonian::rotating`]) take kicks of tan(h/2) and drifts of sin h in the place of h/2 and h. These three shears make up a rotation by h, so a normal density with the
//! shape's covariance keeps its energy exactly at any h < π, wherever its mean is and in any dimension; what costs acceptance is what the density has beyond the second order. One
//! step of 1.6, a single gradient, then forgets where it began, where plain leapfrog steps must be as short as d^{−1/4} (Shahbaba, Lan, Johnson & Neal 2014; Casas, Sanz-Serna & Shaw 2022).
//!
//! **Walks** ([`Hamiltonian::with_walks`]). Where the density falls off as a wall, a path that begins on the wall gets a kick that no step of its length can carry: every candidate is refused, and the chain stays
//! for ever. A share of random-walk steps θ + s·L·z with log s uniform on `WALKS` leads off it: any step up is accepted, whatever the slope. Which kind is taken does not depend on the state, so the
//! mixture is as exact as its parts (Tierney 1994).
//!
//! A path on which density or gradient stop being numbers leads nowhere: the candidate is ruled out, which is symmetric,
//! since the way back is the same path. [`Hamiltonian::lost`] counts them.
//!
//! Cost: k gradients, each a pass over all the data, and 2k products with L (d² each where dense); the gradient at
//! the current state is remembered. The decision adds its own reading, one pass for the exact rule: about 1/(4k) of the whole. In return the
//! decision never cancels, and every rule, thread count, sink and checkpoint works as for any proposal. The
//! likelihood evaluations of a [`Decision`](crate::rule::Decision) do not count gradients: [`Hamiltonian::gradients`] does.
//!
//! Not for tall data where a subsampled step would do: it reads everything k times. Use it for ground truths, for posteriors
//! with strong correlations, and where a random walk needs too many steps. With a kink in the density (a Laplace prior)
//! it stays exact but accepts less. Do not combine with a subsampled rule and expect savings: the gradient is the cost.

use std::ops::RangeInclusive;

use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, setting};
use crate::model::LogDensity;
use crate::proposal::{Proposal, Proposed, RandomWalk};
use crate::rng::Rng;

/// The step length is kept within these while it is learnt.
const SHORTEST: f64 = 1e-12;
const LONGEST: f64 = 1e12;
/// Smallest and largest size of a random-walk step, in units of the shape: walls of a slope up to 10⁴ nats per posterior sd are left within some hundred of them.
const WALKS: (f64, f64) = (1e-4, 1.0);
/// More leapfrog steps than this are a mistake.
const MOST_STEPS: u32 = 1 << 20;

/// How long a leapfrog path is.
///
/// Lengths are in units of the shape: with the posterior covariance as shape, one unit is one posterior standard
/// deviation and a path of about π/2 forgets where it began.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Path {
    /// h: length of one leapfrog step, positive. In d dimensions about 1.3·d^{−1/4} is accepted often enough.
    pub length: f64,
    /// How many leapfrog steps, at least 1: a number drawn from here for every path.
    pub steps: RangeInclusive<u32>,
    /// Each path's h is drawn uniformly from h·(1 ± jitter), in [0, 1): against paths that come back to where they began.
    pub jitter: f64,
    /// Acceptance rate in (0, 1) that warm-up steers h to; `None` leaves h as given.
    pub target: Option<f64>,
}

impl Default for Path {
    /// Paths of one to two and a half units, h learnt for an acceptance of 0.8.
    fn default() -> Self {
        Self { length: 0.25, steps: 4..=10, jitter: 0.2, target: Some(0.8) }
    }
}

impl Path {
    fn check(&self) -> Result<()> {
        if !(self.length > 0.0 && self.length.is_finite()) {
            return Err(setting("leapfrog length", self.length, "a positive finite number"));
        }
        if self.steps.is_empty() || *self.steps.start() == 0 || *self.steps.end() > MOST_STEPS {
            let given = format!("{} to {}", self.steps.start(), self.steps.end());
            return Err(setting("leapfrog steps", given, "a range within 1 to 1,048,576"));
        }
        if !(0.0..1.0).contains(&self.jitter) {
            return Err(setting("jitter of the leapfrog length", self.jitter, "a share from 0, below 1"));
        }
        match self.target {
            Some(target) if !(target > 0.0 && target < 1.0) => {
                Err(setting("target acceptance", target, "a rate above 0 and below 1"))
            }
            _ => Ok(()),
        }
    }
}

/// A state with the density and gradient there.
#[derive(Clone, Debug, Default)]
struct Point {
    /// Empty before the first path.
    state: Vec<f64>,
    gradient: Vec<f64>,
    log_density: f64,
}

impl Point {
    fn evaluate<D: LogDensity>(&mut self, model: &mut D) -> Result<()> {
        self.log_density = model.log_density_gradient(&self.state, &mut self.gradient)?;
        Ok(())
    }

    /// Whether density and gradient can be gone on with: the density is wanted where the path ends.
    fn pass<D: LogDensity>(&mut self, model: &mut D, last: bool) -> Result<bool> {
        self.log_density = 0.0;
        let done = if last { self.evaluate(model) } else { model.gradient(&self.state, &mut self.gradient) };
        match done {
            Ok(()) => Ok(self.log_density.is_finite() && self.gradient.iter().all(|g| g.is_finite())),
            // Out there numbers overflow: no fault of the model's.
            Err(Error::NotANumber { .. } | Error::PriorNotANumber) => Ok(false),
            Err(other) => Err(other),
        }
    }
}

/// Leapfrog paths of one density.
///
/// ```
/// use austerity::Result;
/// use austerity::model::{LogDensity, from_fn};
/// use austerity::proposal::{Hamiltonian, Path, RandomWalk};
/// use austerity::run::{Control, Sampler, Settings, Silent};
///
/// // Exponential waiting times with a sum, a normal prior on their log rate.
/// #[derive(Clone)]
/// struct Density {
///     rows: f64,
///     sum: f64,
/// }
/// impl LogDensity for Density {
///     fn log_density_gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
///         let rate = state[0].exp();
///         gradient[0] = self.rows - rate * self.sum - state[0];
///         Ok(self.rows * state[0] - rate * self.sum - 0.5 * state[0] * state[0])
///     }
/// }
/// let waits: Vec<f64> = (0..400).map(|i| -((f64::from(i) + 0.5) / 400.0).ln() / 3.0).collect();
/// let prior = |state: &[f64]| -0.5 * state[0] * state[0];
/// let model = from_fn(400, 1, prior, |state: &[f64], row| state[0] - state[0].exp() * waits[row])?;
/// let density = Density { rows: 400.0, sum: waits.iter().sum() };
/// let shape = RandomWalk::isotropic(1, 0.05)?;
/// let paths = Hamiltonian::new(density, &shape, Path::default())?;
/// let settings = Settings { warmup: 100, draws: 200, ..Settings::default() };
/// let run = Sampler::new(&model, &settings, &paths, &[vec![1.0]])?.run(&Control::new(), &mut Silent);
/// assert!(run.counters().acceptance() > 0.5);
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Hamiltonian<D> {
    density: D,
    shape: RandomWalk,
    path: Path,
    /// Whether steps are those of a rotation.
    rotating: bool,
    /// Share of random-walk steps, and whether the last candidate was one.
    walks: f64,
    walked: bool,
    start: Point,
    end: Point,
    momentum: Vec<f64>,
    /// min(1, e^{H−H'}) of the last path.
    acceptance: f64,
    gradients: u64,
    lost: u64,
}

impl<D: LogDensity> Hamiltonian<D> {
    /// Paths over `density`, such as a reference to a model, whose covariance is about that of `shape`: isotropic, diagonal or dense, from a
    /// mode or from a walk that learnt it.
    pub fn new(density: D, shape: &RandomWalk, path: Path) -> Result<Self> {
        path.check()?;
        let dimension = shape.dimension();
        Ok(Self {
            density,
            shape: shape.clone(),
            path,
            rotating: false,
            walks: 0.0,
            walked: false,
            start: Point::default(),
            end: Point::default(),
            momentum: vec![0.0; dimension],
            acceptance: 0.0,
            gradients: 0,
            lost: 0,
        })
    }

    /// These paths with steps that rotate: exact where the density is normal with the covariance of the shape. Lengths are angles then, below π, and are not learnt.
    pub fn rotating(mut self) -> Result<Self> {
        let longest = self.path.length * (1.0 + self.path.jitter);
        if longest >= std::f64::consts::PI {
            return Err(setting("longest rotation of a step", longest, "an angle below π"));
        }
        if let Some(target) = self.path.target {
            return Err(setting("target acceptance of rotating paths", target, "none: give the angle"));
        }
        self.rotating = true;
        Ok(self)
    }

    /// The same with a `share` in [0, 1) of random-walk steps, which cost no gradient.
    pub fn with_walks(mut self, share: f64) -> Result<Self> {
        if !(0.0..1.0).contains(&share) {
            return Err(setting("share of random-walk steps", share, "from 0, below 1"));
        }
        self.walks = share;
        Ok(self)
    }

    /// A random-walk step: `end` is not known there.
    fn walk(&mut self, from: &[f64], to: &mut Vec<f64>, rng: &mut Rng) -> Proposed {
        let (smallest, largest) = WALKS;
        let size = smallest * (largest / smallest).powf(rng.random());
        for z in &mut self.momentum {
            *z = rng.sample(StandardNormal);
        }
        to.clear();
        to.extend_from_slice(from);
        self.shape.shape().add(size, &self.momentum, to);
        0.0.into()
    }

    /// min(1, e^{H−H'}) of the last path: the probability that an exact decision accepts it.
    #[must_use]
    pub fn last_acceptance(&self) -> f64 {
        self.acceptance
    }

    /// The path as learnt so far: plain data that a checkpoint file can keep, see
    /// [`Checkpoint::map`](crate::run::Checkpoint::map).
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Gradients evaluated so far: so many passes over all the data.
    #[must_use]
    pub fn gradients(&self) -> u64 {
        self.gradients
    }

    /// Paths that ended where density or gradient are not finite. After warm-up there should be few.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.lost
    }

    /// Brings `start` to `from`, with as little work as possible.
    fn begin(&mut self, from: &[f64]) -> Result<()> {
        if from.len() != self.shape.dimension() {
            return Err(Error::Dimension {
                what: "state under Hamiltonian paths".into(),
                expected: self.shape.dimension(),
                found: from.len(),
            });
        }
        if self.end.state == from {
            std::mem::swap(&mut self.start, &mut self.end);
        } else if self.start.state != from {
            let mut fresh = Point { state: from.to_vec(), gradient: vec![0.0; from.len()], log_density: 0.0 };
            self.gradients += 1;
            fresh.evaluate(&mut self.density)?;
            self.start = fresh;
        }
        Ok(())
    }

    /// Moves `end` and the momentum along the leapfrog path. False when the path is lost.
    fn follow(&mut self, length: f64, steps: u32) -> Result<bool> {
        let shape = self.shape.shape();
        let (kick, drift) =
            if self.rotating { ((0.5 * length).tan(), length.sin()) } else { (0.5 * length, length) };
        shape.add_transposed(kick, &self.end.gradient, &mut self.momentum);
        for step in 1..=steps {
            shape.add(drift, &self.momentum, &mut self.end.state);
            if !self.end.state.iter().all(|value| value.is_finite()) {
                return Ok(false);
            }
            self.gradients += 1;
            if !self.end.pass(&mut self.density, step == steps)? {
                return Ok(false);
            }
            let part = if step < steps { 2.0 } else { 1.0 };
            shape.add_transposed(part * kick, &self.end.gradient, &mut self.momentum);
        }
        Ok(true)
    }

    /// |z|²/2.
    fn kinetic(&self) -> f64 {
        0.5 * self.momentum.iter().map(|z| z * z).sum::<f64>()
    }
}

impl<D: LogDensity> Proposal<Vec<f64>> for Hamiltonian<D> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.walked = self.walks > 0.0 && rng.random::<f64>() < self.walks;
        if self.walked {
            return Ok(self.walk(from, to, rng));
        }
        self.begin(from)?;
        let length = self.path.length * (1.0 + self.path.jitter * rng.random_range(-1.0..1.0));
        let steps = rng.random_range(self.path.steps.clone());
        for z in &mut self.momentum {
            *z = rng.sample(StandardNormal);
        }
        self.end.state.clone_from(&self.start.state);
        self.end.gradient.clone_from(&self.start.gradient);
        let before = self.kinetic();
        let arrived = self.follow(length, steps).inspect_err(|_| self.end.state.clear())?;
        let ratio = before - self.kinetic();
        if !(arrived && ratio.is_finite()) {
            self.lost += 1;
            self.acceptance = 0.0;
            self.end.state.clear();
            to.clone_from(from);
            return Ok(f64::NEG_INFINITY.into());
        }
        to.clone_from(&self.end.state);
        self.acceptance = (self.end.log_density - self.start.log_density + ratio).exp().min(1.0);
        Ok(Proposed { log_prior: D::PRIOR.then_some(self.end.log_density), ..ratio.into() })
    }

    fn learn(&mut self, _accepted: bool, step: u64) {
        if let (Some(target), false) = (self.path.target, self.walked) {
            let rate = (step.max(1) as f64).powf(-2.0 / 3.0);
            let length = self.path.length * (rate * (self.acceptance - target)).exp();
            self.path.length = length.clamp(SHORTEST, LONGEST);
        }
    }
}

#[cfg(test)]
mod tests;
