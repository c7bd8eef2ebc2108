//! Stochastic gradient Fisher scoring: a Langevin step whose noise counts on that of the mini-batch.
//!
//! Ahn, Korattikara & Welling (2012, equation 17) step by θ' = θ + 2(γ Λ + 4B/ε)⁻¹(g(θ; X) + η) with η ~ N(0, 4B/ε), Λ = N·Î the
//! information in all rows and γ − 1 the variance of the gradient over X in units of Λ. With B = Λ this is
//!
//! ```text
//! q(θ'|θ, X) = N(θ' ; θ + h Λ⁻¹ g(θ; X), (2h − γh²) Λ⁻¹)             h = 2/(γ + 4/ε)
//! ```
//!
//! On a normal posterior of precision Λ the step leaves the posterior as it is, *without a test*, for every ε: injected noise and
//! that of the mini-batch add up to what is missing. They have γ = 1 + N/n, for rows drawn with replacement; without, the
//! variance shrinks by 1 − n/N and **γ = N/n**.
//!
//! Combined with the test it is a [`Langevin`] proposal of another covariance and drift, given X, and exact with an exact rule for *every* posterior:
//! Λ is fixed before the run, or learnt in warm-up only, so that the reverse density is the forward one's. The test
//! sees the noise of the gradient as a drift of the component kernel, so that acceptance asks h·(γ − 1)·d to stay below about 2; without the test ε
//! may be large, at the price of whatever the posterior differs from the normal.
//!
//! Λ may be any positive definite matrix; [`empirical_information`] makes one from the scores of rows. Cost: as
//! [`Langevin`], and 2d² multiplications per step. Not for posteriors whose information changes much from place to place.

use std::fmt;

use nalgebra::DMatrix;

use super::Langevin;
use crate::gradients::{At, BatchGradient};
use austerity::error::{Error, Result, setting};
use austerity::model::check_length;
use austerity::population::Batch;
use austerity::proposal::random_walk::pack;
use austerity::proposal::{Proposal, Proposed, Shape};
use austerity::rng::Rng;

/// A Langevin step preconditioned by the information in the data.
pub struct FisherScoring<'m, M: BatchGradient> {
    langevin: Langevin<'m, M>,
    /// The variance 2h − γh² of a step in units of Λ⁻¹.
    variance: f64,
    /// Λ, as learnt so far.
    information: Vec<f64>,
    /// Estimates in it, the one it began with included.
    estimates: f64,
    learns: bool,
    /// Where the last step began.
    from: Vec<f64>,
}

impl<M: BatchGradient> Clone for FisherScoring<'_, M> {
    fn clone(&self) -> Self {
        Self {
            langevin: self.langevin.clone(),
            variance: self.variance,
            information: self.information.clone(),
            estimates: self.estimates,
            learns: self.learns,
            from: self.from.clone(),
        }
    }
}

impl<M: BatchGradient> fmt::Debug for FisherScoring<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { langevin, information, learns, .. } = self;
        f.debug_struct("FisherScoring")
            .field("langevin", langevin)
            .field("information", information)
            .field("learns", learns)
            .finish_non_exhaustive()
    }
}

impl<'m, M: BatchGradient> FisherScoring<'m, M> {
    /// Steps of size ε = `step` with the d × d `information` Λ of all rows, row by row, and mini-batches of `rows` rows, rounded up to
    /// whole blocks.
    pub fn new(model: &'m M, information: &[f64], step: f64, rows: usize) -> Result<Self> {
        if !(step > 0.0 && step.is_finite()) {
            return Err(setting("step", step, "a positive finite number"));
        }
        check_length("information of all rows", model.dimension() * model.dimension(), information.len())?;
        let langevin = Langevin::shaped(model, Shape::Isotropic { sd: 1.0 }, 0.5, rows)?;
        let gamma = model.len() as f64 / langevin.batch_rows() as f64;
        let h = 2.0 / (gamma + 4.0 / step);
        let variance = 2.0 * h - gamma * h * h;
        let shape = shape_of(information, model.dimension(), variance)?;
        let langevin = Langevin::shaped(model, shape, h / variance, rows)?;
        Ok(Self {
            langevin,
            variance,
            information: information.to_vec(),
            estimates: 1.0,
            learns: false,
            from: vec![0.0; model.dimension()],
        })
    }

