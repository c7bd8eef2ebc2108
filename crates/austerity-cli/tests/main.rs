//! Every test of the program in one binary: what they share is compiled and linked once.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod after;
mod bad_input;
mod budget;
mod bytes;
mod check;
mod commands;
mod common;
mod damage;
mod damaged_runs;
mod documents;
mod families;
mod fetch;
mod folders;
mod formulas;
mod gradients;
mod healing;
mod levels;
mod memory;
mod merge;
mod multilevel;
mod parts;
mod plan;
mod posteriors;
mod predict;
mod priors;
mod real_data;
mod reproduce;
mod request;
mod resume;
mod scale;
mod surrogates;
mod tails;
mod theory;
mod torture;
mod trust;
mod watching;
mod wide;
