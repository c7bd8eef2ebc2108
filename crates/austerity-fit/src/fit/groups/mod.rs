//! Multilevel fits, `y ~ x + (1 | g)`: effects of groups are integrated out, and the groups are the rows of the population that decisions are about.
//!
//! | file | what it does |
//! |---|---|
//! | `mod` | the model of a new run or of one that goes on, its mode, its number of nodes |
//! | `record` | [`GroupsRecord`]: what a plan keeps, and its words |
//! | `describe` | the effects of every group, from the draws, in `groups.json` |
//!
//! The mode of the regression without group effects comes first and is where the search for the mode of the marginal posterior begins. From there on a multilevel model is one whose
//! rows can be differentiated ([`austerity_glm::own::FromBatches`]): surrogate, proposals, rules, audits and resumption are those of other fits, with groups where these have rows.

mod describe;
mod record;

use std::sync::Arc;

use austerity::model::{Mode, find_mode};
use austerity_glm::groups::marginal::Effect;
use austerity_glm::groups::model::{kernel_of, normal_kernel};
use austerity_glm::groups::{
    Grouped, MOST_EFFECTS, Membership, Multilevel, MultilevelSettings, Scales, Tabled, check,
};
use austerity_glm::own::{FromBatches, from_batches};
use austerity_glm::{Prior, Priors};
use austerity_io::coding::formula::Grouping;

use super::begin::{Finish, Planner, Rows};
use super::crossing::{self, CrossingRecord};
use super::engine::{Engine as _, OnResiduals, OnRows};
use super::own::expanded;
use super::plan::PriorRecord;
use super::resume::Resume;
use super::{Done, surrogate};
use crate::data::{Loaded, all_cores};
use crate::model::Family;
use crate::output::Failure;
use crate::refusal::{GroupRefusal, Refusal};
use crate::request::{Keyword, ProposalChoice, Request, SurrogateChoice};
use crate::runs::Overview;
pub(crate) use describe::{GroupEffects, LevelEffect};
pub(crate) use record::{GroupsRecord, TablesRecord};

/// The prior of a group's standard deviation unless another is named.
pub(crate) const DEFAULT_PRIOR: Prior = Prior::HalfStudent { freedom: 3.0, scale: 2.5 };
/// η of the LKJ prior of correlations: uniform over correlation matrices.
const LKJ: f64 = 1.0;
/// Nodes per effect while the mode is looked for.
const FIRST_NODES: usize = 7;
/// Where the search for a standard deviation begins, in the unit of the linear predictor.
const FIRST_SD: f64 = 0.5;

/// Standard deviation of the logarithm of a standard deviation beyond which it may be 0.
const MOST_UNSURE: f64 = 0.45;
/// Groups beyond which a sample of them is cheaper than tables of all.
const MOST_TABLED: usize = 2_000;
/// Error of a difference of log-likelihoods that tables may have.
pub(crate) const MOST_TABLE_ERROR: f64 = 0.03;

/// A multilevel model on its data.
pub(super) type Model = FromBatches<Multilevel>;

/// What a model is built from.
struct Parts<'a> {
    loaded: &'a Loaded,
    family: Family,
    /// Of coefficients and extra parameters.
    priors: Priors,
    /// Of standard deviations.
    scales: Vec<Prior>,
    /// Names of coefficients and extra parameters.
    names: Vec<String>,
    nodes: usize,
    threads: usize,
    seed: u64,
}

/// The one group term of a formula.
fn grouping(loaded: &Loaded) -> Result<&Grouping, Failure> {
    match &loaded.groups[..] {
        [one] => Ok(one),
        several => {
            let names = several.iter().map(|group| group.name.clone()).collect();
            Err(Refusal::Groups(GroupRefusal::Several { names }).into())
        }
    }
}

/// Whether a column of the design stands for a level of `factor`, as `city[Bonn]` does.
fn is_level_of(column: &str, factor: &str) -> bool {
    column.strip_prefix(factor).is_some_and(|rest| rest.starts_with('['))
}

/// Effects of a group term, and their names.
fn effects(loaded: &Loaded, grouping: &Grouping) -> Result<(Vec<Effect>, Vec<String>), Failure> {
    let refuse = |why| Err(Failure::from(Refusal::Groups(why)));
    let group = grouping.name.clone();
    let columns = &loaded.store.description().columns;
    let (mut effects, mut names) = (Vec::new(), Vec::new());
    if grouping.intercept {
        effects.push(Effect::Intercept);
        names.push("intercept".to_owned());
    }
    for slope in &grouping.slopes {
        match columns.iter().position(|column| column.name == *slope && column.factor.is_none()) {
            Some(place) => effects.push(Effect::Column(place)),
            None if columns.iter().any(|column| is_level_of(&column.name, slope)) => {
                return refuse(GroupRefusal::TextSlope { group, slope: slope.clone() });
            }
            None => return refuse(GroupRefusal::Slope { group, slope: slope.clone() }),
        }
        names.push(slope.clone());
    }
    if effects.is_empty() || effects.len() > MOST_EFFECTS {
        return refuse(GroupRefusal::Effects { group, effects: effects.len(), most: MOST_EFFECTS });
    }
    Ok((effects, names))
}

