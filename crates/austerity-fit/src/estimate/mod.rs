//! Sums over all rows from a few of them, and the leave-one-out arithmetic: formulas without data, files or words.
//!
//! | file | what it computes |
//! |---|---|
//! | `pareto` | Pareto-smoothed importance weights, and the leave-one-out log density of one row |
//! | `cavity` | the same from derivatives and a normal posterior: cheap enough for every row |
//! | `difference` | a sum over all rows from approximations of all and exact values of a sample |
//! | `gaussian` | mean and covariance factor of the draws |
//! | `stacking` | weights of models whose mixture predicts best |

pub(crate) mod cavity;
pub(crate) mod difference;
pub(crate) mod gaussian;
pub(crate) mod pareto;
pub(crate) mod stacking;
