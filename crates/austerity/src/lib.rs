//! Bayesian inference on tall data that reads a fraction of the data per step and says how wrong it may be.
//!
//! An acceptance decision compares the mean of a **finite population of numbers** with a threshold. The
//! rule that decides never sees a model, a parameter or a data set: it sees a population it may reveal
//! step by step, a known offset, and randomness.
//!
//! ```text
//!             propose                     compare                    decide
//!  state θ ───────────▶ candidate θ' ───────────────▶ population ───────────────▶ Decision ──▶ state, trace
//!             + log q ratio                {l_i}, N, offset            rule               accepted, used, looks,
//!             + log prior ratio            (revealed in blocks)        (own randomness)   mean, sd, threshold
//! ```
//!
//! | room | what it holds |
//! |---|---|
//! | [`population`] | the seam: populations, their block-wise reveal, mergeable moments |
//! | [`rule`] | who decides: exact, sequential |
//! | [`model`] | what a posterior must say of itself, and posteriors of one's own closures |
//! | [`proposal`] | where to go next: random walks, adaptive, mixtures |
//! | [`kernel`] | one step of a chain |
//! | [`theory`] | how wrong: the error of a test, of a step, of the stationary distribution |
//! | [`design`] | choosing looks and bounds for a tolerance |
//! | [`run`] | settings, chains on threads, budgets, progress, checkpoints |
//! | [`diagnostics`] | R-hat, effective sample size, Monte Carlo error, intervals |
//! | [`mod@dot`] | Σ a_i·b_i, the same on every machine |
//!
//! Regressions (data, families, priors, surrogates) are the crate `austerity-glm`; the special posteriors of the paper, with their proposals
//! and Gibbs sampling, the crate `austerity-models`. Both are built on this one, which knows neither.
//!
//! Symbols, used alike everywhere: N rows in all, n rows revealed, m first look, ε error allowed per look,
//! G critical value, μ0 threshold on the mean, π = n/N, κ = √N·sd(l), τ absolute tolerance on the total.

pub mod design;
pub mod diagnostics;
pub mod dot;
pub mod error;
pub mod kernel;
pub mod model;
pub mod parallel;
pub mod population;
pub mod proposal;
pub mod rng;
pub mod rule;
pub mod run;
pub mod theory;

pub use error::{Error, Result};

/// Rows that are stored, and by default drawn, together.
pub const BLOCK_ROWS: usize = 32;
