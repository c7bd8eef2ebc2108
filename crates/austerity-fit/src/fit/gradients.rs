//! Steps up the gradient of a mini-batch of rows, as `--proposal sgld:SD` and `sgfs:STEP` ask for: with a test, with exact decisions, or with none (paper, section 6.4).
//!
//! | proposal | candidate |
//! |---|---|
//! | `sgld:SD` | θ + (SD²/2)·g(θ; X) + SD·z: stochastic gradient Langevin dynamics ([`Langevin`]) |
//! | `sgfs:STEP` | the same, turned and stretched by the covariance at the mode, with as much less noise as the mini-batch brings ([`FisherScoring`]) |
//!
//! | rule | draws |
//! |---|---|
//! | `exact` (the default) | right |
//! | `sequential` | as right as the test |
//! | `none` | every candidate is taken: biased, by how much nobody measures, so such a run is never trusted |
//!
//! The mini-batch has `--batch` rows (500 unless set) in blocks of `--block-rows`; a test draws rows of its own. An untested chain is one whose target is flat ([`Untested`]): decisions read
//! nothing, and what is counted per step is the mini-batch. Cost per step beside the decision: n rows of gradients, twice where the way back needs a density.

use austerity::error::{Error, Result};
use austerity::model::{Access, Curvature, Model, Parameters, covariance_at};
use austerity::population::{Moments, Population, RowCost};
use austerity::proposal::{Proposal, Proposed};
use austerity::rng::Rng;
use austerity_glm::WithPriors;
use austerity_glm::gradients::{BatchGradient, MiniBatch};
use austerity_glm::proposal::{FisherScoring, Langevin, StoredProposal};
use nalgebra::DMatrix;
use serde::{Deserialize, Serialize};

use super::begin::Planner;
use super::choose::Chosen;
use super::decide::Decided;
use super::engine::{Engine, OfModel, Work};
use super::options::settings;
use super::plan::Proposing;
use super::proposal::Candidates;
use super::save_draws::Stored;
use crate::model::{Regression, Sampled};
use crate::output::Failure;
use crate::refusal::Refusal;
use crate::request::{Keyword, ProposalChoice, RuleChoice, SurrogateChoice};

/// Rows of a mini-batch unless told otherwise: the m of the paper.
const BATCH: usize = 500;
/// What a step is worth in independent draws, times the number of parameters: that of a random walk, for want of a pilot.
const WORTH: f64 = 0.33;

/// How a step is made.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum GradientStep {
    /// The sd of the noise in every coordinate.
    Langevin(f64),
    /// ε of Ahn, Korattikara & Welling (2012).
    FisherScoring(f64),
}

/// What a plan keeps of such steps: enough to make the same again, to the bit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct GradientRecord {
    pub(crate) step: GradientStep,
    /// Rows of a mini-batch.
    pub(crate) rows: usize,
    /// Rows that are drawn together.
    block_rows: usize,
    /// Whether anything decides about candidates.
    pub(crate) tested: bool,
    /// Where the covariance is taken: the mode.
    at: Vec<f64>,
}

impl GradientRecord {
    /// The steps on `model`.
    fn steps<'m, M>(&self, model: &'m M) -> Result<Steps<'m, M>>
    where
        M: BatchGradient + WithPriors + Curvature,
    {
        let kind = match self.step {
            GradientStep::Langevin(sd) => {
                let batch = MiniBatch::of_blocks(model.len(), self.rows, self.block_rows)?;
                Kind::Langevin(Langevin::new(model, sd * sd, self.rows)?.batch(batch)?)
            }
            GradientStep::FisherScoring(step) => {
                let smooth = model.with_priors(model.priors().smooth())?;
                let covariance = covariance_at(&smooth, &self.at)?;
                let precision =
                    DMatrix::from_row_slice(self.at.len(), self.at.len(), &covariance).try_inverse();
                let precision = precision.ok_or_else(|| Error::NotPositiveDefinite {
                    what: "the covariance at the mode".into(),
                    remedy: "give the coefficients a proper prior such as normal:2.5".into(),
                })?;
                let symmetric = 0.5 * (&precision + precision.transpose());
                Kind::Scoring(FisherScoring::new(model, symmetric.as_slice(), step, self.rows)?)
            }
        };
        Ok(Steps { kind, tested: self.tested })
    }
}

/// Steps whose candidates are weighed, or taken as they are.
struct Steps<'m, M: BatchGradient> {
    kind: Kind<'m, M>,
    tested: bool,
}

enum Kind<'m, M: BatchGradient> {
    Langevin(Langevin<'m, M>),
    Scoring(FisherScoring<'m, M>),
}

/// By hand: a derived one would ask the model to be cloned.
impl<M: BatchGradient> Clone for Steps<'_, M> {
    fn clone(&self) -> Self {
        let kind = match &self.kind {
            Kind::Langevin(steps) => Kind::Langevin(steps.clone()),
            Kind::Scoring(steps) => Kind::Scoring(steps.clone()),
        };
        Self { kind, tested: self.tested }
    }
}

