//! Pseudo-marginal Metropolis–Hastings: decisions on unbiased estimates of the likelihood from batches. It gets stuck on tall data.
//!
//! The chain moves on (θ, L̂) and accepts θ' with a fresh estimate L̂' with probability
//!
//! ```text
//! min { 1, p(θ') |L̂'| q(θ|θ') / (p(θ) |L̂| q(θ'|θ)) }        E[L̂] = L(θ) / L(θ₀)
//! ```
//!
//! The estimate of the current state is kept until the chain leaves it. That makes the chain exact (Andrieu & Roberts 2009), and it is why the chain gets stuck:
//! after one estimate that is much too high "almost all proposed moves are rejected" (Korattikara, Chen & Welling 2014, §4). [`Rejections`] reports it: acceptance,
//! the longest run of rejections, the share of negative estimates.
//!
//! **Signs.** Both estimators can be negative. The chain then samples |L̂|, and a posterior mean is Σ sᵢfᵢ / Σ sᵢ over its draws with the signs sᵢ
//! ([`signed_mean`]; Lin, Liu & Sloan 2000; Lyne et al. 2015). The plain mean of the draws is biased wherever signs are.
//!
//! **Tails.** Where the log-likelihood ratio falls below −`rate` (from the centre), |L̂| grows again although L̂ is unbiased: its sign is then all noise. A chain
//! that can go there may never come back. Give the prior a bounded support, or take a rate above the range of the log-likelihood ratio.
//!
//! **What a surrogate does.** The reference θ₀ and the model decide how large the differences are. Over a [`Surrogate`](austerity_glm::Surrogate) the rows
//! are residuals, whose total has a standard deviation far below 1 near the centre: the same kernel then accepts as exact Metropolis–Hastings does.
//!
//! Cost of a step: `rate` batches on average, each of `blocks` blocks at two likelihood evaluations per row. Not for results on tall data without a surrogate:
//! the relative variance of an estimate grows like exp(N²·var(l)/rows read); use a test or the exact rule.
//!
//! | file | what it holds |
//! |---|---|
//! | `pseudo_marginal` | [`PseudoMarginal`]: the kernel; its state, what a run records, its report |
//! | [`estimator`] | [`Estimator`], by one of two [`Series`] |

pub mod estimator;
#[cfg(test)]
mod tests;

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

pub use estimator::{Estimate, Estimator, Series};

use austerity::error::{Error, Result, setting};
use austerity::kernel::Kernel;
use austerity::model::{Access, Model, Parameters};
use austerity::population::{Moments, Population as _};
use austerity::proposal::Proposal;
use austerity::rng::{Rng, Streams};
use austerity::rule::Decision;
use austerity::run::Target;

/// How likelihoods are estimated, as plain data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PseudoMarginalSettings {
    /// What is made of the batches.
    pub estimator: Estimator,
    /// Blocks of a batch, drawn without replacement.
    pub blocks: usize,
    /// Rows of a block.
    pub block_rows: usize,
}

/// A state with the estimate of its likelihood.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Estimated<S> {
    /// The state.
    pub state: S,
    /// The estimate that it was accepted with; at the start none, and the first step draws it.
    pub estimate: Option<Estimate>,
}

impl<S> Estimated<S> {
    /// A state to start from.
    pub fn start(state: S) -> Self {
        Self { state, estimate: None }
    }
}

/// How a pseudo-marginal chain has moved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rejections {
    /// Steps made.
    pub steps: u64,
    /// Candidates accepted.
    pub accepted: u64,
    /// Steps after which the estimate of the state was negative.
    pub negative: u64,
    /// Rejections since the last acceptance.
    pub current: u64,
    /// The longest run of rejections.
    pub longest: u64,
}

impl Rejections {
    fn count(&mut self, accepted: bool, negative: bool) {
        self.steps += 1;
        self.accepted += u64::from(accepted);
        self.negative += u64::from(negative);
        self.current = if accepted { 0 } else { self.current + 1 };
        self.longest = self.longest.max(self.current);
    }

    /// Share of the candidates accepted; NaN before the first step.
    #[must_use]
    pub fn acceptance(&self) -> f64 {
        self.accepted as f64 / self.steps as f64
    }

    /// Mean of the signs; near 0 signed means are all noise. NaN before the first step.
    #[must_use]
    pub fn mean_sign(&self) -> f64 {
        1.0 - 2.0 * self.negative as f64 / self.steps as f64
    }
}

