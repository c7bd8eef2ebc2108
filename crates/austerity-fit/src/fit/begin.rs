//! A new run: data, mode, pilot, plan, folder, chains.

use std::path::Path;
use std::time::{Instant, SystemTime};

use austerity::design::Pairs;
use austerity::proposal::Mixture;
use austerity::rule::RuleSettings;
use austerity::run::{ChainCheckpoint, Checkpoint, Sampler, Settings, UNBOUNDED};
use austerity_glm::Glm;
use austerity_glm::proposal::Transition;
use austerity_glm::proposal::{RegressionProposal, StoredProposal};
use austerity_io::run::DrawsWriter;

use super::budget::{self, Budget, BudgetPlan, Candidate, Keeping, Sitting};
use super::choose::{Chooser, Chosen};
use super::decide::{Decided, Wanted};
use super::healing::{self, Care, History};
use super::pace;
use super::proposal::Candidates;
use super::reach;
use super::sampled::{self, SampleRecord};
use super::sink::Stored;
use super::start::{FindMode, Start, hazards, starts, typical};
use super::storage::{Closing, Storage};
use super::surrogate::{self, Absence, Prepared, Question, Steps, SurrogateRecord, Without};
use super::tails::{self, FindTails};
use super::wide::WideRecord;
use super::{
    Asked, Host, Parts, Session, all_cores, deadline, kept, layout, plan, priors, sample, settings,
    unless_closed,
};
use crate::data;
use crate::model::{Family, Regression, Sampled, Task, with_model};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Keyword, ProposalChoice, RuleChoice, SurrogateChoice};
use crate::runs::{
    DataRecord, DecisionRecord, FORMAT, Folder, Fresh, ModelRecord, Overview, PriorRecord, RunFile, Saved,
    TailRecord, about,
};

/// Effective draws per chain that a run without a length is planned for, and its fewest and most draws.
const EFFECTIVE: f64 = 600.0;
const FEWEST: f64 = 2_000.0;
const MOST: f64 = 200_000.0;

/// Begins a run.
pub(super) fn run(asked: &Asked<'_>, folder: &Folder, host: &mut dyn Host) -> Result<Overview, Failure> {
    // Options that make no sense are refused before a folder is made.
    Wanted::read(&asked.request.shape)?;
    asked.request.shape.check()?;
    settings(asked.request)?;
    anew(asked, folder, Fresh::create(folder)?, &History::default(), host)
}

/// Begins a run in a folder that is ready for it, as careful as its history asks for.
pub(super) fn anew(
    asked: &Asked<'_>,
    folder: &Folder,
    mut fresh: Fresh<'_>,
    history: &History,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    let options = asked.request;
    let begun = Instant::now();
    let wanted = Wanted::read(&options.shape)?.with_care(history.care());
    let proposal = options.shape.proposal.unwrap_or_default();
    let surrogate = options.shape.surrogate.unwrap_or_default();
    host.note("reading the data");
    let loaded = data::load(&options.data, asked.table, options.seed_or_default(), options.threads)?;
    let family = Family::of(options.data.family, loaded.store.description().kind);
    wanted.check(loaded.store.rows())?;
    let mut names = loaded.store.coefficient_names();
    for extra in family.extra() {
        if names.iter().any(|name| name == extra.name) {
            let (name, about) = (extra.name, extra.about);
            return Err(Refusal::ExtraColumn { file: options.data.file.clone(), name, about }.into());
        }
        names.push(extra.name.into());
    }
    let numbers = kept(&options.shape, &names)?.map_or(names.len(), |kept| kept.len());
    let chains = options.shape.chains.unwrap_or(4) as usize;
    let scales = if loaded.recipe.is_standardized() { 2 } else { 1 };
    let closing = Closing::of(&options.length, numbers * chains * scales);
    let priors = priors(&options.shape, &loaded.store, family)?;
    host.note("finding the mode");
    // Sums of squares make every rule of a linear model exact and free.
    let sitting = Sitting { begun, closing: closing.map_or(0.0, |closing| closing.seconds) };
    let budget =
        Budget::read(&options.length, &wanted, proposal, sitting).filter(|_| family != Family::Linear);
    let find = FindMode {
        family,
        priors: &priors,
        centre: loaded.store.description().response_shift,
        intercept: loaded.store.description().intercept,
        width: if family.has_sigma() { loaded.store.response_sd() } else { 1.0 },
        offset: loaded.recipe.offset.is_some(),
        budget,
        threads: all_cores(options.threads),
    };
    let smooth = priors.priors.smooth();
    let mut start = with_model(family, &loaded.store, &smooth, false, find)?;
    start.hazards.extend(hazards(&loaded.store, family, &start.mode));
    let find = FindTails { priors: &priors.priors, mode: &start.mode };
    let free = if find.is_needed() && start.hurried.is_none() {
        with_model(family, &loaded.store, &priors.priors, false, find)?
    } else {
        Vec::new()
    };
    let parts = Parts {
        rows: loaded.store.rows(),
        bytes: loaded.store.bytes(),
        mapped: loaded.store.is_mapped(),
        recipe: &loaded.recipe,
        successes: about::successes(&loaded.store),
        sds: about::sds(&loaded.store, &loaded.recipe),
        family,
        priors: &priors,
        begun,
    };
    let mut remarks = loaded.remarks.clone();
    remarks.extend(start.remarks.iter().cloned());
    let sampled = wanted.wants_test();
    let task = Begin {
        asked,
        folder,
        wanted,
        proposal,
        parts,
        start,
        remarks,
        without: None,
        host,
        fresh: &mut fresh,
        checksum: loaded.checksum,
        surrogate,
        budget,
        closing,
        tails: free,
        history: history.clone(),
    };
    with_model(family, &loaded.store, &priors.priors, sampled, task)
}

