//! Figures and claims of section 6.4.

use austerity::Result;
use austerity::model::{Gradient as _, Model as _};
use austerity_models::Lasso;
use austerity_plot::{Axis, Curve, Figure, Mark, Panel, Scale};

use super::chains::{Step, sums};
use super::target::Target;
use super::{Found, OtherData, VARIANCE, claims, per_million};
use crate::claim::{Claim, Estimate};
use crate::outcome::{Check, Section};

/// Rows that a step reads, for the gradient and for the test.
fn rows_per_step<M>(target: &Target<M>, found: &Found) -> f64 {
    found.record.rows_per_test() + found.method.gradient_rows(target.block_rows)
}

/// The two panels of the posterior and the panels of the histograms, each with its claims.
pub(super) fn toy(target: &Target<Lasso>, slopes: (f64, f64), found: &[Found]) -> Result<Vec<Section>> {
    let of = |step: Step, epsilon: Option<f64>| chosen(found, step, epsilon);
    let (untested, exact, tenth, half) = (
        of(Step::Langevin, None),
        of(Step::Langevin, Some(0.0)),
        of(Step::Langevin, Some(0.1)),
        of(Step::Langevin, Some(0.5)),
    );
    Ok(vec![
        posterior(target, slopes)?,
        Section {
            title: "Without a test, and with ε = 0.5".into(),
            figure: Some(histograms("sgld", "SGLD and the true posterior", target, &[untested, half])),
            caption: "Histograms of the draws; the line is the true density.".into(),
            checks: [before(target.sd, untested), after(half)].concat(),
        },
        Section {
            title: "With ε = 0 and ε = 0.1".into(),
            figure: Some(histograms("sgld-tested", "SGLD, tested", target, &[exact, tenth])),
            caption: "As above; the paper leaves these two out of its printed version.".into(),
            checks: vec![
                exactness(&claims::BALANCE, exact),
                indistinguishable(&claims::CLOSE_TENTH, tenth)
                    .remark(format!("A test reads {:.0} of 10,000 rows.", tenth.record.rows_per_test())),
            ],
        },
    ])
}

fn chosen(found: &[Found], step: Step, epsilon: Option<f64>) -> &Found {
    let place = found.iter().position(|one| one.method.step == step && one.method.epsilon == epsilon);
    &found[place.unwrap_or(0)]
}

fn posterior(target: &Target<Lasso>, (left, right): (f64, f64)) -> Result<Section> {
    let axis = || Axis::new("θ", Scale::Linear).with_limits(-0.01, 0.06);
    let density = Curve { label: String::new(), points: target.density() };
    let mut points = Vec::new();
    for k in -40..=240 {
        let theta = f64::from(k) / 4000.0;
        let mut gradient = [f64::NAN];
        // A gap at the kink.
        if k != 0 {
            target.model.log_density_gradient(&vec![theta], &mut gradient)?;
        }
        points.push((theta, gradient[0]));
    }
    let gradient = Curve { label: String::new(), points };
    Ok(Section {
        title: "The posterior".into(),
        figure: Some((
            "posterior".into(),
            Figure {
                title: "The L1 toy".into(),
                panels: vec![
                    Panel::new("Posterior density", axis(), Axis::new("density", Scale::Linear))
                        .curves(vec![density]),
                    Panel::new("Gradient of the log posterior", axis(), Axis::new("gradient", Scale::Linear))
                        .curves(vec![gradient]),
                ],
            },
        )),
        caption: format!(
            "Mode {:.4}, standard deviation {:.4}, mass left of the kink {:.4}.",
            target.mode,
            target.sd,
            target.cumulative(0.0)
        ),
        checks: vec![valley((left, right), target.sd)],
    })
}

/// How far one step in the valley goes.
pub(super) fn valley((left, right): (f64, f64), sd: f64) -> Check {
    let drift = 0.5 * VARIANCE * left / sd;
    Check::of(&claims::VALLEY, vec![Estimate::exact("", drift)])
        .also(format!("gradient {left:.0} just left of 0 and {right:.0} just right"))
}

pub(super) fn exactness(claim: &Claim, exact: &Found) -> Check {
    Check {
        test: "the distance is known to 1.95/√(effective sample size), which chance passes once in a thousand times".into(),
        ..Check::of(claim, vec![claims::kolmogorov(exact)])
    }
    .also(format!("total variation {}", variation(exact)))
}

/// What happens without a test.
pub(super) fn before(sd: f64, untested: &Found) -> Vec<Check> {
    let record = &untested.record;
    let thrown = claims::rate(record, sums::THROWN, sums::FROM_VALLEY);
    let thrown = Estimate { value: thrown.value / sd, error: thrown.error / sd, ..thrown };
    let share = record.from_valley as f64 / record.counters.steps as f64;
    vec![
        Check::of(&claims::SEVERE, vec![claims::variation("", untested)]).also(format!(
            "Kolmogorov distance {:.3}, sd {:.4} instead of {sd:.4}",
            untested.distance.kolmogorov, untested.distance.sd
        )),
        Check::of(&claims::FAR, vec![thrown])
            .also(format!("{:.2} % of the steps begin in the valley", 100.0 * share)),
        Check::of(&claims::BACK, vec![claims::rate(record, sums::RETURN_STEPS, sums::RETURNS)])
            .also(format!("{} returns", record.returns)),
    ]
}

