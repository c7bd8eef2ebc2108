//! Independent draws around the mode: θ' = θ̂ + L·z·√(ν/w), z standard normal, w ~ χ²_ν, L Lᵀ the covariance there.
//!
//! A multivariate Student t with the Laplace approximation's location and scale. The candidate does not depend on the state, so
//! log q(θ) − log q(θ') = (ν+d)/2 · (log(1 + r'²/ν) − log(1 + r²/ν)), r² = |L⁻¹(θ − θ̂)|², enters the decision (Tierney
//! 1994, independence chains). On tall data the posterior is close to normal and nearly every candidate is taken: a draw is worth
//! tens of steps of a random walk. ν = max(8, 2d) keeps the tails heavier than a normal posterior's without
//! losing candidates in many dimensions.
//!
//! Cost: d normals, one χ², d² multiplications. Do not use alone where the posterior may have tails heavier than its own (rare
//! features, heavy priors): a chain can then stay long in a tail. Mixed with a random walk it leaves.

use rand::RngExt as _;
use rand_distr::{ChiSquared, Distribution as _, StandardNormal};
use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::proposal::random_walk::factor_of;
use crate::proposal::{Proposal, Proposed};
use crate::rng::Rng;

/// Smallest degrees of freedom.
const FREEDOM: f64 = 8.0;

/// Independent multivariate Student-t draws.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Laplace {
    mode: Vec<f64>,
    /// L, packed row by row.
    factor: Vec<f64>,
    freedom: f64,
    /// Working memory.
    #[serde(skip)]
    noise: Vec<f64>,
}

impl Laplace {
    /// Draws around `mode` with the d × d `covariance` given row by row.
    pub fn new(mode: &[f64], covariance: &[f64]) -> Result<Self> {
        if let Some(&value) = mode.iter().find(|value| !value.is_finite()) {
            return Err(setting("centre of the Laplace proposal", value, "finite numbers"));
        }
        let factor = factor_of(mode.len(), covariance)?;
        let freedom = FREEDOM.max(2.0 * mode.len() as f64);
        Ok(Self { mode: mode.to_vec(), factor, freedom, noise: vec![0.0; mode.len()] })
    }

    /// log q up to a constant: −(ν+d)/2 · log(1 + r²/ν).
    fn log_density(&mut self, state: &[f64]) -> f64 {
        self.noise.resize(self.mode.len(), 0.0);
        let (mut square, mut row) = (0.0, 0);
        for (i, (state, mode)) in state.iter().zip(&self.mode).enumerate() {
            let solved: f64 = (0..i).map(|j| self.factor[row + j] * self.noise[j]).sum();
            let value = (state - mode - solved) / self.factor[row + i];
            self.noise[i] = value;
            square += value * value;
            row += i + 1;
        }
        -0.5 * (self.freedom + self.mode.len() as f64) * (square / self.freedom).ln_1p()
    }
}

impl Proposal<Vec<f64>> for Laplace {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let dimension = self.mode.len();
        self.noise.resize(dimension, 0.0);
        for value in &mut self.noise {
            *value = rng.sample(StandardNormal);
        }
        let chi: f64 = ChiSquared::new(self.freedom)
            .map_err(|_| setting("degrees of freedom of the Laplace proposal", self.freedom, "positive"))?
            .sample(rng);
        let stretch = (self.freedom / chi).sqrt();
        to.resize(dimension, 0.0);
        let mut row = 0;
        for (i, to) in to.iter_mut().enumerate() {
            let sum: f64 = (0..=i).map(|j| self.factor[row + j] * self.noise[j]).sum();
            *to = self.mode[i] + stretch * sum;
            row += i + 1;
        }
        Ok((self.log_density(from) - self.log_density(to)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Role, stream};

    /// Mean and covariance of many draws: that of a t is ν/(ν−2) times its scale. 20,000 draws, bounds of 5 standard errors
    /// (false alarm below 1e-5).
    #[test]
    fn draws_have_the_moments_of_a_student_t() {
        let covariance = [4.0, 1.2, 1.2, 1.0];
        let mut proposal = Laplace::new(&[1.0, -2.0], &covariance).unwrap();
        let mut rng = stream(3, 0, Role::Proposal);
        let (from, mut to) = (vec![0.5, 0.5], vec![0.0; 2]);
        let draws = 20_000;
        let (mut sum, mut squares) = ([0.0; 2], [0.0; 3]);
        for _ in 0..draws {
            proposal.propose(&from, &mut to, &mut rng).unwrap();
            let d = [to[0] - 1.0, to[1] + 2.0];
            (sum[0], sum[1]) = (sum[0] + d[0], sum[1] + d[1]);
            squares = [squares[0] + d[0] * d[0], squares[1] + d[0] * d[1], squares[2] + d[1] * d[1]];
        }
        let n = f64::from(draws);
        let inflation = 8.0 / 6.0;
        assert!((sum[0] / n).abs() < 5.0 * (4.0 * inflation / n).sqrt(), "{sum:?}");
        for (found, wanted) in squares.iter().zip([4.0, 1.2, 1.0]) {
            assert!((found / n / (wanted * inflation) - 1.0).abs() < 0.1, "{squares:?}");
        }
    }

    #[test]
    fn the_ratio_is_that_of_the_densities_and_turns_around() {
        let covariance = [4.0, 1.2, 1.2, 1.0];
        let mut proposal = Laplace::new(&[1.0, -2.0], &covariance).unwrap();
        let mut rng = stream(3, 0, Role::Proposal);
        let (from, mut to) = (vec![0.5, 0.5], vec![0.0; 2]);
        let ratio = proposal.propose(&from, &mut to, &mut rng).unwrap().log_ratio;
        // By hand: the inverse of the covariance is [1, −1.2; −1.2, 4]/(4 − 1.44).
        let density = |x: &[f64]| {
            let (a, b) = (x[0] - 1.0, x[1] + 2.0);
            let square = (a * a - 2.4 * a * b + 4.0 * b * b) / 2.56;
            -5.0 * (square / 8.0).ln_1p()
        };
        assert!((ratio - (density(&from) - density(&to))).abs() < 1e-12);
        assert!(Laplace::new(&[f64::NAN], &[1.0]).is_err());
        assert!(Laplace::new(&[0.0], &[-1.0]).is_err());
    }
}
