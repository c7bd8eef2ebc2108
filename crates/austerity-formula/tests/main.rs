//! Formulas from text to columns.

#![allow(clippy::unwrap_used)]

mod bad;
mod golden;
mod meaning;