/// Share of candidates that go into the tails of priors, where there are some.
pub(super) const TAIL_STEPS: f64 = 1.0 / 3.0;

pub(super) struct Begin<'a, 'f> {
    pub(super) asked: &'a Asked<'a>,
    pub(super) folder: &'a Folder,
    pub(super) wanted: Wanted,
    pub(super) proposal: ProposalChoice,
    pub(super) parts: Parts<'a>,
    pub(super) start: Start,
    pub(super) remarks: Vec<String>,
    /// Why there is no surrogate, where that was found out.
    pub(super) without: Option<Without>,
    pub(super) host: &'a mut dyn Host,
    pub(super) fresh: &'a mut Fresh<'f>,
    pub(super) checksum: String,
    pub(super) surrogate: SurrogateChoice,
    pub(super) budget: Option<Budget>,
    pub(super) closing: Option<Closing>,
    pub(super) tails: Vec<TailRecord>,
    pub(super) history: History,
}

impl Task for Begin<'_, '_> {
    type Output = Overview;

    fn run<M: Regression>(self, model: &M) -> Result<Overview, Failure> {
        self.plainly(model)
    }

    fn run_expandable<F: austerity_glm::glm::Family>(mut self, model: &Glm<F>) -> Result<Overview, Failure> {
        if self.start.hurried.is_some() && self.surrogate == SurrogateChoice::Auto {
            return self.run(model);
        }
        if let Some(wide) = self.wide(model)? {
            return self.widely(model, wide);
        }
        self.host.note("expanding the likelihood at the mode");
        let question = Question {
            choice: self.surrogate,
            wanted: &self.wanted,
            proposal: self.proposal,
            mode: &self.start.mode,
            threads: all_cores(self.asked.request.threads),
            seed: self.asked.request.seed_or_default(),
            budget: self.budget.as_ref(),
        };
        let prepared = match surrogate::prepare(model, &question)? {
            Ok(prepared) => *prepared,
            Err(why) => {
                self.remarks.extend(why.remark());
                if let Some(wide) = self.wide_without_surrogate(model)? {
                    return self.widely(model, wide);
                }
                let skewed = match why {
                    Without::Skewed(..) => !self.wanted.certified() || self.wanted.care() == Care::Certified,
                    _ => self.wanted.care() == Care::Exact && reach::is_skewed(model, &self.start.mode),
                };
                let open = self.budget.is_none() && self.proposal == ProposalChoice::Auto;
                self.without = Some(why);
                return if skewed && open { self.by_sample(model) } else { self.plainly(model) };
            }
        };
        let rows = model;
        let Prepared { model, candidates, mut decided, record } = prepared;
        let Candidates { stored, words, worth } = candidates;
        let proposal: Steps<'_, F> = Transition::restored(&model, stored.clone())?;
        let mut settings = settings(self.asked.request)?;
        let budgeted = match &self.budget {
            None => None,
            Some(budget) => {
                let question = budget::Residuals {
                    model: &model,
                    proposal: &proposal,
                    decided: &decided,
                    report: &record.report,
                    worth,
                    transition: matches!(stored, StoredProposal::Transition(_)),
                    start: typical(&self.start.mode, self.asked.request.seed_or_default())?,
                };
                let (candidates, estimates) = budget::on_residuals(budget, &question, &settings)?;
                if self.surrogate == SurrogateChoice::Auto
                    && !self.proposal.needs_surrogate()
                    && budget::rows_serve(budget, &candidates, &estimates, self.parts.rows)
                {
                    self.remarks.extend(Without::Dear.remark());
                    self.without = Some(Without::Dear);
                    return self.run(rows);
                }
                let none = budget::too_small(budget, &candidates, &estimates, settings.chains);
                let typed = self.asked.request.shape.warmup.is_some();
                let planned = BudgetPlan::begin(budget, candidates, estimates, &mut settings, typed);
                let planned = planned.ok_or(none)?;
                let Candidate { rule, audit, .. } = planned.candidate(0).clone();
                (decided.rule, decided.audit) = (rule, audit);
                Some(planned)
            }
        };
        if self.budget.is_none()
            && self.proposal == ProposalChoice::Auto
            && sampled::is_better(&model, &stored, &self.start.mode)
        {
            self.host.note("drawing rows for the proposal");
            let prepared =
                sampled::prepare(rows, &self.start.mode, None, all_cores(self.asked.request.threads));
            if let Some((sample, plan, sampled)) = prepared {
                let proposal = plan.build(&sample)?;
                let chosen = sampled::chosen(plan, sample.rows(), decided);
                let (surrogate, sample) = (Some(record), Some(sampled));
                return self.go(
                    &model,
                    &proposal,
                    Details { surrogate, sample, ..Details::of(chosen, settings) },
                );
            }
        }
        let chosen = Chosen { proposal: stored, proposal_words: words, decided, pairs: None, worth };
        self.go(
            &model,
            &proposal,
            Details { surrogate: Some(record), plan: budgeted, ..Details::of(chosen, settings) },
        )
    }
}

