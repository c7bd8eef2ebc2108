//! One way of sampling, and chains of it watched step by step.

use austerity::kernel::{Kernel, Metropolis, Uncorrected};
use austerity::population::{Batch, BlockOrder};
use austerity::proposal::{Proposal, Proposed, RandomWalk};
use austerity::rng::{Rng, Streams};
use austerity::rule::{RuleSettings, SequentialSettings};
use austerity::run::Counters;
use austerity_glm::gradients::{BatchGradient, MiniBatch};
use austerity_glm::proposal::{FisherScoring, Langevin, empirical_information};

use super::target::Target;
use crate::clock::thread_time;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::parallel;

/// m: rows of a step of the test, and n: rows of a mini-batch. The paper gives m; n is taken to be the same.
pub(super) const ROWS: usize = 500;
/// Steps from one draw kept to the next.
const THIN: u64 = 2;

/// How candidates are made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Step {
    /// A random walk.
    Walk,
    /// Stochastic gradient Langevin dynamics.
    Langevin,
    /// The same, with a mini-batch of its own for the density of the reverse.
    FreshReverse,
    /// Stochastic gradient Fisher scoring with the drift of the Langevin step.
    Scoring,
}

/// A way of sampling.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Method {
    /// In tables.
    pub(super) name: &'static str,
    /// Beside an axis.
    pub(super) short: &'static str,
    pub(super) step: Step,
    /// ε of the test; none where every candidate is taken.
    pub(super) epsilon: Option<f64>,
}

impl Method {
    /// Rows whose gradient a step asks for, drawn in blocks of `block_rows`; Fisher scoring draws whole blocks always.
    pub(super) fn gradient_rows(&self, block_rows: usize) -> f64 {
        let batch = match self.step {
            Step::Walk => 0,
            Step::Langevin | Step::FreshReverse => ROWS.next_multiple_of(block_rows),
            Step::Scoring => ROWS.next_multiple_of(austerity::BLOCK_ROWS),
        };
        batch as f64 * if self.epsilon.is_some() { 2.0 } else { 1.0 }
    }
}

/// How long.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Length {
    pub(super) chains: u32,
    pub(super) steps: u64,
}

/// What was seen of the chains of a method.
#[derive(Clone, Debug, Default)]
pub(super) struct Record {
    /// Draws of each chain.
    pub(super) draws: Vec<Vec<f64>>,
    pub(super) counters: Counters,
    /// Largest number of looks of a test.
    pub(super) most_looks: u32,
    /// CPU seconds.
    pub(super) seconds: f64,
    /// Candidates left of the kink from states right of it, and how many of them were taken.
    pub(super) into_valley: u64,
    pub(super) taken: u64,
    /// Steps that began left of the kink, and how far they went in all.
    pub(super) from_valley: u64,
    pub(super) thrown: f64,
    /// Throws beyond mode + sd that found back to the mode, and the steps this took in all.
    pub(super) returns: u64,
    pub(super) return_steps: u64,
    /// The sums of each chain, by the numbers below.
    pub(super) each: Vec<[f64; 8]>,
}

/// Places in [`Record::each`].
pub(super) mod sums {
    pub(crate) const INTO_VALLEY: usize = 0;
    pub(crate) const REJECTED: usize = 1;
    pub(crate) const FROM_VALLEY: usize = 2;
    pub(crate) const THROWN: usize = 3;
    pub(crate) const RETURNS: usize = 4;
    pub(crate) const RETURN_STEPS: usize = 5;
    pub(crate) const STEPS: usize = 6;
    pub(crate) const ACCEPTED: usize = 7;
}

impl Record {
    fn add(&mut self, mut other: Self) {
        self.draws.append(&mut other.draws);
        self.counters.add(&other.counters);
        self.most_looks = self.most_looks.max(other.most_looks);
        self.seconds += other.seconds;
        self.into_valley += other.into_valley;
        self.taken += other.taken;
        self.from_valley += other.from_valley;
        self.thrown += other.thrown;
        self.returns += other.returns;
        self.return_steps += other.return_steps;
        self.each.append(&mut other.each);
    }

    /// Rows that a test read, on average.
    pub(super) fn rows_per_test(&self) -> f64 {
        self.counters.read as f64 / self.counters.steps as f64
    }

    /// Share of the candidates left of the kink that were not taken.
    pub(super) fn rejected_in_valley(&self) -> f64 {
        1.0 - self.taken as f64 / self.into_valley as f64
    }
}

/// Any of the proposals, with the last candidate open to view.
struct Watched<'m, M: BatchGradient> {
    inner: Inner<'m, M>,
    candidate: f64,
}

enum Inner<'m, M: BatchGradient> {
    Walk(RandomWalk),
    Langevin(Langevin<'m, M>),
    Scoring(FisherScoring<'m, M>),
}

/// By hand: a derived one would ask the model to be cloned.
impl<M: BatchGradient> Clone for Watched<'_, M> {
    fn clone(&self) -> Self {
        let inner = match &self.inner {
            Inner::Walk(walk) => Inner::Walk(walk.clone()),
            Inner::Langevin(langevin) => Inner::Langevin(langevin.clone()),
            Inner::Scoring(scoring) => Inner::Scoring(scoring.clone()),
        };
        Self { inner, candidate: self.candidate }
    }
}