    /// Learns Λ in warm-up: a running mean, of weight 1/(t + 1) at the t-th step, of the information that each mini-batch shows where it
    /// is used (Ahn, Korattikara & Welling 2012, algorithm 1). Afterwards nothing changes.
    ///
    /// Costs n scores, n·d² and d³ multiplications per warm-up step.
    #[must_use]
    pub fn learning(self) -> Self {
        Self { learns: true, ..self }
    }

    /// Λ, as learnt so far.
    #[must_use]
    pub fn information(&self) -> &[f64] {
        &self.information
    }

    /// As [`Langevin::fresh_reverse`].
    #[must_use]
    pub fn fresh_reverse(self) -> Self {
        Self { langevin: self.langevin.fresh_reverse(), ..self }
    }

    /// The Langevin proposal that it is.
    #[must_use]
    pub fn langevin(&self) -> &Langevin<'m, M> {
        &self.langevin
    }
}

/// L with L Lᵀ = variance·Λ⁻¹.
fn shape_of(information: &[f64], dimension: usize, variance: f64) -> Result<Shape> {
    let refused = || Error::NotPositiveDefinite {
        what: "the information matrix".into(),
        remedy: "take the scores of more rows, or add the precision of the prior to its diagonal".into(),
    };
    let matrix = DMatrix::from_row_slice(dimension, dimension, information);
    let inverse = matrix.cholesky().ok_or_else(refused)?.inverse() * variance;
    let factor = pack(&inverse.cholesky().ok_or_else(refused)?.unpack());
    if factor.iter().all(|value| value.is_finite()) { Ok(Shape::Dense { factor }) } else { Err(refused()) }
}

/// Λ = N times the covariance of the scores ∇ log p(x_i|θ) of the rows of `batch`: the empirical Fisher information in all rows,
/// d × d, row by row. At least d + 1 rows are needed; the prior has no part in it.
pub fn empirical_information<M: BatchGradient>(
    model: &M,
    state: &[f64],
    batch: Batch<'_>,
) -> Result<Vec<f64>> {
    let dimension = model.dimension();
    let rows = batch.rows();
    if rows < 2 {
        return Err(setting("rows of the information", rows, "at least 2"));
    }
    let mut workspace = M::Workspace::default();
    let (mut score, mut mean) = (vec![0.0; dimension], vec![0.0; dimension]);
    let mut products = vec![0.0; dimension * dimension];
    let mut seen = 0.0;
    for position in batch.ranges().flatten() {
        let row = Batch { blocks: &[position as u32], block_rows: 1, population: model.len() };
        score.fill(0.0);
        model.add_gradient(At { state, batch: row }, &mut workspace, &mut score)?;
        if let Some(parameter) = score.iter().position(|value| !value.is_finite()) {
            return Err(Error::Gradient { parameter, value: score[parameter] });
        }
        // Welford's update of means and products.
        seen += 1.0;
        for (score, mean) in score.iter_mut().zip(&mut mean) {
            *score -= *mean;
            *mean += *score / seen;
        }
        let share = (seen - 1.0) / seen;
        for (i, line) in products.chunks_exact_mut(dimension).enumerate() {
            line.iter_mut().zip(&score).for_each(|(sum, other)| *sum += share * score[i] * other);
        }
    }
    let scale = model.len() as f64 / (seen - 1.0);
    products.iter_mut().for_each(|value| *value *= scale);
    Ok(products)
}

impl<M: BatchGradient> Proposal<Vec<f64>> for FisherScoring<'_, M> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        self.from.clone_from(from);
        self.langevin.propose(from, to, rng)
    }

    fn draw(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<()> {
        self.from.clone_from(from);
        self.langevin.draw(from, to, rng)
    }

    fn learn(&mut self, _accepted: bool, _step: u64) {
        if !self.learns {
            return;
        }
        let (model, batch) = (self.langevin.model(), self.langevin.batch.last());
        // A batch whose scores cannot be had teaches nothing, nor does one that leaves the mean singular.
        let Ok(fresh) = empirical_information(model, &self.from, batch) else { return };
        self.estimates += 1.0;
        for (mean, fresh) in self.information.iter_mut().zip(fresh) {
            *mean += (fresh - *mean) / self.estimates;
        }
        if let Ok(shape) = shape_of(&self.information, model.dimension(), self.variance) {
            self.langevin.reshape(shape);
        }
    }
}
