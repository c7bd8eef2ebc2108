//! Random walk on orthonormal frames: W' = W·exp(σA), A a skew-symmetric matrix of independent normals.
//!
//! A and −A have the same law, so R = exp(σA) and its inverse have too, and ∫f(W)·E g(W·R) dW = ∫g(W)·E f(W·R) dW
//! for the uniform law dW: the walk is symmetric and its log proposal ratio is 0. It works for p ≤ n rows in Rⁿ and
//! keeps the determinant where p = n: of the two components of O(n) a chain visits that of its start. For posteriors
//! whose rotations have very different spreads, W' = exp(B)·W turns row i towards row j with a
//! standard deviation of its own for each pair ([`Stiefel::rotations`]); symmetric for the same reason.
//!
//! A sign-fixed **QR retraction qf(W + σZ) is not symmetric** from three dimensions on: Gram–Schmidt treats the first row
//! better than the last, so Q and Qᵀ have different laws (shown by a test), and leaving its ratio out is not exact. (A flat
//! posterior does not tell: any walk that treats all frames alike keeps the uniform law.) The polar factor of W + σZ and the Cayley transform would do as well as the exponential.
//!
//! Products of rotations drift from orthonormality by 1e-16 a step. Every candidate therefore takes one Newton–Schulz step
//! W ← ½(3I − W·Wᵀ)·W towards its polar factor, which squares the departure. It is a function of the candidate
//! alone, so a resumed chain repeats an uninterrupted one to the last bit.
//!
//! Ouyang (2008); Edelman, Arias & Smith (1998) for the geometry. The exponential is a Taylor series, scaled and
//! squared. Cost: n(n−1)/2 normals, about 6 products of n × n matrices for short steps, no allocation.
//! Not for large n: a product of n × n matrices per step, and steps that shrink as n grows.

mod frame;

use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use austerity::error::{Error, Result, setting};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

pub use frame::{departure, nearest_frame, uniform_frame};

/// Largest row sum of a matrix whose exponential is summed as it is; larger ones are halved first.
const SHORT: f64 = 0.5;
/// Terms of the series beyond this size are left out.
const NEGLIGIBLE: f64 = 1e-18;

/// What a step turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Turns {
    /// W·exp(σA): all planes of Rⁿ alike.
    Space { sd: f64 },
    /// exp(B)·W: rows i < j towards each other, with these standard deviations, row by row of the upper triangle.
    Rows { sd: Vec<f64> },
}

/// Buffers, which are no part of what a proposal is.
#[derive(Clone, Debug, Default)]
struct Work {
    generator: Vec<f64>,
    rotation: Vec<f64>,
    product: Vec<f64>,
    column: Vec<f64>,
}

impl PartialEq for Work {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// A symmetric random walk on orthonormal frames.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stiefel {
    rows: usize,
    columns: usize,
    turns: Turns,
    #[serde(skip)]
    work: Work,
}

impl Stiefel {
    /// Steps of W·exp(σA) on frames of `rows` orthonormal rows in `columns` dimensions; `sd` is σ, in radians.
    pub fn isotropic(rows: usize, columns: usize, sd: f64) -> Result<Self> {
        frame::check_shape(rows, columns)?;
        positive(sd)?;
        Ok(Self { rows, columns, turns: Turns::Space { sd }, work: Work::default() })
    }

    /// Steps of exp(B)·W on orthogonal matrices: `sd` holds the standard deviations of the rotations of rows (0, 1), (0, 2), …,
    /// (0, n−1), (1, 2), …, in radians.
    pub fn rotations(dimension: usize, sd: Vec<f64>) -> Result<Self> {
        frame::check_shape(dimension, dimension)?;
        let expected = dimension * (dimension - 1) / 2;
        if sd.len() != expected {
            let what = "standard deviations of a walk by rotations".into();
            return Err(Error::Dimension { what, expected, found: sd.len() });
        }
        sd.iter().try_for_each(|&sd| positive(sd))?;
        Ok(Self { rows: dimension, columns: dimension, turns: Turns::Rows { sd }, work: Work::default() })
    }
}

fn positive(sd: f64) -> Result<()> {
    if sd > 0.0 && sd.is_finite() {
        Ok(())
    } else {
        Err(setting("sd of a rotation", sd, "a positive finite number"))
    }
}

