//! Gaussian linear regression, decided exactly from sufficient statistics.
//!
//! y_i = x_i·θ + offset_i + σ·noise, with σ known or as the last coordinate log σ of the state. The sum of all
//! log-likelihood differences needs no row at all. With RSS(θ) = Σ w_i (y_i − offset_i − x_i·θ)² and W = Σ w_i,
//!
//! ```text
//! Σ l_i = −W·Δs − ½ [RSS(θ')/σ'² − RSS(θ)/σ²]                                    Δs = log σ' − log σ
//! RSS(θ') − RSS(θ) = (θ'−θ)'[G(θ'+θ−2θ̂) − 2g]      RSS(θ) = RSS(θ̂) + (θ−θ̂)'[G(θ−θ̂) − 2g]
//! ```
//!
//! with G = X'WX and g = X'W(y − Xθ̂), which is 0 but for rounding at the least-squares solution θ̂. The two
//! identities hold for *any* θ̂, so that rank-deficient columns do no harm (θ̂ is then a pseudo-solution, Golub &
//! Van Loan 2013, §5.5). Everything is kept in centred and scaled columns, so that large column means do not
//! cancel, and differences of RSS are never formed by subtraction.
//!
//! Exact. Cost: N·d² once, then d² per decision; no row is read. Rows are kept beside the statistics, 8 bytes
//! per value, for the sampled form l_i (tests, teaching, comparisons); [`Linear::summarized`] does without.
//! Not for heavy-tailed noise, which the Student-t model is for.

mod gradient;
mod ratio;
mod statistics;

use crate::store::LinearSums;
use crate::{CheckedData, Prior, Priors, ResponseKind, Store, WithPriors};
use austerity::dot::dot;
use austerity::error::{Result, setting};
use austerity::model::check_state;
use austerity::model::{Access, Curvature, Gradient, Model, Parameters, fingerprint};
use ratio::{Rows, no_rows};
use statistics::Statistics;

pub use gradient::LinearWorkspace;
pub use ratio::LinearRatio;

/// The standard deviation of the noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Known.
    Known {
        /// Standard deviation.
        sd: f64,
    },
    /// Unknown: the state ends with log σ.
    Unknown {
        /// Prior of σ, such as half-normal or half-Student; any other is a prior of the coordinate log σ.
        prior: Prior,
    },
}

impl Default for Noise {
    /// Unknown with a weak prior: σ is log-normal, its logarithm with sd 10, which lets σ range over e^±20.
    fn default() -> Self {
        Self::Unknown { prior: Prior::LogNormal { mean: 0.0, sd: 10.0 } }
    }
}

/// Gaussian linear regression. A state is `[intercept?, coefficients…, log σ?]` on the scale of the columns.
#[derive(Clone, Debug)]
pub struct Linear {
    names: Vec<String>,
    /// Of the coefficients, then that of log σ where it is unknown.
    priors: Priors,
    coefficients: usize,
    noise: Noise,
    intercept: bool,
    shift: Vec<f64>,
    scale: Vec<f64>,
    statistics: Statistics,
    rows: Option<Rows>,
    by_rows: bool,
}

impl Linear {
    /// A model with one prior per coefficient (the intercept first). Keeps the rows.
    pub fn new(data: &CheckedData, priors: impl Into<Priors>, noise: Noise) -> Result<Self> {
        let mut model = Self::summarized(data, priors, noise)?;
        model.rows = Some(Rows::new(data, model.statistics.level));
        Ok(model)
    }

    /// As [`Linear::new`], keeping no row: the exact rule works, a rule that samples gets an error.
    pub fn summarized(data: &CheckedData, priors: impl Into<Priors>, noise: Noise) -> Result<Self> {
        let coefficients = data.coefficients();
        let priors = all_priors(coefficients, priors.into(), noise)?;
        Ok(Self {
            names: data.coefficient_names(),
            priors,
            coefficients,
            noise,
            intercept: data.intercept,
            shift: data.shift.clone(),
            scale: data.scale.clone(),
            statistics: Statistics::new(data),
            rows: None,
            by_rows: false,
        })
    }

