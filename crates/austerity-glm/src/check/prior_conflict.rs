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
//! Where the likelihood is not quadratic between θ̂ and c, c is a number but not an estimate: short of the maximum of a logistic likelihood, and anything where
//! there is no maximum (separated columns). So whoever finds a conflict climbs again without that prior and takes the numbers from there
//! ([`Conflict::at_likelihood`]), or, where no maximum is found, asks whether the likelihood falls at all ([`Conflict::beyond`]). Cost: d² operations.

use nalgebra::{DMatrix, DVector};

use crate::{Prior, Priors};
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

impl Conflict {
    /// The same with the maximum of the likelihood in place of what the curvature at the mode makes of it. `alone` is the mode without this prior.
    #[must_use]
    pub fn at_likelihood(&self, priors: &Priors, alone: &Mode) -> Self {
        let d = alone.state.len();
        let direction = DVector::from_vec(priors.direction(self.parameter));
        let covariance = DMatrix::from_row_slice(d, d, &alone.covariance);
        let spread = direction.dot(&(covariance * &direction)).max(0.0).sqrt();
        let centre = direction.dot(&DVector::from_column_slice(&alone.state));
        let (likelihood, z) = apart(&priors[self.parameter], self.prior, (centre, spread));
        Self { likelihood, z, ..self.clone() }
    }
}

/// Centre and sd of the likelihood on the scale of the prior, from those of the state, and z.
fn apart(prior: &Prior, (mean, sd): (f64, f64), (centre, spread): (f64, f64)) -> ((f64, f64), f64) {
    // A positive parameter's prior is stated for itself, its state is the logarithm.
    let likelihood =
        if prior.is_positive() { (centre.exp(), centre.exp() * spread) } else { (centre, spread) };
    (likelihood, (likelihood.0 - mean).abs() / sd.hypot(likelihood.1))
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
    let (likelihood, z) = apart(prior, (mean, sd), (centre, spread));
    let along = |to: f64| -> Vec<f64> {
        mode.state.iter().zip(profile.iter()).map(|(s, p)| s + p * (to - here) / variance).collect()
    };
    let side = if likelihood.0 >= mean { 3.0 } else { -3.0 };
    let beyond = [along(centre), along(centre + side * spread)];
    z.is_finite().then_some(Conflict { parameter, prior: (mean, sd), likelihood, z, beyond })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, Linear, Logistic, Noise, ResponseKind, WithPriors as _};
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

    /// A logistic likelihood is flatter at its maximum than at a prior far from it: the curvature at the mode puts the centre short of that maximum, where the likelihood three of
    /// those sds on has not fallen. The maximum itself, 2, tells.
    #[test]
    fn a_likelihood_that_is_not_quadratic_is_asked_where_its_maximum_is() {
        let x: Vec<f64> = (0..4000).map(|i| (f64::from(i % 2000) - 999.5) / 577.0).collect();
        // Success where a number that is spread evenly lies below the probability at slope 2.
        let even = |i: u32| (f64::from(i) * 0.618_033_988_749_894_9).fract();
        let y =
            (0..4000u32).map(|i| f64::from(u8::from(even(i) < 1.0 / (1.0 + (-2.0 * x[i as usize]).exp()))));
        let data = Data::new(["x"], vec![x.clone()], y.collect())
            .intercept(false)
            .check(ResponseKind::Binary)
            .unwrap();
        let priors = Priors::from([Prior::normal(0.2).around(-2.0)]);
        let model = crate::Glm::new(Logistic, &data, &priors).unwrap();
        let mode = find_mode(&model, &[0.0]).unwrap();
        let found = prior_conflicts(&priors, &mode, CONFLICT);
        let short = found[0].likelihood.0;
        let alone = find_mode(&model.with_priors(Priors::from([Prior::Flat])).unwrap(), &mode.state).unwrap();
        let told = found[0].at_likelihood(&priors, &alone);
        let maximum = told.likelihood.0;
        assert!(short < maximum - 0.02 && (maximum - 2.0).abs() < 0.05, "{short} {told:?}");
        assert!((told.likelihood.1 - 0.06).abs() < 0.03 && told.z > 15.0, "{told:?}");
    }
}
