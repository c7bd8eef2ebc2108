//! Figures and tables of one data set.

use austerity_models::JumpMove;
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};

use super::chains::{Found, Group, Phase};
use super::data::Problem;
use super::{BARS, EPSILONS, MIDDLE, checks};
use crate::curves::{Along, Point};
use crate::outcome::{Cell, Section, Table};

/// A group in the key of a figure.
fn label(group: &Group) -> String {
    if group.epsilon == 0.0 { "exact".into() } else { format!("ε {}", group.epsilon) }
}

/// The sections of one data set.
pub(super) fn sections(problem: &Problem, found: &Found) -> Vec<Section> {
    let Problem { name, title, .. } = problem;
    vec![
        Section {
            title: format!("{title}: risk of the predictive mean"),
            figure: Some((format!("{name}_risk"), risk(title, found))),
            caption: format!(
                "Mean squared error of the running mean of P(y = 1) on {} held-out rows against a long exact run, {} chains \
                 from one feature, burn-in included; its parts beside it. Dotted: the squared standard error of the long run itself.",
                problem.predicted(),
                found.groups.first().map_or(0, Group::chains)
            ),
            checks: checks::risk(problem, found),
        },
        Section {
            title: format!("{title}: moves and sizes"),
            figure: Some((format!("{name}_moves"), moves(title, found))),
            caption: "Share of the candidates accepted, by move, and mean number of features, over the steps 1, 2–3, 4–7, … of \
                      chains that start from one feature; on the right also from the mode with all of them."
                .into(),
            checks: checks::moves(problem, found),
        },
        Section {
            title: format!("{title}: inclusion probabilities"),
            figure: Some((format!("{name}_inclusion"), inclusion(title, found))),
            caption: "Marginal posterior probability that a feature is in the model, over the second halves of the chains; the constant is \
                      feature 0. Left two: from one feature, as in the paper's figure; right two: from the mode."
                .into(),
            checks: checks::inclusion(problem, found),
        },
    ]
}

fn risk(title: &str, found: &Found) -> Figure {
    let along = |name: &str, along: Along, value: fn(&Point) -> f64| {
        let line = |label: String, curve: &[Point]| Curve {
            label,
            points: curve.iter().map(|point| (along.of(point), value(point))).collect(),
        };
        let textbook =
            found.groups.first().map(|exact| line("textbook".into(), &found.textbook.curve(&exact.curve)));
        let curves = found.groups.iter().map(|group| line(label(group), &group.curve)).chain(textbook);
        let x = match along {
            Along::Seconds => "CPU seconds",
            Along::Evaluations => "likelihood evaluations",
        };
        Panel::new(name, Axis::new(x, Scale::Logarithmic), Axis::new("", Scale::Logarithmic))
            .curves(curves.collect())
    };
    let panel = |name: &str, value: fn(&Point) -> f64| along(name, Along::Seconds, value);
    Figure {
        title: title.into(),
        panels: vec![
            panel("risk against time", |point| point.risk.total).reference(found.truth.error()),
            along("risk against evaluations", Along::Evaluations, |point| point.risk.total)
                .reference(found.truth.error()),
            panel("bias²", |point| point.risk.bias_squared),
            panel("variance", |point| point.risk.variance),
        ],
    }
}

fn moves(title: &str, found: &Found) -> Figure {
    let shown = [&found.groups[0], &found.groups[MIDDLE]];
    let points = |group: &Group, value: &dyn Fn(&Phase) -> f64| {
        let phase = |(i, phase): (usize, &Phase)| (1.5 * 2f64.powi(i as i32), value(phase));
        group.phases.iter().enumerate().map(phase).collect()
    };
    let steps = || Axis::new("step", Scale::Logarithmic);
    let share = |name: &str, kind: JumpMove| {
        let curve = |group: &&Group| Curve {
            label: label(group),
            points: points(group, &|phase| phase.tally.acceptance(kind)),
        };
        Panel::new(name, steps(), Axis::new("", Scale::Linear).with_limits(0.0, 1.0))
            .curves(shown.iter().map(curve).collect())
    };
    let size = |label: String, group: &Group| Curve { label, points: points(group, &Phase::size) };
    let from_one = shown.into_iter().map(|group| size(label(group), group));
    let from_mode =
        found.from_mode.iter().zip(["mode", "mode ε"]).map(|(group, name)| size(name.into(), group));
    let sizes = from_one.chain(from_mode);
    let sizes = Panel::new("features", steps(), Axis::new("", Scale::Linear)).curves(sizes.collect());
    Figure {
        title: title.into(),
        panels: vec![
            share("updates accepted", JumpMove::Update),
            share("births accepted", JumpMove::Birth),
            share("deaths accepted", JumpMove::Death),
            sizes,
        ],
    }
}

