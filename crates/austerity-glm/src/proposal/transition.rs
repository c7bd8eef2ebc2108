//! Which transition suits a surrogate posterior: a pilot on the surrogate alone, reading no data.
//!
//! Draws from the normal approximation at the mode are weighed first: log w = log π̃ − log N. Where that is not a constant, a skewed posterior's mean is not its mode: the
//! approximation moves to where the average gradient under it vanishes (the mean of the normal distribution nearest in Kullback–Leibler divergence; Opper & Archambeau 2009),
//! if draws there weigh more evenly. Where log w is large four standard deviations out along a coefficient, one step in five is a short one ([`CrankNicolson::mixed_with`]), and
//! where it is larger still, paths are tried. Otherwise a spread of log w below 0.7 means that most draws are taken, at a fraction of what paths cost: they are
//! made by [`CrankNicolson`] steps of correlation −0.45, with which means gain 2.6 × and the 2.5 and 97.5 % quantiles lose 2 % against independent
//! draws, while variances keep 66 %. Otherwise (rare features, few events, priors that are not normal) leapfrog paths on
//! the surrogate are tuned: two rounds from the mode, each learning the step length for an inner acceptance of 0.84 and ending with the covariance of
//! its second half, which whitens the next; the covariance at the mode may be wrong by a factor of 2 and more. Coefficients that only the certainty stratum knows get
//! [`Sweeps`] of exact single steps. Paths are judged by the distance that they go: those that hardly move, because their step length collapsed, are given up for draws from the normal
//! approximation. Candidates beyond the density of the centre, where an expansion of the third order runs away, are refused in the pilot as decisions refuse them later.
//!
//! The outcome is plain data, a function of expansion and seed; nothing adapts afterwards. Cost: 500 densities, 768 gradients and 500 densities more where log w is not constant, and with paths some 25,000 gradients of the
//! surrogate.

mod chosen;

use std::ops::RangeInclusive;
use std::time::Instant;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::proposal::sweeps::{self, Sweeps};
use crate::proposal::{CrankNicolson, SurrogateStep};
use crate::surrogate::{CertainSteps, ResidualGradient};
use crate::{Expansion, SurrogateDensity};
use austerity::error::{Error, Result};
use austerity::proposal::{Hamiltonian, Path, Proposal, RandomWalk};
use austerity::rng::{Rng, Role, seek, stream};

pub use chosen::Transition;

/// Largest spread of log w at which draws are made: 0.7 leaves them about half as effective, and paths cost two to three times as much.
const SPREAD: f64 = 0.7;
/// Draws that are weighed.
const WEIGHED: usize = 500;
/// Spread from which the normal approximation is moved.
const WORTH_MOVING: f64 = 0.02;
/// Pairs ±z of draws whose gradients are averaged, and how often.
const PAIRS: usize = 128;
const MOVES: usize = 3;
/// Correlation of successive draws from the normal approximation: antithetic.
pub const ANTITHETIC_CORRELATION: f64 = -0.45;
/// Share and correlation of short steps, where tails are heavier than the normal approximation's.
const SHORT: (f64, f64) = (0.2, 0.9);
/// Share of random-walk steps among leapfrog paths: a chain that starts, or comes to be, on a wall of the density finds its way by them. They cost a fifth of a path.
const WALKS: f64 = 1.0 / 16.0;
/// How far out, in standard deviations of a coefficient, tails are looked at, and by how much log w may there exceed what it usually is: a chain that comes to such a place stays for
/// about e to that power of steps.
const TAIL: f64 = 4.0;
const HEAVY: f64 = 2.5;
/// The same beyond which such tails hold mass that draws would not reach evenly: paths go there and back.
const HEAVIER: f64 = 4.0;
/// A surrogate density beyond its centre's by this factor's logarithm is no posterior's: an expansion of the third order has no bound far out.
const RUNAWAY: f64 = 10.0;
/// The least squared distance that paths must go on average, in units of that between independent draws.
const LEAST_JUMP: f64 = 0.1;
/// Gradients that tell what one takes.
const TIMED: u32 = 8;
/// Steps of the two rounds of leapfrog paths.
const ROUNDS: [u32; 2] = [1000, 4000];
/// Length of a leapfrog step in posterior sds, before it is learnt; with 3 to 6 of them a path forgets where it began.
const LENGTH: f64 = 0.45;
/// Times that a learnt length may fall below that before paths get more steps, and times as many steps at most.
const WORTH_LONGER: f64 = 1.5;
const MOST_LONGER: f64 = 4.0;
/// Inner acceptance that the step length is learnt for.
const ACCEPTANCE: f64 = 0.84;

