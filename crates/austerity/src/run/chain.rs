//! One chain: a kernel, a state, a step counter.
//!
//! `step` makes one step; during warm-up the kernel learns, afterwards every `thin` steps make a draw. The streams are repositioned at every
//! step, so the step counter, the state and what the kernel has learnt are all there is to know about where a chain stands.

use crate::error::Result;
use crate::kernel::Kernel;
use crate::model::Model;
use crate::proposal::Proposal;
use crate::rng::Streams;
use crate::rule::{AnyRule, Audit, Decision};
use crate::run::{Audited, ChainCheckpoint, Counters, Ledger, Settings, Tightened};

/// One chain of any kernel.
///
/// [`Sampler`](crate::run::Sampler) runs several with limits, checkpoints and storage. Stepped by hand, a chain without warm-up:
///
/// ```
/// use austerity::kernel::Uncorrected;
/// use austerity::proposal::RandomWalk;
/// use austerity::run::Chain;
///
/// let kernel = Uncorrected::new(RandomWalk::isotropic(1, 0.5)?, &vec![0.0]);
/// let mut chain = Chain::start(kernel, vec![0.0], (1, 0));
/// chain.advance(1000)?;
/// assert_eq!((chain.steps(), chain.sampling().accepted), (1000, 1000));
/// # Ok::<(), austerity::Error>(())
/// ```
pub struct Chain<K: Kernel> {
    number: u32,
    kernel: K,
    state: K::State,
    streams: Streams,
    ledger: Ledger,
}

impl<'m, M: Model, P: Proposal<M::State> + Clone> Chain<Audited<'m, M, P>> {
    /// Chain `number` of Metropolis–Hastings under `settings`, as `checkpoint` left it; `rule` is that of the settings, built once for all chains.
    pub fn new(
        model: &'m M,
        settings: &Settings,
        rule: AnyRule,
        (number, checkpoint): (u32, ChainCheckpoint<M::State, P>),
    ) -> Result<Self> {
        let (kernel, rest) = Audited::new(model, settings, rule, (number, checkpoint))?;
        Ok(Self::resumed(kernel, settings, number, rest))
    }
}

impl<K: Kernel> Chain<K> {
    /// A chain at `state` whose every step is a draw, with the streams of `(seed, chain)`.
    pub fn start(kernel: K, state: K::State, (seed, number): (u64, u32)) -> Self {
        Self { number, kernel, state, streams: Streams::new(seed, number), ledger: Ledger::plain() }
    }

    /// Chain `number` under `settings`, as `checkpoint` left it; `kernel` knows what had been learnt.
    pub fn resumed(
        kernel: K,
        settings: &Settings,
        number: u32,
        checkpoint: ChainCheckpoint<K::State, ()>,
    ) -> Self {
        let ledger = Ledger::resumed(settings, &checkpoint);
        let streams = Streams::new(settings.seed, number);
        Self { number, kernel, state: checkpoint.state, streams, ledger }
    }

    /// Makes one step. In warm-up the kernel learns from it.
    pub fn step(&mut self) -> Result<Decision> {
        let step = self.ledger.steps();
        self.streams.begin(step);
        self.kernel.prepare(&self.ledger);
        let decision = self.kernel.step(&mut self.state, &mut self.streams)?;
        self.ledger.count(&decision);
        if self.ledger.warmed() {
            self.kernel.learn(&decision, step + 1);
        }
        self.kernel.review(&decision, &mut self.ledger)?;
        Ok(decision)
    }

    /// Makes so many `steps`.
    pub fn advance(&mut self, steps: u64) -> Result<()> {
        (0..steps).try_for_each(|_| self.step().map(drop))
    }

    /// Completes the audits that wait: before a checkpoint, and when the chain stops.
    pub fn settle(&mut self) -> Result<()> {
        self.kernel.settle(&mut self.ledger)
    }

    /// Audits of recorded draws (numbered from 0) that were completed since the last time.
    pub fn completed_audits(&mut self) -> Vec<(u64, Audit)> {
        self.kernel.completed_audits()
    }

    /// How often, and when, the test was made stricter in warm-up.
    pub fn tightened(&self) -> &[Tightened] {
        self.kernel.tightened()
    }

    /// Whether the next step is still warm-up.
    pub fn warming(&self) -> bool {
        self.ledger.warming()
    }

    /// Whether the last step completed a draw.
    pub fn drew(&self) -> bool {
        self.ledger.drew()
    }

    /// Draws completed since the chain began.
    pub fn draws(&self) -> u64 {
        self.ledger.draws()
    }

    /// Steps made since the chain began.
    pub fn steps(&self) -> u64 {
        self.ledger.steps()
    }

    /// Number of the chain.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// State of the chain.
    pub fn state(&self) -> &K::State {
        &self.state
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }

    /// Counts of the warm-up.
    pub fn warmup(&self) -> &Counters {
        self.ledger.warmup()
    }

    /// Counts after the warm-up.
    pub fn sampling(&self) -> &Counters {
        self.ledger.sampling()
    }

    /// Likelihood evaluations since the chain began.
    pub fn evaluations(&self) -> u64 {
        self.ledger.evaluations()
    }

    /// All that is needed to go on, once the audits that wait are settled.
    pub fn checkpoint(&self) -> ChainCheckpoint<K::State, K::Learnt>
    where
        K::State: Clone,
    {
        ChainCheckpoint {
            state: self.state.clone(),
            learnt: self.kernel.learnt(),
            step: self.ledger.steps(),
            warmup: *self.ledger.warmup(),
            sampling: *self.ledger.sampling(),
            tightened: self.kernel.tightened().to_vec(),
        }
    }
}
