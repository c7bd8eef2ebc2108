//! From a table to draws on disk: what `austerity fit` does.
//!
//! | file | what it decides or does |
//! |---|---|
//! | `begin`, `resume` | a new run, or going on with one |
//! | `part` | posteriors of `select`, `ica` and `gibbs` |
//! | `plan` | what will be done and why, as a value; the plan in words |
//! | `choose` | engine, proposal and rule of a new run |
//! | `engine` | what chains run on: rows, residuals of a surrogate, paths; how they go on from a checkpoint |
//! | `execute` | chains of a plan: draws, audits, verdict |
//! | `options` | what options mean |
//! | `prior_table` | the priors before a fit, and draws from them |
//! | `budget` | how a budget is spent: the rule with the least risk at its end |
//! | `decide` | who decides: the rule, by a pilot and the design module |
//! | `proposal` | where candidates come from, with a surrogate and without |
//! | `surrogate` | whether there is a surrogate, and what it makes of proposal and rule |
//! | `wide` | whether there are too many coefficients for a surrogate: Hamiltonian paths on all rows |
//! | `modes` | is the mode the only one that matters |
//! | `crossing` | how chains cross between several modes, and whether they can |
//! | `reach` | whether a surrogate holds where the posterior is |
//! | `start` | the mode, whether the data are separable, where chains start |
//! | `tails` | on which sides the posterior has the tail of its prior |
//! | `spikes` | which coefficients have a prior so narrow that local steps do not reach what lies beyond |
//! | `groups` | multilevel fits: groups as rows, the effects of every group |
//! | `own`, `numeric` | posteriors of the user's own, and their modes without derivatives |
//! | `gradients` | steps up the gradient of mini-batches, with and without a test |
//! | `sampled` | candidates from a weighted sample of the rows, where no expansion describes the posterior |
//! | `pace` | how long chains will take |
//! | `healing` | what to do when audits contradict the test: begin again with the next safer setting |
//! | `save_draws` | draws and checkpoints to the folder while chains run |
//! | `storage` | how many draws are stored: below a size, and no more than the budget leaves time to summarise |
//! | `host` | who asked: is told, watches, may end it |
//! | `progress` | what people watch |

mod begin;
pub(crate) mod budget;
mod choose;
pub(crate) mod crossing;
pub(crate) mod decide;
mod engine;
mod execute;
pub(crate) mod gradients;
pub(crate) mod groups;
pub(crate) mod healing;
mod host;
pub(crate) mod modes;
mod numeric;
mod options;
mod own;
mod pace;
pub(crate) mod part;
pub(crate) mod plan;
pub mod prior_table;
pub(crate) mod progress;
mod proposal;
mod reach;
mod resume;
pub(crate) mod sampled;
mod save_draws;
mod spikes;
mod start;
pub(crate) mod storage;
pub(crate) mod surrogate;
mod tails;
pub(crate) mod wide;

use std::time::Instant;

use austerity_io::table::Source;

use crate::output::Failure;
use crate::parts::{self, Engine, Prepared, STATE};
use crate::request::Request;
use crate::runs::{Folder, Fresh, Overview, create_named, missing_name};
use healing::History;

pub(crate) use begin::mode_of;
pub use host::{Host, Unattended};
pub(crate) use options::{AskedPriors, priors as priors_of};
pub use own::{Own, plan_expandable, plan_own, run_expandable, run_own};
pub use plan::Plan;
pub use progress::Display;

/// Fits the table that the request names.
pub fn run(request: &Request, host: &mut dyn Host) -> Result<Overview, Failure> {
    fit(&Asked::new(request), host)
}

/// Fits a table in memory; the file that the request names is only what it is called.
pub fn run_on(table: &Source, request: &Request, host: &mut dyn Host) -> Result<Overview, Failure> {
    fit(&Asked { table: Some(table), ..Asked::new(request) }, host)
}

/// Fits the table that the request names, or one that was opened, with an engine for its passes: see [`crate::parts`].
pub fn run_by(
    engine: &dyn Engine,
    table: Option<&Source>,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    fit(&Asked { table, engine: Some(engine), ..Asked::new(request) }, host)
}

/// Fits what passes made ready.
pub(crate) fn run_prepared(
    prepared: &Prepared,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    fit(&Asked { prepared: Some(prepared), ..Asked::new(request) }, host)
}

/// Plans the fit of the table that the request names: no folder is made, nothing is drawn.
pub fn plan(request: &Request, host: &mut dyn Host) -> Result<Plan, Failure> {
    planned(&Asked::new(request), host)
}

