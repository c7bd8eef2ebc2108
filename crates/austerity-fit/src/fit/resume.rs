//! Going on with a run: the same data and settings or a difference in words, from the newest checkpoint whose draws are on disk.

use std::path::Path;
use std::time::Instant;

use austerity::run::{Limits, UNBOUNDED};
use austerity_glm::{Glm, Prior, Priors};
use austerity_io::run::{DrawsWriter, Layout, RunLock, checkpoint};
use austerity_io::store;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::budget::{Budget, Sitting, follow};
use super::decide::Wanted;
use super::engine::{Chains, Engine as _, GlmEngine, ModelChains, OnRows, Work};
use super::execute::{Keeping, Session};
use super::gradients::OnGradients;
use super::groups;
use super::options::{self, kept, layout, limits};
use super::plan::{Plan, PriorRecord};
use super::storage::{Closing, Storage};
use super::{Asked, Host, unless_closed};
use crate::data::{self, Loaded, all_cores};
use crate::model::{Family, Posterior, Regression, Task};
use crate::output::Failure;
use crate::refusal::{About, Refusal};
use crate::request::{DataOptions, Keyword, LengthOptions, MAX_DISK, Request, ShapeOptions};
use crate::runs::{Folder, Overview, RunFile, Saved};

/// Goes on with a run.
pub(super) fn run(asked: &Asked<'_>, folder: &Folder, host: &mut dyn Host) -> Result<Overview, Failure> {
    let options = asked.request;
    let begun = Instant::now();
    let mut run = folder.read_run()?;
    if !run.merged.is_empty() {
        let parts: Vec<String> = run.merged.iter().map(|path| path.display().to_string()).collect();
        return Err(Failure::Usage(format!(
            "{} was merged from other runs and cannot go on: resume those ({}) and merge them again into a new folder",
            folder.path().display(),
            parts.join(", ")
        )));
    }
    if let Some(part) = &run.plan.part {
        return Err(Failure::Usage(format!(
            "{} holds a run of `austerity {}`: go on with it by that command",
            folder.path().display(),
            part.command()
        )));
    }
    let lock = RunLock::acquire(folder.path())?;
    same_seed(&run, options)?;
    // Single priors are compared one by one, below.
    same(&run.shape(), &options.shape, &["priors"])?;
    let data = same(&run.request.data, &options.data, &["file", "further"])?;
    host.note("reading the data");
    let data = DataOptions { file: options.data.file.clone(), further: options.data.further.clone(), ..data };
    let loaded = match asked.prepared {
        Some(prepared) => prepared.loaded.clone(),
        None => data::load_with_groups(&data, asked.table, run.plan.settings.seed, options.threads)?,
    };
    let rows = asked.prepared.map_or(loaded.store.rows(), |prepared| prepared.rows);
    compare_data(&run, &options.data.file, (&loaded, rows))?;
    refuse_old_sigma(&run, folder)?;
    let priors = PriorRecord::read(&run.plan.model.priors, &loaded.store.column_means())?;
    compare_priors(&run, options, &loaded, &priors)?;
    length(&mut run, options)?;
    run.plan.settings.threads = options.threads;
    // As at the beginning: the same sums in the same order.
    let by_rows = Wanted::read(&run.request.shape)?.wants_test();
    let family = run.plan.model.family;
    let task = Resume { asked, folder, run, host, _lock: lock, begun };
    if task.run.plan.groups.is_some() {
        return groups::resume(task, &loaded, &priors, options.threads);
    }
    Posterior { family, store: &loaded.store, priors: &priors }.build(by_rows, task)
}

/// Goes on with a run of a posterior of the user's own.
pub(super) fn own<'a>(
    asked: &'a Asked<'a>,
    folder: &'a Folder,
    rows: usize,
    host: &'a mut dyn Host,
) -> Result<Resume<'a>, Failure> {
    let run = opened(folder, Family::Own, rows)?;
    begun(asked, folder, run, host)
}