fn inclusion(title: &str, found: &Found) -> Figure {
    let panel = |name: String, heights: Vec<f64>| {
        let edges = (0..=heights.len()).map(|j| j as f64 - 0.5).collect();
        Panel::new(
            name,
            Axis::new("feature", Scale::Linear),
            Axis::new("", Scale::Linear).with_limits(0.0, 1.0),
        )
        .mark(Mark::Bars { series: None, edges, base: 0.0, heights })
    };
    let of = |group: &Group, from: &str| panel(format!("{}, {from}", label(group)), group.mean_inclusion());
    Figure {
        title: title.into(),
        panels: vec![
            of(&found.groups[0], "from one"),
            of(&found.groups[BARS], "from one"),
            of(&found.from_mode[0], "from the mode"),
            of(&found.from_mode[1], "from the mode"),
        ],
    }
}

/// The tables of one data set.
pub(super) fn tables(problem: &Problem, found: &Found) -> Vec<Table> {
    let name = |what: &str| format!("{}_{what}", problem.name);
    let mut curves = Table::new(
        &name("risk"),
        &["epsilon", "seconds", "evaluations", "steps", "risk", "bias_squared", "variance", "standard_error"],
    );
    for group in &found.groups {
        for point in &group.curve {
            let risk = point.risk;
            let numbers = [point.seconds, point.evaluations, point.steps, risk.total, risk.bias_squared];
            let rest = [risk.variance, risk.standard_error];
            let row = [group.epsilon].into_iter().chain(numbers).chain(rest);
            curves.push(row.map(Cell::Number).collect());
        }
    }
    let mut groups = Table::new(
        &name("groups"),
        &[
            "start",
            "epsilon",
            "steps_per_second",
            "data_share",
            "size",
            "size_error",
            "test_error",
            "update_late",
            "birth_early",
            "birth_late",
            "death_early",
            "death_late",
        ],
    );
    let starts =
        found.groups.iter().map(|g| ("one feature", g)).chain(found.from_mode.iter().map(|g| ("mode", g)));
    for (start, group) in starts {
        let (early, late) = group.early_and_late();
        let (size, error) = group.size();
        let numbers = [
            group.epsilon,
            group.speed(),
            group.data_share(found.rows),
            size,
            error,
            problem.error(&group.predictions()),
            late.acceptance(JumpMove::Update),
            early.acceptance(JumpMove::Birth),
            late.acceptance(JumpMove::Birth),
            early.acceptance(JumpMove::Death),
            late.acceptance(JumpMove::Death),
        ];
        groups.push([Cell::from(start)].into_iter().chain(numbers.map(Cell::Number)).collect());
    }
    let columns = ["truth_from_one", "truth_from_mode"].map(str::to_owned).into_iter();
    let columns = columns.chain(EPSILONS.iter().map(|epsilon| format!("from_one_{epsilon}")));
    let columns: Vec<String> = ["feature".to_owned(), "name".to_owned()].into_iter().chain(columns).collect();
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let mut inclusion = Table::new(&name("inclusion"), &columns);
    let truths = [found.truth.inclusion(), found.truth_from_mode.inclusion()];
    let means: Vec<Vec<f64>> = found.groups.iter().map(Group::mean_inclusion).collect();
    for (j, feature) in problem.model.feature_names().iter().enumerate() {
        let numbers = truths.iter().chain(&means).map(|list| Cell::Number(list[j]));
        let row = [Cell::Number(j as f64), Cell::from(feature.as_str())];
        inclusion.push(row.into_iter().chain(numbers).collect());
    }
    vec![curves, groups, inclusion]
}