impl Proposal<Vec<f64>> for Stiefel {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        let (p, n) = (self.rows, self.columns);
        if from.len() != p * n {
            return Err(Error::Dimension {
                what: "state under a walk on orthonormal frames".into(),
                expected: p * n,
                found: from.len(),
            });
        }
        let Work { generator, rotation, product, column } = &mut self.work;
        for buffer in [&mut *generator, rotation, product] {
            buffer.resize(n * n, 0.0);
        }
        column.resize(p, 0.0);
        let mut plane = 0;
        for i in 0..n {
            generator[i * n + i] = 0.0;
            for j in i + 1..n {
                let sd = match &self.turns {
                    Turns::Space { sd } => *sd,
                    Turns::Rows { sd } => sd[plane],
                };
                let angle: f64 = sd * rng.sample::<f64, _>(StandardNormal);
                generator[i * n + j] = angle;
                generator[j * n + i] = -angle;
                plane += 1;
            }
        }
        exponential(n, generator, rotation, product);
        to.resize(p * n, 0.0);
        match self.turns {
            Turns::Space { .. } => multiply([p, n, n], from, rotation, to),
            Turns::Rows { .. } => multiply([n, n, n], rotation, from, to),
        }
        polish(p, n, to, product, column);
        Ok(0.0.into())
    }
}

/// `out` = `left`·`right`, of shapes a × b and b × c.
fn multiply([a, b, c]: [usize; 3], left: &[f64], right: &[f64], out: &mut [f64]) {
    for i in 0..a {
        let out = &mut out[i * c..][..c];
        out.fill(0.0);
        for k in 0..b {
            let factor = left[i * b + k];
            for (out, value) in out.iter_mut().zip(&right[k * c..][..c]) {
                *out += factor * value;
            }
        }
    }
}

/// `out` = exp(`generator`), which is scaled on the way; `spare` is overwritten.
fn exponential(n: usize, generator: &mut [f64], out: &mut Vec<f64>, spare: &mut Vec<f64>) {
    let size = |matrix: &[f64]| {
        let sums = matrix.chunks_exact(n).map(|row| row.iter().map(|v| v.abs()).sum::<f64>());
        sums.fold(0.0, f64::max)
    };
    let mut norm = size(generator);
    let mut halvings = 0;
    while norm > SHORT && halvings < 1100 {
        norm *= 0.5;
        halvings += 1;
    }
    let scale = 0.5f64.powi(halvings);
    generator.iter_mut().for_each(|value| *value *= scale);
    let (mut terms, mut term) = (1, norm);
    while term > NEGLIGIBLE {
        terms += 1;
        term *= norm / f64::from(terms);
    }
    identity(n, out);
    for order in (1..=terms).rev() {
        // I + (B/order)·out
        multiply([n, n, n], generator, out, spare);
        for (i, (out, value)) in out.iter_mut().zip(spare.iter()).enumerate() {
            *out = value / f64::from(order) + f64::from(i % (n + 1) == 0);
        }
    }
    for _ in 0..halvings {
        multiply([n, n, n], out, out, spare);
        std::mem::swap(out, spare);
    }
}

fn identity(n: usize, out: &mut [f64]) {
    for (i, value) in out.iter_mut().enumerate() {
        *value = f64::from(i % (n + 1) == 0);
    }
}

/// One Newton–Schulz step of `frame` towards its polar factor; `gram` and `old`, a column, are overwritten.
fn polish(p: usize, n: usize, frame: &mut [f64], gram: &mut [f64], old: &mut [f64]) {
    for i in 0..p {
        for j in 0..=i {
            let (a, b) = (&frame[i * n..][..n], &frame[j * n..][..n]);
            let product: f64 = a.iter().zip(b).map(|(a, b)| a * b).sum();
            // ½(I − W·Wᵀ), by which the rows are corrected.
            let half = 0.5 * (f64::from(i == j) - product);
            gram[i * n + j] = half;
            gram[j * n + i] = half;
        }
    }
    for k in 0..n {
        for (i, old) in old.iter_mut().enumerate() {
            *old = frame[i * n + k];
        }
        for i in 0..p {
            let change: f64 = old.iter().zip(&gram[i * n..][..p]).map(|(w, g)| g * w).sum();
            frame[i * n + k] = old[i] + change;
        }
    }
}

#[cfg(test)]
mod tests;
