//! Langevin steps on a surrogate as plain data: how long they are, and how many residual gradients correct each.
//!
//! With π̃ the surrogate posterior, r_i what it leaves of the rows, L Lᵀ the covariance at the mode and s the length of a step,
//!
//! ```text
//! θ' = θ + ½s²·L Lᵀ g(θ; X) + s·L z        g(θ; X) = ∇ log π̃(θ) + (N/n) Σ_{i in X} ∇r_i(θ)
//! ```
//!
//! which [`Langevin`] makes and corrects with the same mini-batch X in both directions: exact with an exact rule, whatever s and n are (Baker, Fearnhead, Fox & Nemeth 2019
//! for the gradient). Both are constants of a run, so that no state has a say in them.
//!
//! **s** is in posterior standard deviations: of a normal posterior, whitened, a step leads from y to (1 − s²/2)·y + s·z, further out than it began from s = 2 on, hence 0 < s < 2.
//! Its log ratio is s²/8·(|y|² − |y'|²), and about 2Φ(−s³√d/8) of the steps are accepted; s = 1.65·d^(−1/6), where that is 57 %, mixes best (Roberts & Rosenthal 1998).
//!
//! **n** follows from the noise: an error e of the whitened gradient, nearly the same at both ends, adds a normal number of mean −½s²|e|² and variance s²|e|² to the log
//! ratio and leaves 2Φ(−s|e|/2) of the acceptance. A pilot finds E|e|² for one block of rows at a few typical states; n is what brings s|e| down to ¼ (a tenth
//! of the acceptance), from 64 to 4,096 rows: past that a step would cost more than the acceptance is worth.
//!
//! Cost of a step: 2n rows of residual gradients and two gradients of the surrogate, besides what the decision reads. Not for posteriors far from normal at the mode's
//! covariance, where leapfrog paths of a piloted shape do better ([`TransitionPlan`](crate::proposal::TransitionPlan)).

use serde::{Deserialize, Serialize};
use statrs::distribution::{ContinuousCDF, Normal};

use crate::Surrogate;
use crate::gradients::{At, BatchGradient as _, MiniBatch};
use crate::proposal::langevin::{Langevin, turn};
use crate::proposal::sweeps::{self, Sweeps};
use crate::surrogate::{CertainSteps, ResidualGradient};
use austerity::error::{Result, setting};
use austerity::proposal::random_walk::factor_of;
use austerity::proposal::{Proposal as _, RandomWalk, Shape};
use austerity::rng::{Role, stream};

/// Steps of this length or longer lead away from the mode of a normal posterior.
const TOO_LONG: f64 = 2.0;
/// s·d^(1/6) that mixes best.
const BEST: f64 = 1.65;
/// s|e| that a mini-batch is large enough for.
const NOISE: f64 = 0.25;
/// Fewest and most rows of a mini-batch.
const FEWEST: usize = 64;
const MOST: usize = 4096;
/// Typical states of the pilot, and blocks whose gradients are compared at each.
const PLACES: usize = 4;
const BLOCKS: usize = 64;

/// Langevin steps on a surrogate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LangevinPlan {
    /// s: standard deviation of a step over that of the posterior.
    pub step: f64,
    /// n: rows of a mini-batch.
    pub rows: usize,
    /// Covariance at the mode, d × d, row by row.
    pub covariance: Vec<f64>,
    /// Sweeps of single coefficients after every decision.
    pub sweeps: u32,
}

/// Langevin steps on a surrogate, then sweeps.
pub type Drifts<'e, E> = Sweeps<'e, E, Langevin<'e, Surrogate<E>>>;

impl LangevinPlan {
    /// Lengths that are allowed, in words.
    pub const ALLOWED: &'static str = "a number above 0 and below 2, in posterior standard deviations";

    /// Whether steps can have this length.
    #[must_use]
    pub fn allows(step: f64) -> bool {
        step > 0.0 && step < TOO_LONG
    }

    /// Plans steps of length `step` for `surrogate`, whose mode and covariance there are about `mode` and `covariance`.
    pub fn pilot<E: CertainSteps + ResidualGradient>(
        surrogate: &Surrogate<E>,
        mode: &[f64],
        covariance: &[f64],
        step: f64,
        seed: u64,
    ) -> Result<Self> {
        if !Self::allows(step) {
            return Err(setting("step of the Langevin proposal", step, Self::ALLOWED));
        }
        let variance = noise(surrogate, mode, covariance, seed)?;
        let rows = enough(step * step * variance, surrogate.expansion().rows());
        let sweeps = sweeps::usual(surrogate.expansion());
        Ok(Self { step, rows, covariance: covariance.to_vec(), sweeps })
    }

