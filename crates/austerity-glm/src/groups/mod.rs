//! Multilevel models: effects that vary between groups, integrated out, so that the *groups are the rows* of a population.
//!
//! ```text
//! η_i = x_i'β + z_i'u_g(i),   u_j ~ N(0, ΛΛ'),   log p(y|θ) = Σ_j log m_j(θ),   m_j(θ) = ∫ Π_{i∈j} p(y_i|η_i) N(u; 0, ΛΛ') du
//! ```
//!
//! | file | what it holds |
//! |---|---|
//! | `layout` | [`Grouped`]: rows sorted by group, groups in random order |
//! | `hermite` | nodes and weights of the Gauss–Hermite rule |
//! | `kernel` | [`Kernel`]: sums over the rows of a group, of any family |
//! | `scales` | [`Scales`]: Λ from its parameters, derivatives, priors of standard deviations and correlations |
//! | `marginal`, `derivatives` | log m_j by adaptive quadrature; its gradient and Hessian |
//! | `model` | [`Multilevel`]: the model whose rows are groups |
//! | `tables` | [`Tabled`]: sums over rows kept per group and node, so that a decision reads no rows |
//! | `check` | how many nodes are needed |
//! | `effects` | what is known of the effects of every group: mean, standard deviation, quantiles |
//!
//! Given θ the groups are independent, and θ has few dimensions. Rules, surrogates, proposals and audits see J groups where other models have N rows.
//! The effects u_j are described afterwards, given draws of θ ([`effects`]). Up to three effects per group.
//!
//! Cost: an evaluation of group j takes its mode (2–5 visits of its n_j rows) and Kq visits for K nodes per effect and q effects.

#![allow(clippy::needless_range_loop, reason = "small matrices read best by row and column")]

pub mod check;
mod derivatives;
pub mod effects;
pub mod hermite;
pub mod kernel;
pub mod layout;
pub mod marginal;
pub mod model;
pub mod scales;
pub mod tables;

#[cfg(test)]
mod tests;

pub use effects::{EffectSummary, Effects};
pub use kernel::Kernel;
pub use layout::{Grouped, Membership};
pub use model::{Multilevel, MultilevelSettings};
pub use scales::Scales;
pub use tables::Tabled;

/// Effects that a group has at most: the product rule needs Kq nodes.
pub const MOST_EFFECTS: usize = 3;