/// The run in `folder`, which must be of this family and of so many rows.
pub(super) fn opened(folder: &Folder, family: Family, rows: usize) -> Result<RunFile, Failure> {
    let run = folder.read_run()?;
    if run.plan.model.family != family {
        let (stored, now) = (run.plan.model.family.words(), family.words());
        return Err(differs(About::Thing("the model".into()), &stored, &now));
    }
    if run.plan.data.rows != rows {
        let (stored, now) = (run.plan.data.rows.to_string(), rows.to_string());
        return Err(differs(About::Thing("the number of rows".into()), &stored, &now));
    }
    Ok(run)
}

/// A run that goes on with what was asked for now.
pub(super) fn begun<'a>(
    asked: &'a Asked<'a>,
    folder: &'a Folder,
    mut run: RunFile,
    host: &'a mut dyn Host,
) -> Result<Resume<'a>, Failure> {
    let begun = Instant::now();
    let options = asked.request;
    let lock = RunLock::acquire(folder.path())?;
    same_seed(&run, options)?;
    same(&run.shape(), &options.shape, &[])?;
    length(&mut run, options)?;
    run.plan.settings.threads = options.threads;
    Ok(Resume { asked, folder, run, host, _lock: lock, begun })
}

/// Refuses another seed.
fn same_seed(run: &RunFile, request: &Request) -> Result<(), Failure> {
    match request.seed {
        Some(seed) if seed != run.plan.settings.seed => {
            Err(differs(Keyword::Seed.into(), &run.plan.settings.seed.to_string(), &seed.to_string()))
        }
        _ => Ok(()),
    }
}

/// Refuses a run of an earlier version, whose prior of σ was one of log σ.
fn refuse_old_sigma(run: &RunFile, folder: &Folder) -> Result<(), Failure> {
    let last = run.plan.model.priors.last().filter(|_| run.plan.model.family.has_sigma());
    let Some(record) =
        last.filter(|record| record.prior.parse().is_ok_and(|prior: Prior| !prior.is_positive()))
    else {
        return Ok(());
    };
    Err(Failure::Usage(format!(
        "{}: an earlier version began this run, and its prior {} of sigma held for log sigma; begin a new run with a prior of sigma itself, such as \
         half-normal:SCALE",
        folder.path().display(),
        record.prior
    )))
}

/// Refuses priors that were typed again and are others now, such as those of a file that changed.
fn compare_priors(run: &RunFile, options: &Request, loaded: &Loaded, stored: &Priors) -> Result<(), Failure> {
    let (shape, before) = (&options.shape, &run.request.shape);
    if shape.prior.is_none() && shape.prior_intercept.is_none() && shape.priors.is_empty() {
        return Ok(());
    }
    let typed = ShapeOptions {
        prior: shape.prior.or(before.prior),
        prior_intercept: shape.prior_intercept.or(before.prior_intercept),
        priors: if shape.priors.is_empty() { before.priors.clone() } else { shape.priors.clone() },
        ..before.clone()
    };
    let now = options::priors(&typed, &loaded.store, run.plan.model.family)?;
    let names = run.plan.model.priors.iter().map(|record| &record.parameter);
    match names.zip(stored.iter()).zip(now.priors.iter()).find(|((_, old), new)| old != new) {
        Some(((name, old), new)) => {
            let what = About::Thing(format!("the prior of {name}"));
            Err(differs(what, &old.to_string(), &new.to_string()))
        }
        None => Ok(()),
    }
}

/// The new length: in total, as far as it was given.
fn length(run: &mut RunFile, options: &Request) -> Result<(), Failure> {
    if !typed(&options.length) {
        return Ok(());
    }
    run.plan.settings.limits = limits(&options.length)?;
    run.plan.settings.draws = options.length.draws.unwrap_or(UNBOUNDED);
    Ok(run.plan.settings.check()?)
}

/// Whether something was said about the length; else the run goes on to the end that it had.
fn typed(length: &LengthOptions) -> bool {
    let LengthOptions { draws, budget, evaluations, target_ess, max_disk: _ } = length;
    draws.is_some() || budget.is_some() || evaluations.is_some() || target_ess.is_some()
}

