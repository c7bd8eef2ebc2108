//! What a run is, as plain data: checked once, stored with every checkpoint.

use serde::{Deserialize, Serialize};

use crate::error::{Result, setting};
use crate::rule::RuleSettings;

/// More draws than any run makes: a run that only its limits end.
pub const UNBOUNDED: u64 = 1_000_000_000_000;

/// Everything about a run but the model, the proposal and the start.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// Number of chains.
    pub chains: u32,
    /// Number of the first chain: runs on several machines number their chains apart and share a seed.
    pub first_chain: u32,
    /// Warm-up steps per chain, not recorded; only here proposals learn.
    pub warmup: u64,
    /// Draws per chain, in total over all resumptions.
    pub draws: u64,
    /// Steps per draw.
    pub thin: u64,
    /// Draws per recorded draw: of the draws 1, 2, … of a chain those whose number is a multiple are kept. May change when a run goes on, since it
    /// changes no draw; who changes it thins what was recorded before.
    #[serde(default = "all")]
    pub record_every: u64,
    /// The seed of everything random.
    pub seed: u64,
    /// Threads; 0 takes as many as the machine has. Never changes a draw.
    pub threads: usize,
    /// Who decides.
    pub rule: RuleSettings,
    /// Share of the decisions that are audited; see [`crate::rule::audit`]. Unless it is 0 some are audited as a part of the set-up
    /// too. Changes no draw, but where audits contradict the test in warm-up it is made stricter.
    pub audit: f64,
    /// What ends the run early.
    pub limits: Limits,
}

/// What ends a run before its draws are complete, whichever comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Limits {
    /// Wall-clock seconds of this session.
    pub seconds: Option<f64>,
    /// Likelihood evaluations over all chains and sessions, shared equally among the chains.
    pub evaluations: Option<u64>,
    /// Smallest bulk effective sample size over the parameters, looked at after 100, 150, 225, … draws. A resumed run counts
    /// the draws it is told of by [`Sampler::with_earlier`](crate::run::Sampler::with_earlier).
    pub target_ess: Option<f64>,
}

/// Records every draw.
fn all() -> u64 {
    1
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            chains: 4,
            first_chain: 0,
            warmup: 1000,
            draws: 1000,
            thin: 1,
            record_every: 1,
            seed: 1,
            threads: 0,
            rule: RuleSettings::default(),
            audit: 0.0,
            limits: Limits::default(),
        }
    }
}

impl Settings {
    /// Refuses values outside their range. (The rule checks its own when it is built.)
    pub fn check(&self) -> Result<()> {
        if self.chains == 0 {
            return Err(setting("chains", self.chains, "at least 1"));
        }
        if self.first_chain.checked_add(self.chains).is_none() {
            return Err(setting("first_chain", self.first_chain, "chain numbers below 2^32"));
        }
        if self.draws == 0 {
            return Err(setting("draws", self.draws, "at least 1"));
        }
        if self.thin == 0 {
            return Err(setting("thin", self.thin, "at least 1 step per draw"));
        }
        if self.record_every == 0 {
            return Err(setting("record_every", self.record_every, "at least 1 draw per recorded draw"));
        }
        if !(0.0..=1.0).contains(&self.audit) {
            return Err(setting("audit", self.audit, "a share of the decisions, from 0 to 1"));
        }
        if let Some(seconds) = self.limits.seconds
            && !(seconds > 0.0 && seconds.is_finite())
        {
            return Err(setting("seconds", seconds, "a positive finite number"));
        }
        if let Some(evaluations) = self.limits.evaluations
            && evaluations < u64::from(self.chains)
        {
            return Err(setting("evaluations", evaluations, "at least one for each chain"));
        }
        if let Some(ess) = self.limits.target_ess
            && !(ess > 0.0 && ess.is_finite())
        {
            return Err(setting("target_ess", ess, "a positive finite number"));
        }
        Ok(())
    }

    /// Threads to start: never more than chains.
    #[must_use]
    pub fn workers(&self) -> usize {
        let wanted = match self.threads {
            0 => std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
            given => given,
        };
        wanted.min(self.chains as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_value_is_checked() {
        let good = Settings::default();
        assert!(good.check().is_ok());
        let refused = |change: &dyn Fn(&mut Settings), word: &str| {
            let mut bad = good.clone();
            change(&mut bad);
            let message = bad.check().unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        };
        refused(&|s| s.chains = 0, "chains");
        refused(&|s| s.first_chain = u32::MAX, "first_chain");
        refused(&|s| s.draws = 0, "draws");
        refused(&|s| s.thin = 0, "thin");
        refused(&|s| s.record_every = 0, "record_every");
        refused(&|s| s.audit = f64::NAN, "audit");
        refused(&|s| s.limits.seconds = Some(f64::NAN), "seconds");
        refused(&|s| s.limits.evaluations = Some(0), "evaluations");
        refused(&|s| s.limits.target_ess = Some(-1.0), "target_ess");
    }
}
