//! Posteriors of the user's own: the same rules, proposals, folder and verdict as a regression's.
//!
//! | what the model knows | what runs |
//! |---|---|
//! | log-likelihoods of rows ([`run_own`]) | decisions about the rows themselves; the mode by differences (`numeric`) |
//! | also gradients and Hessians of rows ([`run_expandable`]) | a surrogate by [`RowExpansion`](austerity_glm::RowExpansion), where the rule and the proposal leave it open |
//!
//! The folder holds no function: the program can show, report and export such a run, but neither go on with it nor predict.

use std::time::Instant;

use austerity::model::{Access, Mode, Model as _};
use austerity::population::Population as _;
use austerity::run::Control;
use austerity_glm::own::{Derivatives, FromBatches};

use super::begin::{Finish, Planner, check, numbers};
use super::choose::Chosen;
use super::crossing::{self, CrossingRecord};
use super::decide::Wanted;
use super::engine::{Engine as _, OnResiduals, OnRows};
use super::healing::History;
use super::modes::{Modes, exchanged};
use super::numeric::{self, Search};
use super::options::settings;
use super::plan::{DataRecord, ModelRecord, Plan, Remark, no_recipe};
use super::start::Start;
use super::storage::Closing;
use super::surrogate::{self, Prepared};
use super::{Asked, Done, Goal, Host, in_folder, resume};
use crate::model::{Family, Sampled};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Keyword, Request, SurrogateChoice};
use crate::runs::{Fresh, Overview};

/// What a run of one's own model is about, beside the model.
#[derive(Clone, Copy, Debug)]
pub struct Own<'a> {
    /// A state that is possible, the nearer to the mode the better.
    pub start: &'a [f64],
    /// Rough posterior standard deviations, where the user knows them: no mode is then looked for.
    pub scale: Option<&'a [f64]>,
}

/// Samples `model`; what the options say about data is only what they are called.
pub fn run_own<M: Sampled>(
    model: &M,
    own: Own<'_>,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    in_folder(request, |folder| {
        if request.resume {
            let asked = Asked::new(request);
            return OnRows(model).give(resume::own(&asked, folder, model.len(), host)?);
        }
        sensible(model, own, request)?;
        let goal = Goal::Run { folder, fresh: Fresh::create(folder)? };
        on_rows(planner(model, own, request, (goal, host))?, model)?.ran()
    })
}

/// Plans a run of `model`: no folder is made, nothing is drawn.
pub fn plan_own<M: Sampled>(
    model: &M,
    own: Own<'_>,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Plan, Failure> {
    sensible(model, own, request)?;
    on_rows(planner(model, own, request, (Goal::Plan, host))?, model)?.planned()
}

/// Samples `model` by way of a surrogate, where the options leave that open.
pub fn run_expandable<L: Derivatives>(
    model: &FromBatches<L>,
    own: Own<'_>,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    in_folder(request, |folder| {
        if request.resume {
            let asked = Asked::new(request);
            let resumed = resume::own(&asked, folder, model.len(), host)?;
            if let Some(record) = resumed.run.plan.crossing.clone().filter(CrossingRecord::is_expanded) {
                return crossing::restored(model, &record, false, 1)?.give(resumed);
            }
            return match resumed.run.plan.surrogate.clone() {
                Some(record) => OnResiduals(surrogate::restored(model, &record, false, 1)?).give(resumed),
                None => OnRows(model).give(resumed),
            };
        }
        sensible(model, own, request)?;
        let goal = Goal::Run { folder, fresh: Fresh::create(folder)? };
        expanded(planner(model, own, request, (goal, host))?, model)?.ran()
    })
}

/// Plans a run of `model` by way of a surrogate, where the options leave that open.
pub fn plan_expandable<L: Derivatives>(
    model: &FromBatches<L>,
    own: Own<'_>,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Plan, Failure> {
    sensible(model, own, request)?;
    expanded(planner(model, own, request, (Goal::Plan, host))?, model)?.planned()
}

/// Refuses what makes no sense before a folder is made.
fn sensible<M: Sampled>(model: &M, own: Own<'_>, request: &Request) -> Result<(), Failure> {
    check(request)?;
    let shape = &request.shape;
    if shape.prior.is_some() || shape.prior_intercept.is_some() || !shape.priors.is_empty() {
        return Err(Refusal::OwnPrior.into());
    }
    model.check_state(&own.start.to_vec())?;
    Wanted::read(shape)?.check(model.len())?;
    numbers(request, &model.names())?;
    Ok(())
}

/// Decisions about the rows themselves.
fn on_rows<M: Sampled>(mut planner: Planner<'_>, model: &M) -> Result<Done, Failure> {
    let option = match planner.request.shape.surrogate {
        Some(SurrogateChoice::Order(_)) => Some(Keyword::Surrogate),
        _ => planner.proposal().needs_surrogate().then_some(Keyword::Proposal),
    };
    if let Some(keyword) = option {
        return Err(Refusal::OwnDerivatives { keyword }.into());
    }
    let chosen = planner.on_rows(model)?;
    OnRows(model).give(Finish { planner, chosen })
}

