//! Formulas from text to columns.

mod bad;
mod golden;
mod meaning;
