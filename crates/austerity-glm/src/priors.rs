//! The prior of a whole state: one [`Prior`] per parameter, independent, with an intercept whose prior may hold at the column means.
//!
//! ```text
//! log π(θ) = log π_α(α + x̄'β) + Σ_j log π_j(β_j) + …        x̄ = 0 where the prior of the intercept is literal
//! ```
//!
//! α + x̄'β is the linear predictor of an average row. A prior for it means the same whatever the origin of the columns: a column `year`
//! needs no centring. States keep α itself. (Gelman, Jakulin, Pittau & Su 2008 centre columns for the same reason.)
//!
//! Models, modes and expansions ask a prior for five things, all of a whole state: [`Priors::log_density`], [`Priors::add_gradient`],
//! [`Priors::add_hessian`], [`Priors::change`] along one parameter and its [`Priors::tail`] there. Single priors are for those who print, check or draw from them.
//!
//! Cost: d evaluations, and d more multiplications where x̄ is not 0.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use crate::{Brake, PowerTail, Prior};
use austerity::dot::dot;
use austerity::error::{Error, Result};
use austerity::model::check_length;

/// A posterior whose prior can be looked at and exchanged.
pub trait WithPriors: Sized {
    /// The prior.
    fn priors(&self) -> &Priors;
    /// The same likelihood under another prior.
    fn with_priors(&self, priors: Priors) -> Result<Self>;
}

/// The prior of a state. It reads like the list of the single priors.
#[derive(Clone, PartialEq)]
pub struct Priors {
    each: Vec<Prior>,
    /// x̄, of the columns that follow the intercept.
    means: Option<Arc<[f64]>>,
    /// The first of parameters that rise to the last: elsewhere the density is 0.
    rising: Option<usize>,
}

/// What rises is the family's: those without have the text that they always had.
impl fmt::Debug for Priors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut all = f.debug_struct("Priors");
        all.field("each", &self.each).field("means", &self.means);
        if let Some(first) = self.rising {
            all.field("rising", &first);
        }
        all.finish()
    }
}

impl Priors {
    /// The parameters from this one on rise: where they do not, the density is 0.
    #[must_use]
    pub fn rising(self, first: Option<usize>) -> Self {
        Self { rising: first, ..self }
    }

    /// Whether what must rise does.
    #[inline]
    fn rises(&self, state: &[f64]) -> bool {
        self.rising.is_none_or(|first| state[first.min(state.len())..].is_sorted_by(|a, b| a < b))
    }

    /// The first prior is that of the intercept at the means of the columns, which follow it.
    #[must_use]
    pub fn at_means(self, means: &[f64]) -> Self {
        // Means of 0 change nothing, as where columns are standardised.
        let means = means.iter().any(|&mean| mean != 0.0).then(|| means.into());
        Self { means, ..self }
    }

    /// The column means at which the prior of the intercept holds; none where it holds at 0 of the columns.
    #[must_use]
    pub fn means(&self) -> Option<&[f64]> {
        self.means.as_deref()
    }

    /// The same with one prior more at the end.
    #[must_use]
    pub fn and(mut self, prior: Prior) -> Self {
        self.each.push(prior);
        self
    }

    /// The last prior, and the others.
    #[must_use]
    pub fn apart_from_last(mut self) -> Option<(Self, Prior)> {
        let last = self.each.pop()?;
        Some((self, last))
    }

    /// Puts another parameter in its place: literal, also that of the intercept.
    pub fn set(&mut self, parameter: usize, prior: Prior) {
        self.each[parameter] = prior;
        if parameter == 0 {
            self.means = None;
        }
    }

    /// The same without kinks: see [`Prior::smooth`].
    #[must_use]
    pub fn smooth(&self) -> Self {
        Self { each: self.each.iter().map(|prior| prior.smooth()).collect(), ..self.clone() }
    }

    /// Refuses a wrong number of priors, numbers that make none, and more column means than columns.
    pub fn check(&self, parameters: usize) -> Result<()> {
        check_length("priors", parameters, self.each.len())?;
        if self.means.as_ref().is_some_and(|means| means.len() >= parameters) {
            return Err(Error::Setting {
                name: "column means of the intercept's prior".into(),
                value: self.means.as_ref().map_or(0, |means| means.len()).to_string(),
                allowed: format!("fewer than the {parameters} parameters"),
            });
        }
        self.each.iter().try_for_each(Prior::check)
    }

    /// Whether every prior is log-concave, and with them the whole.
    #[must_use]
    pub fn are_log_concave(&self) -> bool {
        self.each.iter().all(Prior::is_log_concave)
    }

    /// What the first prior is about: the first parameter, or the linear predictor at the column means.
    #[inline]
    #[must_use]
    pub fn first(&self, state: &[f64]) -> f64 {
        match &self.means {
            None => state[0],
            Some(means) => state[0] + dot(means, &state[1..=means.len()]),
        }
    }