/// Sds on either side of the mean within which draws of a coefficient with a heavy tail count for the covariance.
const NEAR: f64 = 6.0;

/// How candidates are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransitionKind {
    /// Draws from the normal approximation, independent or nearly so, the surrogate's ratio in the offset.
    Independent,
    /// Leapfrog paths on the surrogate, decided about residuals alone.
    Hamiltonian,
}

/// A transition as plain data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransitionPlan {
    /// How candidates are made.
    pub kind: TransitionKind,
    /// Mean and covariance (d × d, row by row) of the surrogate posterior, as far as known.
    pub mean: Vec<f64>,
    /// See [`TransitionPlan::mean`].
    pub covariance: Vec<f64>,
    /// Correlation of successive draws from the normal approximation.
    #[serde(default)]
    pub correlation: f64,
    /// Share of short steps among draws from the normal approximation: they lead out of heavy tails. Among leapfrog paths, the share of random-walk steps.
    #[serde(default)]
    pub short: f64,
    /// Leapfrog paths.
    pub path: Path,
    /// Sweeps of single coefficients.
    pub sweeps: u32,
    /// Spread of log w of draws from the normal approximation.
    #[serde(with = "austerity::diagnostics::summary::nullable")]
    pub spread: f64,
    /// Share of inner candidates that a pilot took; NaN without one.
    #[serde(with = "austerity::diagnostics::summary::nullable")]
    pub acceptance: f64,
    /// Mean squared distance of a pilot's path, per coefficient and in units of that between independent draws; NaN without one.
    #[serde(default = "unknown", with = "austerity::diagnostics::summary::nullable")]
    pub jump: f64,
}

fn unknown() -> f64 {
    f64::NAN
}

impl TransitionPlan {
    /// Plans for `expansion`, whose mode and covariance there are about those of `at`; `kind` if one is wanted.
    pub fn pilot<E: CertainSteps>(
        expansion: &E,
        at: (&[f64], &[f64]),
        kind: Option<TransitionKind>,
        seed: u64,
    ) -> Result<Self> {
        let plan = Self::first(expansion, at, kind, seed)?;
        plan.tried(expansion, kind, seed)
    }

    /// The same where it takes no longer than about so many seconds; `None` where leapfrog paths would.
    pub fn pilot_within<E: CertainSteps>(
        expansion: &E,
        at: (&[f64], &[f64]),
        kind: Option<TransitionKind>,
        (seed, seconds): (u64, f64),
    ) -> Result<Option<Self>> {
        let plan = Self::first(expansion, at, kind, seed)?;
        if plan.kind == TransitionKind::Hamiltonian {
            let (mut workspace, mut slope) = (E::Workspace::default(), vec![0.0; at.0.len()]);
            let begun = Instant::now();
            for _ in 0..TIMED {
                expansion.log_density_gradient(at.0, &mut workspace, &mut slope);
            }
            let gradient = begun.elapsed().as_secs_f64() / f64::from(TIMED);
            let paths = f64::from(ROUNDS.iter().sum::<u32>());
            let leaps = f64::from(plan.path.steps.start() + plan.path.steps.end()) / 2.0;
            if paths * leaps * gradient > seconds {
                return Ok(None);
            }
        }
        Ok(Some(plan.tried(expansion, kind, seed)?))
    }

