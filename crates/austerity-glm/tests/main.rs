//! Every integration test of regressions in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod allocation;
mod audits;
mod batch_gradient;
mod calibration;
mod certified;
mod common;
mod exactness;
mod fisher_scoring;
mod hamiltonian;
mod langevin;
mod langevin_steps;
mod mode;
mod multilevel;
mod normality;
mod posteriors;
mod precision;
mod predicted_bias;
mod reshuffles;
mod resumed;
mod sinks;
mod surrogates;
mod tails;
mod wide;
