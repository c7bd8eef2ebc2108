//! Independent component analysis (section 6.2): risk of the mean Amari distance against time, exact and by sequential tests.
//!
//! | file | holds |
//! |---|---|
//! | [`problem`] | the data: music, street noise and two Gaussian sources, mixed and whitened |
//! | [`stationary`] | the posterior by a long exact run, with its mode, widths and ridge |
//! | `claims` | the paper's claims and what became of them |
//! | `page` | figures and tables |
//!
//! Every ε runs some chains of equal CPU time with the paper's walk (the same σ in every plane) and looks of 600 samples. All start from
//! states of the long exact run: what is compared is sampling, not burn-in.

mod claims;
mod page;
pub mod problem;
pub mod stationary;

use austerity::design::{Pairs, PilotSettings, evaluate, pilot};
use austerity::kernel::Metropolis;
use austerity::model::Model as _;
use austerity::population::BlockOrder;
use austerity::rng::Streams;
use austerity::rule::{Law, RuleSettings, SequentialSettings};
use austerity::theory::{Accuracy, ErrorTable, TestPlan, TestWalk};
use austerity_models::Stiefel;
use austerity_models::ica::amari_distance;

use crate::claim::Estimate;
use crate::context::Context;
use crate::curves::{Point, risk_curve};
use crate::error::Result;
use crate::outcome::Outcome;
use crate::parallel;
use crate::trajectory::{Following, Grid, Trajectory, follow};

pub(crate) use claims::CLAIMS;
use problem::{PAPER_ROWS, Problem, SOURCES};
use stationary::Stationary;

/// ε of the paper; 0 is the exact rule.
pub const EPSILONS: [f64; 5] = [0.0, 0.01, 0.05, 0.1, 0.2];
/// m: samples of a look. Section 6.5 calls 600 its choice for this problem, section 5.2 says about 500.
pub const BATCH: usize = 600;
/// Moves whose complete moments the theory is asked about.
const PILOT_STEPS: usize = 100;

/// How much is done.
#[derive(Clone, Copy, Debug, serde::Serialize)]
pub(crate) struct Sizes {
    /// N.
    pub rows: usize,
    /// Steps of the long exact run.
    pub truth_steps: usize,
    /// Chains per ε.
    pub chains: usize,
    /// CPU seconds per chain.
    pub seconds: f64,
}

impl Sizes {
    pub(crate) fn of(context: &Context) -> Self {
        Self {
            rows: context.size.pick(100_000, PAPER_ROWS, PAPER_ROWS),
            truth_steps: context.extent().number(8_000, 8_000, 100_000).max(context.size.pick(12_000, 0, 0)),
            chains: context.size.pick(6, 10, 10),
            seconds: context.extent().amount(0.8, 7.0, context.of_the_papers(6_400.0)),
        }
    }
}

/// What the chains of one ε did.
pub(crate) struct Arm {
    pub epsilon: f64,
    pub curve: Vec<Point>,
    pub steps_per_second: f64,
    /// Its standard error, from the spread of the chains, and their number.
    pub speed_error: f64,
    pub chains: f64,
    pub data_share: f64,
    pub acceptance: f64,
    /// Mean |Δ| of the acceptance probability and mean share of the data, by the theory, for the moves of an exact chain.
    pub delta: f64,
    pub predicted_share: f64,
    /// Mean of the Amari distance over all chains and its posterior sd there.
    pub mean: f64,
    pub sd: f64,
}

/// Everything that was measured.
pub(crate) struct Findings {
    pub problem: Problem,
    pub truth: Stationary,
    pub step_sd: f64,
    pub sizes: Sizes,
    pub arms: Vec<Arm>,
}

/// The experiment.
pub fn run(context: &Context) -> Result<Outcome> {
    run_with(context, Sizes::of(context))
}

pub(crate) fn run_with(context: &Context, sizes: Sizes) -> Result<Outcome> {
    context.stage("mixing and whitening", 0.0)?;
    let problem = Problem::new(context, sizes.rows)?;
    context.stage("the posterior by a long exact run", 0.02)?;
    let truth = Stationary::new(context, &problem, sizes.truth_steps)?;
    let step_sd = truth.step_sd();
    context.stage("moves of an exact chain", 0.44)?;
    let pairs = pairs(context, &problem, &truth, PILOT_STEPS, 0)?;
    let jobs: Vec<(f64, u32)> = EPSILONS
        .iter()
        .flat_map(|&epsilon| (0..sizes.chains as u32).map(move |chain| (epsilon, chain)))
        .collect();
    let trajectories = parallel::each(context.threads, &jobs, |place, &(epsilon, chain)| {
        let done = place as f64 / jobs.len() as f64;
        context.stage(&format!("chains at epsilon {epsilon}"), 0.46 + 0.52 * done)?;
        let settings = (problem.model.fingerprint().to_string(), epsilon, &sizes);
        context.chain(("ica", &format!("{epsilon}-{chain}")), &settings, || {
            one_chain(context, &problem, &truth, (epsilon, chain), &sizes)
        })
    })?;
    let mut arms = Vec::new();
    for (&epsilon, chains) in EPSILONS.iter().zip(trajectories.chunks(sizes.chains)) {
        arms.push(arm(epsilon, chains, &truth, &pairs)?);
    }
    Ok(page::outcome(context, &Findings { problem, truth, step_sd, sizes, arms }))
}

