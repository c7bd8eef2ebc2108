//! Chains of a plan, from their checkpoint to draws on disk and a verdict: knows neither options nor how the plan was made.
//!
//! A session is run in legs. One ends where the store is full (it keeps some draws, evenly spaced), where audits are looked at, or where a budget's stretch
//! does and its rule may change; chains go on from the checkpoint under the settings of the next. A new run and one that goes on
//! differ in their first checkpoint alone.

use std::path::Path;
use std::time::{Duration, Instant, SystemTime};

use austerity::run::{Checkpoint, Control, Ended, Observer, Progress, Run, Settings};
use austerity_glm::proposal::StoredProposal;
use austerity_io::run::DrawsWriter;
use austerity_io::store;

use super::budget::{self, Budget, Now};
use super::engine::{AnySampler, Chains};
use super::options::{kept, layout};
use super::plan::Plan;
use super::save_draws::FolderSink;
use super::storage::{Closing, Storage};
use super::{Host, healing, unless_closed};
use crate::output::Failure;
use crate::request::Request;
use crate::runs::{Folder, Overview, RunFile, Saved, page};

/// Seconds that a leg has at least.
pub(super) const SHORTEST: f64 = 1e-3;
/// Share of a budget that chains have where preparation took all of it.
const LEAST_SHARE: f64 = 0.05;

/// What a session keeps to, beside the plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Keeping {
    /// Draws per chain that are stored at most.
    most: u64,
    /// When chains end that only the clock ends.
    deadline: Option<Instant>,
    /// Whether chains end where audits contradict their test, and when the command began.
    heals: bool,
    begun: Instant,
}

impl Keeping {
    /// What a session of this plan keeps to, without a deadline.
    pub(super) fn new(request: &Request, plan: &Plan, begun: Instant) -> Self {
        let most = plan.storage.map_or(u64::MAX, |storage| storage.most);
        Self { most, deadline: None, heals: healing::is_open(request, plan), begun }
    }

    /// The same with a deadline, where the plan has one: the budget less what the summary takes, and in any case a little later than now.
    pub(super) fn until(self, plan: &Plan, closing: Option<Closing>) -> Self {
        let deadline = || {
            let all = Duration::try_from_secs_f64(plan.settings.limits.seconds?).ok()?;
            let closing = Duration::from_secs_f64(closing.map_or(0.0, |closing| closing.seconds));
            let end = self.begun.checked_add(all.saturating_sub(closing))?;
            Some(end.max(Instant::now() + all.mul_f64(LEAST_SHARE)))
        };
        Self { deadline: deadline(), ..self }
    }

    /// Settings until the next change of rule or thinning, after `draw` draws of the shortest chain.
    pub(super) fn leg(&self, plan: &Plan, draw: u64, budget: Option<&Budget>) -> Settings {
        let mut settings = plan.settings.clone();
        if let Some(planned) = &plan.budget {
            budget::limit(&mut settings, planned, draw, budget);
        }
        if let (None, Some(left)) = (budget, self.left())
            && settings.limits.seconds.is_some()
        {
            settings.limits.seconds = Some(left.max(SHORTEST));
        }
        // The store is full then.
        settings.draws = settings.draws.min(self.full(&settings));
        if self.heals && plan.budget.is_none() {
            settings.draws = settings.draws.min(healing::next_review(draw, plan.settings.draws));
        }
        settings
    }

    /// Seconds until the deadline.
    fn left(&self) -> Option<f64> {
        Some(self.deadline?.saturating_duration_since(Instant::now()).as_secs_f64())
    }

    /// Draws of every chain with which the store is full.
    fn full(&self, settings: &Settings) -> u64 {
        self.most.saturating_mul(settings.record_every)
    }
}

/// A run that is about to sample.
pub(super) struct Session<'a> {
    pub(super) resumed: bool,
    pub(super) folder: &'a Folder,
    pub(super) run: RunFile,
    pub(super) host: &'a mut dyn Host,
    /// The budget that is planned with, where there is more to plan.
    pub(super) budget: Option<Budget>,
    pub(super) keeping: Keeping,
    /// Settings of the first leg.
    pub(super) stretch: Settings,
    pub(super) writer: DrawsWriter,
    pub(super) saved: Saved,
}

