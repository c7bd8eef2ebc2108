//! The theory of the test against simulation: the figures of section 5.1 and of supplements A, B and C.
//!
//! | file | figure |
//! |---|---|
//! | `pairs` | the populations: log-likelihood differences of random-walk moves in the logistic regression of section 6.1 |
//! | `statistic` | the t statistic at n = 500, 5,000 and 10,000 against the normal and Student's t |
//! | `walk` | the random walk of z with its 95 % band (Proposition 1) |
//! | `three` | a test with three looks, worked out |
//! | `sequential` | E and π̄ by recursion against 1,000 simulated tests |
//! | `step` | Δ and E_u\[E\] against P_a; P_{a,ε} against P_a |
//! | `theorem` | Theorem 1 (supplement C): the bound against the distance, where both can be computed |
//! | `claims` | what the paper says of it, with thresholds |
//!
//! z is standardised as it must be, z = (l̄ − μ0)√(N−1)/σ_l·√(π/(1−π)), and G = Φ⁻¹(1−ε): both are misprinted. The simulated
//! tests are those of the library, run on resampled rows of real populations.

mod claims;
mod pairs;
mod sequential;
mod statistic;
mod step;
mod theorem;
mod three;
mod walk;

pub(crate) use claims::CLAIMS;
use serde::Serialize;
use serde_json::json;

use crate::{Context, Outcome, Result, Section, Table};

/// How much is simulated.
#[derive(Clone, Copy, Debug, Serialize)]
struct Scale {
    /// Moves whose statistic is resampled.
    statistic_pairs: usize,
    /// Resamples of each.
    resamples: usize,
    /// Simulated walks.
    walks: usize,
    /// Simulated tests with three looks.
    three_looks: usize,
    /// Simulated tests at each distance; 1,000 in the paper.
    tests: usize,
    /// Moves whose acceptance probability is analysed.
    moves: usize,
    /// Of these, how many are simulated, and how often.
    simulated_moves: usize,
    simulations: usize,
    /// Steps of each chain on the states of Theorem 1.
    theorem_steps: u64,
}

impl Scale {
    fn of(context: &Context) -> Self {
        let pick = |quick, usual, paper| context.size.pick(quick, usual, paper);
        let number = |quick, usual, paper| context.extent().number(quick, usual, paper);
        Self {
            statistic_pairs: pick(4, 10, 20),
            resamples: number(20_000, 50_000, 100_000),
            walks: number(4_000, 20_000, 50_000),
            three_looks: number(200_000, 1_000_000, 10_000_000),
            tests: number(1_000, 4_000, 10_000),
            moves: pick(300, 1_000, 1_000),
            simulated_moves: pick(12, 24, 48),
            simulations: number(1_000, 4_000, 10_000),
            theorem_steps: context.extent().count(2_000, 8_000, 40_000),
        }
    }
}

/// Levels that are compared.
const EPSILONS: [f64; 2] = [0.01, 0.05];
/// Rows of the first look and of every step, as in section 6.1.
const STEP_ROWS: usize = 500;

/// A section and its tables.
type Part = (Section, Vec<Table>);

/// A distribution that could not be made.
fn refused(error: &dyn std::fmt::Display) -> crate::Error {
    let (name, allowed) = ("distribution".into(), "a positive number of degrees of freedom".into());
    austerity::Error::Setting { name, value: error.to_string(), allowed }.into()
}

/// Runs the experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    simulate(context, &Scale::of(context))
}

fn simulate(context: &Context, scale: &Scale) -> Result<Outcome> {
    context.stage("moves of the logistic regression", 0.0)?;
    let moves = pairs::moves(context, scale.moves)?;
    let mut sections = Vec::new();
    let mut tables = Vec::new();
    let mut add = |(section, more): Part| {
        sections.push(section);
        tables.extend(more);
    };
    context.stage("the t statistic", 0.05)?;
    add(statistic::run(context, scale, &moves)?);
    context.stage("the random walk", 0.40)?;
    add(walk::run(context, scale, &moves)?);
    context.stage("three looks", 0.55)?;
    add(three::run(context, scale)?);
    context.stage("tests at given distances", 0.60)?;
    add(sequential::run(context, scale, &moves)?);
    context.stage("acceptance probabilities", 0.80)?;
    for part in step::run(context, scale, &moves)? {
        add(part);
    }
    context.stage("Theorem 1", 0.95)?;
    add(theorem::run(context, scale)?);
    context.stage("done", 1.0)?;
    let first = &moves.pairs[0];
    Ok(Outcome {
        title: "Theory of the test against simulation".into(),
        about: vec![
            moves.about.clone(),
            format!(
                "States are drawn around the mode (Laplace approximation), candidates by the random walk of section 6.1 (sd {}). κ, the spread \
                 of the total log ratio per unit of sampling noise, has median {:.2} over {} moves.",
                pairs::WALK_SD,
                moves.median_kappa(),
                moves.pairs.len()
            ),
            "Formulas are the corrected ones: z carries its scale √(N−1)·√(π/(1−π)), G is Φ⁻¹(1−ε), the last look is never wrong.".into(),
        ],
        settings: json!({
            "scale": scale, "rows": moves.rows, "epsilons": EPSILONS, "step_rows": STEP_ROWS,
            "walk_sd": pairs::WALK_SD, "prior_precision": pairs::PRECISION, "real_data": moves.real,
        }),
        numbers: json!({
            "median_kappa": moves.median_kappa(),
            "first_move": { "kappa": first.kappa, "log_ratio": first.ratio, "skewness": first.skewness, "kurtosis": first.kurtosis },
        }),
        sections,
        tables,
    })
}

#[cfg(test)]
mod tests;
