//! Every mode that matters: searches from dispersed starts, and what share of the posterior each mode holds.
//!
//! The Laplace evidence of a mode θ̂ with the curvature Σ⁻¹ there is
//!
//! ```text
//! E = log p(θ̂, y) + ½ log det Σ + ½ d log 2π,        share of mode k = e^(E_k) / Σ_j e^(E_j)
//! ```
//!
//! so that a mode counts by its mass, not by its height (Tierney & Kadane 1986). Modes closer than a tenth of a standard deviation are one.
//!
//! Cost: one search per start, [`find_mode`]'s passes each; searches that fail are left out. Do not use it where a theorem leaves room for one
//! mode only (log-concave likelihood and priors). It proves nothing: a mode that no start leads to is not found.

use nalgebra::{DMatrix, DVector};
use rand::RngExt as _;
use rand_distr::{Distribution as _, StandardNormal};

use crate::Priors;
use austerity::model::find_mode;
use austerity::model::{Curvature, Mode, Model};
use austerity::rng::Rng;

/// Distance, in posterior standard deviations, below which two modes are one.
const SAME: f64 = 0.1;
/// Random starts are up to so many posterior standard deviations from the mode.
const REACH: f64 = 100.0;
/// Single coefficients that are moved to where the prior, or the likelihood alone, has them.
const MOVED: usize = 12;
/// Draws from the prior, and random directions.
const DRAWN: usize = 4;

/// A mode and the share of the posterior that it holds.
#[derive(Clone, Debug, PartialEq)]
pub struct WeighedMode {
    /// The mode.
    pub mode: Mode,
    /// From 0 to 1, by the Laplace evidence.
    pub share: f64,
}

/// Climbs from every start; keeps each mode once.
pub fn distinct_modes<M>(model: &M, known: Vec<Mode>, starts: &[Vec<f64>]) -> Vec<Mode>
where
    M: Model<State = Vec<f64>> + Curvature,
{
    let mut modes = known;
    for start in starts {
        if let Ok(mode) = find_mode(model, start) {
            add_mode(&mut modes, mode);
        }
    }
    modes
}

/// Adds a mode that is not there yet.
pub fn add_mode(modes: &mut Vec<Mode>, mode: Mode) {
    if !modes.iter().any(|known| distance(known, &mode).min(distance(&mode, known)) < SAME) {
        modes.push(mode);
    }
}

/// Distance of `other` from `mode` in the standard deviations there.
fn distance(mode: &Mode, other: &Mode) -> f64 {
    let d = mode.state.len();
    let away = DVector::from_iterator(d, other.state.iter().zip(&mode.state).map(|(a, b)| a - b));
    match DMatrix::from_row_slice(d, d, &mode.covariance).cholesky() {
        Some(factor) => away.dot(&factor.solve(&away)).max(0.0).sqrt(),
        None => f64::INFINITY,
    }
}

/// The modes with their shares, the heaviest first. Their log densities must have the same constant.
#[must_use]
pub fn weigh(modes: Vec<Mode>) -> Vec<WeighedMode> {
    let evidence: Vec<f64> = modes
        .iter()
        .map(|mode| {
            let d = mode.state.len();
            let factor = DMatrix::from_row_slice(d, d, &mode.covariance).cholesky();
            let half = factor.map_or(f64::NEG_INFINITY, |factor| {
                factor.l_dirty().diagonal().iter().map(|entry| entry.ln()).sum::<f64>()
            });
            mode.log_density + half
        })
        .collect();
    let most = evidence.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let mass: Vec<f64> =
        evidence.iter().map(|e| if e.is_finite() { (e - most).exp() } else { 0.0 }).collect();
    let total: f64 = mass.iter().sum();
    let mut weighed: Vec<WeighedMode> = modes
        .into_iter()
        .zip(mass)
        .map(|(mode, mass)| WeighedMode { mode, share: if total > 0.0 { mass / total } else { 0.0 } })
        .collect();
    weighed.sort_by(|a, b| b.share.total_cmp(&a.share));
    weighed
}

