//! Runs a pass on threads.
//!
//! The rows are cut into parts by their number alone: at most `PARTS`, of at least `FEWEST` blocks each, all but the last of the same size. Threads take the parts in turn, so a slow
//! region delays nobody, and the answers merge along a fixed tree ([`Tree`]): the same bits for every number of threads.
//!
//! **Failure.** Parts are handed out in their order, so those before a part that fails are at work or done. They end, no further part begins, and of all errors the one of the
//! earliest part is returned: the same row is named for every number of threads. A panic of a thread goes on in the caller.
//!
//! Cost beyond the pass: some ten microseconds for each thread, and one merge per part. Few rows stay on the calling thread. Passes that run at the same time share the threads: the
//! helpers of all together are no more than one driver may have.

use std::fmt;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::{Pass, Tree};
use crate::glm::blocks::BLOCK;
use austerity::error::{Error, Result};

/// Parts of a pass at most.
const PARTS: usize = 256;
/// Blocks of a part at least, and what their number is a multiple of: panels of rows stay whole.
const FEWEST: usize = 32;
/// Fewer blocks than this are not worth a second thread.
const WORTH_A_THREAD: usize = 512;

/// Threads beside their callers that run passes in this process: chains that audit at the same time share the cores.
static HELPERS: AtomicUsize = AtomicUsize::new(0);

/// Threads that a pass has beside its caller, given back when it ends.
struct Helpers(usize);

impl Helpers {
    /// As many as are wanted and leave no more than `limit` at work.
    fn take(wanted: usize, limit: usize) -> Self {
        let granted = |busy: usize| wanted.min(limit.saturating_sub(busy));
        let taken =
            HELPERS.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |busy| Some(busy + granted(busy)));
        Self(granted(taken.unwrap_or_else(|busy| busy)))
    }
}

impl Drop for Helpers {
    fn drop(&mut self) {
        HELPERS.fetch_sub(self.0, Ordering::Relaxed);
    }
}

/// How far a pass is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What the pass does.
    pub pass: &'static str,
    /// Parts done.
    pub done: usize,
    /// Parts in all.
    pub parts: usize,
}

/// Whoever watches passes; called on any thread, after every part.
pub type Watch = Arc<dyn Fn(Progress) + Send + Sync>;

/// Runs passes.
#[derive(Clone)]
pub struct Driver {
    threads: usize,
    watch: Option<Watch>,
}

impl Default for Driver {
    /// One thread, watched by nobody.
    fn default() -> Self {
        Self::new(1)
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Driver").field("threads", &self.threads).finish_non_exhaustive()
    }
}