    /// Log density, up to a constant.
    #[inline]
    #[must_use]
    pub fn log_density(&self, state: &[f64]) -> f64 {
        let Some((first, rest)) = self.each.split_first() else { return 0.0 };
        if !self.rises(state) {
            return f64::NEG_INFINITY;
        }
        let rest: f64 = rest.iter().zip(&state[1..]).map(|(prior, &value)| prior.log_density(value)).sum();
        first.log_density(self.first(state)) + rest
    }

    /// The change of the log density when one parameter moves `by`.
    #[inline]
    #[must_use]
    pub fn change(&self, state: &[f64], parameter: usize, by: f64) -> f64 {
        let moved =
            |prior: &Prior, value: f64, by: f64| prior.log_density(value + by) - prior.log_density(value);
        if parameter == 0 {
            return moved(&self.each[0], self.first(state), by);
        }
        // Parameters that rise end at their neighbours.
        if self.rising.is_some_and(|first| parameter >= first) {
            let there = state[parameter] + by;
            let above = state.get(parameter + 1).is_none_or(|&next| there < next);
            let below = Some(parameter) == self.rising || state[parameter - 1] < there;
            if !(above && below) {
                return f64::NEG_INFINITY;
            }
        }
        let own = moved(&self.each[parameter], state[parameter], by);
        match &self.means {
            Some(means) if parameter <= means.len() => {
                own + moved(&self.each[0], self.first(state), by * means[parameter - 1])
            }
            _ => own,
        }
    }

    /// How the density falls along one parameter far out, where it falls like a power.
    #[must_use]
    pub fn tail(&self, parameter: usize) -> Option<PowerTail> {
        self.each.get(parameter).and_then(PowerTail::of)
    }

    /// What a normal prior of the intercept at the column means does to one parameter far out, the others as in `state`.
    #[must_use]
    pub fn brake(&self, state: &[f64], parameter: usize) -> Option<Brake> {
        let (Some(Prior::Normal { mean, sd }), Some(means)) = (self.each.first(), &self.means) else {
            return None;
        };
        let slope = *means.get(parameter.checked_sub(1)?)?;
        let rest = self.first(state) - slope * state[parameter];
        (slope != 0.0).then(|| Brake { centre: (mean - rest) / slope, sd: sd / slope.abs() })
    }

    /// Adds the gradient of the log density.
    pub fn add_gradient(&self, state: &[f64], gradient: &mut [f64]) {
        let Some((first, rest)) = self.each.split_first() else { return };
        let slope = first.derivatives(self.first(state)).0;
        gradient[0] += slope;
        for ((slot, prior), &value) in gradient[1..].iter_mut().zip(rest).zip(&state[1..]) {
            *slot += prior.derivatives(value).0;
        }
        if let Some(means) = &self.means {
            gradient[1..].iter_mut().zip(&**means).for_each(|(slot, mean)| *slot += slope * mean);
        }
    }

    /// Adds the Hessian of the log density to a d × d matrix, row by row. `limit` may replace the second derivative of a single prior.
    pub fn add_hessian(&self, state: &[f64], hessian: &mut [f64], limit: impl Fn(f64) -> f64) {
        let (Some((first, rest)), d) = (self.each.split_first(), self.each.len()) else { return };
        let curve = limit(first.derivatives(self.first(state)).1);
        for (i, (prior, &value)) in rest.iter().zip(&state[1..]).enumerate() {
            hessian[(i + 1) * (d + 1)] += limit(prior.derivatives(value).1);
        }
        let weight = |parameter: usize| match (&self.means, parameter) {
            (_, 0) => 1.0,
            (Some(means), _) => means.get(parameter - 1).copied().unwrap_or(0.0),
            (None, _) => 0.0,
        };
        let reach = self.means.as_ref().map_or(1, |means| 1 + means.len());
        for i in 0..reach {
            for j in 0..reach {
                hessian[i * d + j] += curve * weight(i) * weight(j);
            }
        }
    }

    /// The parameter's own direction in the coordinates where its prior is about one number: the unit vector, and for the first
    /// parameter (1, x̄, 0 …).
    #[must_use]
    pub fn direction(&self, parameter: usize) -> Vec<f64> {
        let mut direction = vec![0.0; self.each.len()];
        direction[parameter] = 1.0;
        if let (0, Some(means)) = (parameter, &self.means) {
            direction[1..].iter_mut().zip(&**means).for_each(|(slot, &mean)| *slot = mean);
        }
        direction
    }
}

impl Deref for Priors {
    type Target = [Prior];

    fn deref(&self) -> &[Prior] {
        &self.each
    }
}

impl From<Vec<Prior>> for Priors {
    fn from(each: Vec<Prior>) -> Self {
        Self { each, means: None, rising: None }
    }
}

impl From<&[Prior]> for Priors {
    fn from(each: &[Prior]) -> Self {
        each.to_vec().into()
    }
}

impl From<&Vec<Prior>> for Priors {
    fn from(each: &Vec<Prior>) -> Self {
        each.clone().into()
    }
}

impl<const N: usize> From<[Prior; N]> for Priors {
    fn from(each: [Prior; N]) -> Self {
        each.to_vec().into()
    }
}

