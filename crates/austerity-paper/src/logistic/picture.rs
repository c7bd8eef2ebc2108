//! Figures and tables of section 6.1.

use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};

use super::EPSILONS;
use super::chains::{Curves, Draw, Family, Quantity, Start, Trace, label};
use super::measure::Measured;
use super::truth::Truth;
use crate::curves::{Point, Textbook};
use crate::outcome::{Check, Section, Table};

fn logarithmic(label: &str) -> Axis {
    Axis::new(label, Scale::Logarithmic)
}

/// A short name for the key above a panel.
fn key(epsilon: f64) -> String {
    if epsilon == 0.0 { label(epsilon) } else { format!("ε {epsilon}") }
}

/// One line for each ε.
fn lines(curves: &Curves, at: impl Fn(&Point) -> (f64, f64)) -> Vec<Curve> {
    let line = |(&epsilon, curve): (&f64, &Vec<Point>)| Curve {
        label: key(epsilon),
        points: curve.iter().map(&at).collect(),
    };
    EPSILONS.iter().zip(curves).map(line).collect()
}

/// The risk, and then its parts, of one quantity from one start.
pub(super) fn sections(
    (start, quantity): (Start, Quantity),
    curves: &Curves,
    truth: &Truth,
    textbook: Textbook,
    checks: [Vec<Check>; 2],
) -> [Section; 2] {
    let from = match start {
        Start::Cold => "from θ = 0, burn-in counted",
        Start::Stationary => "from draws of the posterior",
    };
    let (what, floor) = match quantity {
        Quantity::Predictive => ("predictive mean", truth.predictive_floor),
        Quantity::Variances => ("posterior variances", truth.variance_floor),
    };
    let name = |part: &str| format!("{}_{}_{part}", start.word(), quantity.word());
    let panel = |title: &str, x: &str, y: &str| Panel::new(title, logarithmic(x), logarithmic(y));
    let seconds = "CPU seconds of a chain";
    // The truth's own error is drawn where it is near enough to matter.
    let lowest = curves.iter().flatten().map(|point| point.risk.total).fold(f64::INFINITY, f64::min);
    let floored = |panel: Panel| if floor > 0.1 * lowest { panel.reference(floor) } else { panel };
    let with_textbook = |at: fn(&Point) -> (f64, f64)| {
        let mut all = lines(curves, at);
        let points = textbook.curve(&curves[0]).iter().map(at).collect();
        all.push(Curve { label: "textbook".into(), points });
        all
    };
    let risk = Figure {
        title: format!("Risk of the {what} {from}"),
        panels: vec![
            floored(panel("against time", seconds, "risk"))
                .curves(with_textbook(|p| (p.seconds, p.risk.total))),
            floored(panel("against likelihood evaluations", "evaluations of a chain", "risk"))
                .curves(with_textbook(|p| (p.evaluations, p.risk.total))),
        ],
    };
    let parts = Figure {
        title: format!("Its two parts, {from}"),
        panels: vec![
            panel("bias²", seconds, "bias²").curves(lines(curves, |p| (p.seconds, p.risk.bias_squared))),
            panel("variance", seconds, "variance").curves(lines(curves, |p| (p.seconds, p.risk.variance))),
        ],
    };
    let scale = match quantity {
        Quantity::Predictive => {
            "Mean squared error of the running predictive mean, averaged over the test points"
        }
        Quantity::Variances => {
            "Mean squared relative error of each chain's estimate of the 50 posterior variances, averaged over them"
        }
    };
    let [first, second] = checks;
    [
        Section {
            title: format!("Risk of the {what}, {} start", start.word()),
            figure: Some((name("risk"), risk)),
            caption: format!("{scale} and the chains. A dotted level, drawn where it is above a tenth of the lowest risk, is what the error of the ground truth adds. \"textbook\" is the exact loop that evaluates both states on every row: the same decisions, {:.2} times as long.", textbook.slower),
            checks: first,
        },
        Section {
            title: format!("Bias and variance of the {what}, {} start", start.word()),
            figure: Some((name("parts"), parts)),
            caption: "Risk = bias² + variance between chains. bias² is estimated without the share of the noise; where there is none it comes \
                      out below zero, and the line has a gap."
                .into(),
            checks: second,
        },
    ]
}

/// θ₁ and θ₂ at three times, exact and at ε = 0.01: the figure that the paper's source keeps commented out.
pub(super) fn marginals(traces: &[Trace], truth: &Truth, cold: &Family) -> Section {
    let shares = [0.125, 0.25, 1.0];
    let of_truth: Vec<(f64, f64)> = truth.starts.iter().map(|start| (start[0], start[1])).collect();
    let mut panels = Vec::new();
    for rule in [0, 1] {
        for share in shares {
            let mut panel = Panel::new(
                format!("{}, {:.1} % of the time", label(EPSILONS[rule]), 100.0 * share),
                Axis::new("θ₁", Scale::Linear),
                Axis::new("θ₂", Scale::Linear),
            )
            .mark(Mark::Points { series: 2, points: of_truth.clone() });
            let chains = traces.iter().filter(|trace| trace.start == Start::Cold && trace.rule == rule);
            for (number, (trace, seen)) in chains.zip(&cold[rule]).enumerate() {
                let end = seen.checkpoints.last().map_or(0.0, |point| share * point.seconds);
                let steps = seen.checkpoints.iter().rfind(|point| point.seconds <= 1.05 * end);
                let part = steps.map_or(1.0, |point| point.steps as f64 / seen.counters.steps as f64);
                let draws = &trace.draws[..((part * trace.draws.len() as f64) as usize).max(1)];
                let every = draws.len().div_ceil(250).max(1);
                let point =
                    |draw: &Draw| (f64::from(draw[0]) + truth.mean[0], f64::from(draw[1]) + truth.mean[1]);
                let points = draws.iter().step_by(every).map(point).collect();
                panel = panel.mark(Mark::Line { series: [0, 1, 3][number % 3], points });
            }
            panels.push(panel);
        }
    }
    Section {
        title: "Marginals of θ₁ and θ₂".into(),
        figure: Some(("marginals".into(), Figure { title: "θ₁ and θ₂ from θ = 0".into(), panels })),
        caption: "Lines: the paths of three chains from θ = 0. Squares: draws of Hamiltonian Monte Carlo. The upper three panels are exact, the                   lower three ε = 0.01; the times stand to each other as the 50, 100 and 400 seconds of the figure in the paper's source."
            .into(),
        checks: Vec::new(),
    }
}