/// What was decided about a run.
pub(super) struct Details {
    pub(super) chosen: Chosen,
    pub(super) surrogate: Option<SurrogateRecord>,
    pub(super) sample: Option<SampleRecord>,
    /// Paths on all rows, whose length is planned already.
    pub(super) wide: Option<WideRecord>,
    pub(super) plan: Option<BudgetPlan>,
    pub(super) settings: Settings,
}

impl Details {
    /// Decisions about the rows themselves, and no plan for a budget.
    pub(super) fn of(chosen: Chosen, settings: Settings) -> Self {
        Self { chosen, surrogate: None, sample: None, wide: None, plan: None, settings }
    }
}

impl Begin<'_, '_> {
    /// Decisions about the rows themselves.
    pub(super) fn plainly<M: Sampled>(mut self, model: &M) -> Result<Overview, Failure> {
        if self.wanted.care() == Care::Certified {
            // There is nothing to certify: exact decisions are the next safer setting.
            self.wanted = self.wanted.with_care(Care::Exact);
        }
        self.refuse_without_surrogate()?;
        let mut chooser = Chooser {
            family: self.parts.family,
            wanted: &self.wanted,
            mode: &self.start.mode,
            host: &mut *self.host,
            seed: self.asked.request.seed_or_default(),
        };
        let mut settings = settings(self.asked.request)?;
        let (chosen, plan) = match &self.budget {
            None => (chooser.choose(model, self.proposal)?, None),
            Some(budget) => {
                let question = budget::Rows {
                    budget,
                    wanted: &self.wanted,
                    typed: self.proposal,
                    distance: self.start.hurried.unwrap_or(0.0),
                    typed_warmup: self.asked.request.shape.warmup.is_some(),
                };
                let (chosen, plan) = budget::on_rows(model, &mut chooser, &question, &mut settings)?;
                (chosen, Some(plan))
            }
        };
        let chosen = self.with_tail_steps(chosen, &model.names())?;
        let proposal = chosen.proposal.clone().plain()?;
        self.go(model, &proposal, Details { plan, ..Details::of(chosen, settings) })
    }

