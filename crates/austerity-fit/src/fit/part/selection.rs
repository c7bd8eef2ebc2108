//! `select`: which features of a logistic regression matter.
//!
//! Columns are standardised unless asked otherwise, since one prior holds for all coefficients. Two numbers of the walk follow from the logistic regression on
//! all features: with s the median posterior sd of its coefficients, steps of a coefficient have sd 2.4·s and the coefficients of new features 3·s
//! ([`austerity_models::Jump`]). A strong feature enters with a small coefficient and climbs. Chains begin at different models: all features, the strongest one, random
//! halves.
//!
//! The posterior is improper where all coefficients vanish ([`austerity_models::SelectionPrior`]); a floor of s/1000 on ‖β‖₁ makes it proper.
//!
//! A chain's state is one number per feature, 0 for those that are out. Cost: O(D) per step beside the decision.

use austerity::error::Error;
use austerity::kernel::metropolis::check_starts;
use austerity::model::{Access, Model, Parameters, find_mode};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::{Rng, Role, stream};
use austerity_glm::glm::Logistic;
use austerity_glm::proposal::StoredProposal;
use austerity_glm::{Glm, NoiseTails, ResponseKind};
use austerity_models::selection::{SelectionRatio, SelectionScratch};
use austerity_models::{Jump, Selection, SelectionPrior, VariableSelection};
use rand::RngExt as _;
use serde::{Deserialize, Serialize};

use super::{PartRecord, Prepared, Step, Way};
use crate::data::{self, Loaded};
use crate::fit::decide::Decided;
use crate::fit::engine::OfModel;
use crate::fit::plan::{DataRecord, Proposing};
use crate::fit::save_draws::Stored;
use crate::fit::{Done, Host, resume};
use crate::model::Family;
use crate::output::Failure;
use crate::request::{DataOptions, FamilyChoice, SelectOptions};

/// Steps of a coefficient, and coefficients of new features, in posterior sds of the regression on all features.
const UPDATE: f64 = 2.4;
const BIRTH: f64 = 3.0;
/// The floor on ‖β‖₁ in the same unit.
const FLOOR: f64 = 1e-3;

/// Steps per feature between two draws: each changes one feature at the most.
const STEPS: usize = 4;

/// What a plan keeps of a selection.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SelectionRecord {
    /// λ.
    rate: f64,
    /// Standard deviation of the steps of a coefficient, and of new ones.
    update_sd: f64,
    birth_sd: f64,
    /// No probability where ‖β‖₁ is below this.
    floor: f64,
}

impl SelectionRecord {
    pub(super) fn sentences(self) -> Vec<String> {
        vec![format!(
            "Selection: λ = {} for each further feature, double-exponential coefficients of unknown scale; one coefficient or one feature changes per step.",
            self.rate
        )]
    }

    fn prior(self) -> austerity::Result<SelectionPrior> {
        SelectionPrior::new(self.rate)?.at_least(self.floor)
    }
}

