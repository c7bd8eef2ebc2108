//! Section 6.1: a random walk over a logistic regression, MNIST 7 against 9, and the risk of its predictive means.
//!
//! | file | holds |
//! |---|---|
//! | `problem` | the data, or a generated stand-in; predictions at the test points |
//! | `truth` | the ground truth, by Hamiltonian Monte Carlo |
//! | `chains` | exact and approximate chains from a cold start and from the posterior |
//! | `measure` | what the chains have cost and sampled, beside what the theory predicts |
//! | `spread` | the variance of a chain's mean against σ²τ/T |
//! | `stuck` | pseudo-marginal chains, which get stuck (section 4) |
//! | `claims` | the paper's claims and what became of them |
//! | `picture` | figures and tables |
//!
//! θ' ~ N(θ, 0.01²), prior precision 10, m = 500, ε ∈ {0, .01, .05, .1, .2}. ε = 0 is exact Metropolis–Hastings as it should be written:
//! the current state's linear predictors are kept, so a step evaluates the candidate alone, in a scan. Rows are drawn in
//! blocks of 32, so m is 512: the same stationary bias as single rows on shuffled data, at a sixth of the cost. Time is CPU time of a
//! chain's own thread; observing it is not counted.

mod chains;
mod claims;
mod measure;
mod picture;
mod problem;
mod spread;
mod stuck;
mod truth;

#[cfg(test)]
mod tests;

use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::curves::Textbook;
use crate::error::Result;
use crate::extent::Extent;
use crate::outcome::{Outcome, Section};
use chains::{Quantity, Start};
pub(crate) use claims::CLAIMS;
use measure::Measured;
use problem::Problem;
use truth::Truth;

/// Standard deviation of a step of the walk.
const STEP: f64 = 0.01;
/// ε of the paper's figure; 0 is exact.
const EPSILONS: [f64; 5] = [0.0, 0.01, 0.05, 0.1, 0.2];
/// Steps of the paper's exact chain after 400 seconds.
const PAPER_STEPS: u64 = 75_500;
/// Precision of the prior of every coefficient.
const PRECISION: f64 = 10.0;

/// How much is run.
#[derive(Clone, Debug, Serialize)]
struct Plan {
    /// CPU seconds of each chain.
    seconds: f64,
    /// Steps that exact chains make in that time where the time follows from them: the paper's T after 400 seconds.
    exact_steps: Option<u64>,
    /// Chains of each rule from each start.
    chains: u32,
    /// Steps from one observation to the next.
    every: u64,
    /// m.
    first_look: usize,
    /// Steps of each pseudo-marginal chain.
    stuck_steps: u64,
    /// Chains, warm-up and draws per chain of the ground truth.
    truth: (u32, u64, u64),
}

impl Plan {
    fn of(extent: Extent) -> Self {
        let size = extent.size;
        Self {
            seconds: size.pick(0.4, 3.0, 5.0),
            exact_steps: size.pick(None, None, Some(extent.count(0, 0, PAPER_STEPS))),
            chains: size.pick(6, 10, 10),
            every: 10,
            first_look: 512,
            stuck_steps: extent.count(200, 600, 5_000),
            truth: (
                size.pick(4, 8, 8),
                size.pick(200, 300, 500),
                extent.count(500, 2_500, 40_000).max(size.pick(0, 0, 2_500)),
            ),
        }
    }
}

/// Runs the experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    context.stage("reading the data", 0.0)?;
    run_on(context, &Problem::load(context)?, &Plan::of(context.extent()))
}

