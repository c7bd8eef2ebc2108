//! Where to go next: proposals that know a surrogate, the tails of priors, or a normal approximation.
//!
//! | file | what it holds |
//! |---|---|
//! | [`crank_nicolson`] | [`CrankNicolson`]: steps that leave a normal distribution as it is, independent draws among them |
//! | [`surrogate_step`] | [`SurrogateStep`]: steps reversible for a surrogate posterior, touching no data |
//! | [`sweeps`] | [`Sweeps`]: exact steps of single coefficients that only the certainty stratum knows |
//! | [`langevin`] | [`Langevin`]: a step up the gradient of a mini-batch, and noise |
//! | [`fisher_scoring`] | [`FisherScoring`]: the same, preconditioned by the information in the data |
//! | [`langevin_plan`] | [`LangevinPlan`]: steps up the gradient of a surrogate, corrected by some residual gradients |
//! | [`transition`] | [`TransitionPlan`]: which of these suits a surrogate, by a pilot that reads no data |
//! | [`heavy`] | candidates for one coefficient with the tail of a Student prior |
//! | [`tail_steps`] | [`TailSteps`]: the same as candidates of their own |
//! | [`spike_steps`] | [`SpikeSteps`]: steps between the spike of a narrow Student prior and the likelihood |
//! | [`sampled_paths`] | [`SampledPlan`]: leapfrog paths on a weighted sample of the rows, where no surrogate holds |
//! | [`whole_paths`] | [`WholePathPlan`]: Hamiltonian paths on all rows for very many coefficients, by a pilot |
//! | [`mode_draws`] | [`ModeDraws`]: independent draws from a mixture over several modes |
//! | [`mode_jumps`] | [`ModeJumpsPlan`]: such draws and local steps on a surrogate with several modes |
//! | [`stored`] | [`RegressionProposal`], [`StoredProposal`]: any of these and of the core's, chosen at run time and kept in checkpoints |

pub mod crank_nicolson;
pub mod fisher_scoring;
pub mod heavy;
pub mod langevin;
pub mod langevin_plan;
pub mod mode_draws;
pub mod mode_jumps;
pub mod sampled_paths;
pub mod spike_steps;
pub mod stored;
pub mod surrogate_step;
pub mod sweeps;
pub mod tail_steps;
pub mod transition;
pub mod whole_paths;

pub use crank_nicolson::CrankNicolson;
pub use fisher_scoring::{FisherScoring, empirical_information};
pub use langevin::Langevin;
pub use langevin_plan::LangevinPlan;
pub use mode_draws::{ModeDraws, ModeTrial};
pub use mode_jumps::{ModeJumps, ModeJumpsPlan};
pub use sampled_paths::{SampledPaths, SampledPlan};
pub use spike_steps::{Spike, SpikeSteps};
pub use stored::{RegressionProposal, StoredProposal};
pub use surrogate_step::SurrogateStep;
pub use sweeps::Sweeps;
pub use tail_steps::{HeavyCoefficient, TailSteps};
pub use transition::{ANTITHETIC_CORRELATION, Transition, TransitionKind, TransitionPlan};
pub use whole_paths::{GradientSeconds, WholePathPlan, WholePaths};