/// What the test at ε = 0.5 does.
pub(super) fn after(half: &Found) -> Vec<Check> {
    let record = &half.record;
    vec![
        Check::of(&claims::REJECTED, vec![claims::rate(record, sums::REJECTED, sums::INTO_VALLEY)])
            .also(format!("{} candidates", record.into_valley)),
        indistinguishable(&claims::CLOSE, half),
        Check::of(&claims::ONE_LOOK, vec![Estimate::exact("", f64::from(record.most_looks))]).also(format!(
            "{:.1} rows per test; {:.0} % of the candidates accepted",
            record.rows_per_test(),
            100.0 * record.counters.acceptance()
        )),
    ]
}

pub(super) fn indistinguishable(claim: &Claim, found: &Found) -> Check {
    let distance = &found.distance;
    Check::of(claim, vec![claims::variation("", found)]).also(format!(
        "as found {}, of which noise alone would make {:.3}; Kolmogorov distance {:.4} ± {:.4}",
        variation(found),
        distance.floor,
        distance.kolmogorov,
        distance.kolmogorov_error
    ))
}

fn variation(found: &Found) -> String {
    format!("{:.3} ± {:.3}", found.distance.total_variation, found.distance.total_variation_error)
}

/// Fisher scoring with and without the test.
pub(super) fn scoring(target: &Target<Lasso>, found: &[Found]) -> Section {
    let (untested, tenth, half) = (
        chosen(found, Step::Scoring, None),
        chosen(found, Step::Scoring, Some(0.1)),
        chosen(found, Step::Scoring, Some(0.5)),
    );
    let rows = |one: &Found| rows_per_step(target, one);
    Section {
        title: "Stochastic gradient Fisher scoring".into(),
        figure: Some(histograms("sgfs", "SGFS and the true posterior", target, &[untested, half])),
        caption: "Fisher scoring with the empirical information at the mode and the drift of the Langevin step: it injects less noise, since \
                  that of the mini-batch is counted on."
            .into(),
        checks: scored(untested, half)
            .into_iter()
            .map(|check| {
                check.remark(format!(
                    "Rows per step: {:.0} at ε = 0.5, {:.0} at ε = 0.1; {:.0} % and {:.0} % accepted.",
                    rows(half),
                    rows(tenth),
                    100.0 * half.record.counters.acceptance(),
                    100.0 * tenth.record.counters.acceptance()
                ))
            })
            .collect(),
    }
}

/// Fisher scoring without the test and with it.
pub(super) fn scored(untested: &Found, half: &Found) -> Vec<Check> {
    vec![
        Check::of(&claims::SCORING, vec![claims::variation("", untested)]),
        Check::of(&claims::RESOLVED, vec![claims::quotient(half, untested)]).also(format!(
            "{} untested, {} tested",
            variation(untested),
            variation(half)
        )),
    ]
}

/// All ways of sampling side by side, and what their samples cost.
pub(super) fn distances(target: &Target<Lasso>, found: &[Found]) -> Section {
    let count = found.len();
    let height = |place: usize| (count - place) as f64;
    let marks =
        found.iter().enumerate().map(|(place, one)| (height(place), one.method.short.to_owned())).collect();
    let dots = |value: &dyn Fn(&Found) -> f64| -> Vec<(f64, f64)> {
        found.iter().enumerate().map(|(place, one)| (value(one), height(place))).collect()
    };
    let bars = || Axis::new("", Scale::Linear).with_limits(0.5, count as f64 + 0.5);
    let y = |marks: Vec<(f64, String)>| bars().with_marks(marks);
    let marks: Vec<(f64, String)> = marks;
    let figure = Figure {
        title: "Distance from the truth, and its price".into(),
        panels: vec![
            Panel::new(
                "Total variation (△: noise alone)",
                Axis::new("total variation", Scale::Logarithmic).with_limits(0.005, 0.5),
                y(marks.clone()),
            )
            .mark(Mark::Points { series: 0, points: dots(&|one| one.distance.total_variation) })
            .mark(Mark::Points { series: 1, points: dots(&|one| one.distance.floor) }),
            Panel::new(
                "Effective samples per million rows read",
                Axis::new("effective samples", Scale::Logarithmic).with_limits(0.5, 200.0),
                y(marks),
            )
            .mark(Mark::Points { series: 0, points: dots(&|one| per_million(one, target.block_rows)) }),
        ],
    };
    let (same, fresh) =
        (chosen(found, Step::Langevin, Some(0.5)), chosen(found, Step::FreshReverse, Some(0.5)));
    let (walk, exact) = (chosen(found, Step::Walk, Some(0.0)), chosen(found, Step::Langevin, Some(0.0)));
    let price = |one: &Found| per_million(one, target.block_rows);
    Section {
        title: "Distance and price".into(),
        figure: Some(("distances".into(), figure)),
        caption: format!(
            "Left: circles what was found, triangles what the noise of the histogram alone would show. Right: rows read by \
             tests and gradients together. On this toy a plain random walk of 2.38 sd ({:.3}), decided exactly, gives {:.1} effective samples per \
             million rows; SGLD gives {:.1} with ε = 0 and {:.1} with ε = 0.5. Samples of untested chains are of the wrong distribution.",
            2.38 * target.sd,
            price(walk),
            price(exact),
            price(same)
        ),
        checks: prices(
            [
                ("SGLD", rows_per_step(target, same)),
                ("SGFS", rows_per_step(target, chosen(found, Step::Scoring, Some(0.5)))),
            ],
            target.model.len(),
            (fresh, same),
        ),
    }
}

