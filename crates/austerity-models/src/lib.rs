//! The special posteriors of Korattikara, Chen & Welling (2014), for anyone's problem, with the proposals and kernels they need.
//!
//! | file | what it holds |
//! |---|---|
//! | [`ica`] | [`Ica`]: independent components, an orthonormal unmixing matrix of whitened samples |
//! | [`stiefel`] | [`Stiefel`]: symmetric walk on orthonormal frames |
//! | [`selection`] | [`VariableSelection`]: logistic regression on an unknown part of the features |
//! | [`jump`] | [`Jump`]: update, birth and death, between models of different size |
//! | [`field`] | [`Field`]: discrete Markov random fields as factor graphs |
//! | [`gibbs`] | [`Gibbs`]: one variable of a discrete field from its conditional, by any rule |
//! | [`lasso`] | [`Lasso`]: the paper's toy with one coefficient, its posterior in closed form |
//! | [`pseudo_marginal`] | [`PseudoMarginal`]: decisions on unbiased estimates of the likelihood, by the Poisson and the Kennedy–Bhanot estimator |

pub mod field;
pub mod gibbs;
pub mod ica;
pub mod jump;
pub mod lasso;
pub mod pseudo_marginal;
pub mod selection;
pub mod stiefel;

pub use field::{Field, FieldBuilder};
pub use gibbs::{Gibbs, GibbsSettings, Scan};
pub use ica::Ica;
pub use jump::{IndexChoice, Jump, JumpMove, JumpTally};
pub use lasso::Lasso;
pub use pseudo_marginal::PseudoMarginal;
pub use selection::{Selection, SelectionPrior, VariableSelection};
pub use stiefel::Stiefel;
