//! The error of one acceptance probability (supplement B): Δ and E_u\[E\] against P_a, and P_{a,ε} against P_a.
//!
//! Δ = ∫_{P_a}^1 E(|μ_std(u)|)du − ∫_0^{P_a} E(|μ_std(u)|)du by quadrature for many moves, and by running the library's test many times
//! for a few of them.

use austerity::population::{BlockOrder, BlockReveal, Numbers};
use austerity::rng::{Role, seek, stream};
use austerity::rule::{Law, Rule as _, Sequential, SequentialSettings};
use austerity::theory::{Accuracy, ErrorTable, StepError, TestPlan, TestWalk};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};

use super::pairs::{Moves, Pair};
use super::{EPSILONS, Part, STEP_ROWS, Scale, claims, statistic::stand_in};
use crate::claim::Estimate;
use crate::{Check, Context, Error, Result, Section, Table, parallel};

/// "P_a ≈ 0.5".
const MIDDLE: (f64, f64) = (0.4, 0.6);

/// What was computed and simulated at one level.
pub(super) struct Level {
    pub(super) epsilon: f64,
    pub(super) worst: f64,
    pub(super) steps: Vec<StepError>,
    /// Number of the move, simulated P_{a,ε} and its standard error.
    pub(super) simulated: Vec<(usize, f64, f64)>,
    /// Share accepted by the same test on blocks of rows, in the same order.
    pub(super) blocks: Vec<f64>,
}

pub(super) fn run(context: &Context, scale: &Scale, moves: &Moves) -> Result<Vec<Part>> {
    let chosen = spread(moves, scale.simulated_moves);
    let mut levels = Vec::new();
    for (number, epsilon) in EPSILONS.into_iter().enumerate() {
        let settings = SequentialSettings::paper(STEP_ROWS, epsilon);
        let walk = TestWalk::new(TestPlan::of_settings(&settings, moves.rows)?, Accuracy::Exact);
        let table = ErrorTable::new(&walk, Accuracy::Exact);
        let steps = moves.pairs.iter().map(|pair| table.step(Law::Metropolis, pair.ratio, pair.kappa));
        let steps = steps.collect::<austerity::Result<Vec<_>>>()?;
        let simulated = parallel::each(context.threads, &chosen, |place, &pair| {
            let chain = (1000 * (number + 1) + place) as u32;
            let found = simulate(&moves.pairs[pair], &settings, scale.simulations, context.seed, chain)?;
            // Chance as theory has it: an estimate of 0 or 1 has no spread of its own.
            let expected = (steps[pair].acceptance + steps[pair].delta).clamp(0.0, 1.0);
            let n = scale.simulations as f64;
            Ok::<_, Error>((pair, found, (expected * (1.0 - expected) / n).sqrt().max(1.0 / n)))
        })?;
        let together = SequentialSettings { block_rows: austerity::BLOCK_ROWS, ..settings.clone() };
        let blocks = parallel::each(context.threads, &chosen, |place, &pair| {
            let chain = (5000 + 1000 * number + place) as u32;
            simulate(&moves.pairs[pair], &together, scale.simulations, context.seed, chain)
        })?;
        levels.push(Level { epsilon, worst: walk.worst_case().error, steps, simulated, blocks });
    }
    Ok(vec![
        (errors(&levels, moves), vec![table(&levels, moves)]),
        (probabilities(&levels, scale, moves), Vec::new()),
    ])
}

/// Moves whose numbers are kept, spread over acceptance probabilities.
fn spread(moves: &Moves, wanted: usize) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..moves.kept().len()).collect();
    kept.sort_by(|&a, &b| moves.pairs[a].ratio.total_cmp(&moves.pairs[b].ratio));
    // Half of all moves have P_a = 1: they are thinned out.
    let certain = kept.iter().position(|&pair| moves.pairs[pair].ratio >= 1.0).unwrap_or(kept.len());
    kept.truncate((certain + 2).min(kept.len()));
    let every = kept.len().div_ceil(wanted.max(1)).max(1);
    kept.into_iter().step_by(every).collect()
}

