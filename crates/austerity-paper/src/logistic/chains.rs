//! Chains of every rule from both starts, seen at times of their own.
//!
//! Observed are the predictions at the test points, θ − E θ and its squares. Chains of one number share proposals and uniforms over
//! all ε. Chains of different rules run in turn, so that a busy machine slows all of them alike.

use std::sync::atomic::{AtomicUsize, Ordering};

use austerity::kernel::{Kernel as _, Metropolis};
use austerity::model::Model as _;
use austerity::population::BlockOrder;
use austerity::proposal::RandomWalk;
use austerity::rng::Streams;
use austerity::rule::{AnyRule, RuleSettings, SequentialSettings};

use super::problem::Problem;
use super::truth::Truth;
use super::{EPSILONS, Plan, STEP};
use crate::clock::thread_time;
use crate::context::Context;
use crate::curves::{Point, risk_curve, textbook_rule};
use crate::error::Result;
use crate::parallel;
use crate::trajectory::{Checkpoint, Following, Grid, Trajectory, follow, times_as_slow};

/// Times at which chains are looked at: each √2 of the one before, so that half the time is among them.
const TIMES: usize = 21;
/// Checkpoints in a doubling of time.
pub(super) const PER_DOUBLING: usize = 2;

/// Where chains begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Start {
    /// θ = 0: burn-in counts, as in the paper.
    Cold = 0,
    /// A draw of the ground truth.
    Stationary = 1,
}

impl Start {
    pub(super) const BOTH: [Self; 2] = [Self::Cold, Self::Stationary];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Cold => "cold",
            Self::Stationary => "stationary",
        }
    }
}

/// What is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantity {
    /// Predictive means at the test points.
    Predictive,
    /// Posterior variances of the coefficients, relative to the true ones.
    Variances,
}

impl Quantity {
    pub(super) const BOTH: [Self; 2] = [Self::Predictive, Self::Variances];

    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Predictive => "predictive",
            Self::Variances => "variances",
        }
    }
}

/// The chains of one start: for each ε those of all numbers.
pub(super) type Family = Vec<Vec<Trajectory>>;
/// Those of both starts.
pub(super) type Both = [Family; 2];
/// The curves of one quantity: one for each ε.
pub(super) type Curves = Vec<Vec<Point>>;

/// The test of the paper at ε; none for exact decisions.
pub(super) fn test(epsilon: f64, plan: &Plan) -> Option<SequentialSettings> {
    let test = SequentialSettings { guard: None, ..SequentialSettings::constant(plan.first_look, epsilon) };
    (epsilon > 0.0).then_some(test)
}

/// Coefficients whose draws are kept.
pub(super) const TRACED: usize = 50;

/// Draws of the first coefficients of one chain, observation by observation.
pub(super) struct Trace {
    pub(super) start: Start,
    pub(super) rule: usize,
    /// θ − E θ of the first coefficients, an observation each.
    pub(super) draws: Vec<Draw>,
}

/// The first coefficients of a draw, as many as there are up to [`TRACED`].
pub(super) type Draw = Vec<f32>;

/// Whose draws are kept: cold chains for the picture of marginals, stationary ones for the variance of their means.
fn traced(job: &Job) -> bool {
    match job.start {
        Start::Cold => job.rule < 2 && job.number < 3,
        Start::Stationary => job.rule == 0 || job.rule == 3,
    }
}

/// A chain that is to be run.
struct Job {
    start: Start,
    rule: usize,
    number: u32,
}

/// Runs all chains.
pub(super) fn run(
    context: &Context,
    problem: &Problem,
    truth: &Truth,
    plan: &Plan,
) -> Result<(Both, Vec<Trace>)> {
    let rules = EPSILONS
        .map(|epsilon| test(epsilon, plan).map_or_else(RuleSettings::default, RuleSettings::Sequential));
    let rules: Vec<AnyRule> =
        rules.iter().map(|rule| rule.build(problem.rows())).collect::<austerity::Result<_>>()?;
    let jobs: Vec<Job> = (0..plan.chains)
        .flat_map(|number| Start::BOTH.map(|start| (number, start)))
        .flat_map(|(number, start)| (0..rules.len()).map(move |rule| Job { start, rule, number }))
        .collect();
    let done = AtomicUsize::new(0);
    let trajectories = parallel::each(context.threads, &jobs, |_, job| {
        let share = done.fetch_add(1, Ordering::Relaxed) as f64 / jobs.len() as f64;
        let name = label(EPSILONS[job.rule]);
        context.stage(
            &format!("{} start, {name}, chain {}", job.start.word(), job.number + 1),
            0.15 + 0.8 * share,
        )?;
        let name = format!("{}-{}-{}", job.start.word(), job.rule, job.number);
        let settings = (format!("{:016x}", problem.model.fingerprint()), plan, job.number);
        context.chain(("logistic", &name), &settings, || {
            one(context, problem, truth, plan, (job, rules[job.rule].clone()))
        })
    })?;
    let mut both: Both = [0, 1].map(|_| vec![Vec::new(); rules.len()]);
    let mut traces = Vec::new();
    for (job, (trajectory, draws)) in jobs.iter().zip(trajectories) {
        both[job.start as usize][job.rule].push(trajectory);
        if traced(job) {
            traces.push(Trace { start: job.start, rule: job.rule, draws });
        }
    }
    Ok((both, traces))
}

/// A kernel at its start, with its streams.
struct Begun<'a> {
    kernel: Metropolis<'a, austerity_glm::Glm<austerity_glm::Logistic>, RandomWalk, AnyRule>,
    state: Vec<f64>,
    streams: Streams,
}