impl Parts<'_> {
    fn build(self) -> Result<Model, Failure> {
        let Self { loaded, family, priors, scales, mut names, nodes, threads, seed } = self;
        let grouping = grouping(loaded)?;
        let (effects, terms) = effects(loaded, grouping)?;
        let scales = Scales::new(scales, grouping.correlated, LKJ)?;
        names.extend(scales.names(&grouping.name, &terms));
        let kernel = match family {
            Family::Glm(family) => kernel_of(family),
            _ => normal_kernel(),
        };
        let membership = Membership { group: grouping.codes.clone(), levels: grouping.levels.clone() };
        let data = Arc::new(Grouped::new(&loaded.store, &membership, seed)?);
        let settings = MultilevelSettings { effects, scales, priors, nodes, names, threads };
        Ok(from_batches(Multilevel::new(data, kernel, settings)?)?)
    }
}

/// The prior of every standard deviation.
fn scale_prior(request: &Request) -> Result<Prior, Failure> {
    match request.shape.prior_group {
        None => Ok(DEFAULT_PRIOR),
        Some(prior) => {
            let refused = || Refusal::SigmaPrior { name: "the standard deviation of a group".into(), prior };
            Ok(prior.positive().ok_or_else(refused)?)
        }
    }
}

/// Where the search for the mode begins: at that of the regression without group effects.
fn first(model: &Model, plain: &[f64], family: Family) -> Vec<f64> {
    let scales = model.likelihoods().scales();
    let unit = if family.has_sigma() { plain.last().copied().unwrap_or(0.0) } else { 0.0 };
    let mut recorded = vec![FIRST_SD * unit.exp(); scales.effects()];
    recorded.resize(
        scales.effects()
            + if scales.is_correlated() { scales.effects() * (scales.effects() - 1) / 2 } else { 0 },
        0.0,
    );
    plain.iter().copied().chain(scales.read(&recorded)).collect()
}

/// Begins a run, or plans it.
pub(super) fn begin(mut planner: Planner<'_>, rows: &Rows) -> Result<Done, Failure> {
    let request = planner.request;
    refuse(request, rows)?;
    let grouping = grouping(&rows.loaded)?;
    let prior = scale_prior(request)?;
    let (_, terms) = effects(&rows.loaded, grouping)?;
    let threads = planner.threads();
    let parts = |nodes: usize| Parts {
        loaded: &rows.loaded,
        family: rows.family,
        priors: rows.priors.priors.clone(),
        scales: vec![prior; terms.len()],
        names: rows.names.clone(),
        nodes,
        threads,
        seed: request.seed_or_default(),
    };
    planner.host.note("sorting the rows by group");
    let model = parts(FIRST_NODES).build()?;
    planner.host.note("finding the mode with the effects of groups integrated out");
    let plain = &planner.start.mode.state[..rows.names.len()];
    let mode = found(&model, &first(&model, plain, rows.family))?;
    planner.host.note("looking how many nodes the integrals need");
    let looked: Vec<usize> = std::iter::once(0).chain(rows.names.len()..mode.state.len()).collect();
    let nodes = check::nodes(model.likelihoods(), &mode.state, &mode.covariance, &looked);
    let (model, mode) = if nodes.nodes == FIRST_NODES {
        (model, mode)
    } else {
        drop(model);
        let model = parts(nodes.nodes).build()?;
        let mode = found(&model, &mode.state)?;
        (model, mode)
    };
    let record = GroupsRecord::new(grouping, &terms, model.likelihoods(), &nodes);
    let names = model.likelihoods().scales().names(&grouping.name, &terms);
    planner.model.priors.extend(names.iter().take(terms.len()).map(|name| PriorRecord {
        parameter: name.clone(),
        prior: prior.to_string(),
        at_means: false,
        default: request.shape.prior_group.is_none(),
    }));
    planner.start.modes.clear();
    planner.start.spikes.clear();
    planner.start.tails.clear();
    (planner.model.tails, planner.model.modes) = (Vec::new(), None);
    planner.start.mode = mode;
    planner.data.bytes = model.likelihoods().data().bytes();
    planner.groups = Some(record);
    let done = sampled(planner, &model)?;
    match done {
        Done::Ran(overview) => {
            describe::write(*overview, &model, grouping).map(|overview| Done::Ran(Box::new(overview)))
        }
        planned @ Done::Planned(_) => Ok(planned),
    }
}

/// Whether a standard deviation may be 0 as far as the data tell, so that its logarithm has a long tail that neither an expansion nor independent draws follow, and what would not
/// serve there is left open.
fn leans_against_zero(planner: &Planner<'_>, model: &Model) -> bool {
    let shape = &planner.request.shape;
    let open = shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto
        && planner.proposal() == ProposalChoice::Auto
        && !planner.wanted.wants_test()
        && !planner.wanted.certified();
    let mode = &planner.start.mode;
    let d = mode.state.len();
    let scales = model.likelihoods().scales();
    let first = d - scales.parameters();
    open && (first..d)
        .filter(|place| scales.is_logarithm(place - first))
        .any(|place| mode.covariance[place * d + place] > MOST_UNSURE * MOST_UNSURE)
}

