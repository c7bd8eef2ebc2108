//! Every integration test of the core in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod algorithm_one;
mod diagnostics_golden;
mod enumerated;
mod own;
mod runs;
