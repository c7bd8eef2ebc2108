//! Fits from a table to a run on disk, and what can be said of runs: all that the program and the Python package share.
//!
//! | module | what it does |
//! |---|---|
//! | [`Request`], [`request`] | what is asked for; planning it gives a [`Plan`], running it a [`Fit`] |
//! | [`fit`] | from a table to draws in a folder, watched and steered by a [`Host`](fit::Host) |
//! | [`runs`] | a run's folder, what can be said of it, and the commands that read runs |
//! | [`parts`] | data that do not fit in memory: passes on any engine, a sample for the chains, new rows on an old fit |
//! | [`analyze`], [`design`], [`check`] | how wrong a test is, which one to take, whether its assumptions are sound |
//! | [`risk`] | the predicted risk of settings, and which has the least at the end of a budget: pure functions |
//! | [`data`] | from a table to rows ready for sampling |
//! | [`refusal`] | requests that cannot be met, and why, in the reader's words |
//! | [`output`] | what goes to standard output, and what can go wrong |
//!
//! No terminal is needed: a run is told to its host, and only functions called `run` of commands print.

pub mod analyze;
pub mod check;
pub mod data;
pub mod design;
mod estimate;
pub mod fit;
mod model;
pub mod output;
pub mod parts;
mod progress;
pub mod refusal;
mod report;
pub mod request;
pub mod risk;
pub mod runs;
mod table;
mod verdict;

pub use austerity_io::table::{Column, Source, Table};
pub use fit::Plan;
pub use progress::Line;
pub use request::{Fit, Request, Verdict};
pub use table::{grouped, table};
