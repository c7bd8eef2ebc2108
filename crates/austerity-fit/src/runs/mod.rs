//! Runs on disk: their folder, what can be said of them, and the commands that read them.
//!
//! | file | what it holds |
//! |---|---|
//! | `folder` | the files of a run, and `run.toml` |
//! | `fresh` | the folder of a new run, gone again unless the run begins |
//! | `scales` | coefficients of standardised columns |
//! | `overview` | all that can be said of a run: summaries, costs, verdict, sentences |
//! | `summary`, `page`, `export`, `predict`, `merge` | the commands |

pub mod export;
mod folder;
mod fresh;
pub mod merge;
mod overview;
pub mod page;
pub mod predict;
mod scales;
pub mod summary;

pub(crate) use folder::{DataRecord, DecisionRecord, Folder, ModelRecord, PriorRecord, RunFile, Saved};
pub(crate) use fresh::Fresh;
pub use overview::Overview;

/// The columns that new rows must have: the features, then the offset and the trials where the run has them.
pub fn columns(run: &std::path::Path) -> Result<(Vec<String>, Option<String>, Option<String>), crate::output::Failure> {
    let recipe = Folder::new(run).read_run()?.recipe;
    let features = recipe.terms.iter().map(|term| term.column().to_owned()).collect();
    Ok((features, recipe.offset, recipe.trials))
}
