//! Regressions on tall data: the data, their storage, families of likelihoods, priors, and the surrogates that make decisions cheap.
//!
//! Everything here is a [`Model`](austerity::model::Model) or a [`Proposal`](austerity::proposal::Proposal) of the crate `austerity`, whose rules, runs and
//! diagnostics work on it unchanged.
//!
//! | room | what it holds |
//! |---|---|
//! | [`data`] | [`Data`]: named columns and a response, checked, scaled and shuffled once |
//! | [`store`] | [`Store`]: rows ready for sampling, in f32 blocks; filled from memory, streamed, or mapped |
//! | [`prior`] | [`Prior`]: normal, Laplace, Student t or flat, of one coefficient; half-normal and others of a positive parameter |
//! | [`priors`] | [`Priors`]: the prior of a whole state, that of the intercept at the column means |
//! | [`mod@default_priors`] | the priors of a user who named none, in the units of the data |
//! | [`tail`] | [`PowerTail`], [`FreeTail`]: tails that fall like a power, and which moments a posterior has |
//! | [`glm`] | [`Glm`]: regressions of the families of one list over SIMD blocks |
//! | [`linear`] | [`Linear`]: Gaussian regression, exact from sufficient statistics without reading a row |
//! | [`surrogate`] | [`Surrogate`]: the same posterior, its decisions about what a cheap approximation leaves |
//! | [`surrogate_density`] | [`SurrogateDensity`]: what leapfrog paths need of a surrogate |
//! | [`glm::expansion`] | [`GlmExpansion`](glm::expansion::GlmExpansion): a surrogate of a regression, by Taylor's theorem at its mode |
//! | [`row_expansion`] | [`RowExpansion`]: a surrogate of a user's own model, by the derivatives of its rows |
//! | [`whole`] | [`Whole`]: the same posterior as one number, for paths that compute it on all rows |
//! | [`gradients`] | [`BatchGradient`](gradients::BatchGradient): the gradient of a batch of rows, for Langevin proposals |
//! | [`own`] | a user's own model with derivatives, or with log-likelihoods in batches |
//! | [`modes`] | every mode that matters, from dispersed starts, weighed by Laplace evidence |
//! | [`regions`] | [`Regions`]: which mode a state belongs to |
//! | [`several`] | [`SeveralExpansions`]: a surrogate of a posterior with several modes, one expansion per mode |
//! | [`pass`] | every computation that reads all rows, and the driver that runs it on threads |
//! | [`proposal`] | proposals on surrogates, and any proposal of a regression as a checkpoint keeps it |
//! | [`check`] | are the assumptions sound here? normality, blocks, leverage, blindness, prior conflict, tails |
//! | [`generate`] | synthetic data with known coefficients |
//! | [`simd`] | vectorised exp, expm1, log1p and their dispatch |
//! | [`memory`] | memory for large arrays |

pub mod check;
pub mod data;
pub mod default_priors;
pub mod generate;
pub mod glm;
pub mod gradients;
pub mod groups;
pub mod linear;
pub mod memory;
pub mod modes;
pub mod own;
pub mod pass;
pub mod prior;
pub mod priors;
pub mod proposal;
pub mod regions;
pub mod row_expansion;
pub mod several;
pub mod simd;
pub mod store;
pub mod surrogate;
pub mod surrogate_density;
pub mod tail;
pub mod whole;

pub use data::{CheckedData, Data, ResponseKind};
pub use default_priors::{DefaultPriors, NoiseTails};
pub use glm::families::listed::*;
pub use glm::{AnyFamily, Glm};
pub use linear::{Linear, Noise};
pub use modes::{WeighedMode, add_mode, dispersed_starts, distinct_modes, weigh};
pub use prior::Prior;
pub use priors::{Priors, WithPriors};
pub use regions::Regions;
pub use row_expansion::{Certainty, RowExpansion, RowExpansionSettings};
pub use several::SeveralExpansions;
pub use store::{Store, StoreBuilder};
pub use surrogate::{CertainSteps, Expansion, ResidualGradient, Surrogate};
pub use surrogate_density::SurrogateDensity;
pub use tail::{Brake, FreeTail, PowerTail};
pub use whole::Whole;

/// The examples of the pages, kept true by running them.
#[cfg(doctest)]
mod pages {
    #[doc = include_str!("../../../docs/library.md")]
    struct Library;
    #[doc = include_str!("../../../docs/architecture.md")]
    struct Architecture;
}
