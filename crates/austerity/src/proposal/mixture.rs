//! One of several proposals, chosen at random at every step.
//!
//! The choice does not depend on the state, so each part is used as a kernel of its own: the log ratio is that of
//! the chosen part, and a mixture of kernels reversible for the target is reversible for it (Tierney 1994).

use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::proposal::{Proposal, Proposed};
use crate::rng::Rng;

/// Proposals with weights.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Mixture<P> {
    parts: Vec<Part<P>>,
    last: usize,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Part<P> {
    /// Probability of this part or an earlier one.
    cumulative: f64,
    proposal: P,
    /// Warm-up steps this part took: what its own learning rate depends on.
    steps: u64,
}

impl<P> Mixture<P> {
    /// A mixture with the given weights, which need not sum to 1.
    pub fn new(parts: Vec<(f64, P)>) -> Result<Self> {
        if parts.is_empty() {
            return Err(setting("mixture", "empty", "at least one proposal"));
        }
        if let Some((weight, _)) = parts.iter().find(|(weight, _)| !(*weight > 0.0 && weight.is_finite())) {
            return Err(setting("mixture weight", weight, "a positive finite number"));
        }
        let sum: f64 = parts.iter().map(|(weight, _)| weight).sum();
        let mut cumulative = 0.0;
        let parts = parts
            .into_iter()
            .map(|(weight, proposal)| {
                cumulative += weight / sum;
                Part { cumulative, proposal, steps: 0 }
            })
            .collect();
        Ok(Self { parts, last: 0 })
    }
}

impl<S, P: Proposal<S>> Proposal<S> for Mixture<P> {
    fn propose(&mut self, from: &S, to: &mut S, rng: &mut Rng) -> Result<Proposed> {
        let u: f64 = rng.random();
        self.last = self.parts.iter().position(|part| u < part.cumulative).unwrap_or(self.parts.len() - 1);
        self.parts[self.last].proposal.propose(from, to, rng)
    }

    /// Every part takes its own steps: they leave the posterior as it is whichever made the candidate.
    fn refresh(&mut self, state: &mut S, rng: &mut Rng) -> Result<bool> {
        let mut changed = false;
        for part in &mut self.parts {
            changed |= part.proposal.refresh(state, rng)?;
        }
        Ok(changed)
    }

    fn learn(&mut self, accepted: bool, _step: u64) {
        let part = &mut self.parts[self.last];
        part.steps += 1;
        part.proposal.learn(accepted, part.steps);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::proposal::{AnyProposal, RandomWalk};
    use crate::rng::{Role, stream};

    /// Choice frequencies within 4.5 binomial standard deviations (false-alarm rate 7e-6); fixed seed.
    #[test]
    fn parts_are_chosen_by_weight() {
        let part = |sd| AnyProposal::from(RandomWalk::isotropic(1, sd).unwrap());
        let mut mixture = Mixture::new(vec![(3.0, part(1e-3)), (1.0, part(1e3))]).unwrap();
        let mut rng = stream(4, 0, Role::Proposal);
        let mut to = vec![0.0];
        let n = 20_000;
        let small = (0..n)
            .filter(|_| {
                mixture.propose(&vec![0.0], &mut to, &mut rng).unwrap();
                to[0].abs() < 0.1
            })
            .count() as f64;
        assert!((small - 0.75 * f64::from(n)).abs() < 4.5 * (f64::from(n) * 0.75 * 0.25).sqrt());
    }

    #[test]
    fn bad_mixtures_are_refused() {
        let part = RandomWalk::isotropic(1, 1.0).unwrap();
        assert!(Mixture::<RandomWalk>::new(vec![]).is_err());
        assert!(Mixture::new(vec![(0.0, part.clone())]).is_err());
        assert!(Mixture::new(vec![(f64::NAN, part)]).is_err());
    }
}
