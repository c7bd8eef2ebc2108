//! Do the prior and the data contradict each other?
//!
//! At the mode the log posterior of a coefficient, the other coefficients profiled out and σ as it is there, is nearly quadratic with variance V. (With
//! σ profiled out it need not even be concave: a prior that wins makes σ large.) Taking its prior out of it, with
//! first and second derivative g and −D there, leaves what the likelihood (and the other priors) say:
//!
//! ```text
//! precision  L = 1/V − D        centre  c = θ̂ − g/L        z = |c − m| / √(s² + 1/L)
//! ```
//!
//! with m and s the mean and sd of the prior (Evans & Moshonov 2006; the cavity of Minka 2001). |z| > 4 is a conflict: under the prior
//! such data have a chance of 6 in 100,000. Parameters whose prior has no sd (heavy tails, flat) are in conflict with nothing.
//!
//! Where the likelihood has no bound on one side (separated columns) c is a number but not an estimate; whoever finds a conflict asks the
//! likelihood itself ([`Conflict::beyond`]). Cost: d² operations.

use nalgebra::{DMatrix, DVector};

use crate::Priors;
use austerity::model::Mode;

/// z beyond which prior and data are in conflict.
pub const CONFLICT: f64 = 4.0;
/// Share of the precision at the mode that the likelihood must have to say anything.
const LEAST: f64 = 1e-6;

/// What prior and likelihood say of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub struct Conflict {
    /// Which.
    pub parameter: usize,
    /// Mean and sd of the prior.
    pub prior: (f64, f64),
    /// Centre and sd of the likelihood.
    pub likelihood: (f64, f64),
    /// Their distance in standard deviations.
    pub z: f64,
    /// Two states along the profile of the likelihood: at its centre, and three of its sds farther from the prior. Where the second is as likely as
    /// the first, the likelihood has no bound there.
    pub beyond: [Vec<f64>; 2],
}

/// The parameters with |z| > `limit`, at a mode that was found with these priors.
#[must_use]
pub fn prior_conflicts(priors: &Priors, mode: &Mode, limit: f64) -> Vec<Conflict> {
    let d = mode.state.len();
    let covariance = DMatrix::from_row_slice(d, d, &mode.covariance);
    let given = given_scales(&covariance, priors);
    (0..d)
        .filter_map(|parameter| {
            let covariance = if priors[parameter].is_positive() { &covariance } else { &given };
            conflict(priors, mode, covariance, parameter)
        })
        .filter(|found| found.z > limit)
        .collect()
}

/// The covariance given the positive parameters: V − V_s V_ss⁻¹ V_s', one after the other.
fn given_scales(covariance: &DMatrix<f64>, priors: &Priors) -> DMatrix<f64> {
    let mut given = covariance.clone();
    for (s, _) in priors.iter().enumerate().filter(|(_, prior)| prior.is_positive()) {
        let (column, variance) = (given.column(s).clone_owned(), given[(s, s)]);
        if variance > 0.0 {
            given -= &column * column.transpose() / variance;
        }
    }
    given
}

fn conflict(priors: &Priors, mode: &Mode, covariance: &DMatrix<f64>, parameter: usize) -> Option<Conflict> {
    let prior = &priors[parameter];
    let (mean, sd) = prior.moments()?;
    let direction = DVector::from_vec(priors.direction(parameter));
    let profile = covariance * &direction;
    let variance = direction.dot(&profile);
    let here = direction.dot(&DVector::from_column_slice(&mode.state));
    let (slope, curve) = prior.derivatives(here);
    let precision = 1.0 / variance + curve;
    if !(variance > 0.0 && precision > LEAST / variance) {
        return None;
    }
    let (centre, spread) = (here - slope / precision, precision.powf(-0.5));
    // A positive parameter's prior is stated for itself, its state is the logarithm.
    let (at, wide) =
        if prior.is_positive() { (centre.exp(), centre.exp() * spread) } else { (centre, spread) };
    let z = (at - mean).abs() / sd.hypot(wide);
    let along = |to: f64| -> Vec<f64> {
        mode.state.iter().zip(profile.iter()).map(|(s, p)| s + p * (to - here) / variance).collect()
    };
    let side = if at >= mean { 3.0 } else { -3.0 };
    let beyond = [along(centre), along(centre + side * spread)];
    z.is_finite().then_some(Conflict { parameter, prior: (mean, sd), likelihood: (at, wide), z, beyond })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, Linear, Noise, Prior, ResponseKind};
    use austerity::model::find_mode;

    fn linear(prior: Prior) -> (Linear, Priors) {
        let x: Vec<f64> = (0..400).map(|i| 3.0 + (f64::from(i) - 199.5) / 115.0).collect();
        let noise = (0..400).map(|i| 2.0 * (f64::from(i * 37 % 400) - 199.5) / 115.0);
        let y = x.iter().zip(noise).map(|(x, e)| 1.0 + 5.0 * x + e).collect();
        let data = Data::new(["x"], vec![x], y).check(ResponseKind::Real).unwrap();
        let priors = Priors::from([Prior::normal(100.0), prior]).at_means(&[3.0]);
        (Linear::new(&data, &priors, Noise::Known { sd: 2.0 }).unwrap(), priors)
    }

    /// With a known σ everything is normal: prior and likelihood are taken apart exactly.
    #[test]
    fn prior_and_likelihood_are_taken_apart() {
        for (prior, expected) in [
            (Prior::normal(1.0), true),
            (Prior::normal(1.0).around(4.5), false),
            (Prior::normal(2.0), false),
            (Prior::student(1.0, 0.01), false),
        ] {
            let (model, priors) = linear(prior);
            let mode = find_mode(&model, &[0.0, 0.0]).unwrap();
            let found = prior_conflicts(&priors, &mode, CONFLICT);
            assert_eq!(!found.is_empty(), expected, "{prior}: {found:?}");
            for conflict in found {
                let (centre, sd) = conflict.likelihood;
                // Least squares: 5 within rounding of the noise, sd 2/√400 = 0.1.
                assert!((centre - 5.0).abs() < 0.1 && (sd - 0.1).abs() < 1e-3, "{conflict:?}");
                assert!((conflict.z - centre / 1.01f64.sqrt()).abs() < 0.05, "{conflict:?}");
                assert!((conflict.beyond[1][1] - centre - 0.3).abs() < 1e-2, "{conflict:?}");
            }
        }
    }
}