/// Plans the fit of a table in memory.
pub fn plan_on(table: &Source, request: &Request, host: &mut dyn Host) -> Result<Plan, Failure> {
    planned(&Asked { table: Some(table), ..Asked::new(request) }, host)
}

fn planned(asked: &Asked<'_>, host: &mut dyn Host) -> Result<Plan, Failure> {
    if let Some(part) = &asked.request.part {
        return part::plan(asked, part, host);
    }
    begin::check(asked.request)?;
    let made = parts::prepare(asked.request, (asked.table, asked.engine), host)?;
    let asked = &Asked { prepared: made.as_ref(), ..*asked };
    begin::run(asked, Goal::Plan, History::default(), host)?.planned()
}

fn fit(asked: &Asked<'_>, host: &mut dyn Host) -> Result<Overview, Failure> {
    let request = asked.request;
    if let Some(part) = &request.part {
        return part::run(asked, part, host);
    }
    in_folder(request, |folder| {
        let begun = Instant::now();
        let pending =
            || folder.read_run().is_ok_and(|run| run.healed.last().is_some_and(|last| last.pending));
        let in_parts = request.resume && folder.read_run().is_ok_and(|run| run.plan.data.parts.is_some());
        let mut made = None;
        if in_parts {
            made = Some(parts::restored(parts::read_state(&folder.file(STATE))?)?);
        }
        let mut fresh = None;
        if !request.resume {
            begin::check(request)?;
            fresh = Some(Fresh::create(folder)?);
            if asked.prepared.is_none() {
                made = parts::prepare(request, (asked.table, asked.engine), host)?;
            }
        }
        let asked = &Asked { prepared: made.as_ref().or(asked.prepared), ..*asked };
        let mut overview = match fresh {
            None if pending() => healing::again(asked, folder, begun, host)?,
            None => resume::run(asked, folder, host)?,
            Some(fresh) => begin::run(asked, Goal::Run { folder, fresh }, History::default(), host)?.ran()?,
        };
        while let Some(healed) = overview.healed.take() {
            healing::give_up(folder, healed)?;
            overview = healing::again(asked, folder, begun, host)?;
        }
        Ok(overview)
    })
}

/// Does what is done in the folder of a run: the one that was named, or a new one named after the data.
fn in_folder(
    request: &Request,
    work: impl FnOnce(&Folder) -> Result<Overview, Failure>,
) -> Result<Overview, Failure> {
    match &request.out {
        Some(out) => work(&Folder::new(out)),
        None if request.resume => Err(missing_name(&request.data.file)),
        None => {
            let folder = create_named(&request.data.file)?;
            let outcome = work(&folder);
            if outcome.is_err() {
                // Only a folder that nothing was left in can be removed like this.
                let _ = std::fs::remove_dir(folder.path());
            }
            outcome
        }
    }
}

/// What was asked for.
#[derive(Clone, Copy)]
struct Asked<'a> {
    request: &'a Request,
    /// The table, where it is in memory.
    table: Option<&'a Source>,
    /// Who runs passes over data in parts; threads where there is nobody.
    engine: Option<&'a dyn Engine>,
    /// What passes made of data in parts.
    prepared: Option<&'a Prepared>,
}

impl<'a> Asked<'a> {
    /// A file, with nothing else.
    fn new(request: &'a Request) -> Self {
        Self { request, table: None, engine: None, prepared: None }
    }
}

/// How far to go.
enum Goal<'a> {
    /// To the plan: nothing is written.
    Plan,
    /// To draws in this folder.
    Run { folder: &'a Folder, fresh: Fresh<'a> },
}

/// How far it went.
enum Done {
    Planned(Box<Plan>),
    Ran(Box<Overview>),
}

impl Done {
    /// The run that was asked for.
    fn ran(self) -> Result<Overview, Failure> {
        match self {
            Self::Ran(overview) => Ok(*overview),
            Self::Planned(_) => Err(Failure::Interrupted),
        }
    }

    /// The plan that was asked for.
    fn planned(self) -> Result<Plan, Failure> {
        match self {
            Self::Planned(plan) => Ok(*plan),
            Self::Ran(_) => Err(Failure::Interrupted),
        }
    }
}

/// A reader of the output that went away is no reason to give up a run.
fn unless_closed(outcome: Result<(), Failure>) -> Result<(), Failure> {
    match outcome {
        Err(failure) if failure.is_closed_pipe() => Ok(()),
        other => other,
    }
}