/// The rule at ε: exact at 0, else constant looks of 600 as in the paper, in blocks, without a guard.
fn rule(epsilon: f64) -> RuleSettings {
    if epsilon == 0.0 {
        return RuleSettings::default();
    }
    RuleSettings::Sequential(SequentialSettings {
        guard: None,
        ..SequentialSettings::constant(BATCH, epsilon)
    })
}

/// Complete moments of moves of the paper's walk from a state of the long run; other `part`s start elsewhere.
pub(crate) fn pairs(
    context: &Context,
    problem: &Problem,
    truth: &Stationary,
    steps: usize,
    part: usize,
) -> Result<Pairs> {
    let mut walk = Stiefel::isotropic(SOURCES, SOURCES, truth.step_sd())?;
    let start = &truth.starts[part * truth.starts.len() / 2 % truth.starts.len()];
    let seed = context.seed.wrapping_add(1 + part as u64);
    let settings = PilotSettings { start, steps, seed };
    let found = pilot(&problem.model, &mut walk, &settings, &mut |_| !context.control().stopped())?;
    // Stopped by the user: there are too few, and the next stage says so.
    context.stage("moves of an exact chain", 0.45)?;
    Ok(found.pairs)
}

fn one_chain(
    context: &Context,
    problem: &Problem,
    truth: &Stationary,
    (epsilon, chain): (f64, u32),
    sizes: &Sizes,
) -> Result<Trajectory> {
    let model = &problem.model;
    let rule = rule(epsilon).build(model.len())?;
    let walk = Stiefel::isotropic(SOURCES, SOURCES, truth.step_sd())?;
    let order = BlockOrder::new(model.len(), austerity::BLOCK_ROWS, context.seed, chain)?;
    // The same starts for every ε, spread over the long run.
    let mut state = truth.starts[chain as usize * truth.starts.len() / sizes.chains].clone();
    let mut kernel = Metropolis::new(model, walk, rule, order, &state)?;
    let mut streams = Streams::new(context.seed, chain);
    let every = if epsilon == 0.0 { 1 } else { 4 };
    let grid = Grid::geometric(sizes.seconds / 40.0, sizes.seconds, 28, every);
    let chain = Following { kernel: &mut kernel, state: &mut state, streams: &mut streams };
    follow(context, chain, (&grid, 2), |state, out| {
        let distance = amari_distance(SOURCES, state, &problem.mixing).unwrap_or(f64::NAN);
        out.copy_from_slice(&[distance, distance * distance]);
    })
}

fn arm(epsilon: f64, chains: &[Trajectory], truth: &Stationary, pairs: &Pairs) -> Result<Arm> {
    let total = |of: &dyn Fn(&Trajectory) -> f64| chains.iter().map(of).sum::<f64>();
    let steps = total(&|chain| chain.counters.steps as f64);
    let last = |place: usize| {
        total(&|chain| chain.checkpoints.last().map_or(f64::NAN, |at| at.means[place])) / chains.len() as f64
    };
    let [delta, predicted_share] = match rule(epsilon) {
        RuleSettings::Sequential(settings) => {
            let plan = TestPlan::of_settings(&settings, pairs.rows())?;
            let table = ErrorTable::new(&TestWalk::new(plan, Accuracy::Fast), Accuracy::Fast);
            evaluate(&table, pairs, Law::Metropolis)?
        }
        _ => [0.0, 1.0],
    };
    let mean = last(0);
    let speeds: Vec<f64> = chains.iter().map(|chain| chain.counters.steps as f64 / chain.seconds).collect();
    Ok(Arm {
        epsilon,
        curve: risk_curve(chains, 0, &[truth.mean], &[1.0]),
        steps_per_second: steps / total(&|chain| chain.seconds),
        speed_error: Estimate::mean("", &speeds).error,
        chains: chains.len() as f64,
        data_share: total(&|chain| chain.counters.rows as f64) / steps / pairs.rows() as f64,
        acceptance: total(&|chain| chain.counters.accepted as f64) / steps,
        delta,
        predicted_share,
        mean,
        sd: (last(1) - mean * mean).max(0.0).sqrt(),
    })
}

#[cfg(test)]
mod tests;
