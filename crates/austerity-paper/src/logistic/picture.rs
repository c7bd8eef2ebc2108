//! Figures and tables of section 6.1.

use austerity_plot::{Axis, Curve, Figure, Panel, Scale};

use super::EPSILONS;
use super::chains::{Curves, Family, Quantity, Start, label};
use super::measure::Measured;
use super::truth::Truth;
use crate::curves::Point;
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
    start: Start,
    quantity: Quantity,
    curves: &Curves,
    truth: &Truth,
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
    let risk = Figure {
        title: format!("Risk of the {what} {from}"),
        panels: vec![
            floored(panel("against time", seconds, "risk"))
                .curves(lines(curves, |p| (p.seconds, p.risk.total))),
            floored(panel("against likelihood evaluations", "evaluations of a chain", "risk"))
                .curves(lines(curves, |p| (p.evaluations, p.risk.total))),
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
            caption: format!("{scale} and the chains. A dotted level, drawn where it is above a tenth of the lowest risk, is what the error of the ground truth adds."),
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
