//! Running chains: settings, threads, budgets, progress, checkpoints.
//!
//! | file | what it holds |
//! |---|---|
//! | [`settings`] | [`Settings`]: what a run is, as plain data, checked once |
//! | [`audited`] | [`Audited`]: Metropolis–Hastings whose decisions are audited, the kernel of every fit |
//! | [`auditor`] | audited decisions put aside and completed together |
//! | [`chain`] | [`Chain`]: one chain, a step at a time |
//! | [`sampler`] | [`Sampler`]: chains on threads until a limit is reached |
//! | [`ledger`] | [`Ledger`], [`Counters`]: where a chain stands, and what its steps have cost |
//! | [`target`] | [`Target`]: what is recorded of a state |
//! | [`builder`] | [`Builder`]: a run in one expression |
//! | [`control`] | [`Control`]: stop, pause and go on from outside |
//! | [`progress`] | [`Progress`], [`Observer`]: what a watcher is told |
//! | [`sink`] | [`Sink`]: where draws go while chains run |
//! | [`tally`] | [`Tally`]: what audits found, and whether it contradicts the prediction |
//! | [`trace`] | [`Trace`]: the draws in memory |
//! | [`checkpoint`] | [`Checkpoint`]: all a run needs to go on, bit for bit |
//! | [`outcome`] | [`Run`]: draws, costs, warnings, and why it ended |
//! | [`reason`] | [`Reason`], [`Hazard`]: why draws must not be trusted, and what to do |
//! | [`verdict`] | [`Verdict`]: may the draws be used? |
//! | [`memory`] | [`Memory`]: the estimate printed before a large run |

pub mod audited;
pub mod auditor;
pub mod builder;
pub mod chain;
pub mod checkpoint;
pub mod control;
pub mod ledger;
pub mod memory;
pub mod outcome;
pub mod progress;
pub mod reason;
pub mod sampler;
pub mod settings;
pub mod sink;
pub mod tally;
pub mod target;
pub mod trace;
pub mod verdict;

pub use audited::Audited;
pub use auditor::seconds_per_audit;
pub use builder::{Builder, Sampled};
pub use chain::Chain;
pub use checkpoint::{ChainCheckpoint, Checkpoint, Tightened};
pub use control::Control;
pub use ledger::{Counters, Ledger};
pub use memory::Memory;
pub use outcome::{Ended, Run};
pub use progress::{ChainProgress, Observer, Progress, Silent};
pub use reason::{Hazard, ModeFound, Reason, several_modes};
pub use sampler::{MetropolisSampler, Sampler};
pub use settings::{Limits, Settings, UNBOUNDED};
pub use sink::{Part, Sink};
pub use tally::{CompletePair, Contradiction, Tally};
pub use target::Target;
pub use trace::{ChainTrace, Trace};
pub use verdict::{Evidence, Verdict, stuck};
