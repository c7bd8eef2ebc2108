//! Chains of the experiment: starts, rules, long exact runs, and what is seen of each step.

use austerity::kernel::{Kernel, Metropolis};
use austerity::model::Model as _;
use austerity::population::BlockOrder;
use austerity::rng::Streams;
use austerity::rule::{AnyRule, Decision, RuleSettings, SequentialSettings};
use austerity_models::{Jump, JumpTally};
use austerity_models::{Selection, VariableSelection};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::data::Problem;
use super::{BIRTH_SD, EPSILONS, LOOK, MIDDLE, PAPER_ROWS, UPDATE_SD};
use crate::context::Context;
use crate::curves::{Point, Textbook, risk_curve, textbook_rule};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::parallel;
use crate::trajectory::{Following, Grid, Trajectory, follow, times_as_slow};

/// How much is done on one data set.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Plan {
    /// Chains of each ε.
    pub(super) chains: usize,
    /// CPU seconds of each.
    pub(super) seconds: f64,
    /// Chains of the long exact runs, from each start.
    pub(super) truth_chains: usize,
    /// Steps of each; the first quarter is left out.
    pub(super) truth_steps: u64,
    /// Steps from one observation to the next.
    pub(super) every: u64,
    /// CPU seconds that a step of the exact chain takes, about: for the time left only.
    pub(super) exact_step: f64,
}

impl Plan {
    /// For thousands of rows.
    pub(super) fn small(extent: Extent) -> Self {
        let (seconds, truth_steps) =
            (extent.amount(0.5, 1.5, 5.5), extent.count(120_000, 400_000, 1_000_000));
        Self { chains: 10, seconds, truth_chains: 4, truth_steps, every: 20, exact_step: 1e-5 }
    }

    /// For a hundred thousand rows.
    pub(super) fn large(extent: Extent) -> Self {
        let (seconds, truth_steps) =
            (extent.amount(1.0, 3.0, 3500.0 / 64.0), extent.count(40_000, 100_000, 400_000));
        Self { chains: 10, seconds, truth_chains: 4, truth_steps, every: 20, exact_step: 2e-4 }
    }

    /// For half a million.
    pub(super) fn huge(extent: Extent) -> Self {
        let (seconds, truth_steps) =
            (extent.amount(1.0, 4.0, 3500.0 / 64.0), extent.count(10_000, 25_000, 100_000));
        Self { chains: 5, seconds, truth_chains: 4, truth_steps, every: 20, exact_step: 8e-4 }
    }

    /// CPU seconds in all, about.
    pub(super) fn work(&self) -> f64 {
        let follow = self.seconds * self.chains as f64 * (EPSILONS.len() as f64 + 1.0);
        1.3 * follow + 2.0 * self.truth_chains as f64 * self.truth_steps as f64 * self.exact_step
    }

    fn grid(&self) -> Grid {
        Grid::geometric(self.seconds / 128.0, self.seconds, 15, self.every)
    }
}

/// What happened in the steps 2^i, …, 2^(i+1) − 1.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(super) struct Phase {
    pub(super) tally: JumpTally,
    /// Sum of the sizes after each step.
    sizes: f64,
    pub(super) steps: u64,
}

impl Phase {
    fn add(&mut self, other: &Self) {
        self.tally.add(&other.tally);
        self.sizes += other.sizes;
        self.steps += other.steps;
    }

    /// Mean size of the model.
    pub(super) fn size(&self) -> f64 {
        self.sizes / self.steps as f64
    }
}

/// The kernel, with a record of moves and sizes by phase.
struct Watched<'m> {
    kernel: Metropolis<'m, VariableSelection, Jump, AnyRule>,
    step: u64,
    phases: Vec<Phase>,
}

