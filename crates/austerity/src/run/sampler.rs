//! Chains on threads until a limit is reached.
//!
//! Workers take the chain that is furthest behind, advance it for a slice of time and put it back, so that a stop finds
//! all chains about equally long even when there are more chains than threads; a chain's draws depend on its own
//! streams only, so threads and slices change nothing. Rounds exist for the target ESS alone, which is looked at
//! after fixed numbers of draws, so that it too is a function of the draws. The caller's thread watches the
//! clock and tells the observer. The chains share no lock: they publish counts as relaxed atomics, and a
//! copy of their running diagnostics when the watcher asks.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::diagnostics::{Streaming, ess_bulk};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::kernel::metropolis::check_starts;
use crate::model::Parameters;
use crate::proposal::Proposal;
use crate::run::progress::{Observer, Progress};
use crate::run::sink::{Outlet, Part, Sink, WAITING, drain};
use crate::run::{
    Audited, Chain, ChainCheckpoint, ChainTrace, Checkpoint, Control, Ended, Limits, Memory, Run, Settings,
    Target, Trace,
};

mod board;

use board::Board;

/// How often the observer is told.
const INTERVAL: Duration = Duration::from_millis(100);
/// First look at the effective sample size, and the factor to the next.
const FIRST_ESS_CHECK: u64 = 100;
const ESS_CHECK_GROWTH: f64 = 1.5;
/// Draws for which memory is set aside at once.
const RESERVE: u64 = 1 << 12;
/// How long a worker stays with a chain, and how many steps it makes between looks at the clock.
const SLICE: Duration = Duration::from_millis(20);
const STEPS_PER_LOOK: u64 = 16;
/// How long a worker waits before it looks again at a paused run.
const PAUSE: Duration = Duration::from_millis(5);

/// Runs chains of one kernel.
///
/// [`Sampler::new`] and [`Sampler::resume`] run Metropolis–Hastings with audits; [`Sampler::with_kernels`] and [`Sampler::resume_kernels`] any
/// [`Kernel`].
pub struct Sampler<'m, T: Target + ?Sized, K: Kernel<State = T::State>> {
    target: &'m T,
    settings: Settings,
    names: Vec<String>,
    chains: Vec<Mutex<Worker<K>>>,
    memory: Memory,
    /// Draws of earlier sessions, for the target ESS.
    earlier: Option<Trace>,
    /// What of a draw the target ESS is about.
    view: Option<View>,
}

/// What is looked at of a draw.
struct View {
    names: Vec<String>,
    /// Appends it, given all numbers of the draw.
    of: Box<Seen>,
}

type Seen = dyn Fn(&[f64], &mut Vec<f64>) + Send + Sync;

/// A chain and what it has drawn.
struct Worker<K: Kernel> {
    chain: Chain<K>,
    trace: ChainTrace,
    streaming: Streaming,
    outlet: Outlet,
    failure: Option<Error>,
}

/// The sampler of a model by Metropolis–Hastings with the proposal `P`, decisions audited.
pub type MetropolisSampler<'m, M, P> = Sampler<'m, M, Audited<'m, M, P>>;

/// What all rounds of a run share.
struct Session<'a, S, L> {
    board: &'a Board,
    /// Where draws go, if not to memory.
    way: Option<&'a SyncSender<Part<S, L>>>,
    control: &'a Control,
    start: Instant,
}

impl<'m, M, P> MetropolisSampler<'m, M, P>
where
    M: Parameters,
    P: Proposal<M::State> + Clone + Send,
{
    /// A new run. `starts` holds one state for all chains or one for each; each distinct one is checked by a
    /// pass over the data.
    pub fn new(model: &'m M, settings: &Settings, proposal: &P, starts: &[M::State]) -> Result<Self> {
        check_starts(model, starts)?;
        let chains = first_states(settings, starts)?
            .map(|start| ChainCheckpoint::start(start.clone(), proposal.clone()))
            .collect();
        Self::audited(model, settings, chains)
    }

    /// Goes on with an interrupted or finished run. Refuses settings, data or priors that would change a draw, as far as the
    /// model's fingerprint can tell.
    pub fn resume(model: &'m M, settings: &Settings, checkpoint: Checkpoint<M::State, P>) -> Result<Self> {
        settings.check()?;
        checkpoint.check(settings, model)?;
        Self::audited(model, settings, checkpoint.chains)
    }

    fn audited(
        model: &'m M,
        settings: &Settings,
        checkpoints: Vec<ChainCheckpoint<M::State, P>>,
    ) -> Result<Self> {
        let rule = settings.rule.build(model.len())?;
        let memory = Memory::estimate(model, settings, &rule, Parameters::names(model).len());
        let chains = (settings.first_chain..)
            .zip(checkpoints)
            .map(|numbered| Chain::new(model, settings, rule.clone(), numbered))
            .collect::<Result<_>>()?;
        Ok(Self { memory, ..Self::of_chains(model, settings, chains) })
    }
}