/// Chains on node tables where these serve, else on all groups or a surrogate of them.
fn sampled(mut planner: Planner<'_>, model: &Model) -> Result<Done, Failure> {
    let multilevel = model.likelihoods();
    if leans_against_zero(&planner, model) {
        planner.host.note("the standard deviation between groups may be 0: walking");
        let chosen = planner.walk_exactly(planner.start.mode.state.len())?;
        return OnRows(model).give(Finish { planner, chosen });
    }
    let open = planner.request.shape.surrogate.unwrap_or_default() == SurrogateChoice::Auto
        && planner.wanted.is_open()
        && !planner.proposal().needs_surrogate();
    if !open || multilevel.data().len() > MOST_TABLED || !Tabled::suits(multilevel) {
        return expanded(planner, model);
    }
    planner.host.note("summing the rows of every group at fixed nodes");
    let centre = planner.start.mode.state.clone();
    let tabled = Tabled::new(multilevel, &centre)?;
    let error = tabled.error(&centre, &planner.start.mode.covariance, planner.request.seed_or_default());
    if error.is_nan() || error >= MOST_TABLE_ERROR {
        return expanded(planner, model);
    }
    if let Some(record) = &mut planner.groups {
        record.tables = Some(TablesRecord { centre, error });
    }
    let tabled = from_batches(tabled)?;
    let chosen = planner.on_rows(&tabled)?;
    OnRows(&tabled).give(Finish { planner, chosen })
}

/// Refuses options about groups where there are none.
pub(super) fn refuse_without(request: &Request) -> Result<(), Failure> {
    let shape = &request.shape;
    let given =
        [(Keyword::PriorGroup, shape.prior_group.is_some()), (Keyword::KeepGroups, shape.keep_groups)];
    match given.into_iter().find(|(_, given)| *given) {
        Some((keyword, _)) => Err(Refusal::Groups(GroupRefusal::NoGroups { keyword }).into()),
        None => Ok(()),
    }
}

/// Refuses what has no meaning with groups.
fn refuse(request: &Request, rows: &Rows) -> Result<(), Failure> {
    let why = |why| Err(Refusal::Groups(why).into());
    if request.data.standardize {
        return why(GroupRefusal::Standardized);
    }
    let grouping = grouping(&rows.loaded)?;
    if grouping.levels.len() == rows.loaded.store.rows() && rows.family.has_sigma() {
        return why(GroupRefusal::AsManyAsRows { group: grouping.name.clone() });
    }
    Ok(())
}

fn found(model: &Model, start: &[f64]) -> Result<Mode, Failure> {
    find_mode(model, start)
        .map_err(|error| Refusal::Groups(GroupRefusal::NoMode { error: error.to_string() }).into())
}

/// Goes on with a run whose data were read again and compared.
pub(super) fn resume(
    resumed: Resume<'_>,
    loaded: &Loaded,
    priors: &Priors,
    threads: usize,
) -> Result<Overview, Failure> {
    let plan = resumed.run.plan.clone();
    let Some(record) = &plan.groups else { return Err(crate::model::own()) };
    let grouping = grouping(loaded)?;
    let (_, terms) = effects(loaded, grouping)?;
    record.compare(grouping, &terms)?;
    let plain = loaded.store.coefficients() + plan.model.family.extra().len();
    let all: Vec<Prior> = priors.iter().copied().collect();
    let mut own = priors.clone();
    for _ in plain..all.len() {
        own = own.apart_from_last().map_or_else(|| priors.clone(), |(rest, _)| rest);
    }
    let mut names = loaded.store.coefficient_names();
    names.extend(plan.model.family.extra().iter().map(|extra| extra.name.to_owned()));
    let threads = all_cores(threads);
    let model = Parts {
        loaded,
        family: plan.model.family,
        priors: own,
        scales: all[plain..].to_vec(),
        names,
        nodes: record.nodes,
        threads,
        seed: plan.settings.seed,
    }
    .build()?;
    if let Some(tables) = &record.tables {
        let tabled = from_batches(Tabled::new(model.likelihoods(), &tables.centre)?)?;
        return describe::write(OnRows(&tabled).give(resumed)?, &model, grouping);
    }
    let overview = if let Some(crossed) = plan.crossing.clone().filter(CrossingRecord::is_expanded) {
        crossing::restored(&model, &crossed, false, threads)?.give(resumed)?
    } else if let Some(record) = &plan.surrogate {
        OnResiduals(surrogate::restored(&model, record, false, threads)?).give(resumed)?
    } else {
        OnRows(&model).give(resumed)?
    };
    describe::write(overview, &model, grouping)
}