    /// The choice, with steps into the tails that the posterior has from its priors, where nobody chose the proposal and decisions are exact.
    pub(super) fn with_tail_steps(&self, chosen: Chosen, names: &[String]) -> Result<Chosen, Failure> {
        let exact = matches!(chosen.decided.rule, RuleSettings::Exact { .. });
        if self.tails.is_empty() || self.proposal != ProposalChoice::Auto || !exact || self.budget.is_some() {
            return Ok(chosen);
        }
        let steps = tails::steps(names, &self.start.mode, &self.tails)?;
        let Some(steps) = steps else { return Ok(chosen) };
        let parts = vec![(1.0 - TAIL_STEPS, chosen.proposal.plain()?), (TAIL_STEPS, steps.into())];
        Ok(Chosen {
            proposal: RegressionProposal::from(Mixture::new(parts)?).into(),
            proposal_words: format!(
                "{}; every third candidate moves one coefficient into the tail of its prior",
                chosen.proposal_words
            ),
            worth: (1.0 - TAIL_STEPS) * chosen.worth,
            ..chosen
        })
    }

    /// Refuses what only a surrogate can do.
    fn refuse_without_surrogate(&self) -> Result<(), Failure> {
        let absence = Absence {
            choice: self.surrogate,
            family: self.parts.family,
            rows: self.parts.rows,
            paper: self.wanted.is_paper(),
            hurried: self.start.hurried.is_some(),
            found: self.without.as_ref(),
        };
        if self.wanted.certified() {
            return Err(absence.refuse(Keyword::Rule, RuleChoice::Certified.to_string(), "exact"));
        }
        if self.proposal.needs_surrogate() {
            return Err(absence.refuse(Keyword::Proposal, self.proposal.to_string(), "laplace"));
        }
        Ok(())
    }

