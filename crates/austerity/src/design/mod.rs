//! How to choose: the looks and bounds that cost least data for an error that is allowed.
//!
//! | file | what it holds |
//! |---|---|
//! | [`pairs`] | [`Pairs`]: moments of completed decisions, what an average design learns from |
//! | [`space`] | [`Space`], [`TestCandidate`]: the tests to choose from; the rule of thumb |
//! | [`search`] | [`worst_case`], [`average`], [`average_compensated`]: front, optimum, and the nearest when nothing is feasible |
//! | [`level`] | [`bound_for_worst_case`]: the bound that meets a worst-case error exactly |
//! | [`mod@pilot`] | [`pilot()`]: exact steps that supply such pairs |
//! | [`choice`] | [`choose`], [`predict`]: which rule to run, and what to expect of it |
//!
//! ```
//! use austerity::design::{Pairs, Space, average, worst_case};
//! use austerity::rule::Law;
//!
//! let space = Space::constant(10_000)?;
//! let strict = worst_case(&space, 10_000, 0.05)?;
//! let mut pairs = Pairs::new(10_000)?;
//! for step in 0..20 {
//!     pairs.push(-1e-5 * f64::from(step - 10), 0.005, 0.0)?; // mean and sd of all 10,000 differences
//! }
//! let typical = average(&space, &pairs, Law::Metropolis, 0.05)?;
//! assert!(typical.best.unwrap().data_usage < strict.best.unwrap().data_usage);
//! # Ok::<(), austerity::Error>(())
//! ```

pub mod choice;
pub mod level;
pub mod pairs;
pub mod pilot;
pub mod search;
pub mod space;

pub use choice::{Choice, Prediction, Steps, choose, compensation, predict};
pub use level::bound_for_worst_case;
pub use pairs::{Pair, Pairs};
pub use pilot::{Pilot, PilotSettings, pilot};
pub use search::{Design, Search, average, average_compensated, evaluate, worst_case};
pub use space::{Space, TestCandidate};

#[cfg(test)]
mod tests;