/// What limits a run that goes on: what was typed, or what the run began with.
fn length_of(plan: &Plan, typed_now: &LengthOptions) -> LengthOptions {
    if typed(typed_now) {
        return LengthOptions { max_disk: typed_now.max_disk.or(typed_disk(plan)), ..typed_now.clone() };
    }
    let Limits { seconds, evaluations, target_ess } = plan.settings.limits;
    LengthOptions {
        draws: Some(plan.settings.draws).filter(|&draws| draws < UNBOUNDED),
        budget: seconds.and_then(|seconds| std::time::Duration::try_from_secs_f64(seconds).ok()),
        evaluations: evaluations.map(|evaluations| evaluations as f64),
        target_ess,
        max_disk: typed_now.max_disk,
    }
}

/// The size of the folder that a run began with, where it was not the default.
fn typed_disk(plan: &Plan) -> Option<u64> {
    plan.storage.map(|storage| storage.max_disk).filter(|&bytes| bytes != MAX_DISK)
}

/// Why there is nothing left to do, if so.
fn finished(run: &RunFile, saved: &Saved, length: &LengthOptions, shortest: u64) -> Option<&'static str> {
    if shortest >= run.plan.settings.draws {
        return Some("all draws that were asked for are made");
    }
    match saved.ended.as_deref() {
        _ if typed(length) => None,
        Some("seconds") => Some("its time was up"),
        Some("evaluations") => Some("its likelihood evaluations are spent"),
        Some("target_ess") => Some("its target of effective draws is reached"),
        _ => None,
    }
}

/// A run that is about to go on.
pub(super) struct Resume<'a> {
    asked: &'a Asked<'a>,
    folder: &'a Folder,
    pub(super) run: RunFile,
    pub(super) host: &'a mut dyn Host,
    _lock: RunLock,
    begun: Instant,
}

impl Task for Resume<'_> {
    type Output = Overview;

    fn run<M: Regression>(self, model: &M) -> Result<Overview, Failure> {
        match self.run.plan.gradients.clone() {
            Some(record) => OnGradients { model, record }.give(self),
            None => OnRows(model).give(self),
        }
    }

    fn run_expandable<F: austerity_glm::glm::Family>(self, model: &Glm<F>) -> Result<Overview, Failure> {
        let threads = all_cores(self.asked.request.threads);
        let engine = GlmEngine::restored(model, &self.run.plan, threads, &mut *self.host)?;
        engine.give(self)
    }
}

impl Work for Resume<'_> {
    type Output = Overview;

    fn on<'m>(self, chains: &dyn ModelChains<'m>) -> Result<Overview, Failure> {
        self.with(chains)
    }
}

impl Resume<'_> {
    /// Goes on with `chains`.
    pub(super) fn with<'m>(mut self, chains: &dyn Chains<'m>) -> Result<Overview, Failure> {
        let length = &self.asked.request.length;
        self.host.note("looking for the newest checkpoint whose draws are on disk");
        let Found { layout, mut writer, mut saved, refused } = self.found(chains.target().names())?;
        let (storage, closing) = self.storage(&layout)?;
        self.run.plan.storage = Some(storage);
        let drawn = saved.drawn();
        let shortest = drawn.iter().copied().min().unwrap_or(0);
        let budget = self.budget(&drawn, closing);
        let nothing = finished(&self.run, &saved, length, shortest);
        while nothing.is_none() && (0..drawn.len()).any(|chain| writer.drawn(chain) > storage.most) {
            writer.thin(2)?;
        }
        let Self { folder, run, begun, .. } = &mut self;
        let plan = &mut run.plan;
        plan.settings.record_every = writer.stored_every();
        let keeping = Keeping::new(&run.request, plan, *begun).until(plan, closing);
        let stretch = keeping.leg(plan, shortest, budget.as_ref());
        let checkpoint = saved.checkpoint.clone().under(&plan.settings.rule, plan.settings.audit);
        let mut sampler = chains.resume(&stretch, checkpoint)?;
        if plan.settings.limits.target_ess.is_some() {
            let stored: Vec<u64> = (0..drawn.len()).map(|chain| writer.drawn(chain)).collect();
            sampler = sampler.with_earlier(folder.reader()?.trace_until(&stored)?);
        }
        for failure in &refused {
            self.host.warn(&format!(
                "the newest checkpoint could not be used ({failure}): going on from the one before"
            ));
        }
        if let Some(why) = nothing {
            return self.nothing_left(why, shortest);
        }
        let Self { folder, run, host, begun, .. } = self;
        let shown = folder.path().display();
        unless_closed(host.plan(&format!("{shown}: going on after {shortest} draws per chain.")))?;
        saved.preparation += begun.elapsed().as_secs_f64();
        saved.checkpoint.settings = run.plan.settings.clone();
        (saved.ended, saved.failed) = (None, false);
        folder.write_run(&run)?;
        let session = Session { resumed: true, folder, run, host, budget, keeping, stretch, writer, saved };
        session.sample(chains, sampler)
    }
}

