//! What a watcher is told while chains run.

use crate::run::Settings;

/// Progress of one chain, a moment ago.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ChainProgress {
    /// Steps made, warm-up included.
    pub steps: u64,
    /// Draws recorded.
    pub draws: u64,
    /// Whether it is still warming up.
    pub warming: bool,
    /// Share of candidates accepted so far (in the current phase).
    pub acceptance: f64,
    /// Mean share of the data a decision rested on (in the current phase).
    pub data_share: f64,
    /// Likelihood evaluations so far.
    pub evaluations: u64,
}

/// All chains, a moment ago.
#[derive(Clone, Debug, PartialEq)]
pub struct Progress {
    /// One entry per chain.
    pub chains: Vec<ChainProgress>,
    /// Steps per chain when all is done.
    pub steps_wanted: u64,
    /// Seconds since the start of this session.
    pub elapsed: f64,
    /// Seconds still to go, when that can be told.
    pub remaining: Option<f64>,
    /// Largest running R-hat over the parameters, once there are enough draws.
    pub rhat: Option<f64>,
    /// Smallest running effective sample size over the parameters.
    pub ess: Option<f64>,
}

impl Progress {
    /// Share of all steps made, from 0 to 1.
    #[must_use]
    pub fn share(&self) -> f64 {
        let made: u64 = self.chains.iter().map(|chain| chain.steps).sum();
        made as f64 / (self.steps_wanted as f64 * self.chains.len() as f64)
    }

    /// Steps per chain that `settings` asks for.
    #[must_use]
    pub fn steps_wanted(settings: &Settings) -> u64 {
        settings.warmup.saturating_add(settings.draws.saturating_mul(settings.thin))
    }
}

/// Is told how a run goes, a few times a second, on the thread that called
/// [`Sampler::run`](crate::run::Sampler::run).
pub trait Observer {
    /// The run is on its way.
    fn progress(&mut self, progress: &Progress);
}

/// Says nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Observer for Silent {
    fn progress(&mut self, _progress: &Progress) {}
}

impl<F: FnMut(&Progress)> Observer for F {
    fn progress(&mut self, progress: &Progress) {
        self(progress);
    }
}
