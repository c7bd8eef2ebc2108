//! Every integration test of the paper's models in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod gibbs;
mod selection;