impl Driver {
    /// Runs passes on so many threads; no result depends on their number.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { threads: threads.max(1), watch: None }
    }

    /// Threads that it runs passes on.
    #[must_use]
    pub fn threads(&self) -> usize {
        self.threads
    }

    /// The same, on another number of threads.
    #[must_use]
    pub fn with_threads(self, threads: usize) -> Self {
        Self { threads: threads.max(1), ..self }
    }

    /// The same, watched.
    #[must_use]
    pub fn watched(self, watch: Watch) -> Self {
        Self { watch: Some(watch), ..self }
    }

    /// The answer of all rows.
    pub fn run<R: Sync + ?Sized, P: Pass<R>>(&self, pass: &P, rows: &R) -> Result<P::Partial> {
        self.run_keeping(pass, rows, &mut [])
    }

    /// The answer of all rows; `kept` gets what stays with them, 32 numbers a block.
    pub fn run_keeping<R: Sync + ?Sized, P: Pass<R>>(
        &self,
        pass: &P,
        rows: &R,
        kept: &mut [f32],
    ) -> Result<P::Partial> {
        let count = pass.blocks(rows);
        let parts = parts(count);
        let tree = Tree::new(parts.len());
        let visit = |number: usize, blocks: Range<usize>, kept: &mut [f32]| {
            let mut answer = pass.empty(rows);
            pass.visit(rows, blocks, kept, &mut answer)?;
            tree.push(number, answer, |earlier, later| pass.merge(earlier, later));
            Ok(())
        };
        self.visit_all(P::NAME, count, kept, &visit)?;
        Ok(tree.finish().unwrap_or_else(|| pass.empty(rows)))
    }

    /// Visits the parts of `count` blocks on threads. It does not depend on the pass, so that it is compiled once.
    fn visit_all(&self, name: &'static str, count: usize, kept: &mut [f32], visit: &Visit<'_>) -> Result<()> {
        let parts = parts(count);
        let job = Job {
            visit,
            queue: Mutex::new(parts.clone().zip(shares(parts.clone(), kept)).enumerate()),
            stop: AtomicBool::new(false),
            failure: Mutex::new(None),
            done: AtomicUsize::new(0),
            parts: parts.len(),
            watch: self.watch.as_ref().map(|watch| (name, watch)),
        };
        let threads = if count < WORTH_A_THREAD { 1 } else { self.threads.min(parts.len()).max(1) };
        let helpers = Helpers::take(threads - 1, self.threads - 1);
        thread::scope(|scope| {
            let started: Vec<_> = (0..helpers.0).map(|_| scope.spawn(|| job.work())).collect();
            job.work();
            for helper in started {
                if let Err(panic) = helper.join() {
                    std::panic::resume_unwind(panic);
                }
            }
        });
        match job.failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            Some((_, error)) => Err(error),
            None => Ok(()),
        }
    }
}

/// Visits a part, given its number, its blocks and what stays with their rows.
type Visit<'a> = dyn Fn(usize, Range<usize>, &mut [f32]) -> Result<()> + Sync + 'a;

/// The parts of `count` blocks, in order.
fn parts(count: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
    let size = count.div_ceil(PARTS).next_multiple_of(FEWEST).max(FEWEST);
    (0..count.div_ceil(size)).map(move |part| part * size..((part + 1) * size).min(count))
}

/// What belongs to the rows of every part, of 32 numbers a block or of none at all.
fn shares(
    parts: impl Iterator<Item = Range<usize>>,
    mut kept: &mut [f32],
) -> impl Iterator<Item = &mut [f32]> {
    parts.map(move |part| {
        let all = std::mem::take(&mut kept);
        let (own, rest) = all.split_at_mut((part.len() * BLOCK).min(all.len()));
        kept = rest;
        own
    })
}

/// A pass on its way: what the threads share.
struct Job<'a, Q> {
    visit: &'a Visit<'a>,
    /// Parts that nobody has begun, with their numbers.
    queue: Mutex<Q>,
    stop: AtomicBool,
    /// The earliest part that failed.
    failure: Mutex<Option<(usize, Error)>>,
    done: AtomicUsize,
    parts: usize,
    /// Who watches, and what the pass does.
    watch: Option<(&'static str, &'a Watch)>,
}

impl<'k, Q> Job<'_, Q>
where
    Q: Iterator<Item = (usize, (Range<usize>, &'k mut [f32]))>,
{
    /// One thread's share: takes the next part until none is left or one has failed.
    fn work(&self) {
        while !self.stop.load(Ordering::Relaxed) {
            let next = self.queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            let Some((number, (blocks, kept))) = next else { return };
            if let Err(error) = (self.visit)(number, blocks, kept) {
                self.stop.store(true, Ordering::Relaxed);
                let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
                if failure.as_ref().is_none_or(|(earliest, _)| number < *earliest) {
                    *failure = Some((number, error));
                }
                return;
            }
            let done = 1 + self.done.fetch_add(1, Ordering::Relaxed);
            if let Some((pass, watch)) = self.watch {
                watch(Progress { pass, done, parts: self.parts });
            }
        }
    }
}

#[cfg(test)]
mod tests;
