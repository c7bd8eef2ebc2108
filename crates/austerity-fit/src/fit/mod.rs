//! From a table to draws on disk: what `austerity fit` does.
//!
//! | file | what it decides or does |
//! |---|---|
//! | `budget` | how a budget is spent: the rule with the least risk at its end |
//! | `decide` | who decides: the rule, by a pilot and the design module |
//! | `choose` | proposal and rule of a new run, by pilots |
//! | `proposal` | where candidates come from, with a surrogate and without |
//! | `surrogate` | whether there is a surrogate, and what it makes of proposal and rule |
//! | `wide` | whether there are too many coefficients for a surrogate: Hamiltonian paths on all rows |
//! | `modes` | is the mode the only one that matters |
//! | `reach` | whether a surrogate holds where the posterior is |
//! | `start` | the mode, whether the data are separable, where chains start |
//! | `tails` | on which sides the posterior has the tail of its prior |
//! | `plan` | the plan in words |
//! | `begin`, `resume` | a new run, or going on with one |
//! | `own`, `numeric` | posteriors of the user's own, and their modes without derivatives |
//! | `sampled` | candidates from a weighted sample of the rows, where no expansion describes the posterior |
//! | `pace` | how long chains will take |
//! | `healing` | what to do when audits contradict the test: begin again with the next safer setting |
//! | `sink` | draws and checkpoints to the folder while chains run |
//! | `storage` | how many draws are stored: below a size, and no more than the budget leaves time to summarise |
//! | `host` | who asked: is told, watches, may end it |
//! | `progress` | what people watch |

mod begin;
pub(crate) mod budget;
mod choose;
pub(crate) mod decide;
pub(crate) mod healing;
mod host;
pub(crate) mod modes;
mod numeric;
mod own;
mod pace;
mod plan;
pub(crate) mod progress;
mod proposal;
mod reach;
mod resume;
pub(crate) mod sampled;
mod sink;
mod start;
pub(crate) mod storage;
pub(crate) mod surrogate;
mod tails;
pub(crate) mod wide;

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use austerity::run::{Ended, Limits, MetropolisSampler, Run, Settings, UNBOUNDED};
use austerity_glm::{DefaultPriors, Prior, Priors, Store};
use austerity_io::design::Recipe;
use austerity_io::run::{DrawsWriter, Layout, RunLock, StatisticField};
use austerity_io::store;
use austerity_io::table::{Source, nearest};

use crate::data::all_cores;
use crate::model::{Family, Sampled};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Keyword, LengthOptions, Request, ShapeOptions};
use crate::runs::{Folder, Overview, RunFile, Saved, named, page};
use budget::{Budget, Course, Keeping, spend};
use sink::Stored;

pub use host::{Host, Unattended};
pub use own::{Own, run_expandable, run_own};
pub use progress::Display;

/// More chains than any machine has use for; each holds a state and a shape of its own.
const MOST_CHAINS: u32 = 4096;
/// Share of a budget that chains have where preparation took all of it.
const LEAST_SHARE: f64 = 0.05;

/// Fits the table that the request names.
pub fn run(request: &Request, host: &mut dyn Host) -> Result<Overview, Failure> {
    fit(&Asked { request, table: None }, host)
}

/// Fits a table in memory; the file that the request names is only what it is called.
pub fn run_on(table: &Source, request: &Request, host: &mut dyn Host) -> Result<Overview, Failure> {
    fit(&Asked { request, table: Some(table) }, host)
}

