//! Where chains publish their counts and the watcher its wishes, without a lock on the chains' way.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};

use crate::diagnostics::{Streaming, combine};
use crate::kernel::Kernel;
use crate::run::progress::{ChainProgress, Progress};
use crate::run::{Chain, Settings, UNBOUNDED};

/// Shared by the chains of a run and their watcher.
#[derive(Debug)]
pub(super) struct Board {
    up: AtomicBool,
    failed: AtomicBool,
    spent: AtomicBool,
    /// Rises when the watcher wants fresh diagnostics.
    wish: AtomicU64,
    slots: Vec<Slot>,
    steps_wanted: u64,
}

#[derive(Debug, Default)]
struct Slot {
    steps: AtomicU64,
    draws: AtomicU64,
    accepted: AtomicU64,
    counted: AtomicU64,
    rows: AtomicU64,
    evaluations: AtomicU64,
    /// Steps the chain had made when this session first heard of it, plus one; 0 before.
    first: AtomicU64,
    /// Evaluations it had made then.
    before: AtomicU64,
    /// The last wish fulfilled.
    fulfilled: AtomicU64,
    streaming: Mutex<Option<Streaming>>,
}

impl Board {
    pub(super) fn new(settings: &Settings, chains: usize) -> Self {
        Self {
            up: AtomicBool::new(false),
            failed: AtomicBool::new(false),
            spent: AtomicBool::new(false),
            wish: AtomicU64::new(0),
            slots: (0..chains).map(|_| Slot::default()).collect(),
            steps_wanted: Progress::steps_wanted(settings),
        }
    }

    pub(super) fn time_is_up(&self) {
        self.up.store(true, Relaxed);
    }

    pub(super) fn fail(&self) {
        self.failed.store(true, Relaxed);
    }

    pub(super) fn spent(&self) {
        self.spent.store(true, Relaxed);
    }

    pub(super) fn any_spent(&self) -> bool {
        self.spent.load(Relaxed)
    }

    /// Whether chains should stop: the time is up or one of them failed.
    pub(super) fn stopped(&self) -> bool {
        self.up.load(Relaxed) || self.failed.load(Relaxed)
    }

    /// Steps that chain number `index` of this run has made.
    pub(super) fn steps(&self, index: usize) -> u64 {
        self.slots[index].steps.load(Relaxed)
    }

    /// Asks for fresh diagnostics.
    pub(super) fn ask(&self) {
        self.wish.fetch_add(1, Relaxed);
    }

    /// Publishes counts, and diagnostics when the watcher asked.
    pub(super) fn publish<K: Kernel>(&self, index: usize, chain: &Chain<K>, streaming: &Streaming) {
        let slot = &self.slots[index];
        let counters = if chain.warming() { chain.warmup() } else { chain.sampling() };
        slot.steps.store(chain.steps(), Relaxed);
        slot.draws.store(chain.draws(), Relaxed);
        slot.accepted.store(counters.accepted, Relaxed);
        slot.counted.store(counters.steps, Relaxed);
        slot.rows.store(counters.rows, Relaxed);
        slot.evaluations.store(chain.evaluations(), Relaxed);
        if slot.first.load(Relaxed) == 0 {
            slot.first.store(chain.steps(), Relaxed);
            slot.before.store(chain.evaluations(), Relaxed);
        }
        let wish = self.wish.load(Relaxed);
        if slot.fulfilled.load(Relaxed) != wish {
            slot.fulfilled.store(wish, Relaxed);
            self.publish_last(index, streaming);
        }
    }

    /// Publishes diagnostics unasked.
    pub(super) fn publish_last(&self, index: usize, streaming: &Streaming) {
        let mut held = self.slots[index].streaming.lock().unwrap_or_else(PoisonError::into_inner);
        match held.as_mut() {
            Some(held) => held.clone_from(streaming),
            None => *held = Some(streaming.clone()),
        }
    }

    pub(super) fn progress(&self, settings: &Settings, rows: usize, elapsed: f64) -> Progress {
        let chains: Vec<ChainProgress> = self
            .slots
            .iter()
            .map(|slot| {
                let counted = slot.counted.load(Relaxed) as f64;
                let steps = slot.steps.load(Relaxed);
                ChainProgress {
                    steps,
                    draws: slot.draws.load(Relaxed),
                    warming: steps < settings.warmup,
                    acceptance: slot.accepted.load(Relaxed) as f64 / counted,
                    data_share: slot.rows.load(Relaxed) as f64 / counted / rows as f64,
                    evaluations: slot.evaluations.load(Relaxed),
                }
            })
            .collect();
        let made: u64 = self
            .slots
            .iter()
            .map(|slot| {
                slot.steps.load(Relaxed)
                    - slot.first.load(Relaxed).saturating_sub(1).min(slot.steps.load(Relaxed))
            })
            .sum();
        let left: u64 = chains.iter().map(|chain| self.steps_wanted.saturating_sub(chain.steps)).sum();
        let by_steps = (made > 0 && settings.draws < UNBOUNDED).then(|| elapsed * left as f64 / made as f64);
        let by_clock = settings.limits.seconds.map(|limit| (limit - elapsed).max(0.0));
        let by_cost = settings.limits.evaluations.and_then(|limit| self.by_cost(limit, elapsed));
        let remaining = [by_steps, by_clock, by_cost].into_iter().flatten().reduce(f64::min);
        let (rhat, ess) = self.diagnostics();
        Progress { chains, steps_wanted: self.steps_wanted, elapsed, remaining, rhat, ess }
    }

    /// Seconds until `limit` evaluations are spent, at the pace of this session.
    fn by_cost(&self, limit: u64, elapsed: f64) -> Option<f64> {
        let sum = |value: fn(&Slot) -> u64| self.slots.iter().map(value).sum::<u64>();
        let all = sum(|slot| slot.evaluations.load(Relaxed));
        let before = sum(|slot| slot.before.load(Relaxed));
        let spent = all.saturating_sub(before);
        (spent > 0).then(|| elapsed * limit.saturating_sub(all) as f64 / spent as f64)
    }

    /// Largest running R-hat and smallest running ESS, once every chain has published enough.
    fn diagnostics(&self) -> (Option<f64>, Option<f64>) {
        let held: Vec<_> = self
            .slots
            .iter()
            .map(|slot| slot.streaming.lock().unwrap_or_else(PoisonError::into_inner))
            .collect();
        let Some(parts) = held.iter().map(|guard| guard.as_ref()).collect::<Option<Vec<&Streaming>>>() else {
            return (None, None);
        };
        let running = combine(&parts);
        let rhat = running.iter().map(|r| r.rhat).filter(|v| v.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        let ess = running.iter().map(|r| r.ess).filter(|v| v.is_finite()).fold(f64::INFINITY, f64::min);
        (rhat.is_finite().then_some(rhat), ess.is_finite().then_some(ess))
    }
}
