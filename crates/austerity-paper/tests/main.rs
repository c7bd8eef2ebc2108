//! Every integration test of the downloads in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod network;
mod quotes;
mod real_data;
mod sets;