impl<M: BatchGradient> Proposal<Vec<f64>> for Steps<'_, M> {
    fn propose(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<Proposed> {
        if !self.tested {
            // The target is flat, and the way back is as likely as the way there: nothing is held against a candidate.
            self.draw(from, to, rng)?;
            return Ok(0.0.into());
        }
        match &mut self.kind {
            Kind::Langevin(steps) => steps.propose(from, to, rng),
            Kind::Scoring(steps) => steps.propose(from, to, rng),
        }
    }

    fn draw(&mut self, from: &Vec<f64>, to: &mut Vec<f64>, rng: &mut Rng) -> Result<()> {
        match &mut self.kind {
            Kind::Langevin(steps) => steps.draw(from, to, rng),
            Kind::Scoring(steps) => steps.draw(from, to, rng),
        }
    }
}

impl<M: BatchGradient> Stored for Steps<'_, M> {
    fn stored(self) -> StoredProposal {
        StoredProposal::Planned
    }
}

/// The parameters of a model under a flat density: every finite candidate is taken.
struct Untested<'m, M> {
    model: &'m M,
    /// Rows of a mini-batch, which a step reads.
    rows: usize,
}

/// Nothing to decide about.
struct Nothing {
    rows: usize,
}

impl Population for Nothing {
    fn len(&self) -> usize {
        self.rows
    }

    fn reveal(&mut self, _rows: std::ops::Range<usize>, out: &mut [f64]) -> Result<()> {
        out.fill(0.0);
        Ok(())
    }

    fn total(&mut self) -> Result<Moments> {
        let zero = Moments { minimum: 0.0, maximum: 0.0, ..Moments::EMPTY };
        Ok(Moments { count: self.rows as u64, ..zero })
    }

    fn row_cost(&self) -> RowCost {
        RowCost { revealed: 1, scanned: 1 }
    }
}

impl<M: Model<State = Vec<f64>>> Model for Untested<'_, M> {
    type State = Vec<f64>;
    type Scratch = ();
    type Ratio<'a>
        = Nothing
    where
        Self: 'a;

    fn len(&self) -> usize {
        self.rows
    }

    fn scratch(&self, _access: Access) {}

    fn check_state(&self, state: &Vec<f64>) -> Result<()> {
        self.model.check_state(state)
    }

    fn log_prior(&self, state: &Vec<f64>) -> f64 {
        if state.iter().all(|value| value.is_finite()) { 0.0 } else { f64::NEG_INFINITY }
    }

    fn compare<'a>(&'a self, _from: &'a Vec<f64>, _to: &'a Vec<f64>, (): &'a mut ()) -> Nothing {
        Nothing { rows: self.rows }
    }

    fn original_row(&self, position: usize) -> usize {
        self.model.original_row(position)
    }

    fn fingerprint(&self) -> u64 {
        self.model.fingerprint()
    }

    fn data_bytes(&self) -> usize {
        self.model.data_bytes()
    }
}

impl<M: Parameters + Model<State = Vec<f64>>> Parameters for Untested<'_, M> {
    fn names(&self) -> Vec<String> {
        self.model.names()
    }

    fn write(&self, state: &Vec<f64>, out: &mut [f64]) {
        self.model.write(state, out);
    }
}

/// Steps up the gradient of mini-batches, on the rows of any regression.
pub(super) struct OnGradients<'m, M> {
    pub(super) model: &'m M,
    pub(super) record: GradientRecord,
}

impl<M: Regression + Sampled> Engine for OnGradients<'_, M> {
    fn give<W: Work>(&self, work: W) -> std::result::Result<W::Output, Failure> {
        let steps = self.record.steps(self.model)?;
        let restored = |_: StoredProposal| Ok(steps.clone());
        if self.record.tested {
            return work.on(&OfModel::new(self.model, restored));
        }
        let rows = self.record.rows.min(self.model.len());
        let untested = Untested { model: self.model, rows };
        work.on(&OfModel::new(&untested, restored))
    }
}

impl ProposalChoice {
    /// Steps up the gradient of mini-batches, where these were asked for.
    pub(super) fn gradient_step(self) -> Option<GradientStep> {
        match self {
            Self::Sgld(sd) => Some(GradientStep::Langevin(sd)),
            Self::Sgfs(step) => Some(GradientStep::FisherScoring(step)),
            _ => None,
        }
    }
}

impl Planner<'_> {
    /// Steps up the gradient of mini-batches, where these were asked for.
    pub(super) fn gradients(
        &mut self,
        parameters: usize,
    ) -> std::result::Result<Option<(Chosen, GradientRecord)>, Failure> {
        let Some(step) = self.proposal().gradient_step() else { return Ok(None) };
        let shape = &self.request.shape;
        if let Some(surrogate @ SurrogateChoice::Order(_)) = shape.surrogate {
            return Err(Refusal::Value {
                keyword: Keyword::Surrogate,
                value: surrogate.to_string(),
                why: format!(
                    "{} follows the rows themselves; langevin:STEP follows a surrogate",
                    self.proposal()
                ),
            }
            .into());
        }
        // Only the clock ends such a run: there is no rule to choose.
        self.budget = None;
        let record = GradientRecord {
            step,
            rows: shape.batch.unwrap_or(BATCH).min(self.data.rows),
            block_rows: self.wanted.block_rows(),
            tested: shape.rule != Some(RuleChoice::None),
            at: self.start.mode.state.clone(),
        };
        let candidates = Candidates {
            proposing: Proposing::OnGradients { step, rows: record.rows },
            stored: StoredProposal::Planned,
            worth: WORTH / parameters as f64,
        };
        let decided = Decided::of_part(shape, false)?;
        let chosen = Chosen {
            gradients: Some(record.clone()),
            ..Chosen::of(candidates, decided, settings(self.request)?)
        };
        Ok(Some((chosen, record)))
    }
}
