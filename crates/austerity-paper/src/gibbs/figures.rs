//! Figures, tables and numbers of the Gibbs experiment.

use austerity::rule::Law;
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};
use serde_json::{Value, json};

use super::chains::Point;
use super::claims::kappa_of;
use super::conditionals::table;
use super::{Found, Kind};
use crate::error::Result;
use crate::outcome::Table;

/// ε as it stands in a key: without the leading 0.
fn short(epsilon: f64) -> String {
    epsilon.to_string().trim_start_matches('0').into()
}

pub(super) fn conditionals(found: &Found) -> Result<Figure> {
    let plan = &found.plan;
    let of = |epsilon: f64, value: fn(&super::Measured) -> f64| -> Vec<(f64, f64)> {
        let these = found.conditionals.iter().filter(|one| one.epsilon == epsilon);
        these.map(|one| (one.exact, value(one))).collect()
    };
    let unit = |label: &str| Axis::new(label, Scale::Linear).with_limits(0.0, 1.0);
    let empirical =
        |&epsilon: &f64| Curve { label: short(epsilon), points: of(epsilon, |one| one.exact + one.delta) };
    let left = Panel::new("assigned 1, for each ε", unit("exact probability"), unit("empirical probability"))
        .mark(Mark::Line { series: 0, points: vec![(0.0, 0.0), (1.0, 1.0)] })
        .curves(plan.epsilons.iter().map(empirical).collect());

    let kappa = kappa_of(plan.sd, plan.factors())?;
    let mut right = Panel::new("error, for each ε", unit("exact probability"), Axis::new("Δ", Scale::Linear));
    let mut curves = Vec::new();
    for (series, &epsilon) in plan.epsilons.iter().enumerate() {
        let table = table(plan, epsilon)?;
        let mut points = Vec::new();
        for place in 1..60 {
            let p = f64::from(place) / 60.0;
            points.push((p, table.step(Law::Logistic, (p / (1.0 - p)).ln(), kappa)?.delta));
        }
        curves.push(Curve { label: short(epsilon), points });
        right = right.mark(Mark::Points { series, points: of(epsilon, |one| one.delta) });
    }
    let right = right.reference(0.0).curves(curves);
    Ok(Figure { title: "Conditional probability: empirical against exact".into(), panels: vec![left, right] })
}

/// T in a few characters.
fn count(sweeps: f64) -> String {
    if sweeps < 999.5 {
        format!("{sweeps:.0}")
    } else if sweeps < 9_950.0 {
        format!("{:.1}k", sweeps / 1e3)
    } else if sweeps < 9.95e5 {
        format!("{:.0}k", sweeps / 1e3)
    } else {
        format!("{:.1}M", sweeps / 1e6)
    }
}

/// One kind of chains along time.
fn curve(label: &str, kind: &Kind, value: fn(&Point) -> f64) -> Curve {
    let points = kind.points.iter().map(|point| (point.seconds, value(point))).collect();
    Curve { label: label.into(), points }
}

/// The same along the pairs that were read.
fn along_pairs(label: &str, kind: &Kind, value: fn(&Point) -> f64) -> Curve {
    let points = kind.points.iter().map(|point| (point.evaluations, value(point))).collect();
    Curve { label: label.into(), points }
}

/// The same, with T in the key.
fn counted(name: &str, kind: &Kind) -> Curve {
    let sweeps = kind.points.last().map_or(0.0, |point| point.sweeps);
    curve(&format!("{name} {}", count(sweeps)), kind, |point| point.error)
}

fn time() -> Axis {
    Axis::new("CPU seconds", Scale::Logarithmic)
}

pub(super) fn errors(found: &Found) -> Figure {
    let tests: Vec<_> = found.tests().collect();
    let panel = |some: &[(f64, &Kind)]| {
        let mut curves = vec![counted("exact", found.exact())];
        curves.extend(some.iter().map(|(epsilon, kind)| counted(&short(*epsilon), kind)));
        Panel::new("exact or ε, and T", time(), Axis::new("L1 error", Scale::Logarithmic)).curves(curves)
    };
    let mut read = vec![along_pairs("exact", found.exact(), |point| point.error)];
    read.extend(tests.iter().map(|(epsilon, kind)| along_pairs(&short(*epsilon), kind, |point| point.error)));
    let pairs = Axis::new("pairs of potentials read", Scale::Logarithmic);
    let read = Panel::new("exact or ε", pairs, Axis::new("L1 error", Scale::Logarithmic)).curves(read);
    Figure {
        title: "Average L1 error over subsets against time, and against pairs read".into(),
        panels: tests.chunks(3).map(panel).chain([read]).collect(),
    }
}