impl Kernel for Watched<'_> {
    type State = Selection;
    type Learnt = Jump;

    fn learnt(&self) -> Jump {
        self.kernel.learnt()
    }

    fn step(&mut self, state: &mut Selection, streams: &mut Streams) -> austerity::Result<Decision> {
        let decision = self.kernel.step(state, streams)?;
        self.step += 1;
        let phase = self.step.ilog2() as usize;
        if self.phases.len() <= phase {
            self.phases.resize(phase + 1, Phase::default());
        }
        let phase = &mut self.phases[phase];
        phase.steps += 1;
        phase.sizes += state.size() as f64;
        if let Some(kind) = self.kernel.proposal().last() {
            phase.tally.count(kind, decision.accepted);
        }
        Ok(decision)
    }
}

/// Which rule an ε stands for. The paper's: no guard.
fn rule(epsilon: f64) -> RuleSettings {
    if epsilon == 0.0 {
        return RuleSettings::default();
    }
    RuleSettings::Sequential(SequentialSettings {
        guard: None,
        ..SequentialSettings::constant(LOOK, epsilon)
    })
}

/// The standard deviation of an update.
pub(super) fn update_sd(rows: usize) -> f64 {
    UPDATE_SD * (PAPER_ROWS / rows as f64).sqrt().max(1.0)
}

/// A chain about to start: the kernel, its state and streams. `number` tells its random streams apart.
fn chain<'m>(
    problem: &'m Problem,
    epsilon: f64,
    start: &Selection,
    seed: u64,
    number: u32,
) -> Result<(Watched<'m>, Selection, Streams)> {
    let model = &problem.model;
    let rule = rule(epsilon);
    let order = BlockOrder::new(model.len(), rule.block_rows(), seed, number)?;
    let jump = Jump::new(problem.features(), update_sd(problem.rows()), BIRTH_SD)?;
    let kernel = Metropolis::new(model, jump, rule.build(model.len())?, order, start)?;
    Ok((Watched { kernel, step: 0, phases: Vec::new() }, start.clone(), Streams::new(seed, number)))
}

/// Test functions: the predictions, whether each feature is in, and the size.
fn width(problem: &Problem) -> usize {
    problem.predicted() + problem.features() + 1
}

fn observe(problem: &Problem, state: &Selection, out: &mut [f64]) {
    let (predictions, rest) = out.split_at_mut(problem.predicted());
    problem.predict(state, predictions);
    rest.fill(0.0);
    state.iter().for_each(|(feature, _)| rest[feature] = 1.0);
    rest[problem.features()] = state.size() as f64;
}

/// Means of the test functions over long exact chains.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Truth {
    /// One list per chain.
    chains: Vec<Vec<f64>>,
    predicted: usize,
    /// Counts of the moves after the burn-in.
    pub(super) tally: JumpTally,
}

impl Truth {
    /// The mean over the chains.
    fn mean(&self) -> Vec<f64> {
        mean_of(&self.chains)
    }

    /// Means of the predictions.
    pub(super) fn predictions(&self) -> Vec<f64> {
        self.mean()[..self.predicted].to_vec()
    }

    /// Inclusion probabilities.
    pub(super) fn inclusion(&self) -> Vec<f64> {
        let mean = self.mean();
        mean[self.predicted..mean.len() - 1].to_vec()
    }

    /// Mean number of features.
    pub(super) fn size(&self) -> f64 {
        self.mean().last().copied().unwrap_or(f64::NAN)
    }

    /// Mean number of features of each chain.
    pub(super) fn sizes(&self) -> Vec<f64> {
        self.chains.iter().filter_map(|chain| chain.last().copied()).collect()
    }

    /// Squared standard error of the predictions, from the differences between the chains: no risk can be told below it.
    pub(super) fn error(&self) -> f64 {
        let chains: Vec<&[f64]> = self.chains.iter().map(|chain| &chain[..self.predicted]).collect();
        crate::risk::risk(&chains, &self.predictions()).variance / chains.len() as f64
    }
}

fn mean_of(lists: &[Vec<f64>]) -> Vec<f64> {
    let count = lists.len() as f64;
    let width = lists.first().map_or(0, Vec::len);
    (0..width).map(|i| lists.iter().map(|list| list[i]).sum::<f64>() / count).collect()
}