/// Pseudo-marginal Metropolis–Hastings.
///
/// ```
/// use austerity::model::from_fn;
/// use austerity::proposal::RandomWalk;
/// use austerity::run::{Control, Sampler, Settings, Silent};
/// use austerity_models::pseudo_marginal::{Estimated, Estimator, PseudoMarginal, PseudoMarginalSettings, WithSign};
///
/// // The mean of 24 values under a prior that is flat from 0.6 to 1.8.
/// let values: Vec<f64> = (0..24).map(|i| 1.0 + 0.1 * f64::from(i % 5)).collect();
/// let prior = |mean: &[f64]| if (mean[0] - 1.2).abs() < 0.6 { 0.0 } else { f64::NEG_INFINITY };
/// let model = from_fn(24, 1, prior, |mean: &[f64], row| -0.5 * (values[row] - mean[0]).powi(2))?;
/// let settings = PseudoMarginalSettings { estimator: Estimator::poisson(8.0)?, blocks: 6, block_rows: 1 };
/// let start = Estimated::start(vec![1.2]);
/// let run = Settings { chains: 1, draws: 4000, ..Settings::default() };
/// let kernel = |_, _: &_| {
///     PseudoMarginal::new(&model, RandomWalk::isotropic(1, 0.4)?, (settings, vec![1.2]))
/// };
/// let run = Sampler::with_kernels(&WithSign(&model), &run, &[start], kernel)?.run(&Control::new(), &mut Silent);
/// let (_, moved) = &run.checkpoint.chains[0].learnt;
/// assert!(moved.acceptance() > 0.2 && moved.longest < 200, "{moved:?}");
/// # Ok::<(), austerity::Error>(())
/// ```
pub struct PseudoMarginal<'m, M: Model, P> {
    model: &'m M,
    proposal: P,
    settings: PseudoMarginalSettings,
    reference: M::State,
    scratch: M::Scratch,
    candidate: M::State,
    batch: Vec<u32>,
    totals: Vec<f64>,
    moved: Rejections,
}

impl<'m, M: Model, P: Proposal<M::State>> PseudoMarginal<'m, M, P> {
    /// A kernel that estimates likelihoods relative to a reference, a state where every row has a likelihood: the nearer to the mode, the better the estimates.
    pub fn new(
        model: &'m M,
        proposal: P,
        (settings, reference): (PseudoMarginalSettings, M::State),
    ) -> Result<Self> {
        Self::resumed(model, (proposal, Rejections::default()), (settings, reference))
    }

    /// The kernel of a chain that goes on: what [`Kernel::learnt`] gave, with the same settings and reference.
    pub fn resumed(
        model: &'m M,
        (proposal, moved): (P, Rejections),
        (settings, reference): (PseudoMarginalSettings, M::State),
    ) -> Result<Self> {
        settings.estimator.check()?;
        if settings.block_rows == 0 {
            return Err(setting("block_rows", 0, "at least 1"));
        }
        let all = model.len().div_ceil(settings.block_rows);
        if all == 0 {
            return Err(Error::EmptyData);
        }
        if !(1..=all).contains(&settings.blocks) {
            return Err(setting("blocks", settings.blocks, &format!("from 1 to {all}, those of all rows")));
        }
        model.check_state(&reference)?;
        let (scratch, candidate) = (model.scratch(Access::Blocks), reference.clone());
        let (batch, totals) = (Vec::with_capacity(settings.blocks), Vec::new());
        Ok(Self { model, proposal, settings, reference, scratch, candidate, batch, totals, moved })
    }

    /// How the chain has moved.
    pub fn rejections(&self) -> &Rejections {
        &self.moved
    }

    /// An unbiased estimate of L(state)/L(reference) from fresh batches, and the rows they had.
    fn estimate(&mut self, state: &M::State, rng: &mut Rng) -> Result<(Estimate, Read)> {
        let PseudoMarginalSettings { estimator, blocks, block_rows } = self.settings;
        let all = self.model.len().div_ceil(block_rows);
        let mut population = self.model.compare(&self.reference, state, &mut self.scratch);
        let mut read = Read { rows: 0, evaluations: 0 };
        self.totals.clear();
        for _ in 0..estimator.draw_batches(rng) {
            self.batch.clear();
            self.batch
                .extend(rand::seq::index::sample(rng, all, blocks).into_iter().map(|block| block as u32));
            let mut moments = Moments::EMPTY;
            population.summarize(&self.batch, block_rows, &mut moments)?;
            if moments.impossible() {
                let allowed =
                    "finite at every row: an unbiased estimate of a likelihood of 0 would need all rows";
                return Err(setting("log-likelihood of a pseudo-marginal chain", "-infinity", allowed));
            }
            self.totals.push(moments.sum() * all as f64 / blocks as f64);
            read.rows += moments.count;
            read.evaluations += moments.count * population.row_cost().revealed;
        }
        Ok((estimator.of(&self.totals), read))
    }

