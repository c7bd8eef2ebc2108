//! The paper's toy: one coefficient, Gaussian noise, an L1 prior, and a posterior in closed form.
//!
//! y_i ~ N(θ x_i, 1/λ), prior ∝ exp(−λ₀|θ|). With A = λΣx² and B = λΣxy the posterior is
//!
//! ```text
//! log p(θ|x, y) = −½Aθ² + Bθ − λ₀|θ| + constant          mode = sign(B)·max(|B| − λ₀, 0)/A
//! ```
//!
//! two Gaussians of variance 1/A, with means (B ∓ λ₀)/A, cut at 0 and joined. [`Lasso::posterior`] gives its
//! density, moments and quantiles, so that a chain can be held to the truth.
//!
//! Korattikara, Chen & Welling (2014), §6.4, where Langevin moves fall into the steep side of the kink:
//! [`Lasso::toy`] has N = 10,000, slope .5, x uniform on (−1, 1), noise of *variance* 1/3, λ = 3, λ₀ = 4950, mode
//! about .005 and posterior sd about .01. (The paper leaves the law of x open; only a mean square of 1/3 gives its picture.)
//! Rows are read at every decision although sums would do: it is a toy to test rules on; for real
//! problems of this kind take [`austerity_glm::Linear`] with Laplace priors. Cost: two multiply-adds per row.

mod posterior;

use std::ops::Range;

use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use austerity::error::{Error, Result, setting};
use austerity::model::{Access, Curvature, Gradient, Model, Parameters, fingerprint};
use austerity::model::{check_rows, check_state, storage_order};
use austerity::population::{Batch, Moments, Population, merge_checked, relocated};
use austerity::rng::{Role, stream};
use austerity_glm::Prior;
use austerity_glm::data::check_finite;
use austerity_glm::gradients::{At, BatchGradient, check_request};

pub use posterior::LassoPosterior;

/// Regression of y on one x without intercept, under an L1 prior. A state is `[θ]`.
#[derive(Clone, Debug)]
pub struct Lasso {
    /// (x, y) in storage order.
    rows: Vec<(f64, f64)>,
    order: Vec<u32>,
    precision: f64,
    prior: Prior,
    posterior: LassoPosterior,
}

impl Lasso {
    /// A model of `y` given `x` with noise precision λ and prior rate λ₀.
    pub fn new(x: &[f64], y: &[f64], precision: f64, rate: f64) -> Result<Self> {
        if x.len() != y.len() {
            return Err(Error::Dimension { what: "y".into(), expected: x.len(), found: y.len() });
        }
        check_rows(x.len())?;
        check_finite("x", x)?;
        check_finite("y", y)?;
        for (name, value) in [("precision", precision), ("prior rate", rate)] {
            if !(value > 0.0 && value.is_finite()) {
                return Err(setting(name, value, "a positive finite number"));
            }
        }
        let squares: f64 = x.iter().map(|x| x * x).sum();
        if squares == 0.0 {
            return Err(Error::ConstantColumn { column: "x".into(), value: 0.0 });
        }
        let products: f64 = x.iter().zip(y).map(|(x, y)| x * y).sum();
        let order = storage_order(x.len(), Some(0));
        Ok(Self {
            rows: order.iter().map(|&i| (x[i as usize], y[i as usize])).collect(),
            order,
            precision,
            prior: Prior::laplace(1.0 / rate),
            posterior: LassoPosterior::new(precision * squares, precision * products, rate),
        })
    }

    /// The paper's data. Two data sets in three have a positive mode; others are redrawn, always alike for a seed.
    pub fn toy(seed: u64) -> Result<Self> {
        let mut attempt = 0;
        loop {
            let mut rng = stream(seed, attempt, Role::Data);
            let (mut x, mut y) = (Vec::new(), Vec::new());
            for _ in 0..10_000 {
                let value = rng.random_range(-1.0..1.0);
                let noise: f64 = StandardNormal.sample(&mut rng);
                x.push(value);
                y.push(0.5 * value + noise * (1.0f64 / 3.0).sqrt());
            }
            let model = Self::new(&x, &y, 3.0, 4950.0)?;
            if model.posterior.mode() > 0.0 {
                return Ok(model);
            }
            attempt += 1;
        }
    }

    /// The posterior in closed form.
    #[must_use]
    pub fn posterior(&self) -> &LassoPosterior {
        &self.posterior
    }
}

/// The differences λδ(r − δ/2), with r = y − θx and δ = (θ' − θ)x.
#[derive(Debug)]
pub struct LassoRatio<'a> {
    model: &'a Lasso,
    from: &'a [f64],
    to: &'a [f64],
}

/// Rows whose differences are merged at once.
const CHUNK: usize = 64;

