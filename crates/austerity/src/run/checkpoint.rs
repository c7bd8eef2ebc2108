//! All a run needs to go on, bit for bit: settings, states, proposals, step counters.
//!
//! No generator state (streams are addressed by seed, chain and step), no index array (the block order is a
//! function of the same), no audit that waits (a checkpoint completes them first), no cache (recomputed to the same bits). Plain serde data; who writes it to a file
//! must keep every bit of an f64.

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::rule::RuleSettings;
use crate::run::{Counters, Settings, Target};

/// A test made stricter in warm-up, because audits contradicted it; see [`RuleSettings::tightened`](crate::rule::RuleSettings::tightened).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tightened {
    /// After so many steps.
    pub step: u64,
    /// What the audits said.
    pub why: String,
}

/// State, counts and streams of one chain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChainCheckpoint<S, L> {
    /// State of the chain.
    pub state: S,
    /// What its kernel has learnt: the proposal of Metropolis–Hastings, as adapted.
    #[serde(rename = "proposal")]
    pub learnt: L,
    /// Steps made.
    pub step: u64,
    /// Counts of the warm-up.
    pub warmup: Counters,
    /// Counts after the warm-up.
    pub sampling: Counters,
    /// How often, and when, its test was made stricter in warm-up.
    #[serde(default)]
    pub tightened: Vec<Tightened>,
}

impl<S, L> ChainCheckpoint<S, L> {
    /// A chain that has made no step, of a kernel that begins with `learnt`.
    pub fn start(state: S, learnt: L) -> Self {
        let (warmup, sampling) = (Counters::default(), Counters::default());
        Self { state, learnt, step: 0, warmup, sampling, tightened: Vec::new() }
    }

    /// What the kernel has learnt, and the rest.
    pub fn split(self) -> (L, ChainCheckpoint<S, ()>) {
        let Self { state, learnt, step, warmup, sampling, tightened } = self;
        (learnt, ChainCheckpoint { state, learnt: (), step, warmup, sampling, tightened })
    }

    /// This checkpoint with something else learnt.
    pub fn with<Q>(self, learnt: Q) -> ChainCheckpoint<S, Q> {
        let Self { state, step, warmup, sampling, tightened, .. } = self;
        ChainCheckpoint { state, learnt, step, warmup, sampling, tightened }
    }
}

/// Everything that a run needs to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Checkpoint<S, L> {
    /// Version of the library that wrote it.
    pub version: String,
    /// The settings it ran with.
    pub settings: Settings,
    /// Number of rows, N.
    pub rows: usize,
    /// [`Model::fingerprint`](crate::model::Model::fingerprint) of data and prior.
    pub fingerprint: u64,
    /// Names of the parameters.
    pub names: Vec<String>,
    /// One entry per chain.
    pub chains: Vec<ChainCheckpoint<S, L>>,
}

impl<S, L> Checkpoint<S, L> {
    /// This checkpoint with what kernels learnt in another form: of a proposal that borrows its model a file can keep its settings,
    ///
    /// `checkpoint.map(|paths| Ok(paths.path().clone()))`, and `stored.map(|path| Hamiltonian::new(&model, &shape, path))`
    ///
    /// on the way back.
    pub fn map<Q>(self, mut learnt: impl FnMut(L) -> Result<Q>) -> Result<Checkpoint<S, Q>> {
        let Self { version, settings, rows, fingerprint, names, chains } = self;
        let chains = chains.into_iter().map(|chain| {
            let (old, rest) = chain.split();
            Ok(rest.with(learnt(old)?))
        });
        let chains = chains.collect::<Result<_>>()?;
        Ok(Checkpoint { version, settings, rows, fingerprint, names, chains })
    }

    /// The same run decided by another rule, and audited at another rate, from here on: a planned change. A run that is repeated or resumed
    /// must make it at the same step of every chain; who plans keeps a log.
    #[must_use]
    pub fn under(mut self, rule: &RuleSettings, audit: f64) -> Self {
        self.settings.rule = rule.clone();
        self.settings.audit = audit;
        self
    }

    /// Refuses to go on under settings or data that would change a draw, naming the difference. The number of
    /// draws, the limits and the threads may change.
    pub fn check<T: Target + ?Sized>(&self, settings: &Settings, target: &T) -> Result<()> {
        let differ = |what: &str, stored: String, found: String| {
            if stored == found { Ok(()) } else { Err(Error::Resume { what: what.into(), stored, found }) }
        };
        let old = &self.settings;
        differ("the number of rows", self.rows.to_string(), target.rows().to_string())?;
        differ("the list of parameters", self.names.join(", "), target.names().join(", "))?;
        let hex = |mark: u64| format!("{mark:016x}");
        differ("the fingerprint of data and prior", hex(self.fingerprint), hex(target.fingerprint()))?;
        differ("the seed", old.seed.to_string(), settings.seed.to_string())?;
        differ("the number of chains", old.chains.to_string(), settings.chains.to_string())?;
        differ("the first chain", old.first_chain.to_string(), settings.first_chain.to_string())?;
        differ("the warm-up", old.warmup.to_string(), settings.warmup.to_string())?;
        differ("the thinning", old.thin.to_string(), settings.thin.to_string())?;
        differ("the audit rate", old.audit.to_string(), settings.audit.to_string())?;
        differ("the rule", format!("{:?}", old.rule), format!("{:?}", settings.rule))?;
        differ("the number of chain states", self.chains.len().to_string(), settings.chains.to_string())
    }
}