/// The start of each chain, from one for all or one for each.
fn first_states<'s, S>(settings: &Settings, starts: &'s [S]) -> Result<impl Iterator<Item = &'s S>> {
    settings.check()?;
    let chains = settings.chains as usize;
    if starts.len() != 1 && starts.len() != chains {
        return Err(Error::Dimension {
            what: "starts (one for all chains or one for each)".into(),
            expected: chains,
            found: starts.len(),
        });
    }
    Ok(starts.iter().cycle().take(chains))
}

impl<'m, T, K> Sampler<'m, T, K>
where
    T: Target + ?Sized,
    K: Kernel<State = T::State> + Send,
    K::Learnt: Send,
{
    /// A new run of any kernel: `kernel` makes that of a chain, given its number and its start. `starts` holds one state for all chains or one for
    /// each. The rule and the audit rate of `settings` are the kernel's to follow.
    pub fn with_kernels(
        target: &'m T,
        settings: &Settings,
        starts: &[T::State],
        mut kernel: impl FnMut(u32, &T::State) -> Result<K>,
    ) -> Result<Self> {
        let chains = (settings.first_chain..)
            .zip(first_states(settings, starts)?)
            .map(|(number, start)| {
                let checkpoint = ChainCheckpoint::start(start.clone(), ());
                Ok(Chain::resumed(kernel(number, start)?, settings, number, checkpoint))
            })
            .collect::<Result<_>>()?;
        Ok(Self::of_chains(target, settings, chains))
    }

    /// Goes on with a run of any kernel: `kernel` makes that of a chain again, given its number, where it stands and what it had learnt.
    pub fn resume_kernels(
        target: &'m T,
        settings: &Settings,
        checkpoint: Checkpoint<T::State, K::Learnt>,
        mut kernel: impl FnMut(u32, &ChainCheckpoint<T::State, ()>, K::Learnt) -> Result<K>,
    ) -> Result<Self> {
        settings.check()?;
        checkpoint.check(settings, target)?;
        let chains = (settings.first_chain..)
            .zip(checkpoint.chains)
            .map(|(number, chain)| {
                let (learnt, rest) = chain.split();
                Ok(Chain::resumed(kernel(number, &rest, learnt)?, settings, number, rest))
            })
            .collect::<Result<_>>()?;
        Ok(Self::of_chains(target, settings, chains))
    }

    fn of_chains(target: &'m T, settings: &Settings, chains: Vec<Chain<K>>) -> Self {
        let names = target.names();
        let worker = |chain| {
            Mutex::new(Worker {
                chain,
                trace: ChainTrace::default(),
                streaming: Streaming::new(names.len()),
                outlet: Outlet::new(),
                failure: None,
            })
        };
        let chains = chains.into_iter().map(worker).collect();
        let memory = Memory::of_draws(settings, names.len());
        Self { target, settings: settings.clone(), names, chains, memory, earlier: None, view: None }
    }

    /// Tells a resumed run the draws of its earlier sessions, so that a target ESS is reached where the uninterrupted run
    /// would have reached it. They are draws as the view shows them, where there is one.
    #[must_use]
    pub fn with_earlier(self, trace: Trace) -> Self {
        Self { earlier: Some(trace), ..self }
    }

    /// Lets the target ESS look at `view` of each draw instead of all its numbers: a sink that keeps some of them, or keeps them on
    /// another scale, can then hand back as earlier draws what it has stored. `view` appends one number for each of `names`.
    #[must_use]
    pub fn with_view(
        self,
        names: Vec<String>,
        view: impl Fn(&[f64], &mut Vec<f64>) + Send + Sync + 'static,
    ) -> Self {
        Self { view: Some(View { names, of: Box::new(view) }), ..self }
    }

    /// This sampler with other limits.
    #[must_use]
    pub fn limited(mut self, limits: Limits) -> Self {
        self.settings.limits = limits;
        self
    }

    /// The memory the run will take.
    pub fn memory(&self) -> Memory {
        self.memory
    }

    /// Runs until the draws are complete, a limit is reached, `control` stops it or a chain fails; then returns
    /// all that was drawn.
    pub fn run(self, control: &Control, observer: &mut dyn Observer) -> Run<T::State, K::Learnt> {
        let start = Instant::now();
        let board = Board::new(&self.settings, self.chains.len());
        let session = Session { board: &board, way: None, control, start };
        let ended = self.rounds(&session, observer);
        self.finish(ended, start)
    }

    /// Like [`Sampler::run`], with all draws going to `sink` as they are made. They are not kept in memory, unless a target
    /// ESS needs them there; the trace of the outcome is empty.
    pub fn run_into(
        self,
        sink: &mut dyn Sink<T::State, K::Learnt>,
        control: &Control,
        observer: &mut dyn Observer,
    ) -> Run<T::State, K::Learnt> {
        let start = Instant::now();
        let board = Board::new(&self.settings, self.chains.len());
        let (way, parts) = sync_channel(WAITING);
        let (ended, stored) = thread::scope(|scope| {
            let stopping = &board;
            let stored = scope.spawn(move || {
                let drained = AssertUnwindSafe(|| drain(&parts, sink, || stopping.fail()));
                catch_unwind(drained).unwrap_or_else(|payload| {
                    stopping.fail();
                    Err(Error::Sink { message: crate::error::panic_message(payload.as_ref()) })
                })
            });
            let session = Session { board: &board, way: Some(&way), control, start };
            let ended = self.rounds(&session, observer);
            for (index, worker) in self.chains.iter().enumerate() {
                let mut worker = lock(worker);
                if worker.failure.is_none() {
                    self.settle(&mut worker, &board);
                }
                self.hand_over(&mut worker, index, &way);
            }
            drop(way);
            let lost = |_| Err(Error::Sink { message: "the thread that stores them was lost".into() });
            (ended, stored.join().unwrap_or_else(lost))
        });
        let ended = match stored {
            Ok(()) => ended,
            Err(error) => Ended::Unstored { error },
        };
        let mut run = self.finish(ended, start);
        run.trace.chains.iter_mut().for_each(|chain| *chain = ChainTrace::default());
        run
    }

    /// Completes the audits of a chain that wait; a failure is one of the chain.
    fn settle(&self, worker: &mut Worker<K>, board: &Board) {
        if let Err(failure) = caught(|| {
            worker.chain.settle()?;
            worker.record_audits(self.settings.record_every);
            Ok(())
        }) {
            worker.failure = Some(failure);
            board.fail();
        }
    }

    /// Hands the draws since the last part to the sink.
    fn hand_over(&self, worker: &mut Worker<K>, index: usize, way: &SyncSender<Part<T::State, K::Learnt>>) {
        let draws = if self.settings.limits.target_ess.is_some() {
            let sent = worker.outlet.sent;
            worker.outlet.sent = worker.trace.len();
            worker.trace.tail(sent, self.names.len())
        } else {
            std::mem::take(&mut worker.trace)
        };
        worker.outlet.send(way, Part { chain: index, draws, checkpoint: worker.chain.checkpoint() });
    }

    /// Rounds until the run ends.
    fn rounds(&self, session: &Session<'_, T::State, K::Learnt>, observer: &mut dyn Observer) -> Ended {
        let next = |target: u64| (target as f64 * ESS_CHECK_GROWTH).ceil() as u64;
        let drawn = self.chains.iter().map(|worker| lock(worker).chain.draws()).min().unwrap_or(0);
        let mut target = FIRST_ESS_CHECK;
        while target < drawn {
            target = next(target);
        }
        let ended = loop {
            let rounds = self.settings.limits.target_ess.is_some();
            let until = if rounds { target.min(self.settings.draws) } else { self.settings.draws };
            self.round(until, session, observer);
            if let Some(ended) = self.why_ended(session.board, session.control) {
                break ended;
            }
            target = next(target);
        };
        observer.progress(&self.snapshot(session.board, session.start));
        ended
    }

    /// Advances every chain to `until` draws, or to a stop.
    fn round(&self, until: u64, session: &Session<'_, T::State, K::Learnt>, observer: &mut dyn Observer) {
        let &Session { board, way, start, .. } = session;
        let waiting = Mutex::new((0..self.chains.len()).collect::<Vec<usize>>());
        let done = AtomicUsize::new(0);
        let workers = self.settings.workers();
        let watcher = thread::current();
        thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(|| {
                    while let Some(index) = furthest_behind(&waiting, board) {
                        let mut worker = lock(&self.chains[index]);
                        let finished = self.advance(&mut worker, index, until, session);
                        if let Some(way) = way
                            && worker.failure.is_none()
                            && worker.outlet.due(worker.trace.len() - worker.outlet.sent)
                        {
                            self.settle(&mut worker, board);
                            if worker.failure.is_none() {
                                self.hand_over(&mut worker, index, way);
                            }
                        }
                        drop(worker);
                        if !finished {
                            lock(&waiting).push(index);
                        }
                    }
                    done.fetch_add(1, Ordering::Release);
                    watcher.unpark();
                });
            }
            let mut told = Instant::now();
            while done.load(Ordering::Acquire) < workers {
                let mut wait = INTERVAL.saturating_sub(told.elapsed());
                if let Some(limit) = self.settings.limits.seconds {
                    let left =
                        (limit - start.elapsed().as_secs_f64()).clamp(1e-3, wait.as_secs_f64().max(1e-3));
                    wait = wait.min(Duration::from_secs_f64(left));
                }
                thread::park_timeout(wait);
                if self.settings.limits.seconds.is_some_and(|limit| start.elapsed().as_secs_f64() >= limit) {
                    board.time_is_up();
                }
                if told.elapsed() >= INTERVAL {
                    board.ask();
                    observer.progress(&self.snapshot(board, start));
                    told = Instant::now();
                }
            }
        });
    }

    /// Advances one chain for a slice and tells whether it is through with this round; a panic in a kernel
    /// becomes an error of the chain.
    fn advance(
        &self,
        worker: &mut Worker<K>,
        index: usize,
        until: u64,
        session: &Session<'_, T::State, K::Learnt>,
    ) -> bool {
        // A worker that failed is never stepped again, so a state half changed by the panic is not used.
        match caught(|| self.slice(worker, index, until, session)) {
            Ok(finished) => finished,
            Err(failure) => {
                worker.failure = Some(failure);
                session.board.fail();
                true
            }
        }
    }

    fn slice(
        &self,
        worker: &mut Worker<K>,
        index: usize,
        until: u64,
        session: &Session<'_, T::State, K::Learnt>,
    ) -> Result<bool> {
        let &Session { board, control, .. } = session;
        let width = self.names.len();
        if worker.trace.decisions.capacity() == worker.trace.decisions.len() {
            let left = until - worker.chain.draws().min(until);
            let expected = usize::try_from(left.min(RESERVE)).unwrap_or(0);
            worker.trace.values.reserve(expected * width);
            worker.trace.decisions.reserve(expected);
        }
        let share = self.settings.limits.evaluations.map(|all| all / u64::from(self.settings.chains));
        let start = Instant::now();
        let mut made = 0;
        let finished = loop {
            let Worker { chain, trace, streaming, .. } = &mut *worker;
            if chain.draws() >= until || board.stopped() || control.stopped() {
                break true;
            }
            if share.is_some_and(|share| chain.evaluations() >= share) {
                board.spent();
                break true;
            }
            if control.paused() {
                thread::sleep(PAUSE);
                break false;
            }
            if made % STEPS_PER_LOOK == STEPS_PER_LOOK - 1 && start.elapsed() >= SLICE {
                break false;
            }
            let decision = chain.step()?;
            made += 1;
            if chain.drew() && chain.draws().is_multiple_of(self.settings.record_every) {
                let from = trace.values.len();
                trace.values.resize(from + width, 0.0);
                self.target.write(chain.state(), &mut trace.values[from..]);
                trace.decisions.push(decision);
                streaming.push(&trace.values[from..]);
            }
            worker.record_audits(self.settings.record_every);
            board.publish(index, &worker.chain, &worker.streaming);
        };
        if finished {
            worker.chain.settle()?;
            worker.record_audits(self.settings.record_every);
        }
        board.publish_last(index, &worker.streaming);
        Ok(finished)
    }

    fn why_ended(&self, board: &Board, control: &Control) -> Option<Ended> {
        for (number, worker) in (self.settings.first_chain..).zip(&self.chains) {
            if let Some(error) = &lock(worker).failure {
                return Some(Ended::Failed { chain: number, error: error.clone() });
            }
        }
        if board.any_spent() {
            return Some(Ended::Evaluations);
        }
        if self.chains.iter().all(|worker| lock(worker).chain.draws() >= self.settings.draws) {
            return Some(Ended::Draws);
        }
        if control.stopped() {
            return Some(Ended::Interrupted);
        }
        if board.stopped() {
            return Some(Ended::Seconds);
        }
        let wanted = self.settings.limits.target_ess?;
        let recent = self.recent();
        let all = match self.earlier.clone() {
            Some(mut earlier) => {
                earlier.append(recent);
                earlier
            }
            None => recent,
        };
        let reached = !all.is_empty()
            && (0..all.names.len()).all(|parameter| {
                let columns = all.parameter(parameter);
                let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
                ess_bulk(&columns) >= wanted
            });
        reached.then_some(Ended::TargetEss)
    }

    /// The draws of this session, as far as the target ESS looks at them.
    fn recent(&self) -> Trace {
        let seen = |trace: &ChainTrace| {
            let Some(view) = &self.view else { return trace.clone() };
            let mut values = Vec::with_capacity(trace.len() * view.names.len());
            let draws = trace.values.chunks_exact(self.names.len().max(1));
            draws.for_each(|draw| (view.of)(draw, &mut values));
            ChainTrace { values, decisions: trace.decisions.clone() }
        };
        Trace {
            names: self.view.as_ref().map_or(&self.names, |view| &view.names).clone(),
            chains: self.chains.iter().map(|worker| seen(&lock(worker).trace)).collect(),
        }
    }

    fn snapshot(&self, board: &Board, start: Instant) -> Progress {
        board.progress(&self.settings, self.target.rows(), start.elapsed().as_secs_f64())
    }

    fn finish(self, ended: Ended, start: Instant) -> Run<T::State, K::Learnt> {
        let Self { target, settings, names, chains, .. } = self;
        let mut trace = Trace { names: names.clone(), chains: Vec::new() };
        let mut checkpoints = Vec::new();
        for worker in chains {
            let worker = worker.into_inner().unwrap_or_else(PoisonError::into_inner);
            checkpoints.push(worker.chain.checkpoint());
            trace.chains.push(worker.trace);
        }
        let checkpoint = Checkpoint {
            version: env!("CARGO_PKG_VERSION").into(),
            settings,
            rows: target.rows(),
            fingerprint: target.fingerprint(),
            names,
            chains: checkpoints,
        };
        Run { trace, checkpoint, ended, seconds: start.elapsed().as_secs_f64() }
    }
}

