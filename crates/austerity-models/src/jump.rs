//! Moves between models: a step of one coefficient, a birth, a death.
//!
//! Of k active features among D, one of the moves that are possible is drawn evenly (update always, birth when k < D, death
//! when k > 1: ⅓ each but at the ends):
//!
//! | move | what it does |
//! |---|---|
//! | update | an active feature, drawn evenly; β_j' = β_j + N(0, σ_update²) |
//! | birth | an inactive feature, drawn evenly, becomes active with β_j' ~ N(0, σ_birth²) |
//! | death | an active feature, drawn evenly, becomes inactive; its coefficient is dropped |
//!
//! A birth keeps the other coefficients and takes the new one as drawn, so the Jacobian is 1 (Green 1995, §3.3), and with
//! p_b(k), p_d(k) the probabilities of the move types, the log proposal ratio log q(back) − log q(forth) of a birth is
//!
//! ```text
//! log [ p_d(k+1)/(k+1) ] − log [ p_b(k)/(D−k) · N(β_j'; 0, σ_birth²) ]
//! ```
//!
//! a death from k + 1 is its negative, an update 0. Korattikara, Chen & Welling (2014), supplement E, write p(γ→γ') for these
//! probabilities and a threshold that is right **only if p(γ→γ') contains the choice of the feature**, 1/(D−k) and 1/(k+1). With the
//! move types alone births are too rare by (k+1)/(D−k): 12-fold at k = 3 of D = 51, and the chain samples another prior.
//! [`IndexChoice`] selects; the wrong reading is there for comparison only.
//!
//! Symmetric in nothing but updates; exact under the exact rule. Cost: one normal, O(k). σ's are standard deviations, on the
//! scale of the coefficients: standardise the columns. Local: between models far apart it mixes slowly, if ever.

use rand::RngExt as _;
use rand_distr::StandardNormal;
use serde::{Deserialize, Serialize};

use crate::Selection;
use austerity::error::{Error, Result, setting};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;

/// log √(2π).
const LOG_ROOT_TAU: f64 = 0.918_938_533_204_672_7;

/// What a move does to the set of active features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JumpMove {
    /// A coefficient changes.
    Update,
    /// A feature becomes active.
    Birth,
    /// A feature becomes inactive.
    Death,
}

impl JumpMove {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Update, Self::Birth, Self::Death];

    /// The move between two selections, told by their sizes.
    #[must_use]
    pub fn between(from: &Selection, to: &Selection) -> Self {
        match to.size().cmp(&from.size()) {
            std::cmp::Ordering::Less => Self::Death,
            std::cmp::Ordering::Equal => Self::Update,
            std::cmp::Ordering::Greater => Self::Birth,
        }
    }
}

/// Whether the probability of a move contains that of the feature it picks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum IndexChoice {
    /// It does: the moves are in detailed balance with the posterior.
    #[default]
    Counted,
    /// It does not: p(γ→γ') read as the probability of the move type. **Wrong**, for comparison only.
    LeftOut,
}

/// Update, birth and death of single features.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jump {
    features: usize,
    update_sd: f64,
    birth_sd: f64,
    index: IndexChoice,
    last: Option<JumpMove>,
}

impl Jump {
    /// Moves among `features` features in all, D; steps of a coefficient have standard deviation `update_sd`, the
    /// coefficients of new features `birth_sd`.
    pub fn new(features: usize, update_sd: f64, birth_sd: f64) -> Result<Self> {
        if features == 0 {
            return Err(setting("features", features, "at least 1"));
        }
        for (name, sd) in [("update_sd", update_sd), ("birth_sd", birth_sd)] {
            if !(sd > 0.0 && sd.is_finite()) {
                return Err(setting(name, sd, "a positive finite number"));
            }
        }
        Ok(Self { features, update_sd, birth_sd, index: IndexChoice::default(), last: None })
    }

    /// Reads the probability of a move in the given way.
    #[must_use]
    pub fn with_index(mut self, index: IndexChoice) -> Self {
        self.index = index;
        self
    }

    /// What the last candidate was.
    #[must_use]
    pub fn last(&self) -> Option<JumpMove> {
        self.last
    }

    /// How many moves are possible from `size` active features: each has one part in so many.
    fn possible(&self, size: usize) -> usize {
        1 + usize::from(size < self.features) + usize::from(size > 1)
    }

    /// log q(back) − log q(forth) of a birth from `size` active features, the new coefficient being `value`.
    pub(crate) fn log_birth(&self, size: usize, value: f64) -> f64 {
        let z = value / self.birth_sd;
        let log_normal = -0.5 * z * z - self.birth_sd.ln() - LOG_ROOT_TAU;
        let types = (self.possible(size) as f64 / self.possible(size + 1) as f64).ln();
        let index = match self.index {
            IndexChoice::Counted => ((self.features - size) as f64 / (size + 1) as f64).ln(),
            IndexChoice::LeftOut => 0.0,
        };
        types + index - log_normal
    }

    fn check(&self, state: &Selection) -> Result<()> {
        let fits = state.features().last().is_some_and(|&feature| (feature as usize) < self.features);
        if fits {
            return Ok(());
        }
        Err(Error::Setting {
            name: "selection under a jump".into(),
            value: format!("{:?}", state.features()),
            allowed: format!("at least one feature, all numbered below {}", self.features),
        })
    }
}

impl Proposal<Selection> for Jump {
    fn propose(&mut self, from: &Selection, to: &mut Selection, rng: &mut Rng) -> Result<Proposed> {
        self.check(from)?;
        let size = from.size();
        to.clone_from(from);
        let kind = match rng.random_range(0..self.possible(size)) {
            0 => JumpMove::Update,
            1 if size < self.features => JumpMove::Birth,
            _ => JumpMove::Death,
        };
        self.last = Some(kind);
        let log_ratio = match kind {
            JumpMove::Update => {
                let step: f64 = rng.sample(StandardNormal);
                to.shift(rng.random_range(0..size), self.update_sd * step);
                0.0
            }
            JumpMove::Birth => {
                let z: f64 = rng.sample(StandardNormal);
                let value = self.birth_sd * z;
                to.insert_inactive(rng.random_range(0..self.features - size), value);
                self.log_birth(size, value)
            }
            JumpMove::Death => {
                let value = to.remove(rng.random_range(0..size));
                -self.log_birth(size - 1, value)
            }
        };
        Ok(log_ratio.into())
    }
}

/// How often each move was proposed and accepted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JumpTally {
    proposed: [u64; 3],
    accepted: [u64; 3],
}

impl JumpTally {
    /// Counts a step: `kind` from [`Jump::last`], `accepted` from the decision.
    pub fn count(&mut self, kind: JumpMove, accepted: bool) {
        self.proposed[kind as usize] += 1;
        self.accepted[kind as usize] += u64::from(accepted);
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        for i in 0..3 {
            self.proposed[i] += other.proposed[i];
            self.accepted[i] += other.accepted[i];
        }
    }

    /// How often a move was proposed.
    #[must_use]
    pub fn proposed(&self, kind: JumpMove) -> u64 {
        self.proposed[kind as usize]
    }

    /// How often it was accepted.
    #[must_use]
    pub fn accepted(&self, kind: JumpMove) -> u64 {
        self.accepted[kind as usize]
    }

    /// Share of the candidates accepted; NaN when there was none.
    #[must_use]
    pub fn acceptance(&self, kind: JumpMove) -> f64 {
        self.accepted(kind) as f64 / self.proposed(kind) as f64
    }
}

#[cfg(test)]
mod tests;
