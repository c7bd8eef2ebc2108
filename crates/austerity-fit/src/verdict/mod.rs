//! What may be said of a run: whether to trust its draws, why not, what it cost, what was checked, and what to do next.
//!
//! | file | what it holds |
//! |---|---|
//! | `overview` | [`Overview`]: summaries, costs, counts and the verdict on them, as values |
//! | `checks` | what was looked at, with its figure, limit and outcome |
//! | `crossing` | the shares of several modes, and whether chains crossed often enough |
//! | `inclusion`, `models` | what a verdict on a selection or a factor graph rests on; the models of a selection |
//! | `tails` | whether the draws reached the tails of priors, and which moments do not exist |
//! | `sentences` | cost, decisions, audits and advice in words; those of reasons are in `austerity`, `run/reason/words.rs` |
//!
//! Terminal, JSON, the page and Python render these values.

pub(crate) mod checks;
mod crossing;
mod inclusion;
mod models;
mod overview;
mod sentences;
mod tails;

pub use overview::Overview;
pub(crate) use sentences::large;