    /// As [`Linear::new`], of rows that are stored already: they are read once for the statistics, in f64, and stay
    /// where they are. Exact up to the rounding of the columns to f32.
    pub fn from_store(store: &Store, priors: impl Into<Priors>, noise: Noise) -> Result<Self> {
        let coefficients = store.coefficients();
        let priors = all_priors(coefficients, priors.into(), noise)?;
        store.check_kind("linear", ResponseKind::Real)?;
        let columns = &store.description().columns;
        Ok(Self {
            names: store.coefficient_names(),
            priors,
            coefficients,
            noise,
            intercept: store.description().intercept,
            shift: columns.iter().map(|column| column.transform.shift).collect(),
            scale: columns.iter().map(|column| column.transform.scale).collect(),
            statistics: match store.beyond().and_then(|beyond| beyond.linear.as_ref()) {
                Some(sums) => Statistics::of_sums(sums, store.description().response_shift),
                None => Statistics::of_store(store),
            },
            rows: Some(Rows::Stored(store.clone())),
            by_rows: false,
        })
    }

    /// The sums over stored rows that a model consists of; those of several parts add up.
    #[must_use]
    pub fn sums_of(store: &Store) -> LinearSums {
        Statistics::sums_of(store)
    }

    /// Makes `total()` scan the rows instead of using the statistics: for tests and comparisons.
    pub fn by_rows(mut self) -> Result<Self> {
        if self.rows.is_none() {
            return Err(no_rows());
        }
        self.by_rows = true;
        Ok(self)
    }

    /// Length of a state.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.priors.len()
    }

    fn log_sigma(&self, state: &[f64]) -> f64 {
        match self.noise {
            Noise::Known { sd } => sd.ln(),
            Noise::Unknown { .. } => state[self.coefficients],
        }
    }

    /// θ → φ, linear in θ: constant = θ₀ + Σ θ_j shift_j, others θ_j·scale_j.
    fn to_scaled(&self, coefficient: impl Fn(usize) -> f64, out: &mut [f64]) {
        let first = usize::from(self.intercept);
        out[0] = if self.intercept { coefficient(0) } else { 0.0 };
        for (j, (shift, scale)) in self.shift.iter().zip(&self.scale).enumerate() {
            let value = coefficient(first + j);
            out[0] += value * shift;
            out[j + 1] = value * scale;
        }
    }

    /// Gradient with respect to φ → gradient with respect to θ.
    fn pull_back(&self, scaled: &[f64], out: &mut [f64]) {
        let first = usize::from(self.intercept);
        if self.intercept {
            out[0] = scaled[0];
        }
        for (j, (shift, scale)) in self.shift.iter().zip(&self.scale).enumerate() {
            out[first + j] = scale * scaled[j + 1] + shift * scaled[0];
        }
    }

    /// Log-likelihood at `state` up to a constant, and what its derivatives need.
    fn evaluate(&self, state: &[f64]) -> (f64, Vec<f64>, f64, f64) {
        let k = self.statistics.centre.len();
        let mut away = vec![0.0; k];
        self.to_scaled(|j| state[j], &mut away);
        away[0] -= self.statistics.level;
        away.iter_mut().zip(&self.statistics.centre).for_each(|(a, c)| *a -= c);
        let precision = (-2.0 * self.log_sigma(state)).exp();
        let residual = self.statistics.residual(&away) * precision;
        let value = -self.statistics.weight * self.log_sigma(state) - 0.5 * residual;
        let scaled = (0..k)
            .map(|i| precision * (self.statistics.slope[i] - dot(self.statistics.gram_row(i), &away)))
            .collect();
        (value, scaled, precision, residual)
    }
}

/// The priors of a state; refuses what makes none.
fn all_priors(coefficients: usize, priors: Priors, noise: Noise) -> Result<Priors> {
    priors.check(coefficients)?;
    let priors = match noise {
        Noise::Known { sd } if !(sd > 0.0 && sd.is_finite()) => {
            return Err(setting("noise sd", sd, "a positive finite number"));
        }
        Noise::Known { .. } => priors,
        Noise::Unknown { prior } => priors.and(prior),
    };
    priors.iter().try_for_each(Prior::check)?;
    Ok(priors)
}

/// Working memory of one chain: the current point and the step in scaled coordinates.
#[derive(Clone, Debug)]
pub struct LinearScratch {
    point: Vec<f64>,
    step: Vec<f64>,
    away: Vec<f64>,
}

impl Model for Linear {
    type State = Vec<f64>;
    type Scratch = LinearScratch;
    type Ratio<'a> = LinearRatio<'a>;

    fn len(&self) -> usize {
        self.statistics.rows
    }

