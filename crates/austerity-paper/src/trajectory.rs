//! Running means of test functions along a chain, against the CPU time and the likelihood evaluations they have cost.
//!
//! After every `every` steps the test functions are observed; the clock stands still meanwhile. When the chain's own time
//! passes a value of the grid, the mean of all observations so far is kept. Observations are equally spaced in steps, so the
//! mean is that of the chain, burn-in included when the start was cold.

use austerity::kernel::Kernel;
use austerity::rng::Streams;
use austerity::run::Counters;
use serde::{Deserialize, Serialize};

use crate::clock::thread_time;
use crate::context::Context;
use crate::error::{Error, Result};

/// Steps that two chains make in turn.
const IN_TURN: u64 = 10;

/// When to look at a chain, and when to end it.
#[derive(Clone, Debug, PartialEq)]
pub struct Grid {
    /// CPU seconds at which the means are kept, rising; the last one ends the chain.
    pub seconds: Vec<f64>,
    /// Steps from one observation to the next; at least 1.
    pub every: u64,
    /// Steps that end the chain even before the time is over.
    pub steps: u64,
}

impl Grid {
    /// `count` times from `first` to `last` seconds, in equal ratios.
    #[must_use]
    pub fn geometric(first: f64, last: f64, count: usize, every: u64) -> Self {
        let ratio = (last / first).powf(1.0 / (count.max(2) - 1) as f64);
        let seconds = (0..count.max(2)).map(|i| first * ratio.powi(i as i32)).collect();
        Self { seconds, every: every.max(1), steps: u64::MAX }
    }
}

/// Where a chain stood when its time passed a value of the grid.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// CPU seconds spent on steps.
    pub seconds: f64,
    /// Likelihood evaluations.
    pub evaluations: u64,
    /// Steps.
    pub steps: u64,
    /// Means of the test functions over all observations so far.
    pub means: Vec<f64>,
}

/// A chain seen from outside.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Trajectory {
    /// One per time of the grid that was reached.
    pub checkpoints: Vec<Checkpoint>,
    /// What all its steps have cost and how they ended.
    pub counters: Counters,
    /// CPU seconds spent on all its steps.
    pub seconds: f64,
}

/// CPU time of a step of `slow` over that of a step of `fast`, both made in turns until each has taken so many seconds: a machine whose speed changes changes it for both.
pub fn times_as_slow(
    mut fast: impl FnMut(u64) -> Result<()>,
    mut slow: impl FnMut(u64) -> Result<()>,
    seconds: f64,
) -> Result<f64> {
    let (mut step, mut spent) = (0, [0.0; 2]);
    while spent[0] < seconds || spent[1] < seconds {
        let turn = |spent: &mut f64, make: &mut dyn FnMut(u64) -> Result<()>| -> Result<()> {
            let start = thread_time();
            (step..step + IN_TURN).try_for_each(&mut *make)?;
            *spent += (thread_time() - start).as_secs_f64();
            Ok(())
        };
        turn(&mut spent[0], &mut fast)?;
        turn(&mut spent[1], &mut slow)?;
        step += IN_TURN;
    }
    Ok(spent[1] / spent[0])
}

/// A chain that is followed; its steps are numbered from `streams.step()` on.
pub struct Following<'a, K: Kernel> {
    /// What makes its steps.
    pub kernel: &'a mut K,
    /// The state it is at.
    pub state: &'a mut K::State,
    /// Its randomness.
    pub streams: &'a mut Streams,
}

/// Runs a chain and keeps the means of `width` test functions that
/// `observe` writes.
pub fn follow<K: Kernel>(
    context: &Context,
    chain: Following<'_, K>,
    (grid, width): (&Grid, usize),
    mut observe: impl FnMut(&K::State, &mut [f64]),
) -> Result<Trajectory> {
    let Following { kernel, state, streams } = chain;
    let mut counters = Counters::default();
    let mut checkpoints = Vec::with_capacity(grid.seconds.len());
    let (mut sums, mut value) = (vec![0.0; width], vec![0.0; width]);
    let (mut observations, mut step, mut seconds) = (0.0, streams.step(), 0.0);
    while checkpoints.len() < grid.seconds.len() && counters.steps < grid.steps {
        if context.stopped() {
            return Err(Error::Interrupted);
        }
        let start = thread_time();
        for _ in 0..grid.every {
            streams.begin(step);
            let decision = kernel.step(state, streams)?;
            counters.count(&decision);
            step += 1;
        }
        seconds += (thread_time() - start).as_secs_f64();
        observe(state, &mut value);
        sums.iter_mut().zip(&value).for_each(|(sum, value)| *sum += value);
        observations += 1.0;
        while grid.seconds.get(checkpoints.len()).is_some_and(|&time| seconds >= time) {
            checkpoints.push(Checkpoint {
                seconds,
                evaluations: counters.evaluations,
                steps: counters.steps,
                means: sums.iter().map(|sum| sum / observations).collect(),
            });
        }
    }
    Ok(Trajectory { checkpoints, counters, seconds })
}
