//! A pilot: a few exact steps whose complete moments an average design learns from.
//!
//! Each step reads all rows once, records (R, κ) of the move, and accepts exactly, so the pairs are those of a stationary chain
//! when `start` is a typical draw. Cost: N evaluations per step, about 100 steps. Moments of decisions that a test stopped
//! would be selected and too optimistic; these are not.

use rand::RngExt as _;

use crate::design::Pairs;
use crate::error::{Error, Result};
use crate::model::{Access, Model};
use crate::population::Population as _;
use crate::proposal::Proposal;
use crate::rng::Streams;

/// Steps of a pilot unless told otherwise.
pub const STEPS: usize = 100;
/// Chain number of the streams of a pilot: no chain of a run has it.
const CHAIN: u32 = u32::MAX;

/// What a pilot saw.
#[derive(Clone, Debug, PartialEq)]
pub struct Pilot<S> {
    /// Complete moments of its moves.
    pub pairs: Pairs,
    /// Share of moves accepted.
    pub acceptance: f64,
    /// The state at which the pilot ended: another typical draw.
    pub state: S,
}

/// Where a pilot begins, how far it goes, and with which seed.
#[derive(Clone, Copy, Debug)]
pub struct PilotSettings<'a, S> {
    /// A typical state.
    pub start: &'a S,
    /// Steps at the most.
    pub steps: usize,
    /// Seed of its streams.
    pub seed: u64,
}

/// Makes exact steps of `proposal`. `go_on` hears the number of every step before it is made, and ends the pilot by `false`.
pub fn pilot<M: Model, P: Proposal<M::State>>(
    model: &M,
    proposal: &mut P,
    settings: &PilotSettings<'_, M::State>,
    go_on: &mut dyn FnMut(usize) -> bool,
) -> Result<Pilot<M::State>> {
    let &PilotSettings { start, steps, seed } = settings;
    let mut pairs = Pairs::new(model.len())?;
    let mut streams = Streams::new(seed, CHAIN);
    let mut scratch = model.scratch(Access::Scan);
    let (mut state, mut candidate) = (start.clone(), start.clone());
    let (mut accepted, mut made) = (0usize, 0usize);
    for step in 0..steps {
        if !go_on(step) {
            break;
        }
        streams.begin(step as u64);
        let log_proposal = proposal.propose(&state, &mut candidate, &mut streams.proposal)?.log_ratio;
        let offset = model.log_prior(&candidate) - model.log_prior(&state) + log_proposal;
        if offset.is_nan() {
            return Err(Error::ProposalRatio { value: log_proposal });
        }
        made += 1;
        if !offset.is_finite() {
            continue; // ruled out without a look: no decision to learn from
        }
        let moments = model.compare(&state, &candidate, &mut scratch).total()?;
        if moments.impossible() {
            continue;
        }
        // A total in closed form has no spread to learn from.
        if moments.m2.is_finite() {
            pairs.push_moments(&moments, offset)?;
        }
        let threshold = (1.0 - streams.decision.random::<f64>()).ln();
        if moments.sum() + offset > threshold {
            model.accepted(&mut scratch);
            std::mem::swap(&mut state, &mut candidate);
            accepted += 1;
        }
    }
    Ok(Pilot { pairs, acceptance: accepted as f64 / made as f64, state })
}
