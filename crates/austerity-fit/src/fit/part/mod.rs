//! Posteriors that are no regression's on all its features: what `select`, `ica` and `gibbs` do.
//!
//! | file | posterior | chains |
//! |---|---|---|
//! | `selection` | logistic regression on an unknown part of the features | Metropolis–Hastings between models ([`austerity_models::Jump`]) |
//! | `components` | an orthonormal unmixing of whitened columns | Metropolis–Hastings by rotations ([`austerity_models::Stiefel`]) |
//! | `field` | a discrete factor graph | [`austerity_models::Gibbs`] |
//! | `separate` | – | where an unmixing begins: a fixed-point search |
//!
//! Each prepares a [`Prepared`] on its own chains. From there plan, folder, checkpoints, resumption, verdict and report are those of a fit. A *sweep* is one
//! step per variable or source, four per feature; `--thin` and `--warmup` count sweeps here, so that a draw means the same in small and large problems.

mod components;
mod field;
mod selection;
mod separate;

use std::time::Instant;

use austerity::run::{Hazard, Settings, UNBOUNDED};
use austerity_glm::proposal::StoredProposal;
use austerity_io::coding::Recipe;
use serde::{Deserialize, Serialize};

use super::begin::{Opening, numbers};
use super::decide::{Decided, Wanted};
use super::engine::{AnyTarget, Chains};
use super::healing::History;
use super::options::{kept, layout, settings};
use super::plan::{DataRecord, DecisionRecord, Expected, ModelRecord, Plan, Proposing};
use super::storage::{Closing, Storage, bytes};
use super::{Asked, Done, Goal, Host, in_folder, resume};
use crate::model::Family;
use crate::output::Failure;
use crate::refusal::{About, Refusal};
use crate::request::{Keyword, PartOptions, Request, ShapeOptions};
use crate::runs::{Fresh, Overview, RunFile};
pub(crate) use components::ComponentsRecord;
pub(crate) use field::FieldRecord;
pub(crate) use selection::{INCLUDED, SelectionRecord};

/// What a plan keeps of such a posterior: enough to make the same chains again, to the bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum PartRecord {
    Selection(SelectionRecord),
    Components(ComponentsRecord),
    Field(FieldRecord),
}

impl PartRecord {
    /// What the posterior is, in sentences.
    pub(crate) fn sentences(&self) -> Vec<String> {
        match self {
            Self::Selection(record) => record.sentences(),
            Self::Components(record) => record.sentences(),
            Self::Field(record) => record.sentences(),
        }
    }

    /// The command that makes such runs.
    pub(crate) fn command(&self) -> &'static str {
        match self {
            Self::Selection(_) => "select",
            Self::Components(_) => "ica",
            Self::Field(_) => "gibbs",
        }
    }

    /// Whether many parameters are indicators, which may have one value in all draws.
    pub(crate) fn has_indicators(&self) -> bool {
        !matches!(self, Self::Components(_))
    }
}

/// A posterior with all that its plan says of it.
struct Prepared {
    data: DataRecord,
    family: Family,
    recipe: Recipe,
    record: PartRecord,
    proposal: Proposing,
    decided: Decided,
    /// Steps that a sweep has.
    sweep: usize,
    hazards: Vec<Hazard>,
    /// One state for each chain.
    starts: Vec<Vec<f64>>,
}

/// Runs one of them, from the beginning or from where it stopped.
pub(super) fn run(
    asked: &Asked<'_>,
    options: &PartOptions,
    host: &mut dyn Host,
) -> Result<Overview, Failure> {
    in_folder(asked.request, |folder| {
        if asked.request.resume {
            let run = folder.read_run()?;
            return Way { asked, begun: Instant::now(), step: Step::GoOn { folder, run: Box::new(run) } }
                .go(options, host)?
                .ran();
        }
        super::begin::check(asked.request)?;
        let goal = Goal::Run { folder, fresh: Fresh::create(folder)? };
        Way { asked, begun: Instant::now(), step: Step::Begin(goal) }.go(options, host)?.ran()
    })
}

