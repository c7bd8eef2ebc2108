//! A new run: data and mode, then the plan, then the folder and the chains.
//!
//! [`Planner`] holds what is known before anything is chosen. What it chooses is one [`Chosen`] on one engine, whatever the model: a regression that can
//! be expanded, one that sums its rows up, or a user's own. [`Finish`] completes the plan on that engine and, unless only the plan was asked for, writes
//! the folder and samples.

use std::path::Path;
use std::time::{Instant, SystemTime};

use austerity::design::Pairs;
use austerity::rule::RuleSettings;
use austerity::run::{Checkpoint, Settings, UNBOUNDED};
use austerity_glm::Glm;
use austerity_glm::proposal::StoredProposal;
use austerity_io::coding::Recipe;
use austerity_io::run::{DrawsWriter, Layout};

use super::budget::{Budget, Sitting};
use super::choose::Chosen;
use super::decide::{Decided, Wanted};
use super::engine::{Engine as _, ModelChains, OnRows, Work};
use super::execute::{Keeping, Session};
use super::gradients::OnGradients;
use super::groups::{self, GroupsRecord};
use super::healing::History;
use super::options::{kept, layout, priors, settings};
use super::plan::{DataRecord, DecisionRecord, Expected, ModelRecord, Plan, PriorRecord, Without, words};
use super::prior_table::PriorTable;
use super::spikes::FindSpikes;
use super::start::{FindMode, Start, hazards, starts};
use super::storage::{Closing, Storage, bytes};
use super::tails::FindTails;
use super::{Asked, AskedPriors, Done, Goal, Host, pace, unless_closed};
use crate::data::{self, Loaded, all_cores};
use crate::model::{Family, Posterior, Regression, Task};
use crate::output::Failure;
use crate::parts::{PartsRecord, STATE, State};
use crate::refusal::Refusal;
use crate::request::{ProposalChoice, Request};
use crate::runs::{FORMAT, Folder, Fresh, RunFile, Saved};

/// Effective draws per chain that a run without a length is planned for, and its fewest and most draws.
const EFFECTIVE: f64 = 600.0;
const FEWEST: f64 = 2_000.0;
const MOST: f64 = 200_000.0;

/// Options that make no sense are refused before a folder is made.
pub(super) fn check(request: &Request) -> Result<(), Failure> {
    Wanted::read(&request.shape)?;
    request.shape.check()?;
    settings(request)?;
    Ok(())
}

/// The priors that the request makes of the data.
pub(super) fn prior_records(asked: &Asked<'_>) -> Result<PriorTable, Failure> {
    let rows = Rows::load(asked, &Wanted::read(&asked.request.shape)?)?;
    let (records, store) = (rows.prior_records(), &rows.loaded.store);
    Ok(PriorTable {
        family: rows.family,
        records,
        means: store.column_means(),
        intercept: store.description().intercept,
        priors: rows.priors.priors.clone(),
    })
}

/// The data of a regression, and what the request makes of them.
pub(super) struct Rows {
    pub(super) loaded: Loaded,
    pub(super) family: Family,
    /// Parameters, those of the likelihood last.
    pub(super) names: Vec<String>,
    pub(super) priors: AskedPriors,
    /// Rows in all and what passes did, where the data are in parts.
    parts: Option<(usize, PartsRecord)>,
}

impl Rows {
    fn load(asked: &Asked<'_>, wanted: &Wanted) -> Result<Self, Failure> {
        let Request { data, shape, threads, .. } = asked.request;
        let loaded = match asked.prepared {
            Some(prepared) => prepared.loaded.clone(),
            None => data::load_with_groups(data, asked.table, asked.request.seed_or_default(), *threads)?,
        };
        let family = Family::for_data(data.family, &loaded)?;
        wanted.check(loaded.store.rows())?;
        let mut names = loaded.store.coefficient_names();
        for extra in family.extra() {
            if names.iter().any(|name| name == extra.name) {
                let (name, about) = (extra.name, extra.about);
                return Err(Refusal::ExtraColumn { file: data.file.clone(), name, about }.into());
            }
            names.push(extra.name.into());
        }
        if loaded.groups.is_empty() {
            kept(shape, &names)?;
        }
        let priors = match asked.prepared {
            Some(prepared) => prepared.priors.clone(),
            None => priors(shape, &loaded.store, family)?,
        };
        Ok(Self {
            loaded,
            family,
            names,
            priors,
            parts: asked.prepared.map(|made| (made.rows, made.record.clone())),
        })
    }