/// Begins a selection or goes on with one.
pub(super) fn go(way: Way<'_>, options: &SelectOptions, host: &mut dyn Host) -> Result<Done, Failure> {
    host.note("reading the data");
    let request = way.asked.request;
    let asked = DataOptions {
        family: request.data.family.or_else(|| FamilyChoice::named("logistic")),
        standardize: !options.raw,
        ..request.data.clone()
    };
    let loaded = match &way.step {
        Step::Begin(_) => data::load(&asked, way.asked.table, way.seed(), request.threads)?,
        Step::GoOn { run, .. } => {
            let stored = DataOptions { standardize: !options.raw, ..run.request.data.clone() };
            let asked =
                DataOptions { response: asked.response.clone().or(stored.response.clone()), ..asked.clone() };
            let options = resume::same(&stored, &asked, &["file", "family"])?;
            let options = DataOptions { file: asked.file.clone(), family: asked.family, ..options };
            let loaded = data::load(&options, way.asked.table, way.seed(), request.threads)?;
            resume::compare_data(run, &asked.file, (&loaded, loaded.store.rows()))?;
            loaded
        }
    };
    refuse(&loaded, &asked)?;
    host.note("finding the mode with all features");
    let guide = Guide::of(&loaded)?;
    let record = match way.record() {
        Some(PartRecord::Selection(record)) => *record,
        _ => SelectionRecord {
            rate: options.rate.unwrap_or(1.0),
            update_sd: UPDATE * guide.sd,
            birth_sd: BIRTH * guide.sd,
            floor: FLOOR * guide.sd,
        },
    };
    let model = Flat { model: VariableSelection::from_store(loaded.store.clone(), record.prior()?)? };
    let jump = Jump::new(model.model.features(), record.update_sd, record.birth_sd)?;
    let proposal = FlatJump { jump, states: None };
    let restored = |_: StoredProposal| Ok(proposal.clone());
    way.sample(&OfModel::new(&model, restored), host, |way| {
        let starts: Vec<Vec<f64>> = way.chains().map(|chain| guide.start(way.seed(), chain)).collect();
        check_starts(&model, &starts)?;
        Ok(Prepared {
            data: DataRecord::of(request, &loaded),
            family: Family::of(FamilyChoice::named("logistic"), ResponseKind::Binary),
            recipe: loaded.recipe.clone(),
            record: PartRecord::Selection(record),
            proposal: Proposing::Features { update_sd: record.update_sd, birth_sd: record.birth_sd },
            decided: Decided::of_part(&request.shape, false)?,
            sweep: STEPS * model.model.features(),
            hazards: Vec::new(),
            starts,
        })
    })
}

/// Refuses what the model does not know.
fn refuse(loaded: &Loaded, asked: &DataOptions) -> Result<(), Failure> {
    let other = [("--weights", &asked.weights), ("--trials", &asked.trials)];
    if let Some((name, _)) = other.iter().find(|(_, given)| given.is_some()) {
        return Err(Failure::Usage(format!(
            "{name}: a selection explains one success or failure per row; expand the table to such rows"
        )));
    }
    if loaded.store.description().layout().factors > 0 {
        return Err(Failure::Usage(format!(
            "{}: a categorical column with eight or more levels cannot be selected from: make columns of 0 and 1 of it, or leave it out by --features",
            asked.file.display()
        )));
    }
    Ok(())
}

/// What the regression on all features says: its coefficients and their typical posterior sd.
struct Guide {
    mode: Vec<f64>,
    sd: f64,
    strength: Vec<f64>,
}

impl Guide {
    fn of(loaded: &Loaded) -> Result<Self, Failure> {
        let priors = loaded.store.default_priors_with(NoiseTails::Normal).coefficients;
        let model = Glm::from_store(Logistic, loaded.store.clone(), priors)?;
        let features = loaded.store.coefficients();
        let mode = find_mode(&model, &vec![0.0; features])?;
        let sds: Vec<f64> = (0..features).map(|j| mode.covariance[j * features + j].sqrt()).collect();
        let mut sorted = sds.clone();
        sorted.sort_by(f64::total_cmp);
        let strength = mode.state.iter().zip(&sds).map(|(value, sd)| (value / sd).abs()).collect();
        Ok(Self { sd: sorted[features / 2], mode: mode.state, strength })
    }

    /// Where chain number `chain` begins.
    fn start(&self, seed: u64, chain: u32) -> Vec<f64> {
        let strongest = (0..self.mode.len())
            .max_by(|&a, &b| self.strength[a].total_cmp(&self.strength[b]))
            .unwrap_or_default();
        let mut rng = stream(seed, chain, Role::Start);
        let mut included = |feature: usize| match chain % 4 {
            0 => true,
            1 => feature == strongest,
            _ => feature == strongest || rng.random::<bool>(),
        };
        // No coefficient is so small that the prior takes notice.
        let value = |mode: f64| if mode.abs() < self.sd { self.sd.copysign(mode) } else { mode };
        self.mode.iter().enumerate().map(|(j, &mode)| if included(j) { value(mode) } else { 0.0 }).collect()
    }
}

