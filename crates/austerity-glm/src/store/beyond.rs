//! What rows that are not stored add to the log-likelihood: a polynomial of the second order at a centre.
//!
//! A fit of data that do not fit in memory keeps some rows, each of a weight w_i, and sums over all rows. With g and H the gradient and the Hessian of the log-likelihood
//! of **all** rows at the centre θ̂, and those of the rows that are kept taken off,
//!
//! ```text
//! log p(data|θ) ≈ Σ_kept w_i ℓ_i(θ) + Δg·h + ½ h'ΔHh,   h = θ − θ̂
//! ```
//!
//! which is exact up to the second order, whatever rows are kept. Of higher orders the kept rows stand for the others (the difference estimator of survey sampling, Särndal, Swensson & Wretman
//! 1992, §6.3): the error of a log ratio is that of a sample of residuals, C·N^(−½)·√(1/m − 1/N). It is a fixed smooth function of θ: every rule that is exact is exact for this posterior.
//!
//! Of a Gaussian linear model the sums say all there is ([`LinearSums`]), and nothing is approximate.
//! Cost: d² multiply-adds per state. Not for posteriors whose mass is far from θ̂ in units of the posterior sds.

use serde::{Deserialize, Serialize};

use austerity::dot::dot;

/// What rows that are not stored add.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Beyond {
    /// Rows in all, stored or not.
    pub rows: u64,
    /// θ̂.
    pub centre: Vec<f64>,
    /// Δg.
    pub gradient: Vec<f64>,
    /// ΔH, row by row.
    pub hessian: Vec<f64>,
    /// The sums that a Gaussian linear model consists of, over all rows.
    pub linear: Option<LinearSums>,
}

/// Sums over rows that a Gaussian linear model consists of, in the units of the storage, z = (1, x̃).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LinearSums {
    /// Rows.
    pub rows: u64,
    /// W.
    pub weight: f64,
    /// Σ w z zᵀ, row by row.
    pub gram: Vec<f64>,
    /// Σ w z y.
    pub moment: Vec<f64>,
    /// Σ w y².
    pub square: f64,
}

impl LinearSums {
    /// Adds the sums over other rows.
    pub fn add(&mut self, other: &Self) {
        self.combine(other, 1.0);
    }

    /// Takes the sums over rows away that were added before.
    pub fn take_off(&mut self, other: &Self) {
        self.combine(other, -1.0);
    }

    fn combine(&mut self, other: &Self, sign: f64) {
        if self.gram.is_empty() {
            (self.gram, self.moment) = (vec![0.0; other.gram.len()], vec![0.0; other.moment.len()]);
        }
        self.rows = if sign > 0.0 { self.rows + other.rows } else { self.rows.saturating_sub(other.rows) };
        self.weight += sign * other.weight;
        self.square += sign * other.square;
        self.gram.iter_mut().zip(&other.gram).for_each(|(mine, theirs)| *mine += sign * theirs);
        self.moment.iter_mut().zip(&other.moment).for_each(|(mine, theirs)| *mine += sign * theirs);
    }
}

impl Beyond {
    /// What it adds at a state; 0 at the centre.
    #[must_use]
    pub fn value(&self, state: &[f64]) -> f64 {
        let moved: Vec<f64> = self.moved(state).collect();
        let rows = self.hessian.chunks_exact(moved.len().max(1));
        let curve: f64 = rows.zip(&moved).map(|(row, h)| h * dot(row, &moved)).sum();
        dot(&self.gradient, &moved) + 0.5 * curve
    }

    /// Adds its gradient.
    pub fn add_gradient(&self, state: &[f64], gradient: &mut [f64]) {
        let moved: Vec<f64> = self.moved(state).collect();
        let rows = self.hessian.chunks_exact(moved.len().max(1));
        for ((slot, own), row) in gradient.iter_mut().zip(&self.gradient).zip(rows) {
            *slot += own + dot(row, &moved);
        }
    }

    /// Adds its Hessian.
    pub fn add_hessian(&self, hessian: &mut [f64]) {
        hessian.iter_mut().zip(&self.hessian).for_each(|(slot, own)| *slot += own);
    }

    /// Its change when one parameter moves.
    #[must_use]
    pub fn change(&self, state: &[f64], parameter: usize, by: f64) -> f64 {
        let d = self.centre.len();
        let row = &self.hessian[parameter * d..][..d];
        let slope: f64 = row.iter().zip(self.moved(state)).map(|(entry, h)| entry * h).sum();
        by * (self.gradient[parameter] + slope) + 0.5 * by * by * row[parameter]
    }

    fn moved(&self, state: &[f64]) -> impl Iterator<Item = f64> {
        state.iter().zip(&self.centre).map(|(now, centre)| now - centre)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        let beyond = Beyond {
            rows: 10,
            centre: vec![0.5, -1.0],
            gradient: vec![0.3, 0.7],
            hessian: vec![-2.0, 0.4, 0.4, -1.0],
            linear: None,
        };
        let state = [1.25, 2.0];
        assert_eq!(beyond.value(&beyond.centre), 0.0);
        let mut gradient = vec![0.0; 2];
        beyond.add_gradient(&state, &mut gradient);
        for k in 0..2 {
            let at = |by: f64| {
                let mut moved = state;
                moved[k] += by;
                beyond.value(&moved)
            };
            assert!(((at(1e-5) - at(-1e-5)) / 2e-5 - gradient[k]).abs() < 1e-8);
            assert!((beyond.change(&state, k, 0.75) - (at(0.75) - at(0.0))).abs() < 1e-12);
        }
    }
}