    fn scratch(&self, _access: Access) -> LinearScratch {
        let zeros = vec![0.0; self.statistics.centre.len()];
        LinearScratch { point: zeros.clone(), step: zeros.clone(), away: zeros }
    }

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        check_state(state, self.dimension())
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        if state.len() != self.dimension() {
            return f64::NAN;
        }
        self.priors.log_density(state)
    }

    fn compare<'a>(
        &'a self,
        from: &'a Vec<f64>,
        to: &'a Vec<f64>,
        scratch: &'a mut LinearScratch,
    ) -> LinearRatio<'a> {
        let dimension = self.dimension();
        let fits = check_state(from, dimension).and_then(|()| check_state(to, dimension));
        let (mut old, mut new) = (0.0, 0.0);
        if fits.is_ok() {
            self.to_scaled(|j| from[j], &mut scratch.point);
            scratch.point[0] -= self.statistics.level;
            for ((away, point), centre) in
                scratch.away.iter_mut().zip(&scratch.point).zip(&self.statistics.centre)
            {
                *away = point - centre;
            }
            self.to_scaled(|j| to[j] - from[j], &mut scratch.step);
            (old, new) = (self.log_sigma(from), self.log_sigma(to));
        }
        LinearRatio {
            model: self,
            point: &scratch.point,
            step: &scratch.step,
            away: &scratch.away,
            fits,
            rise: new - old,
            inverse: ((-old).exp(), (-new).exp()),
        }
    }

    fn data_bytes(&self) -> usize {
        self.rows.as_ref().map_or(0, Rows::bytes)
    }

    fn fingerprint(&self) -> u64 {
        let parts = format!("{:?} {:?} {:?} {:?}", self.names, self.priors, self.noise, self.statistics);
        fingerprint(parts.bytes().map(u32::from))
    }

    fn original_row(&self, position: usize) -> usize {
        self.rows.as_ref().map_or(position, |rows| rows.original(position))
    }
}

impl WithPriors for Linear {
    fn priors(&self) -> &Priors {
        &self.priors
    }

    fn with_priors(&self, priors: Priors) -> Result<Self> {
        priors.check(self.dimension())?;
        let noise = match (self.noise, priors.last()) {
            (Noise::Unknown { .. }, Some(&prior)) => Noise::Unknown { prior },
            (noise, _) => noise,
        };
        Ok(Self { priors, noise, ..self.clone() })
    }
}

impl Parameters for Linear {
    fn names(&self) -> Vec<String> {
        let mut names = self.names.clone();
        if matches!(self.noise, Noise::Unknown { .. }) {
            names.push("sigma".into());
        }
        names
    }

    /// The coefficients, then σ itself (the state holds its logarithm).
    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        out.copy_from_slice(state);
        if let Noise::Unknown { .. } = self.noise {
            out[self.coefficients] = self.log_sigma(state).exp();
        }
    }
}

impl Gradient for Linear {
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        check_state(state, self.dimension())?;
        let (value, scaled, _, residual) = self.evaluate(state);
        self.pull_back(&scaled, gradient);
        if let Noise::Unknown { .. } = self.noise {
            gradient[self.coefficients] = residual - self.statistics.weight;
        }
        self.priors.add_gradient(state, gradient);
        Ok(value + self.log_prior(state))
    }
}

impl Curvature for Linear {
    fn hessian(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64> {
        let value = self.log_density_gradient(state, gradient)?;
        let (_, scaled, precision, residual) = self.evaluate(state);
        let (k, d, p) = (self.statistics.centre.len(), self.dimension(), self.coefficients);
        // −J'GJ/σ²: pull back the rows, then the columns.
        let mut half = vec![0.0; k * p];
        for (i, out) in half.chunks_exact_mut(p.max(1)).enumerate() {
            self.pull_back(self.statistics.gram_row(i), out);
        }
        let (mut column, mut pulled) = (vec![0.0; k], vec![0.0; p]);
        hessian.fill(0.0);
        for j in 0..p {
            column.iter_mut().enumerate().for_each(|(i, c)| *c = -precision * half[i * p + j]);
            self.pull_back(&column, &mut pulled);
            for (i, value) in pulled.iter().enumerate() {
                hessian[i * d + j] = *value;
            }
        }
        if let Noise::Unknown { .. } = self.noise {
            self.pull_back(&scaled, &mut pulled);
            for (j, slope) in pulled.iter().enumerate() {
                hessian[p * d + j] = -2.0 * slope;
                hessian[j * d + p] = -2.0 * slope;
            }
            hessian[p * d + p] = -2.0 * residual;
        }
        self.priors.add_hessian(state, hessian, |second| second);
        Ok(value)
    }
}

#[cfg(test)]
mod tests;
