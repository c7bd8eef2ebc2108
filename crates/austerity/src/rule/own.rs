//! A rule of one's own: anything that implements [`Rule`] runs under [`Sampler`](crate::run::Sampler), with checkpoints, audits and storage.
//!
//! A checkpoint keeps the rule's name, not its code: who resumes a run hands the rule over again, in the settings. Audits compare the decisions with
//! those on all rows. They expect no error, or the mean error per decision that the rule claims ([`Own::claiming`]): a rule that errs more often is
//! contradicted, and the verdict says so.
//!
//! ```
//! use austerity::model::from_fn;
//! use austerity::population::{Access, Reveal};
//! use austerity::rng::Rng;
//! use austerity::rule::{Decision, Law, Own, Rule};
//! use austerity::run::Sampled as _;
//!
//! /// Reads every row, and accepts with probability r/(1 + r) (Barker 1965).
//! #[derive(Clone)]
//! struct Barker;
//!
//! impl<'r> Rule<dyn Reveal + 'r> for Barker {
//!     fn decide(&mut self, rows: &mut (dyn Reveal + 'r), offset: f64, rng: &mut Rng) -> austerity::Result<Decision> {
//!         let all = rows.len();
//!         let moments = *rows.extend_to(all)?;
//!         let threshold = (Law::Logistic.draw(rng) - offset) / all as f64;
//!         Ok(Decision::complete(&moments, threshold))
//!     }
//!     fn access(&self) -> Access { Access::Scan }
//!     fn first_look(&self) -> usize { usize::MAX }
//! }
//!
//! let waits: Vec<f64> = (0..500).map(|i| -((i as f64 + 0.5) / 500.0).ln() / 3.0).collect();
//! let model = from_fn(500, 1, |_: &[f64]| 0.0, |at: &[f64], row: usize| at[0] - at[0].exp() * waits[row])?;
//! let run = model.sampler().rule(Own::new("barker", Barker)).draws(2_000).run()?;
//! assert!((run.summary()[0].mean - 3f64.ln()).abs() < 0.05);
//! # Ok::<(), austerity::Error>(())
//! ```

use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Law, Rule};
use crate::error::{Result, setting};
use crate::population::Reveal;

/// A rule that can be copied for every chain.
pub trait ChainRule: for<'r> Rule<dyn Reveal + 'r> + Send + Sync {
    /// A copy, for another chain.
    fn copied(&self) -> Box<dyn ChainRule>;
}

impl<R: for<'r> Rule<dyn Reveal + 'r> + Clone + Send + Sync + 'static> ChainRule for R {
    fn copied(&self) -> Box<dyn ChainRule> {
        Box::new(self.clone())
    }
}

/// A rule of one's own, by its name.
#[derive(Clone, Serialize, Deserialize)]
pub struct Own {
    name: String,
    law: Law,
    claimed_error: f64,
    /// What a checkpoint does not hold.
    #[serde(skip)]
    rule: Option<Arc<dyn ChainRule>>,
}

impl Own {
    /// The rule `rule`, called `name` in checkpoints and messages.
    pub fn new(name: impl Into<String>, rule: impl ChainRule + 'static) -> Self {
        Self { name: name.into(), law: Law::Metropolis, claimed_error: 0.0, rule: Some(Arc::new(rule)) }
    }

    /// This rule with thresholds of another law than Metropolis'.
    #[must_use]
    pub fn with_law(self, law: Law) -> Self {
        Self { law, ..self }
    }

    /// This rule, expected to decide wrongly with this probability on average.
    #[must_use]
    pub fn claiming(self, mean_error: f64) -> Self {
        Self { claimed_error: mean_error, ..self }
    }

    /// Name of the rule.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The law of its thresholds.
    #[must_use]
    pub fn law(&self) -> Law {
        self.law
    }

    /// The mean error per decision that it claims.
    #[must_use]
    pub fn claimed_error(&self) -> f64 {
        self.claimed_error
    }

    /// A copy of the rule, for a chain.
    pub(super) fn build(&self) -> Result<OwnRule> {
        if !(0.0..=1.0).contains(&self.claimed_error) {
            return Err(setting("claimed error", self.claimed_error, "a probability, from 0 to 1"));
        }
        match &self.rule {
            Some(rule) => Ok(OwnRule(rule.copied())),
            None => Err(setting(
                "rule",
                &self.name,
                "the rule itself: a checkpoint keeps only its name, so hand it over again in the settings",
            )),
        }
    }
}

/// Rules are the same if their names and claims are: code cannot be compared.
impl PartialEq for Own {
    fn eq(&self, other: &Self) -> bool {
        (&self.name, self.law, self.claimed_error) == (&other.name, other.law, other.claimed_error)
    }
}

impl fmt::Debug for Own {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Own({}, {:?}, {})", self.name, self.law, self.claimed_error)
    }
}

/// A rule of one's own, of one chain.
pub struct OwnRule(pub(super) Box<dyn ChainRule>);

impl Clone for OwnRule {
    fn clone(&self) -> Self {
        Self(self.0.copied())
    }
}

impl fmt::Debug for OwnRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OwnRule")
    }
}