/// Chains of one ε from one start.
pub(super) struct Group {
    pub(super) epsilon: f64,
    trajectories: Vec<Trajectory>,
    /// Moves and sizes by phase, all chains together.
    pub(super) phases: Vec<Phase>,
    /// The same, chain by chain.
    each: Vec<Vec<Phase>>,
    /// The risk of the predictions.
    pub(super) curve: Vec<Point>,
    /// Means of the test functions over the second half of each chain, about.
    late: Vec<Vec<f64>>,
    predicted: usize,
}

impl Group {
    /// Steps per CPU second of each chain.
    pub(super) fn speeds(&self) -> Vec<f64> {
        self.trajectories.iter().map(|t| t.counters.steps as f64 / t.seconds).collect()
    }

    /// Mean size over the second half of each chain.
    pub(super) fn sizes(&self) -> Vec<f64> {
        self.late.iter().filter_map(|chain| chain.last().copied()).collect()
    }

    /// Share of the held-out rows that each chain misclassifies.
    pub(super) fn errors(&self, problem: &Problem) -> Vec<f64> {
        self.late.iter().map(|chain| problem.error(&chain[..self.predicted])).collect()
    }

    /// Moves of each chain before step 128, and in the last two phases that all chains reached.
    pub(super) fn rates(&self) -> Vec<(JumpTally, JumpTally)> {
        let reached = self.phases.len();
        let sum = |phases: &[Phase]| {
            let mut all = JumpTally::default();
            phases.iter().for_each(|phase| all.add(&phase.tally));
            all
        };
        let one = |chain: &Vec<Phase>| {
            (sum(&chain[..7.min(reached)]), sum(&chain[reached.saturating_sub(2)..reached]))
        };
        self.each.iter().map(one).collect()
    }

    /// Number of chains.
    pub(super) fn chains(&self) -> usize {
        self.trajectories.len()
    }

    /// Inclusion probabilities over the second halves, chains together.
    pub(super) fn mean_inclusion(&self) -> Vec<f64> {
        let mean = mean_of(&self.late);
        mean[self.predicted..mean.len() - 1].to_vec()
    }

    /// Steps per CPU second.
    pub(super) fn speed(&self) -> f64 {
        let steps: u64 = self.trajectories.iter().map(|t| t.counters.steps).sum();
        steps as f64 / self.trajectories.iter().map(|t| t.seconds).sum::<f64>()
    }

    /// Mean share of the rows that a decision rested on.
    pub(super) fn data_share(&self, rows: usize) -> f64 {
        let mut all = austerity::run::Counters::default();
        self.trajectories.iter().for_each(|t| all.add(&t.counters));
        all.data_share(rows)
    }

    /// Means of the predictions, chains together, over their second halves.
    pub(super) fn predictions(&self) -> Vec<f64> {
        mean_of(&self.late)[..self.predicted].to_vec()
    }

    /// Inclusion probabilities over the second halves, chain by chain.
    pub(super) fn inclusion(&self) -> Vec<&[f64]> {
        self.late.iter().map(|chain| &chain[self.predicted..chain.len() - 1]).collect()
    }

    /// Mean size over the second halves, and its standard error between chains.
    pub(super) fn size(&self) -> (f64, f64) {
        let sizes: Vec<f64> = self.late.iter().filter_map(|chain| chain.last().copied()).collect();
        let n = sizes.len() as f64;
        let mean = sizes.iter().sum::<f64>() / n;
        let variance = sizes.iter().map(|s| (s - mean) * (s - mean)).sum::<f64>() / (n - 1.0);
        (mean, (variance / n).sqrt())
    }

    /// Moves in the phases that end before step 128, and in the last two phases that all chains reached.
    pub(super) fn early_and_late(&self) -> (JumpTally, JumpTally) {
        let mut early = JumpTally::default();
        self.phases.iter().take(7).for_each(|phase| early.add(&phase.tally));
        let mut late = JumpTally::default();
        self.phases.iter().rev().take(2).for_each(|phase| late.add(&phase.tally));
        (early, late)
    }
}