    fn posterior(&self) -> Posterior<'_> {
        Posterior { family: self.family, store: &self.loaded.store, priors: &self.priors.priors }
    }

    /// The mode, and what is wrong with the data.
    fn start(&self, budget: Option<Budget>, threads: usize) -> Result<Start, Failure> {
        let (store, family) = (&self.loaded.store, self.family);
        let find = find(&self.loaded, family, &self.priors, (budget, threads));
        let smooth = self.priors.priors.smooth();
        let mut start = Posterior { family, store, priors: &smooth }.build(false, find)?;
        start.hazards.extend(hazards(store, family, &start.mode));
        let find = FindTails { priors: &self.priors.priors, mode: &start.mode };
        if find.is_needed() && start.hurried.is_none() {
            start.tails = self.posterior().build(false, find)?;
        }
        if start.hurried.is_none() {
            let find = FindSpikes { priors: &self.priors.priors, mode: &start.mode, free: &start.tails };
            start.spikes = if find.is_needed() { self.posterior().build(false, find)? } else { Vec::new() };
        }
        Ok(start)
    }

    fn prior_records(&self) -> Vec<PriorRecord> {
        PriorRecord::list(&self.names, &self.priors)
    }

    /// What a plan says of the data.
    fn record(&self, request: &Request, start: &Start) -> DataRecord {
        let mut record = DataRecord::of(request, &self.loaded);
        record.remarks.extend(start.remarks.iter().cloned());
        if let Some((rows, parts)) = &self.parts {
            // Kept rows stand for others.
            record = DataRecord { rows: *rows, parts: Some(parts.clone()), successes: None, ..record };
        }
        record
    }
}

/// How the mode of some rows is found.
fn find<'a>(
    loaded: &Loaded,
    family: Family,
    priors: &'a AskedPriors,
    (budget, threads): (Option<Budget>, usize),
) -> FindMode<'a> {
    let store = &loaded.store;
    FindMode {
        family,
        priors,
        centre: store.description().response_shift,
        intercept: store.description().intercept,
        width: if family.has_sigma() { store.response_sd() } else { 1.0 },
        offset: loaded.recipe.offset.is_some(),
        budget,
        threads,
    }
}

/// The mode of some rows and the covariance there.
pub(crate) fn mode_of(
    loaded: &Loaded,
    family: Family,
    priors: &AskedPriors,
    threads: usize,
) -> Result<(Vec<f64>, Vec<f64>), Failure> {
    let smooth = priors.priors.smooth();
    let posterior = Posterior { family, store: &loaded.store, priors: &smooth };
    let start = posterior.build(false, find(loaded, family, priors, (None, threads)))?;
    Ok((start.mode.state, start.mode.covariance))
}

