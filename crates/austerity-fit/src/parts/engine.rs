//! Whoever maps a function over tasks: threads here; process pools, Dask, Spark and MPI are Python's (`austerity.engines`).

use std::sync::Mutex;
use std::sync::PoisonError;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;

use super::worker::run_part;
use crate::output::Failure;

/// Takes the answers of parts as they come.
pub type Take<'a> = dyn FnMut(Vec<u8>) -> Result<(), Failure> + 'a;

/// Maps [`run_part`] over tasks, anywhere.
pub trait Engine {
    /// What it is called, for messages and the record of a run.
    fn name(&self) -> String;

    /// Hands the answer of every task to `take`: in any order, some perhaps twice. What is missing at the end is asked for again.
    fn map(
        &self,
        request: &[u8],
        tasks: &[Vec<u8>],
        take: &mut dyn FnMut(Vec<u8>) -> Result<(), Failure>,
    ) -> Result<(), Failure>;
}

/// So many threads of this process.
#[derive(Clone, Copy, Debug)]
pub struct Threads(pub usize);

impl Engine for Threads {
    fn name(&self) -> String {
        format!("threads:{}", self.0)
    }

    fn map(&self, request: &[u8], tasks: &[Vec<u8>], take: &mut Take<'_>) -> Result<(), Failure> {
        let queue = Mutex::new(tasks.iter());
        let stop = AtomicBool::new(false);
        thread::scope(|scope| {
            // Answers that nobody has taken are bounded: a slow driver must not collect them in memory.
            let (send, receive) = mpsc::sync_channel(self.0.max(1));
            for _ in 0..self.0.clamp(1, tasks.len().max(1)) {
                let (send, queue, stop) = (send.clone(), &queue, &stop);
                scope.spawn(move || {
                    while !stop.load(Ordering::Relaxed) {
                        let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                        let Some(task) = next else { return };
                        if send.send(run_part(request, task)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(send);
            let outcome = receive.iter().try_for_each(&mut *take);
            if outcome.is_err() {
                stop.store(true, Ordering::Relaxed);
                // Whoever waits to hand over an answer goes on.
                receive.iter().for_each(drop);
            }
            outcome
        })
    }
}
