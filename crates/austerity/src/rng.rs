//! Random streams: one per (chain, role), repositioned at every step.
//!
//! All randomness of a run is ChaCha8 (Bernstein 2008) keyed by the run's seed. A *stream* is numbered by
//! the chain and the role of its consumer; step s starts at word s·2³² of its stream. Hence
//! * changing the rule leaves the proposals and the uniforms as they were,
//! * a consumer of variable length cannot shift the others, nor its own next step,
//! * a checkpoint needs no generator state: seed, chain and step say it all.

use rand::{RngExt as _, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// The generator behind every stream.
pub type Rng = ChaCha8Rng;

/// Who consumes a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Role {
    /// Proposals.
    Proposal = 0,
    /// Uniforms and other draws of the rule.
    Decision = 1,
    /// The order in which blocks are revealed.
    Reveal = 2,
    /// The choice of steps to audit.
    Audit = 3,
    /// Starting points.
    Start = 4,
    /// The one shuffle of the storage (chain 0).
    Shuffle = 5,
    /// Generated data (chain 0).
    Data = 6,
}

/// Words of a stream set aside for one step: enough for any shuffle of 2³² blocks.
const WORDS_PER_STEP_LOG2: u32 = 32;

/// The stream of `role` in `chain`, at step 0.
#[must_use]
pub fn stream(seed: u64, chain: u32, role: Role) -> Rng {
    let mut rng = Rng::seed_from_u64(seed);
    rng.set_stream((u64::from(chain) << 8) | role as u64);
    rng
}

/// Moves a stream to the beginning of `step`. Steps are counted modulo 2³⁶ (decades at a microsecond each).
pub fn seek(rng: &mut Rng, step: u64) {
    rng.set_word_pos(u128::from(step & 0xF_FFFF_FFFF) << WORDS_PER_STEP_LOG2);
}

/// The streams a kernel consumes itself; the reveal order keeps its own.
#[derive(Clone, Debug)]
pub struct Streams {
    /// For the proposal.
    pub proposal: Rng,
    /// For the rule.
    pub decision: Rng,
    audit: Rng,
    /// What decides about the audits of [`AUDITS_TOGETHER`] steps, and which of such groups of steps they are.
    audits: [u64; AUDITS_TOGETHER],
    group: Option<u64>,
    step: u64,
}

/// Steps whose audits one refill of the generator decides about: a refill per step would cost as much as all else that audits take.
const AUDITS_TOGETHER: usize = 32;

impl Streams {
    /// The streams of a chain, at step 0.
    #[must_use]
    pub fn new(seed: u64, chain: u32) -> Self {
        Self {
            proposal: stream(seed, chain, Role::Proposal),
            decision: stream(seed, chain, Role::Decision),
            audit: stream(seed, chain, Role::Audit),
            audits: [0; AUDITS_TOGETHER],
            group: None,
            step: 0,
        }
    }

    /// Repositions every stream at the beginning of `step`.
    pub fn begin(&mut self, step: u64) {
        self.step = step;
        seek(&mut self.proposal, step);
        seek(&mut self.decision, step);
    }

    /// Whether this step is one of the share `rate` that is audited.
    pub fn audited(&mut self, rate: f64) -> bool {
        if rate <= 0.0 {
            return false;
        }
        let together = AUDITS_TOGETHER as u64;
        let group = self.step / together;
        if self.group != Some(group) {
            seek(&mut self.audit, group);
            self.audits = std::array::from_fn(|_| self.audit.random());
            self.group = Some(group);
        }
        // 53 bits, as a uniform number has.
        (self.audits[(self.step % together) as usize] >> 11) as f64 * (0.5f64).powi(53) < rate
    }

    /// The step at which the streams were last repositioned.
    #[must_use]
    pub fn step(&self) -> u64 {
        self.step
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;

    /// The share of the steps that are audited, within 4 sds (false alarms: 1 in 16,000), and the same steps in whatever order they are asked for.
    #[test]
    fn audited_steps_are_a_function_of_the_step() {
        let chosen = |steps: &mut dyn Iterator<Item = u64>| -> Vec<u64> {
            let mut streams = Streams::new(3, 1);
            let each = steps.filter(|&step| {
                streams.begin(step);
                streams.audited(0.1)
            });
            let mut each: Vec<u64> = each.collect();
            each.sort_unstable();
            each
        };
        let forth = chosen(&mut (0..10_000));
        assert!((forth.len() as f64 - 1000.0).abs() < 4.0 * 30.0, "{}", forth.len());
        assert_eq!(forth, chosen(&mut (0..10_000).rev()));
        assert_eq!(forth[..3], chosen(&mut (0..=forth[2])));
        assert!(!Streams::new(3, 1).audited(0.0) && Streams::new(3, 1).audited(1.0));
    }

    #[test]
    fn streams_differ_by_chain_role_and_step_and_are_addressable() {
        let mut first: Vec<u64> = Vec::new();
        for chain in [0, 1, 2] {
            for role in [Role::Proposal, Role::Decision, Role::Reveal] {
                for step in [0, 1, 1000] {
                    let mut rng = stream(7, chain, role);
                    seek(&mut rng, step);
                    first.push(rng.next_u64());
                }
            }
        }
        let distinct: std::collections::HashSet<_> = first.iter().collect();
        assert_eq!(distinct.len(), first.len());

        let mut long = stream(7, 1, Role::Proposal);
        for _ in 0..1234 {
            long.next_u64();
        }
        seek(&mut long, 1000);
        let mut fresh = stream(7, 1, Role::Proposal);
        seek(&mut fresh, 1000);
        assert_eq!(long.next_u64(), fresh.next_u64());
    }
}
