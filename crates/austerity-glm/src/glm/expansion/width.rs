//! Are there too many coefficients for tests on residuals? Predicted from a few thousand rows, before anything is expanded.
//!
//! With h = θ − θ̂ a typical displacement, a second-order expansion leaves R_i(h) of row i, of the order of (d/N)^{3/2}. Two numbers matter. The **spread** is the sd of Σ R_i over the posterior:
//! candidates of the normal approximation have a log ratio of √2 times that. **S** = √(2N)·sd(R_i) ∝ d^{3/2}/N is the sd of a sampled total once half of the rows are read: a sample of n rows has the
//! standard error S·√(N/n − 1). A sequential test with critical value G reads on until its error is a G-th of the distance g from the threshold, or τ; with g about exponential,
//!
//! ```text
//! share read = ∫ e^{−g} / (1 + (max(g/G, τ)/S)²) dg          effective draws per draw = 1/(2e^{3·spread²} − 1)
//! ```
//!
//! The second is rough: a chain of independent candidates stays where it is for as long as its weight is large, and e^{3·spread²} is the mean square of a log-normal weight over the posterior. (300,000 rows and 1,000
//! columns: a share of 0.17 predicted and 0.24 read, a spread of 0.9 predicted and 1.1 measured, 43 % accepted, and the worst of 1,001 coefficients worth a hundredth of a draw.)
//!
//! Cost: 32 products of 4,096 rows with displacements. The heaviest hundredth of the rows is left out of sd(R_i), since a certainty stratum would hold it. Not a promise: a sample does not see
//! columns that are zero in it.

use super::super::blocks::BLOCK;
use super::super::precise::predictor;
use super::super::{Family, Glm, Kernel as _};
use austerity::error::Result;
use austerity::proposal::{Proposal as _, RandomWalk};
use austerity::rng::{Role, stream};

/// Rows that are looked at, and displacements.
const ROWS: usize = 4096;
const PLACES: usize = 32;
/// Share of the rows that a stratum would hold.
const HEAVY: f64 = 0.01;
/// Critical value of the usual test on residuals.
const CRITICAL: f64 = 2.33;
/// Rows of its first look.
const FIRST: f64 = 64.0;
/// Distances from the threshold that the integral is a sum over, and the last of them.
const DISTANCES: usize = 400;
const LAST: f64 = 10.0;

/// What an expansion of the second order would leave to tests.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width {
    /// Predicted standard error of a log ratio after 64 rows.
    pub standard_error: f64,
    /// Share of the rows that a decision would read.
    pub share: f64,
    /// Standard deviation of the residuals' total over the posterior.
    pub spread: f64,
}

impl Width {
    /// Predicts for `model` with a mode `mode` whose covariance is that of `shape`, and a test that stops at the standard error `tolerance`.
    pub fn predict<F: Family>(
        model: &Glm<F>,
        mode: &[f64],
        shape: &RandomWalk,
        tolerance: f64,
    ) -> Result<Self> {
        let view = model.blocks().view();
        let (layout, all) = (view.layout(), model.blocks().rows() as f64);
        let blocks = view.count().min(ROWS / BLOCK);
        let centre = model.exact_predictor(mode);
        let extra = model.extra(mode);
        let mut rng = stream(0, u32::MAX, Role::Start);
        let (mode, mut cloud) = (mode.to_vec(), shape.clone());
        let mut state = mode.clone();
        let (mut totals, mut variance, mut rows) = (Vec::new(), 0.0, 0);
        let mut eta = vec![[0.0; BLOCK]; blocks];
        for (block, eta) in eta.iter_mut().enumerate() {
            *eta = predictor(layout, view.block(block), &centre);
        }
        for _ in 0..PLACES {
            cloud.propose(&mode, &mut state, &mut rng)?;
            let moved: Vec<f64> =
                model.exact_predictor(&state).iter().zip(&centre).map(|(a, b)| a - b).collect();
            let expanded = <F::Kernel>::expanded(&model.family, extra, extra, model.extra(&state));
            let mut left = Vec::with_capacity(blocks * BLOCK);
            for (block, eta) in eta.iter().enumerate() {
                let lines = view.block(block);
                let delta = predictor(layout, lines, &moved);
                for i in 0..view.rows_in(block) {
                    let side = |place: Option<usize>, missing: f64| {
                        place.map_or(missing, |place| f64::from(lines[2 * place + i / 16].0[i % 16]))
                    };
                    let eta = eta[i] + side(layout.offset, 0.0);
                    let (response, trials) = (side(Some(layout.response), 0.0), side(layout.trials, 1.0));
                    let row = <F::Kernel>::residual(&expanded, eta, [0.0, delta[i]], response, trials, false);
                    left.push(side(layout.weight, 1.0) * row);
                }
            }
            rows = left.len();
            let mean = left.iter().sum::<f64>() / rows as f64;
            totals.push(all * mean);
            left.iter_mut().for_each(|value| *value = (*value - mean).abs());
            left.sort_unstable_by(f64::total_cmp);
            let kept = &left[..rows - (HEAVY * rows as f64) as usize];
            variance += kept.iter().map(|value| value * value).sum::<f64>() / (kept.len() * PLACES) as f64;
        }
        let sampling = all * all * variance * (1.0 / rows as f64 - 1.0 / all).max(0.0);
        let mean = totals.iter().sum::<f64>() / PLACES as f64;
        let square = totals.iter().map(|total| (total - mean).powi(2)).sum::<f64>() / (PLACES - 1) as f64;
        let half = (2.0 * all * variance).sqrt();
        Ok(Self {
            standard_error: half * (all / FIRST).sqrt(),
            share: share(half, tolerance),
            spread: (square - sampling).max(0.0).sqrt(),
        })
    }