/// Plans one of them: no folder is made, nothing is drawn.
pub(super) fn plan(asked: &Asked<'_>, options: &PartOptions, host: &mut dyn Host) -> Result<Plan, Failure> {
    super::begin::check(asked.request)?;
    Way { asked, begun: Instant::now(), step: Step::Begin(Goal::Plan) }.go(options, host)?.planned()
}

/// What is asked for and how far to go.
struct Way<'a> {
    asked: &'a Asked<'a>,
    begun: Instant,
    step: Step<'a>,
}

/// A new run, or one that goes on.
enum Step<'a> {
    Begin(Goal<'a>),
    GoOn { folder: &'a crate::runs::Folder, run: Box<RunFile> },
}

impl Way<'_> {
    fn go(self, options: &PartOptions, host: &mut dyn Host) -> Result<Done, Failure> {
        refuse_options(self.asked.request)?;
        let options = &self.options(options)?;
        match options {
            PartOptions::Select(select) => selection::go(self, select, host),
            PartOptions::Ica(ica) => components::go(self, ica, host),
            PartOptions::Gibbs => field::go(self, host),
        }
    }

    /// What was asked for at the beginning, where the run goes on: what is typed again must not differ.
    fn options(&self, typed: &PartOptions) -> Result<PartOptions, Failure> {
        let Step::GoOn { folder, run } = &self.step else { return Ok(typed.clone()) };
        let Some(stored) = &run.request.part else {
            return Err(Failure::Usage(format!(
                "{} holds the run of a fit: go on with it by `austerity fit … --resume`",
                folder.path().display()
            )));
        };
        resume::same(stored, typed, &["sources"])
    }

    /// The record of the run that goes on.
    fn record(&self) -> Option<&PartRecord> {
        match &self.step {
            Step::Begin(_) => None,
            Step::GoOn { run, .. } => run.plan.part.as_ref(),
        }
    }

    fn seed(&self) -> u64 {
        match &self.step {
            Step::Begin(_) => self.asked.request.seed_or_default(),
            Step::GoOn { run, .. } => run.plan.settings.seed,
        }
    }

    /// Chains that a run has.
    fn chains(&self) -> std::ops::Range<u32> {
        let shape = &self.asked.request.shape;
        let (chains, first) = (shape.chains.unwrap_or(4), shape.first_chain.unwrap_or(0));
        first..first.saturating_add(chains)
    }

    /// Draws what is asked for from `chains`; `prepare` is asked where the run is new.
    fn sample<'m>(
        self,
        chains: &dyn Chains<'m>,
        host: &mut dyn Host,
        prepare: impl FnOnce(&Self) -> Result<Prepared, Failure>,
    ) -> Result<Done, Failure> {
        match self.step {
            Step::GoOn { folder, run } => {
                same_length_of_sweeps(&run, &self.asked.request.shape)?;
                let shape = ShapeOptions { warmup: None, thin: None, ..self.asked.request.shape.clone() };
                let request = Request { shape, ..self.asked.request.clone() };
                let asked = Asked { table: self.asked.table, ..Asked::new(&request) };
                let overview = resume::begun(&asked, folder, *run, host)?.with(chains)?;
                Ok(Done::Ran(Box::new(overview)))
            }
            Step::Begin(ref goal) => {
                let planned_only = matches!(goal, Goal::Plan);
                let prepared = prepare(&self)?;
                let names = chains.target().names();
                let starts = prepared.starts.clone();
                let (plan, layout, closing) = self.planned(prepared, names, chains.target())?;
                let checkpoint = chains.beginning(&plan.settings, &starts, &StoredProposal::Planned);
                // What cannot be sampled is refused before a folder is written.
                drop(chains.resume(&plan.settings, checkpoint.clone())?);
                if planned_only {
                    return Ok(Done::Planned(Box::new(plan)));
                }
                let Self { asked, begun, step: Step::Begin(Goal::Run { folder, mut fresh }) } = self else {
                    return Err(Failure::Interrupted);
                };
                let history = History::default();
                let session = Opening {
                    request: asked.request,
                    folder,
                    fresh: &mut fresh,
                    host,
                    history: &history,
                    budget: None,
                    closing,
                    begun,
                }
                .write(plan, layout, checkpoint.clone(), None)?;
                let sampler = chains.resume(&session.stretch, checkpoint)?;
                session.sample(chains, sampler).map(|overview| Done::Ran(Box::new(overview)))
            }
        }
    }

    /// The plan of a new run, the layout of its draws, and what its end takes.
    fn planned(
        &self,
        prepared: Prepared,
        names: Vec<String>,
        target: &AnyTarget<'_>,
    ) -> Result<(Plan, austerity_io::run::Layout, Option<Closing>), Failure> {
        let request = self.asked.request;
        let Prepared { data, family, recipe, record, proposal, decided, sweep, hazards, .. } = prepared;
        let Decided { rule, audit, prediction, reason } = decided;
        let sweep = sweep.max(1) as u64;
        let asked = settings(request)?;
        let settings = Settings {
            rule,
            audit,
            warmup: asked.warmup.saturating_mul(sweep),
            thin: asked.thin.saturating_mul(sweep),
            ..asked
        };
        settings.check()?;
        let model = ModelRecord {
            family,
            standardize: recipe.is_standardized(),
            parameters: names.len(),
            priors: Vec::new(),
            hazards,
            modes: None,
            conflict: None,
            tails: Vec::new(),
        };
        let mut plan = Plan {
            data: DataRecord { fingerprint: format!("{:016x}", target.fingerprint()), ..data },
            model,
            decision: DecisionRecord {
                reason,
                tolerance: Wanted::read(&request.shape)?.tolerance,
                prediction,
            },
            surrogate: None,
            without: None,
            sample: None,
            wide: None,
            gradients: None,
            crossing: None,
            budget: None,
            storage: None,
            part: Some(record),
            groups: None,
            proposal,
            expected: None,
            settings,
            recipe,
        };
        let closing = Closing::of(&request.length, numbers(request, &names)?);
        let keep = kept(&request.shape, &names)?;
        let mut layout = layout(&plan, names, keep);
        let storage = Storage::plan(&layout, &request.length, closing)?;
        plan.storage = Some(storage);
        plan.settings.record_every = storage.every(&plan.settings);
        layout.stored_every = plan.settings.record_every;
        layout.draws = (plan.settings.draws / plan.settings.record_every).min(storage.most);
        let held = plan.data.bytes as u64;
        let disk = if plan.settings.draws < UNBOUNDED {
            layout.bytes(layout.draws)
        } else {
            bytes(&layout, layout.draws)
        };
        plan.expected = Some(Expected { rows: None, seconds: None, resident: held, data: held, disk });
        Ok((plan, layout, closing))
    }
}

