//! Every integration test of the library in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod algorithm_one;
mod allocation;
mod audits;
mod calibration;
mod certified;
mod common;
mod diagnostics_golden;
mod enumerated;
mod exactness;
mod gibbs;
mod hamiltonian;
mod langevin;
mod posteriors;
mod precision;
mod predicted_bias;
mod reshuffles;
mod runs;
mod selection;
mod sinks;
mod surrogates;
mod tails;
mod wide;
