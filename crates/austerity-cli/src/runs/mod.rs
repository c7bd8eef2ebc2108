//! Runs on disk: their folder, what can be said of them, and the commands that read them.
//!
//! | file | what it holds |
//! |---|---|
//! | `folder` | the files of a run, and `run.toml` |
//! | `fresh` | the folder of a new run, gone again unless the run begins |
//! | `scales` | coefficients of standardised columns |
//! | `overview` | all that can be said of a run: summaries, costs, verdict, sentences |
//! | `summary`, `page`, `export`, `predict`, `merge` | the commands |

pub(crate) mod export;
mod folder;
mod fresh;
pub(crate) mod merge;
mod overview;
pub(crate) mod page;
pub(crate) mod predict;
mod scales;
pub(crate) mod summary;

pub(crate) use folder::{DataRecord, DecisionRecord, Folder, ModelRecord, PriorRecord, RunFile, Saved};
pub(crate) use fresh::Fresh;
pub(crate) use overview::{Overview, large};