    /// The plan before leapfrog paths have been tried.
    fn first<E: CertainSteps>(
        expansion: &E,
        (mode, covariance): (&[f64], &[f64]),
        kind: Option<TransitionKind>,
        seed: u64,
    ) -> Result<Self> {
        let mut rng = stream(seed, u32::MAX, Role::Proposal);
        let mut mean = mode.to_vec();
        let mut spread = spread(expansion, mode, covariance, &mut rng)?;
        if spread > WORTH_MOVING {
            let moved = nearest(expansion, mode, covariance, &mut rng)?;
            let there = self::spread(expansion, &moved, covariance, &mut rng)?;
            if there < spread {
                (mean, spread) = (moved, there);
            }
        }
        let normal = spread < SPREAD && tail_weight(expansion, &mean, covariance) < HEAVIER;
        let wanted =
            kind.unwrap_or(if normal { TransitionKind::Independent } else { TransitionKind::Hamiltonian });
        Ok(Self {
            kind: wanted,
            mean,
            covariance: covariance.to_vec(),
            correlation: ANTITHETIC_CORRELATION,
            short: 0.0,
            path: Path { length: LENGTH, steps: 3..=6, jitter: 0.2, target: Some(ACCEPTANCE) },
            sweeps: sweeps::usual(expansion),
            spread,
            acceptance: f64::NAN,
            jump: f64::NAN,
        })
    }

    /// The plan after paths were tried, where it has some, or with short steps where tails are heavy. Paths that do not move are given up, unless they were asked for: what
    /// counts is the distance that they go, not how many are accepted.
    fn tried<E: CertainSteps>(
        mut self,
        expansion: &E,
        asked: Option<TransitionKind>,
        seed: u64,
    ) -> Result<Self> {
        if self.kind == TransitionKind::Hamiltonian {
            let before = self.clone();
            let learnt = self.learn(expansion, seed);
            let moves = learnt.is_ok() && self.jump >= LEAST_JUMP;
            if asked.is_some() || moves {
                learnt?;
                return Ok(self);
            }
            self = Self { kind: TransitionKind::Independent, ..before };
        }
        if tail_weight(expansion, &self.mean, &self.covariance) > HEAVY {
            self.short = SHORT.0;
        }
        Ok(self)
    }

    /// Tries leapfrog paths, where there are some, and learns their length and the covariance.
    fn learn<E: CertainSteps>(&mut self, expansion: &E, seed: u64) -> Result<()> {
        if self.kind != TransitionKind::Hamiltonian {
            return Ok(());
        }
        for (round, steps) in ROUNDS.into_iter().enumerate() {
            self.round(expansion, steps, seed, round as u64)?;
        }
        self.path.target = None;
        self.short = WALKS;
        // Steps that had to be short, as on the kinks of Laplace priors, make paths that hardly leave: more of them, then.
        let times = (LENGTH / self.path.length).min(MOST_LONGER);
        if times > WORTH_LONGER {
            let more = |steps: &u32| (f64::from(*steps) * times).round() as u32;
            self.path.steps = more(self.path.steps.start())..=more(self.path.steps.end());
        }
        Ok(())
    }

    /// Coefficients that sweeps carry into a tail without a variance, and the part of their range that a covariance is learnt from: one draw from far out would make
    /// it useless for all others.
    fn near<E: CertainSteps>(&self, expansion: &E) -> Vec<(usize, RangeInclusive<f64>)> {
        let sds = self.sds();
        let heavy = expansion.certain_parameters().into_iter();
        heavy
            .filter(|&i| expansion.certain_tail(i).is_some())
            .map(|i| (i, self.mean[i] - NEAR * sds[i]..=self.mean[i] + NEAR * sds[i]))
            .collect()
    }