/// Begins a run of a regression, as careful as its history asks for; or only plans it.
pub(super) fn run(
    asked: &Asked<'_>,
    goal: Goal<'_>,
    history: History,
    host: &mut dyn Host,
) -> Result<Done, Failure> {
    let request = asked.request;
    let begun = Instant::now();
    let wanted = Wanted::read(&request.shape)?.with_care(history.care());
    host.note("reading the data");
    let rows = Rows::load(asked, &wanted)?;
    if rows.loaded.groups.is_empty() {
        groups::refuse_without(request)?;
    }
    let scales = if rows.loaded.recipe.is_standardized() { 2 } else { 1 };
    let numbers = if rows.loaded.groups.is_empty() {
        numbers(request, &rows.names)?
    } else {
        // Standard deviations between groups have no names yet.
        (rows.names.len() + 1) * request.shape.chains.unwrap_or(4) as usize
    };
    let closing = Closing::of(&request.length, scales * numbers);
    host.note("finding the mode");
    // Sums of squares make every rule of a linear model exact and free.
    let sitting = Sitting { begun, closing: closing.map_or(0.0, |closing| closing.seconds) };
    let proposal = request.shape.proposal.unwrap_or_default();
    let budget = Budget::read(&request.length, &wanted, proposal, sitting)
        .filter(|_| rows.family != Family::Linear && rows.loaded.groups.is_empty());
    let start = rows.start(budget, all_cores(request.threads))?;
    let by_rows = wanted.wants_test();
    let planner = Planner {
        request,
        goal,
        host,
        wanted,
        starts: asked.prepared.and_then(|made| made.starts.clone()),
        state: asked.prepared.map(|made| &made.state),
        data: rows.record(request, &start),
        model: ModelRecord::of(rows.family, rows.prior_records(), &rows.loaded.recipe, &start),
        recipe: rows.loaded.recipe.clone(),
        start,
        without: None,
        unbridged: false,
        budget,
        groups: None,
        closing,
        history,
        begun,
    };
    if !rows.loaded.groups.is_empty() {
        return groups::begin(planner, &rows);
    }
    rows.posterior().build(by_rows, planner)
}

/// Numbers of a draw of all chains that are stored.
pub(super) fn numbers(request: &Request, names: &[String]) -> Result<usize, Failure> {
    let each = kept(&request.shape, names)?.map_or(names.len(), |kept| kept.len());
    Ok(each * request.shape.chains.unwrap_or(4) as usize)
}

/// One state per chain, or one for all.
type Starts = Vec<Vec<f64>>;

/// What is known of a run before it is planned.
pub(super) struct Planner<'a> {
    pub(super) request: &'a Request,
    pub(super) goal: Goal<'a>,
    pub(super) host: &'a mut dyn Host,
    pub(super) wanted: Wanted,
    /// The mode, and where chains start.
    pub(super) start: Start,
    /// Where chains start, where they go on from those of another run.
    pub(super) starts: Option<Starts>,
    /// What the run keeps of data in parts.
    pub(super) state: Option<&'a State>,
    pub(super) data: DataRecord,
    pub(super) model: ModelRecord,
    pub(super) recipe: Recipe,
    /// Why there is no surrogate, where that was found out.
    pub(super) without: Option<Without>,
    /// Whether chains could not cross between several modes.
    pub(super) unbridged: bool,
    pub(super) budget: Option<Budget>,
    /// The groups of a multilevel fit.
    pub(super) groups: Option<GroupsRecord>,
    pub(super) closing: Option<Closing>,
    pub(super) history: History,
    pub(super) begun: Instant,
}

impl Task for Planner<'_> {
    type Output = Done;

    fn run<M: Regression>(mut self, model: &M) -> Result<Done, Failure> {
        if let Some((chosen, record)) = self.gradients(model.names().len())? {
            return OnGradients { model, record }.give(Finish { planner: self, chosen });
        }
        let chosen = self.on_rows(model)?;
        OnRows(model).give(Finish { planner: self, chosen })
    }

    fn run_expandable<F: austerity_glm::glm::Family>(mut self, model: &Glm<F>) -> Result<Done, Failure> {
        let (chosen, engine) = self.glm(model)?;
        engine.give(Finish { planner: self, chosen })
    }
}