fn begin<'a>(
    context: &Context,
    problem: &'a Problem,
    truth: &Truth,
    (job, rule): (&Job, AnyRule),
) -> Result<Begun<'a>> {
    let state = match job.start {
        Start::Cold => vec![0.0; problem.dimension()],
        Start::Stationary => truth.starts[job.number as usize % truth.starts.len()].clone(),
    };
    let chain = 2 * job.number + job.start as u32;
    let order = BlockOrder::new(problem.rows(), austerity::BLOCK_ROWS, context.seed, chain)?;
    let walk = RandomWalk::isotropic(problem.dimension(), STEP)?;
    let kernel = Metropolis::new(&problem.model, walk, rule, order, &state)?;
    Ok(Begun { kernel, state, streams: Streams::new(context.seed, chain) })
}

fn one(
    context: &Context,
    problem: &Problem,
    truth: &Truth,
    plan: &Plan,
    job: (&Job, AnyRule),
) -> Result<(Trajectory, Vec<Draw>)> {
    let keep = traced(job.0);
    let mut draws = Vec::new();
    let Begun { mut kernel, mut state, mut streams } = begin(context, problem, truth, job)?;
    let ratio = 2f64.powf(1.0 / PER_DOUBLING as f64);
    let grid = Grid::geometric(plan.seconds / ratio.powi(TIMES as i32 - 1), plan.seconds, TIMES, plan.every);
    let (points, dimension) = (problem.points.len(), problem.dimension());
    let chain = Following { kernel: &mut kernel, state: &mut state, streams: &mut streams };
    let seen = follow(context, chain, (&grid, points + 2 * dimension), |state, out| {
        let (predictions, moments) = out.split_at_mut(points);
        problem.points.predict(state, predictions);
        let (first, second) = moments.split_at_mut(dimension);
        for (i, (value, mean)) in state.iter().zip(&truth.mean).enumerate() {
            first[i] = value - mean;
            second[i] = first[i] * first[i];
        }
        if keep {
            draws.push(first.iter().take(TRACED).map(|value| *value as f32).collect());
        }
    })?;
    Ok((seen, draws))
}

/// How many times as long a step takes as ours that evaluates both states at every step, as a textbook's loop does.
pub(super) fn textbook(context: &Context, problem: &Problem, truth: &Truth, plan: &Plan) -> Result<f64> {
    context.stage("exact decisions without a cache", 0.96)?;
    let rules = [RuleSettings::default(), textbook_rule(problem.rows())];
    let job = Job { start: Start::Stationary, rule: 0, number: 0 };
    let begun = rules.map(|rule| begin(context, problem, truth, (&job, rule.build(problem.rows())?)));
    let [ours, textbook] = begun;
    times_as_slow(stepping(ours?), stepping(textbook?), plan.seconds.min(1.0))
}

/// Makes the steps of a chain.
fn stepping<'a>(mut begun: Begun<'a>) -> impl FnMut(u64) -> Result<()> + 'a {
    move |step| {
        begun.streams.begin(step);
        begun.kernel.step(&mut begun.state, &mut begun.streams)?;
        Ok(())
    }
}

/// CPU seconds in which exact chains make so many steps; kept with the truths, so that a run that goes on has the same.
pub(super) fn seconds_of(
    context: &Context,
    problem: &Problem,
    truth: &Truth,
    (plan, steps): (&Plan, u64),
) -> Result<f64> {
    let settings = (format!("{:016x}", problem.model.fingerprint()), plan.every, steps);
    context.truth("logistic-seconds", &settings, || {
        let rule = RuleSettings::default().build(problem.rows())?;
        Ok(steps as f64 / speed(context, problem, truth, (rule, 1.0))?)
    })
}

/// Steps per CPU second of a rule in the posterior.
fn speed(context: &Context, problem: &Problem, truth: &Truth, (rule, time): (AnyRule, f64)) -> Result<f64> {
    let job = Job { start: Start::Stationary, rule: 0, number: 0 };
    let Begun { mut kernel, mut state, mut streams } = begin(context, problem, truth, (&job, rule))?;
    let (begun, mut steps, mut seconds) = (thread_time(), 0, 0.0);
    while seconds < time {
        for _ in 0..10 {
            streams.begin(steps);
            kernel.step(&mut state, &mut streams)?;
            steps += 1;
        }
        seconds = (thread_time() - begun).as_secs_f64();
    }
    Ok(steps as f64 / seconds)
}

/// The name of a rule in figures.
pub(super) fn label(epsilon: f64) -> String {
    if epsilon == 0.0 { "exact".into() } else { format!("ε = {epsilon}") }
}

/// Risk curves of a quantity, one for each ε.
pub(super) fn curves(family: &Family, truth: &Truth, quantity: Quantity) -> Curves {
    let curve = |chains: &Vec<Trajectory>| match quantity {
        Quantity::Predictive => risk_curve(chains, 0, &truth.predictive, &vec![1.0; truth.predictive.len()]),
        Quantity::Variances => {
            let dimension = truth.mean.len();
            let estimates: Vec<Trajectory> = chains.iter().map(|chain| variances(chain, dimension)).collect();
            risk_curve(&estimates, 0, &truth.variance, &truth.variance)
        }
    };
    family.iter().map(curve).collect()
}

/// The same chain with its estimates of the variances, each about the chain's own mean.
fn variances(chain: &Trajectory, dimension: usize) -> Trajectory {
    let estimate = |point: &Checkpoint| {
        let moments = &point.means[point.means.len() - 2 * dimension..];
        let (first, second) = moments.split_at(dimension);
        Checkpoint {
            means: first.iter().zip(second).map(|(mean, square)| square - mean * mean).collect(),
            ..point.clone()
        }
    };
    Trajectory { checkpoints: chain.checkpoints.iter().map(estimate).collect(), ..chain.clone() }
}