    /// Runs a round of leapfrog paths and takes over what it learnt.
    fn round<E: CertainSteps>(&mut self, expansion: &E, steps: u32, seed: u64, round: u64) -> Result<()> {
        let mut rng = stream(seed, u32::MAX, Role::Start);
        seek(&mut rng, round);
        let mut transition = self.hamiltonian(expansion)?;
        let (mut state, mut to) = (self.mean.clone(), self.mean.clone());
        let d = state.len();
        let heavy = self.near(expansion);
        let mut seen = state.clone();
        let (mut count, mut mean, mut products) = (0.0, vec![0.0; d], vec![0.0; d * d]);
        let (mut from, mut jumps) = (state.clone(), vec![0.0; d]);
        let ceiling = expansion.log_density(&state) + RUNAWAY;
        for step in 0..steps {
            from.clone_from(&state);
            transition.propose(&state, &mut to, &mut rng)?;
            // Decisions about residuals will refuse such candidates; here there are none.
            let refused = expansion.log_density(&to) > ceiling;
            state.clone_from(if refused { &from } else { &to });
            transition.refresh(&mut state, &mut rng)?;
            transition.learn(true, u64::from(step) + 1);
            if step < steps / 2 {
                continue;
            }
            seen.clone_from(&state);
            for (parameter, near) in &heavy {
                seen[*parameter] = seen[*parameter].clamp(*near.start(), *near.end());
            }
            // Welford: means move before products are added.
            count += 1.0;
            jumps
                .iter_mut()
                .zip(state.iter().zip(&from))
                .for_each(|(sum, (to, from))| *sum += (to - from).powi(2));
            let before: Vec<f64> = seen.iter().zip(&mean).map(|(s, m)| s - m).collect();
            mean.iter_mut().zip(&before).for_each(|(m, b)| *m += b / count);
            for i in 0..d {
                for j in 0..=i {
                    products[i * d + j] += before[i] * (seen[j] - mean[j]);
                }
            }
        }
        let inner = transition.inner();
        self.acceptance = inner.acceptance();
        // Twice the variance is the mean square between independent draws.
        let variances = (0..d).map(|i| products[i * d + i] / (count - 1.0));
        // A heavy tail has jumps without bound: none counts as more than an independent draw.
        let shares =
            jumps.iter().zip(variances).map(|(sum, variance)| (sum / count / (2.0 * variance)).min(1.0));
        let jump = shares.sum::<f64>() / d as f64;
        let path = inner.inner().path();
        // The length was in units of the old covariance; the new one is the posterior's own.
        self.jump = jump;
        self.path = Path { length: if round == 0 { LENGTH } else { path.length }, ..path.clone() };
        let entry = |i: usize, j: usize| products[i.max(j) * d + i.min(j)] / (count - 1.0);
        // A little of the old one keeps a short round from a singular matrix.
        let keep = d as f64 / (count + d as f64);
        let old = std::mem::take(&mut self.covariance);
        self.covariance = (0..d * d).map(|k| (1.0 - keep) * entry(k / d, k % d) + keep * old[k]).collect();
        if !self.covariance.iter().all(|value| value.is_finite()) {
            return Err(Error::NotPositiveDefinite {
                what: "the covariance of a pilot on the surrogate".into(),
                remedy: "give every coefficient a proper prior, or fit without a surrogate".into(),
            });
        }
        self.mean = mean;
        Ok(())
    }

    /// Posterior standard deviations, as far as known.
    #[must_use]
    pub fn sds(&self) -> Vec<f64> {
        sweeps::sds(&self.covariance)
    }

    fn hamiltonian<'e, E: CertainSteps>(&self, expansion: &'e E) -> Result<Leaps<'e, E>> {
        let shape = RandomWalk::dense(self.mean.len(), &self.covariance)?;
        let paths = Hamiltonian::new(SurrogateDensity::new(expansion), &shape, self.path.clone())?
            .with_walks(self.short)?;
        Ok(Sweeps::new(expansion, SurrogateStep::new(expansion, paths, 1), &self.sds(), self.sweeps))
    }

    /// The proposal that the plan describes.
    pub fn build<'e, E: CertainSteps + ResidualGradient>(
        &self,
        expansion: &'e E,
    ) -> Result<Transition<'e, E>> {
        let plan = self.clone();
        Ok(match self.kind {
            TransitionKind::Hamiltonian => Transition::Hamiltonian(plan, self.hamiltonian(expansion)?),
            TransitionKind::Independent => {
                let draws = CrankNicolson::new(&self.mean, &self.covariance, self.correlation)?
                    .mixed_with(self.short, SHORT.1)?;
                Transition::Independent(plan, Sweeps::new(expansion, draws, &self.sds(), self.sweeps))
            }
        })
    }
}

/// Leapfrog paths on a surrogate, then sweeps.
pub type Leaps<'e, E> = Sweeps<'e, E, SurrogateStep<'e, E, Hamiltonian<SurrogateDensity<'e, E>>>>;

