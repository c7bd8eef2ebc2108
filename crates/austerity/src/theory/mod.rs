//! How wrong: temp
pub mod acceptance;
pub mod bias;
pub(crate) mod exponential;
pub mod legendre;
pub(crate) mod merge;
pub mod plan;
pub(crate) mod sweep;
pub mod table;
pub mod walk;
pub use table::ErrorTable;
pub use walk::{Accuracy, RandomWalk};
