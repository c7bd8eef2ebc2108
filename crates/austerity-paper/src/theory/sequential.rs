//! Error and data use of whole tests (figure of section 5.1, and its twin in supplement A): the recursion against tests of the library
//! on a real population, at given distances μ_std between its mean and the threshold.
//!
//! A distance is set by the offset: R = κμ_std. The threshold is made 0 by a law that divides log u by a huge λ, so that a test
//! decides between R > 0 and R < 0. It is Algorithm 1 to the letter: single rows, Student bounds, estimated sd.

use austerity::population::{BlockOrder, BlockReveal, Numbers};
use austerity::rng::{Role, seek, stream};
use austerity::rule::{Law, Rule as _, Sequential, SequentialSettings, Stopped};
use austerity::theory::{Accuracy, TestPlan, TestWalk};
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale as AxisScale};

use super::pairs::{Moves, Pair};
use super::{EPSILONS, Part, STEP_ROWS, Scale, claims, statistic::stand_in};
use crate::claim::Estimate;
use crate::{Check, Context, Result, Section, Table, parallel};

/// Distances at which tests are simulated.
const DISTANCES: [f64; 15] =
    [-4.0, -3.0, -2.0, -1.5, -1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0];
/// Divides log u until nothing is left.
const NO_THRESHOLD: Law = Law::Compensated { lambda: 1e12 };

/// Simulated error and data use, with standard errors.
pub(super) struct Point {
    pub(super) distance: f64,
    pub(super) error: f64,
    pub(super) error_deviation: f64,
    pub(super) usage: f64,
    pub(super) usage_deviation: f64,
}

pub(super) fn run(context: &Context, scale: &Scale, moves: &Moves) -> Result<Part> {
    let pair = &moves.pairs[0];
    let mut table = Table::new(
        "sequential",
        &[
            "epsilon",
            "mu_std",
            "error",
            "error_simulated",
            "error_deviation",
            "usage",
            "usage_simulated",
            "usage_deviation",
        ],
    );
    let mut panels = [
        Panel::new("wrong decisions", axis("μ_std"), axis("error E")),
        Panel::new("data use", axis("μ_std"), axis("share of the data π̄")),
    ];
    let mut curves = [Vec::new(), Vec::new()];
    let mut checks = Vec::new();
    for (number, epsilon) in EPSILONS.into_iter().enumerate() {
        let settings =
            SequentialSettings { law: NO_THRESHOLD, ..SequentialSettings::paper(STEP_ROWS, epsilon) };
        let walk = TestWalk::new(TestPlan::of_settings(&settings, moves.rows)?, Accuracy::Exact);
        let points = parallel::each(context.threads, &DISTANCES, |place, &distance| {
            let chain = (100 * (number + 1) + place) as u32;
            simulate(pair, &settings, (distance, scale.tests), (context.seed, chain))
        })?;
        let off = compare(&mut table, epsilon, (&walk, scale.tests), &points);
        let (worst, near) = (walk.worst_case(), walk.outcome(1.0));
        let drops = [near.error / worst.error, near.data_usage / worst.data_usage];
        let grid: Vec<f64> = (-80..=80).map(|i| 0.05 * f64::from(i)).collect();
        let outcomes: Vec<_> = grid.iter().map(|&distance| walk.outcome(distance)).collect();
        let line = |value: fn(&austerity::theory::Outcome) -> f64| Curve {
            label: format!("ε = {epsilon}"),
            points: grid.iter().copied().zip(outcomes.iter().map(value)).collect(),
        };
        curves[0].push(line(|outcome| outcome.error));
        curves[1].push(line(|outcome| outcome.data_usage));
        panels = panels.map(|panel| panel.mark(Mark::Level(0.0)));
        let [errors, usage] = panels;
        panels = [
            bars(errors.reference(worst.error), number, &points, |point| {
                (point.error, point.error_deviation)
            }),
            bars(usage.reference(worst.data_usage), number, &points, |point| {
                (point.usage, point.usage_deviation)
            }),
        ];
        checks.extend(judge(epsilon, off, drops, moves.real));
    }
    let [errors, usage] = panels;
    let [error_curves, usage_curves] = curves;
    let figure = Figure {
        title: format!("Whole tests: {} simulated at each distance", scale.tests),
        panels: vec![errors.curves(error_curves), usage.curves(usage_curves)],
    };
    let section = Section {
        title: "Error and data use of whole tests".into(),
        figure: Some(("sequential".into(), figure)),
        caption: format!(
            "Lines: recursion, m = {STEP_ROWS}, N = {}. Dots with bars of one standard error: {} tests each on the log-likelihood differences of \
             a real move. Dotted: the worst case, a mean at the threshold.",
            moves.rows, scale.tests
        ),
        checks,
    };
    Ok((section, vec![table]))
}