/// All that was found on one data set.
pub(super) struct Found {
    pub(super) rows: usize,
    /// From one feature.
    pub(super) truth: Truth,
    /// From the mode with all features.
    pub(super) truth_from_mode: Truth,
    /// From one feature, one per ε.
    pub(super) groups: Vec<Group>,
    /// From the mode: the exact chain and the middle ε.
    pub(super) from_mode: Vec<Group>,
    /// The exact loop that evaluates both states on every row.
    pub(super) textbook: Textbook,
}

/// Explores one data set. `span` is the share of the whole that is behind, and the share that this is.
pub(super) fn explore(context: &Context, problem: &Problem, plan: &Plan, span: (f64, f64)) -> Result<Found> {
    let parts = 2.0 + EPSILONS.len() as f64 + 2.0;
    let mut part = 0.0;
    let mut stage = |doing: String| {
        let done = span.0 + span.1 * part / parts;
        part += 1.0;
        context.stage(&format!("{}: {doing}", problem.name), done)
    };
    stage("long exact chains".into())?;
    let truth = truth(context, problem, plan, "single", &problem.single)?;
    stage("long exact chains from the mode".into())?;
    let truth_from_mode = self::truth(context, problem, plan, "mode", &problem.mode)?;
    let mut groups = Vec::new();
    for (place, &epsilon) in EPSILONS.iter().enumerate() {
        stage(format!("ε = {epsilon}"))?;
        let first = 100 * (place as u32 + 1);
        groups.push(group(context, problem, plan, (epsilon, &problem.single, first), &truth)?);
    }
    let mut from_mode = Vec::new();
    for (place, epsilon) in [0.0, EPSILONS[MIDDLE]].into_iter().enumerate() {
        stage(format!("ε = {epsilon} from the mode"))?;
        let first = 1000 + 100 * place as u32;
        let fewer = Plan { chains: plan.chains.div_ceil(2), ..plan.clone() };
        from_mode.push(group(context, problem, &fewer, (epsilon, &problem.mode, first), &truth_from_mode)?);
    }
    let textbook = textbook(problem, plan, context.seed)?;
    Ok(Found { rows: problem.rows(), truth, truth_from_mode, groups, from_mode, textbook })
}

/// The textbook's exact loop, with both states evaluated on every row and all their columns read, in turns with ours.
fn textbook(problem: &Problem, plan: &Plan, seed: u64) -> Result<Textbook> {
    let order = BlockOrder::new(problem.rows(), austerity::BLOCK_ROWS, seed, 100)?;
    let jump = Jump::new(problem.features(), update_sd(problem.rows()), BIRTH_SD)?;
    let rule = textbook_rule(problem.rows()).build(problem.rows())?;
    let mut kernel = Metropolis::new(&problem.model, jump, rule, order, &problem.single)?;
    let (mut state, mut streams) = (problem.single.clone(), Streams::new(seed, 100));
    let (mut ours, mut our_state, mut our_streams) = chain(problem, 0.0, &problem.single, seed, 100)?;
    let slower = times_as_slow(
        |step| {
            our_streams.begin(step);
            ours.step(&mut our_state, &mut our_streams)?;
            Ok(())
        },
        |step| {
            streams.begin(step);
            kernel.step(&mut state, &mut streams)?;
            Ok(())
        },
        plan.seconds.min(1.0),
    )?;
    Ok(Textbook { slower, evaluations: 2.0 * problem.rows() as f64 })
}