impl Planner<'_> {
    /// The proposal that was asked for.
    pub(super) fn proposal(&self) -> ProposalChoice {
        self.request.shape.proposal.unwrap_or_default()
    }

    /// Threads for work on all rows.
    pub(super) fn threads(&self) -> usize {
        all_cores(self.request.threads)
    }

    /// The plan of a choice, and the layout of its draws; what it will take is not known yet.
    fn plan(&self, chosen: Chosen, names: Vec<String>, fingerprint: u64) -> Result<(Plan, Layout), Failure> {
        let Chosen {
            candidates,
            decided,
            surrogate,
            sample,
            wide,
            gradients,
            crossing,
            budget,
            mut settings,
            ..
        } = chosen;
        let Decided { rule, audit, prediction, reason } = decided;
        if self.request.length.draws.is_none() && settings.draws < UNBOUNDED && wide.is_none() {
            settings.draws =
                ((EFFECTIVE / candidates.worth).clamp(FEWEST, MOST) as u64).next_multiple_of(1000);
        }
        (settings.rule, settings.audit) = (rule, audit);
        let mut plan = Plan {
            data: DataRecord { fingerprint: format!("{fingerprint:016x}"), ..self.data.clone() },
            model: ModelRecord { parameters: names.len(), ..self.model.clone() },
            decision: DecisionRecord { reason, tolerance: self.wanted.tolerance, prediction },
            surrogate,
            without: self.without.clone().filter(Without::is_found),
            sample,
            wide,
            gradients,
            crossing,
            budget,
            storage: None,
            part: None,
            groups: self.groups.clone(),
            proposal: candidates.proposing,
            expected: None,
            settings,
            recipe: self.recipe.clone(),
        };
        let keep = kept(&self.request.shape, &names)?;
        let mut layout = layout(&plan, names, keep);
        let storage = Storage::plan(&layout, &self.request.length, self.closing)?;
        plan.storage = Some(storage);
        plan.settings.record_every = storage.every(&plan.settings);
        layout.stored_every = plan.settings.record_every;
        layout.draws = (plan.settings.draws / plan.settings.record_every).min(storage.most);
        Ok((plan, layout))
    }

    /// Where chains start; at the mode where one of their starts is impossible.
    fn starts(&self, chains: &dyn ModelChains<'_>, settings: &Settings) -> Result<Starts, Failure> {
        let numbers = settings.first_chain..settings.first_chain + settings.chains;
        let starts = match &self.starts {
            Some(starts) => starts.clone(),
            None => starts(&self.start, settings.seed, numbers, |state| chains.log_prior(state))?,
        };
        match chains.check_starts(&starts) {
            Err(austerity::Error::ImpossibleStart { .. }) => {
                let mode = vec![self.start.mode.state.clone()];
                chains.check_starts(&mode)?;
                Ok(mode)
            }
            checked => Ok(checked.map(|()| starts)?),
        }
    }

    /// Whether chains are timed before they run: where decisions read all rows, where draws are made again, and where only the plan was asked for.
    fn is_timed(&self, plan: &Plan) -> bool {
        let exact = matches!(plan.model.family, Family::Glm(_))
            && matches!(plan.settings.rule, RuleSettings::Exact { .. })
            // Paths on all rows were timed by their pilot.
            && plan.wide.is_none();
        exact || !self.history.is_empty() || matches!(self.goal, Goal::Plan)
    }
}

/// Completes a plan on its engine and, unless only that was asked for, writes the folder and samples.
pub(super) struct Finish<'a> {
    pub(super) planner: Planner<'a>,
    pub(super) chosen: Chosen,
}

impl Work for Finish<'_> {
    type Output = Done;

    fn on<'m>(self, chains: &dyn ModelChains<'m>) -> Result<Done, Failure> {
        let Self { mut planner, mut chosen } = self;
        let (stored, pairs) = (chosen.candidates.stored.clone(), chosen.pairs.take());
        let target = chains.target();
        let (mut plan, layout) = planner.plan(chosen, target.names(), target.fingerprint())?;
        let keeping = Keeping::new(planner.request, &plan, planner.begun);
        let stretch = keeping.leg(&plan, 0, planner.budget.as_ref());
        let starts = planner.starts(chains, &stretch)?;
        // What cannot be sampled is refused before a folder is written.
        let sampler = chains.resume(&stretch, chains.beginning(&stretch, &starts, &stored))?;
        let timed = planner.is_timed(&plan);
        let threads = planner.threads();
        plan.expected = Some(Expected {
            seconds: if timed {
                pace::expected(chains, &plan.settings, &stored, (&starts[0], threads))
            } else {
                None
            },
            disk: if plan.settings.draws < UNBOUNDED {
                layout.bytes(layout.draws)
            } else {
                bytes(&layout, layout.draws)
            },
            ..Expected::memory(&chains.memory(&stretch)?, &plan)
        });
        if matches!(planner.goal, Goal::Plan) {
            return Ok(Done::Planned(Box::new(plan)));
        }
        let checkpoint = chains.beginning(&plan.settings, &starts, &stored);
        let session = planner.write(plan, layout, checkpoint, pairs.as_ref())?;
        let sampler = sampler.limited(session.stretch.limits);
        session.sample(chains, sampler).map(|overview| Done::Ran(Box::new(overview)))
    }
}

