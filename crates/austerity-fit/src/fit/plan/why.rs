//! How candidates are proposed, why a plan is as it is, and what was noticed on the way to it: enums with the numbers that were found. `words` makes sentences of them.
//!
//! The proposal itself is in the checkpoint ([`StoredProposal`](austerity_glm::proposal::StoredProposal)); [`Proposing`] is what people are told.

use austerity::proposal::Path;
use austerity_glm::proposal::{LangevinPlan, SampledPlan, TransitionKind, TransitionPlan, WholePathPlan};
use serde::{Deserialize, Serialize};

use crate::fit::gradients::GradientStep;
use crate::fit::surrogate::SurrogateReport;

/// Why this rule decides.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Why {
    /// Exact decisions were asked for.
    Asked,
    /// Exact decisions are the default of `select`, `ica` and `gibbs`, and of steps up the gradient of mini-batches.
    Usual,
    /// No decisions were asked for.
    Untested,
    /// Exact decisions on all residuals were asked for.
    AskedOnResiduals,
    /// Sums of squares and products decide: no row is read.
    SumsOfSquares,
    /// Audits contradicted a test.
    Contradicted,
    /// The posterior is far from normal.
    FarFromNormal,
    /// The pilot met no move that a test could decide.
    NoMoves,
    /// This share of independent draws is accepted, and each is worth so many steps of a random walk.
    IndependentDraws { acceptance: f64, steps: f64 },
    /// Bounds certify decisions: asked for, or since audits contradicted a test.
    Bounds { asked: bool },
    /// The residuals of the surrogate are small: see its report.
    Residuals,
    /// A test that was asked for or designed, and what became of its threshold.
    Test { origin: Origin, threshold: Threshold },
    /// Exact decisions cost less than any test within the tolerance, in the words of the design.
    ExactByDesign { finding: String },
    /// Of so many rules and lengths of steps the one with the least predicted risk at the end of the budget.
    LeastRisk { ways: usize },
    /// There are too many coefficients for tests on residuals: see the record of the paths.
    TooWide,
    /// Residuals of a surrogate cannot be sampled safely.
    UnsafeResiduals,
    /// Jumps between modes change every row.
    Jumps,
    /// In the words of an earlier version.
    #[serde(untagged)]
    Told(String),
}

/// Where a test comes from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Origin {
    /// It was asked for.
    Asked,
    /// A test was asked for, and this one was designed, in the words of the design.
    Designed(String),
    /// It is the cheapest within the tolerance, in the words of the design.
    Cheapest(String),
}

/// What became of the threshold of a test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Threshold {
    /// It is as it was asked for, or plain.
    AsGiven,
    /// It is divided by this λ, so that the temperature of the draws is right.
    Compensated(f64),
    /// No λ exists: the noise of the first look is too large.
    NoLambda,
}

/// Why there is no surrogate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Without {
    /// None was asked for, or none is made with the other options.
    Unasked,
    /// It could not be made, in the words of the error.
    Failed(String),
    /// Decisions about its residuals could be blind.
    Blind(SurrogateReport),
    /// Its residuals are so large that decisions about the rows themselves cost less.
    Dear,
    /// The posterior is too far from a polynomial: two standard deviations from the mode of this coefficient the log density is off by so much.
    Skewed { parameter: String, off: f64 },
}

impl Without {
    /// Whether something was found out beyond the options.
    pub(crate) fn is_found(&self) -> bool {
        *self != Self::Unasked
    }
}

/// What was noticed about the data and the posterior.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Remark {
    /// Every row is on its side at the mode.
    Separable,
    /// The data hardly tell these two sources apart, counted from 1.
    Alike { first: usize, second: usize },
    /// The prior decides about these parameters, and about so many more.
    Weak { parameters: Vec<String>, more: usize },
    /// No mode was found from the start that was given.
    NoMode,
    /// Another mode is the first with these two parameters exchanged, as of a mixture.
    LabelsSwitch { first: String, second: String },
    /// Chains stay in their mode: jumps would be accepted at this share of the rate of independent draws.
    NoCrossing { rate: f64 },
    /// The budget leaves no time for a surrogate.
    Hurried {
        /// Seconds that the mode of all rows and a surrogate would take, and the budget that would do.
        needed: f64,
        enough: f64,
        /// Rows of the sample at whose mode chains start, where there is no time for the mode of all rows.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sample: Option<usize>,
    },
    /// In the words of the reader of the data, or of an earlier version.
    #[serde(untagged)]
    Told(String),
}

