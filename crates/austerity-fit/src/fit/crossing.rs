//! Several modes that matter: how chains cross between them, and whether they can.
//!
//! | model | candidates | decisions |
//! |---|---|---|
//! | one that can be expanded, from 2,000 rows on | draws from a mixture over the modes, and in each mode the local steps that suit it ([`ModeJumpsPlan`]) | about residuals: one expansion per mode ([`SeveralExpansions`]) |
//! | any other | the same draws, and random walks with the shape of each mode | exact, on all rows |
//!
//! A trial before the chains draws around every mode and weighs the draws by the posterior ([`ModeDraws::tried`]): it tells the mass of each mode and how fast chains will cross. Where
//! [`MOST`](super::begin) draws would not be enough for that, the plan is that of the main mode, and the run stays untrusted
//! ([`Hazard::SeveralModes`]). What chains did is judged by their draws (`verdict::crossing`).
//!
//! Options that the user set are never overridden: with a proposal, a test or a law of the user's own chains do not jump. A budget ends the run, and nothing more is planned with it.

use austerity::error::Error;
use austerity::model::{Access, Mode};
use austerity::population::Population as _;
use austerity::proposal::{Mixture, RandomWalk};
use austerity::run::{Hazard, ModeFound};
use austerity_glm::proposal::mode_jumps::JUMPS;
use austerity_glm::proposal::{ModeDraws, ModeJumpsPlan, ModeTrial, RegressionProposal, StoredProposal};
use austerity_glm::{Regions, SeveralExpansions, Surrogate, WeighedMode};
use serde::{Deserialize, Serialize};

use super::begin::Planner;
use super::choose::Chosen;
use super::engine::OnModes;
use super::options::settings;
use super::plan::{Proposing, Remark, Why};
use super::proposal::{Candidates, ProposalChoice};
use super::reach;
use super::surrogate::{self, Expandable, FEWEST_ROWS, Order, SurrogateRecord, SurrogateReport};
use crate::model::{Family, Sampled};
use crate::output::Failure;
use crate::request::SurrogateChoice;

/// Seed of trials: what is planned must not depend on the seed of the draws.
const TRIAL: u64 = 1;
/// Effective draws per draw below which no run is long enough: 600 of 200,000.
const LEAST_WORTH: f64 = 0.003;
/// Likelihood evaluations of a trial on the rows, and its fewest and most draws per mode.
const EVALUATIONS: f64 = 2e7;
const FEWEST_TRIED: f64 = 60.0;
const MOST_TRIED: f64 = 400.0;
/// Width of a difference, in standard deviations, that tells how a number that is shown follows the state.
const DIFFERENCE: f64 = 1e-4;

/// The modes that chains cross between.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CrossingRecord {
    /// How fast the mode changes, beside independent draws, as the trial found.
    pub(crate) rate: f64,
    pub(crate) modes: Vec<CrossedMode>,
}

/// A mode that chains come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CrossedMode {
    /// Its mass as the trial found it.
    pub(crate) share: f64,
    /// Its mass by the Laplace evidence, which its region is made with.
    pub(crate) evidence: f64,
    /// The parameters that tell modes apart.
    pub(crate) place: Vec<(String, f64)>,
    /// The mode and the covariance there.
    pub(crate) state: Vec<f64>,
    pub(crate) covariance: Vec<f64>,
    /// The same as draws are stored.
    pub(crate) shown: Vec<f64>,
    pub(crate) spread: Vec<f64>,
    /// Its expansion, where decisions are about residuals.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) surrogate: Option<SurrogateRecord>,
}

impl CrossingRecord {
    /// The modes in a sentence, for the plan.
    pub(crate) fn sentence(&self) -> String {
        let modes: Vec<ModeFound> = self
            .modes
            .iter()
            .map(|mode| ModeFound { share: mode.share, place: mode.place.clone() })
            .collect();
        format!("{}. The chains jump between them.", austerity::run::several_modes(&modes))
    }

    /// The regions of the modes.
    fn regions(&self) -> Result<Regions, Failure> {
        let mode = |mode: &CrossedMode| WeighedMode {
            mode: Mode {
                state: mode.state.clone(),
                log_density: 0.0,
                covariance: mode.covariance.clone(),
                iterations: 0,
            },
            share: mode.evidence,
        };
        Ok(Regions::new(&self.modes.iter().map(mode).collect::<Vec<_>>())?)
    }

