//! Posteriors of the user's own: the same rules, proposals, folder and verdict as a regression's.
//!
//! | what the model knows | what runs |
//! |---|---|
//! | log-likelihoods of rows ([`run_own`]) | decisions about the rows themselves; the mode by differences (`numeric`) |
//! | also gradients and Hessians of rows ([`run_expandable`]) | a surrogate by [`RowExpansion`], where the rule and the proposal leave it open |
//!
//! The folder holds no function: the program can show, report and export such a run, but neither go on with it nor predict.

use std::time::Instant;

use austerity::model::{Access, Mode, Model as _, find_mode};
use austerity::population::Population as _;
use austerity_glm::check::SurrogateSettings;
use austerity_glm::glm::expansion::ExpansionReport;
use austerity_glm::own::{Derivatives, FromBatches};
use austerity_glm::proposal::{StoredProposal, Transition};
use austerity_glm::row_expansion::RowExpansionSettings;
use austerity_glm::{RowExpansion, Surrogate};
use austerity_io::design::{Recipe, ResponseCoding};

use super::begin::{Begin, Details};
use super::choose::Chosen;
use super::decide::Wanted;
use super::healing::{Care, History};
use super::modes::Modes;
use super::numeric::Search;
use super::proposal::Candidates;
use super::start::Start;
use super::storage::Closing;
use super::surrogate::{FEWEST_ROWS, SurrogateRecord, Without, is_open};
use super::{Asked, AskedPriors, Host, Parts, in_folder, kept, numeric, resume, settings};
use crate::model::{Family, Sampled};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Keyword, Request, SurrogateChoice};
use crate::runs::{Folder, Fresh, Overview};

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
    let asked = Asked { request, table: None };
    in_folder(request, |folder| {
        if request.resume {
            return resume::own(&asked, folder, model.len(), host)?.go(model, StoredProposal::plain);
        }
        begin(model, own, &asked, folder, host, plain)
    })
}

/// Samples `model` by way of a surrogate, where the options leave that open.
pub fn run_expandable<L: Derivatives>(
    model: &FromBatches<L>,
    own: Own<'_>,
    request: &Request,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    let asked = Asked { request, table: None };
    in_folder(request, |folder| {
        if request.resume {
            let resumed = resume::own(&asked, folder, model.len(), host)?;
            let Some(record) = resumed.run.surrogate.clone() else {
                return resumed.go(model, StoredProposal::plain);
            };
            let how = RowExpansionSettings { order: record.report.order, fixed: true, ..Default::default() };
            model.likelihoods().prepare(&record.start)?;
            let surrogate = Surrogate::new(RowExpansion::new(model, &record.start, &how)?);
            return resumed.go(&surrogate, |stored| Transition::restored(&surrogate, stored));
        }
        begin(model, own, &asked, folder, host, expanded)
    })
}

/// Decisions about the rows themselves.
fn plain<M: Sampled>(begin: Begin<'_, '_>, model: &M) -> Result<Overview, Failure> {
    let option = match begin.surrogate {
        SurrogateChoice::Order(_) => Some(Keyword::Surrogate),
        _ => begin.proposal.needs_surrogate().then_some(Keyword::Proposal),
    };
    if let Some(keyword) = option {
        return Err(Refusal::OwnDerivatives { keyword }.into());
    }
    begin.plainly(model)
}

