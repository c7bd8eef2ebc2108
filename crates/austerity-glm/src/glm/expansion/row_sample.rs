//! A posterior of few rows that stand for all: what leapfrog paths follow where a Taylor expansion does not hold.
//!
//! With few events the log-likelihood is no polynomial over the width of its posterior: that of an intercept with S events is S·(h − e^h), and with S = 1 its left tail is as long as the prior lets it be. A
//! weighted sample of the rows keeps the shape:
//!
//! ```text
//! log q(θ) = log prior(θ) + Σ_sample w_i [ℓ_i(θ) − ℓ_i(θ̂)] + (g − Σ_sample w_i g_i)·(θ − θ̂)
//! ```
//!
//! g is the gradient of all rows at θ̂, so q has the slope of the posterior there. Responses enter the log-likelihood of a canonical link linearly, so the sample need not hold a single event. Rows are drawn
//! with probabilities in proportion to their scores ([`super::scores`]: what each leaves of a second-order expansion within two posterior sds), with a floor for rows near the centre; those that would be drawn more
//! than once are taken for certain. With m rows the third-order part of log q is off by about 1/√m of itself. A model of hardly more rows than the sample is taken whole.
//!
//! Only proposals come of it, never decisions: a poor sample costs acceptance, not exactness. Cost: two passes to draw; m·d multiply-adds and m derivatives a gradient. Not needed where an expansion holds, whose
//! gradient costs d² numbers.

use std::sync::Arc;

use rand::RngExt as _;

use super::certain::{CertainRows, Slopes};
use super::{ExpansionReport, GlmExpansion, centre, scores};
use crate::glm::blocks::BLOCK;
use crate::glm::{Family, Glm, derivative};
use crate::simd::eight::strips;
use crate::surrogate::Expansion as _;
use austerity::error::Result;
use austerity::model::{LogDensity, Model as _};
use austerity::population::relocated;
use austerity::rng::{Role, stream};

/// Share of the draws that go to all rows alike.
const FLOOR: f64 = 0.2;

/// A weighted sample of the rows of a model.
#[derive(Clone, Debug)]
pub struct RowSample<F: Family> {
    /// An expansion of the first order whose stratum is the sample; its residuals are never asked for.
    expansion: GlmExpansion<F>,
}

impl<F: Family> RowSample<F> {
    /// About `rows` rows of `model` that stand for all about `centre`, the mode or close to it. A function of model, centre and number alone.
    pub fn new(model: &Glm<F>, centre: &[f64], rows: usize, threads: usize) -> Result<Self> {
        let threaded = &model.clone().with_threads(threads);
        threaded.check_state(&centre.to_vec())?;
        let found = centre::find(threaded, centre, true)?;
        let number = model.blocks().rows();
        let (positions, weights) = if number <= 2 * rows.max(1) {
            ((0..number as u32).collect(), None)
        } else {
            let (scores, _) = scores::of_all(threaded, &found, false, false)?;
            let (positions, weights) = drawn(&scores[..number], rows.max(1));
            (positions, Some(weights))
        };
        let part = model.subset(&positions, weights.as_deref())?;
        let d = model.parameters();
        let centre::Centre { state, gradient, eta, covariance, mode, .. } = found;
        let (mut slope, mut curvature) = (vec![0.0; d], vec![0.0; d * d]);
        derivative::of_likelihood(&part, &state, &mut slope, &mut curvature)
            .map_err(|error| relocated(error, |position| model.original(position)))?;
        let tilt = gradient.iter().zip(&slope).map(|(all, own)| all - own).collect();
        let mut own: Vec<f32> = positions.iter().map(|&p| eta[p as usize]).collect();
        own.resize(part.blocks().count() * BLOCK, 0.0);
        let stratum = Some(CertainRows::new(part, own, &state));
        let expansion = GlmExpansion {
            model: model.clone(),
            order: 1,
            centre: state,
            mode,
            covariance,
            active: (0..d as u32).collect(),
            linear: tilt,
            quadratic: strips(d, d, &|_, _| 0.0),
            cubic: None,
            stratum,
            apart: Vec::new(),
            blocks: model.blocks().clone(),
            compact: false,
            places: None,
            coding: model.coding.clone(),
            eta: Arc::default(),
            scale: 1.0,
            limit: None,
            bounds: None,
            report: ExpansionReport::default(),
        };
        Ok(Self { expansion })
    }

    /// The model of all rows.
    #[must_use]
    pub fn model(&self) -> &Glm<F> {
        &self.expansion.model
    }

    /// Rows of the sample.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.expansion.stratum().map_or(0, CertainRows::rows)
    }

    /// θ̂.
    #[must_use]
    pub fn centre(&self) -> &[f64] {
        &self.expansion.centre
    }

    /// Covariance at θ̂, of all rows, d × d row by row.
    #[must_use]
    pub fn covariance(&self) -> &[f64] {
        &self.expansion.covariance
    }

    /// log q, up to a constant.
    #[must_use]
    pub fn log_density(&self, state: &[f64]) -> f64 {
        self.expansion.log_density(state)
    }

    /// log q with its gradient, for leapfrog paths.
    #[must_use]
    pub fn density(&self) -> SampleDensity<'_, F> {
        SampleDensity { sample: self, slopes: Slopes::default() }
    }
}

/// Positions, ascending, and the number of rows that each stands for.
fn drawn(scores: &[f32], rows: usize) -> (Vec<u32>, Vec<f64>) {
    let total: f64 = scores.iter().map(|&score| f64::from(score)).sum();
    let each = rows as f64 * if total > 0.0 { FLOOR } else { 1.0 } / scores.len() as f64;
    let factor = if total > 0.0 { rows as f64 * (1.0 - FLOOR) / total } else { 0.0 };
    let (mut positions, mut weights) = (Vec::with_capacity(rows), Vec::with_capacity(rows));
    // Systematic sampling: rows are in random order.
    let mut passed: f64 = stream(0, 3, Role::Shuffle).random();
    for (position, &score) in scores.iter().enumerate() {
        let expected = each + factor * f64::from(score);
        let weight = if expected >= 1.0 {
            1.0
        } else {
            passed += expected;
            if passed < 1.0 {
                continue;
            }
            passed -= 1.0;
            1.0 / expected
        };
        positions.push(position as u32);
        weights.push(weight);
    }
    (positions, weights)
}

/// log q with its gradient.
#[derive(Debug)]
pub struct SampleDensity<'r, F: Family> {
    sample: &'r RowSample<F>,
    slopes: Slopes,
}

impl<F: Family> Clone for SampleDensity<'_, F> {
    fn clone(&self) -> Self {
        self.sample.density()
    }
}

impl<F: Family> LogDensity for SampleDensity<'_, F> {
    fn log_density_gradient(&mut self, state: &Vec<f64>, gradient: &mut [f64]) -> Result<f64> {
        let expansion = &self.sample.expansion;
        let density = expansion.log_density_gradient(state, &mut self.slopes, gradient);
        if density.is_nan() { Err(expansion.density_error()) } else { Ok(density) }
    }
}
