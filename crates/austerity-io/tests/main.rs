//! Every integration test of files in and out in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod arviz;
mod common;
mod crash;
mod csv;
mod csv_properties;
mod draws;
mod formulas;
mod fuzz;
mod load;
mod npy;
mod parquet;
mod parts;
mod real_data;
mod resume;
mod store;
mod to_model;