impl From<String> for Remark {
    fn from(words: String) -> Self {
        Self::Told(words)
    }
}

/// How candidates are proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Proposing {
    /// Steps of a walk with the shape of the curvature at the mode, so many times as long as they are best for exact decisions; it adapts during warm-up.
    AdaptingWalk { stretch: f64 },
    /// Steps with this sd in every coefficient.
    FixedWalk { sd: f64 },
    /// Independent draws around the mode, among steps of an adapting walk.
    AroundMode,
    /// Draws from the normal approximation.
    Normal {
        /// Whether some candidates are short steps, since the tails are heavier than normal.
        short: bool,
        sweeps: u32,
        /// Sd over draws of the log density's difference from the surrogate's.
        spread: f64,
        /// Correlation of successive draws.
        correlation: f64,
    },
    /// Leapfrog paths on the surrogate.
    Hamiltonian {
        path: Leapfrog,
        /// Share of random-walk steps among the candidates.
        walks: f64,
        sweeps: u32,
        /// Sd over draws of the log density's difference from the surrogate's.
        spread: f64,
    },
    /// Langevin steps up the gradient of the surrogate and of so many residuals.
    Langevin {
        step: f64,
        /// Share that a normal posterior accepts, and the length of steps that mixes best.
        acceptance: f64,
        best: f64,
        rows: usize,
        sweeps: u32,
    },
    /// Leapfrog paths on a weighted sample of so many rows.
    OnSample {
        rows: usize,
        path: Leapfrog,
        /// Share of the candidates that should be accepted.
        acceptance: f64,
    },
    /// Leapfrog paths on all rows.
    OnAllRows {
        gradients: u32,
        /// Share of the paths that a pilot accepted.
        acceptance: f64,
    },
    /// Steps up the gradient of mini-batches of so many rows.
    OnGradients { step: GradientStep, rows: usize },
    /// Draws from a mixture over the modes, such a share of the candidates, among steps within a mode.
    AcrossModes {
        share: f64,
        modes: usize,
        /// Steps within a mode; those of random walks with its shape where none are named.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        within: Option<Box<Proposing>>,
    },
    /// A step of one coefficient, a birth or a death of a feature: sds of the steps and of new coefficients.
    Features { update_sd: f64, birth_sd: f64 },
    /// Rotations of sources towards each other.
    Rotations,
    /// Each variable in turn from its conditional.
    Conditionals,
    /// The same, and every third candidate moves one coefficient into the tail of its prior.
    WithTails { others: Box<Proposing> },
    /// The same, and every third candidate draws one coefficient anew, from its narrow prior or around the maximum of the likelihood.
    WithSpikes { others: Box<Proposing> },
    /// In the words of an earlier version.
    #[serde(untagged)]
    Told(String),
}

/// Leapfrog paths.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Leapfrog {
    /// Fewest and most steps.
    pub(crate) steps: [u32; 2],
    /// Length of a step.
    pub(crate) length: f64,
}

impl Leapfrog {
    fn of(path: &Path) -> Self {
        Self { steps: [*path.steps.start(), *path.steps.end()], length: path.length }
    }
}

impl Proposing {
    /// The same with steps into the tails of priors.
    pub(in crate::fit) fn with_tails(self) -> Self {
        Self::WithTails { others: Box::new(self) }
    }

    /// The same with draws between the spikes of narrow priors and what lies beyond.
    pub(in crate::fit) fn with_spikes(self) -> Self {
        Self::WithSpikes { others: Box::new(self) }
    }

    /// Candidates from a sample of so many rows.
    pub(in crate::fit) fn on_sample(plan: &SampledPlan, rows: usize) -> Self {
        let acceptance = plan.acceptance.min(plan.agreement);
        let proposing = Self::OnSample { rows, path: Leapfrog::of(&plan.path), acceptance };
        if plan.tails.is_some() { proposing.with_tails() } else { proposing }
    }
}

