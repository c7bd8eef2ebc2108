//! Preconditioned Crank–Nicolson steps: θ' = m + ρ(θ − m) + √(1 − ρ²)·L·z, z standard normal, L Lᵀ = Σ.
//!
//! Reversible for N(m, Σ), so log q(θ|θ') − log q(θ'|θ) = log N(θ) − log N(θ'): a posterior that is nearly N(m, Σ) accepts nearly all candidates,
//! in any dimension (Neal 1998; Cotter et al. 2013). ρ = 0 gives independent draws from the Laplace approximation; ρ near 1
//! small steps that are accepted also where the posterior is far from normal. ρ < 0 goes to the other side of the mean (over-relaxation, Adler 1981):
//! the k-th Hermite polynomial of a coordinate has the autocorrelation ρᵏ, so means gain by (1 − ρ)/(1 + ρ), variances lose by (1 − ρ²)/(1 + ρ²).
//!
//! Cost: d normals and d²/2 multiplications; |L⁻¹(θ − m)|² of the current state is remembered. With ρ = 0 do not use alone where the
//! posterior's tails may be heavier than a normal distribution's: a chain that comes to a tail stays there long. [`super::Laplace`] draws
//! from a Student t instead.

use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, setting};
use crate::proposal::Proposal;
use crate::proposal::random_walk::factor_of;
use crate::rng::Rng;
use crate::simd::eight::{LANES, add_matrix_product, strips};
use crate::simd::{detected, dispatched, dot};

/// Steps that leave a normal distribution as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrankNicolson {
    mean: Vec<f64>,
    /// L, column by column, each from the diagonal on.
    factor: Vec<f64>,
    /// ρ and √(1 − ρ²).
    correlation: f64,
    rest: f64,
    /// L in strips of eight rows, and room for a candidate.
    #[serde(skip)]
    strips: Vec<[f64; LANES]>,
    #[serde(skip)]
    room: Vec<[f64; LANES]>,
    /// The last current state and candidate, whitened.
    #[serde(skip)]
    here: Whitened,
    #[serde(skip)]
    there: Whitened,
}

/// y = L⁻¹(θ − m) of a state, and |y|².
#[derive(Clone, Debug, Default, PartialEq)]
struct Whitened {
    /// Empty before the first step.
    state: Vec<f64>,
    y: Vec<f64>,
    square: f64,
}

impl CrankNicolson {
    /// Steps of correlation `correlation` in (−1, 1) for N(`mean`, `covariance`), the latter d × d row by row.
    pub fn new(mean: &[f64], covariance: &[f64], correlation: f64) -> Result<Self> {
        if let Some(&value) = mean.iter().find(|value| !value.is_finite()) {
            return Err(setting("mean of the Crank–Nicolson proposal", value, "finite numbers"));
        }
        if !(correlation > -1.0 && correlation < 1.0) {
            return Err(setting("correlation", correlation, "a number between -1 and 1"));
        }
        Ok(Self {
            mean: mean.to_vec(),
            factor: columns(mean.len(), &factor_of(mean.len(), covariance)?),
            correlation,
            rest: (1.0 - correlation * correlation).sqrt(),
            strips: Vec::new(),
            room: Vec::new(),
            here: Whitened::default(),
            there: Whitened::default(),
        })
    }

    /// Brings `here` to `from` with as little work as possible.
    fn begin(&mut self, from: &[f64]) -> Result<()> {
        if self.there.state == from {
            std::mem::swap(&mut self.here, &mut self.there);
            return Ok(());
        }
        if self.here.state == from {
            return Ok(());
        }
        if from.len() != self.mean.len() {
            return Err(Error::Dimension {
                what: "state under Crank–Nicolson steps".into(),
                expected: self.mean.len(),
                found: from.len(),
            });
        }
        let Whitened { state, y, square } = &mut self.here;
        state.clear();
        state.extend_from_slice(from);
        y.clear();
        y.extend(from.iter().zip(&self.mean).map(|(state, mean)| state - mean));
        let mut rest = &self.factor[..];
        for j in 0..y.len() {
            let (column, tail) = rest.split_at(y.len() - j);
            rest = tail;
            let solved = y[j] / column[0];
            y[j] = solved;
            y[j + 1..].iter_mut().zip(&column[1..]).for_each(|(y, l)| *y -= solved * l);
        }
        *square = dot(y, y);
        Ok(())
    }
}

/// A packed lower triangle by columns instead of rows.
fn columns(d: usize, rows: &[f64]) -> Vec<f64> {
    (0..d).flat_map(|j| (j..d).map(move |i| rows[i * (i + 1) / 2 + j])).collect()
}

impl Proposal<Vec<f64>> for CrankNicolson {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<f64> {
        self.begin(from)?;
        let Whitened { state, y, square } = &mut self.there;
        y.resize(self.mean.len(), 0.0);
        for (y, here) in y.iter_mut().zip(&self.here.y) {
            let z: f64 = rng.sample(StandardNormal);
            *y = self.correlation * here + self.rest * z;
        }
        *square = dot(y, y);
        let d = self.mean.len();
        if self.strips.is_empty() {
            // Column j of the triangle begins after those of d, d − 1, … numbers.
            let entry =
                |i: usize, j: usize| if i < j { 0.0 } else { self.factor[j * d - j * (j + 1) / 2 + i] };
            self.strips = strips(d, d, entry);
            self.room = vec![[0.0; LANES]; d.div_ceil(LANES)];
        }
        self.room.as_flattened_mut()[..d].copy_from_slice(&self.mean);
        let (room, y, strips) = (&mut self.room[..], &y[..], &self.strips[..]);
        dispatched!(detected(), _simd => add_matrix_product(room, strips, y));
        let candidate = &self.room.as_flattened()[..d];
        state.clear();
        state.extend_from_slice(candidate);
        to.clear();
        to.extend_from_slice(candidate);
        Ok(0.5 * (*square - self.here.square))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Role, stream};

    /// The ratio is that of the normal density, from fresh and remembered states alike; ρ = 0 forgets the state.
    #[test]
    fn the_ratio_is_that_of_the_normal() {
        let covariance = [4.0, 1.2, 1.2, 1.0];
        let density = |x: &[f64]| {
            let (a, b) = (x[0] - 1.0, x[1] + 2.0);
            -0.5 * (a * a - 2.4 * a * b + 4.0 * b * b) / 2.56
        };
        for correlation in [0.0, 0.7, -0.4] {
            let mut proposal = CrankNicolson::new(&[1.0, -2.0], &covariance, correlation).unwrap();
            let mut rng = stream(3, 0, Role::Proposal);
            let (mut from, mut to) = (vec![0.5, 0.5], vec![0.0; 2]);
            for step in 0..20 {
                let ratio = proposal.propose(&from, &mut to, &mut rng).unwrap();
                assert!((ratio - (density(&from) - density(&to))).abs() < 1e-10);
                if step % 3 == 0 {
                    from.clone_from(&to);
                } else if step % 7 == 0 {
                    from[0] += 1.0;
                }
            }
        }
        assert!(CrankNicolson::new(&[0.0], &[1.0], 1.0).is_err());
        assert!(CrankNicolson::new(&[0.0], &[1.0], -1.0).is_err());
        assert!(CrankNicolson::new(&[f64::NAN], &[1.0], 0.0).is_err());
        assert!(CrankNicolson::new(&[0.0], &[-1.0], 0.0).is_err());
    }
}
