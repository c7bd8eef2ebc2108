//! Preconditioned Crank–Nicolson steps: θ' = m + ρ(θ − m) + √(1 − ρ²)·L·z, z standard normal, L Lᵀ = Σ.
//!
//! Reversible for N(m, Σ), so log q(θ|θ') − log q(θ'|θ) = log N(θ) − log N(θ'): a posterior that is nearly N(m, Σ) accepts nearly all candidates,
//! in any dimension (Neal 1998; Cotter et al. 2013). ρ = 0 gives independent draws from the Laplace approximation; ρ near 1
//! small steps that are accepted also where the posterior is far from normal. ρ < 0 goes to the other side of the mean (over-relaxation, Adler 1981):
//! the k-th Hermite polynomial of a coordinate has the autocorrelation ρᵏ, so means gain by (1 − ρ)/(1 + ρ), variances lose by (1 − ρ²)/(1 + ρ²).
//!
//! Cost: d normals and 2d² multiplications; |L⁻¹(θ − m)|² of the current state is remembered. With ρ = 0 do not use alone where the
//! posterior's tails may be heavier than a normal distribution's: a chain that comes to a tail stays there long. [`Laplace`](austerity::proposal::Laplace) draws
//! from a Student t instead, and [`CrankNicolson::mixed_with`] adds short steps that lead out of tails.

use nalgebra::DMatrix;
use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::simd::eight::{LANES, add_lower_product, lower_strips};
use crate::simd::{detected, dispatched};
use austerity::dot::dot;
use austerity::error::{Error, Result, setting};
use austerity::proposal::random_walk::factor_of;
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// Steps that leave a normal distribution as it is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrankNicolson {
    mean: Vec<f64>,
    /// L, column by column, each from the diagonal on.
    factor: Vec<f64>,
    /// ρ and √(1 − ρ²).
    correlation: f64,
    rest: f64,
    /// Share of steps with another correlation, and that: short steps out of tails.
    #[serde(default)]
    short: Option<(f64, f64)>,
    /// L and L⁻¹ in strips of eight rows, and room for a state.
    #[serde(skip)]
    strips: Vec<[f64; LANES]>,
    #[serde(skip)]
    inverse: Vec<[f64; LANES]>,
    #[serde(skip)]
    room: Vec<[f64; LANES]>,
    /// θ − m of the current state, then the noise.
    #[serde(skip)]
    moved: Vec<f64>,
    /// The last current state and candidate.
    #[serde(skip)]
    here: Known,
    #[serde(skip)]
    there: Known,
}

/// |L⁻¹(θ − m)|² of a state: a function of the state alone, however the chain came there, so that a resumed chain has the same bits.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    /// Empty before the first step.
    state: Vec<f64>,
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
            short: None,
            strips: Vec::new(),
            inverse: Vec::new(),
            room: Vec::new(),
            moved: Vec::new(),
            here: Known::default(),
            there: Known::default(),
        })
    }

    /// The same with a share of its steps drawn with another correlation, whatever the state: a mixture of reversible steps. A correlation near 1 leads a chain out
    /// of tails that are heavier than the normal distribution's.
    pub fn mixed_with(mut self, share: f64, correlation: f64) -> Result<Self> {
        if !(0.0..=1.0).contains(&share) {
            return Err(setting("share of short steps", share, "a number from 0 to 1"));
        }
        if !(correlation > -1.0 && correlation < 1.0) {
            return Err(setting("correlation", correlation, "a number between -1 and 1"));
        }
        self.short = (share > 0.0).then_some((share, correlation));
        Ok(self)
    }

    /// Lays L and its inverse out, once.
    fn prepare(&mut self) -> Result<()> {
        if !self.strips.is_empty() {
            return Ok(());
        }
        let d = self.mean.len();
        // Column j of the triangle begins after those of d, d − 1, … numbers.
        let entry = |i: usize, j: usize| if i < j { 0.0 } else { self.factor[j * d - j * (j + 1) / 2 + i] };
        let lower = DMatrix::from_fn(d, d, entry);
        let inverse = lower.solve_lower_triangular(&DMatrix::identity(d, d));
        let inverse = inverse.ok_or_else(|| Error::NotPositiveDefinite {
            what: "the covariance of Crank–Nicolson steps".into(),
            remedy: "give every coefficient a proper prior".into(),
        })?;
        self.inverse = lower_strips(d, |i, j| inverse[(i, j)]);
        self.room = vec![[0.0; LANES]; d.div_ceil(LANES)];
        self.moved = vec![0.0; d];
        self.strips = lower_strips(d, |i, j| lower[(i, j)]);
        Ok(())
    }

    /// |L⁻¹(θ − m)|².
    fn square(&mut self, state: &[f64]) -> f64 {
        let displaced = state.iter().zip(&self.mean).map(|(state, mean)| state - mean);
        self.moved.iter_mut().zip(displaced).for_each(|(slot, value)| *slot = value);
        self.room.as_flattened_mut().fill(0.0);
        let (room, moved, inverse) = (&mut self.room[..], &self.moved[..], &self.inverse[..]);
        dispatched!(detected(), _simd => add_lower_product(room, inverse, moved));
        let y = self.room.as_flattened();
        dot(y, y)
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
        self.here.square = self.square(from);
        self.here.state.clear();
        self.here.state.extend_from_slice(from);
        Ok(())
    }
}

