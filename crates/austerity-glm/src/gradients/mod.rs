//! Gradients of batches of rows: what Langevin proposals follow.
//!
//! | file | what it holds |
//! |---|---|
//! | [`batch_gradient`] | [`BatchGradient`]: the gradient of the log posterior density from a batch of rows |
//! | [`mini_batch`] | [`MiniBatch`]: some blocks for a gradient, independent of any decision |

pub mod batch_gradient;
pub mod mini_batch;

pub use batch_gradient::{At, BatchGradient, check_request};
pub use mini_batch::MiniBatch;
