//! Robust adaptive Metropolis: a dense random walk that learns its shape during warm-up.
//!
//! After a step with noise u and acceptance a the factor becomes S_n S_nᵀ = S (I + η_n (a − a*) u uᵀ/‖u‖²) Sᵀ with
//! η_n = min(1, d·n^{−2/3}) (Vihola 2012, Statistics and Computing 22, algorithm and equation 1). Here a is the
//! decision itself (0 or 1), which is what a subsampled test knows without bias. Robust: it needs no finite
//! second moments. Cost: O(d²) per warm-up step. Not for very many dimensions: it must learn d²/2 numbers.

use nalgebra::{Cholesky, DVector};
use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::proposal::random_walk::{pack, unpack};
use crate::proposal::{Proposal, Proposed, RandomWalk, Shape};
use crate::rng::Rng;

/// A random walk that learns its covariance from what is accepted, during warm-up only.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RobustAdaptive {
    walk: RandomWalk,
    target: f64,
}

/// Acceptance rate of an efficient random walk in many dimensions (Roberts, Gelman & Gilks 1997).
pub const TARGET_ACCEPTANCE: f64 = 0.234;

impl RobustAdaptive {
    /// Starts from the shape of `start` and steers to the acceptance rate `target`, in (0, 1).
    pub fn new(start: &RandomWalk, target: f64) -> Result<Self> {
        if !(target > 0.0 && target < 1.0) {
            return Err(setting("target acceptance", target, "a rate above 0 and below 1"));
        }
        let dimension = start.dimension();
        let factor = match start.shape() {
            Shape::Isotropic { sd } => diagonal_factor(dimension, |_| *sd),
            Shape::Diagonal { sd } => diagonal_factor(dimension, |i| sd[i]),
            Shape::Dense { factor } => factor.clone(),
        };
        Ok(Self { walk: RandomWalk::of(dimension, Shape::Dense { factor }), target })
    }

    /// The walk as learnt so far.
    #[must_use]
    pub fn walk(&self) -> &RandomWalk {
        &self.walk
    }
}

fn diagonal_factor(dimension: usize, sd: impl Fn(usize) -> f64) -> Vec<f64> {
    (0..dimension)
        .flat_map(|i| (0..=i).map(move |j| (i, j)))
        .map(|(i, j)| if i == j { sd(i) } else { 0.0 })
        .collect()
}

impl Proposal<Vec<f64>> for RobustAdaptive {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.walk.propose(from, to, rng)
    }

    fn learn(&mut self, accepted: bool, step: u64) {
        let dimension = self.walk.dimension();
        let noise = DVector::from_column_slice(&self.walk.noise);
        let norm = noise.norm();
        let Shape::Dense { factor } = self.walk.shape_mut() else {
            return;
        };
        let rate = (dimension as f64 * (step.max(1) as f64).powf(-2.0 / 3.0)).min(1.0);
        let change = rate * (f64::from(u8::from(accepted)) - self.target);
        if norm == 0.0 || norm.is_nan() {
            return;
        }
        let lower = unpack(factor, dimension);
        let direction = &lower * (noise / norm);
        let mut cholesky = Cholesky::pack_dirty(lower);
        cholesky.rank_one_update(&direction, change);
        let updated = pack(&cholesky.unpack());
        // A downdate may lose definiteness to rounding; then this step teaches nothing.
        let mut diagonal = (0..dimension).map(|i| updated[i * (i + 3) / 2]);
        if diagonal.all(|v| v > 0.0 && v.is_finite()) {
            *factor = updated;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::{Role, stream};
    use rand::RngExt as _;

    /// Learns the shape of a correlated Gaussian with standard deviations 1 and 100 from an isotropic start:
    /// the learnt covariance is proportional to the target's. The bars are wide (learning is noisy) but a
    /// walk that does not learn misses them by a factor 100; fixed seed.
    #[test]
    fn learns_scale_and_correlation() {
        let (s1, s2, rho) = (1.0, 100.0, 0.8);
        let density = |x: &[f64]| {
            let (a, b) = (x[0] / s1, x[1] / s2);
            -0.5 * (a * a - 2.0 * rho * a * b + b * b) / (1.0 - rho * rho)
        };
        let mut walk = RobustAdaptive::new(&RandomWalk::isotropic(2, 1.0).unwrap(), 0.35).unwrap();
        let mut rng = stream(8, 0, Role::Proposal);
        let (mut state, mut to) = (vec![0.0, 0.0], vec![0.0, 0.0]);
        let (mut late, mut steps) = (0.0, 0.0);
        for step in 1..=60_000 {
            walk.propose(&state, &mut to, &mut rng).unwrap();
            let accepted = rng.random::<f64>().ln() < density(&to) - density(&state);
            if accepted {
                std::mem::swap(&mut state, &mut to);
            }
            walk.learn(accepted, step);
            if step > 30_000 {
                late += f64::from(u8::from(accepted));
                steps += 1.0;
            }
        }
        let Shape::Dense { factor } = walk.walk().shape() else { panic!("not dense") };
        let covariance =
            [factor[0] * factor[0], factor[0] * factor[1], factor[1].powi(2) + factor[2].powi(2)];
        let ratio = (covariance[2] / covariance[0]).sqrt();
        let correlation = covariance[1] / (covariance[0] * covariance[2]).sqrt();
        assert!((ratio / 100.0).ln().abs() < 0.25, "ratio of sds {ratio}");
        assert!((correlation - 0.8).abs() < 0.12, "correlation {correlation}");
        assert!((late / steps - 0.35f64).abs() < 0.02, "acceptance {}", late / steps);
    }

    #[test]
    fn refuses_a_target_that_is_no_rate() {
        for target in [0.0, 1.0, f64::NAN] {
            assert!(RobustAdaptive::new(&RandomWalk::isotropic(2, 1.0).unwrap(), target).is_err());
        }
    }
}