/// The share of candidates that the library's test accepts.
fn simulate(pair: &Pair, settings: &SequentialSettings, tests: usize, seed: u64, chain: u32) -> Result<f64> {
    let rows = pair.values.len();
    let mut rule = Sequential::new(settings, rows)?;
    let mut population = Numbers(pair.values.clone());
    let mut order = BlockOrder::new(rows, settings.block_rows, seed, chain)?;
    let mut rng = stream(seed, chain, Role::Decision);
    let mut accepted = 0usize;
    for step in 0..tests as u64 {
        seek(&mut rng, step);
        let decision =
            rule.decide(&mut BlockReveal::new(&mut population, &mut order, step), pair.offset, &mut rng)?;
        accepted += usize::from(decision.accepted);
    }
    Ok(accepted as f64 / tests as f64)
}

/// The claims about |Δ| at one level.
pub(super) fn judge_errors(level: &Level, real: bool) -> Vec<Check> {
    let Level { epsilon, worst, steps, .. } = level;
    let largest = steps.iter().map(|step| step.delta.abs()).fold(0.0, f64::max);
    let small = steps.iter().filter(|step| step.delta.abs() < 0.25 * worst).count();
    let middle: Vec<&StepError> = middle(steps).collect();
    let checks = vec![
        Check::of(&claims::BOUND, vec![Estimate::exact("", largest / worst)])
            .also(format!("E(0) = {worst:.4}, {} moves", steps.len())),
        Check::of(&claims::SMALLER, vec![Estimate::share("", small as f64, steps.len() as f64)]),
        Check::of(&claims::CANCELLATION, cancelled(&middle).into_iter().collect())
            .also(format!("{} moves", middle.len())),
    ];
    checks.into_iter().map(|check| check.about(format!("ε = {epsilon}")).remark(stand_in(real))).collect()
}

fn middle(steps: &[StepError]) -> impl Iterator<Item = &StepError> {
    steps.iter().filter(|step| (MIDDLE.0..=MIDDLE.1).contains(&step.acceptance))
}

/// Mean |Δ| over mean E_u\[E\], its error by leaving out one move at a time; none for fewer than five moves.
fn cancelled(middle: &[&StepError]) -> Option<Estimate> {
    let count = middle.len();
    let ratio = |left_out: usize| {
        let kept = middle.iter().enumerate().filter(|(place, _)| *place != left_out);
        let (delta, error) =
            kept.fold((0.0, 0.0), |(d, e), (_, step)| (d + step.delta.abs(), e + step.mean_error));
        (delta / error).ln()
    };
    let all: Vec<f64> = (0..count).map(ratio).collect();
    let mean = all.iter().sum::<f64>() / count as f64;
    let squares: f64 = all.iter().map(|one| (one - mean).powi(2)).sum();
    let error = (squares * (count as f64 - 1.0) / count as f64).sqrt();
    (count >= 5).then(|| Estimate::ratio("", ratio(count).exp(), (error, count as f64 - 1.0)))
}

/// The claims about P_{a,ε} at one level.
pub(super) fn judge_probabilities(level: &Level, real: bool) -> Vec<Check> {
    let at = |pair: usize| level.steps[pair].acceptance + level.steps[pair].delta;
    let off = level.simulated.iter().map(|&(pair, found, deviation)| {
        let label = format!("P_a = {:.2}", level.steps[pair].acceptance);
        Estimate::new(label, found - at(pair), (deviation, f64::INFINITY))
    });
    let largest = |steps: &mut dyn Iterator<Item = &StepError>| {
        let far = steps.max_by(|a, b| a.delta.abs().total_cmp(&b.delta.abs()));
        let word =
            |step: &StepError| Estimate::exact(format!("at P_a = {:.2}", step.acceptance), step.delta.abs());
        far.map(word).into_iter().collect::<Vec<_>>()
    };
    let checks = vec![
        Check::of(&claims::SIMULATED, off.collect()),
        Check::of(&claims::BLOCKS, blocks(level)),
        Check::of(&claims::CLOSE, largest(&mut middle(&level.steps))),
        Check::of(&claims::CLOSE_EVERYWHERE, largest(&mut level.steps.iter())),
    ];
    let epsilon = level.epsilon;
    checks.into_iter().map(|check| check.about(format!("ε = {epsilon}")).remark(stand_in(real))).collect()
}