/// The mean at which the gradient of log π̃ vanishes on average over N(mean, `covariance`), from `mode` on by steps of Newton's kind; `mode` where they fail.
fn nearest<E: Expansion>(expansion: &E, mode: &[f64], covariance: &[f64], rng: &mut Rng) -> Result<Vec<f64>> {
    let d = mode.len();
    let zero = vec![0.0; d];
    let mut shape = CrankNicolson::new(&zero, covariance, 0.0)?;
    let mut away = vec![vec![0.0; d]; PAIRS];
    for draw in &mut away {
        shape.propose(&zero, draw, rng)?;
    }
    let (mut mean, mut workspace) = (mode.to_vec(), E::Workspace::default());
    let (mut state, mut slope) = (vec![0.0; d], vec![0.0; d]);
    for _ in 0..MOVES {
        let mut average = vec![0.0; d];
        for (draw, sign) in away.iter().flat_map(|draw| [(draw, 1.0), (draw, -1.0)]) {
            for (slot, (mean, away)) in state.iter_mut().zip(mean.iter().zip(draw)) {
                *slot = mean + sign * away;
            }
            expansion.log_density_gradient(&state, &mut workspace, &mut slope);
            average.iter_mut().zip(&slope).for_each(|(sum, slope)| *sum += slope / (2 * PAIRS) as f64);
        }
        for (slot, row) in mean.iter_mut().zip(covariance.chunks_exact(d)) {
            *slot += austerity::dot::dot(row, &average);
        }
    }
    Ok(if mean.iter().all(|value| value.is_finite()) { mean } else { mode.to_vec() })
}

/// By how much log π̃ − log N is larger, [`TAIL`] standard deviations out along some coefficient, than at the mean: both ways along each coefficient, the others following as the
/// normal approximation has them.
fn tail_weight<E: Expansion>(expansion: &E, mean: &[f64], covariance: &[f64]) -> f64 {
    let d = mean.len();
    let centre = expansion.log_density(mean);
    let mut largest = f64::NEG_INFINITY;
    for j in 0..d {
        let sd = covariance[j * d + j].sqrt();
        for out in [TAIL, -TAIL] {
            let there: Vec<f64> = (0..d).map(|i| mean[i] + out * covariance[i * d + j] / sd).collect();
            // log N falls by TAIL²/2.
            let weight = expansion.log_density(&there) - centre + 0.5 * TAIL * TAIL;
            if weight.is_finite() {
                largest = largest.max(weight);
            }
        }
    }
    largest
}

