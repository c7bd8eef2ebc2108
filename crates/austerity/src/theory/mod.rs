//! How wrong: from the error allowed at one look to the error of the stationary distribution.
//!
//! | file | from → to | source |
//! |---|---|---|
//! | [`plan`] | table of looks → information time | Proposition 1 |
//! | [`walk`] | looks → E(μ_std), π̄(μ_std), where it stops | section 5.1, supplement A |
//! | `sweep`, `merge` | how that is computed fast, thousands of looks included | Armitage et al. 1969; Siegmund 1979 |
//! | [`paper_grid`](mod@paper_grid) | the same, the paper's slow way: a reference | supplement A |
//! | [`table`] | E and π̄ as functions that cost nanoseconds | |
//! | [`acceptance`] | (R, κ) → Δ, mean error, mean data use of one decision | section 5.1, supplement B |
//! | [`predictor`] | the moments of an audited pair → the same, for a rule with an absolute tolerance | derived here |
//! | [`stationary`] | Δ_max and a contraction → distance of S_ε from the posterior | Theorem 1 |
//! | [`bias`] | looks, D, κ → sd inflation, temperature, the λ that cancels it | derived here |
//! | [`adapted`](mod@adapted) | the same, for a walk that adapts to an acceptance rate under the test | derived here |
//! | [`legendre`], `exponential` | quadrature, fast exponentials | |
//!
//! # Symbols
//!
//! | symbol | meaning |
//! |---|---|
//! | N, n, m | rows in all, rows revealed, rows of the first look |
//! | π, t | share n/N; information time π/(1−π) |
//! | J, G_j, ε | looks, bound of look j, one-sided level of a look (G = Φ⁻¹(1−ε)) |
//! | μ, σ_l | mean and sd (divisor N) of the N numbers l_i |
//! | R or Λ | total log ratio Nμ + log prior ratio + log proposal ratio |
//! | κ | Nσ_l/√(N−1): noise of R per unit of 1/√t |
//! | μ0, T | threshold on the mean; on the total (log u and its kin) |
//! | μ_std | (μ − μ0)√(N−1)/σ_l = (R − T)/κ: drift of the walk |
//! | E, π̄ | probability of a wrong decision; expected share of the data |
//! | P, P_ε, Δ | acceptance probability, exact and of the test; P_ε − P |
//! | D, β, λ | root of the step energy; inverse temperature; compensation of the threshold |
//!
//! ```
//! use austerity::rule::{Law, SequentialSettings};
//! use austerity::theory::{Accuracy, ErrorTable, Moves, TestPlan, TestWalk};
//!
//! let plan = TestPlan::of_settings(&SequentialSettings::paper(500, 0.05), 12_214)?;
//! let walk = TestWalk::new(plan, Accuracy::Exact);
//! assert!(walk.worst_case().error > 0.2); // ε = 0.05 per look, over 25 looks
//! let table = ErrorTable::new(&walk, Accuracy::Exact);
//! let step = table.step(Law::Metropolis, -1.0, 1.5)?;
//! assert!(step.delta.abs() < step.mean_error);
//! let bias = table.bias(Law::Metropolis, Moves::plain(0.5))?;
//! assert!(bias.sd_inflation > 1.0 && table.compensation(Moves::plain(0.5))?.is_some());
//! # Ok::<(), austerity::Error>(())
//! ```

pub mod acceptance;
pub mod adapted;
pub mod bias;
mod exponential;
pub mod legendre;
mod merge;
pub mod paper_grid;
pub mod plan;
pub mod predictor;
pub mod stationary;
mod sweep;
pub mod table;
pub mod walk;

pub use acceptance::{StepError, kappa};
pub use bias::{Bias, Moves};
pub use paper_grid::paper_grid;
pub use plan::{Stage, TestPlan};
pub use predictor::Predictor;
pub use stationary::{Scan, gibbs_bound, metropolis_bound};
pub use table::ErrorTable;
pub use walk::{Accuracy, Outcome, Stopping, TestWalk};

#[cfg(test)]
mod tests;