/// How blocks differ from single rows: the mean over the moves, and towards ½, which is where a larger error leads.
fn blocks(level: &Level) -> Vec<Estimate> {
    let differences: Vec<(f64, f64, f64)> = level
        .simulated
        .iter()
        .zip(&level.blocks)
        .map(|(&(pair, single, deviation), together)| {
            (together - single, (0.5 - level.steps[pair].acceptance).signum(), deviation)
        })
        .collect();
    let count = differences.len() as f64;
    // Both shares are as noisy.
    let error = (2.0 * differences.iter().map(|one| one.2.powi(2)).sum::<f64>()).sqrt() / count;
    let mean = differences.iter().map(|one| one.0).sum::<f64>() / count;
    let towards = differences.iter().map(|one| one.0 * one.1).sum::<f64>() / count;
    let estimate = |label: &str, value: f64| Estimate::new(label, value, (error, f64::INFINITY));
    vec![estimate("mean", mean), estimate("towards 1/2", towards)]
}

fn errors(levels: &[Level], moves: &Moves) -> Section {
    let mut checks = Vec::new();
    let mut panels = Vec::new();
    for level in levels {
        let epsilon = level.epsilon;
        checks.extend(judge_errors(level, moves.real));
        let of = |value: fn(&StepError) -> f64| {
            level.steps.iter().map(|step| (step.acceptance, value(step))).collect()
        };
        panels.push(
            Panel::new(format!("ε = {epsilon}"), unit("P_a"), Axis::new("error", AxisScale::Linear))
                .reference(0.0)
                .reference(level.worst)
                .mark(Mark::Points { series: 0, points: of(|step| step.delta) })
                .mark(Mark::Points { series: 1, points: of(|step| step.mean_error) })
                .curves(vec![key("Δ"), key("E_u[E]")]),
        );
    }
    Section {
        title: "The error of an acceptance probability".into(),
        figure: Some(("delta".into(), Figure { title: "Δ and E_u[E] against P_a".into(), panels })),
        caption: format!("{} random-walk moves. Dotted: 0 and the upper bound E(0).", moves.pairs.len()),
        checks,
    }
}

fn probabilities(levels: &[Level], scale: &Scale, moves: &Moves) -> Section {
    let mut checks = Vec::new();
    let mut panels = Vec::new();
    for level in levels {
        let epsilon = level.epsilon;
        checks.extend(judge_probabilities(level, moves.real));
        let points = level.steps.iter().map(|step| (step.acceptance, step.acceptance + step.delta)).collect();
        let seen =
            level.simulated.iter().map(|&(pair, found, _)| (level.steps[pair].acceptance, found)).collect();
        panels.push(
            Panel::new(format!("ε = {epsilon}"), unit("P_a"), unit("P_{a,ε}"))
                .mark(Mark::Points { series: 1, points })
                .mark(Mark::Points { series: 2, points: seen })
                .curves(vec![
                    Curve { label: "exact".into(), points: vec![(0.0, 0.0), (1.0, 1.0)] },
                    key("theory"),
                    key("simulated"),
                ]),
        );
    }
    Section {
        title: "Approximate against exact acceptance probability".into(),
        figure: Some(("acceptance".into(), Figure { title: "P_{a,ε} against P_a".into(), panels })),
        caption: format!(
            "Theory for {} moves, and {} decisions of the test for {} of them.",
            moves.pairs.len(),
            scale.simulations,
            levels[0].simulated.len()
        ),
        checks,
    }
}

/// A name in the key for points.
fn key(label: &str) -> Curve {
    Curve { label: label.into(), points: Vec::new() }
}

fn unit(label: &str) -> Axis {
    Axis::new(label, AxisScale::Linear).with_limits(0.0, 1.0)
}

fn table(levels: &[Level], moves: &Moves) -> Table {
    let columns = [
        "epsilon",
        "move",
        "log_ratio",
        "kappa",
        "acceptance",
        "delta",
        "mean_error",
        "usage",
        "simulated",
        "deviation",
    ];
    let mut table = Table::new("step", &columns);
    for level in levels {
        for (number, (pair, step)) in moves.pairs.iter().zip(&level.steps).enumerate() {
            let seen = level.simulated.iter().find(|seen| seen.0 == number);
            let (found, deviation) =
                seen.map_or((f64::NAN, f64::NAN), |&(_, found, deviation)| (found, deviation));
            let row = [
                level.epsilon,
                number as f64,
                pair.ratio,
                pair.kappa,
                step.acceptance,
                step.delta,
                step.mean_error,
                step.data_usage,
                found,
                deviation,
            ];
            table.push(row.map(Into::into).to_vec());
        }
    }
    table
}