/// Steps against time from a cold start, and speeds at stationarity.
pub(super) fn steps(cold: &Family, measured: &[Measured]) -> Figure {
    let line = |(&epsilon, chains): (&f64, &Vec<crate::trajectory::Trajectory>)| {
        let reached = chains.iter().map(|chain| chain.checkpoints.len()).min().unwrap_or(0);
        let mean = |at: usize| {
            let here = chains.iter().map(|chain| &chain.checkpoints[at]);
            let (seconds, steps) =
                here.fold((0.0, 0.0), |(s, n), point| (s + point.seconds, n + point.steps as f64));
            (seconds / chains.len() as f64, steps / chains.len() as f64)
        };
        Curve { label: key(epsilon), points: (0..reached).map(mean).collect() }
    };
    let left = Panel::new("from θ = 0", logarithmic("CPU seconds of a chain"), logarithmic("steps"));
    let right = Panel::new("in the posterior", epsilons(), Axis::new("steps per CPU second", Scale::Linear));
    Figure {
        title: "Steps in the same time".into(),
        panels: vec![
            left.curves(EPSILONS.iter().zip(cold).map(line).collect()),
            right.curves(vec![by_epsilon("measured", measured, |m| m.speed)]),
        ],
    }
}

/// Without a label at 0.01, for which there is no room beside 0.
fn epsilons() -> Axis {
    let shown = EPSILONS.iter().filter(|&&epsilon| epsilon != 0.01);
    Axis::new("ε", Scale::Linear).with_marks(shown.map(|&e| (e, e.to_string())).collect())
}

fn by_epsilon(name: &str, measured: &[Measured], value: impl Fn(&Measured) -> f64) -> Curve {
    Curve { label: name.into(), points: measured.iter().map(|m| (m.epsilon, value(m))).collect() }
}

/// Predicted against measured.
pub(super) fn theory(measured: &[Measured], checks: Vec<Check>) -> Section {
    let panel = |title: &str, predicted: fn(&Measured) -> f64, found: fn(&Measured) -> f64| {
        let curves =
            vec![by_epsilon("predicted", measured, predicted), by_epsilon("measured", measured, found)];
        Panel::new(title, epsilons(), Axis::new(title, Scale::Linear)).curves(curves)
    };
    let figure = Figure {
        title: "What the theory predicts from the exact acceptance rate".into(),
        panels: vec![
            panel("sd over the posterior's", |m| m.predicted.inflation, |m| m.inflation),
            panel("share of the data", |m| m.predicted.share, |m| m.share),
        ],
    };
    Section {
        title: "Predicted and measured bias and cost".into(),
        figure: Some(("theory".into(), figure)),
        caption: "Chains from the posterior. The sd is that of the second half of all chains, relative to the truth, root mean square over \
                  the coefficients."
            .into(),
        checks,
    }
}

/// All risk curves.
pub(super) fn risk_table() -> Table {
    Table::new(
        "risk",
        &[
            "start",
            "quantity",
            "epsilon",
            "cpu_seconds",
            "evaluations",
            "steps",
            "risk",
            "standard_error",
            "bias_squared",
            "variance",
        ],
    )
}

/// Adds the curves of one quantity from one start.
pub(super) fn push_rows(table: &mut Table, start: Start, quantity: Quantity, curves: &Curves) {
    for (&epsilon, curve) in EPSILONS.iter().zip(curves) {
        for point in curve {
            let risk = point.risk;
            let mut row = vec![start.word().into(), quantity.word().into()];
            let numbers = [
                epsilon,
                point.seconds,
                point.evaluations,
                point.steps,
                risk.total,
                risk.standard_error,
                risk.bias_squared,
                risk.variance,
            ];
            row.extend(numbers.map(Into::into));
            table.push(row);
        }
    }
}

/// The rules at stationarity.
pub(super) fn rule_table(measured: &[Measured]) -> Table {
    let mut table = Table::new(
        "rules",
        &[
            "epsilon",
            "acceptance",
            "acceptance_predicted",
            "data_share",
            "data_share_predicted",
            "evaluations_per_step",
            "steps_per_cpu_second",
            "sd_ratio",
            "sd_ratio_error",
            "sd_ratio_predicted",
        ],
    );
    for m in measured {
        let numbers = [
            m.epsilon,
            m.acceptance,
            m.predicted.acceptance,
            m.share,
            m.predicted.share,
            m.evaluations,
            m.speed,
            m.inflation,
            m.inflation_error,
            m.predicted.inflation,
        ];
        table.push(numbers.map(Into::into).to_vec());
    }
    table
}