impl Session<'_> {
    /// Samples, stores, summarises.
    pub(super) fn sample<'m>(
        self,
        chains: &dyn Chains<'m>,
        sampler: AnySampler<'m>,
    ) -> Result<Overview, Failure> {
        let Self { resumed, folder, mut run, host, budget, keeping, stretch, writer, saved } = self;
        let recipe = run.plan.model.standardize.then(|| run.plan.recipe.clone());
        let coefficients = run.plan.recipe.coefficient_names().len();
        let sampler = as_stored(sampler, &run, &saved.checkpoint.names)?;
        let mut sink = FolderSink::new(folder, writer, (recipe.as_ref(), coefficients), saved);
        if resumed {
            sink.save()?;
        }
        let started = SystemTime::now();
        host.begin(&run.plan.settings);
        let before = Now::of(sink.checkpoint(), budget.as_ref());
        let legs = Legs {
            chains,
            folder,
            run: &mut run,
            budget,
            keeping,
            sink: &mut sink,
            settings: stretch,
            seconds: 0.0,
            first: before,
            before,
            effective: 0.0,
        };
        let control = host.control();
        let Run { checkpoint, ended, seconds, .. } = legs.run(sampler, &control, host)?;
        host.end();
        sink.finish(checkpoint, &ended, seconds)?;
        unchanged(&run.plan.data.file, started)?;
        conclude(folder, &ended, &keeping, host)
    }
}

/// What can be said of a session whose chains have ended, told and written.
fn conclude(
    folder: &Folder,
    ended: &Ended,
    keeping: &Keeping,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    let mut overview = Overview::read(folder, host.dialect())?;
    let done = matches!(ended, Ended::Draws | Ended::Seconds | Ended::Evaluations | Ended::TargetEss);
    if keeping.heals && done {
        overview.healed = healing::diagnose(&overview.run, &overview.saved, keeping.begun);
        if overview.healed.is_some() {
            return Ok(overview);
        }
    }
    if let Ended::Unstored { error } = ended
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
    if let Ended::Unstored { error } = ended {
        return Err(Failure::Unstored(error.to_string()));
    }
    written?;
    page?;
    Ok(overview)
}

/// The chains of a session, leg by leg.
struct Legs<'a, 'f, 'm> {
    chains: &'a dyn Chains<'m>,
    folder: &'a Folder,
    run: &'a mut RunFile,
    budget: Option<Budget>,
    keeping: Keeping,
    sink: &'a mut FolderSink<'f>,
    /// Of the leg that runs.
    settings: Settings,
    /// Seconds of the legs so far.
    seconds: f64,
    /// Where chains stood when the session began, and when the stretch of a budget did.
    first: Now,
    before: Now,
    /// Effective draws of the stretch.
    effective: f64,
}

/// What follows a leg.
enum Next {
    /// The session ends.
    End,
    /// Chains go on under the same rule.
    Leg,
    /// Chains that the clock stopped are made level.
    Level,
    /// The next stretch of a budget, under its rule.
    Stretch,
}

impl<'m> Legs<'_, '_, 'm> {
    /// Runs the chains to the end of the session.
    fn run(
        mut self,
        mut sampler: AnySampler<'m>,
        control: &Control,
        observer: &mut dyn Host,
    ) -> Result<Run<Vec<f64>, StoredProposal>, Failure> {
        loop {
            let left = self.budget.as_ref().and_then(Budget::seconds_left);
            let mut watch = Watch {
                observer: &mut *observer,
                earlier: self.seconds,
                settings: &self.run.plan.settings,
                left,
                ess: None,
            };
            let mut outcome = sampler.run_into(self.sink, control, &mut watch);
            self.effective += watch.ess.unwrap_or(0.0);
            self.seconds += outcome.seconds;
            outcome.seconds = self.seconds;
            let now = Now::of(&outcome.checkpoint, self.budget.as_ref());
            let contradicted = self.keeping.heals && healing::is_contradicted(&outcome.checkpoint);
            let next = if contradicted && healing::has_time(&self.run.plan, self.keeping.begun) {
                Next::End
            } else {
                self.next(&outcome.ended, &now)?
            };
            let checkpoint = outcome.checkpoint;
            sampler = match next {
                Next::End => {
                    let checkpoint = Checkpoint { settings: self.run.plan.settings.clone(), ..checkpoint };
                    return Ok(Run { checkpoint, ..outcome });
                }
                Next::Leg => self.going_on(checkpoint)?,
                Next::Level => self.chains.resume(&self.settings, checkpoint)?,
                Next::Stretch => {
                    let Settings { rule, audit, .. } = &self.settings;
                    let checkpoint = checkpoint.under(rule, *audit);
                    self.chains.resume(&self.settings, checkpoint)?
                }
            };
        }
    }

    /// What follows a leg that ended like this: the settings of the next are in place.
    fn next(&mut self, ended: &Ended, now: &Now) -> Result<Next, Failure> {
        let more = *ended == Ended::Draws && self.settings.draws < self.run.plan.settings.draws;
        if more && self.settings.draws == self.keeping.full(&self.settings) {
            self.thin(now)?;
            return Ok(Next::Leg);
        }
        if self.run.plan.budget.is_some() {
            return self.next_stretch(ended, now);
        }
        if !more {
            return Ok(Next::End);
        }
        // Audits were looked at.
        self.settings = self.keeping.leg(&self.run.plan, now.draws, None);
        Ok(Next::Leg)
    }

