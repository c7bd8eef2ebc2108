//! Gaussian random walk: θ' = θ + L·z, z standard normal.
//!
//! Symmetric, so the log proposal ratio is 0. With L Lᵀ = (2.38²/d)·Σ, Σ the posterior covariance, it accepts
//! about a quarter of its candidates in many dimensions (Roberts, Gelman & Gilks 1997). Cost: d normals, and
//! d²/2 multiplications for a dense shape. Mixes in O(d) steps at best: prefer gradients for large d.

use nalgebra::DMatrix;
use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::dot::dot;
use crate::error::{Error, Result, setting};
use crate::proposal::{Proposal, Proposed};
use crate::rng::Rng;

/// The shape of a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// The same standard deviation in every coordinate.
    Isotropic {
        /// Standard deviation of a step.
        sd: f64,
    },
    /// One standard deviation per coordinate.
    Diagonal {
        /// Standard deviations.
        sd: Vec<f64>,
    },
    /// A lower-triangular factor L, packed row by row (1 + 2 + … + d numbers).
    Dense {
        /// The factor.
        factor: Vec<f64>,
    },
}

impl Shape {
    /// `to` += `length`·L·`vector`, L the factor of the covariance.
    pub(super) fn add(&self, length: f64, vector: &[f64], to: &mut [f64]) {
        match self {
            Self::Isotropic { sd } => {
                for (t, v) in to.iter_mut().zip(vector) {
                    *t += length * sd * v;
                }
            }
            Self::Diagonal { sd } => {
                for ((t, v), s) in to.iter_mut().zip(vector).zip(sd) {
                    *t += length * s * v;
                }
            }
            Self::Dense { factor } => {
                let mut rest = &factor[..];
                for (i, t) in to.iter_mut().enumerate() {
                    let (row, tail) = rest.split_at(i + 1);
                    rest = tail;
                    *t += length * dot(row, vector);
                }
            }
        }
    }

    /// `to` += `length`·Lᵀ·`vector`.
    pub(super) fn add_transposed(&self, length: f64, vector: &[f64], to: &mut [f64]) {
        let Self::Dense { factor } = self else {
            return self.add(length, vector, to);
        };
        let mut rest = &factor[..];
        for (i, v) in vector.iter().enumerate() {
            let (row, tail) = rest.split_at(i + 1);
            rest = tail;
            for (t, l) in to.iter_mut().zip(row) {
                *t += length * v * l;
            }
        }
    }
}

/// A Gaussian random walk on vectors of one length.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RandomWalk {
    dimension: usize,
    shape: Shape,
    /// The last standard normal draw, kept for those who learn from it and to avoid allocation.
    #[serde(skip)]
    pub(super) noise: Vec<f64>,
}

impl RandomWalk {
    /// Steps of standard deviation `sd` in each of `dimension` coordinates.
    pub fn isotropic(dimension: usize, sd: f64) -> Result<Self> {
        positive(sd)?;
        Ok(Self::of(dimension, Shape::Isotropic { sd }))
    }

    /// Steps with one standard deviation per coordinate.
    pub fn diagonal(sd: Vec<f64>) -> Result<Self> {
        sd.iter().try_for_each(|&s| positive(s))?;
        Ok(Self::of(sd.len(), Shape::Diagonal { sd }))
    }

    /// Steps with the d × d covariance given row by row, which must be positive definite.
    pub fn dense(dimension: usize, covariance: &[f64]) -> Result<Self> {
        Ok(Self::of(dimension, Shape::Dense { factor: factor_of(dimension, covariance)? }))
    }

    /// Steps with covariance (2.38²/d)·`covariance`, the classical choice for a posterior of that covariance.
    pub fn for_posterior(dimension: usize, covariance: &[f64]) -> Result<Self> {
        let factor = 2.38 * 2.38 / dimension as f64;
        let scaled: Vec<f64> = covariance.iter().map(|c| c * factor).collect();
        Self::dense(dimension, &scaled)
    }

    pub(super) fn of(dimension: usize, shape: Shape) -> Self {
        Self { dimension, shape, noise: vec![0.0; dimension] }
    }

    /// Length of the states it moves.
    #[must_use]
    pub fn dimension(&self) -> usize {
        self.dimension
    }

    /// The shape of its steps.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    pub(super) fn shape_mut(&mut self) -> &mut Shape {
        &mut self.shape
    }
}

fn positive(sd: f64) -> Result<()> {
    if sd > 0.0 && sd.is_finite() { Ok(()) } else { Err(setting("step sd", sd, "a positive finite number")) }
}

