//! Where an unmixing begins: the fixed-point search of Hyvärinen (1999) with g = tanh(s/2), the score of the logistic density, from several random frames.
//!
//! ```text
//! w_j ← mean(g(w_jᵀx)·x) − mean(g'(w_jᵀx))·w_j      W ← nearest orthonormal frame
//! ```
//!
//! Of the frames found the one with the largest likelihood is kept. The information about the angle between rows i and j there,
//!
//! ```text
//! I_ij = Σ_n { g'(s_i)·s_j² + g'(s_j)·s_i² − s_i·g(s_i) − s_j·g(s_j) }
//! ```
//!
//! is minus the second derivative of the log-likelihood along the rotation: its inverse root is the posterior sd of the angle. Pairs without information (two
//! Gaussian sources) have none, or a negative number; their steps have [`WIDEST`]. Pairs whose sd exceeds [`BLIND`] are worth a remark.
//!
//! Cost: some ten passes over the rows per frame. Sources with lighter tails than the Gaussian are maxima of no likelihood here: see [`austerity_models::ica`].

use austerity::model::{Access, Model as _};
use austerity::population::Population as _;
use austerity::rng::{Role, stream};
use austerity_models::Ica;
use austerity_models::stiefel::{nearest_frame, uniform_frame};

use crate::output::Failure;

/// Frames that a search begins at, its steps at the most, and when it has arrived.
const STARTS: u32 = 6;
const STEPS: usize = 200;
const ARRIVED: f64 = 1e-8;
/// The widest angle that a step may take, in radians: beyond, frames repeat.
const WIDEST: f64 = 0.3;
/// Angles with a larger posterior sd are worth a remark.
const BLIND: f64 = 0.1;

/// What a search has found.
pub(super) struct Found {
    /// The unmixing of the white columns, row by row.
    pub(super) frame: Vec<f64>,
    /// Posterior sds of the angles between rows (0, 1), (0, 2), …, [`WIDEST`] at the most.
    pub(super) sds: Vec<f64>,
    /// Pairs whose angle the data say nothing about.
    pub(super) blind: Vec<(usize, usize)>,
}

/// Searches from several frames.
pub(super) fn search(model: &Ica, white: &[Vec<f64>], seed: u64) -> Result<Found, Failure> {
    let d = white.len();
    let mut rng = stream(seed, u32::MAX, Role::Start);
    let mut best: Option<Vec<f64>> = None;
    for _ in 0..STARTS {
        let mut frame = uniform_frame(d, d, &mut rng)?;
        for _ in 0..STEPS {
            let next = nearest_frame(d, d, &improved(white, &frame))?;
            let same = |row: usize| -> f64 { (0..d).map(|k| frame[row * d + k] * next[row * d + k]).sum() };
            let moved = (0..d).map(|row| 1.0 - same(row).abs()).fold(0.0, f64::max);
            frame = next;
            if moved < ARRIVED {
                break;
            }
        }
        let better = match &best {
            None => true,
            Some(best) => {
                model.compare(best, &frame, &mut model.scratch(Access::Blocks)).total()?.sum() > 0.0
            }
        };
        if better {
            best = Some(frame);
        }
    }
    let frame = best.unwrap_or_default();
    let (sds, blind) = angles(white, &frame);
    Ok(Found { frame, sds, blind })
}

/// Sources of one row of the data.
fn sources(white: &[Vec<f64>], frame: &[f64], row: usize, out: &mut [f64]) {
    let d = white.len();
    for (j, out) in out.iter_mut().enumerate() {
        *out = (0..d).map(|k| frame[j * d + k] * white[k][row]).sum();
    }
}

/// One step of the fixed point, before it is made orthonormal.
fn improved(white: &[Vec<f64>], frame: &[f64]) -> Vec<f64> {
    let (d, rows) = (white.len(), white[0].len());
    let (mut next, mut slopes, mut source) = (vec![0.0; d * d], vec![0.0; d], vec![0.0; d]);
    for row in 0..rows {
        sources(white, frame, row, &mut source);
        for j in 0..d {
            let g = (0.5 * source[j]).tanh();
            slopes[j] += 0.5 * (1.0 - g * g);
            for k in 0..d {
                next[j * d + k] += g * white[k][row];
            }
        }
    }
    for j in 0..d {
        for k in 0..d {
            next[j * d + k] = (next[j * d + k] - slopes[j] * frame[j * d + k]) / rows as f64;
        }
    }
    next
}

/// Posterior sds of the angles, and the pairs without information.
fn angles(white: &[Vec<f64>], frame: &[f64]) -> (Vec<f64>, Vec<(usize, usize)>) {
    let (d, rows) = (white.len(), white[0].len());
    let pairs: Vec<(usize, usize)> = (0..d).flat_map(|i| (i + 1..d).map(move |j| (i, j))).collect();
    let (mut information, mut source) = (vec![0.0; pairs.len()], vec![0.0; d]);
    for row in 0..rows {
        sources(white, frame, row, &mut source);
        for (information, &(i, j)) in information.iter_mut().zip(&pairs) {
            let (a, b) = (source[i], source[j]);
            let [g, h] = [a, b].map(|s| (0.5 * s).tanh());
            *information += 0.5 * (1.0 - g * g) * b * b + 0.5 * (1.0 - h * h) * a * a - a * g - b * h;
        }
    }
    let sd = |information: f64| if information > 0.0 { information.sqrt().recip() } else { f64::INFINITY };
    let blind = pairs.iter().zip(&information).filter(|(_, information)| sd(**information) > BLIND);
    let blind = blind.map(|(pair, _)| *pair).collect();
    (information.iter().map(|&information| sd(information).min(WIDEST)).collect(), blind)
}
