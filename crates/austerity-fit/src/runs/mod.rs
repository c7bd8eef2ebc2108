//! Runs on disk: their folder, what can be said of them, and the commands that read them.
//!
//! | file | what it holds |
//! |---|---|
//! | `folder` | the files of a run, and `run.toml` |
//! | `fresh` | the folder of a new run, gone again unless the run begins |
//! | `named` | the folder of a run without `--out` |
//! | `about` | model, success class, reference levels and priors in words |
//! | `crossing` | the shares of several modes, and whether chains crossed often enough |
//! | `scales` | coefficients of standardised columns |
//! | `summaries` | one summary per parameter, in bounded memory |
//! | `overview` | all that can be said of a run: summaries, costs, verdict |
//! | `sentences` | the same for people |
//! | `summary`, `page`, `predict`, `merge`, `verify` | the commands |

pub(crate) mod about;
pub(crate) mod checks;
mod crossing;
mod folder;
mod fresh;
pub mod merge;
pub(crate) mod named;
mod overview;
pub mod page;
pub mod predict;
mod scales;
mod sentences;
mod summaries;
pub mod summary;
mod tails;
pub mod verify;

pub(crate) use folder::{FORMAT, Folder, RunFile, Saved, Standing};
pub(crate) use fresh::Fresh;
pub use overview::Overview;
pub(crate) use sentences::large;

/// The columns that new rows must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewColumns {
    /// The features.
    pub features: Vec<String>,
    /// The offset, where the run has one.
    pub offset: Option<String>,
    /// The trials, where the run has them.
    pub trials: Option<String>,
}

/// The columns that new rows must have to be predicted by the run at `run`.
pub fn columns(run: &std::path::Path) -> Result<NewColumns, crate::output::Failure> {
    let recipe = Folder::new(run).read_run()?.plan.recipe;
    if let Some(formula) = &recipe.formula {
        return Ok(NewColumns { features: recipe.inputs()?, offset: None, trials: formula.trials_column() });
    }
    let features = recipe.terms.iter().map(|term| term.column().to_owned()).collect();
    Ok(NewColumns { features, offset: recipe.offset, trials: recipe.trials })
}