/// Refuses options of `fit` that mean nothing here.
fn refuse_options(request: &Request) -> Result<(), Failure> {
    let shape = &request.shape;
    let refused = [
        (Keyword::Prior, shape.prior.is_some()),
        (Keyword::PriorIntercept, shape.prior_intercept.is_some()),
        (Keyword::Priors, !shape.priors.is_empty()),
        (Keyword::Surrogate, shape.surrogate.is_some()),
        (Keyword::Proposal, shape.proposal.is_some()),
        (Keyword::Tolerance, shape.tolerance.is_some()),
        (Keyword::Preset, shape.preset.is_some()),
        (Keyword::Law, shape.law.is_some()),
    ];
    match refused.into_iter().find(|(_, given)| *given) {
        Some((keyword, _)) => Err(Refusal::Value {
            keyword,
            value: "given".into(),
            why: "only `fit` takes it; leave it out".into(),
        }
        .into()),
        None => Ok(()),
    }
}

/// Warm-up and thinning count sweeps: compared with what was asked for, not with the steps of the plan.
fn same_length_of_sweeps(run: &RunFile, typed: &ShapeOptions) -> Result<(), Failure> {
    let before = &run.request.shape;
    for (keyword, typed, stored) in [
        (Keyword::Warmup, typed.warmup, before.warmup.unwrap_or(1000)),
        (Keyword::Thin, typed.thin, before.thin.unwrap_or(1)),
    ] {
        if let Some(now) = typed.filter(|now| *now != stored) {
            let (stored, now) = (stored.to_string(), now.to_string());
            return Err(Refusal::Changed { what: About::Keyword(keyword), stored, now }.into());
        }
    }
    Ok(())
}