/// The newest checkpoint whose draws are on disk.
struct Found {
    layout: Layout,
    writer: DrawsWriter,
    saved: Saved,
    /// Why newer ones could not be used.
    refused: Vec<Failure>,
}

impl Resume<'_> {
    /// Looks for the newest checkpoint whose draws are on disk.
    fn found(&self, names: Vec<String>) -> Result<Found, Failure> {
        let Self { folder, run, .. } = self;
        let keep = kept(&run.request.shape, &names)?;
        let mut layout = layout(&run.plan, names, keep);
        layout.created_at.clone_from(&run.created);
        let mut refused: Vec<Failure> = Vec::new();
        for candidate in checkpoint::candidates::<Saved>(folder.checkpoint()) {
            let opened = candidate
                .and_then(|saved| Ok((DrawsWriter::resume(folder.draws(), &layout, &saved.drawn())?, saved)));
            match opened {
                Ok((writer, saved)) => return Ok(Found { layout, writer, saved, refused }),
                Err(error) => refused.push(error.into()),
            }
        }
        let why: Vec<String> = refused.iter().map(ToString::to_string).collect();
        Err(Failure::Usage(format!(
            "the run cannot go on: {}. What is left of its draws can still be read by `summary` and `export`; a new run with the \
             same data, options and seed makes the same draws again",
            why.join("; before that: ")
        )))
    }

    /// How many draws are stored from here, and what the end of the session takes.
    fn storage(&self, layout: &Layout) -> Result<(Storage, Option<Closing>), Failure> {
        let (plan, length) = (&self.run.plan, &self.asked.request.length);
        let numbers = layout.kept().len() * plan.settings.chains as usize;
        let limits = length_of(plan, length);
        let closing = Closing::of(&limits, numbers * if plan.model.standardize { 2 } else { 1 });
        let storage = match plan.storage {
            Some(storage) if !typed(length) && length.max_disk.is_none() => storage,
            before => Storage::plan(layout, &limits, closing)?.go_on(before, layout),
        };
        Ok((storage, closing))
    }

    /// The budget that is left, where there is more to plan. The rule is that of the stretch that the checkpoint is in, which may be before the last one planned.
    fn budget(&mut self, drawn: &[u64], closing: Option<Closing>) -> Option<Budget> {
        let sitting = Sitting { begun: self.begun, closing: closing.map_or(0.0, |closing| closing.seconds) };
        let plan = self.run.plan.budget.as_mut()?;
        let budget = Budget::resumed(&self.asked.request.length, plan, sitting);
        let shortest = drawn.iter().copied().min().unwrap_or(0);
        plan.go_on(budget.as_ref(), (shortest, drawn.iter().copied().max().unwrap_or(0)));
        let at = plan.at(shortest);
        follow(&mut self.run.plan, at);
        budget
    }

    /// Tells that all is done, and what would make more.
    fn nothing_left(self, why: &str, shortest: u64) -> Result<Overview, Failure> {
        let Self { folder, host, .. } = self;
        let dialect = host.dialect();
        let spelled = |keyword: Keyword| keyword.spelled(dialect);
        host.plan(&format!(
            "{}: nothing left to do after {shortest} draws per chain: {why}. A larger {} (in total), or {}, {} or {} make more.",
            folder.path().display(),
            spelled(Keyword::Draws),
            spelled(Keyword::Budget),
            spelled(Keyword::Evaluations),
            spelled(Keyword::TargetEss)
        ))?;
        let overview = Overview::read(folder, dialect)?;
        host.told(&overview)?;
        Ok(overview)
    }
}