/// All that comes before the choice of a rule.
fn begin<M: Sampled>(
    model: &M,
    own: Own<'_>,
    asked: &Asked<'_>,
    folder: &Folder,
    host: &mut dyn Host,
    go: impl FnOnce(Begin<'_, '_>, &M) -> Result<Overview, Failure>,
) -> Result<Overview, Failure> {
    let begun = Instant::now();
    let shape = &asked.request.shape;
    let wanted = Wanted::read(shape)?;
    shape.check()?;
    let proposal = shape.proposal.unwrap_or_default();
    let surrogate = shape.surrogate.unwrap_or_default();
    settings(asked.request)?;
    if shape.prior.is_some() || shape.prior_intercept.is_some() || !shape.priors.is_empty() {
        return Err(Refusal::OwnPrior.into());
    }
    model.check_state(&own.start.to_vec())?;
    wanted.check(model.len())?;
    let names = model.names();
    let numbers = kept(shape, &names)?.map_or(names.len(), |kept| kept.len());
    let chains = shape.chains.unwrap_or(4) as usize;
    let closing = Closing::of(&asked.request.length, numbers * chains);
    let mut fresh = Fresh::create(folder)?;
    host.note("looking at the start");
    possible(model, own.start)?;
    host.note("finding the mode");
    let mut remarks = Vec::new();
    let (mode, hazard) = match own.scale {
        Some(scale) => {
            let mode = around(own.start, scale)?;
            (mode, numeric::untouched(model, (own.start, scale), &host.control())?)
        }
        None => match numeric::mode(model, own.start, &host.control())? {
            Search { mode: Some(mode), hazard } => (mode, hazard),
            Search { mode: None, hazard } => {
                if hazard.is_none() {
                    remarks.push(
                        "no mode was found from the start: chains begin there and learn their steps in warm-up; a better start, or the \
                         rough width of the posterior as `scale`, saves time"
                            .into(),
                    );
                }
                let width = 0.1 / (model.len() as f64).sqrt();
                let scale: Vec<f64> = own.start.iter().map(|x| width * x.abs().max(1.0)).collect();
                (around(own.start, &scale)?, hazard)
            }
        },
    };
    // A width that the user gives is no mode: the start is taken at its word.
    let modes = match own.scale {
        None if hazard.is_none() && mode.iterations > 0 => {
            Modes::of_own(model, &mode, own.start, &host.control())?
        }
        _ => None,
    };
    let mut at = Start { hazards: hazard.into_iter().collect(), ..Start::at(mode) };
    if let Some(modes) = modes {
        let shown = |state: &[f64]| {
            let mut values = state.to_vec();
            model.write(&state.to_vec(), &mut values);
            values
        };
        at.hazards.extend(modes.hazard(&names, shown));
        at.mode = modes.weighed[0].mode.clone();
        at.modes = modes.that_matter().to_vec();
        at.searched = Some(modes.record);
    }
    let recipe = Recipe {
        response: String::new(),
        coding: ResponseCoding::AsGiven,
        terms: Vec::new(),
        weights: None,
        trials: None,
        offset: None,
        intercept: false,
    };
    let parts = Parts {
        rows: model.len(),
        bytes: model.data_bytes(),
        mapped: false,
        recipe: &recipe,
        successes: None,
        sds: Vec::new(),
        family: Family::Own,
        priors: &AskedPriors { priors: Vec::new().into(), default: Vec::new() },
        begun,
    };
    // Without derivatives of rows in blocks a pass has no known price: a budget only ends the run.
    let begin = Begin {
        asked,
        folder,
        wanted,
        proposal,
        parts,
        start: at,
        remarks,
        without: None,
        host,
        fresh: &mut fresh,
        checksum: String::new(),
        surrogate,
        budget: None,
        closing,
        tails: Vec::new(),
        history: History::default(),
    };
    go(begin, model)
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

/// With a surrogate where that is open and serves.
fn expanded<L: Derivatives>(mut begin: Begin<'_, '_>, model: &FromBatches<L>) -> Result<Overview, Failure> {
    let order = match begin.surrogate {
        SurrogateChoice::None => return begin.plainly(model),
        SurrogateChoice::Order(order) => order,
        SurrogateChoice::Auto => {
            if !is_open(&begin.wanted, begin.proposal)
                || begin.wanted.certified()
                || model.len() < FEWEST_ROWS
            {
                return begin.plainly(model);
            }
            2
        }
    };
    if begin.wanted.certified() {
        return Err(Refusal::OwnCertified.into());
    }
    let asked_for = begin.surrogate != SurrogateChoice::Auto;
    begin.host.note("expanding the likelihood at the mode");
    let made = find_mode(model, &begin.start.mode.state).and_then(|mode| {
        let how = RowExpansionSettings { order, fixed: true, ..Default::default() };
        model.likelihoods().prepare(&mode.state)?;
        Ok((RowExpansion::new(model, &mode.state, &how)?, mode))
    });
    let (expansion, mode) = match made {
        Ok(made) => made,
        Err(error) if asked_for => return Err(error.into()),
        Err(error) => return without(begin, error.to_string(), model),
    };
    let found = expansion.report().clone();
    if found.doubt().is_some() && !asked_for {
        return without(begin, found.sentence(), model);
    }
    let report = report(&found);
    begin.start.mode = mode;
    let mode = &begin.start.mode;
    let seed = begin.asked.request.seed_or_default();
    let surrogate = Surrogate::new(expansion);
    let at = (&mode.state[..], surrogate.expansion().covariance());
    let candidates = match Candidates::find(begin.proposal, &surrogate, at, mode, seed, None) {
        Ok(candidates) => candidates,
        Err(error) if asked_for => return Err(error),
        Err(error) => return without(begin, error.to_string(), model),
    };
    let Candidates { stored, words, worth } = candidates;
    let decided = begin.wanted.residuals(&report)?;
    let record = SurrogateRecord { start: mode.state.clone(), walk: None, care: Care::Planned, report };
    let proposal = Transition::restored(&surrogate, stored.clone())?;
    let chosen = Chosen { proposal: stored, proposal_words: words, decided, pairs: None, worth };
    let settings = settings(begin.asked.request)?;
    begin.go(&surrogate, &proposal, Details { surrogate: Some(record), ..Details::of(chosen, settings) })
}

/// Without a surrogate, for this reason.
fn without<M: Sampled>(mut begin: Begin<'_, '_>, why: String, model: &M) -> Result<Overview, Failure> {
    let why = Without::Because(why);
    begin.remarks.extend(why.remark());
    begin.without = Some(why);
    begin.plainly(model)
}

/// What the folder keeps of an expansion, in the terms of a regression's.
fn report(found: &austerity_glm::row_expansion::RowExpansionReport) -> ExpansionReport {
    let blind = found.predicted.map(|stratum| stratum.blindness);
    ExpansionReport {
        rows: found.rows,
        order: found.order,
        limit: None,
        stratum: found.stratum,
        replicated: 0,
        extra_rows: 0,
        sampled_columns: 0,
        first_look: SurrogateSettings::default().first,
        standard_error: found.predicted.map_or(f64::NAN, |stratum| stratum.standard_error),
        rows_to_tolerance: found.predicted.map_or(found.rows as f64, |stratum| stratum.rows_to_tolerance),
        // Rows that nobody scored: whether they can be missed is not known.
        missed: blind.map_or(f64::INFINITY, |blind| blind.missed),
        believed: blind.map_or(0.0, |blind| blind.believed),
        without_stratum: (f64::NAN, f64::NAN),
        passes: 0,
        seconds: 0.0,
    }
}