impl LassoRatio<'_> {
    fn difference(&self, (x, y): (f64, f64)) -> f64 {
        let change = (self.to[0] - self.from[0]) * x;
        self.model.precision * change * (y - self.from[0] * x - 0.5 * change)
    }
}

impl Population for LassoRatio<'_> {
    fn len(&self) -> usize {
        self.model.rows.len()
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    fn reveal(&mut self, rows: Range<usize>, out: &mut [f64]) -> Result<()> {
        check_state(self.from, 1)?;
        check_state(self.to, 1)?;
        out.iter_mut().zip(&self.model.rows[rows]).for_each(|(out, &row)| *out = self.difference(row));
        Ok(())
    }

    /// Merges many rows at once even where blocks are single rows, as the paper draws them.
    fn summarize(&mut self, blocks: &[u32], block_rows: usize, moments: &mut Moments) -> Result<()> {
        check_state(self.from, 1)?;
        check_state(self.to, 1)?;
        let positions = || Batch { blocks, block_rows, population: self.len() }.ranges();
        let (mut buffer, mut filled) = ([0.0; CHUNK], 0);
        let mut merge = |values: &[f64]| {
            merge_checked(values, 0, moments).map_err(|error| {
                let odd = |&position: &usize| {
                    let value = self.difference(self.model.rows[position]);
                    value.is_nan() || value == f64::INFINITY
                };
                let first = positions().flatten().find(odd).unwrap_or(0);
                relocated(error, |_| self.model.original_row(first))
            })
        };
        for range in positions() {
            let mut start = range.start;
            while start < range.end {
                let stop = range.end.min(start + CHUNK - filled);
                let part = &mut buffer[filled..filled + stop - start];
                let rows = &self.model.rows[start..stop];
                part.iter_mut().zip(rows).for_each(|(out, &row)| *out = self.difference(row));
                (filled, start) = (filled + stop - start, stop);
                if filled == CHUNK {
                    merge(&buffer)?;
                    filled = 0;
                }
            }
        }
        if filled > 0 { merge(&buffer[..filled]) } else { Ok(()) }
    }
}

impl Model for Lasso {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a> = LassoRatio<'a>;

    fn len(&self) -> usize {
        self.rows.len()
    }

    fn scratch(&self, _access: Access) {}

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        check_state(state, 1)
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        match state[..] {
            [theta] => self.prior.log_density(theta),
            _ => f64::NAN,
        }
    }

    fn compare<'a>(&'a self, from: &'a Vec<f64>, to: &'a Vec<f64>, _scratch: &'a mut ()) -> LassoRatio<'a> {
        LassoRatio { model: self, from, to }
    }

    fn data_bytes(&self) -> usize {
        size_of_val(self.rows.as_slice()) + size_of_val(self.order.as_slice())
    }

    fn fingerprint(&self) -> u64 {
        let numbers = self.rows.iter().flat_map(|(x, y)| [*x, *y]);
        let numbers = numbers.chain([self.precision, self.prior.log_density(1.0)]);
        fingerprint(numbers.flat_map(|v| [v.to_bits() as u32, (v.to_bits() >> 32) as u32]))
    }

    fn original_row(&self, position: usize) -> usize {
        self.order[position] as usize
    }
}

impl Parameters for Lasso {
    fn names(&self) -> Vec<String> {
        vec!["slope".into()]
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        out.copy_from_slice(state);
    }
}

impl Gradient for Lasso {
    /// At the kink θ = 0 the prior's subgradient 0 is taken.
    fn log_density_gradient(&self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        check_state(state, 1)?;
        let (a, b) = (self.posterior.curvature, self.posterior.slope);
        let theta = state[0];
        gradient[0] = b - a * theta + self.prior.derivatives(theta).0;
        Ok(theta * (b - 0.5 * a * theta) + self.log_prior(state))
    }
}

impl BatchGradient for Lasso {
    type Workspace = ();

    fn dimension(&self) -> usize {
        1
    }

    /// Σ λx(y − θx).
    fn add_gradient(&self, at: At<'_>, _workspace: &mut (), gradient: &mut [f64]) -> Result<()> {
        check_request(self, at, gradient)?;
        let rows = at.batch.ranges().flat_map(|range| &self.rows[range]);
        gradient[0] += self.precision * rows.map(|(x, y)| x * (y - at.state[0] * x)).sum::<f64>();
        Ok(())
    }

    fn add_prior_gradient(&self, state: &[f64], (): &mut (), gradient: &mut [f64]) -> Result<()> {
        gradient[0] += self.prior.derivatives(state[0]).0;
        Ok(())
    }
}

impl Curvature for Lasso {
    fn hessian(&self, state: &Vec<f64>, gradient: &mut [f64], hessian: &mut [f64]) -> Result<f64> {
        hessian[0] = -self.posterior.curvature;
        self.log_density_gradient(state, gradient)
    }
}

#[cfg(test)]
mod tests;