/// Where a search may begin, the most telling first: the prior's centre; the mode of the likelihood and its mirror image; single coefficients
/// where the prior or the likelihood alone has them; draws from the prior; random directions from the mode.
///
/// `likelihood` is the mode without the prior, as far as there is one; `extra` holds starts of the parameters that follow the coefficients.
#[must_use]
pub fn dispersed_starts(
    priors: &Priors,
    mode: &Mode,
    likelihood: Option<&[f64]>,
    extra: &[f64],
    rng: &mut Rng,
) -> Vec<Vec<f64>> {
    let d = mode.state.len();
    let coefficients = d - extra.len();
    let centre: Vec<f64> = (0..coefficients)
        .map(|i| match priors[i].moments() {
            Some((mean, _)) => mean,
            None if let crate::Prior::Student { mean, .. } = priors[i] => mean,
            None => 0.0,
        })
        .collect();
    // α itself, where its prior is about α + x̄'β.
    let literal = |mut state: Vec<f64>| {
        if let Some(means) = priors.means() {
            state[0] -= means.iter().zip(&state[1..]).map(|(mean, beta)| mean * beta).sum::<f64>();
        }
        state.extend_from_slice(extra);
        state
    };
    let mut starts = vec![literal(centre.clone())];
    if let Some(likelihood) = likelihood {
        starts.push(likelihood.to_vec());
        let mirrored =
            (0..d).map(|i| if i < coefficients { 2.0 * starts[0][i] - likelihood[i] } else { likelihood[i] });
        let mirrored: Vec<f64> = mirrored.collect();
        starts.push(mirrored);
        // The coefficients that prior and likelihood disagree about most, in posterior standard deviations.
        let gap = |&i: &usize| (likelihood[i] - centre[i]).abs() / mode.covariance[i * d + i].sqrt();
        let first = usize::from(priors.means().is_some());
        let mut order: Vec<usize> = (first..coefficients).collect();
        order.sort_by(|a, b| gap(b).total_cmp(&gap(a)));
        for &i in order.iter().take(MOVED).filter(|_| !priors.are_log_concave()) {
            for value in [centre[i], likelihood[i]] {
                let mut moved = mode.state.clone();
                moved[i] = value;
                starts.push(moved);
            }
        }
    }
    for _ in 0..DRAWN {
        let drawn: Option<Vec<f64>> = priors[..coefficients].iter().map(|prior| prior.draw(rng)).collect();
        starts.extend(drawn.map(literal));
    }
    if let Some(factor) = DMatrix::from_row_slice(d, d, &mode.covariance).cholesky() {
        for _ in 0..DRAWN {
            let direction = DVector::from_fn(d, |_, _| -> f64 { StandardNormal.sample(rng) });
            let length = REACH.powf(rng.random::<f64>());
            let away = factor.l() * direction * length;
            let mut start: Vec<f64> = mode.state.iter().zip(away.iter()).map(|(s, a)| s + a).collect();
            start[coefficients..].copy_from_slice(extra);
            starts.push(start);
        }
    }
    starts.retain(|start| start.iter().all(|value| value.is_finite()));
    starts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Data, Linear, Noise, Prior, ResponseKind};

    /// y = 40 x + noise with the prior normal:1 of the slope: with a small σ the likelihood wins, with a large one the prior.
    fn conflict() -> Linear {
        let x: Vec<f64> = (0..100).map(|i| (f64::from(i) - 49.5) / 29.0).collect();
        let noise = (0..100).map(|i| (f64::from(i * 37 % 100) - 49.5) / 29.0);
        let y = x.iter().zip(noise).map(|(x, e)| 40.0 * x + e).collect();
        let data = Data::new(["x"], vec![x], y).intercept(false).check(ResponseKind::Real).unwrap();
        let noise = Noise::Unknown { prior: Prior::HalfStudent { freedom: 3.0, scale: 40.0 } };
        Linear::new(&data, [Prior::normal(1.0)], noise).unwrap()
    }

    #[test]
    fn a_mode_counts_by_its_mass() {
        let model = conflict();
        let found = find_mode(&model, &[39.0, 0.0]).unwrap();
        let priors = Priors::from([Prior::normal(1.0), Prior::HalfStudent { freedom: 3.0, scale: 40.0 }]);
        let mut rng = austerity::rng::stream(1, 0, austerity::rng::Role::Start);
        let starts = dispersed_starts(&priors, &found, Some(&found.state), &[40f64.ln()], &mut rng);
        let weighed = weigh(distinct_modes(&model, vec![found.clone()], &starts));
        assert_eq!(weighed.len(), 2, "{weighed:?}");
        // By quadrature over the slope, σ integrated out numerically.
        let (mut near, mut far) = (0.0f64, 0.0f64);
        let best = weighed[0].mode.log_density;
        for i in 0..4400 {
            for j in 0..300 {
                let state = vec![0.01 * f64::from(i), -0.5 + 0.02 * f64::from(j)];
                let mut gradient = [0.0; 2];
                let value =
                    austerity::model::Gradient::log_density_gradient(&model, &state, &mut gradient).unwrap();
                if i < 2000 { near += (value - best).exp() } else { far += (value - best).exp() }
            }
        }
        let share = near / (near + far);
        assert!(share > 0.999_999 && (weighed[0].share - share).abs() < 1e-3, "{share} {weighed:?}");
        assert!(weighed[0].mode.state[0] < 5.0 && weighed[1].mode.state[0] > 35.0, "{weighed:?}");
    }

    #[test]
    fn one_mode_is_kept_once() {
        let model = conflict();
        let near = find_mode(&model, &[0.0, 3.6]).unwrap();
        let modes = distinct_modes(&model, vec![near], &[vec![1.0, 3.5], vec![2.0, 3.7], vec![-1.0, 4.0]]);
        assert_eq!(modes.len(), 1, "{modes:?}");
    }
}