impl<'m, M: BatchGradient> Watched<'m, M> {
    fn new(target: &'m Target<M>, step: Step, variance: f64) -> austerity::Result<Self> {
        let rows = target.model.len();
        let size = ROWS.min(rows);
        let batch = MiniBatch::of_blocks(rows, size, target.block_rows)?;
        let inner = match step {
            Step::Walk => Inner::Walk(RandomWalk::isotropic(1, 2.38 * target.sd)?),
            Step::Langevin => Inner::Langevin(Langevin::new(&target.model, variance, size)?.batch(batch)?),
            Step::FreshReverse => {
                Inner::Langevin(Langevin::new(&target.model, variance, size)?.batch(batch)?.fresh_reverse())
            }
            Step::Scoring => {
                let all = Batch { blocks: &[0], block_rows: rows, population: rows };
                let information = empirical_information(&target.model, &[target.mode], all)?;
                // h Λ⁻¹ = α/2 gives 4/ε = 2/h − γ.
                let h = 0.5 * variance * information[0];
                let blocks = MiniBatch::new(rows, size)?.rows();
                let gamma = rows as f64 / blocks as f64;
                let step = 4.0 / (2.0 / h - gamma);
                Inner::Scoring(FisherScoring::new(&target.model, &information, step, size)?)
            }
        };
        Ok(Self { inner, candidate: f64::NAN })
    }
}

impl<M: BatchGradient> Proposal<Vec<f64>> for Watched<'_, M> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> austerity::Result<Proposed> {
        let ratio = match &mut self.inner {
            Inner::Walk(walk) => walk.propose(from, to, rng),
            Inner::Langevin(langevin) => langevin.propose(from, to, rng),
            Inner::Scoring(scoring) => scoring.propose(from, to, rng),
        };
        self.candidate = to[0];
        ratio
    }

    fn draw(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> austerity::Result<()> {
        let drawn = match &mut self.inner {
            Inner::Walk(walk) => walk.draw(from, to, rng),
            Inner::Langevin(langevin) => langevin.draw(from, to, rng),
            Inner::Scoring(scoring) => scoring.draw(from, to, rng),
        };
        self.candidate = to[0];
        drawn
    }
}

/// Chains of `method` from the mode, the first twentieth of each not counted; `variance` is α.
pub(super) fn run<M: BatchGradient>(
    context: &Context,
    target: &Target<M>,
    method: Method,
    variance: f64,
    length: Length,
) -> Result<Record> {
    let numbers: Vec<u32> = (0..length.chains).collect();
    let start = vec![target.mode];
    let rows = target.model.len();
    let records = parallel::each(context.threads, &numbers, |_, &number| {
        let proposal = Watched::new(target, method.step, variance)?;
        match method.epsilon {
            None => {
                let kernel = Uncorrected::new(proposal, &start);
                watch(context, target, (kernel, |kernel| kernel.proposal().candidate), (number, length.steps))
            }
            Some(epsilon) => {
                // Algorithm 1; a test that must not err reads everything.
                let rule = if epsilon == 0.0 {
                    RuleSettings::default()
                } else {
                    let test = SequentialSettings::paper(ROWS.min(rows), epsilon);
                    RuleSettings::Sequential(SequentialSettings { block_rows: target.block_rows, ..test })
                };
                let order = BlockOrder::new(rows, rule.block_rows(), context.seed, number)?;
                let kernel = Metropolis::new(&target.model, proposal, rule.build(rows)?, order, &start)?;
                watch(context, target, (kernel, |kernel| kernel.proposal().candidate), (number, length.steps))
            }
        }
    })?;
    let mut all = Record::default();
    records.into_iter().for_each(|record| all.add(record));
    Ok(all)
}

fn watch<M, K: Kernel<State = Vec<f64>>>(
    context: &Context,
    target: &Target<M>,
    (mut kernel, candidate): (K, fn(&K) -> f64),
    (number, steps): (u32, u64),
) -> Result<Record> {
    let mut record = Record::default();
    let mut draws = Vec::with_capacity((steps / THIN) as usize);
    let mut state = vec![target.mode];
    let mut streams = Streams::new(context.seed, number);
    let burn = steps / 20;
    let mut away: Option<u64> = None;
    let clock = thread_time();
    for step in 0..burn + steps {
        if step % 1024 == 0 && context.stopped() {
            return Err(Error::Interrupted);
        }
        let before = state[0];
        streams.begin(step);
        let decision = kernel.step(&mut state, &mut streams)?;
        if step < burn {
            continue;
        }
        let after = state[0];
        record.counters.count(&decision);
        record.most_looks = record.most_looks.max(decision.looks);
        if before >= 0.0 && candidate(&kernel) < 0.0 {
            record.into_valley += 1;
            record.taken += u64::from(decision.accepted);
        }
        if before < 0.0 {
            record.from_valley += 1;
            record.thrown += after - before;
            if after > target.mode + target.sd {
                away = Some(step);
            }
        }
        if let Some(since) = away
            && after <= target.mode
        {
            record.returns += 1;
            record.return_steps += step - since;
            away = None;
        }
        if (step - burn) % THIN == THIN - 1 {
            draws.push(after);
        }
    }
    record.seconds = (thread_time() - clock).as_secs_f64();
    record.draws.push(draws);
    let rejected = record.into_valley - record.taken;
    let (steps, accepted) = (record.counters.steps, record.counters.accepted);
    let counts = [
        record.into_valley,
        rejected,
        record.from_valley,
        0,
        record.returns,
        record.return_steps,
        steps,
        accepted,
    ];
    let mut counts = counts.map(|count| count as f64);
    counts[sums::THROWN] = record.thrown;
    record.each.push(counts);
    Ok(record)
}