fn fit(asked: &Asked<'_>, host: &mut dyn Host) -> Result<Overview, Failure> {
    let request = asked.request;
    in_folder(request, |folder| {
        let begun = Instant::now();
        let pending =
            || folder.read_run().is_ok_and(|run| run.healed.last().is_some_and(|last| last.pending));
        let mut overview = match request.resume {
            true if pending() => healing::again(asked, folder, begun, host)?,
            true => resume::run(asked, folder, host)?,
            false => begin::run(asked, folder, host)?,
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
        None if request.resume => Err(named::missing(&request.data.file)),
        None => {
            let folder = named::create(&request.data.file)?;
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
}

/// A run that is about to sample.
struct Session<'a, M: Sampled, P: Stored> {
    resumed: bool,
    folder: &'a Folder,
    run: &'a mut RunFile,
    host: &'a mut dyn Host,
    model: &'a M,
    sampler: MetropolisSampler<'a, M, P>,
    /// Settings of the sampler, where they are those of a stretch of the run.
    stretch: Settings,
    /// The budget that is planned with.
    budget: Option<Budget>,
    keeping: Keeping,
    writer: DrawsWriter,
    saved: Saved,
    begun: Instant,
}

/// Samples, stores, summarises.
fn sample<M: Sampled, P: Stored>(session: Session<'_, M, P>, _lock: &RunLock) -> Result<Overview, Failure> {
    let Session {
        resumed,
        folder,
        run,
        host,
        model,
        sampler,
        stretch,
        budget,
        keeping,
        writer,
        saved,
        begun,
    } = session;
    let recipe = run.model.standardize.then(|| run.recipe.clone());
    let coefficients = run.recipe.coefficient_names().len();
    let sampler = if run.settings.limits.target_ess.is_some() {
        as_stored(sampler, run, &saved.checkpoint.names)?
    } else {
        sampler
    };
    let mut sink = sink::FolderSink::new(folder, writer, recipe.as_ref(), coefficients, saved);
    if resumed {
        sink.save()?;
    }
    let control = host.control();
    let started = SystemTime::now();
    host.begin(&run.settings);
    let data_file = &run.data.file.clone();
    let course = Course { model, folder, run, budget, keeping };
    let Run { checkpoint, ended, seconds, .. } =
        spend(course, sampler, stretch, &mut sink, (&control, &mut *host))?;
    host.end();
    sink.finish(checkpoint.map(|proposal| Ok(proposal.stored()))?, &ended, seconds)?;
    unchanged(data_file, started)?;
    let mut overview = Overview::read(folder, host.dialect())?;
    if keeping.heals && matches!(ended, Ended::Draws | Ended::Seconds | Ended::Evaluations | Ended::TargetEss)
    {
        overview.healed = healing::diagnose(&overview.run, &overview.saved, begun);
        if overview.healed.is_some() {
            return Ok(overview);
        }
    }
    if let Ended::Unstored { error } = &ended
        && !overview.saved.failed
    {
        overview
            .verdict
            .reasons
            .insert(0, format!("The last session failed: {error}. Draws stored before are kept.").into());
    }
    let written = folder.write_summary(overview.json());
    let page = page::write(folder, &overview, &folder.file("report.html"));
    // A reader that went away, or a disk that is full already, does not change what the run is worth.
    unless_closed(host.told(&overview))?;
    if let Ended::Unstored { error } = &ended {
        return Err(Failure::Unstored(error.to_string()));
    }
    written?;
    page?;
    Ok(overview)
}

/// Refuses a store that was cut short or written to while chains read it: a map shows the new bytes, or zeros, without a word.
fn unchanged(file: &Path, started: SystemTime) -> Result<(), Failure> {
    if !store::is_store(file) {
        return Ok(());
    }
    let during = |error: austerity_io::Error| {
        Failure::Usage(format!(
            "{error}. It was sound when the fit began: draws made since may be wrong; restore the store and begin a new run in another folder"
        ))
    };
    let opened = store::open(file).map_err(during)?;
    if opened.is_newer_than(started) {
        let threads = std::thread::available_parallelism().map_or(1, Into::into);
        opened.verify(threads).map_err(during)?;
    }
    Ok(())
}

/// A reader of the output that went away is no reason to give up a run.
fn unless_closed(outcome: Result<(), Failure>) -> Result<(), Failure> {
    match outcome {
        Err(failure) if failure.is_closed_pipe() => Ok(()),
        other => other,
    }
}

/// Lets a target ESS look at the draws as they are stored, on the original scale and without parameters that are not kept: a resumed
/// run has nothing else to look back on.
fn as_stored<'m, M: Sampled, P: Stored>(
    sampler: MetropolisSampler<'m, M, P>,
    run: &RunFile,
    names: &[String],
) -> Result<MetropolisSampler<'m, M, P>, Failure> {
    let kept = layout(run, names.to_vec(), kept(&run.request.shape, names)?).kept();
    let recipe = run.model.standardize.then(|| run.recipe.clone());
    let coefficients = run.recipe.coefficient_names().len();
    let shown = kept.iter().map(|&index| names[index].clone()).collect();
    Ok(sampler.with_view(shown, move |draw, out| match &recipe {
        None => out.extend(kept.iter().map(|&index| draw[index])),
        Some(recipe) => {
            let mut draw = draw.to_vec();
            recipe.to_original(&mut draw[..coefficients]);
            out.extend(kept.iter().map(|&index| draw[index]));
        }
    }))
}

/// When chains end that only the clock ends: the budget less what the summary takes, and in any case a little later than now.
fn deadline(seconds: Option<f64>, begun: Instant, closing: Option<storage::Closing>) -> Option<Instant> {
    let all = Duration::try_from_secs_f64(seconds?).ok()?;
    let closing = Duration::from_secs_f64(closing.map_or(0.0, |closing| closing.seconds));
    let end = begun.checked_add(all.saturating_sub(closing))?;
    Some(end.max(Instant::now() + all.mul_f64(LEAST_SHARE)))
}

/// The layout of the draws of a run.
fn layout(run: &RunFile, names: Vec<String>, keep: Option<Vec<usize>>) -> Layout {
    let mut layout = Layout::new(names, run.recipe.coefficient_names().len(), &run.settings);
    layout.keep = keep;
    layout.created_at.clone_from(&run.created);
    // A plan may audit later on.
    if run.settings.audit > 0.0 || run.budget.is_some() {
        layout.statistics.extend(StatisticField::audits());
    }
    layout
}

/// Positions of the parameters to keep.
fn kept(options: &ShapeOptions, names: &[String]) -> Result<Option<Vec<usize>>, Failure> {
    let Some(keep) = &options.keep else { return Ok(None) };
    if let Some((_, twice)) = keep.iter().enumerate().find(|(at, name)| keep[..*at].contains(name)) {
        return Err(Refusal::KeepTwice { keep: keep.clone(), name: twice.clone() }.into());
    }
    let place = |name: &String| {
        names.iter().position(|known| known == name).ok_or_else(|| {
            let near = nearest(names, name).map(Into::into);
            Refusal::KeepUnknown { name: name.clone(), near, known: names.to_vec() }.into()
        })
    };
    keep.iter().map(place).collect::<Result<_, _>>().map(Some)
}

/// What ends the run.
fn limits(options: &LengthOptions) -> Result<Limits, Failure> {
    let evaluations = match options.evaluations {
        Some(x) if !(1.0..=1e18).contains(&x) => {
            return Err(Refusal::range(Keyword::Evaluations, x, "a number from 1 to 1e18").into());
        }
        x => x.map(|x| x as u64),
    };
    Ok(Limits {
        seconds: options.budget.map(|budget| budget.as_secs_f64()),
        evaluations,
        target_ess: options.target_ess,
    })
}

/// Draws per chain: as typed, without end when something else ends the run, else to be planned by a pilot.
fn draws(options: &LengthOptions) -> u64 {
    let limited = options.budget.is_some() || options.evaluations.is_some() || options.target_ess.is_some();
    match options.draws {
        Some(draws) => draws,
        None if limited => UNBOUNDED,
        None => 2000,
    }
}

/// The priors of a run.
pub(crate) struct AskedPriors {
    /// One per parameter, those of the extra parameters last.
    pub(crate) priors: Priors,
    /// Which of them are defaults.
    pub(crate) default: Vec<bool>,
}

/// The priors that were asked for, and the defaults of all others.
fn priors(options: &ShapeOptions, store: &Store, family: Family) -> Result<AskedPriors, Failure> {
    let DefaultPriors { coefficients: mut priors, sigma } = store.default_priors_with(family.tails());
    let mut names = store.coefficient_names();
    for extra in family.extra() {
        priors = priors.and(extra.prior.unwrap_or(sigma));
        names.push(extra.name.into());
    }
    let coefficients = store.coefficients();
    let mut default = vec![true; names.len()];
    let intercept = usize::from(store.description().intercept);
    if let Some(prior) = options.prior {
        refuse_positive(Keyword::Prior, None, prior)?;
        // Without an intercept the first prior is that of a column.
        (intercept..coefficients).for_each(|place| priors.set(place, prior));
        default[intercept..coefficients].fill(false);
    }
    if let Some(prior) = options.prior_intercept {
        if intercept == 0 {
            return Err(Refusal::NoIntercept.into());
        }
        refuse_positive(Keyword::PriorIntercept, None, prior)?;
        priors.set(0, prior);
        default[0] = false;
    }
    for (name, &prior) in &options.priors {
        let place = names.iter().position(|known| known == name).ok_or_else(|| {
            let near = nearest(&names, name).map(Into::into);
            Refusal::UnknownCoefficient { name: name.clone(), near, known: names.clone() }
        })?;
        let prior = if place < coefficients {
            refuse_positive(Keyword::Priors, Some(name), prior)?;
            prior
        } else {
            prior.positive().ok_or(Refusal::SigmaPrior { prior })?
        };
        priors.set(place, prior);
        default[place] = false;
    }
    Ok(AskedPriors { priors, default })
}

/// A coefficient may be negative.
fn refuse_positive(keyword: Keyword, coefficient: Option<&String>, prior: Prior) -> Result<(), Failure> {
    prior.check()?;
    if !prior.is_positive() {
        return Ok(());
    }
    Err(Refusal::PositivePrior { keyword, coefficient: coefficient.cloned(), prior }.into())
}

/// Settings that all runs share.
fn settings(request: &Request) -> Result<Settings, Failure> {
    let shape = &request.shape;
    if let Some(draws) = request.length.draws.filter(|&draws| draws >= UNBOUNDED) {
        return Err(Refusal::range(Keyword::Draws, draws, format!("below {UNBOUNDED}")).into());
    }
    let settings = Settings {
        chains: shape.chains.unwrap_or(4),
        first_chain: shape.first_chain.unwrap_or(0),
        warmup: shape.warmup.unwrap_or(1000),
        draws: draws(&request.length),
        thin: shape.thin.unwrap_or(1),
        seed: request.seed_or_default(),
        threads: request.threads,
        limits: limits(&request.length)?,
        ..Settings::default()
    };
    settings.check()?;
    if settings.chains > MOST_CHAINS {
        return Err(Refusal::TooManyChains { chains: settings.chains, most: MOST_CHAINS }.into());
    }
    Ok(settings)
}

/// The recipe and what else a new run is made of.
struct Parts<'a> {
    rows: usize,
    /// Bytes of the data, and whether they are mapped from disk.
    bytes: usize,
    mapped: bool,
    recipe: &'a Recipe,
    /// Rows of the success class, and standard deviations of the columns.
    successes: Option<u64>,
    sds: Vec<f64>,
    family: Family,
    priors: &'a AskedPriors,
    begun: Instant,
}
