//! A chain of any kernel, stepped by hand: a kernel, a state, streams, a step counter.
//!
//! [`Chain`](crate::run::Chain) and [`Sampler`](crate::run::Sampler) run Metropolis–Hastings with warm-up, limits and
//! checkpoints. A walker runs whatever implements [`Kernel`], such as `austerity_models::Gibbs`: the streams are repositioned at
//! every step, so that seed, chain, step and state say where it stands, and walkers on threads of their own are as
//! reproducible as one.

use crate::error::Result;
use crate::kernel::Kernel;
use crate::rng::Streams;
use crate::rule::Decision;
use crate::run::Counters;

/// A kernel on its way.
///
/// ```
/// use austerity::kernel::Metropolis;
/// use austerity::model::from_fn;
/// use austerity::population::BlockOrder;
/// use austerity::proposal::RandomWalk;
/// use austerity::rng::Streams;
/// use austerity::rule::Exact;
/// use austerity::run::Walker;
///
/// // One observation of 0, whose sd is 1: a standard normal posterior.
/// let model = from_fn(1, 1, |_: &[f64]| 0.0, |state: &[f64], _| -0.5 * state[0] * state[0])?;
/// let (walk, order) = (RandomWalk::isotropic(1, 2.0)?, BlockOrder::new(1, 1, 1, 0)?);
/// let kernel = Metropolis::new(&model, walk, Exact::default(), order, &vec![0.0])?;
/// let mut walker = Walker::new(kernel, vec![0.0], Streams::new(1, 0));
/// let mut positive = 0;
/// for _ in 0..1000 {
///     walker.walk(6)?;
///     positive += u32::from(walker.state()[0] > 0.0);
/// }
/// assert!((400..600).contains(&positive));
/// # Ok::<(), austerity::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Walker<K: Kernel> {
    kernel: K,
    state: K::State,
    streams: Streams,
    counters: Counters,
}

impl<K: Kernel> Walker<K> {
    /// A walker at step 0 of `streams`.
    pub fn new(kernel: K, state: K::State, streams: Streams) -> Self {
        Self { kernel, state, streams, counters: Counters::default() }
    }

    /// Makes one step.
    pub fn step(&mut self) -> Result<Decision> {
        self.streams.begin(self.counters.steps);
        let decision = self.kernel.step(&mut self.state, &mut self.streams)?;
        self.counters.count(&decision);
        Ok(decision)
    }

    /// Makes so many `steps`.
    pub fn walk(&mut self, steps: u64) -> Result<()> {
        for _ in 0..steps {
            self.step()?;
        }
        Ok(())
    }

    /// Where it is.
    pub fn state(&self) -> &K::State {
        &self.state
    }

    /// Steps made and what they have cost.
    pub fn counters(&self) -> &Counters {
        &self.counters
    }

    /// The kernel.
    pub fn kernel(&self) -> &K {
        &self.kernel
    }
}