pub(super) fn risks(found: &Found) -> Figure {
    let tests: Vec<_> = found.tests().collect();
    let chosen: Vec<_> = tests.iter().filter(|(epsilon, _)| [0.05, 0.25].contains(epsilon)).collect();
    let panel = |title: &str, value: fn(&Point) -> f64| {
        let mut curves = vec![curve("exact", found.exact(), value)];
        curves.extend(chosen.iter().map(|(epsilon, kind)| curve(&short(*epsilon), kind, value)));
        Panel::new(title, time(), Axis::new(title, Scale::Logarithmic)).curves(curves)
    };
    Figure {
        title: "Risk of the probabilities of the cells: its two parts".into(),
        panels: vec![
            panel(
                "bias²",
                |point| if point.risk.bias_squared > 0.0 { point.risk.bias_squared } else { f64::NAN },
            ),
            panel("variance", |point| point.risk.variance),
        ],
    }
}

pub(super) fn closed(found: &Found) -> Figure {
    let tests: Vec<_> = found.tests().collect();
    let mut first = vec![counted("exact", found.exact()), counted("closed", found.closed())];
    first.extend(tests.iter().filter(|(e, _)| *e == 0.05).map(|(e, kind)| counted(&short(*e), kind)));
    let mut second = vec![counted("exact", found.exact()), counted("closed", found.closed())];
    second.extend(tests.last().map(|(e, kind)| counted(&short(*e), kind)));
    let panel = |title: &str, curves| {
        Panel::new(title, time(), Axis::new("L1 error", Scale::Logarithmic)).curves(curves)
    };
    Figure {
        title: "Exact Gibbs pair by pair, in closed form, and two tests".into(),
        panels: vec![panel("a strict test", first), panel("a hasty test", second)],
    }
}

pub(super) fn races(found: &Found) -> Figure {
    let unit = |label: &str| Axis::new(label, Scale::Linear).with_limits(0.0, 1.0);
    let panels = found.races.iter().enumerate().map(|(series, one)| {
        let title = if one.epsilon == 0.0 { "exact".into() } else { format!("ε = {}", one.epsilon) };
        Panel::new(title, unit("exact probability"), unit("share of races won"))
            .mark(Mark::Line { series, points: vec![(0.0, 0.0), (1.0, 1.0)] })
            .mark(Mark::Points { series, points: one.points.clone() })
    });
    Figure { title: "Four values: races won against probability".into(), panels: panels.collect() }
}

pub(super) fn tables(found: &Found) -> Vec<Table> {
    let mut conditionals = Table::new(
        "conditional_probability",
        &[
            "epsilon",
            "exact",
            "kappa",
            "delta",
            "standard_error",
            "predicted_delta",
            "share",
            "predicted_share",
        ],
    );
    for one in &found.conditionals {
        let numbers = [
            one.epsilon,
            one.exact,
            one.kappa,
            one.delta,
            one.standard_error,
            one.predicted,
            one.share,
            one.predicted_share,
        ];
        conditionals.push(numbers.map(Into::into).to_vec());
    }
    let mut errors = Table::new(
        "error_over_time",
        &[
            "kind",
            "seconds",
            "pairs_read",
            "sweeps",
            "l1_error",
            "standard_error",
            "risk",
            "bias_squared",
            "variance",
        ],
    );
    let mut kinds =
        Table::new("chains", &["kind", "share_of_pairs", "nanoseconds_per_conditional", "sweeps"]);
    for kind in &found.kinds {
        for point in &kind.points {
            let risk = &point.risk;
            let numbers = [
                point.seconds,
                point.evaluations,
                point.sweeps,
                point.error,
                point.standard_error,
                risk.total,
                risk.bias_squared,
                risk.variance,
            ];
            let mut row = vec![kind.name.as_str().into()];
            row.extend(numbers.map(Into::into));
            errors.push(row);
        }
        let sweeps = kind.points.last().map_or(0.0, |point| point.sweeps);
        kinds.push(vec![
            kind.name.as_str().into(),
            kind.share.into(),
            kind.nanoseconds.into(),
            sweeps.into(),
        ]);
    }
    let mut races = Table::new("four_values", &["epsilon", "exact", "won"]);
    for one in &found.races {
        for &(exact, won) in &one.points {
            races.push(vec![one.epsilon.into(), exact.into(), won.into()]);
        }
    }
    vec![conditionals, errors, kinds, races]
}

pub(super) fn numbers(found: &Found) -> Value {
    let races: Vec<Value> = found
        .races
        .iter()
        .map(|one| json!({ "epsilon": one.epsilon, "distance": one.distance, "p_value": one.p_value, "share": one.share }))
        .collect();
    json!({
        "truth_noise": found.truth.noise,
        "pairs_per_conditional": found.plan.factors(),
        "pairs_per_second_exact": found.plan.factors() as f64 / found.exact().nanoseconds * 1e9,
        "races": races,
    })
}
