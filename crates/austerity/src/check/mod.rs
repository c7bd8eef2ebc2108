//! Are the assumptions sound here? Asked before a run, answered from the data.
//!
//! | file | what it holds |
//! |---|---|
//! | [`normality`] | is the mean of a batch normal enough for the test (the paper's "can be easily tested empirically")? |
//! | [`leverage`] | which rows can do most, and how concentrated that is |
//! | [`blindness`] | can a test stop without having met the rows that matter, and believe its own standard error? |
//! | [`prior_conflict`] | do the prior and the data contradict each other? |
//! | [`replication`] | how often heavy rows must be stored for that, where too many matter to be always read |

pub mod blindness;
pub mod leverage;
pub mod normality;
pub mod prior_conflict;
pub mod replication;

pub use blindness::{Blindness, RawBlindness, Stratum, SurrogateBlindness, SurrogateSettings};
pub use leverage::{Leverage, check_leverage};
pub use normality::{Normality, NormalitySettings, Offender, PairNormality, Tail, check_normality};
pub use prior_conflict::{CONFLICT, Conflict, prior_conflicts};
pub use replication::{Replication, replicate};
