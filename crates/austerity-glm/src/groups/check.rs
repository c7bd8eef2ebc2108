//! How many nodes are needed: what decisions would see of the error of the quadrature, by a rule with 2K + 1 nodes.
//!
//! An error that all states share cancels in ratios. So the sum of log m over all groups is compared at the mode and at two posterior standard deviations from it, along every parameter
//! of Λ and the intercept, by rules of K and of 2K + 1 nodes: the largest difference of the differences is what a decision can be off by. The smallest K of [`TRIED`] that keeps it below
//! [`ALLOWED`] is taken. One-dimensional rules grow cheaply; with q effects Kq nodes are visited.
//!
//! Cost: some ten evaluations of all groups, most of them at once enough. Groups whose posterior is far from normal (σ beyond 2 with rare or one-sided responses) may need more nodes than
//! there are: the error found is then what a plan warns of.

use super::hermite::Hermite;
use super::model::Multilevel;

/// Numbers of nodes per effect that are tried.
pub const TRIED: [usize; 7] = [5, 7, 9, 11, 15, 21, 31];
/// Error of a difference of log-likelihoods that is let pass.
pub const ALLOWED: f64 = 0.01;

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Found {
    /// Nodes per effect.
    pub nodes: usize,
    /// The largest error of a difference of log-likelihoods, as 2K + 1 nodes see it.
    pub error: f64,
}

/// The smallest number of nodes that suffices around `state`, whose posterior covariance is roughly `covariance`; `directions` are the parameters looked along.
#[must_use]
pub fn nodes(model: &Multilevel, state: &[f64], covariance: &[f64], directions: &[usize]) -> Found {
    let d = state.len();
    let mut states = vec![state.to_vec()];
    for &parameter in directions {
        let sd = covariance[parameter * d + parameter].max(0.0).sqrt();
        for sign in [-2.0, 2.0] {
            let mut moved = state.to_vec();
            // Along the ridge of the posterior: the others follow as they are correlated.
            let step = |i: usize| if sd > 0.0 { sign * covariance[parameter * d + i] / sd } else { 0.0 };
            moved.iter_mut().enumerate().for_each(|(i, value)| *value += step(i));
            states.push(moved);
        }
    }
    let most = if model.scales().effects() == 1 {
        TRIED.len()
    } else if model.scales().effects() == 2 {
        5
    } else {
        3
    };
    let mut found = Found { nodes: TRIED[0], error: f64::INFINITY };
    for &count in &TRIED[..most] {
        let (rule, finer) = (Hermite::new(count), Hermite::new(2 * count + 1));
        let errors: Vec<f64> = states
            .iter()
            .map(|state| {
                let pairs = model.all(state, &rule).into_iter().zip(model.all(state, &finer));
                pairs.map(|(coarse, fine)| coarse - fine).sum()
            })
            .collect();
        let error = errors.iter().fold(0.0, |most: f64, error| most.max((error - errors[0]).abs()));
        found = Found { nodes: count, error };
        if error < ALLOWED {
            break;
        }
    }
    found
}