fn run_on(context: &Context, problem: &Problem, plan: &Plan) -> Result<Outcome> {
    let truth = Truth::find(context, problem, plan)?;
    let plan = &match plan.exact_steps {
        Some(steps) => {
            Plan { seconds: chains::seconds_of(context, problem, &truth, (plan, steps))?, ..plan.clone() }
        }
        None => plan.clone(),
    };
    let (both, traces) = chains::run(context, problem, &truth, plan)?;
    let slower = chains::textbook(context, problem, &truth, plan)?;
    let measured = measure::all(problem, &truth, &both, plan)?;
    let textbook = Textbook { slower, evaluations: 2.0 * problem.rows() as f64 };
    let mut sections = Vec::new();
    let mut risks = picture::risk_table();
    for start in Start::BOTH {
        for quantity in Quantity::BOTH {
            let curves = chains::curves(&both[start as usize], &truth, quantity);
            picture::push_rows(&mut risks, start, quantity, &curves);
            let checks = claims::about(start, quantity, &curves, textbook);
            sections.extend(picture::sections((start, quantity), &curves, &truth, textbook, checks));
        }
    }
    sections.insert(0, speed(&both, &measured, textbook));
    sections.push(picture::marginals(&traces, &truth, &both[Start::Cold as usize]));
    if problem.stand_in {
        for check in sections.iter_mut().flat_map(|section| &mut section.checks) {
            *check = check.clone().undecided_if(true, "The paper's data are missing.");
        }
    }
    let (section, stuck) = stuck::run(context, problem, &truth, (plan, measured[0].acceptance))?;
    sections.push(section);
    let (figure, ratios) = spread::measure(&traces);
    sections.push(Section {
        title: "The variance of a chain's mean".into(),
        figure: Some(("variance".into(), figure)),
        caption: "Variance between chains of their means of the first coefficients, over σ²τ/T with σ² and the integrated autocorrelation time τ                   from the draws of all of them about the true mean; one point a coefficient."
            .into(),
        checks: vec![claims::variance(&ratios)],
    });
    sections.push(picture::theory(&measured, claims::theory(&measured, plan)));
    Ok(Outcome {
        title: "Logistic regression by random walk (section 6.1)".into(),
        about: about(problem, &truth, plan),
        settings: json!({
            "rows": problem.rows(), "test_points": problem.points.len(), "dimension": problem.dimension(),
            "stand_in": problem.stand_in, "prior_precision": PRECISION, "step_sd": STEP, "epsilons": EPSILONS,
            "first_look": plan.first_look, "block_rows": austerity::BLOCK_ROWS, "cpu_seconds": plan.seconds, "exact_steps": plan.exact_steps,
            "chains": plan.chains, "observed_every": plan.every, "truth_chains_warmup_draws": plan.truth,
        }),
        numbers: json!({ "truth": truth.numbers(), "rules": measured, "textbook_slower": slower }),
        sections,
        tables: vec![risks, picture::rule_table(&measured), stuck],
    })
}

/// How many steps a second each rule makes.
fn speed(both: &chains::Both, measured: &[Measured], textbook: Textbook) -> Section {
    Section {
        title: "Samples in the same time".into(),
        figure: Some(("steps".into(), picture::steps(&both[Start::Cold as usize], measured))),
        caption: "Left: steps made against CPU time from θ = 0, where decisions are easy at first. Right: steps per CPU second from the \
                  posterior."
            .into(),
        checks: claims::speed(&both[Start::Cold as usize], measured, textbook),
    }
}

fn about(problem: &Problem, truth: &Truth, plan: &Plan) -> Vec<String> {
    let data = if problem.stand_in {
        "The MNIST files were not found: generated logistic data of the same shape stand in, so claims about the paper's data are not \
         judged on them."
    } else {
        "MNIST digits 7 against 9, 50 principal components, no constant."
    };
    vec![
        format!(
            "{data} N = {}, {} test points, normal prior of precision {PRECISION}, random walk of standard deviation {STEP} in each of {} \
             coordinates. {} chains of {} CPU seconds for each ε from each start.",
            problem.rows(),
            problem.points.len(),
            problem.dimension(),
            plan.chains,
            plan.seconds
        ),
        format!(
            "Ground truth by Hamiltonian Monte Carlo: {} draws, acceptance {:.2}. Its own error adds about {:.1e} to a risk of the predictive \
             mean and {:.1e} to one of the variances; one independent draw from the posterior would have a risk of {:.1e}.",
            truth.draws, truth.acceptance, truth.predictive_floor, truth.variance_floor, truth.single
        ),
        format!(
            "The test is Algorithm 1 (constant looks, constant bounds, Student t, plain threshold, no guard), with whole blocks of 32 rows, \
             hence m = {} for the paper's 500; blocks of one row would be faithful to the letter and many times slower. Exact \
             Metropolis–Hastings keeps the linear predictors of the current state and scans: one evaluation per row and step (predictors of an accepted \
             state are computed afresh in the next scan, lest they drift), where a test spends two on each row it reads.",
            plan.first_look
        ),
    ]
}
