//! One step of a chain.
//!
//! | file | what it holds |
//! |---|---|
//! | [`metropolis`] | [`Metropolis`]: propose, compare, decide; the pairs that are to be audited |
//! | [`uncorrected`] | [`Uncorrected`]: propose and take it, without a test; biased |

pub mod metropolis;
pub mod uncorrected;

use crate::error::Result;
use crate::rng::Streams;
use crate::rule::Decision;

pub use metropolis::{AuditedPair, Metropolis};
pub use uncorrected::Uncorrected;

/// Moves a state by one step that leaves the target (nearly) invariant.
pub trait Kernel {
    /// A point of the parameter space.
    type State;

    /// One step. The streams stand at the beginning of the step.
    fn step(&mut self, state: &mut Self::State, streams: &mut Streams) -> Result<Decision>;

    /// Learns from the last step, which was warm-up step number `step` (from 1).
    fn learn(&mut self, _decision: &Decision, _step: u64) {}
}
