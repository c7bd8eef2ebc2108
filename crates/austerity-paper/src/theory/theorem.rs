//! Theorem 1 where both of its sides can be computed (supplement C): Δ_max, η, the bound, and the distance itself.
//!
//! The mean of a normal law, N = 10,000 numbers, on a grid of states 0.3 posterior sds apart; candidates are uniform over the other states. Of a move
//! from θ to θ' the differences are (θ' − θ)(x_i − (θ + θ')/2), so mean and spread are known and the recursion gives P_a + Δ of every
//! pair of states: the approximate kernel is a matrix, its stationary distribution S_ε a vector. Chains of the library's own test on
//! the same states show that S_ε is where they go.

use austerity::population::{BlockOrder, BlockReveal, Numbers};
use austerity::rng::{Role, seek, stream};
use austerity::rule::{Law, Rule as _, Sequential, SequentialSettings};
use austerity::theory::{Accuracy, ErrorTable, TestPlan, TestWalk, kappa, metropolis_bound};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};
use rand::RngExt as _;
use rand_distr::StandardNormal;

use super::{Part, STEP_ROWS, Scale, claims};
use crate::claim::Estimate;
use crate::enumerated::{Kernel, contraction, stationary, step, variation};
use crate::{Check, Context, Error, Result, Section, Table, parallel};

const ROWS: usize = 10_000;
/// States on each side of the middle, and their distance in posterior sds.
const SIDE: i32 = 15;
const SPACING: f64 = 0.3;
const LEVELS: [f64; 4] = [0.01, 0.05, 0.1, 0.2];
/// Chains at each ε.
const CHAINS: usize = 8;

/// Both sides of the theorem at one ε.
#[derive(Clone, Copy, Debug)]
pub(super) struct Side {
    pub(super) epsilon: f64,
    pub(super) largest_delta: f64,
    pub(super) contraction: f64,
    pub(super) bound: f64,
    pub(super) distance: f64,
    /// Variance of S_ε, in that of S_0.
    pub(super) variance: f64,
}

/// The data, and what follows from them.
struct Normal {
    numbers: Vec<f64>,
    mean: f64,
    sd: f64,
}

impl Normal {
    fn new(seed: u64) -> Self {
        let mut rng = stream(seed, 77, Role::Data);
        let numbers: Vec<f64> = (0..ROWS).map(|_| rng.sample(StandardNormal)).collect();
        let mean = numbers.iter().sum::<f64>() / ROWS as f64;
        let square = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / ROWS as f64;
        Self { numbers, mean, sd: square.sqrt() }
    }

    /// θ of a state.
    fn theta(&self, state: usize) -> f64 {
        self.mean + SPACING * f64::from(state as i32 - SIDE) / (ROWS as f64).sqrt()
    }

    /// Total log ratio of a move, and its κ.
    fn ratio(&self, from: usize, to: usize) -> Result<(f64, f64)> {
        let (a, b) = (self.theta(from), self.theta(to));
        let ratio = ROWS as f64 * (b - a) * (self.mean - 0.5 * (a + b));
        Ok((ratio, kappa((b - a).abs() * self.sd, ROWS)?))
    }
}

fn states() -> usize {
    2 * SIDE as usize + 1
}

/// The kernel with the acceptance probabilities of `table`, exact ones without it, and the largest |Δ|.
fn kernel(normal: &Normal, table: Option<&ErrorTable>) -> Result<(Kernel, f64)> {
    let mut largest = 0.0f64;
    let mut kernel = vec![vec![0.0; states()]; states()];
    for (from, row) in kernel.iter_mut().enumerate() {
        for to in (0..states()).filter(|&to| to != from) {
            let (ratio, kappa) = normal.ratio(from, to)?;
            let accepted = match table {
                None => ratio.exp().min(1.0),
                Some(table) => {
                    let found = table.step(Law::Metropolis, ratio, kappa)?;
                    largest = largest.max(found.delta.abs());
                    found.acceptance + found.delta
                }
            };
            row[to] = accepted / (states() - 1) as f64;
        }
        row[from] = 1.0 - row.iter().sum::<f64>();
    }
    Ok((kernel, largest))
}

/// Variance about the middle, in squared spacings.
fn spread(distribution: &[f64]) -> f64 {
    distribution.iter().enumerate().map(|(state, p)| p * f64::from(state as i32 - SIDE).powi(2)).sum()
}

pub(super) fn run(context: &Context, scale: &Scale) -> Result<Part> {
    let normal = Normal::new(context.seed);
    let (exact, _) = kernel(&normal, None)?;
    let eta = contraction(&exact);
    let truth = stationary(states(), |p| step(p, &exact));
    let mut sides = Vec::new();
    let mut runs = Vec::new();
    for (number, epsilon) in LEVELS.into_iter().enumerate() {
        let settings = SequentialSettings::paper(STEP_ROWS, epsilon);
        let walk = TestWalk::new(TestPlan::of_settings(&settings, ROWS)?, Accuracy::Exact);
        let (approximate, largest_delta) = kernel(&normal, Some(&ErrorTable::new(&walk, Accuracy::Exact)))?;
        let found = stationary(states(), |p| step(p, &approximate));
        sides.push(Side {
            epsilon,
            largest_delta,
            contraction: eta,
            bound: metropolis_bound(largest_delta.min(1.0), eta)?,
            distance: variation(&found, &truth),
            variance: spread(&found) / spread(&truth),
        });
        let chains: Vec<u32> = (0..CHAINS as u32).map(|chain| 5000 + 100 * number as u32 + chain).collect();
        runs.push(parallel::each(context.threads, &chains, |_, &chain| {
            Ok::<_, Error>(one(context, &normal, &settings, (chain, scale.theorem_steps))? / spread(&truth))
        })?);
    }
    let checks = judge(&sides, &runs);
    Ok((
        Section {
            title: "Theorem 1, both sides".into(),
            figure: Some(("theorem".into(), figure(&sides))),
            caption: format!(
                "The mean of a normal law, N = {ROWS}, on {} states {SPACING} posterior sds apart, candidates uniform over the others, m = \
                 {STEP_ROWS}. Distance and bound are computed from the kernels; η = {eta:.3} is Dobrushin's coefficient of the exact kernel. {CHAINS} \
                 chains of {} steps of the library's test on the same states.",
                states(),
                scale.theorem_steps
            ),
            checks,
        },
        vec![table(&sides, &runs)],
    ))
}

