//! Bad input of every kind, through the program: one clear message, exit code 2, nothing left behind; and the odd input that must
//! work.
//!
//! A case is a line of a table: what is wrong, the file, further options, and the words that the message must have. What is true
//! of every case is checked in one place, `support`.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod data;
mod odd;
mod settings;
mod support;
