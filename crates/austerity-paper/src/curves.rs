//! Risk curves of several chains: mean squared error of their running means against a truth, split into bias² and variance.

use crate::risk::{Risk, risk};

use crate::trajectory::Trajectory;

/// One point of a risk curve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// CPU seconds of a chain, averaged over the chains.
    pub seconds: f64,
    /// Likelihood evaluations of a chain, averaged.
    pub evaluations: f64,
    /// Steps of a chain, averaged.
    pub steps: f64,
    /// The risk there.
    pub risk: Risk,
}

/// The risk of the test functions `from .. from + truth.len()` at every checkpoint that all chains have reached, each squared error
/// divided by the square of its `scale` (1 leaves it as it is).
#[must_use]
pub fn risk_curve(chains: &[Trajectory], from: usize, truth: &[f64], scale: &[f64]) -> Vec<Point> {
    let reached = chains.iter().map(|chain| chain.checkpoints.len()).min().unwrap_or(0);
    let scaled = |values: &[f64]| -> Vec<f64> { values.iter().zip(scale).map(|(v, s)| v / s).collect() };
    let truth_scaled = scaled(truth);
    (0..reached)
        .map(|place| {
            let here: Vec<_> = chains.iter().map(|chain| &chain.checkpoints[place]).collect();
            let mean = |value: fn(&crate::trajectory::Checkpoint) -> f64| {
                here.iter().map(|point| value(point)).sum::<f64>() / here.len() as f64
            };
            let estimates: Vec<Vec<f64>> =
                here.iter().map(|point| scaled(&point.means[from..from + truth.len()])).collect();
            let estimates: Vec<&[f64]> = estimates.iter().map(Vec::as_slice).collect();
            Point {
                seconds: mean(|point| point.seconds),
                evaluations: mean(|point| point.evaluations as f64),
                steps: mean(|point| point.steps as f64),
                risk: risk(&estimates, &truth_scaled),
            }
        })
        .collect()
}