fn differs(what: About, stored: &str, now: &str) -> Failure {
    Refusal::Changed { what, stored: stored.into(), now: now.into() }.into()
}

/// What was typed now on top of what was typed at the start: equal where both say something. Options named in `free` may differ.
pub(super) fn same<T: Serialize + DeserializeOwned>(old: &T, new: &T, free: &[&str]) -> Result<T, Failure> {
    let broken = |error: serde_json::Error| Failure::Usage(format!("run.toml cannot be used: {error}"));
    let value = |options: &dyn erased_serde::Serialize| serde_json::to_value(options).map_err(broken);
    let (mut merged, new) = (value(old)?, value(new)?);
    if let (Value::Object(merged), Value::Object(new)) = (&mut merged, new) {
        for (name, value) in new {
            let silent = match &value {
                Value::Null | Value::Bool(false) => true,
                Value::Array(list) => list.is_empty(),
                _ => false,
            };
            let stored = merged.get(&name).cloned().unwrap_or(Value::Null);
            if silent || free.contains(&name.as_str()) || stored == value {
                continue;
            }
            let what = Keyword::named(&name).map_or(About::Thing(name), About::Keyword);
            return Err(differs(what, &shown(&stored), &shown(&value)));
        }
    }
    erased_serde::deserialize(&mut <dyn erased_serde::Deserializer<'_>>::erase(merged))
        .map_err(|error| broken(serde::de::Error::custom(error)))
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null | Value::Bool(false) => "not given".into(),
        Value::String(text) => text.clone(),
        Value::Array(list) => list.iter().map(shown).collect::<Vec<_>>().join(","),
        other => other.to_string(),
    }
}

/// Refuses other data, naming what differs.
pub(super) fn compare_data(
    run: &RunFile,
    file: &Path,
    (loaded, rows): (&Loaded, usize),
) -> Result<(), Failure> {
    let differ = |what: &str, stored: String, now: String| {
        let old = &run.plan.data.file;
        let begun = if old == file { String::new() } else { format!(", which began with {}", old.display()) };
        Failure::Usage(format!(
            "{}: the data differ from those of the run{begun}: {what} was {stored} and is {now} now; a run goes on with its own data \
             only: restore the file, or begin a new run in another folder",
            file.display()
        ))
    };
    let (old, found) = (&run.plan.recipe, &loaded.recipe);
    if rows != run.plan.data.rows {
        return Err(differ("the number of rows", run.plan.data.rows.to_string(), rows.to_string()));
    }
    if old == found {
        let stored = &run.plan.data.checksum;
        let now = match stored.as_str() {
            // A run of an earlier version has the checksum of then.
            text if !text.is_empty() && !text.contains(':') => store::earlier_checksum(&loaded.store),
            _ => loaded.checksum.clone(),
        };
        if stored.is_empty() || *stored == now {
            return Ok(());
        }
        let what = "the number and names of rows and columns are the same, but some values are not, or a version that stored rows in another order began the run: the \
                    checksum";
        return Err(differ(what, stored.clone(), now));
    }
    let (a, b) = (old.coefficient_names(), found.coefficient_names());
    if a != b {
        let gone: Vec<&String> = a.iter().filter(|name| !b.contains(name)).collect();
        let new: Vec<&String> = b.iter().filter(|name| !a.contains(name)).collect();
        return Err(differ("the list of coefficients", format!("with {gone:?}"), format!("with {new:?}")));
    }
    if old.coding != found.coding {
        return Err(differ(
            "the coding of the response",
            format!("{:?}", old.coding),
            format!("{:?}", found.coding),
        ));
    }
    for (old, new) in old.terms.iter().zip(&found.terms) {
        if old != new {
            return Err(differ(&format!("column {}", old.column()), format!("{old:?}"), format!("{new:?}")));
        }
    }
    Err(differ("a role", format!("{old:?}"), format!("{found:?}")))
}