    /// The proposal that the plan describes.
    pub fn build<'e, E: CertainSteps + ResidualGradient>(
        &self,
        surrogate: &'e Surrogate<E>,
    ) -> Result<Drifts<'e, E>> {
        let scaled: Vec<f64> = self.covariance.iter().map(|value| self.step * self.step * value).collect();
        let steps = Langevin::preconditioned(surrogate, &scaled, self.rows)?;
        Ok(Sweeps::new(surrogate.expansion(), steps, &sweeps::sds(&self.covariance), self.sweeps))
    }

    fn dimension(&self) -> f64 {
        (self.covariance.len() as f64).sqrt()
    }

    /// Share of the steps that a normal posterior accepts, roughly.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        2.0 * Normal::standard().cdf(-self.step.powi(3) * self.dimension().sqrt() / 8.0)
    }

    /// The length of steps that mixes best on a normal posterior.
    #[must_use]
    pub fn best(&self) -> f64 {
        BEST / self.dimension().powf(1.0 / 6.0)
    }

    /// Effective draws per step of a normal posterior, roughly: successive states have the correlation ρ = 1 − a·s²/2 with a of the steps accepted, and a step is worth
    /// (1 − ρ)/(1 + ρ).
    #[must_use]
    pub fn worth(&self) -> f64 {
        let moved = 0.5 * self.acceptance() * self.step * self.step;
        (moved / (2.0 - moved)).clamp(f64::MIN_POSITIVE, 0.9)
    }
}

/// E|e|² of the whitened gradient of one block's residuals, scaled up to all rows, over typical states.
fn noise<E: CertainSteps + ResidualGradient>(
    surrogate: &Surrogate<E>,
    mode: &[f64],
    covariance: &[f64],
    seed: u64,
) -> Result<f64> {
    let mode = mode.to_vec();
    let d = mode.len();
    let mut rng = stream(seed, u32::MAX, Role::Proposal);
    let mut cloud = RandomWalk::dense(d, covariance)?;
    let whitening = Shape::Dense { factor: factor_of(d, covariance)? };
    let mut blocks = MiniBatch::new(surrogate.expansion().rows(), 1)?;
    let (mut state, mut gradient, mut workspace) = (mode.clone(), vec![0.0; d], Default::default());
    let mut squares = 0.0;
    for _ in 0..PLACES {
        cloud.propose(&mode, &mut state, &mut rng)?;
        let mut mean = vec![0.0; d];
        for count in 1..=BLOCKS {
            gradient.fill(0.0);
            let block = blocks.draw(&mut rng);
            surrogate.add_gradient(At { state: &state, batch: block }, &mut workspace, &mut gradient)?;
            turn(&whitening, block.scale(), &mut gradient);
            // Welford: the mean moves between the two factors.
            for (mean, value) in mean.iter_mut().zip(&gradient) {
                let before = value - *mean;
                *mean += before / count as f64;
                squares += before * (value - *mean);
            }
        }
    }
    Ok(squares / (PLACES * (BLOCKS - 1)) as f64)
}