/// With a surrogate where that is open and serves.
pub(super) fn expanded<L: Derivatives>(
    mut planner: Planner<'_>,
    model: &FromBatches<L>,
) -> Result<Done, Failure> {
    if planner.wanted.certified() {
        if let Some(SurrogateChoice::Order(_)) = planner.request.shape.surrogate {
            return Err(Refusal::OwnCertified.into());
        }
    } else {
        if let Some((chosen, engine)) = planner.modes(model)? {
            return engine.give(Finish { planner, chosen });
        }
        match planner.surrogate(model)? {
            Ok(prepared) => {
                let Prepared { model, candidates, decided, record } = *prepared;
                let settings = settings(planner.request)?;
                let chosen = Chosen { surrogate: Some(record), ..Chosen::of(candidates, decided, settings) };
                return OnResiduals(model).give(Finish { planner, chosen });
            }
            Err(why) => planner.without = Some(why),
        }
    }
    let chosen = planner.on_rows(model)?;
    OnRows(model).give(Finish { planner, chosen })
}

/// All that comes before the choice of a rule.
fn planner<'a, M: Sampled>(
    model: &M,
    own: Own<'_>,
    request: &'a Request,
    (goal, host): (Goal<'a>, &'a mut dyn Host),
) -> Result<Planner<'a>, Failure> {
    let begun = Instant::now();
    let closing = Closing::of(&request.length, numbers(request, &model.names())?);
    host.note("looking at the start");
    possible(model, own.start)?;
    host.note("finding the mode");
    let start = start(model, own, &host.control())?;
    let recipe = no_recipe();
    let data = DataRecord {
        parts: None,
        file: request.data.file.clone(),
        rows: model.len(),
        fingerprint: String::new(),
        checksum: String::new(),
        bytes: model.data_bytes(),
        mapped: false,
        remarks: start.remarks.clone(),
        successes: None,
        sds: Vec::new(),
    };
    // Without derivatives of rows in blocks a pass has no known price: a budget only ends the run.
    Ok(Planner {
        starts: None,
        state: None,
        request,
        goal,
        host,
        wanted: Wanted::read(&request.shape)?,
        data,
        model: ModelRecord::of(Family::Own, Vec::new(), &recipe, &start),
        recipe,
        start,
        without: None,
        unbridged: false,
        budget: None,
        groups: None,
        closing,
        history: History::default(),
        begun,
    })
}

/// The mode, by differences, and whether it is the only one.
fn start<M: Sampled>(model: &M, own: Own<'_>, control: &Control) -> Result<Start, Failure> {
    let mut remarks = Vec::new();
    let (mode, hazard) = match own.scale {
        Some(scale) => (around(own.start, scale)?, numeric::untouched(model, (own.start, scale), control)?),
        None => match numeric::mode(model, own.start, control)? {
            Search { mode: Some(mode), hazard } => (mode, hazard),
            Search { mode: None, hazard } => {
                if hazard.is_none() {
                    remarks.push(Remark::NoMode);
                }
                let width = 0.1 / (model.len() as f64).sqrt();
                let scale: Vec<f64> = own.start.iter().map(|x| width * x.abs().max(1.0)).collect();
                (around(own.start, &scale)?, hazard)
            }
        },
    };
    // A width that the user gives is no mode: the start is taken at its word.
    let modes = match own.scale {
        None if hazard.is_none() && mode.iterations > 0 => Modes::of_own(model, &mode, own.start, control)?,
        _ => None,
    };
    let mut at = Start { remarks, hazards: hazard.into_iter().collect(), ..Start::at(mode) };
    if let Some(modes) = modes {
        let shown = |state: &[f64]| {
            let mut values = state.to_vec();
            model.write(&state.to_vec(), &mut values);
            values
        };
        let names = model.names();
        at.hazards.extend(modes.hazard(&names, shown));
        at.remarks.extend(exchanged(modes.that_matter()).map(|(i, j)| {
            let [first, second] = [&names[i], &names[j]].map(Clone::clone);
            Remark::LabelsSwitch { first, second }
        }));
        at.mode = modes.weighed[0].mode.clone();
        at.modes = modes.that_matter().to_vec();
        at.searched = Some(modes.record);
    }
    Ok(at)
}

/// Refuses a start of no probability, naming the row.
fn possible<M: Sampled>(model: &M, start: &[f64]) -> Result<(), Failure> {
    let start = start.to_vec();
    let prior = model.log_prior(&start);
    if prior.is_nan() {
        return Err(model.prior_error().into());
    }
    if prior == f64::NEG_INFINITY {
        return Err(Failure::Usage(
            "the log prior is -infinity at the start: choose a start inside the support of the prior".into(),
        ));
    }
    model.compare(&start, &start, &mut model.scratch(Access::Blocks)).total()?;
    Ok(())
}

/// A mode that the user knows.
fn around(start: &[f64], scale: &[f64]) -> Result<Mode, Failure> {
    let d = start.len();
    if scale.len() != d || scale.iter().any(|s| !(*s > 0.0 && s.is_finite())) {
        return Err(Failure::Usage(format!(
            "scale: {d} positive finite numbers are needed, one per parameter"
        )));
    }
    let mut covariance = vec![0.0; d * d];
    scale.iter().enumerate().for_each(|(i, s)| covariance[i * d + i] = s * s);
    Ok(Mode { state: start.to_vec(), log_density: 0.0, covariance, iterations: 0 })
}
