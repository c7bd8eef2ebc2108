//! No test at all: every candidate becomes the state. **Biased**, for comparisons and for those who know why they want it.
//!
//! With the proposal `austerity_glm::proposal::Langevin` this is stochastic gradient Langevin dynamics as Welling & Teh (2011) run it,
//! with `FisherScoring` there that of Ahn, Korattikara & Welling (2012). The stationary law is not the
//! posterior: its error does not shrink with the length of the run, only with the step, and a kink or a cliff of the density throws the chain far off
//! (Korattikara, Chen & Welling 2014, §6.4). With a random walk it is Brownian motion. Neither the prior nor the likelihood is asked
//! whether a candidate is possible.
//!
//! Cost: the proposal's, n rows of gradients; no decision reads a row. Not for results: use
//! [`Metropolis`](crate::kernel::Metropolis) with the same proposal.

use crate::error::Result;
use crate::kernel::Kernel;
use crate::proposal::Proposal;
use crate::rng::Streams;
use crate::rule::Decision;

/// Takes every candidate of a proposal, untested.
#[derive(Clone, Debug)]
pub struct Uncorrected<P, S> {
    proposal: P,
    candidate: S,
}

impl<P: Proposal<S>, S: Clone> Uncorrected<P, S> {
    /// A kernel whose chain is at `state`.
    pub fn new(proposal: P, state: &S) -> Self {
        Self { proposal, candidate: state.clone() }
    }

    /// The proposal, as adapted so far.
    pub fn proposal(&self) -> &P {
        &self.proposal
    }
}

impl<P: Proposal<S> + Clone, S> Kernel for Uncorrected<P, S> {
    type State = S;
    type Learnt = P;

    fn learnt(&self) -> P {
        self.proposal.clone()
    }

    fn step(&mut self, state: &mut S, streams: &mut Streams) -> Result<Decision> {
        self.proposal.draw(state, &mut self.candidate, &mut streams.proposal)?;
        std::mem::swap(state, &mut self.candidate);
        Ok(Decision::untested())
    }

    fn learn(&mut self, decision: &Decision, step: u64) {
        self.proposal.learn(decision.accepted, step);
    }
}
