//! Are the assumptions sound here? Asked before a run, answered from the data.
//!
//! | file | what it holds |
//! |---|---|
//! | [`normality`] | is the mean of a batch normal enough for the test (the paper's "can be easily tested empirically")? |

pub mod normality;

pub use normality::{Normality, NormalitySettings, Offender, PairNormality, Tail, check_normality};