/// Standard deviation of log π̃ − log N over draws from N; infinite where a draw has no density.
fn spread<E: Expansion>(expansion: &E, mode: &[f64], covariance: &[f64], rng: &mut Rng) -> Result<f64> {
    let mut draws = CrankNicolson::new(mode, covariance, 0.0)?;
    let (from, mut to) = (mode.to_vec(), mode.to_vec());
    let mut weights = austerity::population::Moments::EMPTY;
    for _ in 0..WEIGHED {
        // log N(mode) − log N(to) = ratio.
        let ratio = draws.propose(&from, &mut to, rng)?.log_ratio;
        weights.push(expansion.log_density(&to) + ratio);
        let _: f64 = rng.random();
    }
    Ok(if weights.m2.is_finite() { weights.sd() } else { f64::INFINITY })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::glm::expansion::{ExpansionSettings, GlmExpansion};
    use crate::{Glm, Logistic, Prior, ResponseKind, generate};

    /// Leapfrog paths are tried where there is time for them, and then as without a limit; draws from the normal approximation need none.
    #[test]
    fn a_pilot_that_would_take_too_long_is_not_made() {
        let data = generate::logistic(3_000, 3).build().unwrap().data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 4]).unwrap();
        let expansion = GlmExpansion::new(&model, &[0.0; 4], &ExpansionSettings::default()).unwrap();
        let (mode, covariance) = (expansion.mode(), expansion.covariance());
        let within = |kind, seconds| {
            TransitionPlan::pilot_within(&expansion, (mode, covariance), Some(kind), (1, seconds)).unwrap()
        };
        let plan = |kind| TransitionPlan::pilot(&expansion, (mode, covariance), Some(kind), 1).unwrap();
        let words = |plan: &TransitionPlan| format!("{plan:?}");
        assert!(within(TransitionKind::Hamiltonian, 0.0).is_none());
        for (kind, seconds) in [(TransitionKind::Hamiltonian, 1e9), (TransitionKind::Independent, 0.0)] {
            assert_eq!(words(&within(kind, seconds).unwrap()), words(&plan(kind)));
        }
    }

    /// A surrogate of the third order is skewed, and draws around its mean weigh more evenly than around its mode; of the second order with normal priors it is
    /// normal, and stays where it is.
    #[test]
    fn a_skewed_surrogate_is_drawn_from_around_its_mean() {
        let data = generate::logistic(3_000, 20).build().unwrap().data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 21]).unwrap();
        for order in [2, 3] {
            let settings = ExpansionSettings { order, stratum_rows: Some(0), ..ExpansionSettings::default() };
            let expansion = GlmExpansion::new(&model, &[0.0; 21], &settings).unwrap();
            let (mode, covariance) = (expansion.mode(), expansion.covariance());
            let at_mode = spread(&expansion, mode, covariance, &mut stream(9, 0, Role::Proposal)).unwrap();
            let plan = TransitionPlan::pilot(&expansion, (mode, covariance), None, 1).unwrap();
            assert_eq!(plan.kind, TransitionKind::Independent);
            if order == 3 {
                assert!(plan.spread < 0.7 * at_mode && plan.mean != mode, "{} {at_mode}", plan.spread);
            } else {
                assert!(at_mode < WORTH_MOVING && plan.mean == mode, "{at_mode}");
            }
        }
    }

    /// The posterior of a leverage row's coefficient under Student noise has heavier tails than its normal approximation: draws get short steps besides, which lead out of them. A
    /// logistic posterior of many rows gets none.
    #[test]
    fn heavy_tails_get_short_steps() {
        use crate::{Data, Student};
        use rand::RngExt as _;
        let mut rng = stream(3, 0, Role::Data);
        let rows = 4_000;
        let mut noise = || -> f64 { rng.sample(rand_distr::StandardNormal) };
        let x: Vec<f64> = (0..rows).map(|i| if i < 2 { 300.0 } else { 0.1 * noise() }).collect();
        let y: Vec<f64> = x.iter().map(|x| 0.3 * x + noise() / noise().abs().max(0.3)).collect();
        let data = Data::new(["x"], vec![x], y).check(ResponseKind::Real).unwrap();
        let model = Glm::new(Student { freedom: 4.0 }, &data, vec![Prior::normal(10.0); 3]).unwrap();
        let expansion = GlmExpansion::new(&model, &[0.0; 3], &ExpansionSettings::default()).unwrap();
        let plan =
            |e: &_| TransitionPlan::pilot(e, (expansion.mode(), expansion.covariance()), None, 1).unwrap();
        let plan = plan(&expansion);
        assert!(plan.kind == TransitionKind::Hamiltonian || plan.short > 0.0, "{plan:?}");
        let data = generate::logistic(20_000, 5).build().unwrap().data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(1.0); 6]).unwrap();
        let expansion = GlmExpansion::new(&model, &[0.0; 6], &ExpansionSettings::default()).unwrap();
        let plan =
            TransitionPlan::pilot(&expansion, (expansion.mode(), expansion.covariance()), None, 1).unwrap();
        assert!(plan.kind == TransitionKind::Independent && plan.short == 0.0, "{plan:?}");
    }

    /// Paths are tuned on a third-order surrogate, which has no bound: they go as far as on the second-order one.
    #[test]
    fn paths_on_a_third_order_surrogate_move() {
        let data = generate::logistic(600, 12).build().unwrap().data.check(ResponseKind::Binary).unwrap();
        let model = Glm::new(Logistic, &data, vec![Prior::normal(2.0); 13]).unwrap();
        let jump = |order: u8| {
            let settings = ExpansionSettings { order, stratum_rows: Some(0), ..ExpansionSettings::default() };
            let expansion = GlmExpansion::new(&model, &[0.0; 13], &settings).unwrap();
            let (mode, covariance) = (expansion.mode(), expansion.covariance());
            let kind = Some(TransitionKind::Hamiltonian);
            TransitionPlan::pilot(&expansion, (mode, covariance), kind, 1).unwrap()
        };
        let (second, third) = (jump(2), jump(3));
        assert!(second.jump > 0.4 && third.jump > 0.5 * second.jump && third.path.length > 0.1, "{third:?}");
    }
}
