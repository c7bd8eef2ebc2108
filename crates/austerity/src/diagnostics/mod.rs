//! Diagnostics: did the chains converge, and how precise are the estimates?
//!
//! | file | computes | for |
//! |---|---|---|
//! | [`rhat`](mod@rhat) | rank-normalised split R-hat, plain split R-hat | do chains agree? |
//! | [`ess`] | effective sample size of bulk, tail, mean, sd, quantile | how many draws is this worth? |
//! | [`mcse`] | Monte Carlo standard error of mean, sd, quantile | how many digits may I report? |
//! | [`interval`] | quantiles, equal-tailed and highest-density interval | what is the posterior? |
//! | [`autocorrelation`](mod@autocorrelation) | autocovariance and autocorrelation | how slowly does it mix? |
//! | [`rank`] | average ranks, normal scores | what the above are built on |
//! | [`summary`] | one line per parameter | tables |
//! | `limits` | beyond which draws are not to be trusted | verdicts |
//! | [`streaming`] | running mean, sd, ESS and R-hat in constant memory | progress display |
//!
//! A parameter's draws come as `chains: &[&[f64]]`, one slice per chain. Chains of unequal length
//! are cut to the shortest. Nothing here fails: a result that is not defined (too few draws, values
//! that are not finite) is NaN, as each function documents. Numbers agree with ArviZ on the same draws
//! (`tests/diagnostics_golden.rs`).
//!
//! ```
//! use austerity::diagnostics::{ess_bulk, rhat};
//! let first: Vec<f64> = (0..100).map(|i| f64::from(i * 37 % 100)).collect();
//! let second: Vec<f64> = (0..100).map(|i| f64::from(i * 61 % 100)).collect();
//! assert!(rhat(&[&first, &second]) < 1.05);
//! assert!(ess_bulk(&[&first, &second]) > 100.0);
//! ```
//!
//! Vehtari, Gelman, Simpson, Carpenter & Bürkner (2021), *Rank-normalization, folding, and
//! localization: an improved R-hat*, Bayesian Analysis 16. Geyer (1992), *Practical Markov chain
//! Monte Carlo*, Statistical Science 7.

pub mod autocorrelation;
pub mod chains;
pub mod ess;
pub mod interval;
mod limits;
pub mod mcse;
pub mod rank;
pub mod rhat;
#[cfg(test)]
mod simulate;
pub mod streaming;
pub mod summary;

pub use autocorrelation::{autocorrelation, autocovariance};
pub use chains::MINIMUM_DRAWS;
pub use ess::{ess_bulk, ess_mean, ess_median, ess_quantile, ess_sd, ess_tail};
pub use interval::{Interval, equal_tailed_interval, highest_density_interval, quantile, quantiles};
pub use limits::{ESS_PER_CHAIN, INFLATION_LIMIT, RHAT_LIMIT};
pub use mcse::{mcse_mean, mcse_median, mcse_quantile, mcse_sd};
pub use rank::{average_ranks, normal_scores};
pub use rhat::{rhat, rhat_bulk, rhat_folded, split_rhat};
pub use streaming::{RunningSummary, Streaming, combine};
pub use summary::Summary;
