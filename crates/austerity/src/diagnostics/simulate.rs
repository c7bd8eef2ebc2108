//! Chains with known autocorrelation, for the tests of this module.

use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};

/// Stationary first-order autoregressive chains of unit variance: x' = φ·x + √(1−φ²)·e.
pub(super) fn autoregressive(chains: usize, draws: usize, coefficient: f64, seed: u64) -> Vec<Vec<f64>> {
    let mut generator = ChaCha8Rng::seed_from_u64(seed);
    let innovation = (1.0 - coefficient * coefficient).sqrt();
    (0..chains)
        .map(|_| {
            let mut state: f64 = StandardNormal.sample(&mut generator);
            (0..draws)
                .map(|_| {
                    let noise: f64 = StandardNormal.sample(&mut generator);
                    state = coefficient * state + innovation * noise;
                    state
                })
                .collect()
        })
        .collect()
}

/// The same chains with the first moved by `distance`.
pub(super) fn shifted(chains: &[Vec<f64>], distance: f64) -> Vec<Vec<f64>> {
    let mut moved = chains.to_vec();
    if let Some(first) = moved.first_mut() {
        first.iter_mut().for_each(|value| *value += distance);
    }
    moved
}
