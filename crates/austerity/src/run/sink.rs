//! Where draws go while chains run.
//!
//! Chains hand over what they have drawn a few times a second, each part with the checkpoint that continues after exactly
//! these draws; a thread of the sampler's own passes the parts to the [`Sink`], in order within a chain. A sink that keeps both
//! can be killed at any moment and resumed from the last part it stored. When it falls behind, chains wait rather
//! than fill the memory.
//!
//! Cost to a chain: one clone of its state and of what its kernel learnt per part, a tenth of a second apart or more.

use std::sync::mpsc::{Receiver, SyncSender};
use std::time::{Duration, Instant};

use crate::error::{Error, Result};
use crate::run::{ChainCheckpoint, ChainTrace};

/// Parts that may wait for the sink before chains wait for it.
pub(super) const WAITING: usize = 64;
/// A part is handed over after this time, or earlier when it holds this many draws.
const INTERVAL: Duration = Duration::from_millis(250);
const SHORTEST: Duration = Duration::from_millis(50);
const DRAWS: usize = 4096;

/// What a chain hands over.
#[derive(Clone, Debug, PartialEq)]
pub struct Part<S, L> {
    /// Number of the chain, from 0.
    pub chain: usize,
    /// Draws of the chain since its last part; none in warm-up.
    pub draws: ChainTrace,
    /// What continues after these draws.
    pub checkpoint: ChainCheckpoint<S, L>,
}

/// Takes draws while chains run.
pub trait Sink<S, L>: Send {
    /// Takes a part. An error ends the run; its words reach the user.
    fn take(&mut self, part: Part<S, L>) -> std::result::Result<(), String>;
}

/// The way of one chain to the sink.
#[derive(Debug)]
pub(super) struct Outlet {
    /// When the chain last handed something over.
    last: Instant,
    /// Draws of the trace handed over already, where the trace is kept.
    pub(super) sent: usize,
}

impl Outlet {
    pub(super) fn new() -> Self {
        Self { last: Instant::now(), sent: 0 }
    }

    /// Whether a part is due that holds `draws` draws.
    pub(super) fn due(&self, draws: usize) -> bool {
        let waited = self.last.elapsed();
        waited >= INTERVAL || draws >= DRAWS && waited >= SHORTEST
    }

    /// Hands a part over.
    pub(super) fn send<S, L>(&mut self, way: &SyncSender<Part<S, L>>, part: Part<S, L>) {
        self.last = Instant::now();
        // The receiver is gone only after an error of the sink, which ends the run anyway.
        let _ = way.send(part);
    }
}

/// Passes parts to the sink until the chains are done; after an error the rest is dropped and `failed` is called.
pub(super) fn drain<S, L>(
    parts: &Receiver<Part<S, L>>,
    sink: &mut dyn Sink<S, L>,
    failed: impl Fn(),
) -> Result<()> {
    let mut outcome = Ok(());
    for part in parts {
        if outcome.is_ok()
            && let Err(message) = sink.take(part)
        {
            outcome = Err(Error::Sink { message });
            failed();
        }
    }
    outcome
}
