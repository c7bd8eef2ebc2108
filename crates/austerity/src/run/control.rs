//! Stop, pause and go on, from another thread or a signal handler.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle on a run. Clones act on the same run.
#[derive(Clone, Debug, Default)]
pub struct Control {
    shared: Arc<Flags>,
}

#[derive(Debug, Default)]
struct Flags {
    stop: AtomicBool,
    pause: AtomicBool,
}

impl Control {
    /// A handle on a run that goes on.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run after the current steps; everything drawn is kept.
    pub fn stop(&self) {
        self.shared.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the run was asked to end.
    #[must_use]
    pub fn stopped(&self) -> bool {
        self.shared.stop.load(Ordering::Relaxed)
    }

    /// Holds the chains after their current steps.
    pub fn pause(&self) {
        self.shared.pause.store(true, Ordering::Relaxed);
    }

    /// Lets paused chains go on.
    pub fn resume(&self) {
        self.shared.pause.store(false, Ordering::Relaxed);
    }

    /// Whether the chains are held.
    #[must_use]
    pub fn paused(&self) -> bool {
        self.shared.pause.load(Ordering::Relaxed)
    }
}
