//! A user's own model with derivatives, and one whose log-likelihoods come in batches. Without derivatives it is
//! [`from_fn`](austerity::model::from_fn()); a surrogate of it is a [`RowExpansion`](crate::RowExpansion).
//!
//! | file | what it holds |
//! |---|---|
//! | [`closures`] | [`with_gradient()`], [`with_curvature()`]: a model and the derivatives of its rows, as closures |
//! | [`mod@from_batches`] | [`from_batches()`]: a model of log-likelihoods of many rows at once |
//! | [`differences`] | [`Differences`]: derivatives of such a model by finite differences |
//! | [`structure`] | [`Structured`]: parameters in named blocks with constraints |
//! | [`derivatives`] | [`Derivatives`]: those of such a model; [`RowCurvature`]: rows that can be differentiated one by one |

pub mod closures;
pub mod derivatives;
pub mod differences;
pub mod from_batches;
pub mod structure;

pub use closures::{WithCurvature, WithGradient, with_curvature, with_gradient};
pub use derivatives::{Derivatives, RowCurvature};
pub use differences::Differences;
pub use from_batches::{FromBatches, Likelihoods, from_batches};
pub use structure::{Block, Kind, Structured};
