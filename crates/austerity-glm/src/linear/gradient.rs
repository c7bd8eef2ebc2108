//! The gradient of a batch of rows of a Gaussian linear model.
//!
//! With r the residual and w the weight of a row: Σ w·r/σ²·(1, x̃) in the centred and scaled columns, carried to the
//! user's, and Σ w·(r²/σ² − 1) for log σ. Needs the rows ([`Linear::new`] or [`Linear::from_store`]); the whole
//! gradient from the statistics ([`austerity::model::Gradient`]) reads none and is better wherever it will do.

use super::ratio::no_rows;
use super::{Linear, Noise};
use crate::gradients::{At, BatchGradient, check_request};
use austerity::dot::dot;
use austerity::error::Result;

/// Working memory of a gradient.
#[derive(Clone, Debug, Default)]
pub struct LinearWorkspace {
    row: Vec<f64>,
    point: Vec<f64>,
    scaled: Vec<f64>,
    carried: Vec<f64>,
}

impl BatchGradient for Linear {
    type Workspace = LinearWorkspace;

    fn dimension(&self) -> usize {
        Linear::dimension(self)
    }

    fn add_gradient(&self, at: At<'_>, workspace: &mut LinearWorkspace, gradient: &mut [f64]) -> Result<()> {
        check_request(self, at, gradient)?;
        let At { state, batch } = at;
        let stored = self.rows.as_ref().ok_or_else(no_rows)?;
        let LinearWorkspace { row, point, scaled, carried } = workspace;
        let stride = self.statistics.centre.len();
        for buffer in [&mut *row, &mut *point, &mut *scaled] {
            buffer.clear();
            buffer.resize(stride, 0.0);
        }
        carried.clear();
        carried.resize(self.coefficients, 0.0);
        self.to_scaled(|j| state[j], point);
        point[0] -= self.statistics.level;
        let precision = (-2.0 * self.log_sigma(state)).exp();
        let mut spread = 0.0;
        for position in batch.ranges().flatten() {
            let weight = stored.read(position, row);
            let (x, target) = (&row[..stride - 1], row[stride - 1]);
            let residual = target - point[0] - dot(x, &point[1..]);
            let pull = weight * residual * precision;
            scaled[0] += pull;
            scaled[1..].iter_mut().zip(x).for_each(|(sum, x)| *sum += pull * x);
            spread += pull * residual - weight;
        }
        self.pull_back(scaled, carried);
        gradient.iter_mut().zip(&*carried).for_each(|(g, part)| *g += part);
        if let Noise::Unknown { .. } = self.noise {
            gradient[self.coefficients] += spread;
        }
        Ok(())
    }

    fn add_prior_gradient(&self, state: &[f64], _: &mut LinearWorkspace, gradient: &mut [f64]) -> Result<()> {
        self.priors.add_gradient(state, gradient);
        Ok(())
    }
}
