//! Are the assumptions sound here? Asked of a regression: before a run from its data, after it from its draws.
//!
//! | file | what it holds |
//! |---|---|
//! | [`normality`] | is the mean of a batch normal enough for the test (the paper's "can be easily tested empirically")? |
//! | [`mod@design_effect`] | [`design_effect()`]: what drawing whole blocks costs against single rows |
//! | [`leverage`] | which rows can do most, and how concentrated that is |
//! | [`blindness`] | can a test stop without having met the rows that matter, and believe its own standard error? |
//! | `heavy` | the rows with the largest scores, in two passes |
//! | [`prior_conflict`] | do the prior and the data contradict each other? |
//! | [`replication`] | how often heavy rows must be stored for that, where too many matter to be always read |
//! | [`tails`] | mean depth of the draws in a prior's tail: was the tail reached? |

pub mod blindness;
pub mod design_effect;
mod heavy;
pub mod leverage;
pub mod normality;
pub mod prior_conflict;
pub mod replication;
pub mod tails;

pub use blindness::{Blindness, RawBlindness, ResidualTest, Stratum, SurrogateBlindness};
pub use design_effect::design_effect;
pub use leverage::{Leverage, check_leverage};
pub use normality::{Normality, NormalitySettings, Offender, PairNormality, Tail, check_normality};
pub use prior_conflict::{CONFLICT, Conflict, prior_conflicts};
pub use replication::{Replication, replicate};
pub use tails::TailCheck;