    /// Whether decisions are about residuals.
    pub(super) fn is_expanded(&self) -> bool {
        self.modes.iter().all(|mode| mode.surrogate.is_some())
    }
}

/// The engine of a run that goes on.
pub(super) fn restored<'m, M: Expandable>(
    model: &'m M,
    record: &CrossingRecord,
    bounds: bool,
    threads: usize,
) -> Result<OnModes<M::Expansion<'m>>, Failure> {
    let mut parts = Vec::new();
    for mode in &record.modes {
        if let Some(record) = &mode.surrogate {
            parts.push(surrogate::again(model, record, (bounds, true), threads)?);
        }
    }
    Ok(OnModes(Surrogate::new(SeveralExpansions::new(parts, record.regions()?)?)))
}

/// The worst of several reports: what a test must be made for.
fn worst(reports: &[SurrogateReport]) -> Option<SurrogateReport> {
    let dearest = reports.iter().max_by(|a, b| a.rows_to_tolerance().total_cmp(&b.rows_to_tolerance()))?;
    let mut worst = dearest.clone();
    if let SurrogateReport::Regression(worst) = &mut worst {
        for other in reports {
            if let SurrogateReport::Regression(other) = other {
                worst.first_look = worst.first_look.max(other.first_look);
                worst.missed = worst.missed.max(other.missed);
                worst.believed = worst.believed.min(other.believed);
                worst.stratum = worst.stratum.max(other.stratum);
            }
        }
    }
    Some(worst)
}

/// Effective draws per draw, of chains whose mode changes at this rate.
fn worth(rate: f64) -> f64 {
    let each = (JUMPS * rate).min(1.0);
    each / (2.0 - each)
}

/// Jumps on surrogates: what was chosen, and the engine.
type OnSurrogates<E> = (Chosen, OnModes<E>);

