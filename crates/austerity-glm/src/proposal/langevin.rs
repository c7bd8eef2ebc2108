//! Stochastic gradient Langevin dynamics as a proposal that can be tested.
//!
//! A mini-batch X of n rows is drawn whatever the state is; given it, the candidate is normal about a step up the gradient:
//!
//! ```text
//! q(θ'|θ, X) = N(θ' ; θ + (α/2) g(θ; X), α I)        g(θ; X) = ∇{(N/n) Σ_{i in X} log p(x_i|θ) + log ρ(θ)}
//! ```
//!
//! with α a *variance* (Welling & Teh 2011; Korattikara, Chen & Welling 2014, §6.4). The kernel is a mixture over X of component kernels,
//! and each is reversible for the posterior when the test uses its own density: log q(θ|θ', X) − log q(θ'|θ, X) with the same X in
//! both directions and the gradient of the reverse at θ'. X comes from the stream of the proposal, the rows of the test from that of
//! the reveal, so that they are independent as they must be.
//!
//! A mini-batch X' of its own for the reverse is right too ([`Langevin::fresh_reverse`]): min(π(θ) q(θ'|θ, X), π(θ') q(θ|θ', X'))·p(X)·p(X') is
//! the same seen from either end, (θ, X) or (θ', X') (Storvik 2011, auxiliary variables in proposals). Two independent errors of the gradient add up to
//! half the variance of one error twice, so that more is accepted. Wrong is a reverse drawn by another law than the way there: a size of X
//! that depends on the state, the whole gradient for one of the two.
//!
//! In general α I is a covariance L Lᵀ and the drift c·L Lᵀ g, c = ½. With z the normal draw, θ' = θ + L(z + c Lᵀ g(θ)), and
//!
//! ```text
//! log q(θ|θ', X') − log q(θ'|θ, X) = −w·z − ½|w|²        w = c Lᵀ (g(θ; X) + g(θ'; X'))
//! ```
//!
//! Exact with an exact rule, whatever α and n; n = N is the Metropolis-adjusted Langevin algorithm. Cost: 2n rows of gradients per
//! step (n without the ratio), which no decision counts. Acceptance falls when the noise of the gradient, (α/2)·sd(g), passes the
//! injected √α: then a component kernel drifts where its reverse would not come from. Not for kinks and cliffs without the test:
//! [`Uncorrected`](austerity::kernel::Uncorrected) is thrown off by them.
//!
//! [`LangevinPlan`](super::LangevinPlan) says how long steps on a surrogate are and how many rows they look at.

use std::fmt;

use rand::RngExt as _;
use rand_distr::StandardNormal;

use crate::gradients::{At, BatchGradient, MiniBatch};
use austerity::error::{Error, Result, setting};
use austerity::population::Batch;
use austerity::proposal::random_walk::factor_of;
use austerity::proposal::{Proposal, Proposed, Shape};
use austerity::rng::Rng;

/// A normal step about the gradient of a mini-batch. Resume a stored run with a proposal made anew from the same settings: it
/// never changes.
pub struct Langevin<'m, M: BatchGradient> {
    model: &'m M,
    pub(super) batch: MiniBatch,
    shape: Shape,
    /// c.
    drift: f64,
    /// Whether the reverse has a mini-batch of its own.
    fresh: bool,
    workspace: M::Workspace,
    noise: Vec<f64>,
    here: Vec<f64>,
    there: Vec<f64>,
}

impl<M: BatchGradient> Clone for Langevin<'_, M> {
    fn clone(&self) -> Self {
        Self {
            model: self.model,
            batch: self.batch.clone(),
            shape: self.shape.clone(),
            drift: self.drift,
            fresh: self.fresh,
            workspace: self.workspace.clone(),
            noise: self.noise.clone(),
            here: self.here.clone(),
            there: self.there.clone(),
        }
    }
}

impl<M: BatchGradient> fmt::Debug for Langevin<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { shape, drift, .. } = self;
        let rows = self.batch.rows();
        f.debug_struct("Langevin")
            .field("shape", shape)
            .field("drift", drift)
            .field("rows", &rows)
            .finish_non_exhaustive()
    }
}

impl<'m, M: BatchGradient> Langevin<'m, M> {
    /// Steps of variance α = `variance` in every coordinate, with mini-batches of `rows` rows, rounded up to whole blocks.
    pub fn new(model: &'m M, variance: f64, rows: usize) -> Result<Self> {
        if !(variance > 0.0 && variance.is_finite()) {
            return Err(setting("step variance", variance, "a positive finite number"));
        }
        Self::shaped(model, Shape::Isotropic { sd: variance.sqrt() }, 0.5, rows)
    }

    /// Steps of the d × d `covariance`, row by row, which also turns and stretches the gradient: q = N(θ + ½C g, C).
    pub fn preconditioned(model: &'m M, covariance: &[f64], rows: usize) -> Result<Self> {
        let factor = factor_of(model.dimension(), covariance)?;
        Self::shaped(model, Shape::Dense { factor }, 0.5, rows)
    }