impl<const N: usize> From<&[Prior; N]> for Priors {
    fn from(each: &[Prior; N]) -> Self {
        each.to_vec().into()
    }
}

impl From<&Self> for Priors {
    fn from(priors: &Self) -> Self {
        priors.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn priors() -> Priors {
        let each = [
            Prior::Normal { mean: 3.0, sd: 2.0 },
            Prior::student(3.0, 1.0),
            Prior::normal(0.5),
            Prior::HalfNormal { scale: 2.0 },
        ];
        Priors::from(each).at_means(&[2.0, -1.0])
    }

    #[test]
    fn the_intercept_is_judged_at_the_column_means() {
        let (priors, state) = (priors(), [1.0, 0.5, -0.25, 0.1]);
        let alone: f64 = priors[1..].iter().zip(&state[1..]).map(|(p, &v)| p.log_density(v)).sum();
        // 1 + 2·0.5 + 1·0.25 = 2.25.
        let truth = alone - 0.5 * (0.75f64 / 2.0).powi(2);
        assert!((priors.log_density(&state) - truth).abs() < 1e-12);
        let literal = Priors::from(&priors[..]);
        assert!((literal.log_density(&state) - alone + 0.5).abs() < 1e-12);
        assert_eq!(literal.clone().at_means(&[0.0, 0.0]), literal);
        let mut typed = priors;
        typed.set(0, Prior::normal(1.0));
        assert!(typed.means().is_none());
    }

    #[test]
    fn derivatives_and_changes_are_those_of_the_density() {
        let (priors, state, h) = (priors(), [1.0, 0.5, -0.25, 0.1], 1e-4);
        let d = state.len();
        let (mut gradient, mut hessian) = (vec![0.0; d], vec![0.0; d * d]);
        priors.add_gradient(&state, &mut gradient);
        priors.add_hessian(&state, &mut hessian, |second| second);
        let at = |moves: &[(usize, f64)]| {
            let mut there = state;
            moves.iter().for_each(|&(i, by)| there[i] += by);
            priors.log_density(&there)
        };
        for i in 0..d {
            let slope = (at(&[(i, h)]) - at(&[(i, -h)])) / (2.0 * h);
            assert!((gradient[i] - slope).abs() < 1e-6, "{i}: {} {slope}", gradient[i]);
            assert!((priors.change(&state, i, 0.3) - at(&[(i, 0.3)]) + at(&[])).abs() < 1e-12, "{i}");
            for j in 0..d {
                let up = at(&[(i, h), (j, h)]) + at(&[(i, -h), (j, -h)]);
                let down = at(&[(i, h), (j, -h)]) + at(&[(i, -h), (j, h)]);
                let curve = (up - down) / (4.0 * h * h);
                assert!((hessian[i * d + j] - curve).abs() < 1e-5, "{i} {j}: {} {curve}", hessian[i * d + j]);
            }
        }
        assert_eq!(priors.direction(0), [1.0, 2.0, -1.0, 0.0]);
        // 1 + 2·β + 0.25 is 3 at β = 0.875, and one sd of 2 away at 1 more.
        assert_eq!(priors.brake(&state, 1), Some(Brake { centre: 0.875, sd: 1.0 }));
        assert_eq!((priors.brake(&state, 0), priors.brake(&state, 3)), (None, None));
    }

    #[test]
    fn what_does_not_rise_has_no_density() {
        let priors = Priors::from(vec![Prior::normal(1.0); 4]).rising(Some(2));
        let free = Priors::from(vec![Prior::normal(1.0); 4]);
        let state = [0.5, -3.0, -0.2, 0.3];
        assert_eq!(priors.log_density(&state), free.log_density(&state));
        assert_eq!(priors.log_density(&[0.5, -3.0, 0.3, 0.3]), f64::NEG_INFINITY);
        for (parameter, by, fine) in
            [(3, -0.4, true), (3, -0.5, false), (2, 0.5, false), (2, -9.0, true), (1, 9.0, true)]
        {
            let (change, plain) = (priors.change(&state, parameter, by), free.change(&state, parameter, by));
            assert_eq!(change, if fine { plain } else { f64::NEG_INFINITY }, "{parameter} {by}");
        }
        assert_ne!(format!("{priors:?}"), format!("{free:?}"));
        assert!(format!("{free:?}").ends_with("means: None }"));
    }

    #[test]
    fn one_parameter_is_enough() {
        let (priors, mut hessian) = (Priors::from([Prior::normal(0.5)]), [0.0]);
        priors.add_hessian(&[1.0], &mut hessian, |second| second);
        assert_eq!((hessian, priors.log_density(&[1.0])), ([-4.0], -2.0));
        assert_eq!(Priors::from(Vec::new()).log_density(&[]), 0.0);
    }

    #[test]
    fn what_makes_no_prior_is_refused() {
        assert!(priors().check(4).is_ok() && priors().check(3).is_err());
        assert!(Priors::from([Prior::normal(1.0)]).at_means(&[1.0]).check(1).is_err());
        assert!(Priors::from([Prior::normal(-1.0)]).check(1).is_err());
        assert!(!priors().are_log_concave());
    }
}