impl Planner<'_> {
    /// Whether chains may jump between modes: there are several, and the proposal and the test are left open.
    fn may_cross(&self) -> bool {
        let open = self.wanted.is_open() || self.wanted.care() != super::healing::Care::Planned;
        let exact = !self.wanted.needs_pilot();
        let auto = self.proposal() == ProposalChoice::Auto && !self.wanted.is_paper();
        self.start.modes.len() > 1 && !self.unbridged && auto && (open || exact)
    }

    /// The modes that matter, as the plan keeps them.
    fn crossed<M: Sampled>(
        &self,
        model: &M,
        trial: &ModeTrial,
        records: Vec<SurrogateRecord>,
    ) -> CrossingRecord {
        let found = self.model.hazards.iter().find_map(|hazard| match hazard {
            Hazard::SeveralModes { modes } => Some(&modes[..]),
            _ => None,
        });
        let mut records = records.into_iter();
        let one = |(k, WeighedMode { mode, share }): (usize, &WeighedMode)| {
            let (shown, spread) = self.as_stored(model, mode);
            CrossedMode {
                share: trial.shares[k],
                evidence: *share,
                place: found.and_then(|found| found.get(k)).map_or(Vec::new(), |found| found.place.clone()),
                state: mode.state.clone(),
                covariance: mode.covariance.clone(),
                shown,
                spread,
                surrogate: records.next(),
            }
        };
        CrossingRecord { rate: trial.rate, modes: self.start.modes.iter().enumerate().map(one).collect() }
    }

    /// A mode and the covariance there, as draws are stored.
    fn as_stored<M: Sampled>(&self, model: &M, mode: &Mode) -> (Vec<f64>, Vec<f64>) {
        let d = mode.state.len();
        let names = model.names().len();
        let coefficients = self.recipe.coefficient_names().len();
        let shown = |state: &[f64]| {
            let mut values = vec![0.0; names];
            model.write(&state.to_vec(), &mut values);
            if self.model.standardize {
                self.recipe.to_original(&mut values[..coefficients]);
            }
            values
        };
        // J Σ J', by central differences.
        let slopes: Vec<Vec<f64>> = (0..d)
            .map(|i| {
                let width = DIFFERENCE * mode.covariance[i * d + i].sqrt();
                let at = |by: f64| {
                    let mut state = mode.state.clone();
                    state[i] += by;
                    shown(&state)
                };
                at(width).iter().zip(at(-width)).map(|(up, down)| (up - down) / (2.0 * width)).collect()
            })
            .collect();
        let mut spread = vec![0.0; names * names];
        for (a, row) in spread.chunks_exact_mut(names).enumerate() {
            for (b, slot) in row.iter_mut().enumerate() {
                for i in 0..d {
                    for j in 0..d {
                        *slot += slopes[i][a] * mode.covariance[i * d + j] * slopes[j][b];
                    }
                }
            }
        }
        (shown(&mode.state), spread)
    }

    /// The record of modes that chains will cross between; nothing where they could not.
    fn bridged<M: Sampled>(
        &mut self,
        model: &M,
        trial: &ModeTrial,
        records: Vec<SurrogateRecord>,
    ) -> Option<CrossingRecord> {
        if worth(trial.rate) < LEAST_WORTH {
            self.unbridged = true;
            self.data.remarks.push(Remark::NoCrossing { rate: trial.rate });
            return None;
        }
        let record = self.crossed(model, trial, records);
        self.model.hazards.retain(|hazard| !matches!(hazard, Hazard::SeveralModes { .. }));
        self.budget = None;
        Some(record)
    }

    /// Decisions about the residuals of one expansion per mode; nothing where there is one mode, or expansions do not serve.
    pub(super) fn modes<'m, M: Expandable>(
        &mut self,
        model: &'m M,
    ) -> Result<Option<OnSurrogates<M::Expansion<'m>>>, Failure>
    where
        Surrogate<SeveralExpansions<M::Expansion<'m>>>: Sampled,
    {
        if !self.may_cross() {
            return Ok(None);
        }
        let Some((parts, records)) = self.expansions(model)? else { return Ok(None) };
        let reports: Vec<SurrogateReport> = records.iter().map(|record| record.report.clone()).collect();
        let Some(report) = worst(&reports) else { return Ok(None) };
        let regions = Regions::new(&self.start.modes)?;
        let Ok(several) = SeveralExpansions::new(parts, regions) else { return Ok(None) };
        let surrogate = Surrogate::new(several);
        let asked = self.request.shape.surrogate.unwrap_or_default() != SurrogateChoice::Auto;
        let lost = |found: &WeighedMode| M::REACHES && reach::lost(&surrogate, &found.mode).is_some();
        if !asked && self.start.modes.iter().any(lost) {
            return Ok(None);
        }
        self.host.note("trying jumps between the modes");
        let places: Vec<(&[f64], &[f64])> = self.places();
        let piloted = ModeJumpsPlan::pilot(surrogate.expansion(), &places, &self.shares(), TRIAL);
        let Ok((plan, trial)) = piloted else { return Ok(None) };
        let main = SurrogateRecord { report: report.clone(), ..records[0].clone() };
        let Some(crossing) = self.bridged(&surrogate, &trial, records) else { return Ok(None) };
        let within = Some(Box::new(Proposing::from(&plan.local[0])));
        let proposing = Proposing::AcrossModes { share: JUMPS, modes: crossing.modes.len(), within };
        let candidates =
            Candidates { stored: StoredProposal::ModeJumps(plan), proposing, worth: worth(trial.rate) };
        let decided = self.wanted.residuals(&report)?;
        let chosen = Chosen {
            surrogate: Some(main),
            crossing: Some(crossing),
            ..Chosen::of(candidates, decided, settings(self.request)?)
        };
        Ok(Some((chosen, OnModes(surrogate))))
    }

    fn places(&self) -> Vec<(&[f64], &[f64])> {
        self.start.modes.iter().map(|found| (&found.mode.state[..], &found.mode.covariance[..])).collect()
    }

    fn shares(&self) -> Vec<f64> {
        self.start.modes.iter().map(|found| found.share).collect()
    }

    /// An expansion at every mode, with what the folder keeps of it; nothing where one would not serve.
    #[allow(clippy::type_complexity, reason = "two lists of the same length")]
    fn expansions<'m, M: Expandable>(
        &mut self,
        model: &'m M,
    ) -> Result<Option<(Vec<M::Expansion<'m>>, Vec<SurrogateRecord>)>, Failure> {
        let order = match self.request.shape.surrogate.unwrap_or_default() {
            SurrogateChoice::None => return Ok(None),
            SurrogateChoice::Order(order) => order,
            SurrogateChoice::Auto
                if !surrogate::is_open(&self.wanted, self.proposal()) || model.len() < FEWEST_ROWS =>
            {
                return Ok(None);
            }
            SurrogateChoice::Auto => 2,
        };
        let asked = self.request.shape.surrogate.unwrap_or_default() != SurrogateChoice::Auto;
        self.host.note("expanding the likelihood at every mode");
        let (care, bounds) = (self.wanted.care(), self.wanted.certified());
        let how =
            Order { order, raise: !asked && !bounds, walk: None, care, fixed: true, threads: self.threads() };
        let (mut parts, mut records) = (Vec::new(), Vec::new());
        for found in &mut self.start.modes {
            let made =
                model.centre(&found.mode).and_then(|mode| Ok((model.expand(&mode.state, &how)?, mode)));
            let Ok((expansion, mode)) = made else { return Ok(None) };
            let report = M::report(&expansion);
            if report.is_blind() && !asked {
                return Ok(None);
            }
            records.push(SurrogateRecord { start: mode.state.clone(), walk: None, care, report });
            parts.push(if bounds { M::with_bounds(expansion, how.threads)? } else { expansion });
            found.mode = mode;
        }
        Ok(Some((parts, records)))
    }

    /// Exact decisions on all rows about jumps between the modes; nothing where there is one mode, or chains could not cross.
    pub(super) fn rows_across<M: Sampled>(&mut self, model: &M) -> Result<Option<Chosen>, Failure> {
        if !self.may_cross() || self.wanted.certified() {
            return Ok(None);
        }
        self.host.note("trying jumps between the modes");
        let draws = ModeDraws::new(&self.places(), &self.shares())?;
        let regions = Regions::new(&self.start.modes)?;
        let centre = &self.start.modes[0].mode.state;
        let tried = (EVALUATIONS / model.len().max(1) as f64).clamp(FEWEST_TRIED, MOST_TRIED) as usize;
        let density = |states: &[Vec<f64>]| -> austerity::Result<Vec<f64>> {
            states.iter().map(|state| log_density(model, centre, state)).collect()
        };
        let (draws, trial) = draws.tried(&regions, tried, TRIAL, density)?;
        let Some(crossing) = self.bridged(model, &trial, Vec::new()) else { return Ok(None) };
        let mut parts: Vec<(f64, RegressionProposal)> = vec![(JUMPS, draws.into())];
        for found in &self.start.modes {
            let walk = RandomWalk::for_posterior(found.mode.state.len(), &found.mode.covariance)?;
            parts.push(((1.0 - JUMPS) / self.start.modes.len() as f64, walk.into()));
        }
        let proposing = Proposing::AcrossModes { share: JUMPS, modes: crossing.modes.len(), within: None };
        let stored = RegressionProposal::from(Mixture::new(parts)?).into();
        let candidates = Candidates { stored, proposing, worth: worth(trial.rate) };
        let sums = self.model.family == Family::Linear;
        let decided = self.wanted.exact(if sums { Why::SumsOfSquares } else { Why::Jumps });
        let settings = settings(self.request)?;
        let chosen = Chosen { crossing: Some(crossing), ..Chosen::of(candidates, decided, settings) };
        self.with_tail_steps(chosen, &model.names()).map(Some)
    }
}

/// The log posterior density at `state`, up to that at `centre`; −∞ where a row has none.
fn log_density<M: Sampled>(model: &M, centre: &Vec<f64>, state: &Vec<f64>) -> austerity::Result<f64> {
    let prior = model.log_prior(state);
    if prior.is_nan() {
        return Err(model.prior_error());
    }
    if prior == f64::NEG_INFINITY {
        return Ok(prior);
    }
    let mut scratch = model.scratch(Access::Blocks);
    match model.compare(centre, state, &mut scratch).total() {
        Ok(rows) if rows.impossible() => Ok(f64::NEG_INFINITY),
        Ok(rows) => Ok(prior + rows.sum()),
        // Far out a likelihood may overflow.
        Err(Error::NotANumber { .. } | Error::InfiniteRatio { .. }) => Ok(f64::NEG_INFINITY),
        Err(error) => Err(error),
    }
}
