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
use crate::rule::{Audit, Decision};
use crate::run::{Ledger, Tightened};

pub use metropolis::{AuditedPair, Metropolis};
pub use uncorrected::Uncorrected;

/// Moves a state by one step that leaves the target (nearly) invariant.
///
/// [`Sampler`](crate::run::Sampler) runs anything that implements this, with threads, limits, storage and checkpoints. A kernel of one's own needs
/// [`Kernel::step`] and [`Kernel::learnt`]; the other methods are for kernels that learn in warm-up or audit their decisions.
pub trait Kernel {
    /// A point of the space that it moves in.
    type State;
    /// What a checkpoint keeps beside the state: what was learnt in warm-up, or `()`.
    type Learnt: Clone;

    /// Makes one step. The streams stand at the beginning of the step; all randomness comes from them.
    fn step(&mut self, state: &mut Self::State, streams: &mut Streams) -> Result<Decision>;

    /// What was learnt so far: a kernel that is made with it goes on as this one would.
    fn learnt(&self) -> Self::Learnt;

    /// Learns from the last step, which was warm-up step number `step` (from 1).
    fn learn(&mut self, _decision: &Decision, _step: u64) {}

    /// Is called before each step.
    fn prepare(&mut self, _ledger: &Ledger) {}

    /// Is called after each step, when it has been counted.
    fn review(&mut self, _decision: &Decision, _ledger: &mut Ledger) -> Result<()> {
        Ok(())
    }

    /// Completes what waits, before a checkpoint and at the end: a checkpoint holds nothing that waits.
    fn settle(&mut self, _ledger: &mut Ledger) -> Result<()> {
        Ok(())
    }

    /// Audits that were completed since the last call, each with the number of the draw that its decision led to (from 0).
    fn completed_audits(&mut self) -> Vec<(u64, Audit)> {
        Vec::new()
    }

    /// How often, and when, a test was made stricter in warm-up.
    fn tightened(&self) -> &[Tightened] {
        &[]
    }
}