/// Adds the points to the table; simulated less computed error and data use.
pub(super) fn compare(
    table: &mut Table,
    epsilon: f64,
    (walk, tests): (&TestWalk, usize),
    points: &[Point],
) -> [Vec<Estimate>; 2] {
    let mut off = [Vec::new(), Vec::new()];
    for point in points {
        let theory = walk.outcome(point.distance);
        // The error that theory expects has a standard error of its own: a test without a single error is no surprise at E = 1e-4.
        let expected = (theory.error * (1.0 - theory.error) / tests as f64).sqrt().max(0.5 / tests as f64);
        let label = || format!("μ_std = {}", point.distance);
        let normal = |error: f64| (error, f64::INFINITY);
        let error = normal(expected.max(point.error_deviation));
        off[0].push(Estimate::new(label(), point.error - theory.error, error));
        off[1].push(Estimate::new(label(), point.usage - theory.data_usage, normal(point.usage_deviation)));
        let row = [
            epsilon,
            point.distance,
            theory.error,
            point.error,
            point.error_deviation,
            theory.data_usage,
            point.usage,
            point.usage_deviation,
        ];
        table.push(row.map(Into::into).to_vec());
    }
    off
}

/// The claims for one ε: simulated less computed E and π̄, and how far both drop from μ_std = 0 to 1.
pub(super) fn judge(epsilon: f64, off: [Vec<Estimate>; 2], drops: [f64; 2], real: bool) -> Vec<Check> {
    let [errors, usages] = off;
    let drops = vec![Estimate::exact("E", drops[0]), Estimate::exact("π̄", drops[1])];
    let subject = format!("ε = {epsilon}");
    vec![
        Check::of(&claims::ERROR, errors).about(&subject).remark(stand_in(real)),
        Check::of(&claims::USAGE, usages).about(&subject).remark(stand_in(real)),
        Check::of(&claims::DROP, drops).about(&subject),
    ]
}

fn axis(label: &str) -> Axis {
    Axis::new(label, AxisScale::Linear)
}

/// Dots with bars of one standard error.
fn bars(panel: Panel, series: usize, points: &[Point], value: fn(&Point) -> (f64, f64)) -> Panel {
    let dots = points.iter().map(|point| (point.distance, value(point).0)).collect();
    points.iter().fold(panel.mark(Mark::Points { series, points: dots }), |panel, point| {
        let (middle, deviation) = value(point);
        let ends = [middle - deviation, middle + deviation].map(|end| (point.distance, end));
        panel.mark(Mark::Line { series, points: ends.to_vec() })
    })
}

/// Runs tests of the library at one distance.
fn simulate(
    pair: &Pair,
    settings: &SequentialSettings,
    (distance, tests): (f64, usize),
    (seed, chain): (u64, u32),
) -> Result<Point> {
    let rows = pair.values.len();
    let offset = pair.kappa * distance - rows as f64 * pair.mean;
    let mut rule = Sequential::new(settings, rows)?;
    let mut population = Numbers(pair.values.clone());
    let mut order = BlockOrder::new(rows, settings.block_rows, seed, chain)?;
    let mut rng = stream(seed, chain, Role::Decision);
    let (mut wrong, mut usage, mut squares) = (0.0, 0.0, 0.0);
    for step in 0..tests as u64 {
        seek(&mut rng, step);
        let decision =
            rule.decide(&mut BlockReveal::new(&mut population, &mut order, step), offset, &mut rng)?;
        // At the threshold itself "wrong" means one side, here acceptance.
        let early = decision.stopped == Stopped::Bound;
        wrong += f64::from(u8::from(early && decision.accepted != (distance > 0.0)));
        let share = decision.used as f64 / rows as f64;
        usage += share;
        squares += share * share;
    }
    let n = tests as f64;
    let (error, usage) = (wrong / n, usage / n);
    let variance = (squares / n - usage * usage).max(0.0);
    Ok(Point {
        distance,
        error,
        error_deviation: (error * (1.0 - error) / n).sqrt(),
        usage,
        usage_deviation: (variance / n).sqrt().max(STEP_ROWS as f64 / rows as f64 / n),
    })
}