/// Rows that bring s|e| down to the limit, where one of the blocks of `population` rows leaves s²|e|² = `noise`: k of B blocks without replacement
/// leave `noise`·(1/k − 1/B).
fn enough(noise: f64, population: usize) -> usize {
    let blocks = population.div_ceil(austerity::BLOCK_ROWS) as f64;
    let wanted = 1.0 / (NOISE * NOISE / noise + 1.0 / blocks);
    // A noise that is no number wants as many rows as there may be.
    let rows =
        if wanted.is_nan() { MOST } else { (wanted.ceil() as usize).saturating_mul(austerity::BLOCK_ROWS) };
    rows.clamp(FEWEST, MOST).min(population)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glm::expansion::{ExpansionSettings, GlmExpansion};
    use crate::proposal::StoredProposal;
    use crate::proposal::Transition;
    use crate::{Glm, Logistic, Prior, ResponseKind, generate};

    fn surrogate(rows: usize, order: u8) -> Surrogate<GlmExpansion<Logistic>> {
        let data = generate::logistic(rows, 5).seed(3).build().unwrap().data;
        let data = data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 6]).unwrap();
        let settings = ExpansionSettings { order, ..ExpansionSettings::default() };
        Surrogate::new(GlmExpansion::new(&model, &[0.0; 6], &settings).unwrap())
    }

    fn plan(surrogate: &Surrogate<GlmExpansion<Logistic>>, step: f64) -> Result<LangevinPlan> {
        let expansion = surrogate.expansion();
        LangevinPlan::pilot(surrogate, expansion.mode(), expansion.covariance(), step, 1)
    }

    #[test]
    fn mini_batches_are_as_large_as_the_noise_asks_for() {
        let many = 1 << 20;
        assert_eq!(enough(0.0, many), FEWEST);
        // (1/4)² of the noise of one block is left by 16 of very many.
        assert_eq!(enough(1.0, 1 << 30), 16 * austerity::BLOCK_ROWS);
        assert_eq!([enough(1e9, many), enough(f64::INFINITY, many), enough(f64::NAN, many)], [MOST; 3]);
        assert_eq!([enough(1e9, 50), enough(0.0, 50)], [50; 2]);
        // Residuals of the second order leave hardly any noise, those of the first some.
        let rows = |n, order| plan(&surrogate(n, order), 1.0).unwrap().rows;
        assert_eq!(rows(100_000, 2), FEWEST);
        assert!(rows(20_000, 1) > FEWEST);
    }

    /// Another pilot finds about the noise that the mini-batches were made for: |e|² goes with |h|², of 4 states with 6 parameters a χ² of 24 degrees, whose root has an sd of 14 %, and
    /// two of them are compared: half and one and a half are 2.5 sds away (false-alarm rate 1 %; the seeds are fixed).
    #[test]
    fn what_a_mini_batch_leaves_is_what_was_planned() {
        let surrogate = surrogate(20_000, 1);
        let plan = plan(&surrogate, 1.0).unwrap();
        let mean_square = noise(&surrogate, surrogate.expansion().mode(), &plan.covariance, 77).unwrap();
        let (blocks, all) =
            ((plan.rows / austerity::BLOCK_ROWS) as f64, 20_000f64 / austerity::BLOCK_ROWS as f64);
        let left = (mean_square * (1.0 / blocks - 1.0 / all)).sqrt();
        assert!(plan.rows > FEWEST && (NOISE / 2.0..NOISE * 1.5).contains(&left), "{left} {}", plan.rows);
    }

    #[test]
    fn the_best_step_accepts_four_in_seven() {
        let of =
            |step: f64, d: usize| LangevinPlan { step, rows: 64, covariance: vec![0.0; d * d], sweeps: 0 };
        for d in [1usize, 8, 60] {
            let best = BEST / (d as f64).powf(1.0 / 6.0);
            assert!((of(best, d).acceptance() - 0.574).abs() < 2e-3, "{d}");
            let rate = |step: f64| step * step * of(step, d).acceptance();
            assert!(rate(best) > rate(0.9 * best) && rate(best) > rate(1.1 * best));
            assert!(of(0.1 * best, d).worth() < of(best, d).worth());
        }
        assert!((of(1.0, 20).acceptance() - 0.58).abs() < 5e-3 && (of(1.0, 20).best() - 1.0).abs() < 5e-3);
    }

    #[test]
    fn steps_that_lead_nowhere_are_refused() {
        let surrogate = surrogate(500, 2);
        for step in [0.0, -1.0, 2.0, f64::NAN, f64::INFINITY] {
            let said = plan(&surrogate, step).unwrap_err().to_string();
            assert!(said.contains(&step.to_string()) && said.contains("above 0 and below 2"), "{said}");
        }
    }

    #[test]
    fn what_was_kept_makes_the_same_candidates() {
        let surrogate = surrogate(5_000, 2);
        let stored = StoredProposal::Langevin(plan(&surrogate, 0.8).unwrap());
        let text = serde_json::to_string(&stored).unwrap();
        let mut first = Transition::restored(&surrogate, stored.clone()).unwrap();
        let mut rng = stream(5, 0, Role::Proposal);
        let from = surrogate.expansion().mode().to_vec();
        let (mut a, mut b) = (vec![], vec![]);
        // A mini-batch drawn before must leave no trace.
        first.propose(&from, &mut a, &mut rng).unwrap();
        let mut again = Transition::restored(&surrogate, serde_json::from_str(&text).unwrap()).unwrap();
        let one = first.propose(&from, &mut a, &mut stream(5, 1, Role::Proposal)).unwrap();
        let other = again.propose(&from, &mut b, &mut stream(5, 1, Role::Proposal)).unwrap();
        assert_eq!((a, one), (b, other));
        assert_eq!(first.stored(), stored);
        let error = stored.clone().plain().unwrap_err();
        assert!(error.to_string().contains("surrogate"), "{error}");
    }
}