impl<K: Kernel> Worker<K> {
    /// Puts completed audits beside the decisions of the trace, which holds the last recorded draws of the chain.
    fn record_audits(&mut self, every: u64) {
        let first = self.chain.draws() / every - self.trace.len() as u64;
        for (draw, audit) in self.chain.completed_audits() {
            let recorded = (draw + 1).is_multiple_of(every).then_some((draw + 1) / every);
            let place = recorded.and_then(|number| (number - 1).checked_sub(first));
            let place = place.and_then(|place| usize::try_from(place).ok());
            if let Some(decision) = place.and_then(|place| self.trace.decisions.get_mut(place)) {
                decision.audit = Some(audit);
            }
        }
    }
}

/// Does work of a chain; a panic in a model or proposal becomes an error.
fn caught<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        let message = crate::error::panic_message(payload.as_ref());
        Err(Error::Panicked { what: "model or proposal".into(), row: None, message })
    })
}

/// Takes the waiting chain with the fewest steps.
fn furthest_behind(waiting: &Mutex<Vec<usize>>, board: &Board) -> Option<usize> {
    let mut waiting = lock(waiting);
    let place = (0..waiting.len()).min_by_key(|&place| board.steps(waiting[place]))?;
    Some(waiting.swap_remove(place))
}

/// A chain's lock is held by one worker at a time, and a panic is caught before it could poison it.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