/// The packed factor L of the d × d covariance L·Lᵀ, given row by row, which must be positive definite.
pub fn factor_of(dimension: usize, covariance: &[f64]) -> Result<Vec<f64>> {
    if covariance.len() != dimension * dimension {
        return Err(Error::Dimension {
            what: "covariance of the proposal".into(),
            expected: dimension * dimension,
            found: covariance.len(),
        });
    }
    let matrix = DMatrix::from_row_slice(dimension, dimension, covariance);
    let not_definite = || Error::NotPositiveDefinite {
        what: "the covariance of the proposal".into(),
        remedy: "give a symmetric matrix with positive eigenvalues".into(),
    };
    let largest = matrix.amax();
    let skew = (&matrix - matrix.transpose()).amax();
    if skew > 1e-9 * largest || covariance.iter().any(|v| !v.is_finite()) {
        return Err(not_definite());
    }
    let factor = matrix.cholesky().ok_or_else(not_definite)?.unpack();
    if factor.iter().any(|v| !v.is_finite()) {
        return Err(not_definite());
    }
    Ok(pack(&factor))
}

/// The lower triangle of `factor`, row by row.
pub fn pack(factor: &DMatrix<f64>) -> Vec<f64> {
    (0..factor.nrows()).flat_map(|i| (0..=i).map(move |j| factor[(i, j)])).collect()
}

/// The inverse of [`pack`].
pub(super) fn unpack(packed: &[f64], dimension: usize) -> DMatrix<f64> {
    let mut factor = DMatrix::zeros(dimension, dimension);
    let mut rest = packed.iter();
    for i in 0..dimension {
        for (j, &value) in rest.by_ref().take(i + 1).enumerate() {
            factor[(i, j)] = value;
        }
    }
    factor
}

impl Proposal<Vec<f64>> for RandomWalk {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        if from.len() != self.dimension {
            return Err(Error::Dimension {
                what: "state under a random walk".into(),
                expected: self.dimension,
                found: from.len(),
            });
        }
        to.clone_from(from);
        self.noise.resize(self.dimension, 0.0);
        for z in &mut self.noise {
            *z = rng.sample(StandardNormal);
        }
        self.shape.add(1.0, &self.noise, to);
        Ok(0.0.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Role, stream};

    /// Sample covariance of 40,000 steps, each entry within 5 standard errors; fixed seed, false-alarm rate
    /// below 1e-5 in all.
    #[test]
    fn steps_have_the_covariance_asked_for() {
        let target = [2.0, 0.6, -0.3, 0.6, 1.0, 0.2, -0.3, 0.2, 0.5];
        let mut walks = [
            (RandomWalk::dense(3, &target).unwrap(), target),
            (RandomWalk::isotropic(3, 0.5).unwrap(), [0.25, 0., 0., 0., 0.25, 0., 0., 0., 0.25]),
            (RandomWalk::diagonal(vec![1.0, 2.0, 3.0]).unwrap(), [1., 0., 0., 0., 4., 0., 0., 0., 9.]),
        ];
        let mut rng = stream(3, 0, Role::Proposal);
        let n = 40_000;
        for (walk, wanted) in &mut walks {
            let from = vec![10.0, -1.0, 0.0];
            let mut to = Vec::new();
            let mut sums = [0.0; 9];
            for _ in 0..n {
                assert_eq!(walk.propose(&from, &mut to, &mut rng).unwrap(), 0.0.into());
                for i in 0..3 {
                    for j in 0..3 {
                        sums[3 * i + j] += (to[i] - from[i]) * (to[j] - from[j]);
                    }
                }
            }
            for i in 0..3 {
                for j in 0..3 {
                    let sd = (wanted[4 * i] * wanted[4 * j] + wanted[3 * i + j].powi(2)).sqrt()
                        / f64::from(n).sqrt();
                    assert!((sums[3 * i + j] / f64::from(n) - wanted[3 * i + j]).abs() < 5.0 * sd);
                }
            }
        }
    }

    #[test]
    fn bad_shapes_are_refused() {
        assert!(RandomWalk::isotropic(3, 0.0).is_err());
        assert!(RandomWalk::diagonal(vec![1.0, f64::NAN]).is_err());
        assert!(RandomWalk::dense(2, &[1.0, 2.0, 2.0, 1.0]).is_err());
        assert!(RandomWalk::dense(2, &[1.0; 3]).is_err());
        assert!(RandomWalk::dense(2, &[1.0, 0.5, 0.0, 1.0]).is_err(), "not symmetric");
        assert!(RandomWalk::dense(2, &[1.0, f64::NAN, 0.0, 1.0]).is_err());
        let mut walk = RandomWalk::isotropic(3, 1.0).unwrap();
        let mut rng = stream(3, 0, Role::Proposal);
        assert!(walk.propose(&vec![0.0; 2], &mut vec![], &mut rng).is_err());
    }

    #[test]
    fn packing_is_its_own_inverse() {
        let packed = vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0];
        assert_eq!(pack(&unpack(&packed, 3)), packed);
    }
}