impl Planner<'_> {
    /// Tells the plan and writes the folder: what follows is a session like any other.
    fn write(
        &mut self,
        plan: Plan,
        layout: Layout,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
        pairs: Option<&Pairs>,
    ) -> Result<Session<'_>, Failure> {
        let Goal::Run { folder, fresh } = &mut self.goal else { return Err(Failure::Interrupted) };
        if let Some(state) = self.state {
            state.write(&folder.file(STATE))?;
        }
        Opening {
            request: self.request,
            folder,
            fresh,
            host: self.host,
            history: &self.history,
            budget: self.budget,
            closing: self.closing,
            begun: self.begun,
        }
        .write(plan, layout, checkpoint, pairs)
    }
}

/// A folder that is about to become that of a run.
pub(super) struct Opening<'a, 'f> {
    pub(super) request: &'a Request,
    pub(super) folder: &'f Folder,
    pub(super) fresh: &'a mut Fresh<'f>,
    pub(super) host: &'a mut dyn Host,
    pub(super) history: &'a History,
    pub(super) budget: Option<Budget>,
    pub(super) closing: Option<Closing>,
    pub(super) begun: Instant,
}

impl<'a, 'f: 'a> Opening<'a, 'f> {
    /// Tells the plan and writes the folder.
    pub(super) fn write(
        self,
        plan: Plan,
        mut layout: Layout,
        checkpoint: Checkpoint<Vec<f64>, StoredProposal>,
        pairs: Option<&Pairs>,
    ) -> Result<Session<'a>, Failure> {
        let Self { request, folder, fresh, host, history, budget, closing, begun } = self;
        let again = !history.is_empty();
        if let (true, Some(takes)) = (again, words::takes(&plan)) {
            host.warn(&format!(
                "Making all draws again takes {takes}. Ctrl-C keeps what was drawn by then; --resume continues."
            ));
        }
        unless_closed(host.plan(&words::of(&plan, host.dialect())))?;
        let created = humantime::format_rfc3339_seconds(SystemTime::now()).to_string();
        layout.created_at.clone_from(&created);
        let mut run = RunFile {
            version: checkpoint.version.clone(),
            format: FORMAT,
            created,
            merged: Vec::new(),
            healed: history.records(),
            pairs: pairs.map(|pairs| write_pairs(&folder.file("pairs.csv"), pairs)).transpose()?,
            request: request.clone(),
            plan,
        };
        let preparation = begun.elapsed().as_secs_f64();
        let saved = Saved { checkpoint, seconds: 0.0, preparation, ended: None, failed: false };
        let files = Instant::now();
        let writer = DrawsWriter::create(folder.draws(), &layout)?;
        austerity_io::run::checkpoint::write(folder.checkpoint(), &saved)?;
        folder.write_run(&run)?;
        fresh.keep();
        let (mut closing, mut budget) = (closing, budget);
        if let (Some(priced), Some(all)) = (closing, run.plan.settings.limits.seconds) {
            // The last files will take what the first ones took.
            let priced = priced.with_files(files.elapsed().as_secs_f64(), all);
            (closing, budget) = (Some(priced), budget.map(|budget| budget.reserving(priced.seconds)));
            if let (Some(plan), Some(budget)) = (&mut run.plan.budget, &budget) {
                plan.reserving(budget);
            }
        }
        let keeping = Keeping::new(request, &run.plan, begun).until(&run.plan, closing);
        let stretch = keeping.leg(&run.plan, 0, budget.as_ref());
        Ok(Session { resumed: false, folder, run, host, budget, keeping, stretch, writer, saved })
    }
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
