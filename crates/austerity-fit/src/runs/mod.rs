//! Runs on disk: their folder, and the commands that read them. What can be said of one is in `verdict`.
//!
//! | file | what it holds |
//! |---|---|
//! | `folder` | the files of a run, and `run.toml` |
//! | `fresh` | the folder of a new run, gone again unless the run begins; its name without `--out` |
//! | `about` | model, success class, reference levels and priors in words |
//! | `scales` | coefficients of standardised columns |
//! | `summaries` | one summary per parameter, in bounded memory |
//! | `picture` | intervals below each other, curves with bands |
//! | `after` | answers that the report shows |
//! | `law`, `rows` | the law of a response; the rows of a run once more |
//! | `summary`, `page`, `predict`, `merge`, `verify`, `loo`, `effects`, `appraisal`, `sensitivity`, `hypothesis` | the commands |

pub(crate) mod about;
pub(crate) mod after;
pub mod appraisal;
pub mod effects;
mod folder;
mod fresh;
pub mod hypothesis;
mod law;
pub mod loo;
pub mod merge;
pub mod page;
mod picture;
pub mod predict;
pub mod rows;
pub(crate) mod scales;
pub mod sensitivity;
pub(crate) mod summaries;
pub mod summary;
pub mod verify;

pub use crate::verdict::Overview;
pub(crate) use folder::{FORMAT, Folder, RunFile, Saved, Standing};
pub(crate) use fresh::{Fresh, create_named, missing_name};

/// The terms of the model of the run at `run`, with the names of their coefficients.
pub fn terms(run: &std::path::Path) -> Result<Vec<austerity_io::coding::TermNames>, crate::output::Failure> {
    Ok(Folder::new(run).read_run()?.plan.recipe.term_names()?)
}

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
    let plan = Folder::new(run).read_run()?.plan;
    let recipe = plan.recipe;
    if let Some(formula) = &recipe.formula {
        let mut features = recipe.inputs()?;
        let groups = plan.groups.iter().flat_map(crate::fit::groups::GroupsRecord::columns);
        groups.for_each(|name| {
            if !features.iter().any(|known| known == name) {
                features.push(name.to_owned());
            }
        });
        return Ok(NewColumns { features, offset: None, trials: formula.trials_column() });
    }
    let features = recipe.terms.iter().map(|term| term.column().to_owned()).collect();
    Ok(NewColumns { features, offset: recipe.offset, trials: recipe.trials })
}

/// The columns of a table that the run at `run` was fitted to, and whether they are those of a file that is still there.
pub fn fitted(run: &std::path::Path) -> Result<(Vec<String>, bool), crate::output::Failure> {
    let plan = Folder::new(run).read_run()?.plan;
    let recipe = &plan.recipe;
    let there = plan.data.file.exists();
    if let Some(formula) = &recipe.formula {
        return Ok((formula.columns_fitted()?, there));
    }
    let beside = [Some(&recipe.response), recipe.weights.as_ref(), recipe.trials.as_ref()];
    let mut names = recipe.feature_columns();
    names.extend(beside.into_iter().flatten().cloned());
    Ok((names, there))
}