/// A packed lower triangle by columns instead of rows.
fn columns(d: usize, rows: &[f64]) -> Vec<f64> {
    (0..d).flat_map(|j| (j..d).map(move |i| rows[i * (i + 1) / 2 + j])).collect()
}

impl Proposal<Vec<f64>> for CrankNicolson {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.prepare()?;
        self.begin(from)?;
        let d = self.mean.len();
        let (mut correlation, mut rest) = (self.correlation, self.rest);
        if let Some((share, other)) = self.short
            && rng.random::<f64>() < share
        {
            (correlation, rest) = (other, (1.0 - other * other).sqrt());
        }
        for ((slot, mean), from) in self.room.as_flattened_mut().iter_mut().zip(&self.mean).zip(from) {
            *slot = mean + correlation * (from - mean);
        }
        for slot in &mut self.moved {
            let z: f64 = rng.sample(StandardNormal);
            *slot = rest * z;
        }
        let (room, noise, strips) = (&mut self.room[..], &self.moved[..], &self.strips[..]);
        dispatched!(detected(), _simd => add_lower_product(room, strips, noise));
        to.clear();
        to.extend_from_slice(&self.room.as_flattened()[..d]);
        self.there.square = self.square(to);
        self.there.state.clear();
        self.there.state.extend_from_slice(to);
        Ok((0.5 * (self.there.square - self.here.square)).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use austerity::rng::{Role, stream};

    /// Candidates and ratios are those of a proposal that comes to the state for the first time, as after a resumption, to the bit.
    #[test]
    fn steps_depend_on_the_state_alone() {
        let d = 7usize;
        let covariance: Vec<f64> = (0..d * d)
            .map(|k| if k / d == k % d { 1.3 } else { 0.4f64.powi((k / d).abs_diff(k % d) as i32) })
            .collect();
        let mean: Vec<f64> = (0..d).map(|i| 0.1 + 0.7 * i as f64).collect();
        let fresh = CrankNicolson::new(&mean, &covariance, -0.4).unwrap();
        let (mut chain, mut from, mut to) = (fresh.clone(), mean, Vec::new());
        for step in 0..200 {
            let mut rng = stream(step, 0, Role::Proposal);
            let (mut other, mut again) = (fresh.clone(), Vec::new());
            let ratio = chain.propose(&from, &mut to, &mut rng).unwrap();
            let same = other.propose(&from, &mut again, &mut stream(step, 0, Role::Proposal)).unwrap();
            assert_eq!((ratio, &to), (same, &again));
            if step % 5 != 0 {
                std::mem::swap(&mut from, &mut to);
            }
        }
    }

    /// The ratio is that of the normal density, from fresh and remembered states alike; ρ = 0 forgets the state.
    #[test]
    fn the_ratio_is_that_of_the_normal() {
        let covariance = [4.0, 1.2, 1.2, 1.0];
        let density = |x: &[f64]| {
            let (a, b) = (x[0] - 1.0, x[1] + 2.0);
            -0.5 * (a * a - 2.4 * a * b + 4.0 * b * b) / 2.56
        };
        for (correlation, short) in [(0.0, 0.0), (0.7, 0.0), (-0.4, 0.0), (-0.4, 0.5)] {
            let proposal = CrankNicolson::new(&[1.0, -2.0], &covariance, correlation).unwrap();
            let mut proposal = proposal.mixed_with(short, 0.9).unwrap();
            let mut rng = stream(3, 0, Role::Proposal);
            let (mut from, mut to) = (vec![0.5, 0.5], vec![0.0; 2]);
            for step in 0..20 {
                let ratio = proposal.propose(&from, &mut to, &mut rng).unwrap().log_ratio;
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
