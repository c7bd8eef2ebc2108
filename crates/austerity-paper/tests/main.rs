//! Every integration test of downloads, quotes and the published run in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod common;
mod network;
mod published;
mod quotes;
mod real_data;
mod sets;