/// Rows per step, and what a fresh mini-batch changes.
pub(super) fn prices(
    rows: [(&str, f64); 2],
    population: usize,
    (fresh, same): (&Found, &Found),
) -> Vec<Check> {
    let share = |(name, rows): (&str, f64)| Estimate::exact(name, rows / population as f64);
    let difference = |a: Estimate, b: Estimate| {
        Estimate::new("", a.value - b.value, (a.error.hypot(b.error), a.freedom.min(b.freedom)))
    };
    let accepted = |found: &Found| claims::rate(&found.record, sums::ACCEPTED, sums::STEPS);
    vec![
        Check::of(&claims::ROWS, rows.map(share).into()),
        Check::of(&claims::FRESH, vec![difference(accepted(fresh), accepted(same))]).also(format!(
            "{:.1} % accepted instead of {:.1} %",
            100.0 * fresh.record.counters.acceptance(),
            100.0 * same.record.counters.acceptance()
        )),
        Check::of(
            &claims::FRESH_CLOSE,
            vec![difference(claims::variation("", fresh), claims::variation("", same))],
        )
        .also(format!("as found {} instead of {}", variation(fresh), variation(same))),
    ]
}

/// The same correction on a logistic regression.
pub(super) fn logistic<M>(target: &Target<M>, found: &[Found]) -> Section {
    let (untested, exact, half) = (
        chosen(found, Step::Langevin, None),
        chosen(found, Step::Langevin, Some(0.0)),
        chosen(found, Step::Langevin, Some(0.5)),
    );
    Section {
        title: "Another model: logistic regression".into(),
        figure: Some(histograms(
            "logistic",
            "Logistic regression under a Laplace prior",
            target,
            &[untested, half],
        )),
        caption: format!(
            "The same code on another differentiable model: one coefficient, Laplace prior, mode {:.4}, sd {:.4}; true density by quadrature. \
             Total variation: {}.",
            target.mode,
            target.sd,
            found
                .iter()
                .map(|one| format!("{} {}", one.method.name, variation(one)))
                .collect::<Vec<_>>()
                .join("; ")
        ),
        checks: corrected(untested, exact, half),
    }
}

/// Whether the test corrects another model.
pub(super) fn corrected(untested: &Found, exact: &Found, half: &Found) -> Vec<Check> {
    vec![
        Check::of(&claims::LOGISTIC, vec![claims::quotient(half, untested)]).also(format!(
            "{} untested, {} tested",
            variation(untested),
            variation(half)
        )),
        exactness(&claims::LOGISTIC_BALANCE, exact),
    ]
}

/// Whether the verdicts hang on the data set.
pub(super) fn other_data(others: &[OtherData]) -> Section {
    Section {
        title: "Other data sets".into(),
        figure: None,
        caption: "The paper's data are not public, and the place of the mode differs from data set to data set (by .011, one sd).".into(),
        checks: others_judged(others),
    }
}

pub(super) fn others_judged(others: &[OtherData]) -> Vec<Check> {
    let each = |place: usize| {
        others
            .iter()
            .map(|one| claims::variation(&format!("mode {:.4}", one.mode), &one.found[place]))
            .collect()
    };
    vec![Check::of(&claims::OTHER, each(0)), Check::of(&claims::OTHER_CLOSE, each(1))]
}

/// Draws of some ways of sampling, each beside the true density.
fn histograms<M>(file: &str, title: &str, target: &Target<M>, found: &[&Found]) -> (String, Figure) {
    let edges = target.edges();
    let (low, high) = (edges[0], edges[edges.len() - 1]);
    let truth = target.density();
    let heights = found.iter().flat_map(|one| one.distance.heights.iter().copied());
    let top = heights.chain(truth.iter().map(|point| point.1)).fold(0.0, f64::max);
    let panels = found
        .iter()
        .map(|one| {
            Panel::new(
                one.method.name,
                Axis::new("θ", Scale::Linear).with_limits(low, high),
                Axis::new("density", Scale::Linear).with_limits(0.0, 1.05 * top),
            )
            .mark(Mark::Bars {
                series: Some(4),
                edges: edges.clone(),
                base: 0.0,
                heights: one.distance.heights.clone(),
            })
            .curves(vec![Curve { label: "true posterior".into(), points: truth.clone() }])
        })
        .collect();
    (file.into(), Figure { title: title.into(), panels })
}