    /// The log prior of a state, refused where it is no number to compare with.
    fn log_prior(&self, state: &M::State) -> Result<f64> {
        let log_prior = self.model.log_prior(state);
        if log_prior.is_nan() || log_prior == f64::INFINITY {
            return Err(self.model.prior_error());
        }
        Ok(log_prior)
    }
}

/// What an estimate has cost.
#[derive(Clone, Copy, Debug)]
struct Read {
    rows: u64,
    evaluations: u64,
}

impl<M: Model, P: Proposal<M::State> + Clone> PseudoMarginal<'_, M, P> {
    fn decide(&mut self, state: &mut Estimated<M::State>, streams: &mut Streams) -> Result<Decision> {
        let mut candidate = self.candidate.clone();
        let proposed = self.proposal.propose(&state.state, &mut candidate, &mut streams.proposal)?;
        let before = self.log_prior(&state.state)?;
        if before == f64::NEG_INFINITY {
            return Err(Error::ImpossibleStart {
                density: "zero".into(),
                why: "the log prior is -infinity".into(),
            });
        }
        let (current, mut spent) = match state.estimate {
            Some(estimate) => (estimate, Read { rows: 0, evaluations: 0 }),
            None => self.estimate(&state.state, &mut streams.decision)?,
        };
        // An estimate of 0 is drawn anew at every step until there is another.
        state.estimate = (current.log > f64::NEG_INFINITY).then_some(current);
        if !proposed.moved {
            return Ok(Decision { evaluations: spent.evaluations, ..Decision::unmoved() });
        }
        let offset = self.log_prior(&candidate)? - before + proposed.log_ratio;
        if offset.is_nan() || offset == f64::INFINITY {
            return Err(Error::ProposalRatio { value: proposed.log_ratio });
        }
        if offset == f64::NEG_INFINITY {
            return Ok(Decision { evaluations: spent.evaluations, ..Decision::ruled_out() });
        }
        let (new, read) = self.estimate(&candidate, &mut streams.decision)?;
        spent.rows += read.rows;
        spent.evaluations += read.evaluations;
        let u: f64 = streams.decision.random();
        let accepted = new.log > f64::NEG_INFINITY && offset + new.log - current.log > u.ln();
        if accepted {
            self.candidate = std::mem::replace(&mut state.state, candidate);
            state.estimate = Some(new);
        } else {
            self.candidate = candidate;
        }
        let used = read.rows.min(self.model.len() as u64);
        let (read, evaluations) = (spent.rows, spent.evaluations);
        Ok(Decision { accepted, used, read, evaluations, looks: 1, ..Decision::untested() })
    }
}

/// A step's [`Decision`] counts rows and evaluations. It has no mean and no threshold: nothing was tested, an estimate decided.
impl<M: Model, P: Proposal<M::State> + Clone> Kernel for PseudoMarginal<'_, M, P> {
    type State = Estimated<M::State>;
    type Learnt = (P, Rejections);

    fn learnt(&self) -> (P, Rejections) {
        (self.proposal.clone(), self.moved)
    }

    fn step(&mut self, state: &mut Estimated<M::State>, streams: &mut Streams) -> Result<Decision> {
        let decision = self.decide(state, streams)?;
        let negative = state.estimate.is_some_and(|estimate| estimate.negative);
        self.moved.count(decision.accepted, negative);
        Ok(decision)
    }

    fn learn(&mut self, decision: &Decision, step: u64) {
        self.proposal.learn(decision.accepted, step);
    }
}

/// What a run records: the numbers of the model's state, the log of its estimate, and the estimate's sign.
#[derive(Clone, Copy, Debug)]
pub struct WithSign<'m, M>(pub &'m M);

impl<M: Parameters> Target for WithSign<'_, M>
where
    M::State: Clone + Send,
{
    type State = Estimated<M::State>;

    fn names(&self) -> Vec<String> {
        let own = ["log_estimate", "sign"].map(String::from);
        Parameters::names(self.0).into_iter().chain(own).collect()
    }

    fn write(&self, state: &Estimated<M::State>, out: &mut [f64]) {
        let (numbers, own) = out.split_at_mut(out.len() - 2);
        self.0.write(&state.state, numbers);
        own[0] = state.estimate.map_or(f64::NAN, |estimate| estimate.log);
        own[1] = state.estimate.map_or(f64::NAN, Estimate::sign);
    }

    fn rows(&self) -> usize {
        self.0.len()
    }

    fn fingerprint(&self) -> u64 {
        Model::fingerprint(self.0)
    }
}

/// Σ sᵢfᵢ / Σ sᵢ: the posterior mean of `values` from draws with these signs.
#[must_use]
pub fn signed_mean(values: &[f64], signs: &[f64]) -> f64 {
    let weighted: f64 = values.iter().zip(signs).map(|(value, sign)| value * sign).sum();
    weighted / signs.iter().sum::<f64>()
}
