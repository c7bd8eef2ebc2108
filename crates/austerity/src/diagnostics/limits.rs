//! The limits beyond which draws are not to be trusted.

/// R-hat above which chains are said to disagree (Vehtari et al. 2021).
pub const RHAT_LIMIT: f64 = 1.01;
/// Effective draws per chain, bulk or tail, below which estimates are not to be trusted (the same).
pub const ESS_PER_CHAIN: f64 = 100.0;
/// Relative error of posterior standard deviations that the theory may predict.
pub const INFLATION_LIMIT: f64 = 0.05;