    /// Makes room where the store is full: some draws stay, what is planned goes on.
    fn thin(&mut self, now: &Now) -> Result<(), Failure> {
        let left = match &self.budget {
            Some(budget) => budget.seconds_left(),
            None => self.keeping.left(),
        };
        let made = (now.draws - self.first.draws.min(now.draws)) as f64;
        let expected = left.map(|left| now.draws as f64 + made / self.seconds.max(SHORTEST) * left);
        let factor = Storage::factor(self.keeping.most, self.settings.record_every, expected);
        self.run.plan.settings.record_every = self.sink.thin(self.run, factor)?;
        self.settings = self.keeping.leg(&self.run.plan, now.draws, self.budget.as_ref());
        Ok(())
    }

    /// What follows a leg of a plan for a budget.
    fn next_stretch(&mut self, ended: &Ended, now: &Now) -> Result<Next, Failure> {
        let Some(plan) = &mut self.run.plan.budget else { return Ok(Next::End) };
        let draws = self.run.plan.settings.draws;
        let at = plan.at(self.before.draws);
        let last = at + 1 == plan.stretches.len();
        let late = *ended == Ended::Seconds && last && self.settings.draws < draws;
        let left = self.budget.map(|budget| budget.end() - now.spent);
        if let Some(left) = left.filter(|left| late && *left > SHORTEST) {
            plan.cut(now.longest);
            self.settings = self.keeping.leg(&self.run.plan, now.draws, self.budget.as_ref());
            // The few draws until all chains are level again have all the time there is.
            self.settings.limits.seconds = Some(left);
            return Ok(Next::Level);
        }
        if last && self.budget.is_some() {
            plan.learn(at, (&self.before, now), self.effective, &self.run.plan.settings);
        }
        if !(*ended == Ended::Draws && self.settings.draws < draws) {
            plan.close(now, &self.run.plan.settings);
            let written = self.folder.write_run(self.run);
            if !matches!(ended, Ended::Unstored { .. }) {
                written?;
            }
            return Ok(Next::End);
        }
        if last {
            plan.review(now, &self.run.plan.settings);
        }
        budget::follow(&mut self.run.plan, at + 1);
        self.settings = self.keeping.leg(&self.run.plan, now.draws, self.budget.as_ref());
        self.sink.replan(self.run)?;
        (self.before, self.effective) = (*now, 0.0);
        Ok(Next::Stretch)
    }

    /// Chains that go on from `checkpoint`, with the stored draws to look back on where a target ESS asks for them.
    fn going_on(&self, checkpoint: Checkpoint<Vec<f64>, StoredProposal>) -> Result<AnySampler<'m>, Failure> {
        let sampler = self.chains.resume(&self.settings, checkpoint)?;
        if self.run.plan.settings.limits.target_ess.is_none() {
            return Ok(sampler);
        }
        let earlier = self.folder.reader()?.trace_until(&self.sink.stored())?;
        Ok(as_stored(sampler, self.run, &self.sink.checkpoint().names)?.with_earlier(earlier))
    }
}

/// Lets a target ESS look at the draws as they are stored, on the original scale and without parameters that are not kept: a resumed
/// run has nothing else to look back on.
fn as_stored<'m>(
    sampler: AnySampler<'m>,
    run: &RunFile,
    names: &[String],
) -> Result<AnySampler<'m>, Failure> {
    let plan = &run.plan;
    if plan.settings.limits.target_ess.is_none() {
        return Ok(sampler);
    }
    let kept = layout(plan, names.to_vec(), kept(&run.request.shape, names)?).kept();
    let recipe = plan.model.standardize.then(|| plan.recipe.clone());
    let coefficients = plan.recipe.coefficient_names().len();
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

/// Forwards progress to the host, and remembers the last effective sample size.
struct Watch<'a> {
    observer: &'a mut dyn Host,
    earlier: f64,
    settings: &'a Settings,
    /// Seconds that were left when it began, where only the clock ends the run.
    left: Option<f64>,
    ess: Option<f64>,
}

impl Observer for Watch<'_> {
    fn progress(&mut self, progress: &Progress) {
        self.ess = progress.ess;
        let mut whole = progress.clone();
        if let Some(left) = self.left {
            whole.remaining = Some((left - progress.elapsed).max(0.0));
        }
        whole.elapsed += self.earlier;
        whole.steps_wanted = Progress::steps_wanted(self.settings);
        self.observer.progress(&whole);
    }
}