impl From<&TransitionPlan> for Proposing {
    fn from(plan: &TransitionPlan) -> Self {
        let TransitionPlan { short, sweeps, spread, correlation, .. } = *plan;
        match plan.kind {
            TransitionKind::Independent => Self::Normal { short: short > 0.0, sweeps, spread, correlation },
            TransitionKind::Hamiltonian => {
                Self::Hamiltonian { path: Leapfrog::of(&plan.path), walks: short, sweeps, spread }
            }
        }
    }
}

impl From<&LangevinPlan> for Proposing {
    fn from(plan: &LangevinPlan) -> Self {
        let LangevinPlan { step, rows, sweeps, .. } = *plan;
        Self::Langevin { step, acceptance: plan.acceptance(), best: plan.best(), rows, sweeps }
    }
}

impl From<&WholePathPlan> for Proposing {
    fn from(plan: &WholePathPlan) -> Self {
        Self::OnAllRows { gradients: plan.steps, acceptance: plan.acceptance }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Remark, words};
    use super::*;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    struct Kept {
        proposal: Proposing,
        remarks: Vec<Remark>,
    }

    /// A file keeps every value, to the bit, and sentences of earlier versions stay sentences.
    #[test]
    fn proposals_and_remarks_survive_a_file() {
        let path = Leapfrog { steps: [3, 6], length: 0.1 + 0.2 };
        let normal = Proposing::Normal { short: true, sweeps: 3, spread: 1.0 / 3.0, correlation: -0.45 };
        let all = [
            Proposing::AdaptingWalk { stretch: 1.0 },
            Proposing::AdaptingWalk { stretch: 0.5 },
            Proposing::FixedWalk { sd: 0.01 },
            Proposing::AroundMode.with_spikes(),
            normal.clone(),
            Proposing::Hamiltonian { path, walks: 1.0 / 16.0, sweeps: 0, spread: 2.5 },
            Proposing::Langevin { step: 1.0, acceptance: 0.58, best: 1.0, rows: 64, sweeps: 0 },
            Proposing::OnSample { rows: 4096, path, acceptance: 0.7 }.with_tails(),
            Proposing::OnAllRows { gradients: 1, acceptance: 0.92 },
            Proposing::AcrossModes { share: 0.5, modes: 2, within: Some(Box::new(normal)) },
            Proposing::AcrossModes { share: 0.5, modes: 3, within: None },
            Proposing::OnGradients { step: GradientStep::Langevin(0.1 + 0.2), rows: 500 },
            Proposing::OnGradients { step: GradientStep::FisherScoring(0.5), rows: 64 },
            Proposing::Told("in words".into()),
        ];
        let remarks = vec![
            Remark::Told("column `k` was left out".into()),
            Remark::Separable,
            Remark::Weak { parameters: vec!["a".into(), "b".into()], more: 2 },
            Remark::NoMode,
            Remark::NoCrossing { rate: 1e-4 },
            Remark::Hurried { needed: 3.0, enough: 6.0, sample: None },
            Remark::Hurried { needed: 3.0, enough: 6.0, sample: Some(5000) },
        ];
        let mut said: Vec<String> = remarks.iter().map(words::remark).collect();
        for proposal in all {
            said.push(words::proposal(&proposal));
            let kept = Kept { proposal, remarks: remarks.clone() };
            let text = toml::to_string_pretty(&kept).unwrap();
            assert_eq!(toml::from_str::<Kept>(&text).unwrap(), kept, "{text}");
            let text = serde_json::to_string(&kept).unwrap();
            assert_eq!(serde_json::from_str::<Kept>(&text).unwrap(), kept, "{text}");
        }
        let number = said.len();
        said.sort();
        said.dedup();
        assert!(said.len() == number && said.iter().all(|words| !words.is_empty()), "{said:?}");
        let old: Kept = toml::from_str("proposal = \"random walk\"\nremarks = [\"a remark\"]").unwrap();
        assert_eq!(old.proposal, Proposing::Told("random walk".into()));
        assert_eq!(old.remarks, [Remark::Told("a remark".into())]);
    }
}