/// One chain of the library's test: mean squared distance from the middle, in squared spacings.
fn one(
    context: &Context,
    normal: &Normal,
    settings: &SequentialSettings,
    (chain, steps): (u32, u64),
) -> Result<f64> {
    let mut rule = Sequential::new(settings, ROWS)?;
    let mut order = BlockOrder::new(ROWS, settings.block_rows, context.seed, chain)?;
    let mut decisions = stream(context.seed, chain, Role::Decision);
    let mut candidates = stream(context.seed, chain, Role::Proposal);
    let mut population = Numbers(vec![0.0; ROWS]);
    let (mut here, mut sum) = (SIDE as usize, 0.0);
    for number in 0..steps {
        if number % 256 == 0 && context.stopped() {
            return Err(Error::Interrupted);
        }
        seek(&mut decisions, number);
        let other = candidates.random_range(0..states() - 1);
        let there = if other < here { other } else { other + 1 };
        let (a, b) = (normal.theta(here), normal.theta(there));
        let middle = 0.5 * (a + b);
        for (value, x) in population.0.iter_mut().zip(&normal.numbers) {
            *value = (b - a) * (x - middle);
        }
        let mut reveal = BlockReveal::new(&mut population, &mut order, number);
        if rule.decide(&mut reveal, 0.0, &mut decisions)?.accepted {
            here = there;
        }
        sum += f64::from(here as i32 - SIDE).powi(2);
    }
    Ok(sum / steps as f64)
}

/// The claims, from both sides at each ε and the variances of runs over that of S_0.
pub(super) fn judge(sides: &[Side], runs: &[Vec<f64>]) -> Vec<Check> {
    let each = |of: &dyn Fn(&Side) -> f64| {
        sides.iter().map(|side| Estimate::exact(format!("ε = {}", side.epsilon), of(side))).collect()
    };
    let ran = sides.iter().zip(runs).map(|(side, run)| {
        let over: Vec<f64> = run.iter().map(|variance| variance / side.variance).collect();
        Estimate::mean(format!("ε = {}", side.epsilon), &over)
    });
    let words = sides.iter().map(|side| {
        format!(
            "ε = {}: Δ_max {:.4}, bound {:.3}, distance {:.4}",
            side.epsilon, side.largest_delta, side.bound, side.distance
        )
    });
    let eta = sides.first().map_or(f64::NAN, |side| side.contraction);
    vec![
        Check::of(&claims::THEOREM, each(&|side| side.distance / side.bound))
            .also(format!("η = {eta:.3}; {}", words.collect::<Vec<_>>().join("; "))),
        Check::of(&claims::TIGHT, each(&|side| side.bound / side.distance)),
        Check::of(&claims::THEOREM_RUN, ran.collect()),
    ]
}

fn figure(sides: &[Side]) -> Figure {
    let curve = |label: &str, of: fn(&Side) -> f64| Curve {
        label: label.into(),
        points: sides.iter().map(|side| (side.epsilon, of(side))).collect(),
    };
    let epsilon = || {
        Axis::new("ε", AxisScale::Logarithmic)
            .with_marks(sides.iter().map(|side| (side.epsilon, side.epsilon.to_string())).collect())
    };
    let curves = vec![
        curve("bound", |side| side.bound),
        curve("distance", |side| side.distance),
        curve("Δ_max", |side| side.largest_delta),
    ];
    let mut variance =
        Panel::new("variance of S_ε over that of S_0", epsilon(), Axis::new("ratio", AxisScale::Linear))
            .curves(vec![curve("", |side| side.variance)]);
    for side in sides {
        variance = variance.mark(Mark::Points { series: 0, points: vec![(side.epsilon, side.variance)] });
    }
    Figure {
        title: "Theorem 1 on a chain of 31 states".into(),
        panels: vec![
            Panel::new("total variation", epsilon(), Axis::new("", AxisScale::Logarithmic)).curves(curves),
            variance,
        ],
    }
}

fn table(sides: &[Side], runs: &[Vec<f64>]) -> Table {
    let columns = [
        "epsilon",
        "largest_delta",
        "contraction",
        "bound",
        "distance",
        "variance_ratio",
        "variance_ratio_of_runs",
    ];
    let mut table = Table::new("theorem", &columns);
    for (side, run) in sides.iter().zip(runs) {
        let mean = run.iter().sum::<f64>() / run.len() as f64;
        let row = [
            side.epsilon,
            side.largest_delta,
            side.contraction,
            side.bound,
            side.distance,
            side.variance,
            mean,
        ];
        table.push(row.map(Into::into).to_vec());
    }
    table
}