    /// Effective draws per draw, roughly, of candidates from the normal approximation.
    #[must_use]
    pub fn worth(&self) -> f64 {
        1.0 / (2.0 * (3.0 * self.spread * self.spread).exp() - 1.0)
    }

    /// The same per pass over all rows; decisions that hardly read cost a hundredth of one.
    #[must_use]
    pub fn worth_per_pass(&self) -> f64 {
        self.worth() / self.share.max(0.01)
    }
}

/// The share of the rows that a test reads on average, with S = `half`.
fn share(half: f64, tolerance: f64) -> f64 {
    let width = LAST / DISTANCES as f64;
    (0..DISTANCES)
        .map(|k| {
            let distance = (k as f64 + 0.5) * width;
            let error = (distance / CRITICAL).max(tolerance) / half;
            width * (-distance).exp() / (1.0 + error * error)
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Logistic, ResponseKind, generate};
    use austerity::model::find_mode;

    fn width(rows: usize, columns: usize) -> Width {
        let data = generate::logistic(rows, columns).seed(2).build().unwrap().data;
        let data = data.check(ResponseKind::Binary).unwrap();
        let priors = data.default_priors();
        let model = Glm::new(Logistic, &data, priors).unwrap();
        let mode = find_mode(&model, &vec![0.0; columns + 1]).unwrap();
        let shape = RandomWalk::dense(columns + 1, &mode.covariance).unwrap();
        Width::predict(&model, &mode.state, &shape, 0.03).unwrap()
    }

    /// The geometry of 1,000 columns and 300,000 rows at a small size is too wide for tests on residuals, and ordinary data are not.
    #[test]
    fn many_columns_are_seen_coming() {
        let wide = width(6_000, 150);
        assert!(wide.worth_per_pass() < 0.5 && wide.share > 0.3 && wide.spread > 0.7, "{wide:?}");
        for (rows, columns) in [(20_000, 10), (50_000, 20), (40_000, 70)] {
            let narrow = width(rows, columns);
            assert!(narrow.worth_per_pass() > 2.0, "{rows} × {columns}: {narrow:?}");
        }
    }

    /// sd(R_i) goes with (d/N)^{3/2}: four times the rows leave a quarter of S.
    #[test]
    fn the_error_falls_with_the_rows() {
        let error = |rows: usize| width(rows, 40).standard_error / (rows as f64).sqrt();
        let ratio = error(4_000) / error(16_000);
        assert!((2.5..6.5).contains(&ratio), "{ratio}");
    }

    #[test]
    fn a_test_reads_nothing_of_small_residuals_and_all_of_large_ones() {
        assert!(share(1e-4, 0.03) < 1e-3 && share(100.0, 0.03) > 0.97);
        assert!((share(0.104, 0.03) - 0.3).abs() < 0.05);
    }
}