/// The long exact runs from `start`, from the cache where they are.
fn truth(context: &Context, problem: &Problem, plan: &Plan, from: &str, start: &Selection) -> Result<Truth> {
    let settings = json!({
        "model": problem.model.fingerprint(), "start": start, "chains": plan.truth_chains, "steps": plan.truth_steps,
        "every": plan.every, "predicted": problem.predicted(), "seed": context.seed,
        "sd": [update_sd(problem.rows()), BIRTH_SD],
    });
    context.truth(&format!("selection-{}-{from}", problem.name), &settings, || {
        let numbers: Vec<u32> = (0..plan.truth_chains as u32).map(|i| 5000 + i).collect();
        let runs = parallel::each(context.threads, &numbers, |_, &number| {
            let (mut kernel, mut state, mut streams) = chain(problem, 0.0, start, context.seed, number)?;
            let burn_in = plan.truth_steps / 4;
            let (mut sums, mut value) = (vec![0.0; width(problem)], vec![0.0; width(problem)]);
            let mut count = 0.0;
            for step in 0..plan.truth_steps {
                if step % 1024 == 0 && context.stopped() {
                    return Err(Error::Interrupted);
                }
                if step == burn_in {
                    kernel.phases.clear();
                }
                streams.begin(step);
                kernel.step(&mut state, &mut streams)?;
                if step >= burn_in && step % plan.every == 0 {
                    observe(problem, &state, &mut value);
                    sums.iter_mut().zip(&value).for_each(|(sum, v)| *sum += v);
                    count += 1.0;
                }
            }
            let mut tally = JumpTally::default();
            kernel.phases.iter().for_each(|phase| tally.add(&phase.tally));
            Ok((sums.iter().map(|sum| sum / count).collect::<Vec<f64>>(), tally))
        })?;
        let mut tally = JumpTally::default();
        runs.iter().for_each(|(_, one)| tally.add(one));
        Ok(Truth {
            chains: runs.into_iter().map(|(means, _)| means).collect(),
            predicted: problem.predicted(),
            tally,
        })
    })
}

/// The chains of one ε from one start; their numbers count from the last of `(epsilon, start, first)`.
fn group(
    context: &Context,
    problem: &Problem,
    plan: &Plan,
    (epsilon, start, first): (f64, &Selection, u32),
    truth: &Truth,
) -> Result<Group> {
    let numbers: Vec<u32> = (0..plan.chains as u32).map(|i| first + i).collect();
    let grid = plan.grid();
    let runs = parallel::each(context.threads, &numbers, |_, &number| {
        let name = format!("{}-{number}", problem.name);
        let settings = (problem.model.fingerprint().to_string(), epsilon, start, plan);
        context.chain(("selection", &name), &settings, || {
            let (mut kernel, mut state, mut streams) = chain(problem, epsilon, start, context.seed, number)?;
            let see = |state: &Selection, out: &mut [f64]| observe(problem, state, out);
            let chain = Following { kernel: &mut kernel, state: &mut state, streams: &mut streams };
            let seen = follow(context, chain, (&grid, width(problem)), see)?;
            Ok::<_, Error>((seen, kernel.phases))
        })
    })?;
    let mut phases: Vec<Phase> = Vec::new();
    let reached = runs.iter().map(|(_, phases)| phases.len()).min().unwrap_or(0);
    for (_, one) in &runs {
        phases.resize(reached, Phase::default());
        phases.iter_mut().zip(one).for_each(|(all, phase)| all.add(phase));
    }
    let (trajectories, each): (Vec<Trajectory>, Vec<Vec<Phase>>) = runs.into_iter().unzip();
    let predicted = problem.predicted();
    Ok(Group {
        epsilon,
        curve: risk_curve(&trajectories, 0, &truth.predictions(), &vec![1.0; predicted]),
        late: trajectories.iter().map(second_half).collect(),
        trajectories,
        phases,
        each,
        predicted,
    })
}

/// Means over the steps after the checkpoint next to the middle.
fn second_half(trajectory: &Trajectory) -> Vec<f64> {
    let Some(last) = trajectory.checkpoints.last() else { return Vec::new() };
    let half = trajectory.checkpoints.iter().rev().find(|point| 2 * point.steps <= last.steps);
    let Some(half) = half else { return last.means.clone() };
    let (a, b) = (half.steps as f64, last.steps as f64);
    last.means.iter().zip(&half.means).map(|(l, h)| (l * b - h * a) / (b - a)).collect()
}