    /// Steps L(z + c Lᵀ g) with `shape` for L and `drift` for c.
    pub fn shaped(model: &'m M, shape: Shape, drift: f64, rows: usize) -> Result<Self> {
        let zeros = vec![0.0; model.dimension()];
        Ok(Self {
            model,
            batch: MiniBatch::new(model.len(), rows)?,
            shape,
            drift,
            fresh: false,
            workspace: M::Workspace::default(),
            noise: zeros.clone(),
            here: zeros.clone(),
            there: zeros,
        })
    }

    /// The same steps with mini-batches drawn by `batch`: of single rows, say.
    pub fn batch(mut self, batch: MiniBatch) -> Result<Self> {
        if batch.population() != self.model.len() {
            return Err(Error::Dimension {
                what: "rows of the population that the mini-batch was drawn from".into(),
                expected: self.model.len(),
                found: batch.population(),
            });
        }
        self.batch = batch;
        Ok(self)
    }

    /// The same steps with a second, independent mini-batch for the density of the reverse: exact too, and more is accepted.
    #[must_use]
    pub fn fresh_reverse(self) -> Self {
        Self { fresh: true, ..self }
    }

    /// n: rows of a mini-batch.
    #[must_use]
    pub fn batch_rows(&self) -> usize {
        self.batch.rows()
    }

    /// The mini-batch of the last step.
    #[must_use]
    pub fn last_batch(&self) -> Batch<'_> {
        self.batch.last()
    }

    /// The model whose gradient it follows.
    #[must_use]
    pub fn model(&self) -> &'m M {
        self.model
    }

    /// The shape L of the steps.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// c: the drift is c·L Lᵀ times the gradient.
    #[must_use]
    pub fn drift(&self) -> f64 {
        self.drift
    }

    pub(super) fn reshape(&mut self, shape: Shape) {
        self.shape = shape;
    }

    /// Writes a candidate; leaves z in `noise` and c Lᵀ g(θ) in `here`. Whether the candidate is finite.
    fn step(&mut self, from: &[f64], to: &mut Vec<f64>, rng: &mut Rng) -> Result<bool> {
        let batch = self.batch.draw(rng);
        self.model.stochastic_gradient(At { state: from, batch }, &mut self.workspace, &mut self.here)?;
        if let Some(parameter) = self.here.iter().position(|g| !g.is_finite()) {
            return Err(Error::Gradient { parameter, value: self.here[parameter] });
        }
        turn(&self.shape, self.drift, &mut self.here);
        self.noise.resize(from.len(), 0.0);
        for z in &mut self.noise {
            *z = rng.sample(StandardNormal);
        }
        to.clear();
        to.extend(self.here.iter().zip(&self.noise).map(|(drift, z)| drift + z));
        stretch(&self.shape, to);
        to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
        Ok(to.iter().all(|value| value.is_finite()))
    }
}

/// v ← c Lᵀ v.
pub fn turn(shape: &Shape, factor: f64, v: &mut [f64]) {
    match shape {
        Shape::Isotropic { sd } => v.iter_mut().for_each(|v| *v *= factor * sd),
        Shape::Diagonal { sd } => v.iter_mut().zip(sd).for_each(|(v, sd)| *v *= factor * sd),
        Shape::Dense { factor: lower } => {
            // Column j needs the rows from j on: v_j is not needed any more once it is replaced.
            for j in 0..v.len() {
                let column = (j..v.len()).map(|i| lower[i * (i + 1) / 2 + j] * v[i]);
                v[j] = factor * column.sum::<f64>();
            }
        }
    }
}

/// v ← L v.
fn stretch(shape: &Shape, v: &mut [f64]) {
    match shape {
        Shape::Isotropic { sd } => v.iter_mut().for_each(|v| *v *= sd),
        Shape::Diagonal { sd } => v.iter_mut().zip(sd).for_each(|(v, sd)| *v *= sd),
        Shape::Dense { factor: lower } => {
            // Row i needs the values up to i: from the last row on nothing needed is replaced.
            for i in (0..v.len()).rev() {
                let row = &lower[i * (i + 1) / 2..][..=i];
                v[i] = row.iter().zip(&*v).map(|(l, v)| l * v).sum();
            }
        }
    }
}

impl<M: BatchGradient> Proposal<Vec<f64>> for Langevin<'_, M> {
    /// A candidate from which there is no way back, because it or the gradient there is not finite, has log ratio −∞.
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        if !self.step(from, to, rng)? {
            to.clone_from(from);
            return Ok(f64::NEG_INFINITY.into());
        }
        let batch = if self.fresh { self.batch.draw(rng) } else { self.batch.last() };
        self.model.stochastic_gradient(At { state: to, batch }, &mut self.workspace, &mut self.there)?;
        turn(&self.shape, self.drift, &mut self.there);
        let mut ratio = 0.0;
        for ((here, there), z) in self.here.iter().zip(&self.there).zip(&self.noise) {
            let w = here + there;
            ratio -= w * (z + 0.5 * w);
        }
        Ok(if ratio.is_finite() { ratio } else { f64::NEG_INFINITY }.into())
    }

    /// The same candidate at half the cost.
    fn draw(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<()> {
        if self.step(from, to, rng)? {
            return Ok(());
        }
        let parameter = to.iter().position(|value| !value.is_finite()).unwrap_or(0);
        Err(Error::Gradient { parameter, value: to[parameter] })
    }
}