    /// Writes the folder and samples.
    pub(super) fn go<M: Sampled, P: Stored>(
        self,
        model: &M,
        proposal: &P,
        details: Details,
    ) -> Result<Overview, Failure> {
        let names = model.names();
        let keep = kept(&self.asked.request.shape, &names)?;
        let Details { chosen, surrogate, sample: rows, wide, plan: budgeted, mut settings } = details;
        let Chosen { proposal: stored, proposal_words, decided, pairs, worth } = chosen;
        let Decided { rule, audit, prediction, reason } = decided;
        if self.asked.request.length.draws.is_none() && settings.draws < UNBOUNDED && wide.is_none() {
            settings.draws = ((EFFECTIVE / worth).clamp(FEWEST, MOST) as u64).next_multiple_of(1000);
        }
        (settings.rule, settings.audit) = (rule, audit);
        let chains = settings.first_chain..settings.first_chain + settings.chains;
        let mut starts = starts(&self.start, settings.seed, chains)?;
        let mut run = RunFile {
            version: env!("CARGO_PKG_VERSION").into(),
            format: FORMAT,
            created: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
            merged: Vec::new(),
            data: DataRecord {
                file: self.asked.request.data.file.clone(),
                rows: self.parts.rows,
                fingerprint: format!("{:016x}", model.fingerprint()),
                checksum: self.checksum.clone(),
                bytes: self.parts.bytes,
                remarks: self.remarks.clone(),
                successes: self.parts.successes,
                sds: self.parts.sds.clone(),
            },
            model: ModelRecord {
                family: self.parts.family,
                standardize: self.parts.recipe.is_standardized(),
                priors: PriorRecord::list(&names, self.parts.priors),
                hazards: self.start.hazards.clone(),
                modes: self.start.searched.clone(),
                conflict: self.start.conflict,
                tails: self.tails.clone(),
            },
            decision: DecisionRecord { reason, tolerance: self.wanted.tolerance, prediction },
            surrogate,
            sample: rows,
            wide,
            budget: budgeted,
            storage: None,
            healed: self.history.records(),
            pairs: None,
            proposal: proposal_words,
            request: self.asked.request.clone(),
            settings,
            recipe: self.parts.recipe.clone(),
        };
        let mut layout = layout(&run, names.clone(), keep);
        let length = &self.asked.request.length;
        let storage = Storage::plan(&layout, length, self.closing)?;
        run.storage = Some(storage);
        run.settings.record_every = storage.every(&run.settings);
        layout.stored_every = run.settings.record_every;
        layout.draws = (run.settings.draws / run.settings.record_every).min(storage.most);
        let mut keeping = Keeping {
            most: storage.most,
            deadline: None,
            heals: healing::is_open(&run),
            begun: self.parts.begun,
        };
        let mut stretch = keeping.leg(&run, 0, self.budget.as_ref());
        let sampler = match Sampler::new(model, &stretch, proposal, &starts) {
            Ok(sampler) => sampler,
            // A start far out that is impossible: all begin at the mode.
            Err(austerity::Error::ImpossibleStart { .. }) => {
                starts = vec![self.start.mode.state.clone()];
                Sampler::new(model, &stretch, proposal, &starts)?
            }
            Err(error) => return Err(error.into()),
        };
        let exact = !matches!(self.parts.family, Family::Linear | Family::Own)
            && matches!(run.settings.rule, RuleSettings::Exact { .. })
            // Paths on all rows were timed by their pilot.
            && run.wide.is_none();
        let again = !run.healed.is_empty();
        let takes = if exact || again {
            let threads = all_cores(self.asked.request.threads);
            pace::words(pace::expected(model, &run.settings, proposal, &starts[0], threads))
        } else {
            None
        };
        if let (true, Some(takes)) = (again, &takes) {
            self.host.warn(&format!(
                "Making all draws again takes {takes}. Ctrl-C keeps what was drawn by then; --resume continues."
            ));
        }
        let planned =
            plan::Planned { run: &run, names: &names, layout: &layout, mapped: self.parts.mapped, takes };
        let text = plan::words(&planned, &sampler.memory(), self.host.dialect());
        unless_closed(self.host.plan(&text))?;
        let checkpoint = Checkpoint {
            version: run.version.clone(),
            settings: run.settings.clone(),
            rows: model.len(),
            fingerprint: model.fingerprint(),
            names,
            chains: (0..run.settings.chains as usize)
                .map(|chain| beginning(&starts[chain % starts.len()], &stored))
                .collect(),
        };
        let preparation = self.parts.begun.elapsed().as_secs_f64();
        let saved = Saved { checkpoint, seconds: 0.0, preparation, ended: None, failed: false };
        if let Some(pairs) = &pairs {
            run.pairs = Some(write_pairs(&self.folder.file("pairs.csv"), pairs)?);
        }
        let files = Instant::now();
        let writer = DrawsWriter::create(self.folder.draws(), &layout)?;
        austerity_io::run::checkpoint::write(self.folder.checkpoint(), &saved)?;
        self.folder.write_run(&run)?;
        self.fresh.keep();
        let Self { host, folder, fresh, mut budget, mut closing, .. } = self;
        if let (Some(priced), Some(all)) = (closing, run.settings.limits.seconds) {
            // The last files will take what the first ones took.
            let priced = priced.with_files(files.elapsed().as_secs_f64(), all);
            (closing, budget) = (Some(priced), budget.map(|budget| budget.reserving(priced.seconds)));
            if let (Some(plan), Some(budget)) = (&mut run.budget, &budget) {
                plan.reserving(budget);
            }
        }
        keeping.deadline = deadline(run.settings.limits.seconds, self.parts.begun, closing);
        stretch = keeping.leg(&run, 0, budget.as_ref());
        let sampler = sampler.limited(stretch.limits);
        let run = &mut run;
        let session = Session {
            resumed: false,
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
            begun: self.parts.begun,
        };
        sample(session, fresh.lock())
    }
}

fn beginning(state: &[f64], proposal: &StoredProposal) -> ChainCheckpoint<Vec<f64>, StoredProposal> {
    ChainCheckpoint::start(state.to_vec(), proposal.clone())
}

/// Writes completed decisions, as `design --trial` reads them (mean, sd with divisor N, and offset); gives the checksum of the file.
fn write_pairs(path: &Path, pairs: &Pairs) -> Result<String, Failure> {
    let rows = pairs.rows() as f64;
    let mut text = String::from("mean,sd,offset\n");
    for pair in pairs.as_slice() {
        // The offset is in the ratio already.
        text += &format!("{:e},{:e},0\n", pair.ratio / rows, pair.kappa * (rows - 1.0).sqrt() / rows);
    }
    austerity_io::run::write_file(path, text.as_bytes())?;
    Ok(austerity_io::seal::of(text.as_bytes()))
}