/// A state as features with coefficients.
fn selection(state: &[f64]) -> austerity::Result<Selection> {
    let pairs = (0..).zip(state).filter(|(_, value)| **value != 0.0);
    Selection::new(pairs.map(|(feature, &value)| (feature, value)))
}

/// A selection whose states are one number per feature.
struct Flat {
    model: VariableSelection,
}

/// Working memory of a chain.
struct FlatScratch {
    pair: Option<(Selection, Selection)>,
    inner: SelectionScratch,
}

impl Model for Flat {
    type State = Vec<f64>;
    type Scratch = FlatScratch;
    type Ratio<'a> = SelectionRatio<'a>;

    fn len(&self) -> usize {
        Model::len(&self.model)
    }

    fn scratch(&self, access: Access) -> FlatScratch {
        FlatScratch { pair: None, inner: self.model.scratch(access) }
    }

    fn check_state(&self, state: &Vec<f64>) -> austerity::Result<()> {
        austerity::model::check_state(state, self.model.features())?;
        selection(state).map(drop)
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        selection(state).map_or(f64::NEG_INFINITY, |state| self.model.log_prior(&state))
    }

    fn prior_error(&self) -> Error {
        self.model.prior_error()
    }

    /// States come from [`FlatJump`] and starts, which have a feature; of one that has none the prior is 0 and nothing is compared.
    fn compare<'a>(
        &'a self,
        from: &'a Vec<f64>,
        to: &'a Vec<f64>,
        scratch: &'a mut FlatScratch,
    ) -> SelectionRatio<'a> {
        let FlatScratch { pair, inner } = scratch;
        let one =
            |state: &[f64]| selection(state).unwrap_or_else(|_| Selection::single(0, f64::MIN_POSITIVE));
        let (from, to) = &*pair.insert((one(from), one(to)));
        self.model.compare(from, to, inner)
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        Model::fingerprint(&self.model)
    }

    fn data_bytes(&self) -> usize {
        self.model.data_bytes()
    }

    fn scratch_bytes(&self, access: Access) -> usize {
        self.model.scratch_bytes(access)
    }
}

/// The coefficients, as a regression has them (0 for features that are out); whether each feature is in; how many are.
impl Parameters for Flat {
    fn names(&self) -> Vec<String> {
        let names = self.model.feature_names();
        let included = names.iter().map(|name| format!("{name}{INCLUDED}"));
        names.iter().cloned().chain(included).chain(["size".to_owned()]).collect()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        let features = state.len();
        out[..features].copy_from_slice(state);
        for (out, value) in out[features..].iter_mut().zip(state) {
            *out = f64::from(u8::from(*value != 0.0));
        }
        out[2 * features] = out[features..2 * features].iter().sum();
    }
}

/// How the indicator of a feature is called.
pub(crate) const INCLUDED: &str = "_included";

/// Moves between models, of states with one number per feature.
#[derive(Clone, Debug)]
struct FlatJump {
    jump: Jump,
    states: Option<Selection>,
}

impl Proposal<Vec<f64>> for FlatJump {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> austerity::Result<Proposed> {
        let from_selection = selection(from)?;
        let candidate = self.states.get_or_insert_with(|| from_selection.clone());
        let proposed = self.jump.propose(&from_selection, candidate, rng)?;
        to.clear();
        to.resize(from.len(), 0.0);
        candidate.iter().for_each(|(feature, value)| to[feature] = value);
        Ok(proposed)
    }
}

impl Stored for FlatJump {
    fn stored(self) -> StoredProposal {
        StoredProposal::Planned
    }
}
